"""What a query means, the second stage, more and less like this: as the window and the command line ask for it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from sbert_desktop.app.facade import App
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.reranking import rerank
from sbert_desktop.app.searching import find, run_search, show
from sbert_desktop.app.views import SearchView
from sbert_desktop.domain import Filters, Mode, Outcome, Progress, Query, ScoreKind
from sbert_desktop.errors import EncoderError, UsageError
from sbert_desktop.jobs import NullContext
from tests.events import Inbox


class Cross:
    """Scores a passage by how often it holds a letter; notes what it read."""

    name = "letters"

    def __init__(self, letter: str = "z") -> None:
        self.letter = letter
        self.read: list[str] = []
        self.closed = False
        self.gate = threading.Event()
        self.gate.set()

    def score(self, query, texts, context=None):
        self.gate.wait(100)
        self.read += texts
        return np.array([text.count(self.letter) / 10 for text in texts], np.float32)

    def close(self):
        self.closed = True


class Broken(Cross):
    def score(self, query, texts, context=None):
        raise EncoderError("child-died", "The cross-encoder ended by itself.", "")


@pytest.fixture
def indexed(session, folder):
    run_index(session, IndexRequest((folder,)), NullContext())
    return session


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
def app(tmp_path, settings, inbox, folder):
    app = App(tmp_path / "library", settings)
    app.connect(inbox.post)
    inbox.result(app.add_folders([folder]))
    yield app
    app.close()


def names(view: SearchView) -> list[str]:
    return [document.path.name for document in view.documents]


# ---------------------------------------------------------------- what was typed


def test_fields_phrases_and_exclusions_that_are_typed_narrow_the_answer(indexed):
    assert names(run_search(indexed, Query("deposit type:eml"))) == ["flat.eml"]
    assert names(run_search(indexed, Query('"hangs behind the door"'))) == ["tools.txt"]
    assert "beds.md" not in names(run_search(indexed, Query("compost spade -tomatoes")))
    assert run_search(indexed, Query('"behind the hangs door"')).documents == ()
    view = run_search(indexed, Query("butter folder:kitchen", filters=Filters(types=("txt",))))
    assert names(view) == ["bread.txt"]  # the chip and the typed field both hold
    assert view.filters == Filters(types=("txt",))
    assert view.parsed.filters.folders


def test_what_was_taken_otherwise_than_it_looks_is_said_once(indexed):
    view = run_search(indexed, Query("colour:green spade"))
    assert any("colour" in note for note in view.notes)
    assert len(view.notes) == len(set(view.notes))


def test_filters_alone_list_the_newest_and_exclusions_alone_say_so(indexed, folder):
    import os

    os.utime(folder / "kitchen/bread.txt", (2_000_000_000, 2_000_000_000))
    run_index(indexed, IndexRequest(), NullContext())
    assert names(run_search(indexed, Query("type:txt")))[0] == "bread.txt"
    assert names(run_search(indexed, Query("", filters=Filters(types=("txt",)))))[0] == "bread.txt"
    view = run_search(indexed, Query("-spade"))
    assert "tools.txt" not in names(view)
    assert view.documents
    assert any("not wanted" in note for note in view.notes)
    with pytest.raises(UsageError):
        run_search(indexed, Query("   "))


@pytest.mark.parametrize("text", ['"', '""', "-", "type:", ":", "NEAR(a b)", "a AND", "'; DROP TABLE file; --", "*",
                                  "\0", "\ud83d", "\u202eabc", "()", '"a" OR "b', "🦊", "a" * 100_000])  # fmt: skip
def test_nothing_that_is_typed_is_an_error(indexed, text):
    for mode in Mode:
        assert isinstance(run_search(indexed, Query(text, mode=mode)), SearchView)


# ---------------------------------------------------------------- more and less like this


def test_more_like_this_moves_the_answer_and_is_undone_by_asking_without(indexed):
    plain = run_search(indexed, Query("water", mode=Mode.SEMANTIC))
    bread = next(d for d in plain.documents if d.path.name == "bread.txt").hits[0]
    more = run_search(indexed, Query("water", mode=Mode.SEMANTIC, more=(bread.passage_id,)))
    assert names(more)[0] == "bread.txt"
    first = plain.documents[0].hits[0]
    less = run_search(indexed, Query("water", mode=Mode.SEMANTIC, less=(first.passage_id,)))
    moved = next(d for d in less.documents if d.content_id == first.content_id).hits[0]
    assert moved.cosine < first.cosine
    assert run_search(indexed, Query("water", mode=Mode.SEMANTIC)).documents == plain.documents
    alone = run_search(indexed, Query("", more=(bread.passage_id,)))
    assert names(alone)[0] == "bread.txt"
    assert alone.documents[0].hits[0].cosine == pytest.approx(1.0, abs=1e-5)
    by_words = run_search(indexed, Query("water", mode=Mode.KEYWORD, more=(bread.passage_id,)))
    assert any("need the meaning" in note for note in by_words.notes)
    assert run_search(indexed, Query("water", more=(10**9,))).documents


def test_a_pasted_text_takes_the_place_of_the_query_by_meaning(indexed):
    view = run_search(indexed, Query("", like="Oil the shears before winter and sharpen the hoe."))
    assert names(view)[0] == "tools.txt"


# ---------------------------------------------------------------- the second stage


def test_the_best_passages_are_read_again_and_stand_in_the_order_of_that(indexed):
    found = find(indexed, Query("the", rerank=50, top=3))
    cross = Cross("e")
    again = show(indexed, rerank(found, cross, NullContext()))
    assert len(again.documents) == 3
    assert again.reranked == len(cross.read) > 3
    scores = [document.hits[0].score for document in again.documents]
    assert scores == sorted(scores, reverse=True)
    assert names(again) != names(show(indexed, found))
    for document in again.documents:
        assert document.hits[0].rerank == pytest.approx(document.hits[0].text.count("e") / 10)
    assert again.documents[0].hits[0].score_kind is ScoreKind.RERANK
    assert show(indexed, found).reranked == 0


def test_the_window_shows_the_first_answer_at_once_and_then_the_new_order(app, inbox):
    cross = Cross("e")
    app._session.second_stage._open_one = lambda: cross
    cross.gate.clear()
    job = app.search(Query("the", rerank=20))
    inbox.until(lambda e: getattr(e, "job_id", "") == job and isinstance(getattr(e, "result", None), SearchView))
    assert inbox.partials(job, SearchView)[0].reranked == 0
    cross.gate.set()
    view = inbox.result(job)
    assert view.reranked == len(cross.read)
    assert [v.reranked for v in inbox.partials(job, SearchView)] == [0, view.reranked]
    assert any(isinstance(e, Progress) and e.phase.startswith("Reading the best") for e in inbox.events)
    assert any(d.hits[0].best_sentence for d in view.documents)


def test_a_newer_query_does_not_wait_for_the_second_stage(app, inbox):
    opened = threading.Event()

    def never():
        opened.wait(100)
        return None

    app._session.second_stage._open_one = never
    first = app.search(Query("the", rerank=20))
    inbox.until(lambda e: getattr(e, "job_id", "") == first and isinstance(getattr(e, "result", None), SearchView))
    assert inbox.result(app.search(Query("spade"))).documents
    assert not opened.is_set()
    assert inbox.finished(first).outcome is Outcome.SUPERSEDED
    opened.set()


def test_a_second_stage_that_fails_leaves_the_first_order_and_says_so(app, inbox):
    app._session.second_stage._open_one = Broken
    view = inbox.result(app.search(Query("the", rerank=20)))
    assert view.documents
    assert view.reranked == 0
    assert any("ended by itself" in note for note in view.notes)
    plain = inbox.result(app.search(Query("the")))
    assert names(plain) == names(view)


def test_without_a_cross_encoder_nothing_is_read_again(app, inbox):
    view = inbox.result(app.search(Query("the", rerank=50)))
    assert view.reranked == 0
    assert view.notes == ()


def test_the_cross_encoder_is_closed_with_the_session_and_when_another_is_chosen(session):
    made = []

    def make():
        made.append(Cross())
        return made[-1]

    session.second_stage._open_one = make
    assert session.second_stage.wait(NullContext()) is session.second_stage.wait(NullContext())
    session.second_stage.forget()
    assert session.second_stage.wait(NullContext()) is made[1]
    assert [cross.closed for cross in made] == [True, False]
    session.close()
    assert made[1].closed
    assert session.second_stage.wait(NullContext()) is None
