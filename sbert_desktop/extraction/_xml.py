"""Safe XML for containers: no entities, no DTD, no network, capped sizes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sbert_desktop.extraction._problems import failure

if TYPE_CHECKING:
    from lxml.etree import _Element

PART_LIMIT = 512 * 1024 * 1024
MEMBER_LIMIT = 2000
RATIO, RATIO_FREE = 200, 10 * 1024 * 1024
"""Archives: 2,000 members, 512 MB, 200:1 beyond 10 MB. Source: RELIABILITY R12."""


class Container:
    """A ZIP container of XML parts.

    Raises:
        ExtractionError: ``damaged``, ``encrypted`` or ``too-large``.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise failure("damaged") from error
        members = self._archive.infolist()
        if len(members) > MEMBER_LIMIT:
            raise failure("too-large", f"The file holds {len(members):,} parts; the limit is {MEMBER_LIMIT:,}.", "")
        if any(member.flag_bits & 1 for member in members):
            raise failure("encrypted")
        self.names = tuple(member.filename for member in members)

    def part(self, name: str) -> bytes:
        """Gives the bytes of a part, ``b""`` if there is none.

        Raises:
            ExtractionError: ``too-large`` for a bomb, ``damaged``.
        """
        import zlib

        try:
            info = self._archive.getinfo(name)
        except KeyError:
            return b""
        if info.file_size > PART_LIMIT or (
                info.file_size > RATIO_FREE and info.file_size > RATIO * max(1, info.compress_size)):
            raise failure("too-large", f"A part of the file would unpack to {info.file_size / 1e6:,.0f} MB.", "")
        try:
            return self._archive.read(info)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError) as error:
            raise failure("damaged") from error


def elements(data: bytes, *tags: str) -> Iterator[_Element]:
    """Gives each element with one of the local names as soon as it is complete, in document order."""
    from lxml import etree

    yield from (element for _, element in etree.iterparse(
        io.BytesIO(data), events=("end",), tag=[f"{{*}}{tag}" for tag in tags], resolve_entities=False,
        no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False, recover=True, remove_comments=True,
        remove_pis=True))


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
