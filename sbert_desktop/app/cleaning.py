"""Moves duplicates to the trash so that it can be trusted with the only copy, and brings them back.

A file goes only if, at that very moment, it is the file that was compared and a copy that stays was read in full
and found to be what was compared, outside the trash. What happened is checked after the move, too: a file that
should not have gone is put back at once. Everything is written down first (``library/_cleanups``).
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sbert_desktop.app.copies import read_hash
from sbert_desktop.app.duplicate_views import CleanUpView, MovedView
from sbert_desktop.app.rules import is_online_only
from sbert_desktop.app.session import Session
from sbert_desktop.cleanup import Copy, DuplicateKind, Removal, Trash
from sbert_desktop.domain import JobContext, display_path, short_path
from sbert_desktop.errors import Cancelled, LibraryError, PlatformError, SbertDesktopError
from sbert_desktop.library import CleanUpEntry, CleanUpJournal, CleanUpRecord, CleanUps
from sbert_desktop.platform import SystemTrash, is_in_trash

_AWAY = ("moved", "lost")
_BESIDE = 99
"""Names that are tried for a file whose old place is taken."""
_CLOCK_STEP = 50_000_000  # ns by which a file system's clock may lag behind
_CHANGED = "It changed since it was compared."
_STOPPED = "Not begun: the clean-up was stopped."
_CUT_SHORT = "The clean-up was cut short before it was moved."


class _Doubt(Exception):  # noqa: N818  a reason, not an error
    """Why a file is left where it is."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file as it is now; what tells that it is still the same one."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


def run_clean_up(
    session: Session,
    removals: Sequence[Removal],
    context: JobContext,
    *,
    dry: bool = False,
    trash: Trash | None = None,
    on_moved: Callable[[Removal], None] | None = None,
) -> CleanUpView:
    """Moves files to the trash, each verified just before and after.

    Args:
        session: The opened library; its folder holds the journal.
        removals: What is to go, each with the copies of which one must stay. A file that is itself to go is no
            copy that stays, whatever the list says.
        context: Told how far it is; a cancel ends it between two files, and what was moved is in the answer.
        dry: Verify all, move nothing, write nothing.
        trash: The system's unless a test gives its own.
        on_moved: Called after each file that went, with the one copy that was verified as its only keeper.

    Raises:
        LibraryError: ``library-readonly``, ``disk-full``, ``clean-up-busy``: nothing was moved.
    """
    trash = trash or SystemTrash()
    wanted = list({removal.victim.path: removal for removal in removals}.values())
    going = {removal.victim.path for removal in wanted}
    entries = [_entry(removal.victim) for removal in wanted]
    clean_ups = CleanUps(session.library.path)
    if dry:
        run = _Run(wanted, going, trash, None, context, on_moved)
        return _view(CleanUpRecord("", 0.0, tuple(entries), True), run.go(), dry=True)
    with clean_ups.alone(context.check):  # says what is wrong with a disk that is full or can only be read
        if session.library.read_only:
            name = short_path(session.library.path)
            why = f"The library {name} can only be read, and a clean-up must be written down."
            raise LibraryError("library-readonly", why, "Make its folder writable.")
        with clean_ups.begin(entries) as journal:
            outcomes = _Run(wanted, going, trash, journal, context, on_moved).go()
            with contextlib.suppress(LibraryError, OSError):  # what moved is written down; the end tells nothing more
                journal.end()
    return _view(clean_ups.read(journal.id), outcomes)


def _entry(victim: Copy) -> CleanUpEntry:
    return CleanUpEntry(victim.path, victim.size, victim.mtime_ns, victim.device, victim.inode, victim.sha256)


