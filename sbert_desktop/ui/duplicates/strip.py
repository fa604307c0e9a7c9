"""The selection assistant as a sentence: "Keep the newest file, from Documents first; tick the rest in ... groups"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from sbert_desktop.cleanup import Assistant, DuplicateKind, Rule, RuleKind
from sbert_desktop.domain import short_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.duplicates.column import FittingBox
from sbert_desktop.ui.duplicates.words import RULES
from sbert_desktop.ui.naming import quick_path
from sbert_desktop.ui.theme import theme
from sbert_desktop.ui.widgets import Button, ElidedLabel, FlowLayout, Label, Panel, Tag, name, set_tip

TICKED: Final = (
    ("identical", (DuplicateKind.BYTES,)),
    ("identical, same text", (DuplicateKind.BYTES, DuplicateKind.TEXT, DuplicateKind.FORMAT)),
    ("identical, same text, near", (DuplicateKind.BYTES, DuplicateKind.TEXT, DuplicateKind.FORMAT, DuplicateKind.NEAR,
                                    DuplicateKind.CONTAINED)),
)
"""In which groups the rules tick; each choice holds the one before it."""
OTHER: Final = "as set in the rules"


def main_rule(assistant: Assistant) -> RuleKind | None:
    """Gives the rule that the first box of the sentence shows: the first one that the box offers."""
    return next((rule.kind for rule in assistant.rules if rule.kind in RULES), None)


def first_folder(assistant: Assistant) -> Path | None:
    """Gives the folder whose copies stay before all others; None when no rule says so first."""
    head = assistant.rules[0] if assistant.rules else None
    return head.folder if head is not None and head.kind is RuleKind.IN_FOLDER else None


def with_main(assistant: Assistant, kind: RuleKind) -> Assistant:
    """Puts another rule in the place of the one that the sentence shows."""
    before = main_rule(assistant)
    rules = [rule for rule in assistant.rules if rule.kind is not kind or rule.kind is before]
    at = next((n for n, rule in enumerate(rules) if rule.kind is before), len(rules))
    rules[at : at + 1] = [Rule(kind)]
    return replace(assistant, rules=tuple(rules))


def with_folder(assistant: Assistant, folder: Path | None) -> Assistant:
    """Lets copies in a folder stay before all others, or no longer."""
    rules = assistant.rules[1:] if first_folder(assistant) is not None else assistant.rules
    head = () if folder is None else (Rule(RuleKind.IN_FOLDER, folder),)
    return replace(assistant, rules=(*head, *(rule for rule in rules if rule not in head)))


def spoken(assistant: Assistant) -> str:
    """Gives the sentence as a screen reader says it."""
    folder = first_folder(assistant)
    kind = main_rule(assistant)
    kinds = next((text for text, kinds in TICKED if set(kinds) == set(assistant.kinds)), OTHER)
    place = f", from {short_path(folder)} first" if folder is not None else ""
    turned = "With the rules turned round, keep" if assistant.invert else "Keep"
    return f"{turned} the {RULES[kind] if kind is not None else 'first'} file{place}; tick the rest in {kinds} groups."


class AssistantStrip(Panel):
    """The sentence, what the rules leave alone, and the way to all rules. ``changed(Assistant)``."""

    changed = Signal(object)
    rulesWanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("rail", lines="top", parent=parent)
        name(self, "duplicates_assistant", "Selection assistant")
        self._assistant = Assistant()
        self._folders: tuple[Path, ...] = ()
        self._words: list[Label] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(6)
        self.sentence = QWidget()
        self.sentence.setObjectName("duplicates_sentence")
        flow = FlowLayout(self.sentence, gap=6, row_gap=6)
        self.inverted = Tag("Turned round", "warn", icon="refresh", object_name="duplicates_inverted")
        self.main = FittingBox(object_name="duplicates_keep", accessible="Keep the file that is")
        for kind, text in RULES.items():
            self.main.addItem(text, kind)
        self.folder = FittingBox(object_name="duplicates_keep_folder", accessible="Keep files first from")
        self.kinds = FittingBox(object_name="duplicates_tick_kinds", accessible="Tick the rest in groups that are")
        for text, kinds in TICKED:
            self.kinds.addItem(text, kinds)
        self._from = self._word("file, from")
        self._first = self._word("first; tick the rest in")
        for widget in (self.inverted, self._word("Keep the"), self.main, self._from, self.folder, self._first,
                       self.kinds, self._word("groups.")):
            flow.addWidget(widget)
        column.addWidget(self.sentence)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.icon = Label("", object_name="duplicates_left_icon")
        self.left = Label("", role="meta", tone="muted", wrap=True, object_name="duplicates_left_alone")
        self.left_short = ElidedLabel(role="meta", tone="muted", object_name="duplicates_left_alone_short")
        self.left_short.hide()
        self.more = Button("More rules...", kind="link", size="small", object_name="duplicates_rules",
                           tip="The order of all rules, protected folders, where to tick")
        row.addWidget(self.icon, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.left, 1)
        row.addWidget(self.left_short, 1)
        row.addWidget(self.more)
        column.addLayout(row)
        self.main.activated.connect(lambda at: self._change(with_main(self._assistant, self.main.itemData(at))))
        self.folder.activated.connect(self._on_folder)
        self.kinds.activated.connect(self._on_kinds)
        self.more.clicked.connect(self.rulesWanted)
        theme.themeChanged.connect(self._fit)
        self._fit()
        self.show_rules(self._assistant)

    def _word(self, text: str) -> Label:
        label = Label(text)
        self._words.append(label)
        return label

    def set_folders(self, folders: Sequence[Path]) -> None:
        """Takes the folders of the library, to be chosen from."""
        if tuple(folders) != self._folders:
            self._folders = tuple(folders)
            self.show_rules(self._assistant)

    def show_rules(self, assistant: Assistant) -> None:
        """Shows rules that are in force."""
        self._assistant = assistant
        kind = main_rule(assistant)
        self.main.setCurrentIndex(self.main.findData(kind) if kind is not None else -1)
        self._fill_folders(first_folder(assistant))
        at = next((n for n, (_, kinds) in enumerate(TICKED) if set(kinds) == set(assistant.kinds)), -1)
        while self.kinds.count() > len(TICKED):
            self.kinds.removeItem(len(TICKED))
        if at < 0:
            self.kinds.addItem(OTHER, assistant.kinds)
            at = len(TICKED)
        self.kinds.setCurrentIndex(at)
        self.inverted.setVisible(assistant.invert)
        shown = sum((kind is not None, first_folder(assistant) is not None))
        extra = len(assistant.rules) - shown + len(assistant.protected) + len(assistant.only_in)
        self.more.setText(f"More rules ({extra})..." if extra > 0 else "More rules...")
        set_tip(self.more, "The order of all rules, protected folders, where to tick")
        self.setAccessibleName(f"Selection assistant. {spoken(assistant)}")

    def set_low(self, low: bool) -> None:
        """Gives what is left alone one line only, where the window is low."""
        self.left.setVisible(not low)
        self.left_short.setVisible(low)

    def show_left(self, text: str, by_hand: int = 0, groups: int = 1) -> None:
        """Says what no rule ticks, and how many groups a hand changed."""
        hand = f"Changed by hand: {words.counted(by_hand, 'group')}." if by_hand else ""
        whole = " ".join(part for part in (text, hand) if part)
        whole = whole or ("No group is left alone." if groups else "")
        self.left.setText(whole)
        self.left_short.set_full_text(whole)
        self._warns = bool(text)
        self.icon.setVisible(bool(whole))
        self._draw_icon()

    def _draw_icon(self) -> None:
        self.icon.setPixmap(icons.pixmap("warning" if self._warns else "check", 16, "warn" if self._warns else "good"))

    def _fill_folders(self, chosen: Path | None) -> None:
        box = self.folder
        box.clear()
        box.addItem("any folder", None)
        for folder in dict.fromkeys((*self._folders, *([chosen] if chosen is not None else []))):
            box.addItem(quick_path(folder.name or str(folder)), folder)
            box.setItemData(box.count() - 1, short_path(folder), Qt.ItemDataRole.ToolTipRole)
        box.addItem("Choose a folder...", "choose")
        box.setCurrentIndex(max(0, box.findData(chosen)) if chosen is not None else 0)
        box.setToolTip("")
        if chosen is not None:
            set_tip(box, short_path(chosen))
        self._first.setText("first; tick the rest in" if chosen is not None else "and tick the rest in")

    def _on_folder(self, at: int) -> None:
        chosen = self.folder.itemData(at)
        if chosen == "choose":
            self.folder.setCurrentIndex(max(0, self.folder.findData(first_folder(self._assistant))))
            found = QFileDialog.getExistingDirectory(self, "Keep files from this folder first")
            if not found:
                return
            chosen = Path(found)
        self._change(with_folder(self._assistant, chosen))

    def _on_kinds(self, at: int) -> None:
        self._change(replace(self._assistant, kinds=tuple(self.kinds.itemData(at))))

    def _change(self, assistant: Assistant) -> None:
        if assistant != self._assistant:
            self.show_rules(assistant)
            self.changed.emit(assistant)

    def _fit(self) -> None:
        height = theme.height(28, role="meta", padding=8)
        for label in self._words:
            label.setFixedHeight(height)
        if hasattr(self, "_warns"):
            self._draw_icon()
