"""Themes of a library, all real but the model: found, kept, changed, taken back, and when little is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from sbert_desktop.app import clustering, theme_bytes
from sbert_desktop.app.atlas_views import UNSORTED, ClusterRequest, Method, ThemeChange, ThemeDeed
from sbert_desktop.app.session import Session
from sbert_desktop.app.theme_desk import NAME, desk_of
from sbert_desktop.app.theme_evaluating import adjusted_rand, v_measure
from sbert_desktop.app.theme_report import as_json, export_clusters, report, written
from sbert_desktop.domain import EncoderInfo, ExtractedText, Passage, SourceFile, SplitRules
from sbert_desktop.errors import Cancelled, SbertDesktopError, UsageError
from sbert_desktop.jobs import NullContext

CONTEXT = NullContext()
WORDS = (
    "violin orchestra sonata rehearsal conductor", "tomato compost seedling pruning greenhouse",
    "invoice deposit landlord tenancy repair", "glacier ridge summit crampon avalanche",
)  # fmt: skip
INFO = EncoderInfo("made", "made", 16, 128, "mean", "made", "cpu", "float32")


class Shelf:
    """Puts documents with chosen vectors into a session's library."""

    def __init__(self, session: Session, root) -> None:
        self.session, self.root = session, root
        self.number = 0
        self.middles = np.random.default_rng(5).standard_normal((len(WORDS), 16))
        with session.library.writer() as writer:
            writer.use_space(INFO, "made", SplitRules())
            self.owner = writer.add_folder(root)
            writer.commit()

    def add(self, theme: int, *, text: str | None = None, vector=None, encoded: bool = True, name: str = "") -> int:
        self.number += 1
        rng = np.random.default_rng(self.number)
        body = text if text is not None else " ".join(rng.permutation(WORDS[theme].split())) + f" item{self.number}"
        path = self.root / (name or f"{self.number}.txt")
        file = SourceFile(path, len(body), self.number, content_hash=f"{self.number:064x}")
        made = ExtractedText("txt", body, title=f"About {theme}", language="en")
        with self.session.library.writer() as writer:
            content = writer.put(self.owner, file, made, [Passage(0, 0, len(body), body)], ())
            writer.commit()
            row = self.middles[theme] + 0.45 * rng.standard_normal(16) if vector is None else np.asarray(vector)
            unit = (row / np.linalg.norm(row)).astype(np.float32)
            if encoded:
                for document in writer.pending(tokens_hint_chars=10**9):
                    if document.content_id == content:
                        ids = [id_ for id_, _ in document.passages]
                        writer.put_vectors(ids, np.repeat(unit[None], len(ids), axis=0))
                writer.commit()
        return int(content)

    def fill(self, each: int = 12) -> list[int]:
        return [self.add(theme) for theme in range(len(WORDS)) for _ in range(each)]

    def remove(self, number: int) -> None:
        with self.session.library.writer() as writer:
            known = self.session.library.known_files(self.owner)
            path = os.fsencode(self.root / f"{number}.txt")
            writer.remove([known[path].id])
            writer.commit()


@pytest.fixture
def shelf(session, tmp_path) -> Shelf:
    return Shelf(session, tmp_path / "docs")


def change(session: Session, deed: ThemeDeed, *ids: int, **more) -> object:
    return clustering.change_clusters(session, ThemeChange(deed, ids, **more), CONTEXT)


def run(session: Session, request: ClusterRequest | None = None, **more):
    return clustering.run_clusters(session, CONTEXT, request, **more)


def adds_up(view) -> bool:
    return sum(theme.size for theme in view.themes) + view.unsorted == view.documents


def test_themes_are_found_named_and_described(session, shelf):
    shelf.fill()
    view = run(session)
    assert len(view.themes) == 4
    assert adds_up(view)
    assert view.documents == 48
    assert view.unsorted < 0.4 * 48
    assert len(view.unsorted_at) == 21
    assert view.unsorted_at[0] == 0
    said = {word for theme in view.themes for keyword in theme.keywords for word in keyword.text.split()}
    assert said & set(WORDS[0].split())
    assert said & set(WORDS[3].split())
    for theme in view.themes:
        assert theme.label
        assert theme.source == "words"
        assert theme.keywords[0].weight == 1
        assert len(theme.central) == 6
        assert theme.central[0].fit >= theme.central[-1].fit > theme.rest
        assert theme.similarity > theme.rest
        assert theme.folders == ((shelf.root, theme.size),)
        assert theme.first is not None
        assert theme.first <= theme.last
        assert len(theme.beside) == 3
    rows = clustering.theme_documents(session, view.themes[0].id)
    assert len(rows) == view.themes[0].size
    assert [row.fit for row in rows] == sorted((row.fit for row in rows), reverse=True)
    assert rows[0].passage > 0
    assert rows[0].title.startswith("About")
    assert len({row.title for row in rows}) == 1, "one theme holds documents of one kind"


