"""The preview of a document of the map, in the inspector that all pages share; and opening its file."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QApplication, QWidget

from sbert_desktop.app.atlas_views import DocumentRow
from sbert_desktop.app.views import DocumentView
from sbert_desktop.domain import short_path
from sbert_desktop.ui.caption import edit_caption
from sbert_desktop.ui.map.rows import document_of, title_words
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.search.files import Files
from sbert_desktop.ui.search.inspector import PreviewInspector

AT_ONCE = 20


class MapPreview(QObject):
    """Shows, opens and reveals documents. ``similarWanted(DocumentView)``, ``closed()``."""

    similarWanted = Signal(object)
    closed = Signal()

    def __init__(self, desk: Desk, key: str, host: QWidget) -> None:
        super().__init__(host)
        self._desk, self._key, self._host = desk, key, host
        self.files = Files(desk.commands, desk.bridge, self)
        self.files.said.connect(desk.toast)
        self.inspector: PreviewInspector | None = None
        self.shown: DocumentRow | None = None

    def is_open(self) -> bool:
        """True while a document is shown beside the map."""
        return self.shown is not None and self.inspector is not None and self.inspector.isVisible()

    def show(self, row: DocumentRow, *, focus: bool = False) -> None:
        """Shows a document in the inspector, which opens for it."""
        inspector = self._made()
        self.shown = row
        self._desk.inspector.set_content(self._key, inspector)
        if not self._desk.inspector.isVisible():
            # asked for by the person: also where the window is so narrow that the panel opens only when wanted
            self._desk.inspector.set_open(False)
            self._desk.inspector.set_open(True)
        before = QApplication.focusWidget()
        inspector.show_document(document_of(row))
        if not focus and before is not None and self._host.isAncestorOf(before):
            before.setFocus(Qt.FocusReason.OtherFocusReason)

    def close(self) -> None:
        """Takes the panel away; the map has the room again."""
        if self.shown is not None:
            self.shown = None
            self._desk.inspector.set_content(self._key, None)
            self.closed.emit()

    def _made(self) -> PreviewInspector:
        if self.inspector is None:
            made = PreviewInspector(self._desk.commands, self._desk.bridge)
            # the Search page has one as well: a script must be able to tell one's controls from the other's
            for widget in (made, *made.findChildren(QWidget)):
                if widget.objectName() and not widget.objectName().startswith("qt_"):
                    widget.setObjectName(f"map_{widget.objectName()}")
            made.set_judging(False)
            made.openWanted.connect(self.files.open)
            made.revealWanted.connect(self.files.reveal)
            made.openWithWanted.connect(
                lambda document: self.files.open_with([document], self._host, made.menu_spot()))
            made.similarWanted.connect(self.similarWanted)
            made.captionWanted.connect(self._caption)
            made.statusMessage.connect(lambda text: self._desk.toast(text))
            made.closeWanted.connect(self.close)
            self.inspector = made
        return self.inspector

    def _caption(self, document: DocumentView) -> None:
        edit_caption(self._host.window(), self._desk, document.path, document.member)

    # ---- files

    def open(self, rows: Sequence[DocumentRow]) -> None:
        """Opens files, a handful at most."""
        for row in rows[:AT_ONCE]:
            self.files.open(document_of(row), None)

    def reveal(self, row: DocumentRow) -> None:
        """Shows a file in its folder."""
        self.files.reveal(document_of(row))

    def open_with(self, rows: Sequence[DocumentRow], spot: QPoint) -> None:
        """Offers programs."""
        self.files.open_with([document_of(row) for row in rows[:AT_ONCE]], self._host, spot)

    def copy_paths(self, rows: Sequence[DocumentRow]) -> None:
        """Puts paths on the clipboard, one a line."""
        if rows:
            QApplication.clipboard().setText("\n".join(str(row.path) for row in rows))
            self._desk.toast(f"Copied {short_path(rows[0].path)}" if len(rows) == 1 else f"Copied {len(rows)} paths")

    def title(self) -> str:
        """Gives what the document shown is called; "" for none."""
        return title_words(self.shown) if self.shown is not None else ""
