"""What mouse, wheel and fingers do on the map: move and zoom it, point at, click and encircle points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QGestureEvent, QPinchGesture

if TYPE_CHECKING:
    from sbert_desktop.ui.map.canvas import MapCanvas

_SPARSE: Final = 3.0  # logical pixels between corners of a lasso
_ALL: Final = Qt.KeyboardModifier


class Pointer:
    """The state of the mouse over one canvas."""

    def __init__(self, canvas: MapCanvas) -> None:
        self._canvas = canvas
        self._over = -1
        self._doing = ""  # "", "pan", "lasso", "rectangle"
        self._began = QPointF()
        self._last = QPointF()
        self._dragged = False
        self._line: list[tuple[float, float]] = []
        self.show_cursor()

    @property
    def busy(self) -> bool:
        """True while a button is held."""
        return bool(self._doing)

    def forget(self) -> None:
        """The points are others now: nothing is under the pointer, nothing being drawn."""
        self.cancel()
        self._hover(-1, QPoint())

    def cancel(self) -> bool:
        """Gives up the line that is being drawn; says whether there was one."""
        drawing = self._doing in ("lasso", "rectangle")
        if drawing:
            self._doing = ""
            self._canvas.draw_line(None)
        return drawing

    def show_cursor(self) -> None:
        """Shows what dragging would do."""
        shape = Qt.CursorShape.CrossCursor
        if self._doing == "pan":
            shape = Qt.CursorShape.ClosedHandCursor
        elif self._over >= 0 and not self._doing:
            shape = Qt.CursorShape.PointingHandCursor
        elif self._canvas.tool == "pan" or self._canvas.keys.space_held:
            shape = Qt.CursorShape.OpenHandCursor
        if self._canvas.cursor().shape() != shape:
            self._canvas.setCursor(shape)

    def press(self, event: QMouseEvent) -> None:
        """Begins what the tool does."""
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton) or self._doing:
            return
        middle = event.button() is Qt.MouseButton.MiddleButton
        self._doing = "pan" if middle or self._canvas.keys.space_held else self._canvas.tool
        self._began = self._last = event.position()
        self._dragged = False
        self._line = [self._canvas.to_map(event.position())]

    def move(self, event: QMouseEvent) -> None:
        """Goes on with it, or tells what is under the pointer."""
        at = event.position()
        if not self._doing:
            spot = at.toPoint()
            self._hover(self._canvas.point_at(spot), spot)
            return
        if not self._dragged:
            if (at - self._began).manhattanLength() < QApplication.startDragDistance() / 2:
                return
            self._dragged = True
            self._hover(-1, at.toPoint())
            self.show_cursor()
            if self._canvas.keys.space_held:
                self._canvas.keys.space_used()
        if self._doing == "pan":
            self._canvas.pan_by(at.x() - self._last.x(), at.y() - self._last.y())
            self._last = at
        elif self._doing == "lasso":
            if (at - self._last).manhattanLength() >= _SPARSE:
                self._last = at
                self._line.append(self._canvas.to_map(at))
                self._canvas.draw_line(np.array(self._line, np.float32))
        else:
            left, top = self._line[0]
            right, bottom = self._canvas.to_map(at)
            corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
            self._canvas.draw_line(np.array(corners, np.float32))

    def release(self, event: QMouseEvent) -> None:
        """Ends it: selects what was encircled, or tells of a click."""
        if not self._doing or event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return
        doing, self._doing = self._doing, ""
        self._canvas.draw_line(None)
        self.show_cursor()
        if not self._dragged:
            if event.button() is Qt.MouseButton.LeftButton:
                self._click(event)
            return
        if doing == "lasso":
            self._select(np.array([*self._line, self._canvas.to_map(event.position())], np.float32), event)
        elif doing == "rectangle":
            left, top = self._line[0]
            right, bottom = self._canvas.to_map(event.position())
            self._select(np.array([(left, top), (right, top), (right, bottom), (left, bottom)], np.float32), event)

    def _select(self, line: np.ndarray, event: QMouseEvent) -> None:
        held = event.modifiers()
        how = "add" if held & _ALL.ShiftModifier else "remove" if held & _ALL.AltModifier else "replace"
        self._canvas.select(self._canvas.points_inside(line), how=how, outline=line)

    def _click(self, event: QMouseEvent) -> None:
        point = self._canvas.point_at(event.position().toPoint())
        held = event.modifiers()
        if point >= 0 and held & (_ALL.ControlModifier | _ALL.ShiftModifier):
            chosen = bool(np.isin(point, self._canvas.selection)) and not held & _ALL.ShiftModifier
            self._canvas.select(np.array([point], np.int32), how="remove" if chosen else "add")
            return
        if point < 0 and self._canvas.tool != "pan" and not held & (_ALL.ShiftModifier | _ALL.AltModifier):
            self._canvas.clear_selection()
        self._canvas.clicked.emit(point)

    def double_click(self, event: QMouseEvent) -> None:
        """Opens the point, or zooms in on the ground."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        point = self._canvas.point_at(event.position().toPoint())
        if point >= 0:
            self._canvas.doubleClicked.emit(point)
        elif self._canvas.tool == "pan":
            self._canvas.zoom_by(2.0, event.position())

    def wheel(self, event: QWheelEvent) -> None:
        """Zooms towards the pointer; a wheel that turns sideways moves the map."""
        turned = event.angleDelta()
        if abs(turned.x()) > abs(turned.y()):
            self._canvas.pan_by(turned.x() / 2, 0)
        elif turned.y():
            self._canvas.zoom_by(1.0018 ** turned.y(), event.position())
        event.accept()

    def gesture(self, event: QEvent) -> bool:
        """Takes two fingers on a pad or a screen; says whether it was that."""
        if isinstance(event, QNativeGestureEvent):
            if event.gestureType() is Qt.NativeGestureType.ZoomNativeGesture:
                self._canvas.zoom_by(max(0.2, 1 + event.value()), event.position())
                return True
        elif isinstance(event, QGestureEvent):
            pinch = event.gesture(Qt.GestureType.PinchGesture)
            if isinstance(pinch, QPinchGesture):
                middle = self._canvas.mapFromGlobal(pinch.centerPoint())
                before = self._canvas.mapFromGlobal(pinch.lastCenterPoint())
                self._canvas.pan_by(middle.x() - before.x(), middle.y() - before.y())
                self._canvas.zoom_by(pinch.scaleFactor(), middle)
                event.accept()
                return True
        return False

    def leave(self) -> None:
        """The pointer is elsewhere."""
        self._hover(-1, QPoint())

    def _hover(self, point: int, at: QPoint) -> None:
        if point != self._over:
            self._over = point
            self.show_cursor()
            self._canvas.hovered.emit(point, at)
