"""What a person may do that nobody expects: odd tables taken in, folders removed while their pairs are judged."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sbert_desktop.app.training_views import TableView
from sbert_desktop.domain import Finished, JobId, Outcome
from sbert_desktop.ui.train.import_sheet import COLUMNS, ImportSheet
from sbert_desktop.ui.train.labelling import LabellingStep
from tests.ui.train.conftest import Host

pytestmark = pytest.mark.gui


def test_a_table_that_nobody_knows_is_chosen_for_and_one_of_thousands_of_columns_stops_nothing(host: Host) -> None:
    host.window.show()
    sheet = ImportSheet(host.window, SimpleNamespace(desk=host.desk, imported=(), ask_table=lambda: ""))
    sheet.begin()

    def looked(view: TableView) -> None:
        sheet._on_looked(Finished(JobId("table"), Outcome.DONE, view))

    wide = tuple(f"column number {at}" for at in range(4000))
    rows = tuple(tuple(f"a text {at}, {column}" for column in wide) for at in range(5))
    before = time.thread_time()
    looked(TableView(Path("/a/wide.csv"), wide, "", (), rows, 5, ("No column is known as the texts.",)))
    assert sheet.kind.currentData() == ""  # nothing is claimed of it
    assert not sheet.go.isEnabled()
    mapping = (("text_a", wide[7]), ("text_b", wide[3999]), ("label", wide[0]))
    looked(TableView(Path("/a/wide.csv"), wide, "pairs", mapping, rows, 5))
    assert time.thread_time() - before < 1  # it took half a minute
    heads = [sheet.preview.horizontalHeaderItem(at).text() for at in range(sheet.preview.columnCount())]
    assert len(heads) == COLUMNS
    assert [head.split(" → ")[0] for head in heads if " → " in head] == [wide[0], wide[7], wide[3999]]
    assert sheet.preview.item(2, COLUMNS - 1).text() == "a text 2, column number 3999"
    assert sheet.go.isEnabled()
    sheet.close_sheet()


def test_pairs_that_wait_go_with_the_folder_that_they_are_from(host: Host, qtbot) -> None:
    host.desk.refresh()
    qtbot.waitUntil(lambda: host.desk.library is not None)
    step = host.put(LabellingStep)
    step.activate()
    feed = step.feeds[step.task]
    qtbot.waitUntil(lambda: feed.current() is not None)
    view = host.desk.library
    first = feed.current()
    homes = replace(view.folders[0], path=first.left.path.parent), replace(view.folders[0], path=Path.home())
    host.desk.library = replace(view, folders=homes)
    host.desk.libraryChanged.emit(host.desk.library)
    host.desk.library = replace(view, folders=homes[1:])
    host.desk.libraryChanged.emit(host.desk.library)
    assert feed.current() == first  # another folder holds it
    host.desk.library = replace(view, folders=())
    host.desk.libraryChanged.emit(host.desk.library)
    assert feed.current() is None
    assert step.states.stack.currentWidget() is step.states.empty
