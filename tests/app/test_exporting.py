"""What was found, as a file: whole, harmless in each form, and never over a file that nobody chose."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sbert_desktop.app.exporting import Row, collection_rows, export_collection, form_of, render, write
from sbert_desktop.app.views import CollectionItem, CollectionView
from sbert_desktop.errors import SbertDesktopError, UsageError

NASTY = '=HYPERLINK("http://x/?"&A1) <script src="http://evil">alert(1)</script> \\input{secret} 50% $x_1$ @misc{a, {'
ROW = Row(Path("/home/ada/=1+1 & <b>.pdf"), "", NASTY, f"{NASTY}\nsecond line", page=3, location="p. 3", score=0.5,
          score_kind="fused", cosine=-0.25, date=1_700_000_000.0, note="-2+3", sentence=(0, 4))  # fmt: skip


def test_csv_holds_no_formula_and_the_numbers_stay_numbers():
    rows = list(csv.DictReader(io.StringIO(render([ROW], "csv").removeprefix("\ufeff"), newline="")))
    assert len(rows) == 1
    assert rows[0]["title"] == f"'{NASTY}"
    assert rows[0]["note"] == "'-2+3"
    assert float(rows[0]["cosine"]) == -0.25
    assert rows[0]["page"] == "3"
    assert rows[0]["text"].endswith("second line")
    for name in ("title", "text", "note", "path", "member"):
        assert not rows[0][name].startswith(("=", "+", "-", "@"))


def test_json_gives_back_what_was_put_in():
    whole = json.loads(render([ROW], "json", heading='he said "no"'))
    assert whole["name"] == 'he said "no"'
    assert whole["rows"][0]["text"] == ROW.text
    assert whole["rows"][0]["cosine"] == -0.25
    assert whole["rows"][0]["bm25"] is None


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words.append(data)


def test_html_runs_and_fetches_nothing():
    page = render([ROW], "html", heading=NASTY, note=NASTY)
    seen = _Tags()
    seen.feed(page)
    frame = {"html", "head", "meta", "title", "style", "body"}
    assert set(seen.tags) <= {*frame, "h1", "p", "article", "b", "div", "mark"}
    assert {name for name, _ in seen.attributes} <= {"charset", "http-equiv", "content", "class"}
    assert "url(" not in page
    assert "@import" not in page
    assert NASTY[4:] in "".join(seen.words)


def test_html_shows_signs_that_would_turn_or_break_it():
    page = render([Row(Path("/a/\u202egnp.exe"), "", "\u202egnp", "a\x00b\x1b[31m\u2066c")], "html")
    assert not set(page) & {"\x00", "\x1b", "\u202e", "\u2066"}


def test_bib_entries_are_closed_and_their_keys_differ():
    text = render([ROW, ROW, Row(Path("/a/日本.txt"), "", "", "…")], "bib")
    keys = re.findall(r"^@misc\{([^,]+),$", text, re.M)
    assert len(keys) == len(set(keys)) == 3
    depth = 0
    for at, sign in enumerate(text):
        if sign in "{}" and text[at - 1] != "\\":
            depth += 1 if sign == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert "\\textbackslash{}input\\{secret\\}" in text
    assert not re.search(r"(?<!\\)[%$&#_]", text)


def test_a_file_is_replaced_only_when_asked_and_nothing_is_left_beside_it(tmp_path):
    target = tmp_path / "out.csv"
    assert write(target, "one", replace=False) == target
    with pytest.raises(SbertDesktopError) as refused:
        write(target, "two", replace=False)
    assert refused.value.code == "file-exists"
    assert target.read_text() == "one"
    write(target, "three", replace=True)
    assert target.read_text() == "three"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_what_cannot_be_written_is_said_and_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def full(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SbertDesktopError) as failed:
        write(target, "new", replace=True)
    assert failed.value.code == "output-unwritable"
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]
    with pytest.raises(SbertDesktopError):
        write(tmp_path, "new", replace=True)
    with pytest.raises(SbertDesktopError):
        write(tmp_path / "no" / "such.csv", "new", replace=True)


@pytest.mark.skipif(os.name != "posix", reason="names are Unicode there")
def test_names_that_are_not_utf8_keep_their_bytes():
    path = Path(os.fsdecode(b"/a/caf\xe9.txt"))
    for form in ("csv", "json", "html", "bib"):
        text = render([Row(path, "", "", "words")], form)
        text.encode("utf-8")
        if form in ("csv", "json"):
            assert os.fsencode(path).hex() in text


def test_the_name_says_the_form(tmp_path):
    assert form_of(Path("a.HTM")) == "html"
    with pytest.raises(UsageError) as refused:
        form_of(Path("a.docx"))
    assert refused.value.code == "bad-format"
    item = CollectionItem(1, Path("/a/b.pdf"), "", "Beans", "Sow in May.", 2, "for the plan", 1_700_000_000.0)
    view = CollectionView("garden", "for 2024", (item,))
    assert collection_rows(view)[0].note == "for the plan"
    for form in ("csv", "json", "html", "bib"):
        path = export_collection(view, tmp_path / f"garden.{form}")
        assert "Sow in May." in path.read_text("utf-8")
        assert "for the plan" in path.read_text("utf-8")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("force", [True, False])
def test_a_pipe_or_device_is_said_to_be_no_file_by_the_name_it_was_given(tmp_path, force):
    os.mkfifo(tmp_path / "pipe.csv")
    read, end = os.pipe()
    try:
        for target in (tmp_path / "pipe.csv", Path(f"/dev/fd/{end}"), Path("/dev/null")):
            if target.exists():
                with pytest.raises(SbertDesktopError, match="it is no file") as caught:
                    write(target, "text", replace=force)
                assert str(target) in str(caught.value)
    finally:
        os.close(read)
        os.close(end)
