"""Which documents of the library are in languages that the model in use does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sbert_desktop.app.estimating import LANGUAGE_NAMES
from sbert_desktop.app.models import list_models
from sbert_desktop.app.views import UnreadLanguage
from sbert_desktop.domain import Filters
from sbert_desktop.errors import LibraryError

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session

_MOST = 40
"""Languages that are looked at: more are mistakes of the detection."""
_FEWEST, _SHARE = 3, 0.002
"""Documents from which a language is told: one or two of short texts are mistakes of the detection."""


def unknown_languages(session: Session) -> tuple[UnreadLanguage, ...]:
    """Counts live documents by language, of those the model in use does not say it knows; most documents first.

    Empty where it knows all, or does not say what it knows. Languages of one or two documents are left out.
    """
    known = _known(session)
    if not known:
        return ()
    try:
        library = session.library
    except LibraryError:
        return ()
    snapshot = session.snapshot()
    counts: dict[str, int] = {}
    for code in library.languages()[:_MOST]:
        passing = snapshot.select(Filters(languages=(code,)))
        counts[code] = 0 if passing is None else int(passing.sum())
    least = max(_FEWEST, _SHARE * sum(counts.values()))
    found = [UnreadLanguage(code, LANGUAGE_NAMES.get(code, code), count)
             for code, count in counts.items() if code and code not in known and count >= least]
    return tuple(sorted(found, key=lambda one: (-one.documents, one.code)))


def _known(session: Session) -> frozenset[str]:
    """Gives the languages of the encoder in use without waiting for it."""
    encoder = session.ready_encoder()
    if encoder is not None:
        return frozenset(encoder.info.languages)
    return next((frozenset(view.languages) for view in list_models(session)
                 if view.active and view.kind == "encoder"), frozenset())  # fmt: skip
