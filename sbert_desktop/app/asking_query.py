"""What others than the search need of the query language: changes to a typed query, and what is not there.

The changes keep what the rest of the query means, also where a quote was left open or pieces touch.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sbert_desktop.domain import Filters, Parsed
from sbert_desktop.explore import with_field, without_term

__all__ = ["with_field", "with_notes", "without_term"]

_NAMED = 3
"""Collections that a note lists; more would fill the line."""
_SHOWN = 32
"""Characters of a collection's name in a note."""


def with_notes(parsed: Parsed, collections: Callable[[], Iterable[str]]) -> Parsed:
    """Says that there is no collection of a name that was typed behind ``in:``, and which there are.

    Args:
        parsed: What was typed.
        collections: Gives the names of all collections; asked only when one is typed.
    """
    asked = list(dict.fromkeys(_collections_in(parsed.filters)))
    if not asked:
        return parsed
    names = list(collections())
    known = {_folded(name) for name in names}
    unknown = [name for name in asked if _folded(name) not in known]
    if not unknown:
        return parsed
    there = ", ".join(map(_shown, names[:_NAMED]))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    rest = f"there are {there}{more}" if names else "there is none yet"
    asked_for = " or ".join(f"“{_shown(name)}”" for name in unknown[:2])
    return replace(parsed, notes=(*parsed.notes, f"No collection is called {asked_for}; {rest}."))


def _collections_in(filters: Filters) -> Iterator[str]:
    yield from filters.collections
    for unwanted in filters.without:
        yield from _collections_in(unwanted)


def _shown(name: str) -> str:
    """A name as it may stand in a line: without what does not print, and not endless."""
    plain = "".join(letter if letter.isprintable() else " " for letter in name[:_SHOWN])
    return plain.encode("utf-8", "replace").decode().strip() + ("…" if len(name) > _SHOWN else "")


def _folded(name: str) -> str:
    """Without case and accents, as the library compares names."""
    parts = unicodedata.normalize("NFKD", name.strip().casefold())
    return "".join(letter for letter in parts if not unicodedata.combining(letter))
