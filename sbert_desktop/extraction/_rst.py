"""reStructuredText: headings by their adornments, directives opened, roles and targets taken away.

A line-based reader of our own, in the manner of :mod:`._markdown`: it never fails and drops no words
but those of comments.
"""

from __future__ import annotations

import re

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._normalise import normalise, one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._text import decode_text

_ADORNMENT = re.compile(r"^([!-/:-@\[-`{-~])\1*\s*$")
_DIRECTIVE = re.compile(r"^(\s*)\.\.\s+(?:\|([^|\n]{1,100})\|\s+)?([A-Za-z][\w:.+-]{0,60})::(?:\s+(.*))?$")
_EXPLICIT = re.compile(r"^(\s*)\.\.(?:\s+(.*))?$")
_NOTE = re.compile(r"^\[(?:[#*\w.-]{1,60})\]\s+(.*)$")
_FIELD = re.compile(r"^:([A-Za-z][\w -]{0,40}):(?:\s+(.*))?$")
_GRID = re.compile(r"^\s*\+(?:[-=]+\+)+\s*$")
_SIMPLE = re.compile(r"^\s*=+(?:\s+=+)+\s*$")
_LITERAL = re.compile(r"``([^`\n]{1,500})``")
_ROLE = re.compile(r":[\w:.+-]{1,60}:`([^`\n]{1,500})`|`([^`\n]{1,500})`:[\w:.+-]{1,60}:")
_REFERENCE = re.compile(r"`([^`<\n]{1,500}?)\s*(?:<[^<>`\n]{1,1000}>)?`_{0,2}(?!\w)")
_ADDRESS_ONLY = re.compile(r"`<([^<>`\n]{1,1000})>`_{0,2}")
_TARGETED = re.compile(r"^(.{1,400}?)\s*<[^<>]{1,1000}>$")
_STRONG = re.compile(r"(?<![\w*])(\*{1,2})(?=[^\s*])([^*\n]{1,1000}?)(?<=[^\s*])\1(?![\w*])")
_WORD_REFERENCE = re.compile(r"(?<=[A-Za-z0-9])_{1,2}(?=[\s.,;:!?)\]]|$)")
_SUBSTITUTION = re.compile(r"\|([^|\s][^|\n]{0,100}?)\|_{0,2}")
_ESCAPE = re.compile(r"\\([^\w\s]|[_*`|]|\s)")
_CODE = {"code", "code-block", "sourcecode", "parsed-literal", "highlight", "doctest", "testcode", "testoutput",
         "prompt", "productionlist", "math", "graphviz", "mermaid", "ipython"}
_SILENT = {"image", "include", "literalinclude", "contents", "toctree", "raw", "highlight", "default-role", "index",
           "currentmodule", "module", "automodule", "autoclass", "autofunction", "autosummary", "role", "class",
           "sectnum", "target-notes", "unicode", "meta", "plot", "date"}
_KEPT_OPTIONS = {"alt", "caption", "name", "header", "description", "keywords"}


def read(source: Source) -> ExtractedText:
    """Reads reStructuredText.

    Raises:
        ExtractionError: ``empty``.
    """
    out = TextBuilder("rst")
    write_rst(normalise(decode_text(source.data)).expandtabs(8), out)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


def write_rst(text: str, out: TextBuilder) -> None:
    """Adds the blocks of normalised reStructuredText; sets title and date where it has them."""
    _Reader(text.split("\n"), out).run()


