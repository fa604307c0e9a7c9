"""From the plan to the comparison and what becomes of the model, with a tiny encoder and children in this process."""

from __future__ import annotations

import csv
import json
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.app import comparing_models, spaces, training_runs, tuning
from sbert_desktop.app.collecting import save_search
from sbert_desktop.app.facade import App
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.session import Session
from sbert_desktop.app.training_pace import read_paces
from sbert_desktop.app.training_views import ComparisonView, Plan, SpaceView, Task, TrainingView
from sbert_desktop.domain import Outcome, Partial, Query
from sbert_desktop.errors import Cancelled, EncoderError, JobError, TrainingError, UsageError
from sbert_desktop.jobs import NullContext
from sbert_desktop.settings import Settings
from sbert_desktop.training.labels import NLI_NAMES, Example, LabelKind, LabelSet
from sbert_desktop.training.objectives import HyperParameters
from sbert_desktop.training.splitting import Apart, Split
from tests.app import tuning_case as case
from tests.events import Inbox

pytest.importorskip("torch")
pytestmark = pytest.mark.xdist_group("training")
PLAN = Plan(name="home", base="tiny", judgements=False, epochs=4, learning_rate=1e-3)


class Context(NullContext):
    """Remembers what it was told; cancels at a step that a test names."""

    def __init__(self, cancel_at: int | None = None) -> None:
        self.views: list[TrainingView] = []
        self._cancel_at = cancel_at

    def partial(self, result: object) -> None:
        assert isinstance(result, TrainingView)
        self.views.append(result)

    def check(self) -> None:
        if self._cancel_at is not None and self.views and self.views[-1].step >= self._cancel_at:
            raise Cancelled


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Gives a home with two tiny encoders among the models."""
    import torch

    from tests.training.conftest import save_tiny

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    home = tmp_path_factory.mktemp("home")
    save_tiny(home / "data" / "models" / "tiny")
    case.save_sound(home / "data" / "models" / "sound")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SBERT_DESKTOP_HOME", str(home))
        patch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
        patch.setattr(comparing_models, "load_general_set", case.general_set)
        yield home
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def table(home: Path) -> Path:
    return case.write_pairs(home / "pairs.csv", 320)


def opened(library: Path, home: Path) -> Session:
    session = Session(library, Settings(library.parent / "settings.toml"))
    in_process(session)
    return session


def in_process(session: Session, before: Callable[[Mapping[str, object]], None] = lambda header: None) -> list[str]:
    """Lets a session's children live in this process; gives the kinds that are started."""
    started: list[str] = []

    def launch(kind: str, **_: object) -> case.Child:
        started.append(kind)
        return case.Child(kind, before if kind == "train" else lambda header: None)

    session.launch = launch  # type: ignore[method-assign, assignment]
    return started


@pytest.fixture(scope="module")
def trained(home: Path, table: Path) -> Iterator[tuple[Session, ComparisonView, Context]]:
    """Gives a training that went well, in a library with a few documents and a saved search."""
    folder = home / "docs"
    folder.mkdir()
    for number in range(8):
        noun = case.SAME[number % 6][0]
        (folder / f"{noun} {number}.txt").write_text(". ".join(case.sentence(7 * number + k, noun) for k in range(3)))
    session = Session(home / "library", Settings(home / "settings.toml"))
    run_index(session, IndexRequest((folder,)), NullContext())
    save_search(session, "ships", Query("the boat sails"))
    in_process(session)
    context = Context()
    view = tuning.run_training(session, replace(PLAN, labels=(table,)), context)
    shutil.copytree(training_runs.runs_folder(session) / view.run, home / "run")
    yield session, view, context
    session.close()


@pytest.fixture
def session(home: Path, tmp_path: Path) -> Iterator[Session]:
    session = opened(tmp_path / "library", home)
    yield session
    session.close()


