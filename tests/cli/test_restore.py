"""The command ``restore``: what the person made comes back, twice the same brings nothing twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sbert_desktop.cli import main
from sbert_desktop.library import KeptPassage, kept_copies, open_library


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")

    def call(library: Path, *arguments) -> tuple[int, str, str]:
        capfd.readouterr()
        status = main(["--library", str(library), *(str(argument) for argument in arguments)])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return call


@pytest.fixture
def kept(tmp_path) -> Path:
    place = tmp_path / "library"
    with open_library(place) as library:
        library.judge("relevance", "relevant", "tides", "sha", 0, 4, "text")
        library.collect("Box", [KeptPassage("sha", 0, 4, "text", Path("/docs/a.txt"))])
        library.save_search("Mine", "{}")
    return place


def test_what_was_kept_comes_back_into_another_library_once(run, kept, tmp_path):
    copy = kept_copies(kept)[0]
    for number, source in enumerate((copy, kept, copy.parent)):
        other = tmp_path / f"other-{number}"
        status, out, _ = run(other, "restore", source, "--json")
        answer = json.loads(out)
        assert status == 0
        assert answer == {
            "copy": {"path": str(copy)}, "day": copy.stem, "judgements": 1, "collections": 1, "items": 1,
            "searches": 1, "captions": 0, "arrangements": 0, "later": 0, "unread": 0,
        }  # fmt: skip
        status, out, _ = run(other, "restore", source)
        assert (status, out) == (0, f"Brought back from the copy of {copy.stem}: nothing.\n")


def test_a_lost_catalog_gets_its_own_copies_back_also_behind_a_newer_and_emptier_one(run, kept):
    for path in kept.glob("catalog.sqlite*"):
        path.unlink()
    copy = kept_copies(kept)[0]
    copy.rename(copy.with_name("2020-02-02.jsonl"))
    copy.with_name("2021-01-01.jsonl").write_text("torn\n")
    with open_library(kept) as library:
        library.judge("relevance", "relevant", "since", "sha", 0, 4, "text")
    status, out, _ = run(kept, "restore")
    assert status == 0
    assert out == (
        "Brought back from the copy of 2020-02-02: 1 judgement, 1 collection, 1 collected passage, 1 saved search.\n"
    )
    with open_library(kept) as library:
        assert {record.query for record in library.judgements()} == {"tides", "since"}
        assert library.saved_searches()[0].name == "Mine"


def test_a_catalog_that_is_gone_is_made_anew_for_it(run, kept):
    for path in kept.glob("catalog.sqlite*"):
        path.unlink()
    assert run(kept, "restore")[1].startswith("Brought back")
    with open_library(kept, create=False) as library:
        assert len(library.judgements()) == 1


def test_what_is_no_copy_is_said_plainly(run, kept, tmp_path):
    torn = tmp_path / "torn.jsonl"
    torn.write_text("neither\nthis\n")
    (tmp_path / "empty").mkdir()
    for source, code in ((torn, "kept-damaged"), (tmp_path / "none", "kept-unreadable"),
                         (tmp_path / "empty", "kept-missing")):  # fmt: skip
        status, out, err = run(kept, "restore", source, "--json")
        assert status == 1
        assert json.loads(out)["error"]["code"] == code
        assert err.count("\n") == 1
    shutil.rmtree(kept / "kept")
    assert run(kept, "restore")[0] == 1
    assert json.loads(run(tmp_path / "nowhere", "restore", "--json")[1])["error"]["code"] == "library-missing"
    assert not (tmp_path / "nowhere").exists()


def test_damaged_lines_are_told_and_the_rest_comes_back(run, kept, tmp_path):
    copy = kept_copies(kept)[0]
    half = tmp_path / "half.jsonl"
    half.write_bytes(copy.read_bytes()[:-9] + b"\n{}\n")
    status, out, err = run(tmp_path / "other", "restore", half)
    assert status == 0
    assert out == f"Brought back from {half}: 1 judgement, 1 collection, 1 collected passage.\n"
    assert "2 lines" in err
