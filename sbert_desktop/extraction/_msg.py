"""Outlook messages (msg): properties of an OLE container; attached messages are read with them.

Source of names and types: Microsoft's open specifications MS-OXMSG and MS-OXPROPS.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._container import Member, Members
from sbert_desktop.extraction._encoding import decode, known_encoding
from sbert_desktop.extraction._mail import write_headers, write_plain
from sbert_desktop.extraction._normalise import one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source

if TYPE_CHECKING:
    from olefile import OleFileIO

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SUBJECT, _SENT, _DELIVERED, _CREATED = 0x0037, 0x0039, 0x0E06, 0x3007
_BODY, _HTML, _RTF = 0x1000, 0x1013, 0x1009
_SENDER_NAME, _SENDER_MAIL, _SENDER_SMTP = 0x0C1A, 0x0C1F, 0x5D01
_FOR_NAME, _FOR_MAIL, _FOR_SMTP = 0x0042, 0x0065, 0x5D02
_TO, _CC, _MESSAGE_ID, _HEADERS = 0x0E04, 0x0E03, 0x1035, 0x007D
_NAME, _MAIL, _SMTP, _KIND = 0x3001, 0x3003, 0x39FE, 0x0C15
_DATA, _LONG_NAME, _SHORT_NAME, _METHOD = 0x3701, 0x3707, 0x3704, 0x3705
_MIME, _CONTENT_ID, _HIDDEN = 0x370E, 0x3712, 0x7FFE
_CODE_PAGES = (0x3FFD, 0x3FDE)
_EMBEDDED = 5
_DEEPEST = 5
_MOST = 500
_STREAM = re.compile(r"^__substg1\.0_([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})$")
_PREBUFFER = (b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript "
              b"\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
              b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx")
"""Where back references of compressed RTF first point. Source: MS-OXRTFCP 2.1.2.1."""
RTF_LIMIT = 32 * 1024 * 1024


def read(source: Source) -> ExtractedText:
    """Reads the text of one message; its attachments are named.

    Raises:
        ExtractionError: ``damaged``, ``empty``.
    """
    for member in members(source):
        if member.document is not None:
            return member.document
    raise failure("empty")


def read_store(source: Source) -> ExtractedText:
    """Tells how to export the mail stores of Outlook.

    Raises:
        ExtractionError: ``needs-export``, always.
    """
    raise failure("needs-export", "Outlook's mail stores (pst, ost, dbx) are not read.",
                  "Import it into Thunderbird, whose mailboxes are read, or save the messages from Outlook as files "
                  "(select them, drag them into a folder).")


def members(source: Source, cursor: str = "") -> Members:
    """Gives the message's own text, then its attachments; those of attached messages below their names.

    Raises:
        ExtractionError: ``damaged``, ``empty``.
    """
    data = source.data
    if not data.startswith(_OLE):
        from sbert_desktop.extraction import _mail

        return (yield from _mail.members(source, cursor))  # a plain mail with this suffix
    from olefile import OleFileIO

    try:
        ole = OleFileIO(io.BytesIO(data))
    except Exception as error:  # olefile raises what it happens to stumble upon
        raise failure("damaged", detail=type(error).__name__) from error
    with ole:
        yield from _message(ole, _Storage(ole, ()), "", 0)
    return None


def _message(ole: OleFileIO, storage: _Storage, name: str, depth: int) -> Iterator[Member]:
    attachments = [_Storage(ole, (*storage.path, child), storage.encoding, depth=8)
                   for child in storage.children("__attach_version1.0_")][:_MOST]
    named = [(attachment, shown) for number, attachment in enumerate(attachments, 1)
             if (shown := _attachment_name(attachment, number))]
    document = _document(ole, storage, [shown for _, shown in named])
    if not document.blocks and not named:
        raise failure("empty")
    yield Member(name, document=document, mtime=document.date)
    for attachment, shown in named:
        full = f"{name}/{shown}" if name else shown
        if attachment.number(_METHOD) == _EMBEDDED:
            inner = _Storage(ole, (*attachment.path, "__substg1.0_3701000D"), depth=24)
            if depth < _DEEPEST:
                yield from _message(ole, inner, full, depth + 1)
        else:
            yield Member(full, load=lambda attachment=attachment: _bytes_of(attachment),  # type: ignore[misc]
                         mtime=document.date)


def _bytes_of(attachment: _Storage) -> bytes:
    data = attachment.raw(_DATA)
    if not data:
        raise failure("empty", "The attachment holds nothing.")
    return data


def _attachment_name(attachment: _Storage, number: int) -> str:
    """Gives an attachment's name; ``""`` for pictures that belong to the layout of the message."""
    embedded = attachment.number(_METHOD) == _EMBEDDED
    name = one_line(attachment.text(_LONG_NAME) or attachment.text(_SHORT_NAME) or attachment.text(_NAME), 200)
    name = re.sub(r"[/\\]", "-", name)
    kind = attachment.text(_MIME)
    picture = kind.startswith("image/") or name.lower().rpartition(".")[2] in {"png", "jpg", "jpeg", "gif", "bmp"}
    if picture and (attachment.text(_CONTENT_ID) or attachment.number(_HIDDEN)):
        return ""
    if embedded:
        inner = _Storage(attachment.ole, (*attachment.path, "__substg1.0_3701000D"), depth=24)
        name = re.sub(r"[/\\]", "-", one_line(inner.text(_SUBJECT), 80)) or name or f"message {number}"
        return name if name.lower().endswith(".msg") else f"{name}.msg"
    if not name and not attachment.raw(_DATA):
        return ""
    return name or f"attachment {number}"


