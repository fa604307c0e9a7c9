"""Huge texts: streamed in parts, cut at borders, with bounded memory."""

from __future__ import annotations

import codecs
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sbert_desktop.domain import Block, BlockKind, ExtractedText, Listing, Problem, Run
from sbert_desktop.extraction import ExtractionPool, _parts
from sbert_desktop.extraction._parts import border, cut
from tests.extraction.conftest import REPO, Context, NearChild, ScriptChild, source

Found = list[tuple[str, ExtractedText | Problem | Listing | None]]


def read(path: Path, child: type[NearChild] | type[ScriptChild] = NearChild) -> Found:
    pool = ExtractionPool(child, 1)
    found = [(file.member, outcome) for file, outcome in pool.results([source(path)], Context())]
    pool.close()
    return found


def texts(found: Found) -> list[str]:
    *parts, (name, listing) = found
    assert name == ""
    assert isinstance(listing, Listing), listing
    assert listing.members == len(parts)
    assert not listing.problems
    assert [name for name, _ in parts] == [f"part {number}" for number in range(1, len(parts) + 1)]
    given = []
    for _, outcome in parts:
        assert isinstance(outcome, ExtractedText), outcome
        given.append(outcome.text)
    return given


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> int:
    """Parts of 20,000 characters: what is tested does not depend on their length."""
    monkeypatch.setattr(_parts, "PART", 20_000)
    monkeypatch.setattr(_parts, "_BLOCK", 7_000)
    monkeypatch.setattr(_parts, "_SAMPLE", 4_000)
    return 20_000


def test_a_text_in_parts_loses_nothing_and_is_cut_between_paragraphs(tmp_path: Path, small_parts: int) -> None:
    paragraphs = [f"Paragraph number {number} says a few words. " * 5 + "End." for number in range(400)]
    (tmp_path / "a.txt").write_text("The title of it all\n\n" + "\n\n".join(paragraphs))
    found = read(tmp_path / "a.txt")
    given = texts(found)
    assert len(given) > 3
    assert all(len(text) <= small_parts for text in given)
    assert "\n\n".join(given).split("\n\n")[1:] == paragraphs
    assert {outcome.title for _, outcome in found if isinstance(outcome, ExtractedText)} == {"The title of it all"}


