"""Goes through a file with members, level by level: reads, names, hashes and counts what lies inside."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from sbert_desktop.domain import ExtractedText, Listing, Problem
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction._budget import ARCHIVE_DEPTH
from sbert_desktop.extraction._container import Member, Members, MembersOf, Remainder, Stop
from sbert_desktop.extraction._extract import name_format, read_as, with_language
from sbert_desktop.extraction._parts import cut, streamed
from sbert_desktop.extraction._problems import failure, problem, problem_of
from sbert_desktop.extraction._registry import BY_NAME
from sbert_desktop.extraction._source import Source

_ARCHIVES = frozenset(("zip", "tar", "gz", "7z"))
_LONG_PDF = 1_000_000  # bytes; a smaller PDF has no thousands of pages with text
_DEEPEST = 8  # containers of any kind: mails in mails in archives
_NAME_LIMIT = 1000
_NOT_SHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_NOTHING = problem("damaged")


@dataclass(frozen=True, slots=True)
class Place:
    """Where to go on: after the cursor, pass over so many members of each level, the outermost first."""

    cursor: str = ""
    passed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One result of a series. ``member`` is ``""`` only for a file that turns out to be a plain one."""

    member: str
    outcome: ExtractedText | Problem
    place: Place
    sha256: str = ""
    size: int = 0
    mtime: float | None = None


@dataclass(frozen=True, slots=True)
class _Level:
    """One container on the way in: its source, its kind, and what it is called."""

    source: Source
    name: str  # of the format
    open: MembersOf
    prefix: str = ""
    depth: int = 1
    archives: int = 0
    mtime: float | None = None

    def full(self, name: str) -> str:
        """Gives the name of a member as the whole file knows it."""
        return f"{self.prefix}/{name}" if self.prefix and name else self.prefix or name


Entries = Generator[Entry, None, Listing | None]


def series_of(source: Source, name: str, *, place: Place | None = None, refused: Problem | None = None,
              rebase: bool = True) -> Entries:
    """Gives the results of a file, in order; returns its listing, None for a plain file (one result).

    Args:
        source: The file.
        name: Its format.
        place: Where an earlier pass ended; ``Place(cursor)`` for the cursor of an earlier reading.
        refused: Given in place of the next member, which is not read: it ended the process before.
        rebase: Places may name the cursors of members. Not where an earlier reading is continued: only
            from its own cursor can the reader tell whether the file merely grew.

    Raises:
        ExtractionError: The file as a whole cannot be read.
        MemoryError: The memory limit was reached outside of a member.
    """
    level = _level(source, name)
    if level is None:
        return (yield from _plain(source, name, place, refused))
    walk = _Walk(refused, rebase=rebase)
    remainder, problems = yield from walk.go(level, place or Place(), ())
    problems += walk.problems
    if walk.given or walk.document is not None:
        problems = [replace(entry, partial=True) for entry in problems]
    return Listing(walk.given, walk.document, tuple(problems), remainder.cursor, remainder.grown)


def is_series(source: Source, name: str) -> bool:
    """Tells whether a source of this format has members (a long text may turn out to have parts, too)."""
    return _level(source, name) is not None


def find_member(source: Source, name: str, wanted: str) -> Source | ExtractedText | Problem:
    """Gives what lies under a member's name: its bytes, or its text where it has no bytes of its own.

    Raises:
        ExtractionError: ``unreadable`` when there is no such member; as :func:`series_of`.
    """
    level = _level(source, name)
    found = _find(level, wanted) if level is not None else _part_of(source, name, wanted)
    if found is None:
        raise failure("unreadable", "There is no such file inside this one any more.", "Update the folder.")
    return found


def _level(source: Source, name: str) -> _Level | None:
    form = BY_NAME[name]
    opened = form.members() if form.container else streamed(name, source.size)
    if name == "pdf" and (source.size > _LONG_PDF or _may_hold_files(source.data)):
        from sbert_desktop.extraction._pdf import members_of

        opened = members_of(source)
    return None if opened is None else _Level(source, name, opened, archives=int(name in _ARCHIVES))


def _may_hold_files(data: bytes) -> bool:
    """Tells a small PDF that may have attachments: it says so, or its objects are packed."""
    return b"/EmbeddedFile" in data or b"/ObjStm" in data


def _plain(source: Source, name: str, place: Place | None, refused: Problem | None) -> Entries:
    if refused is not None:
        yield Entry("", refused, Place())
        return None
    parts = cut(read_as(source, name))
    if len(parts) == 1:
        yield Entry("", parts[0], Place())
        return None
    passed = place.passed[0] if place is not None and place.passed else 0
    for number, part in enumerate(parts[passed:], passed + 1):
        yield _text_entry(f"part {number}", part, Place("", (number,)), None)
    return Listing(len(parts), problems=tuple(replace(entry, partial=True) for entry in parts[0].problems))


