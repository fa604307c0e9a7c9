"""A passage that is judged: where it stands, what stands around it, and the passage itself in large type."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import TextSide
from sbert_desktop.domain import short_path
from sbert_desktop.ui import icons
from sbert_desktop.ui.naming import kind_of, quick_path
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.words import side_place, side_title
from sbert_desktop.ui.widgets import Card, ElidedLabel, IconButton, Line, name, plain_tip

SIZES: Final = ((320, "judged", 28), (700, "search", 24), (10**9, "body", 20))
"""Up to how many characters a passage has which type and line: a long one is to fit its card, too."""
WRAPPED: Final = 50
"""Characters from which a line that ends without a stop was only wrapped."""
PAD: Final = 24
CONTEXT_LINES: Final = 4
GAP: Final = 12


class _Lines:
    """Text broken into lines of a width, with a line height of its own."""

    def __init__(self) -> None:
        self.layout = QTextLayout()
        self.line = 20
        self.count = 0

    def set(self, text: str, role: str, line: int, width: int) -> None:
        """Breaks a text."""
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.line, self.count = line, 0
        self.layout = QTextLayout(text, theme.font(role))
        self.layout.setTextOption(option)
        if not text:
            return
        self.layout.beginLayout()
        while True:
            made = self.layout.createLine()
            if not made.isValid():
                break
            made.setLineWidth(max(40, width))
            made.setPosition(QPointF(0, self.count * line + (line - made.height()) / 2))
            self.count += 1
        self.layout.endLayout()

    def height(self) -> int:
        """Gives the height of all lines."""
        return self.count * self.line

    def paint(self, painter: QPainter, x: int, y: int, first: int = 0) -> None:
        """Paints the lines from ``first`` on, the first of them at ``y``."""
        for at in range(first, self.count):
            self.layout.lineAt(at).draw(painter, QPointF(x, y - first * self.line))


class PassageBody(QWidget):
    """What stands before, the passage with its bar, what stands after.

    The passage begins at the same height in both cards: the page says how many lines of context stand above.
    """

    def __init__(self, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(object_name)
        self._side = TextSide("")
        self._length = 0
        self._all = False
        self._above = 0  # lines of context above the passage
        self._before, self._own, self._after = _Lines(), _Lines(), _Lines()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_side(self, side: TextSide, length: int) -> None:
        """Shows a passage, set as one of so many characters."""
        self._side, self._length = side, length
        self.setAccessibleName(side.text)
        self.setAccessibleDescription(" ".join(part for part in (
            f"Before: {side.before}" if side.before else "", f"After: {side.after}" if side.after else "") if part))
        self.break_lines()

    def show_all(self, whole: bool) -> None:
        """Shows all context, or a few lines of it."""
        self._all = whole
        self.break_lines()

    def break_lines(self) -> None:
        """Breaks the text for the width and the fonts now in force."""
        width = self.width() - 2 * PAD
        small = _line("body", 20)
        _, role, line = next(size for size in SIZES if self._length <= size[0])
        self._before.set(_flat(self._side.before), "body", small, width)
        self._own.set(flowing(self._side.text), role, _line(role, line), width)
        self._after.set(_flat(self._side.after), "body", small, width)
        self._fit()

    def lines_before(self, most: int) -> int:
        """Gives how many lines of context it would have above the passage."""
        return self._before.count if self._all else min(self._before.count, most)

    def set_above(self, lines: int) -> None:
        """Leaves room for so many lines above the passage."""
        self._above = lines
        self._fit()

    def passage_top(self) -> int:
        """Gives where the passage begins."""
        return PAD + (self._above * self._before.line + GAP + 4 if self._above else 0)

    def has_more(self) -> bool:
        """True when there is context that is not shown."""
        return not self._all and (self._before.count > self._above or self._after.count > CONTEXT_LINES)

    def _after_shown(self) -> int:
        return self._after.count if self._all else min(self._after.count, CONTEXT_LINES)

    def _fit(self) -> None:
        tall = self.passage_top() + self._own.height() + PAD
        if self._after_shown():
            tall += GAP + 4 + self._after_shown() * self._after.line
        if tall != self.height():
            self.setFixedHeight(tall)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.break_lines()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        top = self.passage_top()
        shown = self.lines_before(self._above) if self._above else 0
        painter.setPen(theme.color("muted"))
        if shown:
            y = top - GAP - 4 - shown * self._before.line
            self._before.paint(painter, PAD, y, self._before.count - shown)
        bar = QRect(0, top - 4, 3, self._own.height() + 8)
        painter.fillRect(bar, theme.color("accent"))
        painter.setPen(theme.color("text"))
        self._own.paint(painter, PAD, top)
        if self._after_shown():
            painter.setPen(theme.color("muted"))
            painter.save()
            y = top + self._own.height() + GAP + 4
            painter.setClipRect(QRect(0, y, self.width(), self._after_shown() * self._after.line))
            self._after.paint(painter, PAD, y)
            painter.restore()


class PassageCard(Card):
    """A card with its head (document, place, read, open) and its passage.

    ``readWanted``: it is to be shown where it stands; ``openWanted``: its document is to be opened.
    """

    openWanted = Signal()
    readWanted = Signal()
    resized = Signal()

    def __init__(self, object_name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        name(self, object_name, title)
        self._side = TextSide("")
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        self.head = QWidget()
        row = QHBoxLayout(self.head)
        row.setContentsMargins(16, 0, 12, 0)
        row.setSpacing(8)
        self.picture = _Picture()
        words = QVBoxLayout()
        words.setSpacing(0)
        self.title = ElidedLabel(role="medium", object_name=f"{object_name}_title")
        self.place = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, role="meta", tone="muted",
                                 object_name=f"{object_name}_place")
        words.addStretch(1)
        words.addWidget(self.title)
        words.addWidget(self.place)
        words.addStretch(1)
        self.open_button = IconButton("open", f"Open the {title.lower()}", object_name=f"{object_name}_open")
        self.read_button = IconButton("eye", f"Read the {title.lower()} in its document",
                                      object_name=f"{object_name}_read", shortcut="P")
        row.addWidget(self.picture)
        row.addLayout(words, 1)
        row.addWidget(self.read_button)
        row.addWidget(self.open_button)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # arrow keys scroll both cards from anywhere on the page
        name(self.area, f"{object_name}_area", title)
        self.area.viewport().setAutoFillBackground(False)
        holder = QWidget()
        holder.setObjectName(f"{object_name}_holder")
        holder.setStyleSheet(f"#{object_name}_holder {{ background: transparent; }}")
        inner = QVBoxLayout(holder)
        inner.setContentsMargins(0, 0, 0, 0)
        self.body = PassageBody(f"{object_name}_text")
        inner.addWidget(self.body)
        inner.addStretch(1)
        self.area.setWidget(holder)
        column.addWidget(self.head)
        column.addWidget(Line())
        column.addWidget(self.area, 1)
        self.open_button.clicked.connect(self.openWanted)
        self.read_button.clicked.connect(self.readWanted)
        theme.themeChanged.connect(self.fit)
        self.fit()

    def side(self) -> TextSide:
        """Gives the passage shown."""
        return self._side

    def show_side(self, side: TextSide, length: int = 0) -> None:
        """Shows a passage from its beginning; ``length``: of the longer one, so that both are set alike."""
        self._side = side
        self.title.set_full_text(side_title(side))
        self.place.set_full_text(side_place(side))
        if side.path is not None:
            self.place.setToolTip(plain_tip(short_path(side.path)))
            self.picture.show_icon(icons.for_format(kind_of(side.path, side.member)))
        else:
            self.picture.show_icon("question")
        self.open_button.setVisible(side.path is not None)
        self.read_button.setVisible(side.path is not None)
        self.open_button.setToolTip(plain_tip(f"Open {quick_path(side.path.name)}") if side.path is not None else "")
        self.body.show_side(side, max(length, len(side.text)))
        self.area.verticalScrollBar().setValue(0)

    def scroll_lines(self, lines: int) -> None:
        """Scrolls by lines."""
        bar = self.area.verticalScrollBar()
        bar.setValue(bar.value() + lines * 28)

    def fit(self) -> None:
        """Measures anew after the text size changed."""
        self.head.setFixedHeight(theme.height(52, lines=2, padding=12))
        self.body.break_lines()

    def sizeHint(self) -> QSize:
        return QSize(368, 400)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()


class _Picture(QWidget):
    """The icon of a format."""

    def __init__(self) -> None:
        super().__init__()
        self._icon = "file"
        self.setFixedSize(20, 20)

    def show_icon(self, icon: str) -> None:
        """Shows an icon."""
        self._icon = icon
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        icons.paint(QPainter(self), self._icon, QRect(1, 1, 18, 18), "muted")


def flowing(text: str) -> str:
    """Gives a text with its paragraphs and short lines, and without the breaks at which it was only wrapped."""
    out = ""
    for line in text.splitlines():
        words = " ".join(line.split())
        if not words:
            out += "\n" if out and not out.endswith("\n") else ""
        elif not out or out.endswith("\n"):
            out += words
        else:
            last = out.rpartition("\n")[2]
            out += (" " if len(last) >= WRAPPED and last[-1] not in ".:!?;" else "\n") + words
    return out.strip().replace("\n", "\u2028")  # QTextLayout knows no other break


def _flat(text: str) -> str:
    return " ".join(text.split())


def _line(role: str, height: int) -> int:
    return max(height, theme.metrics(role).height() + (6 if role == "judged" else 3))
