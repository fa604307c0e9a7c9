"""What a person does about files that were not read: retry, ignore, unlock, caption, export."""

from __future__ import annotations

import csv
import io
import os
import shutil
import struct
import threading
import time
import zlib
from pathlib import Path

import pytest

from sbert_desktop.app.embedding import cutter_in_force
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.overview import library_view, problem_views
from sbert_desktop.app.presence import CHANGED, CURRENT, GONE, OFFLINE, Presence
from sbert_desktop.app.problems import (
    keep_opened,
    known_path,
    open_locked,
    problems_as_csv,
    store_caption,
    write_problems,
)
from sbert_desktop.app.searching import run_search
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import LeftOutView, ProblemView
from sbert_desktop.domain import Mode, Query, SourceFile
from sbert_desktop.errors import LibraryError, SbertDesktopError, UsageError
from sbert_desktop.jobs import NullContext


def index(session, *folders, **options):
    return run_index(session, IndexRequest(tuple(folders), **options), NullContext())


def found(session, text):
    return [(d.path.name, d.member) for d in run_search(session, Query(text, mode=Mode.KEYWORD)).documents]


def png() -> bytes:
    """Makes a picture of one grey point."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    point = zlib.compress(b"\0\x80")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", point) + chunk(b"IEND", b"")


def caption(session, path, text, member=""):
    with session.library.writer() as writer:
        return store_caption(writer, cutter_in_force(session), path, text, member)


def test_retry_reads_a_file_again_though_it_looks_unchanged(session, folder):
    path = folder / "broken.pdf"
    path.write_bytes(b"%PDF-1.4\nnothing")
    index(session, folder)
    status = path.stat()
    path.write_text("x" * status.st_size)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert index(session).unchanged == 7  # nothing tells it from before
    before = problem_views(session)[0].when
    report = index(session, retry=(path,), keep_leaving=True)
    assert (report.changed, report.unchanged) == (1, 0)
    assert problem_views(session)[0].when > before


def test_ignored_problems_do_not_count_until_the_file_changes(session, folder):
    path = folder / "broken.pdf"
    path.write_bytes(b"%PDF-1.4\nnothing")
    assert index(session, folder).problems == 1
    with session.library.writer() as writer:
        writer.set_ignored([path], True)
    assert [view.ignored for view in problem_views(session)] == [True]
    record = library_view(session).folders[0]
    assert (record.problems, record.ignored) == (0, 1)
    assert index(session).problems == 0
    path.write_bytes(b"%PDF-1.4\nstill nothing")
    assert index(session).problems == 1


def test_caption_is_found_and_survives_reading_again_a_move_and_a_return(session, folder):
    path = folder / "photo.png"
    path.write_bytes(png())
    index(session, folder)
    assert caption(session, path, "Grandmother tells of the ferry in 1951.\n\nThen she sings.").text
    index(session, only=(path,))
    assert found(session, "grandmother ferry") == [("photo.png", "caption")]
    hit = run_search(session, Query("she sings", mode=Mode.SEMANTIC)).documents[0]
    assert hit.path == path
    index(session, retry=(path,))
    assert found(session, "grandmother ferry") == [("photo.png", "caption")]
    os.rename(path, folder / "scene.png")
    index(session)
    assert found(session, "grandmother ferry") == [("scene.png", "caption")]
    data = (folder / "scene.png").read_bytes()
    (folder / "scene.png").unlink()
    index(session)
    assert found(session, "grandmother ferry") == []
    (folder / "back.png").write_bytes(data)
    index(session)
    assert found(session, "grandmother ferry") == [("back.png", "caption")]
    caption(session, folder / "back.png", "")
    assert found(session, "grandmother ferry") == []


def test_caption_of_an_unknown_file_is_refused(session, folder, tmp_path):
    index(session, folder)
    with pytest.raises(LibraryError) as told:
        caption(session, folder / "nowhere.txt", "words")
    assert told.value.code == "file-unknown"
    with pytest.raises(UsageError):
        known_path(session, tmp_path / "elsewhere.txt")
    os.symlink(folder, tmp_path / "alias")
    assert known_path(session, tmp_path / "alias" / "garden" / "beds.md") == folder / "garden" / "beds.md"


def test_password_opens_a_file_and_is_nowhere_kept(session, folder, shared_data, caplog):
    caplog.set_level("DEBUG")
    source = shared_data / "hostile" / "encrypted" / "r4-user-password.pdf"
    with (shared_data / "hostile_expected.csv").open(encoding="utf-8") as stream:
        password = next(row["password"] for row in csv.DictReader(stream) if row["file"].endswith(source.name))
    path = folder / "locked.pdf"
    shutil.copy(source, path)
    index(session, folder)
    assert [view.code for view in problem_views(session)] == ["encrypted"]
    wrong = open_locked(session, path, "wrong", NullContext()).view
    assert (wrong.opened, wrong.text) == (False, "")
    opened = open_locked(session, path, password, NullContext())
    assert opened.view.opened
    assert opened.view.text.strip()
    assert [view.code for view in problem_views(session)] == ["encrypted"]
    for part in session.library.path.rglob("*"):
        assert not part.is_file() or password.encode() not in part.read_bytes()
    assert password not in caplog.text
    with session.library.writer() as writer:
        assert keep_opened(session, writer, cutter_in_force(session), opened).kept
    assert problem_views(session) == ()
    assert ("locked.pdf", "") in found(session, opened.view.text.split()[0])
    assert index(session).unchanged == 7
    assert problem_views(session) == ()
    with pytest.raises(UsageError):
        open_locked(session, path, "", NullContext())


def test_csv_holds_odd_names_and_no_formula(tmp_path):
    odd = Path(os.fsdecode(b"/d/caf\xe9\n.pdf"))
    rows = [
        ProblemView(
            Path("/d/=1+1.pdf"), Path("/d"), "damaged", "=HYPERLINK(1)", "-x", False, "@member", size=3, when=1e9
        ),
        ProblemView(odd, Path("/d"), "empty", 'He said "no", twice', "", True, ignored=True),
        LeftOutView(Path("/d/.x"), Path("/d"), "hidden", "+ hidden", True),
    ]
    out = io.StringIO()
    problems_as_csv(out, rows)
    table = list(csv.DictReader(io.StringIO(out.getvalue(), newline="")))
    assert [row["message"] for row in table] == ["'=HYPERLINK(1)", 'He said "no", twice', "'+ hidden"]
    assert (table[0]["hint"], table[0]["member"], table[0]["partial"]) == ("'-x", "'@member", "no")
    assert bytes.fromhex(table[1]["path_hex"]) == os.fsencode(odd)
    assert "\n" not in table[1]["path"]
    assert (table[2]["code"], table[2]["is_folder"]) == ("hidden", "yes")
    target = write_problems(tmp_path / "list.csv", rows)
    assert target.read_bytes().startswith(b"\xef\xbb\xbfpath,")
    with pytest.raises(SbertDesktopError) as told:
        write_problems(tmp_path / "nowhere" / "list.csv", rows)
    assert told.value.code == "output-unwritable"
    assert [path.name for path in tmp_path.iterdir()] == ["list.csv"]


def test_library_is_not_made_in_a_synced_folder_unless_the_person_insists(tmp_path, settings, monkeypatch):
    synced = tmp_path / "Stuff"
    (synced / ".stfolder").mkdir(parents=True)
    session = Session(synced / "library", settings)
    with pytest.raises(LibraryError) as told:
        _ = session.library
    session.close()
    assert told.value.code == "library-synced"
    assert "Syncthing" in told.value.message
    assert not (synced / "library").exists()
    monkeypatch.setenv("SBERT_DESKTOP_ALLOW_SYNCED", "1")
    session = Session(synced / "library", settings)
    assert session.library.folders() == ()
    session.close()


def test_drive_that_does_not_answer_holds_nobody_up(tmp_path, monkeypatch):
    files = {}
    for drive in ("slow", "quick"):
        (tmp_path / drive).mkdir()
        for name in ("a", "b", "c"):
            path = tmp_path / drive / name
            path.write_text(name)
            status = path.stat()
            files[drive, name] = SourceFile(path, status.st_size, status.st_mtime_ns)
    (tmp_path / "quick" / "b").write_text("changed")
    (tmp_path / "quick" / "c").unlink()
    answering, asked = threading.Event(), []
    real = os.stat

    def stat(path, *arguments, **options):
        if isinstance(path, Path) and path.parent.name == "slow":
            asked.append(path)
            answering.wait(100)
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", stat)
    presence = Presence(patience=1.5)
    roots = {os.fsencode(tmp_path / drive): 3 for drive in ("slow", "quick")}
    quick, slow = ([files[drive, name] for name in ("a", "b", "c")] for drive in ("quick", "slow"))
    assert presence.states([*quick, *slow], roots) == [CURRENT, CHANGED, GONE, OFFLINE, OFFLINE, OFFLINE]
    assert len(asked) == 1
    presence._patience = 60.0
    assert presence.states([*slow, *quick], roots)[3:] == [CURRENT, CHANGED, GONE]
    assert len(asked) == 1, "known to be silent now: not asked again"
    answering.set()
    end = time.monotonic() + 60
    while presence.states(slow, roots) != [CURRENT] * 3:
        assert time.monotonic() < end
