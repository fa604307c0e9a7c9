"""All near pairs of passages against sentence-transformers' paraphrase mining: CPU seconds, memory, recall.

    python tests/benchmarks/near_pairs.py [--rows 25000 40000 100000] [--floors 0.9 0.7] [--bf16] [--json]

The passages are the distinct sentences of ../shared/data in a mixed order (about 105,000), encoded once by our encoder
and kept in the temporary folder (``--vectors FILE.npy`` takes others). Each way runs in a fresh process with one
thread, so that CPU seconds are those of the work; imports and loading are not counted. ``exact`` multiplies everything
by everything in float32, block by block, and is the truth for recall; ``paraphrase mining`` is
``paraphrase_mining_embeddings`` as it comes; ``--bf16`` adds torch's bfloat16 product, block by block, with each
candidate verified in float32. At the end: the join of 1 % new rows, and rows that are all alike (20,000 of one form,
and 5,000 equal ones).
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
sys.path.insert(0, str(ROOT))

BEGIN = """
import json, sys, time
import numpy as np
def peak():
    try:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except OSError:
        import resource  # counts what the parent held, too
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
vectors = np.load(sys.argv[1], mmap_mode="r")[: int(sys.argv[2])]
floor = float(sys.argv[3])
"""
END = """
print(json.dumps({"cpu": time.process_time() - began, "seconds": time.monotonic() - clock,
                  "mb": peak(), "mb_before": before}))
keys = np.minimum(a, b).astype(np.int64) << 32 | np.maximum(a, b)
np.save(sys.argv[4], np.stack([keys, cosines.astype(np.float32).view(np.int32)]))
"""
START = """
before = peak()
began, clock = time.process_time(), time.monotonic()
"""
# Equal rows stand as one in ours: written out for the comparison.
EXPAND = """
stands = {}
for row in np.flatnonzero((pairs.same >= 0) & (pairs.same != np.arange(len(pairs.same)))).tolist():
    stands.setdefault(int(pairs.same[row]), []).append(row)
of = lambda row: [row, *stands.get(row, ())]
more = [(i, j, 1.0) for first in stands if len(stands[first]) < 1000 for n, i in enumerate(of(first))
        for j in of(first)[n + 1 :]]
for i, j, cosine in zip(pairs.a.tolist(), pairs.b.tolist(), pairs.cosine.tolist()) if more else ():
    more += [(x, y, cosine) for x in of(i) for y in of(j) if (x, y) != (i, j)]
a, b, cosines = (np.concatenate([side, np.array([m[n] for m in more], side.dtype)])
                 for n, side in enumerate((pairs.a, pairs.b, pairs.cosine)))
"""
WAYS = {
    "near pairs": """
from sbert_desktop.explore.near_pairs import near_pairs
""" + START + """
pairs = near_pairs(vectors, np.ones(len(vectors), bool), floor=floor, workers=1)
""" + EXPAND + """
""",
    "paraphrase mining": """
import torch
from sentence_transformers.util import paraphrase_mining_embeddings
torch.set_num_threads(1)
vectors = torch.from_numpy(np.array(vectors))
""" + START + """
found = paraphrase_mining_embeddings(vectors)
found = [(i, j, score) for score, i, j in found if score >= floor]
a, b = (np.array([pair[side] for pair in found], np.int64) for side in (0, 1))
cosines = np.array([pair[2] for pair in found], np.float32)
""",
    "exact": START + """
found = []
for first in range(0, len(vectors), 1024):
    for second in range(first, len(vectors), 1024):
        block = vectors[first : first + 1024] @ vectors[second : second + 1024].T
        i, j = np.nonzero(block >= floor - 1e-6)
        keep = j + second > i + first
        found.append((i[keep] + first, j[keep] + second, block[i[keep], j[keep]]))
a, b, cosines = (np.concatenate(side) for side in zip(*found))
""",
    "bf16": """
import torch
torch.set_num_threads(1)
all_rows = torch.from_numpy(np.array(vectors))
""" + START + """
short = all_rows.bfloat16()
found = []
for first in range(0, len(vectors), 1024):
    for second in range(first, len(vectors), 4096):
        block = short[first : first + 1024] @ short[second : second + 4096].T
        i, j = torch.nonzero(block >= floor - 0.01, as_tuple=True)
        keep = j + second > i + first
        i, j = i[keep] + first, j[keep] + second
        cosines = (all_rows[i] * all_rows[j]).sum(dim=1)
        near = cosines >= floor
        found.append((i[near].numpy(), j[near].numpy(), cosines[near].numpy()))
a, b, cosines = (np.concatenate(side) for side in zip(*found))
""",
    "join of 1 % new rows": """
