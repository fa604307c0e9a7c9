"""The one neighbour graph of the documents, which themes and the map share: made once, stored, extended by what is new.

See DESIGN section 5: nothing computes neighbours twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sbert_desktop.explore.document_vectors import DocumentVectors, document_vectors
from sbert_desktop.explore.neighbours import NeighbourGraph, neighbour_graph

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import JobContext, Snapshot

NEIGHBOURS = 15
"""Neighbours of each document. Source: docs/adr/0018 and 0019, which measured both uses with it."""


@dataclass(frozen=True, slots=True)
class DocumentGraph:
    """Documents that have a vector, by rising content id, and the nearest others of each.

    Equal documents are rows of their own here; who wants each vector once collapses them.
    """

    documents: DocumentVectors
    graph: NeighbourGraph
    generation: int


def document_graph(session: Session, snapshot: Snapshot, context: JobContext | None = None) -> DocumentGraph:
    """Gives the documents of a state of the library with their neighbours.

    Raises:
        Cancelled: Through ``context``.
    """
    documents = document_vectors(snapshot.vectors, snapshot.contents, snapshot.lengths, snapshot.alive)
    graph = neighbour_graph(documents.vectors, NEIGHBOURS, context=context)
    return DocumentGraph(documents, graph, snapshot.generation)
