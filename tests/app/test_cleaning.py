"""Clean-up: never the last copy, nothing unreported, everything can come back."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sbert_desktop.app import cleaning
from sbert_desktop.app.cleaning import list_clean_ups, run_clean_up, run_undo
from sbert_desktop.cleanup import Copy, DuplicateKind, Removal
from sbert_desktop.errors import Cancelled, LibraryError, PlatformError
from sbert_desktop.library import CleanUps


class Context:
    """Counts what is asked, and cancels or meddles at a chosen moment."""

    paused = False

    def __init__(self, cancel_after: int = -1) -> None:
        self.checks = 0
        self._cancel_after = cancel_after

    def check(self) -> None:
        self.checks += 1
        if 0 <= self._cancel_after < self.checks:
            raise Cancelled

    def progress(self, phase, done, total, detail=""):
        pass

    def partial(self, result):
        pass


class FolderTrash:
    """A trash in a folder; ``fault`` names what goes wrong with the next moves, ``before`` meddles just before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / ".Trash-1000"
        self.folder.mkdir(exist_ok=True)
        self.origin: dict[Path, Path] = {}
        self.fault = ""
        self.before = lambda: None
        self.after = lambda: None
        self._count = len(list(self.folder.iterdir()))

    def move(self, path: Path) -> Path | None:
        self.before()
        if self.fault == "refuse":
            raise PlatformError("no-trash", "There is no trash.", "")
        if self.fault == "error":
            raise OSError(5, "Input/output error")
        if self.fault == "lie":
            return self.folder / "not there"
        if not path.is_file() or path.is_symlink():
            raise PlatformError("trash-refused", "gone", "")
        self._count += 1
        place = self.folder / f"{self._count}-{path.name}"
        if self.fault == "copy":
            shutil.copyfile(path, place)
        elif self.fault == "other inode":
            shutil.copyfile(path, place)
            path.unlink()
        else:
            os.rename(path, place)
        self.origin[place] = path
        self.after()
        if self.fault == "late":
            raise OSError(5, "Input/output error")
        return None if self.fault == "silent" else place

    def find(self, original: Path) -> tuple[Path, ...]:
        found = [place for place, path in self.origin.items() if path == original and place.exists()]
        return tuple(reversed(found))

    def restore(self, trashed: Path, target: Path) -> None:
        if os.path.lexists(target):
            raise PlatformError("file-exists", "taken", "")
        target.parent.mkdir(parents=True, exist_ok=True)
        os.rename(trashed, target)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "library").mkdir()
    (tmp_path / "docs").mkdir()
    session = SimpleNamespace(library=SimpleNamespace(path=tmp_path / "library", read_only=False))
    return SimpleNamespace(root=tmp_path, docs=tmp_path / "docs", session=session, trash=FolderTrash(tmp_path))


def _copy(path: Path, unit: int = 0) -> Copy:
    status = path.lstat()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Copy(unit, path, status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino, digest)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _pair(place, text="same text") -> tuple[Copy, Copy]:
    return _copy(_write(place.docs / "a.txt", text)), _copy(_write(place.docs / "b.txt", text))


def _run(place, *removals, context=None, **options):
    return run_clean_up(place.session, removals, context or Context(), trash=place.trash, **options)


def _removal(victim, *keepers, kind=DuplicateKind.BYTES):
    return Removal(victim, keepers, kind)


def test_a_duplicate_goes_and_undo_brings_it_back(place):
    keeper, victim = _pair(place)
    done = _run(place, _removal(victim, keeper))
    assert [(one.state, one.message) for one in done.files] == [("moved", "")]
    assert (done.moved, done.bytes, done.finished) == (1, 9, True)
    assert not victim.path.exists()
    assert keeper.path.exists()
    undone = run_undo(place.session, done.id, (), Context(), trash=place.trash)
    assert [one.state for one in undone.files] == ["restored"]
    assert undone.undone
    assert victim.path.read_text() == "same text"
    assert list_clean_ups(place.session, trash=place.trash)[0].undone


