"""What the rules leave out of the library, seen by a walk just now, each with the rule in words."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from sbert_desktop.app.rules import Rules
from sbert_desktop.app.scanning import scan
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import LeftOut, LeftOutView
from sbert_desktop.domain import LEFT_OUT, JobContext

_ROWS = 5_000


def run_left_out(session: Session, context: JobContext) -> LeftOut:
    """Walks the folders of the library and lists what is left out, then the files of unknown types.

    A folder that is left out is one row: what lies in it is not counted. Folders that are not there now
    are passed over.
    """
    rows: list[LeftOutView] = []
    counts: Counter[str] = Counter()
    library = session.library
    for record in library.folders():
        if record.state != "active" or not os.path.isdir(record.path):
            continue
        found = scan(
            record.path,
            context,
            rules=Rules.of(session.settings, record.rules),
            skip=(library.path,),
            rows=_ROWS - len(rows),
            count_only=True,
        )
        counts.update(found.left_out)
        rows += [
            LeftOutView(Path(os.fsdecode(path)), record.path, verdict.reason, verdict.message, is_folder)
            for path, is_folder, verdict in found.rows
        ]
    for problem in library.problems():
        if problem.code == LEFT_OUT and not problem.member:
            counts[LEFT_OUT] += 1
            if len(rows) < _ROWS:
                rows.append(LeftOutView(problem.path, problem.folder, LEFT_OUT, problem.message))
    return LeftOut(tuple(rows), sum(counts.values()), tuple(counts.most_common()))
