"""Mail (eml, emlx, mht): headers, the body that a person would read, attachments as members.

Parsed with the old policy of the standard library and headers decoded here: the new policy's parsers
of structured headers fail on real mails and take time quadratic in hostile ones.
"""

from __future__ import annotations

import binascii
import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import policy
from email.message import Message
from email.parser import BytesParser

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._container import Member, Members, Remainder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._encoding import decode, is_binary
from sbert_desktop.extraction._normalise import normalise, one_line, tidy_lines, without_spans
from sbert_desktop.extraction._problems import failure, problem
from sbert_desktop.extraction._source import Source

_SHOWN = ("From", "To", "Cc", "Subject", "Date")
_DEEPEST = 20
_MOST_ATTACHMENTS = 500
_EMLX = re.compile(rb"\A\s{0,20}(\d{1,12})[ \t]*\r?\n")
_PLIST = re.compile(rb"<\?xml[^>]{0,200}\?>\s*<!DOCTYPE plist|<plist[ >]")
_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_TAG = re.compile(r"<[^<>]{0,2000}>")
_STYLE = (re.compile("<style", re.IGNORECASE), re.compile("</style", re.IGNORECASE))
_WORD = re.compile(r"=\?([\w.:+-]{1,60})(?:\*[\w-]{0,20})?\?([bBqQ])\?([^?\n]{0,2000})\?=")
_BETWEEN_WORDS = re.compile(r"(\?=)\s+(?==\?)")
_STUB = 0.3  # a plain part this much shorter than the HTML one only says "your program shows no HTML"
_SIGNATURES = frozenset(("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature",
                         "application/pgp-encrypted", "text/x-moz-deleted"))
_ENCRYPTED = frozenset(("application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/encrypted"))
_TEXTS = frozenset(("text/plain", "text/html", "text/enriched", "text/x-amp-html"))
_SUFFIXES = {"text/calendar": ".ics", "text/csv": ".csv", "text/vcard": ".vcf", "text/x-vcard": ".vcf",
             "application/ms-tnef": ".tnef", "text/plain": ".txt", "image/jpeg": ".jpg"}


@dataclass(slots=True)
class _Contents:
    """What a walk through a mail's parts found beside its text."""

    names: list[str] = field(default_factory=list)
    attachments: list[tuple[str, Message, bool]] = field(default_factory=list)  # name, part, is a mail of its own
    encrypted: bool = False


def read(source: Source) -> ExtractedText:
    """Reads the text of one mail; its attachments are named.

    Raises:
        ExtractionError: ``damaged`` when it is no mail, ``empty``.
    """
    return _read(_parsed(source))[0]


def members(source: Source, cursor: str = "") -> Members:
    """Gives the mail's own text, then its attachments and attached mails.

    Raises:
        ExtractionError: As :func:`read`, unless it has attachments.
    """
    message = _parsed(source)
    document, contents = _read(message)
    yield Member("", document=document, mtime=document.date)
    for name, part, is_mail in contents.attachments[:_MOST_ATTACHMENTS]:
        yield Member(name, load=lambda part=part, is_mail=is_mail: _bytes_of(part, is_mail=is_mail),  # type: ignore[misc]
                     mtime=document.date)
    if len(contents.attachments) > _MOST_ATTACHMENTS:
        return Remainder((problem("archive-limit", f"Only the first {_MOST_ATTACHMENTS} attachments were read.", "",
                                  partial=True),))
    return None


def read_page(source: Source) -> ExtractedText:
    """Reads a web page that was saved as one file (mht): the page's text, not its headers.

    Raises:
        ExtractionError: ``damaged``, ``empty``.
    """
    from sbert_desktop.extraction._html import write_html

    message = _parsed(source)
    out = TextBuilder("mht")
    for part in _walk(message):
        if part.get_content_type() == "text/html" and part.get_content_disposition() != "attachment":
            write_html(_decoded(part), out)
            break
    if not out.finish().blocks:
        return _read(message)[0]  # somebody's mail with this suffix
    out.title = out.title or one_line(header(message, "Subject"))
    out.date = out.date if out.date is not None else parse_date(header(message, "Date"))
    if location := header(message, "Snapshot-Content-Location"):
        out.metadata.append(("address", location))
    return out.finish()


# ---------------------------------------------------------------- the message


def _parsed(source: Source) -> Message:
    data = source.data
    if source.suffix == "emlx":
        data = _without_plist(data)
    data = data.lstrip(b"\r\n") if data[:1] in b"\r\n" else data
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data.startswith(b"From ") and (line := data.find(b"\n")) > 0:
        data = data[line + 1 :]
    try:
        message: Message = BytesParser(policy=policy.compat32).parsebytes(data)
    except RecursionError:  # thousands of parts inside each other
        message = BytesParser(policy=policy.compat32).parsebytes(data, headersonly=True)
        message.set_type("text/plain")
    if not message.keys() and is_binary(data[:8192]):
        raise failure("damaged", "The file holds no mail.")
    return message


