"""Measures "Check my quotes" and the versions of a document on a made-up library.

    python tests/benchmarks/quotes.py [--passages 20000] [--quotes 100] [--library DIR]

Half of the quotations are exact (every second one over the border of two passages), three in ten have two words
changed, two in ten are made up. Encoding is left out: the vectors are random, and made in no time. CPU milliseconds
of this process.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from library import FINGERPRINT, build

from sbert_desktop.domain import ContentId, Snapshot, Vectors
from sbert_desktop.explore.quotations import find_quotations
from sbert_desktop.explore.quotes import check_quotations
from sbert_desktop.library import Library, open_library

WORDS = 25


def make_quotes(library: Library, snapshot: Snapshot, count: int) -> list[tuple[str, str]]:
    """Gives (verdict expected, quotation)."""
    random = np.random.default_rng(4)
    made = []
    for number in range(count):
        content = ContentId(int(random.choice(snapshot.contents)))
        words = library.text_of(content).text.split()
        breaks = [place for place, word in enumerate(words) if word.endswith(".")]
        start = breaks[0] - WORDS // 2 if number % 2 else int(random.integers(0, len(words) - WORDS))
        quote = words[max(0, start) : start + WORDS]
        if number % 10 >= 8:
            made.append(("not found", " ".join(random.permutation(words)[:WORDS])))
        elif number % 10 >= 5:
            quote[3], quote[11] = "surely", "hardly"
            made.append(("changed", " ".join(quote)))
        else:
            made.append(("exact", " ".join(quote)))
    return made


def measure_quotes(library: Library, count: int) -> dict[str, object]:
    """Checks a draft of so many quotations."""
    snapshot = library.snapshot(FINGERPRINT)
    quotes = make_quotes(library, snapshot, count)
    draft = "\n\n".join(f"He says: “{quote}” there." for _, quote in quotes)
    random = np.random.default_rng(5)

    def encode(texts: list[str]) -> Vectors:
        vectors = random.standard_normal((len(texts), snapshot.vectors.shape[1]), np.float32)
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    snapshot.keyword("warm", None, 10)
    cpu, wall = time.process_time(), time.perf_counter()
    found = check_quotations(snapshot, find_quotations(draft), is_own=lambda content: False, encode=encode)  # type: ignore[arg-type]
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    verdicts = ["not found" if source is None else "exact" if source.exact else "changed" for source in found]
    right = Counter(expected for (expected, _), verdict in zip(quotes, verdicts, strict=True) if expected == verdict)
    return {
        "passages": snapshot.passages,
        "quotes": count,
        "cpu_ms_per_quote": round(cpu * 1000 / count, 2),
        "cpu_seconds": round(cpu, 2),
        "wall_seconds": round(wall, 2),
        "right": dict(right),
        "of": dict(Counter(expected for expected, _ in quotes)),
    }


def main() -> int:
    """Builds (or opens) the library and measures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--passages", type=int, default=20_000)
    parser.add_argument("--quotes", type=int, default=100)
    parser.add_argument("--library", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        path = options.library or Path(temporary) / "library"
        if not path.exists():
            build(path, options.passages, 90, 384)
        with open_library(path) as library:
            print(json.dumps(measure_quotes(library, options.quotes), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
