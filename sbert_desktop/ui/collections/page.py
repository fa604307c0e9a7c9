"""The Collections page: the passages put into one collection, with notes on them and on the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, cast

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.views import CollectionItem, CollectionView
from sbert_desktop.domain import Failure, display_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.collections.detail import ItemDetail, NoteEdit, item_title, place_words
from sbert_desktop.ui.collections.name_sheet import ask_name
from sbert_desktop.ui.collections.query_text import quoted
from sbert_desktop.ui.library.tables import Column, Table
from sbert_desktop.ui.naming import in_title, kind_of
from sbert_desktop.ui.page import Action, Desk, Page, PageHead, failure_text
from sbert_desktop.ui.saving import ask_target
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    ComboBox,
    EmptyState,
    FlowLayout,
    IconButton,
    Label,
    Line,
    SkeletonList,
    announce,
    menu,
    no_mnemonic,
)

ONWARD: Final = (("map", "map", "Show on the map"), ("clusters", "clusters", "Themes of these"))
TO_PAGE: Final = {"map": "Show this collection on the map", "clusters": "Themes of this collection"}
OF_CHOSEN: Final = "chosen in a collection"
EXPORTS: Final = (("CSV table", ".csv"), ("JSON", ".json"), ("Web page", ".html"), ("BibTeX list", ".bib"))


def _item(row: object) -> CollectionItem:
    return cast(CollectionItem, row)


COLUMNS: Final = (
    Column("Title", lambda row: item_title(_item(row)), 200, role="medium",
           icon=lambda row: icons.for_format(kind_of(_item(row).path, _item(row).member)),
           tip=lambda row: place_words(_item(row))),
    Column("Place", lambda row: place_words(_item(row)), 150, role="meta", tone="muted",
           elide=Qt.TextElideMode.ElideMiddle),
    Column("Page", lambda row: words.count(page) if (page := _item(row).page) else "", 56, right=True,
           key=lambda row: _item(row).page or 0),
    Column("Passage", lambda row: " ".join(_item(row).text[:400].split()), 0, least=280),
    Column("Note", lambda row: " ".join(_item(row).note.split()), 150, tone="muted"),
)


class CollectionsPage(Page):
    """A table of what one collection holds; the inspector shows the row chosen."""

    key: ClassVar[str] = "collections"
    title: ClassVar[str] = "Collections"
    icon: ClassVar[str] = "collection"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._shelf = desk.shelf
        self._name = ""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head = self._build_head()
        column.addWidget(self.head)
        self.second_row = QWidget()
        self.second_row.setObjectName("collections_second_row")
        flow = FlowLayout(self.second_row, gap=8)
        flow.setContentsMargins(16, 0, 16, 12)
        self.second_row.hide()
        column.addWidget(self.second_row)
        column.addWidget(Line())
        self.stack = QStackedWidget()
        self.stack.setObjectName("collections_stack")
        self.loading = SkeletonList(5, row_height=44, object_name="collections_loading")
        self.failed = EmptyState("The collections could not be read", "", action="Try again", drawing="problem",
                                 object_name="collections_failed")
        self.none = EmptyState("No collections yet", "A collection keeps passages that belong together. Choose one "
                               "among your results and press M.", action="Search", icon="search",
                               object_name="collections_none")
        self.empty = EmptyState("Nothing in it yet", "Choose a passage among your results and press M.",
                                action="Search", icon="search", object_name="collection_empty")
        self.full = self._build_full()
        for widget in (self.loading, self.failed, self.none, self.empty, self.full):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)
        self.detail = ItemDetail()
        self._connect()
        self._on_changed()

    def _build_head(self) -> PageHead:
        head = PageHead("Collections", "collections_title")
        self.choice = ComboBox(object_name="collections_choice", accessible="Collection", caption="Collection")
        self.count = Label("", role="meta", tone="muted", object_name="collection_count")
        self.search_in = Button("Search in it", icon="search", object_name="collection_search_in",
                                tip="Search only the documents of this collection")
        self.export = Button("Export...", icon="export", object_name="collection_export",
                             tip="Save path, page, passage and note of each (Ctrl+S)")
        self.more = IconButton("more", "More about this collection", object_name="collection_menu")
        head.row.insertWidget(1, self.choice)
        head.row.insertWidget(2, self.count)
        for widget in (self.search_in, self.export, self.more):
            head.row.addWidget(widget)
        return head

    def _build_full(self) -> QWidget:
        full = QWidget()
        full.setObjectName("collection_full")
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        top = QHBoxLayout()
        top.setContentsMargins(16, 12, 16, 12)
        self.note = NoteEdit("collection_note", "Note on this collection", "What this collection is for")
        top.addWidget(self.note)
        column.addLayout(top)
        column.addWidget(Line())
        self.table = Table(COLUMNS, object_name="collection_table", accessible="Passages of the collection", multi=True,
                           key=lambda row: _item(row).id)
        column.addWidget(self.table, 1)
        self._fit()
        return full

    def _connect(self) -> None:
        desk, shelf, table, detail = self.desk, self._shelf, self.table, self.detail
        shelf.collectionsChanged.connect(self._on_changed)
        shelf.failed.connect(self._on_failed)
        self.failed.clicked.connect(shelf.refresh)
        for state in (self.none, self.empty):
            state.clicked.connect(lambda: desk.search_for(""))
        self.choice.activated.connect(lambda at: self.show_collection(str(self.choice.itemData(at))))
        self.search_in.clicked.connect(lambda: self.search_in_it(self._name))
        self.export.clicked.connect(lambda: self.ask_export(self._name))
        self.more.clicked.connect(self._on_more)
        self.note.noted.connect(self._on_note)
        table.chosenChanged.connect(self._on_chosen)
        table.rowActivated.connect(lambda _: self._open())
        table.menuAsked.connect(lambda _, position: self._on_menu(position))
        table.keys = {Qt.Key.Key_Delete: self._take_out, Qt.Key.Key_N: self._go_to_note}
        for sequence, run in (("Ctrl+Return", self._reveal), ("Ctrl+S", lambda: self.ask_export(self._name)),
                              ("Ctrl+C", self._copy)):
            shortcut = QShortcut(QKeySequence(sequence), table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(run)
        detail.noted.connect(self._on_item_note)
        detail.openAsked.connect(self._open)
        detail.revealAsked.connect(self._reveal)
        detail.takeOutAsked.connect(self._take_out)
        detail.hideAsked.connect(lambda: desk.inspector.set_open(False))
        theme.themeChanged.connect(self._fit)
        theme.themeChanged.connect(self._fit_head)

    # ---- for the window

    def activate(self) -> None:
        if not self._shelf.known:
            self._shelf.refresh()

    def focus_first(self) -> None:
        shown = self.stack.currentWidget()
        button = shown.button if isinstance(shown, EmptyState) else None
        (button or (self.table if shown is self.full else self.choice)).setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_list(self) -> Sequence[Action]:
        def there() -> bool:
            return bool(self._name)

        return [
            Action("collection_search_in", "Search in this collection", lambda: self.search_in_it(self._name),
                   icon="search", note=self._name, enabled=there),
            Action("collection_export", "Export this collection...", lambda: self.ask_export(self._name), "Ctrl+S",
                   "export", self._name, there, bind=False),
            *(Action(f"collection_{page}", TO_PAGE[page], partial(self.take_to, page, self._name), "", icon, self._name,
                     partial(self._has_documents, self._name)) for page, icon, _ in self._onward()),
            Action("collection_rename", "Rename this collection...", lambda: self.ask_rename(self._name), "", "pencil",
                   self._name, there),
            Action("collection_delete", "Delete this collection", lambda: self.delete(self._name), "", "trash",
                   self._name, there),
        ]

    def save_state(self) -> dict[str, object]:
        return {"collection": self._name}

    def restore_state(self, state: dict[str, object]) -> None:
        self._name = str(state.get("collection", ""))
        self._on_changed()

    def current(self) -> str:
        """Gives the name of the collection shown; "" while there is none."""
        return self._name

    def show_collection(self, own: str) -> None:
        """Shows a collection by its name."""
        if own != self._name:
            self.detail.note.keep()
            self.note.keep()
            self._name = own
            self.table.set_rows(())
        self._on_changed()
        if self.table.rows_model.rows and not self.table.chosen_rows():
            self.table.selectRow(0)

    def _onward(self) -> list[tuple[str, str, str]]:
        """Gives page, icon and words of the pages that documents can be taken to."""
        return [(page, icon, text) for page, icon, text in ONWARD if self.desk.has_page(page)]

    def _has_documents(self, own: str) -> bool:
        view = self._shelf.collection(own)
        return view is not None and any(item.content_id for item in view.items)

    def take_to(self, page: str, own: str) -> None:
        """Goes to another page with the documents of a collection that the library still holds."""
        view = self._shelf.collection(own)
        self._take(page, view.items if view is not None else (), f"of {in_title(own)}")

    def _take(self, page: str, items: Sequence[CollectionItem], of: str) -> None:
        contents = tuple(dict.fromkeys(item.content_id for item in items if item.content_id))
        if contents:
            self.desk.go_with(page, contents, f"{words.counted(len(contents), 'document')} {of}")
        else:
            self.desk.toast("The library no longer holds these documents")

    # ---- what the shelf says

    def _on_changed(self) -> None:
        views = self._shelf.collections
        if self._shelf.known and self._shelf.collection(self._name) is None:
            self._name = views[0].name if views else ""
        view = self._shelf.collection(self._name)
        self.choice.clear()
        for each in views:
            self.choice.addItem(each.name, each.name)
        self.choice.setCurrentIndex(max(0, self.choice.findData(self._name)))
        self.choice.updateGeometry()
        for widget in (self.choice, self.count, self.search_in, self.export, self.more):
            widget.setVisible(view is not None)
        self._fit_head()
        if view is None:
            self.stack.setCurrentWidget(self.none if self._shelf.known else self.loading)
            self._show_item(None)
        else:
            self._show(view)
        self._shelf.show(self._name)

    def _show(self, view: CollectionView) -> None:
        self.count.setText(words.counted(len(view.items), "passage"))
        self.search_in.setEnabled(bool(view.items))
        self.export.setEnabled(bool(view.items))
        if not self.note.is_busy():
            self.note.show_note(view.note)
        if list(view.items) != self.table.rows_model.rows:
            self.table.set_rows(view.items)
        self.stack.setCurrentWidget(self.full if view.items else self.empty)
        if view.items and not self.table.chosen_rows():
            self.table.selectRow(0)
        self._on_chosen()

    def _on_failed(self, failure: Failure | None) -> None:
        if failure is None:
            return
        if self._shelf.known:
            self.desk.show_failure(failure)
        else:
            self.failed.set_texts("The collections could not be read", failure_text(failure))
            self.stack.setCurrentWidget(self.failed)

    def _on_chosen(self) -> None:
        now = self.table.current_row()
        chosen = self.table.chosen_rows()
        item = _item(now) if now is not None and now in chosen else _item(chosen[0]) if chosen else None
        self._show_item(item if self.stack.currentWidget() is self.full else None)
        self.desk.set_chosen(self.key, tuple(dict.fromkeys(_item(row).content_id for row in chosen
                                                           if _item(row).content_id)))

    def _show_item(self, item: CollectionItem | None) -> None:
        if item is not None or self.detail.item() is not None:
            self.detail.show_item(item)
        inspector = self.desk.inspector
        inspector.set_content(self.key, self.detail if item is not None else None)

    # ---- what can be done with a collection

    def search_in_it(self, own: str) -> None:
        """Goes to Search with ``in:"name"`` in the box."""
        if own:
            self.desk.search_for(f"in:{quoted(own)} ")

    def ask_rename(self, own: str) -> None:
        """Asks for another name and gives it."""
        if not own:
            return

        def refuse(text: str) -> str:
            return "" if self._shelf.free_name(text, own) else "Another collection is called that."

        ask_name(self.window(), title="Rename collection", action="Rename", text=own, refuse=refuse,
                 done=lambda text: self.rename(own, text))

    def rename(self, own: str, text: str) -> None:
        """Gives a collection another name."""
        if text == own:
            return

        shown = self._name == own

        def renamed(_: object) -> None:
            if shown:
                self.show_collection(text)
            announce(self, f"Renamed to {text}")

        self.desk.start(self.desk.commands.change_collection(own, rename=text), renamed)

    def delete(self, own: str) -> None:
        """Takes a collection away; it is deleted only when Undo is no longer offered."""
        if not own:
            return
        shelf = self._shelf
        shown = self._name == own

        def undo() -> None:
            shelf.bring_back(own)
            if shown:
                self.show_collection(own)

        shelf.hide(own)
        self.desk.toast(f"Deleted the collection {in_title(own)}; its documents are untouched", action="Undo",
                        run=undo, expired=lambda: shelf.give_up(own))

    def ask_export(self, own: str) -> None:
        """Asks for a file and writes the collection; its suffix says how."""
        view = self._shelf.collection(own)
        if view is None or not view.items:
            return
        plain = "".join(ch if ch.isalnum() or ch in " -_" else "_" for ch in own).strip() or "collection"
        file = ask_target(self, "Save the collection", f"{plain}.csv", EXPORTS)
        if file is not None:
            self.export_to(own, file)

    def export_to(self, own: str, file: Path) -> None:
        """Writes path, page, passage and note of each item."""
        view = self._shelf.collection(own)
        number = words.counted(len(view.items) if view is not None else 0, "passage")
        self.desk.start(self.desk.commands.export_collection(own, file), lambda _: self.desk.toast(
            f"Saved {number} to {display_path(file.name)}"))

    def _on_note(self, text: str) -> None:
        if self._name:
            self.desk.start(self.desk.commands.change_collection(self._name, note=text))

    def menu_entries(self, own: str) -> list[tuple[str, str, Callable[[], None]]]:
        """Gives (icon, words, what it does) of a collection's menu."""
        return [("search", "Search in it", lambda: self.search_in_it(own)),
                *((icon, text, partial(self.take_to, page, own)) for page, icon, text in self._onward()
                  if self._has_documents(own)),
                ("export", "Export...", lambda: self.ask_export(own)),
                ("pencil", "Rename...", lambda: self.ask_rename(own)),
                ("trash", "Delete", lambda: self.delete(own))]

    def _on_more(self) -> None:
        made = menu(self, "collection_more", "Collection")
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for icon, text, run in self.menu_entries(self._name):
            made.addAction(icons.icon(icon, 16), no_mnemonic(text), run)
        made.popup(self.more.mapToGlobal(QPoint(0, self.more.height())))

    # ---- what can be done with its items

    def _chosen(self) -> list[CollectionItem]:
        return [_item(row) for row in self.table.chosen_rows()]

    def _open(self) -> None:
        item = self.detail.item()
        if item is not None:
            # a page of what lies in a container is no page of the container
            self.desk.start(self.desk.commands.open_file(item.path, None if item.member else item.page))

    def _reveal(self) -> None:
        item = self.detail.item()
        if item is not None:
            self.desk.start(self.desk.commands.reveal(item.path))

    def _copy(self) -> None:
        from PySide6.QtWidgets import QApplication

        chosen = self._chosen()
        if chosen:
            QApplication.clipboard().setText("\n\n".join(
                f"{item.text}\n{place_words(item)}{f', page {item.page}' if item.page else ''}" for item in chosen))
            self.desk.toast(f"Copied {words.counted(len(chosen), 'passage')} with their places")

    def _take_out(self) -> None:
        ids = {item.id for item in self._chosen()}
        if ids:
            own, shelf = self._name, self._shelf
            shelf.hide_items(own, ids)
            self.desk.toast(f"Took {words.counted(len(ids), 'passage')} out of {in_title(own)}", action="Undo",
                            run=lambda: shelf.bring_back(own, ids), expired=lambda: shelf.give_up(own, ids))

    def _go_to_note(self) -> None:
        self.desk.inspector.set_open(True)
        self.detail.note.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_item_note(self, item: int, text: str) -> None:
        self.desk.start(self.desk.commands.change_collection(self._owner_of(item), item_note=(item, text)))

    def _owner_of(self, item: int) -> str:
        # a note is kept when its item is left, maybe for another collection
        return next((view.name for view in self._shelf.collections if any(i.id == item for i in view.items)),
                    self._name)

    def _on_menu(self, position: QPoint) -> None:
        made = menu(self, "collection_items_menu", "Passage")
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for icon, text, key, run in (("open", "Open", "Enter", self._open),
                                     ("reveal", "Show in folder", "Ctrl+Return", self._reveal),
                                     ("copy", "Copy with its place", "Ctrl+C", self._copy),
                                     *((icon, text, "", partial(self._take, page, self._chosen(), OF_CHOSEN))
                                       for page, icon, text in self._onward()),
                                     ("note", "Write a note", "N", self._go_to_note),
                                     ("trash", "Take out", "Delete", self._take_out)):
            made.addAction(icons.icon(icon, 16), f"{text}\t{key}" if key else text, run)
        made.popup(position)

    # ---- layout

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_head()

    def _fit_head(self) -> None:
        self.head.give_way(self.second_row, (self.search_in, self.export, self.more))

    def _fit(self) -> None:
        self.note.setFixedHeight(2 * theme.line("body") + 20)
