"""What the person decides about pairs of documents: the same or different, kept for good and for fine-tuning."""

from __future__ import annotations

from collections.abc import Iterable

from sbert_desktop.app.session import Session
from sbert_desktop.cleanup import Copy
from sbert_desktop.domain import ContentId
from sbert_desktop.errors import LibraryError

KIND = "same"
SAME, DIFFERENT = "same", "different"
WHOLE = "document"
"""Stands where a judgement on a passage has its query: two whole documents were judged."""
_TEXT = 4_000  # characters of each text that are kept: more than any encoder reads


def remember(session: Session, pairs: Iterable[tuple[Copy, Copy]], verdict: str) -> None:
    """Keeps a verdict on pairs of documents; ``""`` takes it back.

    Raises:
        LibraryError: ``library-readonly`` or ``library-busy``.
    """
    texts: dict[int, str] = {}
    for one, other in pairs:
        first, second = sorted((one, other), key=lambda copy: copy.sha256)
        a, b = _text(session, first, texts), _text(session, second, texts)
        session.library.judge(
            KIND, verdict, WHOLE, first.sha256, 0, 0, a, other=(second.sha256, 0, 0, b)
        )  # offsets 0, 0: the whole document, whatever it is cut into


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
    records = session.library.judgements(KIND, WHOLE)
    return frozenset((one.sha256, one.other_sha256) for one in records if one.verdict == DIFFERENT)
