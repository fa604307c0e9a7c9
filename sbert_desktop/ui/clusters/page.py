"""The Clusters page: clusters as cards on the left, one of them on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QWidget

from sbert_desktop.app.atlas_views import UNSORTED, ClustersView, DocumentRow, MapRequest, MapView, ThemeView
from sbert_desktop.app.views import LibraryView
from sbert_desktop.domain import Failure, Finished, Progress
from sbert_desktop.ui import words
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.clusters.documents import DocumentList
from sbert_desktop.ui.clusters.editing import EditingPage
from sbert_desktop.ui.clusters.page_actions import page_actions
from sbert_desktop.ui.clusters.states import state_of
from sbert_desktop.ui.clusters.words import FEW, documents
from sbert_desktop.ui.page import Action, Desk, failure_text
from sbert_desktop.ui.theme import theme

SMALL: Final = 20_000
"""Documents up to which the page begins by itself: that takes seconds."""


class ClustersPage(EditingPage):
    """See the module."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._begun = False
        self._looked_before = False
        self._stale = False  # documents were read since the clusters were asked for
        self._failed = ""
        self._chosen = UNSORTED  # what was chosen when the window was last closed
        self._slow = False
        self._stored_map = Latest(desk.bridge)
        self._connect()
        if desk.themes is not None:
            self._on_answer(desk.themes)
        self._show_state()

    def _connect(self) -> None:
        finder, column, detail = self.finder, self.column, self.detail
        finder.began.connect(self._on_began)
        finder.progressed.connect(self._on_progress)
        finder.answered.connect(self._on_answer)
        finder.failed.connect(self._on_failed)
        finder.cancelled.connect(self._on_cancelled)
        finder.changed.connect(self.on_changed)
        finder.splitShown.connect(self._on_split)
        column.againWanted.connect(self.look_again)
        column.moreWanted.connect(self.show_more_menu)
        column.leanMoved.connect(self._on_lean)
        column.orderChosen.connect(column.list.set_order)
        column.backWanted.connect(self.show_whole)
        column.libraryWanted.connect(lambda: self.desk.add_folders(()))
        column.working.cancelWanted.connect(finder.cancel)
        column.foot.unsortedWanted.connect(self.show_unsorted)
        column.foot.strictnessChosen.connect(self.set_strictness)
        cards = column.list
        cards.currentThemeChanged.connect(self._on_theme)
        cards.clicked.connect(lambda _: self._on_theme(cards.current()))
        cards.renameWanted.connect(self.rename)
        cards.documentsWanted.connect(self.show_documents)
        cards.pinWanted.connect(self.pin)
        cards.mergeWanted.connect(self.show_merge_menu)
        cards.splitWanted.connect(self.split)
        cards.mergeIntoWanted.connect(self.merge)
        cards.moveWanted.connect(self.move_documents)
        cards.menuAsked.connect(self.show_theme_menu)
        self._connect_detail()
        states = self.states
        states.lookWanted.connect(self.look)
        states.addWanted.connect(lambda: self.desk.add_folders(()))
        states.libraryWanted.connect(lambda: self.desk.show_page("library"))
        states.modelsWanted.connect(lambda: self.desk.show_page("models"))
        states.backWanted.connect(self.show_whole)
        states.working.cancelWanted.connect(finder.cancel)
        self.desk.libraryChanged.connect(self._on_library)
        self.desk.indexFinished.connect(lambda _: self._on_index_finished())
        self.desk.bridge.listen("map", on_partial=self._on_map, on_finished=self._on_map_finished)
        self.desk.inspector.contentChanged.connect(self._share)
        self.splitter.splitterMoved.connect(self._on_splitter)
        self.splitter.installEventFilter(self)
        theme.themeChanged.connect(self._share)
        for keys, run in (("Ctrl+R", self.look_again), ("Ctrl+S", self.export),
                          ("Ctrl+F", lambda: column.show_filter(not column.filter_button.isChecked()))):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(run)
        detail.partChanged.connect(lambda _: self._tell_chosen())

    def _connect_detail(self) -> None:
        detail = self.detail
        head, centre = detail.head, detail.centre
        head.renamed.connect(self._on_renamed)
        head.mergeWanted.connect(self.show_merge_menu)
        head.splitWanted.connect(self.split)
        head.exportWanted.connect(self.export)
        head.pinWanted.connect(self.pin)
        head.moreWanted.connect(self.show_theme_menu)
        centre.allWanted.connect(self.show_documents)
        centre.mergeWanted.connect(self._on_merge_beside)
        centre.goWanted.connect(self.show_cluster)
        centre.deedWanted.connect(self.do_with_all)
        detail.side.mapWanted.connect(self._open_map)
        detail.documents.backWanted.connect(self._leave_documents)
        detail.documents.againWanted.connect(self.show_documents)
        detail.unsorted.backWanted.connect(self._leave_unsorted)
        detail.unsorted.againWanted.connect(self.show_unsorted)
        detail.unsorted.assignWanted.connect(self.assign)
        for view in (centre.central, detail.documents.list, detail.unsorted.list):
            view.previewWanted.connect(self.preview)
            view.openWanted.connect(self.deeds.open)
            view.menuAsked.connect(lambda spot, view=view: self.show_documents_menu(view.chosen(), spot))
            view.chosenChanged.connect(lambda view=view: self._on_documents_chosen(view))

    # ---- for the window

    def activate(self) -> None:
        stale = self._stale and self.finder.view is not None and not self.finder.busy() and not self.finder.scope
        if stale or (not self._begun and self._may_begin()):
            self.look()
        else:
            self._show_state()
        self._look_at_the_map()

    def focus_first(self) -> None:
        if self.stack.currentWidget() is self.states:
            self.states.focus_first()
        else:
            self.column.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_list(self) -> Sequence[Action]:
        return page_actions(self)

    def take_among(self, contents: tuple[int, ...], label: str) -> None:
        self._begun = True
        self._failed = ""
        self.deeds.close_preview()
        self.finder.show_among(contents, label)
        self._show_state()

    def save_state(self) -> dict[str, object]:
        shown = self.theme_shown()
        return {"looked": self._looked_before, "column": self._column_width,
                "order": str(self.column.sort.currentData()),
                "chosen": shown.id if shown is not None and not self.finder.scope else self._chosen}

    def restore_state(self, state: dict[str, object]) -> None:
        self._looked_before = state.get("looked") is True
        width, chosen = state.get("column"), state.get("chosen")
        self._column_width = width if isinstance(width, int) else 0
        self._chosen = chosen if isinstance(chosen, int) else UNSORTED
        at = self.column.sort.findData(state.get("order"))
        if at >= 0:
            self.column.sort.setCurrentIndex(at)
            self.column.list.set_order(str(state.get("order")))
        self._share()

    # ---- asking

    def _may_begin(self) -> bool:
        library = self.desk.library
        return library is not None and bool(library.folders) and library.embedded > 0 and \
            (self._looked_before or library.documents <= SMALL)

    def look(self) -> None:
        """Asks for the clusters; those that are stored come at once."""
        self._begun = True
        self._failed = ""
        self._stale = False
        self.finder.ask()

    def look_again(self) -> None:
        """Finds clusters anew; names, pins and what was moved by hand stay."""
        if not self.finder.busy() and self.finder.view is not None:
            self._failed = ""
            if self.finder.scope:
                self.finder.ask(self.finder.request())
            else:
                self.finder.ask(again=True)

    def show_whole(self) -> None:
        """Goes back from some documents to the clusters of the whole library."""
        self._failed = ""
        self.finder.show_among((), "")
        self._show_state()
        self.focus_first()

    def _on_lean(self, detail: float) -> None:
        self.finder.ask_later(replace(self.finder.request(), detail=detail, count=None))

    # ---- answers

    def _on_began(self) -> None:
        slow = self.finder.looking
        self._slow = False
        self.column.show_busy(self.finder.busy(), slow=False)
        if slow:
            self.states.working.begin()
        self._show_state()

    def _on_progress(self, progress: Progress) -> None:
        if self.finder.looking:
            if not self._slow:  # what is stored comes at once: words and Cancel only where it takes a while
                self._slow = True
                self.column.show_busy(True, slow=True)
            self.column.show_progress(progress)
            self.states.working.show_progress(progress)

    def _on_answer(self, view: ClustersView) -> None:
        self._begun = True
        self._looked_before = True
        self._failed = ""
        self.column.show_busy(self.finder.busy(), slow=False)
        self.column.show_view(view, may_edit=self.may_edit())
        if self._chosen != UNSORTED and view.themes and not self.finder.scope:
            self.column.list.choose(self._chosen)
            self._chosen = UNSORTED
        self._show_notes()
        self._show_state()
        if self.detail.part() == "unsorted" and view.unsorted:
            self.show_unsorted()
        else:
            self._show_theme(self.theme_shown())
        self._show_badge(view)

    def _show_badge(self, view: ClustersView) -> None:
        rail = getattr(self.window(), "rail", None)
        if rail is not None and view.fresh:
            rail.set_badge(self.key, words.count(view.fresh), description=f"{documents(view.fresh)} new")
        elif rail is not None:
            rail.set_badge(self.key, "", description="")

    def _on_failed(self, failure: Failure) -> None:
        self.column.show_busy(False, slow=False)
        if self.finder.view is None:
            self._failed = failure_text(failure)
        else:
            self.desk.show_failure(failure)
            self.column.show_lean(self.finder.view.request.detail)
        self._show_state()

    def _on_cancelled(self) -> None:
        self.column.show_busy(False, slow=False)
        if self.finder.view is not None:
            self.column.show_lean(self.finder.view.request.detail)
        self._show_state()

    def _show_notes(self) -> None:
        view = self.finder.view
        if view is None:
            return
        column, library = self.column, self.desk.library
        among = f"Clusters of {self.finder.scope_label or documents(len(self.finder.scope))}. They are not kept." \
            if self.finder.scope else ""
        column.back.show_text(among)
        few = 0 < view.documents < FEW
        column.few.show_text(f"Only {documents(view.documents)}: clusters say more with {FEW} or more."
                             if few and not self.finder.scope else "")
        column.fresh.show_text(
            f"{documents(view.fresh)} came since. {'It lies' if view.fresh == 1 else 'Each lies'} in the nearest "
            "cluster." if view.fresh else "")
        notes = [view.note] if view.note else []
        if view.waiting:
            notes.append(f"{documents(view.waiting)} {'waits' if view.waiting == 1 else 'wait'} to be read and "
                         f"{'takes' if view.waiting == 1 else 'take'} no part yet.")
        if library is not None and library.read_only:
            notes.append("The library is read-only: clusters can be looked at, not changed.")
        column.notes.show_text(" ".join(notes))
        column.again.setEnabled(not self.finder.busy())

    def _show_state(self) -> None:
        had_focus = self.isAncestorOf(QApplication.focusWidget() or self.desk.inspector)
        library = self.desk.library
        state, sentence = state_of(library, self.finder, self._failed)
        if state:
            self.states.show_state(state, sentence, number=library.documents if library is not None else 0,
                                   among=bool(self.finder.scope))
        wanted: QWidget = self.states if state else self.splitter
        if wanted is not self.stack.currentWidget():
            self.stack.setCurrentWidget(wanted)
            if had_focus:
                self.focus_first()

    def _on_library(self, _library: LibraryView) -> None:
        if self.isVisible() and not self._begun and self._may_begin():  # the page was opened before the library
            self.look()
        self._show_notes()
        self._show_state()

    def _on_index_finished(self) -> None:
        self._stale = True
        if self.isVisible() and self._begun and not self.finder.busy() and not self.finder.scope:
            self.look()

    # ---- one cluster

    def _on_theme(self, shown: ThemeView | None) -> None:
        if shown is not None and self.detail.part() not in ("documents",):
            self.detail.show_part("overview")
        elif shown is not None:
            self.show_documents()
        self._show_theme(shown)

    def _show_theme(self, shown: ThemeView | None) -> None:
        view = self.finder.view
        if self.detail.part() == "unsorted" and view is not None and view.unsorted:
            return
        if shown is None or view is None:
            self.finder.show_split(UNSORTED)
            self.detail.show_none("Choose a cluster to see what is in it." if view is not None and view.themes
                                  else "No clusters.")
            return
        self.detail.show_theme(shown, view, may_edit=self.may_edit(),
                               why_not="" if self.finder.scope else self.why_not())
        if self.detail.part() in ("none", "unsorted"):
            self.detail.show_part("overview")
        elif self.detail.part() == "documents":
            self.show_documents()
        self.detail.centre.show_split(None, shown.size, wanted=self._splits(shown))
        self.finder.show_split(shown.id if self._splits(shown) else UNSORTED)
        self._fill_map(shown)

    def _splits(self, shown: ThemeView) -> bool:
        return self.may_edit() and shown.size > 1

    def _on_split(self, split: object) -> None:
        shown = self.theme_shown()
        if shown is not None and split is not None:
            self.detail.centre.show_split(split, shown.size, wanted=self._splits(shown))  # type: ignore[arg-type]
            self.detail.head.split.setEnabled(self.may_edit() and bool(split.parts))  # type: ignore[attr-defined]

    def show_cluster(self, theme_id: int) -> None:
        """Goes to a cluster by its id."""
        if not self.column.list.choose(theme_id):
            self.column.show_filter(False)  # the filter hides it
            self.column.list.choose(theme_id)

    def start_rename(self) -> None:
        if self.theme_shown() is not None and self.may_edit():
            self.detail.show_part("overview" if self.detail.part() == "unsorted" else self.detail.part())
            self.detail.head.start_rename()

    def _on_renamed(self, text: str) -> None:
        shown = self.theme_shown()
        if shown is not None:
            self.rename(shown.id, text)

    def _on_merge_beside(self, other: int) -> None:
        shown = self.theme_shown()
        if shown is not None:
            self.merge(shown.id, (other,))

    # ---- documents

    def show_documents(self) -> None:
        """Shows all documents of the cluster in front."""
        shown = self.theme_shown()
        if shown is None:
            return
        pane, came = self.detail.documents, self.detail.part() != "documents"
        if self.finder.documents_of(shown.id) is None:
            pane.show_loading()
        self.detail.show_part("documents")

        def done(rows: Sequence[DocumentRow]) -> None:
            now = self.theme_shown()
            if now is not None and now.id == shown.id:
                pane.show_rows(rows)
                if came and self.detail.part() == "documents":
                    pane.focus_first()

        self.finder.load_documents(shown.id, done, pane.show_failure)

    def _leave_documents(self) -> None:
        self.deeds.close_preview()
        self.detail.show_part("overview")
        self.detail.centre.show_all.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_unsorted(self) -> None:
        """Shows all documents that are in no cluster."""
        view = self.finder.view
        if view is None or not view.unsorted:
            return
        pane, came = self.detail.unsorted, self.detail.part() != "unsorted"
        if self.finder.documents_of(UNSORTED) is None:
            pane.show_loading()
        pane.describe(view)
        self.detail.show_part("unsorted")
        self.column.list.clearSelection()  # no card is shown beside it

        def done(rows: Sequence[DocumentRow]) -> None:
            if self.finder.view is not None:
                pane.show_unsorted(rows, self.finder.view, may_edit=self.may_edit())
                if came and self.detail.part() == "unsorted":
                    pane.focus_first()

        self.finder.load_documents(UNSORTED, done, pane.show_failure)

    def _leave_unsorted(self) -> None:
        self.deeds.close_preview()
        self.detail.show_part("overview" if self.theme_shown() is not None else "none")
        self._show_theme(self.theme_shown())
        self.column.list.choose_again()
        self.column.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def preview(self, row: DocumentRow) -> None:
        self.deeds.preview(row)
        self._share()

    def _on_documents_chosen(self, view: DocumentList) -> None:
        if view.isVisible():
            rows = view.chosen()
            self.desk.set_chosen(self.key, [row.content for row in rows])
            if len(rows) == 1:
                self.deeds.follow(rows[0])

    def _tell_chosen(self) -> None:
        self.desk.set_chosen(self.key, ())

    # ---- the small map

    def _on_map(self, view: object) -> None:
        if isinstance(view, MapView) and not view.preview:
            self.detail.side.map.set_map(view)
            self.detail.side.fit_map()
            self._fill_map(self.theme_shown())

    def _on_map_finished(self, finished: Finished) -> None:
        self._on_map(finished.result)

    def _look_at_the_map(self) -> None:
        """Asks for the map as it is stored; nothing is laid out for the small one."""
        if self.detail.side.map.has_map():
            self._fill_map(self.theme_shown())
        elif self.desk.can("map"):
            self._stored_map.watch(self.desk.commands.map(MapRequest(stored=True)), on_finished=self._on_map_finished)

    def _fill_map(self, shown: ThemeView | None) -> None:
        side = self.detail.side
        if shown is not None and side.map.has_map() and self.isVisible():
            self.finder.load_documents(shown.id, lambda rows: self._on_map_rows(shown, rows), lambda _: None)

    def _on_map_rows(self, shown: ThemeView, rows: Sequence[DocumentRow]) -> None:
        now = self.theme_shown()
        if now is not None and now.id == shown.id:
            contents = tuple(row.content for row in rows)
            self.detail.side.show_contents(shown, contents)
            if self.detail.part() == "overview":
                self.desk.set_chosen(self.key, contents)  # the map shows where the cluster in front lies

    def _open_map(self) -> None:
        if self.theme_shown() is not None and self.detail.side.map.has_map():
            self.do_with_all("map")
        else:
            self.desk.show_page("map")

    # ---- keys

    def _undo_run(self, event: QKeyEvent) -> object:
        control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
        view = self.finder.view
        toast = getattr(self.window(), "toast", None)
        if view is None or event.key() != Qt.Key.Key_Z or not self.may_edit():
            return None
        if event.modifiers() == control and view.undo and not (toast is not None and toast.has_action()):
            return self.undo  # while a message offers Undo, the window's own Ctrl+Z takes that
        return self.redo if event.modifiers() == control | shift and view.redo else None

    def event(self, event: QEvent) -> bool:
        """Takes Ctrl+Z before the window does, and Escape while something is under way."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and \
                self._undo_run(event) is not None:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        run = self._undo_run(event)
        if callable(run):
            run()
        elif event.key() == Qt.Key.Key_Escape and self.finder.looking:
            self.finder.cancel()
        elif event.key() == Qt.Key.Key_Escape and self.deeds.previewing():
            self.deeds.close_preview()
            self._share()
        elif event.key() == Qt.Key.Key_F2:
            self.start_rename()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Takes the preview away with the page, and asks for nothing that nobody sees."""
        super().hideEvent(event)
        self.finder.close()
        self.deeds.close_preview()
