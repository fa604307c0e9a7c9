"""What a training survives and what it tells: pause, cancel, kills, early stop, the best state."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.domain import Vectors
from sbert_desktop.errors import Cancelled, JobError, TrainingError
from sbert_desktop.jobs import spawn_child
from sbert_desktop.training import running
from sbert_desktop.training.labels import LabelKind
from sbert_desktop.training.objectives import HyperParameters
from sbert_desktop.training.running import HeldOut, Recipe, Standing, Trained, Training

from .conftest import labels_of, sentences

pytest.importorskip("torch")
pytestmark = [pytest.mark.xdist_group("training"), pytest.mark.timeout(300)]  # torch is imported first
HYPER = HyperParameters("multiple-negatives", 3, 8, learning_rate=1e-3, patience=None)  # 18 steps
Answer = Callable[[dict[str, object], bytes], tuple[Mapping[str, object], bytes]]


class Context:
    """A job that is cancelled or paused when a test says so."""

    def __init__(self) -> None:
        self.paused = False
        self.cancelled = False
        self.phases: list[str] = []
        self.checked_while_paused = threading.Event()
        self.go_on = threading.Event()

    def check(self) -> None:
        if self.paused:
            self.checked_while_paused.set()
            assert self.go_on.wait(60)
        if self.cancelled:
            raise Cancelled

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        if self.phases[-1:] != [phase]:
            self.phases.append(phase)

    def partial(self, result: object) -> None: ...


class Child:
    """The child's own handler in this process: no ten seconds of imports. ``before`` sees each request, and may die."""

    def __init__(self, before: Callable[[Mapping[str, object]], None] = lambda header: None) -> None:
        from sbert_desktop.training.child import make_handler

        self._handle: Answer = make_handler()
        self._before = before
        self.asked: list[str] = []
        self.closed = False

    def request(
        self, header: Mapping[str, object], payload: bytes = b"", *, timeout: float | None = None
    ) -> tuple[dict[str, object], bytes]:
        assert not self.closed
        self._before(header)
        self.asked.append(str(header["do"]))
        try:
            reply, data = self._handle(json.loads(json.dumps({**header, "seconds": 0.0, "threads": 1})), payload)
        except TrainingError as error:
            raise JobError(error.code, error.message, error.hint) from error
        return json.loads(json.dumps(reply)), data

    def close(self) -> None:
        self.closed = True


def dies_at(count: int) -> Callable[[Mapping[str, object]], None]:
    """Gives what kills a child at its so manieth request for steps."""
    seen = [0]

    def before(header: Mapping[str, object]) -> None:
        seen[0] += header["do"] == "steps"
        if seen[0] >= count:
            raise JobError("child-died", "killed")

    return before


def begun(folder: Path, base: Path, hyper: HyperParameters = HYPER) -> Path:
    running.begin(folder, Recipe(base, labels_of(LabelKind.POSITIVES), hyper, device="cpu"))
    return folder


def held(values: Sequence[float | None] = (), seen: list[np.ndarray] | None = None) -> HeldOut:
    """Gives a held-out part whose figure is the given ones in turn, or a real one."""
    left, right = sentences(12, seed=5), [text + " today" for text in sentences(12, seed=5)]
    turn = iter(values)

    def measure(columns: Sequence[Vectors]) -> float | None:
        if seen is not None:
            seen.append(columns[0])
        return next(turn) if values else float(np.mean(np.sum(columns[0] * columns[1], axis=1)))

    return HeldOut((tuple(left), tuple(right)), measure)


def final(trained: Trained) -> bytes:
    return (trained.folder / "final" / "model.safetensors").read_bytes()


