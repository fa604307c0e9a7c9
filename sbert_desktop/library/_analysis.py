"""Words of texts and queries alike: the tokens that the keyword table holds.

A plain word becomes its stem in the text's language (``walk``) and its folded form (``=walks``); a
code or compound (``AB-12/7``, ``C++``, ``e-mail``) stays whole beside its parts; scripts without
spaces become bigrams. A token that stands 2, 3 or 5 times in a passage is there again with a
mark (``2~walk``, ``3~walk``): the table keeps no positions, so this is how it knows frequencies.
A version number is there with its ``v`` and without it.

The output must be a pure function of text and language: deleting from a contentless table means
making the very same tokens again. Raise :data:`VERSION` with every change of the output; the
library then rebuilds its tables, also that of the words in their order (see :mod:`_units`).
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from sbert_desktop.domain import EMOJI
from sbert_desktop.library._function_words import function_words

VERSION = 3
LONGEST = 64  # code points of a token; longer ones (base64, hashes in a row) are cut
CACHE_WORDS = 150_000
WORD_CHARS = "+#.-_/@:"  # ASCII punctuation that may stand inside a word
EXACT, MANY = "=", "~"  # no word has them
MARKS = (2, 3, 5)
TOKEN_CHARS = WORD_CHARS + EXACT + MANY
# Source: nDCG@10 on Cranfield and XQuAD, see docs/adr/0006-library.md.
EXACT_WEIGHT = 0.3
CODE_PART_WEIGHT = 0.3  # the 3, 40 and 1 of 3.40.1 must not outweigh the whole

PREFIXING = frozenset({"ar", "id", "ga"})
"""Languages whose stemmer may cut or change the beginning of a word."""

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
OTHER_SCRIPTS = {"ru": "cyrillic", "sr": "cyrillic", "el": "greek", "ar": "arabic", "hy": "armenian", "yi": "hebrew",
                 "hi": "devanagari", "ne": "devanagari", "ta": "tamil"}  # fmt: skip
"""Scripts of the languages with a stemmer that are not written in Latin letters."""
PER_SCRIPT = {"latin": 5, "none": 1}  # a query is stemmed in so many of the library's languages; others: 2
TOPICAL_LANGUAGES = 3  # function words of so many are left out: those of more would swallow words of the others

# Scripts written without spaces, and Hangul, whose words carry their particles: cut into bigrams.
# Emoji too, which stand in rows.
_BIGRAM = (
    "\u0e01-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
) + EMOJI
# Letters that Unicode does not take apart into a plain one and a mark. Source: Latin-1 Supplement and Latin
# Extended-A of the Unicode character database; the last row: Hausa.
_PLAIN_LETTERS = str.maketrans({
    "æ": "ae", "œ": "oe", "þ": "th", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "ħ": "h", "ŧ": "t", "ŋ": "n",
    "ĸ": "k", "ɓ": "b", "ɗ": "d", "ƙ": "k", "ƴ": "y",
})  # fmt: skip


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@dataclass(frozen=True, slots=True)
class QueryToken:
    """One token to look up. ``weight`` scales its part of the score; ``prefix`` finds all that begin with it."""

    text: str
    weight: float
    prefix: bool = False


class Analyzer:
    """Makes tokens for one language; keeps what it knows about words, up to a limit."""

    def __init__(self, language: str) -> None:
        self._stem = _stemmer(STEMMERS.get(language or DEFAULT_LANGUAGE))
        self._words = _word_pattern()
        self._known = _Cache(self._make)

    def tokens(self, text: str) -> tuple[str, int]:
        """Gives the tokens of a passage separated by spaces, and its length in words."""
        return self.tokens_of(words(text))

    def tokens_of(self, words: Sequence[str]) -> tuple[str, int]:
        """Gives the same for the words of a passage."""
        counts: dict[str, int] = {}
        length = 0
        known = self._known
        for word, times in Counter(words).items():
            for token in known[word]:
                counts[token] = counts.get(token, 0) + times
            length += times
        out = list(counts)
        for token, times in counts.items():
            if times > 1:
                out += [marked(token, mark) for mark in MARKS if mark <= times]
        return " ".join(out), length

    def word(self, word: str) -> tuple[str, ...]:
        """Gives the tokens of one word as the pattern finds it."""
        return self._known[word]

    def whole(self, word: str) -> list[str]:
        """Gives the tokens of one word that stand for all of it."""
        word = _APOSTROPHE_S.sub("", word)
        return _wholes(word) if _CONNECTED.search(word) else self._part(word)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Gives where the words of a text stand."""
        return [match.span() for match in self._words.finditer(text)]

    def _make(self, word: str) -> tuple[str, ...]:
        if is_bigram_script(word[0]):
            return tuple(_bigrams(word))
        word = _APOSTROPHE_S.sub("", word)
        parts = [piece for part in _SPLIT.split(word) if part for piece in _CAMEL.split(part)]
        tokens = [token for part in parts for token in self._part(part)]
        if len(parts) > 1 and word.isalpha():  # one word in camel case: iPhone
            tokens = [*self._part(word), *tokens]
        elif _CONNECTED.search(word):
            tokens = _wholes(word) + tokens
            if len(parts) > 1 and _VERSION_NUMBER.match(word):  # v2.10 shares its 2 with 2.10
                tokens.append(_token(fold(parts[0][1:])))
        return tuple(dict.fromkeys(token for token in tokens if token not in ("", EXACT)))

    def _part(self, part: str) -> list[str]:
        folded = _token(fold(part))
        lower = part.lower() if part.isascii() else unicodedata.normalize("NFC", part.casefold())
        if self._stem is None or not lower.isalpha():
            return [folded]
        return [_token(fold(self._stem.stemWord(lower))), EXACT + folded]


