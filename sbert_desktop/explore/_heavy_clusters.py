"""Finds themes among document vectors. Belongs into a child: scikit-network, scikit-learn and scipy are imported here.

Rows are put into an order of their own (by their bytes) and equal ones stand as one, so that neither the order of the
documents nor copies of one change what is found.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import JobContext, Mask, Vectors
from sbert_desktop.explore._partitions import (
    Labels,
    MergeTree,
    centres,
    k_means,
    merge_tree,
    polish,
    silhouette,
    theme_sums,
)
from sbert_desktop.explore.communities import (
    Clustering,
    ClusterRequest,
    Curve,
    Method,
    background_cosine,
    confidences,
)
from sbert_desktop.explore.neighbours import NeighbourGraph, neighbour_graph

K = 15
"""Neighbours of each document in the graph. Measured: docs/adr/0018."""
FINE = 8.0
"""Resolution of the finest communities (modularity's gamma); merging begins there. Measured likewise."""
_FINEST = 4096.0
_COARSE = 100
"""Documents per theme from which themes are polished: there 15 neighbours see too little of a theme."""
_ONE = 4
"""With fewer different documents they are one theme."""
_LEAST = 0.02
"""Best silhouette below which the collection is one theme."""
_DETAIL = 3.0
"""Doublings of the number of themes from the middle of "Fewer - More" to its end."""
_SAMPLE = 5_000
"""Documents on which numbers of themes are tried for k-means."""
_MOST_TRIED = 128
_REDUCED = 15
"""Coordinates that HDBSCAN is given: in 384 it finds next to nothing (DESIGN section 10)."""


def find_clusters(
    vectors: Vectors,
    request: ClusterRequest | None = None,
    *,
    graph: NeighbourGraph | None = None,
    context: JobContext | None = None,
    trees: dict[tuple[float, int], MergeTree] | None = None,
) -> Clustering:
    """Finds themes.

    Args:
        vectors: float32 [n, dimension], unit rows.
        request: What is asked for.
        graph: Neighbours of each row where they are known already and no two rows are equal; else they are found here.
        context: Asked between steps; hears the progress.
        trees: Levels of communities by resolution and seed: what is found is put there, and taken from there. For
            the same vectors only.

    Raises:
        Cancelled: Through ``context``.
    """
    request = request or ClusterRequest()
    first, place = _distinct(vectors)
    rows = np.ascontiguousarray(vectors[first])
    known = _reordered(graph, first, place) if graph is not None and len(first) == len(vectors) else None
    found = _find(rows, request, known, context, {} if trees is None else trees)
    return _numbered(found, place, vectors)


def _find(
    rows: Vectors,
    request: ClusterRequest,
    graph: NeighbourGraph | None,
    context: JobContext | None,
    trees: dict[tuple[float, int], MergeTree],
) -> Clustering:
    count = len(rows)
    method = Method.COMMUNITIES if request.method is Method.AUTO else request.method
    if count == 0:
        return _plain(method, 0, "There are no documents to sort into clusters.")
    if count < _ONE and request.count is None:
        few = "is only one different document" if count == 1 else f"are only {count} different documents"
        return _plain(method, count, f"There {few}: too few for several clusters, so all stand together.")
    if request.count is not None and request.count >= count:
        each = replace(_plain(method, count, ""), nearest=np.arange(count, dtype=np.int32), count=count)
        if request.count == count:
            return each
        return replace(each, note=f"{request.count} clusters were asked for, but there are only {count} different "
                                  f"document{'s' if count > 1 else ''}: each has its own.")  # fmt: skip
    graph = graph or neighbour_graph(rows, K, seed=request.seed, context=context)
    _check(context)
    background = background_cosine(rows, request.seed)
    if method is Method.KMEANS:
        found = _by_means(rows, request, context)
    elif method is Method.HDBSCAN:
        found = _by_density(rows, request)
    elif method is Method.THRESHOLD:
        found = _by_threshold(rows, request, graph, context)
    else:
        found = _by_communities(rows, request, graph, context, trees)
    _check(context)
    score = silhouette(rows, np.where(found.outside, np.int32(-1), found.nearest).astype(np.int32), found.count)
    return replace(found, confidence=confidences(graph, found.nearest, background), silhouette=score)


def _by_communities(
    rows: Vectors,
    request: ClusterRequest,
    graph: NeighbourGraph,
    context: JobContext | None,
    trees: dict[tuple[float, int], MergeTree],
) -> Clustering:
    """Fine communities of the neighbour graph, merged to the wished number of themes, the best one by default."""
    resolution = FINE
    wanted = request.count
    tree = _tree_of(rows, graph, resolution, request.seed, trees)
    if wanted is None:
        wanted = tree.best(most_themes(len(rows)))
        if not tree.silhouettes[min(wanted, tree.count)] > _LEAST:
            wanted = 1
        if request.detail:
            wanted = max(1, round(wanted * 2 ** (_DETAIL * float(np.clip(request.detail, -1, 1)))))
            wanted = min(wanted, max(1, len(rows) // 2))
    while wanted > tree.count and resolution < _FINEST:
        _check(context)
        resolution *= 2
        tree = _tree_of(rows, graph, resolution, request.seed, trees)
    if wanted > tree.count:  # equal neighbours all around: parted by direction
        labels = k_means(rows, wanted, seed=request.seed, tries=1)[0]
        return _made(Method.COMMUNITIES, labels, wanted)
    labels = tree.level(wanted)
    count = int(labels.max()) + 1
    if count > 1 and len(rows) >= _COARSE * count:
        labels = polish(rows, labels, count, 10)
    counts = np.arange(2, tree.count + 1, dtype=np.int32)
    curve = None
    if len(counts):
        losses = _losses(rows, tree)
        curve = Curve(counts, tree.silhouettes[2:], losses, tree.best(most_themes(len(rows))), _elbow(counts, losses))
    return replace(_made(Method.COMMUNITIES, labels, count), curve=curve, tree=tree)


def most_themes(rows: int) -> int:
    """Gives how many themes are found unasked at most: the silhouette likes pairs, which are no themes.

    About sqrt(1.5 n): 8 of 41 documents, 55 of 2,000, 122 of 10,000. Measured: docs/adr/0018.
    """
    return max(2, round(float(np.sqrt(1.5 * rows))))


def communities(graph: NeighbourGraph, resolution: float, seed: int) -> Labels:
    """Gives the Leiden communities of a neighbour graph, int32 [n]; edges weigh by their cosine.

    Args:
        graph: Neighbours of each row.
        resolution: The higher, the finer.
        seed: Of the order in which rows are looked at.
    """
    from scipy import sparse
    from sknetwork.clustering import Leiden

    count = len(graph)
    here = graph.neighbours >= 0
    weights = np.maximum(graph.cosines, 1e-3)[here].astype(np.float64)
    begins = np.r_[0, np.cumsum(here.sum(axis=1))]
    edges = sparse.csr_matrix((weights, graph.neighbours[here], begins), (count, count))
    edges = edges.maximum(edges.T).tocsr()
    if not edges.nnz:
        return np.arange(count, dtype=np.int32)
    leiden = Leiden(resolution, random_state=seed, return_probs=False, return_aggregate=False)
    return np.asarray(leiden.fit_predict(edges), np.int32)


def _tree_of(
    rows: Vectors, graph: NeighbourGraph, resolution: float, seed: int, trees: dict[tuple[float, int], MergeTree]
) -> MergeTree:
    tree = trees.get((resolution, seed))
    if tree is None:
        fine = communities(graph, resolution, seed)
        tree = trees[resolution, seed] = merge_tree(rows, fine, int(fine.max()) + 1, most=_SAMPLE)
    return tree


def _losses(rows: Vectors, tree: MergeTree) -> NDArray[np.float64]:
    """Gives the mean distance to the themes' directions from 2 themes to the finest level."""
    sums = theme_sums(rows, tree.fine, tree.count)
    total = float(np.linalg.norm(sums, axis=1).sum())
    losses = [1 - total / len(rows)]
    for first, second in tree.merges[: max(0, tree.count - 2)]:
        apart = np.linalg.norm(sums[first]) + np.linalg.norm(sums[second])
        sums[first] += sums[second]
        total += float(np.linalg.norm(sums[first]) - apart)
        losses.append(1 - total / len(rows))
    return np.array(losses[::-1])


def _by_means(rows: Vectors, request: ClusterRequest, context: JobContext | None) -> Clustering:
    """Spherical k-means; the number by the silhouette where it is not given."""
    curve = None
    count = request.count
    tries = 4 if len(rows) <= 20_000 else 1
    if count is None:
        curve = try_counts(rows, seed=request.seed, context=context)
        best = curve.silhouettes[curve.counts == curve.by_silhouette]
        count = curve.by_silhouette if len(best) and best[0] > _LEAST else 1
        if request.detail:
            count = max(1, round(count * 2 ** (_DETAIL * float(np.clip(request.detail, -1, 1)))))
            count = min(count, max(1, len(rows) // 2))
    labels, _ = k_means(rows, max(1, count), seed=request.seed, tries=tries)
    return replace(_made(Method.KMEANS, labels, max(1, count)), curve=curve)


def try_counts(rows: Vectors, *, seed: int = 0, context: JobContext | None = None) -> Curve:
    """Tries numbers of themes with k-means on a sample: silhouette and loss of each."""
    if len(rows) > _SAMPLE:
        rows = rows[np.sort(np.random.default_rng(seed).choice(len(rows), _SAMPLE, replace=False))]
    most = min(_MOST_TRIED, max(2, len(rows) // 3), len(rows))
    counts = [n for n in (*range(2, 13), 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128) if n <= most]
    silhouettes, losses = [], []
    for done, count in enumerate(counts):
        _check(context)
        labels, fit = k_means(rows, count, seed=seed, tries=2, rounds=15)
        silhouettes.append(silhouette(rows, labels, count))
        losses.append(1 - fit)
        if context is not None:
            context.progress("trying", done + 1, len(counts))
    tried = np.array(counts, np.int32)
    best = int(tried[int(np.argmax(np.round(silhouettes, 6)))])
    return Curve(tried, np.array(silhouettes), np.array(losses), best, _elbow(tried, np.array(losses)))


def _elbow(counts: NDArray[np.int32], losses: NDArray[np.float64]) -> int:
    """Gives the number farthest below the line from the first to the last."""
    if len(counts) < 3 or losses[0] - losses[-1] < 1e-9:
        return int(counts[0]) if len(counts) else 1
    across = (counts - counts[0]) / (counts[-1] - counts[0])
    down = (losses - losses[-1]) / (losses[0] - losses[-1])
    return int(counts[int(np.argmax(1 - across - down))])


def _by_density(rows: Vectors, request: ClusterRequest) -> Clustering:
    """HDBSCAN on the first principal coordinates."""
    from sklearn.cluster import HDBSCAN

    smallest = request.smallest or max(3, min(50, len(rows) // 100))
    smallest = max(2, min(smallest, len(rows)))
    model = HDBSCAN(min_cluster_size=smallest, min_samples=min(5, smallest), copy=True, allow_single_cluster=False)
    labels = np.asarray(model.fit_predict(_reduced(rows)), np.int32)
    return _with_outside(Method.HDBSCAN, rows, labels)


def _reduced(rows: Vectors) -> Vectors:
    """Gives the rows' first principal coordinates, brought to length one, float32 [n, at most 15]."""
    middle = rows.mean(axis=0, dtype=np.float64)
    products = (rows.T @ rows).astype(np.float64) / len(rows) - np.outer(middle, middle)
    _, axes = np.linalg.eigh(products)
    axes = axes[:, ::-1][:, : min(_REDUCED, rows.shape[1])]
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0, -1, 1)
    turned = (rows - middle) @ axes
    lengths = np.linalg.norm(turned, axis=1, keepdims=True)
    return np.asarray(turned / np.maximum(lengths, 1e-9), np.float32)


def _by_threshold(
    rows: Vectors, request: ClusterRequest, graph: NeighbourGraph, context: JobContext | None
) -> Clustering:
    """Documents around a middle one, the most first, each in one theme: sentence-transformers' community detection."""
    smallest = request.smallest or max(2, min(10, len(rows) // 100))
    threshold = request.threshold
    if threshold is None:  # half of all documents have their fifth neighbour there
        threshold = float(np.median(graph.cosines[:, min(4, graph.k - 1)]))
    sizes = np.zeros(len(rows), np.int64)
    for at in range(0, len(rows), 512):
        _check(context)
        sizes[at : at + 512] = (rows[at : at + 512] @ rows.T >= threshold - 1e-6).sum(axis=1)
    labels = np.full(len(rows), -1, np.int32)
    count = 0
    for row in np.argsort(-sizes, kind="stable"):
        if sizes[row] < smallest:
            break
        if labels[row] >= 0:
            continue
        near = np.flatnonzero((rows @ rows[row] >= threshold - 1e-6) & (labels < 0))
        if len(near) >= smallest:
            labels[near] = count
            count += 1
    return _with_outside(Method.THRESHOLD, rows, labels)


def _with_outside(method: Method, rows: Vectors, labels: Labels) -> Clustering:
    """Makes a clustering of labels with -1: those get the theme whose direction is nearest, and stay marked."""
    count = int(labels.max(initial=-1)) + 1
    if not count:
        note = "No cluster stands out from the others with these settings: all documents stand together."
        return replace(_plain(method, len(rows), note), outside=np.ones(len(rows), bool))
    outside = labels < 0
    directions = centres(rows, labels, count)
    nearest = labels.copy()
    nearest[outside] = (rows[outside] @ directions.T).argmax(axis=1)
    return replace(_made(method, nearest, count), outside=outside)


def _made(method: Method, labels: Labels, count: int) -> Clustering:
    rows = len(labels)
    note = "The documents are too much alike for several clusters, so all stand together." if count == 1 else ""
    return Clustering(method, labels, np.ones(rows, np.float32), np.zeros(rows, bool), count, 0.0, note=note)


def _plain(method: Method, rows: int, note: str) -> Clustering:
    """Gives one theme of all."""
    zeros = np.zeros(rows, np.int32)
    return Clustering(method, zeros, np.ones(rows, np.float32), np.zeros(rows, bool), min(rows, 1), 0.0, note=note)


def _numbered(found: Clustering, place: NDArray[np.int64], vectors: Vectors) -> Clustering:
    """Gives equal documents what their first one has, and numbers the themes by size, then by their direction."""
    nearest = found.nearest[place] if len(place) else np.zeros(0, np.int32)
    sizes = np.bincount(nearest, minlength=found.count) if found.count else np.zeros(0, np.int64)
    low = np.full(found.count, len(place))  # the first of the distinct rows, which have an order of their own
    np.minimum.at(low, nearest, place)
    order = np.lexsort((low, -sizes))
    number = np.empty(found.count, np.int32)
    number[order] = np.arange(found.count, dtype=np.int32)
    tree = found.tree
    if tree is not None:
        tree = MergeTree(tree.fine[place], tree.count, tree.merges, tree.silhouettes)
    outside: Mask = found.outside[place]
    nearest = number[nearest] if found.count else nearest
    return replace(found, nearest=nearest, confidence=found.confidence[place], outside=outside, tree=tree)


def _distinct(vectors: Vectors) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Gives the first row of each vector, in an order of the vectors' own, and the place of each row in that."""
    if not len(vectors):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    data = np.ascontiguousarray(vectors, np.float32) + np.float32(0)  # no minus zero
    keys = data.view(np.dtype((np.void, data.dtype.itemsize * data.shape[1]))).ravel()
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return first, place.ravel()


def _reordered(graph: NeighbourGraph, first: NDArray[np.int64], place: NDArray[np.int64]) -> NeighbourGraph:
    part = graph.nearest(K)
    moved = np.where(part.neighbours >= 0, place[np.maximum(part.neighbours, 0)], -1).astype(np.int32)
    return NeighbourGraph(moved[first], part.cosines[first])


def split_preview(vectors: Vectors, rows: NDArray[np.int64], request: ClusterRequest | None = None) -> Clustering:
    """Finds what a theme would become when split: themes among its documents alone; at least two where it has two."""
    found = find_clusters(vectors[rows], request)
    distinct = len(_distinct(vectors[rows])[0])
    if found.count > 1 or distinct < 2 or (request is not None and request.count is not None):
        return found
    return find_clusters(vectors[rows], replace(request or ClusterRequest(), count=2))


def _check(context: JobContext | None) -> None:
    if context is not None:
        context.check()
