"""What the keyboard does on the map.

Arrows go to the nearest point in that direction, with Ctrl they move the map. Space selects the point or takes it out
again; held, it lets the mouse move the map with any tool. Enter opens. While the keyboard is on a point, + adds its
nearest neighbours to the selection and - takes the last ones out again; else, and with Page up and Page down always,
they zoom. F or Home fit, Ctrl+A selects all that is shown, Escape gives up one thing after the other: the line being
drawn, the selection, the point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

if TYPE_CHECKING:
    from sbert_desktop.ui.map.canvas import MapCanvas

_ARROWS: Final = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
_STEP: Final = 64  # logical pixels that Ctrl and an arrow move the map
_GROWTH: Final = 8  # neighbours that + adds at first; then as many as are selected


def next_point(positions: NDArray[np.float32], shown: NDArray[np.bool_], at: int, direction: tuple[int, int]) -> int:
    """Gives the nearest shown point in a direction (45 degrees to both sides), -1 where there is none."""
    away = positions - positions[at]
    along = away[:, 0] * direction[0] + away[:, 1] * direction[1]
    aside = np.abs(away[:, 0] * direction[1] + away[:, 1] * direction[0])
    found = np.flatnonzero(shown & (along > 0) & (aside <= along))
    if not len(found):
        return -1
    return int(found[np.argmin(along[found] + 2 * aside[found])])


class Keys:
    """The state of the keyboard over one canvas."""

    def __init__(self, canvas: MapCanvas) -> None:
        self._canvas = canvas
        self._space = False
        self._space_spent = False
        self._grown: list[NDArray[np.int32]] = []  # what each + added

    @property
    def space_held(self) -> bool:
        """True while the space bar is down."""
        return self._space

    def space_used(self) -> None:
        """The map was moved with it: letting go selects nothing."""
        self._space_spent = True

    def let_go(self) -> None:
        """The keyboard is elsewhere now."""
        self._space = False
        self._canvas.pointer.show_cursor()

    def press(self, event: QKeyEvent) -> bool:
        """Does what a key says; says whether it said something."""
        canvas, key = self._canvas, event.key()
        held = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
        control = held == Qt.KeyboardModifier.ControlModifier
        if key == Qt.Key.Key_A and control:
            canvas.select_shown()
            return True
        if key in _ARROWS and control:
            right, down = _ARROWS[Qt.Key(key)]
            canvas.pan_by(-right * _STEP, -down * _STEP)
            return True
        if held:
            return False
        if key in _ARROWS:
            self._go(_ARROWS[Qt.Key(key)])
        elif key == Qt.Key.Key_Space:
            if not event.isAutoRepeat():
                self._space, self._space_spent = True, False
                canvas.pointer.show_cursor()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if canvas.focused_point < 0:
                return False
            canvas.doubleClicked.emit(canvas.focused_point)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            if canvas.focused_point < 0:
                canvas.zoom_in()
            else:
                self._grow()
        elif key == Qt.Key.Key_Minus:
            if canvas.focused_point < 0:
                canvas.zoom_out()
            else:
                self._shrink()
        elif key == Qt.Key.Key_PageUp:
            canvas.zoom_in()
        elif key == Qt.Key.Key_PageDown:
            canvas.zoom_out()
        elif key in (Qt.Key.Key_F, Qt.Key.Key_Home):
            canvas.fit()
        elif key == Qt.Key.Key_Escape:
            return self._escape()
        else:
            return False
        return True

    def release(self, event: QKeyEvent) -> bool:
        """Ends what a key began."""
        if event.key() != Qt.Key.Key_Space or event.isAutoRepeat():
            return False
        was, self._space = self._space, False
        self._canvas.pointer.show_cursor()
        point = self._canvas.focused_point
        if was and not self._space_spent and point >= 0:
            inside = bool(np.isin(point, self._canvas.selection))
            self._canvas.select(np.array([point], np.int32), how="remove" if inside else "add")
        return True

    def _go(self, direction: tuple[int, int]) -> None:
        canvas = self._canvas
        positions, shown = canvas.positions, canvas.shown
        if not shown.any():
            return
        at = canvas.focused_point
        if at < 0 or not shown[at]:
            middle = np.array(canvas.to_map(canvas.rect().center().toPointF()), np.float32)
            away = ((positions - middle) ** 2).sum(axis=1)
            canvas.focus_point(int(np.argmin(np.where(shown, away, np.inf))))
            return
        found = next_point(positions, shown, at, direction)
        if found >= 0:
            canvas.focus_point(found)

    def _grow(self) -> None:
        canvas, at = self._canvas, self._canvas.focused_point
        selection = canvas.selection
        if not np.isin(at, selection):
            self._grown = []
        more = max(_GROWTH, len(selection))
        away = ((canvas.positions - canvas.positions[at]) ** 2).sum(axis=1)
        away[~canvas.shown] = np.inf
        away[selection] = np.inf
        away[at] = -1 if not np.isin(at, selection) else np.inf
        more = min(more, int(np.isfinite(away).sum()))
        if not more:
            return
        added = np.argpartition(away, more - 1)[:more].astype(np.int32)
        self._grown.append(added)
        canvas.select(added, how="add")

    def _shrink(self) -> None:
        if self._grown:
            self._canvas.select(self._grown.pop(), how="remove")

    def _escape(self) -> bool:
        canvas = self._canvas
        self._grown = []
        if canvas.pointer.cancel():
            return True
        if len(canvas.selection):
            canvas.clear_selection()
            return True
        if canvas.focused_point >= 0:
            canvas.focus_point(-1)
            return True
        return False