def test_a_dry_run_changes_nothing_and_says_what_would_go(place):
    keeper, victim = _pair(place)
    done = _run(place, _removal(victim, keeper), dry=True)
    assert (done.moved, done.dry, done.id) == (1, True, "")
    assert victim.path.exists()
    assert not list((place.root / "library").iterdir())


@pytest.mark.parametrize("which", ["keeper", "victim"])
@pytest.mark.parametrize(
    "how", ["edited", "edited in place", "gone", "link", "folder", "closed", "touched", "other file"]
)
def test_what_changed_since_it_was_compared_is_skipped_and_said(place, which, how):
    keeper, victim = _pair(place)
    path = (keeper if which == "keeper" else victim).path
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    elsewhere = _write(place.docs / "elsewhere.txt", "same text")
    if how == "closed" and os.geteuid() == 0:
        pytest.skip("root may read everything")
    match how:
        case "edited":
            path.write_text("another")
        case "edited in place":
            path.write_text("SAME TEXT")
            os.utime(path, ns=times)
        case "gone":
            path.unlink()
        case "link":
            path.unlink()
            path.symlink_to(elsewhere)
        case "folder":
            path.unlink()
            path.mkdir()
        case "closed":
            path.chmod(0)
        case "touched":
            os.utime(path, ns=(1, 1))
        case "other file":
            os.replace(elsewhere, path)
            os.utime(path, ns=times)
    done = _run(place, _removal(victim, keeper))
    assert [one.state for one in done.files] == ["skipped"]
    assert done.files[0].message
    if which == "keeper":
        assert victim.path.read_text() == "same text"


def test_a_swapped_folder_does_not_lead_to_another_file(place):
    """The victim's folder becomes a link to the keeper's: its path now names the keeper."""
    keeper = _copy(_write(place.docs / "kept" / "a.txt", "text"))
    victim = _copy(_write(place.docs / "twin" / "a.txt", "text"))
    shutil.rmtree(place.docs / "twin")
    (place.docs / "twin").symlink_to(place.docs / "kept")
    assert [one.state for one in _run(place, _removal(victim, keeper)).files] == ["skipped"]
    assert keeper.path.read_text() == "text"


def test_hard_links_and_paths_that_meet_are_no_copy_that_stays(place):
    victim = _copy(_write(place.docs / "a.txt", "text"))
    os.link(victim.path, place.docs / "b.txt")
    (place.root / "other").symlink_to(place.docs)
    keepers = (_copy(place.docs / "b.txt"), _copy(place.root / "other" / "a.txt"))
    victim = _copy(victim.path)
    assert [one.state for one in _run(place, _removal(victim, *keepers)).files] == ["skipped"]


def test_what_lies_in_the_trash_is_no_copy_that_stays(place):
    keeper = _copy(_write(place.trash.folder / "a.txt", "text"))
    victim = _copy(_write(place.docs / "b.txt", "text"))
    assert "trash" in _run(place, _removal(victim, keeper)).files[0].message


def test_members_and_files_that_go_themselves_are_no_copy_that_stays(place):
    first, second = _pair(place)
    member = replace(_copy(_write(place.docs / "box.zip", "same text")), member="a.txt")
    done = _run(place, _removal(first, second, member), _removal(second, first, member))
    assert [one.state for one in done.files] == ["skipped", "skipped"]


def test_for_identical_files_the_copy_that_stays_has_the_same_bytes(place):
    victim = _copy(_write(place.docs / "a.txt", "text"))
    other = _copy(_write(place.docs / "b.txt", "more text"))
    assert _run(place, _removal(victim, other)).moved == 0
    assert _run(place, _removal(victim, other, kind=DuplicateKind.NEAR)).moved == 1


@pytest.mark.parametrize(
    ("fault", "state"),
    [
        ("refuse", "failed"),
        ("error", "failed"),
        ("lie", "failed"),
        ("copy", "failed"),
        ("late", "failed"),
        ("silent", "moved"),
        ("other inode", "moved"),
    ],
)
def test_whatever_the_trash_does_the_answer_is_true(place, fault, state):
    keeper, victim = _pair(place)
    place.trash.fault = fault
    done = _run(place, _removal(victim, keeper))
    assert done.files[0].state == state
    assert victim.path.exists() is (state == "failed")
    assert done.files[0].message or state == "moved"


