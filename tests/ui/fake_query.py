"""A small stand-in for the parser of the query language: fields, phrases and what is excluded."""

from __future__ import annotations

import re

from sbert_desktop.domain import Parsed, Term, TermKind

FIELDS = ("type", "folder", "after", "before", "size", "lang", "name", "from", "to", "subject", "has", "in")
_PIECE = re.compile(r'(-?)(?:(\w+):("[^"]*"|\S*)|"([^"]*)"|(\S+))')


def fake_parse(text: str) -> Parsed:
    """Gives the pieces of a query; the filters stay empty."""
    terms, words, phrases = [], [], []
    for found in _PIECE.finditer(text):
        minus, field, value, phrase, word = found.groups()
        excluded, span = minus == "-", (found.start(), found.end())
        if field in FIELDS:
            terms.append(Term(*span, TermKind.FIELD, value.strip('"'), field, excluded))
        elif phrase is not None:
            terms.append(Term(*span, TermKind.PHRASE, phrase, "", excluded))
            phrases.append(phrase)
        else:
            terms.append(Term(*span, TermKind.WORD, word or found[0], "", excluded))
            if not excluded:
                words.append(word or found[0])
    return Parsed(" ".join((*words, *phrases)), phrases=tuple(phrases), terms=tuple(terms))
