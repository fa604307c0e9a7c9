"""Plain text, Markdown, tables, code, XML: what their blocks and titles are."""

from __future__ import annotations

from pathlib import Path

import pytest

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import SUPPORTED, detect_language, extract, format_of
from tests.extraction.conftest import make_docx, make_pdf, paragraph


def read(folder: Path, name: str, text: str | bytes) -> ExtractedText:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return extract(path)


def pieces(document: ExtractedText, kind: BlockKind | None = None) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks if kind in {None, block.kind}]


def test_blocks_are_ordered_and_hold_all_the_text(tmp_path: Path) -> None:
    document = read(tmp_path, "a.txt", "The title\n\nFirst   paragraph\nof two lines.\n\n\n\nSecond.\n")
    assert pieces(document) == ["The title", "First   paragraph\nof two lines.", "Second."]
    assert document.title == "The title"
    assert all(before.end <= after.start for before, after in zip(document.blocks, document.blocks[1:], strict=False))


@pytest.mark.parametrize("text", ["This is a whole sentence.\n\nMore", "1234 5678\n\nMore", "no blank line\nfollows it",
                                  "only one line", "a, b,\n\nMore", "x " * 80 + "\n\nMore"])
def test_first_lines_that_are_no_titles(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, "a.txt", text).title == ""


def test_markdown_keeps_structure_and_loses_markup(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", (
        "---\ntitle: 'The handbook'\ndate: 2021-03-04\ntags: [x]\n---\n# First\nSome *strong* text, a [link](http://x.y/z_(a))"
        " and `code`.\n\n## Second\n- one\n- two\n\n```python\ndef f():\n\n    return '# no heading'\n```\n"
        "Setext\n------\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n<!-- hidden -->\nEnd &amp; done\n"))
    assert document.title == "The handbook"
    assert document.date == 1614816000.0
    assert "Some strong text, a link and code." in pieces(document)
    assert pieces(document, BlockKind.HEADING) == ["First", "Second", "Setext"]
    assert pieces(document, BlockKind.CODE) == ["def f():\n\n    return '# no heading'"]
    assert pieces(document, BlockKind.TABLE) == ["a\tb\n1\t2"]
    assert [block.heading for block in document.blocks if block.kind is BlockKind.CODE] == ["First > Second"]
    assert "End & done" in document.text
    assert "hidden" not in document.text


def test_csv_rows_become_lines_whatever_the_delimiter(tmp_path: Path) -> None:
    for name, text in (("a.csv", 'name;place\n"Ann; B";Rome\n'), ("b.csv", 'name,place\n"Ann; B",Rome\n'),
                       ("c.tsv", "name\tplace\nAnn; B\tRome\n")):
        assert pieces(read(tmp_path, name, text), BlockKind.TABLE) == ["name\tplace\nAnn; B\tRome"]


def test_code_is_parted_at_its_definitions(tmp_path: Path) -> None:
    code = "import os\n\n\n@decorated\ndef first():\n    pass\n\n\nclass Second:\n    x = 1\n"
    document = read(tmp_path, "a.py", code)
    assert [block.kind for block in document.blocks] == [BlockKind.CODE] * 3
    assert [block.heading for block in document.blocks] == ["", "first", "Second"]
    assert pieces(document)[1].startswith("@decorated\ndef first")


def test_xml_gives_its_text_and_never_expands_entities(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaa"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
    document = read(tmp_path, "a.xml", bomb + "<d><title>Report</title><p note='two words'>Track &amp; Field</p>"
                    "<q>&b;&c;</q><![CDATA[raw <b>bold</b>]]></d>")
    assert document.title == "Report"
    assert "Track & Field" in document.text
    assert "two words" in document.text
    assert "raw bold" in document.text
    assert "aaa" not in document.text
    assert "root:" not in document.text


@pytest.mark.parametrize(("name", "content", "code"), [
    ("zero.txt", b"", "empty"),
    ("blank.txt", b" \n\t\n", "empty"),
    ("blank.html", b"<html><body> </body></html>", "empty"),
    ("program.txt", b"\x7fELF" + bytes(range(256)) * 40, "unknown-type"),
    ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(100), "damaged"),
    ("strange.qqq", b"some text", "unknown-type"),
    ("broken.pdf", b"%PDF-1.4\n", "damaged"),
    ("not.pdf", b"just text", "damaged"),
    ("broken.docx", b"PK\x03\x04" + b"x" * 100, "damaged"),
    ("secret.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
])
def test_unreadable_files_say_why_in_one_line(tmp_path: Path, name: str, content: bytes, code: str) -> None:
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, name, content)
    assert caught.value.code == code
    assert caught.value.message
    assert "\n" not in str(caught.value)


def test_missing_files_folders_and_pipes_are_unreadable_at_once(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.txt")
    for name in ("missing.txt", "pipe.txt", "."):
        with pytest.raises(ExtractionError) as caught:
            extract(tmp_path / name)
        assert caught.value.code == "unreadable"


@pytest.mark.parametrize(("name", "content", "expected"), [
    ("page.txt", b"<!DOCTYPE html><html><body>x", "html"),
    ("really.txt", make_pdf([[(72, 700, 12, "hello")]]), "pdf"),
    ("report.zip", make_docx(paragraph("x")), "docx"),
    ("README", b"read me first", "txt"),
    ("Makefile", b"all:\n\techo", "code"),
    ("noname", b"From: a@b.c\nTo: d@e.f\nSubject: x\nDate: today\n\nbody", "eml"),
    ("photo.jpg", b"\xff\xd8\xff\xe0" + bytes(50), "picture"),
    ("data.json", b"{}", "data"),
])
def test_format_is_told_by_content_where_the_name_lies(tmp_path: Path, name: str, content: bytes,
                                                       expected: str | None) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert format_of(path, content[:8192]) == expected


def test_every_format_has_a_reader() -> None:
    from sbert_desktop.extraction._registry import FORMATS

    assert all(callable(entry.members() if entry.container else entry.reader()) for entry in FORMATS)
    assert {"txt", "md", "html", "pdf", "docx", "eml", "py"} <= set(SUPPORTED)


@pytest.mark.parametrize(("text", "language"), [
    ("We walked along the river for a long time and talked about the books of the summer.", "en"),
    ("Wir gingen lange am Fluss entlang und sprachen über die Bücher des Sommers.", "de"),
    ("Nous avons marché longtemps au bord de la rivière en parlant des livres de l'été.", "fr"),
    ("昨日の夜、私たちは川のほとりを長い間歩きました。", "ja"),
    ("too short", ""), ("1234 5678 !!!! " * 20, ""),
])
def test_language(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_a_text_over_the_limit_is_cut_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from sbert_desktop.extraction._builder import TextBuilder

    out = TextBuilder("txt", limit=100)
    for _ in range(10):
        out.add("thirty characters of text here")
    document = out.finish()
    assert len(document.text.encode()) <= 110
    assert [(entry.code, entry.partial) for entry in document.problems] == [("too-large", True)]
