from __future__ import annotations

import random

import pytest

from sbert_desktop.library import _analysis
from sbert_desktop.library._analysis import LONGEST, TOKEN_CHARS, analyzer, query_tokens


def tokens(text: str, language: str = "en") -> set[str]:
    return set(analyzer(language).tokens(text)[0].split())


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("written in C++ and C#", "c++"),
        ("written in C++ and C#", "C#"),
        ("SQLite 3.40.1 was used", "3.40.1"),
        ("SQLite 3.40.1 was used", "3.40"),
        ("order AB-12/7, please", "ab-12/7"),
        ("order AB-12/7, please", "AB"),
        ("write to max.m@example.org now", "max.m@example.org"),
        ("Straße in Zürich", "strasse zurich"),
        ("a naïve résumé", "resume"),
        ("ÉCOLE", "école"),
        ("my iPhone", "iphone"),
        ("call getUserName()", "user name"),
        ("call getUserName()", "getusername"),
        ("the user_name field", "user_name"),
        ("he doesn't know", "doesnt"),
        ("O’Neill's house", "O'Neill"),
        ("two houses burning", "house burned"),
        ("ﬁne ligatures", "fine"),
        ("猫が好きです", "好き"),
        ("猫が好きです", "猫"),
        ("我喜欢北京", "北京"),
        ("서울에서 만나요", "서울"),
        ("हिन्दी भाषा", "हिन्दी"),
        ("Ελληνική Δημοκρατία", "ελληνικη"),
        ("e\u0301cole", "école"),
        ("un «cœur» d'or", "coeur"),
        ("the oeuvre of a painter", "Œuvre"),
        ("a train to Łódź", "lodz"),
        ("Lodz", "Łódź"),
        ("IĞDIR", "ığdır"),
        ("IĞDIR", "igdir"),
        ("İstanbul", "istanbul"),
        ("smørrebrød", "smorrebrod"),
        ("Ægir, Þór og Guðrún", "aegir"),
        ("Ægir, Þór og Guðrún", "Thor"),
        ("Ægir, Þór og Guðrún", "gudrun"),
        ("Đà Nẵng", "da nang"),
        ("Ħaż-Żabbar", "haz"),
        ("a party 🎉", "🎉"),
        ("a party🎉", "party 🎉"),
        ("thank you ❤\ufe0f", "❤"),
        ("thank you ❤", "❤\ufe0f"),
        ("well done 👍🏽", "👍"),
        ("a parcel to 🇩🇪", "🇩🇪"),
    ],
)
def test_query_finds_the_word_in_the_text(text: str, query: str) -> None:
    held = tokens(text)
    for wanted in query_tokens(query, ("en",)):
        if wanted.prefix:
            assert any(token.startswith(wanted.text) for token in held)
    assert any(wanted.text in held or wanted.prefix for wanted in query_tokens(query, ("en",)))


@pytest.mark.parametrize(("text", "query"), [("C++", "c#"), ("3.40.1", "2.40"), ("猫が", "犬"), ("walking", "talking")])
def test_other_words_share_no_whole_token(text: str, query: str) -> None:
    wanted = {token.text for token in query_tokens(query, ("en",)) if len(token.text) > 2}
    assert wanted.isdisjoint(tokens(text))


@pytest.mark.parametrize("language", ["en", "fr", "tr", "pl", "da", ""])
@pytest.mark.parametrize("word", ["cœur", "Łódź", "IĞDIR", "Þór", "Đorđe", "GRØN", "ÆRØ", "ǽ", "ﬁn", "Straße"])
def test_words_and_whole_texts_are_folded_alike(word: str, language: str) -> None:
    folded = _analysis.fold(word)
    assert folded.isascii()
    assert _analysis.fold_text(f"a {word}\n") == f"a {folded}\n"
    assert _analysis.fold(folded) == folded
    held = tokens(word, language)
    assert {token.text for token in query_tokens(folded, (language,))} & held
    assert {token.text for token in query_tokens(word.upper(), (language,))} & held


@pytest.mark.parametrize(("text", "query"), [("v2.10.3", "2.10.3"), ("2.10.3", "V2.10.3"), ("v2.10.3", "v2.10.3")])
def test_a_version_number_is_found_whole_with_and_without_its_v(text: str, query: str) -> None:
    wanted = {token.text: token.weight for token in query_tokens(query, ("en",))}
    assert wanted["2.10.3"] == max(wanted.values())
    assert "2.10.3" in tokens(text)
    assert {token.text for token in _analysis.word_tokens(query, ("en",))} & tokens(text)


def test_other_words_with_a_v_before_a_figure_stay_as_they_are() -> None:
    assert tokens("V8") == {"v8"}
    assert tokens("dev2.1") == {"dev2.1", "dev2", "1"}
    assert tokens("AB-v2.1") == {"ab-v2.1", "ab", "=ab", "v2", "1"}


def test_signs_before_items_of_a_list_are_no_words() -> None:
    assert tokens("→ ✔ ➢ ☐ ★ ▪ • ✓") == set()


