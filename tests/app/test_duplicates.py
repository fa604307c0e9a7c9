"""Duplicates of a person's folders: each kind named for what it is, nothing ticked that could be missed."""

from __future__ import annotations

import io
import itertools
import mailbox
import os
import shutil
import time
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pytest

from sbert_desktop.app import duplicates as module
from sbert_desktop.app.deciding import DIFFERENT, KIND, WHOLE, apart, not_duplicates, remember
from sbert_desktop.app.duplicate_report import export_duplicates, written
from sbert_desktop.app.duplicates import run_duplicates
from sbert_desktop.app.having import run_have
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.session import Session
from sbert_desktop.app.shared import run_shared_passages
from sbert_desktop.app.side_by_side import run_compare
from sbert_desktop.app.ticking import bytes_of, can_tick, files_of, removals, ticks_of
from sbert_desktop.cleanup import Assistant, Copy, DuplicateKind, DuplicateQuery, Rule, RuleKind
from sbert_desktop.domain import Filters
from sbert_desktop.errors import UsageError
from sbert_desktop.jobs import NullContext
from tests.extraction.conftest import make_docx, paragraph

K = DuplicateKind
WALK = (
    "We left the harbour before eight and followed the wall of the old salt works to the second stile. The path is "
    "dry there even in March, and the dogs may run. Behind the farm the way divides: left to the church, right to "
    "the cliffs. We took the right one, because the wind had dropped.\n\n"
    "At noon we sat under the coastguard's hut and counted eleven ships. Mother had packed eggs and cold potatoes. "
    "The way back over the fields takes an hour longer but spares the knees.\n"
)
BREAD = (
    "Mix the rye flour with the sour dough in the evening and let it stand in a warm place under a cloth. In the "
    "morning add wheat flour, salt and lukewarm water, and knead until the dough leaves the bowl. It rises for two "
    "hours in the basket and bakes for fifty minutes, at first very hot, later at a falling heat.\n"
)


def _invoice(number: str, day: str, total: str) -> str:
    return (
        f"Invoice {number}\n\nDelivered on {day} to the timber yard at the lower bridge: garden posts of larch, two "
        f"metres long, pointed and debarked, with the screws that belong to them. Please pay the total of {total} "
        "within thirty days to the account that you know. Thank you for your trust in our saw mill.\n"
    )


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
def index(session, root):
    """Brings the library up to date, and gives what a query then finds."""

    def look(query: DuplicateQuery | None = None, *, anew: bool = True):
        if anew:
            run_index(session, IndexRequest((root,)), NullContext())
        return run_duplicates(session, query or DuplicateQuery(), NullContext(), again=anew)

    return look


def _write(root: Path, name: str, data: str | bytes) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def _told(view, root: Path) -> list[tuple[str, set[str]]]:
    return [
        (group.kind.value, {os.path.relpath(m.copy.path, root) + (f">{m.copy.member}" if m.copy.member else "")
                            for m in group.members})
        for group in view.groups
    ]  # fmt: skip


# ---------------------------------------------------------------- kinds


def test_identical_files_are_found_whether_they_are_read_or_not(root, index):
    _write(root, "a/walk.txt", WALK)
    _write(root, "b/walk again.txt", WALK)
    song = bytes(range(256)) * 280
    _write(root, "music/song.mp3", song)
    _write(root, "old/song.mp3", song)
    _write(root, "music/other.mp3", song[:-1] + b"x")
    _write(root, "music/third.mp3", b"x" + song[1:])
    view = index()
    assert _told(view, root) == [
        ("bytes", {"music/song.mp3", "old/song.mp3"}),
        ("bytes", {"a/walk.txt", "b/walk again.txt"}),
    ]
    assert view.bytes_to_win == len(song) + len(WALK)
    assert view.ticked == 2


def test_what_was_read_of_unread_files_is_not_read_again_until_they_change(root, index, monkeypatch):
    for name in ("a.bin", "b.bin"):
        _write(root, name, b"\0\1" * 40_000)
    index()
    read = []
    monkeypatch.setattr("sbert_desktop.app.copies.read_hash", lambda path, check=None: read.append(path) or "")
    assert len(index().groups) == 1
    assert not read
    os.utime(root / "a.bin", ns=(5, 5))
    index()
    assert read == [root / "a.bin"]


def test_the_same_paragraphs_as_text_word_file_and_page_are_one_group(root, index):
    paragraphs = WALK.strip().split("\n\n")
    _write(root, "walk.txt", WALK)
    _write(root, "walk.docx", make_docx("".join(map(paragraph, paragraphs))))
    _write(root, "walk.html", "<html><body>" + "".join(f"<p>{text}</p>" for text in paragraphs) + "</body></html>")
    view = index()
    assert _told(view, root) == [("format", {"walk.txt", "walk.docx", "walk.html"})]
    assert view.ticked == 0


