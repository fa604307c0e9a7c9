"""The step in which pairs are judged: two cards, two keys, and what was judged beside them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QWidget,
)

from sbert_desktop.app.training_views import LabelRow, LabelsView, PairView, Task
from sbert_desktop.domain import Finished, Outcome
from sbert_desktop.ui import icons
from sbert_desktop.ui.page import Desk, failure_text
from sbert_desktop.ui.train.labelling_card import PassageCard
from sbert_desktop.ui.train.labelling_feed import PairFeed
from sbert_desktop.ui.train.labelling_keys import GradeButton, KeyButton
from sbert_desktop.ui.train.labelling_preview import JudgingPreview
from sbert_desktop.ui.train.labelling_states import state_of
from sbert_desktop.ui.train.labelling_view import LabellingView
from sbert_desktop.ui.train.words import (
    FROM_A_TITLE,
    GRADES,
    TASKS,
    pair_aloud,
    verdict_words,
    verdicts_of,
)
from sbert_desktop.ui.widgets import announce, menu


@dataclass(slots=True)
class Decision:
    """A pair that was judged or skipped (no verdict). ``row``: the id by which its judgement is known."""

    pair: PairView
    verdict: str
    row: str = ""
    taken_back: bool = False


class LabellingStep(LabellingView):
    """See the module. ``changed(LabelsView)``: what was judged changed; ``checkWanted``: the person goes on."""

    changed = Signal(object)
    checkWanted = Signal()
    historyWanted = Signal(str)
    importWanted = Signal()

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = desk
        self.views: dict[Task, LabelsView] = {}
        self.feeds = {task: PairFeed(desk, task, self) for task in Task}
        self._decisions: dict[Task, list[Decision]] = {task: [] for task in Task}
        self._unkept: list[Decision] = []  # judgements that could not be stored
        self._state = ""
        self._folders: frozenset[Path] = frozenset()
        self._since = 0.0
        self._asked: set[Task] = set()
        self.preview = JudgingPreview(desk, "train", self)
        self._read_card: PassageCard = self.left
        self._here: list[QShortcut] = []
        self._there: list[QShortcut] = []  # the same keys, for whoever clicked into the preview
        self._connect()
        for feed in self.feeds.values():
            feed.changed.connect(partial(self._on_feed, feed))
        desk.bridge.listen("labels", on_finished=self._on_labels)
        desk.libraryChanged.connect(lambda _: self._on_library())
        desk.indexFinished.connect(lambda _: self._on_documents())
        self._show_task()

    def _connect(self) -> None:
        self.tasks.changed.connect(lambda key: self.show_task(Task(key)))
        self.yes.clicked.connect(lambda: self._judge_key(self.yes))
        self.no.clicked.connect(lambda: self._judge_key(self.no))
        for button in self.grades:
            button.clicked.connect(partial(self._judge_grade, button))
        self.among.cleared.connect(lambda: self.judge_among((), ""))
        self.among.clicked.connect(lambda: self.judge_among((), ""))
        self.skip.clicked.connect(self.skip_pair)
        self.undo.clicked.connect(self.take_back_last)
        self.more.toggled.connect(self._show_context)
        self.graded.toggled.connect(lambda _: self._show_keys())
        self.read.clicked.connect(self.read_next)
        self.preview.changed.connect(self._on_preview)
        self.preview.left.connect(self.focus_first)
        for card in (self.left, self.right):
            card.openWanted.connect(partial(self._open, card))
            card.readWanted.connect(partial(self._read, card))
            card.resized.connect(self._align)
        side = self.side
        side.checkWanted.connect(self.checkWanted)
        side.historyWanted.connect(lambda: self.historyWanted.emit(""))
        side.undoWanted.connect(self._take_back)
        side.changeWanted.connect(self._change_menu)
        states = self.states
        states.addWanted.connect(lambda: self.desk.add_folders(()))
        states.modelsWanted.connect(lambda: self.desk.show_page("models"))
        states.libraryWanted.connect(lambda: self.desk.show_page("library"))
        states.importWanted.connect(self.importWanted)
        states.againWanted.connect(lambda: self.feeds[self.task].again())
        states.otherWanted.connect(lambda: self.show_task(
            Task.ANSWERS if self.task is Task.SAME else Task.SAME))
        self._bind()

    def _bind(self) -> None:
        for key in ("S", "D", "Y", "N", *GRADES):
            self._here.append(_shortcut(key, self, partial(self._press, key)))
        for keys, run in (("Space", self._on_space), ("Backspace", self.take_back_last), ("C", self.more.click),
                          ("G", self._on_grade), ("P", self.read_next),
                          ("Down", partial(self._scroll, 2)), ("Up", partial(self._scroll, -2)),
                          ("PgDown", partial(self._scroll, 8)), ("PgUp", partial(self._scroll, -8))):
            self._here.append(_shortcut(keys, self, run))

    def _bind_preview(self) -> None:
        inspector = self.preview.inspector
        if inspector is None or self._there:
            return
        # arrows scroll there by themselves, Space as well, and 0 fits the page to its width
        for key in ("S", "D", "Y", "N", *GRADES[1:]):
            self._there.append(_shortcut(key, inspector, partial(self._press, key)))
        for keys, run in (("Backspace", self.take_back_last), ("P", self.read_next), ("Esc", self.preview.close)):
            self._there.append(_shortcut(keys, inspector, run))

    # ---- for the page

    def activate(self) -> None:
        """Called each time the step comes to the front."""
        self._since = time.monotonic()
        self._begin()

    def focus_first(self) -> None:
        """Puts the focus where the keys work."""
        if self.stack.currentWidget() is self.centre:
            self.centre.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.states.focus_first()

    def view(self) -> LabelsView | None:
        """Gives what was judged so far in the task in front."""
        return self.views.get(self.task)

    def show_task(self, task: Task) -> None:
        """Judges something else."""
        if task is self.task:
            return
        self.feeds[self.task].stop()
        self.task = task
        self._show_task()
        self._begin()
        self.focus_first()
        announce(self, TASKS[task].question)

    def judge_among(self, contents: tuple[int, ...], label: str) -> None:
        """Proposes pairs of these documents only, until the chip that says so is cleared."""
        self.among.set_value(label)
        self.among.setVisible(bool(contents))
        for feed in self.feeds.values():
            feed.set_among(contents)
        self._begin()

    def set_graded(self, graded: bool) -> None:
        """Judges by grades, or by same and different."""
        self.graded.setChecked(graded)

    # ---- asking

    def _may_ask(self) -> bool:
        library = self.desk.library
        return library is not None and bool(library.folders) and library.documents > 0

    def _begin(self) -> None:
        if not self.isVisible():
            return
        if self.task not in self._asked:
            self._asked.add(self.task)
            self.desk.start(self.desk.commands.labels(self.task))
        if self._may_ask():
            self.feeds[self.task].fill()
        self._show_pair()

    def _on_library(self) -> None:
        library = self.desk.library
        folders = frozenset(folder.path for folder in library.folders) if library is not None else frozenset()
        gone, self._folders = self._folders - folders, folders
        if gone:
            for feed in self.feeds.values():
                feed.drop_under(gone, folders)
        if self.isVisible():
            self._begin()

    def _on_documents(self) -> None:
        # documents that came may hold more pairs; what waits stays as it is
        for feed in self.feeds.values():
            feed.exhausted = False
        if self.isVisible():
            self._begin()

    def _on_feed(self, feed: PairFeed) -> None:
        if feed.among and feed.exhausted and feed.current() is None:
            self.desk.toast("There are no more pairs among these documents; now they come from all.")
            self.judge_among((), "")
            return
        if feed.task is self.task:
            self._show_pair()

    # ---- showing

    def _show_task(self) -> None:
        words = TASKS[self.task]
        self.tasks.set_value(self.task.value)
        self.question.setText(words.question)
        self.hint.setText(words.hint)
        self.left.setAccessibleName("Question" if self.task is Task.ANSWERS else "First passage")
        self.yes.show_key(words.yes, "1")
        self.no.show_key(words.no, "2")
        self.graded.setVisible(self.task is Task.SAME)
        self._fit()
        self._show_keys()
        self._show_judged()
        self._show_pair()

    def _show_pair(self) -> None:
        had_focus = self.isAncestorOf(QApplication.focusWidget() or self.desk.inspector)
        feed = self.feeds[self.task]
        state = state_of(self.desk.library, feed)
        if state:
            self.states.show_state(state, self.task, feed, self.desk.library)
        wanted = self.wait if state else self.centre
        if self.stack.currentWidget() is not wanted or state != self._state:
            self._state = state
            self.stack.setCurrentWidget(wanted)
            if wanted is self.wait:
                self.preview.close()
            if had_focus:
                self.focus_first()
        pair = feed.current()
        if pair is None or pair is self._shown:
            return
        self._shown = pair
        self._since = time.monotonic()
        self.more.setChecked(False)
        alike = max(len(pair.left.text), len(pair.right.text)) if pair.left.path is not None else 0
        self.left.show_side(pair.left, alike)
        if pair.why == "title":  # nobody searched for it
            self.left.place.set_full_text(FROM_A_TITLE)
        self.right.show_side(pair.right, alike)
        self._show_number()
        self._show_why()
        self._align()
        self._follow()
        announce(self.centre, pair_aloud(pair))

    # ---- reading on

    def _readable(self) -> list[PassageCard]:
        return [card for card in (self.left, self.right) if card.side().path is not None]

    def read_next(self) -> None:
        """Shows the first passage where it stands, then the second, then none."""
        cards = self._readable() if self.stack.currentWidget() is self.centre else []
        shown = self.preview.shown()
        sides = [card.side() for card in cards]
        at = sides.index(shown) + 1 if shown in sides else 0
        if at < len(sides):
            self.preview.show(sides[at])
        else:
            self.preview.close()
        self._on_preview()

    def _read(self, card: PassageCard) -> None:
        if self.preview.shown() == card.side():
            self.preview.close()
        else:
            self.preview.show(card.side())

    def _follow(self) -> None:
        """Shows the next pair's passage in the preview, if there was one of the pair before."""
        if self.preview.is_open() and self._readable():
            cards = [card for card in self._readable() if card is self._read_card]
            self.preview.show((cards or self._readable())[0].side())
        else:
            self.preview.close()

    def _on_preview(self) -> None:
        shown = self.preview.shown()
        self._bind_preview()
        self._read_card = next((card for card in self._readable() if card.side() == shown), self._read_card)
        self.read.setChecked(shown is not None)
        self.side.setVisible(shown is None)  # the document has its room
        self._fit()

    def _show_number(self) -> None:
        view = self.view()
        judged = len(view.rows) if view is not None else 0
        self.number.setText(f"{'Pair' if self.task is Task.SAME else 'Passage'} {judged + 1:,}")

    def _show_judged(self) -> None:
        view = self.view()
        if view is None:
            self.side.show_waiting()
        else:
            self.side.show_view(view)
        self.undo.setEnabled(bool(self._decisions[self.task]) or bool(view is not None and view.rows))
        self._show_number()

    # ---- judging

    def _press(self, key: str) -> None:
        for button, digit in ((self.yes, "1"), (self.no, "2")):
            own = button.key.key if button.key is not None else ""
            if not self.by_grades() and key in (own, digit):
                button.flash()
                self._judge_key(button)
                return
        if self.by_grades() and key in GRADES:
            self.grades[int(key)].flash()
            self.judge(key)

    def _judge_key(self, button: KeyButton) -> None:
        if button.key is not None:
            self.judge(button.key.verdict)

    def _judge_grade(self, button: GradeButton) -> None:
        self.judge(button.grade)

    def judge(self, verdict: str) -> None:
        """Judges the pair in front; the next one is there at once."""
        if self.stack.currentWidget() is not self.centre or self.feeds[self.task].current() is None:
            return
        self.side.add_pace(time.monotonic() - self._since)
        pair = self.feeds[self.task].take()
        assert pair is not None
        decision = Decision(pair, verdict)
        self._decisions[self.task].append(decision)
        self._send(decision)
        self._show_pair()
        announce(self.side, f"{verdict_words(verdict)}.")

    def skip_pair(self) -> None:
        """Leaves the pair in front out."""
        if self.stack.currentWidget() is not self.centre:
            return
        pair = self.feeds[self.task].take()
        if pair is not None:
            self._decisions[self.task].append(Decision(pair, ""))
            self.undo.setEnabled(True)
        self._show_pair()

    def _send(self, decision: Decision) -> None:
        job = self.desk.commands.label(decision.pair, decision.verdict)
        self.desk.bridge.watch(job, on_finished=partial(self._on_label, decision))

    def _on_label(self, decision: Decision, finished: Finished) -> None:
        if finished.outcome is not Outcome.DONE:
            if decision.taken_back:
                return
            self._unkept.append(decision)
            many = len(self._unkept)
            head = "The last judgement was not kept." if many == 1 else f"{many} judgements were not kept."
            why = failure_text(finished.failure) if finished.failure is not None else ""
            self.notice.show_text(f"{head} {why}".strip(), action="Try again", run=self._send_again)
            return
        view = finished.result
        if isinstance(view, LabelsView) and view.rows:
            known = {row.id for row in view.rows}
            decision.row = decision.pair.id if decision.pair.id in known else view.rows[0].id

    def _send_again(self) -> None:
        again, self._unkept = self._unkept, []
        for decision in again:
            self._send(decision)

    def take_back_last(self) -> None:
        """Takes the last judgement back, or brings back what was skipped; the pair is in front again."""
        decisions = self._decisions[self.task]
        if not decisions:
            view = self.view()
            if view is not None and view.rows:
                self._take_back(view.rows[0])
            return
        decision = decisions.pop()
        decision.taken_back = True
        if decision in self._unkept:
            self._unkept.remove(decision)
            if not self._unkept:
                self.notice.hide()
        elif decision.verdict:  # its answer may still be to come, and with it the id of its row
            self.desk.start(self.desk.commands.label(decision.pair, ""))
        self.feeds[self.task].put_back(decision.pair)
        self._show_pair()
        self._show_judged()
        announce(self.side, "Taken back.")

    def _take_back(self, row: object) -> None:
        if not isinstance(row, LabelRow):
            return
        for decision in self._decisions[self.task]:
            if decision.row == row.id:
                self._decisions[self.task].remove(decision)
                self.feeds[self.task].put_back(decision.pair)
                break
        self.desk.start(self.desk.commands.unlabel(row.task, (row.id,)))
        self._show_pair()

    def _change_menu(self, row: object, spot: QPoint) -> None:
        if not isinstance(row, LabelRow):
            return
        shown = menu(self, "train_change_menu", "Change the judgement")
        for verdict in verdicts_of(row):
            action = shown.addAction(verdict_words(verdict))
            action.setCheckable(True)
            action.setChecked(verdict == row.verdict)
            action.triggered.connect(partial(self.change, row, verdict))
        shown.addSeparator()
        back = shown.addAction(icons.icon("undo"), "Take back")
        back.triggered.connect(partial(self._take_back, row))
        whole = shown.addAction(icons.icon("history"), "Show it among all")
        whole.triggered.connect(partial(self.historyWanted.emit, row.id))
        shown.aboutToHide.connect(shown.deleteLater)
        shown.popup(spot)

    def change(self, row: LabelRow, verdict: str, _checked: bool = False) -> None:
        """Changes a judgement that was made."""
        if verdict != row.verdict:
            self.desk.start(self.desk.commands.relabel(row.task, row.id, verdict))

    def _on_labels(self, finished: Finished) -> None:
        view = finished.result
        known = self.views.get(view.task) if isinstance(view, LabelsView) else None
        if not isinstance(view, LabelsView) or (known is not None and known.generation > view.generation):
            return
        self.views[view.task] = view
        if view.task is self.task:
            self._show_judged()
        self.changed.emit(view)

    # ---- keys that are no judgements

    def _on_space(self) -> None:
        focus = QApplication.focusWidget()
        if isinstance(focus, QAbstractButton) and focus.isEnabled():
            focus.click()  # the space bar presses the button that the person went to
        else:
            self.skip_pair()

    def _on_grade(self) -> None:
        if self.task is Task.SAME:
            self.graded.click()

    def _scroll(self, lines: int) -> None:
        if self.preview.is_open():  # who opened it reads there
            keys = Qt.Key.Key_Down, Qt.Key.Key_PageDown, Qt.Key.Key_Up, Qt.Key.Key_PageUp
            self.preview.press(keys[(abs(lines) > 2) + 2 * (lines < 0)])
            return
        for card in (self.left, self.right):
            card.scroll_lines(lines)

    def _open(self, card: PassageCard) -> None:
        side = card.side()
        if side.path is not None:
            self.desk.start(self.desk.commands.open_file(side.path, side.page))


def _shortcut(keys: str, host: QWidget, run: Callable[[], object]) -> QShortcut:
    made = QShortcut(QKeySequence(keys), host)
    made.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    # a key that is held must not judge one pair after the other
    made.setAutoRepeat(keys in ("Down", "Up", "PgDown", "PgUp"))
    made.activated.connect(run)
    return made
