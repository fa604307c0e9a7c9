"""Two documents side by side: sentence by sentence, with the words marked that only one of them has."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from weakref import WeakKeyDictionary

from sbert_desktop.app.duplicate_views import ComparisonView, DiffRow, PagesView, Span
from sbert_desktop.app.preview import draw_page
from sbert_desktop.app.quoting import page_at
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import PreviewPage
from sbert_desktop.cleanup import Copy
from sbert_desktop.domain import BlockKind, ContentId, ExtractedText, JobContext, display_path
from sbert_desktop.errors import JobError, LibraryError
from sbert_desktop.explore.wording import Wording
from sbert_desktop.extraction import sentences

_MOST_CHARACTERS = 400_000
"""Of each text are compared; what lies beyond is said not to be."""
_ALIKE = 0.35
"""Share of equal words from which two sentences are versions of each other."""
_PAIRED = 40
"""Sentences on each side of one difference that are paired by likeness; more are put side by side in order."""
_DRAWN = frozenset({"pdf", "picture"})
_PAGE_MARKS = 200
_KEPT = 8


@dataclass(frozen=True, slots=True)
class _Unit:
    """One sentence (or heading, or row of a table) of a text, with its words as they are compared."""

    start: int
    end: int
    block: int
    heading: bool
    words: tuple[str, ...]


class _Aligned:
    """The last comparisons, for the pages that are drawn of them."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], tuple[list[Span], list[Span]]] = OrderedDict()

    def keep(self, key: tuple[int, int], marks: tuple[list[Span], list[Span]]) -> None:
        self._kept[key] = marks
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def get(self, key: tuple[int, int]) -> tuple[list[Span], list[Span]] | None:
        return self._kept.get(key)


_ALIGNED: WeakKeyDictionary[Session, _Aligned] = WeakKeyDictionary()


def run_compare(session: Session, left: Copy, right: Copy, context: JobContext) -> ComparisonView:
    """Compares two documents word by word, in rows that lie side by side.

    Of files without text only the facts are compared. A document that is gone meanwhile counts as without text.
    """
    a, b = _text(session, left), _text(session, right)
    facts = _facts(left, right, a, b)
    if a is None or b is None:
        same = bool(left.sha256) and left.sha256 == right.sha256
        note = "The files are identical." if same else "No text was read of these files; only facts can be compared."
        return ComparisonView(left, right, (), 0, facts, note=note)
    context.progress("Comparing", 0, None)
    one, other = _units(a), _units(b)
    marks: tuple[list[Span], list[Span]] = ([], [])
    rows = list(_merged(_rows(a, b, one, other, marks, context)))
    _ALIGNED.setdefault(session, _Aligned()).keep((left.content, right.content), marks)
    differing = sum(not row.same for row in rows)
    note = ""
    if not differing:
        note = "The files are identical." if left.sha256 == right.sha256 else "The words are the same in both."
    return ComparisonView(
        left,
        right,
        tuple(rows),
        differing,
        facts,
        left_pages=_pages(a),
        right_pages=_pages(b),
        cut=max(len(a.text), len(b.text)) > _MOST_CHARACTERS,
        note=note,
    )


def _text(session: Session, copy: Copy) -> ExtractedText | None:
    if not copy.content:
        return None
    try:
        text = session.library.text_of(ContentId(copy.content))
    except LibraryError:
        return None
    return text if text.text.strip() else None


def _units(text: ExtractedText) -> list[_Unit]:
    """Cuts a text into sentences; headings and furniture are known by their blocks."""
    whole = text.text[:_MOST_CHARACTERS]
    blocks = [(one.start, min(one.end, len(whole)), one.kind) for one in text.blocks if one.start < len(whole)]
    found: list[_Unit] = []
    for number, (start, end, kind) in enumerate(blocks or [(0, len(whole), BlockKind.PARAGRAPH)]):
        if kind is BlockKind.FURNITURE:
            continue
        piece = whole[start:end]
        spans = [(0, len(piece))] if kind is BlockKind.HEADING else sentences(piece)
        for low, high in spans:
            words = tuple(Wording(piece[low:high]).words)
            if words:
                found.append(_Unit(start + low, start + high, number, kind is BlockKind.HEADING, words))
    return found


