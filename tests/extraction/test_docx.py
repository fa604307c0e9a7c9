from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import extract
from tests.extraction.conftest import STYLES, WORD, make_docx, paragraph

CORE = ('<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
        "<dc:title>{title}</dc:title><dc:creator>Ann</dc:creator><dcterms:modified>2022-02-03T00:00:00Z</dcterms:modified>"
        "</cp:coreProperties>")


def read(folder: Path, data: bytes) -> ExtractedText:
    path = folder / "a.docx"
    path.write_bytes(data)
    return extract(path)


def pieces(document: ExtractedText, kind: BlockKind) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks if block.kind is kind]


def test_headings_come_from_styles_in_any_language_and_from_their_parents(tmp_path: Path) -> None:
    body = (paragraph("The plan", "Titel") + paragraph("One", "berschrift1") + paragraph("Below", "Own")
            + paragraph("Some text here."))
    document = read(tmp_path, make_docx(body))
    assert document.title == "The plan"
    assert pieces(document, BlockKind.HEADING) == ["The plan", "One", "Below"]
    assert document.blocks[-1].heading == "One > Below"


def test_title_and_date_come_from_the_properties_where_they_are_sensible(tmp_path: Path) -> None:
    document = read(tmp_path, make_docx(paragraph("x"), docProps__core=CORE.format(title="Yearly report")))
    assert (document.title, document.date) == ("Yearly report", 1643846400.0)
    assert ("author", "Ann") in document.metadata
    body = paragraph("Real", "berschrift1")
    document = read(tmp_path, make_docx(body, docProps__core=CORE.format(title="Document1")))
    assert document.title == "Real"


def test_tables_are_rows_and_breaks_are_kept(tmp_path: Path) -> None:
    cell = "<w:tc>" + paragraph("{}") + "</w:tc>"
    table = "<w:tbl>" + "".join(f"<w:tr>{cell.format(a)}{cell.format(b)}</w:tr>" for a, b in (("a", "b"), ("c", "d")))
    document = read(tmp_path, make_docx(
        table + "</w:tbl><w:p><w:r><w:t>x</w:t><w:tab/><w:t>y</w:t><w:br/><w:t>z</w:t><w:noBreakHyphen/></w:r></w:p>"))
    assert pieces(document, BlockKind.TABLE) == ["a\tb\nc\td"]
    assert pieces(document, BlockKind.PARAGRAPH) == ["x y\nz-"]


def test_insertions_are_text_and_deletions_are_not(tmp_path: Path) -> None:
    document = read(tmp_path, make_docx(
        "<w:p><w:ins><w:r><w:t>new </w:t></w:r></w:ins><w:del><w:r><w:delText>old </w:delText></w:r></w:del>"
        "<w:r><w:t>same</w:t></w:r><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"))
    assert document.text == "new same"


def test_notes_comments_headers_and_text_boxes_are_found(tmp_path: Path) -> None:
    box = ("<w:p><w:r><w:t>before</w:t><mc:AlternateContent xmlns:mc='m'><mc:Choice><w:txbxContent>"
           + paragraph("boxed") + "</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>" + paragraph("boxed")
           + "</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>")
    document = read(tmp_path, make_docx(
        box,
        word__footnotes=f"<w:footnotes {WORD}><w:footnote w:type='separator'>{paragraph('---')}</w:footnote>"
                        f"<w:footnote>{paragraph('the note')}</w:footnote></w:footnotes>",
        word__comments=f"<w:comments {WORD}><w:comment>{paragraph('a remark')}</w:comment></w:comments>",
        word__header1=f"<w:hdr {WORD}>{paragraph('Company name')}</w:hdr>"))
    assert document.text.count("boxed") == 1
    assert "---" not in document.text
    assert pieces(document, BlockKind.FURNITURE) == ["Company name"]
    assert [(block.part, document.text[block.start : block.end]) for block in document.blocks if block.part] == [
        ("footnote", "the note"), ("comment", "a remark")]


def test_bombs_and_encrypted_members_are_refused(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 50_000_000)
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, out.getvalue())
    assert caught.value.code == "too-large"


def test_external_entities_are_not_read(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    canary.write_text("CANARY")
    xml = (f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY e SYSTEM "{canary.as_uri()}"><!ENTITY i "inner">]>'
           f"<w:document {WORD}><w:body><w:p><w:r><w:t>seen &e; &i;</w:t></w:r></w:p></w:body></w:document>")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("word/document.xml", xml)
    document = read(tmp_path, out.getvalue())
    assert "seen" in document.text
    assert "CANARY" not in document.text


def test_hidden_text_and_deleted_rows_are_not_read(tmp_path: Path) -> None:
    row = "<w:tr>{}" + "<w:tc>" + paragraph("{}") + "</w:tc><w:tc>" + paragraph("x") + "</w:tc></w:tr>"
    body = ("<w:p><w:r><w:t>seen</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t> unseen</w:t></w:r>"
            '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> again</w:t></w:r></w:p>'
            f'<w:tbl>{row.format("", "kept")}{row.format("<w:trPr><w:del/></w:trPr>", "gone")}</w:tbl>')
    assert read(tmp_path, make_docx(body)).text == "seen again\n\nkept\tx"


def test_the_words_of_diagrams_and_charts_are_found_and_their_numbers_are_not(tmp_path: Path) -> None:
    document = read(tmp_path, make_docx(
        paragraph("body"),
        word__diagrams__data1="<d:x xmlns:d='d' xmlns:a='a'><a:p><a:t>boss</a:t></a:p></d:x>",
        word__charts__chart1="<c:c xmlns:c='c'><c:strCache><c:pt><c:v>Sales</c:v></c:pt><c:pt><c:v>Sales</c:v></c:pt>"
                             "</c:strCache><c:numCache><c:pt><c:v>815</c:v></c:pt></c:numCache></c:c>"))
    assert [(block.part, document.text[block.start : block.end]) for block in document.blocks] == [
        ("", "body"), ("chart", "Sales"), ("diagram", "boss")]


def test_the_main_part_may_have_another_name(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("_rels/.rels", '<Relationships><Relationship Id="r" Type="http://x/officeDocument" '
                                        'Target="/word/document22.xml"/></Relationships>')
        archive.writestr("word/document22.xml",
                         f"<w:document {WORD}><w:body>{paragraph('elsewhere')}</w:body></w:document>")
    assert read(tmp_path, out.getvalue()).text == "elsewhere"


def test_paragraphs_in_a_style_for_quotations_are_told_from_the_authors_own_words(tmp_path: Path) -> None:
    styles = STYLES.replace("</w:styles>", "".join(
        f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/>{parent}</w:style>'
        for key, name, parent in (("Zitat", "Quote", ""), ("IntensivesZitat", "Intense Quote", ""),
                                  ("Mein", "My own", '<w:basedOn w:val="Zitat"/>'))) + "</w:styles>")
    body = (paragraph("She writes:") + paragraph("The mill burned down.", "Zitat") + paragraph("Long. " * 100, "Zitat")
            + paragraph("Nobody was hurt.", "IntensivesZitat") + paragraph("So they say.", "Mein"))
    document = read(tmp_path, make_docx(body, word__styles=styles))
    assert [text.strip()[:20] for text in pieces(document, BlockKind.QUOTE)] == [
        "The mill burned down", ("Long. " * 100)[:20].strip(), "Nobody was hurt.", "So they say."]
    assert pieces(document, BlockKind.PARAGRAPH) == ["She writes:"]
