"""Labels from tables (CSV, TSV and their kin) and back: what a person has elsewhere, and what leaves the program.

Delimiter, encoding and columns are found out, and each can be said instead. Rows that cannot be used are counted and
listed with their line; they never end an import. Pure functions over one file; any thread.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sbert_desktop.domain import display_path
from sbert_desktop.errors import TrainingError
from sbert_desktop.paths import ordinary_size
from sbert_desktop.training.labels import GRADE_TOP, NLI_NAMES, Example, LabelKind, LabelSet, value_word

ROLES: dict[LabelKind, tuple[str, ...]] = {
    LabelKind.PAIRS: ("text_a", "text_b", "label"),
    LabelKind.POSITIVES: ("anchor", "positive"),
    LabelKind.GRADED: ("sentence1", "sentence2", "score"),
    LabelKind.TRIPLETS: ("anchor", "positive", "negative"),
    LabelKind.NLI: ("premise", "hypothesis", "label"),
    LabelKind.RELEVANCE: ("question", "passage", "relevant"),
}
"""The columns of each kind: the texts, then the value. An export has them, an import may map others onto them."""
_DOCUMENTS = ("document_a", "document_b", "document_c")

MOST_BYTES = 500_000_000
"""Bytes of a table that is read; more is no list of labels that somebody made."""
MOST_LISTED = 200
"""Bad rows that are listed; all are counted."""
MOST_CHARACTERS = 20_000
"""Characters kept of a text: many times what any encoder reads."""

_PAIRS_OF_TEXTS = (
    "text_a/text_b sentence1/sentence2 text1/text2 question1/question2 premise/hypothesis s1/s2 sentence_a/sentence_b"
    " sent1/sent2 first/second left/right string1/string2 1_string/2_string doc1/doc2 document1/document2"
    " passage1/passage2 title1/title2 phrase1/phrase2 a/b source/target original/paraphrase anchor/positive"
)
_QUESTIONS = ("question", "query", "search", "anchor")
_PASSAGES = ("passage", "answer", "document", "text", "context", "positive", "response", "paragraph", "sentence")
_GRADES = ("score", "score05", "similarity", "relatedness15", "relatedness", "relatednessscore", "grade", "rating",
           "similarityscore", "goldscore", "label")  # fmt: skip
_CLASSES = ("label", "isduplicate", "same", "duplicate", "class", "goldlabel", "quality", "paraphrase", "isparaphrase",
            "match", "relevant", "relevance", "entailmentjudgment", "entailment", "judgement", "judgment", "y",
            "target", "gold", "value")  # fmt: skip

_YES = frozenset(("1", "1.0", "true", "yes", "y", "same", "duplicate", "relevant", "match", "equal", "paraphrase"))
_NO = frozenset(("0", "0.0", "false", "no", "n", "different", "distinct", "irrelevant", "unequal", "not relevant",
                 "not_relevant", "not duplicate", "not_duplicate", "not same", "no match"))  # fmt: skip
_NLI_WORDS = {
    **{word: float(value) for value, word in enumerate(NLI_NAMES)},
    **{f"{value}": float(value) for value in range(3)},
    **{f"{value}.0": float(value) for value in range(3)},
    "entails": 0.0, "contradicts": 2.0, "e": 0.0, "n": 1.0, "c": 2.0,
}  # fmt: skip
_NO_GOLD = frozenset(("-", "-1", "-1.0"))  # SNLI's pairs on which the annotators did not agree

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""What makes a spreadsheet take a cell as a formula. Source: OWASP, CSV Injection."""


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


@dataclass(frozen=True, slots=True)
class Columns:
    """What each column of a table is.

    Attributes:
        kind: Kind of label.
        texts: Numbers of the columns of the texts, from 0.
        value: Number of the column of the value, None where the kind needs none.
        documents: Numbers of the columns of the documents' sha256, None where the table has none.
        scale: The lowest and highest grade of the table; grades become 0-5.
        note: A sentence on what was guessed and might be otherwise, else empty.
    """

    kind: LabelKind
    texts: tuple[int, ...]
    value: int | None = None
    documents: tuple[int | None, ...] = ()
    scale: tuple[float, float] = (0.0, GRADE_TOP)
    note: str = ""


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


