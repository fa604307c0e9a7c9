"""Queries and the window's event loop while a folder is being indexed behind them.

    python tests/benchmarks/window.py [--passages 100000] [--queries 60] [--json]

A library with so many passages is made (real word entries, random unit vectors, real encoder). The real
window runs offscreen and indexes new text files all the while; a 5 ms timer measures how late the
event loop comes. Queries are asked as by a person who pauses, so that bulk encoding has begun again
each time: every other one with a folder filter past the page, to be timed, the rest in the page.
``ms`` is encode + search + fetch + group, as the window shows it; ``felt`` is from asking to the
hits standing in the event queue of the window.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def percentile(values: list[float], share: float) -> float:
    """Gives a percentile of a list."""
    import numpy as np

    return float(np.percentile(values, share)) if values else float("nan")


def main() -> None:
    """Makes the library, runs the window, prints the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--passages", type=int, default=100_000)
    options.add_argument("--queries", type=int, default=60)
    options.add_argument("--files", type=int, default=6000)
    options.add_argument("--json", action="store_true")
    options.add_argument("--keep", type=Path, help="use or make the library here and keep it")
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        base = args.keep or Path(scratch)
        base.mkdir(parents=True, exist_ok=True)
        os.environ.setdefault("SBERT_DESKTOP_HOME", str(base / "home"))
        from sbert_desktop.app.session import Session
        from tests.benchmarks import _made

        began = time.monotonic()
        if not (base / "library").exists():
            session = Session(base / "library")
            _made.fill_library(base / "library", args.passages, session)
            session.close()
        fresh = Path(scratch) / "fresh"
        _made.write_files(fresh, args.files, 160, seed=random.randrange(10**6))
        print(f"made in {time.monotonic() - began:.0f} s", file=sys.stderr)
        result = measure(base / "library", base / "made", fresh, args.queries)
    if args.json:
        print(json.dumps(result))
    else:
        for key, value in result.items():
            print(f"{key:34} {value:.1f}" if isinstance(value, float) else f"{key:34} {value}")


def measure(library: Path, root: Path, fresh: Path, count: int) -> dict[str, object]:
    """Runs the window; gives milliseconds and what ran beside."""
    from PySide6.QtCore import QTimer

    from sbert_desktop.app.facade import App
    from sbert_desktop.app.views import IndexProgress, SearchView
    from sbert_desktop.domain import Filters, Finished, Partial, Query
    from sbert_desktop.settings import Settings
    from sbert_desktop.ui.run import run_window
    from tests.benchmarks import _made

    gaps: list[float] = []
    took: list[float] = []
    felt: list[float] = []
    progress: list[IndexProgress] = []
    state: dict[str, object] = {"asked": 0.0, "job": None, "window": None, "left": list(_made.queries(count))}

    class Watched(App):
        def connect(self, post):  # type: ignore[no-untyped-def,override]
            def seen(event):  # type: ignore[no-untyped-def]
                if isinstance(event, Partial):
                    if isinstance(event.result, IndexProgress):
                        progress.append(event.result)
                    if isinstance(event.result, SearchView) and event.job_id == state["job"]:
                        felt.append((time.perf_counter() - float(str(state["asked"]))) * 1000)
                        took.append(event.result.milliseconds)
                if isinstance(event, Finished) and event.failure is not None:
                    print(event.failure, file=sys.stderr)
                post(event)

            super().connect(seen)

    settings = Settings()
    built: list[Watched] = []

    def make() -> Watched:
        built.append(Watched(library, settings))
        return built[0]

    def begin(window) -> None:  # type: ignore[no-untyped-def]
        state["window"] = window
        app = built[0]
        app.add_folders([fresh])
        QTimer.singleShot(8000, ask)
        tick.start()

    def ask() -> None:
        left = state["left"]
        assert isinstance(left, list)
        if not left:
            tick.stop()
            state["window"].close()  # type: ignore[attr-defined]
            return
        text = left.pop()
        if len(left) % 2:
            # Every other query is typed into the page, so that its list and preview are painted too.
            state["window"].search_for(text)  # type: ignore[attr-defined]
            QTimer.singleShot(random.randrange(1300, 2200), ask)
            return
        built[0].typing()
        state["asked"] = time.perf_counter()
        state["job"] = built[0].search(Query(text, top=10, filters=Filters(folder=root / f"sub-{len(left) % 10}")))
        QTimer.singleShot(random.randrange(1300, 2200), ask)

    last = [0.0]

    def on_tick() -> None:
        now = time.perf_counter()
        if last[0]:
            gaps.append((now - last[0]) * 1000 - 5.0)
        last[0] = now

    from PySide6.QtWidgets import QApplication

    application = QApplication.instance() or QApplication(sys.argv[:1])
    tick = QTimer()
    tick.setInterval(5)
    from PySide6.QtCore import Qt

    tick.setTimerType(Qt.TimerType.PreciseTimer)
    tick.timeout.connect(on_tick)
    from sbert_desktop.ui.main_window import MainWindow

    original = MainWindow._check_ready

    def ready(self) -> None:  # type: ignore[no-untyped-def]
        original(self)
        if self._ready and state["window"] is None:
            QTimer.singleShot(0, lambda: begin(self))

    MainWindow._check_ready = ready  # type: ignore[method-assign]
    run_window(make, library)
    del application
    end = progress[-1] if progress else None
    return {
        "queries": len(took),
        "query ms p50": percentile(took, 50),
        "query ms p95": percentile(took, 95),
        "query ms worst": max(took, default=0.0),
        "felt ms p50": percentile(felt, 50),
        "felt ms p95": percentile(felt, 95),
        "event loop late ms p50": percentile(gaps, 50),
        "event loop late ms p99": percentile(gaps, 99),
        "event loop late ms worst": max(gaps, default=0.0),
        "ticks": len(gaps),
        "indexed files beside": f"{end.files_done} of {end.files_total}" if end else "none",
        "encoded passages beside": end.passages_done if end else 0,
        "precision": os.environ.get("SBERT_DESKTOP_ADVANCED_PRECISION", "auto"),
    }


if __name__ == "__main__":
    main()
