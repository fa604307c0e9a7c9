"""The Duplicates page: groups on the left, one of them on the right, the assistant and the button below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QWidget

from sbert_desktop.app.duplicate_views import DuplicatesView, GroupView, MemberView
from sbert_desktop.app.views import LibraryView
from sbert_desktop.cleanup import Assistant
from sbert_desktop.domain import Failure, Filters, Finished, display_path
from sbert_desktop.ui import words
from sbert_desktop.ui.duplicates.finder import SHARES
from sbert_desktop.ui.duplicates.menus import FileDeeds, contents_of
from sbert_desktop.ui.duplicates.page_actions import page_actions
from sbert_desktop.ui.duplicates.page_moving import MovingPage
from sbert_desktop.ui.duplicates.selection import Kept, with_ticks
from sbert_desktop.ui.naming import in_title, quick_path
from sbert_desktop.ui.page import Action, Desk, failure_text
from sbert_desktop.ui.saving import ask_target
from sbert_desktop.ui.search.filters import among_words
from sbert_desktop.ui.theme import theme

FORMS: Final = (("Table", ".csv"), ("JSON", ".json"), ("Web page", ".html"))
SMALL: Final = 20_000
"""Documents up to which the page begins by itself: that takes seconds, not minutes."""
CHANGED: Final = "The library has changed since"  # how a note of the program begins that asks for another look
EMPTY_OF: Final = {
    "all": ("No duplicates", "No two of {files} are alike."),
    "bytes": ("No identical files", "No two of {files} hold the same bytes."),
    "text": ("No files with the same text", "No two of {files} hold the same words in other bytes."),
    "near": ("No near duplicates", "No two of {files} share so many of their words. A lower share finds more."),
    "related": ("No related documents", "No two of {files} say the same in other words. A lower value finds more."),
}


class DuplicatesPage(MovingPage):
    """See the module."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._looked_before = False
        self._begun = False  # it was looked in this session, or the person gave it up
        self._counted: tuple[int, int] | None = None  # documents and passages when the groups were answered
        self._after_rules: Callable[[], None] | None = None
        self._restore: Kept | None = None
        self.deeds = FileDeeds(desk, self)
        self._connect()
        if desk.library is not None:
            self._on_library(desk.library)
        self._show_state()

    def _connect(self) -> None:
        finder, column, detail, selection = self.finder, self.column, self.detail, self.selection
        finder.began.connect(self._on_began)
        finder.progressed.connect(self._on_progress)
        finder.answered.connect(self._on_answer)
        finder.failed.connect(self._on_failed)
        finder.cancelled.connect(self._on_cancelled)
        finder.rulesChanged.connect(lambda: self.strip.show_rules(self.finder.assistant))
        column.kindsChosen.connect(self.show_kinds)
        column.viewChosen.connect(self.show_view)
        column.orderChosen.connect(column.list.set_order)
        column.lookAgainWanted.connect(self.look_again)
        column.looking.cancelWanted.connect(finder.cancel)
        column.filters.changed.connect(self._on_filters)
        column.alike.moved.connect(self._on_share)
        column.haveWanted.connect(self.ask_have)
        column.historyWanted.connect(self.show_history)
        column.list.currentGroupChanged.connect(self._on_group)
        column.list.tickWanted.connect(selection.toggle_group)
        column.list.enterWanted.connect(detail.members.focus_row)
        column.list.menuAsked.connect(self.show_menu)
        detail.members.tickWanted.connect(self._on_tick)
        detail.members.openWanted.connect(lambda member: self.deeds.open(member))
        detail.members.menuAsked.connect(self.show_menu)
        detail.members.copyWanted.connect(lambda: self.deeds.copy_path(self.member()))
        detail.members.leftWanted.connect(lambda: column.list.setFocus(Qt.FocusReason.OtherFocusReason))
        detail.head.notDuplicatesWanted.connect(self.say_apart)
        detail.head.moreWanted.connect(self.show_menu)
        detail.none.clicked.connect(self._widen)
        selection.changed.connect(self._on_ticks)
        selection.refused.connect(self._on_refused)
        self.strip.changed.connect(self.use_rules)
        self.strip.rulesWanted.connect(self.edit_rules)
        self.foot_bar.moveWanted.connect(self.move_ticked)
        self.foot_bar.exportWanted.connect(self.export)
        self.foot_bar.cancelWanted.connect(self._stop_moving)
        self.cleaning.began.connect(self._on_moving)
        self.cleaning.progressed.connect(lambda progress: self.foot_bar.show_moving(progress, progress.total or 0,
                                                                                    back=self._bringing_back))
        self.cleaning.ended.connect(self._on_moved_end)
        self.cleaning.moved.connect(self._on_moved)
        self.cleaning.restored.connect(self._on_restored)
        self.states.lookWanted.connect(self.look)
        self.states.addWanted.connect(lambda: self.desk.add_folders(()))
        self.states.looking.cancelWanted.connect(finder.cancel)
        self.drop.offered.connect(self.ask_have)
        self.drop.dropped.connect(self.desk.add_folders)
        self.notice.close_button.clicked.connect(self._notice_holder.hide)
        self.desk.libraryChanged.connect(self._on_library)
        self.desk.indexProgressed.connect(lambda _: self._show_notes())
        self.desk.indexFinished.connect(lambda _: self._on_index_finished())
        self.splitter.splitterMoved.connect(self._on_splitter)
        self.splitter.installEventFilter(self)
        theme.themeChanged.connect(self._share)
        for keys, run in (("Ctrl+Return", self.move_ticked), ("Ctrl+Enter", self.move_ticked),
                          ("Ctrl+R", self.look_again), ("Ctrl+S", self.export), ("Ctrl+Shift+D", self.say_apart),
                          ("Ctrl+H", self.ask_have), ("Ctrl+Shift+H", self.show_history),
                          ("F7", lambda: detail.compare.step(True)),
                          ("Shift+F7", lambda: detail.compare.step(False))):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(run)

    # ---- for the window

    def activate(self) -> None:
        if not self._begun and self._may_begin():
            self.look()
        else:
            self._show_state()
        if not self._asked_history:
            self._asked_history = True
            self.desk.bridge.watch(self.desk.commands.clean_ups(), on_finished=self._on_history)

    def foot(self) -> int:
        return self.foot_bar.height() if self.stack.currentWidget() is self.files else 0

    def focus_first(self) -> None:
        if self.stack.currentWidget() is self.files:
            self.column.list.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self.stack.currentWidget() is self.states:
            self.states.focus_first()
        elif self._passages is not None:
            self._passages.focus_view()

    def actions_list(self) -> Sequence[Action]:
        return page_actions(self)

    def save_state(self) -> dict[str, object]:
        return {"looked": self._looked_before, "column": self._column_width,
                "order": str(self.column.sort.currentData()), "told": self._told, "moving": self.cleaning.busy}

    def restore_state(self, state: dict[str, object]) -> None:
        self._looked_before = state.get("looked") is True
        self._told = str(state.get("told", ""))
        self._was_moving = state.get("moving") is True
        width = state.get("column")
        self._column_width = width if isinstance(width, int) else 0
        at = self.column.sort.findData(state.get("order"))
        if at >= 0:
            self.column.sort.setCurrentIndex(at)
            self.column.list.set_order(str(state.get("order")))
        self._share()

    # ---- asking

    def _may_begin(self) -> bool:
        library = self.desk.library
        return library is not None and bool(library.folders) and \
            (self._looked_before or library.documents <= SMALL)

    def look(self) -> None:
        """Looks for duplicates; what was found before comes at once."""
        self._begun = True
        self.finder.ask()

    def look_again(self) -> None:
        """Looks at the disk anew."""
        if not self.cleaning.busy and self.desk.library is not None and self.desk.library.folders:
            self.finder.ask(again=True)

    def show_kinds(self, kinds: str) -> None:
        """Shows groups of some kinds (a name of ``KINDS_BY_NAME``)."""
        self.column.show_kinds(kinds)
        self.column.alike.setVisible(kinds in SHARES)
        if kinds in SHARES:
            self.column.alike.show_share(kinds, self.finder.share(kinds))
        if kinds != self.finder.kinds:
            self.finder.kinds = kinds
            self.finder.ask()

    def show_view(self, view: str) -> None:
        """Shows ``files`` that are alike, or ``passages`` that several documents share."""
        self.column.views.set_value(view)
        if view == "passages":
            if self._passages is None:
                from sbert_desktop.ui.duplicates.passages_page import PassagesPane

                self._passages = PassagesPane(self.desk)
                self._passages.viewChosen.connect(self.show_view)
                self.stack.addWidget(self._passages)
            self.stack.setCurrentWidget(self._passages)
            self._passages.focus_view()
            return
        self._show_state()
        self.focus_first()

    def _on_filters(self, filters: Filters) -> None:
        self.finder.filters = filters
        self.finder.ask()

    def take_among(self, contents: tuple[int, ...], label: str) -> None:
        """Looks for duplicates only among these documents, until the chip that says so is cleared."""
        if self.cleaning.busy:
            self.desk.toast("Files are being moved. Look for duplicates among these when that is done.")
            return
        self.show_view("files")
        self.column.show_filters(True)
        self._begun = True  # the person asks: how many documents there are is no reason to wait
        self.column.filters.set_among(contents, label)

    def _on_share(self, percent: int) -> None:
        if self.finder.kinds in SHARES:
            self.finder.set_share(self.finder.kinds, percent)

    def _widen(self) -> None:
        if self.finder.filters:
            self.column.filters.clear()
        else:
            self.show_kinds("all")

    # ---- answers

    def _on_began(self, looking: bool) -> None:
        if looking:
            self.column.set_controls(False)
            self.column.looking.begin()
            self.states.looking.begin()
            self._show_foot()
            self._show_notes()
        self._show_state()

    def _on_progress(self, progress: object) -> None:
        if self.finder.looking:
            self.column.looking.show_progress(progress)  # type: ignore[arg-type]
            self.states.looking.show_progress(progress)  # type: ignore[arg-type]

    def _on_answer(self, view: DuplicatesView) -> None:
        self._looked_before = True
        library = self.desk.library
        if not self.finder.looking:
            self.column.looking.hide()
            self.column.set_controls(True)
            if library is not None and (self._counted is None or self.finder.fresh):
                self._counted = (library.documents, library.passages)
        self._show_groups(view)
        if self._restore is not None:
            kept, self._restore = self._restore, None
            self.selection.bring_back(kept)
        elif self._after_rules is not None:
            self._tell_rules()

    def _show_groups(self, view: DuplicatesView) -> None:
        self.selection.set_groups(view.groups)
        focus = self.detail.isAncestorOf(QApplication.focusWidget() or self)
        self.column.show_view(view)
        self._show_none(view)
        if not view.groups:
            self.detail.show_group(None)
            if focus:
                self.column.kinds.setFocus(Qt.FocusReason.OtherFocusReason)
        self._show_notes()
        self._show_foot()
        self._show_state()
        if self.finder.kinds == "all" and not self.finder.filters:  # the rail counts all of them
            self._show_badge(len(view.groups))

    def _show_none(self, view: DuplicatesView) -> None:
        title, sentence = EMPTY_OF[self.finder.kinds]
        files = words.counted(view.files, "file")
        narrowed = bool(self.finder.filters)
        if view.files < 2:
            title, sentence = "Nothing to compare", "There are fewer than two files."
            sentence = "Fewer than two files pass the filters." if narrowed else sentence
        if self.finder.filters.contents:
            sentence += f" Compared: only {among_words(self.finder.filters)}."
        none = self.detail.none
        none.title.setText(title)
        none.sentence.setText(sentence.format(files=files))
        button = none.button
        assert button is not None
        button.setText("Clear the filters" if narrowed else "Show all kinds")
        button.setVisible(narrowed or self.finder.kinds != "all")
        self.column.show_none(title + ".")

    def _on_failed(self, failure: Failure) -> None:
        self.column.looking.hide()
        self.column.set_controls(True)
        self._after_rules = None
        if self.finder.view is None:
            self.states.show_failed(failure_text(failure))
            self._show_state(failed=True)
        else:
            self.desk.show_failure(failure)
            self._show_foot()

    def _on_cancelled(self) -> None:
        self.column.looking.hide()
        self.column.set_controls(True)
        self._show_foot()
        self._show_state()
        if self.finder.view is not None:
            self.column.show_kinds(self.finder.kinds)

    def _show_state(self, *, failed: bool = False) -> None:
        if self._passages is not None and self.stack.currentWidget() is self._passages \
                and self.column.views.value() == "passages":
            return
        had_focus = self.isAncestorOf(QApplication.focusWidget() or self.desk.inspector)
        library = self.desk.library
        bare = library is not None and not library.folders
        if self.finder.view is not None and not bare:
            wanted: QWidget = self.files
        else:
            wanted = self.states
            if bare:
                self.states.show_empty()
            elif self.finder.job is not None:
                self.states.show_looking()
            elif not failed and not self.states.is_failed():
                self.states.show_never(library.documents if library is not None else 0)
        if wanted is not self.stack.currentWidget():
            self.stack.setCurrentWidget(wanted)
            if had_focus:
                self.focus_first()

    def _show_notes(self) -> None:
        view = self.finder.view
        if view is None:
            return
        notes = [note for note in view.notes if not note.startswith(CHANGED)]
        if self.desk.index_progress is not None and not self.desk.quiet:
            notes.append("Still indexing: files that come later are not compared yet.")
        library = self.desk.library
        # a run that takes in what was moved here is followed by a look, and what it did may show before it ends
        changed = not (self._is_own() and self.desk.index_job is not None) and (_says_changed(view) or (
            library is not None and self._counted is not None
            and (library.documents, library.passages) != self._counted))
        stale = "The library has changed since this was looked for." if changed and not self.finder.looking else ""
        self.column.show_notes(notes, stale)

    def _on_library(self, library: LibraryView) -> None:
        self.column.filters.set_library(library)
        self.strip.set_folders([folder.path for folder in library.folders])
        if self._is_own() and self._counted is not None:
            self._counted = (library.documents, library.passages)
        if self.isVisible() and not self._begun and self._may_begin():  # the page was opened before the library
            self.look()
        self._show_state()
        self._show_notes()

    def _show_badge(self, groups: int) -> None:
        rail = getattr(self.window(), "rail", None)
        if rail is not None:
            rail.set_badge(self.key, words.count(groups) if groups else "",
                           description=words.counted(groups, "group") if groups else "")

    # ---- ticking

    def _on_group(self, group: GroupView | None) -> None:
        self.bubble.hide()
        self.detail.show_group(group)
        self.desk.set_chosen(self.key, contents_of(group))

    def _on_tick(self, member: MemberView) -> None:
        group = self.group()
        if group is not None:
            self.selection.toggle(group, member)

    def _on_ticks(self, _keys: tuple[str, ...]) -> None:
        self.bubble.hide()
        self._show_foot()

    def _show_foot(self) -> None:
        view = self.finder.view
        groups = len(view.groups) if view is not None else 0
        self.foot_bar.show_total(self.selection.total, groups, frozen=self.finder.looking)
        self.strip.show_left(view.left if view is not None else "", self.selection.by_hand(), groups)

    def _on_refused(self, key: str, member: object, why: str) -> None:
        members, groups = self.detail.members, self.column.list
        box = members.box_of(member) if member is not None else groups.box_of(key)
        view = members if member is not None else groups
        self.bubble.show_at(why, view.viewport().mapTo(self, box.center() + QPoint(14, 0)))

    def untick_all(self) -> None:
        """Unticks everything; can be undone."""
        view, kept = self.finder.view, self.selection.keep()
        if view is not None and self.selection.total.files and not self.cleaning.busy:
            self.selection.tick_none(view.groups)
            self.desk.toast("Unticked everything", action="Undo", run=lambda: self.selection.bring_back(kept))

    def tick_suggested(self) -> None:
        """Ticks what the rules suggest, whatever a hand changed; can be undone."""
        view, kept = self.finder.view, self.selection.keep()
        if view is not None and not self.cleaning.busy:
            self.selection.tick_suggested(view.groups)
            self.desk.toast("Ticked as the rules suggest", action="Undo", run=lambda: self.selection.bring_back(kept))

    # ---- rules

    def use_rules(self, assistant: Assistant) -> None:
        """Puts rules in force; everything is ticked anew, and that can be undone."""
        before, kept = self.finder.assistant, self.selection.keep()
        if assistant == before or self.cleaning.busy:
            self.strip.show_rules(before)
            return

        def undo() -> None:
            self._after_rules = None
            self._restore = kept
            self.finder.set_rules(before)

        self._after_rules = undo
        self.finder.set_rules(assistant)

    def _tell_rules(self) -> None:
        undo, self._after_rules = self._after_rules, None
        total = self.selection.total
        self.desk.toast(f"Ticked anew: {words.counted(total.files, 'file')} in "
                        f"{words.counted(total.groups, 'group')}", action="Undo", run=undo)

    def edit_rules(self) -> None:
        """Shows all rules in their order."""
        from sbert_desktop.ui.duplicates.rules_sheet import edit_rules

        edit_rules(self.window(), self.desk, self.finder.assistant, self.use_rules)

    # ---- deeds

    def show_menu(self, position: QPoint) -> None:
        """Shows what can be done with the group and with its file chosen."""
        group = self.group()
        if group is not None:
            self.deeds.show_menu(self, group, self.member(), position)

    def search_like(self, member: MemberView | None) -> None:
        """Goes to Search and looks for documents like a file."""
        window = self.window()
        show, page = getattr(window, "show_page", None), getattr(window, "page", None)
        if member is not None and show is not None and page is not None:
            show("search")
            page("search").search_by(member.copy.path)

    def say_apart(self) -> None:
        """Remembers that the files of the group shown are no duplicates; can be undone."""
        group, view = self.group(), self.finder.view
        if group is None or view is None or self.cleaning.busy:
            return
        commands = self.desk.commands
        self._take_out(view, tuple(one for one in view.groups if one.key != group.key))

        def remember(*, undo: bool) -> None:
            def on_finished(finished: Finished) -> None:
                self.desk.report_failure(finished)
                self.finder.ask()  # what could not be remembered is shown again

            self.desk.bridge.watch(commands.not_duplicates(group, undo=undo), on_finished=on_finished)

        def undo() -> None:
            remember(undo=True)

        remember(undo=False)
        self.desk.toast(f"Remembered: {in_title(quick_path(group.title))} are no duplicates", action="Undo", run=undo)

    def ask_have(self, paths: object = ()) -> None:
        """Asks for files, or takes some, and tells whether the library has them already."""
        from sbert_desktop.ui.duplicates.have_sheet import open_have

        open_have(self.window(), self.desk, paths if isinstance(paths, tuple) else ())

    def export(self) -> None:
        """Asks for a file and writes the groups, as they are ticked now."""
        view = self.finder.view
        if view is None or not view.groups:
            return
        target = ask_target(self, "Save the groups", "duplicates.csv", FORMS)
        if target is not None:
            number = words.counted(len(view.groups), "group")
            self.desk.start(self.desk.commands.export_duplicates(with_ticks(view, self.selection), target),
                            lambda _: self.desk.toast(f"Saved {number} to {display_path(target.name)}"))



def _says_changed(view: DuplicatesView) -> bool:
    return any(note.startswith(CHANGED) for note in view.notes)
