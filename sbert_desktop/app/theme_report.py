"""Writes themes with their documents into a file: CSV, JSON or HTML, a row per document."""

from __future__ import annotations

import csv
import html
import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app.atlas_views import UNSORTED, ClustersView, DocumentRow, Method, ThemeView
from sbert_desktop.app.exporting import harmless, write
from sbert_desktop.domain import display_path
from sbert_desktop.errors import UsageError

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session

FORMATS = ("csv", "json", "html")
_COLUMNS = (
    "cluster", "label", "path", "member", "title", "date", "language", "similarity", "confidence", "by_hand",
    "path_hex",
)  # fmt: skip
_STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#1c1c1c;background:#fff}"
    "h1{font-size:1.3em}h2{font-size:1.05em;margin:1.6em 0 .3em}table{border-collapse:collapse;width:100%}"
    "td,th{text-align:left;border-bottom:1px solid #ddd;padding:.2em .6em .2em 0;overflow-wrap:anywhere}"
    "td.n{text-align:right;white-space:nowrap}.m{color:#555}"
)


@dataclass(frozen=True, slots=True)
class Report:
    """Themes with all their documents, by the theme's id; the unsorted ones under ``UNSORTED``."""

    view: ClustersView
    documents: dict[int, tuple[DocumentRow, ...]]


def report(session: Session, view: ClustersView) -> Report:
    """Gathers the documents of all themes of a view."""
    from sbert_desktop.app.clustering import theme_documents

    ids = [theme.id for theme in view.themes] + ([UNSORTED] if view.unsorted else [])
    return Report(view, {id_: theme_documents(session, id_, scope=view.scope) for id_ in ids})


def export_clusters(
    session: Session, target: Path, *, form: str = "", replace: bool = True, view: ClustersView | None = None
) -> Path:
    """Writes the themes as the suffix says (or ``form``), and gives where.

    Raises:
        UsageError: ``unknown-format``.
        SbertDesktopError: ``output-unwritable``, ``file-exists``.
    """
    name = form or target.suffix.lower().lstrip(".")
    name = "html" if name == "htm" else name
    if name not in FORMATS:
        raise UsageError("unknown-format", f"Clusters are not written as {name or 'that'}.", "Use .csv, .json, .html.")
    if view is None:
        from sbert_desktop.app.clustering import run_clusters
        from sbert_desktop.jobs import NullContext

        view = run_clusters(session, NullContext())
    return write(target, written(report(session, view), name), replace=replace)


def written(whole: Report, form: str, *, line_end: str = "\r\n") -> str:
    """Gives themes as text of a form; CSV for a file begins with the mark by which spreadsheets know UTF-8."""
    if form == "json":
        return json.dumps(as_json(whole), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    return _html(whole) if form == "html" else _csv(whole, line_end)


def as_json(whole: Report) -> dict[str, object]:
    """Gives themes as the command line's JSON has them."""
    view = whole.view
    return {
        "method": (Method.COMMUNITIES if view.request.method is Method.AUTO else view.request.method).value,
        "clusters": [theme_fields(theme, whole.documents.get(theme.id, ())) for theme in view.themes],
        "unsorted": view.unsorted,
        "unsorted_share": round(view.unsorted / view.documents, 4) if view.documents else 0.0,
        "unsorted_documents": [_document_fields(row) for row in whole.documents.get(UNSORTED, ())],
        "silhouette": round(view.silhouette, 4),
        "documents": view.documents,
        "strictness": view.strictness,
        "count": view.request.count,
        "detail": view.request.detail,
        "seed": view.request.seed,
        "fresh": view.fresh,
        "waiting": view.waiting,
        "note": view.note,
        "seconds": round(view.seconds, 3),
    }


def theme_fields(theme: ThemeView, documents: tuple[DocumentRow, ...]) -> dict[str, object]:
    """Gives a theme for JSON."""
    return {
        "id": theme.id,
        "label": theme.label,
        "named": theme.named,
        "pinned": theme.pinned,
        "keywords": [keyword.text for keyword in theme.keywords],
        "size": theme.size,
        "central_title": theme.central_title,
        "similarity": round(theme.similarity, 4),
        "rest": round(theme.rest, 4),
        "beside": [{"id": near.theme, "cosine": round(near.cosine, 4)} for near in theme.beside],
        "documents": [_document_fields(row) for row in documents],
        "central": [_document_fields(row) for row in theme.central],
    }


def _document_fields(row: DocumentRow) -> dict[str, object]:
    shown, raw = display_path(row.path), os.fsencode(row.path)
    fields: dict[str, object] = {
        "path": shown,
        "member": display_path(row.member) if row.member else "",
        "title": row.title,
        "date": _day(row.date),
        "language": row.language,
        "similarity": round(row.fit, 4),
        "confidence": round(row.confidence, 4),
        "by_hand": row.by_hand,
    }
    if raw != shown.encode("utf-8", "surrogateescape"):
        fields["path_hex"] = raw.hex()
    return fields


def _rows(whole: Report) -> Iterator[dict[str, object]]:
    for theme in whole.view.themes:
        for row in whole.documents.get(theme.id, ()):
            yield {"cluster": theme.id, "label": theme.label, **_document_fields(row)}
    for row in whole.documents.get(UNSORTED, ()):
        yield {"cluster": "", "label": "", **_document_fields(row)}


def _csv(whole: Report, line_end: str) -> str:
    out = io.StringIO(newline="")
    out.write("\ufeff" if line_end == "\r\n" else "")
    writer = csv.writer(out, lineterminator=line_end)
    writer.writerow(_COLUMNS)
    for row in _rows(whole):
        values = [row.get(name, "") for name in _COLUMNS]
        writer.writerow([harmless(value) if isinstance(value, str) else value for value in values])
    return out.getvalue()


def _html(whole: Report) -> str:
    view = whole.view
    parts = [
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>Clusters</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>Clusters</h1>\n"
        f'<p class="m">{len(view.themes):,} clusters of {view.documents:,} documents, {view.unsorted:,} unsorted.</p>\n'
    ]
    if view.note:
        parts.append(f'<p class="m">{_safe(view.note)}</p>\n')
    for theme in view.themes:
        words = ", ".join(keyword.text for keyword in theme.keywords)
        parts.append(_section(theme.label, words, whole.documents.get(theme.id, ())))
    if view.unsorted:
        parts.append(_section("Unsorted", "", whole.documents.get(UNSORTED, ())))
    return "".join([*parts, "</body>\n</html>\n"])


def _section(title: str, words: str, rows: tuple[DocumentRow, ...]) -> str:
    said = f"{len(rows):,} documents" if len(rows) != 1 else "1 document"
    lines = [f"<h2>{_safe(title)}</h2>\n", f'<p class="m">{said}{": " + _safe(words) if words else ""}</p>\n<table>\n']
    for row in rows:
        place = " > ".join(filter(None, (display_path(row.path), row.member)))
        name = row.title or row.path.name
        lines.append(
            f"<tr><td>{_safe(name)}</td><td class=m>{_safe(place)}</td><td class=n>{_day(row.date)}</td>"
            f"<td class=n>{row.fit:.2f}</td></tr>\n"
        )
    return "".join([*lines, "</table>\n"])


def _safe(text: str) -> str:
    return html.escape(display_path(text), quote=True)


def _day(date: float | None) -> str:
    try:
        return datetime.fromtimestamp(date).strftime("%Y-%m-%d") if date is not None else ""
    except (ValueError, OverflowError, OSError):  # a year that the calendar does not have
        return ""
