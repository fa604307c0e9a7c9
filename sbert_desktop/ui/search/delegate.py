"""How a row of the result list looks: one delegate for documents, passages and links."""

from __future__ import annotations

import re

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QAbstractScrollArea, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from sbert_desktop.app.views import DocumentView
from sbert_desktop.ui import icons
from sbert_desktop.ui.search.model import Kind, ResultModel, date_text, heading_of, place_of, title_of
from sbert_desktop.ui.search.passage_text import PassageText
from sbert_desktop.ui.search.text import one_line
from sbert_desktop.ui.theme import Theme
from sbert_desktop.ui.widgets import paint_bar, paint_tag, tag_width
from sbert_desktop.ui.words import counted

Index = QModelIndex | QPersistentModelIndex

PAD = 16
TEXT_X = 46  # padding 16, icon 18, gap 12
PASSAGE_X = 90  # location column 32, gap 12
BAR = QSize(64, 4)
FOLDED = 1 << 30  # added to the number of a row, its second link: what says nearly the same
TIME_COLUMN = 144  # "00:01:05 Anna Petersen" at the usual size
_TIME = re.compile(r"\d{1,2}:\d\d")
STATE_TAGS = {
    "changed": ("Changed since read", "refresh", "warn"),
    "gone": ("Gone", "warning", "danger"),
    "offline": ("Offline", "disk", "warn"),
}


