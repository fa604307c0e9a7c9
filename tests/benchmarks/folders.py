"""200,000 tiny files in 20,000 folders: first scan, no-change rescan, watch start-up, and memory.

    python tests/benchmarks/folders.py [--files 200000] [--folders 20000] [--json]

The peer of the walk is ``os.walk`` with ``os.stat`` of each file, in the same run; each part runs in a
process of its own, so that memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


@dataclass(slots=True)
class Row:
    """What the library knows of a file."""

    id: int
    size: int
    mtime_ns: int
    device: int
    inode: int
    content: int
    problem_code: str = ""


def make(root: Path, files: int, folders: int) -> None:
    """Writes the tree: ten folders of folders of folders, the files spread evenly."""
    places = [root / f"{n % 10:02d}" / f"{n // 10 % 40:02d}" / f"folder {n:05d}" for n in range(folders)]
    for place in places:
        place.mkdir(parents=True)
    for n in range(files):
        with open(places[n % folders] / f"note {n:06d}.txt", "wb") as stream:
            stream.write(b"note %d" % n)


def peak() -> float:
    """Gives the peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_peer(root: Path) -> dict[str, float]:
    """Walks and stats with the standard library."""
    began, cpu = time.monotonic(), time.process_time()
    count = 0
    for place, _, names in os.walk(root):
        for name in names:
            os.stat(os.path.join(place, name), follow_symlinks=False)
            count += 1
    return {"files": count, "seconds": time.monotonic() - began, "cpu": time.process_time() - cpu}


def measure_scan(root: Path) -> dict[str, float]:
    """Scans for the first time, then again with everything known."""
    from sbert_desktop.app.rules import Rules
    from sbert_desktop.app.scanning import compare, scan
    from sbert_desktop.jobs import NullContext
    from sbert_desktop.settings import Settings

    rules = Rules.of(Settings(root / "no settings"))
    start = peak()
    began, cpu = time.monotonic(), time.process_time()
    found = scan(root, NullContext(), rules=rules)
    out = {"files": len(found.files), "first": time.monotonic() - began, "first_cpu": time.process_time() - cpu}
    out["first_memory"] = peak() - start
    known = {
        path: Row(n, file.size, file.mtime_ns, file.device, file.inode, n)
        for n, (path, file) in enumerate(found.files.items())
    }
    del found
    before = peak()
    began, cpu = time.monotonic(), time.process_time()
    again = scan(root, NullContext(), rules=rules, known=known)  # type: ignore[arg-type]
    changes = compare(again, known)  # type: ignore[arg-type]
    out |= {"rescan": time.monotonic() - began, "rescan_cpu": time.process_time() - cpu}
    out["rescan_memory"] = peak() - before
    assert changes.unchanged == len(known), changes.unchanged
    assert not [*changes.added, *changes.changed, *changes.removed]
    return out


def measure_watch(root: Path) -> dict[str, float]:
    """Starts to watch, waits for a change to be told, and stops."""
    from sbert_desktop.app.watching import Watching
    from sbert_desktop.domain import FolderRules

    start = peak()
    heard = threading.Event()
    told: list[Path] = []
    target = next(root.rglob("*.txt"))

    def on_change(paths: frozenset[Path]) -> None:
        told.extend(paths)
        if target in paths:
            heard.set()

    watching = Watching(on_change)
    began, cpu = time.monotonic(), time.process_time()
    watching.start([(root, FolderRules())])
    returned = time.monotonic() - began
    while watching.states()[root][0] == "":
        time.sleep(0.01)
    out = {"returned_ms": returned * 1000, "ready": time.monotonic() - began, "cpu": time.process_time() - cpu}
    out["memory"] = peak() - start
    out["live"] = float(watching.states()[root][0] == "live")
    began = time.monotonic()
    target.write_text("changed")
    heard.wait(20)
    out["heard_after"] = time.monotonic() - began
    began = time.monotonic()
    watching.stop()
    out["stop"] = time.monotonic() - began
    return out


def main() -> None:
    """Makes the tree, runs each part in a process of its own, prints the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--files", type=int, default=200_000)
    options.add_argument("--folders", type=int, default=20_000)
    options.add_argument("--part", choices=("peer", "scan", "watch"))
    options.add_argument("--root", type=Path)
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    if args.part:
        print(json.dumps({"peer": measure_peer, "scan": measure_scan, "watch": measure_watch}[args.part](args.root)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "files"
        make(root, args.files, args.folders)
        results = {}
        for part in ("peer", "scan", "peer", "watch"):
            done = subprocess.run(
                [sys.executable, __file__, "--part", part, "--root", str(root)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            results[part] = {key: round(value, 3) for key, value in json.loads(done.stdout).items()}
    if args.json:
        print(json.dumps(results))
        return
    for part, figures in results.items():
        print(part, ", ".join(f"{key} {value:,}" for key, value in figures.items()))


if __name__ == "__main__":
    main()