def test_a_copy_that_goes_at_that_very_moment_brings_the_file_back(place):
    keeper, victim = _pair(place)
    place.trash.after = lambda: keeper.path.unlink(missing_ok=True)
    done = _run(place, _removal(victim, keeper))
    assert done.files[0].state == "skipped"
    assert victim.path.read_text() == "same text"


@pytest.mark.parametrize("fault", ["", "silent"])
def test_a_file_saved_over_it_at_that_very_moment_is_put_back(place, fault):
    keeper, victim = _pair(place)
    (place.root / "draft").write_text("new words")
    place.trash.fault = fault
    place.trash.before = lambda: os.replace(place.root / "draft", victim.path)
    done = _run(place, _removal(victim, keeper))
    assert [one.state for one in done.files] == ["skipped"]
    assert victim.path.read_text() == "new words"


def test_the_copy_that_was_verified_is_told_and_no_other(place):
    keeper, victim = _pair(place)
    gone = replace(keeper, path=place.docs / "gone.txt")
    told = []
    _run(place, _removal(victim, gone, keeper), on_moved=told.append)
    assert [removal.keepers for removal in told] == [(keeper,)]


@pytest.mark.parametrize("when", ["before", "after"])
def test_something_unforeseen_ends_the_clean_up_and_leaves_nothing_untold(place, when):
    keeper = _copy(_write(place.docs / "keep.txt", "text"))
    victims = [_copy(_write(place.docs / f"{n}.txt", "text")) for n in range(3)]

    def fails():
        raise MemoryError

    setattr(place.trash, when, fails)
    done = _run(place, *(_removal(v, keeper) for v in victims))
    went = when == "after"
    assert [one.state for one in done.files] == ["moved" if went else "failed", "skipped", "skipped"]
    assert all("MemoryError" in one.message for one in done.files)
    assert [v.path.exists() for v in victims] == [not went, True, True]
    told = list_clean_ups(place.session, trash=place.trash)[0]
    assert [one.state for one in told.files] == [one.state for one in done.files]


def test_a_cancel_does_not_write_a_line_for_each_file_that_is_left(place):
    keeper = _copy(_write(place.docs / "keep.txt", "text"))
    victims = [_copy(_write(place.docs / f"{n}.txt", "text")) for n in range(50)]
    done = _run(place, *(_removal(v, keeper) for v in victims), context=Context(cancel_after=0))
    assert [one.state for one in done.files] == ["skipped"] * 50
    [journal] = (place.root / "library" / "cleanups").glob("*.jsonl")
    assert len(journal.read_bytes().splitlines()) <= 3


def test_a_cancel_ends_between_two_files_and_says_which_were_not_begun(place):
    keeper = _copy(_write(place.docs / "keep.txt", "text"))
    victims = [_copy(_write(place.docs / f"{n}.txt", "text")) for n in range(5)]
    done = _run(place, *(_removal(v, keeper) for v in victims), context=Context(cancel_after=8))
    assert 0 < done.moved < 5
    assert done.moved + done.skipped == 5
    assert [v.path.exists() for v in victims] == [one.state == "skipped" for one in done.files]
    assert done.finished


def test_without_a_journal_nothing_moves(place, monkeypatch):
    keeper, victim = _pair(place)
    place.session.library.read_only = True
    with pytest.raises(LibraryError, match="only be read"):
        _run(place, _removal(victim, keeper))
    place.session.library.read_only = False

    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sbert_desktop.library._cleanups.CleanUpJournal._write", full)
    with pytest.raises(LibraryError) as caught:
        _run(place, _removal(victim, keeper))
    assert caught.value.code == "disk-full"
    assert victim.path.exists()


