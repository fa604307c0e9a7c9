"""A folder of the library as a card."""

from __future__ import annotations

import re

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from sbert_desktop.app.views import FolderView, IndexProgress
from sbert_desktop.domain import display_path, short_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.library.welcome import IconMark
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    ElidedLabel,
    IconButton,
    KeyboardFocus,
    Label,
    ProgressBar,
    Tag,
    menu,
    name,
    paint_box,
    paint_focus,
    plain_tip,
)

_EVERY = re.compile(r": it is checked every (\d+) minutes?\.?$")


def state_words(view: FolderView, now: float | None = None, *, minutes: int = 10) -> tuple[str, str, str]:
    """Gives icon, tone and words of a folder's state; ``minutes`` lie between two looks at a network drive."""
    if view.state == "offline":
        documents = f"{words.counted(view.documents, 'document')} {'stays' if view.documents == 1 else 'stay'}"
        return "disk", "warn", f"Drive not connected; {documents} findable by their stored text"
    if view.state == "indexing":
        return "refresh", "muted", "Indexing now"
    if view.state == "paused":
        return "pause", "muted", "Paused"
    if view.state == "waiting":
        return "clock", "muted", "Waiting, next in line"
    if view.words_only:
        return "check", "good", f"{watch_words(view, minutes)}, findable by words only"
    if view.embedded < view.documents:
        return "clock", "muted", f"{words.count(view.documents - view.embedded)} findable by words only"
    if view.watch == "periodic":
        return "clock", "muted", watch_words(view, minutes)
    changed = f", last change {words.ago(view.last_change, now)}" if view.last_change else ""
    return "check", "good", f"{watch_words(view, minutes)}{changed}"


def watch_words(view: FolderView, minutes: int = 10) -> str:
    """Gives how a folder is followed: at once, every so often and why, or when the person asks."""
    if view.watch == "live":
        return "Kept up to date"
    if view.watch == "periodic":
        # the note is a sentence, "<why>: it is checked every 15 minutes."; here the other way round, and shorter
        said = _EVERY.search(view.watch_note)
        why = view.watch_note[: said.start()] if said else view.watch_note.strip().rstrip(".")
        why = why.removeprefix("The folder is on a ")
        often = f"Checked every {words.counted(int(said[1]) if said else minutes, 'minute')}"
        return f"{often}: {why[:1].lower()}{why[1:]}" if why else often
    return "Up to date"


def card_icon(view: FolderView) -> str:
    """Gives the icon that suits a folder's name."""
    own = view.path.name.casefold()
    return {"mail": "mail", "mails": "mail", "notes": "note"}.get(own, "folder")


