"""Days and periods as people write them, in the local time zone.

Every reading gives a half-open period ``[start, end)`` in seconds since the epoch: ``2023`` is the whole
year, ``today`` the whole day. Nothing here raises on any text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONG_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORT_DAYS = {"tues": "tue", "thur": "thu", "thurs": "thu"}
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_UNITS = {"d": "day", "w": "week", "m": "month", "y": "year"}

_YEAR = re.compile(r"\d{4}")
_ISO_MONTH = re.compile(r"(\d{4})[-/.](\d{1,2})")
_ISO_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_COMPACT_DAY = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)")
_DOTTED_DAY = re.compile(r"(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})")
_DASHED_DAY = re.compile(r"(\d{1,2})-(\d{1,2})-(\d{4})")
_SLASHED_DAY = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_LATE_MONTH = re.compile(r"(\d{1,2})[./-](\d{4})")
_NAMED = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th|\.)? )?([a-z]{3,9})\.?(?: (\d{1,2})(?:st|nd|rd|th)?(?![\d]))?,?(?: (\d{4}))?"
)
_AGO = re.compile(r"(\d{1,5}|[a-z]{1,5}) ?(d|w|m|y|days?|weeks?|months?|years?) ?(?:ago)?")
_LAST_FEW = re.compile(r"(?:last|past|previous) (\d{1,5}|[a-z]{2,5}) (days?|weeks?|months?|years?)")
_THIS = re.compile(r"(this|last|past|previous) (week|month|year)")
_WHICH = re.compile(r"(this|last|past|previous) ([a-z]{3,9})")


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time ``[start, end)``, seconds since the epoch; ``note`` says how it was read if that is not plain.

    None is no limit: the calendar ends before or after it.
    """

    start: float | None
    end: float | None
    note: str = ""


def read_period(text: str, now: float) -> Period | None:
    """Gives the period that a text names, None when it names none (``2023-13-45``, ``soon``).

    Args:
        text: A day, month, year or a word such as ``last week`` (also ``last-week``, ``last_week``).
        now: The present, seconds since the epoch.
    """
    if len(text) > 40 or not text.isascii():
        return None
    words = " ".join(re.sub(r"(?<=[a-z])[-_]|[-_](?=[a-z])", " ", text.lower()).split())
    try:
        today = datetime.fromtimestamp(now).date()
        return _relative(words, today) or _calendar(words) or _named(words, today)
    except (ValueError, OverflowError, OSError):
        return None


def _calendar(words: str) -> Period | None:
    """Gives a period written in figures; raises ValueError for a day that no calendar has."""
    if _YEAR.fullmatch(words):
        return _year(int(words))
    for pattern in (_ISO_DAY, _COMPACT_DAY):
        if match := pattern.fullmatch(words):
            year, month, day = (int(part) for part in match.groups())
            return _days(date(year, month, day), 1)
    for pattern in (_DOTTED_DAY, _DASHED_DAY):
        if match := pattern.fullmatch(words):
            day, month, year = (int(part) for part in match.groups())
            return _days(date(year, month, day), 1)
    if match := _SLASHED_DAY.fullmatch(words):
        first, second, year = (int(part) for part in match.groups())
        if second > 12:  # 5/31/2023 can only be American
            return _days(date(year, first, second), 1)
        found = date(year, second, first)
        sure = first > 12 or first == second
        note = "" if sure else f"{words} was read as {first} {_LONG_MONTHS[second - 1].title()} {year}."
        return _days(found, 1, note)
    if match := _ISO_MONTH.fullmatch(words):
        return _month(int(match[1]), int(match[2]))
    if match := _LATE_MONTH.fullmatch(words):
        return _month(int(match[2]), int(match[1]))
    return None


