"""How often intervals of labels that share documents hold the truth: drawn by document, and as if none were shared.

    python tests/benchmarks/coverage.py [--samples 400]

Pairs of few documents, all hanging together; a part of each value (``share`` of its variance) is its documents' own.
95 of 100 is what an interval promises; ``width`` is beside the width that would be just right.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
SETTINGS = ((8, 10), (10, 20), (15, 30), (15, 60), (25, 40), (50, 50), (50, 100), (100, 200))


def main() -> int:
    """Prints a line per setting."""
    from sbert_desktop.training import resampling

    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--samples", type=int, default=400)
    samples = arguments.parse_args().samples
    resampling.FEWEST_DOCUMENTS = 2
    rng = np.random.default_rng(0)
    print("documents labels share |   by document, width | as if independent, width")
    for documents, count in SETTINGS:
        for share in (0.0, 0.3, 0.7):
            found: dict[str, list[tuple[bool, float]]] = {"shared": [], "alone": []}
            truths = []
            for _ in range(samples):
                ends = np.array([rng.choice(documents, 2, replace=False) for _ in range(count)])
                own = rng.normal(size=documents) * np.sqrt(share / 2)
                values = own[ends].sum(axis=1) + rng.normal(size=count) * np.sqrt(1 - share)
                truths.append(values.mean())
                one = resampling.Draws(np.zeros(count, np.int64), ends.tolist())
                for name, draws in (("shared", one), ("alone", resampling.Draws(np.arange(count)))):
                    weights = draws.weights(rng, 500)
                    low, high = np.quantile((weights * values).sum(axis=1) / weights.sum(axis=1), (0.025, 0.975))
                    found[name].append((bool(low <= 0 <= high), float(high - low)))
            right = 2 * 1.96 * float(np.std(truths))
            said = []
            for some in found.values():
                hits, width = np.mean(some, axis=0)
                said.append(f"{100 * hits:5.1f}  {width / right:.2f}")
            print(f"{documents:9} {count:6} {share:5} | {said[0]:>20} | {said[1]:>20}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
