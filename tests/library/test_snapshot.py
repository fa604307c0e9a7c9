from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.domain import Filters, Mask
from sbert_desktop.library import Library, Writer, open_library
from sbert_desktop.library._snapshot import LibrarySnapshot

from .makers import DIMENSION, document, embed_all, encode, file_at, info, put_text, start, vector_of

WORDS = ["apple", "brick", "cloud", "door", "eagle", "fence", "grape", "house"]
LANGUAGES = ("en", "de", "fr", "")
EXTENSIONS = ("txt", "pdf", "MD", "")


@dataclass
class Model:
    """The library as plain dictionaries: what must be true after each commit."""

    files: dict[Path, tuple[int, str, float]] = field(default_factory=dict)  # folder, text, mtime
    embedded: set[str] = field(default_factory=set)  # whole texts
    leaving: set[int] = field(default_factory=set)

    def live(self) -> dict[str, list[tuple[Path, float]]]:
        found: dict[str, list[tuple[Path, float]]] = {}
        for path, (folder, text, mtime) in self.files.items():
            if folder not in self.leaving:
                found.setdefault(text, []).append((path, mtime))
        return found

    def forget_orphans(self) -> None:
        self.embedded &= {text for _, text, _ in self.files.values()}


def paragraphs(text: str) -> list[str]:
    return text.split("\n")


class Machine:
    """Does random things to a library and to the model, the same ones for the same seed."""

    def __init__(self, library: Library, writer: Writer, seed: int) -> None:
        self.chance = random.Random(seed)
        self.library, self.writer, self.model = library, writer, Model()
        self.folders = {writer.add_folder(Path(f"/f{number}")): Path(f"/f{number}") for number in range(3)}

    def text(self) -> str:
        count = self.chance.randrange(1, 4)
        return "\n".join(" ".join(self.chance.choices(WORDS, k=self.chance.randrange(1, 4))) for _ in range(count))

    def place(self) -> tuple[int, Path]:
        folder = self.chance.choice(list(self.folders))
        name = f"{self.chance.choice('abcdef')}.{self.chance.choice(EXTENSIONS)}".rstrip(".")
        return folder, self.folders[folder] / self.chance.choice([name, f"sub/{name}", f"subway/{name}"])

    def step(self) -> None:
        self.chance.choice(
            [
                self.put,
                self.put,
                self.put,
                self.copy,
                self.move,
                self.touch,
                self.remove,
                self.embed,
                self.embed_some,
                self.hide,
                self.roll_back,
                self.compact,
            ]
        )()

    def put(self) -> None:
        (folder, path), text, mtime = self.place(), self.text(), float(self.chance.randrange(1, 1000))
        language = LANGUAGES[len(text) % len(LANGUAGES)]  # one content, one language
        date = float(len(text)) if len(text) % 3 == 0 else None
        extracted, passages = document(paragraphs(text), language=language, date=date, format="f" + language)
        self.writer.put(folder, file_at(path, text, mtime=mtime), extracted, passages, ())  # type: ignore[arg-type]
        self.model.files[path] = (folder, text, mtime)
        self.model.forget_orphans()

    def copy(self) -> None:
        if self.model.files:
            folder, path = self.place()
            text = self.chance.choice(list(self.model.files.values()))[1]
            self.writer.put(folder, file_at(path, text, mtime=7.0), None, (), ())  # type: ignore[arg-type]
            self.model.files[path] = (folder, text, 7.0)
            self.model.forget_orphans()

    def known(self, path: Path) -> int:
        self.writer.commit()
        folder = self.model.files[path][0]
        return self.library.known_files(folder)[str(path).encode()].id  # type: ignore[arg-type]

    def move(self) -> None:
        if self.model.files:
            path = self.chance.choice(list(self.model.files))
            folder, target = self.place()
            _, text, mtime = self.model.files[path]
            id_ = self.known(path)
            self.writer.move(id_, file_at(target, text, mtime=mtime), folder)  # type: ignore[arg-type]
            del self.model.files[path]
            self.model.files[target] = (folder, text, mtime)
            self.model.forget_orphans()

    def touch(self) -> None:
        if self.model.files:
            path = self.chance.choice(list(self.model.files))
            folder, text, _ = self.model.files[path]
            self.writer.touch(self.known(path), file_at(path, text, mtime=99.0))  # type: ignore[arg-type]
            self.model.files[path] = (folder, text, 99.0)

    def remove(self) -> None:
        paths = self.chance.sample(list(self.model.files), min(2, len(self.model.files)))
        ids = [self.known(path) for path in paths]
        self.writer.remove(ids)  # type: ignore[arg-type]
        for path in paths:
            del self.model.files[path]
        self.model.forget_orphans()

    def embed(self) -> None:
        embed_all(self.writer)
        hidden = {text for folder, text, _ in self.model.files.values() if folder in self.model.leaving}
        self.model.embedded |= set(self.model.live()) | (hidden & self.model.embedded)

    def embed_some(self) -> None:
        for pending in self.writer.pending(tokens_hint_chars=10):
            self.writer.put_vectors(
                [id_ for id_, _ in pending.passages], encode([text for _, text in pending.passages])
            )
        self.writer.commit()
        # Which ones were complete follows from equal passages too: ask for the texts that wait no more.
        done = {self.library.text_of(content).text for content in with_vectors(self.library)}
        self.model.embedded = done

    def hide(self) -> None:
        folder = self.chance.choice(list(self.folders))
        state = "active" if folder in self.model.leaving else "leaving"
        self.writer.set_folder_state(folder, state)  # type: ignore[arg-type]
        self.model.leaving ^= {folder}

    def roll_back(self) -> None:
        self.writer.commit()
        self.writer.put(*self.unsaved())
        self.writer._transaction.rollback()

    def unsaved(self) -> tuple[object, ...]:
        folder, path = self.place()
        extracted, passages = document(["never seen"])
        return folder, file_at(path, "never seen"), extracted, passages, ()

    def compact(self) -> None:
        self.writer.compact(share=0.05)