def _text_entry(member: str, text: ExtractedText, place: Place, mtime: float | None) -> Entry:
    data = text.text.encode("utf-8", "replace")
    return Entry(member, text, place, hashlib.sha256(data).hexdigest(), len(data), mtime)


class _Walk:
    """One pass through a container and the containers in it."""

    def __init__(self, refused: Problem | None = None, *, rebase: bool = True) -> None:
        self._refused = refused
        self._rebase = rebase
        self.given = 0
        self.document: ExtractedText | None = None
        self.problems: list[Problem] = []

    def go(self, level: _Level, place: Place, above: tuple[int, ...]
           ) -> Generator[Entry, None, tuple[Remainder, list[Problem]]]:
        """Goes through one container; ``above`` are the numbers of the members that it lies in."""
        passed = place.passed[len(above)] if len(place.passed) > len(above) else 0
        deeper = len(place.passed) > len(above) + 1
        base, first = place.cursor, 0
        problems: list[Problem] = []
        with closing(level.open(level.source, "" if above else place.cursor)) as generator:
            members = _Guarded(generator, problems)
            for number, member in members:
                if not above and not member.name and member.document is not None:
                    self.document = with_language(member.document)
                    continue
                if number < passed:
                    continue
                here = (*above, number - first)
                inner = place if deeper and number == passed else Place(base, here)
                if not above and member.cursor and self._rebase:
                    base, first = member.cursor, number + 1
                after = Place(base, (*above, number + 1 - first))
                try:
                    yield from self._member(level, member, inner, after, here)
                except Stop as stop:
                    problems.append(stop.problem)
                    break
        return members.remainder, problems

    def _member(self, level: _Level, member: Member, place: Place, after: Place, here: tuple[int, ...]
                ) -> Iterator[Entry]:
        name = level.full(member.name)
        mtime = member.mtime if member.mtime is not None else level.mtime
        outcome: bytes | ExtractedText | Problem | None = member.problem or member.document or member.data
        deeper = len(place.passed) > len(here)
        if self._refused is not None and not deeper and member.document is None:
            outcome, self._refused = self._refused, None
        elif outcome is None and member.load is not None:
            outcome = _loaded(member)
        if isinstance(outcome, ExtractedText):
            if member.name:
                yield self._count(_text_entry(name, with_language(outcome), after, mtime))
            else:  # the text of a mail inside this file
                data = level.source.data
                yield self._count(Entry(name, with_language(outcome), after, hashlib.sha256(data).hexdigest(),
                                        len(data), mtime))
        elif isinstance(outcome, bytes):
            source = _inner_source(level, member, outcome)
            yield from self._bytes(level, source, Entry(
                name, _NOTHING, after, hashlib.sha256(outcome).hexdigest(), len(outcome), mtime), place, here)
        else:
            yield self._count(Entry(name, outcome or _NOTHING, after, mtime=mtime))

    def _bytes(self, level: _Level, source: Source, entry: Entry, place: Place, here: tuple[int, ...]
               ) -> Iterator[Entry]:
        """Reads the bytes of a member: as one document, in parts, or as a container of its own."""
        try:
            name = name_format(source)
            inner = _inner_level(level, source, name, entry.member, entry.mtime)
            if inner is not None:
                yield from self._inside(inner, entry, place, here)
                return
            parts = cut(read_as(source, name))
        except ExtractionError as error:
            yield self._count(replace(entry, outcome=problem_of(error)))
            return
        except MemoryError:
            yield self._count(replace(entry, outcome=problem("too-much-memory")))
            return
        if len(parts) == 1:
            yield self._count(replace(entry, outcome=parts[0]))
            return
        for number, part in enumerate(parts, 1):  # all of them are given again unless the last one was
            where = entry.place if number == len(parts) else place
            yield self._count(_text_entry(f"{entry.member}/part {number}", part, where, entry.mtime))

    def _inside(self, inner: _Level, entry: Entry, place: Place, here: tuple[int, ...]) -> Iterator[Entry]:
        before, own_text = self.given, False
        entries = self.go(inner, place, here)
        while True:
            try:
                found = next(entries)
            except StopIteration as end:
                _, problems = end.value
                break
            own_text = own_text or found.member == entry.member
            yield found
        for first in problems[:1]:
            partial = replace(first, partial=self.given > before)
            if own_text:
                self.problems.append(replace(partial, message=f"{entry.member}: {first.message}"))
            else:
                yield self._count(replace(entry, outcome=partial))

    def _count(self, entry: Entry) -> Entry:
        self.given += 1
        return entry


