"""The window's commands on the map, from the click to a file, with everything real but the model."""

from __future__ import annotations

import pytest

from sbert_desktop.app.atlas_views import ColourBy, MapRequest, MapUnit, MapView
from sbert_desktop.app.facade import App
from sbert_desktop.domain import Partial, Query
from tests.events import Inbox


@pytest.fixture
def inbox():
    return Inbox()


@pytest.fixture
def app(tmp_path, settings, inbox, folder):
    for number in range(24):
        word = ("tide", "beans", "leeks")[number % 3]
        text = f"Of the {word}. The {word} of day {number} was written down here.\n"
        (folder / f"{word}-{number}.txt").write_text(text)
    app = App(tmp_path / "library", settings)
    app.connect(inbox.post)
    inbox.result(app.add_folders([folder]))
    yield app
    app.close()


def test_a_map_is_made_coloured_told_and_written(app, inbox, tmp_path, folder):
    job = app.map(MapRequest())
    view = inbox.result(job)
    assert isinstance(view, MapView)
    assert int(view.counts.sum()) == 30
    previews = [event.result for event in inbox.events if isinstance(event, Partial) and event.job_id == job]
    assert previews
    assert previews[0].preview
    again = inbox.result(app.map(MapRequest(stored=True)))
    assert again.positions.tobytes() == view.positions.tobytes()
    inbox.result(app.clusters())
    themed = inbox.result(app.map(MapRequest()))
    assert themed.labels
    for by in ColourBy:
        colours = inbox.result(app.map_colours(themed, by, query=Query("beans in the garden")))
        assert len(colours.point_groups) == len(themed)
        assert colours.groups or colours.note or colours.values is not None
    card = inbox.result(app.map_card(themed, 0))
    assert card.document.path.is_relative_to(folder)
    assert card.document.folder == folder
    assert card.theme in {label.text for label in themed.labels} | {""}
    for name in ("map.csv", "map.html"):
        written = inbox.result(app.export_map(themed, colours, tmp_path / name, palette=["#112233"]))
        assert written == tmp_path / name
        assert written.stat().st_size > 1000


def test_files_added_later_are_on_the_map_without_moving_the_others(app, inbox, folder):
    view = inbox.result(app.map(MapRequest()))
    (folder / "late.txt").write_text("Of the tide. The tide of a late day was written down here.\n")
    inbox.result(app.update())
    more = inbox.result(app.map(MapRequest()))
    assert int(more.counts.sum()) == 31
    assert more.positions[: len(view)].tobytes() == view.positions.tobytes()


def test_passages_are_mapped_beside_documents(app, inbox):
    documents = inbox.result(app.map(MapRequest()))
    passages = inbox.result(app.map(MapRequest(MapUnit.PASSAGES)))
    assert int(passages.counts.sum()) >= int(documents.counts.sum())
    assert passages.request.unit is MapUnit.PASSAGES
    last = len(passages) - 1
    row = inbox.result(app.map_card(passages, last)).document
    assert row.end > row.start, "the preview opens at the passage, not at the beginning"
    assert row.passage == int(passages.passages[int(passages.starts[last])])
