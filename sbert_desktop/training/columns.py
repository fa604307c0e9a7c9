"""What the columns of a table are: guessed by their names and by what stands in them, or said by the person."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sbert_desktop.errors import TrainingError
from sbert_desktop.training.column_names import (
    CLASSES,
    DOCUMENTS,
    GRADES,
    PAIRS_OF_TEXTS,
    PASSAGES,
    QUESTIONS,
    ROLES,
    listed,
    plain,
)
from sbert_desktop.training.label_values import is_entailment, is_yes_or_no, number
from sbert_desktop.training.labels import GRADE_TOP, LabelKind
from sbert_desktop.training.table_files import Table


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


def guess_columns(table: Table, kind: LabelKind | None = None) -> Columns:
    """Finds out what the columns of a table are, by their names and by what stands in them.

    Args:
        table: As read.
        kind: Kind of label that it must hold; None finds out.

    Raises:
        TrainingError: ``unknown-columns``: it has no columns that are known, and the message names those it has.
    """
    names = {plain(name): place for place, name in reversed(list(enumerate(table.columns)))}
    documents = tuple(names.get(plain(name)) for name in DOCUMENTS)
    triple = [next((names[plain(name)] for name in known if plain(name) in names), None)
              for known in ((*QUESTIONS, "text", "sentence"), ("positive", "pos"), ("negative", "neg"))]  # fmt: skip
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
                                f"They have {listed(wanted)}.")  # fmt: skip
        if name not in table.columns:
            raise TrainingError("unknown-columns", f"{table.name} has no column {name!r}.",
                                f"It has {listed(table.columns)}.")  # fmt: skip
        places[role] = table.columns.index(name)
    missing = [role for role in wanted if role not in places]
    guessed = None
    if missing:
        guessed = guess_columns(table, kind)
        for place, role in enumerate(wanted):
            column = guessed.texts[place] if place < kind.texts else guessed.value
            if column is not None:
                places.setdefault(role, column)
    texts = tuple(places[role] for role in wanted[: kind.texts])
    value = places[wanted[-1]] if len(wanted) > kind.texts else None
    used = [*texts, *([] if value is None else [value])]
    if len(set(used)) < len(used):
        raise TrainingError("unknown-columns", f"One column of {table.name} stands for two parts.",
                            f"Name one for each of {listed(wanted)}.")  # fmt: skip
    names = [plain(name) for name in table.columns]
    documents = tuple(names.index(plain(name)) if plain(name) in names else None for name in DOCUMENTS[: len(texts)])
    columns = Columns(kind, texts, value, documents)
    return _scaled(table, columns) if kind is LabelKind.GRADED else columns


def kind_of_roles(roles: Mapping[str, str]) -> LabelKind:
    """Gives the one kind that has these roles: the first of those that have.

    Raises:
        TrainingError: ``unknown-columns``: none has all of them.
    """
    found = next((kind for kind, wanted in ROLES.items() if set(roles) <= set(wanted)), None)
    if found is None:
        raise TrainingError("unknown-columns", f"No kind of label has the parts {listed(tuple(roles))}.",
                            "Say which kind of labels the table holds.")  # fmt: skip
    return found


def _text_columns(names: Mapping[str, int], kind: LabelKind | None) -> tuple[tuple[int, int] | None, bool]:
    """Gives the columns of two texts, and whether they are a question and a passage."""
    question = next((names[name] for name in QUESTIONS if name in names), None)
    passage = next((names[name] for name in PASSAGES if name in names and names[name] != question), None)
    asked = (question, passage) if question is not None and passage is not None else None
    if asked and kind is LabelKind.RELEVANCE:
        return asked, True
    for couple in PAIRS_OF_TEXTS.split():
        first, second = (names.get(plain(name)) for name in couple.split("/"))
        if first is not None and second is not None:
            return (first, second), False
    return asked, asked is not None


def _value_column(table: Table, names: Mapping[str, int], texts: tuple[int, ...], kind: LabelKind | None) -> int | None:
    """Gives the column of the value: by its name, grades first where grades are asked for."""
    known = (*GRADES, *CLASSES) if kind is LabelKind.GRADED else (*CLASSES, *GRADES)
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

    name = plain(table.columns[columns.value])
    words = mostly(is_entailment)
    three = mostly(lambda cell: is_entailment(cell, numbers=True)) and any(cell in cells for cell in ("2", "2.0"))
    two = mostly(is_yes_or_no)
    note = ""
    if kind is None:
        if words or (three and (entailment or name in {"label", "goldlabel"})) or (two and entailment):
            kind = LabelKind.NLI
            if not words:
                note = "0, 1 and 2 are read as entailment, neutral and contradiction."
        elif two and not name.startswith(("score05", "grade", "relatedness")):
            kind = LabelKind.RELEVANCE if asked else LabelKind.PAIRS
        elif mostly(lambda cell: number(cell) is not None):
            kind = LabelKind.GRADED
        elif mostly(is_entailment, 0.5):
            kind = LabelKind.NLI
        elif mostly(is_yes_or_no, 0.5):
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
    name = plain(table.columns[columns.value])
    told = re.search(r"(?<!\d)([01])(5|10|100|1)$", name)
    grades = [grade for _, row in table.rows if columns.value < len(row)
              and (grade := number(row[columns.value])) is not None]  # fmt: skip
    highest = max(grades, default=GRADE_TOP)
    if told and told[1] != told[2]:
        scale = (float(told[1]), float(told[2]))
    elif highest <= 1.0 and any(0.0 < grade < 1.0 for grade in grades):
        scale = (0.0, 1.0)
    else:
        scale = (0.0, GRADE_TOP)
    note = "" if scale == (0.0, GRADE_TOP) else f"Grades from {scale[0]:g} to {scale[1]:g} are brought to 0-5."
    return Columns(columns.kind, columns.texts, columns.value, columns.documents, scale, note)


def _unknown(table: Table, kind: LabelKind | None, what: str) -> TrainingError:
    wanted = listed(ROLES[kind or LabelKind.PAIRS])
    return TrainingError(
        "unknown-columns", f"No column of {table.name} is known as the {what}: it has {listed(table.columns)}.",
        f"Name its columns {wanted}, or say which is which.",
    )  # fmt: skip
