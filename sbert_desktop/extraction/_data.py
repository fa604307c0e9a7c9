"""Data files as a person would read them aloud: keys and values, without the punctuation around them.

json and its kin go through one scanner of our own that holds nothing but a stack of open brackets:
it reads broken files, files with comments, one object a line, and pieces of a huge file alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._normalise import normalise, one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source
from sbert_desktop.extraction._text import decode_text

_JSON = re.compile(r"""\s*(?:"([^"\\]*+(?:\\.[^"\\]*+)*+)"?|([{\[])|([}\]])|([:,])|"""
                   r"""(//[^\n]*|/\*(?:[^*]|\*(?!/)){0,5000}\*/)|([^\s"{}\[\]:,]+))""", re.DOTALL)
# A key with a string, number or word and the sign behind it: most of what there is, in one step instead of four.
_PAIR = re.compile(r"""\s*+"([^"\\]*+)"\s*+:\s*+(?:"([^"\\]*+(?:\\.[^"\\]*+)*+)"|([\w.+-]++))\s*+([,}])""", re.DOTALL)
# A piece of a huge file that begins inside a string.
_MID_STRING = re.compile(r"""(?!\s*(?:[{\[\"/]|-?\d|(?:true|false|null)\b))[^"\\{]{0,20000}+"\s*[,:}\]]""")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|(.))", re.DOTALL)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\n", "b": "", "f": "\n"}
_BLOB = re.compile(r"(?:data:[\w/+.;=-]{0,100},)?[A-Za-z0-9+/_=-]{200,}")
_NUMBER = re.compile(r"-?\d[\d.eE+-]*$")
_TITLE_KEYS = {"title", "name", "headline", "subject"}
_DATE_KEYS = {"date", "created", "created_at", "published", "datepublished", "updated", "timestamp"}
_GROUP = 1500  # characters of short records that make one block
_MOST_NUMBERS = 12  # of a list: coordinates and vectors say nothing in words


def read(source: Source) -> ExtractedText:
    """Reads json, jsonl, yaml, toml, ini, ics, vcf and other structured plain text.

    Raises:
        ExtractionError: ``empty``.
    """
    text = normalise(decode_text(source.data))
    out = TextBuilder(source.suffix or "txt")
    _WRITERS.get(source.suffix, write_lines)(text, out)
    extracted = out.finish()
    if not extracted.blocks:
        raise failure("empty")
    return extracted


# ---------------------------------------------------------------- json


def write_json(text: str, out: TextBuilder) -> None:
    """Adds keys and values, a line each; a block ends where a record of a list ends."""
    _Json(out).run(f'"{text}' if _MID_STRING.match(text) else text)


class _Json:
    def __init__(self, out: TextBuilder) -> None:
        self.out = out
        self.open: list[str] = []
        self.key = ""
        self.word: str | None = None
        self.values: list[str] = []
        self.numbers = 0
        self.lines: list[str] = []
        self.size = 0

    def run(self, text: str) -> None:
        at = 0
        while True:
            while self.open and self.open[-1] == "{" and (match := _PAIR.match(text, at)):
                at = match.end()
                self._pair(*match.groups())
                if self.out.full:
                    return
            match = _JSON.match(text, at)
            if match is None:
                break
            at = match.end()
            string, opening, closing, sign, comment, bare = match.groups()
            if string is not None:
                self._value()
                self.word = unescape(string) if "\\" in string else string
            elif opening:
                self._value()
                self._open(opening)
            elif closing:
                self._value()
                self._close()
                if self.out.full:
                    return
            elif sign == ":":
                self._line()
                self.key, self.word = (self.word or "").strip(), None
            elif sign:
                self._value()
                if not self.open or self.open[-1] == "{":
                    self._line()
            elif comment:
                self._line()
                self._add(comment.strip("/* \n"))
            elif bare not in {"null", "undefined", "NaN"}:
                self._value()
                if _NUMBER.match(bare):
                    self.numbers += 1
                self.word = bare if self.numbers <= _MOST_NUMBERS else None
        self._value()
        self._line()
        self._block()

    def _pair(self, key: str, string: str | None, bare: str | None, sign: str) -> None:
        """Does at once what its four signs would do one after the other."""
        if self.word is not None:
            self._value()
        if self.values or self.key:
            self._line()
        key = key.strip()
        if string is not None:
            value = unescape(string) if "\\" in string else string
            value = (_BLOB.sub("", value) if len(value) >= 200 else value).strip()
        else:
            value = "" if bare in {"null", "undefined", "NaN"} else bare or ""
        if value:
            if len(self.open) == 1:
                self.key = key
                self._note(value)
                self.key = ""
            line = f"{key}: {value}" if key else value
            self.lines.append(line)
            self.size += len(line) + 1
        self.numbers = 0
        if sign == "}":
            self._close()

    def _value(self) -> None:
        if self.word:
            value = _BLOB.sub("", self.word).strip() if len(self.word) >= 200 else self.word.strip()
            if value:
                self.values.append(value)
                self._note(value)
        self.word = None

    def _note(self, value: str) -> None:
        """Keeps a title and a date of the outermost object."""
        if self.open == ["{"] and self.key.lower() in _TITLE_KEYS and not self.out.title and len(value) < 200:
            self.out.title = value
        elif self.open == ["{"] and self.key.lower() in _DATE_KEYS and self.out.date is None:
            self.out.date = parse_date(value)

    def _open(self, sign: str) -> None:
        if self.key and sign == "{":
            self._line(bare=True)
        elif sign == "{" or not self.key:
            self._line()
        self.numbers = 0
        if len(self.open) < 100_000:
            self.open.append(sign)

    def _close(self) -> None:
        self._line()
        self.numbers = 0
        if self.open:
            sign = self.open.pop()
            record = sign == "{" and (not self.open or self.open[-1] == "[")
            if (record or len(self.open) == 1) and self.size > _GROUP // 4:
                self._block()
            elif record and self.lines and self.lines[-1]:
                self.lines.append("")
        if self.size > _GROUP:
            self._block()

    def _line(self, *, bare: bool = False) -> None:
        values, key = self.values, self.key
        self.values, self.key, self.numbers = [], "", 0
        if values:
            self._add(f"{key}: {', '.join(values)}" if key else "\n".join(values))
        elif key and bare:
            self._add(f"{key}:")

    def _add(self, line: str) -> None:
        if line:
            self.lines.append(line)
            self.size += len(line) + 1

    def _block(self) -> None:
        if self.lines:
            self.out.add("\n".join(self.lines))
        self.lines, self.size = [], 0


def unescape(text: str) -> str:
    """Resolves the escapes of a JSON string, pairs of surrogates included; wrong ones stay as they are."""
    return _ESCAPE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    first, second, single = match.groups()
    if first is None:
        return _PLAIN_ESCAPES.get(single, single)
    code = int(first, 16)
    if second is None:
        return chr(code)
    if 0xD800 <= code < 0xDC00:
        return chr(0x10000 + ((code - 0xD800) << 10) + int(second, 16) - 0xDC00)
    return chr(code) + chr(int(second, 16))


# ---------------------------------------------------------------- yaml, toml, ini, properties, logs

_QUOTED = re.compile(r"""(?<![\w'"])(?:"([^"\\\n]{0,2000}+(?:\\[^\n][^"\\\n]{0,2000}+){0,100}+)"|'([^'\n]{1,2000})')"""
                     r"""(?![\w'"])""")
_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_TOP_KEY = re.compile(r"^(?:[\w\"'][^\n:]{0,80}:(?:\s|$)|\[[^\n]+\]\s*$|---\s*$|- )")
_YAML_TITLE = re.compile(r"^(?:title|name)\s*[:=]\s*(\S.{0,200})$", re.MULTILINE | re.IGNORECASE)
_YAML_DATE = re.compile(r"^(?:date|created|published)\s*[:=]\s*(\S.{0,60})$", re.MULTILINE | re.IGNORECASE)


def write_yaml(text: str, out: TextBuilder) -> None:
    """Adds yaml, toml or ini as it stands, without quotes; title and date where a top-level key names them."""
    title, date = _YAML_TITLE.search(text[:20_000]), _YAML_DATE.search(text[:20_000])
    out.title = one_line(_QUOTED.sub(_unquoted, title[1])) if title else ""
    out.date = parse_date(date[1].strip("\"' ")) if date else None
    held: list[str] = []
    size = 0
    for line in text.split("\n"):
        if held and (not line.strip() or (size > _GROUP and _TOP_KEY.match(line))):
            out.add("\n".join(held))
            held, size = [], 0
            if out.full:
                return
        if line.strip() in {"---", "...", ""}:
            continue
        held.append(_QUOTED.sub(_unquoted, line.rstrip()) if '"' in line or "'" in line else line.rstrip())
        size += len(line)
    out.add("\n".join(held))


def _unquoted(match: re.Match[str]) -> str:
    if match[1] is None:
        return str(match[2])
    return unescape(match[1]).replace("\n", " ") if "\\" in match[1] else str(match[1])


def write_properties(text: str, out: TextBuilder) -> None:
    """Adds Java properties and the like with their unicode escapes resolved."""
    write_lines(re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text), out)


