"""Outlook messages, made here as compound files: text, people, attachments and attached messages."""

from __future__ import annotations

import struct
import zlib
from typing import Union

from sbert_desktop.domain import ExtractedText, Listing
from sbert_desktop.extraction._extract import name_format
from sbert_desktop.extraction._series import series_of
from sbert_desktop.extraction._source import Source

Tree = dict[str, Union[bytes, "Tree"]]
FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def compound_file(tree: Tree) -> bytes:
    """Writes storages and short streams as a compound file."""
    entries: list[list[object]] = [["Root Entry", 5, FREE, FREE, b""]]  # name, type, next sibling, child, data

    def add(node: Tree, parent: int) -> None:
        before = None
        for name, value in node.items():
            number = len(entries)
            entries.append([name, 1 if isinstance(value, dict) else 2, FREE, FREE,
                            b"" if isinstance(value, dict) else value])
            if before is None:
                entries[parent][3] = number
            else:
                entries[before][2] = number
            before = number
            if isinstance(value, dict):
                add(value, number)

    add(tree, 0)
    # All streams are short and lie in the mini stream, in sectors of 64 bytes, which is the root's own.
    small, small_fat, places = bytearray(), list[int](), list[int]()
    for entry in entries:
        data = entry[4]
        assert isinstance(data, bytes)
        assert len(data) < 4096
        places.append(len(small_fat) if data else END)
        count = -(-len(data) // 64)
        small_fat += [len(small_fat) + step + 1 if step + 1 < count else END for step in range(count)]
        small += data.ljust(count * 64, b"\0")
    body, fat = bytearray(), list[int]()
    for data in (bytes(small), struct.pack(f"<{len(small_fat)}I", *small_fat)):
        count = -(-len(data) // 512)
        fat += [len(fat) + step + 1 if step + 1 < count else END for step in range(count)]
        body += data.ljust(count * 512, b"\xff")
    small_fat_at = -(-len(small) // 512)
    entries[0][4], places[0] = bytes(small), 0
    directory_at = len(fat)
    directory = b""
    for entry, place in zip(entries, places, strict=True):
        name, kind, following, child, data = entry
        assert isinstance(name, str)
        assert isinstance(data, bytes)
        raw = name.encode("utf-16-le") + b"\0\0"
        directory += raw.ljust(64, b"\0") + struct.pack("<HBBIII", len(raw), kind, 1, FREE, following, child)
        directory += bytes(36) + struct.pack("<IQ", place, len(data))
    count = -(-len(directory) // 512)
    fat += [len(fat) + step + 1 if step + 1 < count else END for step in range(count)]
    body += directory.ljust(count * 512, b"\0")
    tables = 1
    while tables * 128 < len(fat) + tables:
        tables += 1
    fat_at = len(fat)
    fat += [FAT] * tables
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(tables * 512, b"\xff")
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack(
        "<HHHHHHIIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 0, 0, tables, directory_at, 0, 4096, small_fat_at,
        directory_at - small_fat_at, END, 0)
    header += struct.pack(f"<{tables}I", *range(fat_at, fat_at + tables))
    return header.ljust(512, b"\xff") + bytes(body) + table


def properties(size: int, fixed: dict[int, tuple[int, int]]) -> bytes:
    return bytes(size) + b"".join(struct.pack("<HHIQ", kind, key, 6, value) for key, (kind, value) in fixed.items())


def texts(values: dict[int, str]) -> Tree:
    return {f"__substg1.0_{key:04X}001F": value.encode("utf-16-le") for key, value in values.items()}


def recipient(name: str, mail: str, kind: int) -> Tree:
    return {**texts({0x3001: name, 0x39FE: mail}), "__properties_version1.0": properties(8, {0x0C15: (3, kind)})}


SENT = (0x40, (1_578_304_800 + 11_644_473_600) * 10_000_000)
INNER: Tree = {**texts({0x0037: "Re: the flat", 0x0C1A: "Bob", 0x1000: "The landlord agreed."}),
               "__properties_version1.0": properties(24, {}),
               "__attach_version1.0_#00000000": {
                   **texts({0x3707: "rent.csv"}), "__substg1.0_37010102": b"name,rent\nflat,700\n",
                   "__properties_version1.0": properties(8, {0x3705: (3, 1)})}}
MESSAGE: Tree = {
    **texts({0x0037: "Grüße", 0x0C1A: "Müller, Ann", 0x5D01: "ann@example.org"}),
    "__substg1.0_10130102": "<html><body><p>Siehe den <b>Plan</b> für Köln.</p></body></html>".encode("cp1252"),
    "__properties_version1.0": properties(32, {0x0039: SENT, 0x3FDE: (3, 1252)}),
    "__recip_version1.0_#00000000": recipient("Bob Lee", "bob@example.org", 1),
    "__recip_version1.0_#00000001": recipient("Cleo", "cleo@example.org", 2),
    "__attach_version1.0_#00000000": {
        **texts({0x3707: "Plan Küche.txt"}), "__substg1.0_37010102": b"The kitchen is large.",
        "__properties_version1.0": properties(8, {0x3705: (3, 1)})},
    "__attach_version1.0_#00000001": {
        "__substg1.0_3701000D": INNER, "__properties_version1.0": properties(8, {0x3705: (3, 5)})},
    "__attach_version1.0_#00000002": {
        **texts({0x3707: "logo.png", 0x3712: "logo@1"}), "__substg1.0_37010102": b"\x89PNG",
        "__properties_version1.0": properties(8, {0x3705: (3, 1)})},
}


def series(data: bytes) -> tuple[dict[str, str], Listing]:
    source = Source("a.msg", data)
    entries, found = series_of(source, name_format(source)), {}
    while True:
        try:
            entry = next(entries)
            found[entry.member] = entry.outcome.text if isinstance(entry.outcome, ExtractedText) else entry.outcome.code
        except StopIteration as end:
            assert isinstance(end.value, Listing)  # noqa: PT017
            return found, end.value


def test_a_message_gives_its_text_and_everything_attached() -> None:
    found, listing = series(compound_file(MESSAGE))
    document = listing.document
    assert document is not None
    assert document.title == "Grüße"
    assert document.date == 1578304800.0
    assert document.text == (
        "From: Müller, Ann <ann@example.org>\nTo: Bob Lee <bob@example.org>\nCc: Cleo <cleo@example.org>\n"
        "Subject: Grüße\nDate: Mon, 06 Jan 2020 10:00:00 +0000\n\nSiehe den Plan für Köln.\n\n"
        "Attachments: Plan Küche.txt, Re: the flat.msg")
    assert found == {
        "Plan Küche.txt": "The kitchen is large.",
        "Re: the flat.msg": "From: Bob\nSubject: Re: the flat\n\nThe landlord agreed.\n\nAttachments: rent.csv",
        "Re: the flat.msg/rent.csv": "name\trent\nflat\t700"}


def test_a_body_of_compressed_rtf_is_read() -> None:
    rtf = b"{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0 Arial;}}\\f0 The tulips bl\\'fchen.\\par Second line.}"
    packed = struct.pack("<IIII", len(rtf) + 12, len(rtf), 0x414C454D, zlib.crc32(b"")) + rtf
    message: Tree = {**texts({0x0037: "RTF"}), "__substg1.0_10090102": packed,
                     "__properties_version1.0": properties(32, {})}
    _, listing = series(compound_file(message))
    assert listing.document is not None
    assert "The tulips blühen." in listing.document.text
    assert listing.document.title == "RTF"


def test_cut_and_changed_messages_do_no_harm() -> None:
    from sbert_desktop.errors import ExtractionError

    data = compound_file(MESSAGE)
    for at in range(0, len(data), 211):
        for broken in (data[:at], data[:at] + b"\xff\x00\x7f" + data[at + 3 :]):
            try:
                series(broken)
            except ExtractionError as error:
                assert error.code in {"damaged", "empty", "unknown-type"}  # noqa: PT017
