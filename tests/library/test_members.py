from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.domain import Filters, Problem, SourceFile
from sbert_desktop.library import Library, Writer, open_library

from .makers import document, embed_all, file_at, put_text, start

BOX = Path("/docs/mail.mbox")
CHILD = Path(__file__).with_name("container_child.py")


def box(version: int = 1, *, path: Path = BOX, cursor: str = "") -> SourceFile:
    return SourceFile(path, 1000 + version, version * 10**9, 1, 77, f"hash {version}", cursor=cursor)


def put_member(writer: Writer, folder: int, name: str, text: str, *, path: Path = BOX) -> int | None:
    extracted, passages = document([text])
    file = replace(file_at(path, text, mtime=5.0), member=name, device=1, inode=77)
    return writer.put(folder, file, extracted, passages, ())  # type: ignore[arg-type]


def read_box(
    writer: Writer,
    folder: int,
    members: Iterable[tuple[str, str]],
    version: int = 1,
    *,
    path: Path = BOX,
    **end: object,
) -> None:
    writer.begin_container(folder, box(version, path=path))  # type: ignore[arg-type]
    for name, text in members:
        put_member(writer, folder, name, text, path=path)
    writer.finish_container(folder, box(version, path=path), None, (), (), **end)  # type: ignore[arg-type]


def members_of(library: Library, path: Path = BOX) -> dict[str, str]:
    with library._reading() as connection:
        rows = connection.execute(
            "SELECT member, content FROM file WHERE path=? AND member!='' AND captions IS NULL", (os.fsencode(path),)
        ).fetchall()
    return {member: library.text_of(content).text if content else "" for member, content in rows}


def texts_found(library: Library, query: str, **filters: object) -> list[str]:
    snapshot = library.snapshot("fake-1")
    ids = snapshot.keyword(query, snapshot.select(Filters(**filters)), 100)[0]  # type: ignore[arg-type]
    return sorted(record.text for record in snapshot.fetch(ids.tolist()).values())


def sound(library: Library) -> bool:
    return not {key: value for key, value in library.integrity().items() if key.startswith("bad_") and value}