def write_lines(text: str, out: TextBuilder) -> None:
    """Adds the text as it stands, parted at blank lines."""
    for piece in _PARAGRAPH.split(text):
        out.add(piece)
        if out.full:
            break


# ---------------------------------------------------------------- calendars and address books

_PROPERTY = re.compile(r"^(?:[\w-]{1,40}\.)?([A-Za-z-]{1,60})"
                       r"((?:;[^:\"\n]{0,500}(?:\"[^\"\n]{0,500}\"[^:\"\n]{0,500})*)?):(.*)$")
_STAMP = re.compile(r"^(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2})(?::?(\d{2}))?(Z|[+-]\d{2}:?\d{2})?)?$")
_EVENT = {"SUMMARY": "", "DTSTART": "Start", "DTEND": "End", "DUE": "Due", "LOCATION": "Location",
          "DESCRIPTION": "", "ORGANIZER": "Organizer", "ATTENDEE": "Attendee", "CATEGORIES": "Categories",
          "COMMENT": "Comment", "CONTACT": "Contact", "URL": "Link", "RRULE": "Repeats", "STATUS": "Status"}
_CARD = {"FN": "", "ORG": "Organisation", "TITLE": "Title", "ROLE": "Role", "NICKNAME": "Nickname", "EMAIL": "Mail",
         "TEL": "Phone", "ADR": "Address", "BDAY": "Birthday", "URL": "Link", "NOTE": "Note",
         "CATEGORIES": "Categories", "IMPP": "Messenger", "RELATED": "Related", "ANNIVERSARY": "Anniversary"}