def with_vectors(library: Library) -> set[int]:
    with open_library(library.path) as fresh:
        with fresh._reading() as connection:
            rows = connection.execute(
                "SELECT DISTINCT p.content FROM row r JOIN passage p ON p.id=r.passage"
            ).fetchall()
        return {row[0] for row in rows}


def check_against_model(library: Library, model: Model) -> None:
    snapshot = library.snapshot("fake-1")
    live = model.live()
    expected = {}
    for text in live:
        if text in model.embedded:
            for paragraph in paragraphs(text):
                expected.setdefault((text, paragraph), 0)
                expected[text, paragraph] += 1
    seen: dict[tuple[str, str], int] = {}
    records = snapshot.fetch(snapshot.passage_ids.tolist())
    for row in np.flatnonzero(snapshot.alive):
        record = records[int(snapshot.passage_ids[row])]
        assert record.content_id == snapshot.contents[row]
        key = (library.text_of(record.content_id).text, record.text)
        seen[key] = seen.get(key, 0) + 1
        np.testing.assert_array_equal(snapshot.vectors[row], vector_of(record.text).astype(np.float32))
        assert {(file.path, file.mtime_ns / 1e9) for file in record.paths} == set(live[key[0]])
    assert seen == expected
    assert snapshot.passages == sum(len(paragraphs(text)) for text in live)
    assert library.counts().documents == sum(map(len, live.values()))
    for word in WORDS:
        ids, _, contents = snapshot.keyword(word, None, 1000)
        hits = {
            (library.text_of(int(c)).text, r.text) for c, r in zip(contents, fetch_in_order(snapshot, ids), strict=True)
        }  # type: ignore[arg-type]
        assert hits == {(text, p) for text in live for p in paragraphs(text) if word in p.split()}
    check_filters(library, snapshot, live)


def fetch_in_order(snapshot: object, ids: np.ndarray) -> list[object]:
    records = snapshot.fetch(ids.tolist())  # type: ignore[attr-defined]
    return [records[int(id_)] for id_ in ids]


def check_filters(library: Library, snapshot: object, live: dict[str, list[tuple[Path, float]]]) -> None:
    def texts(filters: Filters) -> set[str]:
        mask: Mask | None = snapshot.select(filters)  # type: ignore[attr-defined]
        assert mask is not None
        return {library.text_of(int(content)).text for content in np.flatnonzero(mask)}  # type: ignore[arg-type]

    def date(text: str, mtime: float) -> float:
        return float(len(text)) if len(text) % 3 == 0 else mtime

    assert texts(Filters(folder=Path("/f1/sub"))) == {
        text for text, places in live.items() if any(Path("/f1/sub") in path.parents for path, _ in places)
    }
    assert texts(Filters(types=("md", "pdf"))) == {
        text for text, places in live.items() if any(path.suffix.lower() in (".md", ".pdf") for path, _ in places)
    }
    assert texts(Filters(after=20.0, before=500.0)) == {
        text for text, places in live.items() if any(20 <= date(text, mtime) < 500 for _, mtime in places)
    }
    assert texts(Filters(languages=("de",))) == {text for text in live if LANGUAGES[len(text) % len(LANGUAGES)] == "de"}


