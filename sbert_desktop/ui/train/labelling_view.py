"""What the step that judges looks like: where its parts stand, and how they fit into the room there is."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import PairView, Task
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.labelling_card import CONTEXT_LINES, PassageCard
from sbert_desktop.ui.train.labelling_keys import GradeButton, HintButton, KeyButton
from sbert_desktop.ui.train.labelling_side import JudgedSide
from sbert_desktop.ui.train.labelling_states import PairStates
from sbert_desktop.ui.train.words import GRADE_WORDS, GRADES, GRADES_BRIEF, TASKS
from sbert_desktop.ui.widgets import Chip, FlowLayout, Label, Notice, Segmented, Tag, name

WHY: Final = {"unsure": ("The model is unsure here", "Model unsure", "accent", "info"),
              "sure-same": ("The model is sure here", "Model sure", "neutral", ""),
              "sure-different": ("The model is sure here", "Model sure", "neutral", "")}
"""Never which way it is sure: that would sway."""
READ_TIP: Final = "Shows the first passage where it stands, then the second one"
GRADED_TIP: Final = "Says how alike two texts are instead of only same or different"


class LabellingView(QWidget):
    """The parts of the step; what they do is the step's."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("train_labelling")
        self.task = Task.SAME
        self._shown: PairView | None = None
        self._brief = False  # the small keys are worded briefly
        self._build()
        theme.themeChanged.connect(self._fit)

    # ---- building

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.stack = QStackedWidget()
        self.stack.setObjectName("train_pairs_stack")
        self.stack.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.states = PairStates()
        self.centre = QWidget()
        name(self.centre, "train_pairs", "Pairs")
        self.centre.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # where the keys work: it has no look of its own
        column = self._column = QVBoxLayout(self.centre)
        column.setContentsMargins(24, 24, 24, 12)
        column.setSpacing(0)
        self._build_head(column)
        self.notice = Notice("train_notice")
        column.addWidget(self.notice)
        self.among = Chip("Only", object_name="train_among")
        column.addWidget(self.among)
        self.among.hide()
        cards = QHBoxLayout()
        cards.setSpacing(16)
        self.left = PassageCard("train_left", "First passage")
        self.right = PassageCard("train_right", "Second passage")
        cards.addWidget(self.left, 1)
        cards.addWidget(self.right, 1)
        column.addSpacing(12)
        column.addLayout(cards, 1)
        column.addSpacing(16)
        self._build_keys(column)
        wait = QWidget()
        waiting = QVBoxLayout(wait)
        waiting.setContentsMargins(0, 0, 0, 0)
        waiting.addWidget(self.states)
        self.stack.addWidget(self.centre)
        self.wait = wait
        self.stack.addWidget(wait)
        self.side = JudgedSide()
        row.addWidget(self.stack, 1)
        row.addWidget(self.side)

    def _build_head(self, column: QVBoxLayout) -> None:
        self._head = QGridLayout()
        self._head.setHorizontalSpacing(12)
        self._head.setVerticalSpacing(4)
        self.question = Label("", role="page_title", wrap=True, object_name="train_question")
        self.tasks = Segmented(tuple((task.value, TASKS[task].tab) for task in Task), object_name="train_task",
                               accessible="What is judged")
        self.hint = Label("", role="meta", tone="muted", wrap=True, object_name="train_hint")
        self.why = Tag("", object_name="train_why")
        self.number = Label("", role="meta", tone="muted", object_name="train_number")
        column.addLayout(self._head)  # before anything is shown: without a parent it would be a window
        self._compact = True
        self._place_head(False)

    def _place_head(self, compact: bool) -> None:
        """Puts the question beside the tasks; where there is little room, below them and without its hint."""
        if compact == self._compact:
            return
        self._compact = compact
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for widget in (self.question, self.tasks, self.hint, self.why, self.number):
            self._head.removeWidget(widget)
        if compact:
            self._head.addWidget(self.tasks, 0, 0, Qt.AlignmentFlag.AlignLeft)
            self._head.addWidget(self.question, 1, 0, 1, 3)
            self._head.addWidget(self.why, 0, 1, right)
            self._head.addWidget(self.number, 0, 2, right)
        else:
            self._head.addWidget(self.question, 0, 0)
            self._head.addWidget(self.tasks, 0, 1, 1, 2, right)
            self._head.addWidget(self.hint, 1, 0)
            self._head.addWidget(self.why, 1, 1, right)
            self._head.addWidget(self.number, 1, 2, right)
        self._head.setColumnStretch(0, 1)
        self.hint.setVisible(not compact)

    def _build_keys(self, column: QVBoxLayout) -> None:
        self.two = QWidget()
        row = QHBoxLayout(self.two)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16)
        self.yes, self.no = KeyButton("train_yes"), KeyButton("train_no")
        row.addWidget(self.yes, 1)
        row.addWidget(self.no, 1)
        self.six = QWidget()
        grades = QHBoxLayout(self.six)
        grades.setContentsMargins(0, 0, 0, 0)
        grades.setSpacing(8)
        self.grades = [GradeButton(number, meaning, brief) for number, meaning, brief in
                       zip(GRADES, GRADE_WORDS, GRADES_BRIEF, strict=True)]
        for grade in self.grades:
            grades.addWidget(grade, 1)
        self.six.hide()
        self.hints = QWidget()
        flow = FlowLayout(self.hints, gap=12, row_gap=0)
        self.skip = HintButton("Space", "Skip, not sure", object_name="train_skip")
        self.undo = HintButton("Backspace", "Take back the last one", object_name="train_undo")
        self.more = HintButton("C", "Show more context", object_name="train_more", checkable=True)
        self.graded = HintButton("G", "Grade from 0 to 5", object_name="train_graded", checkable=True,
                                 tip=GRADED_TIP)
        self.read = HintButton("P", "Read in the document", object_name="train_read", checkable=True,
                               tip=READ_TIP)
        for button in (self.skip, self.undo, self.more, self.read, self.graded):
            flow.addWidget(button)
        column.addWidget(self.two)
        column.addWidget(self.six)
        column.addSpacing(8)
        column.addWidget(self.hints)

    # ---- fitting

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Fits what stands around the cards to the room there is."""
        self.side.fit(self.width())
        wide = self.width() - self._beside() - 48
        words = theme.metrics("page_title").horizontalAdvance(self.question.text())
        short = self.height() < 520 * max(100, theme.text_scale) // 100
        compact = words + self.tasks.sizeHint().width() + 24 > wide or short
        self._place_head(compact)
        theme.set_role(self.question, "page_title" if words <= wide else "section")
        self._show_hints(wide, compact)
        for key in (self.yes, self.no):
            key.set_low(short)
        self._show_why()
        margins = self._column.contentsMargins()
        margins.setTop(12 if compact else 24)
        self._column.setContentsMargins(margins)
        self._align()

    def _beside(self) -> int:
        """Gives the width of what stands beside the pair."""
        return 0 if self.side.isHidden() else self.side.width()

    def _show_hints(self, wide: int, compact: bool) -> None:
        """Words what the small keys do as fully as one line allows."""
        tips = {self.graded: GRADED_TIP, self.read: READ_TIP}
        for self._brief in (False, True) if not compact else (True,):
            for button, long, brief in ((self.skip, "Skip, not sure", "Skip"),
                                        (self.undo, "Take back the last one", "Take back"),
                                        (self.read, "Read in the document", "Read on"),
                                        (self.graded, "Grade from 0 to 5", "Grades")):
                button.show_text(brief if self._brief else long, tips.get(button, ""))
            self._show_more_words()
            if self._hints_width() <= wide:
                break

    def _hints_width(self) -> int:
        hints = (self.skip, self.undo, self.more, self.read, self.graded)
        shown = [button for button in hints if not button.isHidden()]
        return sum(button.sizeHint().width() for button in shown) + 12 * (len(shown) - 1)

    def _show_more_words(self) -> None:
        whole = self.more.isChecked()
        long = "Show less context" if whole else "Show more context"
        self.more.show_text("Context" if self._brief else long, long if self._brief else "")

    def _centre_hints(self) -> None:
        flow = self.hints.layout()
        assert flow is not None
        flow.setContentsMargins(max(0, (self.stack.width() - 48 - self._hints_width()) // 2), 0, 0, 0)

    def _show_why(self) -> None:
        text, brief, tone, icon = WHY.get(self._shown.why if self._shown is not None else "", ("", "", "neutral", ""))
        self.why.set_text(brief if self._compact else text, tone, icon)
        self.why.setToolTip(text)
        room = self.width() - self._beside() - 48 - self.tasks.sizeHint().width() - 36
        fits = not self._compact or self.why.sizeHint().width() + self.number.sizeHint().width() <= room
        self.why.setVisible(bool(text) and fits)

    def _align(self) -> None:
        # both passages begin on one line, whatever stands above them
        bodies = (self.left.body, self.right.body)
        most = CONTEXT_LINES if self.left.area.height() >= 260 else 2 if self.left.area.height() >= 180 else 0
        above = max(body.lines_before(most) for body in bodies)
        for body in bodies:
            body.set_above(above)
        self.more.setEnabled(self.more.isChecked() or any(body.has_more() for body in bodies))
        self._centre_hints()

    # ---- showing

    def _show_context(self, whole: bool) -> None:
        for card in (self.left, self.right):
            card.body.show_all(whole)
        self._align()
        for card in (self.left, self.right):
            # the passage stays in sight
            bar = card.area.verticalScrollBar()
            holder = card.area.widget()
            inside = holder.layout() if holder is not None else None
            if inside is not None:
                inside.activate()
            bar.setValue(max(0, card.body.passage_top() - 88) if whole else 0)
        self._show_more_words()

    def by_grades(self) -> bool:
        """True while grades are given."""
        return self.task is Task.SAME and self.graded.isChecked()

    def _show_keys(self) -> None:
        six = self.by_grades()
        self.two.setVisible(not six)
        self.six.setVisible(six)
