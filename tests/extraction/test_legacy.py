from __future__ import annotations

from pathlib import Path

import pytest

from sbert_desktop.domain import BlockKind
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import _legacy, _programs, extract
from tests.extraction.conftest import make_docx, make_pdf, paragraph
from tests.extraction.office import make_odf, make_pptx, pack, pieces, read, shape, slide

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> str:
    path = _programs.find().libreoffice_path
    if not path:
        pytest.skip("LibreOffice is not installed here")
    monkeypatch.setattr(_legacy, "TIME_LIMIT", 120.0)  # its first start on a busy machine may take long
    return path


def old(office: str, data: bytes, suffix: str, target: str) -> bytes:
    """Has LibreOffice write the old format that the test then reads."""
    with _programs.workspace() as folder:
        (folder / f"in.{suffix}").write_bytes(data)
        argv = [office, f"-env:UserInstallation={(folder / 'p').as_uri()}", "--headless", "--convert-to", target,
                "--outdir", str(folder / "out"), str(folder / f"in.{suffix}")]
        while _programs.run(argv, timeout=120, folder=folder).status == 81:
            pass
        return (folder / "out" / f"in.{target.split(':')[0]}").read_bytes()


def test_a_word_file_of_1997_is_read_through_libreoffice(tmp_path: Path, office: str) -> None:
    body = '<text:h text:outline-level="1">Der Plan</text:h><text:p>Größe und Übermut.</text:p>'
    document = read(tmp_path, old(office, make_odf("text", body, flat=True), "fodt", "doc:MS Word 97"), "a.doc")
    assert document.format == "doc"
    assert pieces(document, BlockKind.HEADING) == ["Der Plan"]
    assert pieces(document, BlockKind.PARAGRAPH) == ["Größe und Übermut."]


def test_old_slides_are_read_through_libreoffice(tmp_path: Path, office: str) -> None:
    frame = ('<draw:frame presentation:class="{}" svg:width="20cm" svg:height="3cm" xmlns:svg="urn:oasis:names:tc:'
             'opendocument:xmlns:svg-compatible:1.0"><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>')
    page = f'<draw:page draw:name="one">{frame.format("outline", "body text")}</draw:page>'
    data = old(office, make_odf("presentation", page, flat=True), "fodp", "ppt:MS PowerPoint 97")
    document = read(tmp_path, data, "a.ppt")
    assert (document.format, pieces(document, part="slide 1")) == ("ppt", ["body text"])


def test_an_old_workbook_is_read_by_calamine(tmp_path: Path, office: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = "".join(f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
                    for text in ("left", "right"))
    sheet = f'<table:table table:name="Plan"><table:table-row>{cells}</table:table-row></table:table>'
    data = old(office, make_odf("spreadsheet", sheet, flat=True), "fods", "xls:MS Excel 97")
    monkeypatch.setattr(_programs, "run", None)  # LibreOffice would hide that calamine refused
    document = read(tmp_path, data, "a.xls")
    assert pieces(document, BlockKind.TABLE, "Plan") == ["left\tright"]


def test_without_libreoffice_an_old_file_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_programs, "find", _programs.Programs)
    for name in ("a.doc", "a.ppt", "a.wps"):
        with pytest.raises(ExtractionError) as caught:
            read(tmp_path, _legacy.OLE + bytes(2000), name)
        assert caught.value.code == "needs-program"
        assert "LibreOffice" in caught.value.message
        assert caught.value.hint


def test_what_only_bears_the_name_of_a_word_file_is_read_as_what_it_is(tmp_path: Path) -> None:
    assert read(tmp_path, b"<html><body><p>a page</p></body></html>", "a.doc").text == "a page"
    assert read(tmp_path, rb"{\rtf1 rich\par}", "b.doc").text == "rich"
    assert read(tmp_path, b"just words\n", "c.doc").text == "just words"
    assert read(tmp_path, make_docx(paragraph("new")), "d.doc").text == "new"


def test_damaged_old_files_are_said_to_be_damaged(tmp_path: Path, office: str) -> None:
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, _legacy.OLE + b"\xff" * 3000, "a.doc")
    assert caught.value.code in {"damaged", "empty"}


def test_a_pages_file_is_read_by_its_preview_or_says_what_to_do(tmp_path: Path) -> None:
    pdf = make_pdf([[(72, 700, 12, "the preview of it")]])
    data = pack({"Index/Document.iwa": b"x", "QuickLook/Preview.pdf": pdf})
    assert "the preview of it" in read(tmp_path, data, "a.pages").text
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, pack({"Index/Document.iwa": b"x"}), "a.key")
    assert (caught.value.code, "Export" in caught.value.hint) == ("needs-program", True)
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, b"-----BEGIN KEY-----\n", "server.key")
    assert caught.value.code == "unknown-type"


def test_a_presentation_under_an_old_name_is_read_without_libreoffice(tmp_path: Path) -> None:
    assert read(tmp_path, make_pptx([slide(shape("as pptx"))]), "a.ppt").text == "as pptx"


def test_no_other_file_comes_in_through_a_link(tmp_path: Path, office: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("canary-4711")
    link = f'<text:section-source xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="{secret.as_uri()}"/>'
    section = f'<text:p>start</text:p><text:section text:name="s">{link}<text:p>old</text:p></text:section>'
    field = rb'{\rtf1 start {\field{\*\fldinst INCLUDETEXT "%s"}{\fldrslt old}}\par}' % str(secret).encode()
    for data, suffix in ((make_odf("text", section, flat=True), "fodt"), (field, "doc")):
        (tmp_path / "converted.odt").write_bytes(_legacy._convert(data, suffix, "odt"))
        text = extract(tmp_path / "converted.odt").text
        assert text.split() == ["start", "old"]
