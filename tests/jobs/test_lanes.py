"""Every job ends exactly once, the newest request of a key wins, pause and cancel are obeyed."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from sbert_desktop.domain import Finished, Outcome, Partial, Progress, Started
from sbert_desktop.errors import UsageError
from sbert_desktop.jobs import Jobs
from tests.events import Inbox


@pytest.fixture
def box():
    return Inbox()


@pytest.fixture
def jobs(box):
    jobs = Jobs(box.post)
    yield jobs
    assert jobs.close(60)


def test_job_gives_started_partial_progress_and_one_finished(jobs, box):
    def work(context):
        context.progress("Reading", 1, 2)
        context.partial("half")
        return 42

    job = jobs.submit("reader", "sum", work)
    assert box.finished(job) == Finished(job, Outcome.DONE, 42)
    kinds = [type(e) for e in box.events]
    assert kinds == [Started, Progress, Partial, Finished]


def test_known_problem_and_bug_are_told_apart(jobs, box):
    def known(context):
        raise UsageError("bad", "It is bad.", "Mend it.")

    def bug(context):
        return 1 / 0

    failure = box.finished(jobs.submit("reader", "a", known)).failure
    assert (failure.code, failure.message, failure.hint, failure.is_bug) == ("bad", "It is bad.", "Mend it.", False)
    failure = box.finished(jobs.submit("reader", "b", bug)).failure
    assert failure.is_bug
    assert "ZeroDivisionError" in failure.traceback


def test_newest_of_a_key_wins_and_the_others_end_as_superseded(jobs, box):
    started = threading.Event()

    def running(context):
        started.set()
        while True:
            context.check()

    first = jobs.submit("reader", "search", running, key="search")
    assert started.wait(60)
    second = jobs.submit("reader", "search", lambda context: "second", key="search")
    third = jobs.submit("reader", "search", lambda context: "third", key="search")
    assert box.finished(third).result == "third"
    assert box.finished(first).outcome is Outcome.SUPERSEDED
    assert box.finished(second).outcome in {Outcome.SUPERSEDED, Outcome.DONE}


def test_result_of_a_superseded_job_that_never_checks_is_not_given(jobs, box):
    started, go = threading.Event(), threading.Event()

    def running(context):
        started.set()
        go.wait(60)
        return "late"

    first = jobs.submit("reader", "search", running, key="search")
    assert started.wait(60)
    second = jobs.submit("reader", "search", lambda context: "new", key="search")
    go.set()
    assert box.finished(second).result == "new"
    assert box.finished(first) == Finished(first, Outcome.SUPERSEDED)


def test_pause_holds_a_job_and_cancel_ends_a_paused_one(jobs, box):
    entered = threading.Event()
    count = 0

    def running(context):
        nonlocal count
        while True:
            entered.set()
            context.check()
            count += 1

    job = jobs.submit("writer", "index", running)
    assert entered.wait(60)
    jobs.pause("writer")
    before = -1
    while before != count:  # two equal readings with a turn between: it stands
        before = count
        threading.Event().wait(0.05)
    jobs.resume("writer")
    while count == before:
        pass
    jobs.pause("writer")
    jobs.cancel(job)
    assert box.finished(job).outcome is Outcome.CANCELLED


def test_jobs_after_close_end_as_cancelled(box):
    jobs = Jobs(box.post)
    assert jobs.close(60)
    job = jobs.submit("writer", "late", lambda context: 1)
    assert box.finished(job).outcome is Outcome.CANCELLED


def test_every_job_of_a_storm_ends_exactly_once(jobs, box):
    ids = [jobs.submit("reader", "n", lambda context, n=n: n, key=f"k{n % 7}") for n in range(500)]
    for job in ids:
        box.finished(job)
    ends = Counter(e.job_id for e in box.events if isinstance(e, Finished))
    assert set(ends.values()) == {1}
    assert len(ends) == 500