# ---------------------------------------------------------------- reading a file


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


_NO_SIGNS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_HEAD, _FEW_SIGNS = 20_000, 0.02
"""Characters looked at, and the share of signs that no text has from which a file is none."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip


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
        known = sum(_plain(cell) in _KNOWN for cell in rows[0])
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


_LONGEST_ROW = 500
"""Lines of a row from which a quotation mark that was not closed is the reason, not a long text."""


# ---------------------------------------------------------------- what the columns are


def guess_columns(table: Table, kind: LabelKind | None = None) -> Columns:
    """Finds out what the columns of a table are, by their names and by what stands in them.

    Args:
        table: As read.
        kind: Kind of label that it must hold; None finds out.

    Raises:
        TrainingError: ``unknown-columns``: it has no columns that are known, and the message names those it has.
    """
    names = {_plain(name): place for place, name in reversed(list(enumerate(table.columns)))}
    documents = tuple(names.get(_plain(name)) for name in _DOCUMENTS)
    triple = [next((names[_plain(name)] for name in known if _plain(name) in names), None)
              for known in ((*_QUESTIONS, "text", "sentence"), ("positive", "pos"), ("negative", "neg"))]  # fmt: skip
    if kind in {None, LabelKind.TRIPLETS} and None not in triple:
        found = tuple(place for place in triple if place is not None)
        return Columns(LabelKind.TRIPLETS, found, documents=documents)
    texts, asked = _text_columns(names, kind)
    if texts is None or kind is LabelKind.TRIPLETS:
        raise _unknown(table, kind, "texts")
    value = _value_column(table, names, texts, kind)
    if value is None:
        if kind in {None, LabelKind.POSITIVES}:
            return Columns(LabelKind.POSITIVES, texts, documents=documents[:2])
        raise _unknown(table, kind, "label")
    entailment = "premise" in names and names["premise"] in texts
    return _by_values(table, Columns(kind or LabelKind.PAIRS, texts, value, documents[:2]), kind, asked, entailment)


def map_columns(table: Table, kind: LabelKind, roles: Mapping[str, str]) -> Columns:
    """Takes what the person said of the columns; what was not said is guessed.

    Args:
        table: As read.
        kind: Kind of label.
        roles: Of ``ROLES`` to the name of a column of the table.

    Raises:
        TrainingError: ``unknown-columns``: a role or a column that is not there, or one that is missing.
    """
    wanted = ROLES[kind]
    places: dict[str, int] = {}
    for role, name in roles.items():
        if role not in wanted:
            raise TrainingError("unknown-columns", f"{kind.value} have no part called {role!r}.",
                                f"They have {_listed(wanted)}.")  # fmt: skip
        if name not in table.columns:
            raise TrainingError("unknown-columns", f"{table.name} has no column {name!r}.",
                                f"It has {_listed(table.columns)}.")  # fmt: skip
        places[role] = table.columns.index(name)
    missing = [role for role in wanted if role not in places]
    guessed = None
    if missing:
        guessed = guess_columns(table, kind)
        for place, role in enumerate(wanted):
            number = guessed.texts[place] if place < kind.texts else guessed.value
            if number is not None:
                places.setdefault(role, number)
    texts = tuple(places[role] for role in wanted[: kind.texts])
    value = places[wanted[-1]] if len(wanted) > kind.texts else None
    used = [*texts, *([] if value is None else [value])]
    if len(set(used)) < len(used):
        raise TrainingError("unknown-columns", f"One column of {table.name} stands for two parts.",
                            f"Name one for each of {_listed(wanted)}.")  # fmt: skip
    names = [_plain(name) for name in table.columns]
    documents = tuple(names.index(_plain(name)) if _plain(name) in names else None for name in _DOCUMENTS[: len(texts)])
    columns = Columns(kind, texts, value, documents)
    return _scaled(table, columns) if kind is LabelKind.GRADED else columns


def _text_columns(names: Mapping[str, int], kind: LabelKind | None) -> tuple[tuple[int, int] | None, bool]:
    """Gives the columns of two texts, and whether they are a question and a passage."""
    question = next((names[name] for name in _QUESTIONS if name in names), None)
    passage = next((names[name] for name in _PASSAGES if name in names and names[name] != question), None)
    asked = (question, passage) if question is not None and passage is not None else None
    if asked and kind is LabelKind.RELEVANCE:
        return asked, True
    for couple in _PAIRS_OF_TEXTS.split():
        first, second = (names.get(_plain(name)) for name in couple.split("/"))
        if first is not None and second is not None:
            return (first, second), False
    return asked, asked is not None


def _value_column(table: Table, names: Mapping[str, int], texts: tuple[int, ...], kind: LabelKind | None) -> int | None:
    """Gives the column of the value: by its name, grades first where grades are asked for."""
    known = (*_GRADES, *_CLASSES) if kind is LabelKind.GRADED else (*_CLASSES, *_GRADES)
    if kind is LabelKind.POSITIVES:
        return None
    found = next((names[name] for name in known if name in names and names[name] not in texts), None)
    left = [place for place in range(len(table.columns)) if place not in texts]
    if found is None and kind is not None and len(left) == 1:
        return left[0]
    return found


def _by_values(table: Table, columns: Columns, kind: LabelKind | None, asked: bool, entailment: bool) -> Columns:
    """Finds out the kind by what stands in the column of the value; a few odd cells do not matter."""
    assert columns.value is not None
    cells = Counter(row[columns.value].strip().lower() for _, row in table.rows if columns.value < len(row))
    cells.pop("", None)
    total = max(1, sum(cells.values()))

    def mostly(fits: Callable[[str], bool], share: float = 0.9) -> bool:
        return sum(count for cell, count in cells.items() if fits(cell)) >= share * total

    name = _plain(table.columns[columns.value])
    words = mostly(lambda cell: cell in NLI_NAMES or cell in _NO_GOLD)
    three = mostly(lambda cell: cell in _NLI_WORDS or cell in _NO_GOLD) and any(cell in cells for cell in ("2", "2.0"))
    two = mostly(lambda cell: cell in _YES or cell in _NO)
    note = ""
    if kind is None:
        if words or (three and (entailment or name in {"label", "goldlabel"})) or (two and entailment):
            kind = LabelKind.NLI
            if not words:
                note = "0, 1 and 2 are read as entailment, neutral and contradiction."
        elif two and not name.startswith(("score05", "grade", "relatedness")):
            kind = LabelKind.RELEVANCE if asked else LabelKind.PAIRS
        elif mostly(lambda cell: _number(cell) is not None):
            kind = LabelKind.GRADED
        elif mostly(lambda cell: cell in NLI_NAMES or cell in _NO_GOLD, 0.5):
            kind = LabelKind.NLI
        elif mostly(lambda cell: cell in _YES or cell in _NO, 0.5):
            kind = LabelKind.RELEVANCE if asked else LabelKind.PAIRS
        else:
            shown = ", ".join(repr(cell) for cell, _ in cells.most_common(4)) or "nothing"
            raise TrainingError(
                "unknown-labels", f"The column {table.columns[columns.value]!r} of {table.name} holds {shown}.",
                "Labels are 0 and 1, same and different, grades from 0 to 5, or entailment, neutral and contradiction.",
            )  # fmt: skip
    found = Columns(kind, columns.texts, columns.value, columns.documents, note=note)
    return _scaled(table, found) if kind is LabelKind.GRADED else found


def _scaled(table: Table, columns: Columns) -> Columns:
    """Finds out the lowest and the highest grade, by the column's name, else by what stands in it."""
    assert columns.value is not None
    name = _plain(table.columns[columns.value])
    told = re.search(r"(?<!\d)([01])(5|10|100|1)$", name)
    numbers = [number for _, row in table.rows if columns.value < len(row)
               and (number := _number(row[columns.value])) is not None]  # fmt: skip
    highest = max(numbers, default=GRADE_TOP)
    if told and told[1] != told[2]:
        scale = (float(told[1]), float(told[2]))
    elif highest <= 1.0 and any(0.0 < number < 1.0 for number in numbers):
        scale = (0.0, 1.0)
    else:
        scale = (0.0, GRADE_TOP)
    note = "" if scale == (0.0, GRADE_TOP) else f"Grades from {scale[0]:g} to {scale[1]:g} are brought to 0-5."
    return Columns(columns.kind, columns.texts, columns.value, columns.documents, scale, note)


