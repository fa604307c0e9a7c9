"""Where the words of a query stand in a text."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager

from sbert_desktop.library import _analysis, _words
from sbert_desktop.library._view import View

_Wanted = tuple[set[str], set[str], tuple[str, ...]]


class Matcher:
    """Marks words in texts; from any thread. What a query wants is worked out once per state of the library.

    Args:
        reading: Lends a connection to the catalog.
        postings: Of the library.
    """

    def __init__(
        self, reading: Callable[[], AbstractContextManager[sqlite3.Connection]], postings: _words.Postings
    ) -> None:
        self._reading = reading
        self._postings = postings
        self._known: tuple[tuple[str, int], _Wanted] | None = None

    def match(self, view: View, query: str, text: str) -> list[tuple[int, int]]:
        """Gives where words of a text match words of the query (folded, or by stem), in order."""
        known = self._known
        if known is None or known[0] != (query, view.generation):
            known = self._known = ((query, view.generation), self._wanted(query, view))
        wanted, single, languages = known[1]
        return _analysis.match(wanted, single, text, languages)

    def _wanted(self, query: str, view: View) -> _Wanted:
        languages = _analysis.query_languages(view.language_order())
        wanted = _analysis.query_tokens(query, languages)
        if view.segmentation is not None and view.words >= _words.TELLING_FROM and wanted:
            with self._reading() as connection:
                wanted = self._postings.telling(connection, view.segmentation, wanted, view.words, _words.TELLING_SHARE)
        single = {token.text for token in wanted if token.prefix}
        return {token.text for token in wanted}, single, languages
