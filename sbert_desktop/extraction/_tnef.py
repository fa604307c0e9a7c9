"""Outlook's winmail.dat (TNEF): the text and the attachments that Outlook packed into one.

Source: MS-OXTNEF.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from sbert_desktop.domain import ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._container import Member, Members
from sbert_desktop.extraction._encoding import decode, known_encoding
from sbert_desktop.extraction._mail import write_plain
from sbert_desktop.extraction._normalise import one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source

SIGNATURE = b"\x78\x9f\x3e\x22"
_SUBJECT, _BODY, _PROPERTIES, _CODE_PAGE = 0x8004, 0x800C, 0x9003, 0x9007
_NEW_ATTACHMENT, _TITLE, _DATA, _ATTACHMENT = 0x9002, 0x8010, 0x800F, 0x9005
_LONG_NAME, _HTML, _RTF, _PLAIN = 0x3707, 0x1013, 0x1009, 0x1000
_SIZES = {0x0002: 4, 0x0003: 4, 0x0004: 4, 0x0005: 8, 0x0006: 8, 0x0007: 8, 0x000A: 4, 0x000B: 4, 0x0014: 8,
          0x0040: 8, 0x0048: 16}


@dataclass(slots=True)
class _Attachment:
    title: str = ""
    data: bytes = b""


def read(source: Source) -> ExtractedText:
    """Reads the text that lies in it.

    Raises:
        ExtractionError: ``damaged``, ``empty``.
    """
    for member in members(source):
        if member.document is not None:
            return member.document
    raise failure("empty")


def members(source: Source, cursor: str = "") -> Members:
    """Gives the text, if there is one, and the attachments.

    Raises:
        ExtractionError: ``damaged``, ``empty``.
    """
    if not source.data.startswith(SIGNATURE):
        raise failure("damaged")
    out, encoding = TextBuilder("tnef"), ""
    found: list[_Attachment] = []
    for key, data in _attributes(source.data):
        if key == _CODE_PAGE and len(data) >= 4:
            encoding = known_encoding(f"cp{int.from_bytes(data[:4], 'little')}")
        elif key == _SUBJECT:
            out.title = one_line(_text(data, encoding))
        elif key == _BODY and data.strip(b"\0 \r\n"):
            write_plain(_text(data, encoding), out)
        elif key == _PROPERTIES and not out.finish().blocks:
            _write_body(dict(_properties(data)), out)
        elif key == _NEW_ATTACHMENT:
            found.append(_Attachment())
        elif found and key == _TITLE:
            found[-1].title = found[-1].title or one_line(_text(data, encoding))
        elif found and key == _DATA:
            found[-1].data = data
        elif found and key == _ATTACHMENT:
            name = dict(_properties(data)).get(_LONG_NAME)
            found[-1].title = one_line(_value(name)) if name else found[-1].title
    document = out.finish()
    if not document.blocks and not any(attachment.data for attachment in found):
        raise failure("empty")
    if document.blocks:
        yield Member("", document=document)
    for number, attachment in enumerate(found, 1):
        if attachment.data:
            yield Member(attachment.title or f"attachment {number}", data=attachment.data)
    return None


def _write_body(properties: dict[int, tuple[int, bytes]], out: TextBuilder) -> None:
    title = out.title
    if _PLAIN in properties:
        write_plain(_value(properties[_PLAIN]), out)
    elif _HTML in properties:
        from sbert_desktop.extraction._html import declared_encoding, write_html

        page = properties[_HTML][1]
        out.title = title or " "
        write_html(decode(page, declared_encoding(page))[0], out)
    elif _RTF in properties:
        from sbert_desktop.extraction._msg import decompress_rtf, write_rtf_body

        rtf = decompress_rtf(properties[_RTF][1])
        out.title = title or " "
        if rtf.strip():
            write_rtf_body(rtf, out)
    out.title = title


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 6
    while at + 9 <= len(data):
        key, _, length = struct.unpack_from("<HHI", data, at + 1)
        at += 9
        if at + length > len(data):
            return
        yield key, data[at : at + length]
        at += length + 2  # a checksum


def _properties(data: bytes) -> Iterator[tuple[int, tuple[int, bytes]]]:
    """Gives (id, (type, bytes)) of each property of a list; ends where the list is not understood."""
    if len(data) < 4:
        return
    at = 4
    for _ in range(min(int.from_bytes(data[:4], "little"), 10_000)):
        if at + 4 > len(data):
            return
        kind, key = struct.unpack_from("<HH", data, at)
        at += 4
        if key >= 0x8000:  # a named property: a GUID, then a number or a name
            if at + 24 > len(data):
                return
            named, length = struct.unpack_from("<II", data, at + 16)
            at += 24 + ((length + 3) & ~3 if named else 0)
        many, kind = kind & 0x1000, kind & ~0x1000
        count = 1
        if many or kind not in _SIZES:
            count = int.from_bytes(data[at : at + 4], "little")
            at += 4
        value = b""
        for _ in range(min(count, 10_000)):
            size = _SIZES.get(kind)
            if size is None:
                size = int.from_bytes(data[at : at + 4], "little")
                at += 4
            if at + size > len(data):
                return
            value = value or data[at : at + size]
            at += (size + 3) & ~3
        yield key, (kind, value)


def _value(entry: tuple[int, bytes]) -> str:
    kind, data = entry
    return data.decode("utf-16-le", "replace").rstrip("\0") if kind == 0x001F else _text(data, "")


def _text(data: bytes, encoding: str) -> str:
    return decode(data.rstrip(b"\0"), encoding)[0]
