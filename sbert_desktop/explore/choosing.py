"""Which copy of a group stays, which may go, and why: rules in their order, and what no rule may tick.

Pure functions. A group always keeps one file on disk; what lies in containers is neither kept nor ticked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sbert_desktop.cleanup import (
    NEVER_TICKED,
    Assistant,
    Copy,
    DuplicateKind,
    Relation,
    Rule,
    RuleKind,
    is_below,
    with_links,
)
from sbert_desktop.domain import short_path
from sbert_desktop.errors import UsageError

_COPY_NAME = re.compile(
    r"(?:^|[\W_])(?:copy(?: of)?|kopie(?: von)?|copie(?: de)?|copia(?: de| di)?|duplicate|backup|bak|old|alt)"
    r"(?:[\W_]*\d*)(?:$|[\W_])|\(\d{1,3}\)\s*$|~\d*$",
    re.IGNORECASE,
)
_FORMATS = (
    ("odt", "docx", "doc", "rtf", "odp", "pptx", "ods", "xlsx", "xls", "epub", "md", "tex", "org", "rst"),
    ("pdf",),
    ("html", "htm", "mhtml"),
    ("eml", "msg", "mbox"),
    ("txt", "text", "csv"),
)
"""What can be edited and keeps its structure before what was printed or exported from it."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the rules say of one copy. See :class:`sbert_desktop.app.duplicate_views.MemberView`."""

    keep: bool = False
    ticked: bool = False
    may_tick: bool = True
    why_not: str = ""
    reason: str = ""
    warning: str = ""
    relation: DuplicateKind = DuplicateKind.BYTES
    similarity: float = 1.0


def choose(
    members: Sequence[Copy],
    assistant: Assistant,
    relate: Callable[[int, int], Relation | None],
    *,
    versions: dict[int, int] | None = None,
) -> list[Choice]:
    """Says of each copy of a group whether it stays, whether it is ticked, and why.

    Args:
        members: All files and members of the group.
        assistant: The rules, and where they hold.
        relate: Gives what holds between two units, from the first one's side.
        versions: Place of a unit in its family of versions, larger is newer; None where names and dates say nothing.
    """
    barred = [_why_never(copy, assistant) for copy in members]
    live = [n for n, copy in enumerate(members) if not copy.member and not copy.linked]
    if not live:
        return [Choice(may_tick=False, why_not=why or "no copy on disk stays") for why in barred]
    order = _Order(members, assistant, versions or {})
    kept = order.best(live)
    reason = order.reason(kept, live)
    best_of_unit: dict[int, int] = {}
    for number in sorted(live, key=order.key):
        best_of_unit.setdefault(members[number].unit, number)
    choices = []
    for number, copy in enumerate(members):
        relation, similarity, missing = _between(members[kept], copy, relate)
        if number == kept:
            choices.append(
                Choice(
                    keep=True, may_tick=not barred[number], why_not=barred[number], reason=reason, warning=_mark(copy)
                )
            )
            continue
        twin = best_of_unit.get(copy.unit, number)
        goes, warning = _goes(copy, relation, missing, assistant)
        if order.is_held(number) and not copy.linked:
            goes, warning = False, warning or "has a hard link: nothing to win"
        elif not goes and twin != number and DuplicateKind.BYTES in assistant.kinds:
            goes, warning = not copy.signed, _mark(copy)  # the same bytes stay, in the other one
        ticked = goes and not barred[number] and (not assistant.only_in or is_below(copy.path, assistant.only_in))
        choices.append(
            Choice(
                ticked=ticked,
                may_tick=not barred[number],
                why_not=barred[number],
                reason=order.reason(kept, [kept, number], other=True) if ticked else "",
                warning=warning,
                relation=relation,
                similarity=similarity,
            )
        )
    return choices


def _why_never(copy: Copy, assistant: Assistant) -> str:
    if copy.member:
        return "inside a mail, mailbox or archive"
    if copy.linked:
        return "the same file by another name: removing it frees nothing"
    if is_below(copy.path, assistant.protected):
        return "in a protected folder"
    return ""


def _mark(copy: Copy) -> str:
    return "signed" if copy.signed else ""


def _between(kept: Copy, copy: Copy, relate: Callable[[int, int], Relation | None]) -> tuple[DuplicateKind, float, int]:
    """Gives kind, similarity and how many sentences the kept copy lacks."""
    if kept.unit == copy.unit:
        return DuplicateKind.BYTES, 1.0, 0
    relation = relate(kept.unit, copy.unit)
    if relation is None:  # a group that says so is wrong; nothing of it is ticked
        return DuplicateKind.RELATED, 0.0, -1
    missing = relation.missing_b if relation.a == kept.unit else relation.missing_a
    return relation.kind, relation.similarity, missing


