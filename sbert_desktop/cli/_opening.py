"""What every command begins with: the opened library, the progress line; and the report of an indexing run."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sbert_desktop import paths
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import IndexReport
from sbert_desktop.cli import _output as output
from sbert_desktop.cli._console import ConsoleContext
from sbert_desktop.cli._interrupting import granted
from sbert_desktop.settings import Settings


def library_folder(options: argparse.Namespace) -> Path:
    """Gives the folder of the library that the command is about."""
    library: Path = getattr(options, "library", None) or paths.default_library()
    return library.expanduser().absolute()


@contextmanager
def session(options: argparse.Namespace, *, create: bool = False) -> Iterator[Session]:
    """Opens the library that the command is about."""
    settings = Settings()
    for problem in settings.problems:
        output.say(problem)
    opened = Session(library_folder(options), settings, create=create)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def console(options: argparse.Namespace) -> Iterator[ConsoleContext]:
    """Shows progress on standard error, and wipes it at the end; Ctrl+C ends the command where it asks the context."""
    with granted() as wish:
        context = ConsoleContext(quiet=bool(getattr(options, "quiet", False)), look=wish.look)
        try:
            yield context
        finally:
            context.clear()


def as_json(options: argparse.Namespace) -> bool:
    """Says whether one JSON object is asked for."""
    return bool(getattr(options, "json", False))


def print_report(options: argparse.Namespace, report: IndexReport) -> None:
    """Writes what an indexing run did."""
    for notice in report.notices:
        output.say(notice)
    if as_json(options):
        output.emit(dataclasses.asdict(report))
        return
    output.line(
        f"{report.documents:,} documents, {report.passages:,} passages: {report.added:,} added, "
        f"{report.changed:,} changed, {report.moved:,} moved, {report.removed:,} removed, "
        f"{report.unchanged:,} unchanged."
    )
    if report.encoded_passages:
        output.line(
            f"{report.encoded_passages:,} passages encoded at {report.passages_per_second:,.0f} passages/s "
            f"({report.tokens_per_second:,.0f} tokens/s, {report.backend}, {report.device})."
        )
    if report.problems:
        output.line(f"{report.problems:,} files with problems: run 'sbert-desktop problems'.")
    output.line(f"{report.seconds:.1f} s.")