class _Guarded:
    """Numbers the members and gives them clean, unique names; a failure after the first ends them.

    Raises:
        ExtractionError: The container fails before its first member.
        MemoryError: As above.
    """

    def __init__(self, members: Members, problems: list[Problem]) -> None:
        self._members = members
        self._problems = problems
        self._names: set[str] = set()
        self._number = 0
        self.remainder = Remainder()

    def __iter__(self) -> Iterator[tuple[int, Member]]:
        while (member := self._next()) is not None:
            name = member.name
            if name or member.document is None:
                name = clean_name(name)
                if not member.cursor:  # a mailbox numbers its members itself, and may have millions
                    name = _unique(name, self._names)
            yield self._number, replace(member, name=name)
            self._number += 1

    def _next(self) -> Member | None:
        try:
            return next(self._members)
        except StopIteration as end:
            if isinstance(end.value, Remainder):
                self.remainder = end.value
                self._problems.extend(end.value.problems)
        except Stop as stop:
            self._problems.append(stop.problem)
        except ExtractionError as error:
            self._end(error, problem_of(error))
        except MemoryError as error:
            self._end(error, problem("too-much-memory"))
        except Exception as error:  # as in _extract.read_as: one container's reader
            self._end(failure("damaged", detail=type(error).__name__), problem("damaged"))
        return None

    def _end(self, error: Exception, entry: Problem) -> None:
        if not self._number:
            raise error
        self._problems.append(entry)


def clean_name(name: str) -> str:
    """Gives a member's name as it is listed: one line, slashes only, nothing that climbs out.

    The name is only ever shown and compared, never used as a path (RELIABILITY R13).
    """
    name = _NOT_SHOWN.sub("\ufffd", name.replace("\\", "/"))[:_NAME_LIMIT]
    pieces = [piece for piece in name.split("/") if piece not in {"", ".", ".."}]
    return "/".join(pieces) or "unnamed"


def _unique(name: str, names: set[str]) -> str:
    stem, number = name, 1
    while name in names:
        number += 1
        head, dot, suffix = stem.rpartition(".")
        name = f"{head} ({number}).{suffix}" if dot and head and "/" not in suffix else f"{stem} ({number})"
    names.add(name)
    return name


def _loaded(member: Member) -> bytes | ExtractedText | Problem:
    assert member.load is not None
    try:
        return member.load()
    except Stop:
        raise
    except ExtractionError as error:
        return problem_of(error)
    except MemoryError:
        return problem("too-much-memory")
    except Exception:  # as in _extract.read_as: one member's reader
        return problem("damaged")


def _inner_source(level: _Level, member: Member, data: bytes) -> Source:
    # A mailbox has no limits as a whole: each message may unpack what it may.
    budget = None if BY_NAME[level.name].growing else level.source.budget
    return Source(member.name.rpartition("/")[2], data, level.source.password, budget=budget)


def _inner_level(level: _Level, source: Source, name: str, prefix: str, mtime: float | None) -> _Level | None:
    """Gives the level of a container inside a container, None if it is none.

    Raises:
        ExtractionError: ``archive-limit`` when it lies too deep.
    """
    inner = _level(source, name)
    if inner is None:
        return None
    archives = level.archives + inner.archives
    if archives > ARCHIVE_DEPTH or level.depth >= _DEEPEST:
        raise failure("archive-limit", "It lies too deep inside other archives.")
    return replace(inner, prefix=prefix, depth=level.depth + 1, archives=archives, mtime=mtime)


# ---------------------------------------------------------------- one member only


def _find(level: _Level, wanted: str) -> Source | ExtractedText | Problem | None:
    with closing(level.open(level.source, "")) as generator:
        for _, member in _Guarded(generator, []):
            name = level.full(member.name)
            if name != wanted and not (member.name and wanted.startswith(f"{name}/")):
                continue
            outcome = member.problem or member.document or member.data
            if outcome is None and member.load is not None:
                outcome = _loaded(member)
            if name == wanted:
                return _inner_source(level, member, outcome) if isinstance(outcome, bytes) else outcome
            if isinstance(outcome, bytes):
                source = _inner_source(level, member, outcome)
                form = name_format(source)
                inner = _inner_level(level, source, form, name, None)
                found = _find(inner, wanted) if inner is not None else _part_of(
                    source, form, wanted.removeprefix(f"{name}/"))
                if found is not None:
                    return found
    return None


def _part_of(source: Source, name: str, wanted: str) -> ExtractedText | None:
    if not re.fullmatch(r"part \d{1,6}", wanted):
        return None
    parts = cut(read_as(source, name))
    number = int(wanted.removeprefix("part "))
    return parts[number - 1] if 0 < number <= len(parts) else None