def _goes(copy: Copy, relation: DuplicateKind, missing: int, assistant: Assistant) -> tuple[bool, str]:
    """Tells whether a rule may tick a copy, and what its row says when it may not."""
    if copy.signed:
        return False, "signed"
    if relation is DuplicateKind.NUMBERS:
        return False, "numbers differ"
    if relation in NEVER_TICKED:
        return False, ""
    if missing:
        sentences = f"{missing} sentence{'s' if missing > 1 else ''}"
        said = f"{sentences} that the kept file lacks" if missing > 0 else "not compared to its end"
        return False, said
    return relation in assistant.kinds, ""


class _Order:
    """The order of copies by the rules: the first one stays."""

    def __init__(self, members: Sequence[Copy], assistant: Assistant, versions: dict[int, int]) -> None:
        self._members = members
        self._assistant = assistant
        self._versions = versions
        self._held = with_links(members)

    def is_held(self, number: int) -> bool:
        """Says whether a file has further hard links: that it goes frees nothing."""
        copy = self._members[number]
        return (copy.device, copy.inode) in self._held

    def key(self, number: int) -> tuple[object, ...]:
        copy = self._members[number]
        parts = [self._measure(rule, copy) for rule in self._assistant.rules]
        if self._assistant.invert:
            parts = [-part for part in parts]
        protected = not is_below(copy.path, self._assistant.protected)
        return (protected, not self.is_held(number), *parts, len(copy.path.parts), str(copy.path))

    def best(self, numbers: Sequence[int]) -> int:
        return min(numbers, key=self.key)

    def reason(self, kept: int, among: Sequence[int], *, other: bool = False) -> str:
        """Says which rule decided between the kept one and its rivals: why it stays, or (``other``) why those go."""
        rivals = [number for number in among if number != kept]
        if not rivals:
            return ""
        folders = self._assistant.protected
        if is_below(self._members[kept].path, folders) and not all(
            is_below(self._members[one].path, folders) for one in rivals
        ):
            return "copy of a protected file" if other else "in a protected folder"
        if self.is_held(kept) and not all(self.is_held(one) for one in rivals):
            return "copy of a file with hard links" if other else "has a hard link"
        for rule in self._assistant.rules:
            mine = self._measure(rule, self._members[kept])
            if any(self._measure(rule, self._members[one]) != mine for one in rivals):
                return _words(rule, self._assistant.invert != other)
        return ""

    def _measure(self, rule: Rule, copy: Copy) -> float:
        """Gives what a rule sorts by: the lower, the rather it stays."""
        match rule.kind:
            case RuleKind.NEWEST:
                return -copy.mtime_ns
            case RuleKind.OLDEST:
                return copy.mtime_ns
            case RuleKind.LARGEST:
                return -copy.size
            case RuleKind.SMALLEST:
                return copy.size
            case RuleKind.IN_FOLDER:
                return 0.0 if rule.folder is not None and is_below(copy.path, (rule.folder,)) else 1.0
            case RuleKind.NOT_IN_FOLDER:
                return 1.0 if rule.folder is not None and is_below(copy.path, (rule.folder,)) else 0.0
            case RuleKind.SHORTEST_PATH:
                return len(copy.path.parts) + len(str(copy.path)) / 1e6
            case RuleKind.NO_COPY_NAME:
                return 1.0 if names_a_copy(copy.path) else 0.0
            case RuleKind.BEST_FORMAT:
                return _format_rank(copy)
            case RuleKind.LAST_VERSION:
                return -self._versions.get(copy.unit, -1)


def names_a_copy(path: Path) -> bool:
    """Tells whether a name says that the file is a copy (``a copy.txt``, ``a (1).txt``, ``a.txt~``)."""
    stem = path.stem if path.suffix[1:2].isalpha() else path.name
    return bool(_COPY_NAME.search(stem)) or path.name.endswith("~") or path.suffix.lower() in {".bak", ".old", ".orig"}


def _format_rank(copy: Copy) -> int:
    name = copy.path.suffix.lower().lstrip(".") or copy.format
    return next((rank for rank, formats in enumerate(_FORMATS) if name in formats), len(_FORMATS))


