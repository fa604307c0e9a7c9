"""The panel "Why this passage": what meaning and words each said about it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from sbert_desktop.app.views import HitView, SearchView
from sbert_desktop.domain import Mode
from sbert_desktop.ui.search.model import score_words
from sbert_desktop.ui.search.text import collapse, count_words, ordinal
from sbert_desktop.ui.theme import Theme
from sbert_desktop.ui.widgets import Button, IconButton, Label, ScoreBar, plain_tip

LINK = 5  # the text of a link stands within its own padding: what is above it is moved to where that text begins


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
    """Two rows: rank and closeness by meaning, rank and words found by words; more parts on demand.

    ``judged(str)``: the person says ``relevant`` or ``not relevant``, or takes it back (``""``).
    """

    judged = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("why_panel")
        self.setAccessibleName("Why this passage")
        column = QVBoxLayout(self)
        column.setContentsMargins(16 - LINK, 12, 16, 8)
        column.setSpacing(4)
        head = QHBoxLayout()
        head.setSpacing(4)
        head.setContentsMargins(LINK, 0, 0, 0)
        self.title = Label("Why this passage", role="section", object_name="why_title")
        head.addWidget(self.title)
        head.addStretch(1)
        self.question = Label("Is it what you meant?", role="meta", tone="muted", object_name="why_question")
        self.relevant = IconButton("relevant", "This is what I meant", object_name="why_relevant", checkable=True)
        self.not_relevant = IconButton("not_relevant", "This is not what I meant", object_name="why_not_relevant",
                                       checkable=True)
        for widget in (self.question, self.relevant, self.not_relevant):
            head.addWidget(widget)
        self.relevant.clicked.connect(lambda on: self.judged.emit("relevant" if on else ""))
        self.not_relevant.clicked.connect(lambda on: self.judged.emit("not relevant" if on else ""))
        column.addLayout(head)
        grid = QGridLayout()
        grid.setContentsMargins(LINK, 0, 0, 0)
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
        self.family = Label("", role="meta", wrap=True, object_name="why_family")
        self.family.setContentsMargins(LINK, 0, 0, 0)
        self.family.hide()
        column.addWidget(self.family)
        self.details = Label("", role="meta", tone="muted", wrap=True, object_name="why_details")
        self.details.setContentsMargins(LINK, 0, 0, 0)
        self.details.hide()
        column.addWidget(self.details)
        self.details_button = Button("All parts of the score", kind="link", size="small", object_name="why_more")
        self.details_button.clicked.connect(self._toggle_details)
        link = QHBoxLayout()
        link.addWidget(self.details_button)
        link.addStretch(1)
        column.addLayout(link)
        self._weights = (40, 0.0)
        self._judging = True

    def controls(self) -> list[QWidget]:
        """Gives the controls in the order of Tab."""
        return [self.relevant, self.not_relevant, self.details_button]

    def set_judging(self, possible: bool) -> None:
        """Shows the buttons of the verdict, or leaves them out."""
        self._judging = possible
        for widget in (self.relevant, self.not_relevant):
            widget.setVisible(possible)
        self._fit()

    def set_keys(self, relevant: str, not_relevant: str) -> None:
        """Names the keys that do the same in the list of results."""
        self.relevant.set_tip("This is what I meant", relevant)
        self.not_relevant.set_tip("This is not what I meant", not_relevant)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leaves the question to the tooltips of its buttons where there is no room for it."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        need = self.title.sizeHint().width() + self.question.sizeHint().width() + 2 * 28 + 3 * 4 + 2 * 16
        self.question.setVisible(self._judging and self.width() >= need + 4)

    def set_weights(self, words: int, recency: float) -> None:
        """Takes what the order was made with: the words' share in per cent, the weight of newness in [0, 1]."""
        self._weights = (words, recency)

    def set_family(self, words: str) -> None:
        """Says which version of a document this is; "" for the only one."""
        self.family.setText(words)
        self.family.setVisible(bool(words))

    def _toggle_details(self) -> None:
        self.details.setVisible(self.details.isHidden())
        self.details_button.setText("Fewer parts" if not self.details.isHidden() else "All parts of the score")

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
        self.relevant.setChecked(hit.judged == "relevant")
        self.not_relevant.setChecked(hit.judged == "not relevant")
        self.details.setText(parts_of(hit, view, *self._weights))
        self.found.set_words(() if similar else count_words(hit.text, hit.words))

    def spoken(self) -> str:
        """Gives the panel as one sentence."""
        cosine = f", similarity {self.cosine.text()}" if not self.cosine.isHidden() else ""
        found = f": {self.found.text()}" if self.found.text() else ""
        return f"Meaning {self.meaning.text()}{cosine}. Words {self.words.text()}{found}."


def parts_of(hit: HitView, view: SearchView | None, words: int, recency: float) -> str:
    """Gives the parts of a score in words, one a line."""
    mode = view.mode if view is not None else Mode.HYBRID
    lines = [f"Score {hit.score:.2f}: {score_words(hit.score_kind).lower()}"]
    if mode is Mode.HYBRID:
        lines.append(f"Weights: {100 - words} % meaning, {words} % words")
    if hit.cosine is not None:
        chance = f" (chance reaches {view.chance:.2f})" if view is not None and view.chance is not None else ""
        lines.append(f"Cosine {hit.cosine:.3f}{chance}")
    if hit.bm25 is not None:
        lines.append(f"Weight of the words found (BM25) {hit.bm25:.2f}")
    if hit.rerank is not None:
        lines.append(f"Second look {hit.rerank:.3f}")
    if recency:
        lines.append(f"Newer documents raised by up to {100 * recency:.0f} %")
    if hit.folded:
        lines.append(f"{hit.folded:,} further passages say nearly the same")
    return "\n".join(lines)


def _rank(rank: int | None, total: int, *, unused: bool, missing: bool, far: str, none: str = "not yet") -> str:
    if unused:
        return "not used"
    if rank is None:
        return none if missing else far
    return f"{ordinal(rank)} of {total:,}" if rank <= total else ordinal(rank)
