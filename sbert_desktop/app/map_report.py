"""Writes the map into a file: CSV, JSON, or one HTML page that shows it in a browser without a network.

A row stands for a document (or a passage), also where several lie on one spot. What titles and names hold is data in
every form: a spreadsheet takes no cell as a formula, the page runs nothing but its own script.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sbert_desktop.app.atlas_views import ColourView, MapUnit, MapView
from sbert_desktop.app.exporting import harmless, write
from sbert_desktop.app.map_names import grouping_of
from sbert_desktop.domain import display_path
from sbert_desktop.errors import UsageError

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session

FORMATS = ("csv", "json", "html")
_COLUMNS = (
    "path", "member", "title", "x", "y", "cluster", "date", "type", "language", "group", "here", "passage", "path_hex",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """A document as a report names it; ``raw`` is its path's bytes, ``date`` in seconds, None unknown."""

    raw: bytes
    member: str
    title: str
    format: str
    language: str
    date: float | None
    theme: str


_NOWHERE = Place(b"", "", "", "", "", None, "")


def export_map(
    session: Session,
    view: MapView,
    colours: ColourView,
    target: Path,
    *,
    palette: Sequence[str] = (),
    form: str = "",
    replace: bool = True,
) -> Path:
    """Writes a map as the suffix says (or ``form``), and gives where.

    Args:
        session: The opened library.
        view: The map.
        colours: Of its points.
        target: Where.
        palette: ``#rrggbb`` for each place that a group's ``colour`` names; else colours of our own.
        form: One of :data:`FORMATS`.
        replace: Put it in the place of a file that is there; else refuse.

    Raises:
        UsageError: ``unknown-format``.
        SbertDesktopError: ``output-unwritable``, ``file-exists``.
    """
    text = written(session, view, colours, form or form_of(target), palette=palette)
    return write(target, text, replace=replace)


def form_of(target: Path) -> str:
    """Gives the form that the end of a file's name asks for; :func:`written` refuses those it does not know."""
    suffix = target.suffix.lower().lstrip(".")
    return "html" if suffix == "htm" else suffix


def check_form(form: str) -> None:
    """Refuses a form that there is not.

    Raises:
        UsageError: ``unknown-format``.
    """
    if form not in FORMATS:
        raise UsageError("unknown-format", f"A map is not written as {form or 'that'}.", "Use .csv, .json or .html.")


def written(
    session: Session, view: MapView, colours: ColourView, form: str, *, palette: Sequence[str] = ()
) -> str:
    """Gives a map as text of a form.

    Raises:
        UsageError: ``unknown-format``.
    """
    check_form(form)
    places = places_of(session, view)
    if form == "html":
        from sbert_desktop.app.map_page import page

        return page(view, colours, places, palette=palette)
    rows = list(_rows(view, colours, places))
    if form == "csv":
        return _csv(rows)
    whole = {
        "unit": view.request.unit.value,
        "method": view.request.method,
        "points": len(view),
        "trustworthiness": round(view.trustworthiness, 4),
        "colours": colours.by.value,
        "labels": [
            {"text": label.text, "x": _round(label.x), "y": _round(label.y), "level": label.level}
            for label in view.labels
        ],
        "rows": rows,
    }
    return json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n"


def places_of(session: Session, view: MapView) -> dict[int, Place]:
    """Gives by content what each document of a map is called and where it lies: the shortest path where several are."""
    wanted = set(view.contents.tolist())
    dates = session.snapshot().dates()
    themes = grouping_of(session)
    theme_of: dict[int, str] = {}
    if themes is not None:
        names = [theme.label for theme in themes.themes]
        pairs = zip(themes.contents.tolist(), themes.labels.tolist(), strict=True)
        theme_of = {content: names[label] for content, label in pairs if label >= 0}
    found: dict[int, Place] = {}
    for record in session.library.copies():
        content = record.content
        if content not in wanted or (content in found and len(found[content].raw) <= len(record.path)):
            continue
        date = float(dates[content]) if content < len(dates) and np.isfinite(dates[content]) else None
        found[content] = Place(
            record.path, record.member, record.title, record.format, record.language, date, theme_of.get(content, "")
        )
    return found


def place_of(places: dict[int, Place], content: int) -> Place:
    """Gives a document of :func:`places_of`; one without a name where it is gone."""
    return places.get(content, _NOWHERE)


def _rows(view: MapView, colours: ColourView, places: dict[int, Place]) -> Iterator[dict[str, object]]:
    of_point = np.repeat(np.arange(len(view)), view.counts).tolist()
    contents, passages = view.contents.tolist(), view.passages.tolist()
    spots, counts = view.positions.tolist(), view.counts.tolist()
    codes = colours.point_groups.tolist()
    for member, point in enumerate(of_point):
        place = place_of(places, contents[member])
        shown = display_path(place.raw)
        row: dict[str, object] = {
            "path": shown,
            "member": display_path(place.member) if place.member else "",
            "title": _flat(place.title),
            "x": _round(spots[point][0]),
            "y": _round(spots[point][1]),
            "cluster": place.theme,
            "date": day_of(place.date),
            "type": place.format,
            "language": place.language,
            "group": colours.groups[codes[point]].label if codes[point] >= 0 else "",
            "here": counts[point],
        }
        if view.request.unit is MapUnit.PASSAGES:
            row["passage"] = passages[member]
        if place.raw != shown.encode("utf-8", "surrogateescape"):
            row["path_hex"] = place.raw.hex()
        yield row


def _csv(rows: Sequence[dict[str, object]]) -> str:
    out = io.StringIO(newline="")
    out.write("\ufeff")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        values = [row.get(name, "") for name in _COLUMNS]
        writer.writerow([harmless(value) if isinstance(value, str) else value for value in values])
    return out.getvalue()


def _round(value: float) -> float:
    return round(float(value), 5)


def _flat(text: str) -> str:
    return " ".join(text.split()).encode("utf-8", "replace").decode()


def day_of(date: float | None) -> str:
    """Gives a date as 2024-03-31, "" where there is none."""
    try:
        return datetime.fromtimestamp(date).strftime("%Y-%m-%d") if date is not None else ""
    except (ValueError, OverflowError, OSError):  # a year that the calendar does not have
        return ""


def folder_and_name(raw: bytes) -> tuple[bytes, bytes]:
    """Cuts a path after its last separator."""
    separator = os.fsencode(os.sep)
    folder, cut, name = raw.rpartition(separator)
    return folder + cut, name
