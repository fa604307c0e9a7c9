"""Archives: zip, tar in any compression, 7z, and single compressed files. Nothing is ever written to disk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import stat
import struct
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import BinaryIO, cast

from sbert_desktop.domain import ExtractedText, Problem
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction._container import Member, Members, Remainder, Stop
from sbert_desktop.extraction._encoding import decode
from sbert_desktop.extraction._problems import failure, problem, problem_of
from sbert_desktop.extraction._source import Source

BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, struct.error,
          OverflowError, IndexError, KeyError, AssertionError)
"""What the standard library raises for a damaged archive."""
_TAR_BLOCK = 512
_TAR_NAME = re.compile(r"\.(?:tar|tar\.\w{1,5}|tgz|tbz2?|txz|tlz|tzst)$", re.IGNORECASE)
_LOCAL = b"PK\x03\x04"
_OTHER_WAY = "This file is compressed in a way that is not read here."
_JUNK = re.compile(r"(?:^|[/\\])(?:__MACOSX[/\\]|\.DS_Store$|Thumbs\.db$|desktop\.ini$|\._[^/\\]*$)", re.IGNORECASE)
"""What systems leave in archives for themselves."""


def members(source: Source, cursor: str = "") -> Members:
    """Gives the files of an archive one by one; what is left out comes as the remainder's problem.

    Links, devices and folders are passed over. A damaged archive gives what can be read.

    Raises:
        ExtractionError: ``damaged`` or ``encrypted`` when nothing can be read.
    """
    head = source.head(8192)
    if head.startswith(b"7z\xbc\xaf\x27\x1c"):
        from sbert_desktop.extraction._archive_7z import seven_zip_members

        return (yield from seven_zip_members(source))
    with source.stream() as stream:
        if head.startswith((_LOCAL, b"PK\x05\x06")):
            given = _zip_members(source, stream)
        elif _unpacked_head(head)[257:262] == b"ustar" or _TAR_NAME.search(source.name):
            given = _tar_members(source, stream)
        elif opener := _opener(head):
            given = iter([_single(source, opener(stream))])
        else:
            raise failure("damaged")
        problems: list[Problem] = []
        try:
            for member in given:
                source.budget.count_member()
                yield member
        except ExtractionError as error:
            if error.code != "archive-limit":
                raise
            problems.append(problem_of(error))
        except Stop as stop:
            problems.append(stop.problem)
        return Remainder(tuple(problems))


def archive_of(head: bytes, name: str) -> str | None:
    """Gives the name of an archive's format by its first bytes (a mere zip is told elsewhere)."""
    if head.startswith(b"7z\xbc\xaf\x27\x1c"):
        return "7z"
    if head.startswith(b"Rar!\x1a\x07"):
        return "rar"
    if head[257:262] == b"ustar":
        return "tar"
    opener = _opener(head)
    if opener is None:
        return None
    return "tar" if _TAR_NAME.search(name) or _unpacked_head(head)[257:262] == b"ustar" else "gz"


def _opener(head: bytes) -> Callable[[BinaryIO], BinaryIO] | None:
    if head.startswith(b"\x1f\x8b\x08"):
        return lambda stream: cast(BinaryIO, gzip.GzipFile(fileobj=stream))
    if head.startswith(b"BZh") and head[4:10] == b"1AY&SY":
        return lambda stream: cast(BinaryIO, bz2.BZ2File(stream))
    if head.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
        return lambda stream: cast(BinaryIO, lzma.LZMAFile(stream))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return _open_zstd
    return None


def _open_zstd(stream: BinaryIO) -> BinaryIO:
    """Opens zstd through what comes with py7zr, or with Python from 3.14 on."""
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            module = import_module(name)
            return cast(BinaryIO, _Zstd(module.ZstdFile(stream), module.ZstdError))
    raise failure("needs-program", _OTHER_WAY, "Unpack the archive to have it read.")


class _Zstd(io.BufferedIOBase):
    """A stream of zstd whose damage is an OSError, as that of the others is."""

    def __init__(self, stream: BinaryIO, damage: type[Exception]) -> None:
        self._stream, self._damage = stream, damage

    def read(self, count: int | None = -1, /) -> bytes:
        try:
            return self._stream.read(-1 if count is None else count)
        except self._damage as error:
            raise OSError("damaged") from error

    def close(self) -> None:
        self._stream.close()
        super().close()