def write_calendar(text: str, out: TextBuilder) -> None:
    """Adds each event, task and journal entry as a block with its times in words."""
    inside: list[str] = []
    lines: dict[str, list[str]] = {}
    count, start = 0, None
    for name, parameters, value in _properties(text):
        if name == "BEGIN":
            inside.append(value.strip().upper())
            if inside[-1] in {"VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY"}:
                lines = {}
        elif name == "END":
            ended = inside.pop() if inside else ""
            if ended in {"VEVENT", "VTODO", "VJOURNAL"}:
                count += 1
                summary = next(iter(lines.get("SUMMARY", [])), "")
                out.title = out.title or (summary if count == 1 else "")
                shown = [f"{label}: {entry}" if label else entry for key, label in _EVENT.items()
                         for entry in lines.get(key, [])]
                out.add("\n".join(shown), part=one_line(" ".join(lines.get("DTSTART", [])[:1])))
        elif name == "X-WR-CALNAME" and len(inside) <= 1:
            out.title = _unescaped(value)
            out.add(out.title, BlockKind.HEADER)
        elif name in _EVENT and inside and inside[-1] in {"VEVENT", "VTODO", "VJOURNAL"}:
            if name in {"DTSTART", "DTEND", "DUE"}:
                start = start if start is not None or name != "DTSTART" else parse_date(_moment(value))
                value = _moment(value)
            elif name in {"ORGANIZER", "ATTENDEE"}:
                value = _person(parameters, value)
            lines.setdefault(name, []).append(_unescaped(value))
    if count == 1:
        out.date = start


