"""What a plan trains on: judgements and tables brought together, parted by document, checked, told in words."""

from __future__ import annotations

import itertools
import time
from collections import Counter

import pytest

from sbert_desktop.app.deciding import WHOLE
from sbert_desktop.app.planning import check_labels, gather
from sbert_desktop.app.training_views import Plan, Task
from sbert_desktop.errors import TrainingError, UsageError
from sbert_desktop.library import JudgementRecord
from sbert_desktop.training.labels import LabelKind
from tests.app.made_labels import CONTEXT


def said(number, verdict, kind="same", query="", text="", other=""):
    """Gives a judgement on passages of two documents of their own."""
    return JudgementRecord(
        kind, verdict, query, f"{2 * number:064x}", 0, 9, text or f"The boat number {number} left the pier.",
        f"{2 * number + 1:064x}", 0, 9, other or f"Boat {number} is no longer at its place.", made=time.time(),
    )  # fmt: skip


def answered(number, verdict):
    return JudgementRecord("relevance", verdict, f"who took boat {number // 4}", f"{number:064x}", 0, 9,
                           f"It was neighbour {number}, in the evening.", made=time.time())  # fmt: skip


def pairs(session, count, first=0, **more):
    session.library.judge_all([said(n, ("same", "different")[n % 2], **more) for n in range(first, first + count)])


def documents(labels):
    return {name for one in labels.examples for name in one.documents if name}


def test_no_document_stands_on_two_sides(session):
    pairs(session, 400)
    # every fourth pair shares a document with the one before
    session.library.judge_all([
        JudgementRecord("same", "different", "", f"{2 * n:064x}", 0, 9, f"The boat number {n} left the pier.",
                        f"{2 * n + 3:064x}", 0, 9, f"Boat {n + 1} is no longer at its place.", made=time.time())
        for n in range(0, 400, 4)
    ])  # fmt: skip
    found = gather(session, Plan(), CONTEXT)
    goal, hyper = found.require()
    assert found.kind is LabelKind.PAIRS
    assert goal.key == hyper.objective == "online-contrastive"
    assert len(found.train) + len(found.watched) + len(found.held_out) == len(found.labels) == 500
    sides = [documents(part) for part in (found.train, found.watched, found.held_out)]
    assert all(sides)
    assert not sides[0] & sides[1]
    assert not sides[0] & sides[2]
    assert not sides[1] & sides[2]
    assert hyper.keep_best
    assert hyper.patience == 3
    assert not found.watches_held_out
    assert abs(len(found.held_out) / 500 - 0.25) < 0.05
    again = gather(session, Plan(), CONTEXT)  # the same split again, for a run that is resumed
    assert (again.train, again.watched, again.held_out) == (found.train, found.watched, found.held_out)


def test_few_labels_keep_the_last_state_and_say_what_they_cannot_tell(session):
    pairs(session, 40)
    found = gather(session, Plan(epochs=2, batch=4, seed=3), CONTEXT)
    _, hyper = found.require()
    assert found.watches_held_out
    assert not hyper.keep_best
    assert hyper.patience is None
    assert (hyper.epochs, hyper.batch, hyper.seed) == (2, 4, 3)
    view = check_labels(session, Plan(), CONTEXT)
    assert view.may_train
    assert view.train == 30
    assert view.held_out == 10
    assert 0 < view.minutes < 1
    assert "10 pairs" in view.interval
    assert "of 100" in view.interval
    assert [one.code for one in view.findings] == ["few"]
    assert "40 pairs" in view.findings[0].sentence


def shared_pairs(session, count, documents):
    """Judges pairs of passages of so few documents, each in as many pairs as the others."""
    session.library.judge_all([
        JudgementRecord("same", ("same", "different")[n % 2], "", f"{n % documents:064x}", 9 * n, 9 * n + 9,
                        f"The boat number {n} left the pier.", f"{documents + n % (documents + 1):064x}", 9 * n,
                        9 * n + 9, f"Boat {n} is no longer at its place.", made=time.time()) for n in range(count)
    ])  # fmt: skip


