"""The same paragraph in several documents: groups of passages of which every two are alike. numpy only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import JobContext
from sbert_desktop.explore.near_pairs import NearPairs

_CHECK_EVERY = 4_096


@dataclass(frozen=True, slots=True)
class PassageGroup:
    """Rows, rising, of which every two have a cosine of at least ``lowest``; ``owners`` counts their documents."""

    rows: tuple[int, ...]
    lowest: float
    owners: int


def shared_passages(
    pairs: NearPairs,
    owners: NDArray[np.int64],
    *,
    threshold: float,
    context: JobContext | None = None,
) -> list[PassageGroup]:
    """Groups near passages by complete linkage: a chain A like B, B like C makes no group where A is not like C.

    The pairs come in order of falling cosine; two groups become one when the last pair between them has come. Each row
    is in one group at most.

    Args:
        pairs: From :func:`~sbert_desktop.explore.near_pairs.near_pairs`, with a floor of at most ``threshold``.
        owners: int64 [rows], the document of each row. Groups within one document are left out.
        threshold: Cosine that every two rows of a group reach.
        context: Asked every few thousand pairs.

    Returns:
        Those in most documents first, then those most alike.

    Raises:
        Cancelled: Through ``context``.
    """
    near = pairs.at_least(threshold)
    order = np.lexsort((near.b, near.a, -near.cosine))
    members: dict[int, list[int]] = {}
    group_of: dict[int, int] = {}
    links: dict[int, dict[int, int]] = {}  # how many pairs between two groups have come
    lowest: dict[int, float] = {}
    a, b, cosines = near.a[order].tolist(), near.b[order].tolist(), near.cosine[order].tolist()
    for done, (i, j, cosine) in enumerate(zip(a, b, cosines, strict=True)):
        if context is not None and done % _CHECK_EVERY == 0:
            context.check()
        one, two = group_of.setdefault(i, i), group_of.setdefault(j, j)
        ours, theirs = links.setdefault(one, {}), links.setdefault(two, {})
        count = ours.get(two, 0) + 1
        if count < len(members.setdefault(one, [one])) * len(members.setdefault(two, [two])):
            ours[two] = theirs[one] = count
            continue
        if len(ours) + len(members[one]) < len(theirs) + len(members[two]):
            one, two, ours, theirs = two, one, theirs, ours
        ours.pop(two, None)
        theirs.pop(one, None)
        for other, between in theirs.items():
            ours[other] = ours.get(other, 0) + between
            of_other = links[other]
            of_other.pop(two)
            of_other[one] = ours[other]
        for row in members[two]:
            group_of[row] = one
        members[one] += members.pop(two)
        del links[two]
        lowest[one] = cosine
    return _with_equal_rows(near, owners, [(rows, lowest.get(key, 1.0)) for key, rows in members.items()])


def _with_equal_rows(
    pairs: NearPairs, owners: NDArray[np.int64], groups: list[tuple[list[int], float]]
) -> list[PassageGroup]:
    """Adds the rows that stand for one in the pairs, and the groups that consist of nothing else."""
    rows = np.flatnonzero(pairs.same >= 0)
    twins = rows[pairs.same[rows] != rows]
    equal: dict[int, list[int]] = {}
    for first, row in zip(pairs.same[twins].tolist(), twins.tolist(), strict=True):
        equal.setdefault(first, []).append(row)
    grouped = {row for found, _ in groups for row in found}
    groups = groups + [([first], 1.0) for first in equal if first not in grouped]
    out = []
    for found, lowest in groups:
        whole = sorted(found + [row for first in found for row in equal.get(first, ())])
        count = len(set(owners[whole].tolist()))
        if count > 1:
            out.append(PassageGroup(tuple(whole), lowest, count))
    return sorted(out, key=lambda group: (-group.owners, -group.lowest, group.rows))
