from __future__ import annotations

import time
from pathlib import Path

import pytest

from sbert_desktop.domain import BlockKind
from sbert_desktop.errors import ExtractionError
from tests.extraction.office import pieces, read

FONTS = r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset128 MS Gothic{\*\falt Gothic};}{\f2\fcharset204 Times;}}"


def rtf(body: str, head: str = "") -> bytes:
    return (r"{\rtf1\ansi\deff0" + FONTS + head + body + "}").encode("latin-1")


def escaped(text: str, codec: str) -> str:
    r"""Gives text as \'xx escapes, second bytes that are letters as they stand, as programs write them."""
    return "".join(chr(byte) if 64 < byte < 91 else f"\\'{byte:02x}" for byte in text.encode(codec))


def test_every_font_has_its_own_code_page(tmp_path: Path) -> None:
    body = rf"\f1 {escaped('ソ連の表', 'cp932')}\f2 {escaped('Москва', 'cp1251')}\f0 caf\'e9\par"
    assert read(tmp_path, rtf(body), "a.rtf").text == "ソ連の表Москваcafé"


def test_substitutes_of_unicode_escapes_are_not_text(tmp_path: Path) -> None:
    body = r"{\uc1 \u26481?\u-27771\'8b\'9e}\'e4\uc2 \u20140\'8b\'9eend \u-10179??\u-8704?? x\uc0\u228 y\par"
    assert read(tmp_path, rtf(body), "a.rtf").text == "東鎅\u017eä京end 😀 xäy".replace("\u017e", "ž")


def test_headings_tables_notes_and_furniture(tmp_path: Path) -> None:
    styles = r"{\stylesheet{\s1 heading 1;}{\s2\outlinelevel1 Own;}}"
    body = (r"{\header running\par}\pard\s1 Top\par\pard\s2 Below\par\pard text{\footnote the note} goes on\par"
            r"\trowd\pard\intbl a\cell b\cell\row\trowd\pard\intbl c\par d\cell e\cell\row\pard after\par"
            r"{\*\atnauthor Bo}{\*\annotation{\*\atnid x}why}")
    document = read(tmp_path, rtf(body, styles), "a.rtf")
    assert pieces(document, BlockKind.HEADING) == ["Top", "Below"]
    assert pieces(document, BlockKind.TABLE) == ["a\tb\nc d\te"]
    assert pieces(document, BlockKind.FURNITURE) == ["running"]
    assert pieces(document, BlockKind.PARAGRAPH, "") == ["text goes on", "after"]
    assert pieces(document, part="footnote") == ["the note"]
    assert pieces(document, part="comment") == ["Bo: why"]
    assert document.title == "Top"
    assert document.blocks[2].heading == "Top > Below"


def test_properties_hidden_and_deleted_text_fields_and_pictures(tmp_path: Path) -> None:
    info = (r"{\info{\title The title}{\author Ann}{\creatim\yr2020\mo1\dy2}{\revtim\yr2022\mo2\dy3\hr0\min0}"
            r"{\printim\yr2023\mo1\dy1}}")
    body = (r"seen {\v hidden}{\deleted gone}{\field{\*\fldinst HYPERLINK x}{\fldrslt link}}"
            r"{\pict\wmetafile8 0102030405}{\*\unknown nothing}{\bin5 {}{}\}\emdash\~x\_y\par")
    document = read(tmp_path, rtf(body, info), "a.rtf")
    assert document.text == "seen link— x-y"
    assert (document.title, document.date) == ("The title", 1643846400.0)
    assert document.metadata == (("author", "Ann"),)


def test_text_boxes_are_read_once(tmp_path: Path) -> None:
    body = (r"around{\shp{\*\shpinst{\sp{\sn name}{\sv 1}}{\shptxt boxed\par}}{\shprslt boxed again}}\par")
    assert read(tmp_path, rtf(body), "a.rtf").text.split() == ["around", "boxed"]


def test_deep_nesting_and_long_runs_end_soon(tmp_path: Path) -> None:
    began = time.process_time()
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, b"{\\rtf1 " + b"{" * 500_000, "a.rtf")
    assert caught.value.code == "damaged"
    read(tmp_path, b"{\\rtf1 x" + b"{\\b}" * 100_000 + b"\\bin99999999999999 y", "b.rtf")
    assert time.process_time() - began < 30


def test_what_is_no_rtf_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, b"plain", "a.rtf")
    assert caught.value.code == "damaged"
