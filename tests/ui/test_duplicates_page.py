"""The Duplicates page: what is ticked and what never is, the one button, undo, reports, states, keys, ten thousand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QDropEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QWidget

from sbert_desktop.app.duplicate_views import HaveView
from sbert_desktop.app.ticking import parse_rules
from sbert_desktop.cleanup import Assistant, DuplicateKind, Rule, RuleKind
from sbert_desktop.domain import Failure, Finished, JobId, Outcome, Started
from sbert_desktop.settings import Settings
from sbert_desktop.ui.duplicates.group_list import GroupRole
from sbert_desktop.ui.duplicates.have_sheet import HaveSheet
from sbert_desktop.ui.duplicates.history_sheet import HistorySheet
from sbert_desktop.ui.duplicates.page import DuplicatesPage
from sbert_desktop.ui.duplicates.rules_sheet import RulesSheet
from sbert_desktop.ui.duplicates.selection import ONE_STAYS, Box, Selection
from sbert_desktop.ui.duplicates.strip import first_folder, main_rule, spoken, with_folder, with_main
from tests.effort import least_cpu
from tests.ui.conftest import every_widget, fake
from tests.ui.fake_app import HOME, FakeApp
from tests.ui.fake_duplicates import folder_group, group, many_groups

WINDOW_PAGES = ("search", "duplicates", "library")

pytestmark = pytest.mark.gui
K = DuplicateKind


def opened(make_window, qtbot, state: str = "full", **more) -> tuple[object, DuplicatesPage]:
    window = make_window(state, **more)
    window.activateWindow()
    window.show_page("duplicates")
    page = window.page("duplicates")
    qtbot.waitUntil(lambda: page.finder.view is not None and page.finder.job is None)
    return window, page


def asked(window) -> list[tuple[object, ...]]:
    return [call for call in fake(window).calls if call[0] == "duplicates"]


def choose(page: DuplicatesPage, title: str) -> None:
    rows = [one.title for one in page.column.list.groups_model.groups]
    page.column.list.choose(rows.index(title))


def tick(page: DuplicatesPage, number: int) -> None:
    page._on_tick(page.detail.members.members_model.members[number])


# ---------------------------------------------------------------- ticking


def test_at_first_only_identical_files_are_ticked(make_window, qtbot) -> None:
    _, page = opened(make_window, qtbot)
    ticked = [one for one in page.finder.view.groups if page.selection.of(one)]
    assert {one.kind for one in ticked} == {K.BYTES}
    assert page.foot_bar.label.text() == "16 ticked in 3 of 11 groups. One file always stays."
    assert page.foot_bar.move_button.label() == "Move 16 files to the trash, 57 MB"
    assert page.strip.left.text() == "Left alone: 1 group where numbers or dates differ and 1 related group."


def test_the_last_file_that_stays_cannot_be_ticked_and_a_bubble_says_so(make_window, qtbot) -> None:
    _window, page = opened(make_window, qtbot)
    choose(page, "Larkmoor cottage booking terms")
    before = page.selection.total
    tick(page, 0)
    assert page.selection.total == before
    assert page.bubble.isVisible()
    assert page.bubble.text() == ONE_STAYS
    tick(page, 1)  # unticked: now the other one may go
    assert not page.bubble.isVisible()
    tick(page, 0)
    assert page.selection.box(page.group()) is Box.PART
    assert page.selection.total.files == before.files


def test_what_lies_in_a_mail_or_a_protected_folder_has_no_box(make_window, qtbot) -> None:
    _, page = opened(make_window, qtbot)
    choose(page, "Field season talk 2022")
    model = page.detail.members.members_model
    last = model.index(4)
    assert last.data(Qt.ItemDataRole.CheckStateRole) is None
    assert not last.flags() & Qt.ItemFlag.ItemIsUserCheckable
    assert "Inside a mail, mailbox or archive" in last.data()
    tick(page, 4)
    assert page.bubble.text() == "Inside a mail, mailbox or archive"
    choose(page, "Soil moisture protocol v3")
    before = page.selection.of(page.group())
    tick(page, 2)
    assert page.selection.of(page.group()) == before
    assert page.bubble.text() == "In a protected folder"


def test_members_of_containers_and_hard_links_are_no_copy_that_stays() -> None:
    one = group(0)
    selection = Selection()
    refused: list[str] = []
    selection.refused.connect(lambda key, member, why: refused.append(why))
    selection.set_groups((one,))
    for member in one.members[1:4]:
        assert selection.toggle(one, member)
    assert not selection.toggle(one, one.members[0])  # only the attachment would be left
    linked = replace(one.members[1], copy=replace(one.members[1].copy, linked=True))
    other = replace(one, key="l", members=(one.members[0], linked))
    selection.set_groups((other,))
    assert not selection.toggle(other, one.members[0])
    assert refused == [ONE_STAYS, ONE_STAYS]


def test_a_groups_box_takes_the_suggestion_and_gives_it_up(make_window, qtbot) -> None:
    _, page = opened(make_window, qtbot)
    choose(page, "Coast walk plan 2024")
    near = page.group()
    assert page.selection.box(near) is Box.OFF
    qtbot.keyClick(page.column.list, Qt.Key.Key_Space)
    assert page.selection.box(near) is Box.ON
    assert page.selection.of(near) == {near.members[1].key, near.members[2].key}
    tick(page, 2)
    assert page.selection.box(near) is Box.PART
    qtbot.keyClick(page.column.list, Qt.Key.Key_Space)
    assert page.selection.box(near) is Box.ON
    qtbot.keyClick(page.column.list, Qt.Key.Key_Space)
    assert page.selection.box(near) is Box.OFF
    choose(page, "Choir scores, winter concert")  # one file has sentences that the kept one lacks
    qtbot.keyClick(page.column.list, Qt.Key.Key_Space)
    choir = page.group()
    assert page.selection.of(choir) == {choir.members[1].key}


@pytest.mark.parametrize("title", ["Invoice 2024-031, garden timber", "Letter to Aunt Odile, May"])
def test_the_box_of_a_group_that_differs_in_numbers_or_is_related_ticks_nothing(make_window, qtbot, title) -> None:
    _, page = opened(make_window, qtbot)
    choose(page, title)
    before = page.selection.total
    qtbot.keyClick(page.column.list, Qt.Key.Key_Space)
    assert page.selection.total == before
    assert page.bubble.isVisible()
    tick(page, 1)  # by hand, file by file, the person may
    assert page.selection.total.files == before.files + 1


def test_sums_follow_every_tick() -> None:
    groups = (*many_groups(200), folder_group())
    selection = Selection()
    selection.set_groups(groups)
    for number, one in enumerate(groups[:150]):
        if one.kind is not K.NUMBERS:
            selection.toggle(one, one.members[number % 9 + 1])
    selection.tick_none(groups[:20])
    selection.toggle_group(groups[-1])
    ticks = selection.ticks()
    rows = [(one, member) for one in groups for member in one.members if member.key in ticks]
    assert selection.total.files == sum(len(member.files) or 1 for _, member in rows)
    assert selection.total.bytes == sum(member.copy.size for _, member in rows)
    assert selection.total.groups == len({one.key for one, _ in rows})


def test_ticks_made_by_hand_stay_when_groups_are_cut_anew(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    choose(page, "Larkmoor cottage booking terms")
    lark = page.group()
    tick(page, 1)
    assert not page.selection.of(lark)
    page.show_kinds("bytes")
    qtbot.waitUntil(lambda: len(page.finder.view.groups) == 3)
    assert not page.selection.of(lark)
    assert page.strip.left.text().endswith("Changed by hand: 1 group.")
    page.tick_suggested()
    assert page.selection.of(lark) == {lark.members[1].key}
    window.toast.run_action()
    assert not page.selection.of(lark)


# ---------------------------------------------------------------- rules


def test_another_rule_ticks_at_once_is_remembered_and_can_be_undone(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    before = page.selection.ticks()
    page.strip.kinds.setCurrentIndex(1)
    page.strip.kinds.activated.emit(1)
    qtbot.waitUntil(lambda: page.selection.total.files > 16)
    assert parse_rules(fake(window).settings.text("duplicates.rules")).kinds == (K.BYTES, K.TEXT, K.FORMAT)
    assert window.toast.label.full_text().startswith("Ticked anew: 19 files")
    window.toast.run_action()
    qtbot.waitUntil(lambda: page.selection.ticks() == before)
    assert parse_rules(fake(window).settings.text("duplicates.rules")) == Assistant()
    assert page.strip.kinds.currentIndex() == 0
    assert not any(call[2] for call in asked(window))  # a cut, never another look


def test_the_sentence_shows_and_changes_the_rules_it_is_made_of() -> None:
    plain = Assistant()
    assert main_rule(plain) is RuleKind.NEWEST
    assert spoken(plain) == "Keep the newest file; tick the rest in identical groups."
    oldest = with_main(plain, RuleKind.OLDEST)
    assert [rule.kind for rule in oldest.rules] == [RuleKind.NO_COPY_NAME, RuleKind.OLDEST, RuleKind.SHORTEST_PATH]
    shortest = with_main(plain, RuleKind.SHORTEST_PATH)
    assert [rule.kind for rule in shortest.rules] == [RuleKind.NO_COPY_NAME, RuleKind.SHORTEST_PATH]
    first = with_folder(plain, Path("/a"))
    assert first.rules[0] == Rule(RuleKind.IN_FOLDER, Path("/a"))
    assert first_folder(with_folder(first, Path("/b"))) == Path("/b")
    assert with_folder(first, None) == plain
    assert "from /a first" in spoken(first)


def test_the_rules_sheet_orders_adds_removes_and_protects(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    page.strip.more.click()
    sheet = window.findChild(RulesSheet, "duplicates_rules_sheet")
    assert sheet.isVisible()
    qtbot.keyClick(sheet.order, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    assert [rule.kind for rule in sheet.assistant().rules] == [RuleKind.NEWEST, RuleKind.NO_COPY_NAME,
                                                               RuleKind.SHORTEST_PATH]
    qtbot.keyClick(sheet.order, Qt.Key.Key_Delete)
    sheet.put(Rule(RuleKind.LAST_VERSION))
    sheet.protected.put(HOME / "Downloads")
    sheet.invert.click()
    sheet.use.click()
    qtbot.waitUntil(lambda: not page.finder.job and page.finder.view.query.assistant.invert)
    rules = page.finder.view.query.assistant
    assert [rule.kind for rule in rules.rules] == [RuleKind.NEWEST, RuleKind.SHORTEST_PATH, RuleKind.LAST_VERSION]
    assert rules.protected == (HOME / "Downloads",)
    assert page.strip.inverted.isVisible()
    assert not any(path.is_relative_to(HOME / "Downloads") for path, _ in page.selection.ticks())
    assert parse_rules(fake(window).settings.text("duplicates.rules")) == rules


def test_the_last_rule_cannot_be_taken_out(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    page.edit_rules()
    sheet = window.findChild(RulesSheet, "duplicates_rules_sheet")
    for _ in range(5):
        sheet._on_remove()
    assert len(sheet.assistant().rules) == 1
    assert not sheet.remove.isEnabled()
    sheet.close_sheet()
    assert page.finder.assistant == Assistant()  # nothing is in force before "Use these rules"


def test_a_rule_setting_written_by_hand_that_cannot_be_read_leaves_the_plain_rules(make_window, qtbot,
                                                                                  settings: Settings) -> None:
    settings.set("duplicates.rules", "whatever: nonsense")
    _, page = opened(make_window, qtbot, app=FakeApp(settings))
    assert page.finder.assistant == Assistant()


# ---------------------------------------------------------------- moving, undo, report


def test_one_press_moves_what_is_ticked_and_undo_brings_it_back(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    page.foot_bar.move_button.click()
    qtbot.waitUntil(lambda: window.toast.has_action() and page.finder.job is None)
    moved = next(call for call in fake(window).calls if call[0] == "clean_up")
    assert len(moved[1]) == 16
    assert moved[2] is False
    assert window.toast.label.full_text() == "Moved 16 files to the trash"
    assert len(asked(window)) > 1  # the list is asked again
    assert page.foot_bar.move_button.label() == "Nothing ticked"
    assert not page.foot_bar.move_button.isEnabled()
    window.toast.run_action()
    qtbot.waitUntil(lambda: page.selection.total.files == 16 and page.finder.job is None)
    assert ("undo_clean_up", "c1", ()) in fake(window).calls


def test_each_file_goes_with_the_copies_that_must_be_alive(make_window, qtbot, monkeypatch) -> None:
    window, page = opened(make_window, qtbot)
    given = []
    monkeypatch.setattr(fake(window), "_clean", lambda done, planned: given.append(planned) or FakeApp._clean(
        fake(window), done, planned))
    page.move_ticked()
    qtbot.waitUntil(lambda: bool(given) and page.finder.job is None and not page.cleaning.busy)
    going = {one.victim.path for one in given[0]}
    for removal in given[0]:
        assert removal.keepers
        assert all(not keeper.member and keeper.path not in going for keeper in removal.keepers)


def test_files_that_stayed_are_said_with_the_reason(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    fake(window).refuse = {"(2)": "It changed since it was compared.", "Bed 03": "The trash refused it: no permission."}
    page.move_ticked()
    qtbot.waitUntil(lambda: page.notice.isVisible())
    assert page.notice.label.text() == "Moved 14 of 16 files to the trash. 2 files stayed where they are."
    assert window.toast.label.full_text() == "Moved 14 of 16 files to the trash"
    page.notice.button.click()
    sheet = window.findChild(HistorySheet, "duplicates_history_sheet")
    qtbot.waitUntil(lambda: bool(sheet.files.rows_model.rows))
    rows = [(row.path.name, row.state, row.message) for row in sheet.files.rows_model.rows[:2]]
    assert rows == [("Bed 03.jpg", "failed", "The trash refused it: no permission."),
                    ("Field season talk 2022 (2).pptx", "skipped", "It changed since it was compared.")]
    assert sheet.said.text() == "14 files in the trash, 2 not moved."


def test_a_clean_up_shows_how_far_it_is_and_can_be_stopped(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    fake(window).hold_clean_up = True
    page.move_ticked()
    qtbot.waitUntil(lambda: "12 of 16" in page.foot_bar.doing.full_text())
    assert page.foot_bar.is_busy()
    before = page.selection.total
    tick(page, 1)  # nothing changes under what is being moved
    page.untick_all()
    qtbot.keyClick(page.column.list, Qt.Key.Key_Space)
    assert page.selection.total == before
    page.foot_bar.cancel.click()
    qtbot.waitUntil(lambda: not page.cleaning.busy and page.finder.job is None)
    assert page.notice.label.text() == "Moved 8 of 16 files to the trash. 8 files stayed where they are."


def test_a_failed_clean_up_is_said_and_the_page_works_on(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    fake(window).fail["clean-up"] = Failure("library-readonly", "The library can only be read.", "Make it writable.")
    page.move_ticked()
    qtbot.waitUntil(lambda: window.toast.isVisible())
    assert window.toast.label.full_text() == "The library can only be read. Make it writable."
    assert not page.foot_bar.is_busy()
    assert page.selection.total.files == 16


def test_the_history_brings_back_all_or_some_and_says_what_was_cut_short(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    page.move_ticked()
    qtbot.waitUntil(lambda: bool(fake(window).history_rows) and page.finder.job is None and not page.cleaning.busy)
    rows = fake(window).history_rows
    rows.append(replace(rows[0], id="old", when=rows[0].when - 86_400, finished=False))
    page.column.history.click()
    sheet = window.findChild(HistorySheet, "duplicates_history_sheet")
    qtbot.waitUntil(lambda: len(sheet.runs.rows_model.rows) == 2)
    sheet.runs.selectRow(1)
    assert "ended before this clean-up was through" in sheet.said.text()
    sheet.runs.selectRow(0)
    assert not sheet.some.isEnabled()
    sheet.files.selectRow(0)
    assert sheet.some.label() == "Bring back 1 file"
    sheet.some.click()
    qtbot.waitUntil(lambda: fake(window).history_rows[0].moved == 15 and not page.cleaning.busy)
    qtbot.waitUntil(lambda: sheet.runs.rows_model.rows[0].moved == 15)
    sheet.all.click()
    qtbot.waitUntil(lambda: fake(window).history_rows[0].undone and not page.cleaning.busy)
    qtbot.waitUntil(lambda: not sheet.all.isEnabled())


def test_not_duplicates_hides_the_group_at_once_and_can_be_undone(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    choose(page, "Coast walk plan 2024")
    page.detail.head.apart.click()
    assert "Coast walk plan 2024" not in [one.title for one in page.column.list.groups_model.groups]
    qtbot.waitUntil(lambda: fake(window).apart == {"g3"} and page.finder.job is None)
    window.toast.run_action()
    qtbot.waitUntil(lambda: "Coast walk plan 2024" in [one.title for one in page.column.list.groups_model.groups])
    assert not fake(window).apart


def test_an_export_holds_the_ticks_as_they_are(make_window, qtbot, monkeypatch, tmp_path: Path) -> None:
    window, page = opened(make_window, qtbot)
    page.untick_all()
    choose(page, "Larkmoor cottage booking terms")
    tick(page, 1)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "all.html"), ""))
    page.foot_bar.export.click()
    qtbot.waitUntil(lambda: any(call[0] == "export_duplicates" for call in fake(window).calls))
    _, view, target = next(call for call in fake(window).calls if call[0] == "export_duplicates")
    assert target == tmp_path / "all.html"
    assert view.ticked == 1
    assert [one.copy.path.name for each in view.groups for one in each.members if one.ticked] == [
        "Larkmoor cottage booking terms.pdf"]


# ---------------------------------------------------------------- asking


def test_the_slider_answers_at_once_and_is_remembered(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    assert not page.column.alike.isVisible()
    page.show_kinds("near")
    qtbot.waitUntil(lambda: len(page.finder.view.groups) == 4 and page.finder.job is None)
    assert page.column.alike.isVisible()
    for percent in range(81, 97):
        page.column.alike.slider.setValue(percent)
    qtbot.waitUntil(lambda: len(page.finder.view.groups) == 3 and page.finder.job is None)
    assert page.finder.view.query.near == 0.96
    assert fake(window).settings.number("duplicates.near") == 96
    assert len(asked(window)) < 10  # the newest wish is asked, not every step on the way
    page.show_kinds("related")
    qtbot.waitUntil(lambda: len(page.finder.view.groups) == 1 and page.finder.job is None)
    assert page.column.alike.slider.value() == 80


def test_the_same_text_is_found_by_its_segment_and_order(make_window, qtbot) -> None:
    _, page = opened(make_window, qtbot)
    page.column.sort.setCurrentIndex(3)
    page.column.sort.activated.emit(3)
    titles = [one.title for one in page.column.list.groups_model.groups]
    assert titles == sorted(titles, key=str.casefold)
    page.column.kinds._buttons["text"].click()
    qtbot.waitUntil(lambda: page.column.count.text().startswith("3 groups"))
    assert {one.kind for one in page.finder.view.groups} == {K.TEXT, K.FORMAT}


def test_filters_narrow_and_are_cleared_with_the_row_of_chips(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    page.column.filter_button.click()
    page.column.filters._choose(HOME / "Notes")
    qtbot.waitUntil(lambda: [one.title for one in page.finder.view.groups] == ["Packing list, camping"])
    assert asked(window)[-1][1].filters.folder == HOME / "Notes"
    page.column.filters._toggle(("pdf",), True)
    qtbot.waitUntil(lambda: not page.finder.view.groups)
    assert page.detail.none.button.label() == "Clear the filters"
    page.detail.none.button.click()
    qtbot.waitUntil(lambda: len(page.finder.view.groups) == 11)


def test_a_program_without_duplicates_has_no_page_for_them(make_window, settings: Settings) -> None:
    class Old(FakeApp):
        duplicates = None

    window = make_window(app=Old(settings))
    assert "duplicates" not in window.rail._items


# ---------------------------------------------------------------- states


def test_an_empty_library_says_how_to_begin(make_window, qtbot) -> None:
    window = make_window("empty")
    window.show_page("duplicates")
    page = window.page("duplicates")
    assert page.states.stack.currentWidget() is page.states.empty
    assert not asked(window)


def test_a_page_opened_before_the_library_is_known_begins_with_it(make_window, qtbot) -> None:
    window = make_window("empty")
    window.show_page("duplicates")
    program = fake(window)
    full = FakeApp(window.desk.settings)
    program.state, program.folders, program.groups = "full", full.folders, (group(0),)
    full.close()
    window.desk.refresh()
    page = window.page("duplicates")
    qtbot.waitUntil(lambda: page.finder.view is not None)
    assert page.stack.currentWidget() is page.files


def test_a_large_library_is_compared_when_the_person_says_so(make_window, qtbot) -> None:
    window = make_window("huge")
    window.show_page("duplicates")
    page = window.page("duplicates")
    assert page.states.stack.currentWidget() is page.states.never
    assert not asked(window)
    page.states.never.button.click()
    qtbot.waitUntil(lambda: page.finder.view is not None)
    assert page.save_state()["looked"] is True


def test_the_first_look_shows_its_steps_and_can_be_cancelled(make_window, qtbot, settings: Settings) -> None:
    program = FakeApp(settings)
    program.hold_duplicates = True
    window = make_window(app=program)
    window.show_page("duplicates")
    page = window.page("duplicates")
    qtbot.waitUntil(lambda: "3,100 of 8,800" in page.states.looking.label.text())
    assert page.states.stack.currentWidget() is page.states.busy
    page.states.looking.cancel.click()
    qtbot.waitUntil(lambda: page.states.stack.currentWidget() is page.states.never)
    page.states.never.button.click()
    qtbot.waitUntil(lambda: bool(program.held))
    program.let_go()
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.files)


def test_another_look_keeps_the_list_and_freezes_the_button(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    fake(window).hold_duplicates = True
    qtbot.keyClick(page.column.list, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: page.column.looking.isVisible() and "Comparing texts" in page.column.looking.label.text())
    assert page.stack.currentWidget() is page.files
    assert not page.foot_bar.move_button.isEnabled()
    assert not page.column.kinds.isEnabled()
    fake(window).let_go(Outcome.CANCELLED)
    qtbot.waitUntil(lambda: page.foot_bar.move_button.isEnabled())
    assert not page.column.looking.isVisible()


def test_without_duplicates_the_page_says_what_was_compared(make_window, qtbot) -> None:
    _, page = opened(make_window, qtbot, "calm")
    assert page.detail.stack.currentWidget() is page.detail.none
    assert page.detail.none.title.text() == "No duplicates"
    assert page.detail.none.sentence.text() == "No two of 8,800 files are alike."
    assert not page.detail.none.button.isVisible()
    assert page.foot_bar.move_button.label() == "Nothing ticked"


def test_a_failed_look_says_why_and_tries_again(make_window, qtbot, settings: Settings) -> None:
    program = FakeApp(settings)
    program.fail["duplicates"] = Failure("library-damaged", "The catalog cannot be read.", "Run the doctor.")
    window = make_window(app=program)
    window.show_page("duplicates")
    page = window.page("duplicates")
    qtbot.waitUntil(lambda: page.states.is_failed())
    assert page.states.failed.sentence.text() == "The catalog cannot be read. Run the doctor."
    program.fail.clear()
    page.states.failed.button.click()
    qtbot.waitUntil(lambda: page.stack.currentWidget() is page.files)


def test_a_changed_library_offers_another_look(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    assert not page.column.stale.isVisible()
    view = fake(window).view()
    window.desk.libraryChanged.emit(replace(view, documents=view.documents + 3))
    window.desk.library = replace(view, documents=view.documents + 3)
    page._show_notes()
    assert page.column.stale.isVisible()
    page.column.stale.button.click()
    qtbot.waitUntil(lambda: not page.column.stale.isVisible() and page.finder.job is None)
    assert asked(window)[-1][2] is True


def test_a_run_that_takes_in_what_was_moved_is_no_change_to_tell_of_before_it_ends(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    program, job, seen = fake(window), JobId("index-own"), []
    page.foot_bar.move_button.click()
    qtbot.waitUntil(lambda: window.toast.has_action() and page.finder.job is None)
    show = page.column.show_notes
    page.column.show_notes = lambda *notes: (show(*notes), seen.append(page.column.stale.isVisible()))
    program.say([Started(job, "index")])
    qtbot.waitUntil(lambda: window.desk.index_job == job)
    program.duplicate_notes = ("The library has changed since this was looked for.",)  # it did, and has not told yet
    page.finder.ask()
    qtbot.waitUntil(lambda: page.finder.job is None)
    assert page.finder.view.notes == program.duplicate_notes
    assert seen
    assert not page.column.stale.isVisible()
    program.duplicate_notes = ()
    program.say([Finished(job, Outcome.DONE, program.report())])
    qtbot.waitUntil(lambda: asked(window)[-1][2] and page.finder.job is None)
    assert not page.column.stale.isVisible()
    assert not page.finder.view.notes


def test_notes_of_the_program_stand_above_the_list(make_window, qtbot, settings: Settings) -> None:
    program = FakeApp(settings)
    program.duplicate_notes = ("12 passages are not compared by meaning yet; their words were compared.",
                               "The library has changed since this was looked for.")
    _, page = opened(make_window, qtbot, app=program)
    assert page.column.notes.label.text() == program.duplicate_notes[0]
    assert page.column.stale.isVisible()


def test_while_indexing_a_note_says_what_is_not_compared(make_window, qtbot) -> None:
    _, page = opened(make_window, qtbot, "indexing")
    qtbot.waitUntil(lambda: "Still indexing" in page.column.notes.label.text())


# ---------------------------------------------------------------- do I have this?


def test_dropped_files_are_told_what_the_library_has_of_them(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    new = HaveView(Path("/x/plan.odt"), "newer version", "It is a newer version of Coast walk plan 2024.odt.",
                   ((HOME / "Documents/Travel/Coast walk plan 2024.odt", "", 0.93),), HOME / "Documents/Travel")
    fake(window).have_views["plan.odt"] = new
    page.drop.offer((Path("/x/terms.pdf"), Path("/x/plan.odt")))
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/x/terms.pdf"), QUrl.fromLocalFile("/x/plan.odt")])
    place = QPointF(page.drop.search_area().center())
    page.drop.dropEvent(QDropEvent(place, Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
                                   Qt.KeyboardModifier.NoModifier))
    sheet = window.findChild(HaveSheet, "duplicates_have_sheet")
    qtbot.waitUntil(lambda: all(card.view is not None for card in sheet.cards))
    assert [card.tag.text() for card in sheet.cards] == ["You have it", "This is newer"]
    assert sheet.cards[1].said.text() == new.words
    sheet.findChild(QAbstractButton, "duplicates_have_reveal_1_0").click()
    assert ("reveal", HOME / "Documents/Travel/Coast walk plan 2024.odt") in fake(window).calls
    sheet.findChild(QAbstractButton, "duplicates_have_folder_1").click()
    assert ("reveal", HOME / "Documents/Travel") in fake(window).calls


def test_a_drop_below_adds_a_folder(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    added = []
    window.desk.addFoldersRequested.disconnect()
    window.desk.addFoldersRequested.connect(added.append)
    page.drop.offer((Path("/x"),))
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/x")])
    page.drop.dropEvent(QDropEvent(QPointF(60, page.drop.height() - 40), Qt.DropAction.CopyAction, data,
                                   Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier))
    assert added == [(Path("/x"),)]


# ---------------------------------------------------------------- keys, access, size


def test_everything_is_reached_by_keys(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    groups, members = page.column.list, page.detail.members
    assert QApplication.focusWidget() is groups
    choose(page, "Coast walk plan 2024")
    qtbot.keyClick(groups, Qt.Key.Key_Return)
    assert QApplication.focusWidget() is members
    qtbot.keyClick(members, Qt.Key.Key_Down)
    qtbot.keyClick(members, Qt.Key.Key_Down)
    assert page.detail.compare.pair_shown()[1].path.name == "Coast walk plan, old.odt"
    qtbot.keyClick(members, Qt.Key.Key_Space)
    assert page.selection.total.files == 17
    qtbot.keyClick(members, Qt.Key.Key_Return)
    assert fake(window).calls[-1][0] == "open_file"
    qtbot.keyClick(members, Qt.Key.Key_Delete)
    qtbot.keyClick(groups, Qt.Key.Key_Delete)
    assert not any(call[0] == "clean_up" for call in fake(window).calls)
    qtbot.keyClick(members, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is groups
    qtbot.keyClick(groups, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: any(call[0] == "clean_up" for call in fake(window).calls) and not page.cleaning.busy
                    and page.finder.job is None)


def test_tab_goes_from_the_groups_to_the_files_and_on_to_the_button(make_window, qtbot) -> None:
    _window, page = opened(make_window, qtbot)
    page.column.list.setFocus()
    seen = []
    for _ in range(40):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        seen.append(QApplication.focusWidget().objectName())
        if seen[-1] == "duplicates_move":
            break
    wanted = ["duplicates_apart", "duplicates_more", "duplicates_members", "duplicates_keep", "duplicates_keep_folder",
              "duplicates_tick_kinds", "duplicates_rules", "duplicates_export", "duplicates_move"]
    assert [one for one in seen if one in wanted] == wanted


def test_every_control_of_the_page_is_named_and_every_row_is_said(make_window, qtbot) -> None:
    _, page = opened(make_window, qtbot)
    page.column.filter_button.click()
    page.show_kinds("near")
    qtbot.waitUntil(lambda: page.finder.job is None)
    for widget in every_widget(page):
        if isinstance(widget, QAbstractButton) and widget.isVisible():
            assert widget.objectName(), type(widget)
            assert widget.accessibleName(), widget.objectName()
    list_ = page.column.list
    interface = QAccessible.queryAccessibleInterface(list_)
    assert interface is not None
    assert interface.text(QAccessible.Text.Name) == "Groups of duplicates"
    first = list_.groups_model.index(0)
    assert first.data(Qt.ItemDataRole.AccessibleTextRole).startswith("Choir scores, winter concert, near, similarity")
    assert page.strip.accessibleName().endswith("Keep the newest file; tick the rest in identical groups.")


def test_what_is_ticked_is_said(make_window, qtbot, monkeypatch) -> None:
    _, page = opened(make_window, qtbot)
    said: list[str] = []
    monkeypatch.setattr(QAccessible, "isActive", staticmethod(lambda: True))
    monkeypatch.setattr(QAccessible, "updateAccessibility", staticmethod(lambda event: said.append(event.message())))
    choose(page, "Larkmoor cottage booking terms")
    said.clear()
    tick(page, 1)
    assert said == ["15 ticked in 2 of 11 groups. One file always stays."]


def test_names_from_disk_are_shown_letter_by_letter(make_window, qtbot, settings: Settings) -> None:
    program = FakeApp(settings)
    one = group(4)
    hostile = HOME / "<img src=x>\u202egnp.pdf"
    program.groups = (replace(one, title=hostile.name, members=tuple(
        replace(each, copy=replace(each.copy, path=hostile.with_name(f"{n}{hostile.name}")))
        for n, each in enumerate(one.members))),)
    _, page = opened(make_window, qtbot, app=program)
    index = page.column.list.groups_model.index(0)
    assert "<img" not in index.data(Qt.ItemDataRole.ToolTipRole)
    assert "\u202e" not in index.data()
    assert "\u202e" not in page.detail.head.title.text()
    row = page.detail.members.members_model.index(0)
    assert "\u202e" not in row.data()
    assert "<img" not in row.data(Qt.ItemDataRole.ToolTipRole)


@pytest.mark.parametrize(("size", "scale"), [((960, 640), 100), ((1280, 800), 200), ((960, 640), 150)])
def test_the_button_that_moves_is_whole_in_a_small_window(make_window, qtbot, size, scale) -> None:
    window, page = opened(make_window, qtbot, size=size)
    window.desk.settings.set("appearance.text_scale", scale)
    qtbot.wait(50)
    button = page.foot_bar.move_button
    assert button.isVisible()
    assert button.width() >= button.sizeHint().width()
    assert page.rect().contains(button.mapTo(page, QPoint(button.width() - 1, button.height() - 1)))
    assert page.column.list.width() >= 200
    assert page.detail.members.isVisible()


def test_ten_thousand_groups_are_ticked_and_sorted_in_a_moment(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot, "full")
    groups = many_groups(10_000)
    fake(window).groups = groups
    page.look_again()
    qtbot.waitUntil(lambda: len(page.finder.view.groups) > 9000 and page.finder.job is None, timeout=30_000)
    one = page.column.list.groups_model.index(0).data(GroupRole)

    def tick_all() -> None:
        page.selection.tick_none(page.finder.view.groups)
        page.selection.tick_suggested(page.finder.view.groups)

    def sort() -> None:
        page.column.list.set_order("size")
        page.column.list.set_order("name")

    assert least_cpu(lambda: page.selection.toggle_group(one), enough=0.05) < 0.05
    assert least_cpu(tick_all, enough=1.0) < 1.0
    assert least_cpu(page.selection.keep, enough=0.05) < 0.05
    assert least_cpu(sort, enough=1.0) < 1.0
    page.column.list.scrollToBottom()
    assert least_cpu(page.column.list.grab, enough=0.5) < 0.5


def test_the_page_remembers_its_order_and_that_it_looked(make_window, qtbot) -> None:
    window, page = opened(make_window, qtbot)
    page.column.sort.setCurrentIndex(2)
    page.column.sort.activated.emit(2)
    state = window.state()["pages"]["duplicates"]
    assert state["looked"] is True
    assert state["order"] == "alike"
    other = QWidget()
    made = DuplicatesPage(window.desk)
    made.restore_state(state)
    assert made.column.sort.currentData() == "alike"
    made.deleteLater()
    other.deleteLater()
