"""Which stretches of a draft are quotations, in the marks of many countries, and how wordings are compared."""

from __future__ import annotations

import random

import pytest

from sbert_desktop.explore.quotations import find_code, find_quotations, quoted_words
from sbert_desktop.explore.wording import Gap, Wording, align, changed_spans, find_exactly

MILL = "the old mill burned down in one night"
MARKED = [
    f'She wrote "{MILL}" in May.',
    f"She wrote “{MILL}” in May.",
    f"She wrote ‘{MILL}’ in May.",
    f"She wrote '{MILL}' in May.",
    f"Sie schrieb „{MILL}“ im Mai.",
    f"Napisała „{MILL}” w maju.",
    f"Sie schrieb ‚{MILL}‘ im Mai.",
    f"Elle écrit « {MILL} » en mai.",
    f"Sie schrieb »{MILL}« im Mai.",
    f"Hän kirjoitti ”{MILL}” toukokuussa.",
    f"她写道「{MILL}」。",
    f"她写道『{MILL}』。",
    f"She wrote ({MILL[:0]}“{MILL}”).",
    f"She wrote—“{MILL}”—in May.",
]


def texts(draft: str) -> list[str]:
    return [quotation.text for quotation in find_quotations(draft)]


@pytest.mark.parametrize("draft", MARKED)
def test_quotation_marks_of_all_scripts_are_known(draft):
    found = find_quotations(draft)
    assert [q.text for q in found] == [MILL]
    assert draft[found[0].start : found[0].end] == MILL


@pytest.mark.parametrize(
    "draft",
    [
        "It's the dogs' yard, and the cats' house isn't theirs; 'tis what the neighbours' children say.",
        'A 5" pipe does not fit into a 6" pipe, nor a 6\' board behind a 7\' board in the shed.',
        'He calls it "the old mill" and leaves.',  # three words are a term
        'A stray " mark in this paragraph here.\n\nAnother stray " mark in the next one.',
        "Rock of the ’80s and ’90s was what they’d listen to.",
    ],
)
def test_apostrophes_inches_terms_and_stray_marks_are_no_quotations(draft):
    assert texts(draft) == []


def test_apostrophes_inside_single_marks_do_not_end_the_quotation():
    assert texts("He wrote 'the dogs' bones don't lie in the yard' and left.") == [
        "the dogs' bones don't lie in the yard"
    ]


def test_quotation_runs_over_line_ends_and_over_paragraphs_that_repeat_the_mark():
    assert texts('He wrote "the old mill\nburned down" then.') == ["the old mill\nburned down"]
    draft = "“The first paragraph of it goes here.\n\n“The second one ends it.” So he wrote."
    assert texts(draft) == ["The first paragraph of it goes here.\n\n“The second one ends it."]


def test_stray_mark_does_not_swallow_the_next_paragraph():
    draft = 'He is 6" tall, "and so.\n\nShe wrote "the old mill burned down" then.'
    assert texts(draft) == ["the old mill burned down"]


def test_inner_quotation_knows_the_one_around_it():
    found = find_quotations("“They said ‘the old mill burned down’ again,” he wrote.")
    assert [(q.text, q.within) for q in found] == [
        ("They said ‘the old mill burned down’ again,", None),
        ("the old mill burned down", 0),
    ]


def test_block_quotes_are_marked_or_indented_lines_without_their_attribution():
    draft = (
        "He is clear about it:\n\n> The old mill burned\n> down in one night.\n> — A. Moor, 1887\n\nAnd then:\n\n"
        "    The miller was not\n    at home that night (Moor 1887, 12).\n\nSo it goes.\n"
    )
    assert texts(draft) == ["The old mill burned\n> down in one night.", "The miller was not\n    at home that night"]


def test_lists_code_and_first_line_indents_are_no_block_quotes():
    assert texts("Intro words.\n\n    - buy flour and salt and yeast\n\nMore of them.\n") == []
    assert texts("Intro words.\n\n    for row in rows:\n        print(row, end of it);\n\nMore of them.\n") == []
    assert texts("    The first one has an indent.\n\n    The second has it too.\n\n    And the third one.\n") == []


PROSE = "He wrote “the miller ran without his boots” at night."
CODE = 'say "the miller slept in the village"'


@pytest.mark.parametrize(
    ("form", "code"),
    [
        (".md", f"```python\n{CODE}\n```\n"),
        (".md", f"~~~~\n{CODE}\n~~~\n```\n{CODE}\n~~~~\n"),
        (".md", f"   ```\r\n{CODE}\r\n   `````\r\n"),
        (".md", f"- ```sh\n  {CODE}\n  ```\n"),
        (".md", f"> ```\n> {CODE}\n> ```\n"),
        (".markdown", f"```\n{CODE}\n```\n"),
        (".org", f"#+BEGIN_SRC python\n{CODE}\n#+end_src\n"),
        (".org", f"#+begin_example\n{CODE}\n#+end_src\n{CODE}\n#+end_example\n"),
        (".adoc", f"[source]\n----\n{CODE}\n----\n"),
        (".rst", f"For instance::\n\n    {CODE}\n\n    {CODE}\n\n"),
        (".rst", f".. code-block:: python\n\n   {CODE}\n\n"),
    ],
)
def test_code_in_a_draft_holds_no_quotation(form, code):
    draft = f"{PROSE}\n\n{code}\n{PROSE}\n"
    found = find_quotations(draft, leave_out=find_code(draft, form))
    assert [quotation.text for quotation in found] == ["the miller ran without his boots"] * 2
    assert len(find_quotations(draft)) > 2


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (".txt", f"```\n{CODE}\n```"),
        (".md", f"```one``` {CODE}"),
        (".md", f"`` ` ``\n{CODE}\n"),
        (".md", f"-----\n{CODE}\n-----\n"),
        (".rst", f"He said:\n\n    {CODE}\n"),
        (".rst", f".. note::\n\n   {CODE}\n"),
        (".org", f"#+begin_quote\n{CODE}\n#+end_quote\n"),
    ],
)
def test_what_only_looks_like_code_is_none(form, text):
    assert find_code(text, form) == ()


