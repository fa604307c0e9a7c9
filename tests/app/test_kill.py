"""SIGKILL at random moments of an indexing run, then a run to the end: nothing lost, nothing doubled.

Exact search over the vectors in the library, against the encoder itself, is the oracle. The quick
form kills twice; ``-m slow`` 100 times.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from sbert_desktop.app.session import Session

FILES = 260


@pytest.fixture
def many(tmp_path):
    root = tmp_path / "many"
    rng = random.Random(4)
    nouns = ["mill", "weir", "lantern", "orchard", "ledger", "ferry", "quarry", "anvil", "thimble", "harbour"]
    for n in range(FILES):
        path = root / f"d{n % 7}" / f"n{n}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            " ".join(f"Item {n} line {k} is about the {rng.choice(nouns)}." for k in range(rng.randint(1, 60)))
        )
    return root


def index(root, library, *, kill_after: float | None) -> tuple[subprocess.CompletedProcess | None, float]:
    """Runs to the end or to so many seconds of the process's own CPU; gives None where it was killed, and its seconds.

    CPU and not the clock: on a machine that is slower or faster than a moment ago hardly a run would be killed.
    """
    env = {**os.environ, "SBERT_DESKTOP_ADVANCED_ENCODER": "hashing"}
    command = [
        sys.executable,
        "-m",
        "sbert_desktop",
        "--library",
        str(library),
        "index",
        str(root),
        "--json",
        "--quiet",
    ]
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watched, used = psutil.Process(process.pid), 0.0
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            used = sum(watched.cpu_times()[:2])
        if kill_after is not None and used > kill_after:
            process.kill()
            process.communicate()
            return None, used
        time.sleep(0.005)
    out, err = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, out, err), used


def run_kills(root, library, settings, kills: int) -> None:
    rng = random.Random(kills)
    done, whole = index(root, library.with_name("whole"), kill_after=None)
    assert done.returncode == 0, done.stderr
    killed = 0
    while killed < kills:
        if index(root, library, kill_after=rng.uniform(0.2 * whole, whole))[0] is None:
            killed += 1
        else:
            # It came to an end: change some files so that there is work again.
            for n in rng.sample(range(FILES), 60):
                path = root / f"d{n % 7}" / f"n{n}.txt"
                path.write_text(path.read_text() + f" Added {rng.random()} about the pier.")
    done, _ = index(root, library, kill_after=None)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["documents"] == FILES
    check(root, library, settings)


def check(root, library, settings) -> None:
    session = Session(library, settings)
    try:
        assert session.library.quick_check() == []
        counts = session.library.counts(session.encoder().info.fingerprint)
        assert counts.documents == FILES
        assert counts.embedded == counts.passages
        snapshot = session.snapshot()
        live = np.flatnonzero(snapshot.alive)
        ids = snapshot.passage_ids[live]
        assert len(ids) == len(set(ids.tolist())) == counts.passages
        records = snapshot.fetch(ids.tolist())
        assert len(records) == len(ids)
        texts = [records[int(i)].text for i in ids]
        expected = session.encoder().encode_passages(texts)
        np.testing.assert_allclose(np.asarray(snapshot.vectors[live]), expected, atol=1e-6)
        paths = {os.fsencode(p.path) for r in records.values() for p in r.paths}
        assert paths == {os.fsencode(p) for p in root.rglob("*.txt")}
        for record in list(records.values())[:50]:
            whole = record.paths[0].path.read_text()
            assert record.text in whole
        found, _, _ = snapshot.keyword("ferry", None, 10_000)
        by_hand = {int(i) for i in ids if "ferry" in records[int(i)].text}
        assert {int(i) for i in found} == by_hand
    finally:
        session.close()


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.timeout(300)
def test_killed_runs_lose_and_double_nothing(many, tmp_path, settings):
    run_kills(many, tmp_path / "library", settings, 2)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_hundred_killed_runs_lose_and_double_nothing(many, tmp_path, settings):
    run_kills(many, tmp_path / "library", settings, 100)
