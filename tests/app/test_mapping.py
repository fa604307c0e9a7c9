"""The map of a library: kept, extended without moving anything, redrawn over itself when asked."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sbert_desktop.app import map_memory, mapping
from sbert_desktop.app.atlas_views import LayoutRules, MapRequest, MapUnit
from sbert_desktop.app.mapping import map_card, run_map, stored_request
from sbert_desktop.app.session import Session
from sbert_desktop.errors import Cancelled, LibraryError

from .made_map import Listening, clustered, put_documents, stand_in, themes_of

QUICK = LayoutRules(rounds=30)


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


def drawn(session, *, context=None, **wanted):
    wanted.setdefault("rules", QUICK)
    return run_map(session, MapRequest(**wanted), context or Listening())


def place_of(view, content):
    member = int(np.flatnonzero(view.contents == content)[0])
    return view.positions[np.searchsorted(view.starts, member, side="right") - 1]


def assert_sound(view):
    assert np.isfinite(view.positions).all()
    assert view.positions.dtype == np.float32
    assert (np.diff(view.starts) == view.counts).all()
    assert (view.counts >= 1).all()
    assert len(view.contents) == len(view.passages) == view.starts[-1]


def test_a_small_map_is_judged_by_as_few_neighbours_as_its_groups_have(session, docs, themes):
    put_documents(session, docs, clustered(40, groups=8, dimension=48))
    view = drawn(session, rules=LayoutRules())
    assert "Of a point's 5 nearest" in view.quality_sentence
    assert view.quality in ("good", "very good")


# ---------------------------------------------------------------- only what is stored


def test_what_is_stored_is_asked_for_without_laying_out_or_placing(session, docs, themes):
    put_documents(session, docs, clustered(60))
    nothing = drawn(session, stored=True)
    assert len(nothing) == 0
    assert_sound(nothing)
    assert map_memory.read(session, MapUnit.DOCUMENTS) is None
    view = drawn(session)
    put_documents(session, docs, clustered(9, seed=5), first=1_000)
    lying = drawn(session, stored=True)
    assert lying.positions.tobytes() == view.positions.tobytes()
    assert (lying.contents == view.contents).all()
    assert not lying.fresh.any()


# ---------------------------------------------------------------- the first map


def test_documents_of_a_kind_stand_together(session, docs, themes):
    put_documents(session, docs, clustered(120))
    view = drawn(session)
    assert_sound(view)
    assert len(view) == 120
    group = np.arange(120) % 4
    middles = np.stack([view.positions[group == at].mean(axis=0) for at in range(4)])
    near = ((view.positions[:, None] - middles) ** 2).sum(axis=2).argmin(axis=1)
    assert (near == group).mean() > 0.95
    assert view.quality in ("good", "very good")
    assert view.trustworthiness > 0.88
    assert view.seconds > 0
    assert not view.fresh.any()


def test_the_principal_plane_comes_first_and_previews_are_spaced(session, docs, themes, monkeypatch):
    put_documents(session, docs, clustered(120))
    clock = iter(np.arange(0, 1000, 0.026))
    # of this module alone: other threads look at the time as well
    monkeypatch.setattr(mapping, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    context = Listening()
    view = drawn(session, context=context)
    previews = context.partials
    assert 2 <= len(previews) <= 12
    assert all(one.preview and len(one) == len(view) for one in previews)
    assert not view.preview
    assert np.abs(previews[0].positions).max() == pytest.approx(10, abs=1e-3)
    assert (previews[0].contents == view.contents).all()


def test_copies_are_one_counted_point(session, docs, themes):
    vectors = clustered(40)
    vectors[5] = vectors[6] = vectors[7]
    contents = put_documents(session, docs, vectors)
    view = drawn(session)
    assert_sound(view)
    assert len(view) == 38
    assert view.counts.max() == 3
    point = int(view.counts.argmax())
    assert view.contents[view.starts[point] : view.starts[point + 1]].tolist() == sorted(contents[5:8])


def test_many_copies_do_not_hide_a_documents_real_neighbours(session, docs, themes):
    vectors = np.repeat(clustered(12, 2), 20, axis=0)
    put_documents(session, docs, vectors)
    view = drawn(session)
    assert len(view) == 12
    group = np.arange(12) % 2
    middles = np.stack([view.positions[group == at].mean(axis=0) for at in range(2)])
    assert (((view.positions[:, None] - middles) ** 2).sum(axis=2).argmin(axis=1) == group).all()


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 6])
def test_few_documents_make_a_sane_map(session, docs, themes, count):
    if count:
        put_documents(session, docs, clustered(count))
    view = drawn(session)
    assert_sound(view)
    assert len(view) == count
    assert view.note
    assert len(np.unique(view.positions, axis=0)) == count


def test_documents_that_are_all_the_same_lie_on_one_spot(session, docs, themes):
    put_documents(session, docs, np.repeat(clustered(1), 5, axis=0))
    view = drawn(session)
    assert len(view) == 1
    assert view.counts.tolist() == [5]
    assert "All 5 documents" in view.note


def test_documents_without_a_vector_wait(session, docs, themes, monkeypatch):
    put_documents(session, docs, clustered(30))
    monkeypatch.setattr(type(session.library), "pending_count", lambda self, fingerprint=None: (3, 9, 900))
    view = drawn(session)
    assert view.waiting == 3
    assert "3 documents wait for their vectors" in view.note


def test_plain_principal_components_need_no_graph(session, docs, themes):
    put_documents(session, docs, clustered(50))
    view = drawn(session, method="pca")
    assert view.request.method == "pca"
    assert np.abs(view.positions).max() == pytest.approx(10, abs=1e-3)
    assert session.library.layouts.get("graph-documents") is None


def test_passages_have_a_map_of_their_own(session, docs, themes):
    contents = put_documents(session, docs, clustered(50))
    documents, passages = drawn(session), drawn(session, unit=MapUnit.PASSAGES)
    assert_sound(passages)
    assert sorted(passages.contents.tolist()) == sorted(contents)
    assert len(set(passages.passages.tolist())) == 50
    assert stored_request(session, MapUnit.PASSAGES).unit is MapUnit.PASSAGES
    assert drawn(session).positions.tobytes() == documents.positions.tobytes()


@pytest.mark.parametrize("refit", [False, True])
def test_a_cancel_is_heard_at_every_step(session, docs, themes, refit):
    put_documents(session, docs, clustered(60))
    before = drawn(session) if refit else None
    counting = Listening()
    drawn(session, refit=True, rules=LayoutRules(rounds=5, seed=3), context=counting)
    if before is None:
        session.library.layouts.drop("map-documents")
    assert counting.asked > 8
    for end in range(1, counting.asked, 2):
        with pytest.raises(Cancelled):
            drawn(session, refit=True, rules=LayoutRules(rounds=5, seed=4), context=Listening(end_at=end))
        kept = stored_request(session, MapUnit.DOCUMENTS)
        assert kept is None or kept.rules.seed != 4


# ---------------------------------------------------------------- it stays put


def test_opening_it_again_computes_nothing(session, docs, themes, monkeypatch):
    put_documents(session, docs, clustered(60))
    first = drawn(session)
    for name in ("lay_out", "principal_plane", "measure_quality", "stored_graph", "document_vectors", "nearest_old"):
        monkeypatch.setattr(mapping, name, lambda *a, name=name, **k: pytest.fail(f"{name} was called"))
    context = Listening()
    again = drawn(session, context=context)
    assert context.partials == []
    assert again.positions.tobytes() == first.positions.tobytes()
    assert again.starts.tolist() == first.starts.tolist()
    assert again.quality_sentence == first.quality_sentence


def test_new_documents_are_placed_and_old_ones_keep_every_bit(session, docs, themes):
    vectors = clustered(132)
    put_documents(session, docs, vectors[:120])
    first = drawn(session)
    new = put_documents(session, docs, vectors[120:], first=120)
    view = drawn(session)
    assert_sound(view)
    assert view.positions[:120].tobytes() == first.positions.tobytes()
    assert view.contents[:120].tolist() == first.contents.tolist()
    assert view.fresh.tolist() == [False] * 120 + [True] * 12
    for row, content in enumerate(new):
        own = np.linalg.norm(first.positions[row % 4 :: 4] - place_of(view, content), axis=1).min()
        assert own < np.linalg.norm(first.positions[(row + 1) % 4 :: 4] - place_of(view, content), axis=1).min()
    again = drawn(session)
    assert again.positions.tobytes() == view.positions.tobytes()


def test_a_new_copy_joins_the_point_of_its_twin(session, docs, themes):
    vectors = clustered(60)
    contents = put_documents(session, docs, vectors)
    first = drawn(session)
    new = put_documents(session, docs, vectors[[9, 9]], first=60)
    view = drawn(session)
    assert len(view) == 60
    assert view.positions.tobytes() == first.positions.tobytes()
    assert not view.fresh.any()
    point = int(view.counts.argmax())
    assert view.contents[view.starts[point] : view.starts[point + 1]].tolist() == [contents[9], *new]


def test_documents_that_go_leave_and_have_their_place_again_when_they_return(session, docs, themes):
    vectors = clustered(80)
    put_documents(session, docs, vectors[:60])
    other = docs.parent / "other"
    put_documents(session, other, vectors[60:], first=60)
    first = drawn(session)
    folder = next(one.id for one in session.library.folders() if one.path == other)
    with session.library.writer() as store:
        store.set_folder_state(folder, "leaving")
    view = drawn(session)
    assert_sound(view)
    assert len(view) == 60
    put_documents(session, docs, clustered(3, seed=8), first=90)  # something is written meanwhile
    drawn(session)
    with session.library.writer() as store:
        store.set_folder_state(folder, "active")
    back = drawn(session)
    for content in first.contents.tolist():
        assert place_of(back, content).tobytes() == place_of(first, content).tobytes()


def test_a_document_read_again_keeps_its_place(session, docs, themes):
    contents = put_documents(session, docs, clustered(60))
    first = drawn(session)
    changed = clustered(1, seed=77)
    again = put_documents(
        session, docs, changed, first=20, texts=["Read by a better reader."], hashes=[f"{21:064x}"], extractor_version=9
    )
    assert again[0] not in contents
    view = drawn(session)
    assert place_of(view, again[0]).tobytes() == place_of(first, contents[20]).tobytes()
    assert len(view) == 60
    assert not view.fresh.any()


def test_other_rules_change_nothing_until_a_redraw_is_asked_for(session, docs, themes):
    put_documents(session, docs, clustered(60))
    first = drawn(session)
    view = drawn(session, method="pca", rules=LayoutRules(seed=5))
    assert view.positions.tobytes() == first.positions.tobytes()
    assert view.request == MapRequest(rules=QUICK)
    assert drawn(session, refit=True, method="pca").request.method == "pca"


def test_another_model_leaves_the_map_and_says_so(session, docs, themes):
    put_documents(session, docs, clustered(60))
    first = drawn(session)
    kept = map_memory.read(session, MapUnit.DOCUMENTS)
    map_memory.write(session, MapUnit.DOCUMENTS, mapping.replace(kept, fingerprint="earlier"))
    view = drawn(session)
    assert view.positions.tobytes() == first.positions.tobytes()
    assert "Another model" in view.note


def test_many_new_documents_suggest_a_redraw(session, docs, themes):
    vectors = clustered(130)
    put_documents(session, docs, vectors[:100])
    assert drawn(session).note == ""
    put_documents(session, docs, vectors[100:], first=100)
    assert "30 documents came since this map was drawn; Redraw" in drawn(session).note


# ---------------------------------------------------------------- redrawing


def test_a_redraw_lies_over_the_old_map_and_tells_where_points_were(session, docs, themes):
    vectors = clustered(130)
    contents = put_documents(session, docs, vectors[:120])
    first = drawn(session)
    new = put_documents(session, docs, vectors[120:], first=120)
    view = drawn(session, refit=True, rules=LayoutRules(rounds=30, seed=1))
    assert not view.fresh.any()
    old = [int(np.flatnonzero(view.contents[view.starts[:-1]] == content)[0]) for content in contents]
    assert (view.moved[old] == np.stack([place_of(first, content) for content in contents])).all()
    fresh = [int(np.flatnonzero(view.contents[view.starts[:-1]] == content)[0]) for content in new]
    assert np.isnan(view.moved[fresh]).all()
    group = np.arange(120) % 4
    for at in range(4):  # each group is where it was, give or take
        here, there = view.positions[old][group == at].mean(axis=0), view.moved[old][group == at].mean(axis=0)
        others = [np.linalg.norm(view.moved[old][group == o].mean(axis=0) - here) for o in range(4) if o != at]
        assert np.linalg.norm(here - there) < min(others)
    assert drawn(session).moved is None


def test_the_same_seed_gives_the_same_map(session, docs, themes):
    put_documents(session, docs, clustered(80))
    first = drawn(session)
    session.library.layouts.drop("map-documents")
    assert drawn(session).positions.tobytes() == first.positions.tobytes()


def test_more_neighbours_than_the_graph_has_are_found(session, docs, themes):
    put_documents(session, docs, clustered(80))
    view = drawn(session, rules=LayoutRules(rounds=20, neighbours=30))
    assert view.request.rules.neighbours == 30
    assert view.trustworthiness > 0.85


def test_a_damaged_map_is_drawn_anew(session, docs, themes):
    put_documents(session, docs, clustered(30))
    drawn(session)
    meta, arrays = session.library.layouts.get("map-documents")
    session.library.layouts.put("map-documents", meta, {**arrays, "points": arrays["points"] + 1000})
    assert_sound(drawn(session))


# ---------------------------------------------------------------- labels and the card


def test_themes_are_labelled_where_their_documents_are(session, docs, themes):
    contents = put_documents(session, docs, clustered(80))
    themes.themes = themes_of(contents, np.arange(80) % 4, ["oak", "salt", "tide", "yeast"])
    view = drawn(session)
    assert [(label.text, label.level, label.theme, label.weight) for label in view.labels] == [
        ("oak", 0, 10, 20.0), ("salt", 0, 11, 20.0), ("tide", 0, 12, 20.0), ("yeast", 0, 13, 20.0),
    ]  # fmt: skip
    middle = np.median(np.stack([place_of(view, content) for content in contents[1::4]]), axis=0)
    assert (view.labels[1].x, view.labels[1].y) == pytest.approx(tuple(middle.tolist()), abs=1e-5)


def test_there_are_no_labels_without_themes(session, docs, themes):
    put_documents(session, docs, clustered(30))
    assert drawn(session).labels == ()


def test_parts_of_a_large_theme_are_named_after_the_map_was_given(session, docs, themes, monkeypatch):
    count = 160
    words = ("granite quarry", "sourdough starter")
    texts = [f"The {words[row % 2]} of the garden, number {row}, seen from the garden gate." for row in range(count)]
    contents = put_documents(session, docs, clustered(count, 2), texts=texts)
    themes.themes = themes_of(contents, np.zeros(count, int), ["garden"])
    context = Listening()
    view = drawn(session, context=context)
    early = [one for one in context.partials if not one.preview]
    assert len(early) == 1
    assert [label.level for label in early[0].labels] == [0]
    assert early[0].positions.tobytes() == view.positions.tobytes()
    parts = {label.text: label for label in view.labels if label.level == 1}
    assert len(parts) == 2
    assert any("granite" in text.lower() for text in parts)
    assert any("sourdough" in text.lower() for text in parts)
    assert all(label.theme == 10 for label in parts.values())
    monkeypatch.setattr(type(session.library), "text_of", lambda *a: pytest.fail("a text was read"))
    context = Listening()
    assert drawn(session, context=context).labels == view.labels
    assert context.partials == []


def test_the_card_tells_the_document_its_words_and_its_theme(session, docs, themes):
    vectors = clustered(30)
    vectors[4] = vectors[3]
    texts = [f"The text of document {row}." for row in range(30)]
    contents = put_documents(session, docs, vectors, texts=texts)
    themes.themes = themes_of(contents, [0] * 15 + [-1] * 15, ["oak"])
    view = drawn(session)
    point = int(view.counts.argmax())
    card = map_card(session, view, point)
    assert card.document.content == contents[3]
    assert card.document.passage == view.passages[view.starts[point]]
    assert (card.text, card.theme, card.more, card.point) == ("The text of document 3.", "oak", 1, point)
    assert (card.document.title, card.document.copies, card.document.sorted_in) == ("Title 3", 1, True)
    assert card.document.folder == docs
    unsorted = int(np.flatnonzero(view.contents[view.starts[:-1]] == contents[20])[0])
    assert map_card(session, view, unsorted).theme == ""


def test_the_card_of_a_document_that_was_cut_anew_has_its_beginning(session, docs, themes):
    put_documents(session, docs, clustered(5))
    view = drawn(session)
    view = mapping.replace(view, passages=view.passages + 1000)
    assert map_card(session, view, 0).text == "Made document number 0 of its kind."


def test_the_card_of_a_document_that_is_gone_says_so(session, docs, themes):
    put_documents(session, docs, clustered(5))
    view = drawn(session)
    with session.library.writer() as store:
        store.set_folder_state(session.library.folders()[0].id, "leaving")
    with pytest.raises(LibraryError, match="no longer in the library"):
        map_card(session, view, 0)
