from __future__ import annotations

from pathlib import Path

import pytest

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import extract
from sbert_desktop.extraction._pdf import opened
from sbert_desktop.extraction._render import render
from tests.extraction.conftest import make_pdf

Item = tuple[float, float, float, str]


def read(folder: Path, data: bytes) -> ExtractedText:
    path = folder / "a.pdf"
    path.write_bytes(data)
    return extract(path)


def pieces(document: ExtractedText, kind: BlockKind | None = None) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks if kind in {None, block.kind}]


def lines(texts: list[str], x: float = 72, top: float = 700, size: float = 10) -> list[Item]:
    return [(x, top - 12 * number, size, text) for number, text in enumerate(texts)]


def assert_runs_point_at_their_characters(document: ExtractedText, data: bytes) -> int:
    checked = 0
    with opened(data) as pdf:
        pages = {}
        for block in document.blocks:
            for run in block.runs:
                if run.page not in pages:
                    pages[run.page] = pdf[run.page - 1].get_textpage().get_text_range()
                mine = document.text[run.text_start : run.text_start + run.length]
                assert block.start <= run.text_start <= run.text_start + run.length <= block.end
                theirs = pages[run.page][run.char_start : run.char_start + run.length]
                assert mine == theirs or len(mine) == 1
                checked += run.length
    return checked


PROSE = ["The gardener planted tulips along the southern", "wall and waited for the spring to come with all its",
         "colours and its rain."]


def test_lines_become_paragraphs_with_runs_on_the_page(tmp_path: Path) -> None:
    data = make_pdf([lines(PROSE) + lines(["A second paragraph begins here and", "goes on below."], top=640)])
    document = read(tmp_path, data)
    assert pieces(document) == [" ".join(PROSE), "A second paragraph begins here and goes on below."]
    assert all(block.page == 1 for block in document.blocks)
    assert assert_runs_point_at_their_characters(document, data) > 150


def test_hyphenation_is_joined_and_hyphens_of_words_stay(tmp_path: Path) -> None:
    data = make_pdf([lines(["We met a well-known specialist for gar-", "dens and her well-", "known sister in the mid-",
                            "South of the country."])])
    text = read(tmp_path, data).text
    assert "for gardens and" in text
    assert "her well-known sister" in text
    assert "mid-South" in text


def test_two_columns_are_read_one_after_the_other_even_if_drawn_row_by_row(tmp_path: Path) -> None:
    left = [f"left column line {n} goes on and on and" for n in range(8)]
    right = [f"right column row {n} says something else" for n in range(8)]
    page = [item for pair in zip(lines(left), lines(right, x=330), strict=True) for item in pair]
    text = read(tmp_path, make_pdf([page])).text
    assert text.index(left[-1]) < text.index(right[0])
    assert " ".join(left[:3]) in text


def test_rows_of_a_table_stay_rows(tmp_path: Path) -> None:
    page = [(x, 700 - 14 * n, 10, text) for n in range(5)
            for x, text in ((72, f"name{n}"), (220, f"place{n}"), (400, f"{n}00"))]
    (table,) = pieces(read(tmp_path, make_pdf([page])), BlockKind.TABLE)
    assert table.split("\n")[1] == "name1 place1 100"


def test_pages_drawn_from_bottom_to_top_are_put_in_order(tmp_path: Path) -> None:
    page = lines([f"line number {n} of this page" for n in range(12)])
    text = " ".join(read(tmp_path, make_pdf([page[::-1]])).text.split())
    assert text.index("line number 0") < text.index("line number 5") < text.index("line number 11")


def test_headings_by_size_and_weight_head_what_follows(tmp_path: Path) -> None:
    page = [(72, 740, 20, "Garden book"), (72, 715, 10, "BOLD Tools"), *lines(PROSE, top=695)]
    document = read(tmp_path, make_pdf([page], bold="BOLD"))
    assert pieces(document, BlockKind.HEADING) == ["Garden book", "BOLD Tools"]
    assert document.blocks[-1].heading == "Garden book > BOLD Tools"
    assert document.title == "Garden book"


def test_title_and_date_of_the_file_are_used_where_sensible(tmp_path: Path) -> None:
    page = [(72, 740, 20, "Garden book"), *lines(PROSE)]
    document = read(tmp_path, make_pdf([page], title="All about gardens"))
    assert (document.title, document.date) == ("All about gardens", 1577934245.0)
    assert read(tmp_path, make_pdf([page], title="Microsoft Word - draft.doc")).title == "Garden book"


