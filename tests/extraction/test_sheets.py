from __future__ import annotations

import resource
import struct
import time
from pathlib import Path

import pytest

from sbert_desktop.domain import BlockKind
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import _programs, _sheets, _sheets_binary, extract
from sbert_desktop.extraction._numbers import show
from tests.extraction.office import S, make_xlsx, pieces, read, relations

TEXT = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'


def test_rows_are_lines_and_sheets_are_parts_hidden_ones_too(tmp_path: Path) -> None:
    row = f"<row>{TEXT.format('A1', 'north')}{TEXT.format('C1', 'south')}</row><row/>"
    document = read(tmp_path, make_xlsx({"Budget": row, "Sheet2": f"<row>{TEXT.format('A1', 'secret')}</row>"},
                                        states={"Sheet2": "veryHidden"}), "a.xlsx")
    assert pieces(document, BlockKind.TABLE, "Budget") == ["north\tsouth"]
    assert pieces(document, BlockKind.HEADING) == ["Budget"]
    assert pieces(document, part="Sheet2 (hidden)") == ["secret"]
    assert ("hidden sheets", "1") in document.metadata


def test_strings_are_shared_rich_and_without_their_pronunciation(tmp_path: Path) -> None:
    document = read(tmp_path, make_xlsx(
        {"Sheet1": '<row><c t="s"><v>1</v></c><c t="s"><v>0</v></c><c t="s"><v>99</v></c><c t="b"><v>1</v></c>'
                   '<c t="str"><v>made</v></c></row>'},
        ["<r><t>rich </t></r><r><t>text</t></r>", "<t>東京</t><rPh><t>トウキョウ</t></rPh>"]), "a.xlsx")
    assert document.text == "東京\trich text\tTRUE\tmade"


def test_numbers_and_dates_are_as_the_cell_shows_them(tmp_path: Path) -> None:
    codes = ["0.0%", "yyyy\\-mm\\-dd", "#,##0.00\\ [$€-407]", "h:mm", "00000"]
    values = [0.256, 45000, 1234.5, 0.75, 123]
    cells = "".join(f'<c s="{style}"><v>{value}</v></c>' for style, value in enumerate(values, 1))
    row = f"<row>{cells}<c><v>0.30000000000000004</v></c><c><v>13.0</v></c></row>"
    document = read(tmp_path, make_xlsx({"Sheet1": row}, codes=codes), "a.xlsx")
    assert document.text.split("\t") == ["25.6%", "2023-03-15", "1,234.50 €", "18:00", "00123", "0.3", "13"]


@pytest.mark.parametrize(("value", "code", "shown"), [
    (-12, "0.0;[Red](0.0)", "(12.0)"), (36 / 24, "[h]:mm:ss", "36:00:00"), (3, "0.##", "3"), (1, '"Nr. "0', "Nr. 1"),
    (45000.5, "d.m.yy h:mm", "2023-03-15 12:00"), (0, '0;-0;"-"', "-"), (0.00012, "0.00E+00", "1.20E-04"),
    (12345678901234, "General", "12345678901234"), (5, "dd/mm/yyyy", "1900-01-05"), (1e300, "yyyy", "1e+300")])
def test_formats_of_numbers(value: float, code: str, shown: str) -> None:
    assert show(value, code) == shown


def test_comments_of_cells_are_found(tmp_path: Path) -> None:
    extra = {"xl/worksheets/_rels/sheet1.xml.rels": relations(rId1=("comments", "../comments1.xml")),
             "xl/comments1.xml": f"<comments {S}><comment><text><r><t>check this</t></r></text></comment></comments>"}
    document = read(tmp_path, make_xlsx({"Sheet1": f"<row>{TEXT.format('A1', 'x')}</row>"}, extra=extra), "a.xlsx")
    assert pieces(document, part="Sheet1, comment") == ["check this"]


def test_one_far_cell_costs_nothing(tmp_path: Path) -> None:
    data = make_xlsx({"Sheet1": f'<row r="1">{TEXT.format("A1", "near")}</row>'
                                f'<row r="1048576">{TEXT.format("XFD1048576", "far")}</row>'})
    began, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert read(tmp_path, data, "a.xlsx").text == "near\nfar"
    assert time.process_time() - began < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 100_000


def test_a_string_that_is_used_many_times_stays_within_the_limit(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sheets, "TEXT_LIMIT", 1_000_000)
    data = make_xlsx({"Sheet1": '<row><c t="s"><v>0</v></c></row>' * 500}, [f"<t>{'long words ' * 3000}</t>"])
    document = read(tmp_path, data, "a.xlsx")
    assert 500_000 < len(document.text) <= 1_000_000
    assert [problem.code for problem in document.problems] == ["too-large"]


def test_far_cells_of_binary_workbooks_are_refused_before_they_are_laid_out() -> None:
    def record(kind: int, body: bytes) -> bytes:
        return bytes([kind, len(body)]) + body

    def cells(last: int) -> bytes:
        return b"".join(record(0, struct.pack("<I", row)) + record(5, struct.pack("<Q", column) + b"\0" * 8)
                        for row, column in ((0, 0), (last, 16383)))

    places = list(_sheets_binary._biff12_cells(cells(1_048_575)))
    assert places == [(0, 0), (1_048_575, 16383)]
    with pytest.raises(ExtractionError) as caught:
        _sheets_binary._refuse_far_cells(iter(places))
    assert caught.value.code == "too-large"
    _sheets_binary._refuse_far_cells(_sheets_binary._biff12_cells(cells(500)))


def test_a_workbook_is_put_whole_into_a_fresh_container() -> None:
    import io

    import olefile

    for size in (100, 4096, 9_000_000):  # over 7 MB the tables of a container of small sectors would be in two places
        book = bytes(number % 251 for number in range(1000)) * (size // 1000 + 1)
        with olefile.OleFileIO(io.BytesIO(_sheets_binary._packed("Workbook", book))) as ole:
            assert ole.openstream("Workbook").read().rstrip(b"\0") == book.rstrip(b"\0")


def test_an_old_workbook_of_the_collection_is_read(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_programs, "run", None)  # LibreOffice would hide that calamine refused
    document = extract(shared_data / "tour" / "Data" / "test.xls")
    assert document.format == "xls"
    assert "89\t82\t100\t12" in document.text


def test_what_only_bears_the_name_of_an_old_workbook_is_read_as_what_it_is(tmp_path: Path) -> None:
    page = "<html><body><table><tr><td>left</td><td>right</td></tr></table></body></html>"
    assert "left\tright" in read(tmp_path, page.encode(), "a.xls").text
    assert read(tmp_path, b"name;town\nAnn;Bern\n", "b.xls").text == "name\ttown\nAnn\tBern"
    xml = ('<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" '
           'xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="Plan"><Table><Row><Cell><Data>'
           "one</Data></Cell><Cell><Data>two</Data></Cell></Row></Table></Worksheet></Workbook>")
    assert pieces(read(tmp_path, xml.encode(), "c.xls"), BlockKind.TABLE, "Plan") == ["one\ttwo"]
