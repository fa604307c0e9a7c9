"""Numbers, sizes and times as the window says them."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence


def count(number: int) -> str:
    """Gives a number with separators: ``1,240``."""
    return f"{number:,}"


def counted(number: int, one: str, many: str = "") -> str:
    """Gives ``1 file`` or ``1,240 files``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: float) -> str:
    """Gives bytes as kB, MB or GB (powers of 1000, as file managers do)."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= factor:
            value = number / factor
            return f"{value:.1f} {unit}" if value < 10 and unit != "kB" else f"{value:,.0f} {unit}"
    return counted(int(number), "byte")


def duration(seconds: float) -> str:
    """Gives a duration in the largest unit that makes sense: ``40 s``, ``4 min``, ``2 h``."""
    if seconds < 1:
        return "under 1 s"
    if seconds < 60:
        return f"{math.ceil(seconds)} s"
    if seconds < 5400:
        return f"{math.ceil(seconds / 60)} min"
    if seconds < 36 * 3600:
        return f"{round(seconds / 3600)} h"
    return counted(round(seconds / 86_400), "day")


def left(seconds: float | None) -> str:
    """Gives ``about 4 min left``; "" while it is not known."""
    if seconds is None:
        return ""
    if seconds < 60:
        return "less than 1 min left"
    return f"about {duration(seconds)} left"


def between(low: float, high: float) -> str:
    """Gives a range of durations: ``2 to 4 min``, or one where both ends sound the same."""
    first, last = duration(low), duration(high)
    if first == last:
        return f"about {last}" if not last.startswith("under") else last
    number, _, unit = first.partition(" ")
    return f"{number} to {last}" if last.endswith(f" {unit}") else f"{first} to {last}"


def sizes_between(low: float, high: float) -> str:
    """Gives a range of sizes: ``118 to 174 MB``."""
    first, last = size(low), size(high)
    if first == last:
        return f"about {last}"
    number, _, unit = first.rpartition(" ")
    return f"{number} to {last}" if last.endswith(f" {unit}") else f"{first} to {last}"


def ago(when: float, now: float | None = None) -> str:
    """Gives how long ago a moment was: ``just now``, ``2 min ago``, or its date."""
    now = time.time() if now is None else now
    passed = now - when
    if passed < 60:
        return "just now"
    if passed < 5400:
        return f"{round(passed / 60)} min ago"
    if passed < 36 * 3600:
        return f"{round(passed / 3600)} h ago"
    return day(when)


def day(when: float) -> str:
    """Gives a date as ``14 Mar 2023``; "" for a moment that no calendar holds."""
    try:
        moment = time.localtime(when)
    except (OverflowError, ValueError, OSError):
        return ""
    month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[moment.tm_mon - 1]
    return f"{moment.tm_mday} {month} {moment.tm_year}"


def listed(names: Sequence[str]) -> str:
    """Gives ``a``, ``a and b`` or ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
