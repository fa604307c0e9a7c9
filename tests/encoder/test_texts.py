"""Batches, order, fall-back: the part of the encoder that is the same for every back-end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sbert_desktop.domain import EncoderInfo
from sbert_desktop.encoder._texts import TextEncoder, pad_batch, plan_batches
from sbert_desktop.errors import Cancelled, EncoderError

INFO = EncoderInfo("f", "test", 2, 64, "mean", "", "", "")


class Words:
    """A tokenizer whose ids are the lengths of the words."""

    key = "words"

    def encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        return [np.array([1, *map(len, text.split())], np.int32) for text in texts]


class Sums:
    """A back-end whose vector says which ids it saw; notes the batches."""

    name, device, precision, budget, width = "sums", "CPU", "float32", 32, 1

    def __init__(self, fail_at: int | None = None) -> None:
        self.seen: list[list[int]] = []
        self.fail_at = fail_at
        self.gentle = False
        self.closed = False

    def run(self, batches, *, bulk: bool, skip: int = 0):
        results = []
        for batch in batches:
            if self.fail_at == len(self.seen):
                raise EncoderError("backend-failed", "It failed.")
            self.seen.append([len(one) for one in batch])
            sums = np.array([[one.sum(), len(one)] for one in batch], np.float32)
            results.append(sums / np.linalg.norm(sums, axis=1, keepdims=True))
        return results

    def set_pace(self, *, gentle: bool) -> None:
        self.gentle = gentle

    def close(self) -> None:
        self.closed = True


def texts(count: int, seed: int = 1) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join("w" * int(n) for n in rng.integers(1, 9, int(length))) for length in rng.integers(0, 30, count)]


def expected(some: Sequence[str]) -> np.ndarray:
    return Sums().run([Words().encode(some)], bulk=True)[0]


@pytest.mark.parametrize("width", [1, 3])
def test_vectors_come_in_the_order_of_the_texts(width: int) -> None:
    backend = Sums()
    backend.width = width  # type: ignore[misc]
    encoder = TextEncoder(INFO, Words(), backend)  # type: ignore[arg-type]
    some = texts(101)
    np.testing.assert_array_equal(encoder.encode_passages(some), expected(some))
    np.testing.assert_array_equal(encoder.encode_now(some[:9]), expected(some[:9]))
    np.testing.assert_array_equal(encoder.encode_query(some[4]), expected(some)[4])
    assert encoder.encode_passages([]).shape == (0, 2)
    assert encoder.stats.passages == 101
    assert encoder.stats.tokens == encoder.count_tokens(some)


def test_batches_hold_every_text_once_within_the_budget_and_with_little_padding() -> None:
    lengths = np.random.default_rng(2).integers(2, 257, 2000)
    plan = list(plan_batches(lengths, 1024))
    assert sorted(np.concatenate(plan).tolist()) == list(range(2000))
    padded = [int(lengths[rows].max()) * len(rows) for rows in plan]
    assert max(padded) <= 1024
    assert sum(padded) < 1.02 * lengths.sum()
    assert [len(rows) for rows in plan_batches(np.array([9, 3]), 4)] == [1, 1]  # too long alone: still encoded


def test_padding_is_masked_and_never_beyond_the_limit() -> None:
    ids, mask = pad_batch([np.array([5, 6], np.int32), np.array([7], np.int32)], 9, multiple=4, limit=3)
    assert ids.tolist() == [[5, 6, 9], [7, 9, 9]]
    assert mask.tolist() == [[1, 1, 0], [1, 0, 0]]


def test_a_back_end_that_fails_in_the_middle_is_replaced_and_no_text_is_lost() -> None:
    first, second = Sums(fail_at=3), Sums()
    told: list[str] = []
    encoder: TextEncoder

    def fall_back(error: EncoderError) -> Sums:
        encoder.note("It runs elsewhere now.")
        return second

    encoder = TextEncoder(INFO, Words(), first, fall_back=fall_back, notify=told.append)  # type: ignore[arg-type]
    encoder.set_pace(gentle=True)
    some = texts(101)
    np.testing.assert_array_equal(encoder.encode_passages(some), expected(some))
    assert told == ["It runs elsewhere now."]
    assert encoder.info.notices == ("It runs elsewhere now.",)
    assert first.closed
    assert second.gentle


def test_without_a_fall_back_the_failure_is_told() -> None:
    encoder = TextEncoder(INFO, Words(), Sums(fail_at=0))  # type: ignore[arg-type]
    with pytest.raises(EncoderError, match="It failed"):
        encoder.encode_query("a")
    encoder.close()
    with pytest.raises(EncoderError, match="closed"):
        encoder.encode_query("a")


def test_a_cancel_stops_between_batches() -> None:
    class Job:
        paused = False
        checks = 0

        def check(self) -> None:
            self.checks += 1
            if self.checks > 3:
                raise Cancelled

        def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None: ...

        def partial(self, result: object) -> None: ...

    backend = Sums()
    encoder = TextEncoder(INFO, Words(), backend)  # type: ignore[arg-type]
    with pytest.raises(Cancelled):
        encoder.encode_passages(texts(101), Job())
    assert 1 <= len(backend.seen) <= 3


def test_prompts_stand_before_passages_and_queries() -> None:
    encoder = TextEncoder(INFO, Words(), Sums(), prompts=("ppp ", "qqqqq "))  # type: ignore[arg-type]
    np.testing.assert_array_equal(encoder.encode_passages(["a"])[0], expected(["ppp a"])[0])
    np.testing.assert_array_equal(encoder.encode_query("a"), expected(["qqqqq a"])[0])
