"""The inspector of the Models page: the facts of one model, the vectors of this library, what can be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QGridLayout, QHBoxLayout, QMenu, QScrollArea, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import SpaceView
from sbert_desktop.app.views import LibraryView
from sbert_desktop.domain import short_path
from sbert_desktop.ui import words
from sbert_desktop.ui.models.spaces import SpacesList
from sbert_desktop.ui.models.table import ModelRow
from sbert_desktop.ui.models.words import (
    SECOND,
    all_languages,
    is_whole,
    kind_tip,
    languages,
    licence,
    origin,
    pooling,
    prompts,
    purpose,
    tokens,
)
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    Card,
    ElidedLabel,
    FlowLayout,
    IconButton,
    Label,
    Line,
    Panel,
    menu,
    name,
    no_mnemonic,
    plain_tip,
)

FACTS: Final = (
    ("dimension", "Dimension"), ("tokens", "Max tokens"), ("pooling", "Pooling"), ("prompts", "Prompts"),
    ("languages", "Languages"), ("device", "Runs on"), ("speed", "Speed"), ("size", "Size"), ("licence", "Licence"),
    ("files", "Files"),
)  # fmt: skip
_OF_VECTORS: Final = ("dimension", "pooling", "prompts")  # a second look makes no vectors


@dataclass(frozen=True, slots=True)
class Shown:
    """What the inspector shows: a row, the state around it, and how the last check of its files went."""

    row: ModelRow
    library: LibraryView | None = None
    spaces: tuple[SpaceView, ...] = ()
    verified: str = ""
    checking: bool = False
    can_tune: bool = False


class ModelDetail(Panel):
    """The facts of one model; at the foot first what its state asks for, then Tune and Remove as far as they apply."""

    firstAsked = Signal(str)  # verify, use, again or cancel
    tuneAsked = Signal()
    removeAsked = Signal()
    revealAsked = Signal()
    useSpaceAsked = Signal(str)
    removeSpaceAsked = Signal(str)

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__("surface", parent=parent)
        name(self, "model_detail", "Model")
        self._desk = desk
        self._fingerprint = ""
        self._first = ""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._make_head())
        column.addWidget(Line())
        column.addWidget(self._make_body(), 1)
        column.addWidget(self._make_foot())

    # ---- parts

    def _make_head(self) -> QWidget:
        head = QHBoxLayout()
        head.setContentsMargins(16, 0, 8, 0)
        head.setSpacing(4)
        titles = QVBoxLayout()
        titles.setSpacing(0)
        titles.setContentsMargins(0, 8, 0, 8)
        self.title = ElidedLabel(role="section", object_name="model_title")
        self.place = ElidedLabel(role="meta", tone="muted", object_name="model_path")
        titles.addWidget(self.title)
        titles.addWidget(self.place)
        head.addLayout(titles, 1)
        self.more = IconButton("more", "More about this model", object_name="model_more")
        self.more.setMenu(self._make_menu())
        self.more.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
        self.close_button = IconButton("panel", "Hide the preview", object_name="model_close", shortcut="Ctrl+I")
        self.close_button.clicked.connect(lambda: self._desk.inspector.set_open(False))
        head.addWidget(self.more, 0, Qt.AlignmentFlag.AlignVCenter)
        head.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignVCenter)
        box = QWidget()
        box.setObjectName("model_head")
        box.setLayout(head)
        box.setMinimumHeight(56)
        return box

    def _make_menu(self) -> QMenu:
        made = menu(self, "model_menu", "More about this model")
        self.reveal_action = made.addAction("Show its folder")
        self.reveal_action.setObjectName("model_menu_reveal")
        self.reveal_action.triggered.connect(self.revealAsked)
        for key, text in (("checksum", "Copy checksum"), ("fingerprint", "Copy fingerprint")):
            action = made.addAction(text)
            action.setObjectName(f"model_menu_{key}")
            action.triggered.connect(lambda _=False, key=key: self._copy(key))
        return made

    def _make_body(self) -> QWidget:
        area = QScrollArea()
        name(area, "model_facts", "Facts of the model")
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget()
        body.setObjectName("model_facts_content")
        inner = QVBoxLayout(body)
        inner.setContentsMargins(16, 16, 16, 16)
        inner.setSpacing(12)
        self.purpose = Label("", wrap=True, object_name="model_purpose")
        inner.addWidget(self.purpose)
        self.note = Card(fill="danger_soft", edge=None)
        box = QHBoxLayout(self.note)
        box.setContentsMargins(12, 8, 12, 8)
        self.note_text = Label(wrap=True, object_name="model_note")
        box.addWidget(self.note_text)
        inner.addWidget(self.note)
        inner.addLayout(self._make_grid())
        self._line = Line()
        inner.addWidget(self._line)
        self.spaces = SpacesList()
        self.spaces.useAsked.connect(self.useSpaceAsked)
        self.spaces.removeAsked.connect(self.removeSpaceAsked)
        inner.addWidget(self.spaces)
        inner.addStretch(1)
        area.setWidget(body)
        return area

    def _make_grid(self) -> QGridLayout:
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(10)
        self._grid.setColumnStretch(1, 1)
        self.values: dict[str, Label] = {}
        self._heads: dict[str, Label] = {}
        for at, (key, text) in enumerate(FACTS):
            head = Label(text, tone="muted")
            head.setMinimumWidth(92)
            value = Label(wrap=True, object_name=f"model_{key}")
            self._heads[key], self.values[key] = head, value
            self._grid.addWidget(head, at, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, at, 1)
        self.sums: dict[str, ElidedLabel] = {}
        self.copies: dict[str, IconButton] = {}
        for row, (key, text) in enumerate((("checksum", "Checksum"), ("fingerprint", "Fingerprint")), len(FACTS)):
            head = Label(text, tone="muted")
            self._heads[key] = head
            self._grid.addWidget(head, row, 0)
            line = QHBoxLayout()
            line.setSpacing(4)
            label = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, object_name=f"model_{key}")
            label.setFont(theme.mono_font())
            copy = IconButton("copy", f"Copy {key}", object_name=f"model_copy_{key}", size=24, icon_size=16)
            copy.clicked.connect(lambda _=False, key=key: self._copy(key))
            line.addWidget(label, 1)
            line.addWidget(copy)
            self._grid.addLayout(line, row, 1)
            self.sums[key], self.copies[key] = label, copy
        theme.themeChanged.connect(self._fit_sums)
        return self._grid

    def _make_foot(self) -> QWidget:
        self.foot = QWidget()
        self.foot.setObjectName("model_foot")
        column = QVBoxLayout(self.foot)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Line())
        self.hint = Label("", role="meta", tone="muted", wrap=True, object_name="model_use_hint")
        words_row = QHBoxLayout()
        words_row.setContentsMargins(16, 8, 16, 0)
        words_row.addWidget(self.hint)
        column.addLayout(words_row)
        row = QHBoxLayout()
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(8)
        self.first = Button("Verify files", icon="shield", object_name="model_first")
        self.use = Button("Use this model", kind="primary", icon="check", object_name="model_use")
        self.tune = Button("Tune...", icon="train", object_name="model_tune",
                           tip="Make a better one for your own texts")
        self.remove = IconButton("trash", "Remove this model", object_name="model_remove", shortcut="Delete", size=32)
        deeds = QWidget()
        deeds.setObjectName("model_deeds")
        flow = FlowLayout(deeds, gap=8)  # large text needs a second line
        for button in (self.use, self.first, self.tune):
            flow.addWidget(button)
        row.addWidget(deeds, 1)
        row.addWidget(self.remove, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(row)
        self.first.clicked.connect(lambda: self.firstAsked.emit(self._first))
        self.use.clicked.connect(lambda: self.firstAsked.emit("use"))
        self.tune.clicked.connect(self.tuneAsked)
        self.remove.clicked.connect(self.removeAsked)
        return self.foot

    # ---- showing

    def show_model(self, shown: Shown) -> None:
        """Shows a model's facts and what can be done with it."""
        row, model = shown.row, shown.row.model
        self._fingerprint = model.fingerprint
        bad = model.state in ("refused", "missing")
        self.title.set_full_text(model.name)
        self.place.set_full_text(origin(model, in_use=row.serves) if row.getting is None else "On its way")
        self.place.setToolTip(plain_tip(short_path(model.path)))
        self.purpose.setText(purpose(model) if row.getting is None else "It can be used as soon as all of it is here.")
        self.purpose.setToolTip(plain_tip(kind_tip(model)))
        self.note.setVisible(bool(model.note))
        self.note.set_fill("danger_soft" if bad else "hover")  # a note may say that all is well
        self.note_text.setText(model.note)
        self._show_facts(shown)
        self.sums["checksum"].set_full_text(model.sha256)
        self.sums["fingerprint"].set_full_text(model.fingerprint)
        for key, value in (("checksum", model.sha256), ("fingerprint", model.fingerprint if row.model.kind != SECOND
                                                        else "")):
            for part in (self._heads[key], self.sums[key], self.copies[key]):
                part.setVisible(bool(value))
        self.spaces.set_spaces(shown.spaces, may_use=self._desk.can("use_space"),
                               may_remove=self._desk.can("remove_space"))
        self._line.setVisible(bool(shown.spaces))
        self._show_foot(shown)

    def _show_facts(self, shown: Shown) -> None:
        row, model, library = shown.row, shown.row.model, shown.library
        known = row.getting is None and bool(model.sha256)
        texts = {
            "dimension": words.count(model.dimension), "tokens": tokens(model), "pooling": pooling(model.pooling),
            "prompts": prompts(model), "languages": languages(model),
            "speed": f"{words.count(round(row.speed))} passages/s" if row.speed else "not measured yet",
            "size": words.size(model.size) if model.size else "", "licence": licence(model), "files": shown.verified,
            "device": _device(library) if row.serves else "not in use",
        }
        for key, value in self.values.items():
            there = bool(texts[key]) and (known or key in ("size", "files")) and row.getting is None
            if key in _OF_VECTORS:
                there = there and model.kind != SECOND
            if key == "device":
                there = there and row.serves
            self._heads[key].setVisible(there)
            value.setVisible(there)
            value.setText(texts[key])
        self.values["languages"].setToolTip(plain_tip(all_languages(model)))
        bad = model.state in ("refused", "missing")
        sound = shown.verified.startswith("Verified")
        theme.set_tone(self.values["files"], "danger" if bad else "good" if sound else "text")

    def _show_foot(self, shown: Shown) -> None:
        row, model = shown.row, shown.row.model
        usable = can_use(row) and self._desk.can("use_model")
        self._first = first_deed(row)
        self.use.setVisible(usable)
        text, icon, tip = {
            "verify": ("Verifying..." if shown.checking else "Verify files", "shield",
                       "Compare every file of every model with its known checksum"),
            "again": ("Get again", "get", "Fetch its files anew, in place of these"),
            "cancel": ("Cancel", "close", "Stop getting it"),
        }[self._first]
        self.first.setText(text)
        self.first.set_icon(icon)
        self.first.setToolTip(plain_tip(tip))
        self.first.setVisible(not usable and not (self._first == "again" and not self._desk.can("add_model")))
        self.first.setEnabled(not (self._first == "verify" and shown.checking))
        self.tune.setVisible(shown.can_tune and model.state == "ready" and row.getting is None)
        needed = has_vectors(row) and not model.bundled and row.getting is None
        self.remove.setVisible((can_remove(row) or needed) and self._desk.can("remove_model"))
        self.remove.setEnabled(not needed)
        self.remove.set_tip("Remove its vectors first: without the model they are of no use" if needed else
                            "Stop using and remove this model" if row.serves else "Remove this model",
                            "" if needed else "Delete")
        hint = use_hint(shown) if usable else ""
        self.hint.setText(hint)
        self.hint.setVisible(bool(hint))

    def _fit_sums(self) -> None:
        for label in self.sums.values():
            label.setFont(theme.mono_font())

    def _copy(self, key: str) -> None:
        QApplication.clipboard().setText(self.sums[key].full_text())
        self._desk.toast(f"{key.capitalize()} copied")

    def can_reveal(self, able: bool) -> None:
        """Says whether its folder can be shown."""
        self.reveal_action.setVisible(able)
        self.reveal_action.setText(no_mnemonic("Show its folder"))


