"""All rules of the assistant in their order, protected folders, where to tick, and whether they are turned round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QListWidget, QListWidgetItem, QScrollArea, QVBoxLayout, QWidget

from sbert_desktop.cleanup import Assistant, Rule, RuleKind
from sbert_desktop.domain import short_path
from sbert_desktop.ui import icons
from sbert_desktop.ui.duplicates.words import rule_words
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.overlay import Sheet
from sbert_desktop.ui.page import Desk
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import (
    Button,
    CheckBox,
    IconButton,
    Label,
    announce,
    menu,
    name,
    no_mnemonic,
    plain_tip,
)

WITH_FOLDER = (RuleKind.IN_FOLDER, RuleKind.NOT_IN_FOLDER)


def edit_rules(window: QWidget, desk: Desk, assistant: Assistant, done: Callable[[Assistant], object]) -> RulesSheet:
    """Opens the sheet; ``done`` takes the rules that the person wants."""
    sheet = window.findChild(RulesSheet, "duplicates_rules_sheet")
    if sheet is None:
        sheet = RulesSheet(window, desk)
    sheet.edit(assistant, done)
    return sheet


class ShortList(QListWidget):
    """A list as high as its rows, up to six. Delete takes the row out; Ctrl with the arrows moves it."""

    removeWanted = Signal()
    moveWanted = Signal(int)

    def __init__(self, object_name: str, accessible: str, hint: str = "Delete takes a row out",
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        name(self, object_name, accessible, hint)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setStyleSheet("QListWidget { background: transparent; }")  # it lies on a card
        theme.set_role(self, "body")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Delete:
            self.removeWanted.emit()
        elif control and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.moveWanted.emit(1 if event.key() == Qt.Key.Key_Down else -1)
        else:
            super().keyPressEvent(event)

    def fill(self, texts: Sequence[str], icon: str, chosen: int) -> None:
        """Shows rows."""
        self.clear()
        height = theme.height(28, padding=8)
        for text in texts:
            item = QListWidgetItem(icons.icon(icon, 16), text)
            item.setToolTip(plain_tip(text))
            item.setSizeHint(icons.size_of(height))
            self.addItem(item)
        self.setVisible(bool(texts))
        self.setFixedHeight(min(6, max(1, len(texts))) * height + 2)
        if texts:
            self.setCurrentRow(max(0, min(chosen, len(texts) - 1)))


class FolderPart(QWidget):
    """A caption, folders, and the buttons to add one and take one out. ``changed()``."""

    changed = Signal()

    def __init__(self, object_name: str, title: str, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.folders: tuple[Path, ...] = ()
        self._title = title
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(Label(title, role="section"))
        row.addStretch(1)
        self.add = Button("Add folder...", size="small", icon="plus", object_name=f"{object_name}_add",
                          accessible=f"{title}: add a folder")
        self.remove = IconButton("minus", f"{title}: take the folder out", object_name=f"{object_name}_remove", size=24,
                                 icon_size=16)
        row.addWidget(self.add)
        row.addWidget(self.remove)
        column.addLayout(row)
        column.addWidget(Label(sentence, role="meta", tone="muted", wrap=True))
        self.list = ShortList(object_name, title)
        column.addWidget(self.list)
        self.add.clicked.connect(self._on_add)
        self.remove.clicked.connect(self._on_remove)
        self.list.removeWanted.connect(self._on_remove)

    def show_folders(self, folders: Sequence[Path], chosen: int = 0) -> None:
        """Shows folders."""
        self.folders = tuple(folders)
        self.list.fill([quick_path(short_path(folder)) for folder in folders], "folder", chosen)
        self.remove.setEnabled(bool(folders))

    def _on_add(self) -> None:
        found = QFileDialog.getExistingDirectory(self, self._title)
        if found:
            self.put(Path(found))

    def put(self, folder: Path) -> None:
        """Adds a folder."""
        if folder not in self.folders:
            self.show_folders((*self.folders, folder), len(self.folders))
            self.changed.emit()

    def _on_remove(self) -> None:
        at = self.list.currentRow()
        if 0 <= at < len(self.folders):
            self.show_folders(self.folders[:at] + self.folders[at + 1 :], at)
            self.changed.emit()


class RulesSheet(Sheet):
    """Nothing is in force before "Use these rules"."""

    def __init__(self, window: QWidget, desk: Desk) -> None:
        super().__init__(window, width=560)
        name(self, "duplicates_rules_sheet", "Rules of the clean-up")
        self._desk = desk
        self._rules: tuple[Rule, ...] = ()
        self._given = Assistant()
        self._done: Callable[[Assistant], object] = lambda _: None
        self.column.addWidget(Label("Which file stays", role="page_title", object_name="duplicates_rules_title"))
        self.column.addWidget(Label(
            "The first rule that tells two files apart decides. Files where numbers differ, related ones, signed ones, "
            "and those with sentences that the kept file lacks are never ticked by a rule.", tone="muted", wrap=True))
        inner = QWidget()
        box = QVBoxLayout(inner)
        box.setContentsMargins(0, 0, 8, 0)
        box.setSpacing(12)
        box.addWidget(self._build_order())
        self.invert = CheckBox("Turn the rules round: what they would keep goes", object_name="duplicates_invert")
        box.addWidget(self.invert)
        self.protected = FolderPart("duplicates_protected", "Protected folders",
                                    "Nothing in them can ever be ticked, by no rule and by no hand.")
        self.only_in = FolderPart("duplicates_only_in", "Tick only in",
                                  "The rules tick nothing elsewhere. No folder: everywhere.")
        box.addWidget(self.protected)
        box.addWidget(self.only_in)
        box.addStretch(1)
        self.area = QScrollArea()
        self.area.setObjectName("duplicates_rules_area")
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(inner)
        self.area.viewport().setAutoFillBackground(False)
        inner.setAutoFillBackground(False)
        self._inner = inner
        self.column.addWidget(self.area, 1)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        self.plain = Button("Back to the plain rules", kind="link", object_name="duplicates_rules_plain",
                            tip="No copy by name, then the newest, then the shortest path; only identical files")
        self.cancel = Button("Cancel", object_name="duplicates_rules_cancel")
        self.use = Button("Use these rules", kind="primary", object_name="duplicates_rules_use")
        foot.addWidget(self.plain)
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.use)
        self.column.addLayout(foot)
        self.invert.toggled.connect(self._on_turned)
        self._on_turned(False)
        self.plain.clicked.connect(lambda: self._show(Assistant()))
        self.cancel.clicked.connect(lambda: self.close_sheet(False))
        self.use.clicked.connect(self._on_use)
        for part in (self.protected, self.only_in):
            part.changed.connect(self._fit)

    def _build_order(self) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(4)
        self.order_title = Label("", role="section", object_name="duplicates_rules_order_title")
        row.addWidget(self.order_title)
        row.addStretch(1)
        self.add = Button("Add rule", size="small", icon="plus", object_name="duplicates_rule_add")
        self.up = IconButton("up", "Move the rule up", object_name="duplicates_rule_up", shortcut="Ctrl+Up", size=24,
                             icon_size=16)
        self.down = IconButton("down", "Move the rule down", object_name="duplicates_rule_down", shortcut="Ctrl+Down",
                               size=24, icon_size=16)
        self.remove = IconButton("minus", "Take the rule out", object_name="duplicates_rule_remove", shortcut="Delete",
                                 size=24, icon_size=16)
        for widget in (self.add, self.up, self.down, self.remove):
            row.addWidget(widget)
        column.addLayout(row)
        self.order = ShortList("duplicates_rule_list", "Rules in their order",
                               "Ctrl with the arrows moves a rule, Delete takes it out")
        column.addWidget(self.order)
        self.add.clicked.connect(self._on_add)
        self.up.clicked.connect(lambda: self._move(-1))
        self.down.clicked.connect(lambda: self._move(1))
        self.remove.clicked.connect(self._on_remove)
        self.order.removeWanted.connect(self._on_remove)
        self.order.moveWanted.connect(self._move)
        self.order.currentRowChanged.connect(lambda _: self._fit_buttons())
        return part

    def edit(self, assistant: Assistant, done: Callable[[Assistant], object]) -> None:
        """Shows rules; ``done`` takes what becomes of them."""
        self._given, self._done = assistant, done
        self._show(assistant)
        self.open()
        self._fit()

    def first_focus(self) -> QWidget:
        return self.order if self._rules else self.add

    def assistant(self) -> Assistant:
        """Gives the rules as they stand in the sheet."""
        return replace(self._given, rules=self._rules, invert=self.invert.isChecked(),
                       protected=self.protected.folders, only_in=self.only_in.folders)

    def _show(self, assistant: Assistant) -> None:
        self._given = replace(self._given, kinds=assistant.kinds)
        self.invert.setChecked(assistant.invert)
        self.protected.show_folders(assistant.protected)
        self.only_in.show_folders(assistant.only_in)
        self._show_rules(assistant.rules, 0)

    def _show_rules(self, rules: Sequence[Rule], chosen: int) -> None:
        self._rules = tuple(rules)
        self.order.fill([f"{at}.  {rule_words(rule)}" for at, rule in enumerate(rules, start=1)], "chevron_right",
                        chosen)
        self._fit_buttons()
        self._fit()

    def _on_turned(self, turned: bool) -> None:
        text = "These go first, in this order" if turned else "These stay, in this order"
        self.order_title.setText(text)
        if self.isVisible():
            announce(self.order_title, text)

    def _fit_buttons(self) -> None:
        at = self.order.currentRow()
        self.up.setEnabled(at > 0)
        self.down.setEnabled(0 <= at < len(self._rules) - 1)
        self.remove.setEnabled(len(self._rules) > 1)  # without any rule the plain ones would be in force
        self.remove.set_tip("Take the rule out" if len(self._rules) > 1 else "One rule must stay", "Delete")

    def _move(self, by: int) -> None:
        at = self.order.currentRow()
        to = at + by
        if 0 <= at < len(self._rules) and 0 <= to < len(self._rules):
            rules = list(self._rules)
            rules.insert(to, rules.pop(at))
            self._show_rules(rules, to)
            announce(self.order, f"Now number {to + 1}")

    def _on_remove(self) -> None:
        at = self.order.currentRow()
        if len(self._rules) > 1 and 0 <= at < len(self._rules):
            self._show_rules(self._rules[:at] + self._rules[at + 1 :], at)

    def _on_add(self) -> None:
        made = menu(self, "duplicates_rule_menu", "Add a rule")
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        there = {rule.kind for rule in self._rules}
        for kind in RuleKind:
            if kind in WITH_FOLDER:
                text = "One in a folder..." if kind is RuleKind.IN_FOLDER else "One that is not in a folder..."
                made.addAction(text, partial(self._ask_folder, kind))
            elif kind not in there:
                made.addAction(no_mnemonic(rule_words(Rule(kind))), partial(self.put, Rule(kind)))
        made.popup(self.add.mapToGlobal(self.add.rect().bottomLeft()))

    def _ask_folder(self, kind: RuleKind) -> None:
        found = QFileDialog.getExistingDirectory(self, "Folder of the rule")
        if found:
            self.put(Rule(kind, Path(found)))

    def put(self, rule: Rule) -> None:
        """Adds a rule at the end."""
        if rule not in self._rules:
            self._show_rules((*self._rules, rule), len(self._rules))

    def _on_use(self) -> None:
        wanted = self.assistant()
        self.close_sheet(True)
        self._done(wanted)

    def _fit(self) -> None:
        # as high as what it holds, as far as the window has room for it
        window = self.parentWidget()
        room = max(160, (window.height() if window is not None else 640) - 260)
        layout = self._inner.layout()
        assert layout is not None
        layout.activate()
        wide = max(240, self.area.viewport().width())
        self.area.setFixedHeight(min(room, max(120, layout.heightForWidth(wide)) + 4))
        if self.isVisible():
            self.place()
