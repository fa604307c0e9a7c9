"""OpenDocument text, sheets and slides, packed or flat: headings, lists, tables, notes, comments.

Tracked deletions stand apart in the file and are left out; insertions are part of the text. Hidden text is not read,
hidden sheets and slides are, and say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._docx import is_bad_title
from sbert_desktop.extraction._normalise import one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._sheets import SheetWriter
from sbert_desktop.extraction._source import Source, suffix_of
from sbert_desktop.extraction._xml import TEXT_LIMIT, Container, attribute, drop, elements, local, root_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_TREE_LIMIT = 48 * 1024 * 1024
"""Bytes of XML that become a tree (about ten times as much memory): a text of 10,000 pages."""
_SKIPPED = frozenset(("tracked-changes", "forms", "sequence-decls", "variable-decls", "user-field-decls", "scripts",
                      "font-face-decls", "automatic-styles", "styles", "master-styles", "settings", "meta", "image",
                      "object", "plugin", "binary-data", "ruby-text", "event-listeners", "hidden-text", "title", "desc",
                      "note-citation", "footnote-citation", "endnote-citation", "list-header-style", "tracked-change"))
_ASIDE = frozenset(("note", "footnote", "endnote", "annotation"))
_INDEXES = frozenset(("table-of-content", "alphabetical-index", "illustration-index", "table-index", "user-index",
                      "object-index", "bibliography"))
_REPEATED = 100
"""How often a repeated cell or row is written: files repeat one a million times to fill a sheet."""
_LONG_CELL = 600


def read(source: Source) -> ExtractedText:
    """Reads an OpenDocument file.

    Raises:
        ExtractionError: ``damaged``, ``encrypted``, ``too-large`` or ``empty``.
    """
    out = TextBuilder(_format(source), limit=TEXT_LIMIT)
    if source.data[:2] == b"PK":
        container = Container(source.data)
        if b"encryption-data" in container.part("META-INF/manifest.xml"):
            raise failure("encrypted", "The OpenDocument file is protected with a password.")
        content, meta = container.text_of("content.xml"), container.part("meta.xml")
        styles = container.part("styles.xml")
        trouble = container.problem
    else:
        content, meta, styles, trouble = source.data, source.data, source.data, None
    if not content:
        raise failure("damaged")
    _read_meta(meta, out)
    if out.format == "ods":
        _write_sheets(content, out)
    else:
        if len(content) > _TREE_LIMIT:
            out.note("too-large", f"Only the first {_TREE_LIMIT >> 20} MB of the document's content were read.", "")
        root = root_of(content[:_TREE_LIMIT])
        if root is None:
            raise failure("damaged")
        _Writer(out, root).document(root)
    _write_running(styles, out)
    if trouble is not None:
        out.problems.append(trouble)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def _format(source: Source) -> str:
    """Tells the kind by what the content calls its body; the suffix may lie."""
    head = source.data[:4096]
    if head[:2] == b"PK":
        for sign, name in ((b"opendocument.spreadsheet", "ods"), (b"opendocument.presentation", "odp"),
                           (b"opendocument.graphics", "odp"), (b"opendocument.text", "odt")):
            if sign in head[:200]:
                return name
    else:
        for sign, name in ((b"spreadsheet", "ods"), (b"presentation", "odp"), (b"graphics", "odp"), (b"text", "odt")):
            if b"opendocument." + sign in head:
                return name
    suffix = suffix_of(source.name)
    return {"ods": "ods", "ots": "ods", "fods": "ods", "sxc": "ods", "odp": "odp", "otp": "odp", "fodp": "odp",
            "sxi": "odp", "odg": "odp", "otg": "odp", "fodg": "odp"}.get(suffix, "odt")


def _read_meta(data: bytes, out: TextBuilder) -> None:
    for meta in elements(data or b"<none/>", "meta"):
        values: dict[str, str] = {}
        for child in meta.iter():
            if not len(child):
                values.setdefault(local(child.tag), (child.text or "").strip())
        title = one_line(values.get("title", ""))
        out.title = "" if is_bad_title(title) else title
        out.date = parse_date(values.get("date", "")) or parse_date(values.get("creation-date", ""))
        for key, name in (("initial-creator", "author"), ("subject", "subject"), ("keyword", "keywords")):
            out.metadata.append((name, values.get(key, "")))
        if not values.get("initial-creator"):
            out.metadata.append(("author", values.get("creator", "")))
        return


def _write_running(data: bytes, out: TextBuilder) -> None:
    """Adds headers and footers of pages, once each, as furniture."""
    seen: set[str] = set()
    for element in elements(data or b"<none/>", "header", "footer", "header-left", "footer-left"):
        text = "\n".join(line for line in map(_inline, _paragraphs(element)) if line.strip())
        if text not in seen and out.format != "ods":  # a sheet's own say "Page 1" and the sheet's name
            seen.add(text)
            out.add(text, BlockKind.FURNITURE)


def _paragraphs(element: _Element) -> Iterator[_Element]:
    return (node for node in element.iter() if local(node.tag) in {"p", "h"})


def _inline(element: _Element, hidden: frozenset[str] = frozenset(), aside: list[_Element] | None = None) -> str:
    """Gives the text of a paragraph; notes, comments and boxes in it are put aside."""
    parts: list[str] = []

    def walk(node: _Element) -> None:
        kind = local(node.tag)
        if kind == "s":
            count = attribute(node, "c")
            parts.append(" " * min(int(count) if count.isdigit() else 1, 200))
        elif kind == "tab":
            parts.append(" ")
        elif kind == "line-break":
            parts.append("\n")
        elif kind in _ASIDE or kind in {"frame", "text-box", "custom-shape", "table"}:
            if aside is not None:
                aside.append(node)
        elif kind and kind not in _SKIPPED and attribute(node, "style-name") not in hidden:
            inside(node)

    def inside(node: _Element) -> None:
        parts.append(_collapsed(node.text))
        for child in node:
            walk(child)
            parts.append(_collapsed(child.tail))

    inside(element)
    return "".join(parts)


def _collapsed(text: str | None) -> str:
    """White space in the file is one space: real ones are elements."""
    if not text:
        return ""
    return text if text.isalnum() else " ".join(f"x{text}x".split())[1:-1]


class _Writer:
    """Turns the body of a text or of a presentation into blocks."""

    def __init__(self, out: TextBuilder, root: _Element) -> None:
        self._out = out
        self._part = ""
        self._parents: dict[str, str] = {}
        hidden, invisible = set(), set()
        for style in root.iter():
            if local(style.tag) != "style":
                continue
            name = attribute(style, "name")
            self._parents[name] = attribute(style, "parent-style-name")
            for properties in style:
                if local(properties.tag) == "text-properties" and attribute(properties, "display") == "none":
                    hidden.add(name)
                if attribute(properties, "visibility") == "hidden":
                    invisible.add(name)
        self._hidden, self._invisible = frozenset(hidden), frozenset(invisible)
        self._notes: list[tuple[str, str]] = []

    def document(self, root: _Element) -> None:
        """Writes the body, then the notes and comments that it refers to."""
        body = next((node for node in root.iter() if local(node.tag) == "body"), root)
        pages = [node for node in body.iter() if local(node.tag) == "page"]
        if pages:
            self._pages(pages)
        else:
            self._walk(body, BlockKind.PARAGRAPH)
        self._out.reset_headings()
        self._flush_notes()

    def _pages(self, pages: list[_Element]) -> None:
        hidden = 0
        for number, page in enumerate(pages, 1):
            self._out.reset_headings()
            skipped = attribute(page, "style-name") in self._invisible
            hidden += skipped
            self._part = f"slide {number} (hidden)" if skipped else f"slide {number}"
            titles = [frame for frame in page if attribute(frame, "class") == "title"]
            lines = (_inline(line, self._hidden) for frame in titles for line in _paragraphs(frame))
            title = one_line(" ".join(lines), 400)
            if title:
                self._out.title = self._out.title or title
                self._out.add_heading(title, 1, part=self._part)
            notes = []
            for child in page:
                if local(child.tag) == "notes":
                    notes.append(child)
                elif child not in titles:
                    self._node(child, BlockKind.PARAGRAPH)
            self._part = f"slide {number}, notes"
            for note in notes:
                for frame in note:
                    if attribute(frame, "class") in {"notes", ""}:
                        self._node(frame, BlockKind.PARAGRAPH)
            self._part = f"slide {number}"
            self._flush_notes()
            if self._out.full:
                break
        if hidden:
            self._out.metadata.append(("hidden slides", str(hidden)))

    def _flush_notes(self) -> None:
        for part, text in self._notes:
            self._out.add(text, part=f"{self._part}, {part}" if self._part else part)
        self._notes.clear()

    def _walk(self, element: _Element, kind: BlockKind) -> None:
        for child in element:
            self._node(child, kind)
            if self._out.full:
                return

    def _node(self, node: _Element, kind: BlockKind) -> None:
        name = local(node.tag)
        if not name or name in _SKIPPED:
            return
        if name in _ASIDE:
            self._note(node)
        elif name in {"p", "h"}:
            self._paragraph(node, kind)
        elif name == "table":
            self._table(node, kind)
        elif name == "section" and attribute(node, "display") == "none":
            return
        else:
            self._walk(node, BlockKind.FURNITURE if name in _INDEXES else kind)

    def _paragraph(self, element: _Element, kind: BlockKind) -> None:
        style = attribute(element, "style-name")
        if style in self._hidden:
            return
        aside: list[_Element] = []
        text = _inline(element, self._hidden, aside)
        level = attribute(element, "outline-level") or attribute(element, "level")
        title = "Title" in {style, self._parents.get(style, "")}
        if text.strip() and kind is BlockKind.PARAGRAPH and len(text) <= 400 and (
                title or (local(element.tag) == "h")):
            number = 1 if title else max(1, int(level)) if level.isdigit() else 1
            if number == 1 and not self._out.title:
                self._out.title = one_line(text)
            self._out.add_heading(text, number, part=self._part)
        else:
            self._out.add(text, kind, part=self._part)
        for node in aside:
            self._node(node, kind)

    def _note(self, element: _Element) -> None:
        """Keeps a note or comment for the end; a comment says who wrote it."""
        comment = local(element.tag) == "annotation"
        author = next((node.text or "" for node in element.iter() if comment and local(node.tag) == "creator"), "")
        text = "\n".join(line for line in map(_inline, _paragraphs(element)) if line.strip())
        if text:
            self._notes.append(("comment" if comment else "footnote", f"{author}: {text}" if author else text))

    def _table(self, table: _Element, kind: BlockKind) -> None:
        """Writes rows as lines; a table of one column or of long cells is text that was laid out."""
        rows: list[list[str]] = []
        nested: list[_Element] = []
        found = list(_rows(table))
        for row in found:
            cells = [self._cell(cell, nested) for cell in row if local(cell.tag) == "table-cell"]
            rows.append([cell for cell in cells if cell])
        rows = [row for row in rows if row]
        if rows and (max(map(len, rows)) < 2 or any(len(cell) > _LONG_CELL for row in rows for cell in row)):
            for row in found:
                for cell in row:
                    self._walk(cell, kind)
            return
        self._out.add("\n".join("\t".join(" ".join(cell.split()) for cell in row) for row in rows), BlockKind.TABLE,
                      part=self._part)
        for node in nested:
            self._node(node, kind)

    def _cell(self, cell: _Element, nested: list[_Element]) -> str:
        lines = []
        stack = [cell]
        while stack:
            node = stack.pop()
            kind = local(node.tag)
            if kind in {"p", "h"}:
                lines.append(_inline(node, self._hidden, nested))
            elif kind == "table" and node is not cell:
                nested.append(node)
            elif kind and kind not in _SKIPPED:
                stack.extend(reversed(node))
        return "\n".join(line for line in lines if line.strip()).strip()


def _rows(table: _Element) -> Iterator[_Element]:
    for child in table:
        kind = local(child.tag)
        if kind == "table-row":
            yield child
        elif kind in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from _rows(child)


def _write_sheets(content: bytes, out: TextBuilder) -> None:
    """Writes the rows of all sheets as they come; what cells show stands in the file."""
    hidden_styles: set[str] = set()
    hidden = 0
    writer: SheetWriter | None = None
    current: _Element | None = None
    comments: list[str] = []
    for element in elements(content, "style", "table-row", "table", "tracked-changes"):
        kind = local(element.tag)
        if kind == "style":
            if any(attribute(child, "display") == "false" for child in element):
                hidden_styles.add(attribute(element, "name"))
        elif kind == "table-row":
            above = (node for node in element.iterancestors() if local(node.tag) in {"table", "tracked-changes"})
            sheet = next(above, None)
            if sheet is None or local(sheet.tag) != "table":
                continue
            if writer is None or sheet is not current:
                concealed = attribute(sheet, "style-name") in hidden_styles
                hidden += concealed
                current, writer = sheet, SheetWriter(out, attribute(sheet, "name"), hidden=concealed)
            _write_row(element, writer, comments)
            drop(element)
        elif kind == "table" and writer is not None:
            writer.flush()
            for text in comments:
                out.add(text, part=f"{writer.part}, comment")
            comments.clear()
            writer = current = None
            drop(element)
        if out.full:
            break
    if writer is not None:
        writer.flush()
    if hidden:
        out.metadata.append(("hidden sheets", str(hidden)))


def _write_row(row: _Element, writer: SheetWriter, comments: list[str]) -> None:
    cells: list[str] = []
    for cell in row:
        if local(cell.tag) != "table-cell":
            continue
        aside: list[_Element] = [child for child in cell if local(child.tag) == "annotation"]
        text = "\n".join(_inline(line, aside=aside) for line in cell if local(line.tag) == "p")
        if text.strip():
            cells += [text] * _count(cell, "number-columns-repeated")
        for node in aside:
            words = "\n".join(line for line in map(_inline, _paragraphs(node)) if line.strip())
            if words:
                comments.append(words)
    for _ in range(_count(row, "number-rows-repeated") if cells else 0):
        writer.row(cells)


def _count(element: _Element, name: str) -> int:
    text = attribute(element, name)
    return min(int(text), _REPEATED) if text.isdigit() and len(text) < 9 else 1
