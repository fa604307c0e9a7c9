"""How the pages of a file's results travel: the replies of a child, checked, and how far a series is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import cast

from sbert_desktop.domain import ExtractedText, Listing, Problem, SourceFile
from sbert_desktop.errors import JobError
from sbert_desktop.extraction._codec import decode_document, decode_problem, encode_problem
from sbert_desktop.extraction._problems import problem

SERIES_DEATHS = 10  # members of one file that end a child: then the rest of it is left
_PAGE_MEMBERS = 200
REOPEN_SECONDS = 8.0
"""What a file may take to be opened once more after it timed out, beside what it took so far.

It is opened in a moment; the rest is for a machine that stalls meanwhile, or a good member would be taken for the one
that hangs.
"""
_PAGE_SECONDS = 2.0  # a page that has results ends after this time: what is left of it was quick
_REPLY_SENSE = "A helper process gave an answer that makes no sense."

Outcome = ExtractedText | Problem | Listing | None
Result = tuple[SourceFile, Outcome]


@dataclass(slots=True)
class Page:
    """One reply: its results, whether they are the last of their files, and which files want to go alone."""

    results: list[Result]
    next: int | None = None
    place: list[object] | None = None
    alone: list[SourceFile] = field(default_factory=list)
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits in force: seconds and MB; problems that they made say how high they were.

    Whoever reads the list sees it, and so does the program once a limit was raised: see :func:`limit_told`.
    """

    seconds: float
    megabytes: int

    def told(self, outcome: Outcome) -> Outcome:
        """Gives a result with the limit in the words of its problems."""
        if isinstance(outcome, Problem):
            return self._told(outcome)
        if isinstance(outcome, Listing) and outcome.problems:
            return replace(outcome, problems=tuple(map(self._told, outcome.problems)))
        return outcome

    def _told(self, entry: Problem) -> Problem:
        limit = {"timed-out": f"{self.seconds:g} s", "too-much-memory": f"{self.megabytes} MB"}.get(entry.code)
        usual = limit is not None and entry.message == problem(entry.code).message
        return replace(entry, message=f"{entry.message.rstrip('.')} of {limit}.") if usual else entry


def limit_told(message: str) -> float | None:
    """Gives the limit that a problem's message names, in seconds or MB; None where it names none."""
    match = re.search(r" than the limit of ([0-9.]{1,12}) (?:s|MB)\.$", message)
    return float(match[1]) if match else None


class SeriesState:
    """How far the series of one file is.

    The first page has one result only, so that a file that hangs when it is opened, or whose first member
    hangs, is known at once and not tried again. All members of a later page that timed out were quick but
    the last: they are gone through once more one by one, in a hurry, and the one that is not quick is it.
    """

    def __init__(self, file: SourceFile) -> None:
        self._file = file
        self._members = 0
        self._deaths = 0
        self._begun = False
        self._spent = 0.0  # seconds that the pages took so far: passing over them takes no longer
        self._hurry: float | None = None  # seconds left in which what was quick before is quick again
        self._single = 0  # so many results are asked for one by one
        self._refused: Problem | None = None
        self.next: int | None = None
        self.place: list[object] | None = None

    def header(self) -> dict[str, object]:
        """Gives what the next request says beside the file."""
        header: dict[str, object] = {"count": 1} if self._single or self._refused or not self._begun else {}
        if self.next is not None:
            return {**header, "op": "page", "next": self.next}
        if self.place is not None:
            header["place"] = self.place
        if self._refused is not None:
            header["refused"] = encode_problem(self._refused)
        if self._file.cursor:
            header["cursor"] = self._file.cursor
        return header

    def timeout(self, limit: float) -> float:
        """Gives the seconds that the next request may take, where any file may take ``limit``."""
        return limit if self._hurry is None else min(limit, REOPEN_SECONDS + self._spent)

    def taken(self, page: Page, seconds: float = 0.0) -> list[Result]:
        """Notes a page and its time; gives its results with the listing's number of members made whole."""
        self._begun = True
        if self._hurry is not None:
            self._hurry -= seconds
            if self._refused is not None or self._hurry < 0:
                self._hurry = None
        self._spent += seconds
        self._refused = None
        self._single = max(0, self._single - 1)
        self.next = page.next
        self.place = page.place or self.place
        results: list[Result] = []
        for file, outcome in page.results:
            if isinstance(outcome, Listing):
                results.append((file, replace(outcome, members=self._members,
                                              grown=outcome.grown and bool(self._file.cursor))))
            else:
                self._members += bool(file.member)
                results.append((file, outcome))
        return results

    def try_again(self) -> bool:
        """True the first time."""
        self._deaths += 1
        return self._deaths == 1

    def after_death(self, cause: Problem) -> bool:
        """Decides how to go on after a child died; False when there is no way on."""
        self.next = None
        timed_out = cause.code == "timed-out"
        if self._refused is None:
            self._hurry = 3 * _PAGE_SECONDS if timed_out else None
        if self._single == 0 and self._refused is None:
            self._single = _PAGE_MEMBERS
            if self._begun or not timed_out:
                return True
        self._deaths += 1
        if self._deaths > SERIES_DEATHS:
            return False
        if self._refused is None:
            self._refused = cause
            if self.place is None:
                self.place = [self._file.cursor, []]
            return True
        # Not even its name could be had: give the container that it lies in as the problem.
        passed = cast(list[int], self.place[1]) if self.place is not None else []
        if len(passed) < 2 or self.place is None:
            return False
        self.place = [self.place[0], passed[:-1]]
        return True

    def give_up(self, cause: Problem) -> list[Result]:
        """Gives the end of a file that cannot be gone on with."""
        if not self._members:
            return [(self._file, cause)]
        return [(replace(self._file, cursor=""), Listing(self._members, problems=(replace(cause, partial=True),)))]


