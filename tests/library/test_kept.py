from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing, suppress
from pathlib import Path

import pytest

from sbert_desktop.domain import ExtractedText, Passage, SourceFile
from sbert_desktop.errors import LibraryBusy, LibraryError
from sbert_desktop.library import KeptPassage, Library, _kept, _kept_copies, kept_copies, open_library

from .makers import RULES, document, embed_all, info, put_text, start

HERE = Path("/docs/a.txt")


@pytest.fixture(autouse=True)
def _one_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test goes on over midnight, when a second copy would be begun."""
    monkeypatch.setattr(_kept_copies, "today", lambda library: library / _kept_copies.FOLDER / "2002-03-04.jsonl")


BLOB = bytes(range(256))


def fill(library: Library) -> tuple[int, str]:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        content = put_text(writer, folder, HERE, ["first part", "second part", "third part"])
        put_text(writer, folder, Path("/docs/b.txt"), ["another one"])
        embed_all(writer)
    return content, library.sha256_of(content)


def second_part(sha256: str, **changes: object) -> KeptPassage:
    values: dict[str, object] = {"path": HERE, "title": "A", "page": 2, "note": "why", **changes}
    return KeptPassage(sha256, 11, 22, "second part", **values)  # type: ignore[arg-type]


def test_a_verdict_takes_the_place_of_the_one_before_and_is_taken_back(library: Library) -> None:
    _, sha = fill(library)
    library.judge("relevance", "relevant", "what", sha, 0, 10, "first part")
    library.judge("relevance", "not relevant", "what", sha, 0, 10, "first part")
    library.judge("relevance", "relevant", "other", sha, 0, 10, "first part")
    library.judge("duplicate", "no", "", sha, 0, 10, "first part", other=("sha", 3, 4, "x"))
    assert [(r.verdict, r.text) for r in library.judgements("relevance", "what")] == [("not relevant", "first part")]
    assert [r.other_text for r in library.judgements("duplicate")] == ["x"]
    assert len(library.judgements()) == 3
    library.judge("relevance", "", "what", sha, 0, 10, "first part")
    assert library.judgements("relevance", "what") == ()
    assert len(library.judgements()) == 2


def test_a_collection_keeps_passages_with_notes(library: Library) -> None:
    content, sha = fill(library)
    library.collect(" Tea \n list ", [second_part(sha), second_part(sha)], note="all about it")
    library.collect("Tea list", [second_part(sha, note="later")])
    (found,) = library.collections()
    assert (found.name, found.note) == ("Tea list", "all about it")
    (item,) = found.items
    assert (item.text, item.note, item.page, item.path, item.content_id) == ("second part", "why", 2, HERE, content)
    assert library.snapshot("fake-1").fetch([item.passage_id])[item.passage_id].text == "second part"
    library.change_collection("Tea list", rename="Coffee", note="", item_note=(item.id, "because"))
    library.collect("Tea", ())
    with pytest.raises(LibraryError) as caught:
        library.change_collection("Tea", rename="Coffee")
    assert caught.value.code == "collection-known"
    names = {c.name: (c.note, [i.note for i in c.items]) for c in library.collections()}
    assert names == {"Coffee": ("", ["because"]), "Tea": ("", [])}
    library.change_collection("Coffee", take_out=[item.id])
    library.change_collection("Tea", delete=True)
    assert [(c.name, c.items) for c in library.collections()] == [("Coffee", ())]
    for call in (lambda: library.change_collection("none"), lambda: library.collect(" ", ())):
        with pytest.raises(LibraryError):
            call()


def test_what_is_kept_survives_moves_another_model_and_another_cut(library: Library) -> None:
    content, sha = fill(library)
    library.collect("c", [second_part(sha)])
    library.judge("relevance", "relevant", "q", sha, 11, 22, "second part")
    with library.writer() as writer:
        (folder,) = library.folders()
        known = library.known_files(folder.id)[b"/docs/a.txt"]
        writer.move(known.id, SourceFile(Path("/docs/sub/z.txt"), 33, 5), folder.id)
        writer.use_space(info("fake-2", max_tokens=99), "tokenizer-2", RULES)
        text = library.text_of(content)  # type: ignore[arg-type]
        cut = [Passage(0, 0, 15, text.text[:15]), Passage(1, 15, 33, text.text[15:33])]
        writer.put_passages(content, cut)  # type: ignore[arg-type]
        embed_all(writer)
    (item,) = library.collections()[0].items
    assert item.path == Path("/docs/sub/z.txt")
    assert library.snapshot("fake-2").fetch([item.passage_id])[item.passage_id].start == 0
    assert library.judgements()[0].sha256 == sha


def test_an_item_outlives_its_file_and_finds_it_again(library: Library) -> None:
    _, sha = fill(library)
    library.collect("c", [second_part(sha)])
    with library.writer() as writer:
        (folder,) = library.folders()
        writer.remove([library.known_files(folder.id)[b"/docs/a.txt"].id])
    (item,) = library.collections()[0].items
    assert (item.text, item.path, item.content_id, item.passage_id) == ("second part", HERE, 0, 0)
    text, passages = document(["a head was put before", "first part", "second part", "third part"])
    with library.writer() as writer:  # the same bytes, read otherwise
        again = SourceFile(Path("/docs/c.txt"), 1, 1, content_hash=sha)
        writer.put(folder.id, again, text, passages, ())
    (item,) = library.collections()[0].items
    assert item.path == Path("/docs/c.txt")
    assert library.snapshot("").fetch([item.passage_id])[item.passage_id].text == "second part"


def test_saved_searches_know_what_was_seen(library: Library) -> None:
    fill(library)
    library.save_search("mine", '{"text": "tea"}')
    (saved,) = library.saved_searches()
    assert (saved.name, saved.query) == ("mine", '{"text": "tea"}')
    with library.writer() as writer:
        newer = put_text(writer, library.folders()[0].id, Path("/docs/new.txt"), ["fresh tea"])
    assert newer > saved.seen
    library.mark_seen("mine", newer)
    library.mark_seen("mine", 1)
    assert library.saved_searches()[0].seen == newer
    library.save_search("mine", "{}", seen=3)
    assert [(s.query, s.seen) for s in library.saved_searches()] == [("{}", 3)]
    library.remove_saved("mine")
    assert library.saved_searches() == ()


def test_nobody_needs_the_writers_lock(library: Library) -> None:
    _, sha = fill(library)
    with library.writer() as writer:
        library.judge("relevance", "relevant", "q", sha, 0, 5, "first")
        library.collect("c", [second_part(sha)])
        put_text(writer, library.folders()[0].id, Path("/docs/n.txt"), ["new"])
        done = threading.Thread(target=library.save_search, args=("s", "{}"))
        done.start()  # waits for the transaction only
        writer.commit()
        done.join(60)
        assert not done.is_alive()
    assert (len(library.judgements()), len(library.collections()), len(library.saved_searches())) == (1, 1, 1)
    assert library.counts().documents == 3


def test_a_writer_that_does_not_answer_is_said(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    _, sha = fill(library)
    monkeypatch.setattr(_kept, "WAIT_MS", 20)
    with library.writer() as writer:
        put_text(writer, library.folders()[0].id, Path("/docs/n.txt"), ["new"])
        with pytest.raises(LibraryBusy):
            library.judge("relevance", "relevant", "q", sha, 0, 5, "first")


def test_a_read_only_library_keeps_nothing(tmp_path: Path) -> None:
    open_library(tmp_path / "library").close()
    with open_library(tmp_path / "library", read_only=True) as library:
        for call in (
            lambda: library.judge("k", "v", "", "s", 0, 1, "t"),
            lambda: library.collect("c", ()),
            lambda: library.arrange("themes", b"x"),
        ):
            with pytest.raises(LibraryError) as caught:
                call()
            assert caught.value.code == "library-readonly"
        assert library.judgements() == ()
        assert library.collections() == ()
        assert library.arrangement("themes") is None


# ---------------------------------------------------------------- arrangements


def test_an_arrangement_takes_the_place_of_the_one_before(library: Library) -> None:
    assert library.arrangement("themes") is None
    library.arrange("themes", BLOB)
    library.arrange("other", b"o")
    library.arrange("themes", BLOB * 1000)
    assert library.arrangement("themes") == BLOB * 1000
    assert library.arrangement("other") == b"o"
    library.arrange("other", b"")
    assert library.arrangement("other") is None
    with pytest.raises(ValueError, match="64 MB"):
        library.arrange("themes", bytes(_kept.LARGEST + 1))
    assert library.arrangement("themes") == BLOB * 1000


def test_an_arrangement_takes_the_place_only_of_what_it_was_made_from(library: Library) -> None:
    library.arrange("themes", b"1", over=None)
    library.arrange("themes", b"2", over=b"1")
    for over in (b"1", None, b""):
        with pytest.raises(LibraryError) as caught:
            library.arrange("themes", b"3", over=over)
        assert caught.value.code == "arrangement-changed"
    assert library.arrangement("themes") == b"2"


def test_an_arrangement_is_kept_beside_the_writer(library: Library) -> None:
    fill(library)
    with library.writer() as writer:
        library.arrange("themes", b"1")
        put_text(writer, library.folders()[0].id, Path("/docs/n.txt"), ["new"])
        done = threading.Thread(target=library.arrange, args=("themes", b"2"))
        done.start()  # waits for the transaction only
        writer.commit()
        done.join(60)
        assert not done.is_alive()
        assert library.arrangement("themes") == b"2"


def test_an_arrangement_is_stale_once_documents_were_erased(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(library)
    (folder,) = library.folders()
    assert not library.is_arrangement_stale("themes")
    library.arrange("themes", b"with words of a.txt")
    assert not library.is_arrangement_stale("themes")
    with library.writer() as writer:
        put_text(writer, folder.id, Path("/docs/n.txt"), ["new"])
        embed_all(writer)
    assert not library.is_arrangement_stale("themes"), "nothing was erased"
    clock = [1_000.0]  # put back far behind what was noted
    monkeypatch.setattr(_kept.time, "time", lambda: clock[0])
    with library.writer() as writer:
        writer.remove([library.known_files(folder.id)[b"/docs/a.txt"].id])
    assert library.is_arrangement_stale("themes")
    assert library.arrangement("themes") == b"with words of a.txt", "it is the person's own"
    library.arrange("themes", b"without")
    assert not library.is_arrangement_stale("themes")
    with library.writer() as writer:
        writer.remove_folder(folder.id)
    assert library.is_arrangement_stale("themes")
    assert library.arrangement("themes") == b"without"


def test_an_arrangement_from_a_copy_is_stale_where_documents_were_erased_since(library: Library) -> None:
    keep_all(library)
    path = library.copy_kept()
    assert path is not None
    copy = path.with_name("2001-01-01.jsonl")
    text = path.read_text()
    library.arrange("themes", b"")
    with library.writer() as writer:
        writer.remove_folder(library.folders()[0].id)
    copy.write_text(text)
    assert library.import_kept(copy)["arrangements"] == 1
    assert library.is_arrangement_stale("themes")


def test_the_largest_arrangement_fits_a_line_of_the_copy(library: Library, tmp_path: Path) -> None:
    data = os.urandom(1000) * (_kept.LARGEST // 1000)
    library.arrange("themes", data)
    path = library.copy_kept()
    assert path is not None
    with open_library(tmp_path / "other") as other:
        assert other.import_kept(path)["arrangements"] == 1
        assert other.arrangement("themes") == data


def test_hashes_of_many_documents_at_once(library: Library) -> None:
    content, sha = fill(library)
    both = {content: sha, content + 1: library.sha256_of(content + 1)}
    assert both[content + 1] not in ("", sha)
    assert library.sha256s([content, content + 1, 99, -5, 0]) == both
    assert library.sha256s(range(-5, 2000)) == both
    assert library.sha256s(iter([content] * 1000)) == {content: sha}
    assert library.sha256s([]) == {}


# ---------------------------------------------------------------- the daily copy


def keep_all(library: Library) -> str:
    _, sha = fill(library)
    with library.writer() as writer:
        caption = ExtractedText(format="caption", text="my own words")
        writer.put_caption(HERE, "", caption, [Passage(0, 0, 12, "my own words")])
    library.judge("relevance", "relevant", "q\ud800", sha, 0, 10, "first part")
    library.collect("box", [second_part(sha, path=Path(os.fsdecode(b"/docs/\xff.txt")))], note="n")
    library.save_search("mine", "{}")
    library.arrange("themes", BLOB)
    return sha


def test_a_copy_brings_everything_into_another_library(library: Library, tmp_path: Path) -> None:
    sha = keep_all(library)
    path = library.copy_kept()
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with open_library(tmp_path / "other") as other:
        start(other, Path("/elsewhere"))
        counts = other.import_kept(path)
        assert counts == {
            "judgements": 1, "collections": 1, "items": 1, "searches": 1, "captions": 1,
            "arrangements": 1, "later": 0, "unread": 0,
        }  # fmt: skip
        assert other.judgements() == library.judgements()
        (box,) = other.collections()
        assert (box.note, box.items[0].text, os.fsencode(box.items[0].path)) == ("n", "second part", b"/docs/\xff.txt")
        assert other.saved_searches()[0].name == "mine"
        assert other.caption_for(sha) == "my own words"
        assert other.arrangement("themes") == BLOB
        assert sum(other.import_kept(path).values()) == 0, "nothing twice"


def test_what_a_copy_would_bring_is_counted_without_a_change(library: Library, tmp_path: Path) -> None:
    keep_all(library)
    path = library.copy_kept()
    assert path is not None
    assert library.kept_copies() == (path,)
    assert sum(library.missing_from(path).values()) == 0
    with open_library(tmp_path / "other") as other:
        wanted = {
            "judgements": 1, "collections": 1, "items": 1, "searches": 1, "captions": 0, "arrangements": 1, "later": 1,
            "unread": 0,
        }  # fmt: skip
        assert other.missing_from(path) == wanted
        assert (other.judgements(), other.collections(), other.saved_searches()) == ((), (), ())
        assert other.arrangement("themes") is None
        assert other.import_kept(path) == wanted
        start(other, Path("/elsewhere"))
        assert sum(other.missing_from(path).values()) == other.missing_from(path)["captions"] == 1
        assert sum(other.import_kept(path).values()) == 1, "the caption, now that there is a folder"
        assert kept_copies(library.path) == kept_copies(path.parent) == (path,)


def test_what_was_said_since_stays_as_it_is(library: Library) -> None:
    sha = keep_all(library)
    path = library.copy_kept()
    assert path is not None
    older = path.with_name("2001-01-01.jsonl")
    older.write_bytes(path.read_bytes())
    library.judge("relevance", "not relevant", "q\ud800", sha, 0, 10, "first part")
    (box,) = library.collections()
    library.change_collection("box", note="another note", item_note=(box.items[0].id, "mine"))
    library.save_search("mine", '{"text": "newer"}')
    library.arrange("themes", b"newer")
    assert sum(library.import_kept(older).values()) == 0
    assert [record.verdict for record in library.judgements()] == ["not relevant"]
    assert (library.collections()[0].note, library.collections()[0].items[0].note) == ("another note", "mine")
    assert library.saved_searches()[0].query == '{"text": "newer"}'
    assert library.arrangement("themes") == b"newer"


def test_the_copy_of_a_day_is_there_after_the_first_change_and_whole_after_the_end(tmp_path: Path) -> None:
    with open_library(tmp_path / "library") as library:
        _, sha = fill(library)
        assert library.copy_kept() is None
        library.judge("relevance", "relevant", "one", sha, 0, 10, "first part")
        (copy,) = _kept_copies.copies(library.path)
        assert len(copy.read_text().splitlines()) == 1
        library.judge("relevance", "relevant", "two", sha, 0, 10, "first part")
    assert len(copy.read_text().splitlines()) == 2
    for day in range(1, 29):
        (copy.parent / f"2001-02-{day:02}.jsonl").write_text("")
    with open_library(tmp_path / "library") as library:
        library.judge("relevance", "relevant", "three", sha, 0, 10, "first part")
    assert len(_kept_copies.copies(tmp_path / "library")) == _kept_copies.COPIES


def test_a_removed_folder_takes_its_captions_out_of_the_copies(library: Library) -> None:
    keep_all(library)
    path = library.copy_kept()
    assert path is not None
    older = path.with_name("2001-01-01.jsonl")
    older.write_bytes(path.read_bytes())
    assert "my own words" in path.read_text()
    with library.writer() as writer:
        writer.remove_folder(library.folders()[0].id)
    assert not older.exists()
    assert "my own words" not in path.read_text()
    assert {json.loads(line)["keeps"] for line in path.read_text().splitlines()} >= {"judgement", "item", "search"}


def test_torn_copies_give_what_is_whole_in_them(library: Library, tmp_path: Path) -> None:
    keep_all(library)
    path = library.copy_kept()
    assert path is not None
    data, chance = path.read_bytes(), random.Random(1)
    with open_library(tmp_path / "other") as other:
        for number in range(60):
            torn = bytearray(data)
            for _ in range(chance.randrange(1, 30)):
                torn[chance.randrange(len(torn))] = chance.randrange(256)
            bad = tmp_path / f"bad{number}.jsonl"
            bad.write_bytes(torn[: chance.randrange(len(torn))])
            with suppress(LibraryError):  # not one line left
                other.import_kept(bad)
        assert other.quick_check() == []
        with pytest.raises(LibraryError) as caught:
            other.import_kept(tmp_path / "missing")
        assert caught.value.code == "kept-unreadable"


# ---------------------------------------------------------------- killed

CHILD = """
import sys
from pathlib import Path
from sbert_desktop.library import KeptPassage, open_library
library = open_library(Path(sys.argv[1]))
for number in range(100_000):
    name = f"{sys.argv[2]}-{number}"
    library.judge("relevance", "relevant", name, "sha", number, number + 1, name)
    library.collect(name, [KeptPassage("sha", number, number + 1, name, Path("/x"))])
    library.save_search(name, "{}")
    library.arrange(name, name.encode())
    print(name, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_what_was_kept_survives_a_kill(tmp_path: Path) -> None:
    path, chance, safe = tmp_path / "library", random.Random(2), []
    open_library(path).close()
    for round_ in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), str(round_)], stdout=subprocess.PIPE, text=True,
            cwd=Path(__file__).resolve().parents[2],
        )  # fmt: skip
        assert child.stdout is not None
        safe += [child.stdout.readline().strip() for _ in range(chance.randrange(2, 30))]
        child.send_signal(signal.SIGKILL)
        safe += [line.strip() for line in child.stdout if line.endswith("\n")]
        child.wait()
        child.stdout.close()
    with open_library(path) as library:
        assert library.quick_check() == []
        judged = {record.query for record in library.judgements()}
        names = {record.name: [item.text for item in record.items] for record in library.collections()}
        saved = {record.name for record in library.saved_searches()}
        arranged = {name: library.arrangement(name) for name in safe}
    assert arranged == {name: name.encode() for name in safe}
    assert set(safe) <= judged
    assert set(safe) <= saved
    assert {name: names[name] for name in safe} == {name: [name] for name in safe}
    with closing(sqlite3.connect(path / "catalog.sqlite")) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
