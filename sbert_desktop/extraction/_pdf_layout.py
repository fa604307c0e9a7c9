"""A PDF page's characters put into lines, reading order and paragraphs, by where they stand.

pdfium gives characters in the order in which the file draws them. That order is right for almost all
programs that write PDF, so it is kept; only where it visibly jumps between columns, or runs upwards,
are lines put in order here. Coordinates are points, y upwards.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any, cast

from sbert_desktop.extraction._pdf_rtl import RIGHT_TO_LEFT, in_logical_order, split_at_scripts

_WORD = re.compile(r"[^\s\ufffe\ufffd\x00-\x1f]+|\ufffd+")
Box = tuple[float, float, float, float]
"""Left, right, bottom, top."""
_QUARTER = 1.5707963267948966
HYPHEN_MARKS = "\ufffe\x02"
"""What pdfium puts in place of a hyphen at a line's end, where it joined the two halves of a word."""
_RTL = RIGHT_TO_LEFT
IDEOGRAPHS = re.compile("[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60\uffe0-\uffe6\U00020000-\U0003ffff]")
"""Scripts that are written without spaces, with their punctuation (not Korean)."""
_TERMINAL = re.compile(r"[.!?:;。！？][\"'”’»)\]」]*$")
_BULLET = re.compile(r"^(?:[•●○■□▪▫‣◦–—*·➢➤✓]|\(?\d{1,3}[.)]|\[\d{1,3}\]|\(?[a-z][.)])$")


@dataclass(slots=True)
class Line:
    """Words that stand on one line of one column.

    ``words`` are (start, end) in pdfium's character numbering; ``breaks`` says for each word whether
    white space goes before it; ``hyphen``: the last word goes on in the next line. ``group``: the number of
    the paragraph that text recognition put it into, -1 for a line that has text. ``title``: 1 begins a title of
    the table of contents, 2 goes on with it.
    """

    page: int
    words: list[tuple[int, int]]
    breaks: list[bool]
    left: float
    right: float
    bottom: float
    top: float
    text: str = ""
    hyphen: bool = False
    upright: bool = True
    table: bool = False
    bold: bool = False
    rightwards: bool = True
    group: int = -1
    title: int = 0

    @property
    def height(self) -> float:
        """Height of the line's largest character, in points."""
        return self.top - self.bottom

    @property
    def width(self) -> float:
        """Width in points."""
        return self.right - self.left


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together, in order."""

    lines: list[Line] = field(default_factory=list)

    @property
    def page(self) -> int:
        """The page on which it begins."""
        return self.lines[0].page

    @property
    def height(self) -> float:
        """Height of its usual line."""
        return median(line.height for line in self.lines)

    @property
    def characters(self) -> int:
        """About how many characters it holds."""
        return sum(len(line.text) for line in self.lines)


@dataclass(slots=True)
class Page:
    """One page: pdfium's characters, the page's size in points as it is read, and its lines in reading order.

    ``orders``: for words (by their start) whose characters are read in another order than pdfium's, that order.
    ``boxes``: of a recognised page, start and end in ``characters`` and the box of each word.
    """

    number: int
    characters: str
    width: float
    height: float
    lines: list[Line] = field(default_factory=list)
    orders: dict[int, list[int]] = field(default_factory=dict)
    boxes: list[tuple[int, int, tuple[float, float, float, float]]] | None = None


class Boxes:
    """Reads character boxes of one text page without making an object for each.

    Args:
        raw: pdfium's text page.
        count: How many characters it has.
        width: Width of the page in points, before it is turned.
        height: Its height.

    A page whose text runs up, down or upside down is turned here, so that what comes out reads from left to right;
    ``turn`` is by how many quarters, clockwise.
    """

    def __init__(self, raw: object, count: int, width: float, height: float) -> None:
        import pypdfium2.raw as pdfium

        self._raw = raw
        self._angle = pdfium.FPDFText_GetCharAngle
        self._width, self._height = width, height
        ways = Counter(self._way(at * count // 12) for at in range(12 if count > 12 else count))
        self.turn = ways.most_common(1)[0][0] if ways else 0
        self.box = self._reader(pdfium)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the page as it is read."""
        return (self._height, self._width) if self.turn % 2 else (self._width, self._height)

    def _reader(self, pdfium: Any) -> Callable[[int], Box]:
        """Gives the function that gives left, right, bottom, top of a character.

        It is called over a thousand times a page: the checks that ctypes makes of arguments would cost more than
        what pdfium does.
        """
        place = ctypes.cast(pdfium.FPDFText_GetLooseCharBox, ctypes.c_void_p).value
        assert place is not None
        get = ctypes.PYFUNCTYPE(ctypes.c_int)(place)
        rect = pdfium.FS_RECTF()
        raw, there = ctypes.cast(cast(Any, self._raw), ctypes.c_void_p), ctypes.c_void_p(ctypes.addressof(rect))
        values, unpack = memoryview(rect).cast("B"), struct.Struct("4f").unpack
        wide, high = self._width, self._height

        def level(index: int) -> Box:
            get(raw, index, there)
            left, top, right, bottom = unpack(values)
            return left, right, bottom, top

        def turned(index: int) -> Box:
            left, right, bottom, top = level(index)
            if self.turn == 1:
                return high - top, high - bottom, left, right
            if self.turn == 2:
                return wide - right, wide - left, high - top, high - bottom
            return bottom, top, wide - right, wide - left

        return turned if self.turn else level

    def upright(self, index: int) -> bool:
        """Tells whether a character is written in the direction of most of the page."""
        angle = float(self._angle(self._raw, index)) - self.turn * _QUARTER
        return -0.1 < angle < 0.1 or angle > 6.18 or angle < -6.18

    def _way(self, index: int) -> int:
        return round(float(self._angle(self._raw, index)) / _QUARTER) % 4


