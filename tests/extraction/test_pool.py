from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from sbert_desktop.domain import ExtractedText, Problem, SourceFile
from sbert_desktop.errors import Cancelled, JobError
from sbert_desktop.extraction import ExtractionPool, _paging, _pool, _watcher, limit_told
from sbert_desktop.extraction._problems import problem
from tests.extraction.conftest import Context, EagerChild, NearChild, ScriptChild, make_pdf, source


@pytest.fixture
def files(tmp_path: Path) -> list[SourceFile]:
    for number in range(120):
        (tmp_path / f"good{number:03}.txt").write_text(f"This is the text of file number {number}, and it is good.")
    return [source(path) for path in sorted(tmp_path.iterdir())]


def add(folder: Path, name: str, text: str = "some text") -> SourceFile:
    (folder / name).write_text(text)
    return source(folder / name)


def outcomes(pool: ExtractionPool, files: list[SourceFile]) -> dict[str, ExtractedText | Problem | None]:
    found = {file.path.name: outcome for file, outcome in pool.results(files, Context())}
    pool.close()
    return found


def code_of(outcome: ExtractedText | Problem | None) -> str:
    assert isinstance(outcome, Problem), outcome
    assert outcome.message
    return outcome.code


def test_every_file_comes_back_once_with_its_text_and_hash(files: list[SourceFile]) -> None:
    pool = ExtractionPool(NearChild, 3)
    found = list(pool.results(files, Context()))
    assert sorted(file.path for file, _ in found) == [file.path for file in files]
    for file, outcome in found:
        assert isinstance(outcome, ExtractedText)
        assert str(int(file.path.stem[4:])) in outcome.text
        assert file.content_hash == hashlib.sha256(file.path.read_bytes()).hexdigest()
    pool.close()


def test_small_files_travel_together_and_large_ones_alone(files: list[SourceFile], tmp_path: Path) -> None:
    log: list[Mapping[str, object]] = []
    (tmp_path / "a.pdf").write_bytes(make_pdf([[(72, 700, 12, "hello")]]))
    large = add(tmp_path, "large.txt", "word " * 100_000)
    pool = ExtractionPool(lambda: NearChild(log), 1)
    assert len(outcomes(pool, [*files, source(tmp_path / "a.pdf"), large])) == 122
    sizes = [len(header["files"]) for header in log if isinstance(header.get("files"), list)]  # type: ignore[arg-type]
    assert sum(sizes) == 122
    assert max(sizes) > 10
    assert sizes.count(1) >= 2


def test_one_bad_file_in_a_batch_costs_only_itself(files: list[SourceFile], tmp_path: Path) -> None:
    bad = [add(tmp_path, name) for name in ("crash.txt", "hang.txt", "eat.txt")] + [add(tmp_path, "empty.txt", "")]
    mixed = [*files[:20], bad[0], *files[20:40], bad[1], bad[2], *files[40:], bad[3]]
    found = outcomes(ExtractionPool(EagerChild, 2), mixed)
    assert len(found) == 124
    assert code_of(found["crash.txt"]) == "crashed-parser"
    assert code_of(found["hang.txt"]) == "timed-out"
    assert code_of(found["eat.txt"]) == "too-much-memory"
    assert code_of(found["empty.txt"]) == "empty"
    assert all(isinstance(found[file.path.name], ExtractedText) for file in files)


def test_a_child_that_is_killed_in_between_is_replaced(files: list[SourceFile]) -> None:
    children: list[ScriptChild] = []

    def launch() -> ScriptChild:
        children.append(ScriptChild())
        return children[-1]

    pool = ExtractionPool(launch, 1)
    read = 0
    for _, outcome in pool.results(files, Context()):
        assert isinstance(outcome, ExtractedText)
        read += 1
        if read in {1, 60}:
            children[-1].process.kill()
    pool.close()
    assert read == len(files)
    assert len(children) >= 2


