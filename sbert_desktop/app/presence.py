"""Asks the disk whether files are as they were, without waiting for a drive that does not answer."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sbert_desktop.app.scanning import root_problem
from sbert_desktop.domain import SourceFile

_PATIENCE = 0.25
"""Seconds that all drives together have to answer; a local disk takes 2 microseconds per file."""
_TO_BEGIN = 5.0
"""Seconds that a busy machine may take to begin asking: that is no drive's silence, and does not count as such."""
CURRENT, CHANGED, GONE, OFFLINE = "current", "changed", "gone", "offline"

Question = tuple[bytes, Callable[[], object]]


class Presence:
    """Knows which drives do not answer; safe from any thread.

    A question that takes too long is left to its thread; until that one has an answer, nothing more is
    asked of the same folder of the library.
    """

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._silent: dict[bytes, _Asking] = {}
        self._lock = threading.Lock()

    def states(self, places: Sequence[SourceFile], roots: Mapping[bytes, int]) -> list[str]:
        """Says of each place whether it is ``current``, ``changed``, ``gone`` or ``offline``.

        Args:
            places: Files, or members, whose container is looked at, with size and time as they were read.
            roots: The folders of the library, with how many files are known of each: in a folder that is
                not there, or empty though it was not, nothing is gone; it is offline.
        """
        questions = [(_root_of(place, roots), _stat_of(place)) for place in places]
        answers = self.ask(questions)
        states = [_state(place, answer) for place, answer in zip(places, answers, strict=True)]
        doubtful = {root for (root, _), state in zip(questions, states, strict=True) if state == GONE and root}
        if doubtful:
            away = self.away({root: roots.get(root, 0) for root in doubtful})
            states = [
                OFFLINE if state == GONE and root in away else state
                for (root, _), state in zip(questions, states, strict=True)
            ]
        return states

    def away(self, roots: Mapping[bytes, int]) -> dict[bytes, str]:
        """Gives the folders that are offline, with the reason (``missing``, ``empty``, ``no answer``...)."""
        names = list(roots)
        answers = self.ask([(root, _root_check(root, roots[root])) for root in names])
        found = {}
        for root, answer in zip(names, answers, strict=True):
            if answer is None:
                found[root] = "no answer"
            elif isinstance(answer, OSError):
                found[root] = "unreadable"
            elif answer:
                found[root] = str(answer)
        return found

    def ask(self, questions: Sequence[Question]) -> list[object]:
        """Asks in a thread of its own; gives answers or the OSError of each, None where none came in time."""
        answers: list[object] = [None] * len(questions)
        waiting = list(range(len(questions)))
        end = time.monotonic() + self._patience
        while waiting:
            with self._lock:
                self._silent = {root: one for root, one in self._silent.items() if not one.done.is_set()}
                waiting = [number for number in waiting if questions[number][0] not in self._silent]
            asking = _Asking(questions, waiting, answers)
            began = time.monotonic()
            asking.start()
            asking.begun.wait(_TO_BEGIN)
            end += time.monotonic() - began
            if asking.done.wait(max(0.0, end - time.monotonic())):
                return asking.taken()
            answers = asking.taken()
            with self._lock:
                self._silent[questions[asking.current][0]] = asking
            waiting = [number for number in waiting if answers[number] is None]
            if time.monotonic() >= end:
                return answers
        return answers


class _Asking:
    """One thread that asks one question after the other, and whose answers may be taken at any time."""

    def __init__(self, questions: Sequence[Question], numbers: Sequence[int], answers: Sequence[object]) -> None:
        self.begun = threading.Event()
        self.done = threading.Event()
        self.current = numbers[0] if numbers else 0
        self._questions = questions
        self._numbers = numbers
        self._answers = list(answers)

    def start(self) -> None:
        threading.Thread(target=self._run, name="presence", daemon=True).start()

    def taken(self) -> list[object]:
        return list(self._answers)

    def _run(self) -> None:
        self.begun.set()
        for number in self._numbers:
            self.current = number
            try:
                self._answers[number] = self._questions[number][1]()
            except OSError as error:
                self._answers[number] = error
        self.done.set()


@dataclass(frozen=True, slots=True)
class _Stat:
    size: int
    mtime_ns: int


def _stat_of(place: SourceFile) -> Callable[[], object]:
    path = place.path

    def stat() -> _Stat:
        status = os.stat(path)
        return _Stat(status.st_size, status.st_mtime_ns)

    return stat


def _root_check(root: bytes, known: int) -> Callable[[], object]:
    return lambda: root_problem(Path(os.fsdecode(root)), known)


def _state(place: SourceFile, answer: object) -> str:
    if isinstance(answer, _Stat):
        unfinished = place.size < 0  # a container that is being gone through
        return CURRENT if unfinished or (answer.size, answer.mtime_ns) == (place.size, place.mtime_ns) else CHANGED
    return GONE if isinstance(answer, FileNotFoundError | NotADirectoryError) else OFFLINE


def _root_of(place: SourceFile, roots: Mapping[bytes, int]) -> bytes:
    path = os.fsencode(place.path)
    return next((root for root in roots if path.startswith(root.rstrip(b"/") + b"/")), b"")
