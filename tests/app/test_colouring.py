"""What the colours of the map say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sbert_desktop.app import colouring
from sbert_desktop.app.atlas_views import UNSORTED, ColourBy, LayoutRules, MapRequest, MapUnit
from sbert_desktop.app.colouring import MOST, run_colours
from sbert_desktop.app.mapping import run_map
from sbert_desktop.app.session import Session
from sbert_desktop.domain import EncoderInfo, Parsed, Query

from .made_map import DIMENSION, Listening, clustered, put_documents, stand_in, themes_of

DAY = 86_400.0


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    opened = Session(tmp_path / "library")
    yield opened
    opened.close()


@pytest.fixture
def themes(monkeypatch):
    return stand_in(monkeypatch)


@pytest.fixture
def docs(tmp_path):
    return tmp_path / "docs"


def a_map(session, unit=MapUnit.DOCUMENTS):
    return run_map(session, MapRequest(unit, method="pca", rules=LayoutRules(rounds=5)), Listening())


def told(view):
    return [(group.label, group.count, group.colour) for group in view.groups]


def at(view, content):
    member = int(np.flatnonzero(view.contents == content)[0])
    return int(np.searchsorted(view.starts, member, side="right") - 1)


def test_themes_have_their_own_colours_and_the_unsorted_are_grey(session, docs, themes):
    contents = put_documents(session, docs, clustered(12))
    themes.themes = themes_of(contents, [0, 1, -1] * 4, ["oak", "salt"])
    view = a_map(session)
    colours = run_colours(session, view, ColourBy.THEME)
    assert told(colours) == [("oak", 4, 0), ("salt", 4, 1), ("Unsorted", 4, -1)]
    assert [group.theme for group in colours.groups] == [10, 11, UNSORTED]
    assert colours.point_groups.tolist() == [0, 1, 2] * 4
    assert colours.values is None


def test_without_themes_a_sentence_says_what_to_do(session, docs, themes):
    put_documents(session, docs, clustered(5))
    colours = run_colours(session, a_map(session), ColourBy.THEME)
    assert colours.groups == ()
    assert "open Clusters" in colours.note
    assert (colours.point_groups == -1).all()


def test_very_many_themes_are_put_together(session, docs, themes):
    contents = put_documents(session, docs, clustered(101))
    labels = [0, *np.repeat(np.arange(50), 2)]
    themes.themes = themes_of(contents, labels, [f"theme {n}" for n in range(50)])
    colours = run_colours(session, a_map(session), ColourBy.THEME)
    assert len(colours.groups) == MOST - 1
    assert told(colours)[0] == ("theme 0", 3, 0)
    assert told(colours)[-1] == ("Other", 24, -1)
    assert sum(group.count for group in colours.groups) == 101


def test_folders_are_the_roots_where_there_are_several(session, tmp_path, themes):
    first = put_documents(session, tmp_path / "a" / "papers", clustered(6))
    put_documents(session, tmp_path / "b" / "papers", clustered(9)[6:], first=6)
    view = a_map(session)
    colours = run_colours(session, view, ColourBy.FOLDER)
    assert told(colours) == [("papers (a)", 6, 0), ("papers (b)", 3, 1)]
    assert colours.point_groups[at(view, first[0])] == 0


def test_folders_are_those_below_the_root_where_there_is_one(session, docs, themes):
    put_documents(session, docs, clustered(10), folders=3)
    colours = run_colours(session, a_map(session), ColourBy.FOLDER)
    assert told(colours) == [("sub-0", 4, 0), ("sub-1", 3, 1), ("sub-2", 3, 2)]


def test_files_that_lie_in_the_root_itself_are_a_group(session, docs, themes, monkeypatch):
    put_documents(session, docs, clustered(10), folders=2)
    below = colouring._below
    monkeypatch.setattr(colouring, "_below", lambda s, root, c: "" if below(s, root, c) == "sub-0" else "sub-1")
    assert told(run_colours(session, a_map(session), ColourBy.FOLDER))[1] == ("docs itself", 5, 1)


def test_at_most_forty_folders_have_a_colour(session, docs, themes):
    put_documents(session, docs, clustered(120), folders=50)
    colours = run_colours(session, a_map(session), ColourBy.FOLDER)
    assert len(colours.groups) == MOST
    assert colours.groups[-1].label == "Other"
    assert colours.groups[-1].colour == -1
    assert sum(group.count for group in colours.groups) == 120
    assert colours.groups[0].count == 3  # the largest ones are those with a colour


def test_folders_of_a_large_library_are_found_by_asking_some_documents(session, docs, themes, monkeypatch):
    put_documents(session, docs, clustered(200), folders=4)
    asked = []
    below = colouring._below
    monkeypatch.setattr(colouring, "_ALL", 20)
    monkeypatch.setattr(colouring, "_ASKED", 30)
    monkeypatch.setattr(colouring, "_below", lambda *a: asked.append(1) or below(*a))
    colours = run_colours(session, a_map(session), ColourBy.FOLDER)
    assert [group.count for group in colours.groups] == [50] * 4
    assert len(asked) <= 60


def test_types_have_names_that_a_person_knows(session, docs, themes):
    put_documents(session, docs, clustered(12), formats=("pdf", "docx", "eml", "zzz"))
    colours = run_colours(session, a_map(session), ColourBy.TYPE)
    assert {group.label for group in colours.groups} == {"PDF", "Word", "Mail", "ZZZ"}
    assert all(group.count == 3 for group in colours.groups)


def test_languages_have_names_and_those_unknown_are_grey(session, docs, themes):
    put_documents(session, docs, clustered(9), languages=("de", "en", ""))
    colours = run_colours(session, a_map(session), ColourBy.LANGUAGE)
    assert told(colours)[2] == ("Too short to tell", 3, -1)
    assert {group.label for group in colours.groups[:2]} == {"German", "English"}


def test_dates_are_a_scale_and_groups_by_month_year_or_span(session, docs, themes):
    put_documents(session, docs, clustered(20))
    view = a_map(session)
    colours = run_colours(session, view, ColourBy.DATE)
    assert colours.dates[0] == 1_600_000_000
    assert np.diff(colours.dates).tolist() == [DAY] * 19
    assert colours.values[0] == 0
    assert colours.values[-1] == 1
    assert (np.diff(colours.values) >= 0).all()
    assert "2020" in colours.low
    assert [group.label for group in colours.groups] == ["September 2020", "October 2020"]

    def spans(dates):
        return colouring._by_date(view, np.asarray(dates, float))

    years = [f"{1990 + 2 * n}-06-01" for n in range(20)]
    seconds = np.array(years, "datetime64[s]").astype(float)
    wide = spans(seconds)
    assert len(wide.groups) <= 8
    assert wide.groups[0].label.startswith("1990–")
    assert sum(group.count for group in wide.groups) == 20
    few = spans([*seconds[:3], *[np.nan] * 17])
    assert [(group.label, group.count) for group in few.groups] == [
        ("1990", 1), ("1992", 1), ("1994", 1), ("No date", 17),
    ]  # fmt: skip
    assert np.isnan(few.values[5])


def test_one_odd_date_does_not_flatten_the_scale(session, docs, themes):
    put_documents(session, docs, clustered(200))
    view = a_map(session)
    dates = np.concatenate([[0.0], 1.6e9 + DAY * np.arange(199)])
    values = colouring._by_date(view, dates).values
    assert values[100] == pytest.approx(0.5, abs=0.05)


def test_a_point_of_several_documents_has_the_newest_date(session, docs, themes):
    vectors = clustered(6)
    vectors[5] = vectors[0]
    put_documents(session, docs, vectors)
    view = a_map(session)
    colours = run_colours(session, view, ColourBy.TYPE)
    assert colours.dates[int(view.counts.argmax())] == 1_600_000_000 + 5 * DAY
    assert told(colours)[0][1] == 6


class Ready:
    """An encoder that turns a query into a given vector."""

    def __init__(self, vector):
        self.vector = vector
        self.info = replace(_INFO)

    def encode_query(self, text):
        return self.vector

    def encode_now(self, texts):
        return self.vector[None]



_INFO = EncoderInfo("made", "made", DIMENSION, 128, "mean", "made", "cpu", "float32")


@pytest.fixture
def ready(session, monkeypatch):
    def with_vector(vector):
        monkeypatch.setattr(session, "start_encoder", lambda: None)
        monkeypatch.setattr(session, "ready_encoder", lambda: Ready(np.asarray(vector, np.float32)))
        monkeypatch.setattr("sbert_desktop.app.chance.known_chance", lambda *a: None)

    return with_vector


@pytest.mark.parametrize("unit", list(MapUnit))
def test_a_query_colours_by_nearness(session, docs, themes, ready, unit):
    vectors = clustered(40)
    contents = put_documents(session, docs, vectors)
    ready(vectors[7])
    view = a_map(session, unit)
    colours = run_colours(session, view, ColourBy.QUERY, query=Query("x", parsed=Parsed("x")))
    assert colours.note == ""
    order = np.argsort(-colours.values)
    assert order[0] == at(view, contents[7])
    assert colours.values[order[0]] == 1
    assert colours.values.min() == 0
    cosines = vectors @ vectors[7]
    best = [at(view, contents[row]) for row in np.argsort(-cosines)[:10]]
    assert set(best) == set(order[:10].tolist())


def test_what_lies_below_the_line_of_chance_is_not_coloured(session, docs, themes, ready, monkeypatch):
    vectors = clustered(40)
    put_documents(session, docs, vectors)
    ready(vectors[7])
    view = a_map(session)
    monkeypatch.setattr(colouring, "_line", lambda *a: 0.7)
    colours = run_colours(session, view, ColourBy.QUERY, query=Query("x", parsed=Parsed("x")))
    assert ((colours.values > 0) == (vectors @ vectors[7] > 0.7)).all()
    monkeypatch.setattr(colouring, "_line", lambda *a: 1.5)
    colours = run_colours(session, view, ColourBy.QUERY, query=Query("x", parsed=Parsed("x")))
    assert "Nothing here is clearly about that" in colours.note
    assert colours.values.max() == 1


def test_without_a_query_a_sentence_says_so(session, docs, themes):
    put_documents(session, docs, clustered(5))
    view = a_map(session)
    for query in (None, Query(""), Query("   ")):
        colours = run_colours(session, view, ColourBy.QUERY, query=query)
        assert colours.note == "Search for something first."
        assert colours.values is None


def test_a_model_that_is_being_prepared_is_not_waited_for(session, docs, themes, monkeypatch):
    put_documents(session, docs, clustered(5))
    view = a_map(session)
    monkeypatch.setattr(session, "start_encoder", lambda: None)
    monkeypatch.setattr(session, "encoder", lambda: pytest.fail("waited for the model"))
    colours = run_colours(session, view, ColourBy.QUERY, query=Query("beans"))
    assert "being prepared" in colours.note


def test_copies_are_told_from_what_there_is_once(session, docs, themes):
    vectors = clustered(10)
    vectors[3] = vectors[4]
    put_documents(session, docs, vectors)
    view = a_map(session)
    colours = run_colours(session, view, ColourBy.DUPLICATES)
    assert told(colours) == [("Copies", 2, 0), ("One of a kind", 8, -1)]
    assert "open Duplicates" in colours.note


def test_near_duplicates_are_shown_where_they_were_found_and_never_looked_for(session, docs, themes, monkeypatch):
    from sbert_desktop.app import duplicates

    contents = put_documents(session, docs, clustered(10))
    monkeypatch.setattr(duplicates, "find", lambda *a, **k: pytest.fail("looked for duplicates"))
    monkeypatch.setattr(
        colouring, "_found_copies", lambda session: (np.array(contents[:2]), np.array(contents[4:7]))
    )
    colours = run_colours(session, a_map(session), ColourBy.DUPLICATES)
    assert told(colours) == [("Copies", 2, 0), ("Nearly the same", 3, 1), ("One of a kind", 5, -1)]
    assert colours.note == ""


def test_what_was_found_about_duplicates_is_read_from_it(session, docs, themes):
    from sbert_desktop.app.duplicates import find
    from sbert_desktop.app.indexing import IndexRequest, run_index

    said = "The spade hangs behind the door of the shed. Oil the shears before winter and sharpen the hoe well. "
    texts = [said * 3, said * 3 + " ", said * 3 + "The rake is new.", "Leeks in butter.", "Salt works by the harbour."]
    docs.mkdir()
    for number, text in enumerate(texts):
        (docs / f"{number}.txt").write_text(text)
    run_index(session, IndexRequest((docs,)), Listening())
    contents = [int(session.library.content_at(docs / f"{number}.txt")) for number in range(5)]
    assert colouring._found_copies(session) == (None, None)
    find(session, Listening())
    same, near = colouring._found_copies(session)
    assert same.tolist() == []
    assert near.tolist() == sorted(contents[:3])  # one has more words: their group is one of near ones


@pytest.mark.parametrize("by", list(ColourBy))
def test_an_empty_map_has_no_colours(session, themes, by):
    colours = run_colours(session, a_map(session), by)
    assert len(colours.point_groups) == len(colours.dates) == 0


@pytest.mark.parametrize("by", list(ColourBy))
def test_documents_that_went_since_the_map_was_made_are_no_error(session, docs, themes, by):
    put_documents(session, docs, clustered(10))
    view = a_map(session)
    with session.library.writer() as store:
        store.set_folder_state(session.library.folders()[0].id, "leaving")
    colours = run_colours(session, view, by)
    assert len(colours.point_groups) == len(colours.dates) == 10
    assert (colours.point_groups < max(1, len(colours.groups))).all()
