"""Another model chosen in the very moment of a search: it is answered, never lost with ``encoder-closed``."""

from __future__ import annotations

import threading

import pytest

from sbert_desktop.app.collecting import SavedSearches, save_search
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.marking import find_marks
from sbert_desktop.app.searching import run_search, run_similar, run_similar_text
from sbert_desktop.domain import Query
from sbert_desktop.encoder import HashingEncoder
from sbert_desktop.errors import EncoderError, UsageError
from sbert_desktop.jobs import NullContext

SECONDS = 60


class Slow(HashingEncoder):
    """Stops in the middle of encoding until it is let go, and refuses once it is closed, as the real ones do.

    ``answers``: it lets what is under way come to its end.
    """

    def __init__(self, *, answers: bool = False, **options: object) -> None:
        super().__init__(**options)
        self.answers = answers
        self.encoding, self.closed, self.go_on = threading.Event(), threading.Event(), threading.Event()
        self.go_on.set()

    def hold(self) -> None:
        self.go_on.clear()

    def _stop(self) -> None:
        self.encoding.set()
        assert self.go_on.wait(SECONDS)
        if self.closed.is_set() and not self.answers:
            raise EncoderError("encoder-closed", "The model was closed.")

    def encode_query(self, *given, **options):
        self._stop()
        return super().encode_query(*given, **options)

    def encode_now(self, *given, **options):
        self._stop()
        return super().encode_now(*given, **options)

    def close(self) -> None:
        self.closed.set()


@pytest.fixture(params=[False, True], ids=["refused", "answered"])
def changing(request, session, folder, monkeypatch):
    """Gives a function that does some work, and has the encoder changed while it encodes."""
    old = Slow(answers=request.param)
    new = HashingEncoder(dimension=128, max_tokens=64, name="other")
    waiting = [old, new]
    monkeypatch.setattr("sbert_desktop.encoder.hashing.HashingEncoder", lambda: waiting.pop(0) if waiting else new)
    run_index(session, IndexRequest((folder,)), NullContext())
    assert session.encoder() is old

    def run(work):
        answers: list[object] = []

        def body() -> None:
            try:
                answers.append(work())
            except BaseException as error:
                answers.append(error)

        old.encoding.clear()
        old.hold()
        thread = threading.Thread(target=body)
        thread.start()
        assert old.encoding.wait(SECONDS)
        session.change_encoder()
        assert old.closed.wait(SECONDS)
        assert session.encoder() is new
        old.go_on.set()
        thread.join(SECONDS)
        assert not thread.is_alive()
        if isinstance(answers[0], BaseException):
            raise answers[0]
        return answers[0]

    return run


def names(view) -> list[str]:
    return [document.path.name for document in view.documents]


@pytest.mark.parametrize("wait", [True, False])
def test_a_search_is_answered(changing, session, wait):
    view = changing(lambda: run_search(session, Query("oil the shears"), wait_for_model=wait))
    assert names(view)[0] == "tools.txt"


def found_or_said(call) -> str:
    """Gives the first document's name, or why there is none."""
    try:
        return names(call())[0]
    except UsageError as error:
        return error.code


def test_what_is_like_a_file_is_found_or_it_is_said_that_the_new_model_has_read_nothing(
    changing, session, tmp_path
):
    outside = tmp_path / "outside.txt"
    outside.write_text("Oil the shears before winter and sharpen the hoe.\n")
    first = found_or_said(lambda: changing(lambda: run_similar(session, outside)))
    assert first in {"tools.txt", "nothing-by-meaning"}


def test_what_is_like_a_pasted_text_is_found_or_said(changing, session):
    first = found_or_said(lambda: changing(lambda: run_similar_text(session, "oil the shears before winter")))
    assert first in {"tools.txt", "nothing-by-meaning"}


def test_marks_and_saved_searches_do_without(changing, session):
    view = run_search(session, Query("oil the shears"))
    save_search(session, "Shears", Query("oil the shears"))
    changing(lambda: find_marks(session, view))
    assert SavedSearches(session).list()[0].fresh == 0


def test_a_session_that_ends_is_no_reason_to_begin_anew(session, folder, monkeypatch):
    tries: list[int] = []

    def work() -> None:
        tries.append(1)
        session.close()
        raise EncoderError("encoder-closed", "The model was closed.")

    with pytest.raises(EncoderError):
        session.with_one_encoder(work)
    assert len(tries) == 1


def test_work_that_meets_one_change_after_the_other_ends(session):
    tries: list[int] = []

    def work() -> None:
        tries.append(1)
        raise EncoderError("encoder-closed", "The model was closed.")

    with pytest.raises(EncoderError):
        session.with_one_encoder(work)
    assert 2 <= len(tries) < 10