class _Reader:
    """One pass over the lines of a document, or of the body of a directive in it."""

    def __init__(self, lines: list[str], out: TextBuilder, parent: _Reader | None = None) -> None:
        self.lines, self.out = lines, out
        self.styles: list[str] = parent.styles if parent else []
        self.substitutions: dict[str, str] = parent.substitutions if parent else _substitutions(lines)
        self.depth: int = parent.depth + 1 if parent else 0
        self.literal = False
        self.at = 0

    def run(self) -> None:
        while self.at < len(self.lines) and not self.out.full:
            line = self.lines[self.at]
            if not line.strip():
                self.at += 1
            elif self.literal and line[0] == " ":
                self.out.add_code("\n".join(_dedented(self._body(0))), self.out.heading)
                self.literal = False
            else:
                self.literal = False
                self._block(line)

    def _block(self, line: str) -> None:
        if self._heading():
            return
        if _GRID.match(line) or _SIMPLE.match(line):
            self._table()
        elif _DIRECTIVE.match(line):
            self._directive()
        elif _EXPLICIT.match(line):
            self._explicit()
        elif _FIELD.match(line) and not self.out.heading.count(">"):
            self._fields()
        elif _ADORNMENT.match(line) and len(line.strip()) >= 4:
            self.at += 1  # a transition
        else:
            self._paragraph()

    def _heading(self) -> bool:
        """Reads a title with its lines under (and over) it."""
        lines, at = self.lines, self.at
        over = _ADORNMENT.match(lines[at])
        if over and at + 2 < len(lines) and lines[at + 1].strip() and lines[at + 2].strip() == lines[at].strip() \
                and len(lines[at].strip()) >= 3 and not _ADORNMENT.match(lines[at + 1]):
            style, title, self.at = over.group(1) * 2, lines[at + 1], at + 3
        elif not over and at + 1 < len(lines) and lines[at][0] != " " and (under := _ADORNMENT.match(lines[at + 1])) \
                and len(lines[at + 1].strip()) >= min(4, len(lines[at].strip())) and under.group(1) not in "|" \
                and (at == 0 or not lines[at - 1].strip() or at >= 1):
            style, title, self.at = under.group(1), lines[at], at + 2
        else:
            return False
        if style not in self.styles:
            self.styles.append(style)
        heading = one_line(self._plain(title.strip()))
        self.out.title = self.out.title or heading
        self.out.add_heading(heading, self.styles.index(style) + 1)
        return True

    def _body(self, indent: int) -> list[str]:
        """Gives the following lines that are blank or indented more than ``indent``, and goes behind them."""
        begin = self.at
        while self.at < len(self.lines) and (not self.lines[self.at].strip()
                                             or len(self.lines[self.at]) - len(self.lines[self.at].lstrip()) > indent):
            self.at += 1
        return self.lines[begin : self.at]

    def _directive(self) -> None:
        match = _DIRECTIVE.match(self.lines[self.at])
        assert match is not None
        indent, substituted, name, argument = len(match[1]), match[2], match[3].lower(), (match[4] or "").strip()
        self.at += 1
        body = _dedented(self._body(indent))
        while body and (option := _FIELD.match(body[0])):
            if option[1].lower() in _KEPT_OPTIONS and option[2]:
                self.out.add(self._plain(option[2]))
            body.pop(0)
        if substituted:
            return
        if name in _CODE:
            first = [argument] if name in {"math", "doctest"} else []
            self.out.add_code("\n".join([*first, *body]), self.out.heading)
        elif name in {"csv-table", "list-table"}:
            self.out.add(self._plain(argument))
            self._rows(name, body)
        elif name not in _SILENT:
            if name not in {"figure", "only", "ifconfig", "container", "compound", "tab-set"}:
                self.out.add(self._plain(f"{name.capitalize()}: {argument}" if name in {"note", "warning", "tip"}
                                         and argument else argument))
            if self.depth < 20:
                _Reader(body, self.out, self).run()
            else:
                self.out.add("\n".join(body))
        elif name == "toctree":
            self.out.add("\n".join(body), BlockKind.FURNITURE)

    def _rows(self, name: str, body: list[str]) -> None:
        if name == "csv-table":
            import csv

            rows = list(csv.reader([line for line in body if line.strip()], skipinitialspace=True))
        else:
            rows = []
            for line in body:
                text = line.strip()
                if text.startswith("* -"):
                    rows.append([text[3:].strip()])
                elif text.startswith("-") and rows:
                    rows[-1].append(text[1:].strip())
                elif text and rows:
                    rows[-1][-1] += f" {text}"
        self.out.add("\n".join("\t".join(self._plain(" ".join(cell.split())) for cell in row) for row in rows),
                     BlockKind.TABLE)

    def _explicit(self) -> None:
        """Reads a footnote; passes over targets and comments."""
        match = _EXPLICIT.match(self.lines[self.at])
        assert match is not None
        self.at += 1
        note = _NOTE.match(match[2] or "")
        if not (match[2] or "").strip() and self.at < len(self.lines) and not self.lines[self.at].strip():
            return  # an empty comment does not swallow what is indented after a blank line
        body = self._body(len(match[1]))
        if note:
            self.out.add(self._plain("\n".join([note[1], *(line.strip() for line in body)])))

    def _fields(self) -> None:
        held: list[str] = []
        while self.at < len(self.lines) and (match := _FIELD.match(self.lines[self.at])):
            self.at += 1
            value = " ".join([match[2] or "", *(line.strip() for line in self._body(0))]).strip()
            held.append(f"{match[1]}: {self._plain(value)}")
            if match[1].lower() in {"date", "created", "published"} and self.out.date is None:
                self.out.date = parse_date(value)
            elif match[1].lower() in {"author", "authors"}:
                self.out.metadata.append(("author", value))
        self.out.add("\n".join(held), BlockKind.HEADER)

    def _table(self) -> None:
        grid = bool(_GRID.match(self.lines[self.at]))
        begin = self.at
        while self.at < len(self.lines) and self.lines[self.at].strip():
            self.at += 1
            if not grid and self.at - begin > 1 and _SIMPLE.match(self.lines[self.at - 1]) \
                    and (self.at >= len(self.lines) or not self.lines[self.at].strip()):
                break
        lines = self.lines[begin : self.at]
        rows = _grid_rows(lines) if grid else _simple_rows(lines)
        self.out.add("\n".join("\t".join(self._plain(cell) for cell in row) for row in rows), BlockKind.TABLE)

    def _paragraph(self) -> None:
        begin = self.at
        lines = self.lines
        indent = len(lines[begin]) - len(lines[begin].lstrip())
        while self.at < len(lines) and lines[self.at].strip():
            if self.at > begin and lines[self.at].startswith(".. ") and indent == 0:
                break
            self.at += 1
        own = lines[begin : self.at]
        quoted = bool(indent) and all(line.startswith(" " * indent) for line in own[:50])
        held = [line.strip() if quoted else line.rstrip() for line in own]
        text = "\n".join(re.sub(r"^\|\s", "", line) for line in held)
        if text.endswith("::"):
            self.literal = True
            text = text[:-2].rstrip() if text == "::" or text[:-2].endswith((" ", "\n")) else text[:-1]
        self.out.add(self._plain(text))

    def _plain(self, text: str) -> str:
        """Takes the inline markup away and keeps what is read."""
        if "|" in text and self.substitutions:
            text = _SUBSTITUTION.sub(lambda match: self.substitutions.get(match[1].casefold(), match[0]), text)
        if "`" in text:
            text = _LITERAL.sub(r"\1", text)
            text = _ROLE.sub(_role, text)
            text = _ADDRESS_ONLY.sub(r"\1", text)
            text = _REFERENCE.sub(r"\1", text)
        if "*" in text:
            text = _STRONG.sub(r"\2", text)
        if "_" in text:
            text = _WORD_REFERENCE.sub("", text)
        return _ESCAPE.sub(lambda match: "" if match[1].isspace() else match[1], text) if "\\" in text else text