@pytest.mark.parametrize(("count", "documents"), [(40, 500), (100, 80), (130, 100), (150, 20), (700, 900)])
def test_what_is_said_of_enough_while_judging_is_what_the_check_says(session, count, documents):
    from sbert_desktop.app.labelling import labels_view

    shared_pairs(session, count, documents)
    judging = labels_view(session, Task.SAME)
    few = [one for one in check_labels(session, Plan(), CONTEXT).findings if one.code == "few"]
    assert judging.enough == 120, "what to aim at stays: it does not run away while one judges"
    assert judging.left == max(0, 120 - count)
    if few:
        assert judging.sentence == few[0].sentence
        assert few[0].hint in (judging.shared, "About 120 would tell more.")
    else:
        assert "enough to see a difference" in judging.sentence
        assert judging.shared == ""


def test_pairs_of_few_documents_are_known_to_tell_less_before_the_check(session):
    from sbert_desktop.app.labelling import labels_view

    shared_pairs(session, 150, 20)
    judging = labels_view(session, Task.SAME)
    assert judging.left == 0
    assert "expect noise" in judging.sentence
    assert "pairs of other documents" in judging.shared


@pytest.mark.parametrize("count", [0, 1, 5])
def test_too_little_stops_and_says_so(session, count):
    pairs(session, count)
    view = check_labels(session, Plan(), CONTEXT)
    assert not view.may_train
    assert view.findings[0].severity == "stops"
    assert view.findings[0].hint
    with pytest.raises(TrainingError) as caught:
        gather(session, Plan(), CONTEXT).require()
    assert caught.value.code == "cannot-train"


def test_a_contradiction_by_way_of_a_third_text_names_the_judgements_to_open(session):
    pairs(session, 60)
    a, b, c = ("The deposit is 900 euros.", "Nine hundred are the deposit.", "The deposit came to 900.")
    session.library.judge_all([
        said(501, "same", text=a, other=b), said(502, "same", text=b, other=c), said(503, "different", text=a, other=c)
    ])  # fmt: skip
    view = check_labels(session, Plan(), CONTEXT)
    finding = next(one for one in view.findings if one.code == "chain-contradictions")
    from sbert_desktop.app.labelling import labels_view

    rows = {row.id: row for row in labels_view(session, Task.SAME).rows}
    assert {text for id_ in finding.rows for text in (rows[id_].left, rows[id_].right)} == {a, b, c}
    assert [rows[id_].verdict for id_ in finding.rows] == ["same", "same", "different"]


def test_duplicates_teach_by_the_documents_openings(session):
    pairs(session, 20)
    long = "The minutes of the meeting in March. " * 200
    session.library.judge_all([
        said(90, "same", query=WHOLE, text=long, other="Minutes, March: " + long),
        said(91, "different", query=WHOLE, text=long, other=long + "and an annex"),  # one opening: says nothing
        said(92, "different", query=WHOLE, text="", other=""),
    ])  # fmt: skip
    found = gather(session, Plan(), CONTEXT)
    assert len(found.labels) == 22  # the one with two openings, and the one whose texts the helper filled in
    opened = [one for one in found.labels.examples if one.texts[0].startswith("The minutes")]
    assert len(opened) == 1
    assert all(900 < len(text) <= 1_000 for text in opened[0].texts)


def test_one_decision_on_a_large_group_of_documents_does_not_outweigh_all_others(session):
    pairs(session, 30)
    names = [(f"{n:064x}", f"Invoice {n}, to be paid in 14 days.") for n in range(1_000, 1_040)]
    session.library.judge_all([
        JudgementRecord("same", "different", WHOLE, a, 0, 0, one, b, 0, 0, other, made=time.time())
        for (a, one), (b, other) in itertools.combinations(names, 2)
    ])  # fmt: skip
    counted = gather(session, Plan(), CONTEXT).labels
    of_each = Counter(name for one in counted.examples for name in one.documents if int(name, 16) >= 1_000)
    assert max(of_each.values()) == 8
    assert 30 + 100 < len(counted) <= 30 + 160


def test_grades_and_verdicts_become_one_kind_and_what_is_left_out_is_counted(session):
    pairs(session, 30)
    session.library.judge_all([said(100 + n, f"{n % 6}", kind="grade") for n in range(12)])
    found = gather(session, Plan(), CONTEXT)
    assert found.kind is LabelKind.PAIRS
    assert found.labels.counts() == {"same": 15 + 4, "different": 15 + 6}
    assert "2 labels of another kind" in next(one.sentence for one in found.findings if one.code == "other-labels")
    graded = gather(session, Plan(objective="cosent"), CONTEXT)
    assert graded.kind is LabelKind.GRADED
    assert len(graded.labels) == 12 + 15
    assert {one.value for one in graded.train.examples} <= {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}


