"""Two documents of a group side by side: their words, their pages, what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.duplicate_views import ComparisonView
from sbert_desktop.cleanup import Copy
from sbert_desktop.domain import Finished, Outcome, Progress, display_path
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.duplicates.diff_view import DiffView
from sbert_desktop.ui.duplicates.side_by_side_bar import CompareBar, Headings
from sbert_desktop.ui.duplicates.side_by_side_facts import FactsTable
from sbert_desktop.ui.duplicates.side_by_side_pages import PagePair
from sbert_desktop.ui.page import Action, Desk, failure_text
from sbert_desktop.ui.search.text import one_line
from sbert_desktop.ui.widgets import Button, Label, Panel, ProgressBar, announce, name
from sbert_desktop.ui.words import counted

LATE_MS = 150
MOST_PAIRS = 120

Member = tuple[str, Copy, str, str]
"""Mark, copy, name to be shown ("" for its folder and name) and fate of a member of the group."""


class SideBySide(Panel):
    """Compares two copies. The page gives the group with :meth:`set_members` and the pair with :meth:`show_pair`."""

    pairChanged = Signal(object, object)  # Copy, Copy: the person chose another pair
    stepped = Signal(int, int)  # number of the current difference (0: none) and how many there are

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        name(self, "side_by_side", "Side by side")
        self._desk = desk
        self._latest = Latest(desk.bridge)
        self._members: tuple[Member, ...] = ()
        self._pairs: list[tuple[int, int]] = []
        self._pair: tuple[Copy, Copy] | None = None
        self._marks = ("A", "B")
        self._view: ComparisonView | None = None
        self._mode = "text"  # what the person wants; a pair without text or pages shows another one
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(LATE_MS)
        self._late.timeout.connect(lambda: self._show_stage(self._loading))
        self._build()
        self.clear()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.bar = CompareBar(self)
        self.headings = Headings(self)
        self.stack = QStackedWidget(self)
        column.addWidget(self.bar)
        column.addWidget(self.headings)
        column.addWidget(self.stack, 1)
        self.text = DiffView(self.stack)
        self.pages = PagePair(self._desk, self.stack)
        self.facts = FactsTable(self.stack)
        self._loading = self._make_loading()
        self._note = self._make_note()
        for widget in (self.text, self.pages, self.facts, self._loading, self._note):
            self.stack.addWidget(widget)
        self.bar.pairChosen.connect(self._on_pair_chosen)
        self.bar.modeChosen.connect(self.set_mode)
        self.bar.stepWanted.connect(self.step)
        self.bar.onlyChanged.connect(self._on_only)
        self.text.stepped.connect(lambda _number, _total: self._tell_place())
        self.text.pagesChanged.connect(self._on_pages)
        self.pages.turned.connect(self._on_pages_turned)
        for keys, by in (("F7", 1), ("Shift+F7", -1)):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(lambda by=by: self.step(by))

    def _make_loading(self) -> QWidget:
        panel = Panel("surface", parent=self.stack)
        name(panel, "compare_loading", "Comparing")
        column = QVBoxLayout(panel)
        column.addStretch(1)
        self.phase = Label("Comparing", tone="muted", object_name="compare_phase")
        self.phase.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.progress = ProgressBar(object_name="compare_progress", accessible="Comparing")
        self.progress.setFixedWidth(240)
        column.addWidget(self.phase)
        column.addSpacing(8)
        column.addWidget(self.progress, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        return panel

    def _make_note(self) -> QWidget:
        panel = Panel("surface", parent=self.stack)
        name(panel, "compare_empty", "Nothing compared")
        column = QVBoxLayout(panel)
        column.addStretch(1)
        self.note = Label("", tone="muted", wrap=True, object_name="compare_note")
        self.note.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.note.setMargin(16)
        self.again = Button("Try again", object_name="compare_again")
        self.again.clicked.connect(self._ask)
        column.addWidget(self.note)
        column.addWidget(self.again, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(2)
        return panel

    # ---- what is compared

    def set_members(self, members: Sequence[Member]) -> None:
        """Takes the members of the group, so that any two of them can be chosen."""
        self._members = tuple(members)
        self._pairs = list(combinations(range(len(self._members)), 2))[:MOST_PAIRS]
        self._fill_pairs()

    def show_pair(self, left: Copy, right: Copy, *, left_mark: str = "A", right_mark: str = "B",
                  fates: tuple[str, str] = ("keep", "to trash"), names: tuple[str, str] = ("", "")) -> None:
        """Compares two copies; asking for the pair that is shown already changes marks and fates only."""
        self._marks = (left_mark, right_mark)
        for heading, copy, mark, fate, said in zip(self.headings, (left, right), self._marks, fates, names,
                                                   strict=True):
            heading.show_document(mark, said or short_name(copy), long_name(copy), fate)
        self.bar.setEnabled(True)
        self.headings.show()
        same = self._pair == (left, right) and (self._view is not None or self._latest.job is not None)
        self._pair = (left, right)
        self._fill_pairs()
        if same:
            self.text.set_names(self._marks)
            self._fill_facts()
            self._on_pages(*self.text.pages())
            return
        self._ask()

    def pair(self) -> tuple[Copy, Copy] | None:
        """Gives the copies that are compared."""
        return self._pair

    def comparison(self) -> ComparisonView | None:
        """Gives what was found, None before."""
        return self._view

    def set_fates(self, left: str, right: str) -> None:
        """Says anew what becomes of the two."""
        self.headings.left.show_fate(left)
        self.headings.right.show_fate(right)

    def clear(self) -> None:
        """Shows nothing."""
        self._latest.drop()
        self._late.stop()
        self._pair = self._view = None
        self._members, self._pairs = (), []
        self.text.set_rows(())
        self.facts.set_facts((), self._marks)
        self.pages.set_comparison(None)
        self.bar.set_pairs((), -1)
        self.bar.show_count("")
        self.bar.setEnabled(False)
        self.headings.hide()
        self._say("Choose a group to see what differs.")

    def _fill_pairs(self) -> None:
        texts = [f"{self._members[one][0]} with {self._members[other][0]}" for one, other in self._pairs]
        chosen = next((number for number, (one, other) in enumerate(self._pairs)
                       if self._pair is not None
                       and {self._members[one][1], self._members[other][1]} == set(self._pair)), -1)
        self.bar.set_pairs(texts, chosen)

    def _on_pair_chosen(self, number: int) -> None:
        left, right = (self._members[at] for at in self._pairs[number])
        self.show_pair(left[1], right[1], left_mark=left[0], right_mark=right[0], fates=(left[3], right[3]),
                       names=(left[2], right[2]))
        self.pairChanged.emit(left[1], right[1])

    # ---- asking

    def _ask(self) -> None:
        if self._pair is None:
            return
        self._view = None
        self.bar.show_count("Comparing…")
        self.bar.show_steps(0, 0, shown=False)
        self.phase.setText("Comparing")
        self.progress.set_fraction(None)
        self._late.start()
        job = self._desk.commands.compare(*self._pair)
        self._latest.watch(job, on_progress=self._on_progress, on_finished=self._on_finished)

    def _on_progress(self, progress: Progress) -> None:
        self.phase.setText(progress.phase or "Comparing")
        self.progress.set_fraction(progress.done / progress.total if progress.total else None)

    def _on_finished(self, finished: Finished) -> None:
        self._late.stop()
        self._latest.drop()
        if finished.outcome is Outcome.DONE and isinstance(finished.result, ComparisonView):
            self._take(finished.result)
            return
        self.bar.show_count("")
        why = failure_text(finished.failure) if finished.failure is not None else "The comparison was stopped."
        self._say(why, again=True)

    def _take(self, view: ComparisonView) -> None:
        self._view = view
        tail = "The rest of these long texts was not compared." if view.cut else ""
        self.text.set_rows(view.rows, names=self._marks, tail=tail)
        self._fill_facts()
        self.pages.set_comparison(view)
        self.bar.set_pages_offered(has_pages(view))
        self.bar.show_count(*count_texts(view))
        self._show_mode()
        announce(self, count_text(view))

    def _fill_facts(self) -> None:
        facts = self._view.facts if self._view is not None else ()
        left, right = (heading.title.full_text() for heading in self.headings)
        self.facts.set_facts(facts, self._marks, (left, right))

    # ---- what is shown

    def mode(self) -> str:
        """Gives what is shown: ``text``, ``pages`` or ``facts``."""
        view = self._view
        if view is None:
            return self._mode
        if self._mode == "pages" and not has_pages(view):
            return "text" if view.rows else "facts"
        return "facts" if self._mode == "text" and not view.rows and not has_pages(view) else self._mode

    def set_mode(self, mode: str) -> None:
        """Shows the texts, the pages or the facts."""
        self._mode = mode
        if self._view is not None:
            self._show_mode(chosen=True)

    def _show_mode(self, *, chosen: bool = False) -> None:
        view = self._view
        assert view is not None
        mode = self._mode if chosen and self._mode == "text" else self.mode()
        self.bar.mode.set_value(mode)
        if mode == "text" and not view.rows:
            self._say(view.note or "There is no text to compare.")
        else:
            self._show_stage({"text": self.text, "pages": self.pages, "facts": self.facts}[mode])
        if mode == "text":
            self._on_pages(*self.text.pages())
        elif mode == "facts":
            self._on_pages(None, None)
        self._tell_place()

    def _show_stage(self, widget: QWidget) -> None:
        self.headings.setVisible(self._pair is not None and widget is not self.facts)  # its columns have their own
        self.stack.setCurrentWidget(widget)

    def _say(self, text: str, *, again: bool = False) -> None:
        self.note.setText(text)
        self.again.setVisible(again)
        self._show_stage(self._note)
        self.bar.show_steps(0, 0, shown=False)

    def only_differences(self) -> bool:
        """Tells whether what is the same is folded."""
        return self.bar.only.isChecked()

    def set_only_differences(self, only: bool) -> None:
        """Folds what is the same, or shows all."""
        self.bar.only.setChecked(only)

    def _on_only(self, only: bool) -> None:
        self.text.set_only_differences(only)

    def _on_pages(self, left: int | None, right: int | None) -> None:
        if self.stack.currentWidget() is self.text:
            self.headings.left.show_page(left)
            self.headings.right.show_page(right)
        elif self.stack.currentWidget() is not self.pages:
            self.headings.left.show_page(None)
            self.headings.right.show_page(None)

    def _on_pages_turned(self, left: int | None, right: int | None) -> None:
        if self.stack.currentWidget() is self.pages:
            self.headings.left.show_page(left)
            self.headings.right.show_page(right)
            self._tell_place()

    # ---- from difference to difference

    def step(self, by: int) -> None:
        """Goes to the next (+1) or previous (-1) difference, or page with one."""
        if self.stack.currentWidget() is self.pages:
            self.pages.step(by)
        elif self._view is not None and self._view.rows:
            if self.stack.currentWidget() is self.facts:
                self.set_mode("text")
            self.text.step(by)

    def _tell_place(self) -> None:
        if self._view is None:
            return
        current = self.stack.currentWidget()
        number, total = self.pages.place_of() if current is self.pages else self.text.place()
        self.bar.show_steps(number, total, shown=current in (self.text, self.pages) and total > 0,
                            only=current is self.text)
        self.stepped.emit(number, total)

    def actions_list(self) -> Sequence[Action]:
        """Gives commands for the palette; F7 is bound here."""
        def can_step() -> bool:
            return self._view is not None and self._view.differences > 0

        def has_view() -> bool:
            return self._view is not None

        return (
            Action("next_difference", "Go to the next difference", lambda: self.step(1), "F7", "down",
                   enabled=can_step, bind=False),
            Action("previous_difference", "Go to the previous difference", lambda: self.step(-1), "Shift+F7", "up",
                   enabled=can_step, bind=False),
            Action("compare_text", "Compare the texts", lambda: self.set_mode("text"), icon="text", enabled=has_view),
            Action("compare_pages", "Compare the pages", lambda: self.set_mode("pages"), icon="pdf",
                   enabled=lambda: self._view is not None and has_pages(self._view)),
            Action("compare_facts", "Compare dates, sizes and other facts", lambda: self.set_mode("facts"),
                   icon="table", enabled=has_view),
        )

    def save_state(self) -> dict[str, object]:
        """Gives what is remembered."""
        return {"mode": self._mode, "only": self.only_differences()}

    def restore_state(self, state: dict[str, object]) -> None:
        """Takes back what :meth:`save_state` gave."""
        if state.get("mode") in ("text", "pages", "facts"):
            self._mode = str(state["mode"])
            self.bar.mode.set_value(self._mode)
        self.set_only_differences(state.get("only") is not False)


def has_pages(view: ComparisonView) -> bool:
    """Tells whether either side has pages that can be drawn."""
    return view.left_pages > 0 or view.right_pages > 0


def count_texts(view: ComparisonView) -> tuple[str, ...]:
    """Says what differs, from all that is to be said down to the fewest words."""
    if not view.differences:
        return (view.note.rstrip("."),)
    short = counted(view.differences, "difference")
    pages = max(view.left_pages, view.right_pages)
    long = f"{short} in wording"
    return (f"{long}, {counted(pages, 'page')}", long, short) if pages else (long, short)


def count_text(view: ComparisonView) -> str:
    """Says what differs."""
    return count_texts(view)[0]


def short_name(copy: Copy) -> str:
    """Gives a copy's folder and name, or its container and the name in it."""
    if copy.member:
        return f"{one_line(copy.path.name)} / {one_line(copy.member.rsplit('/', 1)[-1])}"
    folder = one_line(copy.path.parent.name)
    return f"{folder} / {one_line(copy.path.name)}" if folder else one_line(copy.path.name)


def long_name(copy: Copy) -> str:
    """Gives a copy's whole path."""
    return display_path(copy.path) + (f" / {one_line(copy.member)}" if copy.member else "")
