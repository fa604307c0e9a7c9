"""The versions of a document: which documents share most of its words, in which order they were written.

Candidates are the documents of the passages nearest to some of its own; the texts themselves decide. Names say the
order where they number it (``v2``, ``draft 3``, ``final``), else dates do. Any thread; numpy only.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Snapshot
from sbert_desktop.explore.wording import SIGNS, align

_PROBES = 6
"""Passages of the document whose neighbours are looked at, from all over it."""
_NEIGHBOURS = 40
_NEAR = 0.6
"""Cosine from which a neighbour's document is a candidate; versions of a passage mostly have over 0.8."""
_LISTED = 40
_CANDIDATES = 16
_SHINGLE = 4
_MOST_WORDS = 30_000
"""Words of a document that are compared."""
_SHARED, _SHARED_OTHER_NAME = 0.35, 0.6
"""Share of the larger one's word runs that both have: with names that differ in their version only, and else."""
_HELD = 0.5
"""Share of the smaller one's word runs; with such names this alone is enough, above a quarter of the larger."""
_SENTENCE = 0.5
"""Share of equal words from which a sentence is an earlier wording of another."""

_NUMBERED = re.compile(
    r"(?:^|(?<=[\W_]))(?:v|ver|vers|version|rev|revision|draft|entwurf|fassung|brouillon|borrador|bozza|stand|r|d)"
    r"[\W_]*(\d{1,3}(?:\.\d{1,3})*)(?=$|[\W_])",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?<!\d)(?:(?P<y>(?:19|20)\d\d)(?P<s>[-_. ]?)(?P<m>0[1-9]|1[0-2])(?:(?P=s)(?P<d>0[1-9]|[12]\d|3[01]))?"
    r"|(?P<d2>0[1-9]|[12]\d|3[01])[-_. ](?P<m2>0[1-9]|1[0-2])[-_. ](?P<y2>(?:19|20)\d\d)|(?P<y3>(?:19|20)\d\d))(?!\d)"
)
_COUNTED = re.compile(r"[\s_-]*\((\d{1,2})\)\s*$|[\s_-]+(\d{1,2})\s*$")
_LAST = re.compile(
    r"(?:^|(?<=[\W_]))(?:final|finale|endgültig|endfassung|definitivo|definitif|signed|submitted|accepted|latest|neu|new)"
    r"(?=$|[\W_\d])",
    re.IGNORECASE,
)
_FIRST = re.compile(r"(?:^|(?<=[\W_]))(?:old|alt|original|orig|first|backup|bak)(?=$|[\W_\d])", re.IGNORECASE)
_COPY = re.compile(
    r"(?:^|(?<=[\W_]))(?:copy(?:\s+of)?|kopie(?:\s+von)?|copie(?:\s+de)?|copia(?:\s+di|\s+de)?|draft|entwurf|brouillon|borrador"
    r"|bozza|clean|edited|corrected|reviewed|tracked|changes|conflicted)(?=$|[\W_\d])",
    re.IGNORECASE,
)


_RUN = re.compile(rf"[{SIGNS}]|[^\W_{SIGNS}]+")


class Words:
    """The words of a text, made quickly: only to be counted and found, their places are not known."""

    __slots__ = ("_joined", "words")

    def __init__(self, text: str) -> None:
        self.words: list[str] = _RUN.findall(text.casefold())
        self._joined = ""

    def __len__(self) -> int:
        return len(self.words)

    def hold(self, words: Sequence[str]) -> bool:
        """Tells whether these words stand in the text, one after the other."""
        self._joined = self._joined or f" {' '.join(self.words)} "
        return f" {' '.join(words)} " in self._joined


@dataclass(frozen=True, slots=True)
class Name:
    """What a file's name says: ``stem`` without the version, ``rank`` to order by, ``label`` to call it.

    ``rank`` is (-1 old, 0, 1 final), number; None where the name says nothing. ``day`` is (year, month, day).
    """

    stem: str
    rank: tuple[int, tuple[int, ...]] | None
    day: tuple[int, int, int] | None
    label: str


