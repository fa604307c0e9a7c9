"""The vectors that a library holds, one model's each: go back to them at once, or give their room back."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import SpaceView
from sbert_desktop.ui import words
from sbert_desktop.ui.models.words import is_whole, space_state
from sbert_desktop.ui.widgets import Button, ElidedLabel, Label, Line, ProgressBar, Tag, name, plain_tip

KEPT: str = "Kept ones let you switch back at once."


class SpaceRow(QWidget):
    """One space: name, size, tag; below it what can be done with it."""

    useAsked = Signal(str)
    removeAsked = Signal(str)

    def __init__(self, number: int, space: SpaceView, *, may_use: bool, may_remove: bool,
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        own = f"space_{number}"
        name(self, own, f"{space.name}, {words.size(space.bytes)}, {space_state(space)[0]}")
        self.space = space
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(4)
        line = QHBoxLayout()
        line.setSpacing(8)
        self.label = ElidedLabel(space.name, object_name=f"{own}_name")
        self.label.setToolTip(plain_tip(f"{space.name}: {words.counted(space.passages, 'passage')}, "
                                        f"fingerprint {space.fingerprint[:12]}"))
        self.bytes = Label(words.size(space.bytes) if space.bytes else "", role="meta", tone="muted",
                          object_name=f"{own}_size")
        word, tone = space_state(space)
        self.tag = Tag(word, tone, object_name=f"{own}_state")
        line.addWidget(self.label, 1)
        line.addWidget(self.bytes)
        line.addWidget(self.tag)
        column.addLayout(line)
        self.bar: ProgressBar | None = None
        building = space.state == "building"
        if building:
            self.bar = ProgressBar(object_name=f"{own}_bar", accessible=f"Preparing {space.name}")
            self.bar.set_fraction(space.passages / space.of if space.of else None)
            column.addWidget(self.bar)
            far = f"{words.count(space.passages)} of {words.counted(space.of, 'passage')}"
            column.addWidget(Label(far, role="meta", tone="muted", object_name=f"{own}_progress"))
        self.use: Button | None = None
        self.remove: Button | None = None
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        if space.state == "kept" and may_use:
            gone, whole = not space.model, is_whole(space)
            self.use = Button("Use again" if whole else "Prepare further", size="small", object_name=f"{own}_use",
                              icon="undo" if whole else "play",
                              accessible=f"Use {space.name} again" if whole else f"Prepare {space.name} further",
                              tip="Its model was removed: add it again first" if gone else
                              "Searches answer from these vectors again, at once" if whole else
                              "It is prepared in the background and used when all of it is there")
            self.use.setEnabled(not gone)
            self.use.clicked.connect(lambda: self.useAsked.emit(space.fingerprint))
            buttons.addWidget(self.use)
        if space.state in ("kept", "building") and may_remove:
            self.remove = Button("Cancel" if building else "Remove", size="small", object_name=f"{own}_remove",
                                 accessible=f"Stop preparing {space.name}" if building else f"Remove {space.name}",
                                 tip="The model in use stays; what was prepared is given up" if building else
                                 f"Frees {words.size(space.bytes)}; the model stays")
            self.remove.clicked.connect(lambda: self.removeAsked.emit(space.fingerprint))
            buttons.addWidget(self.remove)
        if buttons.count():
            buttons.addStretch(1)
            column.addLayout(buttons)
        column.addSpacing(4)
        column.addWidget(Line())


class SpacesList(QWidget):
    """All spaces of the library; hidden while there are none."""

    useAsked = Signal(str)  # fingerprint
    removeAsked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "model_spaces", "Vectors in this library")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(Label("Vectors in this library", role="section", object_name="model_spaces_title"))
        self._rows_box = QVBoxLayout()
        self._rows_box.setSpacing(0)
        self._column.addLayout(self._rows_box)
        self.kept = Label(KEPT, role="meta", tone="muted", wrap=True, object_name="model_spaces_kept")
        self._column.addSpacing(8)
        self._column.addWidget(self.kept)
        self.rows: list[SpaceRow] = []
        self._shown: tuple[SpaceView, ...] = ()
        self.hide()

    def set_spaces(self, spaces: Sequence[SpaceView], *, may_use: bool, may_remove: bool) -> None:
        """Shows spaces; the focus stays on the button that had it."""
        if tuple(spaces) == self._shown:
            return
        before = next((widget.objectName() for row in self.rows for widget in (row.use, row.remove)
                       if widget is not None and widget.hasFocus()), "")
        self._shown = tuple(spaces)
        for row in self.rows:
            self._rows_box.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = []
        for at, space in enumerate(spaces):
            row = SpaceRow(at, space, may_use=may_use, may_remove=may_remove)
            row.useAsked.connect(self.useAsked)
            row.removeAsked.connect(self.removeAsked)
            self._rows_box.addWidget(row)
            self.rows.append(row)
            for widget in (row.use, row.remove):
                if before and widget is not None and widget.objectName() == before:
                    widget.setFocus()
        self.kept.setVisible(any(space.state == "kept" for space in spaces))
        self.setVisible(bool(spaces))
