"""Judgements, collections, saved searches and history: kept, found again, and still there after a kill."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sbert_desktop.app.collecting import pack_query, unpack_query
from sbert_desktop.app.embedding import cutter_of
from sbert_desktop.app.facade import App
from sbert_desktop.domain import ExtractedText, Filters, Finished, Mode, Query, SourceFile
from tests.events import Inbox


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
def app(tmp_path, settings, inbox, folder):
    app = App(tmp_path / "library", settings)
    app.connect(inbox.post)
    app._session.encoder()
    inbox.result(app.add_folders([folder]))
    yield app
    app.close()


def first_hit(app, inbox, text: str):
    return inbox.result(app.search(Query(text))).documents[0].hits[0]


# ---------------------------------------------------------------- judgements


def test_a_verdict_is_shown_again_for_the_same_query_only_and_can_be_taken_back(app, inbox):
    hit = first_hit(app, inbox, "oil the shears")
    assert hit.judged == ""
    inbox.result(app.judge("oil  the shears ", hit, "relevant"))
    assert first_hit(app, inbox, "oil the shears").judged == "relevant"
    assert first_hit(app, inbox, "shears oil").judged == ""
    inbox.result(app.judge("oil the shears", hit, "not relevant"))
    assert first_hit(app, inbox, "oil the shears").judged == "not relevant"
    inbox.result(app.judge("oil the shears", hit, ""))
    assert first_hit(app, inbox, "oil the shears").judged == ""
    assert inbox.finished(app.judge("oil the shears", hit, "perhaps")).failure.code == "bad-verdict"
    assert inbox.finished(app.judge("  ", hit, "relevant")).failure.code == "empty-query"


def test_a_verdict_survives_that_the_file_moves(app, inbox, folder):
    inbox.result(app.judge("oil the shears", first_hit(app, inbox, "oil the shears"), "relevant"))
    (folder / "garden/tools.txt").rename(folder / "garden/tools in the shed.txt")
    inbox.result(app.update())
    hit = first_hit(app, inbox, "oil the shears")
    assert hit.path.name == "tools in the shed.txt"
    assert hit.judged == "relevant"


# ---------------------------------------------------------------- collections


def test_passages_are_collected_noted_taken_out_and_found_by_the_name(app, inbox, folder):
    shears, bread = first_hit(app, inbox, "oil the shears"), first_hit(app, inbox, "sourdough overnight")
    (view,) = inbox.result(app.collect("To do", [shears, bread], note="soon"))
    assert [item.path.name for item in view.items] == ["tools.txt", "bread.txt"]
    assert view.items[0].note == "soon"
    assert view.items[0].passage_id == shears.passage_id
    (view,) = inbox.result(app.collect("To do", [shears]))
    assert len(view.items) == 2  # the same passage is in it once
    found = inbox.result(app.search(Query("the in:\"to do\"")))
    assert {d.path.name for d in found.documents} == {"tools.txt", "bread.txt"}
    (view,) = inbox.result(app.change_collection("To do", rename="Winter", note="before the frost",
                                                 take_out=[view.items[1].id], item_note=(view.items[0].id, "now")))
    assert (view.name, view.note, [item.note for item in view.items]) == ("Winter", "before the frost", ["now"])
    assert inbox.finished(app.change_collection("To do", note="x")).failure.code == "collection-unknown"
    assert inbox.finished(app.collect(" ", [shears])).failure.code == "name-missing"
    assert inbox.result(app.change_collection("Winter", delete=True)) == ()


def test_what_is_collected_outlives_its_file_and_is_written_as_a_file(app, inbox, folder, tmp_path):
    inbox.result(app.collect("Tools", [first_hit(app, inbox, "oil the shears")], note="=note"))
    (folder / "garden/tools.txt").unlink()
    inbox.result(app.update(confirm_removals=True))
    (view,) = inbox.result(app.collections())
    assert "Oil the shears" in view.items[0].text
    assert (view.items[0].content_id, view.items[0].passage_id) == (0, 0)
    for form in ("csv", "json", "html", "bib"):
        written = inbox.result(app.export_collection("Tools", tmp_path / f"tools.{form}"))
        assert "Oil the shears" in written.read_text("utf-8-sig")
    assert "'=note" in (tmp_path / "tools.csv").read_text("utf-8-sig")
    assert inbox.finished(app.export_collection("No", tmp_path / "no.csv")).failure.code == "collection-unknown"


def test_whole_documents_are_collected_by_their_first_passage_once_each(app, inbox, folder, tmp_path):
    hits = [first_hit(app, inbox, words) for words in ("oil the shears", "sourdough overnight")]
    shears, bread = (hit.content_id for hit in hits)
    (view,) = inbox.result(app.collect_documents("Chosen", [bread, shears, bread, 10_000, -1], note="from the map"))
    assert [item.path.name for item in view.items] == ["bread.txt", "tools.txt"]
    assert [item.content_id for item in view.items] == [bread, shears]
    assert all(item.passage_id and item.text for item in view.items)
    assert {item.note for item in view.items} == {"from the map"}
    (view,) = inbox.result(app.collect_documents("Chosen", [shears]))
    assert len(view.items) == 2
    found = inbox.result(app.search(Query("the in:chosen")))
    assert {d.content_id for d in found.documents} == {shears, bread}
    for form in ("csv", "json", "html", "bib"):
        written = inbox.result(app.export_collection("Chosen", tmp_path / f"chosen.{form}"))
        assert "Oil the shears" in written.read_text("utf-8-sig")
    assert inbox.finished(app.collect_documents("No", [10_000])).failure.code == "content-gone"
    assert [view.name for view in inbox.result(app.collections())] == ["Chosen"]


def test_a_document_without_a_passage_is_collected_by_its_name(app, inbox, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("sbert_desktop.app.collecting._first_passages", lambda snapshot, contents: {})
    content = app._session.library.content_at(folder / "garden/tools.txt")
    (view,) = inbox.result(app.collect_documents("Bare", [content]))
    assert [(item.path.name, item.text, item.content_id) for item in view.items] == [("tools.txt", "", content)]
    found = inbox.result(app.search(Query("the in:bare")))
    assert [d.content_id for d in found.documents] == [content]
    written = inbox.result(app.export_collection("Bare", tmp_path / "bare.csv"))
    assert "tools.txt" in written.read_text("utf-8-sig")


def test_a_search_among_chosen_documents_finds_these_alone_and_heeds_what_is_typed(app, inbox, folder):
    library = app._session.library
    shears, bread = (library.content_at(folder / name) for name in ("garden/tools.txt", "kitchen/bread.txt"))

    def found(text: str, *contents: int) -> set[int]:
        filters = Filters(contents=contents, contents_label="chosen")
        return {d.content_id for d in inbox.result(app.search(Query(text, filters=filters))).documents}

    assert found("oil the shears overnight", shears, bread) == {shears, bread}
    assert found("oil the shears overnight", bread) == {bread}
    assert found("oil the shears overnight name:tools", shears, bread) == {shears}
    assert found("oil the shears overnight -name:tools", shears, bread) == {bread}
    assert found("oil the shears", 10_000) == set()


# ---------------------------------------------------------------- saved searches


def test_a_saved_search_refuses_a_selection_and_says_the_way_out(app, inbox):
    chosen = Filters(contents=(1, 2), contents_label="2 documents of the map")
    for filters in (chosen, Filters(types=("txt",), without=(chosen,))):
        failure = inbox.finished(app.save_search("Mine", Query("oil", filters=filters))).failure
        assert failure.code == "selection-not-kept"
        assert "2 documents of the map" in failure.message
        assert failure.hint == "Save these as a collection first, then search in it."
    assert inbox.result(app.saved_searches()) == ()
    assert unpack_query(pack_query(Query("oil", filters=Filters(contents_label="left over")))) == Query("oil")
    assert unpack_query('{"text": "oil", "filters": {"contents": [1, 2], "contents_label": "x"}}') == Query("oil")


def test_a_saved_search_is_fresh_when_something_new_matches_until_it_is_looked_at(app, inbox, folder):
    for n in range(60):  # enough passages for a line of chance
        (folder / f"note-{n}.txt").write_text(f"Entry {n} speaks of mill {n * 7} and weir {n * 13} beside lock {n}.\n")
    inbox.result(app.update())
    (saved,) = inbox.result(app.save_search("Shears", Query("oil the shears and sharpen the hoe before winter")))
    assert (saved.name, saved.fresh) == ("Shears", 0)
    (folder / "new mill.txt").write_text("Entry 99 speaks of mill 17 and weir 23 beside lock 99.\n")
    inbox.result(app.update())
    assert inbox.result(app.saved_searches())[0].fresh == 0
    (folder / "more tools.txt").write_text("Sharpen the hoe and oil the shears before winter comes.\n")
    inbox.result(app.update())
    assert inbox.result(app.saved_searches())[0].fresh == 1
    inbox.result(app.search(Query("oil the shears and sharpen the hoe before winter")))
    inbox.until(lambda e: getattr(e, "result", None) and isinstance(e.result, tuple) and e.result[0] == saved)
    assert inbox.result(app.saved_searches())[0].fresh == 0
    assert inbox.result(app.remove_saved("Shears")) == ()
    assert inbox.finished(app.save_search("x", Query(" "))).failure.code == "empty-query"


def look(app, inbox, query: Query) -> None:
    """Searches, and waits until the dot is out."""
    inbox.events.clear()
    inbox.result(app.search(query))
    inbox.until(lambda e: isinstance(e, Finished) and e.job_id.startswith("saved-") and e.result[0].fresh == 0)


def test_looking_sees_nothing_of_what_has_no_vectors_yet(app, inbox, folder):
    app._live.stop()  # who watches would have the last file read to its end
    for n in range(60):
        (folder / f"note-{n}.txt").write_text(f"Entry {n} speaks of mill {n * 7} and weir {n * 13} beside lock {n}.\n")
    inbox.result(app.update())
    query = Query("oil the shears and sharpen the hoe before winter")
    inbox.result(app.save_search("Shears", query))
    late = "Before winter oil the shears, sharpen the hoe.\n"
    (folder / "first tools.txt").write_text("Sharpen the hoe and oil the shears before winter.\n")
    inbox.result(app.update())
    (folder / "late tools.txt").write_text(late)
    library, encoder = app._session.library, app._session.encoder()
    with library.writer() as writer:  # an update that got no further than the words
        text = ExtractedText("text", late)
        path = folder / "late tools.txt"
        status = path.stat()
        file = SourceFile(path, status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino, "late")
        writer.put(library.folders()[0].id, file, text, cutter_of(app._session, encoder).split(text), ())
    assert inbox.result(app.saved_searches())[0].fresh == 1
    look(app, inbox, query)
    assert library.saved_searches()[0].waiting
    inbox.result(app.update())
    assert library.pending_count()[0] == 0
    assert inbox.result(app.saved_searches())[0].fresh == 1, "now it has its vectors"
    look(app, inbox, query)
    assert library.saved_searches()[0].waiting == ()
    inbox.result(app.remove_saved("Shears"))


def test_a_saved_search_by_words_and_one_of_filters_alone_count_what_passes(app, inbox, folder):
    inbox.result(app.save_search("Words", Query("sourdough", mode=Mode.KEYWORD)))
    inbox.result(app.save_search("Texts", Query("", filters=Filters(types=("txt",)))))
    (folder / "rolls.txt").write_text("The sourdough becomes rolls.\n")
    (folder / "rolls.md").write_text("No such thing.\n")
    inbox.result(app.update())
    assert {view.name: view.fresh for view in inbox.result(app.saved_searches())} == {"Words": 1, "Texts": 1}


def test_a_query_comes_back_as_it_was_and_damage_is_an_empty_one():
    query = Query(
        "müller -draft",
        mode=Mode.SEMANTIC,
        words_weight=0.2,
        recency=0.5,
        filters=Filters(folder=Path(os.fsdecode(b"/a/caf\xe9")), types=("pdf",), size_from=3, attachments=False,
                        without=(Filters(names=("x",)),)),
    )  # fmt: skip
    assert unpack_query(pack_query(query)) == query
    for damaged in ("", "[]", "{", '{"words_weight": "x"}', '{"mode": 3, "filters": 7}', '{"filters": {"later": [1]}}'):
        assert unpack_query(damaged) == Query("")


# ---------------------------------------------------------------- kill

_DIES = """
import os, sys, threading, time
from pathlib import Path
from sbert_desktop.app.facade import App
from sbert_desktop.domain import Query
from sbert_desktop.settings import Settings
sys.path.insert(0, os.getcwd())
from tests.events import Inbox
inbox = Inbox()
app = App(Path(sys.argv[1]), Settings(Path(sys.argv[3])))
app.connect(inbox.post)
inbox.result(app.add_folders([Path(sys.argv[2])]))
hit = inbox.result(app.search(Query("oil the shears"))).documents[0].hits[0]
inbox.result(app.judge("oil the shears", hit, "relevant"))
inbox.result(app.collect("Tools", [hit]))
inbox.result(app.save_search("Shears", Query("oil the shears")))
app.family(hit)
app.reveal(Path(sys.argv[2]) / "no such file")
inbox.until(lambda e: getattr(e, "job_id", "").startswith("history-") and "Finished" in type(e).__name__
            and app.history() and "oil the shears" in app._session.library.history())
assert app._session.library._history.flush(10)  # written as soon as the writer leaves room, which may be a moment later
print("kept", flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(os.name != "posix", reason="a signal ends it")
def test_judgements_collections_saved_searches_and_history_survive_a_kill(tmp_path, settings, folder):
    from sbert_desktop.app.session import Session

    env = {**os.environ, "SBERT_DESKTOP_HOME": str(tmp_path / "home"), "PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.run(
        [sys.executable, "-c", _DIES, str(tmp_path / "lib"), str(folder), str(tmp_path / "s.toml")],
        env=env, capture_output=True, text=True, timeout=110, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert run.stdout == "kept\n", run.stderr
    assert run.returncode == -9
    session = Session(tmp_path / "lib", settings)
    try:
        library = session.library
        assert [j.verdict for j in library.judgements()] == ["relevant"]
        assert library.collections()[0].items[0].text.startswith("The spade")
        assert [record.name for record in library.saved_searches()] == ["Shears"]
        assert library.history() == ("oil the shears",)
    finally:
        session.close()
