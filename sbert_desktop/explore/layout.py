"""The map's layout: from neighbours to positions in the plane, in numpy alone.

The field knows the method as UMAP: the neighbour graph becomes a graph of memberships, and points are drawn together
along its edges and pushed away from points at random. What is our own is how the steps are taken, many points at once,
so that nothing needs to be compiled (docs/adr/0019):

* A step along the edges is damped by the sum of its pulls, as if it were solved for the new position. It can not
  overshoot, however many edges a point has.
* Points stand in a mixed order in memory. Pushing each away from the one that stands ``k`` places further is then a
  random choice, and costs neither a look-up nor a scatter.

Functions over arrays; any thread may call them. The same seed gives the same layout on the same machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import JobContext, Mask, Vectors
from sbert_desktop.explore.near_pairs import first_equal

Rows = NDArray[np.int32]
Floats = NDArray[np.float32]
Positions = NDArray[np.float32]  # [points, 2], the map's own unit
OnPositions = Callable[[Positions], None]

_PUSHES = 32  # other points per point and round; 16 leave the layout rough, 64 cost more than they mend
_PULL = 2.0  # each edge is listed from both ends, and draws both
# Keeps a push finite, about 4 units at most, the same in all directions. The 0.001 of umap-learn needs its pushes cut
# at 4 in x and in y, and where many points push at once that made dense themes square.
_NEAR = np.float32(0.05)
_STEP = 0.3  # share of a full step in the first round; more leaves the layout rough, less takes longer to open
_SLAB = 400_000  # edges worked on at once: memory, and how long one call of numpy keeps the interpreter
_BLOCK = 16_000_000  # cosines held at once while neighbours are sought: 64 MB
_PREVIEWS = 40


@dataclass(frozen=True, slots=True)
class LayoutRules:
    """What a person may set under "advanced".

    Args:
        neighbours: Neighbours of a point that draw it, at least 1; few show detail, many the large picture.
        minimum_distance: How close neighbours may come, 0 to ``spread``.
        spread: Scale of the map.
        repulsion: Pushes per pull. umap-learn takes 5; 10 keeps neighbours better (docs/adr/0019).
        rounds: Steps; None: as many as the number of points asks for.
        seed: Any number; the same gives the same map.
    """

    neighbours: int = 15
    minimum_distance: float = 0.1
    spread: float = 1.0
    repulsion: float = 10.0
    rounds: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Collapsed:
    """Rows with one and the same vector, seen as one point.

    ``rows``: int32 [points], the first row of each. ``point``: int32 [all rows], which point a row is, -1 for dead
    rows. ``count``: int32 [points], rows that it stands for.
    """

    rows: Rows
    point: Rows
    count: Rows


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest other points of each, nearest first: int32 [points, k] (-1: there is none) and cosines, float32."""

    rows: Rows
    cosine: Floats


@dataclass(frozen=True, slots=True)
class Graph:
    """Edges of the membership graph, listed from both ends, by head: int32, int32 and weights in (0, 1], float32."""

    points: int
    heads: Rows
    tails: Rows
    weights: Floats