def _role(match: re.Match[str]) -> str:
    text = str(match[1] or match[2])
    targeted = _TARGETED.match(text)
    return targeted[1] if targeted else text.lstrip("~!")


def _substitutions(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        if line.lstrip().startswith(".. |"):
            match = _DIRECTIVE.match(line)
            if match and match[2] and match[3].lower() == "replace" and match[4]:
                found[match[2].strip().casefold()] = match[4].strip()
    return found


def _dedented(lines: list[str]) -> list[str]:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    cut = min(indents, default=0)
    lines = [line[cut:] for line in lines]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def _grid_rows(lines: list[str]) -> list[list[str]]:
    rows: list[list[str]] = []
    fresh = True
    for line in lines:
        if _GRID.match(line) or not line.strip().startswith("|"):
            fresh = fresh or line.strip().startswith("+")
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if fresh or not rows or len(rows[-1]) != len(cells):
            rows.append(cells)
        else:
            rows[-1] = [" ".join(part for part in pair if part) for pair in zip(rows[-1], cells, strict=True)]
        fresh = False
    return rows


def _simple_rows(lines: list[str]) -> list[list[str]]:
    columns = [match.start() for match in re.finditer(r"=+", lines[0])]
    rows: list[list[str]] = []
    for line in lines:
        if _SIMPLE.match(line) or set(line.strip()) <= set("- "):
            continue
        ends = [*columns[1:], len(line) + 1]
        cells = [line[begin:end].strip() for begin, end in zip(columns, ends, strict=True)]
        if rows and not cells[0]:
            rows[-1] = [" ".join(part for part in pair if part) for pair in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return rows
