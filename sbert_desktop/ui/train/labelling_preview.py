"""A passage that is judged, where it stands in its document: beside the pair, in the panel that all pages share."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

from sbert_desktop.app.training_views import TextSide
from sbert_desktop.app.views import DocumentView, HitView
from sbert_desktop.domain import ScoreKind
from sbert_desktop.ui.naming import kind_of
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.search.files import Files
from sbert_desktop.ui.search.inspector import PreviewInspector
from sbert_desktop.ui.search.page_view import PageView
from sbert_desktop.ui.search.text_view import TextView
from sbert_desktop.ui.train.words import side_title


class JudgingPreview(QObject):
    """Shows where a passage stands. ``changed()``: it came or went, whoever opened or closed the panel.

    ``left()``: the focus is to go to the pair: it was nowhere, or in what went.
    """

    changed = Signal()
    left = Signal()

    def __init__(self, desk: Desk, key: str, host: QWidget) -> None:
        super().__init__(host)
        self._desk, self._key, self._host = desk, key, host
        self._files = Files(desk.commands, desk.bridge, self)
        self._files.said.connect(desk.toast)
        self.inspector: PreviewInspector | None = None
        self._side: TextSide | None = None

    def is_open(self) -> bool:
        """True while a passage is shown beside the pair."""
        return self._side is not None and self.inspector is not None and not self.inspector.isHidden() and \
            not self._desk.inspector.isHidden()

    def shown(self) -> TextSide | None:
        """Gives the passage shown, None for none."""
        return self._side if self.is_open() else None

    def show(self, side: TextSide) -> None:
        """Shows the place of a passage, which is marked; the panel opens for it, and the focus stays where it is."""
        document = _document_of(side)
        if document is None:
            return
        inspector = self._made()
        self._side = side
        self._desk.inspector.set_content(self._key, inspector)
        if not self._desk.inspector.isVisible():
            # asked for by the person: also where the window is so narrow that the panel opens only when wanted
            self._desk.inspector.set_open(False)
            self._desk.inspector.set_open(True)
        before = QApplication.focusWidget()
        inspector.show_document(document, marked=True)
        self.changed.emit()
        if before is not None:
            before.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.left.emit()

    def close(self) -> None:
        """Takes the panel away; the pair has the room again."""
        if self._side is None:
            return
        focus = QApplication.focusWidget()
        had_focus = focus is not None and self.inspector is not None and self.inspector.isAncestorOf(focus)
        self._side = None
        self._desk.inspector.set_content(self._key, None)
        self.changed.emit()
        if had_focus:
            self.left.emit()

    def press(self, key: Qt.Key) -> None:
        """Scrolls or turns pages as if the preview had been given the key."""
        view = self.inspector.stack.currentWidget() if self.inspector is not None else None
        if isinstance(view, PageView | TextView):  # not sent: as an event it would come back as the shortcut it was
            view.keyPressEvent(QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notices that the panel was folded away, or came back."""
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.changed.emit()
        return super().eventFilter(watched, event)

    def _made(self) -> PreviewInspector:
        if self.inspector is None:
            made = PreviewInspector(self._desk.commands, self._desk.bridge)
            # the Search page has one as well: a script must be able to tell one's controls from the other's
            for widget in (made, *made.findChildren(QWidget)):
                if widget.objectName() and not widget.objectName().startswith("qt_"):
                    widget.setObjectName(f"train_{widget.objectName()}")
            made.set_judging(False)  # of what was searched for: here the two large keys judge
            made.hide_button.set_tip("Hide preview", "P")
            made.similar_button.hide()
            for deed in ("similar", "caption"):  # they lead away from the pair
                made.head.actions_of_menu[deed].setVisible(False)
            made.openWanted.connect(self._files.open)
            made.revealWanted.connect(self._files.reveal)
            made.openWithWanted.connect(
                lambda document: self._files.open_with([document], self._host, made.menu_spot()))
            made.statusMessage.connect(lambda text: self._desk.toast(text))
            made.closeWanted.connect(self.close)
            for panel in (made, self._desk.inspector):
                panel.installEventFilter(self)
            self.inspector = made
        return self.inspector


def _document_of(side: TextSide) -> DocumentView | None:
    """Gives a passage as what can be shown and opened; None for a question."""
    if side.path is None:
        return None
    hit = HitView(0, side.content, side.path, side.text, side.start, side.end, side.page, "", 0.0, ScoreKind.FUSED,
                  None, None, None, None, None, (), member=side.member)
    kind = kind_of(side.path, side.member)
    return DocumentView(side.content, side.path, (side.path,), side_title(side), kind, 0.0, 0, "", 1.0, (hit,), 0,
                        "current", side.member)
