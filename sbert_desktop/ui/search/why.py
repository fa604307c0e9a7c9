"""The panel "Why this passage": what meaning and words each said about it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sbert_desktop.app.views import HitView, SearchView
from sbert_desktop.domain import Mode
from sbert_desktop.ui.search.text import collapse, count_words, ordinal
from sbert_desktop.ui.theme import Theme
from sbert_desktop.ui.widgets import Label, ScoreBar, plain_tip


class FoundWords(QWidget):
    """Words on ``mark`` with how often each stands in the passage, as many as there is room for."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._words: tuple[tuple[str, int], ...] = ()
        self.setObjectName("why_found_words")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_words(self, words: Sequence[tuple[str, int]]) -> None:
        """Shows words with their counts."""
        self._words = tuple((collapse(word)[0], count) for word, count in words)
        spoken = self.text()
        self.setAccessibleName(spoken or "No words")
        self.setToolTip(plain_tip(spoken))
        self.update()

    def text(self) -> str:
        """Gives the same as text."""
        return ", ".join(f"{word} {_times(count)}" if count > 1 else word for word, count in self._words)

    def sizeHint(self) -> QSize:
        """Gives a line's height."""
        return QSize(120, self._theme.height(24, padding=4))

    def minimumSizeHint(self) -> QSize:
        """May shrink to a word."""
        return QSize(40, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the words."""
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        strong, meta = theme.metrics("meta_strong"), theme.metrics("meta")
        x, middle = 0, self.height() // 2
        for number, (word, count) in enumerate(self._words):
            tail = f" {_times(count)}" if count > 1 else ""
            last = number == len(self._words) - 1
            room = self.width() - x - (0 if last else meta.horizontalAdvance(" …"))
            wide = strong.horizontalAdvance(word)
            if wide + 6 + meta.horizontalAdvance(tail) > room:
                tail = ""
            if wide + 6 > room:
                if x:
                    painter.setFont(theme.font("meta"))
                    painter.setPen(theme.color("muted"))
                    painter.drawText(QRect(x, 0, 40, self.height()), Qt.AlignmentFlag.AlignVCenter, "…")
                    return
                word = strong.elidedText(word, Qt.TextElideMode.ElideRight, max(0, room - 6))
                wide = strong.horizontalAdvance(word)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("mark"))
            painter.drawRoundedRect(QRectF(x, middle - strong.height() / 2 - 1, wide + 4, strong.height() + 2), 2, 2)
            painter.setFont(theme.font("meta_strong"))
            painter.setPen(theme.color("text"))
            painter.drawText(QRect(x + 2, 0, wide + 4, self.height()), Qt.AlignmentFlag.AlignVCenter, word)
            x += wide + 4
            painter.setFont(theme.font("meta"))
            painter.setPen(theme.color("muted"))
            painter.drawText(QRect(x, 0, self.width() - x, self.height()), Qt.AlignmentFlag.AlignVCenter, tail)
            x += meta.horizontalAdvance(tail) + 8


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


class WhyPanel(QWidget):
    """Two rows: rank and closeness by meaning, rank and words found by words."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("why_panel")
        self.setAccessibleName("Why this passage")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 8)
        column.setSpacing(4)
        column.addWidget(Label("Why this passage", role="section", object_name="why_title"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(0)
        grid.setColumnMinimumWidth(0, 60)
        grid.setColumnMinimumWidth(1, 68)
        grid.setColumnStretch(2, 1)
        self.meaning = Label("", object_name="why_meaning_rank")
        self.words = Label("", object_name="why_words_rank")
        self.bar = ScoreBar(0.0, number=False, width=112, object_name="why_meaning_bar")
        self.cosine = Label("", role="strong", object_name="why_cosine")
        self.cosine.setToolTip(plain_tip("Cosine similarity of query and passage, from -1 to 1"))
        self.found = FoundWords(theme, self)
        bar = QHBoxLayout()
        bar.setSpacing(12)
        bar.addWidget(self.bar)
        bar.addWidget(self.cosine)
        bar.addStretch(1)
        for row, (word, rank) in enumerate((("Meaning", self.meaning), ("Words", self.words))):
            grid.addWidget(Label(word, tone="muted"), row, 0)
            grid.addWidget(rank, row, 1)
            grid.setRowMinimumHeight(row, theme.height(24, padding=4))
        grid.addLayout(bar, 0, 2)
        grid.addWidget(self.found, 1, 2)
        column.addLayout(grid)

    def set_hit(self, hit: HitView, view: SearchView | None) -> None:
        """Explains a passage."""
        mode = view.mode if view is not None else Mode.HYBRID
        total = view.passages_found if view is not None else 0
        similar = view is not None and not view.query.strip()
        self.meaning.setText(_rank(hit.meaning_rank, total, unused=mode is Mode.KEYWORD, missing=hit.cosine is None,
                                   far="further down"))
        self.bar.setVisible(hit.cosine is not None)
        self.cosine.setVisible(hit.cosine is not None)
        if hit.cosine is not None:
            self.bar.set_value(max(0.0, hit.cosine))
            self.bar.setAccessibleName(f"Similarity {hit.cosine:.2f}")
            self.cosine.setText(f"{hit.cosine:.2f}")
        self.words.setText(_rank(hit.words_rank, total, unused=mode is Mode.SEMANTIC, missing=not hit.words,
                                 far="found", none="none found"))
        self.found.set_words(() if similar else count_words(hit.text, hit.words))

    def spoken(self) -> str:
        """Gives the panel as one sentence."""
        cosine = f", similarity {self.cosine.text()}" if not self.cosine.isHidden() else ""
        found = f": {self.found.text()}" if self.found.text() else ""
        return f"Meaning {self.meaning.text()}{cosine}. Words {self.words.text()}{found}."


def _rank(rank: int | None, total: int, *, unused: bool, missing: bool, far: str, none: str = "not yet") -> str:
    if unused:
        return "not used"
    if rank is None:
        return none if missing else far
    return f"{ordinal(rank)} of {total:,}" if rank <= total else ordinal(rank)
