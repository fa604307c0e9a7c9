"""What a typed query means. Nothing that a person types is an error.

Words are searched by meaning and by words. ``"a phrase"`` must stand in the document, ``-word`` and ``-"a phrase"``
must not; ``type:pdf`` and the other fields of :mod:`._query_fields` narrow down, ``-type:pdf`` leaves out. What only
looks like one of these (``https://…``, ``10:30``, ``std::vector``, ``5" pipe``, ``-5``) is words, and a note says so
where a person may have meant a field. Reading is linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from sbert_desktop.domain import EMOJI, Filters, Parsed, Term, TermKind
from sbert_desktop.explore._query_fields import (
    ALIASES,
    UNSPLIT,
    Known,
    Reading,
    Unread,
    combine,
    contradictions,
    read_field,
)

LONGEST_TYPED = 4_000
"""Code points; a longer text was pasted: its quotes and signs are its own, only fields before and after it count."""

_NOTES = 5

# White space, control characters, marks of direction, lone surrogates: they part words and belong to none.
_GAP = (
    r"\s\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
)
_OPENERS = {'"': '"', "＂": '＂"', "“": '”"', "”": '”"', "„": '“”"', "‟": '”"', "«": "»", "»": "«»"}
_OPENERS |= {"「": "」", "『": "』"}
"""Opening quote to the signs of which the nearest closes it."""
_CLOSERS = {opener: re.compile(f"[{signs}]") for opener, signs in _OPENERS.items()}

_ALWAYS = "„「『"  # these never close and never stand for inches
_MAYBE = "".join(_OPENERS).translate({ord(ch): None for ch in _ALWAYS})
_MINUS = "-−－"
_COLON = ":："
# A quote opens a phrase after these (and at the beginning of a word), but not after a letter, a figure or a full stop:
# 5" is inches. Scripts without spaces write it anywhere.
_BEFORE = r"(\[{<=/,+'’‘*|~&;:：\-−－–—\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef"

_SPACE = re.compile(f"[{_GAP}]*+")
_GAPS = re.compile(f"[{_GAP}]+")
_RUN = re.compile(f"(?:[^{_GAP}{_MAYBE}{_ALWAYS}]|(?<![{_BEFORE}])[{_MAYBE}])++")
_PASTED_RUN = re.compile(f"[^{_GAP}]++")
_BARE_PART = re.compile(f"[^{_GAP},，]++")
_BARE_WHOLE = re.compile(f"(?:[^{_GAP},，]|[,，](?![{_GAP}{_MAYBE}{_ALWAYS}]|$))++")
_COMMAS = re.compile("[,，]++")
_FIELD = re.compile(rf"([^\W\d_]{{2,16}})[{_COLON}]")
_EMOJI = re.compile(f"[{EMOJI}]")
_TRAILING = ".;:!?)"
_PUNCTUATION = re.compile(r"(?:[;:!?)]|(?<!\.)\.(?!\.)){1,4}$")  # of the sentence around a field; 2023.. is a range
_NUMBER = re.compile(r"\d{1,3}(?:[.,]\d+)?(?:°?[CFK]?|%)[.,;:!?)]*")

# Names before a colon that are no attempt at a field.
_NO_FIELD_LIST = (
    "http https ftp ftps sftp ssh file mailto tel sms data urn doi isbn issn arxiv pmid hdl git svn re aw fw fwd wg sv "
    "vs tr ps nb cf localhost chapter section figure table note notes q a"
)
_NO_FIELDS = frozenset(_NO_FIELD_LIST.split())


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of the text from ``start`` on; ``term`` None: empty quotes.

    ``reading`` is what a field means, ``closer`` the sign that would close a quote left open.
    """

    start: int
    end: int
    term: Term | None
    reading: Reading | None = None
    closer: str = ""


def parse(text: str, *, now: float, types: Collection[str] = (), languages: Collection[str] = ()) -> Parsed:
    """Gives what a typed query means; any text is a query.

    Args:
        text: As typed.
        now: The present, seconds since the epoch; dates are days of the local time zone.
        types: Suffixes (lower case, no dot) that can be in the library; a note tells of others. Empty: not known.
        languages: Codes of the languages in the library, likewise.
    """
    known = Known(now, frozenset(types), frozenset(languages))
    notes: list[str] = []
    pasted = len(text) > LONGEST_TYPED
    pieces = list(_scan(text, known, notes, pasted=pasted))
    if pasted:
        notes = [f"A text of {len(text):,} characters is searched as it is: quotes, signs and fields in it are words."]
        pieces = _outer_fields(text, pieces)
    if not any(piece.term for piece in pieces) and text and not text.isspace():
        notes.append("The query holds nothing to look for: these are the newest documents.")
    return _gather(pieces, notes)


