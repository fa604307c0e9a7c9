"""What can be done with documents of a cluster: opening, showing, handing them to other pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from sbert_desktop.app.atlas_views import DocumentRow
from sbert_desktop.app.views import DocumentView, HitView
from sbert_desktop.domain import ScoreKind
from sbert_desktop.ui.caption import edit_caption
from sbert_desktop.ui.clusters.words import title_of
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.search.files import Files
from sbert_desktop.ui.search.inspector import PreviewInspector
from sbert_desktop.ui.widgets import announce

MANY: Final = 10  # files that are opened at once without asking


def document_of(row: DocumentRow) -> DocumentView:
    """Gives a row as what can be opened and shown; its one hit is its first passage."""
    hit = HitView(row.passage, row.content, row.path, "", 0, 0, None, "", row.fit, ScoreKind.COSINE, None, None, None,
                  None, None, (), member=row.member)
    return DocumentView(row.content, row.path, (row.path,), row.title or row.path.name, row.format, row.date or 0.0, 0,
                        row.language, row.fit, (hit,), 0, member=row.member)


def ask_many(parent: QWidget, number: int) -> bool:
    """Asks whether so many files are to be opened at once: there is no undo."""
    box = QMessageBox(QMessageBox.Icon.Question, "Open all", "", parent=parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(f"Open {number:,} files at once?")
    yes = box.addButton(f"Open {number:,} files", QMessageBox.ButtonRole.AcceptRole)
    no = box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(no)
    box.setEscapeButton(no)
    box.exec()
    chosen = box.clickedButton()
    box.deleteLater()
    return chosen is yes


class DocumentDeeds(QObject):
    """Opens, shows and hands on; the preview lies in the window's inspector while a document is shown in it."""

    def __init__(self, desk: Desk, page: QWidget, key: str) -> None:
        super().__init__(page)
        self._desk, self._page, self._key = desk, page, key
        self._files = Files(desk.commands, desk.bridge, self)
        self._files.said.connect(desk.toast)
        self._preview: PreviewInspector | None = None
        self._shown = False
        self.may_open_many: Callable[[QWidget, int], bool] = ask_many

    # ---- files

    def open(self, row: DocumentRow) -> None:
        """Opens a file; of what lies in a container, the container."""
        self._files.open(document_of(row), None)

    def open_all(self, rows: Sequence[DocumentRow]) -> None:
        """Opens several; above ten it is asked first."""
        if len(rows) > MANY and not self.may_open_many(self._page, len(rows)):
            return
        for row in rows:
            self.open(row)
        if len(rows) > 1:
            self._desk.toast(f"Opening {len(rows):,} files")

    def reveal(self, row: DocumentRow) -> None:
        """Shows a file in its folder."""
        self._files.reveal(document_of(row))

    def open_with(self, rows: Sequence[DocumentRow], spot: QPoint) -> None:
        """Offers programs."""
        self._files.open_with([document_of(row) for row in rows], self._page, spot)

    def copy_paths(self, rows: Sequence[DocumentRow]) -> None:
        """Puts paths on the clipboard."""
        QApplication.clipboard().setText("\n".join(str(row.path) for row in rows))
        self._desk.toast("Copied the path" if len(rows) == 1 else f"Copied {len(rows):,} paths")

    # ---- other pages

    def search_like(self, row: DocumentRow) -> None:
        """Goes to Search and looks for documents like one."""
        window = self._page.window()
        show, page = getattr(window, "show_page", None), getattr(window, "page", None)
        if show is not None and page is not None:
            show("search")
            page("search").search_by(row.path)

    def search_in(self, contents: Sequence[int], label: str) -> None:
        """Searches only these."""
        self._desk.go_with("search", contents, label)

    def show_on_map(self, contents: Sequence[int], label: str) -> None:
        """Goes to the map with these chosen."""
        self._desk.go_with("map", contents, label)

    def find_duplicates(self, contents: Sequence[int], label: str) -> None:
        """Looks for duplicates only among these."""
        self._desk.go_with("duplicates", contents, label)

    def collect(self, contents: Sequence[int], label: str) -> None:
        """Asks into which collection they go."""
        self._desk.collect_documents(contents, label)

    # ---- the preview

    def preview(self, row: DocumentRow) -> None:
        """Shows a document beside the page."""
        if self._preview is None:
            self._preview = self._make_preview()
        inspector = self._desk.inspector
        if not self._shown:
            self._shown = True
            inspector.set_content(self._key, self._preview)
        inspector.set_open(True)
        toggle = getattr(self._page.window(), "toggle_inspector", None)
        if toggle is not None and not inspector.isVisibleTo(self._page.window()):
            toggle()  # a narrow window keeps it folded until it is asked for
        self._preview.show_hit(document_of(row), document_of(row).hits[0], None)
        self._preview.why.hide()  # nothing was searched for
        announce(self._page, f"Preview of {title_of(row)}")

    def follow(self, row: DocumentRow | None) -> None:
        """Shows another document in the preview while that is open."""
        if self._shown and row is not None and self._preview is not None and self._preview.isVisible():
            self._preview.show_hit(document_of(row), document_of(row).hits[0], None)
            self._preview.why.hide()

    def previewing(self) -> bool:
        """True while a document lies in the panel beside the page."""
        return self._shown

    def close_preview(self) -> None:
        """Takes the preview away."""
        if self._shown:
            self._shown = False
            self._desk.inspector.set_content(self._key, None)

    def _make_preview(self) -> PreviewInspector:
        made = PreviewInspector(self._desk.commands, self._desk.bridge)
        made.setObjectName("clusters_preview_panel")
        made.set_judging(False)
        made.openWanted.connect(self._files.open)
        made.revealWanted.connect(self._files.reveal)
        made.closeWanted.connect(self.close_preview)
        made.openWithWanted.connect(
            lambda document: self._files.open_with([document], self._page, made.menu_spot()))
        made.captionWanted.connect(
            lambda document: edit_caption(self._page.window(), self._desk, document.path, document.member))
        made.similarWanted.connect(self._search_like_shown)
        made.statusMessage.connect(self._desk.toast)
        return made

    def _search_like_shown(self, document: DocumentView) -> None:
        window = self._page.window()
        show, page = getattr(window, "show_page", None), getattr(window, "page", None)
        if show is not None and page is not None:
            show("search")
            page("search").search_by(document.path)
