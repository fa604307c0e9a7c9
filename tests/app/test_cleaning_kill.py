"""Kill -9 in the middle of a clean-up of 200 files: the journal tells exactly what moved, undo restores all."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sbert_desktop.app.cleaning import list_clean_ups, run_undo
from tests.app.test_cleaning import Context

pytestmark = pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="looks into the trash itself")

FILES = 200
CHILD = """
import sys
from pathlib import Path
from types import SimpleNamespace
from sbert_desktop.app.cleaning import run_clean_up
from sbert_desktop.cleanup import DuplicateKind, Removal
from tests.app.test_cleaning import Context, _copy

root = Path(sys.argv[1])
keeper = _copy(root / "docs" / "keep.txt")
victims = [_copy(root / "docs" / f"{n}.txt") for n in range(int(sys.argv[2]))]
session = SimpleNamespace(library=SimpleNamespace(path=root / "library", read_only=False))
moved = []

def tell(removal):
    moved.append(removal)
    print(removal.victim.path.name, flush=True)
    if len(moved) == len(victims) - 20:
        sys.stdin.read()  # the kill is late: it would come when all is done

print("ready", flush=True)
run_clean_up(session, [Removal(v, (keeper,), DuplicateKind.BYTES) for v in victims], Context(), on_moved=tell)
"""


def _kill_midway(root: Path, after: int) -> list[str]:
    """Starts a clean-up, kills it after so many files, and gives those that it said were moved."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(root), str(FILES)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    said = []
    for line in child.stdout:
        said.append(line.strip())
        if len(said) > after:
            break
    time.sleep((after % 7) / 1000)
    child.send_signal(signal.SIGKILL)
    rest, errors = child.communicate()
    assert child.returncode == -signal.SIGKILL, errors
    return (said + rest.split())[1:]


@pytest.mark.parametrize(
    "after", [20, pytest.param(3, marks=pytest.mark.slow), pytest.param(121, marks=pytest.mark.slow)]
)
def test_the_journal_tells_exactly_what_moved_and_undo_restores_all(tmp_path, monkeypatch, after):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).parents[2]}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    for name in ("docs", "library"):
        (tmp_path / name).mkdir()
    for name in ("keep", *range(FILES)):
        (tmp_path / "docs" / f"{name}.txt").write_text("the same in all")
    said = _kill_midway(tmp_path, after)
    assert 0 < len(said) < FILES, "it was to be killed midway"

    session = SimpleNamespace(library=SimpleNamespace(path=tmp_path / "library", read_only=False))
    told = list_clean_ups(session)
    assert len(told) == 1
    assert not told[0].finished
    state = {one.path.name: one.state for one in told[0].files}
    there = {path.name for path in (tmp_path / "docs").iterdir()}
    assert {name for name, one in state.items() if one == "moved"} == set(state) - there
    assert set(said) <= set(state) - there
    assert "lost" not in state.values()

    undone = run_undo(session, "", (), Context())
    assert (undone.moved, undone.undone) == (0, True)
    back = sorted(path.name for path in (tmp_path / "docs").iterdir())
    assert back == sorted([*state, "keep.txt"])
    texts = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "docs").iterdir()}
    assert len(texts) == 1
    # Qt begins a move with a second name for the file, in the trash; the kill may leave that name, but no other bytes
    left = {path.stat().st_ino for path in (tmp_path / "share" / "Trash" / "files").iterdir() if path.stat().st_size}
    assert left <= {path.stat().st_ino for path in (tmp_path / "docs").iterdir()}
