"""Gathers every file and member of the folders as copies of something: by bytes, read or not."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sbert_desktop.app.rules import is_online_only
from sbert_desktop.app.session import Session
from sbert_desktop.cleanup import Copy
from sbert_desktop.domain import JobContext, short_path
from sbert_desktop.library import CopyRecord
from sbert_desktop.platform import is_in_trash

_PART = re.compile(r"part \d+\Z")
"""What the reader names the parts of a huge text: they are no files of their own."""
_HEAD = 16 * 1024
"""Bytes at both ends by which files of one size are told apart before they are read in full."""
_CHUNK = 1 << 20
_SIGNED = (b"/ByteRange", b"_xmlsignatures/", b"META-INF/documentsignatures.xml")
"""Source: PDF 32000-1 12.8.1 (signature dictionaries), ECMA-376 part 2 (digital signatures), ODF 1.2 part 3."""
_SIGNED_MAIL = (b"multipart/signed", b"application/pkcs7-mime", b"application/x-pkcs7-mime")
_SIGNABLE = frozenset({"pdf", "docx", "docm", "xlsx", "xlsm", "pptx", "pptm", "odt", "ods", "odp", "odg", "epub"})
_SIGNATURES = frozenset({"p7m", "p7s", "asc", "sig", "gpg"})
_MAIL = frozenset({"eml", "emlx", "msg"})
_NOTHING = hashlib.sha256().hexdigest()
_REPORT = 2_000  # files between two words of progress


@dataclass(frozen=True, slots=True)
class Gathered:
    """All copies, and the units they make.

    Attributes:
        copies: By path and member.
        shas: sha256 of each unit, rising: units are numbered by it.
        notes: Plain sentences on what is not among them.
        unread: How many copies were compared by their bytes alone.
        names: Path and sha256 of every file on disk, ``""`` where it is not known: for equal folders.
    """

    copies: tuple[Copy, ...]
    shas: tuple[str, ...]
    notes: tuple[str, ...]
    unread: int
    names: tuple[tuple[Path, str], ...]


def gather(session: Session, context: JobContext) -> Gathered:
    """Lists all copies; files whose bytes were not read yet are read where another has their size."""
    records = session.library.copies()
    away = session.presence.away(session.roots())
    notes = [f"{short_path(os.fsdecode(root))} is not there at the moment: its files are left out." for root in away]
    records = [record for record in records if record.folder not in away and not _PART.match(record.member)]
    states, changed = _look_at(records, context)
    if changed:
        files = "1 file" if changed == 1 else f"{changed:,} files"
        notes.append(f"{files} changed since they were read; bring the library up to date to compare them, too.")
    records = [record for record in records if record.path in states]
    hashed = _hashes(session, [r for r in records if not r.sha256 and not r.member and r.size > 0], records, context)
    known = [(record, record.sha256 or hashed.get(record.path, "")) for record in records]
    names = tuple(
        (_path(record.path), sha256 or (_NOTHING if record.size == 0 else ""))
        for record, sha256 in known
        if not record.member
    )
    copies = list(_copies(_once_per_container(known)))
    shas = tuple(sorted({copy.sha256 for copy in copies}))
    number = {sha256: n for n, sha256 in enumerate(shas)}
    made = tuple(replace(copy, unit=number[copy.sha256]) for copy in copies)
    return Gathered(made, shas, tuple(notes), sum(not copy.content for copy in made), names)


def _look_at(records: Sequence[CopyRecord], context: JobContext) -> tuple[set[bytes], int]:
    """Gives the files that are there as they were read, and counts those that are not."""
    files = {record.path: record for record in records if not record.member}
    paths = dict.fromkeys(record.path for record in records)
    there: set[bytes] = set()
    changed = 0
    for done, path in enumerate(paths):
        if done % _REPORT == 0:
            context.check()
            context.progress("Looking at files", done, len(paths))
        record = files.get(path)
        try:
            status = os.lstat(path)
        except OSError:
            continue  # gone: it is no copy of anything
        if not stat.S_ISREG(status.st_mode) or is_online_only(status) or is_in_trash(_path(path)):
            continue
        if record is not None and (status.st_mtime_ns != record.mtime_ns or status.st_size != record.size):
            changed += 1
            continue
        there.add(path)
    return there, changed


def _hashes(
    session: Session, unread: Sequence[CopyRecord], records: Sequence[CopyRecord], context: JobContext
) -> dict[bytes, str]:
    """Reads the files of which another one has the size, cheapest difference first; remembers what it read."""
    sizes: dict[int, int] = defaultdict(int)
    for record in records:
        if not record.member:
            sizes[record.size] += 1
    wanted = [record for record in unread if sizes[record.size] > 1]
    keys = {record.path: f"sha256:{record.path.hex()}:{record.size}:{record.mtime_ns}" for record in wanted}
    shelf = session.library.shelf
    known = shelf.get(keys.values())
    found = {record.path: known[keys[record.path]].decode() for record in wanted if keys[record.path] in known}
    left = [record for record in wanted if record.path not in found]
    read_before = {record.size for record in records if record.sha256 and not record.member} | {
        record.size for record in wanted if record.path in found
    }
    ends: dict[tuple[int, bytes], list[CopyRecord]] = defaultdict(list)
    for done, record in enumerate(left):
        if done % 50 == 0:
            context.check()
            context.progress("Comparing files of equal size", done, len(left))
        ends[record.size, _ends(record.path, record.size)].append(record)
    # A size that one of the files read before has, too, is read whole: their ends are not known.
    rest = [r for (size, _), same in ends.items() if len(same) > 1 or size in read_before for r in same]
    fresh: dict[str, bytes] = {}
    for done, record in enumerate(rest):
        context.check()
        context.progress("Reading files of equal size", done, len(rest), os.fsdecode(os.path.basename(record.path)))
        digest = read_hash(_path(record.path), context.check)
        if digest:
            found[record.path] = digest
            fresh[keys[record.path]] = digest.encode()
    shelf.put(fresh)
    return found


def _ends(path: bytes, size: int) -> bytes:
    with contextlib.suppress(OSError), open(path, "rb", buffering=0) as stream:
        head = stream.read(_HEAD)
        stream.seek(max(0, size - _HEAD))
        return hashlib.sha256(head + stream.read(_HEAD)).digest()
    return b""


def read_hash(path: Path, check: Callable[[], None] | None = None) -> str:
    """Gives the sha256 of a file, ``""`` when it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb", buffering=0) as stream:
            while block := stream.read(_CHUNK):
                digest.update(block)
                if check is not None:
                    check()
    except OSError:
        return ""
    return digest.hexdigest()


