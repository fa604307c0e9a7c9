from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.domain import Filters, Problem, SourceFile, SplitRules
from sbert_desktop.errors import LibraryError
from sbert_desktop.library import Library, open_library

from .makers import DIMENSION, document, embed_all, encode, file_at, info, put_text, start, vector_of


def found(library: Library, query: str, **filters: object) -> list[str]:
    snapshot = library.snapshot("fake-1")
    ids, scores, contents = snapshot.keyword(query, snapshot.select(Filters(**filters)), 100)  # type: ignore[arg-type]
    assert list(scores) == sorted(scores, reverse=True)
    records = snapshot.fetch(ids.tolist())
    assert [records[int(id_)].content_id for id_ in ids] == contents.tolist()
    return [records[int(id_)].text for id_ in ids]


def test_a_document_is_found_by_words_before_it_has_vectors(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["red apples", "green pears", "page one"], furniture=1)
        assert library.counts().documents == 0, "not visible before the commit"
        writer.commit()
        assert found(library, "pear") == ["green pears"]
        assert found(library, "page") == ["page one"], "furniture is findable by words"
        snapshot = library.snapshot("fake-1")
        assert (snapshot.passages, len(snapshot.vectors)) == (2, 0)
        assert library.pending_count("fake-1") == (1, 2, len("red apples" + "green pears"))
        assert embed_all(writer) == 2
    snapshot = library.snapshot("fake-1")
    np.testing.assert_allclose(snapshot.vectors, encode(["red apples", "green pears"]))
    assert snapshot.alive.all()
    assert library.pending_count("fake-1") == (0, 0, 0)
    counts = library.counts("fake-1")
    assert (counts.documents, counts.passages, counts.embedded, counts.problems) == (1, 2, 2, 0)


