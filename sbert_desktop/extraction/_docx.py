"""Word documents (docx): paragraphs, headings by style, tables, notes, comments, headers and footers.

Read straight from the XML, one body element at a time, so that a huge document stays small in
memory. Tracked insertions are kept, deletions are not text any more; hidden text is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._normalise import one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._xml import TEXT_LIMIT, Container, attribute, drop, elements, local, root_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_SKIPPED = frozenset(("del", "moveFrom", "delText", "instrText", "Fallback", "pPr", "rPr", "tblPr", "sectPr", "tcPr",
                      "trPr", "tblGrid", "fldData", "binData", "delInstrText", "rt"))
_HEADING_NAME = re.compile(r"^heading (\d)$", re.IGNORECASE)
_BAD_TITLE = re.compile(r"^(?:untitled.*|title|document\d*|microsoft word.*|slide \d+|"
                        r"powerpoint.*presentation|.*\.(?:docx?|pptx?|xlsx?|rtf)|\W*)$", re.IGNORECASE)
_LONG_CELL = 600
_TITLE_LEVEL = -1
_QUOTE_LEVEL = -2
_QUOTE_NAMES = frozenset({"quote", "intense quote", "block text", "block quotation", "blockquote", "quotations"})


def read(source: Source) -> ExtractedText:
    """Reads a docx.

    Raises:
        ExtractionError: ``damaged``, ``encrypted``, ``too-large`` or ``empty``.
    """
    container = Container(source.data)
    main = main_part(container, "word/document.xml")
    body = container.text_of(main)
    if not body:
        raise failure("damaged")
    out = TextBuilder("docx", limit=TEXT_LIMIT)
    read_properties(container, out)
    folder = main.rpartition("/")[0]
    writer = _Writer(out, _styles(container.text_of(f"{folder}/styles.xml")))
    writer.body(body)
    out.reset_headings()
    _write_extras(container, folder, out)
    out.title = out.title or writer.title
    if container.problem is not None:
        out.problems.append(container.problem)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty" if container.problem is None else "damaged")
    return extracted


def main_part(container: Container, usual: str) -> str:
    """Gives the name of the part that the package names as the document itself."""
    for kind, place in container.related("").values():
        if kind == "officeDocument" and place in container.names:
            return place
    return usual


def _write_extras(container: Container, folder: str, out: TextBuilder) -> None:
    """Adds what stands beside the body: notes, comments, diagrams, charts, and running headers as furniture."""
    for name, part in (("footnotes", "footnote"), ("endnotes", "endnote"), ("comments", "comment")):
        for note in elements(container.text_of(f"{folder}/{name}.xml") or b"<none/>", part):
            if attribute(note, "type") not in {"separator", "continuationSeparator", "continuationNotice"}:
                out.add(_text(note), part=part)
    for name in sorted(container.names):
        if re.fullmatch(rf"{re.escape(folder)}/(?:diagrams/data|charts/chart)\d*\.xml", name):
            out.add(drawing_text(container.text_of(name)), part="chart" if "/charts/" in name else "diagram")
    seen: set[str] = set()
    for name in container.names:
        if re.fullmatch(rf"{re.escape(folder)}/(?:header|footer)\d*\.xml", name):
            root = root_of(container.text_of(name))
            text = _text(root) if root is not None else ""
            if text.strip() and text not in seen:
                seen.add(text)
                out.add(text, BlockKind.FURNITURE)


def drawing_text(data: bytes) -> str:
    """Gives the words of a chart or a diagram (titles, names of series and categories), each once; not its numbers."""
    lines: dict[str, None] = {}
    for element in elements(data or b"<none/>", "p", "strCache"):
        if local(element.tag) == "p":
            line = "".join(node.text or "" for node in element.iter() if local(node.tag) == "t")
            lines[line.strip()] = None
        else:
            lines.update(dict.fromkeys((node.text or "").strip() for node in element.iter() if local(node.tag) == "v"))
        element.clear()
    return "\n".join(line for line in lines if line)


def is_bad_title(title: str) -> bool:
    """Tells a title that a program put there by itself."""
    return bool(_BAD_TITLE.match(title))


def read_properties(container: Container, out: TextBuilder) -> None:
    """Sets title, date and author from the properties that every Office document carries."""
    root = root_of(container.part("docProps/core.xml"))
    if root is None:
        return
    values = {local(child.tag): (child.text or "").strip() for child in root}
    title = one_line(values.get("title", ""))
    out.title = "" if is_bad_title(title) else title
    out.date = parse_date(values.get("modified", "")) or parse_date(values.get("created", ""))
    for key, name in (("creator", "author"), ("subject", "subject"), ("keywords", "keywords")):
        out.metadata.append((name, values.get(key, "")))


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    outline: int | None
    parent: str


def _styles(data: bytes) -> dict[str, int]:
    """Gives the level of each style id: a heading's from 1 on, ``_TITLE_LEVEL``, ``_QUOTE_LEVEL``; absent for text."""
    styles: dict[str, _Style] = {}
    for element in elements(data or b"<none/>", "style"):
        name, outline, parent = "", None, ""
        for child in element.iter():
            kind = local(child.tag)
            if kind == "name":
                name = attribute(child, "val")
            elif kind == "outlineLvl":
                outline = _number(attribute(child, "val"))
            elif kind == "basedOn":
                parent = attribute(child, "val")
        styles[attribute(element, "styleId")] = _Style(name, outline, parent)
        element.clear()
    return {key: level for key in styles if (level := _level(styles, key)) is not None}