def _words(rule: Rule, turned: bool) -> str:
    """Says why a copy stays by a rule, or (``turned``) why it goes."""
    folder = short_path(rule.folder) if rule.folder is not None else ""
    stays, goes = {
        RuleKind.NEWEST: ("newest", "older"),
        RuleKind.OLDEST: ("oldest", "newer"),
        RuleKind.LARGEST: ("largest", "smaller"),
        RuleKind.SMALLEST: ("smallest", "larger"),
        RuleKind.IN_FOLDER: (f"in {folder}", f"not in {folder}"),
        RuleKind.NOT_IN_FOLDER: (f"not in {folder}", f"in {folder}"),
        RuleKind.SHORTEST_PATH: ("shortest path", "longer path"),
        RuleKind.NO_COPY_NAME: ("name says no copy", "name says copy"),
        RuleKind.BEST_FORMAT: ("best format", "lesser format"),
        RuleKind.LAST_VERSION: ("last version", "earlier version"),
    }[rule.kind]
    return goes if turned else stays


# ---------------------------------------------------------------- rules as text


def parse_rules(text: str) -> Assistant:
    """Reads rules as they are typed and kept: ``newest, in:/home/a/Docs, tick:bytes+text, protect:/home/a/Archive``.

    Words between commas, in their order: ``newest``, ``oldest``, ``largest``, ``smallest``, ``in:FOLDER``,
    ``not-in:FOLDER``, ``shortest-path``, ``no-copy-name``, ``best-format``, ``last-version``; ``tick:`` kinds joined
    by ``+`` (bytes, text, format, near, contained); ``protect:FOLDER``, ``only-in:FOLDER``; ``invert``. A comma in a
    folder's name is written twice. No rule at all: the default ones.

    Raises:
        UsageError: ``bad-rule``.
    """
    rules: list[Rule] = []
    kinds: list[DuplicateKind] = []
    protected: list[Path] = []
    only_in: list[Path] = []
    invert = False
    for word in _split(text):
        name, _, value = word.partition(":")
        name = name.strip().lower()
        value = value.strip()
        if name == "invert" and not value:
            invert = True
        elif name == "tick":
            kinds += _kinds(value)
        elif name in ("protect", "only-in") and value:
            (protected if name == "protect" else only_in).append(_folder(value))
        else:
            rules.append(_rule(name, value, word))
    plain = Assistant()
    return Assistant(
        tuple(rules) or plain.rules,
        tuple(dict.fromkeys(kinds)) or plain.kinds,
        tuple(protected),
        tuple(only_in),
        invert,
    )


def _split(text: str) -> list[str]:
    parts = text.replace(",,", "\0").split(",")
    return [part.strip().replace("\0", ",") for part in parts if part.strip()]


def _rule(name: str, value: str, word: str) -> Rule:
    kind = next((one for one in RuleKind if one.value == name), None)
    if kind is None:
        known = ", ".join(one.value for one in RuleKind)
        raise UsageError("bad-rule", f"{word!r} is no rule.", f"Rules are {known}, tick:, protect:, only-in:, invert.")
    needs = kind in (RuleKind.IN_FOLDER, RuleKind.NOT_IN_FOLDER)
    if needs != bool(value):
        raise UsageError(
            "bad-rule",
            f"The rule {name!r} {'needs' if needs else 'takes no'} folder.",
            f"For instance in:{Path.home()}.",
        )
    return Rule(kind, _folder(value) if needs else None)


def _kinds(value: str) -> list[DuplicateKind]:
    allowed = [kind for kind in DuplicateKind if kind not in NEVER_TICKED]
    found = []
    for name in filter(None, (part.strip().lower() for part in value.split("+"))):
        kind = next((one for one in allowed if one.value == name), None)
        if kind is None:
            raise UsageError(
                "bad-rule",
                f"{name!r} is no kind that a rule may tick.",
                f"Kinds are {', '.join(one.value for one in allowed)}; numbers and related are never ticked by a rule.",
            )
        found.append(kind)
    return found


def _folder(value: str) -> Path:
    try:
        return Path(os.path.abspath(Path(value).expanduser()))
    except RuntimeError as error:  # ~nobody
        raise UsageError("bad-rule", f"There is no folder {value!r}.", "Give the folder's whole path.") from error


def format_rules(assistant: Assistant) -> str:
    """Gives rules as :func:`parse_rules` reads them."""

    def quoted(path: Path | None) -> str:
        return str(path).replace(",", ",,")

    words = [f"{one.kind}:{quoted(one.folder)}" if one.folder is not None else str(one.kind) for one in assistant.rules]
    words.append("tick:" + "+".join(assistant.kinds))
    words += [f"protect:{quoted(path)}" for path in assistant.protected]
    words += [f"only-in:{quoted(path)}" for path in assistant.only_in]
    return ", ".join([*words, "invert"] if assistant.invert else words)