def test_a_journal_that_fills_up_midway_stops_the_clean_up(place, monkeypatch):
    keeper = _copy(_write(place.docs / "keep.txt", "text"))
    victims = [_copy(_write(place.docs / f"{n}.txt", "text")) for n in range(4)]
    whole = cleaning.CleanUpJournal._write
    lines = []

    def fills_up(self, data):
        lines.append(data)
        if len(lines) > 4:
            raise OSError(28, "No space left on device")
        whole(self, data)

    monkeypatch.setattr(cleaning.CleanUpJournal, "_write", fills_up)
    done = _run(place, *(_removal(v, keeper) for v in victims))
    assert 0 < done.moved < 4
    assert "disk" in done.files[-1].message
    monkeypatch.setattr(cleaning.CleanUpJournal, "_write", whole)
    told = list_clean_ups(place.session, trash=place.trash)[0]
    assert {one.path: one.state == "moved" for one in told.files} == {v.path: not v.path.exists() for v in victims}


def test_two_clean_ups_at_once_are_refused(place):
    keeper, victim = _pair(place)
    with CleanUps(place.root / "library").alone(), pytest.raises(LibraryError) as caught:
        _run(place, _removal(victim, keeper))
    assert caught.value.code == "clean-up-busy"
    assert _run(place, _removal(victim, keeper)).moved == 1


def test_undo_never_covers_what_lies_there_now(place):
    keeper, victim = _pair(place)
    done = _run(place, _removal(victim, keeper))
    victim.path.write_text("something new")
    undone = run_undo(place.session, "", (), Context(), trash=place.trash)
    assert undone.files[0].state == "restored"
    assert victim.path.read_text() == "something new"
    assert (place.docs / "b (restored).txt").read_text() == "same text"
    assert done.id == undone.id


def test_undo_of_some_leaves_the_others_in_the_trash(place):
    keeper = _copy(_write(place.docs / "keep.txt", "text"))
    victims = [_copy(_write(place.docs / f"{n}.txt", "text")) for n in range(3)]
    done = _run(place, *(_removal(v, keeper) for v in victims))
    some = run_undo(place.session, done.id, [victims[1].path], Context(), trash=place.trash)
    assert [one.state for one in some.files] == ["moved", "restored", "moved"]
    assert not some.undone
    rest = run_undo(place.session, done.id, (), Context(), trash=place.trash)
    assert [one.state for one in rest.files] == ["restored"] * 3


def test_an_emptied_trash_is_said(place):
    keeper, victim = _pair(place)
    done = _run(place, _removal(victim, keeper))
    shutil.rmtree(place.trash.folder)
    undone = run_undo(place.session, done.id, (), Context(), trash=place.trash)
    assert undone.files[0].state == "lost"
    assert "no longer in the trash" in undone.files[0].message


def test_a_file_of_the_trash_that_is_another_one_is_not_put_back(place):
    keeper, victim = _pair(place)
    done = _run(place, _removal(victim, keeper))
    done.files[0].trash.write_text("SAME TEXT")
    assert run_undo(place.session, done.id, (), Context(), trash=place.trash).files[0].state == "lost"


def test_what_the_person_put_back_by_hand_is_back(place):
    keeper, victim = _pair(place)
    done = _run(place, _removal(victim, keeper))
    os.rename(done.files[0].trash, victim.path)
    undone = run_undo(place.session, "", (), Context(), trash=place.trash)
    assert [(one.state, one.message) for one in undone.files] == [("restored", "It was back already.")]


def test_a_path_is_brought_back_from_whichever_clean_up_took_it(place):
    keeper = _copy(_write(place.docs / "keep.txt", "text"))
    first, second = (_copy(_write(place.docs / f"{n}.txt", "text")) for n in range(2))
    _run(place, _removal(first, keeper))
    _run(place, _removal(second, keeper))
    undone = run_undo(place.session, "", [first.path], Context(), trash=place.trash)
    assert [(one.path, one.state) for one in undone.files] == [(first.path, "restored")]
    with pytest.raises(LibraryError, match="No clean-up has these files"):
        run_undo(place.session, "", [place.docs / "other.txt"], Context(), trash=place.trash)
    with pytest.raises(LibraryError, match="moved none of these"):
        run_undo(place.session, undone.id, [second.path], Context(), trash=place.trash)