@dataclass(frozen=True, slots=True)
class Version:
    """One version: its content, name (with extension), dates in seconds since the epoch, and words.

    ``date`` is the document's own, None where it has none; ``written`` the file's modification time.
    """

    content: int
    name: str
    date: float | None
    written: float
    words: Words


def read_name(name: str) -> Name:
    """Reads the version in a file's name (``Report draft 3 (final).docx``)."""
    body = unicodedata.normalize("NFC", name)
    body = body.rsplit(".", 1)[0] if "." in body[1:] else body
    label = ""
    day = None
    if found := _DATE.search(body):
        parts = found.groupdict()
        year = parts["y"] or parts["y2"] or parts["y3"]
        day = (int(year), int(parts["m"] or parts["m2"] or 0), int(parts["d"] or parts["d2"] or 0))
        body = body[: found.start()] + " " + body[found.end() :]
    number: tuple[int, ...] = ()
    if found := _NUMBERED.search(body):
        number = tuple(map(int, found.group(1).split(".")))
        label = " ".join(found.group().replace("_", " ").replace("-", " ").split())
        body = body[: found.start()] + " " + body[found.end() :]
    elif found := _COUNTED.search(body):
        number = (int(found.group(1) or found.group(2)),)
        body = body[: found.start()]
    last, first = _LAST.search(body), _FIRST.search(body)
    if last is not None:
        label = f"{label} {last.group()}".strip()
    elif first is not None:
        label = label or first.group()
    for pattern in (_LAST, _FIRST, _COPY):
        body = pattern.sub(" ", body)
    stem = " ".join(re.sub(r"[\W_]+", " ", body).casefold().split())
    rank = (1 if last else -1 if first else 0, number) if number or last or first else None
    return Name(stem, rank, day, label)


def find_candidates(snapshot: Snapshot, content: int, texts: Sequence[str]) -> list[int]:
    """Gives contents that may be versions of one, the likeliest first.

    Args:
        snapshot: The state of the library.
        content: The document.
        texts: Some stretches of its text, for documents without vectors.
    """
    votes: Counter[int] = Counter()
    asked = 0
    rows = np.flatnonzero((snapshot.contents == content) & snapshot.alive)
    if len(rows):
        probes = rows[np.unique(np.linspace(0, len(rows) - 1, _PROBES).astype(int))]
        asked = len(probes)
        for near in _neighbours(snapshot, probes):
            votes.update(set(near) - {content})
    else:
        asked = len(texts[:_PROBES])
        for text in texts[:_PROBES]:
            _, _, contents = snapshot.keyword(text, None, _LISTED)
            votes.update({int(other) for other in contents.tolist()} - {content})
    return [other for other, times in votes.most_common(_CANDIDATES) if times * 3 >= asked]


def _neighbours(snapshot: Snapshot, rows: NDArray[np.int64]) -> list[list[int]]:
    vectors = np.asarray(snapshot.vectors[rows])
    index = snapshot.index
    if index is not None:
        # The tail that the index lacks yet is scanned: a version that was just saved stands there.
        lists = []
        tail = np.asarray(snapshot.vectors[index.rows :])
        for vector in vectors:
            found, cosines = index.search(vector, min(index.rows, _NEIGHBOURS))
            near = [int(row) for row, cosine in zip(found, cosines, strict=True) if cosine >= _NEAR]
            near += [int(row) + index.rows for row in np.flatnonzero(tail @ vector >= _NEAR)[:_NEIGHBOURS]]
            lists.append([int(snapshot.contents[row]) for row in near if snapshot.alive[row]])
        return lists
    cosines = np.asarray(snapshot.vectors) @ vectors.T
    cosines[~snapshot.alive] = -2.0
    lists = []
    for line in cosines.T:
        near_rows = np.flatnonzero(line >= _NEAR)
        best = near_rows[np.argsort(-line[near_rows])][:_NEIGHBOURS]
        lists.append([int(snapshot.contents[row]) for row in best])
    return lists


