"""Which language a text is written in, from a sample of it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Protocol, cast

from sbert_desktop.extraction._limits import own_files

_LETTERS = re.compile(r"[^\W\d_]")
_MANY_LETTERS = re.compile(r"(?:[^\W\d_]{2,}\W+){10}")
_NOT_WORDS = re.compile(r"https?://\S+|\S+@\S+|[\d_{}()\[\]<>=|/\\*#`~^$%&+;:]+")
_LIMIT = 600
_SURE = 0.5
_WIDE_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


class _Identifier(Protocol):
    def classify(self, text: str) -> tuple[str, float]: ...


@lru_cache(maxsize=1)
def _identifier() -> _Identifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    with own_files():
        return cast(_Identifier, LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True))


def detect_language(text: str) -> str:
    """Gives the ISO 639-1 code of a text, ``""`` under about 40 letters or when unsure.

    Looks at about 600 characters from the beginning, middle and end, so that an English front
    page does not decide for a German book; costs about half a millisecond.
    """
    sample = _sample(text)
    if len(sample) < 200 or not _MANY_LETTERS.search(sample):
        letters = len(_LETTERS.findall(sample))
        wide = len(_WIDE_SCRIPT.findall(sample))
        if letters + 3 * wide < 40:  # one ideogram says as much as several letters
            return ""
    language, confidence = _identifier().classify(sample)
    return language if confidence >= _SURE and len(language) == 2 else ""


def likely_language(text: str) -> str:
    """Gives the likeliest language of however short a text; a hint, nothing to show to anybody."""
    sample = _sample(text)
    return _identifier().classify(sample)[0] if _LETTERS.search(sample) else ""


def _sample(text: str) -> str:
    third = _LIMIT // 3
    if len(text) > 3 * _LIMIT:
        middle, last = len(text) // 2, len(text) * 4 // 5
        text = f"{text[third : 2 * third]} {text[middle : middle + third]} {text[last : last + third]}"
    elif len(text) > _LIMIT:
        text = text[:_LIMIT]
    return _NOT_WORDS.sub(" ", text)
