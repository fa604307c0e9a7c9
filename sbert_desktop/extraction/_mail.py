"""Mail (eml, emlx, mht): headers, the body that a person would read, and the names of attachments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import policy
from email.message import Message
from email.parser import BytesParser

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._encoding import decode, is_binary
from sbert_desktop.extraction._normalise import normalise, one_line, tidy_lines, without_spans
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source

_SHOWN = ("From", "To", "Cc", "Subject", "Date")
_DEEPEST = 20
_EMLX = re.compile(rb"\A\s*\d+\s*\n")
_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_TAG = re.compile(r"<[^<>]{0,2000}>")
_STYLE = (re.compile("<style", re.IGNORECASE), re.compile("</style", re.IGNORECASE))
_STUB = 0.3  # a plain part this much shorter than the HTML one only says "your program shows no HTML"


def read(source: Source) -> ExtractedText:
    """Reads one mail.

    Raises:
        ExtractionError: ``damaged`` when it is no mail, ``empty``.
    """
    data = source.data
    if source.suffix == "emlx":
        data = _EMLX.sub(b"", data, count=1)
    message = BytesParser(policy=policy.default).parsebytes(data)
    if not message.keys() and is_binary(data[:8192]):
        raise failure("damaged", "The file holds no mail.")
    out = TextBuilder("eml")
    write_mail(message, out)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def write_mail(message: Message, out: TextBuilder, part: str = "") -> None:
    """Adds the headers, texts and attachment names of a message; sets title and date."""
    subject = one_line(_header(message, "Subject"))
    if not part:
        out.title = subject
        out.date = parse_date(_header(message, "Date"))
        for key in ("From", "To", "Message-ID"):
            out.metadata.append((key.lower(), _header(message, key)))
    lines = [f"{name}: {one_line(value, 1000)}" for name in _SHOWN if (value := _header(message, name))]
    out.add("\n".join(lines), BlockKind.HEADER, part=part)
    title, date = out.title, out.date
    attachments: list[str] = []
    for kind, text in _texts(message, attachments, 0):
        if kind == "html":
            from sbert_desktop.extraction._html import write_html

            write_html(text, out, part)
        else:
            for piece in _PARAGRAPH.split(normalise(text)):
                out.add(tidy_lines(piece), part=part, ready=True)
        if out.full:
            break
    out.title, out.date = title or out.title, date
    if attachments:
        out.add("Attachments: " + ", ".join(attachments), BlockKind.HEADER, part=part)


def _header(message: Message, name: str) -> str:
    """Gives a decoded header, ``""`` if it is missing or cannot be read at all."""
    try:
        value = message.get(name)
    except Exception:  # the parser of structured headers fails on some real ones
        value = next((text for key, text in message.raw_items() if key.lower() == name.lower()), "")
    text = str(value or "")
    if any("\udc80" <= char <= "\udcff" for char in text):  # raw bytes in a header
        text = decode(text.encode("utf-8", "surrogateescape"))[0]
    return text


def _texts(message: Message, attachments: list[str], depth: int) -> Iterator[tuple[str, str]]:
    """Gives ("plain" or "html", text) of each part that is shown when the mail is opened."""
    if depth > _DEEPEST:
        return
    kind = message.get_content_type()
    if kind == "message/rfc822":
        name = _name(message)
        attachments += [name or one_line(_header(inner, "Subject")) or "message" for inner in _parts(message)]
        return
    if message.is_multipart():
        parts = _parts(message)
        if kind == "multipart/alternative":
            yield from _best(parts, attachments, depth)
        else:
            for part in parts:
                yield from _texts(part, attachments, depth + 1)
        return
    name = _name(message)
    shown = message.get_content_disposition() != "attachment" and kind in {"text/plain", "text/html", "text/enriched"}
    if not shown or (name and kind == "text/plain" and depth > 0 and message.get_content_disposition() is not None):
        if name:
            attachments.append(name)
        return
    text = _decoded(message)
    if text.strip():
        yield ("html" if kind == "text/html" else "plain"), text


def _best(parts: list[Message], attachments: list[str], depth: int) -> Iterator[tuple[str, str]]:
    """Chooses among alternatives: plain text, unless it is a stub beside a rich one."""
    found = [list(_texts(part, attachments, depth + 1)) for part in parts]
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


def _name(message: Message) -> str:
    try:
        return one_line(message.get_filename() or "")
    except Exception:  # a broken header field costs the name only
        return ""


def _decoded(message: Message) -> str:
    payload = message.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    try:
        declared = str(message.get_content_charset() or "")
    except Exception:  # as above
        declared = ""
    if declared.startswith("utf-7"):
        return payload.decode("utf-7", "replace")
    return decode(payload, declared)[0]