def _relative(words: str, today: date) -> Period | None:
    near = {"today": 0, "yesterday": 1, "tomorrow": -1}
    if words in near:
        return _days(today - timedelta(days=near[words]), 1)
    if match := _THIS.fullmatch(words):
        return _unit(today, match[2], 0 if match[1] == "this" else 1)
    if match := _LAST_FEW.fullmatch(words):
        count = _count(match[1])
        begin = _back(today, match[2].rstrip("s"), count) if count else None
        return None if begin is None else Period(_seconds(begin), _seconds(today + timedelta(days=1)))
    if (match := _AGO.fullmatch(words)) and ("ago" in words or match[1].isdecimal()):
        count = _count(match[1])
        unit = _UNITS.get(match[2], match[2].rstrip("s"))
        return None if count is None else _days(_back(today, unit, count), 1)
    return None


def _named(words: str, today: date) -> Period | None:
    """Gives a weekday or a month by its English name; without a year, the one that has begun last.

    ``last`` before it is the one before today, or before this month; ``this`` the one of this week or year.
    """
    if match := _WHICH.fullmatch(words):
        return _which(match[2], today, this=match[1] == "this")
    day_of_week = _weekday(words)
    if day_of_week is not None:
        return _days(today - timedelta(days=(today.weekday() - day_of_week) % 7), 1)
    match = _NAMED.fullmatch(words)
    if not match or (match[1] and match[3]):
        return None
    month = _month_named(match[2])
    if month is None:
        return None
    day = int(match[1] or match[3] or 0)
    year = int(match[4]) if match[4] else today.year
    if not match[4] and (month, day or 1) > (today.month, today.day):
        year -= 1
    return _days(date(year, month, day), 1) if day else _month(year, month)


def _which(name: str, today: date, *, this: bool) -> Period | None:
    day, month = _weekday(name), _month_named(name)
    if day is not None:
        back = today.weekday() - day if this else (today.weekday() - day - 1) % 7 + 1
        return _days(today - timedelta(days=back), 1)
    if month is not None:
        return _month(today.year if this or month < today.month else today.year - 1, month)
    return None


def _weekday(name: str) -> int | None:
    name = _SHORT_DAYS.get(name, name)
    return next((number for number, day in enumerate(_DAYS) if name in (day, day[:3])), None)


def _month_named(name: str) -> int | None:
    """Gives a month's number, from 1, by its name or the first letters of it."""
    name = "sep" if name == "sept" else name
    return next((n + 1 for n in range(12) if name in (_MONTHS[n], _LONG_MONTHS[n])), None)


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() else _COUNTS.get(text)


def _unit(today: date, unit: str, back: int) -> Period:
    """Gives the week (from Monday), month or year that is so many back."""
    if unit == "week":
        return _days(today - timedelta(days=today.weekday() + 7 * back), 7)
    if unit == "year":
        return _year(today.year - back)
    index = today.year * 12 + today.month - 1 - back
    return _month(index // 12, index % 12 + 1)


def _back(today: date, unit: str, count: int) -> date:
    if unit in ("day", "week"):
        return today - timedelta(days=count * (7 if unit == "week" else 1))
    index = today.year * 12 + today.month - 1 - count * (12 if unit == "year" else 1)
    year, month = index // 12, index % 12 + 1
    last = (_month_after(year, month) - timedelta(days=1)).day
    return date(year, month, min(today.day, last))


def _month_after(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1)


def _days(first: date, count: int, note: str = "") -> Period:
    try:
        end: float | None = _seconds(first + timedelta(days=count))
    except OverflowError:
        end = None
    return Period(_seconds(first), end, note)


def _month(year: int, month: int) -> Period:
    first = date(year, month, 1)
    return Period(_seconds(first), None if (year, month) == (9999, 12) else _seconds(_month_after(year, month)))


def _year(year: int) -> Period:
    return Period(_seconds(date(year, 1, 1)), None if year == 9999 else _seconds(date(year + 1, 1, 1)))


def _seconds(day: date) -> float:
    """Gives local midnight; where the system does not know the zone of such a time, that of Greenwich."""
    midnight = datetime(day.year, day.month, day.day)
    try:
        return midnight.timestamp()
    except (OverflowError, OSError, ValueError):
        return (midnight - datetime(1970, 1, 1)).total_seconds()
