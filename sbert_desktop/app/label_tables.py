"""Tables of labels: looked at, taken in, listed, removed, and judgements written as one.

A table that is taken in becomes a file of the library: ``labels/NAME.csv`` with the columns that
:data:`sbert_desktop.training.column_names.ROLES` names, and ``labels/NAME.json`` that says what it is. It does not
become judgements: those name a document and a place in it, which a table does not know. A plan names it by its path.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sbert_desktop.app import label_records
from sbert_desktop.app.training_views import ImportedView, TableView, Task
from sbert_desktop.domain import display_path
from sbert_desktop.errors import LibraryError, TrainingError, UsageError
from sbert_desktop.training.column_names import ROLES
from sbert_desktop.training.columns import Columns, guess_columns, map_columns
from sbert_desktop.training.labels import LabelKind, LabelSet
from sbert_desktop.training.table_files import Table, read_table
from sbert_desktop.training.tables import Imported, labels_of, read_labels, write_labels

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import JobContext

FOLDER = "labels"
"""In the library's folder."""
_SAMPLE, _PROBLEMS = 5, 20
_CELL = 300
"""Characters shown of a cell."""


def look_at_table(path: Path, mapping: Sequence[tuple[str, str]] = (), kind: str = "") -> TableView:
    """Reads a table and says what its columns would be taken for; what cannot be used stands in ``problems``.

    Args:
        path: The file.
        mapping: Parts of a label (``ROLES``) to columns, as the person chose them; the rest is guessed.
        kind: As ``LabelKind``; ``""`` finds out.

    Raises:
        TrainingError: ``no-table``: the file cannot be read or is no table.
        UsageError: ``bad-label-kind``.
    """
    table = read_table(path)
    sample = tuple(tuple(cell[:_CELL] for cell in row) for _, row in table.rows[:_SAMPLE])
    wanted = kind_named(kind)
    try:
        columns = _columns(table, mapping, wanted)
        read = labels_of(table, columns)
    except TrainingError as error:
        said = tuple((role, name) for role, name in mapping if name in table.columns)
        problem = f"{error.message} {error.hint}".strip()
        return TableView(path, table.columns, kind, said, sample, len(table.rows), (problem,))
    problems = [] if not columns.note else [columns.note]
    if read.bad_count:
        problems.append(read.summary())
        problems += [f"Line {row.line}: {row.reason}." for row in read.bad[:_PROBLEMS]]
    return TableView(path, table.columns, columns.kind.value, _mapping(table, columns), sample, len(table.rows),
                     tuple(problems))  # fmt: skip


def import_labels(
    session: Session, path: Path, kind: str, mapping: Sequence[tuple[str, str]], context: JobContext
) -> tuple[ImportedView, ...]:
    """Takes the labels of a table into the library's folder; gives all that were taken in, newest first.

    Raises:
        TrainingError: ``no-table``, ``unknown-columns``, ``unknown-labels``, ``no-labels`` or ``not-written``.
        UsageError: ``bad-label-kind``.
        LibraryError: ``library-readonly``.
        Cancelled: Through ``context``.
    """
    folder = _folder(session, writing=True)
    context.progress("Reading the table", 0, None)
    table = read_table(path)
    context.check()
    labels = labels_of(table, _columns(table, mapping, kind_named(kind))).labels
    context.check()
    name = _free_name(folder, path.stem)
    try:
        folder.mkdir(exist_ok=True, mode=0o700)
        write_labels(folder / f"{name}.csv", labels)
        _describe(folder / f"{name}.json", labels, path)  # last: a table without it is not listed
    except OSError as error:
        raise TrainingError("not-written", f"The table could not be kept: {(error.strerror or 'error').lower()}.",
                            "See whether the disk is full.") from error  # fmt: skip
    return imported_labels(session)


def imported_labels(session: Session) -> tuple[ImportedView, ...]:
    """Lists tables that were taken in, newest first; a damaged one is left out."""
    folder = _folder(session)
    views = []
    for place in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        known = _described(place.with_suffix(".csv"))
        if known is not None and place.with_suffix(".csv").is_file():
            views.append(known)
    return tuple(sorted(views, key=lambda view: (-view.made, view.name)))


def remove_imported(session: Session, name: str) -> tuple[ImportedView, ...]:
    """Removes a table that was taken in; gives those that stay.

    Raises:
        UsageError: ``table-gone``.
        LibraryError: ``library-readonly``.
    """
    if name not in {view.name for view in imported_labels(session)}:
        raise UsageError("table-gone", f"There is no table “{name}”.", "Look at the list again.")
    folder = _folder(session, writing=True)
    try:
        for suffix in (".json", ".csv"):
            (folder / f"{name}{suffix}").unlink(missing_ok=True)
    except OSError as error:
        raise TrainingError("not-written", f"“{name}” cannot be removed: {(error.strerror or 'error').lower()}.",
                            "Try again when no other program uses it.") from error  # fmt: skip
    return imported_labels(session)


