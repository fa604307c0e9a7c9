"""Functions over a Snapshot: what can be seen in a library, without changing it."""

from sbert_desktop.explore.ranking import search, similar
from sbert_desktop.explore.refinement import reorder, shortlist, steer

__all__ = ["reorder", "search", "shortlist", "similar", "steer"]