def is_version(one: Version, other: Version) -> bool:
    """Tells whether two documents share most of their words, so that one came out of the other."""
    mine, theirs = _shingles(one.words), _shingles(other.words)
    if not len(mine) or not len(theirs):
        return one.words.words == other.words.words
    shared = len(np.intersect1d(mine, theirs, assume_unique=True))
    of_larger, of_smaller = shared / max(len(mine), len(theirs)), shared / min(len(mine), len(theirs))
    stem = read_name(one.name).stem
    if stem and stem == read_name(other.name).stem:
        return of_larger >= _SHARED or (of_smaller >= _HELD and of_larger >= _SHARED / 2)
    return of_larger >= _SHARED_OTHER_NAME


def _shingles(text: Words) -> NDArray[np.int64]:
    """Gives the runs of four words, as numbers, each once."""
    words = text.words[:_MOST_WORDS]
    if len(words) < _SHINGLE:
        return np.zeros(0, np.int64)
    numbers = np.fromiter(map(hash, words), np.int64, len(words))
    mixed = np.zeros(len(words) - _SHINGLE + 1, np.int64)
    for place in range(_SHINGLE):  # wraps around, which is fine for telling runs apart
        mixed = mixed * np.int64(1_000_003) + numbers[place : len(numbers) - _SHINGLE + 1 + place]
    return np.unique(mixed)


def in_order(versions: Sequence[Version]) -> list[Version]:
    """Gives the versions oldest first: by the numbers of their names if all have one, else by dates, else by names."""
    names = {version.content: read_name(version.name) for version in versions}
    ranks = [names[version.content].rank for version in versions]
    days = [names[version.content].day for version in versions]
    dates = {version.date for version in versions}

    def by_date(version: Version) -> float:
        # Word processors keep the day on which the first version was begun: it orders nothing then.
        if None not in dates and len(dates) == len(versions):
            return version.date or 0.0
        return version.written

    if all(rank is not None for rank in ranks) and len(set(ranks)) == len(ranks):
        return sorted(versions, key=lambda version: names[version.content].rank or (0, ()))
    if all(day is not None for day in days) and len(set(days)) == len(days):
        return sorted(versions, key=lambda version: names[version.content].day or (0, 0, 0))
    if any(rank is not None for rank in ranks) and len({rank or (0, (1,)) for rank in ranks}) == len(ranks):
        # "Report" and "Report v2": the one without a number is the first, unless it was written last of all.
        newest = max(versions, key=by_date)
        plain = [version for version in versions if names[version.content].rank is None]
        if plain != [newest]:
            return sorted(versions, key=lambda version: names[version.content].rank or (0, (1,)))
    return sorted(versions, key=lambda version: (by_date(version), _natural(version.name)))


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name.casefold())]


@dataclass(frozen=True, slots=True)
class History:
    """What became of a sentence: ``since`` numbers the first version in a row that has its present wording.

    ``kind`` is ``same`` (from the oldest on), ``changed`` or ``new``; ``until`` numbers the next version that does
    not have it any more, None if all later ones do.
    """

    kind: str
    since: int
    until: int | None
    gone: bool = False


def sentence_history(versions: Sequence[Version], place: int, sentence: str) -> History | None:
    """Follows a sentence of one version through the others; None if it has too few words to be told again."""
    words = Words(sentence).words
    if len(words) < _SHINGLE:
        return None
    holds = [number == place or version.words.hold(words) for number, version in enumerate(versions)]
    since = place
    while since > 0 and holds[since - 1]:
        since -= 1
    until = next((number for number in range(place + 1, len(versions)) if not holds[number]), None)
    gone = until is not None and not _resembles(words, versions[until].words)
    if since == 0:
        return History("same", 0, until, gone)
    return History("changed" if _resembles(words, versions[since - 1].words) else "new", since, until, gone)


def _resembles(words: Sequence[str], text: Words) -> bool:
    found = align(words, (), text.words)
    return found is not None and found.similarity >= _SENTENCE
