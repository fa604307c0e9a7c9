"""The chooser of M: into which collection do these passages go? A name that is new makes one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QListWidget, QListWidgetItem, QWidget

from sbert_desktop.app.views import CollectionView, HitView
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.naming import file_words
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, ElidedLabel, Label, announce, name, plain_tip

LONGEST = 80
NameRole = Qt.ItemDataRole.UserRole + 1


class _Line(QLineEdit):
    """The arrows move the choice below while the focus stays here."""

    moved = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        if step is not None:
            self.moved.emit(step)
            return
        super().keyPressEvent(event)


class CollectSheet(Sheet):
    """A line to type in, the collections that fit, and an entry that makes a new one."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window, width=440)
        name(self, "collect_sheet", "Add to a collection")
        self._views: tuple[CollectionView, ...] = ()
        self._done: Callable[[str], object] = lambda _: None
        self.title = Label("", role="page_title", wrap=True, object_name="collect_title")
        self.what = ElidedLabel(tone="muted", object_name="collect_what")
        self.edit = _Line()
        name(self.edit, "collect_edit", "Collection", "Arrow keys choose, Enter adds, Escape closes")
        self.edit.setPlaceholderText("Find a collection, or name a new one")
        self.edit.setMaxLength(LONGEST)
        theme.set_role(self.edit, "body")
        self.list = QListWidget()
        name(self.list, "collect_list", "Collections")
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        theme.set_role(self.list, "body")
        for widget in (self.title, self.what, self.edit, self.list):
            self.column.addWidget(widget)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.cancel = Button("Cancel", object_name="collect_cancel")
        self.add = Button("Add", kind="primary", object_name="collect_add")
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.add)
        self.column.addSpacing(4)
        self.column.addLayout(foot)
        self.edit.textChanged.connect(lambda _: self._fill())
        self.edit.returnPressed.connect(self._on_add)
        self.edit.moved.connect(self._on_moved)
        self.list.clicked.connect(self._on_clicked)
        self.list.currentRowChanged.connect(lambda _: self._fit_button())
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.add.clicked.connect(self._on_add)

    def ask(self, hits: Sequence[HitView], views: Sequence[CollectionView], done: Callable[[str], object]) -> None:
        """Asks where the hits go; ``done`` takes the name."""
        files = words.listed(list(dict.fromkeys(file_words(h.path, h.member) for h in hits))[:20])
        self.ask_for(words.counted(len(hits), "passage"), files, views, done)

    def ask_for(self, number: str, what: str, views: Sequence[CollectionView], done: Callable[[str], object]) -> None:
        """Asks where so many things go (``number``, e.g. "3 documents"); ``what`` says which."""
        self._views, self._done = tuple(views), done
        self.title.setText(f"Add {number} to a collection")
        self.what.set_full_text(what)
        self.edit.clear()
        self._fill()
        self.open()
        self.place()

    def first_focus(self) -> QWidget:
        return self.edit

    def chosen(self) -> str:
        """Gives the name that Enter would take; "" for none."""
        item = self.list.currentItem()
        return str(item.data(NameRole)) if item is not None else ""

    def _fill(self) -> None:
        typed = " ".join(self.edit.text().split())
        wanted = typed.casefold()
        fits = [view for view in self._views if wanted in view.name.casefold()]
        fits.sort(key=lambda view: (not view.name.casefold().startswith(wanted), view.name.casefold()))
        self.list.clear()
        for view in fits:
            self._add_row(view.name, f"{view.name}  ({words.count(len(view.items))})", "collection")
        if typed and all(view.name.casefold() != wanted for view in self._views):
            self._add_row(typed, f"New collection “{typed}”", "plus")
        self.list.setVisible(self.list.count() > 0)
        self.list.setCurrentRow(0 if self.list.count() else -1)
        height = theme.height(32, padding=12)
        self.list.setFixedHeight(min(6, self.list.count()) * height + 8)
        self._fit_button()
        if self.isVisible():
            self.place()
        announce(self.list, words.counted(len(fits), "collection"))

    def _add_row(self, key: str, text: str, icon: str) -> None:
        item = QListWidgetItem(icons.icon(icon, 16), text)
        item.setData(NameRole, key)
        item.setToolTip(plain_tip(text))
        item.setSizeHint(item.sizeHint().expandedTo(icons.size_of(theme.height(32, padding=12))))
        self.list.addItem(item)

    def _fit_button(self) -> None:
        self.add.setEnabled(bool(self.chosen()))

    def _on_moved(self, step: int) -> None:
        if self.list.count():
            self.list.setCurrentRow((self.list.currentRow() + step) % self.list.count())

    def _on_clicked(self, index: QModelIndex) -> None:
        self.list.setCurrentRow(index.row())
        self._on_add()

    def _on_add(self) -> None:
        chosen = self.chosen()
        if chosen:
            self.close_sheet(True)
            self._done(chosen)
