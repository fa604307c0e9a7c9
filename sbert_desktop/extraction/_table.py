"""csv and tsv: one line of text for each row, cells parted by tabs; the header in every block."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._normalise import normalise
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._text import decode_text

_ROWS = 40
_BLOCK = 900  # characters of rows that make one block, about one passage
_LONGEST_HEADER = 300  # a longer header is not repeated
_DELIMITERS = ",;\t|"
_SAMPLE = 16 * 1024
_QUOTED = re.compile(r'"[^"\n]{0,2000}"')
_EMPTY_CELLS = re.compile(r"\t{4,}")
_TOLD = re.compile(r'^"?sep=(.)"?\n', re.IGNORECASE)


def read(source: Source) -> ExtractedText:
    """Reads rows of cells as TABLE blocks; each begins with the header, so that a passage knows its columns.

    Raises:
        ExtractionError: ``empty``.
    """
    text = normalise(decode_text(source.data))
    out = TextBuilder(source.suffix)
    _write_rows(_rows(text, source.suffix), out)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def _rows(text: str, suffix: str) -> Iterator[list[str]]:
    told = _TOLD.match(text)
    return csv.reader(io.StringIO(text[told.end() :] if told else text, newline=""),
                      delimiter=told[1] if told else _delimiter(text, suffix), strict=False)


def header_lines(text: str, suffix: str) -> str:
    """Gives the first lines of a table up to its header, as they stand; ``""`` where it has none."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    told = _TOLD.match(text)
    end = text.find("\n", told.end() if told else 0) + 1
    row = next(_rows(text[:end], suffix), [])
    return text[:end] if end and _is_header(row) else told[0] if told else ""


def _write_rows(rows: Iterable[list[str]], out: TextBuilder) -> None:
    header: str | None = None
    held: list[str] = []
    size = number = 0
    for row in rows:
        line = _EMPTY_CELLS.sub("\t\t", "\t".join(" ".join(cell.split()) for cell in row).rstrip())
        if not line or line.isspace():
            continue
        number += 1
        if number == 1:
            header = line if _is_header(row) and len(line) <= _LONGEST_HEADER else None
        elif not held and header:
            held.append(header)
        held.append(line)
        size += len(line)
        if size >= _BLOCK or len(held) >= _ROWS:
            out.add("\n".join(held), BlockKind.TABLE)
            held, size = [], 0
        if out.full:
            return
    out.add("\n".join(held), BlockKind.TABLE)


def _is_header(row: list[str]) -> bool:
    """Tells names of columns from data: several short cells with letters, none twice, none a number."""
    cells = [cell.strip() for cell in row if cell.strip()]
    return (len(cells) > 1 and len({cell.casefold() for cell in cells}) == len(cells)
            and all(len(cell) <= 80 and any(char.isalpha() for char in cell) and not cell[0].isdigit()
                    for cell in cells))


def _delimiter(text: str, suffix: str) -> str:
    """Gives the delimiter that most evenly parts the first lines."""
    if suffix in {"tsv", "tab"}:
        return "\t"
    lines = [_QUOTED.sub("", line) for line in text[:_SAMPLE].split("\n")[:50] if line.strip()]
    best, best_score = ",", 0.0
    for delimiter in _DELIMITERS:
        counts = [line.count(delimiter) for line in lines]
        if not counts or max(counts) == 0:
            continue
        usual = sorted(counts)[len(counts) // 2]
        even = sum(1 for count in counts if count == usual) / len(counts)
        score = min(usual, 20) * even * even * (1.0 if counts[0] == usual else 0.4)
        if score > best_score:
            best, best_score = delimiter, score
    return best


csv.field_size_limit(16 * 1024 * 1024)
