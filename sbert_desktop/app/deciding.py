"""What the person decides about pairs of documents: the same or different, kept for good and for fine-tuning."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from sbert_desktop.app.duplicate_views import GroupView
from sbert_desktop.app.session import Session
from sbert_desktop.cleanup import Copy, Removal
from sbert_desktop.domain import ContentId
from sbert_desktop.errors import LibraryError
from sbert_desktop.library import CleanUps, JudgementRecord

KIND = "same"
SAME, DIFFERENT = "same", "different"
WHOLE = "document"
"""Stands where a judgement on a passage has its query: two whole documents were judged."""
_RESTORED, _GONE = "restored", frozenset({"moved", "moving", "lost"})
_TEXT = 4_000
"""Characters of each text that are kept: more than any encoder reads."""
_LEAST, _ALTOGETHER = 200, 2_000_000
"""Of very many pairs less is kept of each."""


def remember(
    session: Session, pairs: Iterable[tuple[Copy, Copy]], verdict: str, *, texts: Mapping[int, str] | None = None
) -> None:
    """Keeps a verdict on pairs of documents, on all or on none; ``""`` takes it back.

    Args:
        session: The opened library.
        pairs: What was judged.
        verdict: What was said.
        texts: Of contents that may have left the library meanwhile; see :func:`texts_before`.

    Raises:
        LibraryError: ``library-readonly`` or ``library-busy``.
    """
    wanted = list(pairs)
    most = _room(2 * len(wanted))
    texts = dict(texts or {})
    records = []
    now = time.time()
    for one, other in wanted:
        first, second = sorted((one, other), key=lambda copy: copy.sha256)
        a, b = (_text(session, copy, texts)[:most] for copy in (first, second))
        # Offsets 0, 0: the whole document, whatever it is cut into.
        records.append(JudgementRecord(KIND, verdict, WHOLE, first.sha256, 0, 0, a, second.sha256, 0, 0, b, made=now))
    session.library.judge_all(records)


def _room(texts: int) -> int:
    """Gives the characters that are kept of each of so many texts."""
    return max(_LEAST, min(_TEXT, _ALTOGETHER // max(1, texts)))


def _text(session: Session, copy: Copy, texts: dict[int, str]) -> str:
    if copy.content not in texts:
        try:
            text = session.library.text_of(ContentId(copy.content)).text if copy.content else ""
        except LibraryError:
            text = ""
        texts[copy.content] = text[:_TEXT]
    return texts[copy.content]


def apart(session: Session) -> frozenset[tuple[str, str]]:
    """Gives the pairs of sha256 that the person said are no duplicates, each with the lesser one first."""
    return session.library.judged_pairs(KIND, WHOLE, DIFFERENT)


def not_duplicates(session: Session, group: GroupView, *, undo: bool = False) -> None:
    """Remembers for good that no two of a group are duplicates, or takes that back."""
    first: dict[int, Copy] = {}
    for member in group.members:
        for copy in member.files or (member.copy,):
            first.setdefault(copy.unit, copy)
    units = list(first.values())
    pairs = list(itertools.combinations(units, 2)) if len(units) > 1 and not group.folders else []
    if not pairs:
        pairs = [(copy, copy) for copy in units]
    remember(session, pairs, "" if undo else DIFFERENT)


def texts_before(session: Session, removals: Iterable[Removal]) -> dict[int, str]:
    """Reads by content what :func:`decided_same` keeps of what is to go, and may be forgotten as soon as it went."""
    teach = [one.victim for one in removals if any(copy.sha256 != one.victim.sha256 for copy in one.keepers)]
    most = _room(len(teach))
    found: dict[int, str] = {}
    for victim in teach:
        found[victim.content] = _text(session, victim, found)[:most]
    return found


def decided_same(
    session: Session, removal_pairs: Iterable[tuple[Copy, Copy]], texts: Mapping[int, str] | None = None
) -> None:
    """Keeps as the same what the person sent to the trash for another copy; equal bytes teach nothing.

    Args:
        session: The opened library.
        removal_pairs: What went, each with the copy that stayed.
        texts: Of what went, from before; see :func:`texts_before`.
    """
    pairs = [(a, b) for a, b in removal_pairs if a.sha256 != b.sha256 and a.content and b.content]
    if pairs:
        remember(session, pairs, SAME, texts=texts)


def undecide_same(session: Session, id: str) -> None:
    """Takes back what a clean-up taught of the files that have come back from it.

    Only what was kept between its beginning and that of the clean-up after it; and not while another file of it that
    holds the text of either is still away: that one may be what taught it.

    Raises:
        LibraryError: ``clean-up-unknown``, ``library-readonly`` or ``library-busy``.
    """
    clean_ups = CleanUps(session.library.path)
    record = clean_ups.read(id)
    until = min((other.when for other in clean_ups.all() if other.number > record.number), default=math.inf)
    back = {entry.sha256 for entry in record.entries if entry.state == _RESTORED}
    away = {entry.sha256 for entry in record.entries if entry.state in _GONE}
    taught = [
        replace(judged, verdict="")
        for judged in session.library.judgements(KIND, WHOLE)
        if judged.verdict == SAME and record.when <= judged.made < until
        and (pair := {judged.sha256, judged.other_sha256}) & back and not pair & away
    ]  # fmt: skip
    if taught:
        session.library.judge_all(taught)
