"""The head of a cluster: its colour and name, edited in place, and what can be done with it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from sbert_desktop.app.atlas_views import ThemeView
from sbert_desktop.ui.clusters.words import label_of
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    FlowLayout,
    IconButton,
    KeyboardFocus,
    Label,
    Panel,
    announce,
    name,
    paint_focus,
    plain_tip,
)

LONGEST: Final = 120


class Dot(QWidget):
    """A disc in the colour of a cluster; 12 px as in a head, 10 in rows."""

    def __init__(self, size: int = 12, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size, self._colour = size, -1
        self.setFixedSize(size, size)

    def set_colour(self, colour: int) -> None:
        """Changes the colour by its place in the palette."""
        self._colour = colour
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.group_color(self._colour))
        painter.drawEllipse(self.rect())


class TitleText(KeyboardFocus, QWidget):
    """The name as text; F2, Enter or a double click edits it. ``editWanted``."""

    editWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.may_edit = True
        theme.set_role(self, "page_title")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        name(self, "clusters_theme_title", "Cluster")

    def text(self) -> str:
        """Gives the name."""
        return self._text

    def set_text(self, text: str) -> None:
        """Shows a name."""
        self._text = text
        self.setAccessibleName(text)
        self.setAccessibleDescription("F2 renames it" if self.may_edit else "")
        self.setToolTip(plain_tip(text))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self._text) + 10, metrics.height() + 8)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.may_edit and event.key() in (Qt.Key.Key_F2, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.editWanted.emit()
        else:
            super().keyPressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.may_edit:
            self.editWanted.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(theme.color("text"))
        room = self.rect().adjusted(4, 0, -4, 0)
        shown = painter.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)
        if self.shows_focus():
            wide = min(self.width(), painter.fontMetrics().horizontalAdvance(shown) + 10)
            paint_focus(painter, QRect(0, 0, wide, self.height()))


class _NameEdit(QLineEdit):
    """Escape leaves the name as it was."""

    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return
        super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keeps Escape from the page."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) \
                and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)


class ThemeHead(Panel):
    """Dot, name, the four deeds of the picture, pin and more; below them the sentence of facts.

    ``renamed(str)``, ``mergeWanted(QPoint)``, ``splitWanted``, ``exportWanted``, ``pinWanted``, ``moreWanted(QPoint)``.
    """

    renamed = Signal(str)
    mergeWanted = Signal(object)
    splitWanted = Signal()
    exportWanted = Signal()
    pinWanted = Signal()
    moreWanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("surface", lines="bottom", parent=parent)
        name(self, "clusters_theme_head", "Cluster")
        self._label = ""
        self._may_edit = True
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 0, 16, 12)
        column.setSpacing(0)
        self._row = QWidget()
        row = QHBoxLayout(self._row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        self.dot = Dot(12)
        self.names = QStackedWidget()
        self.names.setObjectName("clusters_theme_names")
        self.names.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.title = TitleText()
        self.edit = _NameEdit()
        name(self.edit, "clusters_theme_name", "Name of the cluster",
             "Enter keeps it, Escape leaves it as it was; empty gives its own name back")
        self.edit.setMaxLength(LONGEST)
        theme.set_role(self.edit, "strong")
        self.names.addWidget(self.title)
        self.names.addWidget(self.edit)
        row.addWidget(self.dot)
        row.addWidget(self.names, 1)
        self._buttons = QWidget()
        self._flow = FlowLayout(self._buttons, gap=8)
        self._flow.setContentsMargins(0, 0, 0, 10)
        self.rename = Button("Rename", icon="pencil", object_name="clusters_rename", tip="Rename this cluster (F2)")
        self.merge = Button("Merge...", icon="merge", object_name="clusters_merge",
                            tip="Merge this cluster with another one (M)")
        self.split = Button("Split", icon="split", object_name="clusters_split",
                            tip="Split this cluster as shown below (S)")
        self.export = Button("Export...", icon="export", object_name="clusters_export",
                             tip="Save all clusters with their documents")
        self.pin = IconButton("pin", "Pin: keep this cluster as it is", object_name="clusters_pin", shortcut="P",
                              checkable=True)
        self.menu_button = IconButton("more", "More about this cluster", object_name="clusters_theme_more")
        self._deeds = (self.rename, self.merge, self.split, self.export, self.pin, self.menu_button)
        self._wide = True
        for button in self._deeds:
            row.addWidget(button)
        row.setSpacing(8)
        column.addWidget(self._row)
        column.addWidget(self._buttons)
        self._buttons.hide()
        self.facts = Label("", tone="muted", wrap=True, object_name="clusters_facts")
        column.addWidget(self.facts)
        self._connect()
        self._fit()

    def _connect(self) -> None:
        def below(button: QWidget) -> object:
            return button.mapToGlobal(button.rect().bottomLeft())

        self.title.editWanted.connect(self.start_rename)
        self.rename.clicked.connect(self.start_rename)
        self.merge.clicked.connect(lambda: self.mergeWanted.emit(below(self.merge)))
        self.split.clicked.connect(self.splitWanted)
        self.export.clicked.connect(self.exportWanted)
        self.pin.clicked.connect(self._on_pin)
        self.menu_button.clicked.connect(lambda: self.moreWanted.emit(below(self.menu_button)))
        self.edit.returnPressed.connect(self._keep)
        self.edit.editingFinished.connect(self._keep)
        self.edit.left.connect(self._leave)
        theme.themeChanged.connect(self._fit)

    def show_theme(self, shown: ThemeView, facts: str, *, may_edit: bool, why_not: str = "") -> None:
        """Shows a cluster; ``why_not`` says why it cannot be changed."""
        self._may_edit = may_edit
        self.title.may_edit = may_edit
        self._label = label_of(shown)
        if self.names.currentWidget() is not self.edit:
            self.title.set_text(self._label)
        self.dot.set_colour(shown.colour)
        self.facts.setText(facts)
        self.pin.setChecked(shown.pinned)
        self.pin.set_tip("Unpin: let it change when clusters are found anew" if shown.pinned
                         else "Pin: keep this cluster as it is", "P")
        for button in (self.rename, self.merge, self.split, self.pin):
            button.setVisible(may_edit or bool(why_not))
            button.setEnabled(may_edit)
            if why_not:
                button.setToolTip(plain_tip(why_not))
                button.setAccessibleDescription(why_not)
        self.split.setEnabled(may_edit and shown.size > 1)
        self.export.setVisible(may_edit or bool(why_not))  # what is not kept is not written either
        self._share()

    def start_rename(self) -> None:
        """Edits the name in place."""
        if not self._may_edit:
            return
        self.edit.setText(self._label)
        self.edit.selectAll()
        self.names.setCurrentWidget(self.edit)
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)
        announce(self.edit, "Editing the name")

    def _keep(self) -> None:
        if self.names.currentWidget() is self.edit:
            text = " ".join(self.edit.text().split())
            self._leave()
            if text != self._label:
                self.title.set_text(text or self._label)
                self.renamed.emit(text)

    def _leave(self) -> None:
        had = self.edit.hasFocus()
        self.names.setCurrentWidget(self.title)
        self.title.set_text(self._label)
        if had:
            self.title.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_pin(self, checked: bool) -> None:
        self.pin.setChecked(not checked)  # the answer says what it is
        self.pinWanted.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        # the buttons stand beside the name, or, where that leaves it no room, below it
        shown = [button for button in self._deeds if not button.isHidden()]
        needed = sum(button.sizeHint().width() + 8 for button in shown) + 32 + 16
        room = min(self.title.sizeHint().width(), theme.metrics("page_title").averageCharWidth() * 24)
        wide = self.width() >= needed + room
        if wide != self._wide:
            self._wide = wide
            own = self._row.layout()
            assert own is not None
            for button in self._deeds:
                hidden = button.isHidden()
                (self._flow if wide else own).removeWidget(button)
                (own if wide else self._flow).addWidget(button)
                button.setHidden(hidden)
            self._buttons.setVisible(not wide)

    def _fit(self) -> None:
        self._row.setFixedHeight(theme.height(56, role="page_title", padding=24))
        self._share()
