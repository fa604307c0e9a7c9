"""The list of quotations: verdict, what the draft says, what the source says, where it stands."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from sbert_desktop.app.views import QuoteView, Span
from sbert_desktop.ui import words
from sbert_desktop.ui.naming import file_words
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import KeyboardFocus, name, paint_focus, paint_tag, plain_tip, tag_width

Index = QModelIndex | QPersistentModelIndex
QuoteRole = Qt.ItemDataRole.UserRole + 1
LINES = 3  # of a quotation; the whole stands in the tooltip
LONGEST = 1000

VERDICTS = {"exact": ("Word for word", "good", "check"), "changed": ("Changed", "warn", "warning"),
            "not found": ("Not found", "danger", "close")}


def verdict(quote: QuoteView) -> tuple[str, str, str]:
    """Gives words, tone and icon of a verdict."""
    return VERDICTS.get(quote.verdict, (quote.verdict, "neutral", "info"))


def place(quote: QuoteView) -> str:
    """Gives where the quotation stands."""
    if quote.path is None:
        return "in none of your documents"
    page = f", p. {quote.page}" if quote.page else ""
    return f"{file_words(quote.path, quote.member)}{page}"


def changed_words(quote: QuoteView) -> list[str]:
    """Gives the words of the draft that the source says otherwise."""
    return [" ".join(quote.quoted[start:end].split()) for start, end in quote.changes]


def said(quote: QuoteView) -> str:
    """Gives a row as a screen reader says it."""
    out = f"{verdict(quote)[0]}: {' '.join(quote.quoted.split())}. {place(quote)}"
    if quote.changes:
        out += f". Changed: {words.listed(changed_words(quote))}"
    return f"{out}. The source says: {' '.join(quote.source.split())}" if quote.verdict == "changed" else out


class QuotesModel(QAbstractListModel):
    """Quotations in the order of the draft."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.quotes: tuple[QuoteView, ...] = ()

    def set_quotes(self, quotes: Sequence[QuoteView]) -> None:
        """Shows other quotations."""
        self.beginResetModel()
        self.quotes = tuple(quotes)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  Qt's own signature
        return 0 if parent.isValid() else len(self.quotes)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        quote = self.quotes[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return said(quote)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{quote.quoted[:LONGEST]}\n\n{quote.source[:LONGEST]}".strip())
        return quote if role == QuoteRole else None


def layout_of(text: str, spans: Sequence[Span], width: int) -> QTextLayout:
    """Lays out a text of at most three lines; ``spans`` are underlined on a soft fill."""
    made = QTextLayout(text, theme.font("body"))
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    made.setTextOption(option)
    ranges = []
    for start, end in spans:
        look = QTextCharFormat()
        look.setBackground(theme.color("warn_soft"))
        look.setFontUnderline(True)
        part = QTextLayout.FormatRange()
        # Qt counts UTF-16 units, the spans code points
        part.start, part.length = _units(text[:start]), _units(text[start:end])
        part.format = look
        ranges.append(part)
    made.setFormats(ranges)
    made.beginLayout()
    y = 0.0
    for _ in range(LINES):
        line = made.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        line.setPosition(QPointF(0, y))
        y += max(line.height(), theme.line("body"))
    made.endLayout()
    return made


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _flat(text: str) -> str:
    # one blank for each sign that would break the line: the spans stay right
    return "".join(" " if ch in "\n\r\t\u2028\u2029" else ch for ch in text[:LONGEST])


class QuoteDelegate(QStyledItemDelegate):
    """Verdict as a tag and place in the first line; the quotation; what the source says if it differs."""

    def _parts(self, quote: QuoteView, width: int) -> list[tuple[QTextLayout, bool]]:
        room = max(80, width - 32)
        spans = [span for span in quote.changes if span[1] <= LONGEST]
        out = [(layout_of(_flat(quote.quoted), spans, room), False)]
        if quote.verdict == "changed" and quote.source:
            out.append((layout_of(_flat(f"Source: {quote.source}"), (), room), True))
        return out

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        view = option.widget
        width = view.viewport().width() if isinstance(view, QListView) else 400
        height = 12 + theme.height(20, role="meta", padding=4) + 12
        for layout, _ in self._parts(index.data(QuoteRole), width):
            height += 6 + layout.lineCount() * theme.line("body")
        return QSize(width, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        quote: QuoteView = index.data(QuoteRole)
        rect: QRect = option.rect
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen:
            painter.fillRect(rect, theme.color("selected"))
            painter.fillRect(QRect(rect.x(), rect.y(), 3, rect.height()), theme.color("accent"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("border"))
        text, tone, icon = verdict(quote)
        height = theme.height(20, role="meta", padding=4)
        tag = QRect(rect.x() + 16, rect.y() + 12, tag_width(text, icon), height)
        paint_tag(painter, tag, text, tone, icon)
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        room = QRect(tag.right() + 9, tag.y(), rect.right() - tag.right() - 24, height)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, painter.fontMetrics().elidedText(
            place(quote), Qt.TextElideMode.ElideMiddle, room.width()))
        y = tag.bottom() + 7
        for layout, muted in self._parts(quote, rect.width()):
            ink: QColor = theme.color("muted" if muted else "text")
            painter.setPen(ink)
            layout.draw(painter, QPointF(rect.x() + 16, y))
            y += layout.lineCount() * theme.line("body") + 6
        if chosen and isinstance(option.widget, QuoteList) and option.widget.shows_focus():
            paint_focus(painter, rect.adjusted(0, 0, 0, -1))


class QuoteList(KeyboardFocus, QListView):
    """The quotations; Enter or a click opens the source."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "quotes_list", "Quotations", "Enter shows where the quotation stands")
        self.quotes_model = QuotesModel(self)
        self.setModel(self.quotes_model)
        self.setItemDelegate(QuoteDelegate(self))
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setStyleSheet("QListView { background: transparent; }")
        self.setResizeMode(QListView.ResizeMode.Adjust)
        theme.themeChanged.connect(self._fit)

    def current(self) -> QuoteView | None:
        """Gives the quotation chosen."""
        index = self.currentIndex()
        return index.data(QuoteRole) if index.isValid() else None

    def _fit(self) -> None:
        self.scheduleDelayedItemsLayout()