def without_term(text: str, term: Term) -> str:
    """Gives the text without one of its terms; the others keep their meaning."""
    left, right = text[: term.start], text[term.end :]
    if left and right and not _GAPS.match(left[-1]) and not _GAPS.match(right[0]):
        return f"{left} {right}"
    if right[:1].isspace() and (not left or left[-1].isspace()):
        return left + right[1:]
    return left.rstrip() if not right else left + right


def with_field(text: str, field: str, value: str) -> str:
    """Gives the text with one field more, quoted as needed; ``-type`` leaves out. Twice the same is once.

    Args:
        text: A query as typed.
        field: The name of a field, ``-`` before it to leave out.
        value: Its value; a blank one changes nothing.
    """
    value = _clean(value)
    if not value:
        return text
    name, excluded = field.lstrip("-"), field.startswith("-")
    pieces = list(_scan(text, Known(0.0), [], pasted=len(text) > LONGEST_TYPED))
    wanted = (ALIASES.get(name, name), value, excluded)
    if any((p.term.field, p.term.value, p.term.excluded) == wanted for p in pieces if p.term is not None):
        return text
    if pieces and (closer := pieces[-1].closer):
        last = pieces[-1]
        text = text[: last.start] if last.term is None else text[: last.end] + closer
    before = text.rstrip()
    return f"{before}{' ' if before else ''}{'-' if excluded else ''}{name}:{_quote(value)}"


def _quote(value: str) -> str:
    plain = _BARE_PART.fullmatch(value) and value[0] not in _OPENERS and value[0] not in _COLON
    if plain and not value.startswith("//") and value[-1] not in _TRAILING:
        return value
    for opener, closer in (('"', '"'), ("“", "”"), ("«", "»"), ("「", "」")):
        if not _CLOSERS[opener].search(value):
            return f"{opener}{value}{closer}"
    return '"' + value.replace('"', "'") + '"'


def _scan(text: str, known: Known, notes: list[str], *, pasted: bool) -> Iterator[_Piece]:
    """Gives the pieces of a text in their order; each sign is looked at a fixed number of times."""
    at = 0
    while True:
        at = _end(_SPACE, text, at)
        if at == len(text):
            return
        signed = text[at] in _MINUS and at + 1 < len(text) and text[at + 1] not in _MINUS
        body = at + 1 if signed and not _GAPS.match(text, at + 1) else at
        piece = _field(text, at, body, known, notes)
        if piece is None and not pasted and text[body] in _OPENERS:
            piece = _phrase(text, at, body, notes)
        if piece is None:
            piece = _word(text, at, body, notes, pasted=pasted)
        yield piece
        at = piece.end


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _word(text: str, at: int, body: int, notes: list[str], *, pasted: bool) -> _Piece:
    end = _end(_PASTED_RUN if pasted else _RUN, text, body)
    _tell_of_no_field(text, body, notes)
    content = text[body:end]
    if body > at and not pasted and _names_something(content):
        return _Piece(at, end, Term(at, end, TermKind.WORD, _clean(content), excluded=True))
    return _Piece(at, end, Term(at, end, TermKind.WORD, _clean(text[at:end])))


def _names_something(content: str) -> bool:
    """Tells an excluded word from a negative number, an arrow, a switch of one letter or a dash."""
    if content[0] in ">=<|/" or (content.isascii() and len(content) == 1) or _NUMBER.fullmatch(content):
        return False
    return _says_something(content)


def _says_something(content: str) -> bool:
    return any(ch.isalnum() for ch in content) or _EMOJI.search(content) is not None


def _tell_of_no_field(text: str, body: int, notes: list[str]) -> None:
    """Notes what looks like a field and is none; not what has a colon for a reason of its own."""
    match = _FIELD.match(text, body)
    if match is None:
        return
    name, rest = match[1].casefold(), text[match.end() : match.end() + 2]
    empty = not rest or _GAPS.match(rest) is not None
    if name in ALIASES and match[1] == name and (empty or rest[0] in ",，" or rest[0] in _OPENERS):
        notes.append(f"“{name}:” stands alone, so it was searched as a word; write its value right behind the colon.")
    elif name not in ALIASES and not empty:
        plain = rest[0] in _COLON or rest == "//" or match[1].isupper() or name in _NO_FIELDS
        if not plain:
            notes.append(f"“{match[1]}:” is not a field, so it was searched as words.")


def _phrase(text: str, at: int, body: int, notes: list[str]) -> _Piece:
    content, end, closer = _quoted(text, body)
    value = _clean(content)
    if not value:
        return _Piece(at, end, None, closer=closer)
    if not _says_something(value):  # signs alone are no phrase that could be looked up, or left out
        if body > at:
            return _Piece(at, end, None, closer=closer)
        return _Piece(at, end, Term(at, end, TermKind.WORD, value), closer=closer)
    if closer:
        notes.append("A quotation mark was not closed: all that follows it is one phrase.")
    return _Piece(at, end, Term(at, end, TermKind.PHRASE, value, excluded=body > at), closer=closer)


