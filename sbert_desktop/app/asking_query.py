"""What others than the search need of the query language: changes to a typed query, and days.

The changes keep what the rest of the query means, also where a quote was left open or pieces touch.
"""

from __future__ import annotations

import time

from sbert_desktop.explore import parse, with_field, without_term

__all__ = ["begin_of", "with_field", "without_term"]


def begin_of(day: str) -> float | None:
    """Gives when a day, month, year or ``last week`` begins, seconds since the epoch; None: it names none."""
    plain = day.replace('"', " ")
    return parse(f'after:"{plain}"', now=time.time()).filters.after
