"""One step of the Train page in a bare window: what a whole one costs is not needed to try a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sbert_desktop.settings import Settings
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.errands import Errands
from sbert_desktop.ui.page import Desk, Inspector
from sbert_desktop.ui.widgets import Toast
from tests.ui.fake_app import FakeApp

Step = TypeVar("Step", bound=QWidget)


@dataclass(frozen=True, slots=True)
class Host:
    """A bare window with a desk, the fake program behind it, and its messages."""

    window: QWidget
    desk: Desk
    program: FakeApp
    toast: Toast

    def put(self, make: Callable[[Desk], Step]) -> Step:
        """Makes a step and shows it in the window."""
        step = make(self.desk)
        layout = self.window.layout()
        assert layout is not None
        layout.addWidget(step)
        self.window.show()
        self.window.activateWindow()
        return step

    def called(self, name: str) -> list[tuple[object, ...]]:
        """Gives the calls of one command."""
        return [call for call in self.program.calls if call[0] == name]


@pytest.fixture
def host(own_bridge: Bridge, settings: Settings) -> Iterator[Host]:
    window = QWidget()
    window.setProperty("closed_by_fixture", True)
    window.resize(1108, 716)
    column = QVBoxLayout(window)
    column.setContentsMargins(0, 0, 0, 0)
    program, errands, toast = FakeApp(settings, state="full"), Errands(), Toast(window)
    program.connect(own_bridge.post)
    desk = Desk(program, own_bridge, Inspector(window), errands)
    desk.inspector.hide()
    desk.toastRequested.connect(lambda text, action, run, expired: toast.show_message(
        text, action=action, run=run, expired=expired))
    yield Host(window, desk, program, toast)
    toast.dismiss()
    desk.close()
    errands.close()
    program.close()
    window.close()
    window.deleteLater()
    desk.deleteLater()
