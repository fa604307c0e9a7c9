"""The cross-encoder with OpenVINO: equal to sentence-transformers, ready in a thread, never worth a dead search."""

from __future__ import annotations

import importlib.util
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.encoder import open_cross_encoder
from sbert_desktop.errors import Cancelled, EncoderError, JobError

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("architectures"), pytest.mark.timeout(300)]
pytest.importorskip("torch")
if importlib.util.find_spec("openvino") is None:  # not imported: openvino itself would look for a host
    pytest.skip("openvino is not installed", allow_module_level=True)

_spec = importlib.util.spec_from_file_location("encoder_made", Path(__file__).with_name("made.py"))
assert _spec is not None
assert _spec.loader is not None
made = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(made)


@pytest.fixture(scope="module")
def scorer(model_dir: Path, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pairs") / "Bert"
    folder.mkdir()
    made.save_transformer(model_dir, folder, "Bert", labels=1)
    return folder


@pytest.fixture(scope="module")
def ready(scorer: Path, shared_launch):
    """Gives the model in float32, converted."""
    opened = open_cross_encoder(scorer, launch=shared_launch, precision="float32", backend="openvino")
    opened.score("warm", ["up"])
    yield opened
    opened.close()


def test_scores_in_float32_are_those_of_sentence_transformers(scorer, ready) -> None:
    from sentence_transformers import CrossEncoder

    assert ready.runs == "openvino float32"
    theirs = CrossEncoder(str(scorer), device="cpu")
    for query, texts in (("when is the invoice due", made.TEXTS[:120]), ("", made.TEXTS[:20])):
        expected = theirs.predict([(query, text) for text in texts], show_progress_bar=False)
        assert expected.std() > 0.01
        np.testing.assert_allclose(ready.score(query, texts), expected, atol=1e-4)


def test_a_converted_model_needs_no_child(scorer, ready, no_launch) -> None:
    again = open_cross_encoder(scorer, launch=no_launch, precision="float32", backend="openvino")
    texts = made.TEXTS[:9]
    np.testing.assert_allclose(again.score("river", texts), ready.score("river", texts), atol=1e-6)
    again.close()


def test_a_text_scores_the_same_alone_and_among_others(ready) -> None:
    texts = made.TEXTS[7:60]
    together = ready.score("the lower town", texts)
    ready._known.clear()
    alone = np.array([ready.score("the lower town", [text])[0] for text in texts])
    np.testing.assert_allclose(alone, together, atol=1e-5)


def test_what_was_scored_is_not_computed_again_and_equal_texts_once(ready, monkeypatch) -> None:
    read: list[int] = []
    run = ready._backend.run

    def counted(batches):
        read.extend(len(batch) for batch in batches)
        return run(batches)

    monkeypatch.setattr(ready._backend, "run", counted)
    scores = ready.score("counted", ["one", "two", "one"])
    assert scores[0] == scores[2]
    assert sum(read) == 2
    ready.score("counted", ["two", "three"])
    assert sum(read) == 3
    ready.score("counted ", ["two"])  # another query, if only by a space
    assert sum(read) == 4


def test_a_cancel_is_heard_while_the_model_is_being_made_ready(scorer, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path))
    gate, begun = threading.Event(), threading.Event()

    def launch(kind):
        begun.set()
        gate.wait(60)
        raise JobError("child-not-started", "There is no memory.")

    class Newer:
        paused = False

        def check(self) -> None:
            if begun.is_set():
                raise Cancelled

        def progress(self, phase, done, total, detail="") -> None: ...

        def partial(self, result) -> None: ...

    opened = open_cross_encoder(scorer, launch=launch, start=True)
    began = time.monotonic()
    with pytest.raises(Cancelled):
        opened.score("a", ["b"], Newer())
    assert time.monotonic() - began < 30
    opened.close()
    gate.set()
    with pytest.raises(EncoderError, match="closed"):
        opened.score("a", ["b"])


def test_where_openvino_cannot_run_it_torch_does_and_that_is_said(scorer, tmp_path, monkeypatch, fake_child) -> None:
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path))

    def answer(header, payload):
        if header["do"] == "convert":
            raise JobError("child-died", "The helper process ended unexpectedly (status -9).")
        return {}, np.array(header.get("lengths", []), "<f4").tobytes()

    told: list[str] = []
    opened = open_cross_encoder(scorer, launch=lambda kind: fake_child(answer), device="cpu", notify=told.append)
    assert opened.score("word", ["river", "two river"]).tolist() == [5, 6]
    assert opened.runs == "torch float32"
    assert "torch instead" in told[0]
    opened.close()


def test_scores_that_are_no_numbers_are_refused(scorer, fake_child) -> None:
    opened = open_cross_encoder(
        scorer, launch=lambda kind: fake_child(lambda h, p: ({}, np.full(len(h.get("lengths", [])), np.nan, "<f4")
                                                             .tobytes())), backend="torch")  # fmt: skip
    with pytest.raises(EncoderError, match="no numbers"):
        opened.score("a", ["b"])


def test_closing_while_it_is_made_ready_leaves_no_child(scorer, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path))
    begun, ended = threading.Event(), threading.Event()

    class Child:
        def request(self, header, payload=b"", *, timeout=None):
            begun.set()
            assert ended.wait(60)
            raise JobError("child-died", "The helper process was closed.")

        def close(self) -> None:
            ended.set()

    opened = open_cross_encoder(scorer, launch=lambda kind: Child(), start=True, device="cpu")
    assert begun.wait(60)
    opened.close()
    assert ended.is_set()
    opened._thread.join(30)
    assert not opened._thread.is_alive()