def read_unknown(source: Source) -> ExtractedText:
    """Says of an archive that no free library unpacks what to do.

    Raises:
        ExtractionError: ``needs-export``, always.
    """
    raise failure("needs-export", f"Archives of type {(source.suffix or 'rar').upper()} are not read.",
                  "Unpack it, and put the files into the folder.")


def _unpacked_head(head: bytes) -> bytes:
    """Gives the first block of what a compressed head holds, the head itself if it is not compressed."""
    opener = _opener(head)
    if opener is None:
        return head[:_TAR_BLOCK]
    with suppress(*BROKEN), opener(io.BytesIO(head)) as stream:
        return stream.read(_TAR_BLOCK)
    return b""


def _single(source: Source, stream: BinaryIO) -> Member:
    """Gives the one file inside a .gz, .bz2 or .xz under the name without that suffix."""

    def load() -> bytes:
        with stream:
            try:
                return source.budget.read(stream.read)
            except BROKEN as error:
                raise failure("damaged") from error

    stem, _, suffix = source.name.rpartition(".")
    name = stem if stem and suffix.lower() in {"gz", "bz2", "xz", "lzma", "z", "zst"} else source.name + " (unpacked)"
    return Member(name, load=_stopping(load))


def _stopping(load: Callable[[], bytes]) -> Callable[[], bytes]:
    """Lets a reached limit end the archive, not only cost the member that reached it."""

    def checked() -> bytes:
        try:
            return load()
        except ExtractionError as error:
            if error.code == "archive-limit":
                raise Stop(problem_of(error)) from error
            raise

    return checked


# ---------------------------------------------------------------- zip


def _zip_members(source: Source, stream: BinaryIO) -> Iterator[Member]:
    try:
        archive = zipfile.ZipFile(stream)
    except (*BROKEN, NotImplementedError) as error:
        yield from _salvaged(source, stream, error)
        return
    with archive:
        infos = archive.infolist()
        names = _zip_names(infos)
        for info, name in zip(infos, names, strict=True):
            mode = info.external_attr >> 16
            kind = stat.S_IFMT(mode) if info.create_system == 3 else 0
            if info.is_dir() or _JUNK.search(name) or kind not in {0, stat.S_IFREG}:
                continue
            mtime = _zip_time(info)
            if info.flag_bits & 1 and not source.password:
                yield Member(name, mtime=mtime, problem=problem("encrypted"))
            else:
                yield Member(name, mtime=mtime, load=_stopping(_zip_loader(source, archive, info)))


def _zip_loader(source: Source, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], bytes]:
    def load() -> bytes:
        password = (source.password or "").encode() if info.flag_bits & 1 else None
        try:
            with archive.open(info, pwd=password) as stream:
                return source.budget.read(stream.read)
        except NotImplementedError as error:
            if info.flag_bits & 1:
                raise failure("encrypted", "The file is protected with a kind of password that is not read here.",
                              "Unpack it to make it findable.") from error
            raise failure("needs-program", _OTHER_WAY, "Unpack the archive to have it read.") from error
        except RuntimeError as error:  # what zipfile raises for a wrong password
            raise failure("encrypted", "The password is not the right one.") from error
        except BROKEN as error:
            raise failure("damaged") from error

    return load


def _zip_time(info: zipfile.ZipInfo) -> float | None:
    with suppress(ValueError, OverflowError, OSError):
        return time.mktime((*info.date_time, 0, 0, -1))
    return None


def _zip_names(infos: list[zipfile.ZipInfo]) -> list[str]:
    """Gives the names; those without the mark of UTF-8 are told by all of them together."""
    raw = [b"" if info.flag_bits & 0x800 or info.orig_filename.isascii()
           else info.orig_filename.partition("\0")[0].encode("cp437", "replace") for info in infos]
    odd = b"\n".join(name for name in raw if name)
    if not odd:
        return [info.filename for info in infos]
    encoding = decode(odd)[1]
    return [name.decode(encoding, "replace") if name else info.filename
            for info, name in zip(infos, raw, strict=True)]


