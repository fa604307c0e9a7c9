"""Tables of judged texts as ``evaluate`` and the model lab read them: CSV with a header; a mistake is one line."""

from __future__ import annotations

import csv
import math
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
                f"{display_path(file)} has no column {options[0]}; it has: {listed(names)}.",
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
            head = stream.readline(_LONGEST_HEAD)
            if "\0" in head:
                raise UsageError("file-unreadable", f"{display_path(file)} is not text.", _HINT)
            stream.seek(0)
            reader = csv.DictReader(stream, delimiter=_delimiter(head))
            names = tuple(name for name in (reader.fieldnames or ()) if name)
            return names, [] if head_only else list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise refused(file, error, _HINT) from None


_HINT = "Save it as CSV in UTF-8."
_LONGEST_HEAD = 100_000
_SHOWN, _WIDE = 12, 40
"""Names of columns that are shown, and the characters of one."""


def _delimiter(head: str) -> str:
    """Gives what parts the names of the columns: a comma, unless there is none."""
    return next((sign for sign in ",;\t" if sign in head), ",")


def listed(names: Sequence[str]) -> str:
    """Gives names of columns for a message, however many and long: what is no table has odd ones."""
    shown = [_plain(name) for name in names[:_SHOWN]]
    rest = len(names) - len(shown)
    return (", ".join(shown) or "none") + (f" and {rest:,} more" if rest > 0 else "")


def _plain(name: str) -> str:
    plain = "".join(sign if sign.isprintable() else "?" for sign in name)
    return plain if len(plain) <= _WIDE else f"{plain[: _WIDE - 1]}…"


def refused(file: Path, error: Exception, hint: str) -> UsageError:
    """Gives why a file cannot be read, in plain words: ``file-missing`` or ``file-unreadable``."""
    shown = display_path(file)
    if isinstance(error, FileNotFoundError):
        return UsageError("file-missing", f"There is no file {shown}.", "Check the name.")
    if isinstance(error, OSError):
        reason = f"cannot be read: {(error.strerror or 'the system refuses').lower()}"
        return UsageError("file-unreadable", f"{shown} {reason}.", "Choose another file.")
    if isinstance(error, UnicodeDecodeError):
        return UsageError("file-unreadable", f"{shown} is not text in UTF-8.", hint)
    return UsageError("file-unreadable", f"{shown} has a cell with more characters than can be read.",
                      "See whether a quotation mark opens there and does not close.")  # fmt: skip


def number_of(file: Path, line: int, value: str) -> float:
    """Gives the number in a cell.

    Raises:
        UsageError: ``not-a-number``: it is none, or not a finite one.
    """
    try:
        number = float(value)
        if not math.isfinite(number):
            raise ValueError
        return number
    except ValueError:
        raise UsageError(
            "not-a-number", f"Line {line} of {display_path(file)} has {value!r} where a number belongs.",
            "Correct the line.",
        ) from None  # fmt: skip
