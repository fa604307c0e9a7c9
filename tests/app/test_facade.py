"""The window's commands: they return at once, answer by events, and end cleanly."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from sbert_desktop.app import query_history
from sbert_desktop.app import session as session_module
from sbert_desktop.app.facade import App
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import Estimate, IndexProgress, IndexReport, LibraryView, Marks, PreviewText, SearchView
from sbert_desktop.domain import Filters, Finished, Mode, Outcome, Partial, Query
from sbert_desktop.errors import EncoderError, LibraryError
from sbert_desktop.library import Library
from tests.events import Inbox


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
def app(tmp_path, settings, inbox):
    app = App(tmp_path / "library", settings)
    app.connect(inbox.post)
    yield app
    began = time.monotonic()
    app.close()
    assert time.monotonic() - began < 30  # it waits for 5 s at most, and the machine may stand still


def test_adding_a_folder_reports_progress_and_the_library(app, inbox, folder):
    job = app.add_folders([folder])
    report = inbox.result(job)
    assert isinstance(report, IndexReport)
    assert report.documents == 6
    assert inbox.partials(job, IndexProgress)[-1].files_done == 6
    view = inbox.partials(job, LibraryView)[-1]
    assert [f.path for f in view.folders] == [folder]
    assert view.documents == 6


def test_who_asks_for_the_state_gets_it_though_the_program_tells_of_something_meanwhile(app, inbox, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    real = App._refreshed

    def slow(self):
        begun.set()
        assert go_on.wait(60)
        return real(self)

    monkeypatch.setattr(App, "_refreshed", slow)
    running = app.refresh()
    assert begun.wait(60)
    app._on_notice("The search accelerator is being built anew.")
    go_on.set()
    assert isinstance(inbox.result(running), LibraryView)


def test_search_shows_hits_then_marks_then_the_whole(app, inbox, folder):
    inbox.result(app.add_folders([folder]))
    job = app.search(Query("oil and sharpen the hoe before winter"))
    whole = inbox.result(job)
    first = inbox.partials(job, SearchView)[0]
    marks = inbox.partials(job, Marks)[0]
    hit = first.documents[0].hits[0]
    assert hit.path.name == "tools.txt"
    assert hit.best_sentence is None
    span = marks.spans[hit.passage_id]
    assert "Oil the shears" in hit.text[span[0] : span[1]]
    assert whole.documents[0].hits[0].best_sentence == span
    words = {hit.text[a:b].lower() for a, b in hit.words}
    assert {"oil", "hoe", "winter"} <= words


def test_headings_and_mail_heads_are_not_marked_where_a_sentence_stands(app, inbox, folder):
    inbox.result(app.add_folders([folder]))
    for query, start in (("Ada Moor keys of the flat", "The deposit"), ("watering beds", "Water early")):
        found = inbox.result(app.search(Query(query))).documents[0].hits
        marked = [hit.text[slice(*hit.best_sentence)] for hit in found if hit.best_sentence]
        assert any(text.startswith(start) for text in marked), marked


def test_newest_search_wins(app, inbox, folder):
    inbox.result(app.add_folders([folder]))
    jobs = [app.search(Query(f"spade {n}")) for n in range(30)]
    assert inbox.result(jobs[-1]).query == "spade 29"
    outcomes = {inbox.finished(job).outcome for job in jobs[:-1]}
    assert outcomes <= {Outcome.SUPERSEDED, Outcome.DONE}


def test_removed_folder_is_hidden_at_once_and_comes_back(app, inbox, folder):
    inbox.result(app.add_folders([folder]))
    view = inbox.result(app.remove_folder(folder))
    assert view.folders == ()
    assert inbox.result(app.search(Query("spade", mode=Mode.KEYWORD))).documents == ()
    view = inbox.result(app.undo_remove(folder))
    assert view.folders[0].documents == 6
    assert inbox.result(app.search(Query("spade", mode=Mode.KEYWORD))).documents
    inbox.result(app.remove_folder(folder))
    assert inbox.result(app.finish_removals()).folders == ()
    undone = inbox.finished(app.undo_remove(folder))
    assert undone.failure.code == "folder-unknown"


def test_folder_hidden_before_the_check_at_the_start_comes_back(tmp_path, settings, folder, monkeypatch):
    first, inbox = App(tmp_path / "library", settings), Inbox()
    first.connect(inbox.post)
    inbox.result(first.add_folders([folder]))
    first.close()
    go_on, begin = threading.Event(), App._begin
    monkeypatch.setattr(App, "_begin", lambda self, context: go_on.wait(60) and begin(self, context))
    app, inbox = App(tmp_path / "library", settings), Inbox()
    app.connect(inbox.post)
    try:
        assert inbox.result(app.remove_folder(folder)).folders == ()
        go_on.set()
        inbox.until(lambda e: isinstance(e, Finished) and e.job_id.startswith("start-"))
        for job in app._jobs.ids("writer"):
            inbox.finished(job)
        assert inbox.result(app.undo_remove(folder)).folders[0].documents == 6
    finally:
        app.close()


def test_pause_holds_indexing_and_searching_goes_on(app, inbox, folder, held):
    for n in range(400):
        (folder / f"note-{n}.txt").write_text(f"Entry {n} speaks of the mill and the weir number {n}.\n")
    job = app.add_folders([folder])
    inbox.until(lambda e: isinstance(e, Partial) and isinstance(e.result, IndexProgress) and e.result.files_done > 0)
    app.pause()
    held.set()
    inbox.until(lambda e: isinstance(e, Partial) and isinstance(e.result, IndexProgress) and e.result.paused)
    assert inbox.result(app.search(Query("mill weir", mode=Mode.KEYWORD))).documents
    assert not any(isinstance(e, Finished) and e.job_id == job for e in inbox.events)
    app.resume()
    assert inbox.result(job).documents == 406


def test_cancelled_indexing_is_completed_by_the_next_update(app, inbox, folder):
    for n in range(400):
        (folder / f"note-{n}.txt").write_text(f"Entry {n} speaks of the mill and the weir number {n}.\n")
    job = app.add_folders([folder])
    inbox.until(lambda e: isinstance(e, Partial) and isinstance(e.result, IndexProgress) and e.result.files_done > 0)
    app.cancel(job)
    assert inbox.finished(job).outcome in {Outcome.CANCELLED, Outcome.DONE}
    assert inbox.result(app.update()).documents == 406


def test_a_folder_that_cannot_be_added_is_refused_before_it_is_measured(app, inbox, folder, tmp_path):
    inbox.result(app.add_folders([folder]))
    refused = {folder: "folder-known", folder / "garden": "folder-nested", folder.parent: "folder-nested",
               tmp_path / "library": "folder-is-library", folder / "garden/tools.txt": "not-a-folder",
               tmp_path / "nowhere": "folder-missing"}
    for path, code in refused.items():
        failure = inbox.finished(app.estimate([path])).failure
        assert failure.code == code
        assert failure.hint


def test_estimate_is_near_what_happens(app, inbox, folder):
    for n in range(300):
        (folder / f"note-{n}.txt").write_text(f"Entry {n} speaks of the mill and the weir. " * 10)
    estimate = inbox.result(app.estimate([folder]))
    assert isinstance(estimate, Estimate)
    assert estimate.files == 306
    assert 0 < estimate.seconds[0] < estimate.seconds[1]
    assert 0 < estimate.disk[0] < estimate.disk[1] < estimate.free_disk
    inbox.result(app.add_folders([folder]))
    again = inbox.finished(app.estimate([folder]))
    assert again.failure.code == "folder-known"


def test_languages_that_the_model_does_not_read_are_said(app, inbox, tmp_path, monkeypatch):
    from sbert_desktop.app import estimating

    root = tmp_path / "briefe"
    root.mkdir()
    german = (
        "Der Vermieter gibt die Kaution innerhalb von dreißig Tagen zurück, sobald die Schlüssel übergeben sind. "
        "Wir haben den Zähler gemeinsam abgelesen und die Wohnung besenrein verlassen. "
    )
    for n in range(20):
        (root / f"brief-{n}.txt").write_text(german + f"Nummer {n}.")
    unread = estimating._unread

    def english_only(encoder, languages, files):
        import dataclasses

        info = dataclasses.replace(encoder.info, languages=("en",))
        return unread(type("E", (), {"info": info})(), languages, files)

    monkeypatch.setattr(estimating, "_unread", english_only)
    estimate = inbox.result(app.estimate([root]))
    assert [(u.code, u.name, u.documents) for u in estimate.unread] == [("de", "German", 20)]


def test_preview_gives_the_text_around_the_hit(app, inbox, folder):
    inbox.result(app.add_folders([folder]))
    hit = inbox.result(app.search(Query("deposit thirty days"))).documents[0].hits[0]
    shown = inbox.result(app.preview(hit))
    assert isinstance(shown, PreviewText)
    assert shown.text[shown.passage[0] : shown.passage[1]] == hit.text
    assert shown.sentence is not None
    assert "thirty days" in shown.text[shown.sentence[0] : shown.sentence[1]]
    app._live.stop()  # else the library may forget the text first
    (folder / "letters" / "flat.eml").unlink()
    assert isinstance(inbox.result(app.preview(hit)), PreviewText)  # the text is the library's own


def test_missing_folder_fails_with_a_plain_line(app, inbox, folder):
    end = inbox.finished(app.add_folders([folder / "nowhere"]))
    assert end.outcome is Outcome.FAILED
    assert end.failure.code == "folder-missing"
    assert not end.failure.is_bug


def test_history_remembers_what_led_to_opening(app, inbox, folder, monkeypatch):
    monkeypatch.setattr(query_history, "STOOD_SECONDS", 3600.0)
    inbox.result(app.add_folders([folder]))
    inbox.result(app.search(Query("de")))
    inbox.result(app.search(Query("deposit")))
    inbox.finished(app.open_file(folder / "nowhere.txt"))
    assert app.history()[0] == "deposit"
    assert "de" not in app.history()
    app.clear_history()
    assert app.history() == ()


def test_history_remembers_a_query_that_stood_and_no_half_typed_one(app, inbox, folder, monkeypatch):
    timers = []

    class Timer:
        """Goes off when it is told to: how long a search takes says nothing of how long a person waits."""

        def __init__(self, seconds, call, arguments):
            self.seconds, self.run = seconds, lambda: call(*arguments)
            timers.append(self)

        def start(self):
            self.armed = True

        def cancel(self):
            self.armed = False

    monkeypatch.setattr(query_history, "threading", SimpleNamespace(Timer=Timer))
    for typed in ("k", "key", "keys of the", "keys of the flat"):
        inbox.result(app.search(Query(typed, mode=Mode.KEYWORD)))
    assert {timer.seconds for timer in timers} == {query_history.STOOD_SECONDS}
    assert app.history() == ()
    for timer in timers:
        if timer.armed:
            timer.run()
    library = app._session.library
    inbox.until(lambda e: isinstance(e, Finished) and e.job_id.startswith("history-") and library.history())
    assert app.history() == ("keys of the flat",)
    assert library.history() == ("keys of the flat",)


def test_sample_library_answers_a_question(app, inbox):
    report = inbox.result(app.add_sample(), timeout=120)
    assert report.documents >= 35
    assert report.problems == 0


def test_models_are_listed_and_verified(app, inbox):
    listed = inbox.result(app.models())
    assert len(listed) == 1
    checked = inbox.result(app.verify_models())
    assert checked[0].state != "refused"
    assert checked[0].sha256 == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def test_filters_reach_the_search(app, inbox, folder):
    inbox.result(app.add_folders([folder]))
    view = inbox.result(app.search(Query("the", filters=Filters(folder=folder / "garden"))))
    assert {d.path.parent.name for d in view.documents} == {"garden"}


def test_closing_in_the_middle_of_indexing_is_quick_and_loses_nothing(tmp_path, settings, inbox, folder):
    for n in range(600):
        (folder / f"note-{n}.txt").write_text(f"Entry {n} speaks of the mill and the weir number {n}.\n")
    app = App(tmp_path / "library", settings)
    app.connect(inbox.post)
    app.add_folders([folder])
    inbox.until(lambda e: isinstance(e, Partial) and isinstance(e.result, IndexProgress) and e.result.files_done > 0)
    began = time.monotonic()
    app.close()
    assert time.monotonic() - began < 30  # it waits for 5 s at most, and the machine may stand still
    again, second = App(tmp_path / "library", settings), Inbox()
    again.connect(second.post)
    try:
        assert second.result(again.update()).documents == 606
    finally:
        again.close()


def test_a_library_that_cannot_be_opened_is_refused_when_the_program_is_made(tmp_path, settings):
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "catalog.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    before = set(threading.enumerate())
    with pytest.raises(LibraryError) as caught:
        App(tmp_path / "library", settings)
    assert caught.value.hint
    assert set(threading.enumerate()) <= before


def test_a_library_found_damaged_just_after_it_was_opened_is_closed_again(tmp_path, settings, monkeypatch):
    opened = []

    def damaged(self):
        opened.append(self)
        raise LibraryError("library-damaged", "The library is damaged.", "Go back to a backup.")

    monkeypatch.setattr(Library, "folders", damaged)
    with pytest.raises(LibraryError, match="damaged"):
        App(tmp_path / "library", settings)
    with pytest.raises(LibraryError) as caught:
        opened[0].quick_check()
    assert caught.value.code == "library-closed"


def test_closing_waits_for_a_model_that_is_being_loaded(tmp_path, settings, monkeypatch):
    import sbert_desktop.encoder

    begun, go_on, loaded = threading.Event(), threading.Event(), []

    def slow(*given, **options):
        begun.set()
        go_on.wait(60)
        loaded.append(True)
        raise EncoderError("model-missing", "There is no model.", "")

    monkeypatch.setattr(sbert_desktop.encoder, "open_encoder", slow)
    monkeypatch.setattr(session_module, "_LOADING_SECONDS", 60.0)
    session = Session(tmp_path / "library", settings)
    session.start_encoder()
    begun.wait(60)
    threading.Timer(0.2, go_on.set).start()
    session.close()
    assert loaded


def test_a_pasted_text_finds_what_says_the_same(app, inbox, folder):
    inbox.result(app.add_folders([folder]))
    view = inbox.result(app.similar_text("Let the sourdough rest overnight in the cellar, kneaded for long"))
    assert view.documents[0].path.name == "bread.txt"
    assert inbox.finished(app.similar_text("  \n")).failure.code == "no-text"
    assert inbox.result(app.similar_text("\0 spade \ud83d" * 20_000, top=2)).documents


def test_hits_are_written_in_the_form_that_the_name_says(app, inbox, folder, tmp_path):
    inbox.result(app.add_folders([folder]))
    view = inbox.result(app.search(Query("spade behind the door")))
    for form in ("csv", "json", "html", "bib"):
        written = inbox.result(app.export_hits(view, tmp_path / f"found.{form}"))
        assert "The spade hangs behind the door" in written.read_text("utf-8-sig")
    assert inbox.finished(app.export_hits(view, tmp_path / "found.pdf")).failure.code == "bad-format"


def test_turning_back_a_page_needs_no_child(app, inbox, folder, monkeypatch):
    from tests.extraction.conftest import make_pdf

    (folder / "plan.pdf").write_bytes(make_pdf([[(72, 700, 12, "Beds one to four")], [(72, 700, 12, "Beds five")]]))
    inbox.result(app.add_folders([folder]))
    hit = inbox.result(app.search(Query("beds one to four"))).documents[0].hits[0]
    first = inbox.result(app.preview(hit, page=1, width=200))
    inbox.result(app.preview(hit, page=2, width=200))
    monkeypatch.setattr(app._session, "render", None)
    assert inbox.result(app.preview(hit, page=1, width=200)) is first
