"""Tables that lie flush with the page's margins, and the one of questions whose right document changes place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QStyle, QStyleOptionViewItem, QWidget

from sbert_desktop.app.training_views import ChangeRow
from sbert_desktop.ui import icons
from sbert_desktop.ui.library.tables import Column, Head, RowDelegate, RowsModel, Table
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.comparing_words import move, rank
from sbert_desktop.ui.widgets import name, paint_focus

Index = QModelIndex | QPersistentModelIndex
RIGHT: Final = "Right document"
ARROWS: Final = {1: ("up", "good"), -1: ("down", "danger"), 0: ("", "muted"), 3: ("up", "muted"), -3: ("down", "muted")}
"""Icon and tone of what gets better, worse, or stays; 3 and -3: higher or lower, and nobody judged it."""
UNJUDGED: Final = "Grey: nobody judged which document is right; it is the one that the tuned model finds first."
PLAIN: Final = {2: ("plus", "accent"), 1: ("up", "muted"), 0: ("", "muted"), -1: ("down", "muted"),
                -2: ("minus", "muted")}
"""Icon and tone where nobody said which document is right: new, higher, alike, lower, gone."""
_MIDDLE: Final = Qt.AlignmentFlag.AlignVCenter


def _room(rect: QRect, at: int, count: int) -> QRect:
    """Gives the room of a cell's text: flush at both ends of the row."""
    return rect.adjusted(8 if at else 0, 0, 0 if at == count - 1 else -8, 0)


class FlushHead(Head):
    """A head whose first and last words stand at the table's edges."""

    def paintSection(self, painter: QPainter, rect: QRect, logical: int) -> None:
        model = self.model()
        assert isinstance(model, RowsModel)
        column = model.columns[logical]
        painter.save()
        painter.fillRect(rect, theme.color("surface"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("border"))
        box = _room(rect, logical, len(model.columns))
        painter.setFont(theme.font("meta"))
        painter.setPen(theme.color("muted"))
        side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
        text = painter.fontMetrics().elidedText(column.head, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, int(side | _MIDDLE), text)
        painter.restore()


class FlushDelegate(RowDelegate):
    """Paints a cell without outer padding; ``arrow`` gives a key of ``looks`` for the last column of a row."""

    def __init__(self, parent: QWidget, arrow: Callable[[object], int] | None = None,
                 looks: Mapping[int, tuple[str, str]] = ARROWS) -> None:
        super().__init__(parent)
        self._arrow = arrow
        self._looks = looks

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        assert isinstance(model, RowsModel)
        column, row, rect = model.columns[index.column()], model.rows[index.row()], option.rect
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        table = option.widget
        assert isinstance(table, Table)
        focus = chosen and table.shows_focus()
        if focus or (chosen and table.property("picks")):
            painter.fillRect(rect, theme.color("selected"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("border"))
        box = _room(rect, index.column(), len(model.columns))
        if self._arrow is not None and index.column() == len(model.columns) - 1:
            self._paint_move(painter, box, column.text(row), self._arrow(row))
        else:
            self._paint_text(painter, box, column, column.text(row), strong=False)
        if focus:
            painter.save()
            painter.setClipRect(rect)
            paint_focus(painter, QRect(0, rect.y(), table.viewport().width(), rect.height() - 1))
            painter.restore()

    def _paint_move(self, painter: QPainter, box: QRect, text: str, way: int) -> None:
        icon, tone = self._looks[way]
        painter.setFont(theme.numbers_font("body" if tone == "muted" else "strong"))
        painter.setPen(theme.color(tone))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignRight | _MIDDLE), text)
        wide = painter.fontMetrics().horizontalAdvance(text)
        if icon:
            icons.paint(painter, icon, QRect(box.right() + 1 - wide - 20, box.center().y() - 6, 14, 14), tone)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(60, theme.height(32, padding=12))


class FlushTable(Table):
    """A table without outer padding. ``whole``: it is as high as its rows and never scrolls by itself."""

    def __init__(self, columns: Sequence[Column], *, object_name: str, accessible: str, whole: bool = False,
                 arrow: Callable[[object], int] | None = None,
                 looks: Mapping[int, tuple[str, str]] = ARROWS, picks: bool = False,
                 parent: QWidget | None = None) -> None:
        super().__init__(columns, object_name=object_name, accessible=accessible, sortable=False, parent=parent)
        self._whole = whole
        self.setProperty("picks", picks)
        self.setItemDelegate(FlushDelegate(self, arrow, looks))
        head = FlushHead(self)
        self.setHorizontalHeader(head)
        name(head, f"{object_name}_head", f"{accessible}: columns")
        head.setSectionsClickable(False)
        head.setHighlightSections(False)
        head.setMinimumSectionSize(40)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._head = head
        if whole:
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fit()

    def set_rows(self, rows: Sequence[object]) -> None:
        super().set_rows(rows)
        self._fit_height()

    def _fit(self) -> None:
        super()._fit()
        if hasattr(self, "_whole"):
            self._fit_height()

    def _fit_height(self) -> None:
        if self._whole:
            row = self.verticalHeader().defaultSectionSize()
            self.setFixedHeight(self.horizontalHeader().height() + row * len(self.rows_model.rows))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.rows_model.rows and self.shows_focus():
            paint_focus(QPainter(self.viewport()), self.viewport().rect())


def _row(row: object) -> ChangeRow:
    assert isinstance(row, ChangeRow)
    return row


def change_words(row: ChangeRow) -> str:
    """Gives a row in words, for tooltips and screen readers."""
    judged = {1: "better", -1: "worse", 0: "the same"}
    word = (judged if row.judged else {1: "higher", -1: "lower", 0: "the same"})[move(row)]
    known = "You said which document is right." if row.judged else \
        "Nobody judged which document is right: it is the one that the tuned model finds first."
    return f"{row.query}: {row.document}, now {rank(row.now)}, tuned {rank(row.tuned)}, {word}. {known}"


def changes_table(object_name: str, *, whole: bool = False, parent: QWidget | None = None) -> FlushTable:
    """Makes the table of questions: where the right document stands now and with the tuned model."""

    def tip(row: object) -> str:
        return change_words(_row(row))

    columns = (
        Column("Your question", lambda row: _row(row).query, 264, tip=tip),
        Column(RIGHT, lambda row: _row(row).document, elide=Qt.TextElideMode.ElideMiddle, least=190, tip=tip),
        Column("Now", lambda row: rank(_row(row).now), 72, tone="muted", right=True, tip=tip),
        Column("Tuned", lambda row: rank(_row(row).tuned), 80, right=True, tip=tip),
    )
    made = FlushTable(columns, object_name=object_name, accessible="What would change for you", whole=whole,
                      arrow=_look, parent=parent)
    return made


def show_changes(table: FlushTable, rows: Sequence[ChangeRow]) -> bool:
    """Shows rows, with the head that is true for all of them; gives whether some of them nobody judged."""
    unjudged = not all(row.judged for row in rows)
    model = table.rows_model
    first, second, *rest = model.columns
    model.columns = (first, replace(second, head="Document" if unjudged else RIGHT), *rest)
    table.set_rows(rows)
    return unjudged


def _look(row: object) -> int:
    change = _row(row)
    return move(change) * (1 if change.judged else 3)