def _unknown(table: Table, kind: LabelKind | None, what: str) -> TrainingError:
    wanted = _listed(ROLES[kind or LabelKind.PAIRS])
    return TrainingError(
        "unknown-columns", f"No column of {table.name} is known as the {what}: it has {_listed(table.columns)}.",
        f"Name its columns {wanted}, or say which is which.",
    )  # fmt: skip


def _listed(names: Sequence[str]) -> str:
    """Gives names as a person lists them; no more than twelve."""
    shown = [repr(name) if name else "one without a name" for name in names[:12]]
    if len(names) > 12:
        shown.append(f"{len(names) - 12} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _plain(name: str) -> str:
    """Gives a column's name without case, blanks and signs."""
    return re.sub(r"[\W_]+", "", name.lower())


_KNOWN = frozenset(
    _plain(name)
    for name in (
        *_PAIRS_OF_TEXTS.replace("/", " ").split(), *_QUESTIONS, *_PASSAGES, *_GRADES, *_CLASSES, *_DOCUMENTS,
        "negative",
    )
)  # fmt: skip


# ---------------------------------------------------------------- labels


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
            kind = _kind_of_roles(roles)
        return labels_of(table, map_columns(table, kind, roles))
    return labels_of(table, guess_columns(table, kind))


def _kind_of_roles(roles: Mapping[str, str]) -> LabelKind:
    """Gives the one kind that has these roles: the first of those that have."""
    found = next((kind for kind, wanted in ROLES.items() if set(roles) <= set(wanted)), None)
    if found is None:
        raise TrainingError("unknown-columns", f"No kind of label has the parts {_listed(tuple(roles))}.",
                            "Say which kind of labels the table holds.")  # fmt: skip
    return found


def labels_of(table: Table, columns: Columns) -> Imported:
    """Reads the rows of a table as labels.

    Raises:
        TrainingError: ``no-labels``: not one row is usable; the message says why the first is not.
    """
    bad = list(table.broken)
    examples: list[Example] = []
    value_of = _value_reader(columns)
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
                            f"It has the columns {_listed(table.columns)}: say which is which.")  # fmt: skip
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


