"""Jupyter notebooks of every age: cells in order, what the code printed, clean failures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import extract


def read(folder: Path, book: object) -> ExtractedText:
    path = folder / "a.ipynb"
    path.write_text(book if isinstance(book, str) else json.dumps(book), encoding="utf-8")
    return extract(path)


def pieces(document: ExtractedText, kind: BlockKind | None = None) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks if kind in {None, block.kind}]


def test_cells_and_their_outputs_are_read_in_order(tmp_path: Path) -> None:
    document = read(tmp_path, {"nbformat": 4, "metadata": {}, "cells": [
        {"cell_type": "markdown", "source": ["# Rain\n", "Some **strong** words."]},
        {"cell_type": "code", "source": "print('x')\n\n# end", "outputs": [
            {"output_type": "stream", "name": "stdout", "text": ["\x1b[31mred\x1b[0m rain\n"]},
            {"output_type": "display_data", "data": {"image/png": "A" * 5000, "text/plain": ["<Figure>"]}},
            {"output_type": "execute_result", "data": {
                "text/html": "<table><tr><th>Month<th>Rain</tr><tr><td>May<td>12</tr></table>", "text/plain": "x"}},
            {"output_type": "error", "ename": "ValueError", "evalue": "too wet", "traceback": []}]},
        {"cell_type": "raw", "source": "raw words"}]})
    assert document.title == "Rain"
    assert pieces(document) == ["Rain", "Some strong words.", "print('x')\n\n# end", "red rain", "<Figure>",
                                "Month\tRain\nMay\t12", "ValueError: too wet", "raw words"]
    assert pieces(document, BlockKind.TABLE) == ["Month\tRain\nMay\t12"]
    assert document.blocks[2].heading == "Rain"


def test_old_notebooks_with_worksheets_are_read(tmp_path: Path) -> None:
    document = read(tmp_path, {"nbformat": 3, "metadata": {"name": "Old book"}, "worksheets": [{"cells": [
        {"cell_type": "heading", "level": 2, "source": "Part"},
        {"cell_type": "code", "input": ["x = 1"], "outputs": [{"output_type": "pyout", "text": ["one"]}]}]}]})
    assert document.title == "Old book"
    assert pieces(document) == ["Part", "x = 1", "one"]


@pytest.mark.parametrize(("book", "code"), [
    ("{", "damaged"), ("[1]", "damaged"), ("[" * 100_000, "damaged"), ({"nbformat": 3, "metadata": {}}, "damaged"),
    ({"nbformat": 4, "cells": []}, "empty"), ({"cells": [1, None, {"cell_type": "code", "source": 7}]}, "empty"),
])
def test_broken_notebooks_fail_cleanly(tmp_path: Path, book: object, code: str) -> None:
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, book)
    assert caught.value.code == code
