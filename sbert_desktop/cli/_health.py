"""Commands for the library itself: ``doctor``, and ``restore`` from a daily copy."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable

from sbert_desktop.cli import _output as output
from sbert_desktop.cli._opening import as_json, console, library_folder, session
from sbert_desktop.domain import display_path


def doctor(options: argparse.Namespace) -> int:
    """Looks the library over, and mends it with ``--repair``; the exit status tells whether all is in order."""
    from sbert_desktop.app.doctor import run_doctor

    with session(options) as opened, console(options) as context:
        checks = run_doctor(opened, context, repair=options.repair)
        context.clear()
        for notice in opened.notices():
            output.say(notice)
        if as_json(options):
            output.emit({"checks": [dataclasses.asdict(check) for check in checks]})
        else:
            for check in checks:
                output.line(f"{'ok   ' if check.ok else 'WRONG'}  {check.name:<10}  {check.detail}")
        mendable = {"vectors", "index", "words"}
        wrong = [check for check in checks if not check.ok and check.name != "folder"]
        if not options.repair and any(check.name in mendable for check in wrong):
            output.say("'doctor --repair' mends it.")
        return 1 if wrong else 0


def restore(options: argparse.Namespace) -> None:
    """Brings back judgements, collections, saved searches, captions and clusters from a daily copy."""
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
                "arrangements": view.arrangements,
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


COMMANDS: dict[str, Callable[[argparse.Namespace], int | None]] = {"doctor": doctor, "restore": restore}
