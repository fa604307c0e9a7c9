from __future__ import annotations

from pathlib import Path

import pytest

from sbert_desktop.domain import BlockKind
from sbert_desktop.errors import ExtractionError
from tests.extraction.office import make_epub, pieces, read

ABOUT = "<dc:title>The book</dc:title><dc:creator>Ann Author</dc:creator><dc:date>1911</dc:date>"


def test_chapters_come_in_the_order_of_reading(tmp_path: Path) -> None:
    data = make_epub({"b": "<h1>Second</h1><p>later</p>", "a": "<h1>First</h1><p>earlier</p>"}, about=ABOUT,
                     spine='<itemref idref="a"/><itemref idref="b"/>')
    document = read(tmp_path, data, "a.epub")
    assert pieces(document) == ["First", "earlier", "Second", "later"]
    assert document.blocks[3].heading == "Second"
    assert (document.title, document.date) == ("The book", -1861920000.0)
    assert ("author", "Ann Author") in document.metadata


def test_the_navigation_is_left_out_and_notes_are_text(tmp_path: Path) -> None:
    nav = '<item id="nav" href="text/toc.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    data = make_epub({"a": '<p>story</p><aside epub:type="footnote">a note</aside>', "toc": "<p>contents here</p>"},
                     manifest=nav, spine='<itemref idref="nav"/><itemref idref="a"/>')
    document = read(tmp_path, data, "a.epub")
    assert "contents here" not in document.text
    assert pieces(document, BlockKind.PARAGRAPH) == ["story", "a note"]


def test_tags_that_close_themselves_swallow_nothing(tmp_path: Path) -> None:
    data = make_epub({"a": '<script src="x"/><a id="p1"/><p>all <i/>of it</p>'})
    assert "all of it" in read(tmp_path, data, "a.epub").text


def test_a_book_without_a_readable_package_is_read_by_its_names(tmp_path: Path) -> None:
    data = make_epub({"a": "<p>still here</p>"}, extra={"META-INF/container.xml": "<broken"})
    assert read(tmp_path, data, "a.epub").text == "still here"
    data = make_epub({"a": "<p>still here</p>"}, spine="<itemref idref='zz'/>")
    assert read(tmp_path, data, "a.epub").text == "still here"


def test_copy_protection_is_said_and_veiled_fonts_are_not(tmp_path: Path) -> None:
    cipher = ('<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/>'
              '<CipherReference URI="{}"/></EncryptedData></encryption>')
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, make_epub({"a": "x"}, extra={"META-INF/encryption.xml": cipher.format("OPS/text/a.xhtml")}),
             "a.epub")
    assert caught.value.code == "encrypted"
    fonts = make_epub({"a": "<p>fine</p>"}, extra={"META-INF/encryption.xml": cipher.format("OPS/font.otf")})
    assert read(tmp_path, fonts, "b.epub").text == "fine"


def test_a_picture_with_the_name_of_a_book_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "a.epub")
    assert caught.value.code == "unknown-type"
