"""The kept state of themes: edits lose no document, states survive packing, names and pins survive a new clustering."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sbert_desktop.app import theme_bytes, theme_edits, theme_renewal
from sbert_desktop.app.atlas_views import UNSORTED, ClusterRequest, Curve, Keyword, Method
from sbert_desktop.app.themes import KEY, Keys, Themes
from sbert_desktop.errors import UsageError
from sbert_desktop.explore.communities import Clustering

QUICK = settings(max_examples=60, deadline=None)


def keys(*numbers: int) -> Keys:
    return np.array([f"{number:064x}".encode() for number in numbers], KEY)


def found(labels: list[int], *, confidence: float = 0.9, method: Method = Method.COMMUNITIES) -> Clustering:
    nearest = np.array(labels, np.int32)
    return Clustering(
        method, nearest, np.full(len(nearest), confidence, np.float32), np.zeros(len(nearest), bool),
        int(nearest.max(initial=-1)) + 1, 0.25,
    )  # fmt: skip


def state(labels: list[int], **changes: object) -> Themes:
    return theme_renewal.renew(None, keys(*range(len(labels))), found(labels, **changes), request=ClusterRequest())  # type: ignore[arg-type]


def members(themes: Themes, id_: int) -> set[bytes]:
    return set(themes.keys[themes.labels() == themes.place(id_)].tolist())


@st.composite
def states(draw: st.DrawFn) -> Themes:
    count = draw(st.integers(0, 14))
    raw = draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    _, labels = np.unique(np.array(raw, np.int64), return_inverse=True)
    made = state(labels.tolist())
    confidence = np.array(draw(st.lists(st.floats(0, 1, width=32), min_size=count, max_size=count)), np.float32)
    made = theme_edits.with_confidence(made, np.arange(count), confidence)
    for _ in range(draw(st.integers(0, 4))):
        made = edit(draw, made)
    return made


def edit(draw: st.DrawFn, themes: Themes, *, lossless: bool = False) -> Themes:
    """Makes one edit of any kind, or of those that no document may leave by."""
    ids = [theme.id for theme in themes.themes]
    rows = np.array(sorted(draw(st.sets(st.integers(0, max(0, len(themes) - 1)), max_size=5))), np.int64)
    rows = rows[: len(themes)] if len(themes) else rows[:0]
    kinds = ["rename", "pin", "merge", "split", "move", "assign", "strict", "renew"]
    kind = draw(st.sampled_from(kinds if lossless else [*kinds, "prune", "add"]))
    if kind == "assign":
        return theme_edits.assign(themes, rows if draw(st.booleans()) else None)
    if kind == "strict":
        return theme_edits.with_strictness(themes, draw(st.floats(allow_nan=True, allow_infinity=True)))
    if kind == "prune":
        return theme_renewal.prune(themes, np.delete(themes.keys, rows))[0]
    if kind == "add" and ids:
        return theme_renewal.extended(
            themes, keys(900, 901), np.array([0, len(ids) - 1], np.int32), np.array([0.2, 5.0], np.float32)
        )
    if kind == "renew" and len(themes):
        free = themes.keys[~np.isin(themes.keys, theme_renewal.pinned_keys(themes))]
        raw = np.array(draw(st.lists(st.integers(0, 3), min_size=len(free), max_size=len(free))), np.int64)
        labels = np.unique(raw, return_inverse=True)[1]
        return theme_renewal.renew(themes, free, found(labels.tolist()), request=ClusterRequest(detail=0.5))
    if kind == "move" and len(rows):
        return theme_edits.move(themes, rows, draw(st.sampled_from([*ids, UNSORTED])))
    if not ids:
        return themes
    if kind == "rename":
        return theme_edits.rename(themes, draw(st.sampled_from(ids)), draw(st.text(max_size=12)))
    if kind == "pin":
        return theme_edits.pin(themes, draw(st.lists(st.sampled_from(ids), max_size=2)), pinned=draw(st.booleans()))
    if kind == "merge":
        return theme_edits.merge(themes, draw(st.lists(st.sampled_from(ids), max_size=3)))
    if kind == "split":
        all_rows = np.arange(len(themes))
        parts = np.array(draw(st.lists(st.integers(0, 2), min_size=len(themes), max_size=len(themes))), np.int32)
        return theme_edits.split(themes, draw(st.sampled_from(ids)), all_rows, parts)
    return themes


def assert_sound(themes: Themes) -> None:
    """Holds of every state, whatever was done."""
    ids = [theme.id for theme in themes.themes]
    assert len(set(ids)) == len(ids)
    assert all(0 < id_ < themes.next_id for id_ in ids)
    assert all(theme.shown.strip() for theme in themes.themes)
    assert len({theme.colour for theme in themes.themes}) == len(ids)
    labels = themes.labels()
    assert int(themes.sizes().sum()) + int((labels < 0).sum()) == len(themes)
    assert np.all(themes.keys[1:] > themes.keys[:-1])
    assert np.all((themes.nearest >= -1) & (themes.nearest < max(1, len(ids))))
    assert np.all((themes.confidence >= 0) & (themes.confidence <= 1))
    assert np.all(labels[themes.by_hand & ~themes.outside] >= 0)
    back = theme_bytes.unpack(theme_bytes.pack(themes))
    assert back is not None
    assert theme_bytes.same(back, themes)


@QUICK
@given(st.data())
def test_no_edit_loses_a_document_or_breaks_a_state(data: st.DataObject) -> None:
    before = data.draw(states())
    assert_sound(before)
    packed = theme_bytes.pack(before)
    after = edit(data.draw, before, lossless=True)
    assert after.keys.tolist() == before.keys.tolist()
    assert_sound(after)
    assert_sound(edit(data.draw, before))
    assert theme_bytes.pack(before) == packed, "an edit must leave the earlier state as it was: undo gives it back"


@QUICK
@given(states(), st.data())
def test_an_edit_that_is_no_loss_keeps_all_documents(themes: Themes, data: st.DataObject) -> None:
    free = themes.keys[~np.isin(themes.keys, theme_renewal.pinned_keys(themes))]
    labels = np.arange(len(free)) % 3
    new = theme_renewal.renew(themes, free, found(labels.tolist()), request=ClusterRequest())
    assert new.keys.tolist() == themes.keys.tolist()
    for theme in themes.themes:
        if theme.pinned and members(themes, theme.id):
            assert members(new, theme.id) == members(themes, theme.id)
            assert new.themes[new.place(theme.id)].name == theme.name


@QUICK
@given(st.binary(max_size=200))
def test_any_bytes_give_a_state_or_none(data: bytes) -> None:
    assert theme_bytes.unpack(data) is None
    packed = theme_bytes.pack(state([0, 0, 1]))
    for at in range(0, len(packed), 7):
        damaged = bytearray(packed)
        damaged[at] ^= 0x41
        assert theme_bytes.unpack(bytes(damaged)) is None
        assert theme_bytes.unpack(packed[:at]) is None


def test_a_state_of_a_newer_version_is_known_as_such_and_not_read() -> None:
    packed = bytearray(theme_bytes.pack(state([0, 1])))
    packed[8] = 9
    assert theme_bytes.unpack(bytes(packed)) is None
    assert theme_bytes.is_newer(bytes(packed))
    assert not theme_bytes.is_newer(theme_bytes.pack(state([0, 1])))
    assert not theme_bytes.is_newer(None)
    assert not theme_bytes.is_newer(b"")


def test_packing_keeps_words_curve_and_request() -> None:
    made = state([0, 1, 1])
    record = replace(made.themes[0], keywords=(Keyword("税", 1.0, 0.5, 0.1),), label="税 and 🙂", central_title="x")
    curve = Curve(np.array([2, 3], np.int32), np.array([0.1, 0.2]), np.array([0.5, 0.4]), 3, 2)
    request = ClusterRequest(Method.KMEANS, count=3, detail=-0.5, seed=4, smallest=2, threshold=0.7)
    made = replace(made, themes=(record, made.themes[1]), curve=curve, request=request, note="So it is.")
    back = theme_bytes.unpack(theme_bytes.pack(made))
    assert back is not None
    assert back.themes == made.themes
    assert back.request == request
    assert back.note == "So it is."
    assert back.curve is not None
    assert back.curve.silhouettes.tolist() == [0.1, 0.2]
    assert back.curve.by_elbow == 2


def test_names_pins_colours_and_ids_go_on_where_a_theme_is_known_again() -> None:
    old = theme_edits.rename(state([0, 0, 0, 1, 1, 1]), 2, "Letters")
    new = theme_renewal.renew(old, keys(*range(7)), found([1, 1, 1, 0, 0, 0, 2]), request=ClusterRequest())
    letters = new.themes[new.place(2)]
    assert letters.name == "Letters"
    assert letters.colour == old.themes[1].colour
    assert members(new, 2) == set(keys(3, 4, 5).tolist())
    assert {theme.id for theme in new.themes} == {1, 2, 3}


def test_an_id_is_never_given_twice() -> None:
    themes = state([0, 0, 1, 1])
    themes = theme_renewal.renew(themes, keys(7, 8, 9), found([0, 1, 1]), request=ClusterRequest())
    assert {theme.id for theme in themes.themes} == {3, 4}


def test_what_was_put_by_hand_stays_there() -> None:
    old = theme_edits.move(state([0, 0, 0, 1, 1, 1]), np.array([2]), 2)
    old = theme_edits.move(old, np.array([0]), UNSORTED)
    new = theme_renewal.renew(old, old.keys, found([0, 0, 0, 1, 1, 1], confidence=1), request=ClusterRequest())
    assert keys(2).tolist()[0] in members(new, 2)
    assert new.labels()[0] == -1
    assert theme_edits.with_strictness(new, 0).labels()[0] == -1, "none by hand is none, however lenient"
    merged = theme_renewal.renew(old, old.keys, found([0] * 6), request=ClusterRequest())
    assert merged.labels().tolist() == [-1, 0, 0, 0, 0, 0]


def test_a_theme_of_documents_put_by_hand_alone_does_not_vanish() -> None:
    old = state([0, 0, 0, 1])
    old = theme_edits.move(old, np.array([3]), 2)
    new = theme_renewal.renew(old, old.keys, found([0, 0, 0, 0]), request=ClusterRequest())
    assert members(new, 2) == {keys(3).tolist()[0]}


def test_a_pinned_theme_keeps_exactly_its_documents() -> None:
    old = theme_edits.pin(state([0, 0, 1, 1, 1]), [1])
    held = theme_renewal.pinned_keys(old)
    assert set(held.tolist()) == set(keys(0, 1).tolist())
    new = theme_renewal.renew(old, keys(2, 3, 4), found([0, 0, 1]), request=ClusterRequest(count=2))
    assert members(new, 1) == set(held.tolist())
    assert new.themes[new.place(1)].pinned
    assert len(new) == 5


def test_merging_takes_the_first_ones_name_or_that_of_a_pinned_one() -> None:
    three = state([0, 1, 2])
    assert theme_edits.merge(three, [2, 1]).themes[0].id == 2
    named = theme_edits.pin(theme_edits.rename(theme_edits.rename(three, 2, "Two"), 3, "Three"), [3])
    merged = theme_edits.merge(named, [1, 2, 3])
    assert len(merged.themes) == 1
    assert merged.themes[0].name == "Three"
    assert merged.themes[0].pinned
    assert theme_edits.merge(theme_edits.rename(named, 1, "One"), [1, 3]).themes[0].name == "One"
    assert theme_edits.merge(three, [1]) is three


def test_splitting_leaves_the_id_to_the_largest_part() -> None:
    one = theme_edits.rename(state([0, 0, 0, 0, 1]), 1, "Both")
    parts = theme_edits.split(one, 1, np.arange(5), np.array([1, 0, 1, 1, 0], np.int32))
    assert members(parts, 1) == set(keys(0, 2, 3).tolist())
    assert members(parts, 3) == set(keys(1).tolist())
    assert members(parts, 2) == set(keys(4).tolist())
    assert parts.themes[parts.place(1)].name == ""


def test_assigned_documents_count_as_sorted_until_the_slider_moves() -> None:
    themes = state([0, 0, 1, 1], confidence=0.1)
    assert themes.labels().tolist() == [-1] * 4
    assert theme_edits.assign(themes).labels().tolist() == [0, 0, 1, 1]
    assert theme_edits.assign(themes, np.array([1])).labels().tolist() == [-1, 0, -1, -1]
    assert theme_edits.with_strictness(theme_edits.assign(themes), 0.3).labels().tolist() == [-1] * 4
    assert theme_edits.with_strictness(themes, 0).labels().tolist() == [0, 0, 1, 1]


def test_what_is_erased_leaves_no_hash_and_no_label_behind() -> None:
    themes = replace(state([0, 0, 1, 1]))
    records = [replace(theme, label=f"secret{theme.id}") for theme in themes.themes]
    themes = replace(themes, themes=tuple(records))
    pruned, poorer = theme_renewal.prune(themes, keys(0))
    assert poorer == (1,), "its label may hold words of what is gone: it is to be named again"
    plain = zlib.decompress(theme_bytes.pack(pruned)[theme_bytes._HEAD.size :])
    assert b"secret2" not in plain
    assert keys(1).tolist()[0] not in plain
    assert keys(0).tolist()[0] in plain
    assert theme_renewal.prune(themes, themes.keys) == (themes, ())


def test_names_are_cleaned_and_never_empty() -> None:
    themes = state([0])
    assert theme_edits.rename(themes, 1, "  A\nB\u202e \x00 ").themes[0].shown == "A B"
    assert theme_edits.rename(themes, 1, " \u200b\n").themes[0].shown == themes.themes[0].label != ""
    assert len(theme_edits.rename(themes, 1, "x" * 999).themes[0].shown) == 200
    with pytest.raises(UsageError, match="no longer there"):
        theme_edits.rename(themes, 9, "x")


def test_equal_labels_get_a_number() -> None:
    themes = state([0, 1, 2])
    distinct = theme_edits.distinct(themes, {2, 3})
    assert len({theme.shown for theme in distinct.themes}) == 3
    assert distinct.themes[0].shown == themes.themes[0].shown
