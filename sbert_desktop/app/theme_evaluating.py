"""Measures the themes of labelled texts: as documents are cut, encoded and sorted, and against what people said."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.judged_tables import LABEL, TEXT, read_columns
from sbert_desktop.app.theme_desk import find_in_child
from sbert_desktop.domain import ExtractedText, JobContext, Vectors
from sbert_desktop.explore.communities import ClusterRequest
from sbert_desktop.explore.document_vectors import document_vectors
from sbert_desktop.explore.neighbours import neighbour_graph

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session

_NEIGHBOURS = 15
_BATCH = 512


def run_clustering(
    session: Session, file: Path, context: JobContext, request: ClusterRequest | None = None
) -> dict[str, object]:
    """V-measure and adjusted Rand index of the themes against the labels.

    Every text counts, those unsorted by their nearest theme; ``unsorted`` is their share.

    Raises:
        UsageError: ``file-missing``, ``file-unreadable``, ``column-missing``, ``no-rows``.
    """
    began = time.monotonic()
    texts, labels = read_columns(file, (TEXT, LABEL))
    vectors = _vectors(session, texts, context)
    context.progress("Comparing documents", 0, None)
    graph = neighbour_graph(vectors, _NEIGHBOURS, context=context)
    context.progress("Finding clusters", 0, None)
    found = find_in_child(session, vectors, graph, request or ClusterRequest(), context)
    _, truth = np.unique(np.array(labels), return_inverse=True)
    return {
        "v_measure": v_measure(truth, found.nearest),
        "ari": adjusted_rand(truth, found.nearest),
        "unsorted": found.unsorted_share(),
        "clusters": found.count,
        "labels": int(truth.max()) + 1,
        "method": found.method.value,
        "silhouette": found.silhouette,
        "n": len(texts),
        "seconds": time.monotonic() - began,
    }


def _vectors(session: Session, texts: list[str], context: JobContext) -> Vectors:
    """Gives one vector for each text, made of its passages as indexing makes them."""
    from sbert_desktop.extraction import split

    encoder = session.encoder()
    rules = session.rules(encoder)
    inputs: list[str] = []
    contents: list[int] = []
    words: list[int] = []
    for number, text in enumerate(texts):
        passages = split(ExtractedText("txt", text), rules, encoder.tokenizer)
        kept = [passage for passage in passages if passage.embedded]
        inputs += [passage.encoder_input() for passage in kept] or [text]
        contents += [number] * max(1, len(kept))
        words += [len(passage.text.split()) for passage in kept] or [0]
    made = []
    for at in range(0, len(inputs), _BATCH):
        context.check()
        context.progress("Encoding", at, len(inputs))
        made.append(encoder.encode_passages(inputs[at : at + _BATCH], context))
    whole = np.concatenate(made)
    return document_vectors(
        whole, np.array(contents, np.int64), np.array(words, np.int64), np.ones(len(whole), bool)
    ).vectors


def _table(first: NDArray[np.integer], second: NDArray[np.integer]) -> NDArray[np.float64]:
    """Gives how many rows have each pair of labels."""
    table = np.zeros((int(first.max(initial=-1)) + 1, int(second.max(initial=-1)) + 1))
    np.add.at(table, (first, second), 1)
    return table


def v_measure(truth: NDArray[np.integer], found: NDArray[np.integer]) -> float:
    """Gives the harmonic mean of homogeneity and completeness, 0-1.

    Source: Rosenberg and Hirschberg 2007, "V-Measure: a conditional entropy-based external cluster evaluation measure".
    """
    table = _table(truth, found)
    total = table.sum()
    if not total:
        return 1.0

    def entropy(counts: NDArray[np.float64]) -> float:
        shares = counts[counts > 0] / total
        return float(-(shares * np.log(shares)).sum())

    ours, theirs = entropy(table.sum(axis=1)), entropy(table.sum(axis=0))
    mutual = ours + theirs - entropy(table.ravel())
    if ours + theirs == 0:
        return 1.0
    return max(0.0, 2 * mutual / (ours + theirs))


def adjusted_rand(truth: NDArray[np.integer], found: NDArray[np.integer]) -> float:
    """Gives the Rand index corrected for chance, 1 for the same partition, about 0 for one by lot.

    Source: Hubert and Arabie 1985, "Comparing partitions".
    """
    table = _table(truth, found)

    def pairs(counts: NDArray[np.float64]) -> float:
        return float((counts * (counts - 1)).sum() / 2)

    both, ours, theirs = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    total = pairs(np.array([table.sum()]))
    expected = ours * theirs / total if total else 0.0
    most = (ours + theirs) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)
