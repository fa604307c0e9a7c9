"""Words of texts and queries alike: the tokens that the keyword table holds.

Two streams are made: ``exact`` (folded words, codes kept whole beside their parts) and ``stem``
(word stems in the text's language). The output must be a pure function of text and language:
deleting from a contentless table means making the very same tokens again. Raise
:data:`VERSION` with every change of the output; the library then rebuilds the table.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

VERSION = 1
LONGEST = 64  # code points of a token; longer ones (base64, hashes in a row) are cut
CACHE_WORDS = 150_000
TOKEN_CHARS = "+#.-_/@:"  # ASCII punctuation that may stand inside a token

# ISO 639-1 -> snowball algorithm. Source: the list of snowballstemmer 2.2-3.1.
STEMMERS = {
    "ar": "arabic",
    "hy": "armenian",
    "eu": "basque",
    "ca": "catalan",
    "da": "danish",
    "nl": "dutch",
    "en": "english",
    "fi": "finnish",
    "fr": "french",
    "de": "german",
    "el": "greek",
    "hi": "hindi",
    "hu": "hungarian",
    "id": "indonesian",
    "ga": "irish",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "no": "norwegian",
    "nb": "norwegian",
    "nn": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "es": "spanish",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
DEFAULT_LANGUAGE = "en"

# Scripts written without spaces, and Hangul, whose words carry their particles: cut into bigrams.
_BIGRAM = (
    "\u0e01-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word of a query.

    ``exact`` are its folded tokens (a code and its parts), ``stems`` those of the stem stream, in
    every language asked for. ``prefix`` marks a lone character of a bigram script.
    """

    exact: tuple[str, ...]
    stems: tuple[str, ...]
    prefix: bool = False


class Analyzer:
    """Makes tokens for one language; keeps what it knows about words, up to a limit."""

    def __init__(self, language: str) -> None:
        self._stem = _stemmer(STEMMERS.get(language or DEFAULT_LANGUAGE))
        self._words = _word_pattern()
        self._exact = _Cache(self._make_exact)
        self._stems = _Cache(self._make_stem)

    def streams(self, text: str) -> tuple[str, str]:
        """Gives the tokens of a text, separated by spaces: the exact stream and the stem stream."""
        words = self._words.findall(text)
        exact = " ".join(map(self._exact.__getitem__, words))
        return exact, " ".join(map(self._stems.__getitem__, words))

    def word(self, word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Gives the exact tokens and the stem tokens of one word as the pattern finds it."""
        return tuple(self._exact[word].split()), tuple(self._stems[word].split())

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Gives where the words of a text stand."""
        return [match.span() for match in self._words.finditer(text)]

    def _make_exact(self, word: str) -> str:
        return " ".join(_exact_tokens(word))

    def _make_stem(self, word: str) -> str:
        if is_bigram_script(word[0]):
            return " ".join(_bigrams(word))
        parts = _parts(word)
        if len(parts) > 1 and word.isalpha():  # one word in camel case: iPhone
            parts.insert(0, word)
        return " ".join(self._stem_token(part) for part in parts)

    def _stem_token(self, part: str) -> str:
        lower = unicodedata.normalize("NFC", part.casefold()) if not part.isascii() else part.lower()
        if self._stem is None or not lower.isalpha():
            return fold(lower)
        return fold(self._stem.stemWord(lower))


class _Cache(dict[str, str]):
    """Words already made; emptied when it grows too large."""

    def __init__(self, make: object) -> None:
        super().__init__()
        assert callable(make)
        self._make = make

    def __missing__(self, word: str) -> str:
        if len(self) >= CACHE_WORDS:
            self.clear()
        made = str(self._make(word))
        if len(word) <= LONGEST:
            self[word] = made
        return made


_local = threading.local()


def analyzer(language: str) -> Analyzer:
    """Gives this thread's analyzer for a language (``""``: the default)."""
    known: dict[str, Analyzer] | None = getattr(_local, "known", None)
    if known is None:
        known = _local.known = {}
    name = STEMMERS.get(language or DEFAULT_LANGUAGE, "")
    if name not in known:
        known[name] = Analyzer(language)
    return known[name]


def query_words(text: str, languages: tuple[str, ...]) -> list[QueryWord]:
    """Gives the words of a query, each once, stemmed in each of the languages."""
    makers = [analyzer(language) for language in languages or (DEFAULT_LANGUAGE,)]
    words: dict[tuple[str, ...], QueryWord] = {}
    for start, end in makers[0].spans(text):
        word = text[start:end]
        exact = makers[0].word(word)[0]
        if not exact or exact in words:
            continue
        stems = tuple(dict.fromkeys(stem for maker in makers for stem in maker.word(word)[1]))
        words[exact] = QueryWord(exact, stems, prefix=len(word) == 1 and is_bigram_script(word))
    return list(words.values())


def match(words: list[QueryWord], text: str, languages: tuple[str, ...]) -> list[tuple[int, int]]:
    """Gives where words of a text share a token with a query; touching spans are joined."""
    makers = [analyzer(language) for language in languages or (DEFAULT_LANGUAGE,)]
    exact = {token for word in words for token in word.exact}
    stems = {token for word in words for token in word.stems}
    single = {word.exact[0] for word in words if word.prefix}
    spans: list[tuple[int, int]] = []
    for start, end in makers[0].spans(text):
        word = text[start:end]
        if is_bigram_script(word[0]):
            spans += _bigram_spans(word, start, exact, single)
        elif not exact.isdisjoint(makers[0].word(word)[0]) or any(
            not stems.isdisjoint(maker.word(word)[1]) for maker in makers
        ):
            spans.append((start, end))
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _bigram_spans(run: str, offset: int, wanted: set[str], single: set[str]) -> list[tuple[int, int]]:
    spans = []
    for at in range(len(run)):
        if unicodedata.normalize("NFKC", run[at]) in single:
            spans.append((offset + at, offset + at + 1))
        elif at + 1 < len(run) and unicodedata.normalize("NFKC", run[at : at + 2]) in wanted:
            spans.append((offset + at, offset + at + 2))
    return spans


def is_bigram_script(char: str) -> bool:
    """Tells whether a character belongs to a script that is cut into bigrams."""
    return bool(_bigram_char().match(char))


def fold(word: str) -> str:
    """Folds case, compatibility forms and the marks of Latin, Greek, Cyrillic, Hebrew and Arabic.

    Marks of other scripts carry vowels and stay. ``ß`` becomes ``ss``.
    """
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.casefold())
    kept = "".join(ch for ch in parts if not _is_light_mark(ch))
    return unicodedata.normalize("NFC", kept).casefold()