def test_children_are_replaced_after_so_many_files(tmp_path: Path) -> None:
    launched: list[NearChild] = []

    def launch() -> NearChild:
        launched.append(NearChild())
        return launched[-1]

    for number in range(25):
        (tmp_path / f"{number}.html").write_text(f"<p>page number {number}</p>")
    found = outcomes(ExtractionPool(launch, 1, recycle_after=5), [source(path) for path in tmp_path.iterdir()])
    assert len(found) == 25
    assert len(launched) >= 2
    assert all(child.closed for child in launched)


def test_cancel_ends_the_children_and_threads_at_once(files: list[SourceFile], tmp_path: Path) -> None:
    hanging = [add(tmp_path, f"hang{number}.txt") for number in range(4)]
    pool = ExtractionPool(ScriptChild, 2, time_limit=110.0)
    began = time.monotonic()
    with pytest.raises(Cancelled):
        for _ in pool.results(hanging, Context(cancel_after=15)):
            pass
    assert time.monotonic() - began < 60
    assert not [thread for thread in threading.enumerate() if thread.name == "extraction"]
    assert [isinstance(outcome, ExtractedText) for _, outcome in pool.results(files[:5], Context())] == [True] * 5
    pool.close()


def test_a_caller_that_stops_early_leaves_nothing_running(files: list[SourceFile]) -> None:
    pool = ExtractionPool(NearChild, 2)
    results = pool.results(files, Context())
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name == "extraction"]


def test_closing_from_another_thread_ends_the_run_as_cancelled(files: list[SourceFile], tmp_path: Path) -> None:
    hanging = add(tmp_path, "hang.txt")
    pool = ExtractionPool(ScriptChild, 1, time_limit=60.0)
    closer = threading.Timer(1.0, pool.close)
    closer.start()
    with pytest.raises(Cancelled):
        list(pool.results([hanging], Context()))
    closer.join()


def test_an_endless_stream_of_files_is_read_with_a_bounded_number_under_way(files: list[SourceFile]) -> None:
    taken = 0

    def endless() -> Iterator[SourceFile]:
        nonlocal taken
        while True:
            for file in files:
                taken += 1
                yield file

    pool = ExtractionPool(NearChild, 2)
    results = pool.results(endless(), Context())
    for _ in range(50):
        next(results)
    results.close()  # type: ignore[attr-defined]
    assert taken < 600


def test_known_contents_are_not_read_again(files: list[SourceFile], tmp_path: Path) -> None:
    log: list[Mapping[str, object]] = []
    large = add(tmp_path, "large.txt", "word " * 100_000)
    known = {hashlib.sha256(file.path.read_bytes()).hexdigest() for file in [*files[:3], large]}
    pool = ExtractionPool(lambda: NearChild(log), 1, known=known.__contains__)
    found = {file.path.name: (file, outcome) for file, outcome in pool.results([*files[:6], large], Context())}
    pool.close()
    assert [found[file.path.name][1] is None for file in files[:6]] == [True] * 3 + [False] * 3
    assert found["large.txt"][1] is None
    assert found["large.txt"][0].content_hash in known
    assert [header["op"] for header in log].count("hash") == 1
    assert not any(header["op"] == "extract" and header["files"] == [os.fsencode(large.path).hex()] for header in log)


def test_a_file_that_changed_is_given_as_it_was_read(tmp_path: Path) -> None:
    file = add(tmp_path, "a.txt", "old text")
    (tmp_path / "a.txt").write_text("new and longer text")
    pool = ExtractionPool(NearChild, 1)
    ((seen, outcome),) = pool.results([file], Context())
    pool.close()
    assert isinstance(outcome, ExtractedText)
    assert outcome.text == "new and longer text"
    assert (seen.size, seen.mtime_ns) == (19, (tmp_path / "a.txt").stat().st_mtime_ns)


def test_a_file_that_changes_while_it_is_read_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sbert_desktop.extraction._source import OpenFile

    monkeypatch.setattr(OpenFile, "steady", lambda self: False)
    assert code_of(outcomes(ExtractionPool(NearChild, 1), [add(tmp_path, "a.txt")])["a.txt"]) == "changed-while-read"