def test_undo_takes_the_last_clean_up_though_the_clock_was_set_back(place, monkeypatch):
    keeper = _copy(_write(place.docs / "keep.txt", "text"))
    first, second = (_copy(_write(place.docs / f"{n}.txt", "text")) for n in range(2))
    _run(place, _removal(first, keeper))
    clock = cleaning.time.time
    monkeypatch.setattr("sbert_desktop.library._cleanups.time.time", lambda: clock() - 90_000)
    _run(place, _removal(second, keeper))
    assert run_undo(place.session, "", (), Context(), trash=place.trash).files[0].path == second.path


def test_undo_needs_no_room_on_the_disk(place, monkeypatch):
    keeper, victim = _pair(place)
    _run(place, _removal(victim, keeper))

    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sbert_desktop.library._cleanups.CleanUpJournal._write", full)
    assert run_undo(place.session, "", (), Context(), trash=place.trash).files[0].state == "restored"
    assert victim.path.read_text() == "same text"


def test_a_torn_line_takes_no_other_with_it(place, monkeypatch):
    keeper, victim = _pair(place)
    done = _run(place, _removal(victim, keeper))
    with CleanUps(place.root / "library").reopen(done.id) as journal:
        monkeypatch.setattr("sbert_desktop.library._cleanups.os.fsync", _disk_full)
        with pytest.raises(LibraryError):
            journal.note(0, "skipped")
        journal._stream.write(b'{"file": 0, "sta')  # the disk took only half
        monkeypatch.undo()
        journal.note(0, "lost")
    assert CleanUps(place.root / "library").read(done.id).entries[0].state == "lost"


def _disk_full(handle):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "line",
    [
        b'{"begin": NaN, "files": []}', b'{"begin": 1e300, "files": []}',
        b'{"begin": 5, "files": [["00", "x", 1, 1, 1, ""]]}',
        b"[" * 50_000, b"[]", b"7", b'{"file": true, "state": "moved"}', b'{"file": 0, "state": ["moved"]}', b"\xff\0",
        b'{"begin": "now", "files": 3}', b'{"file": 99, "state": "moved"}', b'{"begin": {}, "number": []}',
    ],
)  # fmt: skip
def test_nonsense_in_a_journal_hides_no_other(place, line):
    keeper, victim = _pair(place)
    done = _run(place, _removal(victim, keeper))
    (place.root / "library" / "cleanups" / "zzz.jsonl").write_bytes(line + b"\n" + line)
    assert [one.id for one in list_clean_ups(place.session, trash=place.trash) if one.moved] == [done.id]
    assert run_undo(place.session, "", (), Context(), trash=place.trash).id == done.id


def test_with_nothing_to_undo_it_says_so(place):
    with pytest.raises(LibraryError, match="No clean-up has files in the trash"):
        run_undo(place.session, "", (), Context(), trash=place.trash)
    with pytest.raises(LibraryError, match="There is no clean-up"):
        run_undo(place.session, "../../etc/passwd", (), Context(), trash=place.trash)


# ---------------------------------------------------------------- anything in any order


def _contents(docs: Path) -> Counter[bytes]:
    found: Counter[bytes] = Counter()
    for folder, _, names in os.walk(docs):
        for name in names:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                found[path.read_bytes()] += 1
    return found