def read_lines(page: Page, boxes: Boxes) -> list[Line]:
    """Finds the lines of a page, in the order in which the file draws them."""
    text = page.characters
    lines: list[Line] = []
    line: Line | None = None
    last = (0.0, 0.0, 0.0, 0.0)
    previous_end = 0
    box = boxes.box
    pieced: set[int] = set()  # lines whose text is not the file's as it stands
    for start, end in _words(page, boxes):
        here = left, right, bottom, top = box(start)
        if end - start > 1:
            far = box(end - 1)
            if far[1] > right:
                right = far[1]
            if far[0] < left:
                left = far[0]
            here = left, right, bottom, top
        if (line is not None and start == previous_end + 1 and line.upright and bottom == last[2] and top == last[3]
                and text[previous_end] == " " and -0.5 < (left - last[1]) / ((top - bottom) or 1.0) < 1.5
                and text[start] < "\u2e80"):  # goes on after a space, in the same size: nearly always
            line.words.append((start, end))
            line.breaks.append(True)
            if right > line.right:
                line.right = right
            if left < line.left:
                line.left = left
            last, previous_end = here, end
            continue
        between = text[previous_end:start]
        hyphen = between != " " and any(mark in between for mark in HYPHEN_MARKS)
        if line is not None and not hyphen:
            broken = between != " " and ("\n" in between or "\r" in between)
            spaced = _joins(line, last, here, broken, bool(between))
            if spaced and between != "" and IDEOGRAPHS.match(text[start]) and IDEOGRAPHS.match(text[previous_end - 1]):
                spaced = left - last[1] > 0.7 * (top - bottom) and not broken
            if spaced is False and not between and not line.rightwards:  # cut where the direction changes
                spaced = True
            if spaced is not None:
                line.words.append((start, end))
                line.breaks.append(spaced)
                line.left, line.right = min(line.left, left), max(line.right, right)
                if top - bottom > line.height * 1.05:
                    line.bottom, line.top = bottom, top
                pieced.add(id(line))
                last, previous_end = here, end
                continue
        if line is not None:
            line.hyphen = hyphen
        line = Line(page.number, [(start, end)], [True], left, right, bottom, top, upright=boxes.upright(start),
                    rightwards=not _RTL.search(text, start, end + 40))
        lines.append(line)
        last, previous_end = here, end
    if line is not None and any(mark in text[previous_end : previous_end + 3] for mark in HYPHEN_MARKS):
        line.hyphen = True
    for entry in lines:
        if not entry.rightwards:
            in_logical_order(entry.words, entry.breaks, text, box)
        if id(entry) in pieced or page.orders:
            entry.text = _text_of(entry, page)
        else:
            entry.text = text[entry.words[0][0] : entry.words[-1][1]]
        if not entry.hyphen and len(entry.text) > 2 and entry.text[-1] in "-\u2010" and entry.text[-2].isalpha():
            entry.hyphen = True
    return lines


def _text_of(line: Line, page: Page) -> str:
    text, orders = page.characters, page.orders
    return "".join(
        (" " if gap and at else "") + ("".join(map(text.__getitem__, orders[start])) if start in orders
                                       else text[start:end])
        for at, ((start, end), gap) in enumerate(zip(line.words, line.breaks, strict=True)))