def test_files_over_the_size_limit_are_not_opened(tmp_path: Path) -> None:
    log: list[Mapping[str, object]] = []
    file = add(tmp_path, "a.txt", "x" * 100_000)
    found = outcomes(ExtractionPool(lambda: NearChild(log), 1, size_limit=1000), [file])
    assert code_of(found["a.txt"]) == "too-large"
    assert log == []


def test_names_that_are_not_utf8_are_read(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt"))
    path.write_text("text in an oddly named file")
    (outcome,) = outcomes(ExtractionPool(ScriptChild, 1), [source(path)]).values()
    assert isinstance(outcome, ExtractedText)


def test_children_that_never_live_end_the_run_with_one_error(files: list[SourceFile]) -> None:
    class DeadChild(NearChild):
        def request(self, header: Mapping[str, object], payload: bytes = b"", *,
                    timeout: float | None = None) -> tuple[dict[str, object], bytes]:
            raise JobError("child-died", "gone")

    pool = ExtractionPool(DeadChild, 1)
    with pytest.raises(JobError) as caught:
        list(pool.results(files, Context()))
    assert caught.value.code == "child-not-started"
    pool.close()


def test_an_answer_that_makes_no_sense_costs_the_file_only(tmp_path: Path) -> None:
    class LyingChild(NearChild):
        def request(self, header: Mapping[str, object], payload: bytes = b"", *,
                    timeout: float | None = None) -> tuple[dict[str, object], bytes]:
            return {"results": [{"document": {"bytes": 99}}]}, b""

    assert code_of(outcomes(ExtractionPool(LyingChild, 1), [add(tmp_path, "a.txt")])["a.txt"]) == "internal"


def test_a_child_may_not_use_the_network_nor_start_programs_nor_write(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = """
import os, socket, subprocess, sys
from sbert_desktop.extraction.child import make_handler
make_handler()
target = sys.argv[1]
def refused(action):
    try:
        action()
    except PermissionError:
        return True
    return False
assert refused(lambda: socket.create_connection(("127.0.0.1", 9)))
assert refused(lambda: socket.getaddrinfo("localhost", 80))
assert refused(lambda: subprocess.run(["true"]))
assert refused(lambda: open(target, "w"))
assert refused(lambda: os.remove(sys.argv[0] or target))
import resource
assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 64
assert resource.getrlimit(resource.RLIMIT_AS)[0] == 700 * 1024 * 1024
assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
from sbert_desktop.extraction import detect_language
assert detect_language("We walked along the river for a long time and talked about books.") == "en"
"""
    environment = {**os.environ, "SBERT_DESKTOP_CHILD_MEMORY_MB": "700"}
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "target")], capture_output=True, text=True,
                          env=environment, cwd=Path(__file__).resolve().parents[2], check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "target").exists()


# ---------------------------------------------------------------- watched from the parent


def test_processor_time_is_limited_even_where_the_clock_is_not(tmp_path: Path) -> None:
    children: list[EagerChild] = []

    def launch() -> EagerChild:
        children.append(EagerChild())
        return children[-1]

    pool = ExtractionPool(launch, 1)
    pool._watcher._cpu_limit = 1.0
    found = outcomes(pool, [add(tmp_path, "spin.txt"), add(tmp_path, "a.txt")])
    assert code_of(found["spin.txt"]) == "timed-out"
    assert isinstance(found["a.txt"], ExtractedText)
    assert not any(child.expired for child in children)


def test_memory_is_watched_where_the_system_does_not_limit_it(tmp_path: Path) -> None:
    pool = ExtractionPool(ScriptChild, 1, time_limit=60.0, watch_memory=True, memory_limit=350 * 1024 * 1024)
    found = outcomes(pool, [add(tmp_path, "hoard.txt"), add(tmp_path, "a.txt")])
    assert code_of(found["hoard.txt"]) == "too-much-memory"
    assert isinstance(found["a.txt"], ExtractedText)


