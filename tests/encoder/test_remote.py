"""The parent's side of the torch child, with children that die."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.encoder._remote import RemoteBackend
from sbert_desktop.encoder.models import ModelFacts
from sbert_desktop.errors import EncoderError, JobError

STATE = {"device": "CPU", "accelerated": False, "precision": "float32", "budget": 100, "notices": []}
BATCH = [np.array([3, 4], np.int32), np.array([0, 5], np.int32)]


@pytest.fixture
def facts(tmp_path: Path) -> ModelFacts:
    (tmp_path / "config.json").write_text('{"vocab_size": 100}', "utf-8")
    return ModelFacts(tmp_path, "test", dimension=2, max_tokens=16, pooling="mean")


def answer(header: Mapping[str, object], payload: bytes) -> tuple[dict[str, object], bytes]:
    """Gives each text of two ids back as its vector, of unit length."""
    if header["do"] != "encode":
        return dict(STATE), b""
    vectors = np.frombuffer(payload, "<i4").reshape(-1, 2).astype("<f4")
    return {**STATE, "rows": len(vectors)}, (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).tobytes()


def dying(header: Mapping[str, object], payload: bytes) -> tuple[dict[str, object], bytes]:
    if header["do"] == "encode":
        raise JobError("child-died", "The helper process ended unexpectedly (status -9).")
    return answer(header, payload)


def test_a_dead_child_is_replaced_and_the_batch_repeated(facts: ModelFacts, fake_child) -> None:
    children = [fake_child(dying), fake_child(dying), fake_child(answer)]
    waiting = list(children)
    notices: list[str] = []
    backend = RemoteBackend(facts, lambda kind: waiting.pop(0), device="auto", note=notices.append)
    (vectors,) = backend.run([BATCH], bulk=True)
    np.testing.assert_allclose(vectors, [[0.6, 0.8], [0, 1]], atol=1e-6)
    assert [child.closed for child in children] == [True, True, False]
    assert notices
    assert "started again" in notices[0]


def test_after_three_replacements_it_gives_up_with_one_line(facts: ModelFacts, fake_child) -> None:
    made = []

    def launch(kind: str):
        assert kind == "torch"
        made.append(fake_child(dying))
        return made[-1]

    backend = RemoteBackend(facts, launch, device="auto", note=lambda line: None)
    with pytest.raises(EncoderError) as caught:
        backend.run([BATCH], bulk=True)
    assert caught.value.code == "backend-failed"
    assert len(made) == 4
    assert all(child.closed for child in made)


def test_a_bug_in_the_child_is_not_repeated(facts: ModelFacts, fake_child) -> None:
    def buggy(header: Mapping[str, object], payload: bytes) -> tuple[dict[str, object], bytes]:
        if header["do"] == "encode":
            raise JobError("bug", "ValueError: x", detail="a traceback")
        return answer(header, payload)

    made = []

    def launch(kind: str):
        made.append(fake_child(buggy))
        return made[-1]

    backend = RemoteBackend(facts, launch, device="auto", note=lambda line: None)
    with pytest.raises(EncoderError) as caught:
        backend.run([BATCH], bulk=True)
    assert len(made) == 1
    assert caught.value.detail == "a traceback"


def test_a_missing_card_is_told_as_such(facts: ModelFacts, fake_child) -> None:
    def none(header: Mapping[str, object], payload: bytes) -> tuple[dict[str, object], bytes]:
        raise JobError("no-gpu", "No graphics card was found.")

    with pytest.raises(EncoderError) as caught:
        RemoteBackend(facts, lambda kind: fake_child(none), device="gpu", note=lambda line: None)
    assert caught.value.code == "no-gpu"


def test_a_fall_back_in_the_child_shows_in_name_and_notices(facts: ModelFacts, fake_child) -> None:
    after = {"device": "CPU", "accelerated": False, "precision": "float32", "budget": 64, "notices": ["No memory."]}

    def falls_back(header: Mapping[str, object], payload: bytes) -> tuple[dict[str, object], bytes]:
        reply, data = answer(header, payload)
        if header["do"] == "load":
            return {**reply, "device": "Card", "accelerated": True, "precision": "float16"}, data
        return {**reply, **after}, data

    notices: list[str] = []
    backend = RemoteBackend(facts, lambda kind: fake_child(falls_back), device="auto", note=notices.append)
    assert (backend.name, backend.device, backend.precision) == ("torch-gpu", "Card", "float16")
    backend.run([BATCH], bulk=True)
    assert (backend.name, backend.device, backend.precision, backend.budget) == ("torch-cpu", "CPU", "float32", 64)
    assert notices == ["No memory."]


def test_gentle_bulk_work_is_slowed_and_a_query_is_not(facts: ModelFacts, fake_child) -> None:
    asked = []

    def noting(header: Mapping[str, object], payload: bytes) -> tuple[dict[str, object], bytes]:
        asked.append((header["do"], header.get("gentle")))
        return answer(header, payload)

    backend = RemoteBackend(facts, lambda kind: fake_child(noting), device="auto", note=lambda line: None)
    backend.set_pace(gentle=True)
    backend.run([BATCH], bulk=True)
    backend.run([BATCH], bulk=False)
    encode, slow, fast = ("encode", None), ("pace", True), ("pace", False)
    assert asked == [("load", None), slow, encode, fast, encode]
