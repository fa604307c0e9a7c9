"""json, yaml, calendars, address books, tables: words without punctuation, columns with their names."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from sbert_desktop.domain import ExtractedText
from sbert_desktop.extraction import extract


def read(folder: Path, name: str, text: str | bytes) -> ExtractedText:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return extract(path)


def test_json_is_read_as_keys_and_values(tmp_path: Path) -> None:
    data = {"title": "The garden", "date": "2021-03-04", "size": {"beds": 3, "open": True, "note": None},
            "plants": [{"name": "tulip", "tags": ["red", "early"]}, {"name": "ro\u00dfe \"x\"\nand more \U0001f339"}],
            "place": [[1.5, 2.5]] * 40, "picture": "A" * 500}
    for text in (json.dumps(data), json.dumps(data, indent=2, ensure_ascii=False)):
        document = read(tmp_path, "a.json", text)
        assert document.title == "The garden"
        assert document.date == 1614816000.0
        assert document.format == "json"
        assert ("title: The garden\ndate: 2021-03-04\nsize:\nbeds: 3\nopen: true\nplants:\nname: tulip\n"
                "tags: red, early") in document.text
        assert "name: roße \"x\"\nand more 🌹" in document.text
        assert not set("{}[]") & set(document.text)
        assert "AAAA" not in document.text


def test_json_keeps_all_numbers_of_an_object(tmp_path: Path) -> None:
    document = read(tmp_path, "a.json", json.dumps({f"key{n}": n * 1000 + 7 for n in range(40)}))
    assert all(f"key{n}: {n * 1000 + 7}" in document.text for n in range(40))


def test_json_lines_broken_json_and_pieces_of_json_are_read(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"id": n, "text": f"line number {n} " + "word " * 100}) + "\n" for n in range(10))
    document = read(tmp_path, "a.jsonl", lines)
    assert len(document.blocks) == 10
    assert document.text.startswith("id: 0\ntext: line number 0 word")
    assert "text: half of it" in read(tmp_path, "a.json", 'tail", "x": 1}, {"text": "half of it').text
    assert "b: 2" in read(tmp_path, "a.json", '{"a": 1, // why\n "b": 2,}').text


@pytest.mark.parametrize("text", ["[" * 300_000, '"\\"' * 150_000, '{"a":' * 60_000, "\\" * 300_000, '"' * 300_001,
                                  '{"a":"' + "x y " * 100_000, "/*" * 100_000])
def test_hostile_json_ends_soon(tmp_path: Path, text: str) -> None:
    began = time.process_time()
    read(tmp_path, "a.json", '{"k": "v"}' + text)
    assert time.process_time() - began < 30


def test_yaml_and_toml_lose_their_quotes(tmp_path: Path) -> None:
    document = read(tmp_path, "a.yaml", "---\ntitle: \"The \\u0067arden\"\nplants:\n  - 'tulip'\n  - it's fine\n")
    assert document.title == "The garden"
    assert document.text == "title: The garden\nplants:\n  - tulip\n  - it's fine"
    assert "name = tulip" in read(tmp_path, "a.toml", '[plant]\nname = "tulip"\n').text


def test_calendars_tell_who_meets_when(tmp_path: Path) -> None:
    ics = ("BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:X\r\nBEGIN:DAYLIGHT\r\nDTSTART:19700101T000000\r\n"
           "END:DAYLIGHT\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:4711\r\nSUMMARY:Garden\\, the plan\r\n"
           "DTSTART;TZID=X:20240506T093000Z\r\nLOCATION:Town \r\n hall\r\nDESCRIPTION:Bring\\nspades.\r\n"
           'ATTENDEE;CN="Müller, Ann":mailto:ann@example.org\r\nBEGIN:VALARM\r\nDESCRIPTION:beep\r\nEND:VALARM\r\n'
           "END:VEVENT\r\nEND:VCALENDAR\r\n")
    document = read(tmp_path, "a.ics", ics)
    assert document.title == "Garden, the plan"
    assert document.date == 1714987800.0
    assert document.text == ("Garden, the plan\nStart: 2024-05-06 09:30+00:00\nLocation: Town hall\nBring\nspades.\n"
                             "Attendee: Müller, Ann <ann@example.org>")


def test_address_books_give_a_block_for_each_person(tmp_path: Path) -> None:
    vcf = ("BEGIN:VCARD\nVERSION:2.1\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;Ann\nTEL;CELL:+49 1\n"
           "PHOTO;BASE64:AAAA\nEND:VCARD\nBEGIN:VCARD\nVERSION:3.0\nFN:Bob Lee\nitem1.EMAIL;TYPE=work:bob@example.org\n"
           "ADR:;;1 High St;York;;;UK\nNOTE:likes\\ntulips\nEND:VCARD\n")
    document = read(tmp_path, "a.vcf", vcf)
    assert [document.text[block.start : block.end] for block in document.blocks] == [
        "Ann Müller\nPhone: +49 1", "Bob Lee\nMail: bob@example.org\nAddress: 1 High St, York, UK\nNote: likes\ntulips"]


def test_every_block_of_a_table_begins_with_the_names_of_the_columns(tmp_path: Path) -> None:
    rows = "".join(f"person {n},{n * 7},town number {n}\n" for n in range(200))
    document = read(tmp_path, "a.csv", "name,age,place\n" + rows)
    blocks = [document.text[block.start : block.end] for block in document.blocks]
    assert len(blocks) > 3
    assert all(block.startswith("name\tage\tplace\n") for block in blocks)
    assert all(document.text.count(f"person {n}\t{n * 7}\ttown number {n}") == 1 for n in range(200))
    without = read(tmp_path, "b.csv", rows)
    assert without.text.count("person 0\t") == 1


def test_tables_keep_empty_cells_and_find_the_delimiter(tmp_path: Path) -> None:
    assert read(tmp_path, "a.csv", "Ware;Preis;Menge\nTulpe;1,50;3\nRose;;2,5\n").text == \
        "Ware\tPreis\tMenge\nTulpe\t1,50\t3\nRose\t\t2,5"
    assert read(tmp_path, "b.csv", "sep=|\na x|b y\n").text == "a x\tb y"
    assert read(tmp_path, "c.csv", "Name;Ort\nMüller;Köln\n".encode("cp1252")).text == "Name\tOrt\nMüller\tKöln"
    assert read(tmp_path, "d.csv", "name\tplace\nAnn\tRome\n".encode("utf-16")).text == "name\tplace\nAnn\tRome"


def test_xml_text_is_read_as_it_is_meant(tmp_path: Path) -> None:
    document = read(tmp_path, "a.xml", "<d><sport>Track &amp; Field</sport><sport>Rock &#38; Roll</sport></d>")
    assert "Track & Field" in document.text
    assert "Rock & Roll" in document.text
