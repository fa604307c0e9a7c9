from __future__ import annotations

import threading
import time

import pytest

from sbert_desktop.encoder.pacing import Gate
from sbert_desktop.errors import Cancelled


class Job:
    """A job context that can be cancelled."""

    def __init__(self) -> None:
        self.cancelled = False
        self.checks = 0
        self.paused = False

    def check(self) -> None:
        self.checks += 1
        if self.cancelled:
            raise Cancelled

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None: ...

    def partial(self, result: object) -> None: ...


def test_a_query_goes_before_bulk_work_that_waited_longer() -> None:
    gate = Gate(clock_after_query=0.0)
    order: list[str] = []
    first_batch_runs, query_waits = threading.Event(), threading.Event()

    def bulk() -> None:
        for number in range(3):
            with gate.bulk():
                order.append(f"bulk {number}")
                if number == 0:
                    first_batch_runs.set()
                    assert query_waits.wait(60)

    def query() -> None:
        assert first_batch_runs.wait(60)
        with gate.query():
            order.append("query")

    def watch() -> None:
        while not gate._queries_waiting:  # the first batch owns the gate: entering can only wait
            threading.Event().wait(0.001)
        query_waits.set()

    threads = [threading.Thread(target=work) for work in (bulk, query, watch)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert order == ["bulk 0", "query", "bulk 1", "bulk 2"]


def test_bulk_work_stays_away_after_a_query() -> None:
    gate = Gate(clock_after_query=0.3)
    began = time.monotonic()
    with gate.query():
        pass
    with gate.bulk():
        assert time.monotonic() - began >= 0.3


def test_holding_keeps_bulk_away_but_no_query() -> None:
    gate = Gate(clock_after_query=0.0)
    began = time.monotonic()
    gate.hold(0.4)
    with gate.bulk():
        assert time.monotonic() - began >= 0.4
    gate.hold(3600)
    with gate.query():
        assert time.monotonic() < gate._held_until


def test_waiting_bulk_work_hears_of_a_cancel() -> None:
    gate = Gate()
    gate.hold(60)
    job = Job()
    threading.Timer(0.1, lambda: setattr(job, "cancelled", True)).start()
    with pytest.raises(Cancelled), gate.bulk(job):
        pytest.fail("the gate was held")


def test_a_batch_that_fails_frees_the_gate() -> None:
    gate = Gate(clock_after_query=0.0)
    with pytest.raises(ValueError, match="bad"), gate.bulk():
        raise ValueError("bad")
    with gate.query():
        pass


def test_stats_add_up() -> None:
    gate = Gate()
    gate.count(passages=2, tokens=100, padded=110, seconds=0.5)
    gate.count(passages=1, tokens=100, padded=100, seconds=0.5)
    assert gate.stats.passages == 3
    assert gate.stats.tokens_per_second == 200
    assert Gate().stats.tokens_per_second == 0
