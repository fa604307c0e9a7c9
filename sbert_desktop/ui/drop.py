"""Dropping folders anywhere on the window, and a file on the upper part of the Search page."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QRect, QRectF, Qt, Signal
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
from sbert_desktop.ui.addresses import path_of
from sbert_desktop.ui.theme import RADIUS, theme
from sbert_desktop.ui.widgets import name


def local_paths(data: QMimeData) -> tuple[Path, ...]:
    """Gives the local paths of a drag; addresses of other machines are left out."""
    return tuple(path for path in map(path_of, data.urls()) if path is not None)


def quoted(path: Path) -> str:
    """Gives the name of what is dragged, in quotation marks."""
    return f"“{display_path(path.name or str(path))}”"


class DropOverlay(QWidget):
    """Covers the window while something is dragged over it; ``dropped(paths)``.

    Over the Search page its upper part takes a single file to search by: ``searched(path)``.
    """

    dropped = Signal(object)
    searched = Signal(object)

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        name(self, "drop_overlay", "Drop folders here")
        self.setAcceptDrops(True)
        self._paths: tuple[Path, ...] = ()
        self._search = False
        self._place = QPoint(-1, -1)
        self.hide()

    def title(self) -> str:
        """Gives what a drop would do."""
        # the disk is not asked whether these are folders: that waits for the estimate, off this thread
        names = [quoted(path) for path in self._paths]
        if len(names) > 2:
            return f"Add {len(names)} folders"
        return f"Add {words.listed(names)}"

    def search_title(self) -> str:
        """Gives what a drop on the upper part would do; "" when there is no such part."""
        if not self._search or len(self._paths) != 1:
            return ""
        return f"Search for documents like {quoted(self._paths[0])}"

    def search_area(self) -> QRect:
        """Gives the part that takes a file to search by (empty if there is none)."""
        if not self.search_title():
            return QRect()
        return QRect(24, 24, self.width() - 48, min(160, (self.height() - 72) // 3))

    def offer(self, paths: tuple[Path, ...], *, search: bool = False) -> None:
        """Shows the overlay for these paths; ``search``: a single file may also be searched by."""
        self._paths, self._search = paths, search
        self._place = QPoint(-1, -1)
        host = self.parentWidget()
        assert host is not None
        self.setGeometry(host.rect())
        self.show()
        self.raise_()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._place = event.position().toPoint()
        self.update()
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
            self._take(paths, upper=self.search_area().contains(event.position().toPoint()))

    def _take(self, paths: tuple[Path, ...], *, upper: bool) -> None:
        if upper and len(paths) == 1:
            self.searched.emit(paths[0])
        else:
            self.dropped.emit(paths)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), theme.faded("surface", 0.86))
        area, upper = self.rect().adjusted(24, 24, -24, -24), self.search_area()
        if upper.isValid():
            area.setTop(upper.bottom() + 24)
            self._paint_area(painter, upper, "similar", self.search_title(), "The file is only read for this search.")
        self._paint_area(painter, area, "folder", self.title(), "The files stay where they are and are not changed.")

    def _paint_area(self, painter: QPainter, area: QRect, icon: str, title: str, line: str) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("selected") if area.contains(self._place) else theme.faded("selected", 0.7))
        painter.drawRoundedRect(area, RADIUS, RADIUS)
        pen = QPen(theme.color("accent"), 2)
        pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(area).adjusted(1, 1, -1, -1), RADIUS, RADIUS)
        middle = area.center()
        icons.paint(painter, icon, QRect(middle.x() - 24, middle.y() - 64, 48, 48), "accent")
        painter.setFont(theme.font("page_title"))
        painter.setPen(theme.color("text"))
        room = QRect(area.x() + 24, middle.y(), area.width() - 48, theme.line("page_title") + 8)
        shown = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideMiddle, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, shown)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("muted"))
        painter.drawText(room.translated(0, room.height()), Qt.AlignmentFlag.AlignCenter, line)


class PageDrop(DropOverlay):
    """Over a page whose larger, upper part takes what is dropped for itself: ``offered(paths)``.

    Below it folders are added, as anywhere: ``dropped(paths)``.
    """

    offered = Signal(object)
    icon = "similar"

    def line(self) -> str:
        """Gives what stands below the title of the upper part."""
        raise NotImplementedError

    def search_area(self) -> QRect:
        """Gives the upper part."""
        return QRect(24, 24, self.width() - 48, (self.height() - 72) * 3 // 5)

    def _take(self, paths: tuple[Path, ...], *, upper: bool) -> None:
        (self.offered if upper else self.dropped).emit(paths)

    def _paint_area(self, painter: QPainter, area: QRect, icon: str, title: str, line: str) -> None:
        if area == self.search_area():
            icon, line = self.icon, self.line()
        super()._paint_area(painter, area, icon, title, line)
