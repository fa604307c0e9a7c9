from __future__ import annotations

from pathlib import Path

import numpy as np

from sbert_desktop.library import Library

from .makers import document, file_at, info, start


def put(writer, folder, name, lines, *, mtime, **changes):
    text, passages = document(lines, **changes)
    return writer.put(folder, file_at(Path(f"/f/{name}"), text.text, mtime=mtime), text, passages, ())


def test_newest_documents_come_first_by_their_own_date_else_that_of_their_newest_file(library: Library) -> None:
    (folder,) = start(library, Path("/f"))
    with library.writer() as writer:
        old = put(writer, folder, "a.txt", ["one", "two"], mtime=9_000.0, date=50.0)
        middle = put(writer, folder, "b.txt", ["three"], mtime=100.0)
        assert put(writer, folder, "copy of b.txt", ["three"], mtime=300.0) == middle
        new = put(writer, folder, "c.txt", ["four"], mtime=400.0)
        put(writer, folder, "empty.txt", [], mtime=900.0)
        writer.commit()
    snapshot = library.snapshot(info().fingerprint)
    dates = snapshot.dates()
    assert [dates[old], dates[middle], dates[new]] == [50.0, 300.0, 400.0]
    passages, contents = snapshot.newest(None, 10)
    assert contents.tolist() == [new, middle, old]
    assert [snapshot.fetch([p])[p].text for p in passages.tolist()] == ["four", "three", "one"]
    mask = np.zeros(len(dates), bool)
    mask[[old, middle]] = True
    assert snapshot.newest(mask, 1)[1].tolist() == [middle]