class _Cache(dict[str, tuple[str, ...]]):
    """Words already made; emptied when it grows too large."""

    def __init__(self, make: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= CACHE_WORDS:
            self.clear()
        made = self._make(word)
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


def query_languages(order: Sequence[str]) -> tuple[str, ...]:
    """Gives the languages that queries are stemmed in, of a library's languages, most common first.

    Some for each script, and one for all that have no stemmer.
    """
    kept: list[str] = []
    counts: Counter[str] = Counter()
    for language in order:
        script = _script_of(language)
        if counts[script] < PER_SCRIPT.get(script, 2):
            counts[script] += 1
            kept.append(language)
    return tuple(kept) or (DEFAULT_LANGUAGE,)


def _script_of(language: str) -> str:
    if language and language not in STEMMERS:
        return "none"
    return OTHER_SCRIPTS.get(language, "latin")


@lru_cache(maxsize=512)
def _for_script(script: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Gives the languages in whose way a word in this script may stand in the table.

    The most common one is always among them: texts whose language was not seen count as that.
    """
    return tuple(name for at, name in enumerate(languages) if at == 0 or _script_of(name) in (script, "none"))


def _makers(word: str, languages: tuple[str, ...]) -> list[Analyzer]:
    return [analyzer(language) for language in _for_script(_script(word), languages or (DEFAULT_LANGUAGE,))]


def _script(word: str) -> str:
    code = ord(word[0])
    if code < 0x370:
        return "latin"
    return next((name for name, first, last in _SCRIPT_RANGES if first <= code <= last), "latin")


_SCRIPT_RANGES = (("greek", 0x370, 0x3FF), ("cyrillic", 0x400, 0x52F), ("armenian", 0x530, 0x58F),
                  ("hebrew", 0x590, 0x5FF), ("arabic", 0x600, 0x6FF), ("devanagari", 0x900, 0x97F),
                  ("tamil", 0xB80, 0xBFF), ("greek", 0x1F00, 0x1FFF))  # fmt: skip


def marked(token: str, times: int) -> str:
    """Gives the token that says: this one stands so many times or more in the passage."""
    return f"{times}{MANY}{token}"


def query_tokens(text: str, languages: tuple[str, ...]) -> list[QueryToken]:
    """Gives the tokens of a query, each once, stemmed in each of the languages.

    Function words are left out unless the query consists of nothing else.
    """
    languages = languages or (DEFAULT_LANGUAGE,)
    found: dict[str, QueryToken] = {}
    words = [text[start:end] for start, end in analyzer(languages[0]).spans(text)]
    for word in _topical(words, languages[:TOPICAL_LANGUAGES]):
        makers = _makers(word, languages)
        lone = len(word) == 1 and is_bigram_script(word)
        made = dict.fromkeys(token for maker in makers for token in maker.word(word))
        has_exact = any(token.startswith(EXACT) for token in made)
        is_code = any(ch.isdigit() for ch in word) and len(made) > 1
        for token in made:
            weight = EXACT_WEIGHT if token.startswith(EXACT) else 1.0 if has_exact else 1.0 + EXACT_WEIGHT
            if is_code and not _CONNECTED.search(token):
                weight *= CODE_PART_WEIGHT
            found.setdefault(token, QueryToken(token, weight, lone))
    return list(found.values())


def _topical(words: list[str], languages: tuple[str, ...]) -> list[str]:
    """Leaves function words out, but not acronyms that look like one (IT, US), nor everything."""
    empty = function_words(languages)
    shouting = all(word.isupper() for word in words)
    kept = [word for word in words if fold(word) not in empty or (word.isupper() and len(word) > 1 and not shouting)]
    return kept or words


def match(wanted: set[str], single: set[str], text: str, languages: tuple[str, ...]) -> list[tuple[int, int]]:
    """Gives where words of a text have a token of a query; touching spans are joined.

    ``single`` are lone characters of a bigram script.
    """
    languages = languages or (DEFAULT_LANGUAGE,)
    spans: list[tuple[int, int]] = []
    # A stemmer of these languages leaves the first letter alone, so most words need not be stemmed.
    quick = PREFIXING.isdisjoint(_for_script("latin", languages))
    known: dict[str, list[Analyzer]] = {}
    initials = {token.lstrip(EXACT + MANY)[:1] for token in wanted}
    for start, end in analyzer(languages[0]).spans(text):
        word = text[start:end]
        # Not so a word in camel case, whose parts begin with other letters.
        plain = word.isascii() and word.isalpha() and word[1:] == word[1:].lower()
        if quick and plain and word[0].lower() not in initials:
            continue
        if is_bigram_script(word[0]):
            spans += _bigram_spans(word, start, wanted, single)
            continue
        script = _script(word)
        if script not in known:
            known[script] = _makers(word, languages)
        if any(not wanted.isdisjoint(maker.word(word)) for maker in known[script]):
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


@dataclass(frozen=True, slots=True)
class Unit:
    """One step of a phrase: a word's exact form, or one character of a bigram script. ``start``: where in the text."""

    text: str
    start: int
    single: bool


def words(text: str) -> list[str]:
    """Gives the words of a text as they stand there, each of which :func:`units` takes by itself."""
    found: list[str] = _word_pattern().findall(text)
    return found


def units(text: str) -> list[Unit]:
    """Gives a text as the steps that phrases are compared by, whatever its language.

    Case, accents and the punctuation between words are gone; a word with a digit stays whole with its connectors
    (``AB-12/7``, ``3.40.1``), and so does ``C++``; other compounds are their parts (``well-known``, ``l'eau``).
    """
    found: list[Unit] = []
    for match in _word_pattern().finditer(text):
        word, at = match.group(), match.start()
        if is_bigram_script(word[0]):
            folded = "".join(unicodedata.normalize("NFKC", word).split())
            aligned = len(folded) == len(word)
            found += [Unit(_token(ch), at + step if aligned else at, True) for step, ch in enumerate(folded)]
            continue
        word = _APOSTROPHE_S.sub("", word)
        if _WHOLE.search(word):
            found.append(Unit(_token(fold(_APOSTROPHE.sub("", word))), at, False))
            continue
        for part in _PART.finditer(word):
            found.append(Unit(_token(fold(part.group())), at + part.start(), False))
    return [unit for unit in found if unit.text]


def held_tokens(unit: str) -> tuple[QueryToken, ...]:
    """Gives tokens of which a passage with this word has at least one."""
    return QueryToken(EXACT + unit, 1.0), QueryToken(unit, 1.0)


def word_tokens(word: str, languages: tuple[str, ...]) -> tuple[QueryToken, ...]:
    """Gives tokens of which a passage with this word, or another form of it, has at least one; not those of parts."""
    if is_bigram_script(word[0]):
        return (QueryToken(unicodedata.normalize("NFKC", word), 1.0, prefix=True),)
    made = dict.fromkeys(token for maker in _makers(word, languages) for token in maker.whole(word))
    return tuple(QueryToken(token, 1.0) for token in made if token not in ("", EXACT))


def fold_text(text: str) -> str:
    """Folds a whole text as :func:`fold` folds its words."""
    if text.isascii():
        return text.lower()
    parts = _LIGHT_MARKS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    folded = unicodedata.normalize("NFC", parts).casefold()
    return folded.translate(_PLAIN_LETTERS) if _UNDIVIDED.search(folded) else folded


def is_bigram_script(char: str) -> bool:
    """Tells whether a character belongs to a script that is cut into bigrams."""
    return bool(_bigram_char().match(char))


def fold(word: str) -> str:
    """Folds case, compatibility forms and the marks of Latin, Greek, Cyrillic, Hebrew and Arabic.

    Marks of other scripts carry vowels and stay. ``ß`` becomes ``ss``, ``œ`` ``oe``, ``ł`` ``l``.
    """
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.casefold())
    kept = "".join(ch for ch in parts if not _is_light_mark(ch))
    return unicodedata.normalize("NFC", kept).casefold().translate(_PLAIN_LETTERS)


def _is_light_mark(ch: str) -> bool:
    code = ord(ch)
    if 0x0300 <= code <= 0x036F or 0x0591 <= code <= 0x05C7:
        return True
    return 0x064B <= code <= 0x065F or code in (0x0640, 0x0670)


def _wholes(word: str) -> list[str]:
    """Gives the tokens of all of a compound: as it stands (``don't``: dont), a version number also without its v."""
    whole = _token(fold(_APOSTROPHE.sub("", word)))
    return [whole, whole[1:]] if _VERSION_NUMBER.match(word) else [whole]


def _token(folded: str) -> str:
    if folded.isalnum():
        return folded[:LONGEST]
    # Whatever is not a letter, digit or an allowed connector would be cut by the table's tokenizer.
    return "".join(ch for ch in folded[:LONGEST] if not ch.isascii() or ch.isalnum() or ch in WORD_CHARS)


_APOSTROPHE_S = re.compile(r"['’]s$", re.IGNORECASE)
_APOSTROPHE = re.compile(r"['’]")
_CONNECTED = re.compile(r"[+#.\-_/@:'’]")
_SPLIT = re.compile(r"[+#.\-_/@:'’]+")
_PART = re.compile(r"[^+#.\-_/@:'’]+")
_WHOLE = re.compile(r"[\d+#]")
_VERSION_NUMBER = re.compile(r"[vV]\d+\.\d")
_UNDIVIDED = re.compile("[" + "".join(map(chr, _PLAIN_LETTERS)) + "]")
_LIGHT_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0640\u0670]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _bigrams(run: str) -> list[str]:
    # The last character stands alone too, so that every character begins a token and a query of
    # one character is a prefix query.
    folded = "".join(unicodedata.normalize("NFKC", run).split())
    return list(dict.fromkeys(_token(folded[at : at + 2]) for at in range(len(folded))))


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
