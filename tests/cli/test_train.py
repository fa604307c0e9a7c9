"""``train`` on the command line: the contract, Ctrl+C, resuming, plain errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from sbert_desktop.app import comparing_models
from sbert_desktop.app.session import Session
from sbert_desktop.app.training_views import MeasureView
from sbert_desktop.cli import _train, main
from tests.app import tuning_case as case

pytest.importorskip("torch")
pytestmark = pytest.mark.xdist_group("training")
Run = Callable[..., tuple[int, dict[str, object], str]]
QUICK = ("--base", "tiny", "--epochs", "4", "--lr", "1e-3")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Gives a home with a tiny encoder among the models, and children that live in this process."""
    import torch

    from tests.training.conftest import save_tiny

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    home = tmp_path_factory.mktemp("home")
    save_tiny(home / "data" / "models" / "tiny")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SBERT_DESKTOP_HOME", str(home))
        patch.delenv("SBERT_DESKTOP_LIBRARY", raising=False)
        patch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
        patch.setattr(comparing_models, "load_general_set", case.general_set)
        patch.setattr(Session, "launch", lambda self, kind, **_: case.Child(kind))
        yield home
    torch.set_num_threads(threads)


@pytest.fixture
def run(home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, dict[str, object], str]:
        capfd.readouterr()
        status = main(["train", "--library", str(tmp_path / "library"), *map(str, arguments)])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, json.loads(out) if out.startswith("{") else {"out": out}, err

    return call


def test_training_keeps_its_contract_without_a_library_and_the_model_is_kept_on_request(
    run: Run, home: Path, tmp_path: Path
) -> None:
    table = case.write_pairs(tmp_path / "pairs.csv", 320)
    status, answer, err = run(table, "--name", "home", *QUICK, "--json")
    assert status == 0, err
    assert set(answer) >= {"base", "tuned", "difference", "guards", "recommended", "model"}
    difference = answer["difference"]
    assert isinstance(difference, dict)
    assert difference["metric"] == "ap"
    assert difference["value"] == pytest.approx(answer["tuned"] - answer["base"])  # type: ignore[operator]
    low, high = difference["ci95"]
    assert 0 < low <= difference["value"] <= high
    assert answer["recommended"] is True
    assert {guard["code"]: guard["passed"] for guard in answer["guards"]} == {  # type: ignore[attr-defined]
        "collapse": True, "general": True, "neighbours": True, "leak": True}  # fmt: skip
    model = Path(str(answer["model"]))
    assert (model / "modules.json").is_file()
    assert not (home / "data" / "models" / "home-1").exists()

    name = str(answer["run"])
    status, listed, _ = run("--list", "--json")
    assert (status, [(one["run"], one["state"]) for one in listed["trainings"]]) == (0, [(name, "trained")])  # type: ignore[attr-defined]
    status, kept, _ = run("--resume", name, "--keep", "--json")
    assert (status, kept["state"], kept["name"]) == (0, "kept", "home-1")
    assert Path(str(kept["model"])) == home / "data" / "models" / "home-1"
    assert kept["difference"] == difference
    status, told, _ = run("--resume", name)
    assert status == 0
    assert "Kept among the models as home-1." in str(told["out"])
    assert "ap " in str(told["out"])
    status, told, _ = run("--list")
    assert str(told["out"]).startswith(f"{name}  kept")
    status, told, _ = run("--resume", name, "--discard", "--json")
    assert (status, told) == (0, {"discarded": name})
    assert not (home / "data" / "models" / "home-1").exists()
    status, told, _ = run("--list")
    assert told == {"out": "There are no trainings.\n"}