def test_a_slow_file_is_told_when_it_has_been_under_way_for_a_second_and_when_it_is_over(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, bool]] = []
    slow, quick = add(tmp_path, "slow.pdf"), add(tmp_path, "quick.pdf")
    monkeypatch.setenv("SBERT_DESKTOP_TEST_SLOW_UNTIL", str(tmp_path / "told"))

    def tell(file: SourceFile, begins: bool) -> None:
        told.append((file.path.name, begins))
        if begins and file.path == slow.path:
            monkeypatch.setattr(_watcher, "SLOW", 60.0)  # the other one may have to wait for the machine
            (tmp_path / "told").touch()

    outcomes(ExtractionPool(ScriptChild, 1, on_slow=tell), [slow, quick])
    assert told == [("slow.pdf", True), ("slow.pdf", False)]


def test_the_start_of_a_child_is_not_told_as_a_slow_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bool] = []
    monkeypatch.setattr(_watcher, "SLOW", 60.0)

    class SlowStarter(NearChild):
        def request(self, header: Mapping[str, object], payload: bytes = b"", *,
                    timeout: float | None = None) -> tuple[dict[str, object], bytes]:
            if header["op"] == "ping":
                monkeypatch.setattr(_watcher, "SLOW", 0.0)
                threading.Event().wait(4 * _watcher._STEP)  # in which the watcher looks and has nothing to tell
                monkeypatch.setattr(_watcher, "SLOW", 60.0)
            return super().request(header, payload, timeout=timeout)

    found = outcomes(ExtractionPool(SlowStarter, 1, on_slow=lambda file, begins: told.append(begins)),
                     [add(tmp_path, "a.pdf")])
    assert set(found) == {"a.pdf"}
    assert told == []


def test_a_file_that_kills_its_child_is_told_to_be_over(tmp_path: Path) -> None:
    told: list[bool] = []
    children: list[ScriptChild] = []

    def launch() -> ScriptChild:
        children.append(ScriptChild())
        return children[-1]

    def tell(file: SourceFile, begins: bool) -> None:
        told.append(begins)
        if begins:
            children[-1].expire()

    found = outcomes(ExtractionPool(launch, 1, on_slow=tell), [add(tmp_path, "hang.pdf")])
    assert code_of(found["hang.pdf"]) == "timed-out"
    assert told == [True, False]


def test_a_crash_is_tried_once_more_as_the_child_may_have_been_ended_from_outside(tmp_path: Path) -> None:
    log: list[Mapping[str, object]] = []

    class FrailChild(NearChild):
        def request(self, header: Mapping[str, object], payload: bytes = b"", *,
                    timeout: float | None = None) -> tuple[dict[str, object], bytes]:
            if header["op"] == "extract" and len(log) < 3:
                log.append(header)
                raise JobError("child-died", "gone")
            return super().request(header, payload, timeout=timeout)

    (outcome,) = outcomes(ExtractionPool(lambda: FrailChild(log), 1), [add(tmp_path, "a.txt")]).values()
    assert isinstance(outcome, ExtractedText)


def test_the_window_of_a_run_holds_few_batches() -> None:
    assert _pool._BATCH_FILES * 3 * 2 <= 200


def test_a_limit_that_was_reached_is_told_and_can_be_read_from_the_words(tmp_path: Path) -> None:
    found = outcomes(ExtractionPool(ScriptChild, 1, time_limit=1.5), [add(tmp_path, "hang.pdf")])
    stopped = found["hang.pdf"]
    assert isinstance(stopped, Problem)
    assert stopped.message == "Reading the file took longer than the limit of 1.5 s."
    assert limit_told(stopped.message) == 1.5
    assert limit_told("Reading the file took longer than the limit.") is None
    memory = _paging.Limits(1.0, 2048).told(problem("too-much-memory"))
    assert isinstance(memory, Problem)
    assert limit_told(memory.message) == 2048
