"""Themes against ``KMeans`` on sentence-transformers' embeddings: V-measure, ARI, share unsorted, CPU seconds.

    python tests/benchmarks/clustering.py [--sets bbc_news ...] [--only document|methods|graph|app]
        [--cache DIR] [--json]

Sets: ../shared/data/clustering. The peer is ``SentenceTransformer.encode`` (each text whole, cut at 256 tokens by the
model) and scikit-learn's ``KMeans`` with the right number of themes, as it comes (mean of five seeds). Ours are
vectors of passages as indexing makes them, meant by document; each method in a fresh process with one thread, so that
CPU seconds are those of the work, the neighbour graph included, imports not. ``document`` compares ways to make one
vector of a document's passages, ``graph`` the neighbours found by regions with exact ones, ``app`` takes
the window's way through a library of the BBC folders (seconds by the clock, the child's start and the labels
included). Encoding is done once (minutes) and kept in the temporary folder. V and ARI of methods count every document,
those unsorted by their nearest theme, except where "sorted" is said.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "clustering"
sys.path.insert(0, str(ROOT))
RIGHT = {"bbc_news": 5, "banking77_train": 77, "trec_questions_train": 6}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

PEER = """
import json, sys, time, warnings
import numpy as np
from sklearn.cluster import KMeans
vectors = np.load(sys.argv[1])["vectors"]
labels, cpu = [], []
for seed in range(5):
    began = time.process_time()
    labels.append(KMeans(n_clusters=int(sys.argv[2]), random_state=seed).fit_predict(vectors).tolist())
    cpu.append(time.process_time() - began)
print(json.dumps({"labels": labels, "cpu": float(np.median(cpu))}))
"""
OURS = """
import json, sys, time
import numpy as np
import scipy.sparse, sknetwork.clustering, sklearn.cluster
from sbert_desktop.explore._heavy_clusters import find_clusters
from sbert_desktop.explore.communities import ClusterRequest, Method
vectors = np.load(sys.argv[1])["documents"]
count = int(sys.argv[3]) or None
began = time.process_time()
found = find_clusters(vectors, ClusterRequest(Method(sys.argv[2]), count=count))
print(json.dumps({"cpu": time.process_time() - began, "nearest": found.nearest.tolist(),
                  "labels": found.labels().tolist(), "count": found.count, "silhouette": found.silhouette}))
"""


def texts_of(name: str) -> tuple[list[str], list[str]]:
    """Gives texts and labels."""
    if name == "bbc_news":
        files = sorted((DATA / name).rglob("*.txt"))
        return [file.read_text("utf-8", "replace") for file in files], [file.parent.name for file in files]
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return [row["text"] for row in rows], [row["label"] for row in rows]


def peer_vectors(name: str, cache: Path) -> Path:
    """Encodes with sentence-transformers, once."""
    file = cache / f"st_{name}.npz"
    if not file.exists():
        os.environ["HF_HUB_OFFLINE"] = "1"
        from sentence_transformers import SentenceTransformer

        from sbert_desktop.encoder.models import default_model_dir

        texts, labels = texts_of(name)
        model = SentenceTransformer(str(default_model_dir()), device="cpu")
        np.savez(file, vectors=model.encode(texts), labels=np.array(labels))
    return file


def our_vectors(name: str, cache: Path) -> Path:
    """Encodes passages with our encoder, once."""
    file = cache / f"ours_{name}.npz"
    if not file.exists():
        from sbert_desktop.app.session import Session
        from sbert_desktop.domain import ExtractedText, SplitRules
        from sbert_desktop.extraction import extract, split

        texts, labels = texts_of(name)
        session = Session(cache / "library", interactive=False)
        encoder = session.encoder()
        rules = SplitRules(max_tokens=encoder.info.max_tokens)
        inputs: list[str] = []
        contents: list[int] = []
        words: list[int] = []
        files = sorted((DATA / name).rglob("*.txt")) if name == "bbc_news" else []
        for number, text in enumerate(texts):
            read = extract(files[number]) if files else ExtractedText(text=text, format="txt")
            for passage in split(read, rules, encoder.tokenizer):
                inputs.append(passage.encoder_input())
                contents.append(number)
                words.append(len(passage.text.split()))
        vectors = encoder.encode_passages(inputs)
        session.close()
        np.savez(file, vectors=vectors, contents=contents, words=words, labels=np.array(labels))
    return file


def run(code: str, *arguments: object) -> dict[str, object]:
    """Runs code in a fresh process."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


