"""How an extracted document travels between a child and the program: a small header, text as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from sbert_desktop.domain import Block, BlockKind, ExtractedText, Problem, Run
from sbert_desktop.errors import JobError

_KINDS = tuple(BlockKind)
_NUMBER_OF = {kind: number for number, kind in enumerate(_KINDS)}
T = TypeVar("T")


def encode_document(document: ExtractedText) -> tuple[dict[str, object], bytes]:
    """Gives the header (plain JSON values) and the payload (UTF-8) of a document.

    Headings and parts repeat, so that blocks name them by number; runs are flat lists of numbers.
    """
    strings: dict[str, int] = {}

    def number(text: str) -> int:
        return strings.setdefault(text, len(strings))

    blocks: list[list[object]] = []
    for block in document.blocks:
        runs = [value for run in block.runs for value in (run.text_start, run.page, run.char_start, run.length)]
        boxes = [run.box for run in block.runs] if any(run.box for run in block.runs) else []
        blocks.append([block.start, block.end, _NUMBER_OF[block.kind], block.page or 0, number(block.heading),
                       number(block.part), runs, boxes])
    header: dict[str, object] = {
        "format": document.format, "title": document.title, "date": document.date, "language": document.language,
        "strings": list(strings), "blocks": blocks, "problems": [encode_problem(entry) for entry in document.problems],
        "metadata": [list(pair) for pair in document.metadata],
    }
    payload = document.text.encode("utf-8", "replace")
    header["bytes"] = len(payload)
    return header, payload


def decode_document(header: Mapping[str, object], payload: bytes) -> ExtractedText:
    """Gives the document back; checks everything, as a child that read a hostile file is not trusted.

    Raises:
        JobError: ``child-refused`` when the header is not what a document's header is.
    """
    try:
        text = payload.decode("utf-8")
        strings = [_typed(entry, str) for entry in _typed(header["strings"], list)]
        blocks: list[Block] = []
        last = 0
        for entry in _typed(header["blocks"], list):
            start, end, kind, page, heading, part, flat, boxes = _typed(entry, list)
            if not (type(start) is type(end) is int and last <= start <= end <= len(text)):
                raise ValueError("blocks overlap or lie outside the text")
            last = end
            blocks.append(Block(start, end, _KINDS[_typed(kind, int)], _typed(page, int) or None,
                                strings[_typed(heading, int)], strings[_typed(part, int)],
                                _runs(_typed(flat, list), _typed(boxes, list))))
        date = header["date"]
        return ExtractedText(
            _typed(header["format"], str), text, tuple(blocks), _typed(header["title"], str),
            float(date) if isinstance(date, int | float) else None, _typed(header["language"], str),
            tuple(decode_problem(_typed(entry, dict)) for entry in _typed(header["problems"], list)),
            tuple((str(key), str(value)) for key, value in _typed(header["metadata"], list)))
    except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise JobError("child-refused", "A helper process gave an answer that makes no sense.",
                       detail=f"{type(error).__name__}: {error}") from error


def encode_problem(entry: Problem) -> dict[str, object]:
    """Gives a problem as plain JSON values."""
    return {"code": entry.code, "message": entry.message, "hint": entry.hint, "partial": entry.partial}


def decode_problem(header: Mapping[str, object]) -> Problem:
    """Gives a problem back."""
    return Problem(str(header["code"]), str(header["message"]), str(header["hint"]), header["partial"] is True)


def _runs(flat: list[object], boxes: list[object]) -> tuple[Run, ...]:
    numbers = [_typed(value, int) for value in flat]
    runs = [Run(numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]) for at in range(0, len(numbers), 4)]
    if boxes:
        return tuple(replace(run, box=_box(box)) for run, box in zip(runs, boxes, strict=True))
    return tuple(runs)


def _box(value: object) -> tuple[float, float, float, float] | None:
    if value is None:
        return None
    x, y, width, height = (float(_typed(number, (int, float))) for number in _typed(value, list))
    return x, y, width, height


def _typed(value: object, kind: type[T] | tuple[type[T], ...]) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{kind} expected")
    return value
