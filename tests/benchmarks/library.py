"""Measures the library on made-up passages: writing, first load, refresh, keyword search, filters, exact scan.

    python tests/benchmarks/library.py [--passages 100000] [--words 90] [--dimension 384] [--index] [--library DIR]

Times are CPU milliseconds of this process, since the machines that run it are shared. The texts are drawn
from a seeded vocabulary with the word frequencies of a natural language (Zipf), five passages a document.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sbert_desktop.domain import EncoderInfo, ExtractedText, Filters, Passage, SourceFile, SplitRules
from sbert_desktop.library import Library, Writer, open_library

VOCABULARY = 60_000
PER_DOCUMENT = 5
FINGERPRINT = "benchmark"
SYLLABLES = [consonant + vowel for consonant in "bdklmnrst" for vowel in "aeio"]


class Texts:
    """Draws passages; the same seed gives the same ones."""

    def __init__(self, seed: int, words: int) -> None:
        self._random = np.random.default_rng(seed)
        self._words = words
        names = np.random.default_rng(7)
        made: dict[str, None] = {}
        while len(made) < VOCABULARY:
            made["".join(names.choice(SYLLABLES, int(names.integers(1, 5)))) + "nsrt"[int(names.integers(4))]] = None
        self._vocabulary = np.array(list(made), dtype=object)
        weights = 1.0 / (np.arange(VOCABULARY) + 2.7)
        self._cumulative = np.cumsum(weights / weights.sum())

    def draw(self, count: int) -> list[str]:
        """Gives so many words."""
        return list(self._vocabulary[np.searchsorted(self._cumulative, self._random.random(count))])

    def passage(self) -> str:
        """Gives one passage."""
        words = self.draw(int(self._random.integers(self._words // 2, self._words * 3 // 2)))
        return " ".join(words).capitalize() + "."


def documents(texts: Texts, passages: int, first: int = 0) -> Iterator[tuple[SourceFile, ExtractedText, list[Passage]]]:
    """Gives documents until there are so many passages."""
    for number in range(first, first + passages // PER_DOCUMENT):
        parts = [texts.passage() for _ in range(PER_DOCUMENT)]
        text = "\n".join(parts)
        cut, at = [], 0
        for ordinal, part in enumerate(parts):
            cut.append(Passage(ordinal, at, at + len(part), part))
            at += len(part) + 1
        extension = ("txt", "pdf", "md", "docx")[number % 4]
        path = Path(f"/benchmark/folder{number % 200}/document{number}.{extension}")
        digest = hashlib.sha256(text.encode()).hexdigest()
        file = SourceFile(path, len(text), 1_600_000_000_000_000_000 + number * 10**9, 1, number, digest)
        yield file, ExtractedText(extension, text, title=" ".join(texts.draw(3)), language="en"), cut


def fill(writer: Writer, folder: int, texts: Texts, passages: int, dimension: int, first: int = 0) -> None:
    """Writes documents with vectors, 256 passages a commit."""
    random = np.random.default_rng(first)
    done = 0
    for file, text, cut in documents(texts, passages, first):
        writer.put(folder, file, text, cut, ())  # type: ignore[arg-type]
        done += len(cut)
        if done >= 256:
            embed(writer, random, dimension)
            done = 0
    embed(writer, random, dimension)


def embed(writer: Writer, random: np.random.Generator, dimension: int) -> None:
    """Gives everything that waits a random unit vector and commits."""
    while batch := writer.pending():
        ids = [id_ for document in batch for id_, _ in document.passages]
        vectors = random.standard_normal((len(ids), dimension), np.float32)
        writer.put_vectors(ids, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    writer.commit()


def timed(call: Callable[[], object]) -> float:
    """Gives the CPU milliseconds of one call."""
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1000


def spread(times: list[float]) -> dict[str, float]:
    """Gives median, 95th percentile and maximum."""
    ordered = sorted(times)
    return {
        "p50": round(statistics.median(ordered), 3),
        "p95": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))], 3),
        "max": round(ordered[-1], 3),
    }


def build(path: Path, passages: int, words: int, dimension: int) -> dict[str, float]:
    """Writes the library of the benchmark; gives what that took."""
    info = EncoderInfo(FINGERPRINT, "benchmark", dimension, 254, "mean", "none", "cpu", "float32")
    start = time.process_time()
    with open_library(path) as library, library.writer() as writer:
        writer.use_space(info, "benchmark", SplitRules())
        folder = writer.add_folder(Path("/benchmark"))
        fill(writer, folder, Texts(1, words), passages, dimension)
    seconds = time.process_time() - start
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return {"seconds": round(seconds, 2), "passages_per_second": round(passages / seconds), "bytes": size}


def measure_refresh(library: Library, words: int, dimension: int) -> dict[str, float]:
    """Measures a snapshot after each of some commits of 256 new passages."""
    texts = Texts(2, words)
    times = []
    with library.writer() as writer:
        first = 10_000_000 + int(time.time()) % 10_000_000
        (folder,) = [record.id for record in library.folders()]
        for round_ in range(12):
            fill(writer, folder, texts, 255, dimension, first=first + round_ * 1000)
            times.append(timed(lambda: library.snapshot(FINGERPRINT)))
    return spread(times)


def measure_keyword(library: Library, words: int, queries: int) -> dict[str, object]:
    """Measures keyword searches of 2 to 8 words drawn as the texts are, without and with a filter."""
    texts, random = Texts(3, words), np.random.default_rng(5)
    snapshot = library.snapshot(FINGERPRINT)
    mask = snapshot.select(Filters(types=("pdf", "txt")))
    asked = [" ".join(texts.draw(int(random.integers(2, 9)))) for _ in range(queries)]
    first = [timed(lambda query=query: snapshot.keyword(query, None, 200)) for query in asked]
    return {
        "plain": spread(first),
        "again": spread([timed(lambda query=query: snapshot.keyword(query, None, 200)) for query in asked]),
        "filtered": spread([timed(lambda query=query: snapshot.keyword(query, mask, 200)) for query in asked]),
    }


def measure_phrases(library: Library, queries: int) -> dict[str, object]:
    """Measures phrases of 2 to 6 words taken from the texts: over a border, inside, and of the commonest words."""
    snapshot, random = library.snapshot(FINGERPRINT), np.random.default_rng(6)
    texts: list[tuple[str, str]] = []
    for _ in range(queries):
        first = int(random.choice(snapshot.passage_ids[: len(snapshot.passage_ids) // 2]))
        pair = snapshot.fetch([first, first + 1])
        if len(pair) == 2 and pair[first].content_id == pair[first + 1].content_id:
            texts.append((pair[first].text, pair[first + 1].text))
    asked: dict[str, list[str]] = {"border": [], "inside": [], "common": []}
    for left, right in texts:
        count = int(random.integers(1, 4))
        asked["border"].append(" ".join(left.split()[-count:] + right.split()[: int(random.integers(1, 4))]))
        at = int(random.integers(0, 20))
        asked["inside"].append(" ".join(left.split()[at : at + count + 1]))
    common = Texts(3, 90)._vocabulary[:12]
    asked["common"] = [" ".join(random.choice(common, 2)) for _ in range(len(texts) // 4)]
    report: dict[str, object] = {}
    for kind, phrases in asked.items():
        found: list[bool] = []

        def one(phrase: str, found: list[bool] = found) -> None:
            held = snapshot.holding((phrase,), (), (), None)
            found.append(held is not None and bool(held.mask.any()))

        report[kind] = {**spread([timed(lambda phrase=phrase: one(phrase)) for phrase in phrases]),
                        "asked": len(phrases), "found": sum(found)}  # fmt: skip
    return report


def measure(path: Path, words: int, dimension: int, queries: int, index: bool) -> dict[str, object]:
    """Runs the measurements on a library that was built."""
    report: dict[str, object] = {}
    with open_library(path, exact_below=0) as library:
        report["first_load"] = round(timed(lambda: library.snapshot(FINGERPRINT)), 1)
        report["unchanged"] = spread([timed(lambda: library.snapshot(FINGERPRINT)) for _ in range(50)])
        report["refresh_after_256"] = measure_refresh(library, words, dimension)
        report["keyword"] = measure_keyword(library, words, queries)
        report["phrases"] = measure_phrases(library, queries)
        snapshot = library.snapshot(FINGERPRINT)
        filters = Filters(folder=Path("/benchmark/folder7"), types=("pdf",), after=1_600_000_000.0)
        report["select"] = spread([timed(lambda: snapshot.select(filters)) for _ in range(50)])
        vectors, query = snapshot.vectors, np.ones(dimension, np.float32)
        report["exact_scan"] = spread([timed(lambda: vectors @ query) for _ in range(30)])
        report["fetch_30"] = spread([timed(lambda: snapshot.fetch(snapshot.passage_ids[:30])) for _ in range(20)])
        report["folders_and_counts"] = spread([timed(lambda: (library.folders(), library.counts())) for _ in range(20)])
        if index:
            with library.writer() as writer:
                report["index_build_seconds"] = round(timed(lambda: writer.build_index(None, force=True)) / 1000, 1)
            fresh = library.snapshot(FINGERPRINT)
            report["index_load"] = round(timed(lambda: fresh.index), 1)
            found = fresh.index
            assert found is not None
            report["index_search"] = spread([timed(lambda: found.search(query, 100)) for _ in range(50)])
    return report


def main() -> int:
    """Runs the benchmark and prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=90, help="mean words of a passage")
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--index", action="store_true", help="also build the hnswlib index (minutes)")
    parser.add_argument("--library", type=Path, help="build it here and keep it; built already: measure only")
    arguments = parser.parse_args()
    os.environ.setdefault("SBERT_DESKTOP_MIN_FREE_MB", "100")
    report: dict[str, object] = {"passages": arguments.passages, "cpus": os.cpu_count()}
    with tempfile.TemporaryDirectory() as temporary:
        path = arguments.library or Path(temporary) / "library"
        if not (path / "catalog.sqlite").exists():
            report["write"] = build(path, arguments.passages, arguments.words, arguments.dimension)
        report |= measure(path, arguments.words, arguments.dimension, arguments.queries, arguments.index)
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
