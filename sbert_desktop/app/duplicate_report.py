"""Writes groups of duplicates into a file: CSV, JSON or HTML, a row per copy."""

from __future__ import annotations

import csv
import html
import io
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sbert_desktop.app.duplicate_views import DuplicatesView, GroupView, MemberView
from sbert_desktop.app.exporting import harmless, write
from sbert_desktop.domain import display_path
from sbert_desktop.errors import UsageError

FORMATS = ("csv", "json", "html")
_COLUMNS = (
    "group", "kind", "lowest_similarity", "path", "member", "bytes", "modified", "suggestion", "reason", "relation",
    "similarity", "warning", "path_hex",
)  # fmt: skip
_STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#1c1c1c;background:#fff}"
    "h1{font-size:1.3em}h2{font-size:1.05em;margin:1.6em 0 .3em}table{border-collapse:collapse;width:100%}"
    "td,th{text-align:left;border-bottom:1px solid #ddd;padding:.2em .6em .2em 0;overflow-wrap:anywhere}"
    "td.n{text-align:right;white-space:nowrap}.m{color:#555}"
)


def export_duplicates(view: DuplicatesView, target: Path, form: str = "", *, replace: bool = True) -> Path:
    """Writes groups as the suffix says (or ``form``), and gives where.

    Raises:
        UsageError: ``unknown-format``.
        SbertDesktopError: ``output-unwritable``, ``file-exists``.
    """
    name = form or target.suffix.lower().lstrip(".")
    if name not in FORMATS:
        raise UsageError("unknown-format", f"Groups are not written as {name or 'that'}.", "Use .csv, .json or .html.")
    return write(target, written(view, name), replace=replace)


def written(view: DuplicatesView, form: str) -> str:
    """Gives groups as text of a form."""
    if form == "json":
        return json.dumps(as_json(view), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    return _html(view) if form == "html" else _csv(view)


def as_json(view: DuplicatesView) -> dict[str, object]:
    """Gives groups as the command line's JSON has them."""
    return {
        "groups": [group_fields(group) for group in view.groups],
        "reclaimable_bytes": view.bytes_to_win,
        "ticked": view.ticked,
        "ticked_bytes": view.bytes_ticked,
        "files": view.files,
        "left": view.left,
        "notes": list(view.notes),
    }


def group_fields(group: GroupView) -> dict[str, object]:
    """Gives one group for JSON."""
    return {
        "key": group.key,
        "kind": group.kind.value,
        "title": group.title,
        "lowest_similarity": round(group.lowest, 4),
        "folders": group.folders,
        "versions": group.versions,
        "reclaimable_bytes": group.bytes_to_win,
        "members": [member_fields(member) for member in group.members],
    }


def member_fields(member: MemberView) -> dict[str, object]:
    """Gives one copy for JSON; ``suggestion`` is ``keep``, ``trash`` or ``leave``."""
    copy = member.copy
    shown, raw = display_path(copy.path), os.fsencode(copy.path)
    fields: dict[str, object] = {
        "path": shown,
        "member": display_path(copy.member) if copy.member else "",
        "bytes": copy.size,
        "modified": _time(copy.mtime_ns),
        "suggestion": suggestion(member),
        "reason": member.reason or member.why_not,
        "relation": member.relation.value,
        "similarity": round(member.similarity, 4),
        "warning": member.warning,
        "sha256": copy.sha256,
    }
    if member.files:
        fields["files"] = [display_path(one.path) for one in member.files]
    if raw != shown.encode("utf-8", "surrogateescape"):
        fields["path_hex"] = raw.hex()
    return fields


def suggestion(member: MemberView) -> str:
    """Gives in a word what the rules say of a copy."""
    return "keep" if member.keep else "trash" if member.ticked else "leave"


def _time(mtime_ns: int) -> str:
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, tz=UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return ""


def _rows(view: DuplicatesView) -> Iterator[dict[str, object]]:
    for number, group in enumerate(view.groups, start=1):
        for member in group.members:
            yield {
                "group": number,
                "kind": group.kind.value,
                "lowest_similarity": round(group.lowest, 4),
                **member_fields(member),
            }


def _csv(view: DuplicatesView) -> str:
    out = io.StringIO(newline="")
    out.write("\ufeff")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for row in _rows(view):
        values = [row.get(name, "") for name in _COLUMNS]
        writer.writerow([harmless(value) if isinstance(value, str) else value for value in values])
    return out.getvalue()


def _html(view: DuplicatesView) -> str:
    parts = [
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>Duplicates</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>Duplicates</h1>\n"
        f'<p class="m">{len(view.groups):,} groups, {view.bytes_to_win:,} bytes to win.</p>\n'
    ]
    for group in view.groups:
        words = ", ".join(filter(None, (group.kind.value, f"lowest similarity {group.lowest:.2f}", group.versions)))
        parts.append(f'<h2>{_safe(group.title)}</h2>\n<p class="m">{_safe(words)}</p>\n<table>\n')
        for member in group.members:
            fields = member_fields(member)
            place = " > ".join(filter(None, (str(fields["path"]), str(fields["member"]))))
            said = ", ".join(filter(None, (member.reason, member.why_not, member.warning)))
            cells = (
                ("", member.mark), ("", _safe(place)), (" class=n", f"{member.copy.size:,}"),
                (" class=n", str(fields["modified"])), ("", suggestion(member)), (" class=m", _safe(said)),
            )  # fmt: skip
            parts.append("<tr>" + "".join(f"<td{kind}>{text}</td>" for kind, text in cells) + "</tr>\n")
        parts.append("</table>\n")
    return "".join([*parts, "</body>\n</html>\n"])


def _safe(text: str) -> str:
    return html.escape(display_path(text), quote=True)
