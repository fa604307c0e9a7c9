"""Documents by their name, as the command palette asks for them."""

from __future__ import annotations

from sbert_desktop.app.searching import run_search
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import DocumentView
from sbert_desktop.domain import Filters, Mode, Query

_WORDS = 8
"""Words of a name that count; a pasted page names no file."""


def find_documents(session: Session, words: str, *, limit: int = 8) -> tuple[DocumentView, ...]:
    """Finds documents whose file's name, or whose title, holds all words; newest first.

    Args:
        session: The opened library.
        words: Parts of a name, in any order, with or without accents.
        limit: Documents at most.

    Returns:
        Each with its first passage as its hit, so that it can be shown; empty without words.
    """
    parts = tuple(words.split()[:_WORDS])
    if not parts or limit < 1:
        return ()
    neither = Filters(without=(Filters(names=parts), Filters(subjects=parts)))
    view = run_search(session, Query("", mode=Mode.KEYWORD, top=limit, filters=Filters(without=(neither,))))
    return view.documents