def _words(page: Page, boxes: Boxes) -> Iterator[tuple[int, int]]:
    """Gives the words as ranges; notes the order of those that are not read as pdfium gives them."""
    text = page.characters
    found = (match.span() for match in _WORD.finditer(text))
    if not RIGHT_TO_LEFT.search(text):
        return found
    return split_at_scripts(found, text, boxes.box, page.orders)


def _joins(line: Line, last: tuple[float, float, float, float], box: tuple[float, float, float, float],
           broken: bool, spaced: bool) -> bool | None:
    """Tells whether a word goes on in a line: None if not, else whether white space goes before it."""
    left, right, bottom, top = box
    height, line_height = top - bottom, line.height
    if height <= 0 or line_height <= 0:  # characters without a box: trust pdfium
        return None if broken else spaced
    overlap = min(top, line.top) - max(bottom, line.bottom)
    if overlap < 0.4 * min(height, line_height):
        if line.upright or broken:
            return None
        return spaced
    if not line.rightwards:  # words of the other direction jump about in such a line
        return spaced or broken
    gap = left - last[1] if left >= last[0] else last[0] - right
    em = max(height, line_height)
    if gap > (0.4 if broken else 1.5) * em or gap < -2.0 * em:
        return None
    return (spaced and not broken) or gap > 0.13 * em


def in_reading_order(lines: list[Line], trusted: bool = True) -> list[Line]:
    """Puts the lines of a page in order: columns one after the other, table rows whole.

    ``trusted`` False: the file's own order is wrong as soon as one line of five runs upwards, however few there are.
    """
    rows = _rows(lines)
    ordered: list[Line] = []
    at = 0
    while at < len(rows):
        if len(rows[at]) == 1:
            ordered.append(rows[at][0])
            at += 1
            continue
        end = at
        while end < len(rows) and (len(rows[end]) > 1 or _inside_run(rows, end)):
            end += 1
        run = rows[at:end]
        gutter = _gutter(run)
        if gutter is not None:
            flat = [line for row in run for line in row]
            ordered += [line for line in flat if line.right <= gutter]
            ordered += [line for line in flat if line.right > gutter]
        else:
            table = sum(1 for row in run if len(row) > 1) > 1
            ordered += [_joined(row, table) if len(row) > 1 else row[0] for row in run]
        at = end
    return _sorted_if_jumbled(ordered, 5 if trusted else 1)


def _rows(lines: list[Line]) -> list[list[Line]]:
    """Groups lines that follow each other and stand side by side, from left to right."""
    rows: list[list[Line]] = []
    for line in lines:
        if rows and line.upright and rows[-1][-1].upright:
            before = rows[-1][-1]
            overlap = min(line.top, before.top) - max(line.bottom, before.bottom)
            if overlap > 0.6 * min(line.height, before.height) and line.left >= before.right and not before.hyphen:
                rows[-1].append(line)
                continue
        rows.append([line])
    return rows


def _inside_run(rows: list[list[Line]], at: int) -> bool:
    """A single line between two rows of several: a short last line of one of the columns."""
    return 0 < at < len(rows) - 1 and len(rows[at - 1]) > 1 and len(rows[at + 1]) > 1


def _gutter(run: list[list[Line]]) -> float | None:
    """Finds the gap between two columns of prose that the file draws row by row."""
    pairs = [row for row in run if len(row) == 2]
    if len(pairs) < 4 or len(pairs) < 0.7 * sum(1 for row in run if len(row) > 1):
        return None
    if min(median(len(row[side].text) for row in pairs) for side in (0, 1)) < 25:
        return None
    low = sorted(row[0].right for row in pairs)[int(len(pairs) * 0.9)]
    high = sorted(row[1].left for row in pairs)[int(len(pairs) * 0.1)]
    if high <= low:
        return None
    gutter = (low + high) / 2
    crossing = sum(1 for row in run for line in row if line.left < gutter < line.right)
    return gutter if crossing == 0 else None


def _joined(row: list[Line], table: bool) -> Line:
    """Makes one line of a row of cells."""
    first = row[0]
    words = [word for line in row for word in line.words]
    breaks = [gap or at == 0 for line in row for at, gap in enumerate(line.breaks)]
    return Line(first.page, words, breaks, first.left, max(line.right for line in row),
                min(line.bottom for line in row), max(line.top for line in row),
                " ".join(line.text for line in row), row[-1].hyphen, True, table)


