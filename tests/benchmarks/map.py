"""The map against umap-learn in the same run: CPU seconds, trustworthiness, memory; placing and drawing.

    pip install umap-learn            # a peer only; the program does without it
    python tests/benchmarks/map.py [--points 5000 20000] [--vectors FILE.npy] [--only layout placing drawing app]
                                   [--app 2000 50000] [--umap-site FOLDER] [--json]

The points are sentences of ../shared/data, encoded once (see near_pairs.py). Each way runs in a fresh process; its CPU
seconds are those of the whole process from its start, with imports and compilation: what a click costs. ``defaults`` is
``umap.UMAP()``, ``on the graph`` umap-learn with the stored neighbours and a principal plane as its start, ``ours`` our
layout on the same stored neighbours, ``ours, no graph`` with exact neighbours found on the way. The stored neighbours
are exact up to 30,000 points, above them an hnswlib index's, and not counted, as the program has them anyway.
Trustworthiness and overlap are measured on one sample of 1,000 points with k = 15, by our own measure, which is
scikit-learn's (tests/explore/test_map_quality.py).

``placing`` holds 500 points back from 2,000 and places them on umap-learn's own layout, against its ``transform``; then
100 into 50,000. ``drawing`` takes 100,000 and 1,000,000 made points at 1120 x 800.

``app`` is the way of the program itself, in this process: a library of documents with these vectors (as many as
``--app`` says), then the first map from the click with the neighbour graph, the stored map in a new session, 100
documents more, their place, a redraw, and every way to colour. ``--umap-site`` names a folder in which umap-learn is
installed (pip install --target FOLDER umap-learn); without it, and without umap-learn beside numpy, the peer is left
out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from sbert_desktop.explore.layout import Neighbours, exact_neighbours  # noqa: E402
from sbert_desktop.explore.map_points import MapPoints, View, whole_view  # noqa: E402
from sbert_desktop.explore.map_quality import measure_quality  # noqa: E402
from sbert_desktop.explore.placing import nearest_old, place  # noqa: E402

WAYS = {
    "defaults": """
import umap
layout = umap.UMAP().fit_transform(vectors)
""",
    "on the graph": """
import umap
from sbert_desktop.explore.layout import principal_plane
points = np.arange(len(vectors), dtype=rows.dtype)[:, None]
knn = np.hstack([points, rows[:, :14]]), np.hstack([np.zeros_like(cosine[:, :1]), 1 - cosine[:, :14]])
layout = umap.UMAP(metric="cosine", precomputed_knn=(*knn, None), init=principal_plane(vectors)).fit_transform(vectors)
""",
    "ours": """
from sbert_desktop.explore.layout import Neighbours, make_layout
layout = make_layout(vectors, Neighbours(rows, cosine))
""",
    "ours, no graph": """
from sbert_desktop.explore.layout import make_layout
layout = make_layout(vectors)
""",
}
CHILD = """
import json, os, sys, time
sys.path.insert(0, {root!r})
sys.path += {site!r}
import numpy as np
vectors = np.load({vectors!r}, mmap_mode="r")[:{points}]
vectors = np.ascontiguousarray(vectors)
rows, cosine = np.load({rows!r}), np.load({cosine!r})
clock = time.monotonic()
{way}
seconds = time.monotonic() - clock
np.save({out!r}, layout)
times = os.times()
peak = 0.0
if os.path.exists("/proc/self/status"):
    with open("/proc/self/status") as lines:
        peak = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
print(json.dumps({{"cpu": times.user + times.system, "seconds": seconds, "mb": peak}}))
"""
TRANSFORM = """
import json, sys, time
sys.path += sys.argv[3:]
import numpy as np
import umap
vectors = np.load(sys.argv[1], mmap_mode="r")[:2500]
model = umap.UMAP(metric="cosine", random_state=0).fit(vectors[:2000])
began = time.process_time()
places = model.transform(vectors[2000:])
np.savez(sys.argv[2], layout=model.embedding_, places=places, cpu=time.process_time() - began)
"""


def stored_graph(vectors: np.ndarray, count: int = 15) -> Neighbours:
    """Gives neighbours as the library's graph would have them."""
    if len(vectors) <= 30_000:
        return exact_neighbours(vectors, count)
    import hnswlib

    index = hnswlib.Index("ip", vectors.shape[1])
    index.init_index(len(vectors), M=12, ef_construction=80, random_seed=1)
    index.add_items(vectors, num_threads=1)
    index.set_ef(48)
    rows, away = index.knn_query(vectors, count + 1, num_threads=1)
    own = rows == np.arange(len(rows))[:, None]
    own[~own.any(axis=1), -1] = True  # the index missed the row itself: the farthest goes
    shape = (len(rows), count)
    return Neighbours(rows[~own].reshape(shape).astype(np.int32), (1 - away[~own].reshape(shape)).astype(np.float32))


