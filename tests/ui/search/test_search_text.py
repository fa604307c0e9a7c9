"""Spans stay on their words, whatever the whitespace, and Qt's offsets are right with emoji."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sbert_desktop.ui.search.text import (
    Utf16Map,
    collapse,
    count_words,
    drawable,
    make_snippet,
    one_line,
    ordinal,
    unwrap,
)

ALPHABET = st.sampled_from(list("ab .\n\t\r🙂é漢\u202e\u00a0x"))
TEXT = st.text(ALPHABET, max_size=120)


@st.composite
def text_with_spans(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    text = draw(TEXT)
    place = st.integers(0, len(text))
    spans = [tuple(sorted((draw(place), draw(place)))) for _ in range(draw(st.integers(0, 4)))]
    return text, spans  # type: ignore[return-value]


def words_of(text: str) -> list[str]:
    return text.replace("\u202e", "").split()


@given(text_with_spans())
@settings(max_examples=200, deadline=None)
def test_collapsed_spans_hold_the_same_words(case: tuple[str, list[tuple[int, int]]]) -> None:
    text, spans = case
    flat, moved = collapse(text, spans)
    assert flat == " ".join(words_of(text))
    for (start, end), (new_start, new_end) in zip(spans, moved, strict=True):
        assert flat[new_start:new_end] == " ".join(words_of(text[start:end]))


@given(text_with_spans(), st.integers(20, 80))
@settings(max_examples=200, deadline=None)
def test_snippet_spans_lie_inside_and_show_their_words(
    case: tuple[str, list[tuple[int, int]]], size: int
) -> None:
    text, spans = case
    sentence = spans[0] if spans else None
    snippet = make_snippet(text, sentence, spans[1:], size)
    assert len(snippet.text) <= size + 4
    if sentence and words_of(text[sentence[0] : sentence[1]]):
        assert snippet.mark is not None
        start, end = snippet.mark
        whole = " ".join(words_of(text[sentence[0] : sentence[1]]))
        assert whole.startswith(snippet.text[start:end])
        assert end > start
    for start, end in snippet.words:
        assert 0 <= start < end <= len(snippet.text)


def test_a_snippet_is_not_cut_before_the_sentence_that_it_is_to_show() -> None:
    snippet = make_snippet("aaaaaaaaaaaaaaa bbbbb", (15, 17), [], 20)
    assert snippet.mark is not None
    assert snippet.text[slice(*snippet.mark)] == "b"


def test_snippet_starts_at_a_far_best_sentence() -> None:
    text = "Long introduction without an end " * 10 + ". The answer is here. Then more."
    start = text.index("The answer")
    snippet = make_snippet(text, (start, start + 19), [], 120)
    assert snippet.mark is not None
    assert snippet.text[slice(*snippet.mark)] == "The answer is here."
    assert snippet.text.startswith("… ")


def test_snippet_keeps_a_short_sentence_before_the_best_one() -> None:
    text = "x" * 10 + " filler words here that go on and on for a while. § 7 Deposit. The landlord pays. End."
    start = text.index("The landlord")
    snippet = make_snippet(text, (start, start + 18), [])
    assert snippet.text.startswith("… § 7 Deposit. The landlord")


def test_snippet_without_a_sentence_shows_where_most_words_lie() -> None:
    text = "deposit " + "filler " * 80 + "the deposit comes back after thirty days " + "filler " * 40
    words = [(i, i + len(w)) for w in ("deposit", "back", "thirty") for i in range(len(text)) if text.startswith(w, i)]
    snippet = make_snippet(text, None, sorted(words), 120)
    assert {"deposit", "back", "thirty"} <= {snippet.text[s:e] for s, e in snippet.words}


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_utf16_offsets_agree_with_an_encoder(text: str) -> None:
    text = drawable(text)
    mapping = Utf16Map(text)
    for point in range(len(text) + 1):
        unit = len(text[:point].encode("utf-16-le")) // 2
        assert mapping.unit(point) == unit
        assert mapping.point(unit) == point


def test_utf16_span_behind_an_emoji() -> None:
    text = "🙂🙂 deposit"
    start, length = Utf16Map(text).span((3, 10))
    assert (start, length) == (5, 7)
    assert text.encode("utf-16-le")[2 * start : 2 * (start + length)].decode("utf-16-le") == "deposit"


@given(st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_drawable_keeps_every_offset(text: str) -> None:
    assert len(drawable(text)) == len(text)
    assert "\r" not in drawable(text)


def test_names_stay_on_one_line_and_cannot_turn_the_text() -> None:
    assert one_line("a\nb\u202ecod.exe") == "a\\nb\\u202ecod.exe"
    assert one_line("lone \ud800 sign") == "lone � sign"
    assert one_line("<img src=/etc/passwd>") == "<img src=/etc/passwd>"


def test_small_words() -> None:
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 21, 113)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "113th"]
    assert count_words("Deposit, deposit back", [(0, 7), (9, 16), (17, 21)]) == (("deposit", 2), ("back", 1))


WRAPPED = """A heading
It was high time to go, for the pool was getting quite crowded
with the birds and animals that had fallen into it: there were a
Duck and a Dodo.

- first item of a list that is long enough to look as if wrapped
- second item
  def code(): indented lines keep their place in the text, all of
"""


def test_hard_wrapped_prose_flows_and_everything_else_keeps_its_lines() -> None:
    flowing = unwrap(WRAPPED, "txt")
    assert len(flowing) == len(WRAPPED)
    assert "crowded with the birds" in flowing
    assert "were a Duck and a Dodo.\n\n" in flowing
    assert flowing.startswith("A heading\nIt was")
    assert "wrapped\n- second item\n  def" in flowing
    assert unwrap(WRAPPED, "py") == WRAPPED


@given(st.text(st.sampled_from("ab \n-"), max_size=300), st.sampled_from(["txt", "html", "csv"]))
@settings(max_examples=200, deadline=None)
def test_unwrapping_moves_no_offset(text: str, form: str) -> None:
    flowing = unwrap(text, form)
    assert len(flowing) == len(text)
    assert all(new == old or (new, old) == (" ", "\n") for new, old in zip(flowing, text, strict=True))