class _Run:
    """One pass over the files of a clean-up."""

    def __init__(
        self,
        wanted: Sequence[Removal],
        going: set[Path],
        trash: Trash,
        journal: CleanUpJournal | None,
        context: JobContext,
        on_moved: Callable[[Removal], None] | None,
    ) -> None:
        self._wanted = wanted
        self._going = going
        self._inodes = {(r.victim.device, r.victim.inode) for r in wanted if r.victim.inode}
        self._trash = trash
        self._journal = journal
        self._context = context
        self._on_moved = on_moved
        self._began = 0

    def go(self) -> list[MovedView]:
        outcomes: list[MovedView] = []
        stopped = ""
        label = "Checking" if self._journal is None else "Moving to the trash"
        for number, removal in enumerate(self._wanted):
            victim = removal.victim
            if stopped:  # the journal says "planned" of it, and that is all there is to say
                outcomes.append(MovedView(victim.path, victim.size, "skipped", stopped))
                continue
            try:
                self._context.check()
                self._context.progress(label, number, len(self._wanted), display_path(victim.path.name))
                outcome = self._one(number, removal)
            except Cancelled:
                stopped = _STOPPED
                outcome = self._skip(number, removal, stopped)
            except LibraryError as error:  # the journal cannot be written: nothing may move without it
                stopped = f"The clean-up stopped: {error.message}"
                outcome = MovedView(victim.path, victim.size, "skipped", stopped)
            except Exception as error:  # whatever it is, what became of the file is told
                stopped = f"The clean-up stopped: {type(error).__name__}."
                outcome = self._looked_up(number, removal, stopped)
            outcomes.append(outcome)
        self._context.progress(label, len(self._wanted), len(self._wanted))
        return outcomes

    def _looked_up(self, number: int, removal: Removal, why: str) -> MovedView:
        """Says what became of a file after something unforeseen."""
        victim = removal.victim
        entry = replace(_entry(victim), state="moving")
        found = _outcome(entry, self._trash) if self._journal is not None else None
        if found is not None and found.state == "moved" and found.trash is not None:
            return self._gone(number, removal, found.trash, why)
        state = "failed" if found is None or found.state == "skipped" else found.state
        return self._skip(number, removal, why, state)

    def _skip(self, number: int, removal: Removal, why: str, state: str = "skipped") -> MovedView:
        if self._journal is not None:
            with contextlib.suppress(LibraryError, OSError):  # planned and not moved says the same
                self._journal.note(number, state, message=why)
        return MovedView(removal.victim.path, removal.victim.size, state, why)

    def _one(self, number: int, removal: Removal) -> MovedView:
        victim = removal.victim
        try:
            seen = self._verified(victim, "It")
            keeper, kept = self._living(removal, seen)
        except _Doubt as doubt:
            return self._skip(number, removal, str(doubt))
        if self._journal is None:
            return MovedView(victim.path, victim.size, "moved")
        self._journal.note(number, "moving")
        if _look(victim.path) != seen or _look(keeper.path) != kept:
            return self._skip(number, removal, _CHANGED)
        self._began = time.time_ns()
        try:
            trashed = self._trash.move(victim.path)
        except PlatformError as error:
            return self._after_refusal(number, removal, seen, f"{error}")
        except OSError as error:
            return self._after_refusal(number, removal, seen, f"The trash refused it: {error.strerror or error}.")
        return self._after_move(number, removal, seen, (keeper, kept), trashed)

    def _after_refusal(self, number: int, removal: Removal, seen: _Seen, why: str) -> MovedView:
        """Says why a file did not go; one that went all the same is put back, or found and told."""
        victim = removal.victim
        if _look(victim.path) is not None:
            return self._skip(number, removal, why, "failed")
        trashed = self._arrived(victim, seen, None)
        if trashed is not None and self._put_back(trashed, victim.path):
            return self._skip(number, removal, why, "failed")
        return self._gone(number, removal, trashed, why)

    def _after_move(
        self, number: int, removal: Removal, seen: _Seen, keeper: tuple[Copy, _Seen], trashed: Path | None
    ) -> MovedView:
        victim = removal.victim
        if _same_file(_look(victim.path), seen):
            return self._skip(number, removal, "The trash said it took the file, but it is still there.", "failed")
        arrived = self._arrived(victim, seen, trashed)
        if arrived is None:
            return self._other_went(number, removal, trashed)
        copy, kept = keeper
        if _look(copy.path) != kept:
            why = f"The copy that was to stay, {short_path(copy.path)}, changed at this moment."
            if self._put_back(arrived, victim.path):
                return self._skip(number, removal, why)
            return self._gone(number, removal, arrived, why)
        self._note_moved(number, arrived, "")
        if self._on_moved is not None:
            self._on_moved(replace(removal, keepers=(copy,)))
        return MovedView(victim.path, victim.size, "moved", trash=arrived)

    def _other_went(self, number: int, removal: Removal, trashed: Path | None) -> MovedView:
        """Puts back what the trash took in the place of a file: one that was saved over it at that very moment."""
        path = removal.victim.path
        places = [trashed] if trashed is not None else []
        for place in itertools.chain(places, self._trash.find(path)):
            now = _look(place)
            if now is None or (place != trashed and now.ctime_ns < self._began - _CLOCK_STEP):
                continue  # another one of this path, thrown away before
            if not os.path.lexists(path) and self._put_back(place, path):
                return self._skip(number, removal, _CHANGED)
            return self._gone(number, removal, place, f"{_CHANGED} What lay there is in the trash.")
        return self._gone(number, removal, None, "It cannot be found in the trash.")

    def _gone(self, number: int, removal: Removal, trashed: Path | None, why: str) -> MovedView:
        """Says that a file is away though it should not be."""
        if trashed is not None:
            self._note_moved(number, trashed, why)
            return MovedView(removal.victim.path, removal.victim.size, "moved", why, trashed)
        return self._skip(number, removal, why, "lost")

    def _note_moved(self, number: int, trashed: Path, why: str) -> None:
        assert self._journal is not None
        with contextlib.suppress(LibraryError, OSError):  # "moving" stands there: where it went is looked up
            self._journal.note(number, "moved", trash=trashed, message=why)

    def _arrived(self, victim: Copy, seen: _Seen, trashed: Path | None) -> Path | None:
        """Gives where a file lies in the trash, sure that it is that file."""
        for place in _places(victim.path, trashed, self._trash):
            now = _look(place)
            if now is None or now.size != seen.size:
                continue
            if _same_file(now, seen) or read_hash(place) == victim.sha256:
                return place
        return None

    def _put_back(self, trashed: Path, path: Path) -> bool:
        try:
            self._trash.restore(trashed, path)
        except SbertDesktopError:
            return False
        return True

    def _living(self, removal: Removal, victim: _Seen) -> tuple[Copy, _Seen]:
        """Gives a copy that stays, read in full just now."""
        doubts = []
        for keeper in removal.keepers:
            if keeper.path in self._going or keeper.member:
                continue
            if removal.kind is DuplicateKind.BYTES and keeper.sha256 != removal.victim.sha256:
                continue
            try:
                seen = self._verified(keeper, short_path(keeper.path))
            except _Doubt as doubt:
                doubts.append(str(doubt))
                continue
            if (seen.device, seen.inode) == (victim.device, victim.inode) or (seen.device, seen.inode) in self._inodes:
                continue  # the same file by another name
            return keeper, seen
        reason = f" {doubts[0]}" if doubts else ""
        raise _Doubt(f"No copy that stays could be read and verified.{reason}")

    def _verified(self, copy: Copy, name: str) -> _Seen:
        """Reads a file in full and makes sure that it is the one that was compared."""
        path = copy.path
        seen = _look(path)
        if seen is None:
            raise _Doubt(f"{name} is gone.")
        if seen.size != copy.size or seen.mtime_ns != copy.mtime_ns or _is_other(copy, seen):
            raise _Doubt(f"{name} changed since it was compared.")
        if is_in_trash(Path(os.path.realpath(path))):
            raise _Doubt(f"{name} lies in the trash.")
        found = read_hash(path, self._context.check)
        if not found:
            raise _Doubt(f"{name} cannot be read.")
        if found != copy.sha256 or _look(path) != seen:
            raise _Doubt(f"{name} changed since it was compared.")
        return seen


