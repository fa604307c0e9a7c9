"""Queries at 2,000, 100,000 and 1,000,000 passages: by words, by meaning, by both, each with a filter and a phrase too.

    python tests/benchmarks/query.py [--passages 2000 100000] [--queries 100] [--keep DIR] [--no-index] [--json]

The libraries are made: texts that follow Zipf's law (from 20,000 passages on they repeat, so that making
them takes minutes, not hours), random unit vectors, ten folders. Timed is what comes after the query is encoded:
ranking, folding, and reading what is shown of ten documents. The filter is one folder of ten. Encoding a query
is timed apart, with the real model. Milliseconds by the clock, p50 and p95, and of CPU, p50: on a shared machine
the clock tells of the neighbours too.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

PER_DOCUMENT = 5
DISTINCT = 20_000
DIMENSION = 384
FINGERPRINT = "benchmark"


def texts(count: int, words: int = 60) -> list[str]:
    """Gives so many passages of made-up words, every word with its own rank."""
    from tests.benchmarks._made import vocabulary

    rng = np.random.default_rng(5)
    names = np.array(vocabulary(), dtype=object)
    weights = 1.0 / (np.arange(len(names)) + 2.7)
    cumulative = np.cumsum(weights / weights.sum())
    drawn = np.minimum(np.searchsorted(cumulative, rng.random((count, words))), len(names) - 1)
    return [" ".join(names[row]).capitalize() + "." for row in drawn]


def make(place: Path, passages: int, *, index: bool) -> None:
    """Makes a library; the passages of a document stand in a row of the texts, documents start anywhere in it."""
    from sbert_desktop.domain import Block, EncoderInfo, ExtractedText, Passage, SourceFile, SplitRules
    from sbert_desktop.library import open_library

    drawn = texts(min(passages, DISTINCT))
    rng = np.random.default_rng(9)
    info = EncoderInfo(FINGERPRINT, "benchmark", DIMENSION, 254, "mean", "none", "cpu", "float32")
    with open_library(place) as library, library.writer() as writer:
        writer.use_space(info, "benchmark", SplitRules())
        folder = writer.add_folder(Path("/made"))
        for number in range(passages // PER_DOCUMENT):
            first = int(rng.integers(len(drawn)))
            parts = [f"Document {number} begins."] + [drawn[(first + i) % len(drawn)] for i in range(PER_DOCUMENT - 1)]
            text = "\n".join(parts)
            cuts, start = [], 0
            for ordinal, part in enumerate(parts):
                cuts.append(Passage(ordinal, start, start + len(part), part))
                start += len(part) + 1
            file = SourceFile(
                Path(f"/made/sub-{number % 10}/{number}.txt"),
                len(text),
                (1 + number) * 10**9,
                content_hash=f"{number:064x}",
            )
            writer.put(folder, file, ExtractedText("txt", text, (Block(0, len(text)),), language="en"), cuts, ())
            if number % 1000 == 999:
                fill(writer, rng)
        fill(writer, rng)
        if index:
            writer.build_index(None)


def fill(writer, rng: np.random.Generator) -> None:  # type: ignore[no-untyped-def]
    """Gives all that waits random unit vectors."""
    writer.commit()
    while pending := writer.pending(tokens_hint_chars=2_000_000):
        ids = [passage for document in pending for passage, _ in document.passages]
        vectors = rng.standard_normal((len(ids), DIMENSION), dtype=np.float32)
        writer.put_vectors(ids, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
        writer.commit()


def cases(count: int) -> Iterator[tuple[str, list]]:  # type: ignore[type-arg]
    """Gives each kind of query with as many queries."""
    from sbert_desktop.domain import Filters, Mode, Parsed, Query

    rng = np.random.default_rng(21)
    lines = [text.rstrip(".").lower().split() for text in texts(DISTINCT)[:count]]
    asked = [" ".join(words[: int(rng.integers(2, 7))]) for words in lines]
    folder = Filters(folder=Path("/made/sub-3"))
    for mode in Mode:
        yield mode.value, [Query(text, mode=mode) for text in asked]
        yield f"{mode.value}, filter", [Query(text, mode=mode, filters=folder) for text in asked]
    phrases = [" ".join(words[10:13]) for words in lines]
    yield "hybrid, phrase", [Query(f'"{text}"', parsed=Parsed(text, phrases=(text,))) for text in phrases]
    yield "newest in a folder", [Query("folder:sub-3", filters=folder, parsed=Parsed("")) for _ in asked]
    yield "hybrid, recency", [Query(text, recency=0.3) for text in asked]


def measure(place: Path, count: int) -> dict[str, dict[str, float]]:
    """Times all kinds of queries on one library."""
    from sbert_desktop.domain import Mode
    from sbert_desktop.explore import Chance, search
    from sbert_desktop.library import open_library

    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((count + 96, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    chance = Chance(vectors[count:])
    out: dict[str, dict[str, float]] = {}
    with open_library(place) as library:
        snapshot = library.snapshot(FINGERPRINT)
        for kind, queries in cases(count):
            wall, cpu = [], []
            for number, query in enumerate(queries):
                vector = None if query.mode is Mode.KEYWORD else vectors[number]
                began, spent = time.perf_counter(), time.process_time()
                found = search(snapshot, replace(query, top=10), vector, chance=chance)
                snapshot.fetch([hit.passage_id for document in found.documents for hit in document.hits])
                wall.append((time.perf_counter() - began) * 1000)
                cpu.append((time.process_time() - spent) * 1000)
            out[kind] = {
                "p50": float(np.percentile(wall, 50)),
                "p95": float(np.percentile(wall, 95)),
                "cpu_p50": float(np.percentile(cpu, 50)),
                "cpu_p95": float(np.percentile(cpu, 95)),
            }
    return out


def encoding(count: int) -> dict[str, float]:
    """Times the encoding of a query with the real model."""
    from sbert_desktop.app.session import Session

    with tempfile.TemporaryDirectory() as scratch:
        session = Session(Path(scratch) / "library")
        encoder = session.encoder()
        wall = []
        for kind, queries in cases(count):
            if kind == "hybrid":
                for query in queries:
                    began = time.perf_counter()
                    encoder.encode_query(query.text)
                    wall.append((time.perf_counter() - began) * 1000)
        session.close()
    return {"p50": float(np.percentile(wall, 50)), "p95": float(np.percentile(wall, 95))}


def main() -> None:
    """Makes the libraries and prints the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--passages", type=int, nargs="+", default=[2_000, 100_000])
    options.add_argument("--queries", type=int, default=100)
    options.add_argument("--keep", type=Path, help="make the libraries here, or use those that are here")
    options.add_argument("--no-index", action="store_true")
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    rows: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for passages in args.passages:
            place = (args.keep or Path(scratch)) / f"library-{passages}"
            began = time.perf_counter()
            if not place.exists():
                make(place, passages, index=not args.no_index)
                print(f"{passages:,} passages made in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
            result = measure(place, args.queries)
            rows[str(passages)] = result
            for kind, figures in () if args.json else result.items():
                shown = "  ".join(f"{name} {value:7.1f}" for name, value in figures.items())
                print(f"{passages:>9,}  {kind:20} {shown}", flush=True)
    rows["encode_query"] = encoding(args.queries)
    print(json.dumps(rows) if args.json else f"encode_query {rows['encode_query']}")


if __name__ == "__main__":
    main()