def test_invoices_that_differ_in_numbers_are_said_to_and_never_ticked(root, index):
    _write(root, "one.txt", _invoice("2024-031", "3 May 2024", "1,240.00 EUR"))
    _write(root, "two.txt", _invoice("2024-078", "19 July 2024", "980.50 EUR"))
    every = DuplicateQuery(assistant=Assistant(kinds=tuple(DuplicateKind)))
    view = index(every)
    assert _told(view, root) == [("numbers", {"one.txt", "two.txt"})]
    assert view.groups[0].numbers
    assert view.ticked == 0
    assert "numbers or dates differ" in view.left


def test_an_excerpt_is_contained_and_its_whole_is_not_ticked_for_it(root, index):
    _write(root, "whole.txt", WALK + "\n" + BREAD)
    short = _write(root, "part.txt", WALK)
    os.utime(short, (2_000_000_000, 2_000_000_000))  # newer
    query = DuplicateQuery(assistant=Assistant((Rule(RuleKind.NEWEST),), (K.BYTES, K.CONTAINED)))
    view = index(query)
    assert _told(view, root) == [("contained", {"whole.txt", "part.txt"})]
    whole = next(member for member in view.groups[0].members if member.copy.path.name == "whole.txt")
    assert not whole.ticked
    assert "sentences that the kept file lacks" in whole.warning
    largest = DuplicateQuery(assistant=Assistant((Rule(RuleKind.LARGEST),), (K.BYTES, K.CONTAINED)))
    assert [m.copy.path.name for m in index(largest, anew=False).groups[0].members if m.ticked] == ["part.txt"]


def test_empty_files_are_no_group_and_pictures_only_by_bytes(root, index):
    for number in range(200):
        _write(root, f"empty/{number}.txt", b"")
        _write(root, f"blank/{number}.md", b" \n" * (number + 1))
    assert index().groups == ()


def test_hard_links_free_nothing_and_are_no_duplicates(root, index):
    path = _write(root, "a.txt", WALK)
    os.link(path, root / "b.txt")
    assert index().groups == ()
    _write(root, "c.txt", WALK)
    view = index()
    assert view.bytes_to_win == len(WALK)
    linked = [member for member in view.groups[0].members if member.copy.linked]
    assert len(linked) == 1
    assert not linked[0].may_tick


def test_one_attachment_in_two_mailboxes_is_shown_and_can_never_be_ticked_nor_stay(root, index):
    notes = ("The minutes of the meeting follow. " + WALK).encode()
    for name in ("first.mbox", "second.mbox"):
        box = mailbox.mbox(root / name)
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = "ada@example.org", "ben@example.org", f"Minutes {name}"
        message.set_content(f"Please find the minutes for {name} attached, with kind regards.")
        message.add_attachment(notes, maintype="text", subtype="plain", filename="minutes.txt")
        box.add(message)
        box.close()
    view = index(DuplicateQuery(kinds=(K.BYTES,)))
    assert len(view.groups) == 1
    group = view.groups[0]
    assert all(member.copy.member.endswith("minutes.txt") for member in group.members)
    assert not any(member.keep or member.ticked or member.may_tick for member in group.members)
    assert group.bytes_to_win == 0

    loose = _write(root, "minutes.txt", notes)
    again = index(DuplicateQuery(kinds=(K.BYTES,)))
    members = again.groups[0].members
    assert [member.copy.path for member in members if member.keep] == [loose]
    key = (loose, "")
    assert not can_tick(again.groups[0], frozenset(), key), "members are no copy that stays"
    assert removals(again.groups, frozenset([key])) == ()


def test_members_of_equal_archives_are_not_listed_one_by_one(root, index):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as pack:
        pack.writestr("walk.txt", WALK)
        pack.writestr("bread.txt", BREAD)
    for name in ("a.zip", "b.zip"):
        _write(root, name, data.getvalue())
    assert _told(index(), root) == [("bytes", {"a.zip", "b.zip"})]


def test_equal_folders_are_one_row_and_go_as_one(root, index):
    for top in ("photos", "photos of 2019"):
        for number in range(4):
            _write(root, f"{top}/sub{number % 2}/{number}.jpg", bytes([number]) * 500)
        _write(root, f"{top}/walk.txt", WALK)
        _write(root, f"{top}/none.txt", b"")
    view = index()
    assert [(group.kind, group.folders) for group in view.groups] == [(K.BYTES, True)]
    rows = view.groups[0].members
    assert {row.copy.path.name for row in rows} == {"photos", "photos of 2019"}
    assert [len(row.files) for row in rows] == [5, 5]
    ticks = ticks_of(view.groups)
    assert (files_of(view.groups, ticks), bytes_of(view.groups, ticks)) == (5, view.bytes_to_win)
    going = removals(view.groups, ticks)
    assert len(going) == 5
    assert all(one.keepers[0].sha256 == one.victim.sha256 for one in going)
    _write(root, "photos/new.txt", BREAD)
    names = {member.copy.path.name for group in index().groups if group.folders for member in group.members}
    assert names == {"sub0", "sub1"}


