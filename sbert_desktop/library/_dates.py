"""When documents are from, and which are the newest: arrays over one view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import Mask
from sbert_desktop.library._view import View


def dates(view: View) -> NDArray[np.float64]:
    """Gives the date of each content, float64 [max content id + 1], NaN where none is live.

    The document's own date, else the newest modification time of the files that hold it, in seconds.
    """
    newest = np.full(len(view.content_live), -np.inf)
    live = view.file_live
    np.maximum.at(newest, view.file_content[live], view.file_mtime[live])
    newest[np.isneginf(newest)] = np.nan
    found = np.where(np.isnan(view.content_date), newest, view.content_date)
    return np.where(view.content_live, found, np.nan)


def newest(view: View, mask: Mask | None, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Gives the first passage of the newest documents that pass, and these documents, newest first.

    Documents without a passage are left out; of one date the later added comes first.
    """
    date = dates(view)
    passages = np.flatnonzero(view.passage_content >= 0)[::-1]
    first = np.full(len(date), -1, np.int64)
    first[view.passage_content[passages]] = passages  # backwards: the first passage is written last
    passing = np.isfinite(date) & (first >= 0)
    if mask is not None:
        known = min(len(mask), len(passing))
        passing[:known] &= mask[:known]
        passing[known:] = False
    contents = np.flatnonzero(passing)
    order = np.lexsort((-contents, -date[contents]))[: max(0, limit)]
    return first[contents[order]], contents[order]
