"""Presentations (pptx): slides in the order of the show, each with its title, text, tables, charts, notes, comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._docx import drawing_text, main_part, read_properties
from sbert_desktop.extraction._normalise import one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._xml import TEXT_LIMIT, Container, attribute, elements, local, root_of

if TYPE_CHECKING:
    from lxml.etree import _Element

_FURNITURE = frozenset(("dt", "ftr", "sldNum", "hdr", "sldImg"))
_SKIPPED = frozenset(("Fallback", "nvSpPr", "nvGrpSpPr", "nvGraphicFramePr", "spPr", "style", "bodyPr", "lstStyle",
                      "rPr", "endParaRPr", "extLst"))
_DEEPEST = 60  # groups in groups


def read(source: Source) -> ExtractedText:
    """Reads a presentation.

    Raises:
        ExtractionError: ``damaged``, ``encrypted``, ``too-large`` or ``empty``.
    """
    container = Container(source.data)
    main = main_part(container, "ppt/presentation.xml")
    out = TextBuilder("pptx", limit=TEXT_LIMIT)
    read_properties(container, out)
    slides = _slides(container, main)
    if not slides:
        raise failure("damaged" if not container.part(main) else "empty")
    authors = _authors(container)
    hidden = 0
    for number, name in enumerate(slides, 1):
        out.reset_headings()
        hidden += _Slide(container, out, number, name, authors).write()
        if out.full:
            break
    if hidden:
        out.metadata.append(("hidden slides", str(hidden)))
    if container.problem is not None:
        out.problems.append(container.problem)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def _slides(container: Container, main: str) -> list[str]:
    """Gives the slides' parts in the order of the show, and those that nothing names behind them."""
    related = container.related(main)
    found: dict[str, None] = {}
    root = root_of(container.part(main))
    for element in root.iter() if root is not None else ():
        if local(element.tag) == "sldId":
            for key, value in element.attrib.items():
                if str(key).endswith("}id") and str(value) in related:
                    found[related[str(value)][1]] = None
    if not found:  # a damaged file: by their numbers
        names = [name for name in container.names if name.startswith("ppt/slides/slide") and name.endswith(".xml")]
        found = dict.fromkeys(sorted(names, key=lambda name: (len(name), name)))
    return [name for name in found if name in container.names]


def _authors(container: Container) -> dict[str, str]:
    found: dict[str, str] = {}
    for part, tag in (("ppt/commentAuthors.xml", "cmAuthor"), ("ppt/authors.xml", "author")):
        for element in elements(container.part(part) or b"<none/>", tag):
            found[attribute(element, "id")] = attribute(element, "name")
    return found


class _Slide:
    """One slide; what it shows is gathered first, so that the title stands in front."""

    def __init__(self, container: Container, out: TextBuilder, number: int, name: str, authors: dict[str, str]) -> None:
        self._container, self._out, self._name, self._authors = container, out, name, authors
        self._part = f"slide {number}"
        self._related = container.related(name)
        self._titles: list[str] = []
        self._bodies: list[tuple[str, BlockKind]] = []

    def write(self) -> bool:
        """Adds the slide; tells whether the show leaves it out."""
        root = root_of(self._container.text_of(self._name))
        if root is None:
            return False
        hidden = attribute(root, "show") in {"0", "false"}
        self._walk(root, 0)
        label = self._part
        if hidden:
            self._part += " (hidden)"
        title = one_line(" ".join(self._titles), 400)
        if title and not self._out.title:
            self._out.title = title
        if title:
            self._out.add_heading(title, 1, part=self._part)
        for text, kind in self._bodies:
            self._out.add(text, kind, part=self._part)
        for kind_of, place in sorted(self._related.values()):
            if kind_of == "notesSlide":
                notes = _Slide(self._container, self._out, 0, place, {})
                notes._part = f"{label}, notes"
                notes._write_notes()
            elif kind_of == "comments":
                self._comments(place, f"{label}, comment")
        return hidden

    def _write_notes(self) -> None:
        root = root_of(self._container.text_of(self._name))
        if root is not None:
            self._walk(root, 0)
        for text, kind in self._bodies:
            self._out.add(text, kind, part=self._part)

    def _walk(self, element: _Element, depth: int) -> None:
        for child in element:
            kind = local(child.tag)
            if kind in _SKIPPED or depth > _DEEPEST:
                continue
            if kind == "sp":
                self._shape(child)
            elif kind == "tbl":
                self._table(child)
            elif kind in {"chart", "relIds"}:
                self._drawing(child)
            else:
                self._walk(child, depth + 1)

    def _shape(self, shape: _Element) -> None:
        role = ""
        for holder in shape:
            if local(holder.tag) == "nvSpPr":
                for node in holder.iter():
                    if local(node.tag) == "cNvPr" and attribute(node, "hidden") in {"1", "true"}:
                        return
                    if local(node.tag) == "ph":
                        role = attribute(node, "type") or "body"
        bodies = [body for body in shape if local(body.tag) in {"txBody", "txbxContent"}]
        text = "\n".join(line for body in bodies for line in _lines(body))
        if not text.strip():
            return
        if role in {"title", "ctrTitle"}:
            self._titles.append(text)
        else:
            kind = BlockKind.FURNITURE if role in _FURNITURE else BlockKind.PARAGRAPH
            if role != "sldNum":
                self._bodies.append((text, kind))

    def _table(self, table: _Element) -> None:
        rows = []
        for row in table:
            if local(row.tag) == "tr":
                cells = [" ".join(" ".join(_lines(cell)).split()) for cell in row if local(cell.tag) == "tc"]
                line = "\t".join(cell for cell in cells if cell)
                if line:
                    rows.append(line)
        self._bodies.append(("\n".join(rows), BlockKind.TABLE))

    def _drawing(self, element: _Element) -> None:
        """Adds the words of a chart, or of a diagram by its data part."""
        for key, value in element.attrib.items():
            if local(key) in {"id", "dm"} and str(value) in self._related:
                self._bodies.append((drawing_text(self._container.text_of(self._related[str(value)][1])),
                                     BlockKind.PARAGRAPH))

    def _comments(self, place: str, part: str) -> None:
        for element in elements(self._container.part(place) or b"<none/>", "cm"):
            words = "\n".join(line for child in element for line in
                              ([child.text or ""] if local(child.tag) == "text" else _lines(child)))
            if words.strip():
                author = self._authors.get(attribute(element, "authorId"), "")
                self._out.add(f"{author}: {words}" if author else words, part=part)


def _lines(element: _Element) -> list[str]:
    """Gives the paragraphs under an element, one line each."""
    lines: list[str] = []
    for paragraph in element.iter():
        if local(paragraph.tag) != "p":
            continue
        parts: list[str] = []
        for node in paragraph.iter():
            kind = local(node.tag)
            if kind == "t":
                parts.append(node.text or "")
            elif kind == "br":
                parts.append("\n")
            elif kind == "tab":
                parts.append(" ")
        line = "".join(parts).strip()
        if line:
            lines.append(line)
    return lines
