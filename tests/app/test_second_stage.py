"""The second stage with a real cross-encoder's code: what a person sees when it works, is slow, is broken or dies."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.app import models
from sbert_desktop.app.facade import App
from sbert_desktop.app.views import SearchView
from sbert_desktop.domain import Outcome, Partial, Progress, Query
from sbert_desktop.encoder.models import default_model_dir
from sbert_desktop.errors import JobError
from tests.events import Inbox

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def app(tmp_path, settings, inbox, folder):
    opened = App(tmp_path / "library", settings)
    opened.connect(inbox.post)
    inbox.result(opened.add_folders([folder]))
    yield opened
    opened.close()


@pytest.fixture
def scorer(tmp_path: Path) -> Path:
    """Gives the folder of a cross-encoder whose weights no child of these tests loads."""
    source = default_model_dir()
    if source is None:
        pytest.skip("the bundled model is not installed")
    folder = tmp_path / "reader"
    folder.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_bytes((source / name).read_bytes())
    change(folder, json.loads((source / "config.json").read_text("utf-8")),
           architectures=["BertForSequenceClassification"], id2label={"0": "LABEL_0"})  # fmt: skip
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def change(folder: Path, config: dict | None = None, **more: object) -> None:
    old = json.loads((folder / "config.json").read_text("utf-8")) if config is None else config
    (folder / "config.json").write_text(json.dumps({**old, **more}), "utf-8")


class Child:
    """A torch child that is none: scores a pair by its length."""

    def __init__(self, owner: Children) -> None:
        self.owner = owner
        self.closed = False

    def request(self, header, payload=b"", *, timeout=None):
        assert not self.closed
        self.owner.asked.append(header["do"])
        if header["do"] == "load":
            return {}, b""
        self.owner.gate.wait(100)
        self.owner.batches -= 1
        if self.owner.batches < 0:
            raise JobError("child-died", "The helper process ended unexpectedly (status -9).")
        lengths = header["lengths"]
        return {}, np.array([1 / (1 + length) for length in lengths], "<f4").tobytes()

    def close(self) -> None:
        self.closed = True
        self.owner.gate.set()


class Children:
    """Starts them; they die after so many batches."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.started: list[Child] = []
        self.batches = 10**9
        self.gate = threading.Event()
        self.gate.set()

    def launch(self, kind, *, env=None, nice=0):
        self.started.append(Child(self))
        return self.started[-1]


@pytest.fixture
def children(app, scorer, inbox, monkeypatch) -> Children:
    """Gives the children of an app that uses the cross-encoder."""
    inbox.result(app.add_model(str(scorer)))
    made = Children()
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "torch-cpu")  # the encoder is open; the cross-encoder is not
    app._session.launch = made.launch
    return made


def names(view: SearchView) -> list[str]:
    return [document.path.name for document in view.documents]


def stays(inbox: Inbox, app: App) -> SearchView:
    """Asks with a second stage that fails; gives the answer, which is that of the first stage and one line."""
    plain = inbox.result(app.search(Query("the garden")))
    view = inbox.result(app.search(Query("the garden", rerank=20)))
    assert view.reranked == 0
    assert names(view) == names(plain) != []
    new = [note for note in view.notes if note not in plain.notes]
    assert len(new) == 1
    assert "\n" not in new[0]
    assert "Traceback" not in new[0]
    assert new[0].endswith("This is the order of the first search.")
    return view


def test_first_the_answer_then_a_progress_line_then_the_new_order(app, inbox, children):
    job = app.search(Query("the garden", rerank=20))
    view = inbox.result(job)
    assert view.reranked > 3
    told = [event for event in inbox.events if getattr(event, "job_id", "") == job]
    phase = f"Reading the best {view.reranked} again"
    shown = [event for event in told if (isinstance(event, Partial) and isinstance(event.result, SearchView))
             or (isinstance(event, Progress) and event.phase == phase)]  # fmt: skip
    assert isinstance(shown[0], Partial)
    assert shown[0].result.reranked == 0
    assert isinstance(shown[-1], Partial)
    assert shown[-1].result.reranked == view.reranked
    done = [(event.done, event.total) for event in shown if isinstance(event, Progress)]
    assert done[-1] == (view.reranked, view.reranked)
    assert sorted(names(shown[0].result)) == sorted(names(view))