def check_same(one: LibrarySnapshot, other: LibrarySnapshot) -> None:
    a, b = one._view, other._view
    for name in ("row_passage", "row_content", "alive", "vectors"):
        known = a.alive if name in ("row_passage", "row_content") else slice(None)
        np.testing.assert_array_equal(getattr(a, name)[known], getattr(b, name)[known])
    assert (a.generation, a.passages, a.words, a.space) == (b.generation, b.passages, b.words, b.space)
    size = min(len(a.content_live), len(b.content_live))
    for name in ("content_live", "content_passages", "content_rows"):
        np.testing.assert_array_equal(getattr(a, name)[:size], getattr(b, name)[:size])
        assert not getattr(a, name)[size:].any()
        assert not getattr(b, name)[size:].any()
    live = a.content_live[:size]
    np.testing.assert_array_equal(a.content_date[:size][live], b.content_date[:size][live])
    assert (
        one.keyword("apple house cloud", None, 50)[0].tolist()
        == other.keyword("apple house cloud", None, 50)[0].tolist()
    )
    np.testing.assert_allclose(one.keyword("apple", None, 50)[1], other.keyword("apple", None, 50)[1])


@pytest.mark.parametrize("seed", range(8))
def test_incremental_snapshot_equals_a_fresh_one_and_the_model(tmp_path: Path, seed: int) -> None:
    with open_library(tmp_path / "library") as library, library.writer() as writer:
        writer.use_space(info(), "tokenizer", document_rules())
        machine = Machine(library, writer, seed)
        for number in range(60):
            machine.step()
            if number % 3 == 0:
                writer.commit()
                check_against_model(library, machine.model)
                with open_library(library.path) as fresh:
                    check_same(library.snapshot("fake-1"), fresh.snapshot("fake-1"))  # type: ignore[arg-type]
        writer.commit()
        bad = {key: value for key, value in library.integrity().items() if key.startswith("bad_") and value}
        assert not bad


def document_rules() -> object:
    from sbert_desktop.domain import SplitRules

    return SplitRules()


def test_a_snapshot_does_not_change_under_its_holder(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["first apple"])
        embed_all(writer)
        held = library.snapshot("fake-1")
        before = (held.alive.copy(), held.passage_ids.copy(), held.contents.copy(), held.vectors.copy())
        mask = held.select(Filters(types=("txt",)))
        put_text(writer, folder, Path("/docs/b.txt"), ["second apple"])
        writer.move(library.known_files(folder)[b"/docs/a.txt"].id, file_at(Path("/docs/a.pdf"), "x"), folder)  # type: ignore[arg-type]
        embed_all(writer)
        for now, then in zip((held.alive, held.passage_ids, held.contents, held.vectors), before, strict=True):
            np.testing.assert_array_equal(now, then)
        np.testing.assert_array_equal(held.select(Filters(types=("txt",))), mask)
        assert len(held.keyword("apple", None, 10)[0]) == 1, "a newer passage is unknown to it"
    newest = library.snapshot("fake-1")
    assert newest.generation > held.generation
    assert len(newest.vectors) == 2
    for array in (newest.vectors, newest.alive, newest.passage_ids, newest.contents):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_snapshot_is_the_same_object_state_while_nothing_changes(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["x"])
    one = library.snapshot("fake-1")
    library.add_history("a small write of another kind")
    assert library.snapshot("fake-1").generation == one.generation
    assert library.snapshot("fake-1").alive is one.alive


def test_an_unknown_fingerprint_gives_words_but_no_vectors(library: Library) -> None:
    assert library.snapshot("none").keyword("x", None, 5)[0].tolist() == []
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["some words"])
    snapshot = library.snapshot("none")
    assert len(snapshot.vectors) == 0
    assert len(snapshot.keyword("words", None, 5)[0]) == 1