def _value_reader(columns: Columns) -> Callable[[str], float | str]:
    """Gives a function from a cell to its value, or to the reason why it is none; equal cells are read once."""
    known: dict[str, float | str] = {}
    low, high = columns.scale

    def read(cell: str) -> float | str:
        word = cell.strip().lower()
        if not word:
            return "the label is empty"
        if columns.kind is LabelKind.NLI:
            if word in _NO_GOLD:
                return "the annotators did not agree"
            return _NLI_WORDS.get(word, f"the label {cell.strip()[:40]!r} is not entailment, neutral or contradiction")
        if columns.kind is LabelKind.GRADED:
            number = _number(word)
            if number is None or not low <= number <= high:
                return f"the grade {cell.strip()[:40]!r} is not from {low:g} to {high:g}"
            return (number - low) * GRADE_TOP / (high - low)
        if word in _YES or word in _NO:
            return float(word in _YES)
        return f"the label {cell.strip()[:40]!r} is neither 0 nor 1"

    def value(cell: str) -> float | str:
        if cell not in known:
            known[cell] = read(cell)
        return known[cell]

    return value


def _number(cell: str) -> float | None:
    """Reads a number, with a point or a comma; None for what is none (nan and inf are none)."""
    try:
        number = float(cell.strip().replace(",", "."))
    except ValueError:
        return None
    return number if abs(number) < 1e300 else None


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
    yield (*ROLES[kind], *(_DOCUMENTS[: kind.texts] if documents else ()))
    valued = len(ROLES[kind]) > kind.texts
    for example in labels.examples:
        cells = [f"'{text}" if _FORMULA.match(text) else text for text in example.texts]
        if valued:
            cells.append(_written(kind, example.value))
        if documents:
            cells.extend(example.document(place) for place in range(kind.texts))
        yield cells


def _written(kind: LabelKind, value: float) -> str:
    """Gives a value as it stands in a file."""
    return value_word(kind, value) if kind is LabelKind.NLI else f"{value:g}"