def scores(truth: NDArray[np.str_], labels: NDArray[np.integer]) -> dict[str, float]:
    """Gives V-measure and ARI."""
    from sklearn.metrics import adjusted_rand_score, v_measure_score

    return {"v": float(v_measure_score(truth, labels)), "ari": float(adjusted_rand_score(truth, labels))}


def methods(name: str, cache: Path) -> list[dict[str, object]]:
    """Compares the peer with our methods."""
    from sbert_desktop.explore.document_vectors import document_vectors

    stored = np.load(our_vectors(name, cache))
    truth = stored["labels"]
    documents = document_vectors(
        stored["vectors"], stored["contents"], stored["words"], np.ones(len(stored["contents"]), bool)
    )
    file = cache / f"documents_{name}.npz"
    np.savez(file, documents=documents.vectors)
    peer = run(PEER, peer_vectors(name, cache), RIGHT[name])
    each = [scores(truth, np.array(labels)) for labels in peer["labels"]]  # type: ignore[attr-defined]
    rows: list[dict[str, object]] = [{
        "set": name, "way": f"peer: KMeans(n_clusters={RIGHT[name]}), sentence-transformers", "count": RIGHT[name],
        "v": float(np.mean([one["v"] for one in each])), "ari": float(np.mean([one["ari"] for one in each])),
        "unsorted": 0.0, "v_sorted": None, "cpu": peer["cpu"],
    }]  # fmt: skip
    right = RIGHT[name]
    asks = [("auto", 0), ("communities", right), ("kmeans", 0), ("kmeans", right), ("hdbscan", 0), ("threshold", 0)]
    for method, count in asks:
        found = run(OURS, file, method, count)
        nearest, labels = np.array(found["nearest"]), np.array(found["labels"])
        inside = labels >= 0
        rows.append({
            "set": name, "way": f"{method}{f', {count} asked for' if count else ''}", "count": found["count"],
            **scores(truth, nearest), "unsorted": float(np.mean(~inside)),
            "v_sorted": scores(truth[inside], labels[inside])["v"] if inside.any() else None, "cpu": found["cpu"],
        })  # fmt: skip
    return rows


def ways_of_documents(cache: Path) -> list[dict[str, object]]:
    """Compares ways to make one vector of a document's passages, by spherical k-means with five themes."""
    from sbert_desktop.explore._partitions import k_means

    stored = np.load(our_vectors("bbc_news", cache))
    vectors, contents, words = stored["vectors"].astype(float), stored["contents"], stored["words"].astype(float)
    first = np.r_[True, contents[1:] != contents[:-1]]

    def mean(weights: NDArray[np.float64]) -> NDArray[np.float32]:
        sums = np.zeros((int(contents.max()) + 1, vectors.shape[1]))
        np.add.at(sums, contents, vectors * weights[:, None])
        return unit(sums)

    def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
        return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)).astype(np.float32)

    plain = mean(words)
    agreement = np.einsum("ij,ij->i", vectors, plain[contents])
    ways = {"words": plain, "equal": mean(np.ones_like(words)), "square root of words": mean(np.sqrt(words)),
            "first passage twice": mean(words * np.where(first, 2, 1)), "first passage alone": mean(first + 1e-9),
            "words x agreement squared": mean(words * agreement**2),
            "words, common direction removed": unit(plain - plain.mean(axis=0))}  # fmt: skip
    rows = []
    for way, documents in ways.items():
        each = [scores(stored["labels"], k_means(documents, 5, seed=seed)[0]) for seed in range(5)]
        v = [one["v"] for one in each]
        rows.append({"way": way, "v": float(np.mean(v)), "v_std": float(np.std(v)),
                     "ari": float(np.mean([one["ari"] for one in each]))})  # fmt: skip
    return rows


