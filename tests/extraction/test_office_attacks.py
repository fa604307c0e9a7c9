"""Crafted office files: nothing foreign comes in (R12), nothing takes more than its limits (R1)."""

from __future__ import annotations

import io
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from sbert_desktop.domain import ExtractedText
from sbert_desktop.errors import ExtractionError
from tests.extraction.conftest import WORD, paragraph
from tests.extraction.office import ODF, P, S, make_epub, make_odf, make_pptx, make_xlsx, pack, read, shape, slide

CANARY = "canary-4711-in-another-file"
OUTSIDE = '<!DOCTYPE x [<!ENTITY xxe SYSTEM "{}"><!ENTITY own "defined-here">]>'
LAUGHS = ('<!DOCTYPE x [<!ENTITY a "lolcanary">'
          + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)) + "]>")


def docx(head: str, text: str) -> bytes:
    return pack({"word/document.xml": f"{head}<w:document {WORD}><w:body>{paragraph(text)}</w:body></w:document>"})


def pptx(head: str, text: str) -> bytes:
    return make_pptx([head + slide(shape(text))])


def xlsx(head: str, text: str) -> bytes:
    row = f'<row><c t="inlineStr"><is><t>{text}</t></is></c></row>'
    sheet = f"{head}<worksheet {S}><sheetData>{row}</sheetData></worksheet>"
    return make_xlsx({"S": ""}, extra={"xl/worksheets/sheet1.xml": sheet})


def odt(head: str, text: str) -> bytes:
    body = f"<office:body><office:text><text:p>{text}</text:p></office:text></office:body>"
    content = f"{head}<office:document-content {ODF}>{body}</office:document-content>"
    return make_odf("text", "", extra={"content.xml": content})


def fodt(head: str, text: str) -> bytes:
    plain = make_odf("text", f"<text:p>{text}</text:p>", flat=True)
    return head.encode() + plain.removeprefix(b'<?xml version="1.0"?>')


def epub(head: str, text: str) -> bytes:
    page = f'<?xml version="1.0"?>{head}<html><body><p>{text}</p></body></html>'
    return make_epub({"a": ""}, extra={"OPS/text/a.xhtml": page})


MAKERS: list[Callable[[str, str], bytes]] = [docx, pptx, xlsx, odt, fodt, epub]


