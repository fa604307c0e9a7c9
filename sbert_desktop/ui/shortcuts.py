"""The list of keyboard shortcuts (F1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QWidget

from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Action
from sbert_desktop.ui.widgets import Button, KeyCap, Label, name


class ShortcutsSheet(Sheet):
    """Every command that has keys, made from the same list as the palette."""

    def __init__(self, host: QWidget, actions: Callable[[], Sequence[tuple[str, Action]]]) -> None:
        super().__init__(host, width=480)
        name(self, "shortcuts_sheet", "Keyboard shortcuts")
        self._actions = actions
        self.column.addWidget(Label("Keyboard shortcuts", role="page_title"))
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        name(self._area, "shortcuts_list", "Keyboard shortcuts")
        self._area.viewport().setAutoFillBackground(False)
        self.column.addWidget(self._area, 1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        self.done = Button("Close", object_name="shortcuts_close")
        self.done.clicked.connect(lambda: self.close_sheet(True))
        foot.addWidget(self.done)
        self.column.addLayout(foot)

    def first_focus(self) -> QWidget:
        return self.done

    def open(self) -> None:
        self._fill()
        super().open()

    def _fill(self) -> None:
        content = QWidget()
        content.setObjectName("shortcuts_rows")
        content.setStyleSheet("#shortcuts_rows { background: transparent; }")
        grid = QGridLayout(content)
        grid.setContentsMargins(0, 0, 12, 0)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(0, 1)
        row = 0
        seen: set[str] = set()
        for _, action in self._actions():
            if not action.shortcut or action.name in seen:
                continue
            seen.add(action.name)
            grid.addWidget(Label(action.text), row, 0)
            keys = QHBoxLayout()
            keys.setSpacing(4)
            keys.addStretch(1)
            for key in split_keys(action.shortcut):
                keys.addWidget(KeyCap(key))
            grid.addLayout(keys, row, 1)
            row += 1
        self._area.setWidget(content)
        host = self.parentWidget()
        assert host is not None
        self._area.setMinimumHeight(min(content.sizeHint().height() + 8, max(120, host.height() - 220)))


def split_keys(shortcut: str) -> list[str]:
    """Gives the keys of a shortcut: ``Ctrl++`` is Ctrl and +."""
    if shortcut.endswith("++"):
        return [*split_keys(shortcut[:-2]), "+"]
    return [key for key in shortcut.split("+") if key]