def test_what_was_read_before_is_not_read_again(app, inbox, children):
    first = inbox.result(app.search(Query("the garden", rerank=20)))
    asked = len(children.asked)
    again = inbox.result(app.search(Query("the garden", rerank=20)))
    assert names(again) == names(first)
    assert again.reranked == first.reranked
    assert len(children.asked) == asked
    inbox.result(app.search(Query("a spade", rerank=20)))
    assert len(children.asked) > asked
    assert children.asked.count("load") == len(children.started) == 1  # the child stays warm


def test_a_newer_query_ends_the_reading(app, inbox, children):
    children.gate.clear()
    first = app.search(Query("the garden", rerank=20))
    inbox.until(lambda e: isinstance(e, Progress) and e.job_id == first and e.phase.startswith("Reading"))
    second = app.search(Query("spade", rerank=0))
    children.gate.set()
    assert inbox.finished(first).outcome is Outcome.SUPERSEDED
    assert all(view.reranked == 0 for view in inbox.partials(first, SearchView))
    assert inbox.result(second).documents


def test_a_child_that_dies_in_the_middle_is_replaced_once(app, inbox, children):

    def launch(kind, *, env=None, nice=0):
        children.batches = 10**9 if children.started else 0
        return children.launch(kind)

    app._session.launch = launch
    view = inbox.result(app.search(Query("the garden", rerank=20)))
    assert view.reranked > 3
    assert len(children.started) == 2
    assert any("started again" in line for line in app._session.notices())


def test_children_that_always_die_leave_the_first_order_and_one_line(app, inbox, children):
    children.batches = 0
    view = stays(inbox, app)
    assert "reader cannot run" in view.notes[-1]
    assert all(child.closed for child in children.started)
    children.batches = 10**9
    assert inbox.result(app.search(Query("the garden", rerank=20))).reranked > 3  # it is tried again


@pytest.mark.parametrize(("harm", "said"), [
    (lambda folder: (folder / "model.safetensors").write_bytes(b"Weights"), "model.safetensors"),
    (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors"),
    (lambda folder: (folder / "config.json").write_text("{", "utf-8"), "config.json"),
    (lambda folder: (folder / "tokenizer.json").write_text("[]", "utf-8"), "tokenizer.json"),
    (lambda folder: change(folder, id2label={"0": "no", "1": "yes"}), "classes"),
])  # fmt: skip
def test_a_folder_that_is_broken_or_of_another_kind_leaves_the_first_order_and_one_line(
    app, inbox, children, harm, said
):
    from sbert_desktop.encoder.store import find_model

    harm(find_model("reader"))
    view = stays(inbox, app)
    assert said in view.notes[-1]
    assert children.started == []


def test_an_encoder_in_the_place_of_a_cross_encoder_leaves_the_first_order_and_one_line(app, inbox, children):
    app._session.settings.set(models.CROSS_ENCODER, "all-MiniLM-L6-v2")
    assert "no scores" in stays(inbox, app).notes[-1]
    assert children.started == []


def test_a_folder_that_is_gone_leaves_the_first_order_and_one_line(app, inbox, children):
    import shutil

    from sbert_desktop.encoder.store import find_model

    shutil.rmtree(find_model("reader"))
    assert "reader" in stays(inbox, app).notes[-1]


@pytest.mark.parametrize("labels", [{"0": "a", "1": "b"}, {str(n): str(n) for n in range(5)}])
def test_a_classifier_is_refused_as_a_cross_encoder_when_it_is_added(app, inbox, scorer, labels):
    change(scorer, id2label=labels)
    failure = inbox.finished(app.add_model(str(scorer))).failure
    assert failure is not None
    assert failure.code == "model-unsupported"
    assert not failure.is_bug
    assert app._session.settings.text(models.CROSS_ENCODER) == ""


def test_typing_makes_the_cross_encoder_ready_before_the_query_comes(app, inbox, children):
    app.typing()
    end = time.monotonic() + 60
    while app._session.second_stage._opening is None and time.monotonic() < end:
        time.sleep(0.01)
    opening = app._session.second_stage._opening
    assert opening is not None
    assert opening.done.wait(60)
    assert opening.cross is not None
    assert opening.cross.name == "reader"


def test_closing_ends_a_reading_that_is_under_way(app, inbox, children):
    children.gate.clear()
    job = app.search(Query("the garden", rerank=20))
    inbox.until(lambda e: isinstance(e, Progress) and e.job_id == job and e.phase.startswith("Reading"))
    app.close()
    assert inbox.finished(job).outcome is not Outcome.DONE
    assert all(child.closed for child in children.started)