def train(folder: Path, launch: Callable[..., object], context: Context | None = None, **more: object) -> Trained:
    return Training(folder, launch, **more).run(context or Context())  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def expected(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Gives a run that nothing disturbed."""
    folder = begun(tmp_path_factory.mktemp("whole") / "run", tiny)
    return train(folder, lambda kind, nice: Child(), held_out=held())


def test_it_says_how_it_stands_until_the_end(tiny: Path, tmp_path: Path) -> None:
    told: list[Standing] = []
    context = Context()
    launched: list[tuple[str, int]] = []

    def launch(kind: str, nice: int) -> Child:
        launched.append((kind, nice))
        return Child()

    trained = train(begun(tmp_path / "run", tiny), launch, context, held_out=held(), report=told.append, looks=6)
    assert launched == [("train", 10)]
    assert context.phases[0] == "Loading the model"
    assert context.phases[-1] == "Storing the result"
    last = told[-1]
    assert (last.step, last.of, last.epoch, last.epochs, last.device) == (18, 18, 3, 3, "cpu")
    assert [one.step for one in last.curve if one.held_out is not None] == [0, 3, 6, 9, 12, 15, 18]
    assert [one.step for one in last.curve if one.loss is not None] == list(range(1, 19))
    assert {one.seconds_left is None for one in told if one.step > 0} == {False}
    assert trained.before == last.curve[0].held_out
    assert trained.held_out == max(one.held_out for one in last.curve[1:] if one.held_out is not None)
    assert not trained.stopped_early
    assert running.result_of(trained.folder) == trained
    assert sorted(entry.name for entry in trained.folder.iterdir()) == [
        "final", "labels.json", "run.json", "trained.json"]


def test_vectors_of_the_held_out_part_are_unit_rows_in_its_order(tiny: Path, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    seen: list[np.ndarray] = []
    train(begun(tmp_path / "run", tiny), lambda kind, nice: Child(), held_out=held([0.5] * 20, seen))
    expected = SentenceTransformer(str(tiny), device="cpu").encode(list(held().columns[0]), normalize_embeddings=True)
    np.testing.assert_allclose(seen[0], expected, atol=1e-5)
    assert not np.allclose(seen[-1], expected, atol=1e-2)


def test_it_stops_when_the_held_out_figure_no_longer_rises_and_keeps_the_best(tiny: Path, tmp_path: Path) -> None:
    hyper = replace(HYPER, patience=2)
    values = [0.1, 0.3, 0.6, 0.5, 0.6, 0.9]
    children: list[Child] = []

    def launch(kind: str, nice: int) -> Child:
        children.append(Child())
        return children[-1]

    folder = begun(tmp_path / "run", tiny, hyper)
    trained = train(folder, launch, held_out=held(values), looks=6)
    assert (trained.step, trained.of, trained.best, trained.held_out) == (12, 18, 6, 0.6)
    assert trained.stopped_early
    assert children[0].asked.count("keep") == 2
    # A run of the same schedule that ends at the best step gives these very weights.
    other = begun(tmp_path / "other", tiny, replace(hyper, patience=1))
    stopped = train(other, lambda kind, nice: Child(), held_out=held([0.1, 0.3, 0.6, 0.5]), looks=6)
    assert (stopped.step, stopped.best) == (9, 6)
    assert final(stopped) == final(trained)


def test_the_last_state_is_kept_where_the_person_wants_it(tiny: Path, tmp_path: Path, expected: Trained) -> None:
    folder = begun(tmp_path / "run", tiny, replace(HYPER, keep_best=False))
    trained = train(folder, lambda kind, nice: Child(), held_out=held([0.9, 0.8, 0.1] + [0.0] * 20))
    assert trained.best is None
    without = train(begun(tmp_path / "none", tiny), lambda kind, nice: Child())
    assert final(without) == final(trained)


def test_what_cannot_be_measured_neither_stops_nor_chooses(tiny: Path, tmp_path: Path) -> None:
    values = [None, float("nan")] + [None] * 20
    trained = train(begun(tmp_path / "run", tiny, replace(HYPER, patience=1)), lambda kind, nice: Child(),
                    held_out=held(values))  # fmt: skip
    assert (trained.step, trained.best, trained.held_out) == (18, None, None)
    assert all(one.held_out is None for one in trained.curve)


def test_a_child_that_dies_twice_is_replaced_and_nothing_is_lost(tiny: Path, tmp_path: Path, expected: Trained) -> None:
    deaths = [dies_at(8), dies_at(4), dies_at(1000)]
    children: list[Child] = []

    def launch(kind: str, nice: int) -> Child:
        children.append(Child(deaths[len(children)]))
        return children[-1]

    trained = train(begun(tmp_path / "run", tiny), launch, held_out=held(), checkpoint_steps=5)
    assert len(children) == 3
    assert all(child.closed for child in children)
    assert len(trained.notices) == 2
    assert final(trained) == final(expected)
    assert [(one.step, one.held_out) for one in trained.curve if one.held_out is not None] == [
        (one.step, one.held_out) for one in expected.curve if one.held_out is not None]
    # It went on from its checkpoints and not from the beginning.
    assert children[1].asked.count("steps") + children[2].asked.count("steps") < 18


def test_a_child_that_dies_a_third_time_ends_the_run_which_can_be_resumed(
    tiny: Path, tmp_path: Path, expected: Trained
) -> None:
    folder = begun(tmp_path / "run", tiny)
    with pytest.raises(TrainingError) as raised:
        train(folder, lambda kind, nice: Child(dies_at(3)), held_out=held(), checkpoint_steps=1)
    assert raised.value.code == "training-died"
    unfinished = running.resumable(folder)
    assert unfinished is not None
    assert (unfinished.step, unfinished.of, unfinished.finished) == (6, 18, False)
    assert final(train(folder, lambda kind, nice: Child(), held_out=held())) == final(expected)
    again = running.resumable(folder)
    assert again is not None
    assert again.finished


def test_a_known_problem_of_the_child_is_said_and_not_tried_again(tiny: Path, tmp_path: Path) -> None:
    def fails(header: Mapping[str, object]) -> None:
        if header["do"] == "steps":
            raise JobError("training-diverged", "Training went astray at step 1.", "Train anew.")

    launched: list[Child] = []

    def launch(kind: str, nice: int) -> Child:
        launched.append(Child(fails))
        return launched[-1]

    with pytest.raises(TrainingError) as raised:
        train(begun(tmp_path / "run", tiny), launch)
    assert raised.value.code == "training-diverged"
    assert len(launched) == 1
    assert launched[0].closed


def test_a_cancel_ends_the_child_and_keeps_what_was_trained(
    tiny: Path, tmp_path: Path, expected: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_PATIENCE_TO_END_S", 60.0)  # the step under way may have to wait for the machine
    context = Context()
    children: list[Child] = []

    def cancels(header: Mapping[str, object]) -> None:
        if header["do"] == "steps" and children[0].asked.count("steps") == 6:
            context.cancelled = True

    def launch(kind: str, nice: int) -> Child:
        children.append(Child(cancels))
        return children[-1]

    folder = begun(tmp_path / "run", tiny)
    with pytest.raises(Cancelled):
        train(folder, launch, context, held_out=held())
    assert children[0].closed
    unfinished = running.resumable(folder)
    assert unfinished is not None
    assert unfinished.step == 7
    assert final(train(folder, lambda kind, nice: Child(), held_out=held())) == final(expected)


def test_a_cancel_does_not_wait_for_a_child_that_is_slow(tiny: Path, tmp_path: Path) -> None:
    context, ended, working = Context(), threading.Event(), threading.Event()

    class Slow:
        def request(self, header: object, payload: bytes = b"", *, timeout: float | None = None) -> object:
            working.set()
            assert ended.wait(60)
            raise JobError("child-died", "closed")

        def close(self) -> None:
            ended.set()

    def cancel() -> None:
        working.wait(60)
        context.cancelled = True

    threading.Thread(target=cancel).start()
    begun_at = time.monotonic()
    with pytest.raises(Cancelled):
        train(begun(tmp_path / "run", tiny), lambda kind, nice: Slow(), context)
    assert time.monotonic() - begun_at < 50  # it would have worked for 60
    assert ended.is_set()


def test_a_pause_stores_a_checkpoint_before_it_waits(tiny: Path, tmp_path: Path, expected: Trained) -> None:
    context = Context()

    def pauses(header: Mapping[str, object]) -> None:
        if header["do"] == "steps" and not context.go_on.is_set():
            context.paused = True

    folder = begun(tmp_path / "run", tiny)
    found: list[Trained] = []
    thread = threading.Thread(
        target=lambda: found.append(train(folder, lambda kind, nice: Child(pauses), context, held_out=held())))
    thread.start()
    assert context.checked_while_paused.wait(60)
    unfinished = running.resumable(folder)
    assert unfinished is not None
    assert unfinished.step == 1
    assert context.phases[-1] == "Paused"
    context.paused = False
    context.go_on.set()
    thread.join(60)
    assert final(found[0]) == final(expected)


def test_a_run_that_has_ended_is_given_back_without_a_child(expected: Trained) -> None:
    def launch(kind: str, nice: int) -> Child:
        raise AssertionError("launched")

    assert train(expected.folder, launch) == expected


def test_a_folder_is_begun_once_and_others_are_not_resumable(tiny: Path, tmp_path: Path) -> None:
    begun(tmp_path / "run", tiny)
    with pytest.raises(TrainingError) as raised:
        begun(tmp_path / "run", tiny)
    assert raised.value.code == "training-exists"
    assert running.resumable(tmp_path) is None
    unfinished = running.resumable(tmp_path / "run")
    assert unfinished is not None
    assert (unfinished.step, unfinished.labels, unfinished.label_kind, unfinished.base) == (0, 48, "positives", tiny)
    (tmp_path / "run" / "run.json").write_text("{}")
    assert running.resumable(tmp_path / "run") is None


@pytest.mark.slow
def test_a_killed_child_is_started_again_from_its_checkpoint(tiny: Path, tmp_path: Path) -> None:
    """With real processes and a real SIGKILL."""
    hyper = replace(HYPER, epochs=30)  # 180 steps
    children = []

    def launch(kind: str, nice: int) -> object:
        children.append(spawn_child(kind, nice=nice))
        return children[-1]

    killed: list[int] = []

    def report(standing: Standing) -> None:
        stored = list((tmp_path / "run").glob("checkpoint-*"))
        if stored and not killed and standing.phase == "Training":
            killed.append(children[0].pid)
            os.kill(children[0].pid, signal.SIGKILL)

    folder = begun(tmp_path / "run", tiny, hyper)
    trained = train(folder, launch, threads=1, checkpoint_steps=1, report=report)
    assert killed
    assert len(children) == 2
    assert not any(child.alive for child in children)
    assert trained.step == 180
    calm = train(begun(tmp_path / "calm", tiny, hyper), lambda kind, nice: Child())
    assert final(trained) == final(calm)


@pytest.mark.slow
def test_a_killed_parent_leaves_a_run_that_another_process_goes_on_with(tiny: Path, tmp_path: Path) -> None:
    hyper = replace(HYPER, epochs=400)
    folder = begun(tmp_path / "run", tiny, hyper)
    code = (
        "import sys; from pathlib import Path; from sbert_desktop.jobs import spawn_child, NullContext\n"
        "from sbert_desktop.training.running import Training\n"
        "Training(Path(sys.argv[1]), spawn_child, threads=1, checkpoint_steps=1).run(NullContext())"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(folder)], cwd=Path(__file__).parents[2])
    try:
        deadline = time.monotonic() + 90
        while not list(folder.glob("checkpoint-*")):
            assert time.monotonic() < deadline
            assert parent.poll() is None
            time.sleep(0.05)
    finally:
        parent.kill()
        parent.wait()
    unfinished = running.resumable(folder)
    assert unfinished is not None
    assert 0 < unfinished.step < 2400
    time.sleep(1.5)  # the orphan ends itself within a second
    trained = train(folder, spawn_child, threads=1)
    calm = train(begun(tmp_path / "calm", tiny, hyper), lambda kind, nice: Child())
    assert final(trained) == final(calm)
