"""Odd tables in the sheet that takes them in."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sbert_desktop.app.training_views import TableView
from sbert_desktop.domain import Finished, JobId, Outcome
from sbert_desktop.ui.train.import_sheet import COLUMNS, ImportSheet
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
