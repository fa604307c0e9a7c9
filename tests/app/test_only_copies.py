"""Whatever is found, ticked and moved: every content keeps a live copy, or a live one that says all it says."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from sbert_desktop.app.cleaning import run_clean_up
from sbert_desktop.app.cutting import cut
from sbert_desktop.app.duplicates import find, forget_moved
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.session import Session
from sbert_desktop.app.ticking import can_tick, removals, ticks_of
from sbert_desktop.cleanup import NEVER_TICKED, Assistant, DuplicateKind, DuplicateQuery, Rule, RuleKind
from sbert_desktop.jobs import NullContext
from tests.app.test_cleaning import FolderTrash
from tests.app.test_duplicates import BREAD, WALK

TICKABLE = tuple(kind for kind in DuplicateKind if kind not in NEVER_TICKED)
TEXTS = [
    WALK, BREAD, WALK + BREAD, WALK.replace("eleven", "twelve"), WALK.replace("eleven", "a great many"),
    WALK.replace(" ", "\n"), WALK.upper(), f"<p>{WALK}</p>", BREAD.replace("two hours", "three long hours"),
    WALK.replace("eleven", "twelve") + "The ferry no longer runs on Sundays, and nobody had told us before.\n",
    "\0\1" * 900, "\0\2" * 900, "",
]  # fmt: skip


def _all(root: Path) -> list[Path]:
    """Lists what lies below in the same order everywhere, so that a seed means the same tree again."""
    return sorted(root.rglob("*"))


def _grow(root: Path, rng: random.Random) -> None:
    """Makes a tree with equal files, equal folders, near texts and hard links."""
    for top in "pqr"[: rng.randint(1, 3)]:
        for number in range(rng.randint(1, 6)):
            name = rng.choice(["a", "b copy", "c (1)", "d v1", "d v2"]) + rng.choice([".txt", ".md", ".html", ".bin"])
            path = root / top / rng.choice(["", "s", "s/t"]) / f"{number}{name}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rng.choice(TEXTS))
            os.utime(path, (1_600_000_000 + rng.randint(0, 3), 1_600_000_000 + rng.randint(0, 3)))
    for number in range(rng.randint(0, 2)):
        shutil.copytree(rng.choice([one for one in _all(root) if one.is_dir()]), root / f"copy {number}")
    for number in range(rng.randint(0, 2)):
        os.link(rng.choice([one for one in _all(root) if one.is_file()]), root / f"link {number}.txt")


def _assistant(root: Path, rng: random.Random) -> Assistant:
    folders = [root, *(one for one in _all(root) if one.is_dir())]
    kinds = list(RuleKind)
    rng.shuffle(kinds)
    needs = (RuleKind.IN_FOLDER, RuleKind.NOT_IN_FOLDER)
    return Assistant(
        tuple(Rule(kind, rng.choice(folders) if kind in needs else None) for kind in kinds[: rng.randint(1, 4)]),
        tuple(rng.sample(TICKABLE, rng.randint(1, len(TICKABLE)))),
        tuple(rng.sample(folders[1:], 1)) if rng.random() < 0.2 and folders[1:] else (),
        tuple(rng.sample(folders, 1)) if rng.random() < 0.2 else (),
        rng.random() < 0.3,
    )


def _contents(root: Path) -> dict[bytes, list[Path]]:
    found: dict[bytes, list[Path]] = {}
    for path in _all(root):
        if path.is_file():
            found.setdefault(path.read_bytes(), []).append(path)
    return found


def _clean(session: Session, root: Path, trash: FolderTrash, rng: random.Random, seed: int) -> None:
    found = find(session, NullContext())
    query = DuplicateQuery(
        kinds=tuple(rng.sample(tuple(DuplicateKind), rng.randint(1, len(DuplicateKind)))),
        near=rng.choice([0.7, 0.8, 0.95]),
        assistant=_assistant(root, rng),
    )
    view = cut(session, found, query)
    ticks = set(ticks_of(view.groups))
    by_hand = rng.random() < 0.5
    if by_hand:  # everything that may be ticked, in any order
        rows = [(group, member) for group in view.groups for member in group.members]
        rng.shuffle(rows)
        for group, member in rows:
            if can_tick(group, frozenset(ticks), member.key):
                ticks.add(member.key)
    before = _contents(root)
    for path in query.assistant.protected:
        assert not any(path in removal.victim.path.parents for removal in removals(view.groups, frozenset(ticks)))
    going = removals(view.groups, frozenset(ticks))
    done = run_clean_up(session, going, NullContext(), trash=trash)
    after = _contents(root)
    said = {removal.victim.sha256: removal for removal in going}
    moved = {one.path for one in done.files if one.state == "moved"}
    for text, paths in before.items():
        if text in after:
            continue
        victims = [removal for removal in said.values() if removal.victim.path in paths]
        assert victims, f"seed {seed}: {paths} vanished untold"
        assert all(removal.kind is not DuplicateKind.BYTES for removal in victims), f"seed {seed}: no copy of {paths}"
        assert any(keeper.path.exists() for removal in victims for keeper in removal.keepers), f"seed {seed}: {paths}"
    assert moved == {path for paths in before.values() for path in paths if not path.exists()}, f"seed {seed}"
    if not by_hand:
        # A folder's file stays if the one of the equal folder goes for a text that is only near.
        inside = {copy.path for group in view.groups for member in group.members for copy in member.files}
        left = [one for one in done.files if one.state != "moved"]
        assert all(one.path in inside for one in left), f"seed {seed}: what the rules tick goes: {left}"
        assert done.moved == view.ticked - len(left), f"seed {seed}"
    forget_moved(session, moved)
    again = cut(session, find(session, NullContext()), query)
    assert all(copy.path.exists() for g in again.groups for m in g.members for copy in (m.files or (m.copy,)))


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("start", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_ticking_all_that_can_be_ticked_takes_no_last_copy(tmp_path, settings, monkeypatch, start):
    monkeypatch.setattr("sbert_desktop.library._cleanups.os.fsync", lambda handle: None)
    for seed in range(start, start + (5 if start == 0 else 200)):
        rng = random.Random(seed)
        place = tmp_path / str(seed)
        root = place / "docs"
        root.mkdir(parents=True)
        _grow(root, rng)
        session = Session(place / "library", settings)
        run_index(session, IndexRequest((root,)), NullContext())
        trash = FolderTrash(place)
        for _ in range(2):
            _clean(session, root, trash, rng, seed)
        session.close()
        shutil.rmtree(place)
