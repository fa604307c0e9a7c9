from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.errors import Cancelled, LibraryBusy
from sbert_desktop.library import Library, open_library

from .crash_child import words_of
from .makers import embed_all, put_text, start, vector_of

CHILD = Path(__file__).with_name("crash_child.py")

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")


class Truth:
    """What was acknowledged, and what may or may not have happened just before the kill."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.maybe: dict[str, set[str | None]] = {}

    def read(self, lines: list[str]) -> None:
        begun: dict[str, list[str | None]] = {}
        for line in lines:
            words = line.split()
            if words[:1] == ["begin"]:
                begun.setdefault(words[2], []).append(words[3] if words[1] == "put" else None)
            elif words[:1] in (["put"], ["gone"]):
                # the last of these lines may be torn: what was begun after this one on the same path stays open
                if len(begun.get(words[1], [])) > 1:
                    begun[words[1]].pop(0)
                else:
                    begun.pop(words[1], None)
                if words[0] == "put":
                    self.files[words[1]] = words[2]
                else:
                    self.files.pop(words[1], None)
        self.maybe = {path: set(states[-1:]) for path, states in begun.items()}

    def settle(self, found: dict[str, str]) -> None:
        """The batch that was begun is in as a whole or not at all; then it is the truth."""
        taken = {path: found.get(path) in states for path, states in self.maybe.items()}
        undecided = {path for path in self.maybe if self.files.get(path) in self.maybe[path]}
        decided = {value for path, value in taken.items() if path not in undecided}
        assert len(decided) <= 1, "half a commit"
        if decided == {True}:
            for path, states in self.maybe.items():
                (state,) = states
                if state is None:
                    self.files.pop(path, None)
                else:
                    self.files[path] = state


def kill_once(path: Path, seed: int, delay: float) -> list[str]:
    child = subprocess.Popen(
        [sys.executable, str(CHILD), str(path), str(seed)], stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert child.stdout is not None
    assert child.stdout.readline().strip() == "ready"
    timer = threading.Timer(delay, child.kill)
    timer.start()
    lines = child.stdout.read().split("\n")
    child.wait()
    timer.join()
    child.stdout.close()
    assert child.returncode == -signal.SIGKILL
    if not "".join(lines).endswith("\n") and lines and lines[-1]:
        lines = lines[:-1]  # a torn line says nothing
    return lines


def check(path: Path, truth: Truth) -> None:
    began = time.thread_time()
    with open_library(path) as library:
        assert library.quick_check() == []
        snapshot = library.snapshot("fake-1")
        assert time.thread_time() - began < 3  # some 10 ms
        (folder,) = library.folders()
        found = {}
        for name, known in library.known_files(folder.id).items():
            assert known.content is not None
            text = library.text_of(known.content).text
            version = text.split()[2]
            assert text.split("\n") == words_of(name.decode(), version), "a torn document"
            found[name.decode()] = version
        truth.settle(found)
        assert found == truth.files, "an acknowledged change was lost, or one came from nowhere"
        records = snapshot.fetch(snapshot.passage_ids.tolist())
        for row in np.flatnonzero(snapshot.alive):
            text = records[int(snapshot.passage_ids[row])].text
            np.testing.assert_array_equal(snapshot.vectors[row], vector_of(text).astype(np.float32))
        for name, version in list(found.items())[:3]:
            ids, _, _ = snapshot.keyword(version, None, 30)
            hits = {record.text for record in snapshot.fetch(ids.tolist()).values()}
            assert set(words_of(name, version)) <= hits, "the keyword table has every passage"


def run_kills(path: Path, kills: int, seed: int) -> None:
    chance, truth = random.Random(seed), Truth()
    for number in range(kills):
        truth.read(kill_once(path, number, chance.uniform(0, 0.1)))
        check(path, truth)
    with open_library(path) as library, library.writer() as writer:
        embed_all(writer)
        integrity = library.integrity()
        assert {key: value for key, value in integrity.items() if key.startswith("bad_") and value} == {}
        assert integrity["rows"] == integrity["passages"] == 3 * len(truth.files)
        assert integrity["waiting"] == 0
        with library._reading() as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.timeout(300)
def test_killed_writer_loses_nothing_acknowledged_and_leaves_no_half_document(tmp_path: Path) -> None:  # R3
    run_kills(tmp_path / "library", 30, 3)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_killed_writer_many_times(tmp_path: Path) -> None:  # R3
    run_kills(tmp_path / "library", 2_000, 4)


# ---------------------------------------------------------------- the lock


def test_second_writer_is_told_who_holds_the_library(library: Library) -> None:  # R23
    start(library, Path("/docs"))
    code = (
        "import sys; from pathlib import Path; from sbert_desktop.library import open_library\n"
        "with open_library(Path(sys.argv[1])) as library, library.writer():\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(library.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        assert child.stdout.readline().strip() == "held"
        with pytest.raises(LibraryBusy, match=f"process {child.pid} on ") as caught, library.writer(wait=False):
            pass
        assert caught.value.code == "library-busy"
        assert library.snapshot("fake-1").passages == 0, "reading goes on"
        told: list[str] = []

        def let_go(holder: str) -> None:
            told.append(holder)
            assert child.stdin is not None
            child.stdin.close()

        with library.writer(on_wait=let_go) as writer:
            writer.set_scanned(library.folders()[0].id, 1.0)
        assert len(told) == 1
        assert f"process {child.pid}" in told[0]
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    assert library.folders()[0].last_scan == 1.0
    assert not (library.path / "writer.json").exists()


def test_two_threads_exclude_each_other_and_waiting_can_be_cancelled(library: Library) -> None:
    def give_up() -> None:
        raise Cancelled

    with library.writer():
        with pytest.raises(LibraryBusy, match=f"process {os.getpid()}"), library.writer(wait=False):
            pass
        with pytest.raises(Cancelled), library.writer(check=give_up):
            pass
    with library.writer(wait=False):
        pass


def test_a_lock_left_by_a_killed_process_is_recovered(tmp_path: Path) -> None:  # R23
    kill_once(tmp_path / "library", 1, 0.02)
    assert (tmp_path / "library" / "writer.json").exists()
    with open_library(tmp_path / "library") as library:
        assert not (tmp_path / "library" / "writer.json").exists(), "checked when opened"
        with library.writer(wait=False):
            pass


def put_and_raise(library: Library, folder: int, path: Path, error: BaseException) -> None:
    with library.writer() as writer:
        put_text(writer, folder, path, ["text"])
        raise error


def test_a_cancel_keeps_what_is_whole_and_an_error_rolls_back(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with pytest.raises(Cancelled):
        put_and_raise(library, folder, Path("/docs/a"), Cancelled())
    assert library.counts().documents == 1
    with pytest.raises(ZeroDivisionError):
        put_and_raise(library, folder, Path("/docs/b"), ZeroDivisionError())
    assert library.counts().documents == 1
    assert library.integrity()["files"] == 1


def test_a_failed_put_takes_back_all_since_the_last_commit(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a"), ["committed"])
        embed_all(writer)
        put_text(writer, folder, Path("/docs/b"), ["not yet"])
        with monkeypatch.context() as broken:
            broken.setattr("sbert_desktop.library._words.add", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                put_text(writer, folder, Path("/docs/c"), ["fails"])
        put_text(writer, folder, Path("/docs/d"), ["goes on"])
        embed_all(writer)
    assert sorted(library.known_files(folder)) == [b"/docs/a", b"/docs/d"]  # type: ignore[arg-type]
    assert {key for key, value in library.integrity().items() if key.startswith("bad_") and value} == set()


def test_vectors_behind_the_committed_rows_are_cut_and_short_files_noticed(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a"), ["one", "two"])
        put_text(writer, folder, Path("/docs/b"), ["three"])
        embed_all(writer)
    (file,) = library.path.glob("spaces/*/vectors-*")
    size = file.stat().st_size
    with file.open("ab") as stream:
        stream.write(b"torn" * 100)
    assert len(library.snapshot("fake-1").vectors) == 3
    with library.writer():
        pass
    assert file.stat().st_size == size
    os.truncate(file, size // 3 + 5)
    library.close()
    with open_library(library.path) as again:
        assert len(again.snapshot("fake-1").vectors) == 1, "what is there is used"
        assert any("shorter" in notice for notice in again.notices)
        with again.writer() as writer:
            assert [d.content_id for d in writer.pending()] != [], "documents wait again, as wholes"
            embed_all(writer)
        snapshot = again.snapshot("fake-1")
        texts = snapshot.fetch(snapshot.passage_ids.tolist())
        assert snapshot.alive.sum() == 3
        for row in np.flatnonzero(snapshot.alive):
            text = texts[int(snapshot.passage_ids[row])].text
            np.testing.assert_array_equal(snapshot.vectors[row], vector_of(text).astype(np.float32))