def test_only_positives_are_learned_from_as_such(session):
    session.library.judge_all([said(n, "same") for n in range(24)])
    found = gather(session, Plan(), CONTEXT)
    goal, _ = found.require()
    assert found.kind is found.train.kind is LabelKind.POSITIVES
    assert goal.key == "multiple-negatives"
    assert any(one.code == "positives-only" for one in found.findings)


def test_questions_are_learned_from_and_mined_negatives_want_positives_only(session):
    session.library.judge_all([answered(n, ("relevant", "not relevant")[n % 2]) for n in range(80)])
    found = gather(session, Plan(task=Task.ANSWERS), CONTEXT)
    assert found.kind is LabelKind.RELEVANCE
    assert found.train.kind is LabelKind.RELEVANCE
    asked = [{one.texts[0] for one in part.examples} for part in (found.train, found.held_out)]
    assert not asked[0] & asked[1]  # a question stands on one side
    assert "questions" in check_labels(session, Plan(task=Task.ANSWERS), CONTEXT).interval
    mined = gather(session, Plan(task=Task.ANSWERS, hard_negatives=2), CONTEXT)
    assert mined.train.kind is LabelKind.POSITIVES
    assert mined.held_out.kind is LabelKind.RELEVANCE
    assert mined.require()[0].key == "multiple-negatives"
    assert len(mined.train) == sum(one.value > 0.5 for one in found.train.examples)


def table(path, head, rows):
    path.write_text("\n".join([head, *rows]) + "\n", "utf-8")
    return path


def test_nli_comes_before_grades_and_shares_no_text_with_what_is_kept_aside(tmp_path):
    graded = table(tmp_path / "sts.csv", "sentence1,sentence2,score",
                   [f"boat {n} leaves,boat {n} departs,{n % 6}" for n in range(60)])  # fmt: skip
    nli = table(tmp_path / "nli.csv", "premise,hypothesis,label",
                [f"boat {n} leaves,it moves {n},{('entailment', 'neutral', 'contradiction')[n % 3]}"
                 for n in range(90)])  # fmt: skip
    found = gather(None, Plan(judgements=False, labels=(nli, graded)), CONTEXT)
    assert found.kind is LabelKind.GRADED
    assert found.require()[0].key == "cosent"
    aside = {text for one in found.held_out.examples for text in one.texts}
    assert len(found.before) == 1
    assert found.before[0].kind is LabelKind.NLI
    assert len(found.before[0]) == 90 - len(found.held_out)
    assert not aside & {text for one in found.before[0].examples for text in one.texts}


def test_a_table_that_was_exported_here_does_not_count_twice(session, tmp_path):
    from sbert_desktop.app.label_tables import export_labels

    pairs(session, 24)
    mine = export_labels(session, Task.SAME, tmp_path / "mine.csv")
    assert len(gather(session, Plan(labels=(mine,)), CONTEXT).labels) == 24
    only = gather(session, Plan(labels=(mine,), judgements=False), CONTEXT)
    assert len(only.labels) == 24
    assert set(only.ids) == {""}
    assert documents(only.labels)


def test_what_cannot_be_meant_is_refused(session, tmp_path):
    pairs(session, 30)
    for plan, code in (
        (Plan(objective="softmax"), "objective-does-not-fit"), (Plan(objective="magic"), "unknown-objective"),
        (Plan(learning_rate=1.0), "bad-hyper-parameter"), (Plan(held_out=0.0), ""),
    ):  # fmt: skip
        if code:
            with pytest.raises(UsageError) as caught:
                gather(session, plan, CONTEXT)
            assert caught.value.code == code
        else:
            assert not gather(session, plan, CONTEXT).may_train
    with pytest.raises(TrainingError):
        gather(session, Plan(labels=(tmp_path / "none.csv",)), CONTEXT)


def test_a_cross_encoder_takes_labels_as_they_are(session):
    session.library.judge_all([answered(n, ("relevant", "not relevant")[n % 2]) for n in range(80)])
    view = check_labels(session, Plan(task=Task.ANSWERS, kind="cross-encoder"), CONTEXT)
    assert view.may_train
    assert "both texts at once" in view.objective_sentence