def test_opening_finds_nothing_anew_and_counts_what_came(session, shelf, monkeypatch):
    shelf.fill()
    first = run(session)
    monkeypatch.setattr(session, "launch", lambda *a, **k: pytest.fail("opening starts no child"))
    new = shelf.add(2)
    shelf.remove(1)
    view = run(session)
    assert {theme.id for theme in view.themes} == {theme.id for theme in first.themes}
    assert view.documents == 48
    assert view.fresh == 1
    assert adds_up(view)
    (row,) = clustering.document_rows(session, [new])
    like = clustering.document_rows(session, [30])[0]
    assert row.theme == like.theme
    assert row.sorted_in


def test_another_session_sees_the_same_themes(session, shelf, tmp_path, settings):
    shelf.fill()
    view = run(session)
    change(session, ThemeDeed.RENAME, view.themes[0].id, name="Mine")
    with_other = Session(session.library_path, settings)
    try:
        seen = clustering.run_clusters(with_other, CONTEXT)
        assert [(one.id, one.label, one.size) for one in seen.themes] == [
            (one.id, one.label, one.size) for one in run(session).themes
        ]
        change(with_other, ThemeDeed.RENAME, view.themes[0].id, name="Theirs")
    finally:
        with_other.close()
    assert run(session).theme(view.themes[0].id).label == "Theirs"
    assert run(session).undo == "", "what another process did is not taken back here"


def test_names_pins_and_moves_survive_another_method(session, shelf):
    contents = shelf.fill()
    view = run(session)
    first, second = view.themes[0].id, view.themes[1].id
    kept = {row.content for row in clustering.theme_documents(session, second)}
    change(session, ThemeDeed.RENAME, first, name="Mine")
    change(session, ThemeDeed.PIN, second)
    moved = next(row.content for row in clustering.theme_documents(session, view.themes[2].id))
    change(session, ThemeDeed.MOVE, first, contents=(moved,))
    change(session, ThemeDeed.MOVE, UNSORTED, contents=(contents[-1],))
    again = run(session, ClusterRequest(Method.KMEANS, count=3))
    assert again.theme(first).label == "Mine"
    assert again.theme(first).named
    assert {row.content for row in clustering.theme_documents(session, second)} - {contents[-1]} == kept - {
        contents[-1]
    }
    assert again.themes[0].id == second, "pinned ones come first"
    rows = clustering.document_rows(session, [moved, contents[-1]])
    assert rows[0].theme == first
    assert rows[0].by_hand
    assert not rows[1].sorted_in
    assert adds_up(again)


def test_every_deed_is_taken_back_bit_for_bit(session, shelf):
    shelf.fill()
    view = run(session)
    ids = [theme.id for theme in view.themes]
    contents = tuple(row.content for row in clustering.theme_documents(session, ids[0])[:2])
    deeds = [
        ThemeChange(ThemeDeed.RENAME, (ids[0],), name="A"), ThemeChange(ThemeDeed.MERGE, (ids[0], ids[1])),
        ThemeChange(ThemeDeed.SPLIT, (ids[2],)), ThemeChange(ThemeDeed.MOVE, (ids[2],), contents=contents),
        ThemeChange(ThemeDeed.PIN, (ids[2],)), ThemeChange(ThemeDeed.STRICTNESS, strictness=0.9),
        ThemeChange(ThemeDeed.ASSIGN),
    ]  # fmt: skip
    packed = [session.library.arrangement(NAME)]
    for deed in deeds:
        seen = clustering.change_clusters(session, deed, CONTEXT)
        assert seen.undo == deed.deed.value
        assert adds_up(seen)
        packed.append(session.library.arrangement(NAME))
    assert len(set(packed)) == len(packed), "each deed changes something"
    for before in reversed(packed[:-1]):
        change(session, ThemeDeed.UNDO)
        assert session.library.arrangement(NAME) == before
    for after in packed[1:]:
        change(session, ThemeDeed.REDO)
        assert session.library.arrangement(NAME) == after
    with pytest.raises(UsageError, match="nothing to"):
        change(session, ThemeDeed.REDO)


def test_a_split_makes_what_was_shown(session, shelf):
    shelf.fill()
    view = run(session, ClusterRequest(count=2))
    theme = view.themes[0]
    shown = clustering.run_split_preview(session, theme.id, CONTEXT)
    assert len(shown.parts) >= 2
    assert sum(part.size for part in shown.parts) == theme.size
    after = change(session, ThemeDeed.SPLIT, theme.id)
    assert {part.label for part in shown.parts} <= {one.label for one in after.themes}
    assert adds_up(after)


