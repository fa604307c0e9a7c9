"""Functions over a Snapshot: what can be seen in a library, without changing it."""

from sbert_desktop.explore.chance import Chance
from sbert_desktop.explore.query_language import parse, with_field, without_term
from sbert_desktop.explore.ranking import search, similar
from sbert_desktop.explore.refinement import reorder, shortlist, steer
from sbert_desktop.explore.strangers import STRANGERS, strangers_in

__all__ = [
    "STRANGERS",
    "Chance",
    "parse",
    "reorder",
    "search",
    "shortlist",
    "similar",
    "steer",
    "strangers_in",
    "with_field",
    "without_term",
]
