"""What the person says of hits: relevant or not, kept by the document's bytes, the place in it and the text itself."""

from __future__ import annotations

from sbert_desktop.app.session import Session
from sbert_desktop.app.views import HitView
from sbert_desktop.domain import ContentId
from sbert_desktop.errors import LibraryError, UsageError

KIND = "relevance"
VERDICTS = ("relevant", "not relevant", "")

Place = tuple[int, int]
"""Start and end in the document's text."""


def judge(session: Session, query: str, hit: HitView, verdict: str) -> None:
    """Keeps a verdict on a hit for a query, in the place of an earlier one; ``""`` takes it back.

    Raises:
        UsageError: ``bad-verdict`` or ``empty-query``.
        LibraryError: ``content-gone``, ``library-readonly`` or ``library-busy``.
    """
    if verdict not in VERDICTS:
        raise UsageError("bad-verdict", f"{verdict!r} is no verdict.", "It is relevant or not relevant.")
    asked = same_query(query)
    if not asked:
        raise UsageError("empty-query", "There is no query to judge by.", "Search for words first.")
    sha256 = session.library.sha256_of(ContentId(hit.content_id))
    if not sha256:
        raise LibraryError("content-gone", "This document is no longer in the library.", "Search again.")
    session.library.judge(KIND, verdict, asked, sha256, hit.start, hit.end, hit.text)


def same_query(query: str) -> str:
    """Gives a query in the form by which verdicts are found again."""
    return " ".join(query.split())


class Verdicts:
    """What was said of passages for one query; reads nothing more where nothing was said."""

    def __init__(self, session: Session, query: str) -> None:
        self._library = session.library
        asked = same_query(query)
        records = self._library.judgements(KIND, asked) if asked else ()
        self._said: dict[str, dict[Place, str]] = {}
        for record in records:
            self._said.setdefault(record.sha256, {})[(record.start, record.end)] = record.verdict

    def of(self, content: int) -> dict[Place, str]:
        """Gives the verdicts on passages of a content by their place in its text."""
        return self._said.get(self._library.sha256_of(ContentId(content)), {}) if self._said else {}