def _nonsense() -> JobError:
    return JobError("child-refused", _REPLY_SENSE)


def page_of(batch: list[SourceFile], header: dict[str, object], payload: bytes) -> Page:
    """Checks and decodes a reply; a child that read a hostile file is not trusted.

    Raises:
        JobError: ``child-refused``.
    """
    entries, following = header.get("results"), header.get("next")
    if not isinstance(entries, list) or not (following is None or isinstance(following, int)):
        raise _nonsense()
    page = Page([], following)
    texts = _Texts(payload)
    finished: set[int] = set()
    for given in entries:
        entry = cast(dict[str, object], given if isinstance(given, dict) else {"file": None})
        index = entry.get("file", 0)
        if not isinstance(index, int) or not 0 <= index < len(batch) or index in finished:
            raise _nonsense()
        if entry.get("alone") is True:
            page.alone.append(batch[index])
            finished.add(index)
            continue
        member = entry.get("member", "")
        if not isinstance(member, str):
            raise _nonsense()
        seen = seen_as(replace(batch[index], member=member, content_hash="", cursor=""), entry)
        page.results.append((seen, _outcome_of(entry, texts)))
        if member:
            page.place = _checked_place(entry.get("place"))
        else:
            finished.add(index)
    if following is None and len(finished) != len(batch):
        raise _nonsense()
    page.ended = following is None
    return page


class _Texts:
    """The texts of a reply, one behind the other."""

    def __init__(self, payload: bytes) -> None:
        self._payload = memoryview(payload)
        self._at = 0

    def document(self, header: dict[str, object]) -> ExtractedText:
        size = header.get("bytes")
        if not isinstance(size, int) or size < 0 or self._at + size > len(self._payload):
            raise _nonsense()
        begin, self._at = self._at, self._at + size
        return decode_document(header, bytes(self._payload[begin : self._at]))


def _outcome_of(entry: dict[str, object], texts: _Texts) -> Outcome:
    try:
        document, listing = entry.get("document"), entry.get("listing")
        if isinstance(document, dict):
            return texts.document(document)
        if isinstance(listing, dict):
            own = listing.get("document")
            return Listing(int(listing["members"]), texts.document(own) if isinstance(own, dict) else None,
                           tuple(decode_problem(problem) for problem in listing["problems"]),
                           str(listing["cursor"]), listing["grown"] is True)
        return decode_problem(cast(dict[str, object], entry.get("problem")))
    except (KeyError, TypeError, ValueError) as error:
        raise _nonsense() from error


def _checked_place(value: object) -> list[object]:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str) \
            or not isinstance(value[1], list) or not all(type(number) is int for number in value[1]):
        raise _nonsense()
    return value


def seen_as(file: SourceFile, entry: dict[str, object]) -> SourceFile:
    """Gives the file as the child saw it when it read it."""
    sha, size, mtime = entry.get("sha256"), entry.get("size"), entry.get("mtime_ns")
    if not (isinstance(sha, str) and isinstance(size, int) and isinstance(mtime, int)) or not (sha or mtime):
        return file
    return replace(file, content_hash=sha, size=size, mtime_ns=mtime)
