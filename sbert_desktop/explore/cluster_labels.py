"""Names that people can read for themes: the words and phrases that stand in their documents and hardly in others.

Counted is in how many documents of a theme a term stands (not how often: one long list must not name a theme), ranked
by class-based TF-IDF, and kept only what is significant by the log-likelihood ratio. A phrase takes the place of its
words where it explains most of their documents. Chinese, Japanese and the like are read sign by sign, and runs of
signs are phrases. Any thread; numpy only.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sbert_desktop.explore._stop_words import stop_words
from sbert_desktop.explore.wording import SIGNS

UNTITLED = "Untitled"
KEYWORDS = 8
_IN_LABEL = 3
_LONGEST = 4_000
"""Code points of a document that are read: its beginning says what it is about."""
_PHRASE, _SIGN_PHRASE = 4, 4
"""Most words, most signs of a phrase."""
_EVIDENCE = 10.83
"""Log-likelihood ratio from which a term is no chance: p = 0.001 of chi squared with one degree of freedom."""
_LIKELY = 3.84
"""The same for p = 0.05: asked of the next ones where a small theme has fewer sure ones than a label has words."""
_COVERS = 0.4
"""Share of a word's documents in which a phrase stands from which on it takes the word's place."""
_LONGEST_LABEL = 60
_LONGEST_WORD = 40

_EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_TOKEN = re.compile(
    rf"[{SIGNS}]"
    rf"|[{_EMOJI}]"
    rf"|[^\W_{SIGNS}]+(?:[\u0300-\u036f\u0900-\u0dff\u0e31-\u0e4e]+[^\W_{SIGNS}]*)*(?:(?:[-.](?=\w)|&)[^\W_{SIGNS}]+)*"
)
_APOSTROPHE = re.compile(r"(?<=\w)['’](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
_ELIDED = re.compile(r"\b(?:l|d|j|m|n|qu|s|t|c|dell|all|nell|un)['’](?=\w)", re.IGNORECASE)
_SIGN = re.compile(rf"[{SIGNS}]")
_EMOJI_ONE = re.compile(rf"[{_EMOJI}]")


@dataclass(frozen=True, slots=True)
class Read:
    """The terms of one document: what stands for each, and how it is written there."""

    terms: dict[str, str]


@dataclass(frozen=True, slots=True)
class Keyword:
    """A term that is significant for a theme.

    Attributes:
        text: As it is mostly written.
        score: Class-based TF-IDF.
        evidence: Log-likelihood ratio: from 10.83 the chance is under 1 in 1,000.
        share: Of the theme's documents, how many have it, 0-1.
        elsewhere: Likewise of all others.
    """

    text: str
    score: float
    evidence: float
    share: float
    elsewhere: float


@dataclass(frozen=True, slots=True)
class ThemeLabel:
    """A theme's name.

    Attributes:
        label: Never empty.
        keywords: The best first; none where no term is significant.
        central: The title of its most typical document, may be empty.
        source: Where the label comes from: ``words``, ``title`` or ``names``, else ``none``.
    """

    label: str
    keywords: tuple[Keyword, ...]
    central: str
    source: str


def read_terms(text: str, language: str = "") -> Read:
    """Gives the terms of a document: words, phrases of up to four, and for scripts without spaces runs of two to four.

    Args:
        text: Of the document; only its first 4,000 code points are read.
        language: Its code, or empty: then the stop words of all languages known here are left out.
    """
    text = unicodedata.normalize("NFKC", text[:_LONGEST])
    text = _ELIDED.sub("", _APOSTROPHE.sub("", text))
    stops = stop_words(language)
    terms: dict[str, str] = {}
    run: list[str] = []
    end = 0
    kind = ""
    for match in _TOKEN.finditer(text):
        token = match.group()
        between = text[end : match.start()]
        end = match.end()
        now = "sign" if _SIGN.fullmatch(token) else "emoji" if _EMOJI_ONE.fullmatch(token) else "word"
        joined = not between if now == "sign" else between in {" ", "\u00a0"}
        if not joined or now != kind or now == "emoji":
            _take(run, kind, terms)
            run = []
        kind = now
        if token.lower() in stops or len(token) > _LONGEST_WORD:
            _take(run, kind, terms)
            run = []
            continue
        run.append(token)
    _take(run, kind, terms)
    return Read(terms)


def _take(run: Sequence[str], kind: str, terms: dict[str, str]) -> None:
    """Adds the terms of tokens that stand side by side."""
    glue, most = ("", _SIGN_PHRASE) if kind == "sign" else (" ", _PHRASE)
    for at in range(len(run)):
        for size in range(2 if kind == "sign" else 1, most + 1):
            part = run[at : at + size]
            if len(part) < size:
                break
            if size == 1 and kind == "word" and _says_little(part[0]):
                continue
            if size > 1 and any(token.isdecimal() for token in (part[0], part[-1])) and kind == "word":
                continue
            written = glue.join(part)
            terms.setdefault(glue.join(map(_folded, part)), written)
    if kind == "sign" and len(run) == 1:
        terms.setdefault(run[0], run[0])


def _folded(word: str) -> str:
    """Gives the form under which a word is counted: without case and English plural."""
    word = word.casefold()
    if len(word) > 3 and word.isascii():
        if word.endswith("ies") and len(word) > 4:
            return word[:-3] + "y"
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            return word[:-1]
    return word


def _says_little(word: str) -> bool:
    """A single letter of a script that has words."""
    return len(word) < 2 and not word.isdecimal()


class TermTable:
    """In how many documents of each theme each term stands. Fed document by document; texts are not kept."""

    def __init__(self, count: int) -> None:
        """Begins with no documents.

        Args:
            count: How many themes.
        """
        self._count = count
        self._terms: list[Counter[str]] = [Counter() for _ in range(count)]
        self._documents = np.zeros(count, np.int64)
        self._written: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, theme: int, read: Read) -> None:
        """Counts one document of a theme."""
        self._documents[theme] += 1
        self._terms[theme].update(read.terms.keys())
        for term, written in read.terms.items():
            self._written[term][written] += 1

    def keywords(self, most: int = KEYWORDS) -> list[tuple[Keyword, ...]]:
        """Gives the keywords of each theme, the best first."""
        everywhere: Counter[str] = Counter()
        for terms in self._terms:
            everywhere.update(terms)
        total = int(self._documents.sum())
        mean = sum(everywhere.values()) / max(1, self._count)
        return [self._of(theme, everywhere, total, mean, most) for theme in range(self._count)]

    def _of(self, theme: int, everywhere: Counter[str], total: int, mean: float, most: int) -> tuple[Keyword, ...]:
        own, inside = self._terms[theme], int(self._documents[theme])
        outside = total - inside
        found: list[tuple[str, Keyword]] = []
        fewest = 1 if inside < 4 else max(2, math.ceil(inside / 25))
        for term, count in own.items():
            if count < fewest:
                continue
            beyond = everywhere[term] - count
            share, elsewhere = count / inside, beyond / max(1, outside)
            if outside and share <= elsewhere:
                continue
            evidence = log_likelihood(count, inside, beyond, outside)
            score = share * math.log(1 + mean / everywhere[term])
            if _is_number(term):  # years and amounts name a theme only where nothing else does
                score *= 0.2
            found.append((term, Keyword(self._form(term), score, evidence, share, elsewhere)))
        sure = [pair for pair in found if pair[1].evidence >= _EVIDENCE]
        # Where there is nothing to compare with, or too little to be sure of anything, the most common ones.
        kept = _without_repeats(_ranked(sure or found, most), own, most)
        if sure and len(kept) < _IN_LABEL:
            likely = [pair for pair in found if _LIKELY <= pair[1].evidence < _EVIDENCE]
            kept = _without_repeats([*_ranked(sure, most), *_ranked(likely, most)], own, most)
        return tuple(kept)

    def _form(self, term: str) -> str:
        """Gives how a term is mostly written; all-capitals and lower case where they tie with others."""
        forms = self._written[term]
        return max(forms, key=lambda form: (forms[form], not form.isupper(), form.islower(), form))


def _ranked(found: Sequence[tuple[str, Keyword]], most: int) -> list[tuple[str, Keyword]]:
    """Puts the best terms first, as many as may be needed."""
    return sorted(found, key=lambda pair: (-_rank(*pair), pair[0]))[: 40 * most]


def _rank(term: str, keyword: Keyword) -> float:
    """Gives what keywords are ordered by: phrases count for more, since they are rarer than what they mean."""
    if " " in term:
        return keyword.score * 1.5
    return keyword.score * (1 + 0.15 * (len(term) - 1) if _SIGN.match(term) else 1)


def _without_repeats(ranked: Sequence[tuple[str, Keyword]], own: Counter[str], most: int) -> list[Keyword]:
    """Keeps of terms that contain each other the one that says more."""
    chosen: list[tuple[str, Keyword]] = []
    for term, keyword in ranked:
        clash = next((place for place, (other, _) in enumerate(chosen) if _overlap(term, other)), None)
        if clash is None:
            if len(chosen) < most:
                chosen.append((term, keyword))
            continue
        other = chosen[clash][0]
        longer = len(term) > len(other) and other in term
        if longer and own[term] >= (_COVERS if " " in term else 0.8) * own[other] and not _seen(term, chosen, clash):
            chosen[clash] = term, keyword
    return [keyword for _, keyword in chosen]


def _seen(term: str, chosen: Sequence[tuple[str, Keyword]], clash: int) -> bool:
    """The term overlaps another chosen one, too."""
    return any(_overlap(term, other) for place, (other, _) in enumerate(chosen) if place != clash)


def _overlap(first: str, second: str) -> bool:
    """Both share a word, or words of one stem, or signs."""
    if _SIGN.match(first) or _SIGN.match(second):
        return not set(pairwise(first)).isdisjoint(pairwise(second))
    ours, theirs = first.split(), second.split()
    return any(_same_stem(a, b) for a in ours for b in theirs)


def _same_stem(first: str, second: str) -> bool:
    if first == second:
        return True
    short = min(len(first), len(second))
    stem = max(4, short - 2)
    return short >= 4 and first[:stem] == second[:stem] and abs(len(first) - len(second)) < 5


def _is_number(term: str) -> bool:
    return all(not token.isalpha() and any(map(str.isdecimal, token)) for token in term.split())


def log_likelihood(count: int, inside: int, beyond: int, outside: int) -> float:
    """Gives Dunning's log-likelihood ratio of a term that stands in ``count`` of ``inside``, ``beyond`` of ``outside``.

    Source: Dunning 1993, "Accurate methods for the statistics of surprise and coincidence".
    """
    total = inside + outside
    if not inside or not outside:
        return 0.0
    found = count + beyond
    value = 0.0
    for seen, of, all_of in (
        (count, inside, found), (inside - count, inside, total - found),
        (beyond, outside, found), (outside - beyond, outside, total - found),
    ):  # fmt: skip
        if seen > 0:
            value += seen * math.log(seen * total / (of * all_of))
    return max(0.0, 2 * value)


def name_themes(
    table: TermTable, titles: Sequence[str], names: Sequence[Sequence[str]], *, untitled: str = UNTITLED
) -> list[ThemeLabel]:
    """Gives each theme a name: its words, else its central document's title, else its file names, else a plain one.

    No two are equal: the next keyword, or a number, is added to the later one.

    Args:
        table: With all documents read.
        titles: Of the central document of each theme, may be empty.
        names: Of some files of each theme.
        untitled: What stands where nothing else does.
    """
    taken: set[str] = set()
    made = []
    for theme, keywords in enumerate(table.keywords()):
        title = " ".join(titles[theme].split())
        label, source = _label(keywords, title, names[theme], untitled)
        if source == "words" and label.casefold() in taken:
            label = _cut(", ".join(keyword.text for keyword in keywords[: _IN_LABEL + 1]))
        plain, number = label, 2
        while label.casefold() in taken:
            label, number = f"{plain} ({number})", number + 1
        taken.add(label.casefold())
        made.append(ThemeLabel(label, keywords, title, source))
    return made


def _label(keywords: Sequence[Keyword], title: str, names: Sequence[str], untitled: str) -> tuple[str, str]:
    words = [keyword.text for keyword in keywords[:_IN_LABEL]]
    if words:
        return _cut(", ".join(words)), "words"
    if any(map(str.isalnum, title)):
        return _cut(title), "title"
    shown = [name for name in (" ".join(name.split()) for name in names) if name]
    if shown:
        return _cut(", ".join(shown[:2])), "names"
    return untitled, "none"


def _cut(text: str) -> str:
    """Cuts at a comma or a space."""
    if len(text) <= _LONGEST_LABEL:
        return text
    end = max(text.rfind(", ", 0, _LONGEST_LABEL), text.rfind(" ", 0, _LONGEST_LABEL) if ", " not in text else -1)
    return text[: end if end > _LONGEST_LABEL // 3 else _LONGEST_LABEL - 1].rstrip(" ,") + "…"
