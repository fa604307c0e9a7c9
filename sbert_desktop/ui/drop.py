"""Dropping folders anywhere on the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QWidget

from sbert_desktop.domain import display_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.theme import RADIUS, theme
from sbert_desktop.ui.widgets import name


def local_paths(data: QMimeData) -> tuple[Path, ...]:
    """Gives the local paths of a drag; addresses of other machines are left out."""
    return tuple(Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile() and url.toLocalFile())


class DropOverlay(QWidget):
    """Covers the window while something is dragged over it; ``dropped(paths)``."""

    dropped = Signal(object)

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        name(self, "drop_overlay", "Drop folders here")
        self.setAcceptDrops(True)
        self._paths: tuple[Path, ...] = ()
        self.hide()

    def title(self) -> str:
        """Gives what a drop would do."""
        # the disk is not asked whether these are folders: that waits for the estimate, off this thread
        names = [f"“{display_path(path.name or str(path))}”" for path in self._paths]
        if len(names) > 2:
            return f"Add {len(names)} folders"
        return f"Add {words.listed(names)}"

    def offer(self, paths: tuple[Path, ...]) -> None:
        """Shows the overlay for these paths."""
        self._paths = paths
        host = self.parentWidget()
        assert host is not None
        self.setGeometry(host.rect())
        self.show()
        self.raise_()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = local_paths(event.mimeData())
        # never Move: the sender would delete what it thinks has been taken
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.hide()
        if paths:
            self.dropped.emit(paths)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.faded("surface", 0.86))
        area = self.rect().adjusted(24, 24, -24, -24)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.faded("selected", 0.7))
        painter.drawRoundedRect(area, RADIUS, RADIUS)
        pen = QPen(theme.color("accent"), 2)
        pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(area).adjusted(1, 1, -1, -1), RADIUS, RADIUS)
        middle = area.center()
        icons.paint(painter, "folder", QRect(middle.x() - 24, middle.y() - 64, 48, 48), "accent")
        painter.setFont(theme.font("page_title"))
        painter.setPen(theme.color("text"))
        room = QRect(area.x() + 24, middle.y(), area.width() - 48, theme.line("page_title") + 8)
        title = painter.fontMetrics().elidedText(self.title(), Qt.TextElideMode.ElideMiddle, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, title)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("muted"))
        painter.drawText(room.translated(0, room.height()), Qt.AlignmentFlag.AlignCenter,
                         "The files stay where they are and are not changed.")