class ResultDelegate(QStyledItemDelegate):
    """Paints rows and knows where their links lie.

    Heights are remembered by (row, width) until the font changes, and depend on the passage alone: a
    mark that arrives late may move the window of a snippet, but never the rows below it.
    """

    def __init__(self, model: ResultModel, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._heights: dict[tuple[object, ...], int] = {}
        self._texts: dict[tuple[object, ...], tuple[object, PassageText]] = {}
        self.hovered_link = -1
        theme.themeChanged.connect(self.forget)

    def forget(self) -> None:
        """Forgets measures; called when the font or the content changed."""
        self._heights.clear()
        self._texts.clear()

    # ---- measures -------------------------------------------------------------------------
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Gives the height of a row at the width of the list."""
        view = option.widget
        viewport = getattr(view, "viewport", None)
        width = viewport().width() if viewport is not None else max(320, option.rect.width())
        return QSize(width, self.height(index.row(), width))

    def height(self, number: int, width: int) -> int:
        """Gives the height of a row in logical pixels."""
        row = self._model.row(number)
        if row.kind is Kind.FOOTER:
            return self._theme.height(48)
        if row.kind is Kind.CHANCE:
            return self._theme.height(36, role="meta", padding=20)
        document = self._model.document_at(number)
        key = (document.content_id, row.kind, row.hit, self._model.is_open(number), self._model.is_last(number),
               self._model.more_at(number) > 0, self._model.folded_at(number) > 0, width)
        found = self._heights.get(key)
        if found is None:
            found = self._heights[key] = self._measure(number, width)
        return found

    def _measure(self, number: int, width: int) -> int:
        row = self._model.row(number)
        end = 13 if self._model.is_last(number) else 0
        line = self._line()
        if row.kind is Kind.REST:
            return 12 + line + end
        if row.kind is Kind.PASSAGE:
            return round(12 + self._text_height(number, width)) + (line if self._model.folded_at(number) else 0) + end
        head = 12 + self._title_line() + self._meta_line() + 4
        if self._model.is_open(number):
            return head
        link = line if self._model.more_at(number) or self._model.folded_at(number) else 0
        return round(head + self._text_height(number, width)) + link + end

    def _right(self) -> int:
        """Gives the right padding: the scroll bar counts as a part of it, so columns keep their edge."""
        view = self.parent()
        if not isinstance(view, QAbstractScrollArea):
            return PAD
        return max(6, PAD - (view.width() - view.viewport().width()))

    def _line(self) -> int:
        return self._theme.line("body", 20)

    def _title_line(self) -> int:
        return self._theme.line("strong", 20)

    def _meta_line(self) -> int:
        return self._theme.line("meta", 16)

    def _text(self, number: int, width: int) -> PassageText:
        row = self._model.row(number)
        snippet = self._model.snippet_at(number)
        key = (id(self._model.document_at(number)), row.kind, row.hit, width)
        found = self._texts.get(key)
        if found is not None and found[0] is snippet:
            return found[1]
        if len(self._texts) > 400:
            self._texts.clear()
        if row.kind is Kind.PASSAGE:
            room = width - self._passage_x(number) - self._score_width() - 12 - self._right()
        else:
            room = width - TEXT_X - self._right()
        made = PassageText(snippet, self._theme.font("body"), room, self._line())
        self._texts[key] = (snippet, made)
        return made

    def _text_height(self, number: int, width: int) -> float:
        """Gives the room of a passage's text: two lines unless all of it fits on one.

        Which part is shown changes when the best sentence is found; the room for it must not.
        """
        hit = self._model.hit_at(number)
        assert hit is not None
        whole = " ".join(hit.text[:800].split())
        room = width - TEXT_X - self._right()
        if self._model.row(number).kind is Kind.PASSAGE:
            room = width - self._passage_x(number) - self._score_width() - 12 - self._right()
        # as if every letter were bold, and long texts not measured at all
        fits = len(whole) < 400 and self._theme.metrics("strong").horizontalAdvance(whole) <= room
        return float(self._line() * (1 if fits else 2))

    def _passage_x(self, number: int) -> int:
        """Gives where passages begin: behind a column of locations, if any of them fits into one.

        A page fits; of a long heading only an unreadable piece would, so it stands in the tooltip.
        """
        metrics = self._theme.metrics("meta")
        column = max(PASSAGE_X, TEXT_X + metrics.horizontalAdvance("p. 888") + 8)
        hits = self._model.document_at(number).hits
        times = [one_line(hit.location) for hit in hits if _TIME.match(hit.location)]
        if times:  # who speaks when is what a person looks for in a transcript
            widest = max(metrics.horizontalAdvance(text) for text in times)
            column = max(column, TEXT_X + min(TIME_COLUMN, widest) + 12)
        for hit in hits:
            if hit.location and metrics.horizontalAdvance(hit.location) <= column - TEXT_X - 8:
                return column
        return TEXT_X

    def _score_width(self) -> int:
        return max(24, QFontMetrics(self._theme.numbers_font("strong")).horizontalAdvance("0.00") + 1)

    def link_rect(self, rect: QRect, number: int) -> QRect:
        """Gives where a row's link lies (empty if it has none): more, fewer, further ones."""
        row = self._model.row(number)
        if row.kind is Kind.FOOTER:
            return rect
        if row.kind is Kind.REST:
            return QRect(self._passage_x(number), rect.y(), rect.width() - self._passage_x(number), 12 + self._line())
        if row.kind is not Kind.DOCUMENT:
            return QRect()
        if self._model.is_open(number):
            place = self._head(rect, number)[1]
            return place.adjusted(-4, 0, 4 + 16, 0)
        if not self._model.more_at(number):
            return QRect()
        metrics = self._theme.metrics("body")
        wide = metrics.horizontalAdvance(self._more_words(number))
        end = rect.bottom() + 1 - 13
        return QRect(TEXT_X, end - self._line(), wide, self._line())

    def folded_rect(self, rect: QRect, number: int) -> QRect:
        """Gives where a row's link to passages that say nearly the same lies (empty if there are none)."""
        row = self._model.row(number)
        if row.document < 0 or not self._model.folded_at(number):
            return QRect()
        wide = self._theme.metrics("body").horizontalAdvance(self._folded_words(number))
        end = rect.bottom() + 1 - (13 if self._model.is_last(number) else 0)
        if row.kind is Kind.PASSAGE:
            return QRect(self._passage_x(number), end - 6 - self._line(), wide, self._line())
        more = self.link_rect(rect, number)
        return QRect(more.right() + 17 if more.isValid() else TEXT_X, end - self._line(), wide, self._line())

    def _folded_words(self, number: int) -> str:
        return f"+ {self._model.folded_at(number):,} nearly the same"

    def _more_words(self, number: int) -> str:
        return "+ " + counted(self._model.more_at(number), "more passage")

    # ---- painting -------------------------------------------------------------------------
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paints a row."""
        number = index.row()
        row = self._model.row(number)
        painter.save()
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self._paint_ground(painter, option, number)
        if row.kind is Kind.DOCUMENT:
            self._paint_document(painter, option, number)
        elif row.kind is Kind.PASSAGE:
            self._paint_passage(painter, option, number)
        elif row.kind is Kind.CHANCE:
            self._paint_chance(painter, option.rect, number)
        else:
            self._paint_link_row(painter, option, number)
        painter.restore()

    def _ground(self, rect: QRect, number: int) -> QRect:
        row = self._model.row(number)
        last = row.kind is not Kind.FOOTER and self._model.is_last(number)
        if row.kind in (Kind.PASSAGE, Kind.REST):
            wide = rect.width() - TEXT_X + 8 - max(2, self._right() - 8)
            return QRect(TEXT_X - 8, rect.y(), wide, rect.height() - (13 if last else 0))
        return rect.adjusted(8, 4, -max(2, self._right() - 8), -5 if last else -4)

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, number: int) -> None:
        theme, rect = self._theme, option.rect
        if self._model.row(number).kind is Kind.CHANCE:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = self._ground(rect, number)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        over = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if chosen or over:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("selected" if chosen else "hover"))
            painter.drawRoundedRect(ground, 6, 6)
        if chosen:
            painter.setBrush(theme.color("accent"))
            painter.drawRoundedRect(QRectF(ground.x() + 1, ground.y() + 7, 3, ground.height() - 14), 1.5, 1.5)
        view = option.widget
        if chosen and view is not None and view.hasFocus() and option.state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRoundedRect(QRectF(ground).adjusted(1, 1, -1, -1), 5, 5)
        row = self._model.row(number)
        if row.kind is Kind.FOOTER or self._model.is_last(number):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setPen(theme.color("border"))
            painter.drawLine(rect.left(), rect.bottom(), rect.right(), rect.bottom())

    def _head(self, rect: QRect, number: int) -> tuple[QRect, QRect, str, str]:
        """Gives the rectangles and words of the title and of what stands muted beside it."""
        document = self._model.document_at(number)
        hit = self._model.hit_at(number)
        title = title_of(document)
        if self._model.is_open(number):
            beside = counted(self._model.more_at(number) + 1, "passage")
        else:
            beside = one_line(hit.location) if hit is not None else ""
            beside = beside or heading_of(document)
        strong, meta = self._theme.metrics("strong"), self._theme.metrics("meta")
        judged = 22 if hit is not None and hit.judged and not self._model.is_open(number) else 0
        room = self._score_left(rect) - 12 - TEXT_X - self._tag_width(document) - judged
        room -= 16 if self._model.is_open(number) else 0  # the arrow behind the words
        wide = strong.horizontalAdvance(title)
        side = meta.horizontalAdvance(beside) if beside else 0
        least = min(side, room // 3) + 8 if side else 0
        title_width = min(wide, room - least)
        y, high = rect.y() + 12, self._title_line()
        title_rect = QRect(TEXT_X, y, max(40, title_width), high)
        side_rect = QRect(title_rect.right() + 1 + 8, y, min(side, room - title_width - 8), high)
        return title_rect, side_rect, title, beside

    def _score_left(self, rect: QRect) -> int:
        return rect.right() + 1 - self._right() - BAR.width() - 8 - self._score_width()

    def _tag_width(self, document: DocumentView) -> int:
        words = STATE_TAGS.get(document.state)
        return 8 + tag_width(words[0], words[1]) if words else 0

    def _paint_document(self, painter: QPainter, option: QStyleOptionViewItem, number: int) -> None:
        theme, rect = self._theme, option.rect
        document = self._model.document_at(number)
        title_rect, side_rect, title, beside = self._head(rect, number)
        icon_y = title_rect.y() + (title_rect.height() - 18) // 2
        icons.paint(painter, icons.for_format(document.format), QRect(PAD, icon_y, 18, 18))
        painter.setFont(theme.font("strong"))
        painter.setPen(theme.color("text"))
        # of a container and what lies in it both ends are wanted
        _draw(painter, title_rect, title, theme.metrics("strong"),
              Qt.TextElideMode.ElideMiddle if document.member else Qt.TextElideMode.ElideRight)
        painter.setFont(theme.font("meta"))
        opened = self._model.is_open(number)
        hot = opened and self.hovered_link == number
        painter.setPen(theme.color("accent" if hot else "muted"))
        if side_rect.width() > 20:
            _draw(painter, side_rect, beside, theme.metrics("meta"))
        if opened:
            spot = QRect(side_rect.right() + 4, side_rect.y() + (side_rect.height() - 12) // 2, 12, 12)
            icons.paint(painter, "up", spot, "accent" if hot else "muted")
        self._paint_tag(painter, side_rect.right() + (24 if opened else 8), title_rect, document)
        self._paint_score(painter, title_rect, rect, number)
        self._paint_meta(painter, rect, number)
        if opened:
            return
        text = self._text(number, rect.width())
        top = title_rect.bottom() + 1 + self._meta_line() + 4
        text.draw(painter, QPointF(TEXT_X, top), theme.color("text"), theme.color("mark"))
        if self._model.more_at(number):
            self._paint_link(painter, self.link_rect(rect, number), self._more_words(number), number)
        if self._model.folded_at(number):
            self._paint_link(painter, self.folded_rect(rect, number), self._folded_words(number), number + FOLDED)

    def _paint_score(self, painter: QPainter, line: QRect, rect: QRect, number: int) -> None:
        theme = self._theme
        document = self._model.document_at(number)
        bar = self._model.bar_at(number)
        right = rect.right() + 1 - self._right() - (BAR.width() + 8 if bar is not None else 0)
        painter.setFont(theme.numbers_font("strong"))
        painter.setPen(theme.color("text"))
        wide = self._score_width()
        painter.drawText(QRect(right - wide, line.y(), wide, line.height()),
                         Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{document.score:.2f}")
        hit = self._model.hit_at(number)
        if hit is not None and hit.judged and not self._model.is_open(number):
            self._paint_judged(painter, right - wide - 6, line, hit.judged)
        if bar is None:
            return
        groove = QRect(rect.right() + 1 - self._right() - BAR.width(), line.y() + (line.height() - BAR.height()) // 2,
                       BAR.width(), BAR.height())
        paint_bar(painter, groove, bar)

    def _paint_judged(self, painter: QPainter, right: int, line: QRect, judged: str) -> None:
        good = judged == "relevant"
        spot = QRect(right - 16, line.y() + (line.height() - 16) // 2, 16, 16)
        icons.paint(painter, "relevant" if good else "not_relevant", spot, "good" if good else "danger")

    def _paint_chance(self, painter: QPainter, rect: QRect, number: int) -> None:
        theme = self._theme
        words, metrics = self._model.chance_words(number), theme.metrics("meta")
        middle = rect.center().y()
        left, right = PAD, rect.right() + 1 - self._right()
        wide = min(metrics.horizontalAdvance(words), right - left - 48)
        start = left + (right - left - wide) // 2
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        pen = QPen(theme.color("muted"), 1)
        pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.drawLine(left, middle, start - 12, middle)
        painter.drawLine(start + wide + 12, middle, right, middle)
        painter.setFont(theme.font("meta"))
        _draw(painter, QRect(start, rect.y(), wide + 1, rect.height()), words, metrics)

    def _paint_meta(self, painter: QPainter, rect: QRect, number: int) -> None:
        theme = self._theme
        document = self._model.document_at(number)
        metrics = theme.metrics("meta")
        tail = []
        if document.date > 0:
            tail.append(date_text(document.date))
        if len(document.paths) > 1:
            tail.append(f"also in {counted(len(document.paths) - 1, 'other place')}")
        rest = "".join(f" · {piece}" for piece in tail)
        place = place_of(document)
        room = rect.width() - TEXT_X - self._right()
        room = max(60, room - metrics.horizontalAdvance(rest))
        y = rect.y() + 12 + self._title_line()
        if metrics.horizontalAdvance(place) > room:
            place = metrics.elidedText(place, Qt.TextElideMode.ElideMiddle, room)
        spot = QRect(TEXT_X, y, metrics.horizontalAdvance(place) + 1, self._meta_line())
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        _draw(painter, spot, place, metrics)
        # drawn on its own, so that a path written from right to left cannot pull the date into it
        left = spot.right() + 1
        _draw(painter, QRect(left, y, rect.right() + 1 - self._right() - left, spot.height()), rest, metrics)

    def _paint_tag(self, painter: QPainter, x: int, line: QRect, document: DocumentView) -> None:
        words = STATE_TAGS.get(document.state)
        if words is not None:
            high = self._theme.height(20, role="meta", padding=4)
            tag = QRect(x, line.y() + (line.height() - high) // 2, tag_width(words[0], words[1]), high)
            paint_tag(painter, tag, words[0], words[2], words[1])

    def _paint_passage(self, painter: QPainter, option: QStyleOptionViewItem, number: int) -> None:
        theme, rect = self._theme, option.rect
        hit = self._model.hit_at(number)
        assert hit is not None
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        line = self._line()
        top = rect.y() + 6
        where = QRect(TEXT_X, top, self._passage_x(number) - TEXT_X - 8, line)
        if where.width() > 0:
            painter.setFont(theme.font("meta"))
            painter.setPen(theme.color("muted"))
            _draw(painter, where, one_line(hit.location), theme.metrics("meta"))
        painter.setFont(theme.numbers_font("strong" if chosen else "body"))
        painter.setPen(theme.color("text" if chosen else "muted"))
        wide = self._score_width()
        painter.drawText(QRect(rect.right() + 1 - self._right() - wide, top, wide, line),
                         Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{hit.score:.2f}")
        if hit.judged:
            self._paint_judged(painter, PAD + 17, QRect(PAD, top, 18, line), hit.judged)
        self._text(number, rect.width()).draw(
            painter, QPointF(self._passage_x(number), top), theme.color("text"), theme.color("mark"))
        if hit.folded:
            self._paint_link(painter, self.folded_rect(rect, number), self._folded_words(number), number + FOLDED)

    def _paint_link_row(self, painter: QPainter, option: QStyleOptionViewItem, number: int) -> None:
        row = self._model.row(number)
        if row.kind is Kind.FOOTER:
            self._paint_link(painter, option.rect.adjusted(TEXT_X, 0, 0, -1), "Show more documents", number)
            return
        more = self._model.document_at(number).more
        self._paint_link(painter, self.link_rect(option.rect, number), "+ " + counted(more, "more passage"), number)

    def _paint_link(self, painter: QPainter, rect: QRect, words: str, number: int) -> None:
        font = self._theme.font("body")
        font.setUnderline(self.hovered_link == number)
        painter.setFont(font)
        painter.setPen(self._theme.color("accent"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)


def _draw(painter: QPainter, rect: QRect, text: str, metrics: QFontMetrics,
          elided: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
    shown = text if metrics.horizontalAdvance(text) <= rect.width() else metrics.elidedText(text, elided, rect.width())
    flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute
    painter.drawText(rect, int(flags) | int(Qt.TextFlag.TextSingleLine), shown)
