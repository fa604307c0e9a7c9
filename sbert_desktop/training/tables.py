"""Labels from tables and back: what a person has elsewhere, and what leaves the program.

Delimiter, encoding and columns are found out, and each can be said instead. Rows that cannot be used are counted and
listed with their line; they never end an import. Pure functions over one file; any thread.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sbert_desktop.domain import display_path
from sbert_desktop.errors import TrainingError
from sbert_desktop.training.column_names import DOCUMENTS, ROLES, listed
from sbert_desktop.training.columns import Columns, guess_columns, kind_of_roles, map_columns
from sbert_desktop.training.label_values import value_reader, written
from sbert_desktop.training.labels import Example, LabelKind, LabelSet
from sbert_desktop.training.table_files import MOST_LISTED, BadRow, Table, read_table

MOST_CHARACTERS = 20_000
"""Characters kept of a text: many times what any encoder reads."""

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""What makes a spreadsheet take a cell as a formula. Source: OWASP, CSV Injection."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What a table gave.

    Attributes:
        labels: Those that can be used, in the order of the file.
        bad: The first rows that cannot be used, at most ``MOST_LISTED``.
        bad_count: How many cannot be used.
        reasons: How often each reason was met, the most frequent first.
        columns: What each column was taken for.
        table: The file as it was cut.
    """

    labels: LabelSet
    bad: tuple[BadRow, ...]
    bad_count: int
    reasons: tuple[tuple[str, int], ...]
    columns: Columns
    table: Table

    def summary(self) -> str:
        """Gives one line: how many labels of what, and how many rows were left out and why."""
        said = f"{len(self.labels):,} {self.labels.unit}"
        counts = self.labels.counts()
        if 1 < len(counts) <= 3:
            said += " (" + ", ".join(f"{count:,} {word}" for word, count in counts.items()) + ")"
        if self.bad_count:
            rows = "row was" if self.bad_count == 1 else "rows were"
            reasons = "; ".join(f"{count:,}: {reason}" for reason, count in self.reasons[:3])
            said += f"; {self.bad_count:,} {rows} left out ({reasons})"
        return said + "."


def read_labels(path: Path, kind: LabelKind | None = None, roles: Mapping[str, str] | None = None) -> Imported:
    """Reads labels from a table; delimiter, encoding, columns and kind are found out unless said.

    Args:
        path: The file.
        kind: Kind of label; None finds out.
        roles: Of ``ROLES`` to the name of a column of the table; needs a kind.

    Raises:
        TrainingError: ``no-table``, ``unknown-columns``, ``unknown-labels`` or ``no-labels`` (not one row is usable).
    """
    table = read_table(path)
    if roles:
        if kind is None:
            kind = kind_of_roles(roles)
        return labels_of(table, map_columns(table, kind, roles))
    return labels_of(table, guess_columns(table, kind))


def labels_of(table: Table, columns: Columns) -> Imported:
    """Reads the rows of a table as labels.

    Raises:
        TrainingError: ``no-labels``: not one row is usable; the message says why the first is not.
    """
    bad = list(table.broken)
    examples: list[Example] = []
    value_of = value_reader(columns.kind, columns.scale)
    most = max((place for place in (*columns.texts, columns.value) if place is not None), default=0)
    texts_at, value_at = columns.texts, columns.value
    documents_at = columns.documents if any(place is not None for place in columns.documents) else ()
    for line, row in table.rows:
        if len(row) <= most:
            bad.append(BadRow(line, f"it has {len(row)} of {len(table.columns)} cells"))
            continue
        texts = tuple([_shown(row[place]) for place in texts_at])
        if not all(texts):
            bad.append(BadRow(line, "a text is empty"))
            continue
        value: float | str = 1.0 if value_at is None else value_of(row[value_at])
        if isinstance(value, str):
            bad.append(BadRow(line, value))
            continue
        documents = tuple(_sha256(row, place) for place in documents_at)
        examples.append(Example(texts, value, documents, table.name, line))
    if not examples:
        first = min(bad, key=lambda row: row.line)
        raise TrainingError("no-labels", f"No row of {table.name} can be used; line {first.line}: {first.reason}.",
                            f"It has the columns {listed(table.columns)}: say which is which.")  # fmt: skip
    bad.sort(key=lambda row: row.line)
    reasons = Counter(re.sub(r"'.*'|\d+ of", "", row.reason).replace("  ", " ") for row in bad).most_common()
    return Imported(LabelSet(columns.kind, tuple(examples)), tuple(bad[:MOST_LISTED]), len(bad), tuple(reasons),
                    columns, table)  # fmt: skip


def _shown(cell: str) -> str:
    """Gives a cell's text: without the quote that keeps spreadsheets from running it, and without blanks around."""
    if cell[:1] == "'" and _FORMULA.match(cell):
        cell = cell[1:]
    return cell.strip()[:MOST_CHARACTERS]


def _sha256(row: Sequence[str], place: int | None) -> str:
    cell = row[place].strip().lower() if place is not None and place < len(row) else ""
    return cell if re.fullmatch(r"[0-9a-f]{64}", cell) else ""


def write_labels(path: Path, labels: LabelSet) -> int:
    """Writes labels as CSV (UTF-8 with a mark, so that Excel reads it) that :func:`read_labels` reads back the same.

    No spreadsheet takes a cell as a formula. The file is there whole or not at all. Gives how many rows it has.

    Raises:
        TrainingError: ``not-written``.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(partial, "w", encoding="utf-8-sig", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\r\n")
            writer.writerows(_rows(labels))
        os.replace(partial, path)
    except OSError as error:
        with contextlib.suppress(OSError):  # what could not be made cannot always be removed
            partial.unlink(missing_ok=True)
        reason = os.strerror(error.errno).lower() if error.errno else "the disk refused"
        raise TrainingError("not-written", f"{display_path(path)} cannot be written: {reason}.",
                            "Choose another place.") from error  # fmt: skip
    return len(labels)


def _rows(labels: LabelSet) -> Iterator[Sequence[str]]:
    kind = labels.kind
    documents = any(any(example.documents) for example in labels.examples)
    yield (*ROLES[kind], *(DOCUMENTS[: kind.texts] if documents else ()))
    valued = len(ROLES[kind]) > kind.texts
    for example in labels.examples:
        cells = [f"'{text}" if _FORMULA.match(text) else text for text in example.texts]
        if valued:
            cells.append(written(kind, example.value))
        if documents:
            cells.extend(example.document(place) for place in range(kind.texts))
        yield cells
