"""AsciiDoc: headings, attributes, delimited blocks, tables and inline macros."""

from __future__ import annotations

import re

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._normalise import normalise
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._text import decode_text

_HEADING = re.compile(r"^(={1,6}|#{1,6})\s+(\S.*?)(?:\s+\1)?\s*$")
_UNDERLINE = re.compile(r"^([=\-~^+])\1{3,}\s*$")
_ATTRIBUTE = re.compile(r"^:(!?[\w-]{1,60}!?):(?:\s+(.*))?$")
_BLOCK_LINE = re.compile(r"^\[[^\[\]\n]{0,500}\]\s*$|^\[\[[^\[\]\n]{1,200}\]\]\s*$")
_BLOCK_TITLE = re.compile(r"^\.([^\s.].*)$")
_FENCE = re.compile(r"^(-{4,}|\.{4,}|\+{4,}|/{4,}|={4,}|\*{4,}|_{4,}|--|```\w*)\s*$")
_DIRECTIVE = re.compile(r"^(?:include|ifdef|ifndef|ifeval|endif|toc)::\S*\[.*\]\s*$|^toc::\[\]\s*$")
_BLOCK_MACRO = re.compile(r"^(image|video|audio)::[^\s\[\]]{1,500}\[([^\]\n]{0,500})\]\s*$")
_REVISION = re.compile(r"(\d{4}-\d{2}-\d{2})")
_MACRO = re.compile(r"(?:(?:link|xref|mailto|image|footnote|kbd|btn|menu|pass|icon|anchor|stem|latexmath|indexterm2):"
                    r"[^\s\[\]]{0,500}|https?://[^\s\[\]<>]{1,1000}|footnote:?)\[([^\]\n]{0,1000})\]")
_CROSS = re.compile(r"<<([^<>,\n]{1,200})(?:,\s*([^<>\n]{1,300}))?>>")
_ANCHOR = re.compile(r"\[\[[^\[\]\n]{1,200}\]\]|\[#[\w.%-]{1,100}\]|\[\.[\w.-]{1,100}\](?=[#*_`])")
_INDEX = re.compile(r"\({3}[^()\n]{1,200}\){3}")
_MARK = re.compile(r"(?<![\w*_`#+])(\*{1,2}|_{1,2}|`{1,2}|#{1,2}|\+{1,3})(?=\S)([^\n]{1,150}?)(?<=\S)\1(?![\w*_`#+])")
_REFERENCE = re.compile(r"\{([\w-]{1,60})\}")
_CELL = re.compile(r"(?:^|\s)(?:\d+(?:\.\d+)?[+*])?[<^>.]{0,4}[aehlmdsv]?\|(?!\|)")
_COMMENT = re.compile(r"^//(?!/)")


def read(source: Source) -> ExtractedText:
    """Reads AsciiDoc.

    Raises:
        ExtractionError: ``empty``.
    """
    out = TextBuilder("adoc")
    _Reader(normalise(decode_text(source.data)).split("\n"), out).run()
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