def _salvaged(source: Source, stream: BinaryIO, cause: Exception) -> Iterator[Member]:
    """Goes through the local headers of a zip without its table of contents."""
    given, at = 0, 0
    while (at := _find(stream, _LOCAL, at)) >= 0:
        stream.seek(at)
        head = stream.read(30)
        if len(head) < 30:
            break
        flags, method, _, _, _, packed, size, name_length, extra_length = struct.unpack("<HHHHIIIHH", head[6:])
        raw = stream.read(name_length)
        name = raw.decode("utf-8", "replace") if flags & 0x800 or raw.isascii() else decode(raw)[0]
        start = at + 30 + name_length + extra_length
        at += 4
        if not name or name.endswith("/") or _JUNK.search(name) or flags & 1 or method not in {0, 8} \
                or (method == 0 and not 0 < packed == size):
            continue
        load = _salvage_loader(source, stream, start, packed, stored=method == 0)
        given += 1
        yield Member(name, load=_stopping(load))
        if packed and not flags & 8:
            at = start + packed
    if not given:
        raise failure("damaged", detail=type(cause).__name__) from cause
    raise Stop(problem("damaged", "The archive is damaged; only some of its files could be read.", partial=True))


def _salvage_loader(source: Source, stream: BinaryIO, start: int, packed: int, *, stored: bool) -> Callable[[], bytes]:
    def load() -> bytes:
        stream.seek(start)
        if stored:
            data = stream.read(packed)
            source.budget.count(len(data))
            if len(data) < packed:
                raise failure("damaged")
            return data
        inflate = zlib.decompressobj(-15)
        pieces: list[bytes] = []
        rest = b""
        try:
            while not inflate.eof:
                rest = inflate.unconsumed_tail or stream.read(1 << 16)
                if not rest:
                    raise failure("damaged")
                pieces.append(inflate.decompress(rest, 1 << 18))
                source.budget.count(len(pieces[-1]))
        except zlib.error as error:
            raise failure("damaged") from error
        return b"".join(pieces)

    return load


def _find(stream: BinaryIO, sign: bytes, start: int) -> int:
    """Finds bytes in a stream from a place on; -1 if they are not there."""
    stream.seek(start)
    held = b""
    while piece := stream.read(1 << 18):
        held += piece
        found = held.find(sign)
        if found >= 0:
            return start + found
        start += len(held) - len(sign) + 1
        held = held[-(len(sign) - 1):]
    return -1


# ---------------------------------------------------------------- tar


def _tar_members(source: Source, stream: BinaryIO) -> Iterator[Member]:
    given = 0
    damage: Exception | None = None
    try:
        opener = _opener(source.head(16))
        unpacked = opener(stream) if opener is not None else stream
        counted = cast(BinaryIO, _Counted(unpacked, source))
        with tarfile.open(fileobj=counted, mode="r|", errorlevel=1, errors="surrogateescape") as tar:
            for info in tar:
                tar.members = []  # type: ignore[attr-defined]  # it keeps every header otherwise
                name = info.name
                if any("\udc80" <= char <= "\udcff" for char in name):
                    name = decode(name.encode("utf-8", "surrogateescape"))[0]
                if not info.isreg() or _JUNK.search(name):
                    continue
                given += 1
                yield Member(name, mtime=_finite(info.mtime), load=_stopping(_tar_loader(source, tar, info)))
    except (tarfile.StreamError, *BROKEN) as error:
        damage = error
    if damage is None:
        return
    if not given:
        raise failure("damaged", detail=type(damage).__name__) from damage
    raise Stop(problem("damaged", "The archive is damaged; only some of its files could be read.", partial=True))


def _tar_loader(source: Source, tar: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], bytes]:
    def load() -> bytes:
        try:
            stream = tar.extractfile(info)
            assert stream is not None
            data = source.budget.read(stream.read)
        except (tarfile.StreamError, *BROKEN) as error:
            raise failure("damaged") from error
        if len(data) < info.size:
            raise failure("damaged")
        return data

    return load


class _Counted:
    """The unpacked stream of a tar; what is passed over counts for the ratio, too."""

    def __init__(self, stream: BinaryIO, source: Source) -> None:
        self._stream = stream
        self._limit = max(source.size, source.budget.size) * 1000 + (4 << 30)
        self._seen = 0

    def read(self, count: int = -1) -> bytes:
        piece = self._stream.read(count)
        self._seen += len(piece)
        if self._seen > self._limit:
            raise Stop(problem("archive-limit", partial=True))
        return piece


def _finite(value: float) -> float | None:
    return float(value) if 0 < value < 1e11 else None