def _device(library: LibraryView | None) -> str:
    where = ", ".join(part for part in (library.device, library.precision) if part) if library is not None else ""
    return where or "being prepared"


def first_deed(row: ModelRow) -> str:
    """Gives what the first button of a model that is not to be taken into use does: verify, again or cancel."""
    if row.getting is not None:
        return "cancel"
    changed = row.model.state in ("refused", "missing") and not row.model.bundled
    return "again" if changed else "verify"


def can_use(row: ModelRow) -> bool:
    """True for a model that is sound, not in use and not being prepared for use."""
    building = row.space is not None and row.space.state == "building"
    return row.model.state == "ready" and not row.serves and not building and row.getting is None


def can_remove(row: ModelRow) -> bool:
    """True for one that was added and that search can do without: a second look ends with its model."""
    model = row.model
    return row.getting is None and not model.bundled and not has_vectors(row) and \
        (not (row.serves or model.active) or model.kind == SECOND)


def has_vectors(row: ModelRow) -> bool:
    """True for a model whose vectors the library keeps or prepares beside those in use: they need it."""
    return not row.serves and row.space is not None and row.space.state in ("kept", "building")


def use_hint(shown: Shown) -> str:
    """Gives what using a model leads to: at once with kept vectors, else the library is prepared anew beside it."""
    model = shown.row.model
    if model.kind == SECOND:
        return "It puts the first hits of each search in order, from the next search on."
    kept = next((space for space in shown.spaces if space.fingerprint == model.fingerprint and
                 space.state == "kept"), None)
    if kept is not None and is_whole(kept):
        return "Its vectors are kept in this library: it is in use at once."
    library = shown.library
    if library is None or not library.passages:
        return ""
    serving = next((space for space in shown.spaces if space.state == "in use"), None)
    other = serving.name if serving is not None else library.model.name
    long = f", about {words.duration(library.passages / shown.row.speed)}" if shown.row.speed else ""
    size = f"{words.count(model.dimension)} in place of {words.count(library.model.dimension)} numbers a passage. " \
        if model.dimension != library.model.dimension else ""
    return f"{size}Your library is prepared anew for it in the background{long}; until then {other} answers."