class _Reader:
    def __init__(self, lines: list[str], out: TextBuilder) -> None:
        self.lines, self.out = lines, out
        self.attributes: dict[str, str] = {}
        self.held: list[str] = []
        self.at = 0
        self.first_heading = ""

    def run(self) -> None:
        """Reads all lines; sets title and date."""
        while self.at < len(self.lines) and not self.out.full:
            line = self.lines[self.at]
            self.at += 1
            self._line(line)
        self._flush()
        self.out.title = self.out.title or self.first_heading

    def _line(self, line: str) -> None:
        fence, heading, attribute = _FENCE.match(line), _HEADING.match(line), _ATTRIBUTE.match(line)
        if not line.strip():
            self._flush()
        elif self.held and len(self.held) == 1 and _UNDERLINE.match(line) \
                and abs(len(line.strip()) - len(self.held[0].strip())) <= 2:
            level = "=-~^+".index(line[0]) + 1
            text = self.held.pop()
            self._heading(text, level)
        elif fence:
            self._flush()
            self._fenced(line.strip())
        elif line.strip() in {"|===", ",===", ":===", "!==="}:
            self._flush()
            self._table(line.strip())
        elif heading and not self.held:
            self._heading(heading[2], len(heading[1]))
        elif attribute and not self.held:
            self._attribute(attribute[1].lower(), (attribute[2] or "").strip())
        elif any(pattern.match(line) for pattern in (_COMMENT, _DIRECTIVE, _BLOCK_LINE)) \
                or line.strip() in {"'''", "<<<"}:
            return
        elif line.strip() == "+":
            self._flush()
        elif macro := _BLOCK_MACRO.match(line):
            self._flush()
            self.out.add(self._plain(macro[2].split(",")[0].strip("\"' ")))
        elif (title := _BLOCK_TITLE.match(line)) and not self.held:
            self.out.add(self._plain(title[1]))
        else:
            self.held.append(line)

    def _heading(self, text: str, level: int) -> None:
        text = self._plain(text)
        self.first_heading = self.first_heading or text
        if level == 1 and not self.out.title:
            self.out.title = text
            self.out.add_heading(text, level)
            self._byline()
        else:
            self.out.add_heading(text, level)

    def _byline(self) -> None:
        """Reads author and revision: the lines that stand directly under the title."""
        held: list[str] = []
        while self.at < len(self.lines) and len(held) < 2 and (line := self.lines[self.at]).strip() \
                and not _ATTRIBUTE.match(line) and not _COMMENT.match(line):
            held.append(line.strip())
            self.at += 1
        for line in held:
            date = _REVISION.search(line)
            if date and self.out.date is None:
                self.out.date = parse_date(date[1])
        if held and not _REVISION.match(held[0]):
            self.out.metadata.append(("author", re.sub(r"\s*<[^<>]*>", "", held[0])))
        self.out.add("\n".join(held), BlockKind.HEADER)

    def _attribute(self, key: str, value: str) -> None:
        self.attributes[key] = value
        if key in {"author", "description", "keywords"} and value:
            self.out.metadata.append((key, value))
            self.out.add(self._plain(value), BlockKind.HEADER)
        elif key in {"revdate", "date", "docdate"} and self.out.date is None:
            self.out.date = parse_date(value)

    def _fenced(self, fence: str) -> None:
        """Reads a block between two like lines: code as code, comments not, the rest as usual."""
        if fence[0] in "=*_" or fence == "--":
            return  # example, sidebar, quote, open block: their content is read as it comes
        closing = "```" if fence.startswith("```") else fence
        begin = self.at
        while self.at < len(self.lines) and self.lines[self.at].strip() != closing:
            self.at += 1
        body = self.lines[begin : self.at]
        self.at += 1
        if fence[0] in "-.`":
            self.out.add_code("\n".join(body), self.out.heading)
        elif fence[0] == "+":
            self.out.add("\n".join(body))

    def _table(self, fence: str) -> None:
        begin = self.at
        while self.at < len(self.lines) and self.lines[self.at].strip() != fence:
            self.at += 1
        rows: list[list[str]] = []
        width = 0
        for line in self.lines[begin : self.at]:
            if not line.strip() or _COMMENT.match(line):
                continue
            if fence == "|===":
                cells = [cell.strip() for cell in _CELL.split(line)]
                if not line.lstrip().startswith("|") and cells and cells[0] and rows:
                    rows[-1][-1] = f"{rows[-1][-1]} {cells[0]}".strip()
                cells = cells[1:]
            else:
                cells = [cell.strip() for cell in line.split(fence[0])]
            width = width or len(cells)
            if cells and len(cells) < width and rows and len(rows[-1]) + len(cells) <= width:
                rows[-1] += cells
            elif cells:
                rows.append(cells)
        self.at += 1
        self.out.add("\n".join("\t".join(self._plain(cell) for cell in row) for row in rows), BlockKind.TABLE)

    def _flush(self) -> None:
        if self.held:
            if all(line.startswith((" ", "\t")) for line in self.held):
                self.out.add_code("\n".join(self.held), self.out.heading)
            else:
                self.out.add(self._plain("\n".join(line.removesuffix(" +") for line in self.held)))
            self.held.clear()

    def _plain(self, text: str) -> str:
        if "{" in text:
            text = _REFERENCE.sub(lambda match: self.attributes.get(match[1].lower(), match[0]), text)
        if "[" in text:
            text = _MACRO.sub(lambda match: match[1].removesuffix("^") or match[0].removesuffix("[]"), text)
            text = _ANCHOR.sub("", text)
        if "<<" in text:
            text = _CROSS.sub(lambda match: match[2] or match[1], text)
        if "(((" in text:
            text = _INDEX.sub("", text)
        for _ in range(2):
            text = _MARK.sub(r"\2", text)
        return text
