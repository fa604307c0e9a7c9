"""From which cosine on two passages are called the same: where proposals are unsure. Any thread."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app import label_records
from sbert_desktop.domain import Snapshot
from sbert_desktop.library import JudgementRecord
from sbert_desktop.training.labels import LabelKind

if TYPE_CHECKING:
    from sbert_desktop.library import Library

_OF_SCALE = 0.58
"""Where the threshold lies between the mean of random pairs and 1, before anything is judged: 0.6 for an encoder whose
random pairs have 0.05, as all-MiniLM-L6-v2's; 0.9 for one whose random pairs have 0.75, as E5's."""
_WORTH = 20
"""Judged pairs that the threshold before anything was judged weighs as much as."""
_SECONDS = 0.15
"""How long one call may look for the vectors of judged pairs, to place the threshold; the next one goes on."""


class Threshold:
    """Finds it from what was judged, with the cosines of the encoder in force.

    Args:
        library: The opened library.
        snapshot: Its state.
        records: What was judged, by id.
        cosines: Of pairs that are known, by id; nan where a passage is gone. What is found here is added.
    """

    def __init__(
        self, library: Library, snapshot: Snapshot, records: Mapping[str, JudgementRecord], cosines: dict[str, float]
    ) -> None:
        self._library = library
        self._snapshot = snapshot
        self._records = records
        self._known = cosines

    def find(self, labels: Mapping[LabelKind, label_records.Named], chance: float) -> float:
        """Gives the cosine from which two texts are called the same, as far as the judgements tell.

        Args:
            labels: What was judged, by kind.
            chance: Mean cosine of two passages drawn by lot.
        """
        start = chance + _OF_SCALE * (1.0 - chance)
        if not labels:
            return start
        pairs, _ = label_records.as_kind(labels, LabelKind.PAIRS)
        cosines, same = self._cosines(pairs)
        if not same.any() or same.all():
            return start
        best = best_threshold(cosines, same)
        return float((best * len(same) + start * _WORTH) / (len(same) + _WORTH))

    def _cosines(self, pairs: label_records.Named) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Gives the cosines of judged pairs that are known, and of the newest others as many as there is time for."""
        known = self._known
        missing = [id_ for id_ in pairs.ids if id_ not in known][::-1]
        began = time.monotonic()
        for id_ in missing:
            if time.monotonic() - began > _SECONDS:
                break
            record = self._records[id_]
            sides = [self._vector(record.sha256, record.start), self._vector(record.other_sha256, record.other_start)]
            one, other = sides
            known[id_] = float(one @ other) if one is not None and other is not None else np.nan
        cosines = np.array([known.get(id_, np.nan) for id_ in pairs.ids], np.float64)
        same = np.array([example.value > 0.5 for example in pairs.labels.examples], bool)
        there = np.isfinite(cosines)
        return cosines[there], same[there]

    def _vector(self, sha256: str, start: int) -> NDArray[np.float32] | None:
        """Gives the vector of the passage in which a place of a document lies; of whole documents that is the first."""
        content = self._library.has_content(sha256)
        snapshot = self._snapshot
        if content is None:
            return None
        rows = np.flatnonzero((snapshot.contents == int(content)) & snapshot.alive)
        rows = rows[np.argsort(snapshot.passage_ids[rows])]
        low, high = 0, len(rows)  # passages stand in a row: the last one that begins at the place or before it
        while low < high:
            middle = (low + high) // 2
            id_ = int(snapshot.passage_ids[rows[middle]])
            record = snapshot.fetch([id_]).get(id_)
            if record is None:
                return None
            low, high = (middle + 1, high) if record.start <= start else (low, middle)
        return np.asarray(snapshot.vectors[rows[max(0, low - 1)]], np.float32) if len(rows) else None


def best_threshold(cosines: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    """Gives the cosine that parts "same" from "different" best (F1), half way between two that were seen.

    Args:
        cosines: float64 [n].
        same: bool [n], with one of each at least.
    """
    order = np.argsort(-cosines, kind="stable")
    right = np.cumsum(same[order])
    said = np.arange(1, len(order) + 1)
    f1 = 2.0 * right / (said + right[-1])
    ranked = cosines[order]
    last = np.append(ranked[:-1] > ranked[1:], True)  # only between two that differ
    place = int(np.argmax(np.where(last, f1, -1.0)))
    below = ranked[place + 1] if place + 1 < len(ranked) else ranked[place]
    return float((ranked[place] + below) / 2.0)
