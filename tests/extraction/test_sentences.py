from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sbert_desktop.extraction import sentences
from tests.effort import least_cpu


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize("expected", [
    ["Dr. Smith met J. K. Rowling at 5 p.m.", "The U.S. Senate paid $3.5 million.", "It was late."],
    ['"What?" he said.', '"Go."', "She left."],
    ["See Fig. 3 and pp. 12 ff. for more.", "Then stop!", "Really?!", "Yes…"],
    ["He works at Foo Inc. in Rome.", "The firm is old.", "Apples, pears, etc. are sold.", "The end."],
    ["In 1995.", "Then came 2001.", "Version 2.0.1 is out."],
    ["Am 3. Oktober 1990 war es z.B. in Berlin so weit.", "Das kostete 3,5 Mio. Euro bzw. mehr.", "Ende."],
    ["(It was cold.)", "We went home.", "“So it is.”", "Well."],
    ["这是第一句。", "这是第二句！", "他问：“真的吗？”"],
    ["यह पहला वाक्य है।", "यह दूसरा है।"],
    ["هل هذا صحيح؟", "نعم."],
])
def test_sentences_end_where_a_reader_ends_them(expected: list[str]) -> None:
    text = ("" if ord(expected[0][0]) > 0x3000 else " ").join(expected)
    assert cut(text) == expected


def test_wrapped_lines_are_one_sentence_and_lists_are_not() -> None:
    assert cut("A line that was wrapped by\nits editor goes on here. New\none.") == [
        "A line that was wrapped by\nits editor goes on here.", "New\none."]
    assert cut("1. First item\n2. Second item\n- third\n- fourth") == [
        "1. First item", "2. Second item", "- third", "- fourth"]
    assert cut("Heading without stop\n\nText of it") == ["Heading without stop", "Text of it"]
    assert cut("Name: Ann\nPlace: Rome\nA much longer line that shows how wide the text may be here") == [
        "Name: Ann", "Place: Rome", "A much longer line that shows how wide the text may be here"]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from("aB1. !?\n\t\"'()。-…é中")), st.integers(0, 3))
def test_every_visible_character_lies_in_exactly_one_sentence(text: str, blanks: int) -> None:
    text = text + "\n" * blanks
    covered = [0] * len(text)
    last = 0
    for start, end in sentences(text):
        assert last <= start < end <= len(text)
        assert not text[start].isspace()
        assert not text[end - 1].isspace()
        last = end
        for at in range(start, end):
            covered[at] += 1
    assert all(covered[at] == 1 for at, char in enumerate(text) if not char.isspace())


def test_long_texts_take_linear_time() -> None:
    for unit in ("One sentence. ", "word ", "a.b.", "line\n", "。"):
        small, text = unit * 20_000, unit * 80_000
        most = 12 * max(least_cpu(lambda: sentences(small), enough=0.01, tries=2), 0.01)  # noqa: B023  called at once
        assert least_cpu(lambda: sentences(text), enough=most) < most, unit  # noqa: B023


def test_stops_that_stand_apart_end_a_sentence_whatever_follows():
    text = "the flow was measured . its lift rose at 3 . 5 degrees ? no one knew . done ."
    found = [text[a:b] for a, b in sentences(text)]
    assert found[0] == "the flow was measured ."
    assert found[-1] == "done ."