def _once_per_container(known: Iterable[tuple[CopyRecord, str]]) -> Iterator[tuple[CopyRecord, str]]:
    """Leaves out the members of a container of which an equal one was gone through: the containers are the copies."""
    first: dict[str, bytes] = {}
    twin: set[bytes] = set()
    pairs = list(known)
    for record, sha256 in pairs:
        if not record.member and sha256 and first.setdefault(sha256, record.path) != record.path:
            twin.add(record.path)
    for record, sha256 in pairs:
        if not (record.member and record.path in twin):
            yield record, sha256


def _copies(known: Iterable[tuple[CopyRecord, str]]) -> Iterator[Copy]:
    seen: set[tuple[int, int]] = set()
    for record, sha256 in known:
        if not sha256 or record.size == 0:
            continue  # unlike any other, or empty: never a group
        inode = (record.device, record.inode)
        linked = not record.member and record.inode != 0 and inode in seen
        if not record.member:
            seen.add(inode)
        yield Copy(
            unit=-1,
            path=_path(record.path),
            size=max(0, record.size),
            mtime_ns=record.mtime_ns,
            device=record.device,
            inode=record.inode,
            sha256=sha256,
            member=record.member,
            content=record.content,
            format=record.format,
            title=record.title,
            date=record.date,
            folder=_path(record.folder),
            linked=linked,
        )


def is_signed(path: Path, check: Callable[[], None] | None = None) -> bool:
    """Tells whether a file carries a signature: changing or losing it would lose what the signature proves.

    Looks for the marks of signatures in the bytes of PDFs, office files and mails; parses nothing.
    """
    suffix = path.suffix.lower().lstrip(".")
    if suffix in _SIGNATURES:
        return True
    if suffix in _MAIL:
        marks: tuple[bytes, ...] = _SIGNED_MAIL
    elif suffix in _SIGNABLE:
        marks = _SIGNED
    else:
        return False
    overlap = max(map(len, marks))
    try:
        with path.open("rb", buffering=0) as stream:
            last = b""
            while block := stream.read(_CHUNK):
                window = last + block
                if any(mark in window for mark in marks):
                    return True
                last = window[-overlap:]
                if check is not None:
                    check()
    except OSError:
        return False
    return False


def _path(raw: bytes) -> Path:
    return Path(os.fsdecode(raw))
