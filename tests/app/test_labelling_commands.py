"""The commands of labelling, through the lanes, as the window gives them."""

from __future__ import annotations

import threading

import pytest

from sbert_desktop.app.facade import App
from sbert_desktop.app.training_views import CheckView, LabelsView, Plan, Task
from tests.app.made_labels import make_library
from tests.events import Inbox


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
def app(tmp_path, settings, inbox):
    app = App(make_library(tmp_path), settings)
    app.connect(inbox.post)
    yield app
    app.close()


def test_labelling_from_the_first_pair_to_a_checked_plan(app, inbox, tmp_path):
    result = inbox.result
    pairs = result(app.pairs(Task.SAME, 16))
    assert len(pairs) == 16
    for number, pair in enumerate(pairs):
        view = result(app.label(pair, ("same", "different")[number % 2]))
    assert isinstance(view, LabelsView)
    assert view.total == 16
    assert result(app.unlabel(Task.SAME, [pairs[0].id])).total == 15
    assert result(app.relabel(Task.SAME, pairs[1].id, "2")).total == 15
    table = result(app.export_labels(Task.SAME, tmp_path / "mine.csv"))
    head = result(app.look_at_table(table))
    taken = result(app.import_labels(table, head.kind, head.mapping))
    assert [one.rows for one in taken] == [14]
    assert result(app.imported_labels()) == taken
    checked = result(app.check_labels(Plan(labels=(taken[0].path,))))
    assert isinstance(checked, CheckView)
    assert checked.train + checked.held_out == 15
    assert result(app.remove_imported(taken[0].name)) == ()
    assert result(app.labels(Task.SAME)).total == 15


def test_who_goes_from_one_task_to_the_other_at_once_gets_both_lists(app, inbox):
    held, go_on = threading.Event(), threading.Event()
    app._jobs.submit("viewer", "held", lambda context: (held.set(), go_on.wait(60)))
    assert held.wait(60)
    first, second = app.labels(Task.SAME), app.labels(Task.ANSWERS)
    go_on.set()
    assert inbox.result(second).task is Task.ANSWERS
    assert inbox.result(first).task is Task.SAME
