"""What a person made of themes outlives finding them anew, and nothing hangs on the order of the files."""

from __future__ import annotations

import numpy as np
import pytest

from sbert_desktop.app import clustering
from sbert_desktop.app.atlas_views import UNSORTED, ClusterRequest, Method, ThemeChange, ThemeDeed
from sbert_desktop.app.clustering import change_clusters, run_clusters, theme_documents
from sbert_desktop.app.session import Session
from sbert_desktop.jobs import NullContext

from .made_map import clustered, put_documents

WORDS = ("tide harbour mooring", "beans compost hoe", "dough oven rye", "chain brake spoke")


def put(session, docs, count: int = 80, *, first: int = 0, vectors=None) -> list[int]:
    vectors = clustered(count) if vectors is None else vectors
    texts = [f"Notes on {WORDS[at % 4]}, number {at}." for at in range(first, first + len(vectors))]
    return put_documents(session, docs, vectors, first=first, texts=texts)


def change(session, deed: ThemeDeed, *themes: int, **more):
    return change_clusters(session, ThemeChange(deed, themes, **more), NullContext())


def by_word(view, word: str):
    return next(theme for theme in view.themes if any(word in keyword.text for keyword in theme.keywords))


def assert_adds_up(session, view) -> None:
    assert sum(theme.size for theme in view.themes) + view.unsorted == view.documents
    listed = [row.content for theme in view.themes for row in theme_documents(session, theme.id)]
    listed += [row.content for row in theme_documents(session, UNSORTED)]
    assert len(listed) == len(set(listed)) == view.documents


@pytest.fixture
def docs(tmp_path):
    return tmp_path / "docs"


def test_a_name_goes_on_in_the_largest_of_many_parts_and_a_pinned_theme_stays_whole(session, docs):
    contents = put(session, docs)
    view = run_clusters(session, NullContext())
    harbour, garden = by_word(view, "tide").id, by_word(view, "beans").id
    change(session, ThemeDeed.RENAME, harbour, name="Harbour")
    change(session, ThemeDeed.PIN, garden)
    change(session, ThemeDeed.MOVE, harbour, contents=(contents[2],))  # of the kitchen
    pinned = {row.content for row in theme_documents(session, garden)}
    again = run_clusters(session, NullContext(), ClusterRequest(count=7))
    assert again.theme(harbour).label == "Harbour"
    assert contents[2] in {row.content for row in theme_documents(session, harbour)}
    assert {row.content for row in theme_documents(session, garden)} == pinned
    assert_adds_up(session, again)
    for method in (Method.HDBSCAN, Method.THRESHOLD, Method.KMEANS):
        other = run_clusters(session, NullContext(), ClusterRequest(method))
        assert_adds_up(session, other)
        assert other.theme(harbour).label == "Harbour"


def test_the_same_library_has_the_same_themes_whatever_the_order_of_its_files(tmp_path, settings):
    vectors, found = clustered(48), []
    for name, order in (("a", np.arange(48)), ("b", np.random.default_rng(1).permutation(48))):
        opened = Session(tmp_path / name, settings)
        for number in order.tolist():
            put(opened, tmp_path / "docs", vectors=vectors[number : number + 1], first=number)
        view = run_clusters(opened, NullContext())
        found.append({frozenset(row.path for row in theme_documents(opened, theme.id)) for theme in view.themes})
        opened.close()
    assert found[0] == found[1]
    assert len(found[0]) == 4


def test_what_two_processes_change_at_once_is_all_kept(session, docs, settings, monkeypatch):
    put(session, docs)
    view = run_clusters(session, NullContext())
    first, second = (theme.id for theme in view.themes[:2])
    other = Session(session.library.path, settings)
    arrange, meanwhile = session.library.arrange, []

    def late(name, data, **more):
        if not meanwhile:  # the other one is faster, between the reading and the writing of this one
            meanwhile.append(True)
            change(other, ThemeDeed.RENAME, second, name="Theirs")
        arrange(name, data, **more)

    monkeypatch.setattr(session.library, "arrange", late)
    for number, work in enumerate(
        (
            lambda: change(session, ThemeDeed.RENAME, first, name="Ours"),
            lambda: run_clusters(session, NullContext(), ClusterRequest(Method.KMEANS, 4)),
        )
    ):
        meanwhile.clear()
        change(other, ThemeDeed.RENAME, second, name="")
        work()
        names = {theme.id: theme.label for theme in run_clusters(other, NullContext()).themes}
        assert meanwhile, number
        assert (names[first], names[second]) == ("Ours", "Theirs"), number
    other.close()


def test_a_state_met_by_another_thread_on_the_way_is_not_written_over(session, docs, settings, monkeypatch):
    put(session, docs)
    first, second = (theme.id for theme in run_clusters(session, NullContext()).themes[:2])
    other, real, done = Session(session.library.path, settings), clustering._edited, []

    def slow(*arguments):
        made = real(*arguments)
        if not done:
            done.append(change(other, ThemeDeed.RENAME, second, name="Theirs"))
            clustering.grouping(session)  # as the map's colours do, which reads what the other one kept
        return made

    monkeypatch.setattr(clustering, "_edited", lambda *a: slow(*a) if a[0] is session else real(*a))
    view = change(session, ThemeDeed.RENAME, first, name="Ours")
    assert [view.theme(id_).label for id_ in (first, second)] == ["Ours", "Theirs"]
    other.close()
