"""Every file that a rule leaves out is listed with that rule in words."""

from __future__ import annotations

import os

from sbert_desktop.app import left_out
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.left_out import run_left_out
from sbert_desktop.jobs import NullContext


def test_all_that_is_left_out_is_listed_with_its_rule_and_counted(session, folder):
    (folder / "notes").mkdir()
    (folder / "notes" / ".sbertignore").write_text("# mine\n\ndraft*\n")
    for name in ("notes/draft 1.txt", ".secret.txt", "~$a.docx", "Thumbs.db", "song.xyz"):
        (folder / name).write_bytes(b"\x00\x01\x02\x03" * 20)
    (folder / "node_modules" / "x").mkdir(parents=True)
    os.symlink("garden", folder / "link")
    os.mkfifo(folder / "pipe")
    run_index(session, IndexRequest((folder,)), NullContext())
    found = run_left_out(session, NullContext())
    told = {str(row.path.relative_to(folder)): (row.reason, row.message, row.is_folder) for row in found.rows}
    assert told["notes/draft 1.txt"] == ("ignore-file", "named in notes/.sbertignore, line 3", False)
    assert told["node_modules"] == ("pattern", "matches node_modules/ of the patterns for all folders", True)
    assert {name: row[0] for name, row in told.items()} == {
        "notes/draft 1.txt": "ignore-file",
        "notes/.sbertignore": "hidden",
        ".secret.txt": "hidden",
        "~$a.docx": "lock-file",
        "Thumbs.db": "system",
        "node_modules": "pattern",
        "link": "link",
        "pipe": "special",
        "song.xyz": "unknown-type",
    }
    assert found.total == sum(count for _, count in found.counts) == 9
    assert all(row.folder == folder for row in found.rows)


def test_rows_end_at_the_limit_and_the_total_does_not(session, folder, monkeypatch):
    monkeypatch.setattr(left_out, "_ROWS", 5)
    for n in range(12):
        (folder / f"{n}.tmp").write_text("x")
    run_index(session, IndexRequest((folder,)), NullContext())
    found = run_left_out(session, NullContext())
    assert (len(found.rows), found.total, dict(found.counts)) == (5, 12, {"lock-file": 12})


def test_folder_that_is_not_there_is_passed_over(session, folder):
    run_index(session, IndexRequest((folder,)), NullContext())
    os.rename(folder, folder.with_name("away"))
    assert run_left_out(session, NullContext()).total == 0
