"""csv and tsv: one line of text for each row, cells parted by tabs."""

from __future__ import annotations

import csv
import io

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._normalise import normalise
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._text import decode_text

_ROWS = 40
_DELIMITERS = ",;\t|"
_SAMPLE = 16 * 1024


def read(source: Source) -> ExtractedText:
    """Reads rows of cells as TABLE blocks of 40 rows each.

    Raises:
        ExtractionError: ``empty``.
    """
    text = normalise(decode_text(source.data))
    out = TextBuilder(source.suffix)
    rows: list[str] = []
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, source.suffix), strict=False):
        line = "\t".join(" ".join(cell.split()) for cell in row if cell and not cell.isspace())
        if line:
            rows.append(line)
        if len(rows) >= _ROWS:
            out.add("\n".join(rows), BlockKind.TABLE)
            rows.clear()
        if out.full:
            break
    out.add("\n".join(rows), BlockKind.TABLE)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def _delimiter(text: str, suffix: str) -> str:
    """Gives the delimiter that most evenly parts the first lines."""
    if suffix in {"tsv", "tab"}:
        return "\t"
    lines = [line for line in text[:_SAMPLE].split("\n")[:50] if line.strip()]
    best, best_score = ",", 0.0
    for delimiter in _DELIMITERS:
        counts = [line.count(delimiter) for line in lines]
        if not counts or max(counts) == 0:
            continue
        usual = sorted(counts)[len(counts) // 2]
        score = usual * sum(1 for count in counts if count == usual) / len(counts)
        if score > best_score:
            best, best_score = delimiter, score
    return best


csv.field_size_limit(16 * 1024 * 1024)
