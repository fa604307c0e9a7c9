"""Which documents pass a filter: on the columns of a view, and on details that are read when first asked for.

Details (names, sizes, mail headers) are kept up to date from the log of changes, like the columns themselves, and
shared by all spaces.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Filters, Mask
from sbert_desktop.library import _file_names
from sbert_desktop.library._analysis import fold_text
from sbert_desktop.library._changes import Change
from sbert_desktop.library._view import View

MAIL_FORMATS = frozenset(("eml", "msg"))

_T = TypeVar("_T", bound=np.generic)
_Codes = NDArray[np.int32]
_Reading = Callable[[], AbstractContextManager[sqlite3.Connection]]


def select(view: View, filters: Filters, details: Details) -> Mask | None:
    """Gives bool [max content id + 1], True where the content passes; None when all do."""
    if not filters:
        return None
    files = view.file_live.copy()
    contents = view.file_content
    for condition in (_by_place, _by_kind, _by_date, _by_name, _by_mail):
        condition(view, filters, details, files)
    mask = np.zeros(len(view.content_live), np.bool_)
    mask[contents[files]] = True
    if filters.contents:
        mask &= _among(filters.contents, len(mask))
    if filters.collections:
        mask &= details.collected(filters.collections, len(mask))
    for unwanted in filters.without:
        left_out = select(view, unwanted, details)
        if left_out is not None:
            mask &= ~left_out
    return mask


def _among(contents: Sequence[int], size: int) -> Mask:
    """Says of each content whether it is one of these, bool [size]; ids that there are not are left out."""
    mask = np.zeros(size, np.bool_)
    ids = np.fromiter((id_ for id_ in contents if 0 <= id_ < size), np.int64)
    mask[ids] = True
    return mask


def _by_place(view: View, filters: Filters, details: Details, files: Mask) -> None:
    if filters.folder is not None:
        inside = _inside(view.directories, os.fsencode(filters.folder))
        files &= inside[view.file_directory]
    if filters.folders:
        wanted = [_ends(name) for name in filters.folders]
        named = [any(name in path for name in wanted) for path in details.directories(view)]
        files &= np.array(named or [False])[view.file_directory]


def _by_kind(view: View, filters: Filters, details: Details, files: Mask) -> None:
    if filters.types:
        wanted = {name.lower().lstrip(".") for name in filters.types}
        files &= np.array([name in wanted for name in view.types] or [False])[view.file_type]
    if filters.languages:
        wanted = set(filters.languages)
        passing = np.array([name in wanted for name in view.languages] or [False])
        files &= passing[view.content_language[view.file_content]]
    if filters.attachments is not None:
        mails = np.array([name in MAIL_FORMATS for name in view.formats] or [False])
        files &= mails[view.content_format[view.file_content]]
        files &= details.with_attachments(len(files)) == filters.attachments


def _by_date(view: View, filters: Filters, details: Details, files: Mask) -> None:
    if filters.after is None and filters.before is None:
        return
    own = view.content_date[view.file_content]
    date = np.where(np.isnan(own), view.file_mtime, own)
    if filters.after is not None:
        files &= date >= filters.after
    if filters.before is not None:
        files &= date < filters.before


def _by_name(view: View, filters: Filters, details: Details, files: Mask) -> None:
    if filters.names:
        files &= details.name_holds(filters.names, len(files))
    if filters.size_from is not None or filters.size_to is not None:
        sizes = details.sizes(len(files))
        if filters.size_from is not None:
            files &= sizes >= filters.size_from
        if filters.size_to is not None:
            files &= sizes < filters.size_to


def _by_mail(view: View, filters: Filters, details: Details, files: Mask) -> None:
    for header, parts in (("from", filters.senders), ("to", filters.recipients), ("subject", filters.subjects)):
        if parts:
            passing = details.header_holds(header, parts, len(view.content_live))
            files &= passing[view.file_content]


class Details:
    """What a few filters need beside the columns: read when first asked for, then kept up to date. Any thread."""

    def __init__(self, reading: _Reading) -> None:
        self._reading = reading
        self._lock = threading.Lock()
        self._directories: tuple[list[bytes], list[str]] = ([], [])
        self._seen = -1
        self._names = _Texts()
        self._name = np.zeros(0, np.int32)
        self._size = np.zeros(0, np.int64)
        self._members: dict[int, tuple[int, str]] = {}  # file -> its container and its name inside
        self._holding: tuple[int, Mask] = (-2, np.zeros(0, np.bool_))
        self._content_seen = 0
        self._headers = {name: (_Texts(), _Column()) for name in ("from", "to", "subject")}

    def directories(self, view: View) -> list[str]:
        """Gives the folders' paths, folded, with a separator at both ends; as many as the view has."""
        with self._lock:
            raw, folded = self._directories
            if raw is not view.directories:
                raw, folded = self._directories = (view.directories, [])
            folded += [_ends(os.fsdecode(name)) for name in raw[len(folded) :]]
            return folded

    def name_holds(self, parts: Sequence[str], size: int) -> Mask:
        """Says of each file whether its name has all parts, bool [size]."""
        with self._lock:
            self._refresh_files()
            return self._names.hold(parts)[_sized(self._name, size)]

    def sizes(self, size: int) -> NDArray[np.int64]:
        """Gives the size of each file in bytes, int64 [size]."""
        with self._lock:
            self._refresh_files()
            return _sized(self._size, size)

    def with_attachments(self, size: int) -> Mask:
        """Says of each file whether it holds others: a mail with attachments, bool [size]."""
        with self._lock:
            self._refresh_files()
            if self._holding[0] != self._seen:
                self._holding = (self._seen, self._find_attachments())
            return _sized(self._holding[1], size)

    def header_holds(self, header: str, parts: Sequence[str], size: int) -> Mask:
        """Says of each content whether a header (``from``, ``to``, ``subject``) has all parts, bool [size]."""
        with self._lock:
            self._refresh_contents()
            texts, column = self._headers[header]
            return texts.hold(parts)[_sized(column.codes, size)]

    def collected(self, names: Sequence[str], size: int) -> Mask:
        """Says of each content whether one of the collections has it, or a passage of it, bool [size]."""
        wanted = {fold_text(name.strip()) for name in names}
        mask = np.zeros(size, np.bool_)
        with self._reading() as connection:
            rows = connection.execute("SELECT id, name FROM collection").fetchall()
            for id_ in (id_ for id_, name in rows if fold_text(name) in wanted):
                found = connection.execute(
                    "SELECT id FROM content WHERE sha256 IN (SELECT sha256 FROM collection_item WHERE collection=?)",
                    (id_,),
                ).fetchall()
                ids = np.array([row[0] for row in found], np.int64)
                mask[ids[ids < size]] = True
        return mask

    # ------------------------------------------------------------ reading

    def _refresh_files(self) -> None:
        with self._reading() as connection:
            connection.execute("BEGIN")
            try:
                row = connection.execute(
                    "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name='change'), 0), (SELECT min(seq) FROM"
                    " change), (SELECT max(seq) FROM change WHERE seq>? AND kind=?)",
                    (self._seen, Change.SPACE),
                ).fetchone()
                if row[0] == self._seen:
                    return
                anew = self._seen < 0 or row[2] is not None or (row[1] or 0) > self._seen + 1
                if anew:
                    self._members.clear()
                changed = () if anew else connection.execute(
                    "SELECT DISTINCT id FROM change WHERE seq>? AND kind=?", (self._seen, Change.FILE)
                ).fetchall()  # fmt: skip
                where = "" if anew else "WHERE f.id IN (SELECT id FROM change WHERE seq>? AND kind=?)"
                found = connection.execute(
                    "SELECT f.id, f.path, f.member, f.parent, f.captions, f.size, p.size FROM file f"
                    f" LEFT JOIN file p ON p.id=f.parent {where}",
                    () if anew else (self._seen, Change.FILE),
                ).fetchall()
            finally:
                connection.execute("COMMIT")
        for (id_,) in changed:
            self._members.pop(id_, None)
        self._take_files(found)
        self._seen = row[0]

    def _take_files(self, rows: list[tuple[int, bytes, str, int | None, int | None, int, int | None]]) -> None:
        if not rows:
            return
        ids = np.array([row[0] for row in rows], np.int64)
        end = max(int(ids.max()) + 1, len(self._name))  # never fewer than there were
        name, size = _sized(self._name, end).copy(), _sized(self._size, end).copy()
        name[ids] = self._names.codes(fold_text(_file_names.shown_name(row[1], row[2])) for row in rows)
        # A part, or a caption, is as large as the file that it belongs to.
        size[ids] = [row[5] if row[6] is None or not _file_names.is_part(row[2]) else row[6] for row in rows]
        self._name, self._size = name, size
        for id_, _, member, parent, captions, _, _ in rows:
            if parent is not None and captions is None:
                self._members[id_] = (parent, member)

    def _find_attachments(self) -> Mask:
        holds = np.zeros(len(self._name), np.bool_)
        by_place = {place: id_ for id_, place in self._members.items()}
        for parent, member in self._members.values():
            if _file_names.is_part(member):
                continue
            at = member.rfind("/")
            if at < 0 and parent < len(holds):
                holds[parent] = True
            while at > 0:  # the mail inside a mailbox that it is attached to
                outer = by_place.get((parent, member[:at]))
                if outer is not None:
                    holds[outer] = True
                    break
                at = member.rfind("/", 0, at)
            else:
                if parent < len(holds):
                    holds[parent] = True
        return holds

    def _refresh_contents(self) -> None:
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT id, title, metadata FROM content WHERE id>? ORDER BY id", (self._content_seen,)
            ).fetchall()
        if not rows:
            return
        held: dict[str, list[str]] = {"from": [], "to": [], "subject": []}
        for _, title, metadata in rows:
            values: dict[str, list[str]] = {"subject": [title]}
            for key, value in json.loads(metadata) if len(metadata) > 2 else ():
                name = "to" if key in ("cc", "bcc") else key
                if name in held:
                    values.setdefault(name, []).append(value)
            for name, texts in held.items():
                texts.append(fold_text("\n".join(values.get(name, ()))))
        ids = np.array([row[0] for row in rows], np.int64)
        for name, (known, column) in self._headers.items():
            codes = _sized(column.codes, int(ids.max()) + 1).copy()
            codes[ids] = known.codes(held[name])
            column.codes = codes
        self._content_seen = int(ids.max())


