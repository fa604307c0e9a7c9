"""The commands ``quotes`` and ``versions``: their keys, their lines, their errors."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from sbert_desktop.cli import main

SOURCE = "The rain gauge on the roof filled twice in October. We emptied it by hand, each time before breakfast.\n"
DRAFT = (
    "He says: “The rain gauge on the roof filled thrice in October.” She: “we emptied it by hand”. "
    "“A fifth of it.”"
)


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    monkeypatch.setenv("SBERT_DESKTOP_LIBRARY", str(tmp_path / "library"))

    def call(*arguments) -> tuple[int, str]:
        capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, out

    return call


@pytest.fixture
def folder(tmp_path, run) -> Path:
    root = tmp_path / "papers"
    root.mkdir()
    for number, name in enumerate(("rain v1.txt", "rain v2.txt")):
        (root / name).write_text(SOURCE + ("Nothing more." if number else "Nothing else."))
        os.utime(root / name, (1_700_000_000 + number,) * 2)
    (root / "choir.txt").write_text("The altos rehearse on Tuesday. Bring the green folder and a pencil.")
    assert run("index", root, "--json")[0] == 0
    return root


def test_quotes_gives_one_object_with_all_keys(run, folder, tmp_path):
    draft = tmp_path / "draft.txt"
    draft.write_text(DRAFT)
    status, out = run("quotes", draft, "--json")
    answer = json.loads(out)["quotes"]
    assert status == 0
    assert [quote["verdict"] for quote in answer] == ["changed", "exact", "not found"]
    assert all({"quoted", "verdict", "path", "member", "page", "source", "changes"} <= quote.keys() for quote in answer)
    assert [text for _, _, text in answer[0]["changes"]] == ["thrice"]
    assert answer[0]["source"] == "The rain gauge on the roof filled twice in October"
    assert Path(answer[1]["path"]).name in {"rain v1.txt", "rain v2.txt"}
    assert (answer[2]["path"], answer[2]["changes"]) == (None, [])
    assert answer[0]["quoted"] == DRAFT[answer[0]["start"] : answer[0]["end"]]


def test_quotes_reads_standard_input_and_prints_lines(run, folder, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DRAFT.encode()), encoding="utf-8"))
    status, out = run("quotes", "-")
    assert status == 0
    assert "it says: The rain gauge on the roof filled twice in October" in out
    assert out.splitlines()[-1] == "3 quotations: 1 exact, 1 changed, 1 not found."


def test_draft_that_is_not_there_is_a_plain_error(run, folder, tmp_path):
    status, out = run("quotes", tmp_path / "none.docx", "--json")
    assert status != 0
    assert json.loads(out)["error"]["code"] == "file-missing"


def test_versions_lists_them_oldest_first(run, folder, tmp_path):
    status, out = run("versions", folder / "rain v2.txt", "--json")
    answer = json.loads(out)
    assert status == 0
    assert [Path(version["path"]).name for version in answer["versions"]] == ["rain v1.txt", "rain v2.txt"]
    assert (answer["place"], answer["words"]) == (1, "newest of 2")
    assert run("versions", folder / "choir.txt")[1].strip() == "There is no other version of it in the library."
    status, out = run("versions", tmp_path / "elsewhere.txt", "--json")
    assert (status, json.loads(out)["error"]["code"]) == (1, "not-in-library")
