"""The contract of ``map`` and ``export map``: keys, files, what is refused."""

from __future__ import annotations

import csv
import io
import json

import pytest

from sbert_desktop.cli import main

WORDS = ("tide", "beans", "sourdough", "spade", "harbour", "leeks", "keys", "metres")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A library of sixteen files that the tests of this module share."""
    root = tmp_path_factory.mktemp("map")
    folder = root / "papers"
    folder.mkdir()
    for number in range(16):
        word = WORDS[number % 8]
        (folder / f"{word}-{number}.txt").write_text(f"About the {word}: the {word} of note {number} is kept here.\n")
    with pytest.MonkeyPatch.context() as patch:
        _environment(patch, root)
        assert main(["index", str(folder)]) in (0, None)
    return root


def _environment(patch, root):
    patch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    patch.setenv("SBERT_DESKTOP_LIBRARY", str(root / "library"))
    patch.setenv("SBERT_DESKTOP_HOME", str(root / "home"))


@pytest.fixture
def run(library, monkeypatch, capfd):
    _environment(monkeypatch, library)

    def call(*arguments):
        capfd.readouterr()
        try:
            status = main([str(one) for one in arguments]) or 0
        except SystemExit as error:
            status = int(error.code or 0)
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return call


def told(out):
    return json.loads(out)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))


def test_the_report_keeps_its_keys(run):
    status, out, _ = run("map", "--json")
    assert status == 0
    report = told(out)
    assert set(report) >= {"points", "trustworthiness", "seconds", "neighbour_overlap", "quality", "quality_sentence"}
    assert (report["points"], report["documents"], report["method"], report["unit"]) == (16, 16, "umap", "documents")
    assert 0 <= report["trustworthiness"] <= 1
    assert report["seconds"] > 0


def test_plain_words_say_how_far_it_can_be_trusted(run):
    _, out, _ = run("map")
    assert "16 points for 16 documents." in out
    assert "Quality: " in out


def test_the_map_stays_until_another_one_is_asked_for(run):
    first = rows_of(run("map", "--csv", "-")[1])
    assert rows_of(run("map", "--csv", "-")[1]) == first
    assert {"path", "x", "y", "cluster"} <= set(first[0])
    assert len(first) == 16
    other = rows_of(run("map", "--csv", "-", "--seed", "5")[1])
    assert [row["path"] for row in other] == [row["path"] for row in first]
    assert [row["x"] for row in other] != [row["x"] for row in first]
    assert rows_of(run("map", "--csv", "-")[1]) == other
    assert rows_of(run("map", "--csv", "-", "--seed", "5")[1]) == other  # it is that one already


def test_principal_components_and_passages(run):
    report = told(run("map", "--json", "--unit", "passages", "--method", "pca")[1])
    assert (report["unit"], report["method"], report["points"]) == ("passages", "pca", 16)
    assert told(run("map", "--json", "--unit", "passages")[1])["method"] == "pca"


def test_files_are_written_whole_and_not_over_others(run, tmp_path):
    table, page = tmp_path / "map.csv", tmp_path / "map.html"
    status, out, _ = run("map", "--csv", table, "--html", page, "--json")
    assert status == 0
    assert told(out)["csv"] == str(table)
    assert len(rows_of(table.read_text("utf-8-sig"))) == 16
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    table.write_text("mine")
    status, _, err = run("map", "--csv", table)
    assert status == 1
    assert "is there already" in err
    assert err.count("\n") == 1
    assert table.read_text() == "mine"
    assert run("map", "--csv", table, "--force")[0] == 0
    assert len(rows_of(table.read_text("utf-8-sig"))) == 16
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.csv", "map.html"]


@pytest.mark.gui
def test_a_picture_is_drawn_without_a_display(run, tmp_path):
    picture = tmp_path / "map.png"
    status, _, err = run("map", "--png", picture, "--size", "400x300", "--dark")
    assert status == 0, err
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")) == (400, 300)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.png"]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["map", "--json", "--csv", "-"], 2, "both want the output"),
        (["map", "--seed", "-3"], 2, "is no seed"),
        (["map", "--csv", "{missing}/a.csv"], 1, "no folder"),
        (["map", "--csv", "{here}/a", "--html", "{here}/a"], 2, "into one file"),
        (["export", "map", "-o", "{here}/map.xlsx"], 1, "is not written as xlsx"),
        (["export", "map", "--json", "--format", "csv"], 2, "both want the output"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(run, tmp_path, arguments, status, words):
    filled = [one.format(missing=tmp_path / "missing", here=tmp_path) for one in arguments]
    found, _, err = run(*filled)
    assert found == status
    assert words in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["csv", "json", "html"])
def test_export_writes_each_form(run, tmp_path, form):
    target = tmp_path / f"places.{form}"
    status, out, _ = run("export", "map", "-o", target)
    assert status == 0
    assert "16 points written to" in out
    text = target.read_text("utf-8-sig")
    if form == "json":
        assert len(json.loads(text)["rows"]) == 16
    else:
        assert "sourdough" in text
    assert run("export", "map", "-o", target)[0] == 1
    assert run("export", "map", "-o", target, "--force", "--json")[0] == 0


def test_export_without_a_file_goes_to_the_output(run):
    assert len(rows_of(run("export", "map")[1])) == 16
    assert told(run("export", "map", "--json")[1])["points"] == 16


def test_an_empty_library_has_an_empty_map(run, tmp_path, monkeypatch):
    folder = tmp_path / "nothing"
    folder.mkdir()
    monkeypatch.setenv("SBERT_DESKTOP_LIBRARY", str(tmp_path / "empty"))
    run("index", folder)
    status, out, _ = run("map", "--json")
    assert status == 0
    report = told(out)
    assert report["points"] == 0
    assert "nothing to show" in report["note"]