def _is_light_mark(ch: str) -> bool:
    code = ord(ch)
    if 0x0300 <= code <= 0x036F or 0x0591 <= code <= 0x05C7:
        return True
    return 0x064B <= code <= 0x065F or code in (0x0640, 0x0670)


def _exact_tokens(word: str) -> list[str]:
    if is_bigram_script(word[0]):
        return _bigrams(word)
    parts = [_token(fold(part)) for part in _parts(word)]
    whole = _token(fold(_APOSTROPHE_S.sub("", word)))
    tokens = [part for part in parts if part]
    if len(parts) == 1 and not _CONNECTED.search(whole):
        return tokens
    if not _APOSTROPHE.search(word.rstrip("'’")):
        tokens.insert(0, whole)
    elif len(tokens) > 1 and len(tokens[-1]) == 1:  # don't -> dont
        tokens = ["".join(tokens)]
    return list(dict.fromkeys(tokens))


def _token(folded: str) -> str:
    # Whatever is not a letter, digit or an allowed connector would be cut by the table's tokenizer.
    return "".join(ch for ch in folded[:LONGEST] if not ch.isascii() or ch.isalnum() or ch in TOKEN_CHARS)


_APOSTROPHE_S = re.compile(r"['’]s$", re.IGNORECASE)
_APOSTROPHE = re.compile(r"['’](?!s$)", re.IGNORECASE)
_CONNECTED = re.compile(r"[+#.\-_/@:'’]")
_SPLIT = re.compile(r"[+#.\-_/@:'’]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _parts(word: str) -> list[str]:
    word = _APOSTROPHE_S.sub("", word)
    return [piece for part in _SPLIT.split(word) if part for piece in _CAMEL.split(part)]


def _bigrams(run: str) -> list[str]:
    # The last character stands alone too, so that every character begins a token and a query of
    # one character is a prefix query.
    folded = unicodedata.normalize("NFKC", run)
    return [folded[at : at + 2] for at in range(len(folded))]


@lru_cache(maxsize=1)
def _bigram_char() -> re.Pattern[str]:
    return re.compile(f"[{_BIGRAM}]")


@lru_cache(maxsize=1)
def _word_pattern() -> re.Pattern[str]:
    """A run of a bigram script, or letters, digits and marks joined by connectors (``AB-12/7``, ``C++``)."""
    letters = rf"(?:[^\W_{_BIGRAM}]++|[{_mark_ranges()}]++)++"
    return re.compile(rf"[{_BIGRAM}]++|{letters}(?:[.\-_/@:'’+#]+{letters})*(?:[+#]+)?")


def _mark_ranges() -> str:
    """Combining marks as a character class: no letters to ``re``, but part of their word."""
    ranges: list[list[int]] = []
    for code in range(0x300, 0x3000):
        if unicodedata.category(chr(code)) in ("Mn", "Mc"):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\u{low:04x}-\\u{high:04x}" for low, high in ranges)


@lru_cache(maxsize=1)
def _algorithms() -> frozenset[str]:
    import snowballstemmer

    return frozenset(snowballstemmer.algorithms())


def _stemmer(name: str | None) -> _Stemmer | None:
    if name is None or name not in _algorithms():
        return None
    import snowballstemmer

    stemmer: _Stemmer = snowballstemmer.stemmer(name)
    return stemmer
