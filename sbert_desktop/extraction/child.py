"""What runs inside an extraction child: one request, one reply, no trust in any file."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sbert_desktop.domain import ExtractedText, Listing, Problem
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction._codec import decode_problem, encode_document, encode_problem
from sbert_desktop.extraction._extract import FILE_LIMIT, extract_source, name_format
from sbert_desktop.extraction._language import detect_language
from sbert_desktop.extraction._limits import set_limits
from sbert_desktop.extraction._problems import failure, problem, problem_of
from sbert_desktop.extraction._registry import BY_NAME, SUPPORTED
from sbert_desktop.extraction._series import Entries, Entry, Place, find_member, is_series, series_of
from sbert_desktop.extraction._source import OpenFile, Source, check_size, open_file, suffix_of
from sbert_desktop.wire import Handler

_CHUNK = 1 << 20
PAGE_BYTES = 4_000_000
PAGE_SECONDS = 2.0
PAGE_RESULTS = 200
"""A page of a series ends after any of these. Source: RELIABILITY R1 (limits hold per 4 MB part)."""
_PAGE_TEXT = 16_000_000
_YEAR_2200 = 7.3e9  # seconds: what lies beyond is no time

Reply = tuple[Mapping[str, object], bytes]


def make_handler(*, limits: bool = True) -> Handler:
    """Gives the handler of an extraction child; sets the limits of this process first.

    Requests (``path`` and the entries of ``files`` are the hex of ``os.fsencode``; all that read a file
    take ``size_limit`` and ``password``):

    - ``{"op": "extract", "files": [path...]}`` -> ``{"results": [...], "next": null | number}``, payload:
      the texts one behind the other. A result is ``{"file": index, "sha256", "size", "mtime_ns",
      "member", "document" | "problem" | "listing"}``. A file with members gives a series of results
      that ends with its listing. One file alone: a page of the series, to be continued with
      ``{"op": "page", "next": number}`` as long as ``next`` is a number; ``cursor``: what an earlier
      reading left behind; ``place`` (of a result): go on after it; ``count``: results of a page at most;
      ``refused``: a problem that is given in place of the next member. Several files: one whose series
      is longer than a page comes as ``{"file", "alone": true}`` and is asked for alone.
    - ``{"op": "extract", "files": [path], "member": name}`` -> one result: this member only, or the
      file's own text for ``""``.
    - ``{"op": "recognise", "path", "member", "languages", "time_limit"}`` -> one result as above.
    - ``{"op": "ping"}`` -> ``{"version"}``: the child lives and has loaded what every file needs.
    - ``{"op": "hash", "path"}`` -> ``{"sha256", "size", "mtime_ns"}``, ``{"series": true}`` for a file
      with members, or ``{"problem"}``.
    - ``{"op": "programs"}`` -> ``{"tesseract", "languages", "libreoffice"}``.
    - ``{"op": "render", "path", "member", "page", "width", "ranges": {name: [[char_start, length]...]}}`` ->
      ``{"width", "height", "page", "pages", "rects": {name: [[x, y, w, h]...]}}``, payload: RGB rows,
      top-down. ``ranges`` may be a list of groups instead of a table; ``rects`` is one then, too.

    Args:
        limits: False only in tests that call the handler in their own process.
    """
    if limits:
        set_limits()
    return _Server().handle


class _Server:
    """Answers requests; keeps the one series that is being gone through."""

    def __init__(self) -> None:
        self._series: _Series | None = None
        self._number = 0
        self._operations: dict[str, Callable[[Mapping[str, object]], Reply]] = {
            "extract": self._extract, "page": self._page, "ping": _ping, "hash": _hash, "render": _render,
            "recognise": _recognise, "programs": _programs}

    def handle(self, header: dict[str, object], payload: bytes) -> Reply:
        operation = self._operations.get(str(header.get("op")))
        if operation is None:
            raise ExtractionError("unknown-request", f"There is no operation {header.get('op')!r}.")
        if header.get("op") != "page":
            self._end_series()
        return operation(header)

    def _extract(self, header: Mapping[str, object]) -> Reply:
        files = header["files"]
        assert isinstance(files, list)
        if "member" in header:
            return _one_member(header, _path(files[0]), _read_member)
        if len(files) == 1:
            self._series = _Series(header, _path(files[0]))
            return self._page({**header, "next": None})
        out = _Results()
        for index, entry in enumerate(files):
            mark = out.mark()
            series = _Series(header, _path(entry))
            try:
                if not series.page(out, index, PAGE_RESULTS):
                    out.forget(mark)
                    out.results.append({"file": index, "alone": True})
            finally:
                series.close()
        return {"results": out.results, "next": None}, b"".join(out.texts)

    def _page(self, header: Mapping[str, object]) -> Reply:
        if self._series is None or header.get("next") not in {None, self._number}:
            raise ExtractionError("unknown-request", "There is no such page.")
        out = _Results()
        finished = self._series.page(out, 0, _number(header, "count", PAGE_RESULTS))
        self._number += 1
        if finished:
            self._end_series()
        return {"results": out.results, "next": None if finished else self._number}, b"".join(out.texts)

    def _end_series(self) -> None:
        series, self._series = self._series, None
        if series is not None:
            series.close()


class _Results:
    """The results of one reply and their texts."""

    def __init__(self) -> None:
        self.results: list[dict[str, object]] = []
        self.texts: list[bytes] = []
        self.text_size = 0

    def mark(self) -> tuple[int, int]:
        return len(self.results), len(self.texts)

    def forget(self, mark: tuple[int, int]) -> None:
        """Takes back everything since a mark."""
        del self.results[mark[0] :], self.texts[mark[1] :]

    def add(self, result: dict[str, object], outcome: ExtractedText | Problem) -> None:
        if isinstance(outcome, ExtractedText):
            result["document"], text = encode_document(outcome)
            self.texts.append(text)
            self.text_size += len(text)
        else:
            result["problem"] = encode_problem(outcome)
        self.results.append(result)

    def add_listing(self, result: dict[str, object], listing: Listing) -> None:
        entry: dict[str, object] = {"members": listing.members, "cursor": listing.cursor, "grown": listing.grown,
                                    "problems": [encode_problem(entry) for entry in listing.problems]}
        if listing.document is not None:
            entry["document"], text = encode_document(listing.document)
            self.texts.append(text)
            self.text_size += len(text)
        self.results.append({**result, "listing": entry})


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a series ended: with a listing, or None for a plain file."""

    listing: Listing | None


