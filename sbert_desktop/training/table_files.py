"""Files of tables (CSV, TSV and their kin) cut into rows; delimiter and encoding are found out. Any thread."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sbert_desktop.domain import display_path
from sbert_desktop.errors import TrainingError
from sbert_desktop.paths import ordinary_size
from sbert_desktop.training.column_names import is_known

MOST_BYTES = 500_000_000
"""Bytes of a table that is read; more is no list of labels that somebody made."""
MOST_LISTED = 200
"""Bad rows that are listed; all are counted."""
_LONGEST_ROW = 500
"""Lines of a row from which a quotation mark that was not closed is the reason, not a long text."""

_NO_SIGNS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_HEAD, _FEW_SIGNS = 20_000, 0.02
"""Characters looked at, and the share of signs that no text has from which a file is none."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """A file cut into rows.

    Attributes:
        name: Of the file.
        columns: Their names as they stand in the file; ``column 1``... where it names none.
        rows: Line of the file (from 1) where the row begins, and its cells.
        encoding: As Python calls it.
        delimiter: One character.
        broken: Lines that could not be cut into cells, each with a reason.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, list[str]], ...] = field(repr=False)
    encoding: str
    delimiter: str
    broken: tuple[BadRow, ...] = ()


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that was left out: its line in the file, from 1, and why."""

    line: int
    reason: str


def read_table(path: Path, *, delimiter: str | None = None, encoding: str | None = None, header: bool = True) -> Table:
    """Cuts a file into rows.

    Args:
        path: The file.
        delimiter: One character; None finds out.
        encoding: As Python calls it; None finds out.
        header: The first row names the columns.

    Raises:
        TrainingError: ``no-table``: the file cannot be read, is empty, or is no table in plain text.
    """
    text, used = _decode(path, encoding)
    told = re.match(r"sep=(.)\r?\n", text)  # what Excel writes for itself
    if told:
        text, delimiter = text[told.end() :], delimiter or told[1]
    offset = 1 if told else 0
    delimiter = delimiter or _delimiter(text)
    rows, broken = _cut(text, delimiter, offset)
    rows = [row for row in rows if any(cell.strip() for cell in row[1])]
    if not rows or (header and len(rows) == 1 and not broken):
        raise TrainingError("no-table", f"{display_path(path)} has no rows.", "Choose a table with a line of names.")
    if header:
        columns = tuple(cell.strip() for cell in rows.pop(0)[1])
    else:
        columns = tuple(f"column {number}" for number in range(1, max(len(row[1]) for row in rows) + 1))
    return Table(path.name, columns, tuple(rows), used, delimiter, tuple(broken))


def _decode(path: Path, encoding: str | None) -> tuple[str, str]:
    """Gives the text of a file and the encoding it was read with."""
    shown = display_path(path)
    try:
        if ordinary_size(path) > MOST_BYTES:
            raise TrainingError("no-table", f"{shown} is larger than 500 MB.", "Choose a part of it.")
        data = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or "it cannot be read").lower()
        raise TrainingError("no-table", f"{shown} cannot be read: {reason}.", "Choose another file.") from error
    if data[:4] in {b"PK\x03\x04", b"\xd0\xcf\x11\xe0"}:
        raise TrainingError("no-table", f"{shown} is a workbook, not a table in plain text.", "Save it as CSV first.")
    for mark, name in _MARKS:
        if encoding is None and data.startswith(mark):
            encoding = name
    if encoding is None and data[:2000].count(0) > len(data[:2000]) // 4:
        encoding = "utf-16-le" if data[1:2000:2].count(0) > data[0:2000:2].count(0) else "utf-16-be"
    for name in (encoding,) if encoding else ("utf-8", "cp1252", "latin-1"):
        try:
            text = data.decode(name).removeprefix("\ufeff")
        except (UnicodeDecodeError, LookupError):
            continue
        if len(_NO_SIGNS.findall(text[:_HEAD])) > _FEW_SIGNS * min(len(text), _HEAD):
            raise TrainingError("no-table", f"{shown} is not text.", "Choose a table, saved as CSV.")
        return text, name
    raise TrainingError("no-table", f"{shown} is not text in the encoding {encoding}.", "Choose another encoding.")


def _delimiter(text: str) -> str:
    """Gives the delimiter under which the first rows look most like a table."""
    head = text[:50_000]
    if len(text) > len(head):
        head = head[: head.rfind("\n") + 1] or head
    best, found = (0.0, 0.0, 0.0), ","
    for delimiter in ",;\t|":
        rows = [row for _, row in _cut(head, delimiter, 0)[0][:200]]
        if not rows or len(rows[0]) < 2:
            continue
        wide = len(rows[0])
        known = sum(is_known(cell) for cell in rows[0])
        even = sum(len(row) == wide for row in rows) / len(rows)
        # Known names are proof; then a table has as many cells in each row, and not too many.
        if (known, even, -wide) > best or best == (0.0, 0.0, 0.0):
            best, found = (float(known), even, float(-wide)), delimiter
    return found


def _cut(text: str, delimiter: str, offset: int) -> tuple[list[tuple[int, list[str]]], list[BadRow]]:
    """Cuts text into rows with the line where each begins; lines that the reader refuses are told apart."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
    if delimiter == "\t" and not re.search(r'(?:^|\t)"[^\t\n]*"(?:\t|\r?$)', text[:100_000], re.MULTILINE):
        quoting = csv.QUOTE_NONE  # marks are signs like others in most tables of tabs: one alone would eat the file
    lines = list(io.StringIO(text, newline=""))
    rows: list[tuple[int, list[str]]] = []
    broken: list[BadRow] = []
    start = 0
    while start < len(lines):
        reader = csv.reader(lines[start:] if start else lines, delimiter=delimiter, quoting=quoting)
        before = start
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return rows, broken
            except csv.Error:  # more characters in one cell than the reader takes
                row = []
                span = start + reader.line_num - before
                if span <= 1:  # one line by itself; else a quotation mark took in all that follows
                    broken.append(BadRow(before + 1 + offset, "a cell has more characters than can be read"))
                    before = start + reader.line_num
                    continue
                span = _LONGEST_ROW
            else:
                span = start + reader.line_num - before
            torn = span > 1 and (span >= _LONGEST_ROW or (bool(rows) and len(row) < len(rows[0][1])))
            if torn and len(broken) < MOST_LISTED:
                broken.append(BadRow(before + 1 + offset, "a quotation mark opens and does not close"))
                start = before + 1  # the lines after it are rows of their own
                break
            if row:
                rows.append((before + 1 + offset, row))
            before = start + reader.line_num
    return rows, broken