def _without_plist(data: bytes) -> bytes:
    """Gives the mail of an emlx file: its length stands before it, what the mail program noted behind it."""
    match = _EMLX.match(data)
    if match is None:
        return data
    rest, length = data[match.end() :], int(match[1])
    if length < len(rest) and (_PLIST.match(rest[length : length + 300].lstrip()) or not rest[length:].strip()):
        return rest[:length]
    tail = _PLIST.search(rest, max(0, len(rest) - 100_000))
    return rest[: tail.start()] if tail else rest


def _read(message: Message) -> tuple[ExtractedText, _Contents]:
    out, contents = TextBuilder("eml"), _Contents()
    _write(message, out, contents)
    extracted = out.finish()
    if not extracted.blocks and not contents.attachments:
        raise failure("encrypted", "The mail is encrypted.", "Save it decrypted to make it findable.") \
            if contents.encrypted else failure("empty")
    return extracted, contents


def _write(message: Message, out: TextBuilder, contents: _Contents) -> None:
    """Adds the headers, texts and attachment names of a message; sets title and date."""
    headers = {name: one_line(header(message, name), 1000) for name in (*_SHOWN, "Message-ID", "Reply-To", "List-Id")}
    write_headers(headers, out)
    title, date = out.title, out.date
    out.title = title or " "  # a page inside names itself, but not the mail
    for kind, text in _texts(message, contents, 0):
        if kind == "html":
            from sbert_desktop.extraction._html import write_html

            write_html(text, out)
        else:
            write_plain(text, out)
        if out.full:
            break
    out.title, out.date = title, date
    if contents.names:
        out.add("Attachments: " + ", ".join(contents.names), BlockKind.HEADER)
    if contents.encrypted:
        out.note("encrypted", "The mail is encrypted.", "Save it decrypted to make it findable.")


def write_headers(headers: dict[str, str], out: TextBuilder) -> None:
    """Adds From, To, Cc, Subject and Date as one block; sets title, date and metadata."""
    out.title = one_line(headers.get("Subject", ""))
    out.date = parse_date(headers.get("Date", ""))
    for key in ("From", "To", "Cc", "Message-ID"):
        out.metadata.append((key.lower(), headers.get(key, "")))
    out.add("\n".join(f"{name}: {value}" for name in _SHOWN if (value := headers.get(name))), BlockKind.HEADER)


def write_plain(text: str, out: TextBuilder) -> None:
    """Adds the plain text of a mail, parted at blank lines."""
    for piece in _PARAGRAPH.split(normalise(text)):
        out.add(tidy_lines(piece), ready=True)
        if out.full:
            break


def header(message: Message, name: str) -> str:
    """Gives a header decoded, ``""`` if it is missing."""
    wanted = name.lower()
    return next((decode_words(value) for key, value in message.raw_items() if key.lower() == wanted), "")


def decode_words(value: object) -> str:
    """Decodes a raw header: encoded words (RFC 2047), raw bytes, folded lines.

    Neighbours in one charset are joined before they are decoded, because mailers cut inside a character.
    """
    text = str(value).replace("\r", "").replace("\n", " ")
    if any("\udc80" <= char <= "\udcff" for char in text):  # raw bytes
        text = decode(text.encode("utf-8", "surrogateescape"))[0]
    if "=?" not in text:
        return text
    text = _BETWEEN_WORDS.sub(r"\1", text)
    pieces: list[str] = []
    held: list[tuple[str, str]] = []
    charset, at = "", 0
    for match in _WORD.finditer(text):
        if match.start() > at or match[1].lower() != charset:
            pieces += [_from_charset(_bytes_of_words(held), charset), text[at : match.start()]]
            held, charset = [], match[1].lower()
        if held and held[-1][0] == match[2].lower() == "b" and not held[-1][1].endswith("="):
            held[-1] = ("b", held[-1][1] + match[3])
        else:
            held.append((match[2].lower(), match[3]))
        at = match.end()
    return "".join([*pieces, _from_charset(_bytes_of_words(held), charset), text[at:]])


def _bytes_of_words(words: list[tuple[str, str]]) -> bytes:
    return b"".join(_word_bytes(kind, text) for kind, text in words)


def _word_bytes(kind: str, text: str) -> bytes:
    raw = text.encode("ascii", "replace")
    if kind == "q":
        return binascii.a2b_qp(raw, header=True)
    try:
        return binascii.a2b_base64(raw + b"=" * (-len(raw) % 4))
    except binascii.Error:
        return raw


def _from_charset(data: bytes, charset: str) -> str:
    if not data:
        return ""
    if charset.startswith("utf-7"):
        return data.decode("utf-7", "replace")
    return decode(data, charset)[0]


# ---------------------------------------------------------------- its parts