def test_signed_files_are_known_and_never_ticked(root, index):
    for name in ("a.pdf", "b.pdf"):
        _write(root, name, b"%PDF-1.4\n1 0 obj <</Type /Sig /ByteRange [0 10 20 30]>> endobj\n%%EOF")
    view = index()
    assert [member.warning for member in view.groups[0].members] == ["signed", "signed"]
    assert view.ticked == 0
    assert "signed" in view.left


def test_versions_are_named_with_the_newest(root, index):
    _write(root, "plan v1.txt", WALK)
    _write(root, "plan v2.txt", WALK.replace("eleven", "small boats and eleven"))
    _write(root, "plan v3.txt", WALK.replace("eleven", "small boats, a tug and eleven"))
    view = index(DuplicateQuery(assistant=Assistant((Rule(RuleKind.LAST_VERSION),))))
    assert len(view.groups) == 1
    assert "newest of 3" in view.groups[0].versions
    assert view.groups[0].members[0].copy.path.name == "plan v3.txt"


# ---------------------------------------------------------------- what takes part


def test_changed_gone_and_trashed_files_take_no_part_and_it_is_said(root, index):
    _write(root, "a.txt", WALK)
    _write(root, "b.txt", WALK)
    _write(root, ".Trash-1000/files/c.txt", WALK)
    assert len(index().groups[0].members) == 2
    (root / "b.txt").write_text(BREAD)
    view = index(anew=False)
    assert len(view.groups) == 1, "what was found before is taken"


def test_looking_again_sees_the_disk_as_it_is(session, root, index):
    _write(root, "a.txt", WALK)
    b = _write(root, "b.txt", WALK)
    index()
    b.write_text(BREAD)
    view = run_duplicates(session, DuplicateQuery(), NullContext(), again=True)
    assert view.groups == ()
    assert any("1 file changed" in note for note in view.notes)
    b.unlink()
    assert run_duplicates(session, DuplicateQuery(), NullContext(), again=True).groups == ()


def test_filters_and_chosen_files_narrow_what_is_compared(root, index):
    for name in ("x/a.txt", "x/b.txt", "y/c.txt", "x/a.bin", "y/b.bin"):
        _write(root, name, WALK if name.endswith("txt") else b"\0" * 3000)
    assert _told(index(), root)[0][1] | _told(index(anew=False), root)[1][1] == {
        "x/a.txt", "x/b.txt", "y/c.txt", "x/a.bin", "y/b.bin",
    }  # fmt: skip
    inside = index(DuplicateQuery(filters=Filters(folder=root / "x")), anew=False)
    assert _told(inside, root) == [("bytes", {"x/a.txt", "x/b.txt"})]
    two = index(DuplicateQuery(paths=(root / "x/a.txt", root / "y/c.txt")), anew=False)
    assert _told(two, root) == [("bytes", {"x/a.txt", "y/c.txt"})]


def test_kinds_and_thresholds_cut_at_once_from_what_was_found(root, index, monkeypatch):
    _write(root, "a.txt", WALK)
    _write(root, "b.txt", WALK)
    _write(root, "c.txt", WALK.replace("eleven ships", "a great many ships of every size"))
    index()
    monkeypatch.setattr(module, "gather", None)  # would fail if it were asked
    assert _told(index(anew=False), root) == [("near", {"a.txt", "b.txt", "c.txt"})]
    assert _told(index(DuplicateQuery(kinds=(K.BYTES,)), anew=False), root) == [("bytes", {"a.txt", "b.txt"})]
    assert _told(index(DuplicateQuery(near=0.99), anew=False), root) == [("bytes", {"a.txt", "b.txt"})]


def test_what_was_found_is_kept_for_the_next_start(root, index, tmp_path, settings, session, monkeypatch):
    _write(root, "a.txt", WALK)
    _write(root, "c.txt", WALK.replace("eleven", "twelve"))
    first = _told(index(), root)
    session.close()
    monkeypatch.setattr(module, "find_relations", None)
    with_shelf = Session(tmp_path / "library", settings)
    assert _told(run_duplicates(with_shelf, DuplicateQuery(), NullContext()), root) == first
    with_shelf.close()


# ---------------------------------------------------------------- decisions


