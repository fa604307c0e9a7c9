"""Fixtures of the window's tests: offscreen, a fake program, and a guard that blames the leaking test."""

from __future__ import annotations

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before anything imports Qt

import gc
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
from PySide6.QtGui import QCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.exceptions import TimeoutError as WaitedInVain
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from sbert_desktop.settings import Settings
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.main_window import MainWindow
from sbert_desktop.ui.pages import PAGES
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Toast
from tests.ui.fake_app import FakeApp

_turns = itertools.count()
PATIENCE = 60_000
"""Milliseconds: a wait that is over sooner costs nothing, and one that is not may run on a machine that stood still."""


class PatientBot(QtBot):
    """Waits a minute at least: no promise of the window is checked by how long a wait may be."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE) -> None:
        __tracebackhide__ = True
        end = time.monotonic() + max(timeout, PATIENCE) / 1000
        while True:
            failed: AssertionError | None = None
            try:
                if callback() in (None, True):  # a callback that asserts gives nothing
                    return
            except AssertionError as error:
                failed = error
            if time.monotonic() > end:
                raise WaitedInVain("waitUntil waited in vain") from failed
            self.wait(3)

    def wait(self, ms: int) -> None:
        """Waits, and has done then what was posted: a machine that stood still leaves no layout for later."""
        super().wait(ms)
        if ms > 3:
            for _ in range(10):
                QCoreApplication.processEvents()

    def waitSignal(self, signal, *, timeout: int = PATIENCE, raising: bool | None = None, **options):
        return super().waitSignal(signal, timeout=_patient(timeout, raising), raising=raising, **options)

    def waitSignals(self, signals, *, timeout: int = PATIENCE, raising: bool | None = None, **options):
        return super().waitSignals(signals, timeout=_patient(timeout, raising), raising=raising, **options)

    def waitExposed(self, widget: QWidget, *, timeout: int = PATIENCE):
        return super().waitExposed(widget, timeout=max(timeout, PATIENCE))

    def waitActive(self, widget: QWidget, *, timeout: int = PATIENCE):
        return super().waitActive(widget, timeout=max(timeout, PATIENCE))

    def waitCallback(self, *, timeout: int = PATIENCE, raising: bool | None = None):
        return super().waitCallback(timeout=_patient(timeout, raising), raising=raising)


def _patient(timeout: int, raising: bool | None) -> int:
    """Gives the time as it is where the wait is meant to end without what it waits for."""
    return timeout if raising is False else max(timeout, PATIENCE)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return PatientBot(request)


def _flush() -> None:
    app = QApplication.instance()
    if app is not None:
        app.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        app.processEvents()


def _running_timers() -> int:
    """Counts those that were made since the last ``gc.freeze`` and run."""
    # not isinstance(): it would ask lazy modules for their class, and some of them answer with a warning
    timers = [found for found in gc.get_objects() if issubclass(type(found), QTimer)]
    return sum(isValid(timer) and timer.isActive() for timer in timers)


@pytest.fixture(autouse=True, scope="session")
def _settled_garbage() -> Iterator[None]:
    """Leaves what the imports made out of the searches below: a few hundred of them would cost half a minute."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _no_garbage_in_threads() -> Iterator[None]:
    """As in the window (GuiCollector): a thread that collects could destroy a part of a window there."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True)
def _no_leaks(qapp: QApplication) -> Iterator[None]:
    """Fails the test after which a thread, a running timer or an open window is left."""
    threads = set(threading.enumerate())
    there = set(QApplication.topLevelWidgets())
    # What is there now belongs to no test to come: only what this one makes is collected and looked at. First goes what
    # the end of the last one left, and now and then what became garbage since it was set aside.
    if next(_turns) % 25 == 24:
        gc.unfreeze()
    gc.collect()
    gc.freeze()
    yield
    for window in [w for w in QApplication.topLevelWidgets() if w.property("closed_by_fixture")]:
        window.close()
    _flush()
    gc.collect()
    left = [thread for thread in threading.enumerate() if thread not in threads and thread.is_alive()]
    for thread in left:
        thread.join(30)
    left = [thread.name for thread in left if thread.is_alive()]
    windows = [f"{type(w).__name__}({w.objectName()})" for w in QApplication.topLevelWidgets() if w.isVisible()]
    still = _running_timers()
    for window in QApplication.topLevelWidgets():
        window.close()
        if window not in there:  # a part that never came into its window: each change of colours would reach it too
            window.deleteLater()
    _flush()
    assert not left, f"threads left running: {left}"
    assert not windows, f"windows left open: {windows}"
    assert not still, f"{still} timers left running"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "settings.toml")


@pytest.fixture(autouse=True)
def _folders_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where watches take long to add the folder is looked at once more, and each file counted twice."""
    monkeypatch.setattr("sbert_desktop.app.watching._BLIND", 3600.0)


