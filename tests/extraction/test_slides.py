from __future__ import annotations

from pathlib import Path

import pytest

from sbert_desktop.domain import BlockKind
from sbert_desktop.errors import ExtractionError
from tests.extraction.office import CORE, P, make_pptx, pieces, read, relations, shape, slide


def test_slides_come_in_the_order_of_the_show_with_their_titles_first(tmp_path: Path) -> None:
    slides = [slide(shape("second body"), shape("Second", "title")),
              slide(shape("First", "ctrTitle"), shape("first body"))]
    document = read(tmp_path, make_pptx(slides, order=[2, 1]), "a.pptx")
    assert pieces(document) == ["First", "first body", "Second", "second body"]
    assert [block.part for block in document.blocks] == ["slide 1", "slide 1", "slide 2", "slide 2"]
    assert document.blocks[3].heading == "Second"
    assert document.title == "First"
    assert document.format == "pptx"


def test_tables_are_rows_and_groups_are_opened(tmp_path: Path) -> None:
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    rows = "".join(f"<a:tr>{cell.format(a)}{cell.format(b)}</a:tr>" for a, b in (("a", "b"), ("c", "d")))
    table = (f"<p:graphicFrame><a:graphic><a:graphicData><a:tbl>{rows}</a:tbl></a:graphicData></a:graphic>"
             "</p:graphicFrame>")
    group = f"<p:grpSp><p:nvGrpSpPr/><p:grpSp>{shape('deep inside')}</p:grpSp></p:grpSp>"
    document = read(tmp_path, make_pptx([slide(table, group)]), "a.pptx")
    assert pieces(document, BlockKind.TABLE) == ["a\tb\nc\td"]
    assert pieces(document, BlockKind.PARAGRAPH) == ["deep inside"]


def test_hidden_slides_say_so_and_notes_comments_and_charts_are_found(tmp_path: Path) -> None:
    chart = f'<p:graphicFrame><c:chart xmlns:c="c" {P} r:id="rId3"/></p:graphicFrame>'
    document = read(tmp_path, make_pptx(
        [slide(shape("shown"), chart, hidden=True)],
        **{"ppt__slides___rels__slide1.xml.rels": relations(
            rId1=("notesSlide", "../notesSlides/notesSlide1.xml"), rId2=("comments", "../comments/comment1.xml"),
            rId3=("chart", "../charts/chart1.xml")),
           "ppt__notesSlides__notesSlide1.xml": f"<p:notes {P}><p:spTree>{shape('say this', 'body')}"
                                                f"{shape('7', 'sldNum')}</p:spTree></p:notes>",
           "ppt__comments__comment1.xml": f'<p:cmLst {P}><p:cm authorId="0"><p:text>better words</p:text></p:cm>'
                                          "</p:cmLst>",
           "ppt__commentAuthors.xml": f'<p:cmAuthorLst {P}><p:cmAuthor id="0" name="Bo"/></p:cmAuthorLst>',
           "ppt__charts__chart1.xml": '<c:chart xmlns:c="c"><c:title><a:p xmlns:a="a"><a:t>Sales</a:t></a:p></c:title>'
                                      "<c:strCache><c:pt><c:v>North</c:v></c:pt></c:strCache>"
                                      "<c:numCache><c:pt><c:v>12345</c:v></c:pt></c:numCache></c:chart>"}), "a.pptx")
    assert pieces(document, part="slide 1 (hidden)") == ["shown", "Sales\nNorth"]
    assert pieces(document, part="slide 1, notes") == ["say this"]
    assert pieces(document, part="slide 1, comment") == ["Bo: better words"]
    assert ("hidden slides", "1") in document.metadata


def test_properties_and_footers(tmp_path: Path) -> None:
    document = read(tmp_path, make_pptx([slide(shape("text"), shape("Company Ltd", "ftr"))],
                                        ), "a.pptx")
    assert pieces(document, BlockKind.FURNITURE) == ["Company Ltd"]
    parts = {"docProps__core.xml": CORE.format("Our plan")}
    document = read(tmp_path, make_pptx([slide(shape("text"))], **parts), "b.ppsx")
    assert (document.title, document.date) == ("Our plan", 1643846400.0)
    assert ("author", "Ann Author") in document.metadata


def test_an_empty_show_says_so(tmp_path: Path) -> None:
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, make_pptx([slide()]), "a.pptx")
    assert caught.value.code == "empty"