class _Series:
    """One file that is being read: the open file, the open generator of its results, and its hash."""

    def __init__(self, header: Mapping[str, object], path: Path) -> None:
        self._header = header
        self._path = path
        self._stack = ExitStack()
        self._opened: OpenFile | None = None
        self._source: Source | None = None
        self._given = 0
        self._entries: Entries | None = None
        self._ended: _Ended | None = None
        self._growing = False
        self._hashing: Iterator[str | None] | None = None

    def close(self) -> None:
        if self._entries is not None:
            self._entries.close()
        self._stack.close()

    def page(self, out: _Results, index: int, count: int) -> bool:
        """Adds results until the page is full or the file is at its end; True at the end."""
        began, read = time.monotonic(), 0
        first = len(out.results)
        try:
            entries = self._entries if self._entries is not None else self._open()
            while self._ended is None:
                if len(out.results) - first >= count or read >= PAGE_BYTES or out.text_size >= _PAGE_TEXT \
                        or (len(out.results) > first and time.monotonic() - began > PAGE_SECONDS):
                    return False
                try:
                    entry = next(entries)
                except StopIteration as end:
                    self._ended = _Ended(end.value)
                    break
                if not entry.member:
                    self._plain(out, index, entry.outcome)
                    return True
                read += entry.size
                self._given += 1
                out.add(self._member(index, entry), entry.outcome)
            return self._finish(out, index, began)
        except ExtractionError as error:
            self._fail(out, index, problem_of(error))
        except MemoryError:
            self._fail(out, index, problem("too-much-memory"))
        return True

    def _open(self) -> Entries:
        header = self._header
        self._opened = self._stack.enter_context(open_file(self._path))
        source = _source(header, self._path, self._opened)
        limit = _number(header, "size_limit", FILE_LIMIT)
        told = SUPPORTED.get(suffix_of(self._path.name))
        if told is not None and not BY_NAME[told].growing:
            check_size(self._opened.size, limit)
        name = name_format(source)
        self._growing = BY_NAME[name].growing
        if not self._growing:
            check_size(self._opened.size, limit)
        self._source = source
        cursor = header.get("cursor")
        place, refused = header.get("place"), header.get("refused")
        start = _place(place) if place is not None else Place(cursor if isinstance(cursor, str) else "")
        self._entries = series_of(source, name, place=start, rebase=not cursor,
                                  refused=decode_problem(refused) if isinstance(refused, dict) else None)
        return self._entries

    def _identity(self, index: int) -> dict[str, object]:
        opened = self._opened
        return {"file": index, "sha256": "", "size": opened.size if opened else 0,
                "mtime_ns": opened.mtime_ns if opened else 0}

    def _member(self, index: int, entry: Entry) -> dict[str, object]:
        assert self._opened is not None
        told = entry.mtime is not None and -_YEAR_2200 < entry.mtime < _YEAR_2200  # false for no number, too
        mtime = int(entry.mtime * 1e9) if told and entry.mtime is not None else self._opened.mtime_ns
        return {"file": index, "member": entry.member, "sha256": entry.sha256, "size": entry.size, "mtime_ns": mtime,
                "place": [entry.place.cursor, list(entry.place.passed)]}

    def _fail(self, out: _Results, index: int, entry: Problem) -> None:
        if self._given:
            out.add_listing(self._identity(index), Listing(self._given, problems=(replace(entry, partial=True),)))
        else:
            self._plain(out, index, entry)

    def _plain(self, out: _Results, index: int, outcome: ExtractedText | Problem) -> None:
        """Adds the one result of a file without members."""
        result = self._identity(index)
        if self._opened is not None:
            if not self._opened.steady():
                outcome = problem("changed-while-read")
            elif self._source is not None and not self._growing:
                result["sha256"] = next(filter(None, _hashed(self._source)), "")
        out.add(result, outcome)

    def _finish(self, out: _Results, index: int, began: float) -> bool:
        """Adds the listing once the file is hashed, which may take pages of its own."""
        assert self._ended is not None
        assert self._opened is not None
        listing = self._ended.listing
        sha = ""
        if not self._growing:
            assert self._source is not None
            self._hashing = self._hashing or _hashed(self._source)
            while not sha:
                sha = next(self._hashing) or ""
                if not sha and time.monotonic() - began > PAGE_SECONDS:
                    return False
        listing = listing or Listing(0)
        if not self._growing and not self._opened.steady():
            listing = replace(listing, problems=(*listing.problems, problem("changed-while-read", partial=True)))
        out.add_listing({**self._identity(index), "sha256": sha}, listing)
        return True


