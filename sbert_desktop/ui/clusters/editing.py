"""What the Clusters page does to clusters and to documents in them: the changes, their undo, and the menus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, cast

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QActionGroup, QIcon
from PySide6.QtWidgets import QMenu

from sbert_desktop.app.atlas_views import (
    UNSORTED,
    ClusterRequest,
    ClustersView,
    DocumentRow,
    Method,
    ThemeChange,
    ThemeDeed,
    ThemeView,
)
from sbert_desktop.domain import display_path
from sbert_desktop.ui import icons
from sbert_desktop.ui.clusters.body import ClustersBody
from sbert_desktop.ui.clusters.sheets import HowManySheet, PickSheet, dot_icon, sheet_of
from sbert_desktop.ui.clusters.words import (
    METHODS,
    clusters,
    deed_words,
    documents,
    label_of,
    named,
    shown_themes,
    these,
    undo_words,
)
from sbert_desktop.ui.naming import in_title
from sbert_desktop.ui.saving import ask_target
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import menu, no_mnemonic

FORMS: Final = (("Table", ".csv"), ("JSON", ".json"), ("Web page", ".html"))
IN_MENU: Final = 12  # clusters in a menu; more are found by typing


class EditingPage(ClustersBody):
    """See the module."""

    def why_not(self) -> str:
        """Gives why clusters cannot be changed now; "" when they can."""
        if self.finder.scope:
            return "These clusters are of some documents only and are not kept."
        library = self.desk.library
        if library is not None and library.read_only:
            return "This library is read-only: clusters cannot be changed."
        return ""

    def may_edit(self) -> bool:
        """True when clusters can be changed."""
        return not self.why_not()

    def _change(self, change: ThemeChange) -> None:
        why = self.why_not()
        if why:
            self.desk.toast(why)
        else:
            self.finder.change(change)

    def on_changed(self, change: ThemeChange, before: ClustersView | None, after: ClustersView) -> None:
        """Says what was done, with Undo."""
        if change.deed is ThemeDeed.UNDO:
            self.desk.toast(f"Undone: {undo_words(before.undo).lower()}" if before is not None and before.undo
                            else "Undone")
        elif change.deed is ThemeDeed.REDO:
            self.desk.toast(f"Done again: {undo_words(before.redo).lower()}" if before is not None and before.redo
                            else "Done again")
        else:
            if change.deed is ThemeDeed.SPLIT and before is not None:
                known = {one.id for one in before.themes}
                fresh = [one for one in after.themes if one.id not in known]
                if fresh and self.theme_shown() is not None and after.theme(change.themes[0]) is None:
                    self.column.list.choose(max(fresh, key=lambda one: one.size).id)
            self.desk.toast(deed_words(change, before, after), action="Undo" if after.undo else "",
                            run=self.undo if after.undo else None)

    # ---- changes

    def rename(self, theme_id: int, text: str) -> None:
        """Names a cluster; "" gives its own name back."""
        self._change(ThemeChange(ThemeDeed.RENAME, (theme_id,), text))

    def merge(self, into: int, others: Sequence[int]) -> None:
        """Makes one of several."""
        rest = tuple(one for one in others if one != into)
        if rest:
            self._change(ThemeChange(ThemeDeed.MERGE, (into, *rest)))

    def split(self) -> None:
        """Splits the cluster shown."""
        shown = self.theme_shown()
        if shown is not None and shown.size > 1:
            self._change(ThemeChange(ThemeDeed.SPLIT, (shown.id,)))

    def pin(self) -> None:
        """Pins the cluster shown, or lets it go."""
        shown = self.theme_shown()
        if shown is not None:
            self._change(ThemeChange(ThemeDeed.UNPIN if shown.pinned else ThemeDeed.PIN, (shown.id,)))

    def move_documents(self, theme_id: int, contents: Sequence[int]) -> None:
        """Puts documents into a cluster; UNSORTED takes them out of any."""
        if contents:
            self._change(ThemeChange(ThemeDeed.MOVE, (theme_id,), contents=tuple(contents)))

    def assign(self, rows: Sequence[DocumentRow]) -> None:
        """Puts unsorted documents into their nearest cluster; without any, all."""
        self._change(ThemeChange(ThemeDeed.ASSIGN, contents=tuple(row.content for row in rows)))

    def set_strictness(self, strictness: float) -> None:
        """Lets documents that are less sure be unsorted."""
        self._change(ThemeChange(ThemeDeed.STRICTNESS, strictness=strictness))

    def undo(self) -> None:
        """Takes the last change back."""
        self.finder.undo()

    def redo(self) -> None:
        """Does it again."""
        self.finder.redo()

    # ---- finding otherwise

    def find_with(self, request: ClusterRequest) -> None:
        """Finds clusters by another request."""
        self.finder.ask(request)

    def set_method(self, method: Method) -> None:
        """Finds clusters by another method."""
        request = self.finder.request()
        counted = method in (Method.AUTO, Method.COMMUNITIES, Method.KMEANS)
        self.find_with(replace(request, method=method, count=request.count if counted else None))

    def ask_how_many(self) -> None:
        """Asks for a number of clusters."""
        if self.finder.view is not None:
            sheet = cast(HowManySheet, sheet_of(self.window(), HowManySheet, "clusters_how_many_sheet"))
            sheet.ask(self.finder.view, self.find_with)

    def export(self) -> None:
        """Asks for a file and writes all clusters."""
        view = self.finder.view
        if view is None or not view.themes or self.finder.scope:
            return
        target = ask_target(self, "Save the clusters", "clusters.csv", FORMS)
        if target is not None:
            self.desk.start(self.desk.commands.export_clusters(target),
                            lambda _: self.desk.toast(f"Saved {clusters(len(view.themes))} to "
                                                      f"{display_path(target.name)}"))

    # ---- with all documents of a cluster

    def do_with_all(self, deed: str) -> None:
        """Does a deed with all documents of the cluster shown (a key of ``centre.DEEDS``)."""
        shown = self.theme_shown()
        if shown is None:
            return
        label = label_of(shown)

        def done(rows: Sequence[DocumentRow]) -> None:
            contents, what = tuple(row.content for row in rows), these(label, len(rows))
            runs: dict[str, Callable[[], object]] = {
                "search": lambda: self.deeds.search_in(contents, what),
                "map": lambda: self.deeds.show_on_map(contents, what),
                "collect": lambda: self.deeds.collect(contents, what),
                "duplicates": lambda: self.deeds.find_duplicates(contents, what),
                "open": lambda: self.deeds.open_all(rows),
                "label": lambda: self.desk.go_with("train", contents, what),
            }
            runs[deed]()

        self.finder.load_documents(shown.id, done)

    # ---- menus

    def _menu(self, object_name: str, title: str) -> tuple[QMenu, Callable[..., None]]:
        made = menu(self, object_name, title)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def add(icon: str | QIcon, text: str, run: Callable[[], object], key: str = "", *, enabled: bool = True,
                to: QMenu | None = None) -> None:
            picture = icons.icon(icon, 16) if isinstance(icon, str) else icon
            action = (to or made).addAction(picture, no_mnemonic(text) + (f"\t{key}" if key else ""))
            action.triggered.connect(lambda _=False: run())
            action.setEnabled(enabled)

        return made, add

    def _others(self, but: int) -> list[ThemeView]:
        """Gives the other clusters, the near ones first."""
        view = self.finder.view
        if view is None:
            return []
        shown = view.theme(but)
        near = [one.theme for one in shown.beside] if shown is not None else []
        rest = sorted((one for one in shown_themes(view.themes) if one.id != but),
                      key=lambda one: (near.index(one.id) if one.id in near else len(near), -one.size))
        return rest

    def show_merge_menu(self, spot: QPoint) -> None:
        """Offers the clusters near the one shown to be merged with it."""
        shown = self.theme_shown()
        if shown is None or not self.may_edit():
            if self.why_not():
                self.desk.toast(self.why_not())
            return
        made, add = self._menu("clusters_merge_menu", "Merge with")
        self._add_themes(made, add, shown.id, lambda other: self.merge(shown.id, (other,)),
                         f"Merge “{in_title(label_of(shown), 30)}” with", "Merge")
        made.popup(spot)

    def _add_themes(self, made: QMenu, add: Callable[..., None], but: int, run: Callable[[int], object], title: str,
                    action: str) -> None:
        others = self._others(but)
        for other in others[:IN_MENU]:
            add(dot_icon(theme.group_color(other.colour)), in_title(label_of(other), 40), partial(run, other.id),
                to=made)
        if len(others) > IN_MENU:
            made.addSeparator()
            add("search", "Another cluster...", lambda: self._pick(title, action, others, run), to=made)
        if not others:
            add("info", "There is no other cluster", lambda: None, enabled=False, to=made)

    def _pick(self, title: str, action: str, others: Sequence[ThemeView], run: Callable[[int], object]) -> None:
        cast(PickSheet, sheet_of(self.window(), PickSheet, "clusters_pick_sheet")).ask(title, action, others, run)

    def show_theme_menu(self, spot: QPoint) -> None:
        """Offers what can be done with the cluster shown."""
        shown = self.theme_shown()
        if shown is None:
            return
        made, add = self._menu("clusters_theme_menu", label_of(shown))
        edit = self.may_edit()
        if edit:
            add("pencil", "Rename", self.start_rename, "F2")
            if shown.named:
                add("undo", "Give its own name back", lambda: self.rename(shown.id, ""))
            add("merge", "Merge...", lambda: self.show_merge_menu(spot), "M")
            add("split", "Split", self.split, "S", enabled=shown.size > 1)
            add("pin", "Unpin" if shown.pinned else "Pin", self.pin, "P")
            made.addSeparator()
        add("file", "Show all documents", self.show_documents, "Enter")
        for key, button in self.detail.centre.deeds.items():
            add(_ICON_OF[key], button.label(), partial(self.do_with_all, key))
        made.popup(spot)

    def show_more_menu(self, spot: QPoint) -> None:
        """Offers how clusters are found, export, undo and redo."""
        view = self.finder.view
        made, add = self._menu("clusters_more_menu", "Clusters")
        request = self.finder.request()
        group = QActionGroup(made)
        for method, text, tip in METHODS:
            action = made.addAction(text)
            action.setCheckable(True)
            action.setChecked(method is request.method)
            action.setToolTip(tip)
            action.setStatusTip(tip)
            action.triggered.connect(lambda _=False, method=method: self.set_method(method))
            group.addAction(action)
        made.setToolTipsVisible(True)
        made.addSeparator()
        add("sliders", "How many?...", self.ask_how_many, enabled=view is not None)
        add("refresh", "Find clusters anew", self.look_again, "Ctrl+R", enabled=not self.finder.busy())
        made.addSeparator()
        if not self.finder.scope:
            add("export", "Export...", self.export, "Ctrl+S", enabled=view is not None and bool(view.themes))
        if self.may_edit():
            undo, redo = (view.undo, view.redo) if view is not None else ("", "")
            add("undo", f"Undo: {undo_words(undo).lower()}" if undo else "Undo", self.undo, "Ctrl+Z",
                enabled=bool(undo))
            add("refresh", f"Redo: {undo_words(redo).lower()}" if redo else "Redo", self.redo, "Ctrl+Shift+Z",
                enabled=bool(redo))
        made.popup(spot)

    def show_documents_menu(self, rows: Sequence[DocumentRow], spot: QPoint) -> None:
        """Offers what can be done with documents."""
        if not rows:
            return
        made, add = self._menu("clusters_documents_menu", named(rows))
        contents, what = tuple(row.content for row in rows), documents(len(rows))
        deeds, one = self.deeds, rows[0]
        add("open", f"Open {named(rows)}", lambda: deeds.open_all(rows), "Ctrl+Enter")
        add("open", "Open with...", lambda: deeds.open_with(rows, spot))
        if len(rows) == 1:
            add("panel", "Show the preview", lambda: self.preview(one), "Enter")
            add("reveal", "Show in folder", lambda: deeds.reveal(one))
        add("copy", "Copy path" if len(rows) == 1 else "Copy paths", lambda: deeds.copy_paths(rows))
        made.addSeparator()
        if self.may_edit():
            unsorted = not rows[0].sorted_in
            if unsorted:
                add("check", f"Assign {named(rows)} to nearest", lambda: self.assign(rows))
            to = menu(made, "clusters_move_menu", "Move to")
            to.setTitle("Move to")
            to.setIcon(icons.icon("clusters", 16))
            self._add_themes(to, add, UNSORTED if unsorted else rows[0].theme,
                             lambda other: self.move_documents(other, contents), f"Move {what} to", "Move")
            made.addMenu(to)
            if not unsorted:
                add("minus", "Take out of the cluster", lambda: self.move_documents(UNSORTED, contents))
            made.addSeparator()
        if len(rows) == 1 and not one.member:
            add("similar", "Find similar documents", lambda: deeds.search_like(one))
        add("search", "Search in these" if len(rows) > 1 else "Search in it", lambda: deeds.search_in(contents, what))
        if self.desk.can("map"):
            add("map", "Show on the map", lambda: deeds.show_on_map(contents, what))
        if self.desk.can("collect_documents"):
            add("collection", "Add to a collection...", lambda: deeds.collect(contents, what))
        made.popup(spot)

    # ---- given by the page

    def start_rename(self) -> None:
        """Edits the name of the cluster shown."""
        raise NotImplementedError

    def show_documents(self) -> None:
        """Shows all documents of the cluster."""
        raise NotImplementedError

    def preview(self, row: DocumentRow) -> None:
        """Shows a document beside the page."""
        raise NotImplementedError

    def look_again(self) -> None:
        """Finds clusters anew."""
        raise NotImplementedError


_ICON_OF: Final = {"search": "search", "map": "map", "collect": "collection", "duplicates": "duplicates",
                   "open": "open", "label": "train"}
