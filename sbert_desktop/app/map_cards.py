"""What the card beside a point of the map says; quick enough to follow a pointer."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sbert_desktop.app.atlas_views import UNSORTED, DocumentRow, MapCard, MapUnit, MapView
from sbert_desktop.app.map_names import grouping_of
from sbert_desktop.domain import ContentId, Location, PassageId, PassageRecord
from sbert_desktop.errors import LibraryError

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import Snapshot

_TEXT = 600
"""Characters of a card's text."""


def map_card(session: Session, view: MapView, point: int) -> MapCard:
    """Gives what stands on the card beside a point: its first document (or passage) that is still there.

    Quick enough to follow a pointer; ``fit`` and ``confidence`` of the document are not among it.

    Raises:
        LibraryError: ``content-gone``.
    """
    snapshot = session.snapshot()
    members = range(int(view.starts[point]), int(view.starts[point + 1]))
    for member in members:
        passage, content = int(view.passages[member]), int(view.contents[member])
        record = snapshot.fetch([passage]).get(passage)
        if record is None:  # cut anew since, or gone
            record = _whole(session, snapshot, content, passage)
        if record is None:
            continue
        theme, label = _theme_of(session, content)
        text = " ".join(record.text[: 2 * _TEXT].split())[:_TEXT]
        row = _row(session, record, theme)
        if view.request.unit is MapUnit.PASSAGES:
            row = replace(row, start=record.start, end=record.end, page=record.location.page)
        return MapCard(point, row, text, label, len(members) - 1)
    raise LibraryError("content-gone", "This document is no longer in the library.", "Open the map again.")


def _whole(session: Session, snapshot: Snapshot, content: int, passage: int) -> PassageRecord | None:
    """Gives the beginning of a document whose passages changed; None when it is gone."""
    places = session.library.paths_of(ContentId(content))
    if not places:
        return None
    try:
        text = session.library.text_of(ContentId(content))
    except LibraryError:
        return None
    date = float(snapshot.dates()[content])
    return PassageRecord(
        PassageId(passage), ContentId(content), text.text[: 2 * _TEXT], 0, min(len(text.text), 2 * _TEXT), Location(),
        text.title, text.format, text.language, date, places,
    )  # fmt: skip


def _theme_of(session: Session, content: int) -> tuple[int, str]:
    """Gives id and label of a document's theme."""
    themes = grouping_of(session)
    if themes is None or not len(themes.contents):
        return UNSORTED, ""
    at = min(int(np.searchsorted(themes.contents, content)), len(themes.contents) - 1)
    label = int(themes.labels[at]) if int(themes.contents[at]) == content else -1
    return (themes.themes[label].id, themes.themes[label].label) if label >= 0 else (UNSORTED, "")


def _row(session: Session, record: PassageRecord, theme: int) -> DocumentRow:
    place = record.paths[0]
    inside = [Path(os.fsdecode(root)) for root in session.roots() if place.path.is_relative_to(os.fsdecode(root))]
    return DocumentRow(
        content=int(record.content_id),
        path=place.path,
        member=place.member,
        title=record.title,
        format=record.format,
        language=record.language,
        date=record.date if np.isfinite(record.date) else None,
        folder=max(inside, key=lambda root: len(root.parts), default=place.path.parent),
        theme=theme,
        sorted_in=theme != UNSORTED,
        copies=len(record.paths),
        passage=int(record.passage_id),
    )
