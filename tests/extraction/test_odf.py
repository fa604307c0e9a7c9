from __future__ import annotations

import time
from pathlib import Path

import pytest

from sbert_desktop.domain import BlockKind
from sbert_desktop.errors import ExtractionError
from tests.extraction.office import make_odf, pieces, read

META = ("<dc:title>Yearly report</dc:title><meta:initial-creator>Ann Author</meta:initial-creator>"
        "<dc:date>2022-02-03T00:00:00</dc:date>")
CELL = '<table:table-cell{}><text:p>{}</text:p></table:table-cell>'


def test_headings_lists_tables_and_spaces(tmp_path: Path) -> None:
    rows = "".join(f"<table:table-row>{CELL.format('', a)}{CELL.format('', b)}<table:covered-table-cell/>"
                   "</table:table-row>" for a, b in (("a", "b"), ("c", "d")))
    body = ('<text:h text:outline-level="1">One</text:h><text:h text:outline-level="2">Below</text:h>'
            "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
            f"<table:table><table:table-header-rows>{rows}</table:table-header-rows></table:table>"
            '<text:p>wide<text:s text:c="3"/>gap<text:line-break/>next\n   line<text:tab/>end</text:p>')
    document = read(tmp_path, make_odf("text", body, meta=META), "a.odt")
    assert pieces(document, BlockKind.HEADING) == ["One", "Below"]
    assert pieces(document, BlockKind.TABLE) == ["a\tb\nc\td"]
    assert pieces(document, BlockKind.PARAGRAPH) == ["item", "wide   gap\nnext line end"]
    assert document.blocks[2].heading == "One > Below"
    assert (document.title, document.date) == ("Yearly report", 1643846400.0)
    assert ("author", "Ann Author") in document.metadata


def test_deletions_and_hidden_text_are_out_and_notes_and_comments_come_at_the_end(tmp_path: Path) -> None:
    styles = '<style:style style:name="H"><style:text-properties text:display="none"/></style:style>'
    body = ("<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p></text:deletion>"
            "</text:changed-region></text:tracked-changes>"
            "<text:p>kept<text:change-start/> inserted<text:change-end/>"
            "<text:span text:style-name='H'> unseen</text:span>"
            "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>the note</text:p>"
            "</text:note-body></text:note><office:annotation><dc:creator>Bo</dc:creator><text:p>really?</text:p>"
            "</office:annotation> end</text:p><text:p>after</text:p>")
    document = read(tmp_path, make_odf("text", body, styles=styles), "a.odt")
    assert pieces(document, part="") == ["kept inserted end", "after"]
    assert pieces(document, part="footnote") == ["the note"]
    assert pieces(document, part="comment") == ["Bo: really?"]


def test_flat_files_are_read_as_packed_ones(tmp_path: Path) -> None:
    document = read(tmp_path, make_odf("text", "<text:p>flat text</text:p>", meta=META, flat=True), "a.fodt")
    assert (document.format, document.text, document.title) == ("odt", "flat text", "Yearly report")
    rows = f"<table:table table:name='Plan'><table:table-row>{CELL.format('', 'x')}</table:table-row></table:table>"
    assert pieces(read(tmp_path, make_odf("spreadsheet", rows, flat=True), "a.fods"), part="Plan") == ["Plan", "x"]


def test_sheets_show_what_their_cells_show(tmp_path: Path) -> None:
    styles = ('<style:style style:name="ta1"><style:table-properties table:display="false"/></style:style>')
    value = ' office:value-type="percentage" office:value="0.256"'
    rows = (f"<table:table-row>{CELL.format(value, '25.6 %')}"
            '<table:table-cell><office:annotation><text:p>look</text:p></office:annotation><text:p>x</text:p>'
            "</table:table-cell></table:table-row>")
    body = (f'<table:table table:name="Costs">{rows}</table:table><table:table table:name="Old" table:style-name="ta1">'
            f"<table:table-row>{CELL.format('', 'gone')}</table:table-row></table:table>")
    document = read(tmp_path, make_odf("spreadsheet", body, styles=styles), "a.ods")
    assert pieces(document, BlockKind.TABLE, "Costs") == ["25.6 %\tx"]
    assert pieces(document, part="Costs, comment") == ["look"]
    assert pieces(document, BlockKind.TABLE, "Old (hidden)") == ["gone"]


def test_cells_that_repeat_a_million_times_cost_nothing(tmp_path: Path) -> None:
    cell = CELL.format(' table:number-columns-repeated="16384"', "again")
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    began = time.process_time()
    document = read(tmp_path, make_odf("spreadsheet", f"<table:table table:name='Sheet1'>{row}</table:table>"), "a.ods")
    assert time.process_time() - began < 20
    assert document.text.count("again") == 10_000


def test_slides_have_their_titles_notes_and_hidden_ones_say_so(tmp_path: Path) -> None:
    styles = ('<style:style style:name="dp1"><style:drawing-page-properties presentation:visibility="hidden"/>'
              "</style:style>")
    frame = '<draw:frame presentation:class="{}"><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>'
    body = (f'<draw:page>{frame.format("outline", "body")}{frame.format("title", "The title")}'
            f'<presentation:notes>{frame.format("notes", "say it")}</presentation:notes></draw:page>'
            f'<draw:page draw:style-name="dp1">{frame.format("outline", "spare")}</draw:page>')
    document = read(tmp_path, make_odf("presentation", body, styles=styles), "a.odp")
    assert pieces(document, part="slide 1") == ["The title", "body"]
    assert pieces(document, part="slide 1, notes") == ["say it"]
    assert pieces(document, part="slide 2 (hidden)") == ["spare"]


def test_a_locked_file_says_so(tmp_path: Path) -> None:
    extra: dict[str, str | bytes] = {"META-INF/manifest.xml": "<manifest><encryption-data/></manifest>"}
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, make_odf("text", "<text:p>x</text:p>", extra=extra), "a.odt")
    assert caught.value.code == "encrypted"