def write_cards(text: str, out: TextBuilder) -> None:
    """Adds each person of an address book as a block."""
    lines: dict[str, list[str]] = {}
    count = 0
    for name, _, value in _properties(text):
        if name == "BEGIN":
            lines = {}
        elif name == "END":
            count += 1
            if "FN" not in lines and "N" in lines:
                lines["FN"] = lines["N"]
            shown = [f"{label}: {entry}" if label else entry for key, label in _CARD.items()
                     for entry in lines.get(key, []) if entry]
            out.add("\n".join(shown), part=one_line(" ".join(lines.get("FN", [])[:1]), 80))
            out.title = " ".join(lines.get("FN", [])[:1]) if count == 1 else ""
        elif name == "N":
            family, given, *more = [*(_unescaped(part) for part in _parts(value)), "", ""]
            lines.setdefault("N", []).append(" ".join(part for part in (given, *more, family) if part))
        elif name in _CARD:
            shown_value = ", ".join(part for piece in _parts(value) if (part := _unescaped(piece)))
            lines.setdefault(name, []).append(shown_value.removeprefix("tel:").removeprefix("mailto:"))


def _parts(value: str) -> list[str]:
    return re.split(r"(?<!\\);", value)


def _properties(text: str) -> Iterator[tuple[str, str, str]]:
    """Gives (name, parameters, value) of each unfolded line, quoted-printable resolved."""
    lines = re.sub(r"\n[ \t]", "", text).split("\n")
    at = 0
    while at < len(lines):
        match = _PROPERTY.match(lines[at])
        at += 1
        if not match:
            continue
        name, parameters, value = match[1].upper(), match[2], match[3]
        if "QUOTED-PRINTABLE" in parameters.upper():
            while value.endswith("=") and at < len(lines):
                value, at = value[:-1] + lines[at], at + 1
            value = _from_quoted_printable(value, parameters)
        yield name, parameters, value


def _from_quoted_printable(value: str, parameters: str) -> str:
    import quopri

    from sbert_desktop.extraction._encoding import decode

    charset = re.search(r"CHARSET=([\w-]{1,40})", parameters, re.IGNORECASE)
    raw = quopri.decodestring(value.encode("utf-8", "replace"))
    return normalise(decode(raw, charset[1] if charset else "")[0])


def _unescaped(value: str) -> str:
    return re.sub(r"\\([nN,;:\\])", lambda match: "\n" if match[1] in "nN" else match[1], value).strip()


def _moment(value: str) -> str:
    """Gives ``20240506T093000Z`` as ``2024-05-06 09:30``, with its zone if it has one."""
    match = _STAMP.match(value.strip())
    if not match:
        return value
    day = f"{match[1]}-{match[2]}-{match[3]}"
    zone = {"Z": "+00:00", None: ""}.get(match[7], match[7] or "")
    return f"{day} {match[4]}:{match[5]}{zone}" if match[4] else day


def _person(parameters: str, value: str) -> str:
    named = re.search(r"(?:^|;)CN=(?:\"([^\"]{1,200})\"|([^;:\"]{1,200}))", parameters, re.IGNORECASE)
    address = re.sub(r"^mailto:", "", value.strip(), flags=re.IGNORECASE)
    return f"{named[1] or named[2]} <{address}>" if named else address


_WRITERS: dict[str, Callable[[str, TextBuilder], None]] = {
    **dict.fromkeys(("json", "jsonl", "ndjson", "geojson", "jsonc", "json5", "webmanifest"), write_json),
    **dict.fromkeys(("yaml", "yml", "toml", "ini", "cfg", "conf", "env"), write_yaml),
    **dict.fromkeys(("properties", "strings"), write_properties),
    **dict.fromkeys(("ics", "ifb", "ical"), write_calendar),
    **dict.fromkeys(("vcf", "vcard"), write_cards),
}