def _document(ole: OleFileIO, storage: _Storage, names: list[str]) -> ExtractedText:
    out = TextBuilder("msg")
    recipients = [_Storage(ole, (*storage.path, child), storage.encoding, depth=8)
                  for child in storage.children("__recip_version1.0_")][:1000]
    sent = storage.time(_SENT) or storage.time(_DELIVERED) or storage.time(_CREATED)
    write_headers({
        "Subject": storage.text(_SUBJECT),
        "From": _person(storage.text(_SENDER_NAME) or storage.text(_FOR_NAME),
                        storage.text(_SENDER_SMTP) or storage.text(_FOR_SMTP) or storage.text(_SENDER_MAIL)
                        or storage.text(_FOR_MAIL)),
        "To": _people(recipients, 1) or storage.text(_TO),
        "Cc": _people(recipients, 2) or storage.text(_CC),
        "Message-ID": storage.text(_MESSAGE_ID),
        "Date": datetime.fromtimestamp(sent, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000") if sent else "",
    }, out)
    title, date = out.title, out.date
    out.title = title or " "
    _write_body(storage, out)
    out.title, out.date = title, date
    if names:
        out.add("Attachments: " + ", ".join(names), BlockKind.HEADER)
    return out.finish()


def _write_body(storage: _Storage, out: TextBuilder) -> None:
    """Adds the body: plain, else HTML, else what the RTF holds of either."""
    plain = storage.text(_BODY)
    if plain.strip():
        write_plain(plain, out)
        return
    page = storage.raw(_HTML)
    if page.strip(b"\0 \r\n"):
        from sbert_desktop.extraction._html import declared_encoding, write_html

        wide = storage.kind(_HTML) == 0x001F
        write_html(page.decode("utf-16-le", "replace") if wide
                   else decode(page, declared_encoding(page) or storage.encoding)[0], out)
        return
    rtf = decompress_rtf(storage.raw(_RTF))
    if rtf.strip():
        write_rtf_body(rtf, out)


def write_rtf_body(rtf: bytes, out: TextBuilder) -> None:
    r"""Adds the text of an RTF body; HTML inside it (``\fromhtml``) is taken out first."""
    if b"\\fromhtml" in rtf[:2000]:
        from sbert_desktop.extraction._html import write_html

        write_html(html_of(rtf), out)
        return
    from sbert_desktop.extraction._rtf import read as read_rtf

    document = read_rtf(Source("body.rtf", rtf))
    for block in document.blocks:
        if block.kind is not BlockKind.FURNITURE:
            out.add(document.text[block.start : block.end],
                    BlockKind.TABLE if block.kind is BlockKind.TABLE else BlockKind.PARAGRAPH)


_RTF_TOKEN = re.compile(rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])|"
                        rb"[\r\n]+|[^\\{}\r\n]+")
