"""The map's canvas: CPU time of frames while panning, of hovering, of a lasso around 10 %, and memory.

    python tests/benchmarks/map_canvas.py [--points 100000 1000000] [--ratio 1] [--json]

Offscreen, 1280 x 772 logical pixels; ``--ratio 2`` draws at 200 %. A frame is the whole paint event: points, labels,
contours off, and copying the picture to the window. Times are of the GUI thread's own CPU, so that other programs do
not count. Points are made: 60 themes with 4 parts each, labelled.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ["QT_QPA_PLATFORM"] = "offscreen"

import numpy as np  # noqa: E402


def made(points: int, themes: int = 60):
    """Gives a map and its colours."""
    from sbert_desktop.app.atlas_views import ColourBy, ColourGroup, ColourView, MapLabel, MapRequest, MapView

    rng = np.random.default_rng(7)
    middles = rng.uniform(0, 20, (themes, 2)) * [1.6, 1.0]
    theme = rng.integers(0, themes, points)
    positions = (middles[theme] + rng.normal(size=(points, 2)) * 0.6).astype(np.float32)
    sizes = np.bincount(theme, minlength=themes)
    labels = [MapLabel(f"A theme called {at}", *middles[at].tolist(), float(sizes[at]), 0, at) for at in range(themes)]
    labels += [MapLabel(f"part {at} {part}", *(middles[at] + rng.normal(size=2) * 0.5).tolist(), float(sizes[at] / 4),
                        1, at) for at in range(themes) for part in range(4)]
    whole = np.arange(points + 1, dtype=np.int64)
    view = MapView(MapRequest(), positions, np.ones(points, np.int32), whole[:-1], whole[:-1] + 1, whole,
                   np.zeros(points, np.bool_), tuple(labels))
    groups = tuple(ColourGroup(f"theme {at}", int(sizes[at]), at, at) for at in range(39))
    colours = ColourView(ColourBy.THEME, np.where(theme < 39, theme, -1).astype(np.int32), groups, None, "", "",
                         np.full(points, np.nan))
    return view, colours


def timed(work: Callable[[int], object], times: int = 40) -> tuple[float, float]:
    """Gives the median and the 95th percentile of the CPU milliseconds of a call."""
    work(0)
    spent = []
    for at in range(times):
        start = time.thread_time()
        work(at + 1)
        spent.append((time.thread_time() - start) * 1000)
    return float(np.median(spent)), float(np.quantile(spent, 0.95))


def memory() -> float:
    """Gives what the process holds now, in MB."""
    import psutil

    return float(psutil.Process().memory_info().rss) / 1e6


def measure(points: int) -> dict[str, tuple[float, float] | float]:
    """Gives what one size of map costs."""
    from PySide6.QtCore import QPoint
    from PySide6.QtWidgets import QApplication

    from sbert_desktop.ui.errands import Errands
    from sbert_desktop.ui.map.canvas import MapCanvas

    app = QApplication.instance()
    assert app is not None
    view, colours = made(points)
    errands = Errands()
    canvas = MapCanvas(errands)
    canvas.resize(1280, 772)
    canvas.show()
    before, clock, longest = memory(), time.perf_counter(), 0.0
    drawn: list[bool] = []
    canvas.ready.connect(lambda: drawn.append(True))
    start = time.thread_time()
    canvas.set_map(view)
    longest = time.thread_time() - start
    while not drawn:
        start = time.thread_time()
        app.processEvents()
        longest = max(longest, time.thread_time() - start)
        time.sleep(0.001)
    found: dict[str, tuple[float, float] | float] = {"until drawn, ms": (time.perf_counter() - clock) * 1000}
    start = time.thread_time()
    canvas.set_colours(colours)
    canvas.repaint()
    longest = max(longest, time.thread_time() - start)
    found["longest in the GUI thread, ms"] = longest * 1000
    found["memory more, MB"] = memory() - before

    def pan(at: int) -> None:
        canvas.pan_by(7 if at % 20 < 10 else -7, 3 if at % 20 < 10 else -3)
        canvas.repaint()

    found["panning, whole map"] = timed(pan)
    found["hover"] = timed(lambda at: canvas.point_at(QPoint(200 + 20 * at, 100 + 14 * at)))
    low, high = view.positions.min(axis=0), view.positions.max(axis=0)
    middle, turn = (low + high) / 2, np.linspace(0, 2 * np.pi, 120)[:-1]
    radius = next(r for r in np.linspace(0.5, 12, 60)
                  if (((view.positions - middle) ** 2).sum(axis=1) < r * r).mean() >= 0.1)
    line = (middle + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)).astype(np.float32)

    def lasso(at: int) -> None:
        canvas.clear_selection()
        canvas.select(canvas.points_inside(line), outline=line)
        canvas.repaint()

    found["lasso of 10 % until drawn"] = timed(lasso, 9)
    found["panning, 10 % selected"] = timed(pan)
    canvas.clear_selection()
    found["colours until drawn"] = timed(lambda at: (canvas.set_colours(colours), canvas.repaint()), 9)
    canvas.zoom_by(6.0)
    canvas.finish_motion()
    found["panning, zoomed in 6 times"] = timed(pan)
    canvas.close()
    errands.close()
    return found


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--ratio", type=float, default=1.0)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    os.environ["QT_SCALE_FACTOR"] = str(asked.ratio)
    from PySide6.QtWidgets import QApplication

    from sbert_desktop.ui.theme import theme

    app = QApplication(sys.argv[:1])
    theme.apply(scheme="light", text_scale=100, reduce_motion=True)
    answer = {str(points): measure(points) for points in asked.points}
    if asked.json:
        print(json.dumps(answer))
        return
    for points, figures in answer.items():
        print(f"{int(points):,} points")
        for what, value in figures.items():
            text = f"{value:8.1f}" if isinstance(value, float) else f"{value[0]:8.1f} median {value[1]:8.1f} p95 ms"
            print(f"  {what:32} {text}")
    app.quit()


if __name__ == "__main__":
    main()
