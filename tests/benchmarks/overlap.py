"""Does reading overlap with encoding, so that indexing takes as long as encoding alone would?

    python tests/benchmarks/overlap.py [FOLDER...] [--json]

Indexes copies of the folders (default: ../shared/data/tour) with the real model from a cold library, by the
command line, and encodes the same passages again with nothing beside. Reported: wall seconds of both, their
ratio (1.0: indexing is bound by the encoder), the share of the time in which the encoder worked, and the share
of the cores in use (main process and children).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def _indexed(folders: list[Path], library: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "sbert_desktop", "--library", str(library), "index", *map(str, folders)]
    began = time.monotonic()
    process = subprocess.Popen(
        [*command, "--json", "--quiet"], env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True
    )
    watched, spent, ended = psutil.Process(process.pid), {}, 0.0
    while process.poll() is None:
        try:
            for entry in [watched, *watched.children(recursive=True)]:
                times = entry.cpu_times()
                spent[entry.pid] = times.user + times.system
        except psutil.Error:
            pass
        time.sleep(0.1)
    ended = time.monotonic() - began
    report = json.loads(process.stdout.read() if process.stdout else "{}")
    speed = report["passages_per_second"] or 1.0
    return {
        "wall": ended,
        "run": report["seconds"],
        "encoding": report["encoded_passages"] / speed,
        "passages": report["encoded_passages"],
        "cpu": sum(spent.values()),
    }


def _encoding_alone(library: Path) -> float:
    from sbert_desktop.app.session import Session

    session = Session(library)
    try:
        encoder = session.encoder()
        snapshot = session.snapshot()
        records = snapshot.fetch([int(i) for i in snapshot.passage_ids[snapshot.alive]])
        texts = [record.text for record in records.values()]
        encoder.encode_passages(texts[:64])
        began = time.monotonic()
        encoder.encode_passages(texts)
        return time.monotonic() - began
    finally:
        session.close()


def main() -> None:
    """Runs both and prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folders", nargs="*", type=Path)
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    folders = args.folders or [ROOT.parent / "shared" / "data" / "tour"]
    with tempfile.TemporaryDirectory() as scratch:
        library = Path(scratch) / "library"
        run = _indexed(folders, library)
        alone = _encoding_alone(library)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    result = {
        "passages": run["passages"],
        "index_seconds": round(run["run"], 2),
        "encoding_alone_seconds": round(alone, 2),
        "index_over_encoding": round(run["run"] / alone, 2),
        "encoder_busy_share": round(run["encoding"] / run["run"], 2),
        "cores_in_use": round(run["cpu"] / run["wall"], 2),
        "cores": cores,
    }
    print(json.dumps(result) if args.json else "\n".join(f"{key:24} {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
