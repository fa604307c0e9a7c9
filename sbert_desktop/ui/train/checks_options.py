"""How a model is trained: its name, what it is for, where it begins, and the figures behind "Advanced"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDoubleValidator
from PySide6.QtWidgets import QGridLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from sbert_desktop.app.training_views import Plan
from sbert_desktop.app.views import ModelView
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.train.words import OBJECTIVES
from sbert_desktop.ui.widgets import Button, ComboBox, Label, NumberBox, Segmented, name, plain_tip

FORMS: Final = (("encoder", "Meaning"), ("cross-encoder", "Second look"))
FORM_HINTS: Final = {
    "encoder": "Learns what is alike for you: search, duplicates, clusters and map use it.",
    "cross-encoder": "Looks again at the best hits of a search, and puts them in a better order.",
}
OWN_NAME: Final = "My model"
"""Of a model that the person does not name; the program numbers models of one name."""
FORM_TIPS: Final = "In the field's words: an encoder (bi-encoder), or a cross-encoder for the second stage."


class _Figure(QLineEdit):
    """A number in any notation, as 2e-5; empty means ``usual``."""

    def __init__(self, object_name: str, accessible: str, low: float, high: float, usual: str) -> None:
        super().__init__()
        name(self, object_name, accessible)
        self._low, self._high = low, high
        made = QDoubleValidator(low, high, 10, self)
        made.setNotation(QDoubleValidator.Notation.ScientificNotation)
        made.setLocale(self.locale().c())
        self.setValidator(made)
        self.setPlaceholderText(usual)
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        theme.set_role(self, "body")

    def value(self) -> float | None:
        """Gives the number; None for none, or for one that is out of reach."""
        try:
            found = float(self.text())
        except ValueError:
            return None
        return found if self._low <= found <= self._high else None

    def set_value(self, value: float | None) -> None:
        """Shows a number."""
        self.setText("" if value is None else f"{value:g}")


class PlanOptions(QWidget):
    """``changed`` after each choice; :meth:`apply` puts the choices into a plan."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, "train_options", "How it is trained")
        self._models: tuple[ModelView, ...] = ()
        self._wanted_base = ""
        self._quiet = False
        self._grids: list[tuple[QGridLayout, list[tuple[QWidget, QWidget, QWidget]]]] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self._build_plain(column)
        self.more = Button("Advanced", kind="link", icon="chevron_right", object_name="train_advanced")
        self.more.setCheckable(True)
        column.addSpacing(8)
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.advanced = QWidget()
        name(self.advanced, "train_advanced_fields", "Advanced")
        self._build_advanced(QVBoxLayout(self.advanced))
        self.advanced.hide()
        column.addWidget(self.advanced)
        column.addStretch(1)
        self._connect()
        self.show_plan(Plan())

    def _build_plain(self, column: QVBoxLayout) -> None:
        column.addWidget(Label("The new model", role="section", object_name="train_options_title"))
        column.addSpacing(8)
        self.name_edit = QLineEdit()
        name(self.name_edit, "train_name", "Name of the new model")
        self.name_edit.setPlaceholderText(OWN_NAME)
        self.name_edit.setMaxLength(60)
        self.form = Segmented(FORMS, object_name="train_form", accessible="What it is for")
        self.form.setToolTip(plain_tip(FORM_TIPS))
        self.form.setAccessibleDescription(FORM_TIPS)
        self.form_hint = Label("", role="meta", tone="muted", wrap=True, object_name="train_form_hint")
        self.base = ComboBox(object_name="train_base", accessible="Begins from")
        self.base.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.base.setMinimumWidth(120)
        for text, widget in (("Name", self.name_edit), ("What it is for", self.form), ("", self.form_hint),
                             ("Begins from", self.base)):
            if text:
                column.addWidget(Label(text, role="meta", tone="muted"))
            column.addWidget(widget)
            column.addSpacing(8 if widget is not self.form else 0)

    def _build_advanced(self, column: QVBoxLayout) -> None:
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(8)
        self.objective = ComboBox(object_name="train_objective", accessible="Objective")
        self.objective.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.objective.setMinimumWidth(120)
        for key, text, loss in OBJECTIVES:
            self.objective.addItem(text, key)
            self.objective.setItemData(self.objective.count() - 1, loss, Qt.ItemDataRole.ToolTipRole)
        column.addWidget(Label("Objective", role="meta", tone="muted"))
        column.addWidget(self.objective)
        self.epochs = _number("train_epochs", "Epochs", 0, 100, "usual")
        self.batch = _number("train_batch", "Batch", 0, 512, "usual")
        self.rate = _Figure("train_rate", "Learning rate", 1e-7, 1e-2, "usual")
        self.warm_up = _number("train_warm_up", "Warm-up", 0, 90, "", " %")
        self.tokens = _number("train_tokens", "Tokens read of a text", 0, 8192, "as the model does")
        self.margin = _Figure("train_margin", "Margin", 0.0, 10.0, "usual")
        self.patience = _number("train_patience", "Stops early after", 0, 50, "never")
        self.held_out = _number("train_held_out", "Kept aside", 10, 50, "", " %")
        self.negatives = _number("train_negatives", "Hard negatives", 0, 20, "none")
        self.seed = _number("train_seed", "Seed", 0, 999_999, "")
        for text, widget, tip in (
            ("Epochs", self.epochs, "How often every pair is seen"),
            ("Batch", self.batch, "Pairs that are learned from at once; halved by itself where memory is short"),
            ("Learning rate", self.rate, "How far each step goes; 2e-5 is usual, 2e-4 for a second look that begins as "
             "an encoder; 1e-3 ruins most models"),
            ("Warm-up", self.warm_up, "Share of the steps over which the learning rate rises"),
            ("Max tokens", self.tokens, "How much of a text is read while training"),
            ("Margin", self.margin, "How far apart different texts must be; its usual value stands with the objective"),
            ("Early stop", self.patience, "Looks at the part kept aside without a gain, after which it stops; the best "
             "state is kept"),
            ("Kept aside", self.held_out, "Share of the documents whose pairs are never trained on"),
            ("Hard negatives", self.negatives, "Wrong but similar passages looked up in the index for each pair"),
            ("Seed", self.seed, "Another number trains on the same pairs in another order"),
        ):
            self._add_row(column, text, widget, tip)
        self.reset = Button("Back to what is usual", kind="link", object_name="train_options_reset")
        column.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignLeft)

    def _add_row(self, column: QVBoxLayout, text: str, widget: QWidget, tip: str) -> None:
        holder = QWidget()
        grid = QGridLayout(holder)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(0, 1)
        caption = Label(text)
        widget.setToolTip(plain_tip(tip))
        widget.setAccessibleDescription(tip)
        widget.setFixedWidth(132)
        grid.addWidget(caption, 0, 0)
        grid.addWidget(widget, 0, 1)
        grid.addWidget(Label(tip, role="meta", tone="muted", wrap=True), 1, 0, 1, 2)
        column.addWidget(holder)

    def _connect(self) -> None:
        self.name_edit.textEdited.connect(lambda _: self._tell())
        self.form.changed.connect(lambda _: self._on_form())
        self.base.activated.connect(lambda _: self._on_base())
        self.objective.activated.connect(lambda _: self._tell())
        for box in self._boxes():
            box.valueChanged.connect(lambda _: self._tell())
        for figure in (self.rate, self.margin):
            figure.editingFinished.connect(self._tell)
        self.reset.clicked.connect(self._on_reset)
        self.more.toggled.connect(self._on_more)
        theme.themeChanged.connect(self._fit)

    def _boxes(self) -> Sequence[NumberBox]:
        return (self.epochs, self.batch, self.warm_up, self.tokens, self.patience, self.held_out, self.negatives,
                self.seed)

    # ---- showing

    def show_models(self, models: Sequence[ModelView]) -> None:
        """Offers models to begin from."""
        self._models = tuple(models)
        self._fill_bases()

    def show_plan(self, plan: Plan) -> None:
        """Shows the choices of a plan."""
        self._quiet = True
        self.name_edit.setText(plan.name)
        self.form.set_value(plan.kind)
        self._wanted_base = plan.base
        self.objective.setCurrentIndex(max(0, self.objective.findData(plan.objective)))
        self.epochs.setValue(plan.epochs or 0)
        self.batch.setValue(plan.batch or 0)
        self.rate.set_value(plan.learning_rate)
        self.warm_up.setValue(round(100 * plan.warm_up))
        self.tokens.setValue(plan.max_tokens or 0)
        self.margin.set_value(plan.margin)
        self.patience.setValue(plan.patience)
        self.held_out.setValue(round(100 * plan.held_out))
        self.negatives.setValue(plan.hard_negatives)
        self.seed.setValue(plan.seed)
        self._fill_bases()
        self.form_hint.setText(FORM_HINTS[plan.kind])
        self._quiet = False

    def apply(self, plan: Plan) -> Plan:
        """Puts the choices into a plan."""
        return replace(
            plan, name=" ".join(self.name_edit.text().split()) or OWN_NAME, base=self._wanted_base,
            kind=self.form.value() or "encoder", objective=str(self.objective.currentData() or "auto"),
            epochs=self.epochs.value() or None, batch=self.batch.value() or None,
            learning_rate=self.rate.value(), warm_up=self.warm_up.value() / 100,
            margin=self.margin.value(), seed=self.seed.value(), max_tokens=self.tokens.value() or None,
            held_out=self.held_out.value() / 100, patience=self.patience.value(),
            hard_negatives=self.negatives.value())

    def _fill_bases(self) -> None:
        kind = self.form.value() or "encoder"
        fit = [model for model in self._models if model.kind == kind and model.state == "ready"]
        self.base.blockSignals(True)
        self.base.clear()
        active = next((model.name for model in fit if model.active), "")
        words = f"{active} (in use)" if active else "The one in use"
        self.base.addItem(words if kind == "encoder" else "A small one, from the one in use", "")
        for model in fit:
            if model.name != active:
                self.base.addItem(model.name, model.name)
        at = self.base.findData(self._wanted_base)
        self.base.setCurrentIndex(max(0, at))
        self.base.blockSignals(False)
        if at < 0 and self._models:
            self._wanted_base = ""

    # ---- choosing

    def _tell(self) -> None:
        if not self._quiet:
            self.changed.emit()

    def _on_form(self) -> None:
        self._wanted_base = ""
        self._fill_bases()
        self.form_hint.setText(FORM_HINTS[self.form.value() or "encoder"])
        self._tell()

    def _on_base(self) -> None:
        self._wanted_base = str(self.base.currentData() or "")
        self._tell()

    def _on_reset(self) -> None:
        usual = Plan()
        self.show_plan(replace(usual, name=self.name_edit.text(), kind=self.form.value() or "encoder",
                               base=self._wanted_base))
        self._tell()

    def _on_more(self, shown: bool) -> None:
        self.advanced.setVisible(shown)
        self.more.set_icon("chevron" if shown else "chevron_right")

    def _fit(self) -> None:
        wide = 132 + max(0, theme.text_scale - 100) * 3 // 5
        for widget in (*self._boxes(), self.rate, self.margin):
            widget.setFixedWidth(wide)


def _number(object_name: str, accessible: str, low: int, high: int, lowest: str, suffix: str = "") -> NumberBox:
    box = NumberBox(object_name=object_name, accessible=accessible)
    box.setRange(low, high)
    box.setSuffix(suffix)
    if lowest:
        box.setSpecialValueText(lowest)
    return box