def test_stems_follow_the_language_of_the_text() -> None:
    assert "haus" in tokens("Häuser", "de")
    assert "haus" not in tokens("Häuser", "en")
    assert {"maison"} <= tokens("les maisons", "fr")
    assert tokens("slova", "cs") == tokens("slova", "xx"), "a language without a stemmer keeps the word"


def test_frequencies_are_marked() -> None:
    made = tokens("cat dog dog fox fox fox hen hen hen hen hen")
    assert "2~cat" not in made
    assert {"2~dog", "2~fox", "3~fox", "2~hen", "3~hen", "5~hen"} <= made
    assert "3~dog" not in made


def test_length_counts_words() -> None:
    assert analyzer("en").tokens("one two, three!")[1] == 3


WIDE = [*range(0xA0, 0x3000), *range(0x3040, 0xD7FF), *range(0xE000, 0x11000)]


def random_text(chance: random.Random) -> str:
    kinds = [
        lambda: chr(chance.randrange(32, 127)),
        lambda: chance.choice("\"'*():^-+{}[]~=\\%_;/.,<>|&!?#@$` \t\n\r\0"),
        lambda: chr(chance.choice(WIDE)),
        lambda: chance.choice(
            ["AND", "OR", "NOT", "NEAR", "NEAR/2", "exact:", "tokens :", '"', "''", "--", "/*", "ﷺ", "½"]
        ),
        lambda: chr(chance.randrange(0xD800, 0xE000)),
    ]
    return "".join(chance.choice(kinds)() for _ in range(chance.randrange(0, 40)))


def test_tokens_hold_nothing_that_the_table_would_cut() -> None:
    chance = random.Random(5)
    for _ in range(3_000):
        for token in tokens(random_text(chance), chance.choice(["en", "de", "ru", "zh", ""])):
            bare = token.split("~")[-1].removeprefix("=")
            assert 0 < len(bare) <= LONGEST
            assert all(not ch.isascii() or ch.isalnum() or ch in TOKEN_CHARS for ch in token)
            assert not any("A" <= ch <= "Z" for ch in token)


def test_tokens_depend_on_text_and_language_only() -> None:
    chance = random.Random(6)
    texts = [random_text(chance) for _ in range(300)]
    before = [analyzer("en").tokens(text) for text in texts]
    fresh = _analysis.Analyzer("en")
    assert [fresh.tokens(text) for text in reversed(texts)] == before[::-1]


def test_marks_cover_the_words_that_match() -> None:
    text = "The houses of C++: 猫が好き, a house"
    wanted = {token.text for token in query_tokens("house C++ 好き", ("en",))}
    spans = _analysis.match(wanted, set(), text, ("en",))
    assert [text[start:end] for start, end in spans] == ["houses", "C++", "好き", "house"]
    assert [text[a:b] for a, b in _analysis.match(set(), {"猫"}, text, ("en",))] == ["猫"]


def test_marks_cover_a_part_of_a_word_in_camel_case() -> None:
    wanted = {token.text for token in query_tokens("user", ("en",))}
    assert _analysis.match(wanted, set(), "call getUserName now", ("en",)) == [(5, 16)]


def test_a_very_long_word_is_quick_and_cut() -> None:
    held = tokens("x" * 200_000 + " " + "a." * 100_000 + " " + "+" * 100_000)
    assert "x" * LONGEST in held
    assert max(map(len, held)) <= LONGEST + 2


@pytest.mark.parametrize("language", ["en", "de", "fr", "fi", "ru", "id", "ga"])
def test_marks_are_the_same_with_and_without_the_first_letter_shortcut(language, monkeypatch):
    rng = random.Random(language)
    stock = [
        "running",
        "Aerzte",
        "uebung",
        "école",
        "bhean",
        "membaca",
        "relational",
        "C++",
        "AB-12/7",
        "straße",
        "naïve",
        "weighs",
        "Müller",
        "water",
    ]
    words = [*stock, *("".join(rng.choice("abcdeimnrstü") for _ in range(rng.randint(2, 9))) for _ in range(300))]
    text = " ".join(words)
    for word in words[:40]:
        wanted = {token.text for token in _analysis.query_tokens(word, (language,))}
        quick = _analysis.match(wanted, set(), text, (language,))
        with monkeypatch.context() as patch:
            patch.setattr(_analysis, "PREFIXING", frozenset({language}))
            assert _analysis.match(wanted, set(), text, (language,)) == quick


@pytest.mark.parametrize(
    ("query", "kept", "left_out"),
    [
        ("when do I get my deposit back", {"deposit", "back"}, {"when", "do", "i", "my"}),
        ("who is the WHO", {"who"}, {"the", "is"}),
        ("to be or not to be", {"to", "be", "or", "not"}, set()),
        ("THE IT", {"the", "it"}, set()),
    ],
)
def test_function_words_are_left_out_unless_nothing_else_is_there(query, kept, left_out):
    exact = {token.text.lstrip("=") for token in query_tokens(query, ("en",))}
    assert kept <= exact
    assert not exact & left_out