def _level(styles: dict[str, _Style], key: str) -> int | None:
    for _ in range(12):
        style = styles.get(key)
        if style is None:
            return None
        if style.name.lower() == "title":
            return _TITLE_LEVEL
        if style.name.lower() in _QUOTE_NAMES:
            return _QUOTE_LEVEL
        match = _HEADING_NAME.match(style.name)
        if match:
            return int(match.group(1))
        if style.outline is not None:
            return style.outline + 1 if 0 <= style.outline < 9 else None
        key = style.parent
    return None


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else None


class _Writer:
    """Turns body elements into blocks."""

    def __init__(self, out: TextBuilder, levels: dict[str, int]) -> None:
        self._out = out
        self._levels = levels
        self.title = ""

    def body(self, data: bytes) -> None:
        """Reads the paragraphs and tables that stand directly in the body, one at a time."""
        for element in elements(data, "p", "tbl"):
            parent = element.getparent()
            while parent is not None and local(parent.tag) in {"sdtContent", "sdt", "customXml", "ins", "moveTo",
                                                               "smartTag"}:
                parent = parent.getparent()
            if parent is None or local(parent.tag) != "body":
                continue
            if local(element.tag) == "p":
                self.paragraph(element)
            else:
                self.table(element)
            drop(element)
            if self._out.full:
                return

    def paragraph(self, element: _Element) -> None:
        text = _text(element)
        if not text.strip():
            return
        level = self._level_of(element)
        if level == _QUOTE_LEVEL:
            self._out.add(text, BlockKind.QUOTE)
            return
        if level is None or len(text) > 400:
            self._out.add(text)
            return
        if level == _TITLE_LEVEL:
            self.title = self.title or one_line(text)
        elif level == 1 and not self.title:
            self.title = one_line(text)
        self._out.add_heading(text, max(1, level))

    def table(self, element: _Element) -> None:
        """Writes rows as lines; a table of one column or of long cells is text that was laid out."""
        rows: list[list[str]] = []
        for row in _children(element, "tr"):
            if _is_deleted_row(row):
                continue
            cells = [_text(cell).strip() for cell in _children(row, "tc")]
            rows.append([cell for cell in cells if cell])
        rows = [row for row in rows if row]
        if not rows:
            return
        if max(map(len, rows)) < 2 or any(len(cell) > _LONG_CELL for row in rows for cell in row):
            for cell in (cell for row in rows for cell in row):
                self._out.add(cell)
            return
        lines = ["\t".join(" ".join(cell.split()) for cell in row) for row in rows]
        self._out.add("\n".join(lines), BlockKind.TABLE)

    def _level_of(self, element: _Element) -> int | None:
        for properties in element:
            if local(properties.tag) != "pPr":
                continue
            style: int | None = None
            for child in properties:
                kind = local(child.tag)
                if kind == "outlineLvl":
                    number = _number(attribute(child, "val"))
                    if number is not None and number < 9:
                        return number + 1
                elif kind == "pStyle":
                    style = self._levels.get(attribute(child, "val"))
            return style
        return None


def _is_deleted_row(row: _Element) -> bool:
    return any(local(child.tag) == "trPr" and any(local(mark.tag) == "del" for mark in child) for child in row)


def _is_hidden(run: _Element) -> bool:
    if not len(run) or local(run[0].tag) != "rPr":
        return False
    return any(local(mark.tag) == "vanish" and attribute(mark, "val") not in {"0", "false", "off"} for mark in run[0])


def _children(element: _Element, name: str) -> Iterator[_Element]:
    """Gives the nearest descendants of a name: rows and cells may stand inside content controls."""
    for child in element:
        kind = local(child.tag)
        if kind == name:
            yield child
        elif kind in {"sdt", "sdtContent", "customXml", "ins", "smartTag"}:
            yield from _children(child, name)


def _text(element: _Element) -> str:
    """Gives the text under an element; nested paragraphs (text boxes, cells) are lines."""
    parts: list[str] = []
    stack: list[tuple[_Element, int]] = [(element, 0)]
    first = True
    while stack:
        node, at = stack.pop()
        kind = local(node.tag)
        if at == 0:
            if (kind in _SKIPPED and node is not element) or (kind == "r" and _is_hidden(node)):
                continue
            if kind == "p" and not first and parts and not parts[-1].endswith("\n"):
                parts.append("\n")
            first = False
            if kind == "t":
                parts.append(node.text or "")
                continue
            if kind in {"tab", "ptab"}:
                parts.append(" ")
            elif kind in {"br", "cr"}:
                parts.append("\n")
            elif kind == "noBreakHyphen":
                parts.append("-")
            elif kind == "tc" and parts and not parts[-1].endswith("\n"):
                parts.append(" ")
        if at < len(node):
            stack.append((node, at + 1))
            stack.append((node[at], 0))
        elif kind == "p" and node is not element:
            parts.append("\n")
    return "".join(parts)