def test_what_is_erased_leaves_the_kept_themes(session, shelf):
    shelf.fill()
    shelf.add(0, text="xylophone xylophone secret", name="own.txt")
    run(session)
    before = theme_bytes.unpack(session.library.arrangement(NAME))
    shelf.remove(1)
    view = run(session)
    after = theme_bytes.unpack(session.library.arrangement(NAME))
    gone = f"{1:064x}".encode()
    assert gone in before.keys
    assert gone not in after.keys
    assert view.documents == 48
    with session.library.writer() as writer:
        writer.remove([file.id for file in session.library.known_files(shelf.owner).values()])
        writer.commit()
    empty = run(session)
    assert not empty.themes
    assert empty.note == "There are no documents to sort into clusters."
    assert len(theme_bytes.unpack(session.library.arrangement(NAME))) == 0


def test_only_some_documents_are_sorted_and_nothing_is_kept(session, shelf):
    contents = shelf.fill()
    run(session)
    kept = session.library.arrangement(NAME)
    scope = contents[:24]
    view = run(session, contents=scope)
    assert view.scope == tuple(sorted(scope))
    assert view.documents == 24
    assert adds_up(view)
    assert all(theme.id < UNSORTED and theme.label for theme in view.themes)
    rows = clustering.theme_documents(session, view.themes[0].id, scope=scope)
    assert {row.content for row in rows} <= set(scope)
    assert len(rows) == view.themes[0].size
    assert session.library.arrangement(NAME) == kept
    assert clustering.run_split_preview(session, view.themes[0].id, CONTEXT).theme == view.themes[0].id
    with pytest.raises(UsageError, match="selection"):
        change(session, ThemeDeed.RENAME, view.themes[0].id, name="x")


def test_grouping_says_what_is_kept_and_computes_nothing(session, shelf, monkeypatch):
    assert clustering.grouping(session) is None
    shelf.fill()
    assert clustering.grouping(session) is None
    view = run(session)
    desk_of(session).shown = None
    monkeypatch.setattr(desk_of(session), "room", lambda *a: pytest.fail("no vector is needed"))
    found = clustering.grouping(session)
    assert np.all(np.diff(found.contents) > 0)
    assert len(found.contents) == 48
    assert [(one.id, one.size) for one in found.themes] == [(one.id, one.size) for one in view.themes]
    counts = np.bincount(found.labels[found.labels >= 0], minlength=len(found.themes))
    assert counts.tolist() == [theme.size for theme in found.themes]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_with_little_there_the_answer_is_sane(session, shelf, count):
    for number in range(count):
        shelf.add(number % 4)
    view = run(session)
    assert view.documents == count
    assert adds_up(view)
    assert view.unsorted < 0.4 * max(1, count)
    assert bool(view.note) == (count < 4)
    assert all(theme.label for theme in view.themes)
    assert run(session, ClusterRequest(count=9)).note or not count
    assert run(session, again=True).documents == count


def test_identical_documents_and_stop_words_are_named_by_something(session, shelf):
    for number in range(6):
        shelf.add(0, text="the and of it is", vector=shelf.middles[0], name=f"note {number}.txt")
    view = run(session)
    assert len(view.themes) == 1
    assert view.themes[0].size == 6
    assert view.note
    assert view.themes[0].label.casefold() not in {"the, and, of", ""}
    assert clustering.run_split_preview(session, view.themes[0].id, CONTEXT).note


def test_documents_without_vectors_wait_and_kept_ones_stay(session, shelf):
    shelf.add(0, encoded=False)
    view = run(session)
    assert not view.themes
    assert "waits for its vector" in view.note
    assert view.waiting == 1
    assert session.library.arrangement(NAME) is None
    shelf.fill()
    found = run(session, again=True)
    assert found.waiting == 1
    assert found.documents == 48
    with session.library.writer() as writer:
        writer.use_space(replace(INFO, fingerprint="other", name="other"), "made", SplitRules())
        writer.commit()
    adopted = run(session, ClusterRequest(count=2))
    assert {one.id for one in adopted.themes} == {one.id for one in found.themes}
    assert "no vector of the model in use yet" in adopted.note
    assert adopted.documents == 48


class Impatient(NullContext):
    """Cancels while themes are being found."""

    def __init__(self) -> None:
        self.finding = False

    def progress(self, phase, done, total, detail=""):
        self.finding = phase == clustering.FINDING

    def check(self) -> None:
        if self.finding:
            raise Cancelled


