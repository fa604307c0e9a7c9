"""Writes what was found into a file: CSV, JSON, HTML or a list in BibTeX's form.

A file appears whole or not at all. What passages, titles and names hold is data in every form: a spreadsheet
takes no cell as a formula, a browser runs and fetches nothing, TeX meets no command.
"""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
import tempfile
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sbert_desktop.app.views import CollectionView, DocumentView, HitView, SearchView, Span
from sbert_desktop.domain import display_path
from sbert_desktop.errors import SbertDesktopError, UsageError

FORMATS = ("csv", "json", "html", "bib")
_COLUMNS = (
    "path", "member", "title", "page", "location", "score", "score_kind", "cosine", "bm25", "rerank", "judged", "date",
    "text", "note", "path_hex",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a cell as a formula. Source: OWASP, CSV Injection."""
_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "@": r"{@}",
}  # fmt: skip
"""Signs that mean something to TeX, and ``@``, with which BibTeX's readers begin an entry."""
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:46em;margin:2em auto;padding:0 1em;color:#1c1c1c;background:#fff}"
    "h1{font-size:1.3em}article{border-top:1px solid #ccc;padding:.8em 0}.where,.score{color:#555;font-size:.85em;"
    "overflow-wrap:anywhere}.text{white-space:pre-line}.note{font-style:italic}mark{background:#ffe9a8}"
    "b{font-weight:600}"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One passage as it is written; scores are None where there is none. ``date``: seconds since the epoch."""

    path: Path
    member: str
    title: str
    text: str
    page: int | None = None
    location: str = ""
    score: float | None = None
    score_kind: str = ""
    cosine: float | None = None
    bm25: float | None = None
    rerank: float | None = None
    judged: str = ""
    date: float | None = None
    note: str = ""
    sentence: Span | None = None


def hit_rows(view: SearchView) -> tuple[Row, ...]:
    """Gives the passages of an answer, in its order."""
    return tuple(_hit_row(document, hit) for document in view.documents for hit in document.hits)


def _hit_row(document: DocumentView, hit: HitView) -> Row:
    return Row(
        path=hit.path,
        member=hit.member,
        title=document.title,
        text=hit.text,
        page=hit.page,
        location=hit.location,
        score=hit.score,
        score_kind=hit.score_kind.value,
        cosine=hit.cosine,
        bm25=hit.bm25,
        rerank=hit.rerank,
        judged=hit.judged,
        date=document.date,
        sentence=hit.best_sentence,
    )


def collection_rows(view: CollectionView) -> tuple[Row, ...]:
    """Gives what a collection holds, in its order; the date is the day on which it was put there."""
    return tuple(
        Row(item.path, item.member, item.title, item.text, page=item.page, date=item.added, note=item.note)
        for item in view.items
    )


def export_hits(view: SearchView, target: Path, *, form: str = "", replace: bool = True) -> Path:
    """Writes an answer; see :func:`write`."""
    return write(target, render(hit_rows(view), form or form_of(target), heading=view.query), replace=replace)


def export_collection(view: CollectionView, target: Path, *, form: str = "", replace: bool = True) -> Path:
    """Writes a collection; see :func:`write`."""
    text = render(collection_rows(view), form or form_of(target), heading=view.name, note=view.note)
    return write(target, text, replace=replace)


def form_of(target: Path) -> str:
    """Gives the form that the end of a file's name asks for.

    Raises:
        UsageError: ``bad-format``: it asks for none that is known.
    """
    form = target.suffix.lower().lstrip(".")
    form = {"htm": "html", "bibtex": "bib"}.get(form, form)
    if form not in FORMATS:
        raise UsageError(
            "bad-format",
            f"{display_path(target.name)} does not say in which form to write.",
            "End its name in .csv, .json, .html or .bib.",
        )
    return form


def render(rows: Sequence[Row], form: str, *, heading: str = "", note: str = "", line_end: str = "\r\n") -> str:
    """Gives rows as one text.

    Args:
        rows: What is written.
        form: One of :data:`FORMATS`.
        heading: What was asked, or the collection's name.
        note: Further words about the whole; not in CSV, which has no place for them.
        line_end: Of CSV's lines.

    Raises:
        UsageError: ``bad-format``.
    """
    if form == "csv":
        return _csv(rows, line_end)
    forms: dict[str, Callable[[Sequence[Row], str, str], str]] = {"json": _json, "html": _html, "bib": _bib}
    if form not in forms:
        raise UsageError("bad-format", f"{form!r} is no form to write in.", f"There are {', '.join(FORMATS)}.")
    return forms[form](rows, heading, note)


def write(target: Path, text: str, *, replace: bool) -> Path:
    """Writes a text as UTF-8 into a file, which appears whole or not at all.

    Args:
        target: Where; a link is followed, so that it stays one.
        text: What; CSV gets the mark by which spreadsheets know UTF-8.
        replace: Put it in the place of a file that is there; else refuse.

    Raises:
        SbertDesktopError: ``file-exists`` or ``output-unwritable``.
    """
    named = target.expanduser()
    place = Path(os.path.realpath(named))
    temporary = ""
    try:
        if named.exists() and not named.is_file():  # asked by its name: a pipe's real path leads nowhere
            place = named
            raise OSError(0, "it is no file")
        handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".export-")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if replace:
            os.replace(temporary, place)
        else:
            _move_into_the_free(temporary, place)
        temporary = ""
    except FileExistsError as error:
        raise SbertDesktopError(
            "file-exists", f"{display_path(place)} is there already.", "Choose another name, or add --force."
        ) from error
    except OSError as error:
        raise SbertDesktopError(
            "output-unwritable",
            f"{display_path(place)} could not be written: {error.strerror or error}.",
            "Choose another place.",
        ) from error
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
    return place


def _move_into_the_free(temporary: str, place: Path) -> None:
    """Gives a file its name unless that is taken, also by somebody who takes it just now."""
    try:
        os.link(temporary, place)
    except FileExistsError:
        raise
    except OSError:  # a disk without hard links
        if os.path.lexists(place):
            raise FileExistsError(0, "it is there already") from None
        os.replace(temporary, place)
    else:
        os.unlink(temporary)


# ---------------------------------------------------------------- forms


def _csv(rows: Sequence[Row], line_end: str) -> str:
    out = io.StringIO(newline="")
    out.write("\ufeff" if line_end == "\r\n" else "")
    writer = csv.writer(out, lineterminator=line_end)
    writer.writerow(_COLUMNS)
    for row in rows:
        fields = row_fields(row)
        # Numbers are ours; a minus sign before one is no formula.
        writer.writerow(
            "" if value is None else harmless(value) if isinstance(value, str) else value
            for value in (fields.get(name, "") for name in _COLUMNS)
        )
    return out.getvalue()


def _json(rows: Sequence[Row], heading: str, note: str) -> str:
    whole = {"name": heading, "note": note, "rows": [row_fields(row) for row in rows]}
    return json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def row_fields(row: Row) -> dict[str, object]:
    """Gives a row as JSON has it; ``path_hex`` where the name as shown is not the name itself."""
    shown, raw = display_path(row.path), os.fsencode(row.path)
    fields: dict[str, object] = {
        "path": shown,
        "member": display_path(row.member) if row.member else "",
        "title": row.title,
        "page": row.page,
        "location": row.location,
        "score": row.score,
        "score_kind": row.score_kind,
        "cosine": row.cosine,
        "bm25": row.bm25,
        "rerank": row.rerank,
        "judged": row.judged,
        "date": _day(row.date),
        "text": row.text,
        "note": row.note,
    }
    if raw != shown.encode("utf-8", "surrogateescape"):
        fields["path_hex"] = raw.hex()
    return fields


def _html(rows: Sequence[Row], heading: str, note: str) -> str:
    title = _safe(heading) or "Passages"
    parts = [
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    ]
    if note:
        parts.append(f'<p class="note">{_safe(note)}</p>\n')
    for row in rows:
        name = row.title or row.path.name
        place = " &gt; ".join(_safe(display_path(part)) for part in (row.path, row.member) if str(part))
        where = ", ".join(part for part in (place, _safe(row.location), _day(row.date)) if part)
        parts.append(f'<article>\n<b>{_safe(name)}</b>\n<div class="where">{where}</div>\n')
        if row.score is not None:
            parts.append(f'<div class="score">{_safe(row.score_kind)} {row.score:.3f}</div>\n')
        parts.append(f'<p class="text">{_marked(row)}</p>\n')
        if row.note:
            parts.append(f'<p class="note">{_safe(row.note)}</p>\n')
        parts.append("</article>\n")
    return "".join([*parts, "</body>\n</html>\n"])


def _marked(row: Row) -> str:
    if row.sentence is None:
        return _safe(row.text)
    start, end = row.sentence
    return f"{_safe(row.text[:start])}<mark>{_safe(row.text[start:end])}</mark>{_safe(row.text[end:])}"


def _safe(text: str) -> str:
    """Gives text for HTML; control signs, which HTML may not hold, become visible, and none turns the line around."""
    shown = "".join(
        "\ufffd" if unicodedata.category(ch) in ("Cc", "Cs") and ch not in "\n\t" else ch
        for ch in text.replace("\r\n", "\n")
    )
    return html.escape(re.sub("[\u202a-\u202e\u2066-\u2069]", "\ufffd", shown), quote=True)


def _bib(rows: Sequence[Row], heading: str, note: str) -> str:
    """Gives one ``@misc`` entry per passage, under a key made of the file's name."""
    entries = []
    taken: dict[str, int] = {}
    for row in rows:
        year = _day(row.date).partition("-")[0]
        key = _key(row.path.stem, year)
        taken[key] = taken.get(key, 0) + 1
        fields = {
            "title": row.title or row.path.name,
            "year": year,
            "pages": str(row.page) if row.page is not None else "",
            "howpublished": " > ".join(display_path(part) for part in (row.path, row.member) if str(part)),
            "note": row.note or (row.location if row.page is None else ""),
            "abstract": row.text,
        }
        lines = ",\n".join(f"  {name} = {{{_tex(value)}}}" for name, value in fields.items() if value)
        number = f"-{taken[key]}" if taken[key] > 1 else ""
        entries.append(f"@misc{{{key}{number},\n{lines}\n}}\n")
    return "\n".join(entries)


def _key(stem: str, year: str) -> str:
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", plain.lower())[:4]
    return "-".join([*(words or ["document"]), *([year] if year else [])])


def _tex(text: str) -> str:
    flat = " ".join("".join(" " if unicodedata.category(ch) in ("Cc", "Cs") else ch for ch in text).split())
    return "".join(_TEX.get(ch, ch) for ch in flat)


def _day(date: float | None) -> str:
    try:
        return datetime.fromtimestamp(date).strftime("%Y-%m-%d") if date else ""
    except (ValueError, OverflowError, OSError):  # a year that the calendar does not have
        return ""


def harmless(cell: str) -> str:
    """Gives a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
