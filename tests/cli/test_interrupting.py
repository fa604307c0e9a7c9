"""Ctrl+C ends a command where it looks for it, never in the middle of taking a lock; and it does end it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sbert_desktop.app.feeding import Feeder
from sbert_desktop.cli import _interrupting
from sbert_desktop.cli._console import ConsoleContext
from sbert_desktop.cli._interrupting import ends_a_command, granted
from sbert_desktop.domain import ExtractedText, SourceFile
from sbert_desktop.errors import Cancelled

pytestmark = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals come to the main thread only"
)


@pytest.fixture(autouse=True)
def _as_in_a_command() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threads = set(threading.enumerate())
    yield
    signal.signal(signal.SIGINT, before)
    end = time.monotonic() + 60
    while set(threading.enumerate()) - threads:
        assert time.monotonic() < end, "a thread was left"
        time.sleep(0.01)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def patient(monkeypatch) -> None:
    """Nobody is interrupted for not looking."""
    monkeypatch.setattr(_interrupting, "_PATIENCE", 600.0)
    monkeypatch.setattr(_interrupting.time, "sleep", lambda seconds, sleep=time.sleep: sleep(min(seconds, 0.01)))


def test_a_command_is_ended_where_it_looks(patient):
    steps = []

    def command() -> None:
        with granted() as wish:
            context = ConsoleContext(quiet=True, look=wish.look)
            assert ends_a_command(signal.SIGINT)
            context.check()
            interrupt()
            steps.append("goes on to where it looks")
            context.check()
            steps.append("went past it")

    with pytest.raises(Cancelled):
        command()
    assert steps == ["goes on to where it looks"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_one_that_does_not_look_is_interrupted_wherever_it_is(monkeypatch):
    monkeypatch.setattr(_interrupting, "_PATIENCE", 0.05)

    def command() -> None:
        with granted():
            interrupt()
            threading.Event().wait(60)
            pytest.fail("nobody interrupted it")

    with pytest.raises(KeyboardInterrupt):
        command()


def test_the_second_one_is_not_waited_for(patient):
    def command() -> None:
        with granted() as wish:
            interrupt()
            with pytest.raises(Cancelled):
                wish.look()
            interrupt()  # while it closes its library
            pytest.fail("the second one was not heard")

    with pytest.raises(KeyboardInterrupt):
        command()


def test_one_that_ends_before_it_looks_was_interrupted_all_the_same(patient):
    done = []

    def command() -> None:
        with granted():
            interrupt()
            done.append("its last step")

    with pytest.raises(KeyboardInterrupt):
        command()
    assert done


def test_a_signal_that_is_ignored_or_taken_stays_so(patient):
    for handler in (signal.SIG_IGN, lambda number, frame: None):
        signal.signal(signal.SIGINT, handler)
        assert not ends_a_command(signal.SIGINT)
        with granted() as wish:
            assert signal.getsignal(signal.SIGINT) is handler
            interrupt()
            wish.look()
        assert signal.getsignal(signal.SIGINT) is handler


class InterruptedLock:
    """A lock that the signal meets when the main thread has just taken it, the first time."""

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock
        self.met = False
        self.acquire, self.release = lock.acquire, lock.release

    def __enter__(self) -> bool:
        got = self._lock.acquire()
        if threading.current_thread() is threading.main_thread() and not self.met:
            self.met = True
            interrupt()
        return got

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_an_interrupt_in_the_middle_of_taking_a_lock_leaves_no_lock_behind(patient):
    """A run hung for ever on the queue between reading and storing, whose lock was taken and never given back."""

    def source(context):
        for number in range(10_000):
            yield SourceFile(Path(f"note-{number}"), 1, 1), ExtractedText("txt", "x")

    def command() -> None:
        with granted() as wish:
            context = ConsoleContext(quiet=True, look=wish.look)
            feeder = Feeder(source, context, lambda: None)
            feeders.append(feeder)
            feeder._items.not_empty._lock = lock = InterruptedLock(feeder._items.mutex)  # what taking enters
            locks.append(lock)
            try:
                while True:
                    feeder.take(wait=True)
                    context.check()
            finally:
                feeder.close()

    feeders: list[Feeder] = []
    locks: list[InterruptedLock] = []
    with pytest.raises(Cancelled):
        command()
    assert locks[0].met
    assert not feeders[0]._thread.is_alive()