def test_a_cancel_ends_the_child_and_the_next_run_works(session, shelf):
    shelf.fill()
    with pytest.raises(Cancelled):
        clustering.run_clusters(session, Impatient())
    assert session.library.arrangement(NAME) is None
    assert len(run(session).themes) == 4


def test_a_child_that_dies_is_one_sentence(session, shelf, monkeypatch):
    shelf.fill()
    run(session)
    desk_of(session)._child.kill()
    monkeypatch.setattr(type(desk_of(session)._child), "alive", True)
    with pytest.raises(SbertDesktopError, match="ended unexpectedly"):
        run(session, again=True)
    monkeypatch.undo()
    assert len(run(session, again=True).themes) == 4


def test_themes_of_a_newer_version_are_left_alone(session, shelf):
    shelf.fill()
    run(session)
    newer = bytearray(session.library.arrangement(NAME))
    newer[8] = 9
    session.library.arrange(NAME, bytes(newer))
    assert len(run(session).themes) == 4
    assert session.library.arrangement(NAME) == bytes(newer)


def test_damaged_themes_are_found_anew(session, shelf):
    shelf.fill()
    session.library.arrange(NAME, b"damaged")
    assert len(run(session).themes) == 4
    assert any("damaged" in line for line in session.notices())
    assert len(run(session).themes) == 4


def test_a_library_that_cannot_be_written_still_shows_themes(session, shelf, monkeypatch):
    from sbert_desktop.errors import LibraryError

    shelf.fill()

    def refuse(name: str, data: bytes, **more) -> None:
        raise LibraryError("library-readonly", "It cannot be written.")

    monkeypatch.setattr(session.library, "arrange", refuse)
    monkeypatch.setattr(session.library, "read_only", True)
    view = run(session)
    assert len(view.themes) == 4
    assert [one.id for one in run(session).themes] == [one.id for one in view.themes]


def test_on_a_full_disk_themes_are_shown_kept_later_and_that_is_said(session, shelf, monkeypatch):
    from sbert_desktop.errors import LibraryError

    shelf.fill()

    def full(name: str, data: bytes, **more) -> None:
        raise LibraryError("disk-full", "The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(session.library, "arrange", full)
        assert len(run(session).themes) == 4
    assert any("not kept yet: The disk is full." in line for line in session.notices())
    assert session.library.arrangement(NAME) is None
    change(session, ThemeDeed.RENAME, run(session).themes[0].id, name="Soil")
    assert session.library.arrangement(NAME)


def test_reports_are_whole_and_harmless(session, shelf, tmp_path):
    shelf.fill()
    shelf.add(0, name="=cmd<b>.txt")
    view = run(session)
    change(session, ThemeDeed.RENAME, view.themes[0].id, name="=1+1<script>")
    whole = report(session, run(session))
    fields = as_json(whole)
    assert {"method", "clusters", "unsorted", "unsorted_share", "silhouette"} <= set(fields)
    assert {"id", "label", "keywords", "size", "documents", "central"} <= set(fields["clusters"][0])
    assert sum(len(one["documents"]) for one in fields["clusters"]) + fields["unsorted"] == 49
    assert "'=1+1<script>" in written(whole, "csv")
    assert "<script>" not in written(whole, "html")
    for ending in ("csv", "json", "html"):
        assert export_clusters(session, tmp_path / f"out.{ending}").stat().st_size
    json.loads((tmp_path / "out.json").read_text("utf-8"))
    with pytest.raises(UsageError, match="not written as"):
        export_clusters(session, tmp_path / "out.exe")
    with pytest.raises(SbertDesktopError, match="there already"):
        export_clusters(session, tmp_path / "out.csv", replace=False)


def test_the_measures_are_those_of_scikit_learn():
    from sklearn.metrics import adjusted_rand_score, v_measure_score

    rng = np.random.default_rng(2)
    for _ in range(20):
        truth, found = rng.integers(0, 5, 40), rng.integers(0, 3, 40)
        assert v_measure(truth, found) == pytest.approx(v_measure_score(truth, found))
        assert adjusted_rand(truth, found) == pytest.approx(adjusted_rand_score(truth, found))
    one = np.zeros(4, int)
    assert v_measure(one, one) == adjusted_rand(one, one) == 1


def test_the_windows_process_never_loads_what_the_child_does():
    code = (
        "import sys; from sbert_desktop.app import clustering, theme_report, theme_evaluating\n"
        "from sbert_desktop.explore.cluster_child import ClusterClient\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('sklearn', 'sknetwork', 'scipy')]\n"
        "print(bad)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