def _rows(
    a: ExtractedText,
    b: ExtractedText,
    one: Sequence[_Unit],
    other: Sequence[_Unit],
    marks: tuple[list[Span], list[Span]],
    context: JobContext,
) -> Iterator[tuple[DiffRow, tuple[int, int]]]:
    """Gives rows of one sentence each, with the block on each side; notes where the texts differ."""
    matcher = SequenceMatcher(None, [unit.words for unit in one], [unit.words for unit in other], autojunk=False)
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        context.check()
        if tag == "equal":
            for left, right in zip(one[a1:a2], other[b1:b2], strict=True):
                yield _row(a, b, left, right, (), ()), (left.block, right.block)
            continue
        for mine, theirs in _paired(one[a1:a2], other[b1:b2]):
            spans_a, spans_b = _differing(a, b, mine, theirs)
            marks[0].extend(_shifted(spans_a, mine))
            marks[1].extend(_shifted(spans_b, theirs))
            place = (mine.block if mine is not None else -1, theirs.block if theirs is not None else -1)
            yield _row(a, b, mine, theirs, spans_a, spans_b), place


def _shifted(spans: Sequence[Span], unit: _Unit | None) -> list[Span]:
    return [(low + unit.start, high + unit.start) for low, high in spans] if unit is not None else []


def _row(
    a: ExtractedText,
    b: ExtractedText,
    left: _Unit | None,
    right: _Unit | None,
    left_marks: Sequence[Span],
    right_marks: Sequence[Span],
) -> DiffRow:
    same = left is not None and right is not None and not left_marks and not right_marks
    return DiffRow(
        a.text[left.start : left.end] if left is not None else None,
        b.text[right.start : right.end] if right is not None else None,
        same,
        tuple(left_marks),
        tuple(right_marks),
        page_at(a, left.start) if left is not None else None,
        page_at(b, right.start) if right is not None else None,
        heading=any(unit is not None and unit.heading for unit in (left, right)),
    )


def _paired(one: Sequence[_Unit], other: Sequence[_Unit]) -> list[tuple[_Unit | None, _Unit | None]]:
    """Puts differing sentences side by side: those that are versions of each other, in order; the rest alone."""
    if not one or not other:
        return [*((unit, None) for unit in one), *((None, unit) for unit in other)]
    if max(len(one), len(other)) > _PAIRED:
        count = max(len(one), len(other))
        return [(one[n] if n < len(one) else None, other[n] if n < len(other) else None) for n in range(count)]
    best = [[0.0] * (len(other) + 1) for _ in range(len(one) + 1)]
    like = [[_likeness(left, right) for right in other] for left in one]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            joined = like[i][j] + best[i + 1][j + 1] if like[i][j] >= _ALIKE else 0.0
            best[i][j] = max(joined, best[i + 1][j], best[i][j + 1])
    pairs: list[tuple[_Unit | None, _Unit | None]] = []
    i = j = 0
    while i < len(one) or j < len(other):
        both = i < len(one) and j < len(other)
        if both and like[i][j] >= _ALIKE and best[i][j] == like[i][j] + best[i + 1][j + 1]:
            pairs.append((one[i], other[j]))
            i, j = i + 1, j + 1
        elif j >= len(other) or (both and best[i][j] == best[i + 1][j]):
            pairs.append((one[i], None))
            i += 1
        else:
            pairs.append((None, other[j]))
            j += 1
    return pairs


def _likeness(left: _Unit, right: _Unit) -> float:
    shared = sum((Counter(left.words) & Counter(right.words)).values())
    return 2 * shared / (len(left.words) + len(right.words))


def _differing(
    a: ExtractedText, b: ExtractedText, left: _Unit | None, right: _Unit | None
) -> tuple[list[Span], list[Span]]:
    """Gives the stretches of each sentence that the other lacks, relative to the sentence."""
    if left is None or right is None:
        return (
            [(0, left.end - left.start)] if left is not None else [],
            [(0, right.end - right.start)] if right is not None else [],
        )
    mine = Wording(a.text[left.start : left.end])
    theirs = Wording(b.text[right.start : right.end])
    spans_a: list[Span] = []
    spans_b: list[Span] = []
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, mine.words, theirs.words, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if a2 > a1:
            spans_a.append((mine.spans[a1][0], mine.spans[a2 - 1][1]))
        if b2 > b1:
            spans_b.append((theirs.spans[b1][0], theirs.spans[b2 - 1][1]))
    return spans_a, spans_b


def _merged(rows: Iterator[tuple[DiffRow, tuple[int, int]]]) -> Iterator[DiffRow]:
    """Puts sentences of one paragraph into one row, as long as they stand in one paragraph on both sides."""
    held: DiffRow | None = None
    at = (-2, -2)
    for row, place in rows:
        together = held is not None and not row.heading and not held.heading and _joins(at, place)
        if held is not None and together and row.same == held.same:
            held = _joined(held, row)
            at = (place[0] if place[0] >= 0 else at[0], place[1] if place[1] >= 0 else at[1])
            continue
        if held is not None:
            yield held
        held, at = row, place
    if held is not None:
        yield held