def test_a_tuned_model_that_is_clearly_better_is_recommended(
    trained: tuple[Session, ComparisonView, Context],
) -> None:
    _, view, context = trained
    assert view.measured
    assert view.recommended
    assert view.refusal == ""
    assert (view.name, view.base_name, view.kind) == ("home-1", "tiny", "encoder")
    first = view.measures[0]
    assert first.metric == "ap"
    assert 0 < first.low <= first.tuned - first.base <= first.high
    assert (view.metric, view.unit) == ("accuracy", "of 100 pairs right")
    assert view.better + view.same + view.worse == view.held_out == 80
    assert {guard.code for guard in view.guards} == {"collapse", "general", "neighbours", "leak"}
    assert all(guard.passed for guard in view.guards)
    phases = list(dict.fromkeys(one.phase for one in context.views))
    assert phases[0] == "Loading the model"
    assert phases[-2:] == [tuning.COMPARING, "Looking at what would change"]
    curve = context.views[-1].curve
    assert context.views[-1].metric == "ap"
    assert sum(point.held_out is not None for point in curve) > 5
    assert sum(point.loss is not None for point in curve) > 5


def test_the_part_that_chose_the_state_is_not_the_one_that_is_compared_on(
    trained: tuple[Session, ComparisonView, Context],
) -> None:
    session, view, _ = trained
    material = training_runs.read_material(training_runs.find_run(session, view.run))
    assert not material.shared
    assert material.hyper.keep_best
    held = material.labels.only(material.split.held_out)
    texts = [{text for one in part.examples for text in one.texts} for part in (material.train, material.watched, held)]
    assert all(len(part) for part in texts)
    assert not texts[0] & (texts[1] | texts[2])
    assert not texts[1] & texts[2]


def test_it_says_what_would_change_in_the_library(trained: tuple[Session, ComparisonView, Context]) -> None:
    _, view, _ = trained
    assert (view.searches[0].query, view.searches[0].saved) == ("the boat sails", True)
    assert all(search.now and search.tuned for search in view.searches)
    assert {name for search in view.searches for name in search.tuned} <= {arrow.title for arrow in view.arrows}
    assert len(view.arrows) == 8
    assert all(0 <= place <= 1 for arrow in view.arrows for place in (arrow.x, arrow.y, arrow.new_x, arrow.new_y))
    assert any(abs(arrow.x - arrow.new_x) > 0.01 for arrow in view.arrows)
    assert view.passages == 8
    assert view.bytes == 8 * 32 * 4
    for row in view.changes:
        assert row.now != row.tuned or row.judged


def test_a_run_is_kept_with_its_comparison_and_asks_no_child_again(
    trained: tuple[Session, ComparisonView, Context],
) -> None:
    session, view, _ = trained
    started = in_process(session)
    (run,) = [one for one in tuning.trainings(session) if one.run == view.run]
    assert (run.state, run.comparison, run.plan.name, run.model) == ("trained", view, "home", "")
    assert run.step == run.of > 20
    assert run.folder is not None
    assert tuning.resume_training(session, view.run, NullContext()) == view
    assert not started
    place = training_runs.runs_folder(session)
    if os.name == "posix":
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        assert stat.S_IMODE((place / view.run / "material.json").stat().st_mode) == 0o600


def test_a_kept_model_is_among_the_models_and_gives_the_vectors_it_was_compared_by(
    trained: tuple[Session, ComparisonView, Context], home: Path
) -> None:
    from sbert_desktop.encoder.store import find_model, verify

    session, view, _ = trained
    (run,) = [one for one in tuning.trainings(session) if one.run == view.run]
    assert run.folder is not None
    weights = (run.folder / "model.safetensors").read_bytes()
    (kept,) = [one for one in tuning.keep_training(session, view.run, NullContext()) if one.run == view.run]
    assert (kept.state, kept.model) == ("kept", "home-1")
    folder = find_model("home-1")
    assert verify(folder) == []
    assert (folder / "model.safetensors").read_bytes() == weights
    card = (folder / "README.md").read_text("utf-8")
    assert "ap on 80 labels kept aside" in card
    assert case.sentence(0, "boat") not in card
    assert sorted(path.name for path in training_runs.find_run(session, view.run).iterdir()) == [
        "lock", "pace.json", "plan.json", "result.json", "state.json"]  # fmt: skip
    again = tuning.keep_training(session, view.run, NullContext())
    assert [one.model for one in again if one.run == view.run] == ["home-1"]
    assert not (home / "data" / "models" / "home-2").exists()


