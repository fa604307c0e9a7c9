from __future__ import annotations

import dataclasses
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.domain import Holding
from sbert_desktop.library import Library, _analysis, _phrases, _units

from .makers import document, file_at, put_text, start

SYLLABLES = ["ba", "ko", "mi", "ter", "lun", "sa", "vor", "den", "é", "ri", "stu", "hal"]


def fill(library: Library, documents: dict[str, list[str]], **changes: object) -> dict[str, int]:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        return {
            name: put_text(writer, folder, Path(f"/docs/{name}.txt"), texts, **changes)
            for name, texts in documents.items()
        }


def hold(library: Library, *phrases: str, words: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> Holding:
    found = library.snapshot("fake-1").holding(phrases, words, without, None)
    assert found is not None
    return found


def names(contents: dict[str, int], found: Holding) -> list[str]:
    return [name for name, content in contents.items() if found.mask[content]]


def made_up(chance: random.Random, count: int) -> list[str]:
    common = ["the", "of", "and", "to", "in"]
    return [
        chance.choice(common) if chance.random() < 0.3 else "".join(chance.choices(SYLLABLES, k=chance.randrange(2, 4)))
        for _ in range(count)
    ]


def test_sixty_phrases_over_borders_of_passages_are_all_found(library: Library) -> None:
    chance = random.Random(4)
    texts: dict[str, list[str]] = {}
    asked: list[tuple[str, str, int]] = []
    for number in range(60):
        paragraphs = [" ".join(made_up(chance, chance.randrange(8, 40))) for _ in range(6)]
        texts[f"d{number}"] = paragraphs
        border = chance.randrange(5)
        left, right = paragraphs[border].split(), paragraphs[border + 1].split()
        take = chance.randrange(1, 5)
        asked.append((f"d{number}", " ".join(left[-take:] + right[: chance.randrange(2, 5)]), border))
    contents = fill(library, texts)
    lowest = {name: min(passages_of(library, content)) for name, content in contents.items()}
    found = 0
    for name, phrase, border in asked:
        held = hold(library, phrase.upper())
        found += bool(held.mask[contents[name]]) and lowest[name] + border in held.passages
    assert found == 60


def passages_of(library: Library, content: int) -> list[int]:
    places = library._view("fake-1").passage_content
    return [int(place) for place in np.flatnonzero(places == content)]


class Oracle:
    """Where phrases begin, found by going through all texts word by word."""

    def __init__(self) -> None:
        self.documents: list[tuple[int, list[str], list[tuple[list[str], bool]]]] = []

    def add(self, content: int, title: str, paragraphs: list[tuple[str, bool]]) -> None:
        def steps(text: str) -> list[str]:
            return [unit.text for unit in _analysis.units(text)]

        self.documents.append((content, steps(title), [(steps(text), body) for text, body in paragraphs]))

    def begins(self, phrase: str) -> set[tuple[int, int]]:
        """Gives content and number of the passage of each place."""
        wanted = [unit.text for unit in _analysis.units(phrase)]
        found = set()
        for content, title, paragraphs in self.documents:
            whole = [(step, number) for number, (steps, _) in enumerate(paragraphs) for step in steps]
            body = [(step, number) for number, (steps, is_body) in enumerate(paragraphs) if is_body for step in steps]
            for text in ([(step, 0) for step in title], whole, body if len(wanted) > 1 else []):
                for at in range(len(text) - len(wanted) + 1):
                    if [step for step, _ in text[at : at + len(wanted)]] == wanted:
                        found.add((content, text[at][1]))
        return found


@pytest.mark.parametrize(("many", "few", "seed"), [(0, 0, 7), (0, 10, 8), (5, 10_000, 9), (10_000, 0, 7)])
def test_phrases_agree_with_a_search_through_all_texts(
    library: Library, monkeypatch: pytest.MonkeyPatch, many: int, few: int, seed: int
) -> None:
    monkeypatch.setattr("sbert_desktop.library._words.PRUNE_FROM", 50)
    monkeypatch.setattr(_phrases, "MANY_PASSAGES", many)
    monkeypatch.setattr(_phrases, "FEW_DOCUMENTS", few)
    monkeypatch.setattr(_phrases, "FILTER_FROM", 20)
    monkeypatch.setattr(_units, "DOCUMENTS_AT_ONCE", 50)
    monkeypatch.setattr(_phrases, "AROUND_SHARE", 0.3 if many else 0.1)
    chance = random.Random(seed)
    vocabulary = ["the", "of", "rare", "well-known", "café", "AB-12", "e", "don't", "l'eau", "日本", "語", "x_y", "C++"]

    def paragraph() -> str:
        words = chance.choices(vocabulary, k=chance.randrange(1, 9))
        return "".join(word + chance.choice([" ", ", ", " (", "\n"]) for word in words)

    oracle = Oracle()
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        for number in range(120):
            title = paragraph() if chance.random() < 0.3 else ""
            texts = [(paragraph(), chance.random() < 0.8) for _ in range(chance.randrange(1, 6))]
            text, passages = document([text for text, _ in texts], title=title)
            passages = [
                dataclasses.replace(passage, embedded=body) for passage, (_, body) in zip(passages, texts, strict=True)
            ]
            content = writer.put(folder, file_at(Path(f"/docs/{number}.txt"), str(number)), text, passages, ())
            oracle.add(content, title, texts)
    snapshot = library.snapshot("fake-1")
    owners = snapshot._view.passage_content
    half = np.arange(len(snapshot._view.content_live)) % 2 == 0
    hits = 0
    for at in range(150):
        phrase = " ".join(chance.choices(vocabulary, k=chance.randrange(1, 5)))
        mask = half if at % 3 == 0 else None
        wanted = sorted(pair for pair in oracle.begins(phrase) if mask is None or mask[pair[0]])
        held = snapshot.holding((phrase,), (), (), mask)
        assert held is not None
        found = [(int(owners[p]), int(p - np.flatnonzero(owners == owners[p])[0])) for p in held.passages]
        assert found == wanted, phrase
        assert np.flatnonzero(held.mask).tolist() == sorted({content for content, _ in wanted})
        hits += bool(wanted)
    assert hits > 50


def test_a_library_without_words_in_order_finds_phrases_too_until_it_gets_them(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_phrases, "MANY_PASSAGES", 0)
    contents = fill(library, {"a": ["some green", "tea"], "b": ["tea green"]})
    with library.writer() as writer:
        _units.drop(writer._connection, 1)
        writer._connection.execute("UPDATE meta SET value='1' WHERE key='analysis'")
    assert names(contents, hold(library, "green tea")) == ["a"]
    with library.writer() as writer:
        put_text(writer, library.folders()[0].id, Path("/docs/c.txt"), ["x"])
    assert library.integrity()["bad_units"] == 0
    asked = []
    find = _units.find
    monkeypatch.setattr(_units, "find", lambda *a: asked.append(a) or find(*a))
    assert names(contents, hold(library, "green tea")) == ["a"]
    assert asked


def test_words_in_order_leave_with_their_document(library: Library, tmp_path: Path) -> None:
    fill(library, {"a": ["green tea"], "b": ["green tea too"], "c": [" "]})
    with library.writer() as writer:
        writer.remove([library.known_files(1)[b"/docs/a.txt"].id])  # type: ignore[arg-type]
    assert library.integrity()["bad_units"] == 0
    with closing(sqlite3.connect(library.path / "catalog.sqlite")) as connection:
        held = connection.execute("SELECT numbers FROM words_in_order_1 ORDER BY content").fetchall()
    assert [len(row[0]) // 4 for row in held] == [4, 1], "three words and the end; a document of no word"


@pytest.mark.parametrize(
    ("text", "phrase", "held"),
    [
        ("They said: Good (morning)!", "good morning", True),
        ("une école normale", "ECOLE NORMALE", True),
        ("dans l’école normale", "l'ecole normale", True),
        ("walking home", "walk home", False),
        ("order AB-12/7 today", "AB-12/7 today", True),
        ("order AB-12/7 today", "12/7 today", False),
        ("version 3.40.1 of it", "version 3.40.1", True),
        ("version 3.40.1 of it", "version 3.40", False),
        ("a well-known fact", "well known fact", True),
        ("written in C++ today", "in c++ today", True),
        ("written in C++ today", "in C# today", False),
        ("in James's book", "james book", True),
        ("我喜欢北京烤鸭", "北京烤", True),
        ("我喜欢北京烤鸭", "北烤", False),
        ("我喜欢北京烤鸭", "鸭", True),
        ("the getUserName call", "the getusername call", True),
        ("see my_userName here", "my userName here", True),
        ("the Straße here", "the strasse", True),
        ("to be or not to be", "be or not", True),
    ],
)
def test_words_of_a_phrase_are_compared_in_their_exact_form(
    library: Library, text: str, phrase: str, held: bool
) -> None:
    contents = fill(library, {"one": [text]})
    assert names(contents, hold(library, phrase)) == (["one"] if held else [])


def test_characters_over_a_border_are_found(library: Library) -> None:
    contents = fill(library, {"one": ["我喜欢北", "京烤鸭"], "two": ["京烤", "北"]})
    found = hold(library, "北京")
    assert names(contents, found) == ["one"]
    assert found.passages.tolist() == passages_of(library, contents["one"])[:1]


@pytest.mark.parametrize("many", [0, 10_000])
def test_letters_that_do_not_decompose_and_emoji_are_found_in_phrases(
    library: Library, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(_phrases, "MANY_PASSAGES", many)
    contents = fill(library, {
        "a": ["un «cœur» d'or"], "b": ["od Łodzi do IĞDIR"], "c": ["great party 🎉🎂 tonight", "❤\ufe0f👍🏽"],
        "d": ["🎂🎉"],
    })  # fmt: skip
    for phrase, found in (
        ("coeur d'or", "a"), ("un CŒUR", "a"), ("lodzi do ığdır", "b"), ("🎉", "cd"), ("🎉🎂", "c"), ("🎉 🎂", "c"),
        ("party 🎉", "c"), ("🎂 tonight", "c"), ("❤👍", "c"), ("❤\ufe0f", "c"), ("🎂🎉", "d"), ("🎉 tonight", ""),
    ):  # fmt: skip
        assert names(contents, hold(library, phrase)) == list(found), phrase
    assert names(contents, hold(library, words=("🎂",))) == ["a", "b"]
    assert names(contents, hold(library, words=("coeur", "🎉🎂"))) == ["b", "d"]


def test_a_version_number_is_left_out_with_and_without_its_v(library: Library) -> None:
    contents = fill(library, {"a": ["Version v2.10.3"], "b": ["Version 2.10.3"], "c": ["Version 2.10"]})
    assert names(contents, hold(library, words=("2.10.3",))) == ["c"]
    assert names(contents, hold(library, words=("v2.10.3",))) == ["c"]
    assert names(contents, hold(library, "v2.10.3")) == ["a"], "a phrase is what stands there"


def test_a_footer_does_not_break_a_phrase(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    text, passages = document(["the last words of", "Page 12 of 30", "the first page"])
    passages[1] = dataclasses.replace(passages[1], embedded=False)
    with library.writer() as writer:
        content = writer.put(folder, file_at(Path("/docs/a.pdf"), "x"), text, passages, ())  # type: ignore[arg-type]
    assert hold(library, "words of the first").mask[content]
    assert hold(library, "page 12 of 30").mask[content]


def test_excluded_words_take_their_forms_with_them(library: Library) -> None:
    contents = fill(library, {"walk": ["he walks home"], "run": ["he runs home"], "code": ["the AB-12 part"]})
    assert names(contents, hold(library, words=("walking",))) == ["run", "code"]
    assert names(contents, hold(library, words=("AB-12",))) == ["walk", "run"]
    assert names(contents, hold(library, words=("AB",))) == ["walk", "run"], "a part is a word of its own"
    assert names(contents, hold(library, words=("12-AB",))) == ["walk", "run", "code"]
    assert names(contents, hold(library, "home", without=("he runs",))) == ["walk"]
    assert library.snapshot("fake-1").holding((), (), (), None) is None
    assert library.snapshot("fake-1").holding(("...", ""), ("!",), (), None) is None


def test_a_mask_narrows_and_does_not_spoil_later_answers(library: Library) -> None:
    contents = fill(library, {"a": ["green tea here"], "b": ["green tea there"], "c": ["tea green"]})
    snapshot = library.snapshot("fake-1")
    mask = np.zeros(max(contents.values()) + 1, np.bool_)
    mask[contents["b"]] = True
    narrow = snapshot.holding(("green tea",), (), (), mask)
    assert narrow is not None
    assert names(contents, narrow) == ["b"]
    assert names(contents, hold(library, "green tea")) == ["a", "b"]
    assert names(contents, hold(library, "green tea", "there")) == ["b"]
    again = snapshot.holding(("green tea",), (), (), mask)
    assert again is not None
    assert names(contents, again) == ["b"]


def test_a_whole_page_is_a_phrase_too(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_phrases, "MANY_PASSAGES", 0)
    chance = random.Random(8)
    words = made_up(chance, 3_000)
    ascii_words = [word.replace("é", "e") for word in words]
    contents = fill(library, {"a": [" ".join(words)], "b": [" ".join(words[:-1])], "c": [" ".join(ascii_words)]})
    assert names(contents, hold(library, " ".join(words))) == ["a", "c"]
    assert names(contents, hold(library, " ".join(ascii_words[5:]))) == ["a", "c"]
    assert names(contents, hold(library, " ".join(words[1_000:1_200]))) == ["a", "b", "c"]


@pytest.mark.parametrize("many", [0, 10_000])
@pytest.mark.parametrize("few", [0, 10_000])
@pytest.mark.parametrize("phrase", ["green tea", "on green"])
def test_title_words_hold_a_phrase(
    library: Library, monkeypatch: pytest.MonkeyPatch, many: int, few: int, phrase: str
) -> None:
    monkeypatch.setattr(_phrases, "MANY_PASSAGES", many)
    monkeypatch.setattr(_phrases, "FEW_DOCUMENTS", few)
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/other.txt"), ["green", "tea"], title="Tea on")
        content = put_text(writer, folder, Path("/docs/a.txt"), ["body", "more"], title="On Green Tea")
    found = hold(library, phrase)
    assert found.mask[content]
    assert found.passages.tolist()[-1:] == passages_of(library, content)[:1]
    assert not hold(library, "tea body").mask[content], "a title and the text are not one text"


def test_removed_documents_hold_nothing(library: Library) -> None:
    contents = fill(library, {"a": ["green tea"], "b": ["green tea too"]})
    assert names(contents, hold(library, "green tea")) == ["a", "b"]
    with library.writer() as writer:
        known = library.known_files(1)  # type: ignore[arg-type]
        writer.remove([known[b"/docs/a.txt"].id])
    assert names(contents, hold(library, "green tea")) == ["b"]


def test_any_text_is_a_phrase_or_nothing(library: Library) -> None:
    fill(library, {"a": ["some text"]})
    chance = random.Random(3)
    signs = ['"', "'", "*", "(", "\0", "AND", "NEAR(", "😀", "\u202e", "½", "é", "日", "+", "#", "a", "7", "\ud800"]
    for _ in range(300):
        text = "".join(chance.choices(signs, k=chance.randrange(1, 30)))
        library.snapshot("fake-1").holding((text,), (text,), (text,), None)
    library.snapshot("fake-1").holding(("word " * 20_000,), (), (), None)
    assert _phrases._phrase("\0") is None