def test_running_headers_are_furniture_behind_the_text_and_sentences_cross_pages(tmp_path: Path) -> None:
    halves = ["The story of the old tree that", "stood beside the river for years."]
    own = ["", "Roses want sun.", "Ferns love the shade.", "Moss grows slowly.", "Ivy climbs walls."]
    pages = [[(72, 760, 9, "Yearbook of gardens"), *lines([own[n]], top=700),
              (300, 30, 9, f"Page {n}")] for n in range(1, 5)]
    pages[1].insert(2, (72, 686, 10, halves[0]))
    pages[2].insert(1, (72, 712, 10, halves[1]))
    document = read(tmp_path, make_pdf(pages))
    assert pieces(document, BlockKind.FURNITURE)[:2] == ["Yearbook of gardens", "Page 1"]
    assert len(pieces(document, BlockKind.FURNITURE)) == 8
    assert " ".join(halves) in document.text
    last = [block.kind for block in document.blocks][-8:]
    assert set(last) == {BlockKind.FURNITURE}


def test_ligatures_and_quotes_keep_their_runs(tmp_path: Path) -> None:
    data = make_pdf([lines(["The “old” café – said Zoë – was ‘fine’ & (open)."])])
    document = read(tmp_path, data)
    assert document.text == "The “old” café – said Zoë – was ‘fine’ & (open)."
    assert_runs_point_at_their_characters(document, data)


def test_pages_without_text_are_named(tmp_path: Path) -> None:
    page = b"0 0 100 100 re f"
    data = make_pdf([lines(PROSE), []])
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, make_pdf([[]]))
    assert caught.value.code == "empty"
    drawn = data.replace(b"BT\nET\n", page[:6].ljust(6))
    assert read(tmp_path, drawn).problems == ()
    scan = make_pdf([[]]).replace(b"<< /Length 6 >>\nstream\nBT\nET\nendstream",
                                  b"<< /Length 9 >>\nstream\n0 0 9 9 re f\nendstream")
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, scan)
    assert caught.value.code == "no-text-layer"


def test_encrypted_files(shared_data: Path) -> None:
    folder = shared_data / "hostile" / "encrypted"
    with pytest.raises(ExtractionError) as caught:
        extract(folder / "r4-user-password.pdf")
    assert caught.value.code == "encrypted"
    assert extract(folder / "r4-user-password.pdf", password="asdfzxcv").text
    assert extract(folder / "r3-empty-password.pdf").text


# ---------------------------------------------------------------- pictures of pages


@pytest.mark.parametrize("rotate", [0, 90])
def test_a_page_is_drawn_and_the_marks_lie_on_the_ink(rotate: int) -> None:
    data = make_pdf([[(72, 700, 24, "first line"), (72, 600, 24, "second words")]], rotate=rotate)
    with opened(data) as pdf:  # pdfium puts the lines of turned pages in another order
        start = pdf[0].get_textpage().get_text_range().index("second")
    header, pixels = render({"page": 1, "width": 400, "ranges": {"passage": [[start, 12]], "none": []}}, data)
    width, height = header["width"], header["height"]
    assert isinstance(width, int)
    assert isinstance(height, int)
    assert len(pixels) == width * height * 3
    assert header["pages"] == 1
    rects = header["rects"]
    assert isinstance(rects, dict)
    assert rects["none"] == []
    ((x, y, w, h),) = rects["passage"]
    assert 0 <= x < x + w <= width
    assert 0 <= y < y + h <= height
    dark = [(at % width, at // width) for at in range(width * height) if pixels[3 * at] < 128]
    inside = [(px, py) for px, py in dark if x - 1 <= px <= x + w + 1 and y - 1 <= py <= y + h + 1]
    assert 0.4 * len(dark) < len(inside) < 0.8 * len(dark)


def test_a_page_that_is_not_there_is_said() -> None:
    with pytest.raises(ExtractionError) as caught:
        render({"page": 7, "width": 100, "ranges": []}, make_pdf([lines(PROSE)]))
    assert caught.value.code == "unreadable"
    assert "1 page" in caught.value.message


def test_a_giant_page_gives_a_picture_of_bounded_size() -> None:
    _, pixels = render({"page": 1, "width": 8000, "ranges": []}, make_pdf([lines(PROSE)], size=(200, 14000)))
    assert len(pixels) <= 3 * 40_000_000