def export_labels(session: Session, task: Task, target: Path) -> Path:
    """Writes the judgements of a task as CSV that can be taken in again; gives the path written.

    Where plain verdicts and grades are there, the fewer of them stand in a second file beside it, with the kind in
    its name: a table holds one kind.

    Raises:
        UsageError: ``nothing-to-export``.
        TrainingError: ``not-written``.
    """
    records = label_records.records_of(session.library.judgements(), task)
    found = label_records.labels_from(records)
    if not found:
        raise UsageError("nothing-to-export", "Nothing is judged yet.", "Judge some pairs first.")
    kinds = sorted(found, key=lambda kind: -len(found[kind]))
    for kind in reversed(kinds):
        place = target if kind is kinds[0] else target.with_name(f"{target.stem}-{kind.value}{target.suffix}")
        write_labels(place, found[kind].labels)
    return target


def read_taken(path: Path, kind: LabelKind | None = None) -> Imported:
    """Gives the labels of a table that was taken in, or of any other, and which rows were left out.

    Args:
        path: The file.
        kind: Kind of label; None: the one it was taken in as, else what it looks like.

    Raises:
        TrainingError: ``no-table``, ``unknown-columns``, ``unknown-labels`` or ``no-labels``.
    """
    known = _described(path)
    return read_labels(path, LabelKind(known.kind) if known is not None else kind)


def kind_named(name: str) -> LabelKind | None:
    """Gives the kind of a name, None for ``""``.

    Raises:
        UsageError: ``bad-label-kind``.
    """
    if not name:
        return None
    try:
        return LabelKind(name)
    except ValueError as error:
        known = ", ".join(kind.value for kind in LabelKind)
        raise UsageError("bad-label-kind", f"There are no labels called {name!r}.", f"There are {known}.") from error


# ---------------------------------------------------------------- columns


def _columns(table: Table, mapping: Sequence[tuple[str, str]], kind: LabelKind | None) -> Columns:
    roles = {role: name for role, name in mapping if name}
    if not roles:
        return guess_columns(table, kind)
    if kind is None:
        fitting = [one for one, wanted in ROLES.items() if set(roles) <= set(wanted)]
        kind = fitting[0] if fitting else LabelKind.PAIRS
    return map_columns(table, kind, roles)


def _mapping(table: Table, columns: Columns) -> tuple[tuple[str, str], ...]:
    """Gives which column stands for which part."""
    roles = ROLES[columns.kind]
    places = [*columns.texts, *([] if columns.value is None else [columns.value])]
    return tuple((role, table.columns[place]) for role, place in zip(roles, places, strict=False))


# ---------------------------------------------------------------- files


def _folder(session: Session, *, writing: bool = False) -> Path:
    library = session.library
    if writing and library.read_only:
        raise LibraryError("library-readonly", f"The library in {display_path(library.path)} cannot be written.",
                           "Copy it to a place where you may write.")  # fmt: skip
    return Path(library.path) / FOLDER


def _free_name(folder: Path, wanted: str) -> str:
    """Gives a name for a table that no other has, without signs that a file system might refuse."""
    plain = " ".join(re.sub(r"[^\w.-]+", " ", wanted).split()).strip(" .")[:60].strip(" .") or "labels"
    name, number = plain, 1
    taken = {place.stem.casefold() for place in folder.iterdir()} if folder.is_dir() else set()
    while name.casefold() in taken:
        number += 1
        name = f"{plain} {number}"
    return name


def _describe(place: Path, labels: LabelSet, source: Path) -> None:
    what = {"version": 1, "kind": labels.kind.value, "rows": len(labels), "made": time.time(),
            "counts": list(_counts(labels)), "source": source.name}  # fmt: skip
    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(what), "utf-8")
        os.replace(part, place)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _counts(labels: LabelSet) -> tuple[tuple[str, int], ...]:
    """Gives how many labels say what; of grades, how many lie about each whole number."""
    if labels.kind is not LabelKind.GRADED:
        return tuple(labels.counts().items())
    rounded = [int(example.value + 0.5) for example in labels.examples]
    return tuple((f"{grade}", rounded.count(grade)) for grade in range(6))


def _described(path: Path) -> ImportedView | None:
    """Gives what a table was taken in as, None for one that was not."""
    if path.parent.name != FOLDER:
        return None
    try:
        what = json.loads(path.with_suffix(".json").read_text("utf-8"))
        counts = tuple((str(word), int(count)) for word, count in what["counts"])
        kind = LabelKind(what["kind"])
        return ImportedView(path.stem, path, kind.value, int(what["rows"]), counts, float(cast(float, what["made"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None
