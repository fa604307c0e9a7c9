"""Small promises of the Library page: one message per failure, no waiting to add, what was kept comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from sbert_desktop.app.views import KeptView
from sbert_desktop.domain import Failure, Finished, JobId, Outcome, Started
from sbert_desktop.ui.library.adding import add_folders
from tests.ui.conftest import fake

WINDOW_PAGES = ("search", "library", "settings")

pytestmark = pytest.mark.gui
COPY = KeptView(Path("/library/kept/2026-11-29.jsonl"), "2026-11-29", judgements=3, collections=1, items=2)


def called(window, name: str) -> list[tuple[object, ...]]:
    return [call for call in fake(window).calls if call[0] == name]


def health_tab(window):
    window.show_page("library")
    page = window.page("library")
    page.tabs.setCurrentIndex(4)
    return page.health


def test_a_copy_that_holds_more_is_offered_and_brought_back(make_window, qtbot) -> None:
    window = make_window()
    fake(window).copy_found = COPY
    tab = health_tab(window)
    qtbot.waitUntil(lambda: tab.kept.restore.isVisible() and tab.again.isVisible())  # two answers, in either order
    words = tab.kept.text.text()
    assert "29 November 2026" in words
    assert "3 judgements, 1 collection, 2 collected passages" in words
    tab.again.click()
    assert len(called(window, "kept_copy")) == 2
    qtbot.waitUntil(lambda: tab.kept.restore.isVisible() and tab.again.isVisible())
    asked = len(called(window, "collections"))
    tab.kept.restore.click()
    qtbot.waitUntil(lambda: not tab.kept.isVisible())
    assert called(window, "restore_kept") == [("restore_kept", COPY.path)]
    assert "Brought back: 3 judgements" in window.toast.label.full_text()
    assert len(called(window, "collections")) == asked + 1
    assert called(window, "saved_searches")


def test_no_copy_no_line(make_window, qtbot) -> None:
    window = make_window()
    tab = health_tab(window)
    qtbot.waitUntil(lambda: bool(called(window, "kept_copy")) and tab.repair.isVisible())
    assert not tab.kept.isVisible()


def test_a_failed_run_is_told_once(make_window, qtbot) -> None:
    window = make_window()
    shown: list[str] = []
    window.desk.toastRequested.connect(lambda text, *rest: shown.append(text))
    failure = Failure("place-differs", "The place holds none of the files.", "Choose another one.")
    for _ in range(2):
        fake(window).fail["index"] = failure
        done: list[Finished] = []
        job = window.desk.start(fake(window).locate(Path("/a"), Path("/b")))
        window.desk.bridge.listen("index", on_finished=done.append)
        qtbot.waitUntil(lambda job=job, done=done: any(event.job_id == job for event in done))
    assert len(shown) == 2, "one for each run"
    job = JobId("index-of-the-program-itself")
    fake(window).say([Started(job, "index"), Finished(job, Outcome.FAILED, None, failure)])
    qtbot.waitUntil(lambda: len(shown) == 3)


def test_folders_are_added_without_waiting_for_the_measurement(make_window, qtbot) -> None:
    window = make_window()
    fake(window).delay = 0.3
    sheet = add_folders(window, window.desk, (Path("/a/b"),))
    assert sheet.measuring.isVisible()
    assert sheet.add.isEnabled()
    sheet.add.click()
    assert called(window, "add_folders")[0][1] == (Path("/a/b"),)
    assert len(called(window, "estimate")) == 1
    assert called(window, "cancel"), "it measures for nobody"
    qtbot.waitUntil(lambda: not sheet.isVisible())