def layouts(file: Path, sizes: list[int], ways: list[str], site: list[str]) -> Iterator[dict[str, object]]:
    """Runs each way on each size."""
    stored = np.load(file, mmap_mode="r")
    with tempfile.TemporaryDirectory() as folder:
        names = {name: str(Path(folder) / f"{name}.npy") for name in ("rows", "cosine", "out")}
        for points in sizes:
            vectors = np.ascontiguousarray(stored[:points])
            graph = stored_graph(vectors)
            np.save(names["rows"], graph.rows)
            np.save(names["cosine"], graph.cosine)
            first = 0.0
            for way in ways:
                code = CHILD.format(root=str(ROOT), vectors=str(file), points=points, way=WAYS[way], site=site, **names)
                done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
                if done.returncode:
                    print(f"{way} left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
                    continue
                figures = json.loads(done.stdout.splitlines()[-1])
                first = first or figures["cpu"]
                quality = measure_quality(vectors, np.load(names["out"]))
                yield {
                    "points": points,
                    "way": way,
                    **figures,
                    "times_less": first / figures["cpu"],
                    "trustworthiness": quality.trustworthiness,
                    "overlap": quality.overlap,
                }


def trust_of_new(old: np.ndarray, new: np.ndarray, layout: np.ndarray, places: np.ndarray) -> tuple[float, float]:
    """Gives trustworthiness and overlap of new points among old ones, k = 15."""
    count = 15
    cosines = new @ old.T
    near = ((places[:, None] - layout) ** 2).sum(axis=2).argpartition(count, axis=1)[:, :count]
    theirs = np.take_along_axis(cosines, near, 1)
    ranks = (cosines[:, None] > theirs[:, :, None]).sum(axis=2) + 1
    worst = count * (2 * len(old) - 3 * count + 1) / 2
    return float(1 - np.maximum(ranks - count, 0).sum() / (len(new) * worst)), float((ranks <= count).mean())


def placings(file: Path, site: list[str]) -> Iterator[dict[str, object]]:
    """Compares placing with umap-learn's transform, and measures 100 into 50,000."""
    stored = np.load(file, mmap_mode="r")
    old, new = np.ascontiguousarray(stored[:2000]), np.ascontiguousarray(stored[2000:2500])
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "umap.npz"
        call = [sys.executable, "-c", TRANSFORM, file, out, *site]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"transform left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        else:
            with np.load(out) as theirs:
                layout, places, cpu = theirs["layout"], theirs["places"], float(theirs["cpu"])
            began = time.process_time()
            ours = place(layout, nearest_old(new, old))
            spent = time.process_time() - began
            for way, spots, seconds in (("umap transform", places, cpu), ("ours", ours, spent)):
                trust, overlap = trust_of_new(old, new, layout, spots)
                yield {"placing": way, "cpu": seconds, "trustworthiness": trust, "overlap": overlap}
    layout = np.random.default_rng(0).normal(0, 5, (50_000, 2)).astype(np.float32)
    before = layout.tobytes()
    began, clock = time.process_time(), time.monotonic()
    place(layout, nearest_old(stored[50_000:50_100], stored[:50_000]))
    yield {
        "placing": "100 into 50,000",
        "cpu": time.process_time() - began,
        "seconds": time.monotonic() - clock,
        "old_points_identical": layout.tobytes() == before,
    }


def drawings() -> Iterator[dict[str, object]]:
    """Measures frames, hovering and a lasso: milliseconds of CPU, median and 95th percentile."""
    random = np.random.default_rng(0)
    width, height = 1120, 800
    for count in (100_000, 1_000_000):
        middles = random.normal(0, 6, (60, 2))
        positions = (middles[random.integers(0, 60, count)] + random.normal(0, 0.8, (count, 2))).astype(np.float32)
        began = time.thread_time()
        points = MapPoints(positions)
        build = (time.thread_time() - began) * 1e3
        palette = random.integers(0, 2**32, 256, dtype=np.uint32)
        plain = points.paint(random.integers(1, 11, count).astype(np.uint8))
        lit = points.paint(random.integers(1, 11, count).astype(np.uint8), front=random.random(count) < 0.01)
        out = np.empty((height, width), np.uint32)
        whole = whole_view(positions, width, height)
        around = np.linspace(0, 2 * np.pi, 200, endpoint=False)
        middle = np.median(positions, axis=0)
        radius = np.quantile(np.linalg.norm(positions - middle, axis=1), 0.1)
        wobble = (radius * (1 + 0.1 * np.sin(9 * around)))[:, None]
        line = middle + wobble * np.stack([np.cos(around), np.sin(around)], axis=1)

        def panned(view: View, step: int) -> View:
            return View(view.left + step / view.scale, view.top + step / 2 / view.scale, view.scale, width, height)

        def frame(view: View, paint: object) -> Callable[[int], object]:
            return lambda step: points.draw(panned(view, step), paint, palette, out=out)  # type: ignore[arg-type] # noqa: B023

        for what, act in (
            ("frame, all in view", frame(whole, plain)),
            ("frame, 1 % lit", frame(whole, lit)),
            ("frame, zoomed 4x", frame(whole.zoomed(4, width / 2, height / 2), plain)),
            ("hover", lambda step: points.at(*positions[step * 997].tolist(), 8 / whole.scale)),  # noqa: B023
            (f"lasso of {len(points.inside(line)) / count:.0%}", lambda step: points.inside(line)),  # noqa: B023
        ):
            times = []
            for step in range(60):
                began = time.thread_time()
                act(step)
                times.append((time.thread_time() - began) * 1e3)
            median, p95 = np.quantile(times, [0.5, 0.95])
            yield {"points": count, "drawing": what, "median_ms": float(median), "p95_ms": float(p95)}
        yield {"points": count, "drawing": "making ready, once", "median_ms": build, "p95_ms": build}


def application(file: Path, count: int) -> Iterator[dict[str, object]]:
    """Measures the program's own way, CPU seconds and seconds."""
    import os

    os.environ["SBERT_DESKTOP_ADVANCED_ENCODER"] = "hashing"
    sys.path.insert(0, str(ROOT / "tests" / "app"))
    from made_map import Listening, put_documents

    from sbert_desktop.app.atlas_views import ColourBy, MapRequest
    from sbert_desktop.app.colouring import run_colours
    from sbert_desktop.app.mapping import run_map
    from sbert_desktop.app.session import Session

    vectors = np.load(file, mmap_mode="r")

    def timed(what: str, act: Callable[[], object]) -> dict[str, object]:
        began, clock = time.process_time(), time.monotonic()
        act()
        return {
            "documents": count, "app": what, "cpu": time.process_time() - began, "seconds": time.monotonic() - clock,
        }  # fmt: skip

    with tempfile.TemporaryDirectory() as folder:
        docs, place = Path(folder) / "docs", Path(folder) / "library"
        session = Session(place)
        put_documents(session, docs, np.array(vectors[:count]))
        session.snapshot()
        maps = []
        shown: list[float] = []

        class Watching(Listening):
            def partial(self, result: object) -> None:
                shown.append(time.monotonic())

        def ask(*, refit: bool = False) -> None:
            maps.append(run_map(session, MapRequest(refit=refit), Watching()))

        clock = time.monotonic()
        yield timed("first map, graph included", ask)
        yield {"documents": count, "app": "first preview after", "seconds": shown[0] - clock if shown else 0.0}
        session.close()
        session = Session(place)
        session.snapshot()  # the window has it from its start
        yield timed("stored map, new session", ask)
        put_documents(session, docs, np.array(vectors[count : count + 100]), first=count)
        session.snapshot()
        yield timed("100 documents more", ask)
        old, new = maps[-2], maps[-1]
        same = new.positions[: len(old)].tobytes() == old.positions.tobytes()
        yield {"documents": count, "app": "old points bit-identical", "value": same, "points": len(new)}
        yield timed("redraw", lambda: ask(refit=True))
        for by in ColourBy:
            yield timed(f"colours by {by.value}", lambda: run_colours(session, maps[-1], by))  # noqa: B023
        session.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=[5_000, 20_000])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--only", nargs="+", choices=("layout", "placing", "drawing", "app"))
    parser.add_argument("--app", type=int, nargs="+", default=[2_000, 50_000], help="documents of the libraries made")
    parser.add_argument("--umap-site", type=Path)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    wanted = options.only or ["layout", "placing", "drawing", "app"]
    site = [str(options.umap_site)] if options.umap_site else []
    file = options.vectors
    if file is None and wanted != ["drawing"]:
        from near_pairs import encoded

        file = encoded()
    results: list[dict[str, object]] = []
    parts = {
        "layout": lambda: layouts(file, options.points, options.ways, site),
        "placing": lambda: placings(file, site),
        "drawing": drawings,
        "app": lambda: (result for count in options.app for result in application(file, count)),
    }
    for part in wanted:
        for result in parts[part]():
            results.append(result)
            if not options.json:
                print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in result.items()))
                sys.stdout.flush()
    if options.json:
        print(json.dumps({"results": results}))


if __name__ == "__main__":
    main()
