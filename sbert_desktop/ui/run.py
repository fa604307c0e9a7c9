"""Opens the window and runs it until it is closed."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop import paths
from sbert_desktop.app.interface import Commands

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from sbert_desktop.ui.instance import Instance


def display_problem() -> str:
    """Gives one plain line when no window can be shown here, else "".

    Qt ends the process when it finds no display, so this is asked before Qt is started.
    """
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return ""
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return ""
    return ("No window can be shown: there is no display here (DISPLAY and WAYLAND_DISPLAY are empty). "
            "Use the commands instead, for example: sbert-desktop search \"words\"")


def run_window(commands_factory: Callable[[], Commands], library: Path, *,
               screenshot: Callable[[object], None] | None = None) -> int:
    """Shows the window, then builds the program behind it, then runs until the window is closed.

    Args:
        commands_factory: Builds the program (``App``). Called in a thread, once per try; a
            SbertDesktopError is shown in the window with "Try again".
        library: The library's folder; one window per person and library.
        screenshot: Called with the window when everything is on it; the window closes afterwards.

    Returns:
        0 when the window was closed or another one was brought to the front; 1 when no window
        could be shown, with one line on standard error.
    """
    problem = display_problem()
    if problem:
        print(problem, file=sys.stderr)
        return 1
    try:
        from sbert_desktop.ui.instance import Instance
    except ImportError as error:
        print(f"No window can be shown: Qt could not be loaded ({error}). "
              "Install the system libraries that it names, or use the commands.", file=sys.stderr)
        return 1
    instance = Instance(library)
    answer = instance.ask()
    if not answer:
        from PySide6.QtWidgets import QApplication

        app = QApplication.instance() or QApplication([sys.argv[0]])
        answer = instance.listen()
        if answer == "first":
            assert isinstance(app, QApplication)
            return _run_first(app, instance, commands_factory, library, screenshot)
    if answer == "handed-over":
        return 0
    print("The window of this library is already open but does not answer. End it and start again.", file=sys.stderr)
    return 1


def _run_first(app: QApplication, instance: Instance, commands_factory: Callable[[], Commands], library: Path,
               screenshot: Callable[[object], None] | None) -> int:
    from PySide6.QtCore import QCoreApplication, QEvent, QTimer

    from sbert_desktop.domain import Failure
    from sbert_desktop.errors import SbertDesktopError
    from sbert_desktop.settings import Settings
    from sbert_desktop.ui import icons, window_state
    from sbert_desktop.ui.bridge import GuiCollector
    from sbert_desktop.ui.main_window import MainWindow
    from sbert_desktop.ui.theme import theme

    app.setApplicationName("sbert-desktop")
    app.setApplicationDisplayName("SBERT Desktop")
    app.setDesktopFileName("sbert-desktop")
    app.setQuitOnLastWindowClosed(False)  # the program behind the window is closed first, in a thread
    collector = GuiCollector()
    settings = Settings()  # a small file; the colours must be right at the first paint
    theme.apply(scheme=settings.text("appearance.theme"), text_scale=settings.number("appearance.text_scale"),
                reduce_motion=settings.flag("appearance.reduce_motion"))
    app.setWindowIcon(icons.app_icon())
    file = paths.state_file()
    window = MainWindow(library, state=window_state.load(file), save_state=lambda state: window_state.save(file, state))
    instance.raised.connect(window.bring_to_front)

    def build() -> None:
        def failed(error: Exception) -> None:
            if isinstance(error, SbertDesktopError):
                window.show_opening_failure(Failure(error.code, error.message, error.hint))
            else:
                sys.excepthook(type(error), error, error.__traceback__)
                window.show_opening_failure(Failure("bug", f"{type(error).__name__}.", is_bug=True))

        window.errands.run(commands_factory, window.connect_program, failed, lambda commands: commands.close())

    window.ready.connect(_settle_garbage)
    window.retryRequested.connect(build)
    if screenshot is not None:
        window.ready.connect(lambda: (screenshot(window), window.close()))
    restore = _end_on_signals(lambda: window.close())
    hook = sys.excepthook
    sys.excepthook = _tell_window(hook, window)
    window.show()
    QTimer.singleShot(0, window, build)  # after the first paint
    try:
        app.exec()
    finally:
        sys.excepthook = hook
        restore()
        instance.close()
        window.finish()  # Qt's own Quit of a Mac, or the end of a session, does not wait for the program behind
        gc.unfreeze()
        # destroyed here and in this order, not by the interpreter's end in whatever order that takes
        window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        collector.close()  # last: a collection in a thread that still runs could destroy a part of the window there
    return 0


def _settle_garbage() -> None:
    # what the start left lives as long as the program: without it a later full collection is short
    gc.collect()
    gc.freeze()


def _end_on_signals(close: Callable[[], object]) -> Callable[[], None]:
    # Python sees a signal when it next runs: the collector's timer makes that at most half a second
    before = {}
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is None or signal.getsignal(number) is signal.SIG_IGN:  # Windows has no SIGHUP; nohup ignores it
            continue
        before[number] = signal.signal(number, lambda *_: close())

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    return restore


def _tell_window(hook: Callable[..., object], window: object) -> Callable[..., object]:
    def told(kind: type[BaseException], error: BaseException, trace: object) -> None:
        hook(kind, error, trace)
        desk = getattr(window, "desk", None)
        if desk is not None and issubclass(kind, Exception):
            desk.toast("Something went wrong in the program itself. What you did may not have happened.")

    return told
