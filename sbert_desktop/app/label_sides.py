"""A passage as the person judges it: with where it stands, and what stands before and after it."""

from __future__ import annotations

from collections.abc import Sequence

from sbert_desktop.app.training_views import TextSide
from sbert_desktop.domain import PassageRecord, Snapshot

AROUND = 600
"""Characters given of what stands before and after a passage."""


def sides_of(snapshot: Snapshot, records: Sequence[PassageRecord], shas: dict[int, str]) -> list[TextSide]:
    """Gives passages with where they stand, and up to :data:`AROUND` characters before and after each.

    Passages of a document have numbers in a row, so that its neighbours are read, never the whole document.
    """
    near = [int(record.passage_id) + step for record in records for step in (-1, 1)]
    around = snapshot.fetch(near)
    sides = []
    for record in records:
        file = record.paths[0]
        name = (file.member or file.path.name).rpartition("/")[2]
        before, after = (around.get(int(record.passage_id) + step) for step in (-1, 1))
        sides.append(TextSide(
            record.text, file.path, file.member, record.title or name, record.location.page,
            _before(before, record), _after(after, record), int(record.content_id),
            shas.get(int(record.content_id), ""), record.start, record.end,
        ))  # fmt: skip
    return sides


def _before(other: PassageRecord | None, record: PassageRecord) -> str:
    if other is None or other.content_id != record.content_id or other.start >= record.start:
        return ""
    text = other.text[: max(0, min(other.end, record.start) - other.start)]
    return text if len(text) <= AROUND else text[-AROUND:].partition(" ")[2]


def _after(other: PassageRecord | None, record: PassageRecord) -> str:
    if other is None or other.content_id != record.content_id or other.end <= record.end:
        return ""
    text = other.text[max(0, record.end - other.start) :]
    return text if len(text) <= AROUND else text[:AROUND].rpartition(" ")[0]
