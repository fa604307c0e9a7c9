"""Mailboxes (mbox, Thunderbird): messages one by one from the open file, and on from where it ended last time.

Memory holds one message. A message begins at a "From " line that follows a blank line, carries a date
or nothing, and is followed by a header; a sentence that begins with "From " is none of that.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from sbert_desktop.domain import ExtractedText
from sbert_desktop.extraction._container import Member, Members, Remainder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._mail import decode_words
from sbert_desktop.extraction._normalise import one_line
from sbert_desktop.extraction._problems import failure, problem
from sbert_desktop.extraction._source import Source

MESSAGE_LIMIT = 128 * 1024 * 1024
"""Bytes of one message that are read."""
_BLOCK = 1 << 20
_LOOK_AHEAD = 4096
_CHECKED = 4096
_HEAD = 64 * 1024
_DATED = re.compile(
    rb"^From (?:\S{1,300} {0,20}|\"[^\"\n]{0,300}\"\S{0,300} +|- ?|.{1,200}? )?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +"
    rb"(?:[A-Z][a-z]{2} +\d{1,2}|\d{1,2} +[A-Z][a-z]{2})[ ,]+(?:\d{4} +)?\d{1,2}:\d{2}(?::\d{2})?[^\n]{0,80}\r?\n")
_BARE = re.compile(rb"^From (?:- ?|\S{1,300}@\S{1,300} ?)?\r?\n")
_HEADER = re.compile(rb"^(?:>From [^\n]{0,500}\n)?[!-9;-~]{1,80}:[ \t\r\n]?")
_MAIL_HEADER = re.compile(rb"^(?:>From [^\n]{0,500}\n)?(?:X-Mozilla-|X-Account-Key|X-UIDL|X-GM-THRID|X-Gmail-Labels|"
                          rb"Return-Path|Received|Delivered-To|Envelope-To|X-Original-To|Message-ID|From|Date|Subject|"
                          rb"MIME-Version|Status|X-Status|To|Reply-To|Sender|DKIM-Signature|ARC-|Authentication-Results|"
                          rb"Content-Type|FCC|X-)[\w-]{0,60}:", re.IGNORECASE)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
# What Thunderbird changes in place when a mail is read or marked: no reason to read the box again.
_NOTES = re.compile(rb"^X-Mozilla-[\w-]{1,30}:[^\n]*", re.MULTILINE)
_SUBJECT = re.compile(rb"^Subject:[ \t]*([^\n]*(?:\n[ \t][^\n]*)*)", re.MULTILINE | re.IGNORECASE)
_DATE = re.compile(rb"^Date:[ \t]*([^\n]{0,200})", re.MULTILINE | re.IGNORECASE)
_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True, slots=True)
class _Message:
    """One message as it lies in the file; ``data`` is None when it is over the limit."""

    start: int
    end: int
    head: bytes
    data: bytes | None


def read(source: Source) -> ExtractedText:
    """A mailbox has no text of its own.

    Raises:
        ExtractionError: ``unknown-type``, always: its members are read.
    """
    raise failure("unknown-type", "A mailbox is read message by message.")


def members(source: Source, cursor: str = "") -> Members:
    """Gives one member for each message, ``"12 Re: flat.eml"``, numbered from 1 through the whole box.

    With a cursor that still fits (the box only grew), goes on from there and says ``grown``. The last
    message is given again then: it may have been half written.

    Raises:
        ExtractionError: ``damaged`` when no message is in the file.
    """
    with source.stream() as stream:
        size = source.size
        offset, count, last = _resume(stream, size, cursor)
        grown = bool(cursor) and offset is not None
        prints = _Prints(stream)
        start = offset or 0
        number, last_start = count, last
        for message in _messages(stream, start):
            if message.start == start == 0 and not _is_message(message.head):
                continue  # what stands before the first message
            if message.end >= size and _half_written(message):
                break
            number += 1
            last_start = message.start
            yield _member(message, number, prints.cursor(message, number))
        if not number:
            raise failure("damaged", "The file holds no mailbox.")
        if last_start is None:
            return Remainder(cursor=cursor, grown=grown)
        return Remainder(cursor=_note(stream, last_start, number - 1), grown=grown)


def looks_like_mailbox(head: bytes) -> bool:
    """Tells by the first bytes of a file whether it is a mailbox, whatever its name."""
    if not head.startswith(b"From "):
        return False
    line = head.find(b"\n") + 1
    begins = _DATED.match(head) or _BARE.match(head)
    return line > 0 and begins is not None and _HEADER.match(head[line : line + 500]) is not None


def _is_message(head: bytes) -> bool:
    return head.startswith(b"From ") or bool(_MAIL_HEADER.match(head))


def _half_written(message: _Message) -> bool:
    """Tells a message whose headers are still being written."""
    return message.data is not None and not message.data.endswith(b"\n") \
        and not _END_OF_HEADERS.search(message.head)


def _member(message: _Message, number: int, cursor: str) -> Member:
    line = message.head.find(b"\n") + 1 if message.head.startswith(b"From ") else 0
    ended = _END_OF_HEADERS.search(message.head, line)
    headers = message.head[line : ended.end() if ended else len(message.head)].replace(b"\r\n", b"\n")
    subject, date = _SUBJECT.search(headers), _DATE.search(headers)
    shown = one_line(decode_words(subject[1].decode("utf-8", "surrogateescape")), 80) if subject else ""
    shown = re.sub(r"[/\\]", "-", shown)
    name = f"{number} {shown}.eml" if shown else f"{number}.eml"
    mtime = parse_date(date[1].decode("ascii", "replace")) if date else None
    if message.data is None:
        size = message.end - message.start
        return Member(name, problem=problem("too-large", f"The message has {size / 1e6:,.0f} MB; the limit is "
                                            f"{MESSAGE_LIMIT / 1e6:,.0f} MB.", ""), mtime=mtime, cursor=cursor)
    data = message.data[line:]
    if b"\n>" in data:
        data = _QUOTED_FROM.sub(rb"\1", data)
    return Member(name, data=data or b"\n", mtime=mtime, cursor=cursor)


# ---------------------------------------------------------------- parting the file


def _messages(stream: BinaryIO, offset: int) -> Iterator[_Message]:
    """Gives the stretches between the "From " lines from an offset on."""
    position = start = offset
    held = bytearray()
    head = b""
    dropped = scan = 0
    ended = False
    while True:
        at = held.find(b"\nFrom ", scan)
        if not ended and (at < 0 or at + _LOOK_AHEAD > len(held)):
            scan = max(scan, min(at, len(held) - 6) if at >= 0 else len(held) - 6)
            stream.seek(position)
            block = stream.read(_BLOCK)
            ended = not block
            position += len(block)
            held += block
            if len(held) > MESSAGE_LIMIT:
                head = head or bytes(held[:_HEAD])
                keep = scan - 2
                dropped += keep
                del held[:keep]
                scan -= keep
            continue
        if at >= 0 and not _is_border(held, at):
            scan = at + 6
            continue
        cut = at + 1 if at >= 0 else len(held)
        size = dropped + cut
        if size:
            yield _Message(start, start + size, head or bytes(held[: min(cut, _HEAD)]),
                           None if dropped else bytes(held[:cut]))
        if at < 0:
            return
        start += size
        del held[:cut]
        head, dropped, scan = b"", 0, 5


def _is_border(held: bytearray, at: int) -> bool:
    """Tells whether a "From " line behind the line end at ``at`` begins a message."""
    line = bytes(held[at + 1 : at + _LOOK_AHEAD])
    after = line.find(b"\n") + 1
    if not after:
        return False
    follows_blank = at == 0 or held[at - 1] == 10 or (held[at - 1] == 13 and (at < 2 or held[at - 2] == 10))
    if _DATED.match(line):
        return bool((_HEADER if follows_blank else _MAIL_HEADER).match(line[after:]))
    return follows_blank and bool(_BARE.match(line)) and bool(_MAIL_HEADER.match(line[after:]))


# ---------------------------------------------------------------- going on


def _resume(stream: BinaryIO, size: int, cursor: str) -> tuple[int | None, int, int | None]:
    """Gives the offset to go on from (None: from the start), the messages before it, and where the last begins."""
    try:
        noted = json.loads(cursor) if cursor else {}
        offset, count, last = int(noted["offset"]), int(noted["count"]), noted.get("last")
        head, tail = str(noted["head"]), str(noted["tail"])
    except (ValueError, TypeError, KeyError):
        return None, 0, None
    if not 0 <= offset <= size or count < 0 or (last is not None and not isinstance(last, int)):
        return None, 0, None
    if (head, tail) != (_Prints(stream).head(offset), _Prints(stream).tail(offset)):
        return None, 0, None
    return offset, count, last


def _note(stream: BinaryIO, offset: int, count: int, last: int | None = None, tail: str = "", head: str = "") -> str:
    prints = _Prints(stream)
    return json.dumps({"offset": offset, "count": count, "last": last, "head": head or prints.head(offset),
                       "tail": tail or prints.tail(offset)})


class _Prints:
    """sha256 of the first kB of a box and of the kB before an offset, without a mailer's notes."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._head = ""

    def cursor(self, message: _Message, count: int) -> str:
        """Gives the cursor behind a message, from its bytes in memory where they are long enough."""
        if message.end >= _CHECKED and not self._head:
            self._head = self.head(message.end)
        tail = _print(message.data[-_CHECKED:], cut=True) \
            if message.data is not None and len(message.data) > _CHECKED else ""
        return _note(self._stream, message.end, count, message.start, tail, self._head)

    def head(self, offset: int) -> str:
        self._stream.seek(0)
        return _print(self._stream.read(min(_CHECKED, offset)), cut=False)

    def tail(self, offset: int) -> str:
        begin = max(0, offset - _CHECKED)
        self._stream.seek(begin)
        return _print(self._stream.read(offset - begin), cut=begin > 0)


def _print(data: bytes, *, cut: bool) -> str:
    """``cut``: the bytes may begin within a line, which then is left out."""
    if cut:
        data = data[data.find(b"\n") + 1 :]
    return hashlib.sha256(_NOTES.sub(b"", data)).hexdigest()[:32]
