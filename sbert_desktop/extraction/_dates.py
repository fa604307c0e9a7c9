"""Dates as documents write them, as seconds since the epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_PDF = re.compile(r"^D?:?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:([+\-Z])(?:(\d{2})'?(\d{2})?'?)?)?")
_EARLIEST, _LATEST = -5_000_000_000.0, 7_000_000_000.0  # about the years 1811 to 2191: the rest is a mistake


def parse_date(text: str) -> float | None:
    """Reads an ISO 8601, RFC 2822 or PDF date; None when it is none or absurd. No zone means UTC."""
    text = text.strip()
    if not text or len(text) > 80:
        return None
    for reader in (_iso, _pdf, _mail):
        try:
            moment = reader(text)
        except (ValueError, OverflowError, TypeError, IndexError):
            continue
        if moment is None:
            continue
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        try:
            seconds = moment.timestamp()
        except (ValueError, OverflowError, OSError):
            continue
        if _EARLIEST < seconds < _LATEST:
            return seconds
    return None


def _iso(text: str) -> datetime | None:
    return datetime.fromisoformat(text) if "-" in text else None


def _pdf(text: str) -> datetime | None:
    match = _PDF.match(text)
    if not match or not (text.startswith("D") or match.group(2)):
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups()[:6])
    assert year is not None
    zone = ""
    if match.group(7) in {"+", "-"} and match.group(8):
        zone = f"{match.group(7)}{match.group(8)}:{match.group(9) or '00'}"
    stamp = f"{year:04}-{month or 1:02}-{day or 1:02}T{hour or 0:02}:{minute or 0:02}:{second or 0:02}{zone}"
    return datetime.fromisoformat(stamp)


def _mail(text: str) -> datetime | None:
    return parsedate_to_datetime(text)
