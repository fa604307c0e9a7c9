"""Tables of labels: looked at, taken in, listed, removed; judgements written and taken in again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sbert_desktop.app.doctor import run_doctor
from sbert_desktop.app.label_tables import (
    export_labels,
    import_labels,
    imported_labels,
    look_at_table,
    read_taken,
    remove_imported,
)
from sbert_desktop.app.labelling import keep_label
from sbert_desktop.app.training_views import PairView, Task, TextSide
from sbert_desktop.errors import TrainingError, UsageError
from sbert_desktop.training.labels import LabelKind
from tests.app.made_labels import CONTEXT

KINDS = {
    "pairs": ("first,second,is_duplicate\na cat,one cat,1\na cat,a dog,0\n", (("same", 1), ("different", 1))),
    "graded": ("s1,s2,score_0_5\na cat,one cat,5\na cat,a dog,0\n",
               (("0", 1), ("1", 0), ("2", 0), ("3", 0), ("4", 0), ("5", 1))),
    "triplets": ("anchor,positive,negative\na cat,one cat,a dog\n", (("triplet", 1),)),
    "positives": ("anchor,positive\na cat,one cat\n", (("belongs together", 1),)),
    "nli": ("premise,hypothesis,label\na cat,an animal,entailment\na cat,a dog,contradiction\n",
            (("entailment", 1), ("neutral", 0), ("contradiction", 1))),
    "relevance": ("query,passage,relevant\nwho?,Ada did.,1\nwho?,It rained.,0\n",
                  (("relevant", 1), ("not relevant", 1))),
}  # fmt: skip


@pytest.fixture
def table(tmp_path):
    def write(text, name="Some labels (2).csv"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_recognised_taken_in_and_read_back_as_the_same_kind(session, table, kind):
    text, counts = KINDS[kind]
    path = table(text)
    view = look_at_table(path)
    assert view.kind == kind
    assert not view.problems
    assert view.rows == len(text.splitlines()) - 1
    assert all(column in view.columns for _, column in view.mapping)
    taken = import_labels(session, path, view.kind, view.mapping, CONTEXT)
    assert [(one.kind, one.rows, one.counts) for one in taken] == [(kind, view.rows, counts)]
    path.unlink()
    labels = read_taken(taken[0].path).labels
    assert labels.kind is LabelKind(kind)
    assert len(labels) == view.rows


def test_other_column_names_are_mapped_and_what_cannot_be_used_is_told(table):
    path = table("links,rechts,gleich\na cat,one cat,1\na cat,,0\na dog,a cat,perhaps\n")
    lost = look_at_table(path)
    assert lost.columns == ("links", "rechts", "gleich")
    assert lost.mapping == ()
    assert "links" in lost.problems[0]
    mapping = (("text_a", "links"), ("text_b", "rechts"), ("label", "gleich"))
    view = look_at_table(path, mapping, "pairs")
    assert view.mapping == mapping
    assert view.kind == "pairs"
    assert view.sample[0] == ("a cat", "one cat", "1")
    assert "2 rows were left out" in view.problems[0]
    assert any("Line 3" in problem for problem in view.problems)
    half = look_at_table(path, (("text_a", "links"), ("text_b", "")), "pairs")
    assert half.problems
    assert half.mapping == (("text_a", "links"),)
    with pytest.raises(UsageError, match="no labels called"):
        look_at_table(path, mapping, "verses")
    with pytest.raises(TrainingError, match="no rows"):
        look_at_table(table("", "empty.csv"))


def test_tables_have_names_of_their_own_and_leave_nothing_behind(session, table):
    path = table(KINDS["pairs"][0])
    import_labels(session, path, "pairs", (), CONTEXT)
    taken = import_labels(session, path, "pairs", (), CONTEXT)
    assert [one.name for one in taken] == ["Some labels 2 2", "Some labels 2"]
    assert imported_labels(session) == taken
    left = remove_imported(session, "Some labels 2")
    assert [one.name for one in left] == ["Some labels 2 2"]
    assert {place.name for place in taken[0].path.parent.iterdir()} == {"Some labels 2 2.csv", "Some labels 2 2.json"}
    for name in ("Some labels 2", "../settings", ""):
        with pytest.raises(UsageError, match="There is no table"):
            remove_imported(session, name)
    with pytest.raises(TrainingError, match="No row"):
        import_labels(session, table("text_a,text_b,label\na,,1\n", "bad.csv"), "pairs", (), CONTEXT)
    assert imported_labels(session) == left
    assert all(check.ok for check in run_doctor(session, CONTEXT))  # the library does not mind the folder


def side(text, number):
    return TextSide(text, sha256=f"{number:064x}", content=number, start=0, end=len(text))


def pair(left, right, task=Task.SAME):
    return PairView("", task, left, right, "unsure")


def test_judgements_come_back_as_they_were_said(session, tmp_path):
    keep_label(session, pair(side("=1+1 is no formula", 1), side("two\nlines", 2)), "same")
    keep_label(session, pair(side('a, "quoted" text', 3), side("другой текст", 4)), "different")
    keep_label(session, pair(side("graded", 5), side("also graded", 6)), "3.5")
    target = export_labels(session, Task.SAME, tmp_path / "mine.csv")
    taken = import_labels(session, target, "", (), CONTEXT)[0]
    labels = read_taken(taken.path).labels
    said = {(frozenset(one.texts), one.value, frozenset(one.documents)) for one in labels.examples}
    assert said == {
        (frozenset(("=1+1 is no formula", "two\nlines")), 1.0, frozenset((f"{1:064x}", f"{2:064x}"))),
        (frozenset(('a, "quoted" text', "другой текст")), 0.0, frozenset((f"{3:064x}", f"{4:064x}"))),
    }
    graded = read_taken(tmp_path / "mine-graded.csv", LabelKind.GRADED).labels
    assert [one.value for one in graded.examples] == [3.5]

    asked = pair(TextSide("who was it?"), side("It was Ada.", 7), Task.ANSWERS)
    keep_label(session, asked, "relevant")
    keep_label(session, replace(asked, right=side("It rained.", 8)), "not relevant")
    answers = read_taken(export_labels(session, Task.ANSWERS, tmp_path / "answers.csv")).labels
    assert answers.kind is LabelKind.RELEVANCE
    assert {(one.texts, one.value) for one in answers.examples} == {
        (("who was it?", "It was Ada."), 1.0), (("who was it?", "It rained."), 0.0)}  # fmt: skip


def test_nothing_judged_is_nothing_written(session, tmp_path):
    with pytest.raises(UsageError, match="Nothing is judged yet"):
        export_labels(session, Task.SAME, tmp_path / "mine.csv")
    assert not (tmp_path / "mine.csv").exists()