def _sorted_if_jumbled(lines: list[Line], least: int) -> list[Line]:
    """Sorts from top to bottom, column by column, only where the file's own order runs upwards a lot."""
    upwards = steps = 0
    for before, after in pairwise(lines):
        if not (before.upright and after.upright):
            continue
        overlap = min(before.right, after.right) - max(before.left, after.left)
        if overlap > 0.3 * min(before.width, after.width):
            steps += 1
            upwards += after.bottom > before.top
    if steps < least or upwards <= 0.2 * steps:
        return lines
    return list(_cut_apart(lines, 0))


def _cut_apart(lines: list[Line], depth: int) -> Iterator[Line]:
    """Recursive cut: at the widest white gutter from top to bottom, else at white bands, else by height."""
    if len(lines) < 3 or depth > 20:
        yield from sorted(lines, key=lambda line: (-line.top, line.left))
        return
    gutter = _widest_gap([(line.left, line.right) for line in lines])
    size = median(line.height for line in lines)
    if gutter is not None and gutter[1] > 0.8 * size:
        yield from _cut_apart([line for line in lines if line.right <= gutter[0] + 0.1], depth + 1)
        yield from _cut_apart([line for line in lines if line.right > gutter[0] + 0.1], depth + 1)
        return
    band = _widest_gap([(line.bottom, line.top) for line in lines])
    if band is not None and band[1] > 0.3 * size:
        yield from _cut_apart([line for line in lines if line.bottom >= band[0]], depth + 1)
        yield from _cut_apart([line for line in lines if line.bottom < band[0]], depth + 1)
        return
    yield from sorted(lines, key=lambda line: (-round(line.top / max(size, 1)), line.left))


def _widest_gap(spans: list[tuple[float, float]]) -> tuple[float, float] | None:
    """Gives where the widest gap between spans begins and how wide it is."""
    ordered = sorted(spans)
    reach, best = ordered[0][1], None
    for begin, end in ordered[1:]:
        if begin > reach and (best is None or begin - reach > best[1]):
            best = (reach, begin - reach)
        reach = max(reach, end)
    return best


def paragraphs(lines: list[Line]) -> list[Paragraph]:
    """Groups lines in reading order into paragraphs by distance, indent, size, weight and line length."""
    leading = _usual_leading(lines)
    found: list[Paragraph] = []
    for line in lines:
        if found and _goes_on(found[-1], line, leading):
            found[-1].lines.append(line)
        else:
            found.append(Paragraph([line]))
    return found


def _usual_leading(lines: list[Line]) -> float:
    """Gives the commonest distance from line to line in multiples of the line's height."""
    steps: Counter[float] = Counter()
    for before, after in pairwise(lines):
        step = before.bottom - after.bottom
        alike = after.height > 0 and abs(before.height - after.height) < 0.1 * after.height
        if alike and 0.5 < step / after.height < 3.0:
            steps[round(step / after.height, 1)] += len(after.text)
    return steps.most_common(1)[0][0] if steps else 1.2


def _goes_on(paragraph: Paragraph, line: Line, leading: float) -> bool:
    last = paragraph.lines[-1]
    if line.group >= 0:
        return line.group == last.group
    if line.title or last.title:
        return line.title == 2
    if not (line.upright and last.upright):
        return not line.upright and not last.upright
    height = max(last.height, 0.1)
    step = last.bottom - line.bottom
    if last.table or line.table:
        return last.table and line.table and 0 < step < 3 * height
    if not 0.8 < line.height / height < 1.25 or not 0 < step <= (leading + 0.35) * max(height, line.height):
        return last.hyphen and line.text[:1].islower() and 0.9 < line.height / height < 1.12
    if min(last.right, line.right) - max(last.left, line.left) < 0.3 * min(last.width, line.width):
        return False
    if last.hyphen:
        return True
    if last.bold != line.bold and (last.bold or _TERMINAL.search(last.text)) and all(
            entry.bold == last.bold for entry in paragraph.lines):
        return False
    if _BULLET.match(line.text.split(" ", 1)[0]) and line.left <= paragraph.lines[0].left + height / 2:
        return False
    ended = bool(_TERMINAL.search(last.text))
    right = max(entry.right for entry in paragraph.lines)
    short = last.right < max(right, line.right) - 0.12 * max(right - last.left, line.width)
    if ended and short:
        return False
    centred = abs((last.left + last.right) - (line.left + line.right)) < height
    indented = line.left - last.left > 0.7 * height and not centred
    outdented = last.left - line.left > 0.7 * height and not centred and len(paragraph.lines) > 1
    return not ((indented and (ended or (short and len(paragraph.lines) > 1))) or (outdented and ended))
