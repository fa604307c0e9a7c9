"""Indexing: everything is found once, nothing is encoded twice, nothing is lost."""

from __future__ import annotations

import os
import shutil

import pytest

from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.overview import library_view, problem_views
from sbert_desktop.app.searching import run_search, run_similar
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import IndexProgress
from sbert_desktop.domain import Filters, Mode, Query
from sbert_desktop.errors import Cancelled, LibraryError, UsageError
from sbert_desktop.jobs import NullContext


def index(session, *folders, **options):
    return run_index(session, IndexRequest(tuple(folders), **options), NullContext())


def found(session, text, **options):
    view = run_search(session, Query(text, **options))
    return [document.path.name for document in view.documents]


def test_folder_is_indexed_and_found_by_words_and_meaning(session, folder):
    report = index(session, folder)
    assert (report.documents, report.added, report.problems) == (6, 6, 0), problem_views(session)
    assert report.encoded_passages == report.passages > 0
    assert found(session, "deposit keys", mode=Mode.KEYWORD) == ["flat.eml"]
    assert found(session, "sourdough rest in the cellar", mode=Mode.SEMANTIC)[0] == "bread.txt"
    assert found(session, "leeks in butter")[0] == "soup.html"


def test_unchanged_folder_encodes_nothing(session, folder):
    index(session, folder)
    report = index(session)
    assert (report.unchanged, report.added, report.changed, report.encoded_passages) == (6, 0, 0, 0)


def test_changed_moved_copied_and_removed_files(session, folder):
    index(session, folder)
    (folder / "garden" / "tools.txt").write_text("The wheelbarrow stands in the shed beside the ladder.\n")
    os.rename(folder / "kitchen" / "bread.txt", folder / "garden" / "dough.txt")
    shutil.copy(folder / "letters" / "flat.eml", folder / "letters" / "again.eml")
    (folder / "code" / "tide.py").unlink()
    report = index(session)
    assert (report.changed, report.moved, report.added, report.removed) == (1, 1, 1, 1)
    assert report.encoded_passages == 1
    assert report.documents == 6
    assert found(session, "wheelbarrow ladder", mode=Mode.KEYWORD) == ["tools.txt"]
    assert found(session, "spade shears", mode=Mode.KEYWORD) == []
    assert found(session, "sourdough", mode=Mode.KEYWORD) == ["dough.txt"]
    assert found(session, "tide tables height", mode=Mode.KEYWORD) == []
    view = run_search(session, Query("deposit", mode=Mode.KEYWORD))
    assert len(view.documents) == 1
    assert sorted(path.name for path in view.documents[0].paths) == ["again.eml", "flat.eml"]


def test_a_copied_and_deleted_file_counts_as_moved(session, folder):
    index(session, folder)
    shutil.copy(folder / "kitchen" / "bread.txt", folder / "bread-copy.txt")
    (folder / "kitchen" / "bread.txt").unlink()
    report = index(session)
    assert (report.moved, report.added, report.removed, report.encoded_passages) == (1, 0, 0, 0)


def test_filters_narrow_before_the_top(session, folder):
    index(session, folder)
    assert found(session, "the", filters=Filters(folder=folder / "letters")) == ["flat.eml"]
    assert found(session, "the", filters=Filters(types=("html",))) == ["soup.html"]
    assert found(session, "keys", filters=Filters(after=1678700000.0, before=1678900000.0)) == ["flat.eml"]
    assert found(session, "the", filters=Filters(types=("pdf",))) == []


def test_words_only_folder_is_found_by_words_and_never_encoded(session, folder):
    report = index(session, folder, words_only=True)
    assert report.encoded_passages == 0
    assert found(session, "sourdough") == ["bread.txt"]