def _texts(message: Message, contents: _Contents, depth: int, *, related: bool = False) -> Iterator[tuple[str, str]]:
    """Gives ("plain" or "html", text) of each part that is shown when the mail is opened."""
    kind = message.get_content_type()
    if depth > _DEEPEST:
        return
    if kind in _ENCRYPTED and "signed" not in str(message.get_param("smime-type", "")):
        contents.encrypted = True
    if kind == "message/rfc822":
        for inner in _parts(message):
            name = file_name(message) or one_line(header(inner, "Subject"), 80) or "message"
            contents.names.append(name)
            name = name.replace("/", "-")
            contents.attachments.append((name if name.lower().endswith(".eml") else f"{name}.eml", inner, True))
        return
    if message.is_multipart():
        parts = _parts(message)
        if kind == "multipart/alternative":
            yield from _best(parts, contents, depth)
        else:
            for part in parts:
                yield from _texts(part, contents, depth + 1, related=kind == "multipart/related")
        return
    disposition = message.get_content_disposition()
    name = file_name(message)
    shown = disposition != "attachment" and kind in _TEXTS
    if not shown or (name and kind == "text/plain" and depth > 0 and disposition is not None):
        _attach(message, name, kind, contents, related=related)
        return
    text = _decoded(message)
    if text.strip():
        yield ("html" if kind in {"text/html", "text/x-amp-html"} else "plain"), text


def _attach(message: Message, name: str, kind: str, contents: _Contents, *, related: bool) -> None:
    """Notes an attachment; pictures that belong to the mail's layout and signatures are none."""
    disposition = message.get_content_disposition()
    shown_in_place = bool(message.get("Content-ID"))
    decoration = kind.startswith("image/") and (
        (related and shown_in_place) or (disposition != "attachment" and (related or shown_in_place)))
    if name and not decoration:
        contents.names.append(name)
    if kind in _SIGNATURES or kind in _ENCRYPTED or decoration or kind.startswith(("multipart/", "message/")):
        return
    if not name:
        if disposition != "attachment" and kind in {"application/octet-stream", "text/rfc822-headers"}:
            return
        name = f"attachment {len(contents.attachments) + 1}{_suffix(kind)}"
    elif "." not in name:
        name += _suffix(kind)
    contents.attachments.append((name.replace("/", "-").replace("\\", "-"), message, False))


def _suffix(kind: str) -> str:
    return _SUFFIXES.get(kind) or mimetypes.guess_extension(kind) or ""


def _best(parts: list[Message], contents: _Contents, depth: int) -> Iterator[tuple[str, str]]:
    """Chooses among alternatives: plain text, unless it is a stub beside a rich one."""
    found = [list(_texts(part, contents, depth + 1)) for part in parts]
    plain = [entry for entry in found if entry and entry[0][0] == "plain"]
    rich = [entry for entry in found if entry and entry[0][0] == "html"]
    if plain and rich:
        length = sum(len(text.split()) for _, text in plain[0])
        rich_length = sum(len(_TAG.sub(" ", without_spans(text, *_STYLE)).split()) for _, text in rich[-1])
        yield from rich[-1] if length < _STUB * rich_length else plain[0]
    else:
        yield from next(iter([*plain, *rich]), [])


def _parts(message: Message) -> list[Message]:
    payload = message.get_payload()
    return [part for part in payload if isinstance(part, Message)] if isinstance(payload, list) else []


def _walk(message: Message) -> Iterator[Message]:
    waiting = [message]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(_parts(part))


def file_name(message: Message) -> str:
    """Gives the decoded file name of a part, ``""`` if it has none."""
    try:
        return one_line(decode_words(message.get_filename() or ""), 200)
    except Exception:  # a broken header field costs the name only
        return ""


def _bytes_of(part: Message, *, is_mail: bool) -> bytes:
    """Gives the bytes of an attachment, or of an attached mail as a file of its own."""
    if is_mail:
        from email.generator import BytesGenerator
        from io import BytesIO

        stream = BytesIO()
        BytesGenerator(stream, mangle_from_=False, policy=policy.compat32).flatten(part)
        return stream.getvalue()
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes) or not payload:
        raise failure("empty", "The attachment holds nothing.")
    return payload


def _decoded(message: Message) -> str:
    payload = message.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    try:
        declared = str(message.get_content_charset() or "")
        flowed = str(message.get_param("format", "")).lower() == "flowed"
        joined = str(message.get_param("delsp", "")).lower() == "yes"
    except Exception:  # a broken header field
        declared, flowed, joined = "", False, False
    text = payload.decode("utf-7", "replace") if declared.startswith("utf-7") else decode(payload, declared)[0]
    return unflowed(text, delete_space=joined) if flowed and message.get_content_type() == "text/plain" else text


def unflowed(text: str, *, delete_space: bool = False) -> str:
    """Joins the lines of format=flowed text. Source: RFC 3676, section 4."""
    lines: list[str] = []
    open_line = False
    for line in text.replace("\r\n", "\n").split("\n"):
        quoted = line.startswith(">")
        content = line[1:] if line.startswith(" ") else line
        if open_line and lines and not quoted and not lines[-1].startswith(">") and content != "-- ":
            lines[-1] = (lines[-1][:-1] if delete_space else lines[-1]) + content
        else:
            lines.append(content)
        open_line = content.endswith(" ") and content != "-- "
    return "\n".join(lines)