_RTF_WORDS = {b"par": "\r\n", b"line": "\r\n", b"tab": "\t", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“",
              b"rdblquote": "”", b"bullet": "•", b"endash": "–", b"emdash": "—"}
_RTF_HIDDEN = frozenset((b"fonttbl", b"colortbl", b"stylesheet", b"info", b"pict", b"pntext", b"mhtmltag"))


def html_of(rtf: bytes) -> str:
    r"""Gives the HTML that Outlook put into RTF. Source: MS-OXRTFEX 2.1.3.

    What stands in ``\htmltag`` groups is HTML; between ``\htmlrtf`` and ``\htmlrtf0`` it is not.
    """
    page = re.search(rb"\\ansicpg(\d{3,5})", rtf[:500])
    encoding = known_encoding(f"cp{page[1].decode()}" if page else "cp1252") or "cp1252"
    parts: list[str] = []
    held = bytearray()
    groups: list[tuple[bool, bool]] = []
    silent = skipped = False
    substitutes = 0
    for match in _RTF_TOKEN.finditer(rtf):
        word, number, code, sign, brace = match.groups()
        if brace == b"{":
            groups.append((silent, skipped))
        elif brace:
            silent, skipped = groups.pop() if groups else (False, False)
        elif word == b"htmlrtf":
            silent = number != b"0"
        elif word in _RTF_HIDDEN or (
                sign == b"*" and not rtf.startswith(b"\\htmltag", match.end())):
            skipped = True
        elif silent or skipped or word == b"htmltag":
            continue
        elif code:
            if substitutes:
                substitutes -= 1
            else:
                held.append(int(code, 16))
        elif word == b"u" and number:
            parts += [held.decode(encoding, "replace"), chr(int(number) % 65536)]
            held.clear()
            substitutes = 1
        elif word:
            parts += [held.decode(encoding, "replace"), _RTF_WORDS.get(word, "")]
            held.clear()
        elif sign:
            held += {b"~": b"\xa0", b"-": b"", b"_": b"-", b"*": b""}.get(sign, sign)
        elif not match[0].isspace() or b"\n" not in match[0]:
            held += match[0][substitutes:]
            substitutes = 0
    text: str = "".join([*parts, held.decode(encoding, "replace")])
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def decompress_rtf(data: bytes) -> bytes:
    """Unpacks compressed RTF, as far as it is whole. Source: MS-OXRTFCP 2.2."""
    if len(data) < 16:
        return b""
    _, raw_size, kind, _ = struct.unpack_from("<IIII", data)
    if kind == 0x414C454D:  # "MELA": not compressed
        return data[16 : 16 + raw_size]
    if kind != 0x75465A4C:  # "LZFu"
        return b""
    window = bytearray(_PREBUFFER.ljust(4096, b"\0"))
    out = bytearray()
    write, at, limit = len(_PREBUFFER), 16, min(raw_size, RTF_LIMIT)
    while at < len(data) and len(out) < limit:
        control = data[at]
        at += 1
        for bit in range(8):
            if at >= len(data):
                break
            if control >> bit & 1:
                if at + 1 >= len(data):
                    return bytes(out)
                token = data[at] << 8 | data[at + 1]
                at += 2
                offset, length = token >> 4, (token & 15) + 2
                if offset == write:
                    return bytes(out[:limit])
                for step in range(length):
                    byte = window[(offset + step) % 4096]
                    out.append(byte)
                    window[write] = byte
                    write = (write + 1) % 4096
            else:
                out.append(data[at])
                window[write] = data[at]
                write = (write + 1) % 4096
                at += 1
    return bytes(out[:limit])