def collapse(vectors: Vectors, alive: Mask) -> Collapsed:
    """Takes live rows with equal vectors as one counted point; float32 [rows, dimension], bool [rows]."""
    same, _ = first_equal(vectors, alive)
    rows = np.flatnonzero(same == np.arange(len(same))).astype(np.int32)
    number = np.full(len(same), -1, np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    point = np.where(same >= 0, number[same], -1).astype(np.int32)
    count = np.bincount(point[point >= 0], minlength=len(rows)).astype(np.int32)
    return Collapsed(rows, point, count)


def collapse_neighbours(stored: Neighbours, collapsed: Collapsed, *, most: int) -> Neighbours:
    """Turns a graph between all rows into one between points, at most ``most`` each: itself and repeats fall out."""
    rows = stored.rows[collapsed.rows]
    points = np.where(rows >= 0, collapsed.point[rows], -1)
    points[points == np.arange(len(points))[:, None]] = -1
    for at in range(1, points.shape[1]):
        points[(points[:, :at] == points[:, at, None]).any(axis=1), at] = -1
    order = np.argsort(points < 0, axis=1, kind="stable")[:, :most]
    return Neighbours(
        np.take_along_axis(points, order, 1).astype(np.int32),
        np.take_along_axis(stored.cosine[collapsed.rows], order, 1),
    )


def exact_neighbours(vectors: Vectors, count: int, *, context: JobContext | None = None) -> Neighbours:
    """Finds the ``count`` nearest others of each row by multiplying everything, block by block.

    For libraries without a stored neighbour graph (below 10,000 rows), and as the truth for tests.

    Args:
        vectors: float32 [points, dimension], unit rows.
        count: At least 0; fewer come where there are fewer others.
        context: Asked per block.

    Raises:
        Cancelled: Through ``context``.
    """
    points = len(vectors)
    count = max(0, min(count, points - 1))
    rows = np.empty((points, count), np.int32)
    cosine = np.empty((points, count), np.float32)
    step = max(1, _BLOCK // max(1, points))
    for at in range(0, points if count else 0, step):
        if context is not None:
            context.check()
        block = vectors[at : at + step] @ vectors.T
        block[np.arange(len(block)), np.arange(at, at + len(block))] = -np.inf
        best = np.argpartition(block, points - count, axis=1)[:, points - count :]
        found = np.take_along_axis(block, best, 1)
        order = np.lexsort((best, -found), axis=1)
        rows[at : at + step] = np.take_along_axis(best, order, 1)
        cosine[at : at + step] = np.take_along_axis(found, order, 1)
    return Neighbours(rows, np.minimum(cosine, np.float32(1)))


def membership(neighbours: Neighbours, *, context: JobContext | None = None) -> Graph:
    """Weighs each neighbour by how near it is for that point, and makes both ends agree.

    The nearest weighs 1; the others fall off at a pace that makes a point's weights sum to log2(k + 1), so that points
    in dense and in sparse places count alike. An edge seen from both ends weighs a + b - ab.

    Source: McInnes, Healy, Melville, "UMAP", 2018, sections 3.1 and 4.1.
    """
    weights = one_sided(neighbours, context=context)
    points, count = weights.shape
    heads = np.repeat(np.arange(points, dtype=np.int64), count)
    tails = neighbours.rows.ravel().astype(np.int64)
    flat = weights.ravel()
    there = (tails >= 0) & (flat > 0)
    heads, tails, flat = heads[there], tails[there], flat[there]
    keys = np.concatenate([heads * points + tails, tails * points + heads])
    if not len(keys):
        return Graph(points, np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))
    order = np.argsort(keys, kind="stable")
    keys, both = keys[order], np.concatenate([flat, flat])[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    total, product = np.add.reduceat(both, first), np.multiply.reduceat(both, first)
    seen = np.diff(np.append(first, len(keys)))
    keys = keys[first]
    joined = np.where(seen == 2, total - product, total).astype(np.float32)
    return Graph(points, (keys // points).astype(np.int32), (keys % points).astype(np.int32), joined)


def one_sided(neighbours: Neighbours, *, context: JobContext | None = None) -> Floats:
    """Gives the weight of each neighbour as its point sees it, float32 [points, k] in [0, 1], 0 where there is none."""
    points, count = neighbours.rows.shape
    weights = np.zeros((points, count), np.float32)
    for at in range(0, points if count else 0, 32768):
        if context is not None:
            context.check()
        part = slice(at, at + 32768)
        weights[part] = _fall_off(neighbours.rows[part] >= 0, neighbours.cosine[part])
    return weights


def _fall_off(there: Mask, cosine: Floats) -> NDArray[np.float64]:
    """Finds by bisection at which pace the weights of each point reach their sum; gives the weights."""
    away = np.where(there, np.maximum(1 - cosine.astype(np.float64), 0), np.inf)
    nearest = np.where(away > 1e-7, away, np.inf).min(axis=1)
    nearest[~np.isfinite(nearest)] = 0
    beyond = np.maximum(away - nearest[:, None], 0)
    wanted = np.log2(there.sum(axis=1) + 1)
    low, high, pace = np.zeros(len(away)), np.full(len(away), np.inf), np.full(len(away), 0.05)
    for _ in range(25):
        over = np.exp(-beyond / pace[:, None]).sum(axis=1) > wanted
        high, low = np.where(over, pace, high), np.where(over, low, pace)
        pace = np.where(np.isinf(high), pace * 2, (low + high) / 2)
    # Where all are about as near, no pace reaches the sum: bound it by the mean. Source: umap-learn's smooth_knn_dist.
    mean = np.where(there, away, 0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    pace = np.minimum(np.maximum(pace, np.maximum(1e-3 * mean, 1e-12)), 1e6)
    return cast("NDArray[np.float64]", np.where(there, np.exp(-beyond / pace[:, None]), 0))


def principal_plane(vectors: Vectors, *, context: JobContext | None = None) -> Positions:
    """Lays points out along their two main axes: the preview, the start of a layout, and a map of its own.

    Float32 [points, dimension] in, [points, 2] out: centred, the farthest coordinate 10 from the middle. All alike: 0.
    """
    points = len(vectors)
    if points < 2:
        return np.zeros((points, 2), np.float32)
    middle = np.zeros(vectors.shape[1])
    square = np.zeros((vectors.shape[1],) * 2)
    for at in range(0, points, 16384):
        part = np.asarray(vectors[at : at + 16384], np.float32)
        middle += part.sum(axis=0, dtype=np.float64)
        square += part.T @ part
        if context is not None:
            context.check()
    middle /= points
    _, axes = np.linalg.eigh(square / points - np.outer(middle, middle))
    axes = axes[:, ::-1][:, :2]
    strongest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    axes = (axes * np.where(strongest < 0, -1, 1)).astype(np.float32)  # else a map could come mirrored the next time
    plane = np.zeros((points, 2), np.float32)
    plane[:, : axes.shape[1]] = vectors @ axes - (middle @ axes).astype(np.float32)
    size = float(np.abs(plane).max())
    return plane * np.float32(10 / size) if size > 1e-5 else np.zeros_like(plane)


def lay_out(
    graph: Graph,
    start: Positions,
    rules: LayoutRules | None = None,
    *,
    context: JobContext | None = None,
    on_positions: OnPositions | None = None,
) -> Positions:
    """Moves points until neighbours stand together and others apart.

    Args:
        graph: From :func:`membership`.
        start: float32 [points, 2]: from :func:`principal_plane`, or an earlier layout to refit. Not changed.
        rules: What the person set.
        context: Asked every round; hears the progress in rounds ("laying out").
        on_positions: Given a copy of the positions about 40 times on the way, for a window to glide to.

    Raises:
        Cancelled: Through ``context``.
    """
    rules = rules or LayoutRules()
    points = graph.points
    if points < 2 or not len(graph.heads):
        return np.array(start, np.float32).reshape(points, 2)
    rounds = rules.rounds or rounds_for(points)
    field = _Field(graph, start, rules, rounds)
    for done in range(rounds):
        if context is not None:
            context.check()
            context.progress("laying out", done, rounds)
        field.step(_STEP * (1 - done / rounds))
        if on_positions is not None and (done + 1) % max(1, rounds // _PREVIEWS) == 0 and done + 1 < rounds:
            on_positions(field.positions())
    return field.positions()


def rounds_for(points: int) -> int:
    """Gives how many rounds a map of so many points gets: more where they have farther to go, till each costs too much.

    Measured: docs/adr/0019.
    """
    return 200 if points <= 50_000 else 300 if points <= 200_000 else 150


def make_layout(
    vectors: Vectors,
    neighbours: Neighbours | None = None,
    rules: LayoutRules | None = None,
    *,
    context: JobContext | None = None,
    on_positions: OnPositions | None = None,
) -> Positions:
    """Makes a map of distinct points, however few; the preview comes first.

    Args:
        vectors: float32 [points, dimension], unit rows, from :func:`collapse`.
        neighbours: From the stored graph by :func:`collapse_neighbours`; None: found here.
        rules: What the person set.
        context: Asked and told throughout.
        on_positions: First given the principal plane, then positions on the way.

    Returns:
        float32 [points, 2], finite. One point lies at 0, two side by side.

    Raises:
        Cancelled: Through ``context``.
    """
    rules = rules or LayoutRules()
    start = principal_plane(vectors, context=context)
    if len(vectors) < 4:
        return start
    if on_positions is not None:
        on_positions(start.copy())
    if neighbours is None:
        neighbours = exact_neighbours(vectors, rules.neighbours, context=context)
    fewer = Neighbours(neighbours.rows[:, : rules.neighbours], neighbours.cosine[:, : rules.neighbours])
    return lay_out(membership(fewer, context=context), start, rules, context=context, on_positions=on_positions)


@lru_cache(maxsize=32)
def curve(minimum_distance: float, spread: float) -> tuple[float, float]:
    """Gives a and b of 1 / (1 + a d^2b) that come closest to "1 up to the minimum distance, then falling".

    Gauss and Newton, damped. Source: McInnes et al. 2018, section 4.2 (the target); umap-learn fits the same curve.
    """
    d = np.linspace(0, 3 * spread, 300)[1:]
    target = np.where(d < minimum_distance, 1.0, np.exp(-(d - minimum_distance) / spread))
    log_a, b, damping = 0.0, 1.0, 1e-2

    def value(log_a: float, b: float) -> NDArray[np.float64]:
        return cast("NDArray[np.float64]", 1 / (1 + np.exp(log_a) * d ** (2 * b)))

    now = value(log_a, b)
    for _ in range(200):
        steep = now * (1 - now)
        slope = np.stack([-steep, -steep * 2 * np.log(d)], axis=1)
        square = slope.T @ slope
        change = np.linalg.solve(square + damping * np.diag(np.diag(square)), slope.T @ (target - now))
        there = value(log_a + change[0], b + change[1])
        if ((there - target) ** 2).sum() < ((now - target) ** 2).sum():
            log_a, b, now, damping = log_a + float(change[0]), b + float(change[1]), there, damping / 3
        else:
            damping *= 3
        if damping > 1e9:
            break
    return float(np.exp(log_a)), b


class _Field:
    """Points in a mixed order with their edges; ``step`` moves them all once."""

    def __init__(self, graph: Graph, start: Positions, rules: LayoutRules, rounds: int) -> None:
        points = graph.points
        self._random = np.random.default_rng(rules.seed)
        self._order = self._random.permutation(points).astype(np.int32)
        place = np.empty(points, np.int32)
        place[self._order] = np.arange(points, dtype=np.int32)
        weights = graph.weights / graph.weights.max()
        kept = weights * rounds >= 1  # an edge that would be drawn less than once
        heads, tails, weights = place[graph.heads[kept]], place[graph.tails[kept]], weights[kept]
        order = np.argsort(heads, kind="stable")
        self._heads, self._tails, self._weights = heads[order], tails[order], weights[order]
        self._slabs = _slabs(self._heads, points)
        mixed = np.asarray(start, np.float32)[self._order]
        mixed = mixed + self._random.normal(0, 1e-4, mixed.shape).astype(np.float32)  # equal spots must come apart
        self._x, self._y = np.ascontiguousarray(mixed[:, 0]), np.ascontiguousarray(mixed[:, 1])
        a, b = curve(rules.minimum_distance, rules.spread)
        self._a, self._b = np.float32(a), np.float32(b)
        self._pushes = min(_PUSHES, points - 1)
        drawn = np.bincount(self._heads, self._weights, minlength=points)
        self._push_share = (drawn * (rules.repulsion / self._pushes)).astype(np.float32)

    def step(self, share: float) -> None:
        """Draws points along the edges that this round takes, pushes them from others, and moves them."""
        push_x, push_y = self._push()
        pull = np.zeros((3, len(self._x)), np.float32)
        for edges, low, high in self._slabs:
            pull[:, low:high] = self._pull(edges, low, high)
        share32 = np.float32(share)
        damped = share32 / (1 + np.float32(_PULL) * share32 * pull[0])
        self._x += damped * (np.float32(_PULL) * pull[1] + self._push_share * push_x)
        self._y += damped * (np.float32(_PULL) * pull[2] + self._push_share * push_y)

    def positions(self) -> Positions:
        """Gives a copy in the order of the points."""
        out = np.empty((len(self._x), 2), np.float32)
        out[self._order, 0], out[self._order, 1] = self._x, self._y
        return out

    def _pull(self, edges: slice, low: int, high: int) -> NDArray[np.float64]:
        """Gives the sums of pulls, and of pulls times way in x and y, of points ``low`` to ``high``."""
        weights = self._weights[edges]
        drawn = np.flatnonzero(self._random.random(len(weights), dtype=np.float32) < weights)
        heads, tails = self._heads[edges][drawn], self._tails[edges][drawn]
        dx, dy = self._x[tails] - self._x[heads], self._y[tails] - self._y[heads]
        square = np.maximum(dx * dx + dy * dy, np.float32(1e-6))
        power = np.exp(self._b * np.log(square))
        strength = 2 * self._a * self._b * power / (square * (1 + self._a * power))
        heads -= low
        count = high - low
        return np.stack([np.bincount(heads, by, minlength=count) for by in (strength, strength * dx, strength * dy)])

    def _push(self) -> tuple[Floats, Floats]:
        """Gives the sum of pushes from the points that stand a random number of places further."""
        points = len(self._x)
        sums = (np.zeros(points, np.float32), np.zeros(points, np.float32))
        away = (np.empty(points, np.float32), np.empty(points, np.float32))
        everyone = self._pushes == points - 1
        shifts = np.arange(1, points) if everyone else self._random.integers(1, points, self._pushes)
        for shift in shifts.tolist():
            for here, way in zip((self._x, self._y), away, strict=True):
                np.subtract(here[shift:], here[:-shift], out=way[shift:])
                np.subtract(here[:shift], here[-shift:], out=way[:shift])
            square = away[0] * away[0]
            square += away[1] * away[1]
            power = np.log(np.maximum(square, np.float32(1e-12)))
            power *= self._b
            np.exp(power, out=power)
            power *= self._a
            power += 1
            square += _NEAR
            power *= square
            np.divide(2 * self._b, power, out=power)
            for way, total in zip(away, sums, strict=True):
                way *= power
                total += way
        return sums


def _slabs(heads: Rows, points: int) -> list[tuple[slice, int, int]]:
    """Cuts edges, which are sorted by head, into runs of whole points: edges, first point, first point after."""
    ends = np.searchsorted(heads, np.arange(points + 1))
    slabs, low = [], 0
    while low < points:
        high = int(np.searchsorted(ends, ends[low] + _SLAB, side="right")) - 1
        high = min(points, max(high, low + 1))
        slabs.append((slice(int(ends[low]), int(ends[high])), low, high))
        low = high
    return slabs