@pytest.mark.parametrize("make", MAKERS)
def test_no_file_comes_in_through_an_entity(make: Callable[[str, str], bytes], tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(CANARY)
    data = make(OUTSIDE.format(secret.as_uri()), "before &xxe; after")
    text = read(tmp_path, data, f"a.{make.__name__}").text
    assert "before" in text
    assert CANARY not in text


@pytest.mark.parametrize("make", MAKERS)
def test_entities_in_entities_are_never_spelled_out(make: Callable[[str, str], bytes], tmp_path: Path) -> None:
    began = time.process_time()
    try:
        text = read(tmp_path, make(LAUGHS, "before &j; after"), f"a.{make.__name__}").text
    except ExtractionError as error:
        text = ""
        assert error.code in {"empty", "damaged"}  # noqa: PT017
    assert time.process_time() - began < 20
    assert text.count("lolcanary") < 10
    assert len(text) < 2000


def bomb(name: str, head: bytes, piece: bytes, tail: bytes, megabytes: int) -> bytes:
    """Packs a part that repeats itself, without ever holding it in memory."""
    out = io.BytesIO()
    with (zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
          archive.open(name, "w", force_zip64=True) as stream):
        stream.write(head)
        block = piece * (1_000_000 // len(piece))
        for _ in range(megabytes):
            stream.write(block)
        stream.write(tail)
    return out.getvalue()


def test_a_docx_of_a_gigabyte_is_refused_by_its_size(tmp_path: Path) -> None:
    data = bomb("word/document.xml", f"<w:document {WORD}><w:body>".encode(), paragraph("bomb").encode(),
                b"</w:body></w:document>", 1000)
    assert len(data) < 10_000_000
    began = time.process_time()
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, data, "a.docx")
    assert caught.value.code == "too-large"
    assert time.process_time() - began < 10


def test_a_part_that_lies_about_its_size_is_not_unpacked_further(tmp_path: Path) -> None:
    data = bytearray(bomb("word/document.xml", f"<w:document {WORD}><w:body>".encode(), paragraph("bomb").encode(),
                          b"</w:body></w:document>", 30))
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = (1000).to_bytes(4, "little")  # says 1,000 bytes
    try:
        assert len(read(tmp_path, bytes(data), "a.docx").text) < 2000
    except ExtractionError as error:
        assert error.code in {"damaged", "too-large"}  # noqa: PT017


def cut(data: bytes, keep: int) -> bytes:
    return data[:keep]


def test_the_beginning_of_a_cut_off_file_is_read_and_said_to_be_a_part(tmp_path: Path) -> None:
    words = [f"{zlib.crc32(str(number).encode()):08x}" for number in range(5000)]
    whole = pack({"[Content_Types].xml": "<Types/>",
                  "word/document.xml": f"<w:document {WORD}><w:body>{''.join(map(paragraph, words))}</w:body>"
                                       "</w:document>"})
    document = read(tmp_path, cut(whole, len(whole) * 2 // 3), "a.docx")
    assert words[0] in document.text
    assert words[-1] not in document.text
    assert [(problem.code, problem.partial) for problem in document.problems] == [("damaged", True)]
    book = make_epub({"a": "<p>the first chapter</p>", "b": "<p>the last</p>"})
    document = read(tmp_path, cut(book, book.index(b"OPS/text/b.xhtml") - 30), "a.epub")
    assert document.text == "the first chapter"
    with pytest.raises(ExtractionError):
        read(tmp_path, b"PK\x03\x04" + b"\xff" * 500, "b.docx")


def test_deep_nesting_ends_within_its_limits(tmp_path: Path) -> None:
    group = "<p:grpSp>" * 5000 + shape("deep") + "</p:grpSp>" * 5000
    lists = "<text:list><text:list-item>" * 5000 + "<text:p>deep</text:p>"
    table = "<w:tbl><w:tr><w:tc>" * 3000 + paragraph("deep")
    began = time.process_time()
    for name, data in (("a.pptx", make_pptx([slide(shape("top"), group)])),
                       ("a.odt", make_odf("text", f"<text:p>top</text:p>{lists}")),
                       ("a.docx", pack({"word/document.xml": f"<w:document {WORD}><w:body>{paragraph('top')}"
                                                             f"{table}"}))):
        assert "top" in read(tmp_path, data, name).text
    assert time.process_time() - began < 30


def mutated(data: bytes, seed: int) -> bytes:
    changed = bytearray(data)
    for step in range(1 + seed % 20):
        at = zlib.crc32(f"{seed} {step}".encode()) % len(changed)
        changed[at] = zlib.crc32(f"{step} {seed}".encode()) & 255
    return bytes(changed)


def test_damaged_bytes_end_as_text_or_as_a_known_problem(tmp_path: Path) -> None:
    samples = [(make.__name__, make("", "some words to be found")) for make in MAKERS]
    samples.append(("rtf", rb"{\rtf1\ansi{\fonttbl{\f0\fcharset128 x;}}{\info{\title t}}\f0 some \'83\'5c words\par}"))
    samples.append(("pptx", make_pptx([slide(shape("t", "title"))], docProps__core__xml=f"<x {P}/>")))
    for suffix, data in samples:
        for seed in range(60):
            try:
                assert isinstance(read(tmp_path, mutated(data, seed), f"a.{suffix}"), ExtractedText)
            except ExtractionError as error:
                assert error.message  # noqa: PT017
                assert "in the reader of" not in error.detail or error.code == "damaged"  # noqa: PT017