class _World:
    """Files, a trash that fails, and somebody who edits, deletes and swaps meanwhile."""

    def __init__(self, root: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.docs = root / "docs"
        (root / "library").mkdir(parents=True)
        self.session = SimpleNamespace(library=SimpleNamespace(path=root / "library", read_only=False))
        self.trash = FolderTrash(root)
        self.lost_outside: set[bytes] = set()
        for number in range(self.rng.randint(2, 9)):
            text = f"text {self.rng.randint(0, 2)}"
            _write(self.docs / self.rng.choice("pqr") / f"{number}.txt", text)

    def files(self) -> list[Path]:
        return [path for path in sorted(self.docs.rglob("*.txt")) if path.is_file() and not path.is_symlink()]

    def meddle(self) -> None:
        """Somebody else changes the folders; what they destroy is theirs."""
        files = self.files()
        if not files:
            return
        path = self.rng.choice(files)
        before = path.read_bytes()
        match self.rng.randint(0, 5):
            case 0:
                path.write_text(f"text {self.rng.randint(0, 3)}")
            case 1:
                path.unlink()
            case 2:
                other = self.rng.choice(files)
                path.unlink()
                path.symlink_to(other)
            case 3:
                times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
                path.write_bytes(before[::-1])
                os.utime(path, ns=times)
            case 4:
                self._swap_folder(path.parent)
            case 5:
                twin = path.with_name(f"link of {path.name}")
                if not os.path.lexists(twin):
                    os.link(path, twin)
        self.lost_outside.add(before)

    def _swap_folder(self, folder: Path) -> None:
        others = [one for one in sorted(self.docs.iterdir()) if one.is_dir() and not one.is_symlink() and one != folder]
        if others:
            aside = self.docs / f"aside {self.rng.random()}"
            os.rename(folder, aside)
            folder.symlink_to(self.rng.choice(others))

    def removals(self, copies: list[Copy]) -> list[Removal]:
        """Ticks at random, in groups by bytes and sometimes across, as a person who trusts the program might."""
        chosen = []
        for victim in copies:
            if self.rng.random() < 0.5:
                near = self.rng.random() < 0.2
                keepers = [c for c in copies if c is not victim and (near or c.sha256 == victim.sha256)]
                self.rng.shuffle(keepers)
                kind = DuplicateKind.NEAR if near else DuplicateKind.BYTES
                chosen.append(Removal(victim, tuple(keepers), kind))
        self.rng.shuffle(chosen)
        return chosen


def _sequence(root: Path, seed: int) -> None:
    world = _World(root, seed)
    rng = world.rng
    for _ in range(rng.randint(1, 3)):
        copies = [_copy(path) for path in world.files()]
        texts = {copy.path: copy.path.read_bytes() for copy in copies}
        removals = world.removals(copies)
        for _ in range(rng.randint(0, 2)):
            world.meddle()
        world.lost_outside.clear()
        world.trash.fault = rng.choice(["", "", "", "refuse", "error", "lie", "copy", "late", "silent", "other inode"])
        moment = rng.choice(["none", "none", "before", "after"])
        world.trash.before = world.meddle if moment == "before" and rng.random() < 0.7 else lambda: None
        world.trash.after = world.meddle if moment == "after" and rng.random() < 0.7 else lambda: None
        before = _contents(world.docs)
        context = Context(cancel_after=rng.randint(0, 12) if rng.random() < 0.2 else -1)
        done = run_clean_up(world.session, removals, context, trash=world.trash)
        after = _contents(world.docs)
        sums = {r.victim.path: texts[r.victim.path] for r in removals if r.kind is DuplicateKind.NEAR}
        for text in before:
            gone_near = any(one.state == "moved" and sums.get(one.path) == text for one in done.files)
            assert after[text] or text in world.lost_outside or gone_near, f"seed {seed}: no live copy of {text!r}"
        assert len(done.files) == len({r.victim.path for r in removals})
        for one in done.files:
            if one.state == "moved":
                assert one.trash is not None, f"seed {seed}"
                assert one.trash.is_file(), f"seed {seed}"
            else:
                assert one.message, f"seed {seed}: unreported"
        if rng.random() < 0.4 and done.moved:
            world.trash.before = world.trash.after = lambda: None
            world.trash.fault = ""
            undone = run_undo(world.session, done.id, (), Context(), trash=world.trash)
            assert undone.moved == 0, f"seed {seed}: {undone}"


@pytest.mark.parametrize(
    "seeds", [range(300), pytest.param(range(300, 1000), marks=pytest.mark.slow)], ids=["quick", "rest"]
)
def test_random_sequences_never_take_the_last_copy(tmp_path, monkeypatch, seeds):
    """1,000 sequences of ticks, edits, deletions, symlink swaps and failures of the trash; the first 300 always."""
    monkeypatch.setattr(
        "sbert_desktop.library._cleanups.os.fsync", lambda handle: None
    )  # the kill test waits for disks
    for seed in seeds:
        root = tmp_path / str(seed)
        _sequence(root, seed)
        shutil.rmtree(root)
