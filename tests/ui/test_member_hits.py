"""Hits inside containers, hits that are stale, and how live changes come into the list."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from sbert_desktop.domain import Query
from sbert_desktop.ui.search.model import heading_of, place_of, title_of
from tests.ui.conftest import fake
from tests.ui.fake_app import HOME, kinds_of_documents

WINDOW_PAGES = ("search", "library")

pytestmark = pytest.mark.gui


@pytest.fixture
def search_window(make_window, qtbot):
    def make(state: str = "kinds"):
        window = make_window(state)
        window.search_for("deposit")
        page = window.page("search").page
        qtbot.waitUntil(lambda: page.model.rowCount() > 0)
        return window, page

    return make


def test_container_and_member_name_a_hit() -> None:
    message, inside, letter, _, _, attachment = kinds_of_documents()
    assert title_of(message) == "mail-2022-11.mbox / Re: flat, handing over the keys"
    assert title_of(inside) == "Old laptop.zip / docs/tenancy/Handover record.pdf"
    assert title_of(attachment) == "mail-2022-11.mbox / Payslip November / payslip.pdf"
    assert title_of(letter) == "Letter to the landlord.docx"
    assert place_of(message) == "~/Mail"
    assert heading_of(message) == heading_of(inside) == ""  # the member's name says it already
    assert heading_of(replace(inside, title="Record of the handover")) == "Record of the handover"


def test_opening_a_member_opens_its_container_and_says_so(search_window, qtbot) -> None:
    window, page = search_window()
    page.list.choose(1)
    qtbot.waitUntil(lambda: page.inspector.title.full_text().startswith("Old laptop.zip"))
    button = page.inspector.open_button
    assert "Opens Old laptop.zip, which holds it" in button.toolTip()
    assert button.label() == "Open"  # not "at page 2": that page is none of the archive's
    button.click()
    path = HOME / "Documents" / "Backup" / "Old laptop.zip"
    assert ("open_file", path, None) in fake(window).calls
    page.inspector.reveal_button.click()
    assert ("reveal", path) in fake(window).calls


def test_stale_hits_are_badged_and_what_is_gone_is_said(search_window, qtbot) -> None:
    _, page = search_window()
    spoken = page.list.spoken()
    assert "changed since it was read" in spoken[2]
    assert "drive not connected" in spoken[4]
    assert "queued to be read again" in page.model.index(2).data(Qt.ItemDataRole.ToolTipRole)
    assert "2 documents that are gone were left out" in page.notes.full_text()
    page.list.choose(4)
    qtbot.waitUntil(lambda: page.inspector.title.full_text() == "Lease.pdf")
    assert not page.inspector.open_button.isEnabled()


def test_times_and_speakers_of_a_transcript_have_their_column(search_window) -> None:
    _, page = search_window()
    page.model.set_open(3, True)
    delegate = page.list.itemDelegate()
    assert delegate._passage_x(4) > delegate._passage_x(0) + 40
    assert "00:01:05 Anna" in page.list.spoken()[4]


def test_a_caption_is_added_from_the_preview_and_from_the_palette(search_window, qtbot) -> None:
    window, page = search_window()
    page.list.choose(0)
    qtbot.waitUntil(lambda: page.inspector.title.full_text().startswith("mail-2022"))
    action = page.inspector.head.actions_of_menu["caption"]
    action.trigger()
    sheet = window.findChild(object, "caption_sheet")
    qtbot.waitUntil(sheet.text.isEnabled)
    assert sheet.file.full_text() == "mail-2022-11.mbox / Re: flat, handing over the keys"
    sheet.text.setPlainText("The keys of the flat")
    sheet.save.click()
    qtbot.waitUntil(lambda: not sheet.isVisible())
    assert fake(window).captions == {(HOME / "Mail/mail-2022-11.mbox", "418 Re: flat, handing over the keys.eml"):
                                     "The keys of the flat"}
    assert any(name.name == "search_caption" for _, name in window.actions_by_group())


def test_a_live_change_looks_again_even_if_no_count_changed(search_window, qtbot) -> None:
    window, _ = search_window()
    searches = sum(isinstance(call[-1], Query) for call in fake(window).calls)
    fake(window).folders = (replace(fake(window).folders[0], last_change=1.0), *fake(window).folders[1:])
    window.desk.refresh()
    qtbot.waitUntil(lambda: sum(isinstance(call[-1], Query) for call in fake(window).calls) == searches + 1)


def test_an_answer_that_became_empty_waits_while_the_list_is_in_use(search_window, qtbot) -> None:
    _, page = search_window()
    page.list.setFocus()
    view = page.model.view
    page._on_answer(replace(view, documents=(), passages_found=0), True, True)
    assert page.model.rowCount() > 0
    assert page.newer.isVisible()
    page.newer.click()
    assert not page.stack.has_results
    assert not page.newer.isVisible()
