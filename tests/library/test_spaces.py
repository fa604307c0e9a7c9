"""A second space beside the active one: prepared, switched to in one transaction, gone back from, removed."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.domain import Filters, Mode, Query
from sbert_desktop.errors import LibraryError
from sbert_desktop.explore import search
from sbert_desktop.library import Library, WantedSpace, Writer, open_library

from .makers import RULES, document, encode, info, put_text

NEW = info("fake-2", dimension=8)
LONG = info("fake-3", dimension=8, max_tokens=100)  # cuts texts in another way
WANTED = WantedSpace("new", "fake-2")


def fill(library: Library, documents: int = 6) -> Library:
    with library.writer() as writer:
        writer.use_space(info(), "tokenizer", RULES)
        folder = writer.add_folder(Path("/docs"))
        for number in range(documents):
            put_text(writer, folder, Path(f"/docs/{number}"), [f"paper {number}", f"of the mill {number}"])
        embed(writer)
    return library


@pytest.fixture
def filled(library: Library) -> Library:
    return fill(library)


def embed(writer: Writer, fingerprint: str = "", dimension: int = 16, *, at_most: int = 1_000) -> int:
    count = 0
    while count < at_most and (batch := writer.pending(tokens_hint_chars=20, fingerprint=fingerprint)):
        pairs = [pair for pending in batch for pair in pending.passages]
        writer.put_vectors([id_ for id_, _ in pairs], encode([text for _, text in pairs], dimension), fingerprint)
        count += len(pairs)
        writer.commit()
    writer.commit()
    return count


def recut(writer: Writer, library: Library, fingerprint: str = "") -> int:
    """Cuts every text that a space lacks into one passage."""
    lacking = writer.resegment_needed(fingerprint)
    for content in lacking:
        _, passages = document([library.text_of(content).text])
        writer.put_passages(content, passages, fingerprint)
    writer.commit()
    return len(lacking)


def answers(library: Library, fingerprint: str = "fake-1", dimension: int = 16) -> list[object]:
    """Everything that decides what a search shows; floats compare to the last bit."""
    snapshot = library.snapshot(fingerprint)
    texts = ("paper 3", "mill", "of the mill 5")
    return [
        search(snapshot, Query(text, mode=mode), encode([text], dimension)[0]).documents
        for text in texts
        for mode in Mode
    ]


def states(library: Library) -> dict[str, tuple[str, int, int]]:
    return {space.fingerprint: (space.state, space.passages, space.of) for space in library.measured_spaces()}


def sound(library: Library) -> bool:
    return not any(count for name, count in library.integrity().items() if name.startswith("bad_"))


@pytest.mark.parametrize("other", [NEW, LONG], ids=["cut alike", "cut in another way"])
def test_a_space_is_prepared_while_the_active_one_answers_as_before(filled: Library, other) -> None:
    before, generation = answers(filled), filled.snapshot("fake-1").generation
    with filled.writer() as writer:
        writer.prepare_space(other, "tokenizer", RULES)
        assert recut(writer, filled, other.fingerprint) == (6 if other is LONG else 0)
        assert embed(writer, other.fingerprint, 8, at_most=4) >= 4
        assert states(filled)["fake-1"] == ("active", 12, 12)
        assert states(filled)[other.fingerprint][0] == "part"
        assert filled.snapshot("").vectors.shape[1] == 16
        assert answers(filled) == before
        assert filled.snapshot("fake-1").generation == generation  # nothing that can be found has changed
        embed(writer, other.fingerprint, 8)
        assert writer.activate(other.fingerprint)
    total = 6 if other is LONG else 12
    assert states(filled) == {"fake-1": ("inactive", 12, 12), other.fingerprint: ("active", total, total)}
    assert filled.snapshot("").vectors.shape == (total, 8)
    assert all(answers(filled, other.fingerprint, 8))
    assert answers(filled) == before  # who still holds the old encoder is answered by its own vectors
    assert sound(filled)


@pytest.mark.parametrize("other", [NEW, LONG], ids=["cut alike", "cut in another way"])
def test_going_back_answers_to_the_last_bit_as_before_and_then_catches_up(filled: Library, other) -> None:
    before = answers(filled)
    with filled.writer() as writer:
        writer.prepare_space(other, "tokenizer", RULES)
        recut(writer, filled, other.fingerprint)
        embed(writer, other.fingerprint, 8)
        writer.activate(other.fingerprint)
    with filled.writer() as writer:
        writer.activate("fake-1")
    assert answers(filled) == before
    assert filled.pending_count()[1] == 0
    with filled.writer() as writer:
        writer.activate(other.fingerprint)
        folder = filled.folders()[0].id
        text, passages = document(["a ferry that came meanwhile"])
        from .makers import file_at

        writer.put(folder, file_at(Path("/docs/late"), text.text), text, passages, ())
        known = filled.known_files(folder)
        writer.remove([known[b"/docs/0"].id])
        embed(writer, "", 8)
        writer.activate("fake-1")
        assert recut(writer, filled) == (1 if other is LONG else 0)
        assert filled.snapshot("fake-1").alive.sum() == 10  # what was removed is gone at once
        assert embed(writer) == 1
    assert states(filled)["fake-1"] == ("active", 11, 11)
    assert sound(filled)


def test_what_comes_while_a_space_is_prepared_waits_for_both(filled: Library) -> None:
    with filled.writer() as writer:
        writer.prepare_space(NEW, "tokenizer", RULES)
        embed(writer, "fake-2", 8, at_most=4)
        put_text(writer, filled.folders()[0].id, Path("/docs/late"), ["a ferry that came meanwhile"])
        assert embed(writer) == 1
        embed(writer, "fake-2", 8)
        writer.activate("fake-2")
        assert not writer.pending()
    assert states(filled)["fake-2"] == ("active", 13, 13)


def test_only_the_wanted_space_takes_over_by_itself(filled: Library) -> None:
    filled.want_space(WANTED)
    assert filled.wanted_space() == WANTED
    with filled.writer() as writer:
        writer.prepare_space(NEW, "tokenizer", RULES)
        embed(writer, "fake-2", 8)
        filled.want_space(None)  # the person thinks better of it
        assert not writer.activate("fake-2", if_wanted=True)
        assert states(filled)["fake-1"][0] == "active"
        filled.want_space(WANTED)
        assert writer.activate("fake-2", if_wanted=True)
    assert filled.wanted_space() is None
    assert states(filled)["fake-2"][0] == "active"


def test_a_space_that_was_begun_goes_on_where_it_stopped(filled: Library) -> None:
    filled.want_space(WANTED)
    with filled.writer() as writer:
        writer.prepare_space(NEW, "tokenizer", RULES)
        first = embed(writer, "fake-2", 8, at_most=4)
    with filled.writer() as writer:
        put_text(writer, filled.folders()[0].id, Path("/docs/late"), ["a ferry"])  # it is known to be wanted
        embed(writer)
    with filled.writer() as writer:
        writer.prepare_space(NEW, "tokenizer", RULES)
        assert embed(writer, "fake-2", 8) == 13 - first


@pytest.mark.parametrize("other", [NEW, LONG], ids=["cut alike", "cut in another way"])
def test_a_space_is_removed_with_its_files_and_what_is_only_its_own(filled: Library, other) -> None:
    filled.want_space(WantedSpace("new", other.fingerprint))
    before, passages = answers(filled), filled.integrity()["passages"]
    with filled.writer() as writer:
        writer.prepare_space(other, "tokenizer", RULES)
        recut(writer, filled, other.fingerprint)
        embed(writer, other.fingerprint, 8, at_most=4)
        with pytest.raises(LibraryError, match="in use"):
            writer.drop_space("fake-1")
        with pytest.raises(LibraryError, match="no such space"):
            writer.drop_space("nobody's")
        writer.drop_space(other.fingerprint)
        put_text(writer, filled.folders()[0].id, Path("/docs/late"), ["a ferry"])
        assert embed(writer) == 1
    assert filled.wanted_space() is None
    assert list(states(filled)) == ["fake-1"]
    assert not (filled.path / "spaces" / other.fingerprint).exists()
    assert filled.integrity()["passages"] == passages + 1
    assert sound(filled)
    with filled.writer() as writer:
        writer.remove([filled.known_files(filled.folders()[0].id)[b"/docs/late"].id])
    assert answers(filled) == before


def test_forgetting_erases_from_every_space(filled: Library) -> None:
    with filled.writer() as writer:
        writer.prepare_space(LONG, "tokenizer", RULES)
        recut(writer, filled, "fake-3")
        embed(writer, "fake-3", 8)
        writer.activate("fake-3")
        writer.remove([filled.known_files(filled.folders()[0].id)[b"/docs/1"].id])
    spaces = [filled.snapshot(name) for name in ("fake-1", "fake-3")]
    for snapshot in spaces:
        dead = np.asarray(snapshot.vectors)[~snapshot.alive]
        assert len(dead)
        assert not dead.any()
    assert spaces[0].select(Filters()) is None
    assert sound(filled)


def test_each_space_keeps_its_own_accelerator(tmp_path: Path) -> None:
    with open_library(tmp_path / "library", exact_below=1, index_from=1) as library:
        fill(library, 60)
        with library.writer() as writer:
            assert writer.build_index()
        before = answers(library)
        assert library.snapshot("").index is not None
        with library.writer() as writer:
            writer.prepare_space(NEW, "tokenizer", RULES)
            embed(writer, "fake-2", 8)
            assert writer.build_index(fingerprint="fake-2")
            assert answers(library) == before
            writer.activate("fake-2")
        index = library.snapshot("").index
        assert index is not None
        assert index.search(encode(["paper 3"], 8)[0], 3)[0].size == 3
        with library.writer() as writer:
            writer.activate("fake-1")
        assert library.snapshot("").index is not None
        assert answers(library) == before


CHILD = """
import sys
sys.path[:0] = {paths!r}
from library.test_spaces import LONG, NEW, RULES, embed, recut
from sbert_desktop.library import WantedSpace, open_library
from pathlib import Path
library = open_library(Path({library!r}))
print("begun", flush=True)
with library.writer() as writer:
    while True:
        for other, dimension in ((NEW, 8), (LONG, 8)):
            library.want_space(WantedSpace("new", other.fingerprint))
            writer.prepare_space(other, "tokenizer", RULES)
            recut(writer, library, other.fingerprint)
            embed(writer, other.fingerprint, dimension)
            assert writer.activate(other.fingerprint, if_wanted=True)
            writer.activate("fake-1")
            writer.drop_space(other.fingerprint)
"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [4, pytest.param(120, marks=pytest.mark.slow)])
def test_killed_at_any_moment_one_whole_space_serves(tmp_path: Path, kills: int) -> None:
    with open_library(tmp_path / "library") as library:
        before = answers(fill(library, 12))
    here = Path(__file__).resolve()
    code = CHILD.format(paths=[str(here.parents[2]), str(here.parents[1])], library=str(tmp_path / "library"))
    chance = random.Random(7)
    for _ in range(kills):
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        try:
            child.wait(chance.uniform(0.02, 0.5))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        else:
            pytest.fail("the child ended by itself")
        child.stdout.close()
        with open_library(tmp_path / "library") as library:
            active = library.active_space()
            assert active is not None
            held, of = states(library)[active.fingerprint][1:]
            assert held == of > 0
            assert answers(library) == before
            with library.writer() as writer:
                assert not writer.pending()
            assert sound(library)
