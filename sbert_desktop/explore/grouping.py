"""Groups of documents of which every two are related: no chains, whatever the order of the files.

Documents of equal text are one node. Nodes are joined strongest relation first, and only while each is related to
each; ties fall by the documents' numbers. Any thread; numpy only.
"""

from __future__ import annotations

import hashlib
import io
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.cleanup import NEAR_THRESHOLD, RELATED_THRESHOLD, DuplicateKind, Relation

Integers = NDArray[np.int64]
_KINDS = tuple(DuplicateKind)
_VERIFIED_ON_WORDS = (DuplicateKind.NEAR, DuplicateKind.CONTAINED)


@dataclass(frozen=True, slots=True)
class Group:
    """Documents of which every two are related: numbers, rising; the weakest kind; the lowest similarity of two."""

    units: tuple[int, ...]
    kind: DuplicateKind
    lowest: float


def group_key(sha256s: Iterable[str]) -> str:
    """Gives a name of a group that stays while its files do, whatever their order and places."""
    return hashlib.sha256("\n".join(sorted(sha256s)).encode()).hexdigest()[:16]


class Kinship:
    """All relations that were found between documents; groups are cut from it at once.

    Documents ("units") are numbered 0..n-1, best in the order of their sha256: then ties do not depend on where files
    lie. Frozen after it was made; any thread.
    """

    def __init__(self, texts: Sequence[int], formats: Sequence[str], relations: Iterable[Relation]) -> None:
        """Takes what was found.

        Args:
            texts: For each unit the number of the first unit with the same words, -1 where no text is known.
            formats: The format of each unit.
            relations: Between the first units of texts; at most one for two. Those of kind bytes, text and format
                need not be given.
        """
        self._texts = np.asarray(texts, np.int64).reshape(-1)
        self._formats = list(formats)
        count = len(self._texts)
        self._nodes = np.where(self._texts >= 0, self._texts, np.arange(count))
        found: dict[tuple[int, int], Relation] = {}
        for relation in relations:
            one, other = int(self._nodes[relation.a]), int(self._nodes[relation.b])
            if one != other:
                found[min(one, other), max(one, other)] = relation if one < other else _turned(relation)
        ordered = sorted(found.items())
        self._a = np.array([pair[0] for pair, _ in ordered], np.int64)
        self._b = np.array([pair[1] for pair, _ in ordered], np.int64)
        self._kind = np.array([relation.kind.rank for _, relation in ordered], np.int64)
        self._similarity = np.array([relation.similarity for _, relation in ordered], np.float64)
        self._missing_a = np.array([relation.missing_a for _, relation in ordered], np.int64)
        self._missing_b = np.array([relation.missing_b for _, relation in ordered], np.int64)
        # Which side lies in the other: 0 the first, 1 the second, -1 none.
        self._smaller = np.array([-1 if r.smaller < 0 else int(r.smaller == r.b) for _, r in ordered], np.int64)
        self._make_ready()

    def _make_ready(self) -> None:
        self._codes = self._a * max(1, len(self._nodes)) + self._b
        # Strongest first; ties fall by the numbers of the documents.
        self._order = np.lexsort((self._b, self._a, -self._similarity, self._kind))
        self._format_numbers = np.unique(np.array(self._formats, dtype=object).astype(str), return_inverse=True)[1]

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def relations(self) -> int:
        """How many relations there are between unlike texts."""
        return len(self._a)

    def related_units(self) -> NDArray[np.bool_]:
        """Says of each unit whether anything holds between it and another one: [n], whatever is asked for."""
        linked = np.isin(self._nodes, np.concatenate([self._a, self._b]))
        several = np.bincount(self._nodes, minlength=len(self._nodes)) > 1
        mask: NDArray[np.bool_] = linked | several[self._nodes]
        return mask

    def between(self, a: int, b: int) -> Relation | None:
        """Gives what holds between two units, None for nothing; a and b may be in any order, the relation's are not."""
        if a == b:
            return Relation(a, b, DuplicateKind.BYTES, 1.0)
        a, b = min(a, b), max(a, b)
        one, other = int(self._nodes[a]), int(self._nodes[b])
        if one == other:
            same = self._formats[a] == self._formats[b]
            return Relation(a, b, DuplicateKind.TEXT if same else DuplicateKind.FORMAT, 1.0)
        low, high = min(one, other), max(one, other)
        code = low * len(self._nodes) + high
        place = int(np.searchsorted(self._codes, code))
        if place == len(self._codes) or self._codes[place] != code:
            return None
        missing = int(self._missing_a[place]), int(self._missing_b[place])
        side = int(self._smaller[place])
        if one > other:
            missing, side = missing[::-1], side if side < 0 else 1 - side
        smaller = -1 if side < 0 else (a, b)[side]
        return Relation(a, b, _KINDS[self._kind[place]], float(self._similarity[place]), *missing, smaller)

    def group(
        self,
        files: NDArray[np.int64] | Sequence[int],
        kinds: Collection[DuplicateKind] = tuple(DuplicateKind),
        near: float = NEAR_THRESHOLD,
        related: float = RELATED_THRESHOLD,
        excluded: Collection[tuple[int, int]] = frozenset(),
    ) -> list[Group]:
        """Cuts the groups, each unit in one at most; by their first units.

        Args:
            files: [n], how many files of each unit take part; 0: the unit takes none.
            kinds: Relations that are used. Equal texts are one text whatever is asked, but make no group by themselves
                unless their kind is among them.
            near: Share of words shared, from which near and contained count. Numbers count from where they were found.
            related: Cosine from which related counts.
            excluded: Pairs of units that are never in one group, however alike.
        """
        counts = np.asarray(files, np.int64)
        apart: dict[int, set[int]] = defaultdict(set)
        for one, other in excluded:
            apart[one].add(other)
            apart[other].add(one)
        nodes, members = self._node_members(counts > 0, apart)
        joined = self._join(nodes, members, kinds, near, related, apart, counts)
        return sorted(self._groups(joined, members, counts, kinds), key=lambda group: group.units)

    def _node_members(
        self, used: NDArray[np.bool_], apart: dict[int, set[int]]
    ) -> tuple[Integers, dict[int, list[int]]]:
        """Gives the node of each unit (-1 for those that take no part), and the units of nodes with more than one.

        A text whose units include a pair that is kept apart is several nodes.
        """
        nodes = np.full(len(used), -1, np.int64)
        live = np.flatnonzero(used)
        order = live[np.argsort(self._nodes[live], kind="stable")]
        members: dict[int, list[int]] = {}
        if not len(order):
            return nodes, members
        texts = self._nodes[order]
        starts = np.flatnonzero(np.concatenate([[True], texts[1:] != texts[:-1]]))
        sizes = np.diff(np.concatenate([starts, [len(order)]]))
        nodes[order] = np.repeat(order[starts], sizes)  # a text's first unit may take no part
        for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
            for part in _parts(order[start : start + size].tolist(), apart):
                nodes[part] = part[0]
                if len(part) > 1:
                    members[part[0]] = part
        return nodes, members

    def _join(
        self,
        nodes: Integers,
        members: dict[int, list[int]],
        kinds: Collection[DuplicateKind],
        near: float,
        related: float,
        apart: dict[int, set[int]],
        counts: Integers,
    ) -> list[tuple[list[int], int, float]]:
        """Gives the groups of more than one node: nodes, weakest kind, lowest similarity."""
        wanted = np.isin(self._kind, [kind.rank for kind in kinds])
        words = np.isin(self._kind, [kind.rank for kind in _VERIFIED_ON_WORDS])
        is_related = self._kind == DuplicateKind.RELATED.rank
        wanted &= ~(words & (self._similarity < near)) & ~(is_related & (self._similarity < related))
        order = self._order[wanted[self._order]]
        edges = _Edges(self._a[order], self._b[order], self._kind[order], self._similarity[order])
        edges = self._placed(edges, nodes, apart)
        weak = edges.kind == DuplicateKind.RELATED.rank
        joined = _cliques(edges.where(~weak))
        if weak.any():
            taken = np.zeros(len(nodes), bool)
            for part, _, _ in joined:
                taken[part] = True
            taken[[node for node, same in members.items() if any(self._texts_apart(same, kinds))]] = True
            if DuplicateKind.BYTES in kinds:
                taken[np.unique(nodes[counts > 1])] = True
            joined += _cliques(edges.where(weak & ~taken[edges.a] & ~taken[edges.b]))
        return joined

    def _placed(self, edges: _Edges, nodes: Integers, apart: dict[int, set[int]]) -> _Edges:
        """Gives the relations between nodes that take part: a text's first unit may not, or the text may be parted."""
        used = np.flatnonzero(nodes >= 0)
        texts, places = self._nodes[used], nodes[used]
        place = np.full(len(nodes), -1, np.int64)
        place[texts] = places
        edges = edges.where((place[edges.a] >= 0) & (place[edges.b] >= 0))
        parted = set(texts[places != place[texts]].tolist())
        if parted:
            here: dict[int, list[int]] = defaultdict(list)
            for text, node in dict.fromkeys(zip(texts.tolist(), places.tolist(), strict=True)):
                here[text].append(node)
            edges = _Edges.of([(min(x, y), max(x, y), kind, similarity) for a, b, kind, similarity in edges.rows()
                               for x in here[a] for y in here[b]])  # fmt: skip
        else:
            a, b = place[edges.a], place[edges.b]
            edges = _Edges(np.minimum(a, b), np.maximum(a, b), edges.kind, edges.similarity)
        if apart:
            barred = {(int(nodes[one]), int(nodes[other])) for one, others in apart.items() for other in others}
            free = [(a, b) not in barred for a, b in zip(edges.a.tolist(), edges.b.tolist(), strict=True)]
            edges = edges.where(np.array(free, bool))
        return edges

    def _groups(
        self,
        joined: list[tuple[list[int], int, float]],
        members: dict[int, list[int]],
        counts: Integers,
        kinds: Collection[DuplicateKind],
    ) -> Iterable[Group]:
        taken = np.zeros(len(counts), bool)
        for parts, rank, lowest in joined:
            together = sorted(unit for node in parts for unit in members.get(node, (node,)))
            taken[together] = True
            yield Group(tuple(together), _KINDS[rank], lowest)
        for units in members.values():
            if not taken[units[0]]:
                for part, kind in self._texts_apart(units, kinds):
                    taken[list(part)] = True
                    yield Group(part, kind, 1.0)
        if DuplicateKind.BYTES in kinds:
            for unit in np.flatnonzero((counts > 1) & ~taken).tolist():
                yield Group((unit,), DuplicateKind.BYTES, 1.0)

    def _texts_apart(
        self, units: list[int], kinds: Collection[DuplicateKind]
    ) -> Iterable[tuple[tuple[int, ...], DuplicateKind]]:
        """Gives the groups of units of one text, as the kinds asked for allow."""
        formats: dict[int, list[int]] = defaultdict(list)
        for unit in units:
            formats[int(self._format_numbers[unit])].append(unit)
        if len(formats) > 1 and DuplicateKind.FORMAT in kinds:
            yield tuple(units), DuplicateKind.FORMAT
        elif DuplicateKind.TEXT in kinds:
            for part in formats.values():
                if len(part) > 1:
                    yield tuple(part), DuplicateKind.TEXT

    def pack(self) -> bytes:
        """Gives it as bytes, for the disk."""
        out = io.BytesIO()
        formats = np.array("\0".join(self._formats))
        np.savez(out, texts=self._texts, formats=formats, a=self._a, b=self._b, kind=self._kind,
                 similarity=self._similarity, missing_a=self._missing_a, missing_b=self._missing_b,
                 smaller=self._smaller)  # fmt: skip
        return out.getvalue()

    @classmethod
    def unpack(cls, data: bytes) -> Kinship:
        """Reads what :meth:`pack` gave.

        Raises:
            ValueError: The bytes are none.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as read:
                made = cls.__new__(cls)
                made._texts = read["texts"]
                made._formats = str(read["formats"]).split("\0")[: len(made._texts)]
                made._a, made._b, made._kind = read["a"], read["b"], read["kind"]
                made._similarity, made._smaller = read["similarity"], read["smaller"]
                made._missing_a, made._missing_b = read["missing_a"], read["missing_b"]
        except (OSError, KeyError, EOFError, ValueError) as error:
            raise ValueError(f"no relations: {error}") from error
        made._nodes = np.where(made._texts >= 0, made._texts, np.arange(len(made._texts)))
        made._make_ready()
        return made


def _parts(units: list[int], apart: dict[int, set[int]]) -> list[list[int]]:
    """Gives the units of one text in as few parts as keep those apart that are."""
    if not apart:
        return [units]
    parts: list[list[int]] = []
    for unit in units:
        part = next((part for part in parts if apart.get(unit, set()).isdisjoint(part)), None)
        if part is None:
            parts.append([unit])
        else:
            part.append(unit)
    return parts


def _turned(relation: Relation) -> Relation:
    return Relation(relation.b, relation.a, relation.kind, relation.similarity, relation.missing_b,
                    relation.missing_a, relation.smaller)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Edges:
    """Relations between nodes, strongest first."""

    a: Integers
    b: Integers
    kind: Integers
    similarity: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, int, float]]) -> _Edges:
        """Makes them of rows."""
        a, b, kind, similarity = zip(*rows, strict=True) if rows else ((), (), (), ())
        return cls(np.array(a, np.int64), np.array(b, np.int64), np.array(kind, np.int64), np.array(similarity, float))

    def rows(self) -> Iterable[tuple[int, int, int, float]]:
        """Gives them one by one."""
        return zip(self.a.tolist(), self.b.tolist(), self.kind.tolist(), self.similarity.tolist(), strict=True)

    def where(self, mask: NDArray[np.bool_]) -> _Edges:
        """Gives those of them."""
        return self if mask.all() else _Edges(self.a[mask], self.b[mask], self.kind[mask], self.similarity[mask])


def _cliques(edges: _Edges) -> list[tuple[list[int], int, float]]:
    """Joins nodes along the edges in their order, while each node is related to each."""
    if not len(edges.a):
        return []
    degree = np.bincount(np.concatenate([edges.a, edges.b]))
    alone = (degree[edges.a] == 1) & (degree[edges.b] == 1)
    found = [([a, b], kind, similarity) for a, b, kind, similarity in edges.where(alone).rows()]
    edges = edges.where(~alone)
    if not len(edges.a):
        return found
    size = len(degree)
    related = set((edges.a * size + edges.b).tolist())
    groups: dict[int, list[int]] = {}  # node -> the group that it is in, none if it is alone
    for one, other in zip(edges.a.tolist(), edges.b.tolist(), strict=True):
        mine, theirs = groups.get(one), groups.get(other)
        if mine is None and theirs is None:
            groups[one] = groups[other] = [one, other]
            continue
        if mine is theirs:
            continue
        mine, theirs = mine or [one], theirs or [other]
        for x in mine:
            for y in theirs:
                if (x * size + y if x < y else y * size + x) not in related:
                    break
            else:
                continue
            break
        else:
            if len(mine) < len(theirs):
                mine, theirs = theirs, mine
            mine += theirs
            for node in theirs:
                groups[node] = mine
            for node in (one, other):
                groups[node] = mine
    return found + _measured(edges, groups)


def _measured(edges: _Edges, groups: dict[int, list[int]]) -> list[tuple[list[int], int, float]]:
    """Gives each group with its weakest kind and its lowest similarity."""
    homes = np.full(int(max(edges.a.max(), edges.b.max())) + 1, -1, np.int64)
    for node, group in groups.items():
        homes[node] = group[0]
    inside = (homes[edges.a] == homes[edges.b]) & (homes[edges.a] >= 0)
    where = homes[edges.a[inside]]
    kind, lowest = np.zeros(len(homes), np.int64), np.ones(len(homes))
    np.maximum.at(kind, where, edges.kind[inside])
    np.minimum.at(lowest, where, edges.similarity[inside])
    return [(sorted(group), int(kind[group[0]]), float(lowest[group[0]]))
            for node, group in groups.items() if node == group[0]]  # fmt: skip
