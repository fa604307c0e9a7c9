"""Commands for the library itself: ``restore`` from a daily copy."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from sbert_desktop.cli import _output as output
from sbert_desktop.cli._opening import as_json, library_folder, session
from sbert_desktop.domain import display_path


def restore(options: argparse.Namespace) -> None:
    """Brings back judgements, collections, saved searches and captions from a daily copy."""
    from sbert_desktop.app import keeping

    # A library whose catalog is lost is made anew where its copies still lie.
    there = options.source is not None or bool(keeping.copies_in(library_folder(options)))
    with session(options, create=there) as opened:
        view = keeping.restore(opened, options.source)
        if as_json(options):
            counts = {
                "judgements": view.judgements,
                "collections": view.collections,
                "items": view.items,
                "searches": view.searches,
                "captions": view.captions,
                "later": view.later,
                "unread": view.unread,
            }
            output.emit({"copy": output.path_fields(view.path), "day": view.day, **counts})
            return
        name = f"the copy of {view.day}" if view.day else display_path(view.path)
        output.line(f"Brought back from {name}: {keeping.in_words(view)}.")
        if view.later:
            output.say(f"{view.later:,} captions come back when you do this again after a folder was added.")
        if view.unread:
            output.say(f"{view.unread:,} lines of the copy are damaged and were left out.")


COMMANDS: dict[str, Callable[[argparse.Namespace], int | None]] = {"restore": restore}
