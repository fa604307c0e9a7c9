"""The picture of a page with the passage and its best sentence marked, as one painted widget."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QImage,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from sbert_desktop.app.views import PreviewPage
from sbert_desktop.ui.theme import Theme
from sbert_desktop.ui.widgets import paint_bar, paint_focus

MARGIN = 16
A4 = 297 / 210
ZOOMS = (0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0)
TURN = 240  # wheel units (two notches) past the edge that turn the page
PALE = 0.28  # share of the mark's colour in the rest of the passage


class PageView(QAbstractScrollArea):
    """Paints a page at a zoom of the width of the panel (1.0 fits).

    Wheel scrolls, and turns the page at its end; Ctrl+wheel zooms. Page up/down turn, plus and
    minus zoom, 0 fits.
    """

    pageTurned = Signal(int)  # +1 or -1
    zoomChanged = Signal(float)
    copyWanted = Signal()  # of the passage: a picture has no text of its own
    menuWanted = Signal(QPoint)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._page: PreviewPage | None = None
        self._image: QImage | None = None  # page and marks in the scheme's colours
        self._scaled: QImage | None = None
        self._loading = False
        self._zoom = 1.0
        self._pushed = 0
        self._ratio = A4
        self.setObjectName("preview_page")
        self.setAccessibleName("Page")
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.verticalScrollBar().setSingleStep(32)
        self.horizontalScrollBar().setSingleStep(32)
        theme.themeChanged.connect(self._on_theme)

    # ---- content --------------------------------------------------------------------------
    def set_page(self, page: PreviewPage | None) -> None:
        """Shows a page and scrolls to its mark; None for none."""
        keep = page is not None and self._page is not None and (page.path, page.page) == (
            self._page.path, self._page.page) and page.sentence == self._page.sentence
        where = self._share()
        self._page = page
        self._loading = False
        if page is not None:
            self._ratio = page.height / max(1, page.width)
        self._compose()
        self._lay_out()
        if page is not None and not keep:
            self._scroll_to_mark()
        elif keep:
            self.verticalScrollBar().setValue(round(where * max(1, self._page_size().height())))
        self.viewport().update()

    def page(self) -> PreviewPage | None:
        """Gives the page shown."""
        return self._page

    def set_loading(self, loading: bool) -> None:
        """Shows a white page with a progress bar while the picture is made."""
        if loading:
            self._page, self._image, self._scaled = None, None, None
        self._loading = loading
        self._lay_out()
        self.viewport().update()

    def loading(self) -> bool:
        """True while the white page is shown."""
        return self._loading

    # ---- zoom -----------------------------------------------------------------------------
    @property
    def zoom(self) -> float:
        """The zoom, relative to the width of the panel."""
        return self._zoom

    def set_zoom(self, zoom: float) -> None:
        """Zooms; what is in the middle stays there."""
        zoom = max(ZOOMS[0], min(ZOOMS[-1], zoom))
        if zoom == self._zoom:
            return
        bar = self.verticalScrollBar()
        middle = (bar.value() + self.viewport().height() / 2) / max(1, self._content().height())
        self._zoom = zoom
        self._scaled = None
        self._lay_out()
        bar.setValue(round(middle * self._content().height() - self.viewport().height() / 2))
        self.viewport().update()
        self.zoomChanged.emit(zoom)

    def zoom_by(self, steps: int) -> None:
        """Zooms by steps."""
        nearest = min(range(len(ZOOMS)), key=lambda n: abs(ZOOMS[n] - self._zoom))
        self.set_zoom(ZOOMS[max(0, min(len(ZOOMS) - 1, nearest + steps))])

    def wanted_width(self) -> int:
        """Gives the width in device pixels at which a page is sharp now."""
        return max(200, min(2400, round(self._page_size().width() * self.devicePixelRatioF())))

    # ---- geometry -------------------------------------------------------------------------
    def _page_size(self) -> QSize:
        room = self.viewport().width() - 2 * MARGIN - 8
        width = max(120, round(room * self._zoom))
        return QSize(width, round(width * self._ratio))

    def _content(self) -> QSize:
        return self._page_size() + QSize(2 * MARGIN, 2 * MARGIN)

    def _page_rect(self) -> QRect:
        size, view = self._page_size(), self.viewport()
        x = max(MARGIN, (view.width() - size.width()) // 2) - self.horizontalScrollBar().value()
        return QRect(x, MARGIN - self.verticalScrollBar().value(), size.width(), size.height())

    def _lay_out(self) -> None:
        content, view = self._content(), self.viewport().size()
        for bar, whole, part in ((self.verticalScrollBar(), content.height(), view.height()),
                                 (self.horizontalScrollBar(), content.width(), view.width())):
            bar.setRange(0, max(0, whole - part))
            bar.setPageStep(part)

    def _share(self) -> float:
        return self.verticalScrollBar().value() / max(1, self._page_size().height())

    def _scroll_to_mark(self) -> None:
        page = self._page
        assert page is not None
        rects = page.sentence or page.passage
        scale = self._page_size().width() / max(1, page.width)
        self._pushed = 0
        if not rects:
            self.verticalScrollBar().setValue(0)
            return
        top = min(rect[1] for rect in rects) * scale + MARGIN
        self.verticalScrollBar().setValue(round(top - self.viewport().height() / 3))
        left = min(rect[0] for rect in rects) * scale
        self.horizontalScrollBar().setValue(round(left - 24))

    def mark_rects(self) -> list[QRectF]:
        """Gives where the sentence is painted, in the coordinates of the viewport."""
        page = self._page
        if page is None:
            return []
        place, scale = self._page_rect(), self._page_size().width() / max(1, page.width)
        return [QRectF(place.x() + x * scale, place.y() + y * scale, w * scale, h * scale)
                for x, y, w, h in page.sentence]

    # ---- painting -------------------------------------------------------------------------
    def _compose(self) -> None:
        """Puts marks and paper under the ink once per page and scheme: multiplied, so ink stays ink."""
        self._scaled = self._image = None
        page = self._page
        if page is None or page.width <= 0 or page.height <= 0 or len(page.rgb) < page.width * page.height * 3:
            return
        image = QImage(page.rgb, page.width, page.height, page.width * 3, QImage.Format.Format_RGB888)
        image = image.convertToFormat(QImage.Format.Format_RGB32)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Multiply)
        painter.setPen(Qt.PenStyle.NoPen)
        if self._theme.dark:
            painter.fillRect(image.rect(), self._theme.color("paper"))
        mark = self._theme.color("page_mark")
        sentence, passage = _union(page.sentence), _union(page.passage)
        painter.fillPath(passage.subtracted(sentence), _pale(mark))
        painter.fillPath(sentence, mark)
        painter.end()
        self._image = image

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints canvas, page and border."""
        theme = self._theme
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), theme.color("rail"))
        place = self._page_rect()
        if self._image is not None:
            ratio = self.devicePixelRatioF()
            size = QSize(round(place.width() * ratio), round(place.height() * ratio))
            if self._scaled is None or self._scaled.size() != size:
                self._scaled = self._image.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio,
                                                  Qt.TransformationMode.SmoothTransformation)
            painter.drawImage(QRectF(place), self._scaled)
        elif self._loading:
            painter.fillRect(place, theme.color("paper"))
            paint_bar(painter, QRect(place.x() + place.width() // 2 - 60, place.y() + 48, 120, 4), 0.35)
        else:
            return
        painter.setPen(theme.color("border"))
        painter.drawRect(place.adjusted(0, 0, -1, -1))
        if self.hasFocus():
            paint_focus(painter, self.viewport().rect())

    # ---- events ---------------------------------------------------------------------------
    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Scrolls by painting anew."""
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fits the page to the new width."""
        super().resizeEvent(event)
        self._scaled = None
        self._lay_out()
        if self._page is not None and event.oldSize().width() != event.size().width():
            self._scroll_to_mark()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolls, zooms with Ctrl, turns the page past its end."""
        delta = event.angleDelta().y()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if delta:
                self.zoom_by(1 if delta > 0 else -1)
            event.accept()
            return
        bar = self.verticalScrollBar()
        before = bar.value()
        super().wheelEvent(event)
        event.accept()
        if bar.value() != before or not delta:
            self._pushed = 0
            return
        self._pushed = self._pushed + delta if self._pushed * delta >= 0 else delta
        if abs(self._pushed) >= TURN:
            self._pushed = 0
            self.pageTurned.emit(-1 if delta > 0 else 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Turns pages and zooms."""
        key = event.key()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copyWanted.emit()
        elif key == Qt.Key.Key_PageDown:
            self.pageTurned.emit(1)
        elif key == Qt.Key.Key_PageUp:
            self.pageTurned.emit(-1)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_by(1)
        elif key == Qt.Key.Key_Minus:
            self.zoom_by(-1)
        elif key == Qt.Key.Key_0:
            self.set_zoom(1.0)
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + (48 if key == Qt.Key.Key_Down else -48))
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Asks for the menu of the document."""
        self.menuWanted.emit(event.globalPos())
        event.accept()

    def focusInEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        """Shows the ring."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        """Takes the ring away."""
        super().focusOutEvent(event)
        self.viewport().update()

    def _on_theme(self) -> None:
        self._compose()
        self.viewport().update()


def _union(rects: tuple[tuple[float, float, float, float], ...]) -> QPainterPath:
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    for x, y, width, height in rects:
        # one pixel of air, so that letters do not touch the edge
        path.addRoundedRect(QRectF(QPointF(x - 1, y - 1), QPointF(x + width + 1, y + height + 1)), 3, 3)
    return path.simplified() if rects else path


def _pale(color: QColor) -> QColor:
    return QColor(*(round(255 - (255 - part) * PALE) for part in (color.red(), color.green(), color.blue())))
