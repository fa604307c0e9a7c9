"""Changes to a typed query, for the window: take a piece out, write a field behind it.

Both keep what the rest of the query means, also where a quote was left open or pieces touch.
"""

from __future__ import annotations

from sbert_desktop.explore import with_field, without_term

__all__ = ["with_field", "without_term"]
