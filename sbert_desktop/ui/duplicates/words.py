"""How the Duplicates page calls kinds, groups and fates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sbert_desktop.app.duplicate_views import GroupView, MemberView
from sbert_desktop.cleanup import Copy, DuplicateKind, Rule, RuleKind
from sbert_desktop.domain import short_path
from sbert_desktop.ui import words
from sbert_desktop.ui.naming import file_words, quick_path

KIND: Final = {
    DuplicateKind.BYTES: "Identical",
    DuplicateKind.TEXT: "Same text",
    DuplicateKind.FORMAT: "Same text, other format",
    DuplicateKind.NEAR: "Near",
    DuplicateKind.CONTAINED: "Contained",
    DuplicateKind.NUMBERS: "Numbers differ",
    DuplicateKind.RELATED: "Related",
}
KIND_LONG: Final = {
    DuplicateKind.BYTES: "Identical files",
    DuplicateKind.TEXT: "Same text, other bytes",
    DuplicateKind.FORMAT: "Same text in another format",
    DuplicateKind.NEAR: "Near duplicates",
    DuplicateKind.CONTAINED: "One is contained in the other",
    DuplicateKind.NUMBERS: "Only numbers or dates differ",
    DuplicateKind.RELATED: "Related: the same in other words",
}
NUMBERS_DIFFER: Final = "Numbers differ"
RULES: Final = {
    RuleKind.NEWEST: "newest",
    RuleKind.OLDEST: "oldest",
    RuleKind.LARGEST: "largest",
    RuleKind.SMALLEST: "smallest",
    RuleKind.LAST_VERSION: "latest version",
    RuleKind.BEST_FORMAT: "most editable",
    RuleKind.SHORTEST_PATH: "least nested",
}
"""What the first box of the assistant's sentence offers: "Keep the ... file"."""


def rule_words(rule: Rule) -> str:
    """Gives a rule as a line of the list of rules."""
    folder = short_path(rule.folder) if rule.folder is not None else ""
    return {
        RuleKind.NEWEST: "The newest",
        RuleKind.OLDEST: "The oldest",
        RuleKind.LARGEST: "The largest",
        RuleKind.SMALLEST: "The smallest",
        RuleKind.IN_FOLDER: f"One in {folder}",
        RuleKind.NOT_IN_FOLDER: f"One that is not in {folder}",
        RuleKind.SHORTEST_PATH: "The one with the shortest path",
        RuleKind.NO_COPY_NAME: "One without “copy”, “(1)” or “old” in its name",
        RuleKind.BEST_FORMAT: "The one that can be edited best (odt before pdf)",
        RuleKind.LAST_VERSION: "The latest version by name (v3 before v2)",
    }[rule.kind]


def kind_words(group: GroupView) -> str:
    """Gives a group's kind in the list."""
    return "Identical folders" if group.folders else KIND[group.kind]


def kind_long(group: GroupView) -> str:
    """Gives a group's kind over its members."""
    return "Identical folders" if group.folders else KIND_LONG[group.kind]


def counted_members(group: GroupView) -> str:
    """Gives ``3 files`` or ``2 folders``."""
    return words.counted(len(group.members), "folder" if group.folders else "file")


def similarity(value: float) -> str:
    """Gives a similarity with two digits, never rounded up to what it is not."""
    shown = f"{value:.2f}"
    return "0.99" if shown == "1.00" and value < 1.0 else shown


def member_name(member: MemberView) -> str:
    """Gives a row's name: a file's, or what lies in a container."""
    return file_words(member.copy.path, member.copy.member)


def folder_words(copy: Copy) -> str:
    """Gives where a file lies."""
    return quick_path(short_path(copy.path.parent))


def fate(member: MemberView, ticked: bool) -> tuple[str, str, str]:
    """Gives what becomes of a row: words, tone of its tag ("" for plain words), icon."""
    if ticked:
        return "To trash", "neutral", ""
    if member.keep:
        return (f"Keep, {member.reason}" if member.reason else "Keep"), "good", "check"
    return "Stays", "", ""


def remark(member: MemberView) -> str:
    """Gives what a person must know before ticking a row; "" for nothing."""
    parts = [one for one in (member.why_not, member.warning) if one]
    if member.state == "offline":
        parts.append("its folder is not connected")
    elif member.state == "changed":
        parts.append("changed since it was read")
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def moved_words(files: int, folders: bool = False) -> str:
    """Gives ``37 files``."""
    return words.counted(files, "file")


def listed(parts: Sequence[str]) -> str:
    """Gives parts with the sign between them that the window uses."""
    return " · ".join(part for part in parts if part)