@pytest.mark.parametrize("other", [WALK, WALK.replace("eleven", "twelve")], ids=["identical", "near"])
def test_not_duplicates_is_remembered_for_good_and_can_be_taken_back(root, index, session, tmp_path, settings, other):
    _write(root, "a.txt", WALK)
    _write(root, "b.txt", other)
    group = index().groups[0]
    not_duplicates(session, group)
    assert index(anew=False).groups == ()
    os.rename(root / "b.txt", root / "moved.txt")
    assert index().groups == ()
    session.close()
    later = Session(tmp_path / "library", settings)
    assert run_duplicates(later, DuplicateQuery(), NullContext()).groups == ()
    [judged] = later.library.judgements(KIND, WHOLE)
    assert judged.verdict == "different"
    assert {judged.text, judged.other_text} == {WALK.strip(), other.strip()} or judged.text
    not_duplicates(later, group, undo=True)
    assert len(run_duplicates(later, DuplicateQuery(), NullContext()).groups) == 1
    later.close()


# ---------------------------------------------------------------- the other views


def test_shared_passages_name_every_document_that_has_them(root, index, session):
    _write(root, "a.txt", WALK)
    _write(root, "b.txt", WALK)
    _write(root, "c.md", "# A day out\n\n" + WALK)
    _write(root, "d.txt", BREAD)
    index()
    shared = run_shared_passages(session, DuplicateQuery(), NullContext())
    assert shared
    assert {place[0].name for place in shared[0].places} == {"a.txt", "b.txt", "c.md"}
    assert all("d.txt" not in {place[0].name for place in group.places} for group in shared)


def test_do_i_have_this_already(root, index, session, tmp_path):
    _write(root, "walks/plan v2.txt", WALK)
    _write(root, "kitchen/bread.txt", BREAD)
    index()
    drafts = tmp_path / "elsewhere"
    same = run_have(session, _write(drafts, "copy.txt", WALK), NullContext())
    assert (same.verdict, same.folder) == ("identical", root / "walks")
    other = run_have(session, _write(drafts, "walk.html", f"<p>{WALK}</p>"), NullContext())
    assert other.verdict == "same text"
    newer = run_have(session, _write(drafts, "plan v3.txt", WALK.replace("eleven", "many")), NullContext())
    assert (newer.verdict, newer.files[0][0].name) == ("newer version", "plan v2.txt")
    older = run_have(session, _write(drafts, "plan v1.txt", WALK.replace("eleven", "no")), NullContext())
    assert older.verdict == "older version"
    fresh = run_have(session, _write(drafts, "tax.txt", "Quarterly figures of an unknown company. " * 8), NullContext())
    assert fresh.verdict in ("new", "similar")
    unread = run_have(session, _write(drafts, "song.mp3", os.urandom(500)), NullContext())
    assert unread.verdict == "new"
    with pytest.raises(UsageError):
        run_have(session, drafts / "missing.txt", NullContext())


def test_side_by_side_marks_the_words_that_only_one_has(root, index, session):
    _write(root, "a.txt", WALK)
    _write(root, "b.txt", WALK.replace("eleven ships", "twelve white ships").replace("Mother had", "Father had"))
    group = index().groups[0]
    compared = run_compare(session, group.members[0].copy, group.members[1].copy, NullContext())
    differing = [row for row in compared.rows if not row.same]
    left = {row.left[a:b] for row in differing for a, b in row.left_marks}
    right = {row.right[a:b] for row in differing for a, b in row.right_marks}
    assert {frozenset(left), frozenset(right)} == {
        frozenset({"eleven", "Mother"}), frozenset({"twelve white", "Father"}),
    }  # fmt: skip
    assert compared.differences == len(differing) == 1
    assert {"Size", "Modified", "Words"} <= {fact[0] for fact in compared.facts}


def test_reports_hold_every_copy_and_no_formula(root, index, tmp_path):
    _write(root, "=cmd.txt", WALK)
    _write(root, "b<i>.txt", WALK)
    view = index()
    csv = export_duplicates(view, tmp_path / "out.csv").read_text(encoding="utf-8-sig")
    assert len(csv.splitlines()) == 3
    assert "trash" in csv
    assert "<i>" not in written(view, "html").replace("<i>.txt", "")
    assert '"suggestion": "keep"' in written(view, "json")
    with pytest.raises(UsageError):
        export_duplicates(view, tmp_path / "out.bib")


def test_three_one_and_no_documents(root, index):
    assert index().groups == ()
    _write(root, "a.txt", WALK)
    assert index().groups == ()
    shutil.copy(root / "a.txt", root / "b.txt")
    assert len(index().groups) == 1


def test_very_many_pairs_are_remembered_at_once_and_in_little_room(root, session):
    copies = [Copy(n, root / f"{n}.txt", 9, 0, 1, n, f"{n:064x}") for n in range(120)]
    began = time.process_time()
    remember(session, itertools.combinations(copies, 2), DIFFERENT)
    assert time.process_time() - began < 10.0
    assert len(apart(session)) == 120 * 119 // 2
    remember(session, itertools.combinations(copies, 2), "")
    assert apart(session) == frozenset()
