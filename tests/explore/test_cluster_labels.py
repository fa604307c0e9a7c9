"""Labels of themes: phrases over words, no stop words, never empty, in any script."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sbert_desktop.explore._stop_words import LANGUAGES, stop_words
from sbert_desktop.explore.cluster_labels import (
    TermTable,
    ThemeLabel,
    log_likelihood,
    name_themes,
    read_terms,
)

FOOTBALL = ["The striker scored for Red Harbour and the goalkeeper of Red Harbour was angry about the referee.",
            "A penalty for Red Harbour: the striker missed it, and the referee sent the goalkeeper off.",
            "Red Harbour want a new striker. The referee is not their friend."]  # fmt: skip
COOKING = ["Stir the dough with olive oil and bake the bread in a hot oven.",
           "Olive oil and flour make a dough; the oven must be hot.",
           "Bake it in the oven until the bread is brown, then add olive oil."]  # fmt: skip


def named(themes: Sequence[Sequence[str]], language: str = "en", **more: Sequence[object]) -> list[ThemeLabel]:
    table = TermTable(len(themes))
    for theme, texts in enumerate(themes):
        for text in texts:
            table.add(theme, read_terms(text, language))
    titles = more.get("titles") or [""] * len(themes)
    names = more.get("names") or [[]] * len(themes)
    return name_themes(table, titles, names)  # type: ignore[arg-type]


def words(label: ThemeLabel) -> list[str]:
    return [keyword.text for keyword in label.keywords]


def test_a_theme_is_named_by_what_stands_in_it_and_hardly_elsewhere() -> None:
    football, cooking = named([FOOTBALL * 4, COOKING * 4])
    assert "Red Harbour" in words(football)
    assert {"striker", "referee"} <= set(words(football))
    assert "olive oil" in words(cooking)
    assert "oven" in words(cooking)
    assert not {"Red", "Harbour"} & set(words(football))  # the phrase stands for them
    assert not {"olive", "oil"} & set(words(cooking))
    assert football.source == "words"


@pytest.mark.parametrize(
    ("language", "stop", "text"),
    [
        ("en", {"the", "and", "of"}, "The garden and the roses of the garden and the roses."),
        ("de", {"der", "und", "nicht"}, "Der Garten und die Rosen, die der Garten nicht hat, und die Rosen."),
        ("fr", {"le", "et", "des"}, "Le jardin et des roses, c'est le jardin des roses."),
        ("es", {"el", "y", "los"}, "El jardín y los rosales, y el jardín de los rosales."),
        ("", {"the", "der", "le", "und"}, "The garden und der garden et le garden."),
    ],
)
def test_stop_words_of_the_language_name_nothing(language: str, stop: set[str], text: str) -> None:
    label = named([[text] * 5], language)[0]
    found = {word.lower() for term in words(label) for word in term.split()}
    assert found
    assert not found & stop


def test_a_phrase_takes_the_place_of_a_word_that_it_mostly_explains() -> None:
    often = ["The budget committee."] * 9 + ["A budget is here."] * 11
    seldom = ["The budget committee."] * 2 + ["A budget is here."] * 8
    first, _ = named([often, COOKING * 12])
    assert "budget committee" in words(first)
    assert "budget" not in words(first)
    assert "budget" in words(named([seldom, COOKING * 12])[0])


def test_a_phrase_does_not_reach_across_stop_words_or_stops() -> None:
    terms = read_terms("The bank of England. Rates rose, prices fell - quickly", "en").terms
    assert "bank england" not in terms
    assert "england rate" not in terms
    assert "rose price" not in terms
    assert "rate rose" in terms


def test_words_of_everywhere_name_no_theme() -> None:
    footer = " Confidential draft."
    labels = named([[text + footer for text in FOOTBALL * 4], [text + footer for text in COOKING * 4]])
    for label in labels:
        assert "Confidential draft" not in words(label)
        assert all(keyword.evidence >= 10.83 for keyword in label.keywords)
        assert all(keyword.share > keyword.elsewhere for keyword in label.keywords)


def test_one_long_list_does_not_name_a_theme() -> None:
    texts = [*FOOTBALL * 4, "zebra " * 500]
    assert "zebra" not in words(named([texts, COOKING * 4])[0])


def test_plurals_and_stems_are_not_listed_twice() -> None:
    texts = ["The contracts were signed.", "A contract was signed.", "Contractual contracts."] * 4
    found = [word.lower() for word in words(named([texts, COOKING * 4])[0])]
    assert sum(word.startswith("contract") for word in found) == 1


def test_chinese_is_named_by_runs_of_signs() -> None:
    market = ["股票市场今天上涨了。", "股票市场的投资者很高兴。", "他们在股票市场投资。"] * 4
    kitchen = ["厨房里有新鲜面包。", "新鲜面包在厨房的桌子上。", "她喜欢新鲜面包。"] * 4
    first, second = named([market, kitchen], "zh")
    assert first.keywords[0].text == "股票市场"
    assert "新鲜面包" in words(second)
    assert all(word != "了" and word != "的" for word in words(first))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2024 17 88"] * 3, ("17", "2024", "88")),
        (["🎉🎂 🎉"] * 3, ("🎂", "🎉")),
        (["東京"] * 3, ("東京",)),
        (["Straße"] * 3, ("Straße",)),
        (["AT&T e-mail"] * 3, ("AT&T e-mail",)),
    ],
)
def test_digits_emoji_and_any_script_can_name_a_theme(texts: list[str], expected: tuple[str, ...]) -> None:
    label = named([texts])[0]
    assert label.source == "words"
    assert set(expected) <= set(words(label)) or label.label == expected[0]


def test_numbers_step_back_where_there_are_words() -> None:
    label = named([["2004 invoice 4711"] * 6, COOKING * 2])[0]
    assert words(label)[0] == "invoice"


@pytest.mark.parametrize("texts", [[], [""], ["the and of the"], ["... --- !!!"], ["a"]])
def test_a_label_is_never_empty(texts: list[str]) -> None:
    assert named([texts])[0].label == "Untitled"
    assert named([texts], titles=["  Minutes\nof May "])[0].label == "Minutes of May"
    by_name = named([texts], names=[["scan 1.pdf", "scan 2.pdf", "scan 3.pdf"]])[0]
    assert by_name.label == "scan 1.pdf, scan 2.pdf"
    assert by_name.source == "names"


def test_no_two_labels_are_equal() -> None:
    labels = [label.label for label in named([["the"], ["the"], ["the"]])]
    assert labels == ["Untitled", "Untitled (2)", "Untitled (3)"]


def test_labels_stay_short() -> None:
    long = "Donaudampfschifffahrtsgesellschaftskapitän"
    texts = [f"{long}smütze. {long}en Verordnungsverordnung. Verwaltungsvorschrift Vorschriftenverwaltung."] * 5
    label = named([texts], "de", titles=["x" * 200])[0]
    assert 0 < len(label.label) <= 61
    assert len(named([["the"]], titles=["word " * 100])[0].label) <= 61


def test_the_central_title_stands_beside() -> None:
    assert named([FOOTBALL * 2], titles=["Harbour lose again"])[0].central == "Harbour lose again"


def test_the_log_likelihood_ratio_is_that_of_the_table() -> None:
    assert log_likelihood(5, 10, 50, 100) == pytest.approx(0, abs=1e-9)
    assert log_likelihood(10, 10, 0, 10) == pytest.approx(2 * 20 * np.log(2))
    assert log_likelihood(0, 0, 5, 5) == 0


def test_every_language_has_its_words_and_english_with_them() -> None:
    for language in LANGUAGES:
        assert len(stop_words(language)) > 150
        assert "the" in stop_words(language)
    assert "und" in stop_words("de-AT")
    assert "und" not in stop_words("en")


def test_a_small_theme_is_filled_up_with_words_that_are_likely_its_own() -> None:
    table = TermTable(2)
    for at in range(5):
        words = ["orchard", "grafting", "pruning"] if at < 3 else ["orchard", "grafting"]
        table.add(0, read_terms("; ".join([*words, f"once{at}"]), "en"))
    for at in range(12):
        now_and_then = ("pruning; grafting", "grafting")[at] if at < 2 else ""
        table.add(1, read_terms(f"ferry; rare{at}; {now_and_then}", "en"))
    words = [keyword.text for keyword in table.keywords()[0]]
    assert words[:2] == ["orchard", "grafting"]
    assert "pruning" in words
    assert not any(word.startswith("once") for word in words)
