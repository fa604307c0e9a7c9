"""The fields of the query language: their names, and what their values mean as filters.

A value is read into alternatives: the document passes when it passes one of them. What cannot be read is no error: a
:class:`Unread` says why, and the caller searches it as words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from sbert_desktop.domain import Filters
from sbert_desktop.explore._query_dates import Period, read_period

ALIASES = {
    alias: field
    for field, aliases in {
        "type": "type types ext extension kind filetype",
        "folder": "folder folders path dir directory",
        "after": "after since newer",
        "before": "before older",
        "until": "until",
        "date": "date",
        "size": "size",
        "lang": "lang language",
        "name": "name filename file",
        "from": "from sender",
        "to": "to recipient",
        "subject": "subject",
        "has": "has",
        "in": "in collection",
    }.items()
    for alias in aliases.split()
}
"""Names of fields as typed, lower case, to the field."""

UNSPLIT = frozenset({"size", "date", "after", "before", "until"})
"""Fields whose values may hold a comma themselves (``1,5mb``, ``May 31, 2023``)."""

_MOST_BYTES = 2**62
_MOST_VALUES = 100
_Limit = TypeVar("_Limit", int, float)

# What people call kinds of files, beside the suffixes themselves.
_GROUPS = {
    "pdf pdfs": "pdf",
    "mail mails email emails e-mail message messages": "eml emlx msg oft mbox mbx",
    "image images picture pictures photo photos": "png jpg jpeg jpe jfif tif tiff webp bmp gif heic heif svg",
    "sheet sheets spreadsheet spreadsheets excel": "xlsx xlsm xltx xltm xls xlt xlsb ods ots fods sxc csv tsv",
    "slides slide presentation presentations powerpoint": "pptx pptm ppsx ppsm potx potm ppt pps odp otp fodp sxi key",
    "word document documents": "docx docm dotx dotm doc odt ott fodt sxw rtf wps wpd pages",
    "text texts note notes": "txt text md markdown mdown mkd org rst adoc asciidoc",
    "web webpage html htm": "html htm xhtml xht shtml mht mhtml",
    "book books ebook ebooks": "epub fb2",
    "table tables": "csv tsv tab",
    "archive archives": "zip tar tgz tbz tbz2 txz tlz tzst gz bz2 xz lzma zst 7z rar",
    "code source": "py pyi js mjs cjs jsx ts tsx java kt kts scala groovy c h cc cpp cxx hh hpp hxx cs fs vb m mm "
    "swift go rs rb php pl pm lua r jl hs ml clj lisp el erl ex exs dart zig pas f f90 asm sql sh bash zsh bat ps1 css "
    "scss sass less vue svelte",
    "notebook notebooks": "ipynb",
    "subtitles subtitle transcript transcripts": "srt vtt sbv ass ssa sub lrc",
    "calendar": "ics ical",
    "contact contacts": "vcf vcard",
    # suffixes that mean the same
    "jpg jpeg": "jpg jpeg jpe jfif",
    "tif tiff": "tif tiff",
    "md markdown": "md markdown mdown mkd",
    "yml yaml": "yml yaml",
    "heic heif": "heic heif",
}
KINDS = {name: tuple(suffixes.split()) for names, suffixes in _GROUPS.items() for name in names.split()}

# ISO 639-1. Source: the languages that py3langid 0.3 tells apart.
_CODE_LIST = (
    "af am an ar as az be bg bn br bs ca cs cy da de dz el en eo es et eu fa fi fo fr ga gl gu he hi hr ht hu hy "
    "id is it ja jv ka kk km kn ko ku ky la lb lo lt lv mg mk ml mn mr ms mt nb ne nl nn no oc or pa pl ps pt qu "
    "ro ru rw se si sk sl sq sr sv sw ta te th tl tr ug uk ur vi vo wa xh zh zu"
)
_CODES = frozenset(_CODE_LIST.split())
_LANGUAGES = {
    name: code
    for code, names in {
        "ar": "arabic ara", "bg": "bulgarian", "ca": "catalan", "cs": "czech ces cze", "cy": "welsh",
        "da": "danish dansk dan", "de": "german deutsch deu ger", "el": "greek", "en": "english eng",
        "es": "spanish español espanol spa", "et": "estonian", "eu": "basque", "fa": "persian farsi",
        "fi": "finnish suomi fin", "fr": "french français francais fra fre", "ga": "irish", "he": "hebrew iw heb",
        "hi": "hindi hin", "hr": "croatian", "hu": "hungarian magyar", "hy": "armenian", "id": "indonesian",
        "is": "icelandic", "it": "italian italiano ita", "ja": "japanese jpn jp", "ko": "korean kor",
        "la": "latin lat", "lt": "lithuanian", "lv": "latvian", "nl": "dutch nederlands nld dut",
        "no": "norwegian norsk nor", "pl": "polish polski pol", "pt": "portuguese português portugues por",
        "ro": "romanian", "ru": "russian rus русский", "sk": "slovak", "sl": "slovenian", "sr": "serbian",
        "sv": "swedish svenska swe", "th": "thai", "tr": "turkish türkçe turkce tur", "uk": "ukrainian",
        "vi": "vietnamese", "zh": "chinese zho chi cn 中文",
    }.items()
    for name in names.split()
}  # fmt: skip

_SUFFIX = re.compile(r"[\w+#-]{1,16}")
_SIZE = re.compile(r"(\d{1,18}(?:[.,]\d{1,9})?) ?(?:([kmgt]?)(i?)(?:b|bytes?)?)?")
_FACTORS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_COMPARISON = re.compile(r"(>=|=>|<=|=<|>|<|≥|≤|=)? ?(.*)", re.DOTALL)
_RANGE = re.compile(r"\.\.\.?|…")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the library: types and languages that exist; empty: not known. ``now``: the present."""

    now: float
    types: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reading:
    """Alternatives of which one must hold, and what to say about them."""

    alternatives: tuple[Filters, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a value could not be read: a plain sentence without its end."""

    reason: str


def read_field(field: str, values: Sequence[str], known: Known) -> Reading | Unread:
    """Gives what the values of a field mean.

    Args:
        field: A value of :data:`ALIASES`.
        values: Values without quotes, none empty.
        known: Of the library and the present.
    """
    if len(values) > _MOST_VALUES:
        return Unread(f"{len(values):,} values are too many for “{field}:”, {_MOST_VALUES} are the most")
    if field == "type":
        return _types(values, known.types)
    if field == "lang":
        return _languages(values, known.languages)
    if field == "size":
        return _sizes([_narrow(value) for value in values])
    if field in ("after", "before", "until", "date"):
        return _dates(field, [_narrow(value) for value in values], known.now)
    if field == "has":
        return _has(values)
    return _texts(field, values, known.now)


def combine(filters: Filters, reading: Reading, *, excluded: bool) -> Filters:
    """Narrows filters by one more reading; several types, folders, languages, collections widen each other."""
    options = reading.alternatives
    if excluded:
        return replace(filters, without=filters.without + options)
    if len(options) > 1:
        # One of several must pass: leave out what passes none of them.
        return replace(filters, without=(*filters.without, Filters(without=options)))
    one = options[0]
    return replace(
        filters,
        types=_union(filters.types, one.types),
        folders=_union(filters.folders, one.folders),
        languages=_union(filters.languages, one.languages),
        collections=_union(filters.collections, one.collections),
        names=_union(filters.names, one.names),
        senders=_union(filters.senders, one.senders),
        recipients=_union(filters.recipients, one.recipients),
        subjects=_union(filters.subjects, one.subjects),
        attachments=filters.attachments if one.attachments is None else one.attachments,
        after=_larger(filters.after, one.after),
        before=_smaller(filters.before, one.before),
        size_from=_larger(filters.size_from, one.size_from),
        size_to=_smaller(filters.size_to, one.size_to),
    )


def contradictions(filters: Filters) -> list[str]:
    """Gives sentences for limits that leave nothing."""
    found = []
    if filters.after is not None and filters.before is not None and filters.after >= filters.before:
        found.append("No day lies within all of these dates, so nothing can be found.")
    if filters.size_from is not None and filters.size_to is not None and filters.size_from >= filters.size_to:
        found.append("No size lies within all of these limits, so nothing can be found.")
    return found


def _union(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(old + new))


def _larger(old: _Limit | None, new: _Limit | None) -> _Limit | None:
    return new if old is None else old if new is None else max(old, new)


def _smaller(old: _Limit | None, new: _Limit | None) -> _Limit | None:
    return new if old is None else old if new is None else min(old, new)


def _types(values: Sequence[str], known: frozenset[str]) -> Reading | Unread:
    found: list[str] = []
    notes: list[str] = []
    for value in values:
        name = value.casefold().lstrip("*").lstrip(".")
        if not _SUFFIX.fullmatch(name):
            return Unread(f"“{_shown(value)}” is no type of file")
        meant = KINDS.get(name, (name,))
        found += meant
        if known and known.isdisjoint(meant):
            notes.append(f"No document in the library is of the type “{name}”.")
    return Reading((Filters(types=tuple(dict.fromkeys(found))),), tuple(notes))


def _languages(values: Sequence[str], known: frozenset[str]) -> Reading | Unread:
    found: list[str] = []
    notes: list[str] = []
    for value in values:
        name = value.casefold()
        code = _LANGUAGES.get(name) or re.split(r"[-_]", name)[0]
        if code not in _CODES:
            return Unread(f"“{_shown(value)}” is no language; write a code such as en or de")
        found += ("no", "nb", "nn") if code == "no" else (code,)
        if known and code not in known:
            notes.append(f"No document in the library is in the language “{_shown(value)}”.")
    return Reading((Filters(languages=tuple(dict.fromkeys(found))),), tuple(notes))


def _has(values: Sequence[str]) -> Reading | Unread:
    for value in values:
        if value.casefold() not in ("attachment", "attachments"):
            return Unread(f"“has:{_shown(value)}” is not known, only has:attachment")
    return Reading((Filters(attachments=True),))


def _texts(field: str, values: Sequence[str], now: float) -> Reading:
    if field == "folder":
        cleaned = [value.rstrip("/\\") or value for value in values]
        return Reading((Filters(folders=tuple(cleaned)),))
    if field == "in":
        return Reading((Filters(collections=tuple(values)),))
    if field == "name":
        values = [value.strip("*") or value for value in values]
        return Reading(tuple(Filters(names=(value,)) for value in values))
    notes: tuple[str, ...] = ()
    if field in ("from", "to") and any(value[:1].isdecimal() and read_period(value, now) for value in values):
        instead = "after" if field == "from" else "until"
        notes = (f"“{field}:” looks at the names in a mail; for a date write {instead}:{_shown(values[0])}.",)
    if field == "from":
        return Reading(tuple(Filters(senders=(value,)) for value in values), notes)
    if field == "to":
        return Reading(tuple(Filters(recipients=(value,)) for value in values), notes)
    return Reading(tuple(Filters(subjects=(value,)) for value in values))


def _narrow(value: str) -> str:
    """Gives a value with the plain figures and signs for which East Asian keyboards write wide ones."""
    return value if value.isascii() else unicodedata.normalize("NFKC", value)


def _shown(value: str) -> str:
    return value if len(value) <= 40 else f"{value[:39]}…"


def _sizes(values: Sequence[str]) -> Reading | Unread:
    options = []
    for value in values:
        limits = _size_limits(value.lower())
        if limits is None:
            return Unread(f"“{_shown(value)}” is no size; write >1mb, <=200kb or 1mb..5mb")
        options.append(Filters(size_from=limits[0], size_to=limits[1]))
    notes = [f"“{_shown(value)}” is read as bytes; write a unit, as in >1mb." for value in values if _lacks_unit(value)]
    return Reading(tuple(options), tuple(notes))


def _lacks_unit(text: str) -> bool:
    """Tells a small size without a unit, of which the unit may stand behind a space (``size:>1 mb``)."""
    return not any(ch.isalpha() for ch in text) and 0 < max(map(int, re.findall(r"\d{1,18}", text)), default=0) < 1000


def _size_limits(text: str) -> tuple[int | None, int | None] | None:
    """Gives the limits ``[from, to)`` in bytes; a bare size is the least."""
    ends = _RANGE.split(text)
    if len(ends) == 2 and any(end.strip() for end in ends):
        low, high = (_bytes(end) if end.strip() else None for end in ends)
        if (ends[0].strip() and low is None) or (ends[1].strip() and high is None):
            return None
        return low, None if high is None else high + 1
    comparison = _COMPARISON.fullmatch(text)
    size = _bytes(comparison[2]) if comparison else None
    if comparison is None or size is None:
        return None
    sign = comparison[1] or ("=" if size == 0 else ">=")
    if sign == ">":
        return size + 1, None
    if sign == "<":
        return None, size
    if sign in ("<=", "=<", "≤"):
        return None, size + 1
    return (size, size + 1) if sign == "=" else (size, None)


def _bytes(text: str) -> int | None:
    match = _SIZE.fullmatch(text.strip())
    if match is None or not text.isascii():
        return None
    factor: int = (1024 if match[3] else 1000) ** _FACTORS[match[2] or ""]
    size: int = round(float(match[1].replace(",", ".")) * factor)
    return min(_MOST_BYTES, size)


def _dates(field: str, values: Sequence[str], now: float) -> Reading | Unread:
    options: list[Filters] = []
    notes: list[str] = []
    for value in values:
        period = _within(value, now) if field == "date" else read_period(value, now)
        if period is None:
            return Unread(f"“{_shown(value)}” is no date; write 2023, 2023-05, 2023-05-31, yesterday or \"last week\"")
        if period.note:
            notes.append(period.note)
        start, end = {
            "after": (period.start, None),
            "before": (None, period.start),
            "until": (None, period.end),
            "date": (period.start, period.end),
        }[field]
        options.append(Filters(after=start, before=end))
    return Reading(tuple(options), tuple(notes))


def _within(text: str, now: float) -> Period | None:
    """Gives a period, a range of two (``2021..2023``, both included) or one with a comparison (``>=2023``)."""
    ends = _RANGE.split(text)
    if len(ends) == 2 and any(end.strip() for end in ends):
        first, last = (read_period(end, now) if end.strip() else None for end in ends)
        if (ends[0].strip() and first is None) or (ends[1].strip() and last is None):
            return None
        return Period(first.start if first else None, last.end if last else None)
    comparison = _COMPARISON.fullmatch(text)
    period = read_period(comparison[2], now) if comparison else None
    if comparison is None or period is None:
        return None
    sign = comparison[1] or ""
    if sign.startswith(">") or sign in ("≥", "=>"):
        return Period(period.end if sign == ">" else period.start, None, period.note)
    if sign in ("<", "<=", "=<", "≤"):
        return Period(None, period.start if sign == "<" else period.end, period.note)
    return period
