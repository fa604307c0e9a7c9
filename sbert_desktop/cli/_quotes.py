"""The commands ``quotes`` and ``versions``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from sbert_desktop.app.views import QuoteView
from sbert_desktop.cli import _output as output
from sbert_desktop.cli._opening import as_json, console, session
from sbert_desktop.domain import display_path

_SHOWN = 150
_VERDICTS = ("exact", "changed", "not found")


def quotes(options: argparse.Namespace) -> None:
    """Checks the quotations of a draft."""
    from sbert_desktop.app.quoting import run_quotes

    with session(options) as opened, console(options) as context:
        draft: Path | str = options.draft
        if str(options.draft) == "-":
            draft = sys.stdin.buffer.read().decode("utf-8", "replace") if sys.stdin is not None else ""
        found = run_quotes(opened, draft, context)
        context.clear()
        for notice in opened.notices():
            output.say(notice)
        if as_json(options):
            output.emit({"quotes": [_fields(view) for view in found]})
            return
        for view in found:
            _print_quote(view)
        counts = {verdict: sum(view.verdict == verdict for view in found) for verdict in _VERDICTS}
        told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
        output.line(f"{len(found)} quotations: {told}." if found else "There are no quotations of four words or more.")


def _fields(view: QuoteView) -> dict[str, object]:
    place: dict[str, object] = {"path": None}
    if view.path is not None:
        place = {**output.path_fields(view.path)}
    return {
        "quoted": view.quoted,
        "start": view.start,
        "end": view.end,
        "verdict": view.verdict,
        **place,
        "member": view.member,
        "page": view.page,
        "source": view.source,
        "changes": [[start, end, view.quoted[start:end]] for start, end in view.changes],
    }


def _print_quote(view: QuoteView) -> None:
    output.line(f"{view.verdict:9}  {output.one_line(view.quoted, _SHOWN)}")
    if view.path is None:
        return
    inside = f" > {display_path(view.member)}" if view.member else ""
    page = f", p. {view.page}" if view.page is not None else ""
    output.line(f"           {display_path(view.path)}{inside}{page}")
    if view.changes:
        output.line(f"           it says: {output.one_line(view.source, 2 * _SHOWN)}")


def versions(options: argparse.Namespace) -> None:
    """Lists the versions of a file."""
    from sbert_desktop.app.quoting import run_versions

    with session(options) as opened:
        found = run_versions(opened, options.path)
        if as_json(options):
            output.emit(
                {
                    "versions": [output.path_fields(path) for path in found.paths] if found else [],
                    "place": found.place if found else None,
                    "words": found.words if found else "",
                }
            )
            return
        for number, path in enumerate(found.paths if found else ()):
            mark = "*" if found is not None and number == found.place else " "
            output.line(f"{mark} {display_path(path)}")
        article = "" if found and found.words.startswith("version") else "the "  # version 2 of 3, the newest of 3
        output.line(f"This is {article}{found.words}." if found else "There is no other version of it in the library.")


COMMANDS: dict[str, Callable[[argparse.Namespace], int | None]] = {"quotes": quotes, "versions": versions}