class FolderCard(KeyboardFocus, QFrame):
    """One folder: name, path, documents, state, problems, and a menu. Focusable; Enter shows it."""

    problemsAsked = Signal(object)  # Path
    ignoredAsked = Signal(object)
    rulesAsked = Signal(object)  # FolderView
    locateAsked = Signal(object)
    searchAsked = Signal(object)
    revealAsked = Signal(object)
    checkAsked = Signal(object)
    removeAsked = Signal(object)

    def __init__(self, view: FolderView, number: int, *, minutes: int = 10, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = view
        self._minutes = minutes
        self._number = number
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 8, 10)
        column.setSpacing(2)
        head = QHBoxLayout()
        head.setSpacing(8)
        self._mark = IconMark(card_icon(view))
        self._title = ElidedLabel(role="strong", object_name=f"folder_{number}_title")
        self.problems = Button("", kind="warn", size="small", icon="warning", object_name=f"folder_{number}_problems")
        self._tag = Tag("", "danger", icon="warning", object_name=f"folder_{number}_tag")
        self.more = IconButton("more", "Folder menu", object_name=f"folder_{number}_menu")
        head.addWidget(self._mark)
        head.addWidget(self._title, 1)
        head.addWidget(self._tag)
        head.addWidget(self.problems)
        head.addWidget(self.more)
        column.addLayout(head)
        self._path = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, role="meta", tone="muted",
                                 object_name=f"folder_{number}_path")
        column.addWidget(self._path)
        column.addStretch(1)
        self._away = Label(wrap=True, role="meta", tone="warn", object_name=f"folder_{number}_away")
        self._away.setContentsMargins(0, 0, 8, 0)
        column.addWidget(self._away)
        self._counts = QWidget()
        counts = QHBoxLayout(self._counts)
        counts.setContentsMargins(0, 0, 8, 0)
        counts.setSpacing(4)
        self._number_label = Label(role="strong", object_name=f"folder_{number}_number")
        self._count = Label(object_name=f"folder_{number}_count")
        counts.addWidget(self._number_label)
        counts.addWidget(self._count)
        counts.addStretch(1)
        self.ignored = Button("", kind="flat", size="small", icon="eye_off", object_name=f"folder_{number}_ignored",
                              tip="Files that you chose not to see under Problems")
        self.locate = Button("Locate...", size="small", object_name=f"folder_{number}_locate",
                             tip="Say where this folder lies now")
        counts.addWidget(self.ignored)
        counts.addStrut(theme.height(24, role="meta", padding=6))  # so that numbers stand alike in all cards
        column.addWidget(self._counts)
        column.addSpacing(2)
        self._bar = ProgressBar(object_name=f"folder_{number}_bar", accessible="Folder progress")
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 8, 0)
        line.addWidget(self._bar)
        column.addLayout(line)
        column.addSpacing(2)
        foot = QHBoxLayout()
        foot.setSpacing(6)
        self._sign = IconMark("check", "good", 14)
        self._state = ElidedLabel(role="meta", tone="muted", object_name=f"folder_{number}_state")
        self._rules = Tag("Rules", icon="filter", object_name=f"folder_{number}_rules")
        foot.setContentsMargins(0, 0, 8, 0)
        foot.addWidget(self._sign)
        foot.addWidget(self._state, 1)
        foot.addWidget(self._rules)
        foot.addStrut(theme.height(20, role="meta", padding=4))
        foot.addWidget(self.locate)
        column.addLayout(foot)
        self.problems.clicked.connect(lambda: self.problemsAsked.emit(self._view.path))
        self.ignored.clicked.connect(lambda: self.ignoredAsked.emit(self._view.path))
        self.locate.clicked.connect(lambda: self.locateAsked.emit(self._view.path))
        self.more.clicked.connect(self._open_menu)
        self.set_view(view)

    @property
    def view(self) -> FolderView:
        """The folder shown."""
        return self._view

    def set_view(self, view: FolderView, progress: IndexProgress | None = None) -> None:
        """Shows a folder's state."""
        if (view.state == "offline") != (self._view.state == "offline"):
            self.updateGeometry()
        self._view = view
        title = display_path(view.path.name or str(view.path))
        self._title.set_full_text(title)
        self._path.set_full_text(short_path(view.path))
        unread = view.embedded < view.documents and not view.words_only
        working = view.state in ("indexing", "waiting", "paused") or unread
        if working:
            self._number_label.setText(words.count(view.embedded))
            self._count.setText(f"of {words.counted(view.documents, 'document')}")
        else:
            self._number_label.setText(words.count(view.documents))
            self._count.setText("document" if view.documents == 1 else "documents")
        self._bar.setVisible(working and view.documents > 0)
        self._bar.set_fraction(view.embedded / view.documents if view.documents else None)
        self._bar.set_paused(view.state == "paused")
        icon, tone, text = state_words(view, minutes=self._minutes)
        self._sign.set_icon(icon, tone)
        away = view.state == "offline"
        self._away.setVisible(away)
        self._away.setText(text if away else "")
        self._counts.setVisible(not away)
        changed = f"Last change {words.ago(view.last_change)}" if view.last_change else ""
        self._state.set_full_text(changed if away else text)
        self._sign.setVisible(not away)
        self._state.setToolTip(plain_tip(f"{text}. {view.watch_note}".strip() if view.watch_note else text))
        self._tag.setVisible(away)
        self._tag.set_text("Offline", "warn", "disk")
        self.locate.setVisible(away)
        self.ignored.setVisible(view.ignored > 0 and not away)
        self.ignored.setText(f"{words.count(view.ignored)} ignored")
        ruled = bool(view.rules.include or view.rules.exclude or view.rules.hidden is not None)
        self._rules.setVisible(ruled)
        self._rules.setToolTip(plain_tip("This folder has rules about what is read"))
        self.problems.setVisible(view.problems > 0 and not away)
        self.problems.setText(words.counted(view.problems, "problem"))
        spoken = f"{title}, {self._number_label.text()} {self._count.text()}, {text}"
        if view.problems:
            spoken += f", {words.counted(view.problems, 'problem')}"
        if view.ignored:
            spoken += f", {words.count(view.ignored)} ignored"
        if ruled:
            spoken += ", has rules"
        name(self, f"folder_{self._number}", spoken, "Enter searches in this folder, the menu key opens its menu")
        self.more.setAccessibleName(f"Menu of {title}")

    def sizeHint(self) -> QSize:
        lines = theme.line("body") * 2 + theme.line("meta") * 2
        extra = theme.line("meta") if self._view.state == "offline" else 0
        return QSize(280, max(120, -(-(lines + 64) // 4) * 4) + extra)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.searchAsked.emit(self._view.path)
        elif event.key() == Qt.Key.Key_Delete:
            self.removeAsked.emit(self._view.path)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self._make_menu().popup(event.globalPos())

    def _open_menu(self) -> None:
        self._make_menu().popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def _make_menu(self) -> QMenu:
        made = menu(self, f"folder_{self._number}_actions", "Folder")
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        path = self._view.path
        made.addAction(icons.icon("search", 16), "Search", lambda: self.searchAsked.emit(path))
        away = self._view.state == "offline"
        reveal = made.addAction(icons.icon("reveal", 16), "Show in file manager", lambda: self.revealAsked.emit(path))
        reveal.setEnabled(not away)
        made.addAction(icons.icon("refresh", 16), "Check now", lambda: self.checkAsked.emit(path))
        made.addAction(icons.icon("filter", 16), "Rules...", lambda: self.rulesAsked.emit(self._view))
        if away:
            made.addAction(icons.icon("folder", 16), "Locate...", lambda: self.locateAsked.emit(path))
        if self._view.problems:
            made.addAction(icons.icon("warning", 16), "Show its problems", lambda: self.problemsAsked.emit(path))
        if self._view.ignored:
            made.addAction(icons.icon("eye_off", 16), "Show what is ignored", lambda: self.ignoredAsked.emit(path))
        made.addSeparator()
        made.addAction(icons.icon("close", 16), "Remove from the library\tDel", lambda: self.removeAsked.emit(path))
        return made

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_box(painter, self.rect(), "raised", "muted" if self.underMouse() else "border")
        if self.shows_focus():
            paint_focus(painter, self.rect())
