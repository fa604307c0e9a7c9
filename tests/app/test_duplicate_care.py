"""What finding duplicates takes from the disk, not from memory; what it keeps, and for how long."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.app import copies
from sbert_desktop.app import cutting as module
from sbert_desktop.app.cleaning import run_clean_up
from sbert_desktop.app.duplicates import run_duplicates
from sbert_desktop.app.having import run_have
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.ticking import bytes_of, removals, ticks_of
from sbert_desktop.cleanup import Assistant, DuplicateKind, DuplicateQuery, Relation
from sbert_desktop.domain import Filters
from sbert_desktop.errors import UsageError
from sbert_desktop.explore.grouping import Kinship
from sbert_desktop.jobs import NullContext
from tests.app.test_cleaning import FolderTrash
from tests.app.test_duplicates import WALK

PDF = b"%PDF-1.4\n1 0 obj <</Type /Sig /ByteRange [0 10 20 30]>> endobj\n%%EOF"


@pytest.fixture
def root(tmp_path) -> Path:
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


@pytest.fixture
def look(session, root):
    def call(query: DuplicateQuery | None = None):
        run_index(session, IndexRequest((root,)), NullContext())
        return run_duplicates(session, query or DuplicateQuery(), NullContext(), again=True)

    return call


def _write(path: Path, data: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def _shelf(session) -> bytes:
    return b"".join(path.read_bytes() for path in session.library.path.glob("shelf.sqlite*"))


def test_a_drive_that_got_another_number_can_still_be_cleaned_up(session, root, tmp_path, look, monkeypatch):
    """Device and inode in the catalog are of the day when it was read; a drive is put in again."""
    for name in ("a.txt", "b.txt"):
        _write(root / name, WALK)
    look()
    listed = [record._replace(device=record.device + 7) for record in session.library.copies()]
    monkeypatch.setattr(type(session.library), "copies", lambda self: listed)
    view = run_duplicates(session, DuplicateQuery(), NullContext(), again=True)
    going = removals(view.groups, ticks_of(view.groups))
    assert run_clean_up(session, going, NullContext(), trash=FolderTrash(tmp_path)).moved == 1


@pytest.mark.parametrize("names", [("a.dat", "b.pdf"), ("a.pdf", "b.dat")])
def test_a_signature_is_known_by_whichever_name_tells_of_it(root, look, names):
    for name in names:
        _write(root / name, PDF)
    view = look()
    assert [member.warning for member in view.groups[0].members] == ["signed", "signed"]
    assert view.ticked == 0


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.eml", b"From: a\nContent-Type: Multipart/Signed; boundary=x\n\nHello you all out there.\n"),
        ("a.eml", b"From: a\n\n-----BEGIN PGP SIGNED MESSAGE-----\n\nHello you all out there.\n"),
        ("a.msg", "IPM.Note.SMIME.MultipartSigned".encode("utf-16-le")),
        ("a.docx", b"PK\3\4_xmlsignatures/sig1.xml"),
    ],
)
def test_signatures_of_mails_and_office_files_are_seen(tmp_path, name, data):
    assert copies.is_signed(_write(tmp_path / name, data)) is True
    assert copies.is_signed(_write(tmp_path / name, b"nothing of the kind")) is False
    assert copies.is_signed(tmp_path / "missing.pdf") is None


def test_signatures_are_looked_for_in_all_that_any_other_cut_may_group():
    """C is in no group while A and B are; it comes into one when the person keeps A and B apart."""
    near = [Relation(0, 1, DuplicateKind.NEAR, 0.9), Relation(1, 2, DuplicateKind.NEAR, 0.8)]
    kinship = Kinship([0, 1, 2, 3], ["txt"] * 4, near)
    counts = np.ones(4, np.int64)
    assert [group.units for group in kinship.group(counts)] == [(0, 1)]
    assert [group.units for group in kinship.group(counts, excluded={(0, 1)})] == [(1, 2)]
    assert kinship.related_units().tolist() == [True, True, True, False]


def test_folders_are_equal_only_if_neither_holds_what_the_library_left_out(root, look):
    for top in ("x", "y"):
        for number in range(3):
            _write(root / top / f"{number}.bin", bytes([number]) * 900)
        _write(root / top / ".DS_Store", top)
    assert [group.folders for group in look().groups] == [True]
    _write(root / "y" / ".hidden", b"the only one")
    assert [group.folders for group in look().groups] == [False] * 3


def test_a_hard_link_whose_first_name_takes_no_part_is_a_copy(root, look):
    _write(root / "a" / "one.txt", WALK)
    (root / "b").mkdir()
    os.link(root / "a" / "one.txt", root / "b" / "two.txt")
    _write(root / "b" / "three.txt", WALK)
    view = look(DuplicateQuery(filters=Filters(folder=root / "b")))
    assert [{m.copy.path.name for m in group.members} for group in view.groups] == [{"two.txt", "three.txt"}]


def test_a_file_with_hard_links_stays_since_its_going_frees_nothing(root, look):
    for name in ("a", "z"):
        _write(root / f"{name}.txt", WALK)
    os.link(root / "z.txt", root / "z2.txt")
    view = look()
    assert {m.copy.path.name: (m.keep, m.ticked) for m in view.groups[0].members} == {
        "a.txt": (False, True), "z.txt": (True, False), "z2.txt": (False, False),
    }  # fmt: skip
    key = (root / "z.txt", "")
    assert bytes_of(view.groups, frozenset([key])) == 0
    assert view.bytes_to_win == len(WALK)


def test_a_moved_slider_makes_only_the_groups_that_change(session, root, look, monkeypatch):
    for number in range(5):
        for name in ("a", "b"):
            _write(root / name / f"{number}.bin", bytes([number]) * (900 + number))
    _write(root / "a" / "only.bin", b"x" * 700)
    look()
    made = []
    whole = module.choose
    monkeypatch.setattr(module, "choose", lambda *args, **rest: made.append(args) or whole(*args, **rest))
    view = run_duplicates(session, DuplicateQuery(near=0.9), NullContext())
    assert (len(view.groups), made) == (5, [])
    again = run_duplicates(session, DuplicateQuery(assistant=Assistant(invert=True)), NullContext())
    assert (len(again.groups), len(made)) == (5, 5)


def test_the_shelf_does_not_grow_with_files_that_change_and_holds_nothing_of_what_was_forgotten(session, root, look):
    for number in range(4):
        for name in ("a.pdf.bin", "b.pdf.bin"):
            path = _write(root / name, bytes([number]) * 50_000)
            os.utime(path, (1_000 + number, 1_000 + number))
        _write(root / "walk.txt", WALK + str(number))
        _write(root / "walk2.txt", WALK.replace("eleven", "many") + str(number))
        look()
    shelf = session.library.shelf
    with shelf._open() as connection:
        keys = [key for (key,) in connection.execute("SELECT key FROM kept")]
    kinds = sorted(key.split(":")[0] for key in keys)
    assert kinds.count("sha256") == 2
    assert kinds.count("kinship") == 1
    assert kinds.count("words") == 2
    assert os.fsencode(root / "a.pdf.bin").hex().encode() in _shelf(session)
    with session.library.writer() as writer:
        writer.remove_folder(session.library.folders()[0].id)
        writer.commit()
    assert os.fsencode(root / "a.pdf.bin").hex().encode() not in _shelf(session)


def test_have_never_says_so_of_what_is_gone_or_changed(session, root, look, tmp_path):
    kept = _write(root / "a.txt", WALK)
    look()
    mine = _write(tmp_path / "elsewhere" / "mine.txt", WALK)
    assert run_have(session, mine, NullContext()).verdict == "identical"
    times = kept.stat()
    kept.write_text(WALK.replace("eight", "seven")[: len(WALK)])
    os.utime(kept, ns=(times.st_atime_ns, times.st_mtime_ns))
    changed = run_have(session, mine, NullContext())
    assert (changed.verdict, "not there any more, or changed" in changed.words) == ("new", True)
    os.mkfifo(root / "pipe")
    with pytest.raises(UsageError):
        run_have(session, root / "pipe", NullContext())
    os.link(mine, root / "linked.txt")
    look()
    assert run_have(session, mine, NullContext()).verdict != "identical", "a hard link is no other copy"