def test_members_are_documents_below_one_known_file(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        read_box(writer, folder, [("1 Hello.eml", "hello word"), ("2 Plan.eml", "plan word")], cursor="at 2")
        writer.commit()
        assert embed_all(writer) == 2
    known = library.known_files(folder)  # type: ignore[arg-type]
    assert list(known) == [b"/docs/mail.mbox"]
    assert (known[b"/docs/mail.mbox"].size, known[b"/docs/mail.mbox"].cursor) == (1001, "at 2")
    assert known[b"/docs/mail.mbox"].content is None
    assert library.counts().documents == 2
    assert library.counts().problems == 0
    assert {change.member for change in library.recent()} == {"1 Hello.eml", "2 Plan.eml"}
    assert texts_found(library, "word") == ["hello word", "plan word"]
    assert sound(library)


def test_a_place_inside_a_container_has_the_time_and_size_of_the_file_on_disk(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        read_box(writer, folder, [("1 Hello.eml", "hello")])
    content = library.content_at(BOX)
    assert content is not None
    assert library.content_at(BOX, "1 Hello.eml") == content
    assert library.content_at(BOX, "") is None
    (place,) = library.paths_of(content)
    assert (place.path, place.member, place.size, place.mtime_ns) == (BOX, "1 Hello.eml", 1001, 10**9)
    snapshot = library.snapshot("fake-1")
    (record,) = snapshot.fetch(snapshot.keyword("hello", None, 5)[0].tolist()).values()
    assert record.paths == (place,)


def test_the_type_of_a_member_is_that_of_its_last_name(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    archive, book = Path("/docs/a.zip"), Path("/docs/book.txt")
    with library.writer() as writer:
        names = ["in/Report.PDF", "12 Re: v1.2 out.eml", "12 Re: v1.2 out.eml/plan.docx", "in/README", "big.csv/part 3"]
        read_box(writer, folder, [(name, f"word {number}") for number, name in enumerate(names)], path=archive)
        read_box(writer, folder, [("part 1", "word 8"), ("part 2", "word 9")], path=book)
    assert set(library.formats()) == {"pdf", "eml", "docx", "zip", "csv", "txt"}
    assert library.formats()[0] == "txt", "most common first"
    for kind, found in [("pdf", ["word 0"]), ("eml", ["word 1"]), ("docx", ["word 2"]), ("zip", ["word 3"])]:
        assert texts_found(library, "word", types=(kind,)) == found
    assert texts_found(library, "word", types=("csv", "txt")) == ["word 4", "word 8", "word 9"]


def test_members_that_are_not_seen_again_leave_and_the_others_keep_their_vectors(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        read_box(writer, folder, [("a", "text a"), ("b", "text b"), ("c", "text c")])
        embed_all(writer)
        read_box(writer, folder, [("a", "text a"), ("b", "other b"), ("d", "text d")], 2)
        writer.commit()
        assert {text for pending in writer.pending() for _, text in pending.passages} == {"other b", "text d"}
    assert members_of(library) == {"a": "text a", "b": "other b", "d": "text d"}
    assert texts_found(library, "text") == ["text a", "text d"]
    assert sound(library)


def test_a_grown_mailbox_keeps_what_it_had(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        read_box(writer, folder, [("1", "one"), ("2", "two")], cursor="2")
        read_box(writer, folder, [("3", "three")], 2, cursor="3", grown=True)
        assert set(members_of(library)) == set()
        writer.commit()
        assert members_of(library) == {"1": "one", "2": "two", "3": "three"}
        read_box(writer, folder, [("1", "one"), ("3", "three")], 3, cursor="3")
    assert members_of(library) == {"1": "one", "3": "three"}, "read from the start, what is gone is gone"


def test_a_container_that_was_not_finished_is_never_taken_for_read(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        read_box(writer, folder, [("1", "one"), ("2", "two")], cursor="old")
        writer.begin_container(folder, box(2, cursor="old"))  # type: ignore[arg-type]
        put_member(writer, folder, "3", "three")
    (known,) = library.known_files(folder).values()  # type: ignore[arg-type]
    assert (known.size, known.cursor) == (-1, "old"), "goes on from where it began"
    assert members_of(library) == {"1": "one", "2": "two", "3": "three"}
    with library.writer() as writer:
        writer.begin_container(folder, box(3))  # type: ignore[arg-type]
    (known,) = library.known_files(folder).values()  # type: ignore[arg-type]
    assert (known.size, known.cursor) == (-1, ""), "this one began at the start"
    with library.writer() as writer:
        read_box(writer, folder, [("3", "three")], 4)
    (known,) = library.known_files(folder).values()  # type: ignore[arg-type]
    assert known.size == 1004
    assert members_of(library) == {"3": "three"}


def test_a_container_has_a_text_and_problems_of_its_own(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    mail, passages = document(["letter body"], format="eml")
    limit = Problem("archive-limit", "Not all was read.", "", True)
    bad = Problem("encrypted", "Locked.", "")
    with library.writer() as writer:
        writer.begin_container(folder, box())  # type: ignore[arg-type]
        put_member(writer, folder, "plan.pdf", "plan text")
        locked = replace(file_at(BOX, "?"), member="locked.pdf")
        assert writer.put(folder, locked, None, (), (bad,)) is None  # type: ignore[arg-type]
        content = writer.finish_container(folder, box(), mail, passages, (limit,))  # type: ignore[arg-type]
        writer.commit()
        assert library.content_at(BOX) == content
        assert library.has_content("hash 1") is None, "its text does not say what is inside"
        assert [(p.member, p.code, p.size) for p in library.problems()] == [
            ("", "archive-limit", 1001),
            ("locked.pdf", "encrypted", 1001),
        ]
        assert all(problem.when > 0 for problem in library.problems())
        assert library.counts().problems == 2
        put_text(writer, folder, BOX, ["plain now"])
    assert members_of(library) == {}
    assert library.problems() == ()
    assert texts_found(library, "letter plan plain") == ["plain now"]
    assert sound(library)


def test_members_move_and_leave_with_their_container(library: Library) -> None:
    folder, other = start(library, Path("/docs"), Path("/more"))
    with library.writer() as writer:
        read_box(writer, folder, [("1.eml", "one"), ("2.eml", "two")])
        read_box(writer, other, [("1.eml", "in the way")], path=Path("/more/x.mbox"))
        embed_all(writer)
        (known,) = library.known_files(folder).values()  # type: ignore[arg-type]
        writer.move(known.id, box(1, path=Path("/more/x.mbox")), other)  # type: ignore[arg-type]
        writer.commit()
        assert writer.pending() == []
        assert members_of(library, Path("/more/x.mbox")) == {"1.eml": "one", "2.eml": "two"}
        assert texts_found(library, "one two way", folder=Path("/more")) == ["one", "two"]
        assert library.known_files(folder) == {}  # type: ignore[arg-type]
        assert library.folders()[1].documents == 2
        writer.remove([known.id])
    assert library.integrity()["files"] == 0
    assert library.integrity()["contents"] == 0
    assert not library.snapshot("fake-1").alive.any()


def test_a_copy_inside_an_archive_shares_the_content_of_the_file_outside(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        content = put_text(writer, folder, Path("/docs/a.txt"), ["the same"])
        file = replace(file_at(BOX, "the same"), member="a.txt")
        writer.begin_container(folder, box())  # type: ignore[arg-type]
        assert writer.put(folder, file, None, (), ()) == content  # type: ignore[arg-type]
        writer.finish_container(folder, box(), None, (), ())  # type: ignore[arg-type]
        assert embed_all(writer) == 1
    places = [(place.path.name, place.member) for place in library.paths_of(content)]  # type: ignore[arg-type]
    assert places == [("a.txt", ""), ("mail.mbox", "a.txt")]


def test_a_large_mailbox_is_linear_and_its_growth_cheap(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))

    def seconds(members: int, first: int, version: int, **end: object) -> float:
        began = time.thread_time()
        with library.writer() as writer:
            read_box(writer, folder, ((f"{n} x.eml", "the same text") for n in range(first, first + members)), version,
                     cursor="x", **end)  # fmt: skip
        return time.thread_time() - began

    small = seconds(500, 0, 1)
    large = seconds(4_000, 500, 2, grown=True)
    assert large < 8 * small * 6, "eight times the messages; a square would be sixty-four"
    assert min(seconds(10, 4_500 + 10 * n, 3 + n, grown=True) for n in range(3)) < large / 8
    assert len(members_of(library)) == 4_530


def test_any_name_of_a_member_can_be_kept(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    names = [
        "a\udcff.txt",
        "a\udcfe.txt",
        "\0",
        "x" * 5000,
        "new\nline.txt",
        "\u202egnp.exe",
        "part 1/part 2",
        "/",
        "cafe\u0301",
    ]
    with library.writer() as writer:
        read_box(writer, folder, [(name, f"text {number}") for number, name in enumerate(names)])
        read_box(writer, folder, [(name, f"text {number}") for number, name in enumerate(names)], 2)
    assert len(members_of(library)) == len(names)
    assert [library.content_at(BOX, name) is not None for name in names] == [True] * len(names)
    assert library.snapshot("fake-1").passages == len(names)


# ---------------------------------------------------------------- killed in between


@pytest.mark.timeout(300)
def test_a_killed_container_is_read_again_and_members_are_neither_doubled_nor_lost(tmp_path: Path) -> None:  # R3
    run_kills(tmp_path / "library", 12)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_container_killed_many_times(tmp_path: Path) -> None:  # R3
    run_kills(tmp_path / "library", 200)


def run_kills(path: Path, kills: int) -> None:
    if not hasattr(signal, "SIGKILL"):
        pytest.skip("needs SIGKILL")
    chance, unfinished = random.Random(3), 0
    for number in range(kills):
        stay = ["stay"] if number == 0 else []  # one at least is met between two members for certain
        child = subprocess.Popen(
            [sys.executable, str(CHILD), str(path), str(number), *stay],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        lines = [child.stdout.readline().strip() for _ in range(0 if stay else chance.randrange(1, 9))]
        while stay and lines[-1:] != ["inside"]:
            lines.append(child.stdout.readline().strip())
            assert lines[-1], "it ended"
        if not stay:
            time.sleep(chance.uniform(0, 0.005))  # where in the work the kill meets it is left to chance
        child.kill()
        lines += child.stdout.read().splitlines()
        child.wait()
        child.stdin.close()
        child.stdout.close()
        with open_library(path) as library:
            assert library.quick_check() == []
            known = {Path(os.fsdecode(name)): file for name, file in library.known_files(1).items()}  # type: ignore[arg-type]
            for name, file in known.items():
                inside = members_of(library, name)
                if file.size == -1:
                    unfinished += 1
                    continue
                version = file.size - 1000
                assert inside == {f"{n}.eml": f"message {n}" for n in range(version, version + 20)}
            for line in (line for line in lines[:-1] if line != "inside"):  # the last one may be torn
                word, name, version_ = line.split()
                assert word == "done"
                assert known[Path(name)].size in (-1, *range(1000 + int(version_), 10**6))
    assert unfinished > 0, "the kills never met a container that was being read"
    with open_library(path) as library, library.writer() as writer:
        for name in [Path(os.fsdecode(raw)) for raw in library.known_files(1)]:  # type: ignore[arg-type]
            read_box(writer, 1, [(f"{n}.eml", f"message {n}") for n in range(5)], 0, path=name)
        embed_all(writer)
        assert sound(library)
        rows = library.snapshot("fake-1").alive.sum()
        assert (rows, library.counts().documents) == (5, 5 * len(library.known_files(1)))  # type: ignore[arg-type]
        np.testing.assert_array_equal(library.integrity()["contents"], 5)
