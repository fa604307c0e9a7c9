"""The contract of ``clusters``, ``export clusters``, ``evaluate clustering``: keys, exit statuses, what is written."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from pathlib import Path

import pytest

from sbert_desktop.cli import main

SUBJECTS = {
    "music": "The orchestra plays a sonata and the violin leads the rehearsal under the conductor.",
    "garden": "Compost feeds the tomato seedlings before pruning in the greenhouse garden.",
    "letters": "The landlord repairs the tenancy flat and the invoice covers the deposit.",
}


@pytest.fixture
def folder(tmp_path) -> Path:
    root = tmp_path / "papers"
    for subject, text in SUBJECTS.items():
        (root / subject).mkdir(parents=True)
        for number in range(6):
            (root / subject / f"{subject}{number}.txt").write_text(f"{text} Sheet {number} of {subject}.\n")
    return root


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    monkeypatch.setenv("SBERT_DESKTOP_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))

    def call(*arguments) -> tuple[int, dict, str]:
        capfd.readouterr()
        try:
            status = main([str(a) for a in arguments])
        except SystemExit as error:
            status = int(error.code or 0)
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, json.loads(out) if out.strip().startswith("{") else {"out": out}, err

    return call


@pytest.fixture
def library(run, folder):
    assert run("index", folder)[0] == 0
    return run


def test_the_report_keeps_its_keys(library):
    status, result, _ = library("clusters", "--count", "3", "--json")
    assert status == 0
    assert {"method", "clusters", "unsorted", "unsorted_share", "silhouette"} <= set(result)
    assert result["method"] == "communities"
    assert len(result["clusters"]) == 3
    for theme in result["clusters"]:
        assert {"id", "label", "keywords", "size", "documents", "central"} <= set(theme)
        assert len(theme["documents"]) == theme["size"] > 0
        assert theme["label"]
        assert theme["central"][0]["path"].endswith(".txt")
    assert sum(theme["size"] for theme in result["clusters"]) + result["unsorted"] == 18
    again = library("clusters", "--json")[1]
    assert [one["id"] for one in again["clusters"]] == [one["id"] for one in result["clusters"]]


def test_the_table_names_themes_and_the_share_unsorted(library):
    status, result, _ = library("clusters", "--count", "3")
    assert status == 0
    assert "3 clusters of 18 documents" in result["out"]
    assert "unsorted (" in result["out"]
    assert "Silhouette" in result["out"]


def test_a_theme_is_renamed_and_split(library):
    first = library("clusters", "--count", "3", "--json")[1]["clusters"][0]["id"]
    renamed = library("clusters", "--rename", first, "My own", "--json")[1]
    assert next(one for one in renamed["clusters"] if one["id"] == first)["label"] == "My own"
    assert "My own [named]" in library("clusters")[1]["out"]
    status, parts, _ = library("clusters", "--split", first, "--json")
    assert status == 0
    assert parts["id"] == first
    assert parts["label"] == "My own"
    assert sum(part["size"] for part in parts["parts"]) > 0 or parts["note"]
    assert library("clusters", "--split", first)[1]["out"]


def test_mistakes_are_one_sentence(library):
    library("clusters")
    status, _, err = library("clusters", "--split", "99")
    assert status == 1
    assert "no longer there" in err
    status, _, err = library("clusters", "--rename", "x", "y")
    assert status == 2
    assert "is no number of a cluster" in err
    assert library("clusters", "--method", "guess")[0] == 2
    for seed in ("-1", "4294967296", "x"):
        for command in (("clusters",), ("export", "clusters"), ("evaluate", "clustering", "none.csv")):
            status, _, err = library(*command, "--seed", seed)
            assert (status, "--seed" in err) == (2, True), (command, seed)


def test_all_are_sorted_at_strictness_nought(library):
    assert library("clusters", "--strictness", "0", "--json")[1]["unsorted"] == 0
    assert library("clusters", "--json")[1]["strictness"] == 0


def test_themes_are_exported_whole_and_never_over_a_file(library, tmp_path):
    status, result, _ = library("export", "clusters", "--count", "3")
    assert status == 0
    rows = list(csv.DictReader(io.StringIO(result["out"])))
    assert len(rows) == 18
    assert {"cluster", "label", "path", "similarity", "confidence"} <= set(rows[0])
    for ending in ("csv", "json", "html"):
        target = tmp_path / f"themes.{ending}"
        assert library("export", "clusters", "-o", target)[0] == 0
        assert target.read_text("utf-8-sig")
    status, _, err = library("export", "clusters", "-o", tmp_path / "themes.csv")
    assert status == 1
    assert "there already" in err
    assert library("export", "clusters", "-o", tmp_path / "themes.csv", "--force", "--json")[1]["clusters"] == 3
    assert library("export", "clusters", "--json")[1]["clusters"]
    assert library("export", "clusters", "--json", "--format", "csv")[0] == 2


def test_an_empty_library_says_so(run, tmp_path):
    (tmp_path / "nothing").mkdir()
    assert run("index", tmp_path / "nothing")[0] == 0
    status, result, _ = run("clusters")
    assert status == 0
    assert "There are no documents to sort into clusters." in result["out"]
    assert run("clusters", "--json")[1]["clusters"] == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that this user cannot write")
def test_a_library_that_cannot_be_written_still_shows_themes(library, tmp_path):
    shown = library("clusters", "--json")[1]
    root = tmp_path / "library"
    modes = {path: path.stat().st_mode for path in [root, *root.rglob("*")]}
    try:
        for path in modes:
            path.chmod(stat.S_IRUSR | (stat.S_IXUSR if path.is_dir() else 0))
        assert library("clusters", "--json")[1]["clusters"] == shown["clusters"]
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.mark.parametrize("header", ["text,label", "\ufeffSentence,Category"])
def test_labelled_texts_are_measured(run, tmp_path, header):
    file = tmp_path / "texts.csv"
    rows = [f'"{text} Sheet {number}.",{subject}' for subject, text in SUBJECTS.items() for number in range(8)]
    file.write_text("\n".join([header, *rows]), encoding="utf-8")
    status, result, _ = run("evaluate", "clustering", file, "--count", "3", "--json")
    assert status == 0
    assert {"v_measure", "ari", "unsorted", "clusters", "n", "seconds"} <= set(result)
    assert result["n"] == 24
    assert result["clusters"] == 3
    assert result["v_measure"] > 0.9
    assert 0 <= result["unsorted"] <= 1


def test_a_missing_column_is_named_with_those_there_are(run, tmp_path):
    file = tmp_path / "texts.csv"
    file.write_text("text,note\na,b\n")
    status, _, err = run("evaluate", "clustering", file)
    assert status == 1
    assert "has no column label; it has: text, note" in err
    file.write_text("text,label\n")
    assert "has no rows" in run("evaluate", "clustering", file)[2]
    assert "There is no file" in run("evaluate", "clustering", tmp_path / "none.csv")[2]


def test_a_count_for_a_method_that_finds_its_own_is_said(library):
    status, _, errors = library("clusters", "--method", "hdbscan", "--count", "3")
    assert status == 1
    assert "--count" in str(errors)
