"""How soon words are findable after 40,000 small files were added, and that the count is honest.

    python tests/benchmarks/first_words.py [--files 40000] [--stop-after 90] [--json]

Indexes in one process (real encoder) and asks by words in another until the first hit; then stops
the indexing and compares what ``status`` counts with what is there.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def main() -> None:
    """Runs and prints the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--files", type=int, default=40_000)
    options.add_argument("--stop-after", type=float, default=90.0)
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    from tests.benchmarks import _made

    with tempfile.TemporaryDirectory() as scratch:
        folder, library = Path(scratch) / "files", Path(scratch) / "library"
        _made.write_files(folder, args.files, 60)
        word = _made.vocabulary()[40]
        base = [sys.executable, "-m", "sbert_desktop", "--library", str(library)]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        began = time.monotonic()
        indexing = subprocess.Popen(
            [*base, "index", str(folder), "--json"], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        first: float | None = None
        timeline = []
        while indexing.poll() is None and time.monotonic() - began < args.stop_after:
            asked = subprocess.run(
                [*base, "search", word, "--mode", "keyword", "--json"],
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            now = time.monotonic() - began
            answer = json.loads(asked.stdout or "{}")
            if answer.get("hits") and first is None:
                first = now
            if "passages" in answer:
                timeline.append((round(now, 1), answer["passages"], answer["embedded_passages"]))
            time.sleep(2.0)
        indexing.send_signal(signal.SIGINT)
        indexing.wait()
        state = json.loads(subprocess.run([*base, "status", "--json"], env=env, capture_output=True, text=True).stdout)
    result = {
        "first_hit_seconds": first,
        "files": args.files,
        "documents_at_end": state["documents"],
        "passages_at_end": state["passages"],
        "embedded_at_end": state["embedded_passages"],
        "timeline": timeline[:: max(1, len(timeline) // 12)],
    }
    print(json.dumps(result) if args.json else "\n".join(f"{k:20} {v}" for k, v in result.items()))


if __name__ == "__main__":
    main()
