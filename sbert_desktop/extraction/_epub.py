"""Books (epub 2 and 3): the chapters in the order of reading, with title, author and date from the package."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from sbert_desktop.domain import ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._encoding import decode
from sbert_desktop.extraction._html import write_html
from sbert_desktop.extraction._normalise import one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._xml import TEXT_LIMIT, Container, attribute, local, root_of

_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{2,40})""")
_EMPTY_TAG = re.compile(r"<(title|script|style|iframe|textarea|div|span|p|a|i|b|em|strong|td|th|li|section|h[1-6])"
                        r"(\s[^<>]{0,2000})?/>", re.IGNORECASE)
_ASIDE = re.compile(r"<(/?)aside\b", re.IGNORECASE)
_FONTS_ONLY = (b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC")
_YEAR = re.compile(r"^\d{4}$")


@dataclass(slots=True)
class _Package:
    """What the package says: its properties, and the parts of the book in the order of reading."""

    title: str = ""
    date: float | None = None
    metadata: list[tuple[str, str]] = field(default_factory=list)
    chapters: list[str] = field(default_factory=list)


def read(source: Source) -> ExtractedText:
    """Reads a book; its table of contents is left out, because its headings stand in the text.

    Raises:
        ExtractionError: ``damaged``, ``encrypted``, ``too-large``, ``unknown-type`` or ``empty``.
    """
    if source.data[:2] != b"PK":
        raise failure("unknown-type", "The name ends in .epub, but the content is not a book.",
                      "Give the file its right suffix.")
    container = Container(source.data)
    package = _package(container)
    if not package.chapters:
        raise failure("damaged")
    _refuse_protected(container, package.chapters)
    out = TextBuilder("epub", title=package.title, date=package.date, metadata=package.metadata,
                      limit=TEXT_LIMIT)
    for name in package.chapters:
        out.reset_headings()
        write_html(_page(container.text_of(name)), out)
        if out.full:
            break
    if container.problem is not None:
        out.problems.append(container.problem)
    out.date = package.date  # a chapter's own date is that of its making
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def _package(container: Container) -> _Package:
    place = ""
    root = root_of(container.part("META-INF/container.xml"))
    for element in root.iter() if root is not None else ():
        if local(element.tag) == "rootfile" and not place:
            place = attribute(element, "full-path").lstrip("/")
    if place not in container.names:
        place = next((name for name in container.names if name.lower().endswith(".opf")), "")
    package = _Package()
    root = root_of(container.part(place)) if place else None
    items: dict[str, str] = {}
    left_out: set[str] = set()
    order: list[str] = []
    folder = posixpath.dirname(place)
    for element in root.iter() if root is not None else ():
        kind = local(element.tag)
        if kind == "item":
            target = _resolve(folder, attribute(element, "href"))
            media = attribute(element, "media-type").lower()
            if "html" in media or target.lower().endswith((".xhtml", ".html", ".htm")):
                items[attribute(element, "id")] = target
            if "nav" in attribute(element, "properties").split():
                left_out.add(target)
        elif kind == "itemref":
            order.append(attribute(element, "idref"))
        elif kind == "reference" and attribute(element, "type").lower() == "toc":
            left_out.add(_resolve(folder, attribute(element, "href")))
        elif kind in {"title", "creator", "date", "subject", "publisher"} and len(element) == 0:
            _property(package, kind, (element.text or "").strip())
    found = [items[name] for name in order if name in items] or list(items.values())
    if not found:  # the package is missing or damaged
        found = sorted(name for name in container.names if name.lower().endswith((".xhtml", ".html", ".htm")))
    chapters = [name for name in dict.fromkeys(found) if name in container.names]
    package.chapters = [name for name in chapters if name not in left_out] or chapters
    return package


def _resolve(folder: str, reference: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(reference.partition("#")[0])))


def _property(package: _Package, kind: str, text: str) -> None:
    if kind == "title":
        package.title = package.title or one_line(text)
    elif kind == "date":
        package.date = package.date or parse_date(f"{text}-01-01" if _YEAR.match(text) else text)
    elif text:
        package.metadata.append(({"creator": "author"}.get(kind, kind), text))


def _refuse_protected(container: Container, chapters: list[str]) -> None:
    """Refuses a book whose chapters are encrypted; veiled fonts are common and harm nothing."""
    data = container.part("META-INF/encryption.xml")
    root = root_of(data)
    if root is None:
        return
    wanted = set(chapters)
    for element in root.iter():
        if local(element.tag) == "CipherReference" and unquote(attribute(element, "URI")).lstrip("/") in wanted:
            raise failure("encrypted", "The book is protected against copying.", "Read it in the shop's own program.")
    if not any(sign in data for sign in _FONTS_ONLY) and "META-INF/rights.xml" in container.names:
        raise failure("encrypted", "The book is protected against copying.", "Read it in the shop's own program.")


def _page(data: bytes) -> str:
    """Gives a chapter as HTML: XHTML may close at once what HTML would leave open, and may define entities."""
    match = _DECLARED.search(data[:400])
    text = decode(data, match.group(1).decode("ascii") if match else "")[0]
    start = text.find("<!DOCTYPE", 0, 2000)
    if start >= 0:
        bracket, end = text.find("[", start), text.find(">", start)
        if 0 <= bracket < end:
            end = text.find("]>", bracket)
            text = text[:start] + (text[end + 2 :] if end >= 0 else "")
    text = _EMPTY_TAG.sub(r"<\1\2></\1>", text)
    return _ASIDE.sub(r"<\1div", text)  # boxes and notes belong to a book; a page's asides do not
