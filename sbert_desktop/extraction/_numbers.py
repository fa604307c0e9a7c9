"""Numbers of spreadsheets as the cell shows them: decimals, thousands, per cent, currency; dates in ISO form."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache

# Source: ECMA-376 part 1, 18.8.30: the formats that a file uses without naming them.
BUILT_IN = {0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
            14: "d/m/yy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm",
            21: "h:mm:ss", 22: "d/m/yy h:mm", 37: "#,##0", 38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 45: "mm:ss",
            46: "[h]:mm:ss", 47: "mm:ss", 48: "0.0E+0", 49: "@",
            **dict.fromkeys((27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58), "yyyy/m/d"),
            32: "h:mm", 33: "h:mm:ss"}
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]')
_DIGITS = re.compile(r"[#0?][#0?,. ]*")
_EXPONENT = re.compile(r"E[+-][0#]+", re.IGNORECASE)


@lru_cache(maxsize=4096)
def _sections(code: str) -> tuple[str, ...]:
    parts, current, quoted = [], "", False
    for char in code[:255]:
        quoted ^= char == '"'
        if char == ";" and not quoted:
            parts.append(current)
            current = ""
        else:
            current += char
    return (*parts, current)


@lru_cache(maxsize=4096)
def _bare(section: str) -> str:
    """Gives a section without its literal text, in lower case."""
    return _LITERAL.sub("", section).lower()


def is_date(code: str) -> bool:
    """Tells whether a format shows a moment or a duration."""
    first = _sections(code)[0]
    bare = _bare(first)
    if "general" in bare or "@" in bare:
        return False
    return bool(re.search(r"[ymdhs]", bare)) or bool(re.search(r"\[(?:h+|m+|s+)\]", first.lower()))


def show(value: float, code: str, *, from_1904: bool = False) -> str:
    """Gives a number as a cell with this format shows it.

    Args:
        value: The stored number; for dates, days since the file's own beginning.
        code: The format's code.
        from_1904: The file counts its days from 1904 on.
    """
    if is_date(code):
        return _moment(value, code, 1462 if from_1904 else 0) or general(value)
    sections = _sections(code)
    section = sections[1] if value < 0 and len(sections) > 1 else sections[0]
    if value == 0 and len(sections) > 2:
        section = sections[2]
    return _number(abs(value) if section is not sections[0] else value, section)


def general(value: float) -> str:
    """Gives a number without a format: whole ones whole, others with up to 11 digits."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.11g}"


def _number(value: float, section: str) -> str:
    bare = _bare(section)
    literal = _LITERAL.sub(lambda match: (match.group(1) or match.group(2) or match.group(3) or ""), section)
    found = _DIGITS.search(literal)
    if "general" in bare or "@" in bare or "/" in bare or not _DIGITS.search(bare):
        return general(value) if _DIGITS.search(bare) or "general" in bare or "@" in bare else literal.strip()
    assert found is not None
    pattern = found.group().rstrip()
    decimals = len(re.findall(r"[0#?]", pattern.partition(".")[2]))
    if "%" in bare:
        value *= 100
    while pattern.endswith(","):  # each comma at the end shows a thousandth
        pattern, value = pattern[:-1], value / 1000
    exponent = _EXPONENT.search(bare)
    if exponent:
        return f"{value:.{decimals}E}"
    text = f"{value:,.{decimals}f}" if "," in pattern else f"{value:.{decimals}f}"
    least = len(re.findall("0", pattern.partition(".")[2]))
    if decimals > least:
        whole, _, part = text.partition(".")
        part = part[:least] + part[least:].rstrip("0")
        text = f"{whole}.{part}" if part else whole
    zeros = len(re.findall("0", pattern.partition(".")[0]))
    if "," not in pattern and zeros > 1 and value >= 0:  # codes with leading zeros
        whole, dot, part = text.partition(".")
        text = whole.zfill(zeros) + dot + part
    before, after = literal[: found.start()].lstrip(), literal[found.end() :].strip()
    joint = " " if after and after[0] not in "%)" else ""
    return f"{before}{text}{joint}{after}"[:400]


def _moment(value: float, code: str, shift: int) -> str:
    bare = _bare(_sections(code)[0])
    has_day = "d" in bare or "y" in bare or ("m" in bare and "h" not in bare and "s" not in bare)
    if not has_day or ("[" in code and re.search(r"\[(?:h+|m+|s+)\]", code.lower())):
        seconds = round(abs(value) * 86400)
        if seconds > 360_000_000:
            return ""
        hours, rest = divmod(seconds, 3600)
        tail = f":{rest % 60:02}" if rest % 60 or "s" in bare else ""
        return f"{'-' if value < 0 else ''}{hours:02}:{rest // 60:02}{tail}"
    days = value + shift
    if not 0 <= days < 2_958_466:
        return ""
    # Excel counts a 29 February 1900 that never was.
    moment = datetime(1899, 12, 30) + timedelta(days=1 if days < 60 and not shift else 0)
    moment += timedelta(seconds=round(days * 86400))
    if "h" not in bare and "s" not in bare:
        return moment.strftime("%Y-%m-%d")
    return moment.strftime("%Y-%m-%d %H:%M:%S" if moment.second else "%Y-%m-%d %H:%M")