def _hashed(source: Source) -> Iterator[str | None]:
    """Hashes a source in pieces; gives None after each and the hash at the end."""
    digest = hashlib.sha256()
    with source.stream() as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
            yield None
    yield digest.hexdigest()


# ---------------------------------------------------------------- single questions


def _ping(header: Mapping[str, object]) -> Reply:
    detect_language("This sentence only makes the model of languages ready for use.")
    return {"version": 2}, b""


def _hash(header: Mapping[str, object]) -> Reply:
    """Hashes a file in pieces: the memory limit does not matter for it."""
    path = _path(header["path"])
    try:
        with open_file(path) as opened:
            check_size(opened.size, _number(header, "size_limit", FILE_LIMIT))
            source = _source(header, path, opened)
            if is_series(source, name_format(source)):
                return {"series": True}, b""
            sha = next(filter(None, _hashed(source)), "")
            return {"sha256": sha, "size": opened.size, "mtime_ns": opened.mtime_ns}, b""
    except ExtractionError as error:
        return {"problem": encode_problem(problem_of(error))}, b""
    except OSError:
        return {"problem": encode_problem(problem("unreadable"))}, b""


Found = Source | ExtractedText | Problem


def _one_member(header: Mapping[str, object], path: Path,
                read: Callable[[Mapping[str, object], Found], ExtractedText | Problem]) -> Reply:
    """Reads one member, or the file itself, and gives one result."""
    out = _Results()
    result: dict[str, object] = {"file": 0, "member": str(header.get("member") or ""), "sha256": "", "size": 0,
                                 "mtime_ns": 0}
    try:
        with _found(header, path, result) as found:
            outcome = read(header, found)
            if isinstance(found, Source):
                result["size"] = found.size
                result["sha256"] = next(filter(None, _hashed(found)), "")
            elif isinstance(found, ExtractedText):
                data = found.text.encode("utf-8", "replace")
                result["size"], result["sha256"] = len(data), hashlib.sha256(data).hexdigest()
    except ExtractionError as error:
        outcome = problem_of(error)
    except MemoryError:
        outcome = problem("too-much-memory")
    out.add(result, outcome)
    return {"results": out.results, "next": None}, b"".join(out.texts)