def test_a_file_of_up_to_a_part_stays_whole(tmp_path: Path, small_parts: int) -> None:
    (tmp_path / "a.txt").write_text("word " * (small_parts // 5))
    ((name, outcome),) = read(tmp_path / "a.txt")
    assert name == ""
    assert isinstance(outcome, ExtractedText)


@pytest.mark.parametrize(("encoding", "mark"), [
    ("utf-8", b""), ("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE),
    ("utf-16-le", b""), ("utf-32-le", codecs.BOM_UTF32_LE), ("cp1252", b""), ("gb18030", b""), ("cp932", b""),
    ("koi8_r", b"")])
def test_the_encoding_is_decided_once_and_no_character_is_cut(encoding: str, mark: bytes, tmp_path: Path,
                                                              small_parts: int) -> None:
    line = {"gb18030": "我们昨天一起去图书馆看书，然后回家吃晚饭。",
            "cp932": "私たちは昨日図書館で本を読みました。それから家に帰りました。",
            "koi8_r": "Мы вчера вместе ходили в библиотеку и читали книги, а потом пошли домой."}.get(
        encoding, "Wir gingen gestern über die Brücke und lasen für später schöne Bücher.")
    lines = [f"{number} {line}" for number in range(1500)]
    (tmp_path / "a.txt").write_bytes(mark + "\n".join(lines).encode(encoding))
    given = texts(read(tmp_path / "a.txt"))
    assert len(given) > 1
    assert "\n".join(given).split("\n") == lines


def test_letters_beyond_ascii_that_come_late_decide_the_encoding(tmp_path: Path, small_parts: int) -> None:
    plain = "A line of plain words without any accent.\n" * 2000
    (tmp_path / "a.txt").write_bytes(plain.encode() + ("Später kamen schöne Grüße aus Köln.\n" * 50).encode("cp1252"))
    assert texts(read(tmp_path / "a.txt"))[-1].count("Später kamen schöne Grüße aus Köln.") == 50


def test_one_line_of_json_is_cut_and_nothing_is_lost(tmp_path: Path, small_parts: int) -> None:
    record = '{"id": %d, "text": "some words of a record"}'
    whole = "[" + ", ".join(record % number for number in range(3000)) + "]"
    (tmp_path / "a.json").write_text(whole)
    together = " ".join(texts(read(tmp_path / "a.json")))
    assert together.count("some words of a record") == 3000


def test_a_text_without_any_border_is_cut_hard(tmp_path: Path, small_parts: int) -> None:
    (tmp_path / "a.log").write_text("x" * 90_000)
    assert "".join(texts(read(tmp_path / "a.log"))) == "x" * 90_000


def test_a_long_table_keeps_its_header_in_each_part(tmp_path: Path, small_parts: int) -> None:
    rows = "".join(f"{number},name {number},city {number}\n" for number in range(4000))
    (tmp_path / "a.csv").write_text("number,name,city\n" + rows)
    given = texts(read(tmp_path / "a.csv"))
    assert len(given) > 2
    assert "name 3999" in given[-1]
    for text in given:
        assert "number" in text


def test_a_long_table_without_a_header_repeats_no_row(tmp_path: Path, small_parts: int) -> None:
    (tmp_path / "a.csv").write_text("".join(f"{number},{number * 7},{number * 11}\n" for number in range(4000)))
    given = texts(read(tmp_path / "a.csv"))
    assert len(given) > 2
    assert sum(text.count("\n") + 1 for text in "\n".join(given).split("\n\n")) == 4000


@pytest.mark.parametrize(("name", "piece"), [
    ("a.srt", "{n}\n00:{m:02}:{s:02},000 --> 00:{m:02}:{s:02},900\nWords {n} that are said.\n\n"),
    ("a.vtt", "00:{m:02}:{s:02}.000 --> 00:{m:02}:{s:02}.900\n<v Anna>Words {n} that are said.\n\n"),
    ("a.ass", "Dialogue: 0,0:{m:02}:{s:02}.00,0:{m:02}:{s:02}.90,Default,Anna,0,0,0,,Words {n} that are said.\n"),
    ("a.ics", "BEGIN:VEVENT\nSUMMARY:Words {n} that are said.\nEND:VEVENT\n"),
    ("a.org", "* Heading {n}\n\nWords {n} that are said.\n\n"), ("a.rst", "Words {n} that are *said*.\n\n"),
    ("a.adoc", "== Heading {n}\n\nWords {n} that are said.\n\n"),
    ("a.tex", "\\section{{A}}\n\nWords {n} that are said.\n\n"),
    ("a.vcf", "BEGIN:VCARD\nFN:Anna\nNOTE:Words {n} that are said.\nEND:VCARD\n"),
    ("a.html", "<div><p>Words {n} that are <b>said</b>.</p><img src='data:image/png;base64," + 300 * "Q" + "'></div>")])
def test_texts_of_every_kind_are_read_in_parts(name: str, piece: str, tmp_path: Path, small_parts: int) -> None:
    head = {"a.vtt": "WEBVTT\n\n", "a.ics": "BEGIN:VCALENDAR\n",
            "a.ass": "[Script Info]\nTitle: T\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, "
                     "MarginV, Effect, Text\n"}.get(name, "")
    (tmp_path / name).write_text(head + "".join(
        piece.format(n=number, m=number // 60, s=number % 60) for number in range(1200)))
    given = texts(read(tmp_path / name))
    assert len(given) > 1
    together = "\n".join(given)
    assert all(f"Words {number} that are" in together for number in range(1200))
    assert "Default" not in together
    assert "-->" not in together
    assert "QQQ" not in together


def test_long_xml_gives_its_words_without_tags_and_resolves_nothing(tmp_path: Path, small_parts: int) -> None:
    head = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>'
    body = "".join(f"<p n='{number}'>Words &amp; more words {number} <![CDATA[<raw>]]> &x;</p>"
                   for number in range(3000))
    (tmp_path / "a.xml").write_text(head + body + "</a>")
    given = "\n".join(texts(read(tmp_path / "a.xml")))
    assert "Words & more words 2999" in given
    assert given.count("<raw>") == 3000
    assert "<p" not in given
    assert "root:" not in given


def test_a_huge_text_inside_an_archive_is_parted_too(tmp_path: Path, small_parts: int) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("logs/a.log", "".join(f"line {number}\n" for number in range(6000)))
        archive.writestr("b.txt", "other words")
    names = [name for name, _ in read(tmp_path / "a.zip")]
    assert names[0] == "logs/a.log/part 1"
    assert names[-2:] == ["b.txt", ""]
    child = NearChild()
    path = os.fsencode(tmp_path / "a.zip").hex()
    _, payload = child.request({"op": "extract", "files": [path], "member": "logs/a.log/part 2"})
    assert payload.startswith(b"line ")
    assert not payload.startswith(b"line 0\n")


def test_borders_are_the_best_there_are() -> None:
    assert border("a" * 90 + "\n\n" + "b" * 50, 100) == 92
    assert border("a" * 90 + "\n" + "b. c" * 50, 100) == 91
    assert border("a" * 90 + ". " + "b" * 50, 100) == 92
    assert border("a" * 90 + "},{" + "b" * 50, 100) == 92
    assert border("a" * 200, 100) == 100


def test_a_long_document_is_cut_at_blocks_with_offsets_of_its_own() -> None:
    text, blocks = "", []
    for number in range(40):
        if text:
            text += "\n\n"
        words = f"Block {number} " + "w" * 50
        runs = (Run(len(text), 1, number * 100, 20), Run(len(text) + 20, 1, number * 100 + 20, len(words) - 20))
        blocks.append(Block(len(text), len(text) + len(words), BlockKind.PARAGRAPH, number + 1, "head", "", runs))
        text += words
    document = ExtractedText("pdf", text, tuple(blocks), "title", problems=(Problem("x", "y"),))
    parts = cut(document, 500)
    assert len(parts) > 3
    assert sum(len(part.blocks) for part in parts) == 40
    assert "\n\n".join(part.text for part in parts) == text
    number = 0
    for part in parts:
        assert len(part.text) <= 500
        assert part.title == "title"
        for block in part.blocks:
            assert part.text[block.start : block.end].startswith(f"Block {number} ")
            assert block.page == number + 1
            assert [run.text_start for run in block.runs] == [block.start, block.start + 20]
            number += 1
    assert [len(part.problems) for part in parts].count(1) == 1


def test_a_block_that_is_too_long_is_cut_with_its_runs() -> None:
    text = "word " * 100
    document = ExtractedText("pdf", text, (Block(0, 500, runs=(Run(0, 1, 1000, 500),)),))
    parts = cut(document, 120)
    assert "".join(part.text for part in parts) == text
    for part in parts:
        ((run,),) = (block.runs for block in part.blocks)
        assert run.text_start == 0
        assert run.length == len(part.text)
    starts = [block.runs[0].char_start for part in parts for block in part.blocks]
    assert starts == [1000 + sum(len(part.text) for part in parts[:number]) for number in range(len(parts))]


SCRIPT = """
import resource, sys
from pathlib import Path
from sbert_desktop.extraction.child import make_handler
import os
handler = make_handler()
handler({"op": "ping"}, b"")
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
path = os.fsencode(Path(sys.argv[1])).hex()
reply, payload = handler({"op": "extract", "files": [path]}, b"")
results = len(reply["results"])
while reply["next"] is not None:
    reply, payload = handler({"op": "page", "next": reply["next"]}, b"")
    results += len(reply["results"])
print(results, before, peak())
"""


@pytest.mark.parametrize("separator", ["\n", ", "], ids=["lines", "one line"])
def test_memory_of_the_child_does_not_grow_with_the_file(separator: str, tmp_path: Path) -> None:
    growth = []
    for megabytes in (6, 20):
        path = tmp_path / f"{megabytes}.txt"
        with path.open("w") as stream:
            for number in range(megabytes * 10):
                stream.write(separator.join(f'{{"n": {number * 1000 + at}, "words": "some words of it"}}'
                                            for at in range(2000)) + separator)
        done = subprocess.run([sys.executable, "-c", SCRIPT, str(path)], capture_output=True, text=True, check=True,
                              cwd=REPO, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        results, before, peak = map(int, done.stdout.split())
        assert results > megabytes // 5
        growth.append(peak - before)
    assert growth[1] < 300
    assert growth[1] < growth[0] + 60


def test_pages_wait_until_they_are_taken(tmp_path: Path, small_parts: int) -> None:
    (tmp_path / "a.log").write_text("".join(f"line {number} of many\n" for number in range(60_000)))
    log: list[object] = []
    pool = ExtractionPool(lambda: NearChild(log), 1)  # type: ignore[arg-type]
    results = pool.results([source(tmp_path / "a.log")], Context())
    next(results)
    threading.Event().wait(0.5)  # time in which an unbounded reader would come to the end
    asked = len(log)
    rest = sum(1 for _ in results)
    pool.close()
    assert rest > 30
    assert asked <= 5