from sbert_desktop.explore.near_pairs import near_pairs
old = len(vectors) * 99 // 100
known = near_pairs(vectors[:old], np.ones(old, bool), floor=floor, workers=1)
""" + START + """
pairs = near_pairs(vectors, np.ones(len(vectors), bool), floor=floor, workers=1, known=known)
""" + EXPAND + """
""",
}  # fmt: skip


def sentences() -> Iterator[str]:
    """Gives the sentences of ../shared/data."""

    def cut(text: str) -> Iterator[str]:
        for piece in re.split(r"(?<=[.!?])\s+|\n\s*\n", text):
            if len(piece.split()) >= 4:
                yield piece.strip()

    for path in sorted([*DATA.glob("clustering/bbc_news/*/*.txt"), *DATA.glob("large/books/*.txt")]):
        yield from cut(path.read_text(encoding="utf-8", errors="replace"))
    for path in sorted([*DATA.glob("retrieval/*/*.jsonl"), *DATA.glob("pairs/neardup_articles_1000/docs.jsonl")]):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield from cut(str(json.loads(line).get("text", "")))
    for folder, columns in (("clustering", 1), ("sts", 2), ("pairs", 2), ("nli", 2)):
        for path in sorted((DATA / folder).glob("*.csv")):
            with path.open(encoding="utf-8", newline="") as lines:
                for row in csv.DictReader(lines):
                    yield from list(row.values())[:columns]


def encoded() -> Path:
    """Gives a file of the sentences' vectors, encoding them where that was not done yet (minutes)."""
    texts = list(dict.fromkeys(sentences()))
    random.Random(5).shuffle(texts)
    mark = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
    file = Path(tempfile.gettempdir()) / f"sbert-desktop-near-pairs-{mark}.npy"
    if not file.exists():
        from sbert_desktop.app.session import Session

        print(f"encoding {len(texts)} sentences", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            session = Session(Path(folder) / "library", interactive=False)
            vectors = session.encoder().encode_passages(texts)
            session.close()
        np.save(file.with_suffix(".part.npy"), vectors)
        file.with_suffix(".part.npy").rename(file)
    return file


def measured(way: str, vectors: Path, rows: int, floor: float, folder: Path) -> tuple[dict[str, float], np.ndarray]:
    """Runs one way in a process of its own; gives its figures and its pairs as rising int64 numbers."""
    out = folder / "pairs.npy"
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + WAYS[way] + END, str(vectors), str(rows), str(floor), str(out)],
        capture_output=True, text=True, check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT),
             "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout), np.load(out)


def comparisons(vectors: Path, sizes: list[int], floors: list[float], with_bf16: bool) -> Iterator[dict[str, object]]:
    """Measures all ways at all sizes; the peers at the highest floor only, as lower ones cost them the same."""
    available = len(np.load(vectors, mmap_mode="r"))
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            if rows > available:
                print(f"only {available} vectors: {rows} left out", file=sys.stderr)
                continue
            mining = 0.0
            for floor in sorted(floors, reverse=True):
                _, (truth, bits) = measured("exact", vectors, rows, floor, Path(folder))
                truth = truth[bits.astype(np.int32).view(np.float32) >= floor + 1e-6]
                others = ["paraphrase mining", *(["bf16"] if with_bf16 else [])] if not mining else []
                for way in [*others, "near pairs", "join of 1 % new rows"]:
                    figures, (found, _) = measured(way, vectors, rows, floor, Path(folder))
                    mining = mining or figures["cpu"]
                    yield {"rows": rows, "floor": floor, "way": way, **figures, "pairs": len(found),
                           "recall": float(np.isin(truth, found).mean()) if len(truth) else 1.0,
                           "times_less": mining / figures["cpu"]}  # fmt: skip


def alike() -> Iterator[dict[str, object]]:
    """Measures rows without number that are like each other."""
    rng = np.random.default_rng(3)
    core = rng.standard_normal(384)
    own = rng.standard_normal((20_000, 384))
    equal = rng.standard_normal((10_000, 384))
    equal[:5_000] = equal[0]
    for name, vectors in (
        ("20,000 of one form", core / np.linalg.norm(core) + 0.4 * own / np.linalg.norm(own, axis=1, keepdims=True)),
        ("5,000 equal ones", equal),
    ):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "vectors.npy"
            np.save(file, (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32))
            figures, (found, _) = measured("near pairs", file, len(vectors), 0.7, Path(folder))
            yield {"rows": len(vectors), "floor": 0.7, "way": name, **figures, "pairs": len(found)}


def print_line(result: dict[str, object]) -> None:
    print(
        "{rows:>7} rows, >= {floor:.2f}  {way:<22}{cpu:8.1f} CPU-s{times_less:>7.1f}x"
        "{mb:8.0f} MB ({mb_before:.0f} before){pairs:>10} pairs, recall {recall:.5f}".format(**result),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[25_000, 40_000, 100_000])
    parser.add_argument("--floors", type=float, nargs="+", default=[0.9, 0.7])
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.vectors is None and not DATA.is_dir():
        raise SystemExit("needs ../shared/data or --vectors")
    results = []
    for result in chain(comparisons(args.vectors or encoded(), args.rows, args.floors, args.bf16), alike()):
        results.append(result)
        if not args.json:
            print_line({"recall": float("nan"), "times_less": float("nan"), **result})
    if args.json:
        print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