@contextmanager
def _found(header: Mapping[str, object], path: Path, result: dict[str, object]) -> Iterator[Found]:
    """Opens a file and gives what lies in it under the member's name, itself for ``""``."""
    member = header.get("member")
    with open_file(path) as opened:
        source = _source(header, path, opened)
        result["size"], result["mtime_ns"] = opened.size, opened.mtime_ns
        name = name_format(source)
        if not BY_NAME[name].growing:
            check_size(opened.size, _number(header, "size_limit", FILE_LIMIT))
        yield find_member(source, name, member) if isinstance(member, str) and member else source


def _read_member(header: Mapping[str, object], found: Found) -> ExtractedText | Problem:
    return extract_source(found) if isinstance(found, Source) else found


def _recognise(header: Mapping[str, object]) -> Reply:
    return _one_member(header, _path(header["path"]), _recognise_member)


def _recognise_member(header: Mapping[str, object], found: Found) -> ExtractedText | Problem:
    from sbert_desktop.extraction._ocr import recognise

    if not isinstance(found, Source):
        return problem("unknown-type", "Text recognition reads PDFs and pictures only.")
    limit = header.get("time_limit")
    return recognise(found.data, found.name, str(header.get("languages") or "eng"), password=found.password,
                     seconds=float(limit) if isinstance(limit, int | float) else 120.0)


def _render(header: Mapping[str, object]) -> Reply:
    from sbert_desktop.extraction._render import render

    with _found(header, _path(header["path"]), {}) as found:
        if not isinstance(found, Source):
            raise failure("unreadable", "There is no picture of this.")
        return render(header, found.data)


def _programs(header: Mapping[str, object]) -> Reply:
    from sbert_desktop.extraction._programs import find

    found = find()
    return {"tesseract": found.tesseract, "languages": list(found.languages), "libreoffice": found.libreoffice}, b""


# ---------------------------------------------------------------- reading requests


def _source(header: Mapping[str, object], path: Path, opened: OpenFile) -> Source:
    password = header.get("password")
    return Source(path.name, password=password if isinstance(password, str) else None, file=opened.file)


def _place(value: object) -> Place:
    assert isinstance(value, list)
    cursor, passed = value
    return Place(str(cursor), tuple(int(number) for number in passed))


def _path(value: object) -> Path:
    assert isinstance(value, str)
    return Path(os.fsdecode(bytes.fromhex(value)))


def _number(header: Mapping[str, object], key: str, default: int) -> int:
    value = header.get(key, default)
    return value if isinstance(value, int) else default
