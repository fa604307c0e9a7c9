"""``search --rerank`` and ``export``: what scripts rely on, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.app.model_choice import ModelChoice
from sbert_desktop.app.session import Session
from sbert_desktop.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    monkeypatch.setenv("SBERT_DESKTOP_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))
    root = tmp_path / "papers"
    root.mkdir()
    (root / "rain.txt").write_text("=The rain gauge on the roof filled twice in October. We emptied it by hand.\n")
    (root / "choir.md").write_text("# Choir\n\nThe altos rehearse on Tuesday. Bring the green folder.\n")

    def call(*arguments) -> tuple[int, str, str]:
        capfd.readouterr()
        try:
            status = main([str(a) for a in arguments])
        except SystemExit as error:
            status = int(error.code or 0)
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, out, err

    assert call("index", root)[0] == 0
    return call


def test_rerank_without_a_cross_encoder_says_what_to_do(run):
    status, out, err = run("search", "rain", "--rerank", "--json")
    assert status == 1
    assert json.loads(out)["error"]["code"] == "no-cross-encoder"
    assert "models add" in err


def test_rerank_orders_by_the_cross_encoder(run, monkeypatch):
    class Cross:
        name = "letters"

        def score(self, query, texts, context=None):
            return np.array([0.99 if "altos" in text else 0.01 for text in texts], np.float32)

        def close(self):
            pass

    monkeypatch.setattr(ModelChoice, "open_cross_encoder", lambda self: Cross())
    plain = json.loads(run("search", "rain gauge the", "--json")[1])
    answer = json.loads(run("search", "rain gauge the", "--rerank", "--json")[1])
    assert Path(plain["hits"][0]["path"]).name == "rain.txt"
    assert Path(answer["hits"][0]["path"]).name == "choir.md"
    assert (plain["reranked"], answer["reranked"]) == (0, 2)
    assert answer["hits"][0]["score_kind"] == "rerank"
    assert answer["hits"][0]["rerank"] == pytest.approx(0.99)


def test_hits_are_exported_in_each_form(run, tmp_path):
    status, out, _ = run("export", "hits", "rain gauge", "--top", "1")
    assert status == 0
    (row,) = csv.DictReader(io.StringIO(out))
    assert row["text"].startswith("'=The rain")
    assert json.loads(run("export", "hits", "rain gauge", "--json")[1])["rows"][0]["text"].startswith("=The rain")
    for form in ("csv", "json", "html", "bib"):
        target = tmp_path / f"out.{form}"
        assert run("export", "hits", "rain gauge", "-o", target)[0] == 0
        assert "rain gauge" in target.read_text("utf-8-sig")
    answer = json.loads(run("export", "hits", "rain", "-o", tmp_path / "x.txt", "--format", "bib", "--json")[1])
    assert answer["rows"] == 2
    assert (tmp_path / "x.txt").read_text().startswith("@misc{")


def test_export_replaces_no_file_unasked_and_refuses_what_has_no_form(run, tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("mine")
    status, _, err = run("export", "hits", "rain", "-o", target)
    assert status == 1
    assert "--force" in err
    assert target.read_text() == "mine"
    assert run("export", "hits", "rain", "-o", target, "--force")[0] == 0
    assert target.read_text() != "mine"
    assert run("export", "hits", "rain", "-o", tmp_path / "out.docx")[0] == 2
    assert run("export", "hits", "rain", "--format", "html", "--json")[0] == 2
    assert run("export", "hits", "")[0] == 2
    assert run("export")[0] == 2
    assert run("export", "hits", "rain", "-o", tmp_path / "no" / "out.csv")[0] == 1


def test_a_collection_is_exported_and_an_unknown_one_is_named(run, tmp_path):
    from sbert_desktop.app.collecting import collect
    from sbert_desktop.app.searching import run_search
    from sbert_desktop.domain import Query

    session = Session(tmp_path / "library")
    collect(session, "Weather", [run_search(session, Query("rain gauge")).documents[0].hits[0]], note="for May")
    session.close()
    assert json.loads(run("export", "collection", "Weather", "--json")[1])["rows"][0]["note"] == "for May"
    status, out, err = run("export", "collection", "Sports", "--json")
    assert (status, json.loads(out)["error"]["code"]) == (1, "collection-unknown")
    assert "Weather" in err
