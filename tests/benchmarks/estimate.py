"""Is the range that is shown before a folder is added right?

    python tests/benchmarks/estimate.py [FOLDER...] [--json]

For each folder (BBC news and the tour by default) an estimate is made, then the folder is indexed
into a fresh library, as the window does it; prints estimate, truth, and by which factor the middle of
the range was off. The issue asks for 1.5 at most.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATA = ROOT.parent / "shared" / "data"


def measure(folder: Path) -> dict[str, object]:
    """Estimates and indexes one folder."""
    from sbert_desktop.app.estimating import run_estimate
    from sbert_desktop.app.indexing import IndexRequest, run_index
    from sbert_desktop.app.session import Session
    from sbert_desktop.jobs import NullContext

    with tempfile.TemporaryDirectory() as scratch:
        library = Path(scratch) / "library"
        session = Session(library, interactive=True)
        session.encoder()
        began = time.monotonic()
        estimate = run_estimate(session, [folder], NullContext())
        spent = time.monotonic() - began
        began = time.monotonic()
        report = run_index(session, IndexRequest((folder,)), NullContext())
        seconds = time.monotonic() - began
        session.close()
        disk = sum(path.stat().st_size for path in library.rglob("*") if path.is_file())

    def off(low: float, high: float, truth: float) -> float:
        middle = (low * high) ** 0.5
        return max(middle / truth, truth / middle)

    return {
        "folder": folder.name,
        "files": estimate.files,
        "documents": report.documents,
        "passages": report.passages,
        "estimate_took": spent,
        "seconds_range": estimate.seconds,
        "seconds": seconds,
        "seconds_off": off(*estimate.seconds, seconds),
        "disk_range": estimate.disk,
        "disk": disk,
        "disk_off": off(*estimate.disk, disk),
        "unread": [f"{u.name} {u.documents}" for u in estimate.unread],
    }


def main() -> None:
    """Runs and prints."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folders", nargs="*", type=Path, default=[DATA / "clustering" / "bbc_news", DATA / "tour"])
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    for folder in args.folders:
        row = measure(folder)
        print(json.dumps(row) if args.json else "\n".join(f"{k:16} {v}" for k, v in row.items()) + "\n", flush=True)


if __name__ == "__main__":
    main()