def graphs(cache: Path) -> list[dict[str, object]]:
    """Compares neighbours by regions with exact ones."""
    from sbert_desktop.explore.neighbours import neighbour_graph

    vectors = np.concatenate([np.load(our_vectors(name, cache))["vectors"] for name in RIGHT]).astype(np.float32)
    rows = []
    exact = None
    for way, limit in (("exact", len(vectors)), ("by regions", 0)):
        began = time.process_time()
        graph = neighbour_graph(vectors, 15, exact=limit)
        cpu = time.process_time() - began
        exact = exact or graph
        hits = [len(set(a) & set(b)) for a, b in zip(exact.neighbours.tolist(), graph.neighbours.tolist(), strict=True)]
        rows.append({"way": way, "rows": len(vectors), "cpu": cpu, "recall": float(np.mean(hits)) / 15})
    return rows


def through_the_app(cache: Path) -> list[dict[str, object]]:
    """Finds, opens, re-cuts and changes themes as the window does, with the right folders as the truth."""
    from sbert_desktop.app import clustering
    from sbert_desktop.app.atlas_views import ClusterRequest, ClustersView, ThemeChange, ThemeDeed
    from sbert_desktop.app.indexing import IndexRequest, run_index
    from sbert_desktop.app.session import Session
    from sbert_desktop.jobs import NullContext

    session, context = Session(cache / "bbc", interactive=False), NullContext()
    if not session.library.folders():
        run_index(session, IndexRequest(add=(DATA / "bbc_news",)), context)
    session.snapshot()
    rows: list[dict[str, object]] = []

    def timed(way: str, work: Callable[[], ClustersView]) -> ClustersView:
        began, cpu = time.monotonic(), time.process_time()
        view = work()
        rows.append({"way": way, "themes": len(view.themes), "unsorted": view.unsorted / max(1, view.documents),
                     "seconds": time.monotonic() - began, "own cpu": time.process_time() - cpu})  # fmt: skip
        return view

    def truth(view: ClustersView) -> dict[str, float]:
        found, said = [], []
        for theme in [*(theme.id for theme in view.themes), -1]:
            for row in clustering.theme_documents(session, theme):
                found.append(row.theme)
                said.append(row.path.parent.name)
        return scores(np.array(said), np.array(found))

    first = timed("found anew, child started", lambda: clustering.run_clusters(session, context, ClusterRequest()))
    rows[-1].update(truth(first))
    timed("opened", lambda: clustering.run_clusters(session, context))
    for detail in (0.3, 0.6, -0.3, 0.0):
        timed(
            f"detail {detail:+.1f}",
            lambda d=detail: clustering.run_clusters(session, context, ClusterRequest(detail=d)),
        )
    ids = [theme.id for theme in clustering.run_clusters(session, context).themes[:2]]
    for deed in (ThemeDeed.MERGE, ThemeDeed.UNDO, ThemeDeed.SPLIT, ThemeDeed.UNDO):
        change = ThemeChange(deed, tuple(ids))
        timed(deed.value, lambda c=change: clustering.change_clusters(session, c, context))
    session.close()
    for row in rows:
        row.setdefault("v", None)
        row.setdefault("ari", None)
    return rows


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(RIGHT), choices=list(RIGHT))
    parser.add_argument("--only", choices=("document", "methods", "graph", "app"))
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "sbert-desktop-clustering")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"needs {DATA}")
    options.cache.mkdir(parents=True, exist_ok=True)
    tables: dict[str, list[dict[str, object]]] = {}
    if options.only in (None, "document"):
        tables["document"] = ways_of_documents(options.cache)
    if options.only in (None, "methods"):
        tables["methods"] = [row for name in options.sets for row in methods(name, options.cache)]
    if options.only in (None, "graph"):
        tables["graph"] = graphs(options.cache)
    if options.only in (None, "app"):
        tables["app"] = through_the_app(options.cache)
    if options.json:
        print(json.dumps(tables))
        return
    for table in tables.values():
        print("| " + " | ".join(table[0]) + " |\n|" + "---|" * len(table[0]))
        for row in table:
            print("| " + " | ".join(f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()) + " |")
        print()


if __name__ == "__main__":
    main()
