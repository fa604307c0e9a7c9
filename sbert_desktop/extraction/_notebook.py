"""Jupyter notebooks (format 2 to 4): Markdown and code cells, and the text that the code gave."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._markdown import write_markdown
from sbert_desktop.extraction._normalise import normalise, one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._text import decode_text

_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_BLOB = re.compile(r"[A-Za-z0-9+/=]{300,}")
_LONGEST = 20_000  # characters of one output: a log of a training run says nothing beyond that


def read(source: Source) -> ExtractedText:
    """Reads a notebook.

    Raises:
        ExtractionError: ``damaged`` when it is no notebook, ``empty``.
    """
    try:
        book = json.loads(decode_text(source.data))
    except (ValueError, RecursionError) as error:
        raise failure("damaged", "The notebook is not valid JSON.", detail=type(error).__name__) from error
    if not isinstance(book, dict):
        raise failure("damaged", "The file holds no notebook.")
    cells = list(_cells(book))
    out = TextBuilder("ipynb")
    metadata = book.get("metadata")
    title = one_line(_text(metadata.get("title") or metadata.get("name"))) if isinstance(metadata, dict) else ""
    for cell in cells:
        _write_cell(cell, out)
        if out.full:
            break
    out.title = title or out.title
    extracted = out.finish()
    if extracted.blocks:
        return extracted
    if not cells and not ("cells" in book or "worksheets" in book):
        raise failure("damaged", "The notebook has no cells.")
    raise failure("empty")


def _cells(book: dict[str, object]) -> Iterator[dict[str, object]]:
    """Gives the cells: those of the book (format 4) or of its worksheets (older)."""
    sheets = book.get("worksheets")
    lists = [book.get("cells")]
    if isinstance(sheets, list):
        lists += [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
    for cells in lists:
        if isinstance(cells, list):
            yield from (cell for cell in cells if isinstance(cell, dict))


def _write_cell(cell: dict[str, object], out: TextBuilder) -> None:
    kind = cell.get("cell_type")
    text = _text(cell.get("source") if "source" in cell else cell.get("input"))
    if kind == "heading":  # format 3
        level = cell.get("level")
        out.add_heading(text, level if isinstance(level, int) and 1 <= level <= 6 else 1)
        out.title = out.title or one_line(text)
    elif kind in {"markdown", "html"}:
        title = out.title
        write_markdown(normalise(text), out)
        out.title = title or out.title
    elif kind == "code":
        out.add_code(text, out.heading)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else []:
            if isinstance(output, dict):
                _write_output(output, out)
    else:
        out.add(text)


def _write_output(output: dict[str, object], out: TextBuilder) -> None:
    """Adds what a cell printed or showed: text, a table as rows, the last line of an error."""
    kind = output.get("output_type")
    if kind in {"pyerr", "error"}:
        out.add(f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}", BlockKind.CODE)
        return
    data = output.get("data")
    shown = data if isinstance(data, dict) else output  # format 3 keeps them beside each other
    page = _text(shown.get("text/html") or shown.get("html"))
    plain = _text(output.get("text")) if kind == "stream" else _text(shown.get("text/plain") or shown.get("text"))
    if _text(shown.get("text/markdown")):
        title = out.title
        write_markdown(normalise(_text(shown.get("text/markdown"))[:_LONGEST]), out)
        out.title = title
    elif "<table" in page[:_LONGEST * 5]:
        from sbert_desktop.extraction._html import write_html

        title, date = out.title, out.date
        out.title = title or " "
        write_html(page[: _LONGEST * 5], out)
        out.title, out.date = title, date
    elif plain:
        out.add(_BLOB.sub(" ", _ANSI.sub("", plain[:_LONGEST])), BlockKind.CODE)


def _text(value: object) -> str:
    """Gives a text that is stored as one string or as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""
