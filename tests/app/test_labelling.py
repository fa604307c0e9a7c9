"""Proposing pairs from the library, keeping what is said of them, taking it back: on the hashing encoder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sbert_desktop.app.collecting import save_search
from sbert_desktop.app.deciding import remember
from sbert_desktop.app.judging import judge
from sbert_desktop.app.label_draws import draw
from sbert_desktop.app.label_memory import memory_of, text_hash
from sbert_desktop.app.label_proposals import _Proposing
from sbert_desktop.app.label_threshold import best_threshold
from sbert_desktop.app.labelling import change_label, keep_label, labels_view, propose_pairs, take_back
from sbert_desktop.app.searching import run_search
from sbert_desktop.app.session import Session
from sbert_desktop.app.training_views import Task, TextSide
from sbert_desktop.cleanup import Copy
from sbert_desktop.domain import Query
from sbert_desktop.errors import UsageError
from tests.app.made_labels import CONTEXT, indexed, judge_some, make_library, session_on_copy, write_notes


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_library(tmp_path_factory.mktemp("made"))


@pytest.fixture
def notes(made, tmp_path, settings):
    session = session_on_copy(made, tmp_path / "copied", settings)
    yield session
    session.close()


def texts_of(pairs):
    return [text_hash(side.text) for pair in pairs for side in (pair.left, pair.right)]


# ---------------------------------------------------------------- proposing


def test_no_text_stands_twice_in_what_is_proposed_and_none_beside_its_own_copy(notes):
    pairs = propose_pairs(notes, Task.SAME, 15, CONTEXT)
    assert len(pairs) == 15
    texts = texts_of(pairs)
    assert len(texts) == len(set(texts))
    assert all(pair.left.sha256 and pair.left.sha256 != pair.right.sha256 for pair in pairs)
    assert all((p.left.sha256, p.left.start) < (p.right.sha256, p.right.start) for p in pairs)
    assert {pair.why for pair in pairs} > {"unsure"}  # mixed with sure ones


def test_what_was_judged_never_comes_again_and_what_was_skipped_only_when_nothing_else_is_left(session, tmp_path):
    notes = indexed(session, write_notes(tmp_path / "notes", 6))  # 15 pairs
    judged = {pair.id for pair in judge_some(notes, 2)}
    assert len(judged) == 2
    skipped: set[str] = set()
    for _ in range(20):
        pairs = propose_pairs(notes, Task.SAME, 3, CONTEXT)
        assert not judged & {pair.id for pair in pairs}
        fresh = {pair.id for pair in pairs} - skipped
        if not fresh:
            break
        skipped |= fresh
    assert len(skipped) == 13  # all others were shown before one came twice
    assert pairs  # what was skipped comes back then


@pytest.mark.parametrize("documents", [0, 1, 3])
@pytest.mark.parametrize("task", list(Task))
def test_a_small_library_gives_few_pairs_or_none(session, tmp_path, documents, task):
    folder = write_notes(tmp_path / "notes", documents)
    if documents:
        (folder / "copy of note-000.md").unlink()
    indexed(session, folder)
    pairs = propose_pairs(session, task, 20, CONTEXT)
    if task is Task.SAME:
        assert len(pairs) == {0: 0, 1: 0, 3: 1}[documents]  # three texts, none twice: one pair
    else:
        assert len(pairs) <= documents * documents
    assert propose_pairs(session, task, 0, CONTEXT) == ()


def test_a_library_that_was_never_indexed_gives_none(session):
    assert propose_pairs(session, Task.SAME, 5, CONTEXT) == ()
    assert propose_pairs(session, Task.ANSWERS, 5, CONTEXT) == ()
    view = labels_view(session, Task.SAME)
    assert (view.total, view.rows, view.balance) == (0, (), "")
    assert view.left == view.enough > 0


def test_a_passage_comes_with_what_stands_around_it(session, tmp_path):
    folder = tmp_path / "long"
    folder.mkdir()
    for name in ("one", "two"):
        parts = [
            f"Part {n} of {name} tells of the {name} journey. " + f"Word{n} went on and on. " * 60 for n in range(6)
        ]
        (folder / f"{name}.txt").write_text("\n\n".join(parts), "utf-8")
    indexed(session, folder)
    sides = [side for pair in propose_pairs(session, Task.SAME, 4, CONTEXT) for side in (pair.left, pair.right)]
    assert sides
    assert any(side.before for side in sides)
    assert any(side.after for side in sides)
    for side in sides:
        whole = session.library.text_of(side.content).text
        assert whole[side.start : side.end] == side.text
        assert side.title
        assert side.path
        assert len(side.before) <= 600
        assert len(side.after) <= 600
        assert side.before in whole[: side.start]
        assert side.after in whole[side.end :]


def test_questions_are_the_persons_own_and_titles_only_where_there_are_none(notes):
    titled = propose_pairs(notes, Task.ANSWERS, 6, CONTEXT)
    assert titled
    assert {pair.why for pair in titled} == {"title"}
    assert all(pair.left.text.casefold() not in pair.right.text.casefold() for pair in titled)
    notes.library.add_history("when to water the tomatoes")
    save_search(notes, "pond", Query("what was done to the pond"))
    asked = propose_pairs(notes, Task.ANSWERS, 12, CONTEXT)
    assert {pair.left.text for pair in asked} == {"when to water the tomatoes", "what was done to the pond"}
    assert "title" not in {pair.why for pair in asked}
    assert all(pair.right.sha256 for pair in asked)
    for pair in asked:
        keep_label(notes, pair, "not relevant")
    said = {(pair.left.text, text_hash(pair.right.text)) for pair in asked}
    more = propose_pairs(notes, Task.ANSWERS, 12, CONTEXT)
    assert more
    assert not said & {(pair.left.text, text_hash(pair.right.text)) for pair in more}


@pytest.mark.parametrize("task", [Task.SAME, Task.ANSWERS])
def test_pairs_come_from_the_chosen_documents_only(notes, task):
    chosen = sorted(set(np.asarray(notes.snapshot().contents).tolist()))[:5]
    sides = [side for pair in propose_pairs(notes, task, 8, CONTEXT, chosen) for side in (pair.left, pair.right)]
    contents = {side.content for side in sides if side.sha256}
    assert contents
    assert contents <= set(chosen)


def test_pairs_are_drawn_evenly_over_clusters(notes):
    snapshot = notes.snapshot()
    rare = snapshot.contents.max()
    drawn = draw(snapshot, np.random.default_rng(0), lambda contents: np.where(contents == rare, 1, 0))
    assert drawn is not None
    assert set(drawn.clusters.tolist()) == {0, 1}
    assert np.all(drawn.cosines[np.arange(len(drawn.anchors)), drawn.anchors] == -2)  # never a passage and itself


def test_unsure_lies_near_the_threshold_and_sure_on_its_two_sides(notes):
    pairs = propose_pairs(notes, Task.SAME, 15, CONTEXT)
    cosines = memory_of(notes).cosines
    chance = draw(notes.snapshot(), np.random.default_rng(0)).chance
    threshold = chance + 0.58 * (1 - chance)
    off = {why: [cosines[one.id] - threshold for one in pairs if one.why == why]
           for why in ("unsure", "sure-same", "sure-different")}  # fmt: skip
    assert len(off["unsure"]) >= 9
    assert max(map(abs, off["unsure"])) < 0.2
    assert all(value > 0 for value in off["sure-same"])
    assert all(value < 0 for value in off["sure-different"])
    assert off["sure-different"]


def test_the_threshold_follows_the_judgements_also_those_of_an_earlier_session(notes, settings):
    assert best_threshold(np.array([0.9, 0.8, 0.4, 0.2]), np.array([True, True, False, False])) == pytest.approx(0.6)
    pairs = [pair for _ in range(3) for pair in propose_pairs(notes, Task.SAME, 15, CONTEXT)]
    cosines = memory_of(notes).cosines
    start = _Proposing(notes, CONTEXT)._threshold(0.0)
    assert start == pytest.approx(0.58)
    for pair in pairs:
        keep_label(notes, pair, "same" if cosines[pair.id] > 0.3 else "different")
    said = np.array([cosines[pair.id] for pair in pairs])
    best = best_threshold(said, said > 0.3)
    wanted = (best * len(pairs) + start * 20) / (len(pairs) + 20)
    assert _Proposing(notes, CONTEXT)._threshold(0.0) == pytest.approx(wanted)
    later = Session(notes.library_path, settings)
    later.encoder()
    assert _Proposing(later, CONTEXT)._threshold(0.0) == pytest.approx(wanted, abs=1e-5)  # found again in the index
    later.close()


# ---------------------------------------------------------------- keeping, undoing, changing


def test_a_judgement_is_kept_once_whichever_text_stood_left_and_undone_exactly(notes):
    before = notes.library.judgements()
    pair = propose_pairs(notes, Task.SAME, 1, CONTEXT)[0]
    first = keep_label(notes, pair, "same")
    second = keep_label(notes, replace(pair, left=pair.right, right=pair.left), "different")
    assert [row.verdict for row in second.rows] == ["different"]
    assert second.generation > first.generation
    assert second.rows[0].id == pair.id
    assert second.rows[0].left_title.endswith(".md")
    graded = keep_label(notes, pair, "4")
    assert [row.verdict for row in graded.rows] == ["4"]
    assert dict(graded.counts)["4"] == 1
    assert take_back(notes, Task.SAME, [pair.id, "unknown"]).total == 0
    assert notes.library.judgements() == before


def test_a_judgement_stays_in_its_place_when_it_is_changed(notes):
    judge_some(notes, 4)
    view = labels_view(notes, Task.SAME)
    row = view.rows[2]
    wanted = "different" if row.verdict == "same" else "same"
    changed = change_label(notes, Task.SAME, row.id, wanted)
    assert [one.id for one in changed.rows] == [one.id for one in view.rows]
    assert changed.rows[2].verdict == wanted
    assert changed.rows[2].made == row.made
    assert change_label(notes, Task.SAME, row.id, "").total == 3
    with pytest.raises(UsageError, match="no longer there"):
        change_label(notes, Task.SAME, row.id, "same")


@pytest.mark.parametrize(("task", "verdict"), [(Task.SAME, "relevant"), (Task.SAME, "6"), (Task.SAME, "nan"),
                                               (Task.ANSWERS, "same"), (Task.ANSWERS, "3")])  # fmt: skip
def test_a_verdict_of_another_task_is_refused(notes, task, verdict):
    pair = propose_pairs(notes, task, 1, CONTEXT)[0]
    with pytest.raises(UsageError, match="is no verdict"):
        keep_label(notes, pair, verdict)
    assert labels_view(notes, task).total == 0


def test_what_was_judged_in_search_and_in_duplicates_stands_in_the_list_and_can_be_changed_there(notes, made):
    hit = run_search(notes, Query("tomatoes watered")).documents[0].hits[0]
    judge(notes, "tomatoes  watered", hit, "relevant")
    found = labels_view(notes, Task.ANSWERS)
    assert [(row.left, row.verdict) for row in found.rows] == [("tomatoes watered", "relevant")]
    assert found.balance == "None of 1 is not relevant: both answers are needed."
    take_back(notes, Task.ANSWERS, [found.rows[0].id])
    assert run_search(notes, Query("tomatoes watered")).documents[0].hits[0].judged == ""

    one, other = (copy_of(notes, made.parent / "notes" / f"note-{n:03}.md") for n in (0, 10))
    remember(notes, [(one, other)], "different")
    found = labels_view(notes, Task.SAME)
    assert [(row.source, row.verdict) for row in found.rows] == [("duplicates", "different")]
    assert {"Note 0 on", "Note 10 on"} == {
        text.lstrip("# ").split(" the ")[0] for text in (found.rows[0].left, found.rows[0].right)
    }
    with pytest.raises(UsageError, match="whole documents"):
        change_label(notes, Task.SAME, found.rows[0].id, "3")
    assert change_label(notes, Task.SAME, found.rows[0].id, "same").counts[0] == ("same", 1)


def copy_of(session, path):
    content = session.library.content_at(path)
    sha256 = session.library.sha256_of(content)
    return Copy(int(content), path, path.stat().st_size, 0, 1, int(content), sha256, content=int(content))


def test_the_sentences_say_numbers(notes):
    judge_some(notes, 10)
    view = labels_view(notes, Task.SAME)
    assert view.counts == (("same", 5), ("different", 5))
    assert view.balance == "5 same, 5 different: well mixed."
    assert view.left == view.enough - 10
    assert "10 pairs" in view.sentence


def test_a_side_whose_document_left_is_refused_and_keeps_nothing(notes):
    pair = propose_pairs(notes, Task.SAME, 1, CONTEXT)[0]
    with pytest.raises(Exception, match="no longer in the library"):
        keep_label(notes, replace(pair, left=TextSide("gone", content=10**6)), "same")
    assert not notes.library.judgements()
