"""What the comparison shows line by line: rows of two texts, and stretches of equal rows folded into one line.

Pure functions, no Qt.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sbert_desktop.app.duplicate_views import DiffRow

_LONG = 240
"""Characters of a single equal row from which it is folded; a shorter one costs no more room than its fold."""
_CAPTION = 60


class Line(NamedTuple):
    """One line of the view: row ``first``, or for a ``gap`` the fold of ``rows`` equal rows from ``first`` on.

    ``opened``: a fold whose rows follow it. ``caption`` is what a gap says, or a note at the end (``first`` -1).
    """

    first: int
    rows: int = 1
    gap: bool = False
    opened: bool = False
    caption: str = ""


def fold(rows: Sequence[DiffRow], *, only_differences: bool, opened: Collection[int] = (),
         tail: str = "") -> list[Line]:
    """Gives the lines for rows.

    Args:
        rows: Of the comparison.
        only_differences: Folds what is the same.
        opened: First rows of folds that the person opened.
        tail: A sentence to stand below all rows.
    """
    lines: list[Line] = []
    at = 0
    while at < len(rows):
        if not only_differences or not rows[at].same:
            lines.append(Line(at))
            at += 1
            continue
        end = at
        while end < len(rows) and rows[end].same:
            end += 1
        lines += _folded(rows, at, end, opened)
        at = end
    if tail:
        lines.append(Line(-1, caption=tail))
    return lines


def _folded(rows: Sequence[DiffRow], first: int, end: int, opened: Collection[int]) -> list[Line]:
    """Folds a stretch of equal rows; a heading right above a difference stays, it says where one is."""
    last = end - 1 if end < len(rows) and end - first > 1 and rows[end - 1].heading else end
    kept = [Line(number) for number in range(last, end)]
    if last - first == 1 and len(rows[first].left or "") < _LONG and end - first < len(rows):
        return [Line(first), *kept]
    headings = [rows[number] for number in range(first, last) if rows[number].heading]
    is_opened = first in opened
    gap = Line(first, last - first, gap=True, opened=is_opened, caption=_caption(headings, last - first, end, rows))
    inside = [Line(number) for number in range(first, last)] if is_opened else []
    return [gap, *inside, *kept]


def _caption(headings: Sequence[DiffRow], count: int, end: int, rows: Sequence[DiffRow]) -> str:
    said = f"{count:,} lines the same" if count != 1 else "1 line the same"
    if count == len(rows):
        return f"All {count:,} lines the same" if count != 1 else said
    if not headings or end == len(rows):
        return said
    heading = " ".join((headings[-1].left or headings[-1].right or "").split())
    if len(heading) > _CAPTION:
        heading = heading[: _CAPTION - 1].rstrip() + "…"
    return f"{heading}, {said}" if heading else said