def _is_other(copy: Copy, seen: _Seen) -> bool:
    return bool(copy.inode) and (copy.device, copy.inode) != (seen.device, seen.inode)


def _look(path: Path) -> _Seen | None:
    """Gives a regular file as it is now; links are not followed, files in the cloud only do not count."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode) or is_online_only(status):
        return None
    return _Seen(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _same_file(now: _Seen | None, before: _Seen) -> bool:
    return now is not None and (now.device, now.inode) == (before.device, before.inode) and bool(now.inode)


# ---------------------------------------------------------------- history and undo


def list_clean_ups(session: Session, *, trash: Trash | None = None) -> tuple[CleanUpView, ...]:
    """Lists clean-ups, newest first; of one that was cut short, what happened to its last file is looked up."""
    trash = trash or SystemTrash()
    return tuple(_view(record, _outcomes(record, trash)) for record in CleanUps(session.library.path).all())


def run_undo(
    session: Session,
    id: str,
    paths: Sequence[Path],
    context: JobContext,
    *,
    trash: Trash | None = None,
) -> CleanUpView:
    """Brings back what a clean-up moved; a file whose place is taken comes back beside it, under a new name.

    Args:
        session: The opened library.
        id: Of the clean-up; ``""`` for the last one of which something (of ``paths``) can come back.
        paths: Only these; empty for all.
        context: Told how far it is; a cancel ends it between two files.
        trash: The system's unless a test gives its own.

    Raises:
        LibraryError: ``clean-up-unknown``, ``nothing-to-undo``, ``library-readonly``, ``disk-full``.
    """
    trash = trash or SystemTrash()
    clean_ups = CleanUps(session.library.path)
    chosen = {Path(os.path.abspath(path)) for path in paths}
    with clean_ups.alone(context.check):
        record, outcomes = _wanted(clean_ups, id, chosen, trash)
        notes = []
        with clean_ups.reopen(record.id) as journal:
            for number, outcome in enumerate(outcomes):
                if outcome.state not in _AWAY or (chosen and outcome.path not in chosen):
                    continue
                try:
                    context.check()
                except Cancelled:
                    notes.append("Stopped: the other files are still in the trash.")
                    break
                context.progress("Putting back", number, len(outcomes), display_path(outcome.path.name))
                outcomes[number] = _restore(journal, number, record.entries[number], outcome, trash)
            if not record.finished:
                with contextlib.suppress(LibraryError, OSError):
                    journal.end()
        return _view(clean_ups.read(record.id), outcomes, notes=tuple(notes))


def _wanted(clean_ups: CleanUps, id: str, chosen: set[Path], trash: Trash) -> tuple[CleanUpRecord, list[MovedView]]:
    """Gives the clean-up that is to be undone, and what became of its files."""
    if id:
        record = clean_ups.read(id)
        outcomes = _outcomes(record, trash)
        if chosen and not any(outcome.path in chosen for outcome in outcomes):
            raise LibraryError("nothing-to-undo", "That clean-up moved none of these files.", "See 'undo --list'.")
        return record, outcomes
    for record in clean_ups.all():
        if chosen and chosen.isdisjoint(entry.path for entry in record.entries):
            continue
        outcomes = _outcomes(record, trash)
        if any(outcome.state == "moved" and (not chosen or outcome.path in chosen) for outcome in outcomes):
            return record, outcomes
    what = "No clean-up has these files" if chosen else "No clean-up has files"
    raise LibraryError("nothing-to-undo", f"{what} in the trash.", "See 'undo --list'.")


def _restore(journal: CleanUpJournal, number: int, entry: CleanUpEntry, outcome: MovedView, trash: Trash) -> MovedView:
    """Puts one file back; that the journal cannot be written (the disk is full) is no reason to leave it there."""

    def told(state: str, why: str, at: Path | None = None) -> MovedView:
        with contextlib.suppress(LibraryError, OSError):
            journal.note(number, state, at=at, message=why)
        return MovedView(entry.path, entry.size, state, why)

    found = _find_trashed(entry, outcome.trash, trash)
    if found is None:
        now = _look(entry.path)
        if now is not None and now.size == entry.size and read_hash(entry.path) == entry.sha256:
            return told("restored", "It was back already.", entry.path)
        return told("lost", "It is no longer in the trash.")
    for target in _targets(entry.path):
        try:
            trash.restore(found, target)
        except PlatformError as error:
            if error.code == "file-exists":
                continue
            return MovedView(entry.path, entry.size, "moved", str(error), found)
        beside = f"Another file lies there now; it is back as {display_path(target.name)}."
        return told("restored", "" if target == entry.path else beside, target)
    return MovedView(entry.path, entry.size, "moved", "Other files lie at its place.", found)


def _targets(path: Path) -> list[Path]:
    beside = [path.with_name(f"{path.stem} (restored{f' {n}' if n else ''}){path.suffix}") for n in range(_BESIDE)]
    return [path, *beside]


def _find_trashed(entry: CleanUpEntry, known: Path | None, trash: Trash) -> Path | None:
    """Gives where a file of a clean-up lies in the trash; its bytes decide."""
    for place in _places(entry.path, known, trash):
        now = _look(place)
        if now is not None and now.size == entry.size and read_hash(place) == entry.sha256:
            return place
    return None


def _places(original: Path, known: Path | None, trash: Trash) -> Iterator[Path]:
    """Gives where a file may lie in the trash; the whole trash is gone through only if it is not where it was said."""
    if known is not None:
        yield known
    yield from trash.find(original)


def _outcomes(record: CleanUpRecord, trash: Trash) -> list[MovedView]:
    """Gives what became of each file; what the journal leaves open is looked up."""
    return [_outcome(entry, trash) for entry in record.entries]


def _outcome(entry: CleanUpEntry, trash: Trash) -> MovedView:
    if entry.state == "planned":
        return MovedView(entry.path, entry.size, "skipped", _CUT_SHORT)
    if entry.state != "moving":
        return MovedView(entry.path, entry.size, entry.state, entry.message, entry.trash)
    now = _look(entry.path)
    if now is not None and now.size == entry.size and (not entry.inode or now.inode == entry.inode):
        return MovedView(entry.path, entry.size, "skipped", _CUT_SHORT)
    found = _find_trashed(entry, None, trash)
    if found is not None:
        return MovedView(entry.path, entry.size, "moved", "", found)
    return MovedView(entry.path, entry.size, "lost", "The clean-up was cut short, and it is not found in the trash.")


def _view(
    record: CleanUpRecord, outcomes: Sequence[MovedView], *, dry: bool = False, notes: tuple[str, ...] = ()
) -> CleanUpView:
    count = {state: sum(one.state == state for one in outcomes) for state in ("moved", "skipped", "restored")}
    return CleanUpView(
        record.id,
        record.when,
        tuple(outcomes),
        moved=count["moved"],
        skipped=count["skipped"],
        failed=len(outcomes) - sum(count.values()),
        bytes=sum(one.size for one in outcomes if one.state == "moved"),
        undone=bool(count["restored"]) and not count["moved"],
        finished=record.finished,
        dry=dry,
        notes=notes,
    )