def test_code_that_is_not_closed_runs_to_the_end_of_a_draft():
    draft = f"{PROSE}\n```\n{CODE}\n"
    assert find_code(draft, ".md") == ((len(PROSE) + 1, len(draft)),)


def test_what_is_left_out_gives_no_quotation():
    draft = f'x "{MILL}" y'
    assert find_quotations(draft, leave_out=[(0, len(draft))]) == ()


@pytest.mark.parametrize("seed", range(4))
def test_any_text_is_gone_through(seed):
    random_ = random.Random(seed)
    marks = "“”„«»‹›‘’‚'\"「」『』 \n\n>    [...]…abcé中1.,()—"
    for _ in range(300):
        draft = "".join(random_.choices(marks, k=random_.randrange(200)))
        for quotation in find_quotations(draft):
            assert draft[quotation.start : quotation.end] == quotation.text
            quoted_words(quotation.text)


SOURCE = Wording(
    "The mill of the Harrow family burned to the ground in one night, they say [12]; it had ground 1.5 tons of barley "
    "a day, and the mill-\nstones are still there."
)


def exactly(text: str) -> bool:
    quoted = quoted_words(text)
    return find_exactly(quoted.wording.words, quoted.gaps, SOURCE) is not None


@pytest.mark.parametrize(
    "text",
    [
        "burned to the GROUND in one night; they say",
        "the mill ... burned to the ground",
        "the mill […] in one night [. . .] tons of barley",
        "[The] family burned to the ground",
        "[t]he Harrow family burned [down] to the ground",
        "they say it had ground",  # the number of a source between them
        "and the mill-stones are still there",
        "and the millstones are [sic] still there",
    ],
)
def test_wording_is_exact_but_for_case_marks_ellipses_and_brackets(text):
    assert exactly(text)


@pytest.mark.parametrize(
    "text",
    [
        "burned to the round in one night",
        "it had ground 15 tons of barley",
        "in one night … burned to the ground",  # not in this order
        "urned to the ground in one",
        "mill [of the house and the many fields and the lands of] barley a day",
    ],
)
def test_other_words_other_numbers_other_order_are_not_exact(text):
    assert not exactly(text)


def test_changed_words_are_marked_and_missing_ones_too():
    text = "The mill of Harrow family burned down to the ground in two nights"
    quoted = quoted_words(text)
    found = align(quoted.wording.words, quoted.gaps, SOURCE.words)
    assert found is not None
    assert [text[a:b] for a, b in changed_spans(quoted.wording, found)] == [" ", "down", "two nights"]
    assert 0.6 < found.similarity < 1
    assert SOURCE.words[found.first : found.last][0] == "the"
    assert SOURCE.words[found.last - 1] == "night"


def _slow_distance(words, gaps, source) -> int:
    """The plain table: rows are words, columns the source's words."""
    free = {gap.at: gap.most for gap in gaps}
    row = [0] * (len(source) + 1)
    for number, word in enumerate(words, 1):
        fresh = [number]
        for column in range(1, len(source) + 1):
            same = source[column - 1] == word
            fresh.append(min(row[column - 1] + (not same), row[column] + 1, fresh[-1] + 1))
        if number in free:
            most = len(source) if free[number] is None else free[number]
            fresh = [min(fresh[max(0, c - most) : c + 1]) for c in range(len(fresh))]
        row = fresh
    return min(row)


@pytest.mark.parametrize("seed", range(3))
def test_alignment_costs_what_the_plain_table_says(seed):
    random_ = random.Random(seed)
    for _ in range(60):
        source = random_.choices("abcdef", k=random_.randrange(1, 25))
        words = random_.choices("abcdefg", k=random_.randrange(1, 9))
        gaps = [Gap(at, random_.choice([None, 2])) for at in range(1, len(words)) if random_.random() < 0.2]
        found = align(words, gaps, source)
        assert found is not None
        best = _slow_distance(words, gaps, source)
        equal = sum(pair >= 0 for pair in found.pairs)
        assert len(words) - equal <= best <= len(words)
        assert all(source[pair] == word for pair, word in zip(found.pairs, words, strict=True) if pair >= 0)
        places = [pair for pair in found.pairs if pair >= 0]
        assert places == sorted(set(places))
        assert all(found.first <= place < found.last for place in places)