def test_changed_hits_are_badged_and_gone_ones_left_out_and_said(session, folder):
    index(session, folder)
    (folder / "kitchen" / "bread.txt").write_text("sourdough and more\n")
    (folder / "kitchen" / "soup.html").unlink()
    told = []
    view = run_search(session, Query("sourdough leeks", mode=Mode.KEYWORD), on_stale=told.append)
    assert {d.path.name: d.state for d in view.documents} == {"bread.txt": "changed"}
    assert view.documents[0].hits[0].stale
    assert view.notes == ("1 document is gone from the disk and was left out.",)
    assert told == [frozenset({folder / "kitchen" / "bread.txt", folder / "kitchen" / "soup.html"})]


def test_vanished_folder_keeps_its_documents(session, folder, tmp_path):
    index(session, folder)
    os.rename(folder, tmp_path / "away")
    report = index(session)
    assert report.documents == 6
    assert any("missing" in notice for notice in report.notices)
    assert library_view(session).folders[0].state == "offline"
    os.rename(tmp_path / "away", folder)
    assert index(session).encoded_passages == 0


def test_files_with_trouble_are_listed_with_their_reason(session, folder):
    (folder / "empty.txt").write_bytes(b"")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing")
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 cut")
    (folder / "tune.mp3").write_bytes(b"ID3" + bytes(200))
    report = index(session, folder)
    codes = {view.path.name: view.code for view in problem_views(session)}
    assert codes["empty.txt"] == "empty"
    assert set(codes) == {"empty.txt", "broken.pdf", "broken.docx", "tune.mp3"}
    assert codes["tune.mp3"] == "unknown-type"
    assert report.documents == 6
    assert report.problems == 3  # a kind that is not read is left out, not a problem
    again = index(session)
    assert (again.added, again.changed) == (0, 0)


def test_last_sentence_of_a_long_file_is_found(session, folder):
    words = " ".join(f"Line {n} tells of ordinary days and plain weather." for n in range(700))
    (folder / "long.txt").write_text(words + " At the very end the heron swallowed the silver whistle.\n")
    index(session, folder)
    for mode in (Mode.KEYWORD, Mode.HYBRID):
        hit = run_search(session, Query("the heron swallowed the silver whistle", mode=mode)).documents[0].hits[0]
        assert hit.path.name == "long.txt"
        assert "heron" in hit.text
        assert (hit.cosine is not None) == (mode is Mode.HYBRID)


def test_cancel_keeps_what_was_committed_and_the_next_run_completes(session, folder):
    class Ending(NullContext):
        left = 6

        def check(self):
            Ending.left -= 1
            if Ending.left < 0:
                raise Cancelled

    with pytest.raises(Cancelled):
        run_index(session, IndexRequest((folder,)), Ending())
    report = index(session)
    assert report.documents == 6
    counts = session.library.counts(session.fingerprint())
    assert counts.embedded == counts.passages


def test_progress_tells_files_passages_and_rates(session, folder):
    seen = []

    class Watching(NullContext):
        def partial(self, result):
            if isinstance(result, IndexProgress):
                seen.append(result)

    run_index(session, IndexRequest((folder,)), Watching())
    last = seen[-1]
    assert (last.files_done, last.files_total) == (6, 6)
    assert last.passages_done == last.passages_total > 0


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_bad_folders_are_refused_plainly(session, folder, kind):
    path = folder / "nowhere" if kind == "missing" else folder / "garden" / "beds.md"
    with pytest.raises(UsageError) as caught:
        index(session, path)
    assert caught.value.code == {"missing": "folder-missing", "file": "not-a-folder"}[kind]
    assert "\n" not in str(caught.value)


def test_folder_inside_an_added_folder_is_refused(session, folder):
    index(session, folder)
    with pytest.raises(LibraryError) as caught:
        index(session, folder / "garden")
    assert caught.value.code == "folder-nested"
    assert library_view(session).documents == 6


def test_folder_with_two_names_is_one_folder(session, folder, tmp_path):
    index(session, folder)
    os.symlink(folder, tmp_path / "alias")
    report = index(session, tmp_path / "alias")
    assert (report.documents, report.unchanged) == (6, 6)