def test_adopting_brings_the_library_to_the_model(
    trained: tuple[Session, ComparisonView, Context], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, view, _ = trained
    asked: list[str] = []
    found = (SpaceView("f", "home-1", "building", 0, 0, 8, "home-1"),)
    monkeypatch.setattr(spaces, "adopt", lambda session, name: asked.append(name) or found)
    assert tuning.adopt(session, view.run, NullContext()) == found
    assert asked == ["home-1"]
    listed = next(one for one in tuning.trainings(session) if one.run == view.run)
    assert listed.state == "kept", "another model is in use, as after going back"
    assert listed.comparison == view
    with monkeypatch.context() as patch:
        patch.setattr(tuning, "kept_whole", lambda session: frozenset({listed.model}))
        back = next(one for one in tuning.trainings(session) if one.run == view.run)
    assert back.comparison == replace(view, passages=0, minutes=0.0, bytes=0), "its vectors are kept: none is read anew"
    monkeypatch.setattr(session.models, "name", lambda: listed.model)
    (adopted,) = (one for one in tuning.trainings(session) if one.run == view.run)
    assert adopted.state == "adopted"
    assert adopted.decided > 0  # when it was adopted is kept, to be told


def test_twenty_positives_fifty_epochs_and_a_high_rate_are_refused_with_the_reason(
    session: Session, tmp_path: Path, home: Path
) -> None:
    labels = case.write_pairs(tmp_path / "few.csv", 20, only_same=True)
    # high for so many epochs: the tiny encoder ends at cosines of 0.90 to 0.92, whatever the seed
    plan = replace(PLAN, base="sound", labels=(labels,), epochs=50, learning_rate=3e-4, name="ruined")
    view = tuning.run_training(session, plan, NullContext())
    assert not view.recommended
    assert [guard.passed for guard in view.guards if guard.code == "collapse"] == [False]
    before = session.settings.text("models.encoder")
    with pytest.raises(TrainingError) as raised:
        tuning.adopt(session, view.run, NullContext())
    assert raised.value.code == "not-adopted"
    assert "the model has collapsed" in raised.value.message
    assert session.settings.text("models.encoder") == before
    assert not (home / "data" / "models" / "ruined-1").exists()
    assert [one.state for one in tuning.trainings(session)] == ["trained"]
    assert tuning.discard_training(session, view.run) == ()
    assert not any(training_runs.runs_folder(session).iterdir())


def test_a_cancelled_run_is_resumed_to_the_very_model_it_would_have_been(
    session: Session, table: Path, trained: tuple[Session, ComparisonView, Context]
) -> None:
    with pytest.raises(Cancelled):
        tuning.run_training(session, replace(PLAN, labels=(table,)), Context(cancel_at=9))
    (run,) = tuning.trainings(session)
    assert (run.state, run.comparison) == ("interrupted", None)
    assert 9 <= run.step < run.of
    (pace,) = read_paces(training_runs.run_folders(session))  # what was broken off tells of its speed, too
    assert pace.seconds > 0
    context = Context()
    view = tuning.resume_training(session, run.run, context)
    assert next(one.step for one in context.views if one.phase == "Training") > 9
    (whole,) = read_paces(training_runs.run_folders(session))
    assert whole.work / pace.work == pytest.approx(run.of / run.step)
    expected = trained[1]
    assert (view.measures, view.guards) == (expected.measures, expected.guards)


def test_a_run_whose_child_keeps_dying_ends_plainly_and_can_be_resumed(session: Session, tmp_path: Path) -> None:
    labels = case.write_pairs(tmp_path / "labels.csv", 60)

    def dies(header: Mapping[str, object]) -> None:
        if header["do"] == "steps":
            raise JobError("child-died", "killed")

    in_process(session, dies)
    with pytest.raises(TrainingError) as raised:
        tuning.run_training(session, replace(PLAN, labels=(labels,), epochs=1), NullContext())
    assert raised.value.code == "training-died"
    (run,) = tuning.trainings(session)
    assert run.state == "interrupted"
    folder = training_runs.find_run(session, run.run)
    in_process(session)
    with training_runs.running(folder):
        assert [one.state for one in tuning.trainings(session)] == ["running"]
        with pytest.raises(TrainingError, match="under way"):
            tuning.resume_training(session, run.run, NullContext())
        with pytest.raises(TrainingError, match="under way"):
            tuning.discard_training(session, run.run)
    with pytest.raises(TrainingError) as too_early:
        tuning.adopt(session, run.run, NullContext())
    assert too_early.value.code == "not-trained"
    labels.unlink()  # what it learns from is its own
    assert tuning.resume_training(session, run.run, NullContext()).held_out > 0


def test_a_cross_encoder_is_trained_compared_and_put_to_use_as_the_second_stage(
    session: Session, table: Path
) -> None:
    plan = replace(PLAN, labels=(table,), kind="cross-encoder", name="judge", epochs=8, learning_rate=3e-3)
    started = in_process(session)
    view = tuning.run_training(session, plan, Context())
    assert started == ["train", "torch"], "base and tuned are read in one child"
    assert (view.kind, view.base_name, view.measured) == ("cross-encoder", "tiny", True)
    assert view.measures[0].metric == "ap"
    assert [guard.code for guard in view.guards] == ["collapse", "general", "leak"]
    assert view.recommended, view.refusal
    tuning.adopt(session, view.run, NullContext())
    assert session.settings.text("models.cross_encoder") == "judge-1"
    assert [one.state for one in tuning.trainings(session)] == ["adopted"]
    session.settings.reset("models.cross_encoder")


def test_hard_negatives_are_of_the_part_learned_from_and_judged_ones_come_first(session: Session, table: Path) -> None:
    plan = replace(PLAN, labels=(table,), hard_negatives=2, epochs=1)
    view = tuning.run_training(session, plan, NullContext())
    material = training_runs.read_material(training_runs.find_run(session, view.run))
    assert material.train.kind == "triplets"
    assert material.hyper.objective == "multiple-negatives"
    held = {text for one in material.labels.only(material.split.held_out).examples for text in one.texts}
    held |= {text for one in material.watched.examples for text in one.texts}
    assert not held & {text for one in material.train.examples for text in one.texts}
    noun = {name: number for number, pair in enumerate(case.SAME) for name in pair}
    kinds = [[noun[text.split()[3]] for text in one.texts] for one in material.train.examples]
    assert all(anchor == right for anchor, right, _ in kinds)
    assert any("hard negatives for" in note for note in view.notes)


def test_entailment_is_learned_before_grades_and_its_head_thrown_away(session: Session, tmp_path: Path) -> None:
    nli, graded = tmp_path / "nli.csv", tmp_path / "graded.csv"
    with nli.open("w", newline="") as stream:
        said = [(a, b, NLI_NAMES[0 if same else 1 + at % 2]) for at, (a, b, same) in enumerate(case.rows(60, seed=3))]
        csv.writer(stream).writerows([("premise", "hypothesis", "label"), *said])
    with graded.open("w", newline="") as stream:
        csv.writer(stream).writerows([("sentence1", "sentence2", "score"), *(
            (a, b, 5 * same) for a, b, same in case.rows(80, seed=4))])
    context = Context()
    view = tuning.run_training(session, replace(PLAN, labels=(nli, graded), epochs=1), context)
    phases = list(dict.fromkeys(one.phase for one in context.views))
    assert "Training (part 1 of 2)" in phases
    assert "Training (part 2 of 2)" in phases
    assert view.measures[0].metric == "spearman_cosine"
    folder = training_runs.model_folder(training_runs.find_run(session, view.run))
    assert folder is not None
    from safetensors import safe_open

    with safe_open(str(folder / "model.safetensors"), "pt") as weights:
        assert not [name for name in weights.keys() if "classifier" in name]  # noqa: SIM118


def test_the_librarys_own_judgements_are_learned_from_and_their_questions_are_asked_again(
    trained: tuple[Session, ComparisonView, Context],
) -> None:
    session, _, _ = trained
    snapshot = session.snapshot()
    records = list(snapshot.fetch([int(one) for one in snapshot.passage_ids]).values())
    for at, record in enumerate(records):
        for other, verdict in ((record, "relevant"), (records[at ^ 1], "not relevant")):
            sha256 = session.library.sha256_of(other.content_id)
            session.library.judge("relevance", verdict, f"where is w{at}", sha256, other.start, other.end, other.text)
    plan = replace(PLAN, task=Task.ANSWERS, judgements=True, labels=(), epochs=1, batch=4)
    view = tuning.run_training(session, plan, NullContext())
    assert view.measured
    assert view.measures[0].metric == "ndcg@10"
    assert view.unit == "of 100 questions right first"
    assert not view.recommended
    judged = [row for row in view.changes if row.judged]
    assert len(judged) == view.held_out == 2
    right = {f"where is w{at}": record.paths[0].path.name for at, record in enumerate(records)}
    assert all(right[row.query] == row.document for row in judged)
    assert all(1 <= row.now <= 8 and 1 <= row.tuned <= 8 for row in judged)
    tuning.discard_training(session, view.run)


def test_grades_that_say_nothing_are_refused_before_anything_is_begun(session: Session, tmp_path: Path) -> None:
    constant = tmp_path / "constant.csv"
    with constant.open("w", newline="") as stream:
        csv.writer(stream).writerows([("sentence1", "sentence2", "score"), *((a, b, 3) for a, b, _ in case.rows(60))])
    plan = replace(PLAN, labels=(constant,), labels_kind="graded", epochs=1)
    with pytest.raises(TrainingError, match="nothing can be ordered") as raised:
        tuning.run_training(session, plan, NullContext())
    assert raised.value.code == "cannot-train"
    assert not tuning.trainings(session)


def test_what_cannot_be_measured_is_said_and_never_recommended(
    trained: tuple[Session, ComparisonView, Context], tmp_path: Path
) -> None:
    places = tuple(range(20))
    labels = LabelSet(LabelKind.GRADED, tuple(Example((a, b), 3.0) for a, b, _ in case.rows(20)))
    split = Split((), places, (), Apart.DOCUMENT, np.arange(20))
    material = training_runs.Material(labels, split, labels, labels, True, HyperParameters("cosent", 1, 8))
    question = comparing_models.question_of(material)
    first, noise = np.random.default_rng(0).normal(size=(2, len(question.general), 32)).astype(np.float32)
    near = (question.general.grades[:, None] / 5).astype(np.float32)
    general = first, near * first + (1 - near) * noise  # a sound model, so that no guard speaks
    read = comparing_models.Read("tiny", (first[:20], noise[:20]), general)
    compared = comparing_models.compare_models(question, read, read)
    view = comparing_models.view_of(compared, PLAN, material, run="r", name="home-1", seconds=1.0)
    assert (view.measured, view.recommended, view.metric, view.measures) == (False, False, "", ())
    assert view.verdict == "Cannot measure: all grades kept aside are equal."
    assert view.refusal == view.verdict
    training_runs.write_comparison(tmp_path, view)
    assert training_runs.read_comparison(tmp_path) == replace(view, run=tmp_path.name)


def test_the_windows_commands_train_pause_go_on_and_leave_what_is_closed_to_be_resumed(
    home: Path, tmp_path: Path, table: Path
) -> None:
    inbox = Inbox()
    app = App(tmp_path / "library", Settings(tmp_path / "settings.toml"))
    turns = threading.Semaphore(0)

    def in_turn(header: Mapping[str, object]) -> None:
        """Holds each piece of the training until its turn, so that it cannot end before it is told to pause."""
        while header["do"] == "steps" and not turns.acquire(timeout=0.05):
            if any(one.context.cancelled for one in app._jobs._lanes["training"].jobs()):
                return

    in_process(app._session, in_turn)
    app.connect(inbox.post)
    try:
        job = app.train(replace(PLAN, labels=(table,), epochs=40))
        turns.release()
        inbox.until(lambda event: _phase(event) == "Training")
        app.pause_training()
        turns.release()
        inbox.until(lambda event: _phase(event) == "Paused")
        assert [run.state for run in inbox.result(app.trainings())] == ["running"]
        standing = inbox.partials(job, TrainingView)[-1].step
        app.continue_training()
        turns.release()
        inbox.until(lambda event: _phase(event) == "Training" and event.result.step > standing)
    finally:
        app.close()
    assert inbox.finished(job).outcome is Outcome.CANCELLED
    session = opened(tmp_path / "library", home)
    (run,) = tuning.trainings(session)
    assert (run.state, run.step > 0) == ("interrupted", True)
    session.close()


def _phase(event: object) -> str:
    return event.result.phase if isinstance(event, Partial) and isinstance(event.result, TrainingView) else ""


def test_plain_errors_before_anything_is_begun(session: Session, table: Path, tmp_path: Path) -> None:
    plan = replace(PLAN, labels=(table,))
    for wrong, kind, code in (
        (replace(plan, name=" "), UsageError, "no-name"),
        (replace(plan, base="nowhere"), EncoderError, "model-missing"),
        (replace(plan, objective="magic"), UsageError, "unknown-objective"),
        (replace(plan, labels=(tmp_path / "none.csv",)), TrainingError, "no-table"),
        (replace(plan, labels=()), TrainingError, "cannot-train"),
    ):
        with pytest.raises(kind) as raised:
            tuning.run_training(session, wrong, NullContext())
        assert raised.value.code == code
    assert not tuning.trainings(session)
    for run in ("", "..", "nothing"):
        with pytest.raises(TrainingError) as unknown:
            tuning.resume_training(session, run, NullContext())
        assert unknown.value.code == "training-unknown"


def test_a_training_whose_folder_was_renamed_goes_on_under_its_new_name(
    trained: tuple[Session, ComparisonView, Context], session: Session, home: Path
) -> None:
    shutil.copytree(home / "run", training_runs.runs_folder(session) / "renamed")
    assert tuning.resume_training(session, "renamed", Context()).run == "renamed"
    assert [one.run for one in tuning.keep_training(session, "renamed", Context())] == ["renamed"]


@pytest.mark.parametrize(
    ("file", "keys", "value"),
    [
        ("plan.json", ("plan",), [1]),
        ("plan.json", ("plan", "base"), [1]),
        ("plan.json", ("plan", "name"), float("nan")),
        ("plan.json", ("plan", "epochs"), "many"),
        ("material.json", ("hyper", "epochs"), 10**40),
        ("material.json", ("split", "held_out"), [10**6]),
        ("material.json", ("labels", "examples"), {"a": 1}),
        ("material.json", ("parameters",), 3),
        ("result.json", ("held_out",), "many"),
        ("result.json", ("guards",), [3]),
        ("result.json", ("measures",), None),
        ("plan.json", None, "[" * 100_000),
        ("material.json", None, "[" * 100_000),
        ("result.json", None, "[" * 100_000),
        ("work-1/run.json", None, "[" * 100_000),
        ("work-1/run.json", ("base_name",), 3),
        ("work-1/final/result.json", ("weights",), ["../../../model.safetensors"]),
        ("work-1/final/result.json", ("weights",), None),
        ("work-1/trained.json", None, "[" * 100_000),
    ],
)
def test_a_damaged_file_of_a_training_is_told_or_passed_over(
    trained: tuple[Session, ComparisonView, Context], session: Session, home: Path, file: str,
    keys: tuple[str, ...] | None, value: object,
) -> None:  # fmt: skip
    folder = training_runs.runs_folder(session) / "damaged"
    shutil.copytree(home / "run", folder)
    if file != "result.json" and not file.startswith("work"):
        (folder / "result.json").unlink()
    if keys is None:
        (folder / file).write_text(str(value))
    else:
        kept = json.loads((folder / file).read_text("utf-8"))
        inner = kept
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        (folder / file).write_text(json.dumps(kept))
    for listed in tuning.trainings(session):
        json.dumps(asdict(listed), default=str, allow_nan=False)
    if file in {"plan.json", "material.json"}:
        with pytest.raises(TrainingError) as refused:
            tuning.resume_training(session, "damaged", Context())
        assert refused.value.code == "training-damaged"
    elif file.startswith("work") and file != "work-1/trained.json":
        with pytest.raises(TrainingError) as refused:
            tuning.keep_training(session, "damaged", Context())
        assert refused.value.code == "training-damaged"
    elif file == "result.json":
        assert training_runs.read_comparison(folder) is None
        with pytest.raises(TrainingError, match="not ended"):
            tuning.adopt(session, "damaged", Context())
    tuning.discard_training(session, "damaged")
    assert not folder.exists()


def test_what_a_newer_program_noted_of_a_training_is_passed_over(
    trained: tuple[Session, ComparisonView, Context], session: Session, home: Path
) -> None:
    _, view, _ = trained
    folder = training_runs.runs_folder(session) / view.run
    shutil.copytree(home / "run", folder)
    for file in ("plan.json", "result.json"):
        kept = json.loads((folder / file).read_text("utf-8"))
        (folder / file).write_text(json.dumps({**kept, "version": 99, "of_a_newer_one": [1]}))
    assert training_runs.read_comparison(folder) == view
    (listed,) = tuning.trainings(session)
    assert listed.state == "trained"
