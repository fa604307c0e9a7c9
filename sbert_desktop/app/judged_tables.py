"""Tables of judged texts as ``evaluate`` and the model lab read them: CSV with a header; a mistake is one line."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from sbert_desktop.domain import display_path
from sbert_desktop.errors import UsageError
from sbert_desktop.paths import ordinary_size

Names = Sequence[str]
"""What a column may be called, the name to be told first."""

TEXT: Names = ("text", "sentence", "document", "content", "utterance", "question")
LABEL: Names = ("label", "category", "class", "topic", "cluster", "intent", "label_text")
FIRST: Names = ("sentence1", "sentence_1", "text_a", "source")
SECOND: Names = ("sentence2", "sentence_2", "text_b", "target", "translation")
QUERY: Names = ("query", "question")
CANDIDATE: Names = ("text", "passage", "document", "candidate")
RELEVANT: Names = ("label", "relevance", "relevant", "score")


def header(file: Path) -> tuple[str, ...]:
    """Gives the names of the columns.

    Raises:
        UsageError: ``file-missing`` or ``file-unreadable``.
    """
    return _read(file, head_only=True)[0]


def read_columns(file: Path, columns: Sequence[Names]) -> list[list[str]]:
    """Gives columns of a table, each found by one of its names, whatever their case.

    Raises:
        UsageError: ``file-missing``, ``file-unreadable``, ``column-missing``, ``no-rows``, ``row-short``.
    """
    names, rows = _read(file)
    by_fold = {name.strip().casefold(): name for name in reversed(names)}
    chosen: list[str] = []
    for options in columns:
        free = (by_fold[option] for option in options if option in by_fold and by_fold[option] not in chosen)
        name = next(free, None)
        if name is None:
            raise UsageError(
                "column-missing",
                f"{display_path(file)} has no column {options[0]}; it has: {', '.join(names) or 'none'}.",
                f"Name the columns {', '.join(options[0] for options in columns)}.",
            )
        chosen.append(name)
    if not rows:
        raise UsageError("no-rows", f"{display_path(file)} has no rows.", "Add at least two.")
    for line, row in enumerate(rows, 2):
        if any(row[name] is None for name in chosen):
            raise UsageError(
                "row-short", f"Line {line} of {display_path(file)} has too few columns.", "Correct the line."
            )
    return [[str(row[name]) for row in rows] for name in chosen]


def _read(file: Path, *, head_only: bool = False) -> tuple[tuple[str, ...], list[dict[str, str | None]]]:
    try:
        ordinary_size(file)
        with open(file, encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            names = tuple(name for name in (reader.fieldnames or ()) if name)
            return names, [] if head_only else list(reader)
    except FileNotFoundError:
        raise UsageError("file-missing", f"There is no file {display_path(file)}.", "Check the name.") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(
            "file-unreadable", f"{display_path(file)} is not a readable CSV file: {error}.", "Save it as CSV in UTF-8."
        ) from None