@pytest.fixture(autouse=True)
def _no_clock_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that stands still for some seconds a message would be gone, or the library asked for once more."""
    show = Toast.show_message

    def show_for_long(self: Toast, text: str, **more: object) -> None:
        show(self, text, **{"seconds": 3600.0, **more})  # type: ignore[arg-type]

    monkeypatch.setattr(Toast, "show_message", show_for_long)
    monkeypatch.setattr("sbert_desktop.ui.page.BEAT_MS", 3_600_000)
    monkeypatch.setattr("sbert_desktop.ui.main_window.CLOSING_MS", PATIENCE)


@pytest.fixture(autouse=True)
def _plain_theme(qapp: QApplication) -> Iterator[None]:
    theme.apply(scheme="light", text_scale=100, reduce_motion=True)
    yield
    theme.apply(scheme="light", text_scale=100, reduce_motion=True)


@pytest.fixture(autouse=True)
def _no_key_held(qapp: QApplication) -> Iterator[None]:
    """Lets go of Ctrl and Shift, and takes the pointer off: Qt keeps both from a test's last click for those after it.

    A window that opens under the pointer has it over its list, and then nothing moves there.
    """
    QCursor.setPos(-10_000, -10_000)
    yield
    if QApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier:
        pad = QWidget()
        QTest.keyClick(pad, Qt.Key.Key_A)  # no click: that would move the pointer onto what the next test shows
        pad.deleteLater()


@pytest.fixture
def own_bridge(qapp: QApplication) -> Iterator[Bridge]:
    made = Bridge()
    yield made
    made.close()
    made.deleteLater()


MakeWindow = Callable[..., MainWindow]
EVERY_PAGE = tuple(spec.key for spec in PAGES)


@pytest.fixture
def make_window(qtbot, settings: Settings, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[MakeWindow]:
    """Makes connected windows: ``make_window(state="full", saved={...}, size=(1280, 800), app=FakeApp(...))``.

    A module that names some in ``WINDOW_PAGES`` gets windows with no other pages: all of them cost a second each time.
    """
    named = getattr(request.module, "WINDOW_PAGES", EVERY_PAGE)
    made: list[tuple[MainWindow, FakeApp | None]] = []

    def make(
        state: str = "full",
        *,
        saved: dict[str, object] | None = None,
        size: tuple[int, int] = (1280, 800),
        app: FakeApp | None = None,
        connect: bool = True,
        save=None,
        pages: Sequence[str] = named,
    ) -> MainWindow:
        settings.set("appearance.theme", "light")
        settings.set("appearance.reduce_motion", True)
        # what is kept stands on the rail below its page, whichever page is in front
        window = MainWindow(tmp_path / "library", state=saved, save_state=save,
                            pages=[spec for spec in PAGES if spec.key in {*pages, "collections"}])  # fmt: skip
        window.resize(*size)
        window.show()
        program = app
        if connect:
            program = app or FakeApp(settings, state=state)
            with qtbot.waitSignal(window.ready):
                window.connect_program(program)
        made.append((window, program))
        return window

    yield make
    for window, program in made:
        if not isValid(window):
            continue
        window.finish()
        assert window._ended
        if program is not None:
            program.close()
        window.deleteLater()
    _flush()


def every_widget(root: QWidget) -> list[QWidget]:
    """Gives a widget and all that lie in it."""
    return [root, *root.findChildren(QWidget)]


def fake(window: MainWindow) -> FakeApp:
    """Gives the fake program behind a window."""
    assert isinstance(window.commands, FakeApp)
    return window.commands