def test_positives_that_are_not_there_stop_an_objective_that_needs_them(session):
    session.library.judge_all([said(n, "different") for n in range(30)])
    view = check_labels(session, Plan(objective="multiple-negatives"), CONTEXT)
    assert not view.may_train
    assert {one.code for one in view.findings if one.severity == "stops"} == {"one-class-missing", "nothing-to-learn"}


def test_contradictions_of_a_table_are_named_by_their_lines(tmp_path):
    rows = [f"boat {n} leaves,boat {n} departs,{n % 2}" for n in range(30)]
    mine = table(tmp_path / "mine.csv", "text_a,text_b,label", [*rows, "boat 5 departs,boat 5 leaves,0"])
    view = check_labels(None, Plan(judgements=False, labels=(mine,)), CONTEXT)
    finding = next(one for one in view.findings if one.code == "contradictions")
    assert finding.severity == "warns"
    assert finding.hint.endswith("In mine.csv: lines 7, 32.")
    assert finding.rows == ()


def test_rows_that_are_left_out_are_told(tmp_path):
    table = tmp_path / "pairs.csv"
    rows = [f"boat {n},ship {n}," + ("" if n < 3 else str(n % 2)) for n in range(40)]
    table.write_text("\n".join(["text_a,text_b,label", *rows]))
    (told,) = [one for one in check_labels(None, Plan(judgements=False, labels=(table,))).findings
               if one.code == "rows-left-out"]  # fmt: skip
    assert told.sentence.startswith("3 of 40 rows of pairs.csv are left out; line 2: ")
    table.write_text("\n".join(["text_a,text_b,label", *rows[:6]]))
    with pytest.raises(TrainingError, match="too few") as refused:
        gather(None, Plan(judgements=False, labels=(table,))).require()
    assert "3 of 6 rows of pairs.csv are left out" in refused.value.hint


def test_a_refusal_names_the_lines_of_a_table_that_contradict_each_other(tmp_path):
    table = tmp_path / "pairs.csv"
    rows = [f"boat {n},ship {n},{n % 2}" for n in range(40)]
    reverse = [row[:-1] + str(1 - int(row[-1])) for row in rows[5:8]]
    table.write_text("\n".join(["text_a,text_b,label", *rows, *rows[5:8], *reverse]))
    with pytest.raises(TrainingError) as refused:
        gather(None, Plan(judgements=False, labels=(table,))).require()
    assert "In pairs.csv: lines 7, 42, 45, 8, 43, 46 and 3 more." in refused.value.hint


@pytest.mark.parametrize("margin", [float("nan"), float("inf"), -1.0, 0.0, 1e308])
def test_a_margin_that_no_training_can_use_is_refused_before_it_begins(session, margin):
    pairs(session, 60)
    with pytest.raises(UsageError, match="is no margin"):
        gather(session, Plan(margin=margin), CONTEXT)


def test_a_margin_that_the_objective_does_not_have_is_told(session):
    pairs(session, 60)
    found = gather(session, Plan(margin=0.5, objective="multiple-negatives"), CONTEXT)
    assert "margin-not-used" in {one.code for one in found.findings}
    assert not found.parameters
    assert "margin-not-used" not in {one.code for one in gather(session, Plan(margin=0.5), CONTEXT).findings}


@pytest.mark.parametrize(("plan", "rate"), [
    (Plan(), 2e-5), (Plan(kind="cross-encoder"), 2e-4), (Plan(kind="cross-encoder", learning_rate=2e-5), 2e-5),
])  # fmt: skip
def test_a_head_that_knows_nothing_learns_at_a_higher_rate_unless_the_person_says_otherwise(session, plan, rate):
    """The base is an encoder in all of them."""
    pairs(session, 60)
    assert gather(session, plan, CONTEXT).require()[1].learning_rate == rate


def test_a_cross_encoder_that_is_one_already_goes_on_at_the_usual_rate(session, monkeypatch):
    pairs(session, 60)
    monkeypatch.setattr("sbert_desktop.app.planning.is_scorer", lambda folder: True)
    assert gather(session, Plan(kind="cross-encoder"), CONTEXT).require()[1].learning_rate == 2e-5


def test_what_the_check_says_of_the_interval_counts_questions_and_what_they_share(session):
    session.library.judge_all([answered(n, ("relevant", "not relevant")[n % 4 > 0]) for n in range(400)])
    view = check_labels(session, Plan(task=Task.ANSWERS), CONTEXT)
    assert view.interval.startswith("Measured on 25 questions, give or take 0.1")
