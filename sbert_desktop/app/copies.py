"""Gathers every file and member of the folders as copies of something: by bytes, read or not."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
import stat
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
_SIGNED_MAIL = (
    b"multipart/signed", b"application/pkcs7-mime", b"application/x-pkcs7-mime", b"-----begin pgp signed message",
    "ipm.note.smime".encode("utf-16-le"),
)  # fmt: skip
"""In small letters. Source: RFC 1847, RFC 8551, RFC 9580 section 7, MS-OXOSMIME 2.1 (of Outlook's .msg)."""
_SIGNABLE = frozenset({"pdf", "docx", "docm", "xlsx", "xlsm", "pptx", "pptm", "odt", "ods", "odp", "odg", "epub"})
_SIGNATURES = frozenset({"p7m", "p7s", "asc", "sig", "gpg"})
_MAIL = frozenset({"eml", "emlx", "msg"})
_NOTHING = hashlib.sha256().hexdigest()
_LITTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".directory"})
"""What systems leave in folders: it makes no folder another one."""
_REPORT = 2_000  # files between two words of progress


Inode = tuple[int, int]
"""Device and inode."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """All copies, and the units they make.

    Attributes:
        copies: By path and member.
        shas: sha256 of each unit, rising: units are numbered by it.
        notes: Plain sentences on what is not among them.
        unread: How many copies were compared by their bytes alone.
        names: Path and sha256 of every file on disk, ``""`` where it is not known: for equal folders.
        homes: Folders by device and inode, each with all its names: folders that files lie in, and those around.
    """

    copies: tuple[Copy, ...]
    shas: tuple[str, ...]
    notes: tuple[str, ...]
    unread: int
    names: tuple[tuple[Path, str], ...]
    homes: Mapping[Inode, tuple[Path, ...]] = field(default_factory=dict)


def gather(session: Session, context: JobContext) -> Gathered:
    """Lists all copies; files whose bytes were not read yet are read where another has their size."""
    listed = session.library.copies()
    away = session.presence.away(session.roots())
    notes = [f"{short_path(os.fsdecode(root))} is not there at the moment: its files are left out." for root in away]
    records = [record for record in listed if record.folder not in away and not _PART.match(record.member)]
    inodes, changed = _look_at(records, context)
    if changed:
        one = len(changed) == 1
        files = "1 file changed since it was" if one else f"{len(changed):,} files changed since they were"
        notes.append(f"{files} read; bring the library up to date to compare {'it' if one else 'them'}, too.")
    records = [record for record in records if record.path in inodes]
    hashed = _hashes(session, [r for r in records if not r.sha256 and not r.member and r.size > 0], records, context)
    session.library.shelf.keep_only("sha256:", [_key(record) for record in listed if not record.sha256])
    known = [(record, record.sha256 or hashed.get(record.path, "")) for record in records]
    names = [
        (_path(record.path), sha256 or (_NOTHING if record.size == 0 else ""))
        for record, sha256 in known
        if not record.member
    ]
    names += [(_path(path), "") for path in changed]
    copies = list(_copies(_once_per_container(known), inodes))
    shas = tuple(sorted({copy.sha256 for copy in copies}))
    number = {sha256: n for n, sha256 in enumerate(shas)}
    made = tuple(replace(copy, unit=number[copy.sha256]) for copy in copies)
    homes = _homes([copy.path for copy in made], [_path(root) for root in session.roots()])
    return Gathered(made, shas, tuple(notes), sum(not copy.content for copy in made), tuple(names), homes)


def _look_at(records: Sequence[CopyRecord], context: JobContext) -> tuple[dict[bytes, Inode], list[bytes]]:
    """Gives device and inode of the files that are there as they were read, and those that are there otherwise.

    Both are taken from the disk: those in the catalog may be of another day (a drive that was put in again).
    """
    files = {record.path: record for record in records if not record.member}
    paths = dict.fromkeys(record.path for record in records)
    there: dict[bytes, Inode] = {}
    changed: list[bytes] = []
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
            changed.append(path)
            continue
        there[path] = (status.st_dev, status.st_ino)
    return there, changed


def _homes(files: Iterable[Path], roots: Iterable[Path]) -> dict[Inode, tuple[Path, ...]]:
    """Gives the folders of files, and those around, by what they are, not by what they are called."""
    found: dict[Inode, dict[Path, None]] = defaultdict(dict)
    seen: set[Path] = set()

    def note(folder: Path, name: Path) -> None:
        with contextlib.suppress(OSError):
            status = os.stat(folder)
            found[status.st_dev, status.st_ino][name] = None

    for folder in {file.parent for file in files}:
        for around in (folder, *folder.parents):
            if around in seen:
                break
            seen.add(around)
            note(around, around)
    for root in roots:  # what lies around the folder that a link leads to
        for around in Path(os.path.realpath(root)).parents:
            note(around, root)
    return {inode: tuple(names) for inode, names in found.items()}


def names_of(homes: Mapping[Inode, tuple[Path, ...]], folder: Path) -> tuple[Path, ...]:
    """Gives all names of a folder, its own first: through links, in other letters where these do not count."""
    try:
        status = os.stat(folder)
    except (OSError, ValueError):
        return (folder,)
    return tuple(dict.fromkeys((folder, *homes.get((status.st_dev, status.st_ino), ()))))


def strangers(folder: Path, known: Container[Path]) -> list[Path]:
    """Gives the files below a folder that are not known: left out by a rule, added since, links."""
    found = []
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        found += [path for name in (*names, *links) if name not in _LITTER and (path := Path(place, name)) not in known]
    return found


def _hashes(
    session: Session, unread: Sequence[CopyRecord], records: Sequence[CopyRecord], context: JobContext
) -> dict[bytes, str]:
    """Reads the files of which another one has the size, cheapest difference first; remembers what it read."""
    sizes: dict[int, int] = defaultdict(int)
    for record in records:
        if not record.member:
            sizes[record.size] += 1
    wanted = [record for record in unread if sizes[record.size] > 1]
    keys = {record.path: _key(record) for record in wanted}
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


def _key(record: CopyRecord) -> str:
    """Gives under which name the shelf has the sha256 of a file that is not read."""
    return f"sha256:{record.path.hex()}:{record.size}:{record.mtime_ns}"


def hash_of(session: Session, record: CopyRecord, check: Callable[[], None]) -> str:
    """Gives the sha256 of a file on disk, ``""`` when it cannot be read; reads it only if nobody did."""
    if record.sha256:
        return record.sha256
    key = _key(record)
    known = session.library.shelf.get([key]).get(key, b"").decode()
    if not known and (known := read_hash(_path(record.path), check)):
        session.library.shelf.put({key: known.encode()})
    return known


def open_plain(path: Path | bytes) -> io.FileIO:
    """Opens a regular file for reading; never follows a link, never waits for a pipe.

    Raises:
        OSError: It cannot be read, or is something else.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    stream = io.FileIO(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError(errno.EINVAL, "not a regular file")
    return stream


def _ends(path: bytes, size: int) -> bytes:
    with contextlib.suppress(OSError), open_plain(path) as stream:
        head = stream.read(_HEAD)
        stream.seek(max(0, size - _HEAD))
        return hashlib.sha256(head + stream.read(_HEAD)).digest()
    return b""


def read_hash(path: Path, check: Callable[[], None] | None = None) -> str:
    """Gives the sha256 of a file, ``""`` when it cannot be read."""
    digest = hashlib.sha256()
    try:
        with open_plain(path) as stream:
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


def _copies(known: Iterable[tuple[CopyRecord, str]], inodes: Mapping[bytes, Inode]) -> Iterator[Copy]:
    seen: set[tuple[int, int]] = set()
    for record, sha256 in known:
        if not sha256 or record.size == 0:
            continue  # unlike any other, or empty: never a group
        inode = inodes[record.path]
        linked = not record.member and inode[1] != 0 and inode in seen
        if not record.member:
            seen.add(inode)
        yield Copy(
            unit=-1,
            path=_path(record.path),
            size=max(0, record.size),
            mtime_ns=record.mtime_ns,
            device=inode[0],
            inode=inode[1],
            sha256=sha256,
            member=record.member,
            content=record.content,
            format=record.format,
            title=record.title,
            date=record.date,
            folder=_path(record.folder),
            linked=linked,
        )


def may_be_signed(copy: Copy) -> bool:
    """Tells by its name or format whether a file is of a kind that carries signatures."""
    suffix = copy.path.suffix.lower().lstrip(".")
    return suffix in _SIGNATURES or suffix in _MAIL or suffix in _SIGNABLE or copy.format in _MAIL | _SIGNABLE


def is_signed(path: Path, form: str = "", check: Callable[[], None] | None = None) -> bool | None:
    """Tells whether a file carries a signature, None when it cannot be read.

    Changing or losing it would lose what the signature proves. Looks for the marks of signatures in the bytes of
    PDFs, office files and mails; parses nothing.

    Args:
        path: The file.
        form: Its format, where its name does not tell.
        check: May raise to end it.
    """
    suffix = path.suffix.lower().lstrip(".")
    if suffix in _SIGNATURES:
        return True
    mail = suffix in _MAIL or form in _MAIL
    if not mail and suffix not in _SIGNABLE and form not in _SIGNABLE:
        return False
    marks = _SIGNED_MAIL if mail else _SIGNED
    overlap = max(map(len, marks))
    try:
        with open_plain(path) as stream:
            last = b""
            while block := stream.read(_CHUNK):
                window = last + (block.lower() if mail else block)
                if any(mark in window for mark in marks):
                    return True
                last = window[-overlap:]
                if check is not None:
                    check()
    except OSError:
        return None
    return False


def _path(raw: bytes) -> Path:
    return Path(os.fsdecode(raw))
