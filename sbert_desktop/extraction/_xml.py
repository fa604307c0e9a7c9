"""Safe XML for containers: no entities, no DTD, no network, capped sizes; and what is left of a cut-off ZIP."""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from sbert_desktop.domain import Problem
from sbert_desktop.extraction._problems import failure, problem

if TYPE_CHECKING:
    from lxml.etree import _Element

PART_LIMIT = 512 * 1024 * 1024
MEMBER_LIMIT = 20_000
RATIO, RATIO_FREE = 200, 10 * 1024 * 1024
"""One document: 512 MB unpacked in all, 200:1 beyond 10 MB (RELIABILITY R12). Its parts are not members that somebody
put there: a long book or a deck of slides has over 2,000 of them, and only those with text are ever unpacked."""
TEXT_LIMIT = 64 * 1024 * 1024
"""Bytes of text that one packed document gives: a few kilobytes can repeat a string a million times."""
_LOCAL = struct.Struct("<4s5H3I2H")


class Container:
    """A ZIP container of XML parts.

    A file whose end is missing (a broken download) still gives the parts that stand whole, or in part, before the
    cut; ``problem`` says so then.

    Raises:
        ExtractionError: ``damaged``, ``encrypted`` or ``too-large``.
    """

    def __init__(self, data: bytes) -> None:
        self.problem: Problem | None = None
        self._unpacked = 0
        self._salvaged: dict[str, bytes] = {}
        self._infos: dict[str, zipfile.ZipInfo] = {}
        try:
            self._archive: zipfile.ZipFile | None = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as error:
            self._archive = None
            self._salvaged = _salvage(data)
            if not self._salvaged:
                raise failure("damaged") from error
            self.problem = problem("damaged", "The end of the file is missing; what stands before it was read.",
                                   partial=True)
            self.names = tuple(self._salvaged)
            return
        members = self._archive.infolist()
        if len(members) > MEMBER_LIMIT:
            raise failure("too-large", f"The file holds {len(members):,} parts; the limit is {MEMBER_LIMIT:,}.", "")
        if any(member.flag_bits & 1 for member in members):
            raise failure("encrypted")
        for member in members:
            self._infos.setdefault(member.filename.replace("\\", "/").lstrip("/"), member)
        self.names = tuple(self._infos)

    def part(self, name: str) -> bytes:
        """Gives the bytes of a part, ``b""`` if there is none.

        Raises:
            ExtractionError: ``too-large`` for a bomb, ``damaged``.
        """
        if self._archive is None:
            return self._salvaged.get(name, b"")
        info = self._infos.get(name)
        if info is None:
            return b""
        self._count(info)
        try:
            return self._archive.read(info)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError) as error:
            raise failure("damaged") from error

    def text_of(self, name: str) -> bytes:
        """As :meth:`part`, but gives the beginning of a part that is damaged further on, and notes the problem."""
        if self._archive is None:
            return self._salvaged.get(name, b"")
        info = self._infos.get(name)
        if info is None:
            return b""
        self._count(info)
        pieces: list[bytes] = []
        try:
            with self._archive.open(info) as stream:
                while piece := stream.read(1 << 16):
                    pieces.append(piece)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError) as error:
            if not pieces:
                raise failure("damaged") from error
            self.problem = problem("damaged", "A part of the file is damaged; what stands before it was read.",
                                   partial=True)
        return b"".join(pieces)

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Gives what a part refers to inside the container: id to (last word of the relation's type, part)."""
        folder, _, base = name.rpartition("/")
        root = root_of(self.part(f"{folder}/_rels/{base}.rels" if folder else f"_rels/{base}.rels"))
        found: dict[str, tuple[str, str]] = {}
        for child in root if root is not None else ():
            target = attribute(child, "Target")
            if attribute(child, "TargetMode") == "External" or not target:
                continue
            place = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            found[attribute(child, "Id")] = (attribute(child, "Type").rpartition("/")[2], place)
        return found

    def _count(self, info: zipfile.ZipInfo) -> None:
        size = info.file_size
        self._unpacked += size
        if self._unpacked > PART_LIMIT or (size > RATIO_FREE and size > RATIO * max(1, info.compress_size)):
            raise failure("too-large", f"A part of the file would unpack to {size / 1e6:,.0f} MB.", "")


def _salvage(data: bytes) -> dict[str, bytes]:
    """Reads the entries of a ZIP without its directory, from their own heads, as far as each goes."""
    found: dict[str, bytes] = {}
    at = left = 0
    budget = PART_LIMIT // 4
    while left < MEMBER_LIMIT and (at := data.find(b"PK\x03\x04", at)) >= 0 and at + _LOCAL.size <= len(data):
        left += 1
        _, _, flags, method, _, _, _, packed, _, name_length, extra = _LOCAL.unpack_from(data, at)
        start = at + _LOCAL.size + name_length + extra
        name = data[at + _LOCAL.size : at + _LOCAL.size + name_length].decode("utf-8", "replace")
        at += 4
        if flags & 1 or method not in {0, 8} or name.endswith("/"):
            continue
        if method == 0:
            text = data[start : start + packed] if packed else b""
        else:
            text, used = _inflate(data, start, min(budget, RATIO_FREE + RATIO * (len(data) - start)))
            at = max(at, start + used)
        budget -= len(text)
        if text and budget > 0:
            found.setdefault(name, text)
    return found


def _inflate(data: bytes, start: int, limit: int) -> tuple[bytes, int]:
    """Unpacks as much as stands there; gives it with the number of bytes that it took."""
    unpacker = zlib.decompressobj(-15)
    pieces: list[bytes] = []
    at, size = start, 0
    try:
        while at < len(data) and not unpacker.eof and size < limit:
            piece = unpacker.decompress(data[at : at + (1 << 15)], 1 << 22)
            while piece:
                pieces.append(piece)
                size += len(piece)
                if size >= limit or not unpacker.unconsumed_tail:
                    break
                piece = unpacker.decompress(unpacker.unconsumed_tail, 1 << 22)
            at += 1 << 15
    except zlib.error:
        pass
    return b"".join(pieces), max(0, min(at, len(data)) - start - len(unpacker.unused_data)) if unpacker.eof else 0


def elements(data: bytes | BinaryIO, *tags: str) -> Iterator[_Element]:
    """Gives each element with one of the local names as soon as it is complete, in document order."""
    from lxml import etree

    yield from (element for _, element in etree.iterparse(
        io.BytesIO(data) if isinstance(data, bytes) else data, events=("end",), tag=[f"{{*}}{tag}" for tag in tags],
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False, recover=True,
        remove_comments=True, remove_pis=True))


def drop(element: _Element) -> None:
    """Forgets an element that was read and its older siblings, so that a long part stays small in memory."""
    element.clear()
    parent = element.getparent()
    if parent is not None:
        while element.getprevious() is not None:
            del parent[0]


def root_of(data: bytes) -> _Element | None:
    """Parses a small part; None when there is nothing to parse."""
    from lxml import etree

    if not data.strip():
        return None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False,
                             huge_tree=False, recover=True, remove_comments=True, remove_pis=True)
    return etree.fromstring(data, parser)


def local(tag: object) -> str:
    """Gives the local name of a tag (comments and entities have none)."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: _Element, name: str) -> str:
    """Gives an attribute by its local name, ``""`` if missing."""
    for key, value in element.attrib.items():
        if local(key) == name:
            return str(value)
    return ""
