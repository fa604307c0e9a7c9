"""Functions over a Snapshot: what can be seen in a library, without changing it."""

from sbert_desktop.explore.ranking import search, similar

__all__ = ["search", "similar"]
