"""``evaluate classification|reranking|bitext``: the figures, their keys, and what bad files end in."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from sbert_desktop.app.evaluating_tasks import CandidateLists, rank_scores
from sbert_desktop.cli import main

SUBJECTS = {
    "music": "orchestra sonata violin rehearsal conductor",
    "garden": "compost tomato seedlings pruning greenhouse",
    "letters": "landlord tenancy flat invoice deposit",
}


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    monkeypatch.setenv("SBERT_DESKTOP_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))

    def call(*arguments) -> tuple[int, dict, str]:
        capfd.readouterr()
        status = main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, json.loads(out) if out.strip().startswith("{") else {"out": out}, err

    return call


def labelled(words_of: dict[str, str], times: int) -> str:
    rows = []
    for label, words in words_of.items():
        parts = words.split()
        rows += [f"{parts[n % 5]} {parts[(n + 2) % 5]} sheet {n},{label}" for n in range(times)]
    return "text,label\n" + "\n".join(rows) + "\n"


def test_labelled_texts_are_told_apart(run, tmp_path):
    (tmp_path / "all.csv").write_text(labelled(SUBJECTS, 20))
    status, answer, _ = run("evaluate", "classification", tmp_path / "all.csv", "--json")
    assert status == 0
    assert (answer["n"], answer["labels"], answer["trained_on"], answer["experiments"]) == (30, 3, 24, 10)
    assert answer["accuracy"] > 0.95
    assert answer["f1"] == pytest.approx(answer["accuracy"], abs=0.05)
    again = run("evaluate", "classification", tmp_path / "all.csv", "--json")[1]
    assert {**again, "seconds": 0} == {**answer, "seconds": 0}


def test_texts_of_another_file_are_asked_with_labels_that_were_never_learned(run, tmp_path):
    (tmp_path / "learn.csv").write_text(labelled(SUBJECTS, 6))
    asked = labelled({**SUBJECTS, "unknown": "harbour ship tide anchor sail"}, 5)
    (tmp_path / "ask.csv").write_text(asked)
    answer = run("evaluate", "classification", tmp_path / "learn.csv", "--test", tmp_path / "ask.csv",
                 "--samples", "4", "--experiments", "3", "--json")[1]  # fmt: skip
    assert (answer["n"], answer["trained_on"]) == (20, 12)
    assert 0.6 < answer["accuracy"] <= 0.75  # what was never learned is never said


RERANKING = "query,text,label\nred bridge,a red bridge,1\nred bridge,blue water,0\nred bridge,red paint,0\n" \
            "old mill,wheat,0\nold mill,old mill wheel,2\nno answer,x,0\n"  # fmt: skip


def test_candidates_are_put_in_order(run, tmp_path):
    (tmp_path / "lists.csv").write_text(RERANKING)
    status, answer, _ = run("evaluate", "reranking", tmp_path / "lists.csv", "--json")
    assert status == 0
    assert (answer["n"], answer["candidates"], answer["passed_over"]) == (2, 5, 1)
    assert (answer["map"], answer["mrr@10"]) == (1.0, 1.0)
    lines = [{"query": "red bridge", "positive": ["a red bridge"], "negative": ["blue water", "red paint"]},
             {"query": "old mill", "positive": "old mill wheel", "negative": ["wheat"]}]  # fmt: skip
    (tmp_path / "lists.jsonl").write_text("\n".join(map(json.dumps, lines)))
    same = run("evaluate", "reranking", tmp_path / "lists.jsonl", "--json")[1]
    assert [same[key] for key in ("map", "mrr@10", "n", "candidates")] == [1.0, 1.0, 2, 5]


def test_order_is_scored_as_the_reference_scores_it():
    metrics = pytest.importorskip("sklearn.metrics")
    lot = np.random.default_rng(5)
    relevant = [np.array([True, *(lot.random(29) < 0.1)])[lot.permutation(30)] for _ in range(40)]
    scores = [lot.normal(size=30).astype(np.float32) for _ in relevant]
    lists = CandidateLists(("q",) * 40, (("t",) * 30,) * 40, tuple(relevant), 0)
    found = rank_scores(lists, scores)
    for row, gold, said in zip(found, relevant, scores, strict=True):
        order = gold[np.argsort(-said)]
        first = 1 / (1 + order.argmax()) if order[:10].any() else 0.0
        assert row == pytest.approx((metrics.average_precision_score(gold, said), first))


def test_equal_candidates_gain_nothing_from_the_order_of_the_file():
    gold = np.array([True, False, False, True])
    alike = np.full(4, 0.5, np.float32)
    lists = CandidateLists(("q", "q"), (("t",) * 4,) * 2, (gold, gold[::-1]), 0)
    first, second = rank_scores(lists, [alike, alike])
    assert first.tolist() == second.tolist()
    # Two answers among four places: the better one stands first in 3 of 6 orders, second in 2, third in 1.
    assert first.tolist() == pytest.approx([0.5, (3 + 2 / 2 + 1 / 3) / 6])


def test_translations_are_found_in_both_directions(run, tmp_path):
    (tmp_path / "two.csv").write_text("source,target\nred bridge,red bridge two\nold mill,mill old\nwide sea,lake\n"
                                      "wide sea,wide sea\n")
    status, answer, _ = run("evaluate", "bitext", tmp_path / "two.csv", "--json")
    assert status == 0
    assert (answer["n"], answer["repeated"]) == (4, 1)
    assert answer["accuracy_1_to_2"] == 0.75
    assert answer["accuracy"] == pytest.approx((answer["accuracy_1_to_2"] + answer["accuracy_2_to_1"]) / 2)


@pytest.mark.parametrize(
    ("kind", "name", "text", "code"),
    [
        ("classification", "x.csv", "text,note\na,b\n", "column-missing"),
        ("classification", "x.csv", "text,label\na,1\nb,1\n", "one-class"),
        ("classification", "x.csv", "text,label\na,1\nb,2\n", "too-few"),
        ("classification", "x.csv", "text,label\na\n", "row-short"),
        ("reranking", "x.csv", "query,text,label\na,b,c\n", "not-a-number"),
        ("reranking", "x.csv", "query,text,label\na,b,1\n", "nothing-judged"),
        ("reranking", "x.jsonl", '{"query": "a", "positive": [3], "negative": []}\n', "bad-lines"),
        ("reranking", "x.jsonl", "[1]\n", "bad-lines"),
        ("reranking", "x.jsonl", "not json\n", "bad-lines"),
        ("bitext", "x.csv", "sentence1,sentence2\na,b\n", "too-few"),
        ("bitext", "x.csv", "", "column-missing"),
        ("bitext", "x.csv", "sentence1,other\na,b\n", "column-missing"),
    ],
)
def test_a_bad_file_ends_in_one_plain_line(run, tmp_path, kind, name, text, code):
    (tmp_path / name).write_text(text)
    status, answer, _ = run("evaluate", kind, tmp_path / name, "--json")
    assert (status, answer["error"]["code"]) == (1, code)
    assert "\n" not in answer["error"]["message"]
    if code == "column-missing":
        assert run("evaluate", kind, tmp_path / "none.jsonl", "--json")[1]["error"]["code"] == "file-missing"


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.csv", b"\0" * 300, "is not text"),
        ("a.csv", "text,label\ncaf\u00e9,1\n".encode("latin-1"), "is not text in UTF-8"),
        ("a.csv", ("text,label\n" + "a" * 20_000_000 + ",1\n").encode(), "more characters than can be read"),
        ("a.csv", b"[" * 90_000, "has no column text; it has: [[["),
        ("a.csv", b"a\x1b[31m,b\n1,2\n", "it has: a?[31m, b."),
        ("a.csv", None, "it is no ordinary file"),
    ],
)
def test_what_is_no_table_is_told_in_few_plain_words(run, tmp_path, name, data, said):
    if data is None:
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).write_bytes(data)
    for command in (("evaluate", "classification"), ("lab", "--data")):
        status, answer, err = run(*command, tmp_path / name, "--json")
        assert status == 1
        assert answer["error"]["code"] in {"file-unreadable", "column-missing"}
        assert said in err or "none of the known sets of columns" in err
        assert "Errno" not in err
        assert "codec" not in err
        assert len(err) < 400


def test_a_table_may_be_parted_by_semicolons_or_tabs(run, tmp_path):
    table = labelled(SUBJECTS, 20)
    (tmp_path / "all.csv").write_text(table)
    expected = run("evaluate", "classification", tmp_path / "all.csv", "--json")[1]
    for sign in ";\t":
        (tmp_path / "all.csv").write_text(table.replace(",", sign))
        answer = run("evaluate", "classification", tmp_path / "all.csv", "--json")[1]
        assert {**answer, "seconds": 0} == {**expected, "seconds": 0}
