"""CPU time until the window is visible and until a fresh process has answered its first query.

    python tests/benchmarks/startup.py [--runs N] [--json]

Peer: a fresh Python process that loads the same weights with sentence-transformers, encodes one
query and multiplies. CPU seconds include children. Caches are warm (one run of each comes first).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

WINDOW = """
import sys, time
from pathlib import Path
from sbert_desktop.ui import run
def commands():
    from sbert_desktop.app.facade import App
    return App(Path(sys.argv[1]))
import threading
from PySide6.QtWidgets import QApplication
import sbert_desktop.ui.main_window as mw
show = mw.MainWindow.show
def shown(self):
    show(self)
    QApplication.processEvents()
    print("visible", time.process_time(), flush=True)
mw.MainWindow.show = shown
loaded = {}
status = run.run_window(commands, Path(sys.argv[1]), screenshot=lambda w: loaded.update(m=sorted(
    m for m in ("torch", "transformers", "sentence_transformers", "umap", "sklearn") if m in sys.modules)))
print("heavy", ",".join(loaded.get("m", ["?"])), flush=True)
"""
SEARCH = """
import sys
from sbert_desktop.cli import main
status = main(["--library", sys.argv[1], "search", "when do I get my money back", "--json"])
print(",".join(m for m in ("torch", "transformers", "sentence_transformers", "umap", "sklearn") if m in sys.modules),
      file=sys.stderr)
sys.exit(status)
"""
PEER = """
import sys, os
os.environ["HF_HUB_OFFLINE"] = "1"
import numpy as np
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(sys.argv[1], device="cpu")
vectors = np.load(sys.argv[2])
query = model.encode(["when do I get my money back"], normalize_embeddings=True)[0]
print(np.argsort(-(vectors @ query))[:10])
"""


def cpu(code: str, *arguments: str, env: dict[str, str]) -> tuple[float, str, str]:
    """Runs code in a fresh interpreter; gives CPU seconds with children, output and errors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=env, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout, done.stderr


def main() -> None:
    """Runs and prints the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    import numpy as np

    from sbert_desktop.encoder.models import default_model_dir

    rows: dict[str, list[float]] = {
        "window visible": [],
        "first query, hits": [],
        "first query, best sentences too": [],
        "sentence-transformers": [],
    }
    with tempfile.TemporaryDirectory() as scratch:
        env["SBERT_DESKTOP_HOME"] = str(Path(scratch) / "home")
        library = str(Path(scratch) / "library")
        indexed = [
            sys.executable,
            "-m",
            "sbert_desktop",
            "--library",
            library,
            "index",
            str(ROOT / "resources" / "sample"),
        ]
        subprocess.run(indexed, env=env, check=True, capture_output=True)
        vectors = Path(scratch) / "v.npy"
        np.save(vectors, np.zeros((1000, 384), np.float32))
        model = str(default_model_dir())
        for run in range(args.runs + 1):
            _, out, _ = cpu(WINDOW, library, env=env)
            visible = float(next(line.split()[1] for line in out.splitlines() if line.startswith("visible")))
            heavy = next(line.partition(" ")[2] for line in out.splitlines() if line.startswith("heavy"))
            bare, _, err = cpu(SEARCH, library, env={**env, "SBERT_DESKTOP_SEARCH_BEST_SENTENCE": "no"})
            query, _, _ = cpu(SEARCH, library, env=env)
            peer, _, _ = cpu(PEER, model, str(vectors), env=env)
            if heavy or err.strip().splitlines()[-1:] not in ([], [""]):
                raise SystemExit(f"heavy libraries were loaded: window {heavy!r}, search {err!r}")
            if run:  # the first run warms the disk and the caches
                rows["window visible"].append(visible)
                rows["first query, hits"].append(bare)
                rows["first query, best sentences too"].append(query)
                rows["sentence-transformers"].append(peer)
    result = {name: {"median": statistics.median(v), "min": min(v), "max": max(v)} for name, v in rows.items()}
    if args.json:
        print(json.dumps(result))
        return
    for name, row in result.items():
        print(f"{name:32} median {row['median']:.2f} CPU-s   min {row['min']:.2f}   max {row['max']:.2f}")
    ratio = result["sentence-transformers"]["median"] / result["first query, hits"]["median"]
    print(f"first query is {ratio:.1f}x cheaper than sentence-transformers; no heavy library was imported")


if __name__ == "__main__":
    main()
