"""Damaged files by the hundred: the program goes on, and each of them ends indexed, partial or listed.

The quick form damages 240 files of the shared collection; ``-m slow`` 5,000.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter

import psutil
import pytest

from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.searching import run_search
from sbert_desktop.app.session import Session
from sbert_desktop.domain import Mode, Query
from tests.mutations import MUTATORS

GOOD = 40
_LIMIT = 30  # seconds for one file: none of these takes one, but the machine may stand still


class Quiet:
    """A job that nobody watches."""

    paused = False

    def check(self) -> None:
        pass

    def progress(self, *args) -> None:
        pass

    def partial(self, result) -> None:
        pass


@pytest.fixture
def _warm_children() -> None:
    """None: what is left running is looked for here."""


def damage(originals, folder, count: int, seed: int) -> int:
    rng = random.Random(seed)
    blobs = [path.read_bytes() for path in originals]
    made = 0
    for number in range(count):
        at = rng.randrange(len(originals))
        mutator = MUTATORS[number % len(MUTATORS)]
        data = mutator(blobs[at], blobs, rng)
        place = folder / f"d{number // 200}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}-{mutator.__name__}{originals[at].suffix}").write_bytes(data)
        made += 1
    return made


def fuzz(shared_data, tmp_path, settings, monkeypatch, count: int, seed: int) -> None:
    monkeypatch.setenv("SBERT_DESKTOP_READING_TIME_LIMIT", str(_LIMIT))
    originals = sorted(p for p in (shared_data / "tour").rglob("*") if p.is_file() and p.stat().st_size < 300_000)
    folder = tmp_path / "damaged"
    made = damage(originals, folder, count, seed)
    for number in range(GOOD):
        (folder / f"good-{number}.txt").write_text(f"Good file {number} tells of the brass telescope on the mantel.")
    session = Session(tmp_path / "library", settings)
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    try:
        began = time.monotonic()
        run_index(session, IndexRequest((folder,)), Quiet())
        seconds = time.monotonic() - began
        assert session.library.quick_check() == []
        record = session.library.folders()[0]
        known = session.library.known_files(record.id)
        assert len(known) == made + GOOD, "a file is neither indexed nor listed"
        unexplained = [
            os.fsdecode(path) for path, entry in known.items() if entry.content is None and not entry.problem_code
        ]
        # a mere container has no text of its own; its members or its problems stand for it
        containers = {os.fsencode(place.path) for hit in _members(session) for place in hit}
        unexplained = [path for path in unexplained if os.fsencode(path) not in containers]
        assert unexplained == []
        view = run_search(session, Query("brass telescope mantel", mode=Mode.KEYWORD, top=GOOD + 10))
        good = {document.path.name for document in view.documents if document.path.name.startswith("good-")}
        assert len(good) == GOOD
        codes = Counter(entry.code for entry in session.library.problems())
        assert codes["internal"] == 0, codes
        assert codes["timed-out"] <= max(2, count // 200), codes
        print(f"\n{count} damaged files in {seconds:.0f} s: {dict(codes)}")
    finally:
        session.close()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        left = [c for c in psutil.Process().children(recursive=True) if c.pid not in before and c.is_running()]
        if not left:
            break
        psutil.wait_procs(left, timeout=0.2)
    assert left == []


def _members(session):
    for record in session.library.problems():
        if record.member:
            yield (record,)
    snapshot = session.snapshot()
    for passage in snapshot.fetch([int(i) for i in snapshot.passage_ids[snapshot.alive]]).values():
        yield [place for place in passage.paths if place.member]


@pytest.mark.timeout(300)
def test_damaged_files_end_indexed_or_listed(shared_data, tmp_path, settings, monkeypatch):
    fuzz(shared_data, tmp_path, settings, monkeypatch, 140, seed=31)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_five_thousand_damaged_files_end_indexed_or_listed(shared_data, tmp_path, settings, monkeypatch):
    fuzz(shared_data, tmp_path, settings, monkeypatch, 5_000, seed=32)
