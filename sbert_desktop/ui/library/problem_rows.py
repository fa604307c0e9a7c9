"""Problems as rows of a table: their words made once, in a thread; filtered and counted without Qt."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from PySide6.QtCore import Qt

from sbert_desktop.app.views import ProblemView
from sbert_desktop.domain import LEFT_OUT, NOT_COUNTED, PICTURE, WORDLESS, short_path
from sbert_desktop.ui import icons, words
from sbert_desktop.ui.library.causes import can_recognise, cause_words, hint_words, limit_of
from sbert_desktop.ui.library.tables import Column
from sbert_desktop.ui.naming import file_words, kind_of, quick_path


@dataclass(frozen=True, slots=True)
class Row:
    """One problem with the words that the table shows, sorts and searches by, and what helps against it."""

    problem: ProblemView
    name: str
    place: str
    cause: str
    haystack: str
    key: str
    file: str
    able: bool  # text recognition may help
    limit: str


def make_rows(problems: Iterable[ProblemView]) -> tuple[Row, ...]:
    """Makes the rows; no disk is touched, and fifty thousand take under a second in a thread."""
    places: dict[str, str] = {}
    rows = []
    for problem in problems:
        file = str(problem.path)
        parent = os.path.dirname(file)
        place = places.get(parent)
        if place is None:
            place = places[parent] = short_path(parent)
        name = file_words(problem.path, problem.member)
        rows.append(Row(problem, name, place, cause_words(problem), f"{name}\n{place}\n{problem.message}".casefold(),
                        f"{file}\0{problem.member}", file, can_recognise(problem), limit_of(problem)))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are wanted: words, a cause, a folder of the library, ignored ones too."""

    text: str = ""
    cause: str = ""
    folder: Path | None = None
    ignored: bool = False

    def narrows(self) -> bool:
        """True while something but the choice of ignored ones leaves rows out."""
        return bool(self.text.strip() or self.cause or self.folder is not None)


def filtered(rows: Sequence[Row], wanted: Wanted) -> list[Row]:
    """Gives the rows that are wanted."""
    words_ = wanted.text.casefold().split()
    return [row for row in rows
            if (wanted.ignored or not row.problem.ignored)
            and (not wanted.cause or row.cause == wanted.cause)
            and (wanted.folder is None or row.problem.folder == wanted.folder)
            and all(word in row.haystack for word in words_)]


def causes_of(rows: Sequence[Row], wanted: Wanted) -> list[tuple[str, int]]:
    """Counts the causes among the rows that the other filters leave, most frequent first."""
    rest = filtered(rows, Wanted(wanted.text, "", wanted.folder, wanted.ignored))
    return Counter(row.cause for row in rest).most_common()


def summary(rows: Sequence[Row]) -> str:
    """Gives ``37 files are not in the results, 12 only in part``; "" for none.

    Pictures, and files of a kind that is not read, are listed, but are no problem: they are counted apart.
    """
    shown = [row for row in rows if not row.problem.ignored]
    pictures = len({row.key for row in shown if row.problem.code in (PICTURE, WORDLESS)})
    other = len({row.key for row in shown if row.problem.code == LEFT_OUT})
    parts = [_counted([row for row in shown if row.problem.code not in NOT_COUNTED])]
    if pictures:
        parts.append(f"{words.counted(pictures, 'picture')} without its text" if pictures == 1
                     else f"{words.counted(pictures, 'picture')} without their text")
    if other:
        parts.append(f"{words.count(other) if any(parts) else words.counted(other, 'file')} of a kind that is not read")
    return "; ".join(part for part in parts if part)


def _counted(rows: Sequence[Row]) -> str:
    partial = {row.key for row in rows if row.problem.partial}
    missing = len({row.key for row in rows if not row.problem.partial})
    if not missing and not partial:
        return ""
    part = f"{words.counted(len(partial), 'file')} {'is' if len(partial) == 1 else 'are'} in the results only in part"
    if not missing:
        return part
    text = f"{words.counted(missing, 'file')} {'is' if missing == 1 else 'are'} not in the results"
    return f"{text}, {words.count(len(partial))} only in part" if partial else text


def folders_of(rows: Iterable[Row]) -> dict[Path, int]:
    """Counts the problems of each folder of the library, those ignored left out."""
    return dict(Counter(row.problem.folder for row in rows if not row.problem.ignored))


def paths_of(rows: Iterable[Row]) -> tuple[Path, ...]:
    """Gives the files of rows, each once; a container stands for its members."""
    return tuple({row.file: row.problem.path for row in rows}.values())


def places_of(rows: Iterable[Row]) -> tuple[tuple[Path, str], ...]:
    """Gives the files and members of rows, each once; a member stands for itself alone."""
    return tuple({row.key: (row.problem.path, row.problem.member) for row in rows}.values())


def held_words(rows: Sequence[Row]) -> str:
    """Gives what a member's row means for the file that holds it: ``Reads mail.mbox again, all of it``; "" for none."""
    holders = {row.file: row.problem.path for row in rows if row.problem.member}
    if not holders:
        return ""
    if len(holders) > 1:
        return f"Reads the {words.count(len(holders))} files that hold them again, all that is in them"
    return f"Reads {file_words(next(iter(holders.values())))} again, all that is in it"


def row_key(row: object) -> Hashable:
    """Gives what a row is known by when the list is read again."""
    return cast(Row, row).key


def _row(row: object) -> Row:
    return cast(Row, row)


def _result_words(row: object) -> str:
    problem = _row(row).problem
    return "Ignored" if problem.ignored else "In part" if problem.partial else "No"


def _result_look(row: object) -> tuple[str, str]:
    problem = _row(row).problem
    # most are not found: a tag in every row would say nothing
    return ("neutral", "") if problem.ignored else ("warn", "") if problem.partial else ("", "")


COLUMNS = (
    Column("File", lambda row: _row(row).name, 288, elide=Qt.TextElideMode.ElideMiddle,
           icon=lambda row: icons.for_format(kind_of(_row(row).problem.path, _row(row).problem.member)),
           tip=lambda row: quick_path(_row(row).problem.path) + (
               f" / {quick_path(_row(row).problem.member)}" if _row(row).problem.member else "")),
    Column("Folder", lambda row: _row(row).place, 208, tone="muted", elide=Qt.TextElideMode.ElideMiddle,
           tip=lambda row: quick_path(_row(row).problem.path.parent)),
    Column("What happened", lambda row: _row(row).problem.message.rstrip("."), 0, least=240,
           tip=lambda row: f"{_row(row).problem.message} {hint_words(_row(row).problem)}".strip()),
    Column("In results", _result_words, 96, tag=_result_look,
           tip=lambda row: {"Ignored": "You chose not to see it", "In part": "What could be read is findable",
                            "No": "No search finds it"}[_result_words(row)]),
    Column("Tried", lambda row: words.ago(_row(row).problem.when) if _row(row).problem.when else "", 120, role="meta",
           tone="muted", right=True, key=lambda row: _row(row).problem.when),
)
