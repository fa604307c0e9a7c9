r"""Rich text (rtf): one pass over its tokens; every run of bytes in the code page of its own font.

``\'xx`` escapes may be half a double-byte character whose other half is plain text, and ``\u`` is followed by
substitutes that are not text: both are counted exactly. Deletions and hidden text are not read.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._docx import is_bad_title
from sbert_desktop.extraction._normalise import one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source

_TOKEN = re.compile(r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|[\r\n\0]+|([^\\{}\r\n\0]+)",
                    re.DOTALL)
# Source: Rich Text Format specification 1.9.1, \fcharset.
_CHARSETS = {77: "mac_roman", 78: "cp932", 79: "cp949", 80: "gb18030", 81: "big5", 83: "mac_greek", 84: "mac_turkish",
             88: "mac_latin2", 89: "mac_cyrillic", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030",
             136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257",
             204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850"}
_BASES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
_SIGNS = {"emdash": "\u2014", "endash": "\u2013", "lquote": "\u2018", "rquote": "\u2019", "ldblquote": "\u201c",
          "rdblquote": "\u201d", "bullet": "\u2022", "emspace": " ", "enspace": " ", "qmspace": " ", "tab": " ",
          "line": "\n", "softline": "\n", "lbr": "\n", "zwj": "\u200d", "zwnj": "\u200c"}
_SKIPPED = frozenset(("fonttbl", "colortbl", "stylesheet", "pict", "nonshppict", "shprslt", "sp", "fldinst", "xe", "tc",
                      "listtext", "pntext", "nonesttables", "objdata", "objclass", "atnid", "atnref", "atntime",
                      "atnicn", "rsidtbl", "revtbl", "listtable", "listoverridetable", "filetbl", "bkmkstart",
                      "bkmkend", "falt",
                      "panose", "fontemb", "themedata", "datastore", "company", "operator", "comment", "doccomm",
                      "hlinkbase", "manager", "category", "generator", "userprops", "private"))
_STARRED = frozenset(("annotation", "shpinst", "shptxt", "nesttableprops", "footnote", "atnauthor", "shppict"))
_APART = {"header": "furniture", "headerl": "furniture", "headerr": "furniture", "headerf": "furniture",
          "footer": "furniture", "footerl": "furniture", "footerr": "furniture", "footerf": "furniture",
          "footnote": "footnote", "annotation": "comment", "atnauthor": "comment author", "shptxt": "text box",
          "title": "title", "author": "author", "subject": "subject", "keywords": "keywords"}
_HEADING = re.compile(r"^heading (\d)", re.IGNORECASE)
_LONG_CELL = 600
_DEEPEST = 10_000


@dataclass(slots=True)
class _State:
    """What a group inherits and gives back at its end."""

    skipped: bool = False
    table: str = ""  # "fonttbl" or "stylesheet": read for what it says, not as text
    font: int = -1
    associated: int = -1
    double: bool = False  # the associated font counts (after \dbch)
    substitutes: int = 1
    hidden: bool = False
    deleted: bool = False

    def copy(self) -> _State:
        return _State(self.skipped, self.table, self.font, self.associated, self.double, self.substitutes, self.hidden,
                      self.deleted)


@dataclass(slots=True)
class _Text:
    """One stream of paragraphs: the body, or a note, a header, a title."""

    kind: str
    depth: int
    parts: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    in_table: bool = False
    level: int = 0
    style: int = 0
    blocks: list[str] = field(default_factory=list)


def read(source: Source) -> ExtractedText:
    """Reads an rtf.

    Raises:
        ExtractionError: ``damaged`` or ``empty``.
    """
    if not source.data[:64].lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{\\rtf"):
        raise failure("damaged")
    reader = _Reader(TextBuilder("rtf"))
    reader.run(source.data.decode("latin-1"))
    extracted = reader.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


class _Reader:
    def __init__(self, out: TextBuilder) -> None:
        self._out = out
        self._base = "cp1252"
        self._fonts: dict[int, str] = {}
        self._levels: dict[int, int] = {}
        self._state = _State()
        self._stack: list[_State] = []
        self._texts = [_Text("body", 0)]
        self._bytes = bytearray()
        self._to_skip = 0
        self._starred = False
        self._font_defined = self._style_defined = 0
        self._style_name = ""
        self._notes: list[tuple[str, str]] = []
        self._moment: dict[str, int] | None = None
        self._dates = False
        self._comment_author = ""

    def run(self, text: str) -> None:
        """Goes through all tokens."""
        at, match = 0, _TOKEN.match(text)
        while match is not None and not self._out.full:
            at = match.end()
            word, number, code, sign, brace, plain = match.groups()
            if plain is not None:
                self._plain(plain)
            elif word is not None:
                if word == "bin" and number and int(number) > 0:
                    at += int(number)
                elif self._to_skip and word != "u":
                    self._to_skip -= 1
                else:
                    self._word(word, int(number) if number else None)
            elif code is not None:
                self._plain(chr(int(code, 16)))
            elif brace is not None:
                self._brace(brace)
            elif sign is not None:
                self._sign(sign)
            match = _TOKEN.match(text, at)

    def finish(self) -> ExtractedText:
        """Ends what is open, adds the notes, gives the document."""
        while len(self._texts) > 1:
            self._end_text()
        self._flush()
        self._paragraph()
        self._end_table()
        self._out.reset_headings()
        for part, text in self._notes:
            self._out.add(text, part=part)
        return self._out.finish()

    # ------------------------------------------------------------ tokens

    def _plain(self, text: str) -> None:
        if self._to_skip:
            taken = min(self._to_skip, len(text))
            self._to_skip -= taken
            text = text[taken:]
        if self._state.table:
            self._define(text)
        elif text and not (self._state.skipped or self._state.hidden or self._state.deleted):
            self._bytes += text.encode("latin-1")

    def _sign(self, sign: str) -> None:
        if self._to_skip:
            self._to_skip -= 1
        elif sign == "*":
            self._starred = True
        elif sign in "\\{}":
            self._plain(sign)
        elif sign in "~_":
            self._put(" " if sign == "~" else "-")
        elif sign in "\r\n":
            self._word("par", None)

    def _brace(self, brace: str) -> None:
        self._flush()
        self._to_skip, self._starred = 0, False
        if brace == "{":
            if len(self._stack) >= _DEEPEST:
                raise failure("damaged", "The file is nested too deeply.")
            self._stack.append(self._state)
            self._state = self._state.copy()
        elif self._stack:
            if self._state.table == "stylesheet":
                self._end_style()
            if len(self._texts) > 1 and self._texts[-1].depth == len(self._stack):
                self._end_text()
            self._state = self._stack.pop()

    def _word(self, word: str, number: int | None) -> None:
        state = self._state
        starred, self._starred = self._starred, False
        if word == "u":
            self._unicode(number or 0)
        elif word in {"fonttbl", "stylesheet"}:
            state.table, state.skipped = word, True
        elif state.table:
            self._define_by(word, number)
        elif word in _APART and (not starred or word in _STARRED) and not (word == "title" and self._moment is None):
            if not state.skipped or word == "shptxt":
                self._flush()
                state.skipped = False
                self._texts.append(_Text(_APART[word], len(self._stack)))
        elif word == "info":
            self._moment = {}
        elif word in _SKIPPED or (starred and word not in _STARRED):
            state.skipped = True
        elif word in {"creatim", "revtim", "printim", "buptim"}:
            state.skipped = True
            self._moment, self._dates = {}, word in {"creatim", "revtim"}
        elif self._moment is not None and word in {"yr", "mo", "dy", "hr", "min"}:
            self._date(word, number or 0)
        else:
            self._format(word, number)

    def _format(self, word: str, number: int | None) -> None:
        """Words that form characters, paragraphs and tables."""
        state, text = self._state, self._texts[-1]
        if word in {"f", "af", "loch", "hich", "dbch", "plain"}:
            self._font(word, number)
        elif word in _SIGNS:
            self._put(_SIGNS[word])
        elif word in {"par", "sect", "page", "column"}:
            self._flush()
            if not state.skipped:
                self._paragraph()
        elif word in {"cell", "nestcell", "row", "nestrow"}:
            self._flush()
            if not state.skipped:
                self._cell(row=word.endswith("row"))
        elif word == "pard":
            text.in_table, text.level, text.style = False, 0, 0
        elif word == "intbl":
            text.in_table = True
        elif word == "s":
            text.style = number or 0
        elif word == "outlinelevel":
            text.level = (number or 0) + 1 if (number or 0) < 9 else 0
        elif word == "uc":
            state.substitutes = min(max(0, 1 if number is None else number), 32)
        elif word == "v":
            self._flush()
            state.hidden = number != 0
        elif word == "deleted":
            self._flush()
            state.deleted = number != 0
        elif word in {"mac", "pc", "pca"}:
            self._base = _BASES[word]
        elif word == "ansicpg" and number:
            self._base = _codec(number) or self._base

    def _font(self, word: str, number: int | None) -> None:
        self._flush()
        state = self._state
        if word == "f":
            state.font, state.double = number or 0, False
        elif word == "af":
            state.associated = number or 0
        elif word == "plain":
            state.hidden = state.deleted = state.double = False
        else:
            state.double = word == "dbch"

    def _unicode(self, number: int) -> None:
        self._flush()
        self._to_skip = self._state.substitutes
        number &= 0xFFFF
        if number >= 32:
            self._put(chr(number))

    # ------------------------------------------------------------ tables of fonts and styles, properties

    def _define_by(self, word: str, number: int | None) -> None:
        if self._state.table == "fonttbl":
            if word == "f":
                self._font_defined = number or 0
            elif word == "fcharset" and number in _CHARSETS:
                self._fonts[self._font_defined] = _CHARSETS[number]
            elif word == "cpg" and number:
                self._fonts[self._font_defined] = _codec(number) or self._base
        elif word == "s":
            self._style_defined = number or 0
        elif word == "outlinelevel" and number is not None and number < 9:
            self._levels[self._style_defined] = number + 1

    def _define(self, text: str) -> None:
        if self._state.table == "stylesheet" and len(self._style_name) < 200:
            self._style_name += text

    def _end_style(self) -> None:
        match = _HEADING.match(self._style_name.strip())
        if match:
            self._levels[self._style_defined] = max(1, int(match.group(1)))
        elif self._style_name.strip().rstrip(";").lower() == "title":
            self._levels[self._style_defined] = 1
        self._style_name, self._style_defined = "", 0

    def _date(self, word: str, number: int) -> None:
        assert self._moment is not None
        if not self._dates:
            return
        self._moment[word] = number
        found = self._moment
        if {"yr", "mo", "dy"} <= found.keys():
            stamp = (f"{found['yr']:04}-{found['mo']:02}-{found['dy']:02}"
                     f"T{found.get('hr', 0):02}:{found.get('min', 0):02}")
            self._out.date = parse_date(stamp) or self._out.date

    # ------------------------------------------------------------ text

    def _put(self, text: str) -> None:
        self._flush()
        state = self._state
        if not (state.skipped or state.hidden or state.deleted):
            self._texts[-1].parts.append(text)

    def _flush(self) -> None:
        """Decodes the bytes that wait, in the code page of their font."""
        if self._bytes:
            state = self._state
            font = state.associated if state.double and state.associated >= 0 else state.font
            data = bytes(self._bytes)
            self._bytes.clear()
            codec = "ascii" if data.isascii() else self._fonts.get(font, self._base)
            self._texts[-1].parts.append(data.decode(codec, "replace"))

    def _taken(self) -> str:
        text = self._texts[-1]
        found = "".join(text.parts)
        text.parts.clear()
        if any("\ud800" <= char <= "\udfff" for char in found):
            found = found.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return found

    def _paragraph(self) -> None:
        text = self._texts[-1]
        if text.kind != "body":
            text.parts.append("\n")
            return
        if text.in_table:
            text.parts.append("\n")
            return
        found = self._taken()
        if text.cells:  # a row that its \row never ended
            self._cell(row=True)
        self._end_table()
        level = text.level or self._levels.get(text.style, 0)
        if level and found.strip() and len(found) <= 400:
            if level == 1 and not self._out.title:
                self._out.title = one_line(found)
            self._out.add_heading(found, level)
        else:
            self._out.add(found)

    def _cell(self, *, row: bool) -> None:
        text = self._texts[-1]
        if text.kind != "body":
            text.parts.append("\n" if row else " ")
            return
        found = self._taken().strip()
        if found:
            text.cells.append(found)
        if row and text.cells:
            text.rows.append(text.cells)
            text.cells = []

    def _end_table(self) -> None:
        text = self._texts[-1]
        rows, text.rows = text.rows, []
        if not rows:
            return
        if max(map(len, rows)) < 2 or any(len(cell) > _LONG_CELL for row in rows for cell in row):
            for cell in (cell for row in rows for cell in row):
                self._out.add(cell)
        else:
            self._out.add("\n".join("\t".join(" ".join(cell.split()) for cell in row) for row in rows), BlockKind.TABLE)

    def _end_text(self) -> None:
        """Ends a note, a header, a property or a text box."""
        self._flush()
        found = self._taken().strip()
        kind = self._texts.pop().kind
        if not found:
            return
        if kind == "furniture":
            self._out.add(found, BlockKind.FURNITURE)
        elif kind == "title":
            self._out.title = "" if is_bad_title(one_line(found)) else one_line(found)
        elif kind in {"author", "subject", "keywords"}:
            if kind not in dict(self._out.metadata):
                self._out.metadata.append((kind, found))
        elif kind == "comment author":
            self._comment_author = found
        elif kind == "text box":
            self._texts[-1].parts.append(f"\n{found}\n")
        else:
            if kind == "comment" and self._comment_author:
                found, self._comment_author = f"{self._comment_author}: {found}", ""
            self._notes.append((kind, found))


def _codec(number: int) -> str:
    """Gives Python's name of a Windows code page, ``""`` where there is none."""
    name = {932: "cp932", 936: "gb18030", 949: "cp949", 950: "cp950", 1361: "johab", 10000: "mac_roman",
            65001: "utf-8"}.get(number, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return ""