def _joins(at: Span, place: Span) -> bool:
    sides = [(mine, theirs) for mine, theirs in zip(at, place, strict=True) if theirs >= 0]
    return all(mine == theirs for mine, theirs in sides)


def _joined(one: DiffRow, other: DiffRow) -> DiffRow:
    left, left_marks = _added(one.left, one.left_marks, other.left, other.left_marks)
    right, right_marks = _added(one.right, one.right_marks, other.right, other.right_marks)
    return replace(one, left=left, right=right, left_marks=left_marks, right_marks=right_marks)


def _added(
    text: str | None, marks: tuple[Span, ...], more: str | None, more_marks: tuple[Span, ...]
) -> tuple[str | None, tuple[Span, ...]]:
    if text is None or more is None:
        return (text, marks) if more is None else (more, more_marks)
    shift = len(text) + 1
    return f"{text} {more}", (*marks, *((low + shift, high + shift) for low, high in more_marks))


def _pages(text: ExtractedText) -> int:
    if text.format not in _DRAWN:
        return 0
    return max((block.page or 1 for block in text.blocks), default=1)


def differing_words(one: str, other: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Gives the stretches of each of two passages that the other lacks, code points. Quick; any thread."""
    mine, theirs = Wording(one), Wording(other)
    spans: tuple[list[Span], list[Span]] = ([], [])
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, mine.words, theirs.words, autojunk=False).get_opcodes():
        if tag != "equal" and a2 > a1:
            spans[0].append((mine.spans[a1][0], mine.spans[a2 - 1][1]))
        if tag != "equal" and b2 > b1:
            spans[1].append((theirs.spans[b1][0], theirs.spans[b2 - 1][1]))
    return tuple(spans[0]), tuple(spans[1])


# ---------------------------------------------------------------- facts


def _facts(
    left: Copy, right: Copy, a: ExtractedText | None, b: ExtractedText | None
) -> tuple[tuple[str, str, str], ...]:
    """Gives what is known of both, label and both values; what neither has is left out."""
    rows: list[tuple[str, str, str]] = [
        ("Folder", display_path(left.path.parent), display_path(right.path.parent)),
        ("Inside", _inside(left), _inside(right)),
        ("Size", f"{left.size:,} bytes", f"{right.size:,} bytes"),
        ("Modified", _time(left.mtime_ns / 1e9), _time(right.mtime_ns / 1e9)),
        ("Format", left.format or left.path.suffix.lstrip("."), right.format or right.path.suffix.lstrip(".")),
        ("Title", left.title, right.title),
        ("Date", _time(left.date), _time(right.date)),
        ("Words", _words(a), _words(b)),
        ("Signed", "yes" if left.signed else "", "yes" if right.signed else ""),
    ]
    mine, theirs = dict(a.metadata if a is not None else ()), dict(b.metadata if b is not None else ())
    known = {row[0].lower() for row in rows}
    more = [key for key in sorted({*mine, *theirs}) if key.lower() not in known]
    rows += [(key[:1].upper() + key[1:].replace("_", " "), mine.get(key, ""), theirs.get(key, "")) for key in more]
    return tuple((label, one, other) for label, one, other in rows if one or other)


def _inside(copy: Copy) -> str:
    return display_path(copy.member) if copy.member else ""


def _words(text: ExtractedText | None) -> str:
    return f"{len(text.text.split()):,}" if text is not None else ""


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return ""


# ---------------------------------------------------------------- pages


def run_compare_pages(
    session: Session,
    left: Copy,
    right: Copy,
    pages: tuple[int | None, int | None],
    context: JobContext,
    *,
    width: int,
) -> PagesView:
    """Draws a page of each document (None: that side shows none), with what the other lacks marked."""
    marks = _ALIGNED.setdefault(session, _Aligned()).get((left.content, right.content))
    if marks is None:
        run_compare(session, left, right, context)
        marks = _ALIGNED.setdefault(session, _Aligned()).get((left.content, right.content)) or ([], [])
    drawn = []
    for copy, page, spans in ((left, pages[0], marks[0]), (right, pages[1], marks[1])):
        context.check()
        drawn.append(_drawn(session, copy, page, spans, max(64, min(4096, width))))
    return PagesView(*drawn)


def _drawn(session: Session, copy: Copy, page: int | None, spans: Sequence[Span], width: int) -> PreviewPage | None:
    text = _text(session, copy) if page is not None else None
    if text is None or page is None or text.format not in _DRAWN:
        return None
    here = [span for span in spans if page_at(text, span[0]) == page][:_PAGE_MARKS]
    try:
        return draw_page(session, Path(copy.path), copy.member, text, page, width, {"passage": here})
    except (JobError, OSError):
        return None