def test_everything_is_there_after_reopening(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    text, passages = document(
        ["größe ﬁn\U0001f600 text", "zweiter"], title="Ein Titel", date=1e9, language="de", metadata=(("author", "x"),)
    )
    problems = (Problem("page-unread", "Page 3 could not be read.", "None.", True),)
    file = file_at(Path("/docs/a.pdf"), text.text, inode=2**64 - 3)
    with library.writer() as writer:
        content = writer.put(folder, file, text, passages, problems)  # type: ignore[arg-type]
        assert content is not None
        embed_all(writer)
        writer.set_scanned(folder, 5.0)  # type: ignore[arg-type]
    library.close()
    with open_library(library.path) as again:
        assert again.text_of(content) == text
        assert again.paths_of(content) == (file,)
        assert again.content_at(Path("/docs/a.pdf")) == content
        assert again.has_content(file.content_hash) == content
        assert again.has_content("0" * 64) is None
        (record,) = again.folders()
        assert (record.documents, record.passages, record.embedded, record.problems) == (1, 2, 2, 1)
        assert record.last_scan == 5.0
        assert record.last_change is not None
        known = again.known_files(record.id)[b"/docs/a.pdf"]
        assert (known.size, known.mtime_ns, known.inode, known.content) == (
            file.size,
            file.mtime_ns,
            2**64 - 3,
            content,
        )
        assert known.problem_code == "page-unread"
        (problem,) = again.problems()
        assert (problem.path, problem.folder, problem.partial) == (Path("/docs/a.pdf"), Path("/docs"), True)
        (change,) = again.recent(10)
        assert (change.path, change.title, change.passages) == (Path("/docs/a.pdf"), "Ein Titel", 2)
        assert (again.formats(), again.languages()) == (("pdf",), ("de",))
        record_ = next(iter(again.snapshot("fake-1").fetch([1]).values()))
        assert (record_.date, record_.title, record_.language, record_.location.page) == (1e9, "Ein Titel", "de", 1)
        space = again.active_space()
        assert space is not None
        assert (space.fingerprint, space.dimension, space.state) == ("fake-1", DIMENSION, "active")


def test_copies_share_one_content_and_its_vectors(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        content = put_text(writer, folder, Path("/docs/long/name.txt"), ["one text", "two"])
        embed_all(writer)
        copy = file_at(Path("/docs/b.txt"), "one text\ntwo")
        assert writer.put(folder, copy, None, (), ()) == content  # type: ignore[arg-type]
        assert writer.pending() == []
        writer.commit()
        assert [file.path.name for file in library.paths_of(content)] == ["b.txt", "name.txt"], "shortest path first"
        assert library.counts().documents == 2
        assert library.counts().passages == 2
        known = library.known_files(folder)  # type: ignore[arg-type]
        writer.remove([known[b"/docs/long/name.txt"].id])
        writer.commit()
        assert found(library, "one") == ["one text"]
        writer.remove([known[b"/docs/b.txt"].id])
    assert found(library, "one") == []
    assert not library.snapshot("fake-1").alive.any()
    assert library.has_content(copy.content_hash) is None
    assert library.integrity()["contents"] == 0


def test_a_copy_of_a_partly_read_file_shares_its_problems(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    problem = Problem("page-unread", "Page 3.", "", True)
    text, passages = document(["abc"], problems=(problem,))
    with library.writer() as writer:
        writer.put(folder, file_at(Path("/docs/a"), "abc"), text, passages, (problem,))  # type: ignore[arg-type]
        writer.put(folder, file_at(Path("/docs/b"), "abc"), None, (), ())  # type: ignore[arg-type]
    assert [record.path.name for record in library.problems()] == ["a", "b"]


def test_a_changed_file_replaces_what_its_path_had(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["old words"])
        embed_all(writer)
        put_text(writer, folder, Path("/docs/a.txt"), ["new words"])
        writer.commit()
        assert found(library, "old") == []
        assert found(library, "new") == ["new words"]
        assert library.counts().embedded == 0
        embed_all(writer)
    assert library.counts().embedded == 1
    assert library.counts().documents == 1
    snapshot = library.snapshot("fake-1")
    np.testing.assert_allclose(snapshot.vectors[snapshot.alive], encode(["new words"]))


def test_an_unread_file_is_a_problem_and_no_document(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["readable"])
        bad = file_at(Path("/docs/a.txt"), "other bytes")
        problem = Problem("encrypted", "The file is encrypted.", "Remove the password.")
        assert writer.put(folder, bad, None, (), (problem,)) is None  # type: ignore[arg-type]
    counts = library.counts()
    assert (counts.documents, counts.passages, counts.problems) == (0, 0, 1)
    known = library.known_files(folder)[b"/docs/a.txt"]  # type: ignore[arg-type]
    assert (known.content, known.problem_code) == (None, "encrypted")
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["readable"])
    assert library.problems() == ()


def test_a_moved_file_keeps_its_vectors(library: Library) -> None:
    folder, other = start(library, Path("/docs"), Path("/more"))
    with library.writer() as writer:
        content = put_text(writer, folder, Path("/docs/a.txt"), ["some text"])
        put_text(writer, other, Path("/more/b.md"), ["in the way"])
        embed_all(writer)
        known = library.known_files(folder)[b"/docs/a.txt"]  # type: ignore[arg-type]
        writer.move(known.id, file_at(Path("/more/b.md"), "some text", mtime=1.8e9), other)  # type: ignore[arg-type]
        writer.commit()
        assert writer.pending() == []
    assert [file.path for file in library.paths_of(content)] == [Path("/more/b.md")]  # type: ignore[arg-type]
    assert found(library, "text", folder=Path("/more"), types=("md",)) == ["some text"]
    assert found(library, "text", folder=Path("/docs")) == []
    assert found(library, "way") == []
    assert [record.documents for record in library.folders()] == [0, 1]


def test_a_touched_file_has_its_new_time(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["text"])
        writer.commit()
        known = library.known_files(folder)[b"/docs/a.txt"]  # type: ignore[arg-type]
        writer.touch(known.id, file_at(Path("/docs/a.txt"), "text", mtime=1.8e9))
    assert library.known_files(folder)[b"/docs/a.txt"].mtime_ns == 1_800_000_000 * 10**9  # type: ignore[arg-type]
    assert found(library, "text", after=1.75e9) == ["text"]


def test_names_that_are_not_utf8_survive(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    name = b"/docs/\xff\xfe b\xe4d.TXT"
    with library.writer() as writer:
        content = put_text(writer, folder, name, ["hello"])
    assert list(library.known_files(folder)) == [name]  # type: ignore[arg-type]
    (file,) = library.paths_of(content)  # type: ignore[arg-type]
    assert os.fsencode(file.path) == name
    assert library.content_at(Path(os.fsdecode(name))) == content
    assert found(library, "hello", types=("txt",)) == ["hello"]


def test_lone_surrogates_in_text_and_title_do_no_harm(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        content = put_text(writer, folder, Path("/docs/a"), ["bad \ud800 half"], title="t\udc80tle")
        embed_all(writer)
    assert library.text_of(content).text == "bad \ud800 half"  # type: ignore[arg-type]
    assert found(library, "half") == ["bad \ud800 half"]
    with library.writer() as writer:
        writer.remove_folder(folder)  # type: ignore[arg-type]
    assert library.integrity()["bad_words"] == 0


def test_times_out_of_range_are_kept_within_it(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    text, passages = document(["far future"])
    file = SourceFile(Path("/docs/a"), 3, 2**65, 2**64 - 1, 2**64 - 1, "ab")
    with library.writer() as writer:
        writer.put(folder, file, text, passages, ())  # type: ignore[arg-type]
    known = library.known_files(folder)[b"/docs/a"]  # type: ignore[arg-type]
    assert (known.device, known.inode) == (2**64 - 1, 2**64 - 1)
    assert known.mtime_ns == 2**63 - 1


def test_members_of_a_container_go_with_it(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    text, passages = document(["first mail"])
    box = file_at(Path("/docs/box.mbox"), "whole box")
    with library.writer() as writer:
        writer.put(folder, box, None, (), ())  # type: ignore[arg-type]
        member = SourceFile(box.path, 10, box.mtime_ns, 1, 0, "m1", "1")
        writer.put(folder, member, text, passages, ())  # type: ignore[arg-type]
        writer.commit()
        assert list(library.known_files(folder)) == [b"/docs/box.mbox"]  # type: ignore[arg-type]
        assert found(library, "mail") == ["first mail"]
        writer.remove([library.known_files(folder)[b"/docs/box.mbox"].id])  # type: ignore[arg-type]
    assert found(library, "mail") == []
    assert library.integrity()["files"] == 0


# ---------------------------------------------------------------- folders


def test_nested_folders_are_refused_by_name(library: Library) -> None:
    (folder,) = start(library, Path("/docs/mine"))
    with library.writer() as writer:
        assert writer.add_folder(Path("/docs/mine")) == folder
        for path in (Path("/docs/mine/deep"), Path("/docs")):
            with pytest.raises(LibraryError, match="mine") as caught:
                writer.add_folder(path)
            assert caught.value.code == "folder-nested"
        writer.add_folder(Path("/docs/mine2"))
        with pytest.raises(LibraryError) as refused:
            writer.add_folder(library.path)
        assert refused.value.code == "folder-is-library"
    assert [record.path.name for record in library.folders()] == ["mine", "mine2"]


def test_a_leaving_folder_is_hidden_and_comes_back(library: Library) -> None:
    (folder, _) = start(library, Path("/docs"), Path("/other"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["hidden treasure"])
        put_text(writer, folder, Path("/docs/b.txt"), ["waiting text"])
        embed_all(writer)
        writer.set_folder_state(folder, "leaving")  # type: ignore[arg-type]
        writer.commit()
        assert found(library, "treasure") == []
        snapshot = library.snapshot("fake-1")
        assert not snapshot.alive.any()
        assert snapshot.passages == 0
        assert snapshot.fetch([1]) == {}
        assert library.counts().documents == 0
        assert library.formats() == ()
        assert library.folders()[0].state == "leaving"
        writer.set_folder_state(folder, "active")  # type: ignore[arg-type]
    assert found(library, "treasure") == ["hidden treasure"]
    assert library.snapshot("fake-1").alive.all()


def test_a_file_shared_with_another_folder_stays(library: Library) -> None:
    folder, other = start(library, Path("/docs"), Path("/other"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["shared text"])
        put_text(writer, folder, Path("/docs/b.txt"), ["own text"])
        put_text(writer, other, Path("/other/c.txt"), ["shared text"])
        embed_all(writer)
        assert writer.remove_folder(folder) == (2, 2)  # type: ignore[arg-type]
    assert found(library, "text") == ["shared text"]
    snapshot = library.snapshot("fake-1")
    np.testing.assert_allclose(snapshot.vectors[snapshot.alive], encode(["shared text"]))
    assert [record.path for record in library.folders()] == [Path("/other")]


def test_a_words_only_folder_never_waits_for_vectors(library: Library) -> None:
    start(library)
    with library.writer() as writer:
        quiet = writer.add_folder(Path("/quiet"), words_only=True)
        loud = writer.add_folder(Path("/loud"))
        put_text(writer, quiet, Path("/quiet/a.txt"), ["bonjour"])
        put_text(writer, loud, Path("/loud/b.txt"), ["hello"])
        writer.commit()
        assert library.pending_count("fake-1")[0] == 1
        assert embed_all(writer) == 1
        put_text(writer, loud, Path("/loud/c.txt"), ["bonjour"])
        assert embed_all(writer) == 1, "a copy in another folder is embedded"
    assert found(library, "bonjour") == ["bonjour"]


# ---------------------------------------------------------------- vectors


def test_newest_files_come_first_and_batches_stay_small(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        for number in (3, 1, 2):
            text, passages = document([f"number {number} " + "x" * 100])
            file = file_at(Path(f"/docs/{number}"), text.text, mtime=1e9 + number)
            writer.put(folder, file, text, passages, ())  # type: ignore[arg-type]
        batch = writer.pending(tokens_hint_chars=150)
        assert [document_.passages[0][1][:8] for document_ in batch] == ["number 3", "number 2"]
        assert [document_.mtime for document_ in batch] == [1e9 + 3, 1e9 + 2]
        assert len(writer.pending()) == 3, "what was not put is given again"


def test_a_known_passage_is_not_encoded_again(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a"), ["the same passage", "another"])
        assert embed_all(writer) == 2
        put_text(writer, folder, Path("/docs/b"), ["the same passage", "fresh"])
        put_text(writer, folder, Path("/docs/c"), ["the same passage"])
        (pending,) = writer.pending()
        assert [text for _, text in pending.passages] == ["fresh"]
        assert embed_all(writer) == 1
    snapshot = library.snapshot("fake-1")
    texts = {int(id_): record.text for id_, record in snapshot.fetch(snapshot.passage_ids.tolist()).items()}
    assert len(texts) == 5
    for row, id_ in enumerate(snapshot.passage_ids):
        np.testing.assert_array_equal(snapshot.vectors[row], vector_of(texts[int(id_)]).astype(np.float32))


def test_equal_passages_of_one_batch_are_encoded_once(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        for name in "abc":
            put_text(writer, folder, Path(f"/docs/{name}"), ["boilerplate", f"own {name}"])
        assert embed_all(writer) == 4
    snapshot = library.snapshot("fake-1")
    assert len(snapshot.vectors) == 6
    assert library.integrity()["waiting"] == 0


def test_vectors_may_arrive_in_any_order_but_documents_are_whole(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a"), ["one", "two", "three"])
        (pending,) = writer.pending()
        ids, texts = zip(*pending.passages, strict=True)
        writer.put_vectors(ids[1:], encode(texts[1:])[:])
        writer.commit()
        assert len(library.snapshot("fake-1").vectors) == 0
        writer.put_vectors(ids[:1], encode(texts[:1]))
        writer.commit()
        snapshot = library.snapshot("fake-1")
        assert snapshot.passage_ids.tolist() == list(ids)
        np.testing.assert_allclose(snapshot.vectors, encode(texts))
        writer.put_vectors(ids, encode(texts))
        writer.commit()
        assert len(library.snapshot("fake-1").vectors) == 3, "a second time changes nothing"


@pytest.mark.parametrize("bad", [np.zeros((1, DIMENSION + 1)), np.full((1, DIMENSION), np.nan), np.zeros(DIMENSION)])
def test_wrong_vectors_are_refused(library: Library, bad: np.ndarray) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a"), ["one"])
        writer.commit()
        ids = [writer.pending()[0].passages[0][0]]
        with pytest.raises(ValueError, match="vectors"):
            writer.put_vectors(ids, bad.astype(np.float32))
    assert library.integrity()["rows"] == 0


def test_another_model_is_another_space_and_the_old_one_still_serves(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a"), ["alpha", "beta"])
        gone = put_text(writer, folder, Path("/docs/gone"), ["gamma"])
        embed_all(writer)
        writer.use_space(info("fake-2", 8), "tokenizer", SplitRules())
        assert writer.resegment_needed() == [], "same tokenizer and rules: the same segmentation"
        assert library.pending_count("fake-2")[1] == 3
        assert embed_all(writer, 8) == 3
        writer.remove([library.known_files(folder)[b"/docs/gone"].id])  # type: ignore[arg-type]
        put_text(writer, folder, Path("/docs/new"), ["delta"])
        embed_all(writer, 8)
    assert library.snapshot("fake-2").vectors.shape == (4, 8)
    old = library.snapshot("fake-1")
    assert old.vectors.shape == (3, DIMENSION)
    assert old.alive.tolist().count(False) == 1
    assert gone not in old.contents[old.alive]
    with library.writer() as writer:
        writer.use_space(info("fake-1"), "tokenizer", SplitRules())
        (pending,) = writer.pending()
        assert [text for _, text in pending.passages] == ["delta"], "going back catches up only"
        embed_all(writer)
    assert library.snapshot("fake-1").alive.sum() == 3
    assert library.integrity()["bad_waiting"] == 0


def test_another_segmentation_is_cut_from_the_stored_text(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        content = put_text(writer, folder, Path("/docs/a"), ["alpha beta", "gamma delta"])
        embed_all(writer)
        writer.use_space(info("fake-3"), "tokenizer", SplitRules(max_tokens=2))
        assert writer.resegment_needed() == [content]
        _, halves = document(["alpha beta\ngamma delta"])
        writer.put_passages(content, halves)  # type: ignore[arg-type]
        assert writer.resegment_needed() == []
        assert embed_all(writer) == 1
        writer.put_passages(content, document(["alpha beta", "gamma delta"])[1])  # type: ignore[arg-type]
        assert embed_all(writer) == 2
    snapshot = library.snapshot("fake-3")
    assert snapshot.alive.tolist() == [False, True, True]
    assert len(snapshot.keyword("gamma", None, 10)[0]) == 1
    assert library.snapshot("fake-1").alive.sum() == 2
    assert {key for key, value in library.integrity().items() if key.startswith("bad_") and value} == set()


def test_dead_rows_are_compacted_away(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        for number in range(10):
            put_text(writer, folder, Path(f"/docs/{number}"), [f"text {number}"])
        embed_all(writer)
        before = library.snapshot("fake-1")
        known = library.known_files(folder)  # type: ignore[arg-type]
        writer.remove([known[f"/docs/{number}".encode()].id for number in range(0, 8, 2)])
        writer.commit()
        assert library.snapshot("fake-1").alive.sum() == 6
        assert writer.compact()
        assert not writer.compact()
        put_text(writer, folder, Path("/docs/new"), ["text new"])
        embed_all(writer)
    snapshot = library.snapshot("fake-1")
    assert snapshot.alive.all()
    texts = {id_: record.text for id_, record in snapshot.fetch(snapshot.passage_ids.tolist()).items()}
    np.testing.assert_allclose(snapshot.vectors, encode([texts[int(id_)] for id_ in snapshot.passage_ids]))
    assert len(before.vectors) == 10, "an older snapshot is still whole"
    assert len(list(library.path.glob("spaces/*/vectors-*"))) == 1


# ---------------------------------------------------------------- history


def test_history_is_kept_and_forgotten(library: Library) -> None:
    for query in ("first", "second", "first"):
        library.add_history(query)
    library.add_history("  ")
    assert library.history() == ("first", "second")
    library.close()
    with open_library(library.path) as again:
        assert again.history() == ("first", "second")
        again.clear_history()
        assert again.history() == ()


def test_history_does_not_wait_for_a_writer(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a"), ["text"])  # an open transaction
        library.add_history("while indexing")
        assert library.history() == ("while indexing",)
    library.add_history("later")
    library.close()
    with open_library(library.path) as again:
        assert again.history() == ("later", "while indexing")


def test_copies_tell_the_language_of_each_text(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["one"], language="de")
        put_text(writer, folder, Path("/docs/b.txt"), ["two"], language="")
        writer.put(folder, file_at(Path("/docs/c.pdf"), "x"), None, (), (Problem("encrypted", "Locked.", ""),))  # type: ignore[arg-type]
    assert [(record.path, record.language) for record in library.copies()] == [
        (b"/docs/a.txt", "de"),
        (b"/docs/b.txt", ""),
        (b"/docs/c.pdf", ""),
    ]