class _Column:
    def __init__(self) -> None:
        self.codes: _Codes = np.zeros(0, np.int32)


class _Texts:
    """Small numbers for folded texts that repeat; 0 is ``""``."""

    def __init__(self) -> None:
        self._texts = [""]
        self._codes = {"": 0}

    def codes(self, texts: Iterable[str]) -> list[int]:
        out = []
        for text in texts:
            code = self._codes.setdefault(text, len(self._texts))
            if code == len(self._texts):
                self._texts.append(text)
            out.append(code)
        return out

    def hold(self, parts: Sequence[str]) -> Mask:
        """Says of each text whether it has all parts."""
        mask = np.ones(len(self._texts), np.bool_)
        for part in parts:
            wanted = fold_text(part)
            mask &= np.fromiter((wanted in text for text in self._texts), np.bool_, len(self._texts))
        return mask


def _sized(array: NDArray[_T], size: int) -> NDArray[_T]:
    """Gives the first ``size`` entries; zeros where there are not so many."""
    if len(array) >= size:
        return array[:size]
    out = np.zeros(size, array.dtype)
    out[: len(array)] = array
    return out


def _ends(path: str) -> str:
    """Gives a folder's name or path so that it can be looked for as whole names: ``/a/b/``."""
    if path.startswith("~"):
        path = os.path.expanduser(path)
    folded = fold_text(path).replace(os.sep, "/").strip("/")
    return f"/{folded}/"


def _inside(directories: list[bytes], folder: bytes) -> Mask:
    separator = os.sep.encode()
    folder = folder.rstrip(separator) or separator
    below = folder if folder == separator else folder + separator
    return np.array([name == folder or name.startswith(below) for name in directories] or [False], np.bool_)
