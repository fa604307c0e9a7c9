"""Paragraphs that stand, in these or other words, in several documents: the second view of duplicates."""

from __future__ import annotations

import numpy as np

from sbert_desktop.app.duplicate_views import SharedPassage
from sbert_desktop.app.duplicates import passage_pairs
from sbert_desktop.app.session import Session
from sbert_desktop.cleanup import FLOOR, DuplicateQuery
from sbert_desktop.domain import JobContext, Snapshot
from sbert_desktop.explore.shared_passages import PassageGroup, shared_passages

_SHOWN = 1_000  # groups
_PLACES = 200  # of one group
_FEWEST_WORDS = 6
"""Words of a passage that is worth showing: "Yours sincerely" stands everywhere."""


def run_shared_passages(session: Session, query: DuplicateQuery, context: JobContext) -> tuple[SharedPassage, ...]:
    """Gives passages that stand in several documents, those in most documents first.

    ``query.related`` is the cosine from which two passages say the same; ``query.filters`` narrow the documents.
    """
    snapshot, pairs = passage_pairs(session, context)
    owners = snapshot.contents.copy()
    mask = snapshot.select(query.filters) if query.filters else None
    takes_part = snapshot.alive & (snapshot.lengths >= _FEWEST_WORDS)
    if mask is not None:
        takes_part &= mask[np.clip(owners, 0, len(mask) - 1)]
    rows = len(pairs.same)
    owners = np.where(takes_part, owners, -1)[:rows]
    context.progress("Putting passages together", 0, None)
    groups = shared_passages(pairs, owners, threshold=max(FLOOR, query.related), context=context)
    found = []
    for number, group in enumerate(groups):
        context.check()
        context.progress("Reading passages", min(number, _SHOWN), min(len(groups), _SHOWN))
        shown = _shown(snapshot, group, owners)
        if shown is not None:
            found.append(shown)
        if len(found) >= _SHOWN:
            break
    return tuple(found)


def _shown(snapshot: Snapshot, group: PassageGroup, owners: np.ndarray) -> SharedPassage | None:
    """Gives a group with its texts and places; None when fewer than two documents are left of it."""
    rows = [row for row in group.rows if owners[row] >= 0]
    if len({int(owners[row]) for row in rows}) < 2:
        return None
    ids = [int(snapshot.passage_ids[row]) for row in rows[:_PLACES]]
    records = [record for record in map(snapshot.fetch(ids).get, ids) if record is not None]
    found = [(at, record) for record in records for at in record.paths]  # copies of a file are places too
    found.sort(key=lambda one: (str(one[0].path).casefold(), one[0].member, one[1].start))
    shown = found[:_PLACES]
    places = tuple((at.path, at.member, one.location.page, int(one.passage_id), one.text) for at, one in shown)
    if len({(path, member) for path, member, *_ in places}) < 2:
        return None
    return SharedPassage(
        places,
        group.lowest,
        tuple((int(one.content_id), one.start, one.end) for _, one in shown),
        tuple(one.format for _, one in shown),
        len(found) - len(shown) + len(rows) - len(ids),
    )