def test_adopting_what_is_not_better_shows_the_figures_and_fails_with_the_reason(run: Run, tmp_path: Path) -> None:
    table = case.write_pairs(tmp_path / "pairs.csv", 24)
    status, told, err = run(table, "--name", "few", "--base", "tiny", "--epochs", "1", "--adopt")
    assert status == 1
    assert "Not recommended: " in str(told["out"])
    assert "few-1 is not put to use." in err
    (listed,) = run("--list", "--json")[1]["trainings"]  # type: ignore[misc]
    assert listed["recommended"] is False
    status, answer, err = run("--resume", listed["run"], "--adopt", "--json")
    assert (status, answer["recommended"], answer["error"]["code"]) == (1, False, "not-adopted")  # type: ignore[index]
    assert "few-1 is not put to use." in err


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ((), 2, "nothing to learn from"),
        (("pairs.csv",), 2, "needs a name"),
        (("--list", "--resume", "x"), 2, "takes nothing else"),
        (("pairs.csv", "--name", "n", "--resume", "x"), 2, "name only the run"),
        (("--list", "--discard"), 2, "takes nothing else"),
        (("--resume", "x", "--epochs", "3"), 2, "name only the run"),
        (("--resume", "x" * 300), 1, "no training called"),
        (("pairs.csv", "--name", "n", "--discard"), 2, "--discard goes with"),
        (("pairs.csv", "--name", "n", "--epochs", "x"), 2, "--epochs: 'x' is not what belongs here"),
        (("pairs.csv", "--name", "n", "--base", "tiny", "--margin", "nan"), 1, "nan is no margin"),
        (("pairs.csv", "--name", "n", "--held-out", "0"), 2, "cannot be kept aside"),
        (("pairs.csv", "--name", "n", "--epochs", "0"), 2, "less than 1"),
        (("pairs.csv", "--name", "n", "--base", "tiny", "--lr", "7"), 1, "no learning rate that training can use"),
        (("pairs.csv", "--name", "n", "--base", "tiny", "--loss", "magic"), 1, "no objective called 'magic'"),
        (("missing.csv", "--name", "n", "--base", "tiny"), 1, "missing.csv"),
        (("odd.csv", "--name", "n", "--base", "tiny"), 1, "'first col'"),
        (("--resume", "nothing"), 1, "no training called 'nothing'"),
    ],
)
def test_a_wrong_use_is_one_plain_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], status: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    case.write_pairs(tmp_path / "pairs.csv", 40)
    (tmp_path / "odd.csv").write_text("first col,second col\n1,2\n")
    given, answer, err = run(*arguments, "--quiet", "--json")
    assert given == status
    assert said in err
    assert err.count("\n") == 1
    assert answer["error"]


def test_an_interval_of_what_all_hangs_together_is_null_and_one_of_equal_models_is_zero() -> None:
    assert _train._interval(MeasureView("ap", 0.6, 0.7, -1.0, 1.0)) is None
    assert _train._interval(MeasureView("ap", 0.6, 0.6, 0.0, 0.0)) == [0.0, 0.0]
    assert _train._interval(MeasureView("ap", 0.6, 0.7, 0.05, 0.15)) == [0.05, 0.15]


def test_control_c_leaves_a_run_that_is_resumed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = case.write_pairs(tmp_path / "pairs.csv", 60)
    pressed: list[int] = []

    def interrupts(header: Mapping[str, object]) -> None:
        if header["do"] == "steps" and not pressed:
            pressed.append(1)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(
        Session, "launch", lambda self, kind, **_: case.Child(kind, interrupts if kind == "train" else lambda h: None)
    )
    status, answer, err = run(table, "--name", "home", *QUICK, "--json")
    assert status == 130
    assert answer["error"]["code"] == "interrupted"  # type: ignore[index]
    (listed,) = run("--list", "--json")[1]["trainings"]  # type: ignore[misc]
    assert listed["state"] == "interrupted"
    assert f"train --resume {listed['run']}" in err
    status, answer, err = run("--resume", listed["run"], "--json")
    assert status == 0, err
    assert (answer["run"], answer["state"]) == (listed["run"], "trained")


@pytest.mark.slow
def test_a_program_that_was_killed_leaves_a_run_that_is_resumed(home: Path, tmp_path: Path, run: Run) -> None:
    table = case.write_pairs(tmp_path / "pairs.csv", 320)
    place = tmp_path / "library" / "trainings"
    command = [sys.executable, "-m", "sbert_desktop", "train", str(table), "--library", str(tmp_path / "library"),
               "--name", "home", "--base", "tiny", "--epochs", "100", "--lr", "1e-4", "--quiet"]  # fmt: skip
    begun = subprocess.Popen(command, cwd=Path(__file__).resolve().parents[2], env=dict(os.environ))
    try:
        late = time.monotonic() + 90
        while not list(place.glob("*/work-1/checkpoint-*")):
            assert time.monotonic() < late
            assert begun.poll() is None
            time.sleep(0.1)
    finally:
        begun.kill()
        begun.wait()
    (listed,) = run("--list", "--json")[1]["trainings"]  # type: ignore[misc]
    assert listed["state"] == "interrupted"
    assert 0 < listed["step"] < listed["of"]
    status, answer, err = run("--resume", listed["run"], "--json")
    assert (status, answer["state"]) == (0, "trained"), err
