"""Folders that move, rules, files that are ignored, files being read: what the catalog keeps of each."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.domain import LEFT_OUT, Filters, FolderRules, Problem, SourceFile
from sbert_desktop.errors import LibraryError
from sbert_desktop.library import Library, open_library

from .makers import document, embed_all, file_at, put_text, start
from .test_members import BOX, box, members_of, put_member, read_box, sound, texts_found

BAD = Problem("encrypted", "Locked.", "")
SKIPPED = Problem(LEFT_OUT, "Not read.", "")


# ---------------------------------------------------------------- another place


@pytest.mark.parametrize("new", ["/media/stick", "/docs/below", "/", "/docs-2"])
def test_a_folder_that_lies_elsewhere_keeps_its_texts_and_vectors(library: Library, new: str) -> None:
    (folder,) = start(library, Path("/docs"))
    odd = b"/docs/sub/\xff\xfe name \n.txt"
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["text a"])
        put_text(writer, folder, Path("/docs/below/a.txt"), ["text b"])
        put_text(writer, folder, odd, ["text c"])
        read_box(writer, folder, [("1.eml", "text d")])
        embed_all(writer)
    before = library.snapshot("fake-1")
    with library.writer() as writer:
        writer.relocate_folder(folder, Path(new))  # type: ignore[arg-type]
        writer.commit()
        assert writer.pending() == []
    (record,) = library.folders()
    root = new.rstrip("/").encode()
    assert record.path == Path(new)
    assert (
        sorted(library.known_files(folder))
        == sorted(  # type: ignore[arg-type]
            root + name for name in (b"/a.txt", b"/below/a.txt", odd[5:], b"/mail.mbox")
        )
    )
    assert members_of(library, Path(os.fsdecode(root + b"/mail.mbox"))) == {"1.eml": "text d"}
    after = library.snapshot("fake-1")
    assert after.generation > before.generation
    np.testing.assert_array_equal(after.vectors, before.vectors)
    assert after.alive.all()
    assert texts_found(library, "text", folder=Path(new) / "below") == ["text b"]
    assert sound(library)


def test_a_place_that_another_folder_has_is_refused(library: Library) -> None:
    folder, _ = start(library, Path("/docs"), Path("/more/here"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["text"])
        for place, code in [
            ("/more/here", "folder-known"),
            ("/more/here/sub", "folder-nested"),
            ("/more", "folder-nested"),
            (str(library.path / "x"), "folder-is-library"),
        ]:
            with pytest.raises(LibraryError) as caught:
                writer.relocate_folder(folder, Path(place))  # type: ignore[arg-type]
            assert caught.value.code == code
        with pytest.raises(LibraryError) as caught:
            writer.relocate_folder(99, Path("/elsewhere"))  # type: ignore[arg-type]
        assert caught.value.code == "folder-unknown"
        writer.relocate_folder(folder, Path("/docs"))  # type: ignore[arg-type]
    assert library.content_at(Path("/docs/a.txt")) is not None, "a refusal takes nothing back"


def test_another_process_follows_a_folder_that_moved(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["text"])
    with open_library(library.path) as reader:
        assert reader.snapshot("").select(Filters(folder=Path("/new"))).sum() == 0  # type: ignore[union-attr]
        with library.writer() as writer:
            writer.relocate_folder(folder, Path("/new"))  # type: ignore[arg-type]
        assert reader.snapshot("").select(Filters(folder=Path("/new"))).sum() == 1  # type: ignore[union-attr]


def test_only_the_files_below_some_places_are_asked_for(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    names = ["a/1.txt", "a/b/2.txt", "a.txt", "a-b/3.txt", "a", "c/4.txt"]
    with library.writer() as writer:
        for name in names:
            put_text(writer, folder, Path("/docs", name), [name])
        read_box(writer, folder, [("a", "x")])

    def below(*places: str) -> list[str]:
        found = library.known_files(folder, [Path("/docs", place) for place in places])  # type: ignore[arg-type]
        return sorted(os.fsdecode(path)[6:] for path in found)

    assert below("a") == ["a", "a/1.txt", "a/b/2.txt"]
    assert below("a/b", "c/4.txt") == ["a/b/2.txt", "c/4.txt"]
    assert below("none") == below() == []
    assert below("mail.mbox") == ["mail.mbox"]
    assert below(".") == sorted([*names, "mail.mbox"])
    assert library.known_files(folder, [Path("/docs/a.txt")])[b"/docs/a.txt"].problem_code == ""  # type: ignore[arg-type]


# ---------------------------------------------------------------- rules


def test_rules_of_a_folder_are_kept(library: Library) -> None:
    folder, _ = start(library, Path("/docs"), Path("/more"))
    rules = FolderRules(("*.pdf",), ("old/", "größe \ud800*"), hidden=True)
    with library.writer() as writer:
        writer.set_rules(folder, rules)  # type: ignore[arg-type]
    library.close()
    with open_library(library.path) as again:
        assert [record.rules for record in again.folders()] == [rules, FolderRules()]
        with again.writer() as writer:
            writer.set_rules(folder, FolderRules())  # type: ignore[arg-type]
        assert again.folders()[0].rules == FolderRules()


# ---------------------------------------------------------------- ignored


def test_ignored_files_are_counted_apart_until_they_change(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    path, skipped = Path("/docs/a.pdf"), Path("/docs/b.raw")
    with library.writer() as writer:
        writer.put(folder, file_at(path, "x"), None, (), (BAD,))  # type: ignore[arg-type]
        writer.put(folder, file_at(skipped, "y"), None, (), (SKIPPED,))  # type: ignore[arg-type]
        writer.commit()
        assert (library.counts().problems, library.counts().ignored) == (1, 0)
        writer.set_ignored([path, Path("/docs/none")], True)
        writer.commit()
        assert (library.counts().problems, library.counts().ignored) == (0, 1)
        assert [(r.problems, r.ignored) for r in library.folders()] == [(0, 1)]
        listed = [(problem.path.name, problem.ignored, problem.size) for problem in library.problems()]
        assert listed == [("a.pdf", True, 1), ("b.raw", False, 1)]
        assert library.known_files(folder)[b"/docs/a.pdf"].ignored  # type: ignore[arg-type]
        writer.put(folder, file_at(path, "x"), None, (), (BAD,))  # type: ignore[arg-type]
        writer.commit()
        assert library.counts().ignored == 1, "tried again without another result"
        writer.put(folder, file_at(path, "other"), None, (), (BAD,))  # type: ignore[arg-type]
        writer.commit()
        assert (library.counts().problems, library.counts().ignored) == (1, 0)
        writer.set_ignored([path], True)
        writer.set_ignored([path], False)
    assert (library.counts().problems, library.counts().ignored) == (1, 0)


def test_ignoring_a_container_ignores_what_is_inside(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))

    def read(version: int, locked: str = "?") -> None:
        writer.begin_container(folder, box(version))  # type: ignore[arg-type]
        put_member(writer, folder, "1.eml", "fine")
        file = replace(file_at(BOX, locked), member="2.pdf")
        writer.put(folder, file, None, (), (BAD,))  # type: ignore[arg-type]
        writer.finish_container(folder, box(version), None, (), (BAD,))  # type: ignore[arg-type]
        writer.commit()

    with library.writer() as writer:
        read(1)
        assert library.counts().problems == 2
        assert library.problems(codes=["damaged", "empty"]) == ()
        assert library.problems(folder, ["encrypted"]) == library.problems()  # type: ignore[arg-type]
        writer.set_ignored([], True, members=[(BOX, "2.pdf"), (BOX, "none"), (Path("/docs/none"), "2.pdf")])
        writer.commit()
        assert {p.member: p.ignored for p in library.problems()} == {"": False, "2.pdf": True}
        writer.set_ignored([], False, members=[(BOX, "2.pdf")])
        writer.set_ignored([], True, members=[(BOX, "")])
        writer.commit()
        assert {p.member: p.ignored for p in library.problems()} == {"": True, "2.pdf": False}, "one row"
        writer.set_ignored([BOX], True)
        read(1)
        assert (library.counts().problems, library.counts().ignored) == (0, 2)
        read(2)
        assert {p.member: p.ignored for p in library.problems()} == {"": False, "2.pdf": True}, "the member is the same"
        read(2, "other")
    assert library.counts().problems == 2


# ---------------------------------------------------------------- being read


def test_what_was_being_read_when_the_program_was_killed_is_known(library: Library) -> None:
    odd = b"/docs/\xff\n.pdf"
    library.note_reading(b"/docs/a.pdf", 10, 20)
    library.note_reading(odd, 3, 4)
    library.note_reading(odd, 5, 6)
    assert library.interrupted() == ((b"/docs/a.pdf", 10, 20), (odd, 5, 6))
    library.done_reading(odd)
    library.done_reading(odd)
    library.close()
    with open_library(library.path) as again:
        assert again.interrupted() == ((b"/docs/a.pdf", 10, 20),)
        (library.path / "reading" / "torn.json").write_bytes(b'{"path"')
        assert len(again.interrupted()) == 1
        again.done_reading(b"/docs/a.pdf")
        assert again.interrupted() == ()
    with open_library(library.path, read_only=True) as reader:
        reader.note_reading(b"/docs/a.pdf", 1, 1)
        assert reader.interrupted() == ()


def test_notes_need_no_lock_and_any_thread(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a"), ["an open transaction"])

        def work(number: int) -> None:
            for _ in range(20):
                library.note_reading(b"/docs/%d" % number, 1, 1)
                library.done_reading(b"/docs/%d" % number)
            library.note_reading(b"/docs/%d" % number, 1, 1)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(library.interrupted()) == 4


def test_removing_a_folder_takes_its_notes(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    library.note_reading(b"/docs/a", 1, 1)
    library.note_reading(b"/docs-other/a", 1, 1)
    with library.writer() as writer:
        writer.remove_folder(folder)  # type: ignore[arg-type]
    assert library.interrupted() == ((b"/docs-other/a", 1, 1),)


def test_a_text_read_by_an_earlier_extractor_is_outdated_also_inside_containers(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        read_box(writer, folder, [("1.eml", "one")])
        writer.put(folder, SourceFile(Path("/docs/b.xyz"), 1, 1), None, (), (SKIPPED,))  # type: ignore[arg-type]
    library.close()
    with open_library(library.path, extractor_version=2) as newer:
        assert [known.outdated for known in newer.known_files(folder).values()] == [True, True]  # type: ignore[arg-type]
        with newer.writer() as writer:
            read_box(writer, folder, [("1.eml", "one")])
        assert not newer.known_files(folder)[b"/docs/mail.mbox"].outdated  # type: ignore[arg-type]
        assert document(["one"])[0].text == members_of(newer)["1.eml"]