def test_similar_finds_kin_and_not_the_file_itself(session, folder):
    shutil.copy(folder / "kitchen" / "bread.txt", folder / "twin.txt")
    (folder / "twin.txt").write_text("Knead the dough for ten minutes. Let it rest overnight in the cold cellar.\n")
    index(session, folder)
    names = [d.path.name for d in run_similar(session, folder / "kitchen" / "bread.txt", top=3).documents]
    assert names[0] == "twin.txt"
    assert "bread.txt" not in names


def test_similar_to_a_file_outside_the_library(session, folder, tmp_path):
    index(session, folder)
    outside = tmp_path / "outside.txt"
    outside.write_text("Slice the leeks, stew them in butter, add stock and potatoes.\n")
    assert run_similar(session, outside, top=2).documents[0].path.name == "soup.html"


def test_empty_query_and_bad_top_are_usage_errors(session, folder):
    index(session, folder)
    for query in (Query("  \n"), Query("x", top=0)):
        with pytest.raises(UsageError):
            run_search(session, query)


def test_second_session_sees_what_the_first_committed(session, folder, tmp_path, settings):
    other = Session(tmp_path / "library", settings)
    try:
        index(session, folder)
        assert found(other, "sourdough", mode=Mode.KEYWORD) == ["bread.txt"]
    finally:
        other.close()


def test_forgotten_while_hidden_comes_back_or_goes(session, folder):
    index(session, folder)
    record = session.library.folders()[0]
    with session.library.writer() as writer:
        writer.set_folder_state(record.id, "leaving")
        writer.commit()
    assert found(session, "sourdough") == []
    report = run_index(session, IndexRequest(), NullContext())
    assert report.documents == 0
    assert session.library.folders() == ()


def test_similar_says_when_nothing_has_vectors_and_refuses_a_folder(session, folder):
    with pytest.raises(UsageError) as told:
        run_similar(session, folder / "garden" / "tools.txt")
    assert told.value.code == "nothing-by-meaning"
    with pytest.raises(UsageError) as told:
        run_similar(session, folder / "garden")
    assert told.value.code == "not-a-file"


def test_file_renamed_to_a_type_that_is_read_is_read(session, folder):
    (folder / "log.unread").write_text("The barometer fell all night.\n")
    index(session, folder)
    assert found(session, "barometer", mode=Mode.KEYWORD) == []
    os.rename(folder / "log.unread", folder / "log.txt")
    index(session)
    assert found(session, "barometer", mode=Mode.KEYWORD) == ["log.txt"]


def test_search_in_a_folder_that_is_not_in_the_library_says_so(session, folder, tmp_path):
    index(session, folder)
    for place, known in ((folder / "garden", True), (tmp_path, True), (tmp_path / "elsewhere", False)):
        view = run_search(session, Query("compost", filters=Filters(folder=place)))
        assert any("No folder of the library" in note for note in view.notes) != known


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_hit_in_a_folder_that_is_closed_to_us_is_offline(session, folder, monkeypatch):
    index(session, folder)
    refused = PermissionError(13, "Permission denied")
    real = os.stat

    def stat(path, *arguments, **options):
        if str(folder) in os.fsdecode(path) if not isinstance(path, int) else False:
            raise refused
        return real(path, *arguments, **options)

    def scandir(path):
        if os.fsdecode(path) == str(folder):
            raise refused
        return listed(path)

    listed = os.scandir
    monkeypatch.setattr(os, "stat", stat)
    monkeypatch.setattr(os, "scandir", scandir)
    view = run_search(session, Query("sourdough"))
    assert view.documents[0].state == "offline"
    assert library_view(session).folders[0].state == "offline"


def test_words_only_folder_says_so_in_the_library(session, folder):
    index(session, folder, words_only=True)
    view = library_view(session).folders[0]
    assert view.words_only
    assert view.state == "current"