def _person(name: str, mail: str) -> str:
    name, mail = one_line(name).strip("' "), one_line(mail)
    if not mail or mail.startswith("/") or mail.lower() == name.lower():  # an address inside Exchange says nothing
        return name or mail
    return f"{name} <{mail}>" if name else mail


def _people(recipients: list[_Storage], kind: int) -> str:
    return ", ".join(person for recipient in recipients if (recipient.number(_KIND) or 1) == kind
                     and (person := _person(recipient.text(_NAME), recipient.text(_SMTP) or recipient.text(_MAIL))))


@dataclass(frozen=True, slots=True)
class _Fixed:
    kind: int
    value: bytes


class _Storage:
    """The properties of one storage: the message, a recipient, an attachment."""

    def __init__(self, ole: OleFileIO, path: tuple[str, ...], encoding: str = "", *, depth: int = 32) -> None:
        self.ole, self.path = ole, path
        self._names: dict[int, tuple[int, str]] = {}
        self._children: list[str] = []
        for entry in _entries(ole, path):
            match = _STREAM.match(entry)
            if match:
                self._names.setdefault(int(match[1], 16), (int(match[2], 16), entry))
            else:
                self._children.append(entry)
        self._fixed: dict[int, _Fixed] = {}
        table = self._stream("__properties_version1.0")
        for at in range(depth, min(len(table), 200_000) - 15, 16):
            kind, key = struct.unpack_from("<HH", table, at)
            self._fixed[key] = _Fixed(kind, table[at + 8 : at + 16])
        self.encoding = encoding or next((name for key in _CODE_PAGES if (name := _code_page(self.number(key)))), "")

    def children(self, prefix: str) -> list[str]:
        """Gives the names of the storages with a prefix, in their order."""
        return sorted(name for name in self._children if name.startswith(prefix))

    def kind(self, key: int) -> int:
        """Gives the type of a property that has a stream, 0 if it has none."""
        return self._names.get(key, (0, ""))[0]

    def raw(self, key: int) -> bytes:
        """Gives the bytes of a property."""
        kind, name = self._names.get(key, (0, ""))
        return self._stream(name) if name and kind != 0x000D else b""

    def text(self, key: int) -> str:
        """Gives a property that is text."""
        kind, data = self.kind(key), self.raw(key)
        if kind == 0x001F:
            return data.decode("utf-16-le", "replace").rstrip("\0")
        return decode(data.rstrip(b"\0"), self.encoding)[0] if data else ""

    def number(self, key: int) -> int:
        """Gives a property that is a number, 0 if it is missing."""
        found = self._fixed.get(key)
        return int.from_bytes(found.value[:4], "little") if found is not None and found.kind in {0x0003, 0x000B} else 0

    def time(self, key: int) -> float | None:
        """Gives a property that is a time, in seconds since the epoch."""
        found = self._fixed.get(key)
        if found is None or found.kind != 0x0040:
            return None
        seconds = int.from_bytes(found.value, "little") / 1e7 - 11_644_473_600
        return seconds if 0 < seconds < 7e9 else None

    def _stream(self, name: str) -> bytes:
        path = [*self.path, name]
        try:
            return bytes(self.ole.openstream(path).read()) if self.ole.exists(path) else b""
        except Exception:  # a damaged stream costs this property only
            return b""


def _entries(ole: OleFileIO, path: tuple[str, ...]) -> list[str]:
    """Gives what lies directly in a storage."""
    node = ole.root
    for part in path:
        node = next((child for child in node.kids if child.name == part), None)
        if node is None:
            return []
    return [str(child.name) for child in node.kids]


def _code_page(number: int) -> str:
    return {0: "", 65001: "utf-8", 1200: ""}.get(number) or known_encoding(
        {20127: "ascii", 28591: "latin-1", 20866: "koi8_r", 21866: "koi8_u", 50220: "iso2022_jp", 51932: "euc_jp",
         51949: "euc_kr", 936: "gbk", 54936: "gb18030", 52936: "hz"}.get(number, f"cp{number}")) if number else ""
