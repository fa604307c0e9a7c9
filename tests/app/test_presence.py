"""A drive that does not answer is told from a machine that is busy."""

from __future__ import annotations

import os
import time

from sbert_desktop.app import presence
from sbert_desktop.app.presence import CURRENT, Presence
from sbert_desktop.domain import SourceFile


def test_a_machine_that_is_slow_to_begin_takes_no_file_for_one_that_is_offline(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("a")
    status = (tmp_path / "a.txt").stat()
    file = SourceFile(tmp_path / "a.txt", status.st_size, status.st_mtime_ns)
    run = presence._Asking._run

    def late(self: presence._Asking) -> None:
        time.sleep(2.5)
        run(self)

    monkeypatch.setattr(presence._Asking, "_run", late)
    assert Presence(patience=2.0).states([file], {os.fsencode(tmp_path): 1}) == [CURRENT]