def test_a_reader_far_behind_loads_anew(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sbert_desktop.library._transaction.LOG_KEPT", 5)
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        library.snapshot("fake-1")
        for number in range(20):
            put_text(writer, folder, Path(f"/docs/{number}"), [f"text {number}"])
            embed_all(writer)
    assert library.snapshot("fake-1").vectors.shape == (20, DIMENSION)


def test_another_process_is_seen(library: Library) -> None:
    start(library, Path("/docs"))
    library.snapshot("fake-1")
    with open_library(library.path) as other, other.writer() as writer:
        put_text(writer, 1, Path("/docs/a"), ["from elsewhere"])
        embed_all(writer)
    assert library.snapshot("fake-1").vectors.shape == (1, DIMENSION)


# ---------------------------------------------------------------- words


def fill(library: Library, texts: list[str]) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        for number, text in enumerate(texts):
            put_text(writer, folder, Path(f"/docs/{number}.txt"), [text])


@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_queries_are_never_an_error(library: Library, count: int) -> None:
    from .test_analysis import random_text

    fill(library, ["the quick brown fox", "C++ 3.40.1 AND OR NOT", "猫が好きです"])
    snapshot = library.snapshot("fake-1")
    chance = random.Random(20)
    for _ in range(count):
        query = random_text(chance)
        ids, scores, contents = snapshot.keyword(query, None, 10)
        assert len(ids) == len(scores) == len(contents)
        library.match_words(query, "the quick C++ 猫が好き")


def test_rarer_words_weigh_more_and_the_exact_form_wins(library: Library) -> None:
    fill(library, ["common thing", "common stuff", "common rarity", "walking there", "walks there"])
    snapshot = library.snapshot("fake-1")
    ids, scores, _ = snapshot.keyword("common rarity", None, 10)
    assert ids[0] == 3
    assert (scores > 0).all()
    assert snapshot.keyword("walks", None, 10)[0].tolist() == [5, 4]
    assert snapshot.keyword("common rarity", None, 1)[0].tolist() == [3]
    assert snapshot.keyword("common", None, 2)[0].tolist() == [1, 2], "equal scores: the older passage first"


def test_a_whole_code_outweighs_its_parts(library: Library) -> None:
    parts = "3 40 1 3 40 1 3 40 1 3 40 1 3 40 1"
    fill(library, [parts, "40.1.3 1.3.40", "version 3.40.1 among some more words that make it long", *["other"] * 20])
    assert library.snapshot("fake-1").keyword("3.40.1", None, 10)[0].tolist()[0] == 3


def test_a_filter_applies_before_the_limit(library: Library) -> None:
    fill(library, ["apple apple apple"] * 1 + [f"apple {n} pie cake more words" for n in range(30)])
    snapshot = library.snapshot("fake-1")
    mask = np.zeros(int(snapshot.keyword("apple", None, 100)[2].max()) + 1, np.bool_)
    mask[31] = True
    assert snapshot.keyword("apple", mask, 1)[2].tolist() == [31]


def test_title_words_find_the_first_passage(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a"), ["body one", "body two"], title="Zebra crossing")
    ids, _, _ = library.snapshot("fake-1").keyword("zebra", None, 10)
    assert ids.tolist() == [1]


def test_words_that_stand_everywhere_are_pruned_unless_nothing_remains(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sbert_desktop.library._words.PRUNE_FROM", 50)
    fill(library, [f"everywhere common{n % 4} unique{n}" for n in range(120)])
    snapshot = library.snapshot("fake-1")
    assert len(snapshot.keyword("everywhere unique7", None, 500)[0]) == 1
    assert len(snapshot.keyword("everywhere", None, 500)[0]) == 120
    assert len(snapshot.keyword("everywhere common1", None, 500)[0]) == 30, "the least common ones stay"
    assert len(snapshot.keyword("everywhere nosuchword", None, 500)[0]) == 120
    text = "everywhere unique7"
    assert [text[a:b] for a, b in library.match_words("everywhere unique7", text)] == ["unique7"]


@pytest.mark.parametrize("query", ["2.10.3", "v2.10.3", "V2.10.3"])
@pytest.mark.parametrize("written", ["v2.10.3", "2.10.3"])
def test_a_version_number_ranks_above_its_parts(library: Library, query: str, written: str) -> None:
    (folder,) = start(library, Path("/docs"))
    texts = (
        f"Version {written} repairs the crash on start. Upgrade at once.",
        "Version v2.10.4 adds a dark theme. Version v2.1.03 was withdrawn.",
        "Version 2.10 brought printing.",
    )
    with library.writer() as writer:
        contents = [put_text(writer, folder, Path(f"/docs/{n}.txt"), [text]) for n, text in enumerate(texts)]
    assert library.snapshot("fake-1").keyword(query, None, 10)[2][0] == contents[0]
