"""The Models page: vectors of the library, the lab, models that are got again, languages that nobody reads."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from sbert_desktop.app.lab_export import COLUMNS, export_lab
from sbert_desktop.app.training_views import SpaceView
from sbert_desktop.app.views import UnreadLanguage
from sbert_desktop.domain import Failure, Finished, JobId, Outcome
from sbert_desktop.settings import Settings
from sbert_desktop.ui.models import lab as lab_module
from sbert_desktop.ui.models.get_sheet import MULTILINGUAL, GetSheet
from sbert_desktop.ui.models.lab_sheet import LabSheet
from tests.ui.conftest import fake
from tests.ui.fake_app import HOME, FakeApp
from tests.ui.fake_lab import many_models, measured

WINDOW_PAGES = ("search", "models", "library")

pytestmark = pytest.mark.gui

OWN, OTHER = "all-MiniLM-L6-v2", "paraphrase-multilingual-MiniLM-L12-v2"
SPACES = (SpaceView("f3a9c1", OWN, "in use", 148_000_000, 96_204, 96_204, OWN),
          SpaceView("77ab0", OTHER, "kept", 148_000_000, 96_204, 96_204, OTHER),
          SpaceView("dead", "gone-1", "kept", 9_000_000, 8_000, 96_204, ""))


@pytest.fixture
def opened(make_window, qtbot, settings: Settings):
    """Opens the page over all models of the fake program."""

    def make(*, lab: bool = True, size: tuple[int, int] = (1280, 800), **more: object):
        program = FakeApp(settings)
        program.model_rows, program.space_rows = many_models(), SPACES
        program.lab_view = measured() if lab else None
        for key, value in more.items():
            setattr(program, key, value)
        window = make_window(app=program, size=size)
        window.show_page("models")
        page = window.page("models")
        qtbot.waitUntil(lambda: page.table.rows_model.rowCount() == 6 and bool(page.spaces) and
                        (page.lab.view is not None) == lab)
        return window, page

    return make


def called(window, name: str) -> list[tuple[object, ...]]:
    return [call[1:] for call in fake(window).calls if call[0] == name]


def states(page) -> dict[str, str]:
    return {row.name: row.state()[0] for row in page.table.rows_model.rows}


def test_a_model_is_prepared_beside_the_one_in_use_and_that_can_be_given_up(opened, qtbot) -> None:
    window, page = opened()
    assert states(page) == {OWN: "In use", "home-1": "Tuned", OTHER: "Ready", "mpnet-base": "Ready",
                            "ModernBERT-small": "Ready", "minilm-rerank": "Files changed"}
    page.choose(OTHER)
    assert "in use at once" in page.detail.hint.text()  # its vectors are kept
    assert not page.detail.remove.isEnabled()  # and they need it
    page.choose("ModernBERT-small")
    assert page.detail.values["prompts"].text() == "“passage:” before a passage; “query:” before a question"
    page.choose("mpnet-base")
    hint = page.detail.hint.text()
    assert "768 in place of 384" in hint
    assert "32 min" in hint  # 105,820 passages at 56 a second
    assert hint.endswith(f"until then {OWN} answers.")
    page.detail.use.click()
    qtbot.waitUntil(page.preparing.isVisible)
    assert states(page)[OWN] == "In use"
    assert states(page)["mpnet-base"] == "Preparing 8 %"
    assert page.preparing.label.text() == (
        f"Your library is prepared for mpnet-base: 8,000 of 96,204 passages. {OWN} answers until then.")
    assert f"{OWN} answers until then" in window.toast.label.full_text()
    assert not page.detail.use.isVisible()
    page.preparing.cancel.click()
    assert called(window, "remove_space") == [("of-mpnet-base",)]
    qtbot.waitUntil(lambda: not page.preparing.isVisible() and states(page)["mpnet-base"] == "Ready")


def test_kept_vectors_are_used_again_at_once_and_removed_only_when_undo_is_over(opened, qtbot) -> None:
    window, page = opened()
    rows = page.detail.spaces.rows
    assert [(row.label.full_text(), row.tag.text()) for row in rows] == [
        (OWN, "In use"), (OTHER, "Kept"), ("gone-1", "Unfinished, 8 %")]  # fmt: skip
    assert rows[0].use is None
    assert rows[0].remove is None
    assert rows[2].use.label() == "Prepare further"
    assert not rows[2].use.isEnabled()  # its model was removed
    rows[1].use.click()
    qtbot.waitUntil(lambda: states(page)[OTHER] == "In use")
    assert called(window, "use_space") == [("77ab0",)]
    window.toast.run_action()
    assert called(window, "use_space")[-1] == ("f3a9c1",)
    qtbot.waitUntil(lambda: states(page)[OWN] == "In use")
    page.deeds.remove_space("dead")
    assert len(page.detail.spaces.rows) == 2
    window.toast.run_action()
    assert len(page.detail.spaces.rows) == 3
    page.detail.spaces.rows[2].remove.click()
    assert not called(window, "remove_space")
    window.toast.dismiss()
    assert called(window, "remove_space") == [("dead",)]


def test_the_lab_plots_what_was_measured_and_tells_it_as_text_and_table(opened, qtbot, monkeypatch, tmp_path) -> None:
    window, page = opened()
    lab, scatter = page.lab, page.lab.plots.scatter
    lab.grab()
    assert lab.data.full_text() == "Measured on 100 of your own questions, 14 Nov 2023"
    points = {point.row.model: (point, place) for point, place in
              zip(scatter.points(), scatter._places, strict=True)}
    assert [point.row.speed for point in scatter.points()] == [56, 125, 150, 312, 312]
    xs = {own: place.x() for own, (_, place) in points.items()}
    ys = {own: place.y() for own, (_, place) in points.items()}
    assert math.isclose((xs["ModernBERT-small"] - xs["mpnet-base"]) / math.log(125 / 56),
                        (xs[OTHER] - xs["mpnet-base"]) / math.log(150 / 56), rel_tol=1e-6)  # a log axis
    assert xs["home-1"] - xs[OWN] == 10  # of equal speed
    assert ys["home-1"] < ys["mpnet-base"] < ys[OTHER]
    assert points["home-1"][0].hollow
    assert not points[OWN][0].hollow
    assert "home-1. Right document first, of 100 questions: 71, surely between 63 and 79" in \
        scatter.accessibleDescription()
    bars = lab.plots.bars.bars()
    assert [bar.title for bar in bars] == ["As it is", "First token (cls)", "Maximum", "Mean of the last 4 layers",
                                           "128 dimensions, by PCA", "8-bit numbers (int8)"]
    assert [bar.below for bar in bars[1:]] == [
        "3.0 worse than as it is", "5.0 worse than as it is", "1.0 worse than as it is, perhaps by chance",
        "1.0 worse than as it is, perhaps by chance", "The same as it is"]  # fmt: skip
    scatter.setFocus()
    for _ in range(3):
        qtbot.keyClick(scatter, Qt.Key.Key_Right)
    qtbot.keyClick(scatter, Qt.Key.Key_Return)
    assert page.chosen().name == OTHER  # the third from the left
    lab.plots.measure.setCurrentIndex(lab.plots.measure.findData("mean_cosine"))
    assert lab.plots.bars.bars()[0].title == "mpnet-base"  # keeps unrelated texts apart best
    assert page.table.row_of(OTHER).speed == 150
    assert page.detail.values["speed"].text() == "150 passages/s"
    lab.as_table.click()
    assert lab.table.isVisible()
    assert not lab.plots.isVisible()
    assert [lab.table.rows_model.index(6, at).data() for at in range(9)] == [
        OWN, "Maximum", "accuracy@1", "53.0", "44.0", "62.0", "-5.0", "-7.0", "-3.0"]  # fmt: skip
    target = tmp_path / "lab.csv"
    monkeypatch.setattr(lab_module, "ask_target", lambda *_: target)
    lab.export.click()
    assert called(window, "export_lab") == [(10, target)]
    lines = export_lab(replace(measured(), data="=evil"), target).read_text("utf-8-sig").splitlines()
    assert lines[0] == ",".join((*COLUMNS, "data"))
    assert lines[1].startswith("mpnet-base,as it is,accuracy@1,0.66,")
    assert lines[1].endswith(",'=evil")
    assert len(lines) == 11


def test_measuring_shows_rows_as_they_come_and_can_be_stopped_or_fail(opened, qtbot, monkeypatch) -> None:
    window, page = opened(lab=False, hold_lab=True)
    lab = page.lab
    assert lab.empty.isVisible()
    assert lab.first.label() == "Measure, about 2 min..."  # 5 models of 20 s
    lab.first.click()
    sheet = window.findChild(LabSheet, "lab_sheet")
    assert list(sheet.boxes) == [OWN, "home-1", OTHER, "mpnet-base", "ModernBERT-small"]
    for own in (OTHER, "home-1", "ModernBERT-small"):
        sheet.boxes[own].click()
    sheet.kind.setCurrentIndex(sheet.kind.findData("judgements:answers"))
    sheet.ways["pooling"].click()
    assert sheet.time.text() == "About 2 min. Search goes on meanwhile."
    sheet.measure.click()
    assert called(window, "lab") == [((OWN, "mpnet-base"), "judgements:answers", ("pooling",))]
    qtbot.waitUntil(lambda: len(lab.plots.scatter.points()) == 2)
    assert lab.progress.isVisible()
    assert lab.progress_words.full_text() == "mpnet-base: 1 of 4"
    assert not lab.measure.isEnabled()
    lab.stop.click()
    assert called(window, "cancel") == [("lab-held",)]
    fake(window).let_lab_go(Outcome.CANCELLED)
    qtbot.waitUntil(lambda: not lab.progress.isVisible())
    assert "2 rows measured" in window.toast.label.full_text()
    assert lab.plots.isVisible()  # what was measured stays
    lab.measure.click()
    assert sheet.boxes[OWN].isChecked()
    assert not sheet.boxes[OTHER].isChecked()  # as before
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(HOME / "judged.csv"), ""))
    sheet.findChild(object, "lab_data_file").click()
    sheet.measure.click()
    assert called(window, "lab")[-1][1] == str(HOME / "judged.csv")
    fake(window).let_lab_go(Outcome.FAILED, Failure("row-short", "Line 7 of judged.csv has too few columns.",
                                                    "Correct the line."))
    qtbot.waitUntil(lab.notice.isVisible)
    assert lab.notice.label.text() == ("Not all was measured. Line 7 of judged.csv has too few columns. Correct the "
                                       "line.")
    assert page.save_state()["lab_seconds"].keys() == {"mpnet-base", "ModernBERT-small"}


def test_a_model_whose_files_changed_is_got_again_and_a_stopped_download_goes_on(opened, qtbot) -> None:
    window, page = opened(hold_models=True)
    page.choose("minilm-rerank")
    assert page.detail.first.label() == "Get again"
    page.detail.first.click()
    sheet = window.findChild(GetSheet, "get_model_sheet")
    assert sheet.edit.text() == "cross-encoder/ms-marco-MiniLM-L6-v2"  # where it came from
    assert not called(window, "add_model")
    sheet.get.click()
    assert called(window, "add_model") == [("cross-encoder/ms-marco-MiniLM-L6-v2", "minilm-rerank")]
    qtbot.waitUntil(lambda: states(page)["minilm-rerank"] == "Getting 25 %")
    assert page.detail.first.label() == "Cancel"
    page.detail.first.click()
    assert called(window, "cancel") == [("models-held",)]
    fake(window).say([Finished(JobId("models-held"), Outcome.CANCELLED)])
    qtbot.waitUntil(lambda: states(page)["minilm-rerank"] == "Files changed")
    assert "120 MB of minilm-rerank that arrived are kept" in window.toast.label.full_text()
    window.toast.run_action()
    assert called(window, "add_model")[1] == called(window, "add_model")[0]
    fake(window).say([Finished(JobId("models-held"), Outcome.FAILED, None,
                               Failure("fetch-failed", "The hub cannot be reached.", "Try again."))])
    qtbot.waitUntil(page.getting.notice.isVisible)


def test_languages_that_the_model_does_not_know_are_counted_and_another_model_offered(opened, qtbot) -> None:
    rows = (UnreadLanguage("de", "German", 1240), UnreadLanguage("zh", "Chinese", 310))
    window, page = opened(unread_rows=rows)
    qtbot.waitUntil(page.languages.isVisible)
    assert page.languages.label.text() == (
        f"1,550 documents of yours are in languages that {OWN} does not know: 1,240 in German and 310 in Chinese. It "
        "was made for English, so their meaning is found badly.")
    assert page.languages.button.label() == f"Use {OTHER}"
    page.languages.button.click()
    assert called(window, "use_model") == [(OTHER,)]
    alone, other = opened(unread_rows=rows)
    fake(alone).model_rows = tuple(m for m in many_models() if m.name != OTHER)
    other.reload()
    qtbot.waitUntil(lambda: other.table.row_of(OTHER) is None)
    other._unread_of = None
    other._ask_languages()
    qtbot.waitUntil(lambda: other.languages.button.label() == "Get a multilingual model...")
    other.languages.close_button.click()
    assert not other.notice_row.isVisible()
    other._unread_of = None
    other._ask_languages()
    qtbot.waitUntil(lambda: other._unread_latest.job not in alone.bridge._watches)
    assert not other.notice_row.isVisible()  # it was put away
    other.get_model(MULTILINGUAL)
    assert alone.findChild(GetSheet, "get_model_sheet").edit.text() == MULTILINGUAL


def test_a_narrow_page_keeps_name_and_state_and_puts_the_plots_below_each_other(opened, qtbot) -> None:
    window, page = opened(size=(960, 640))
    heads = [at for at in range(8) if not page.table.isColumnHidden(at)]
    assert heads == list(range(8))  # the inspector is folded away
    window.toggle_inspector()
    qtbot.waitUntil(lambda: page.table.isColumnHidden(4))
    assert not page.table.isColumnHidden(0)
    assert not page.table.isColumnHidden(7)
    assert page.table.columnWidth(0) + sum(page.table.columnWidth(at) for at in range(1, 8)
                                           if not page.table.isColumnHidden(at)) <= page.table.viewport().width()
    bars, scatter = page.lab.plots.bars, page.lab.plots.scatter
    qtbot.waitUntil(lambda: bars.mapTo(page.lab, bars.rect().topLeft()).y() >
                    scatter.mapTo(page.lab, scatter.rect().bottomLeft()).y())
    assert scatter.height() >= 352