def _quoted(text: str, at: int) -> tuple[str, int, str]:
    """Gives what stands in quotes from ``at`` on, where they end, and what would close them if nothing does."""
    match = _CLOSERS[text[at]].search(text, at + 1)
    if match is not None:
        return text[at + 1 : match.start()], match.end(), ""
    end = len(text)
    while end > at + 1 and _GAPS.match(text, end - 1):
        end -= 1
    return text[at + 1 : end], end, _OPENERS[text[at]][0]


def _field(text: str, at: int, body: int, known: Known, notes: list[str]) -> _Piece | None:
    """Gives a field, or the words that it is searched as when its value cannot be read; None: no field is there."""
    match = _FIELD.match(text, body)
    field = ALIASES.get(match[1].casefold()) if match else None
    if match is None or field is None:
        return None
    start = match.end()
    if start == len(text) or text[start] in _COLON or text.startswith("//", start):
        return None
    values, end, closer = _values(text, start, field)
    if not values:
        return None
    reading = read_field(field, values, known)
    if isinstance(reading, Unread) and field in UNSPLIT:
        parts = [part for value in values for part in _COMMAS.split(value) if part]
        again = read_field(field, parts, known) if len(parts) > len(values) else reading
        reading = reading if isinstance(again, Unread) else again
    excluded, value = body > at, ",".join(values)
    if isinstance(reading, Unread):
        notes.append(f"{reading.reason}. It was searched as words.")
        kind = TermKind.PHRASE if excluded and " " in value else TermKind.WORD
        return _Piece(at, end, Term(at, end, kind, f"{match[1]}:{value}", excluded=excluded), closer=closer)
    return _Piece(at, end, Term(at, end, TermKind.FIELD, value, field, excluded), reading, closer)


def _values(text: str, at: int, field: str) -> tuple[list[str], int, str]:
    """Gives the values from ``at`` on, where they end, and what would close the last one."""
    bare = _BARE_WHOLE if field in UNSPLIT else _BARE_PART
    strict = field in UNSPLIT or field in ("type", "lang", "has")
    values: list[str] = []
    closer = ""
    while at < len(text) and not _GAPS.match(text, at) and not closer:
        if text[at] in _OPENERS:
            content, at, closer = _quoted(text, at)
        else:
            end = _end(bare, text, at)
            content, at = _PUNCTUATION.sub("", text[at:end]) if strict else text[at:end], end
        if value := _clean(content):
            values.append(value)
        after = _end(_COMMAS, text, at)
        if after == at:
            break
        at = after
    return values, at, closer


def _clean(content: str) -> str:
    """Gives a value on one line, in the form of Unicode that stored texts have."""
    line = " ".join(_GAPS.sub(" ", content).split())
    return line if line.isascii() else unicodedata.normalize("NFC", line)


def _outer_fields(text: str, pieces: list[_Piece]) -> list[_Piece]:
    """Turns fields inside a pasted text into words; those before and after it stay."""
    first = next((i for i, piece in enumerate(pieces) if piece.reading is None), len(pieces))
    last = next((i for i in range(len(pieces) - 1, -1, -1) if pieces[i].reading is None), -1)
    for i in range(first, last + 1):
        piece = pieces[i]
        if piece.reading is not None:
            term = Term(piece.start, piece.end, TermKind.WORD, _clean(text[piece.start : piece.end]))
            pieces[i] = _Piece(piece.start, piece.end, term)
    return pieces


def _gather(pieces: list[_Piece], notes: list[str]) -> Parsed:
    words: list[str] = []
    found: dict[tuple[TermKind, bool], list[str]] = {}
    filters = Filters()
    last: Term | None = None
    for piece in pieces:
        term = piece.term
        if term is None:
            continue
        if piece.reading is not None:
            filters = combine(filters, piece.reading, excluded=term.excluded)
            notes += piece.reading.notes
            continue
        found.setdefault((term.kind, term.excluded), []).append(term.value)
        if not term.excluded:
            # A question mark right behind a phrase belongs to it; two words never grow together.
            both = bool(words) and words[-1][-1].isalnum() and term.value[0].isalnum()
            joined = last is None or (last.end == term.start and not both)
            words += [term.value] if joined else [" ", term.value]
            last = term
    notes += contradictions(filters)
    excluded_words = _once(found.get((TermKind.WORD, True), ()))
    excluded_phrases = _once(found.get((TermKind.PHRASE, True), ()))
    if not words and (excluded_words or excluded_phrases):
        notes.append("The query says only what is not wanted: these are the newest documents without it.")
    notes = list(_once(notes))
    if len(notes) > _NOTES:
        notes = [*notes[:_NOTES], f"{len(notes) - _NOTES} more parts of the query were taken otherwise than they look."]
    return Parsed(
        words="".join(words),
        phrases=_once(found.get((TermKind.PHRASE, False), ())),
        excluded_words=excluded_words,
        excluded_phrases=excluded_phrases,
        filters=filters,
        notes=tuple(notes),
        terms=tuple(piece.term for piece in pieces if piece.term is not None),
    )


def _once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
