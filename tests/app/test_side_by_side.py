"""Two documents side by side: what differs is marked and nothing else is, whatever the texts are."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from sbert_desktop.app.diffing import MOST_CHARACTERS, Comparison, Document, differing_words, without_islands
from sbert_desktop.app.duplicate_views import ComparisonView, DiffRow
from sbert_desktop.app.duplicates import run_duplicates
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.side_by_side import run_compare, run_compare_pages
from sbert_desktop.cleanup import Copy, DuplicateQuery
from sbert_desktop.domain import Block, BlockKind, ExtractedText
from sbert_desktop.errors import Cancelled
from sbert_desktop.explore.differences import match
from sbert_desktop.jobs import NullContext
from tests.extraction.conftest import make_docx, make_pdf, paragraph

NAVE = "The nave was swept on Friday and the candles were put back on the long shelf."
BELL = "Nobody had wound the clock in the tower since the sexton went to his sister."
ROOF = "Two slates have slipped above the porch and the rain comes in by the font."
KEYS = "The keys hang behind the organ where the children cannot reach them at all."


def _text(*paragraphs: str, kinds: dict[int, BlockKind] | None = None, form: str = "txt", pages: bool = False,
          ) -> ExtractedText:  # fmt: skip
    blocks: list[Block] = []
    at = 0
    for number, one in enumerate(paragraphs):
        kind = (kinds or {}).get(number, BlockKind.PARAGRAPH)
        blocks.append(Block(at, at + len(one), kind, page=number + 1 if pages else None))
        at += len(one) + 2
    return ExtractedText(form, "\n\n".join(paragraphs), tuple(blocks))


def _rows(a: ExtractedText | str, b: ExtractedText | str) -> list[DiffRow]:
    one, other = (Document(_text(each) if isinstance(each, str) else each) for each in (a, b))
    comparison = Comparison(one, other, lambda: None)
    comparison.run()
    return comparison.rows


def _marked(rows: list[DiffRow]) -> tuple[list[str], list[str]]:
    return (
        [row.left[low:high] for row in rows if row.left is not None for low, high in row.left_marks],
        [row.right[low:high] for row in rows if row.right is not None for low, high in row.right_marks],
    )


# ---------------------------------------------------------------- words


def test_a_phrase_said_otherwise_is_marked_as_one_in_its_sentence():
    common = "After breakfast we go north. The way down to the cove is steep and "
    left, right = "slippery after rain, so take the upper path when it is wet", "best left out in rain"
    rows = _rows(f"{common}{left}.", f"{common}{right}.")
    assert len(rows) == 1
    assert _marked(rows) == ([left], [right])


def test_numbers_dates_and_amounts_that_changed_are_marked_alone():
    rows = _rows(
        _text("Invoice RE-2024-031", "12 March 2024", "Total 1,812.50 EUR, to pay within 14 days."),
        _text("Invoice RE-2024-032", "2 May 2025", "Total -1,812.50 EUR, to pay within 14 days."),
    )
    assert _marked(rows) == (["RE-2024-031", "12 March 2024", "1,812.50"], ["RE-2024-032", "2 May 2025", "-1,812.50"])
    assert [row.same for row in rows] == [False, False, False]
    assert all(row.left is not None and row.right is not None for row in rows)


@pytest.mark.parametrize(("one", "other"), [
    ("They don't know of it.", "They don’t know of it."),
    ("It is a well-known and widely-read tale.", "It is a well known and widelyread tale."),
    ("He was hyphen-\nated here and there.", "He was hyphenated here and there."),
    ("• Wash the pots\n• Dry the pots", "Wash the pots\nDry the pots"),
    ("1. Wash the pots\n2. Dry the pots", "Wash the pots\nDry the pots"),
    ("“Come in”, she said – and he came.", '"Come in", she said - and he came.'),
    ("The ﬁrst ﬂoor is empty today.", "The first floor is empty today."),
    ("We go. They stay here with us.", "We go; they stay here with us."),
    ("Straße am Fluss", "STRASSE AM FLUSS"),
    ("Ｔhe same line\nis broken elsewhere here", "Ｔhe same line is broken\nelsewhere here"),
])  # fmt: skip
def test_what_only_formats_write_otherwise_is_no_difference(one, other):
    rows = _rows(one, other)
    assert [row.same for row in rows] == [True] * len(rows)
    assert _marked(rows) == ([], [])


@pytest.mark.parametrize(("one", "other", "left", "right"), [
    ("We know that they don't.", "We know that they dont.", ["don't"], ["dont"]),
    ("I think that we're late.", "I think that were late.", ["we're"], ["were"]),
    ("They were 20 24 at the gate.", "They were 2024 at the gate.", ["20 24"], ["2024"]),
    ("The résumé of last year lies here.", "The resume of last year lies here.", ["résumé"], ["resume"]),
    ("It is 5 % of the sum total.", "It is 5 € of the sum total.", ["%"], ["€"]),
])  # fmt: skip
def test_what_is_another_word_is_a_difference(one, other, left, right):
    assert _marked(_rows(one, other)) == (left, right)


def test_signs_of_scripts_without_spaces_are_compared_one_by_one():
    rows = _rows("今天天气很好,我们去海边散步。晚上回家。", "今天天气不好,我们去山上散步。晚上回家。")
    assert _marked(rows) == (["很", "海边"], ["不", "山上"])


def test_marks_stay_on_their_words_beside_emoji_and_from_right_to_left():
    rows = _rows("😀😀 The 🧦 socks are dry. שלום עולם טוב", "😀😀 The 🧦 boots are dry. שלום עולם רע")
    assert _marked(rows) == (["socks", "טוב"], ["boots", "רע"])


def test_a_sentence_that_is_two_on_the_other_side_is_not_torn_apart():
    rows = _rows("One is the first thing here, two is the second and long.",
                 "One is the first thing here. Two is the second and very long.")  # fmt: skip
    assert len(rows) == 1
    assert _marked(rows) == ([], ["very"])


def test_a_few_equal_words_between_long_differences_are_chance():
    assert without_islands([(0, 0), (5, 5), (9, 9)], (0, 10), (0, 10)) == [(0, 0), (9, 9)]
    near = [(0, 0), (2, 2), (4, 4)]
    assert without_islands(near, (0, 5), (0, 5)) == near


def test_passages_are_compared_word_by_word():
    one, other = "Back within thirty days.", "Back, at the latest, within sixty days."
    left, right = differing_words(one, other)
    assert [one[a:b] for a, b in left] == ["thirty"]
    assert [other[a:b] for a, b in right] == ["at the latest", "sixty"]
    assert differing_words("", other) == ((), ((0, len(other) - 1),))
    assert differing_words("", "") == ((), ())


# ---------------------------------------------------------------- paragraphs


def test_a_paragraph_that_moved_is_said_to_stand_elsewhere_on_both_sides():
    rows = _rows(_text(NAVE, BELL, ROOF, KEYS), _text(ROOF, NAVE, BELL, KEYS))
    moved = [row for row in rows if row.moved]
    assert [(row.left, row.right) for row in moved] == [(None, ROOF), (ROOF, None)]
    assert all(not row.left_marks and not row.right_marks for row in rows)
    assert [row.left for row in rows if row.same] == [NAVE, BELL, KEYS]


def test_what_stands_twice_on_one_side_is_not_said_to_have_moved():
    rows = _rows(_text(NAVE, BELL, KEYS), _text(NAVE, BELL, NAVE, KEYS))
    assert not any(row.moved for row in rows)
    assert _marked(rows) == ([], [NAVE])


def test_sentences_of_a_paragraph_stand_in_one_row_and_a_new_one_is_marked_whole():
    rows = _rows(f"{NAVE} {KEYS}", f"{NAVE} {BELL} {KEYS}")
    assert len(rows) == 1
    assert _marked(rows) == ([], [BELL])


def test_paragraphs_that_have_nothing_in_common_stand_beside_each_other_marked_whole():
    rows = _rows(_text(NAVE, BELL, KEYS), _text(NAVE, ROOF, KEYS))
    assert [(row.left, row.right) for row in rows if not row.same] == [(BELL, ROOF)]
    assert _marked(rows) == ([BELL], [ROOF])


def test_rows_of_a_table_and_lines_of_code_stay_apart():
    table = {0: BlockKind.TABLE}
    rows = _rows(
        _text("Name\tPrice\nApples\t3.20\nPears\t4.10\nPlums\t2.00", kinds=table),
        _text("Name\tPrice\nApples\t3.20\nPears\t4.30\nCherries\t7.00\nPlums\t2.00", kinds=table),
    )
    assert [row.left for row in rows] == ["Name\tPrice", "Apples\t3.20", "Pears\t4.10", None, "Plums\t2.00"]
    assert _marked(rows) == (["4.10"], ["4.30", "Cherries\t7.00"])


def test_a_long_paragraph_is_parted_where_it_is_the_same_for_a_while():
    many = [f"Sentence number {n} tells of the harbour and of what was seen there." for n in range(100)]
    other = [*many[:50], many[50].replace("harbour", "mountain"), *many[51:]]
    rows = _rows(" ".join(many), " ".join(other))
    assert [row.same for row in rows].count(False) == 1
    [differs] = [row for row in rows if not row.same]
    assert len(differs.left or "") < 400
    assert max(len(row.left or "") for row in rows) <= 1_600
    assert " ".join(row.left or "" for row in rows) == " ".join(many)


def test_a_paragraph_without_any_end_is_parted_too():
    words = " ".join(f"word{n}" for n in range(20_000))
    rows = _rows(words, words.replace("word777 ", "other "))
    assert _marked(rows) == (["word777"], ["other"])
    assert max(len(row.left or "") for row in rows) <= 1_600
    blank = "x" * 50_000
    assert max(len(row.left or "") for row in _rows(blank, blank)) <= 1_600


def test_headings_stand_alone_and_line_ends_of_a_page_are_not_shown():
    kinds = {0: BlockKind.HEADING}
    rows = _rows(_text("Second day", "We went to\nthe cove. It was\ndry.", kinds=kinds),
                 _text("Second day", "We went to the cove. It was wet.", kinds=kinds))  # fmt: skip
    assert [(row.heading, row.same) for row in rows] == [(True, True), (False, False)]
    assert rows[1].left == "We went to the cove. It was dry."


def test_furniture_is_not_shown():
    kinds = {1: BlockKind.FURNITURE}
    rows = _rows(_text(NAVE, "Page 1 of 9", KEYS, kinds=kinds), _text(NAVE, KEYS))
    assert [row.left for row in rows] == [NAVE, KEYS]


def test_rows_name_the_page_on_which_they_begin():
    rows = _rows(_text(NAVE, BELL, ROOF, pages=True), _text(NAVE, ROOF, pages=True))
    assert [(row.left_page, row.right_page) for row in rows] == [(1, 1), (2, None), (3, 2)]


def test_whatever_the_texts_are_no_word_is_lost_and_marks_stay_inside():
    rng = random.Random(4)
    words = ["the", "a", "keys", "don't", "we're", "well-known", "5 %", "😀", "天", "气", "שלום", "naïve", "2024", "—"]
    for _ in range(150):
        texts = []
        for _ in range(2):
            paragraphs = [" ".join(rng.choices(words, k=rng.randint(1, 12))) + rng.choice([".", "!", "", "\nx"])
                          for _ in range(rng.randint(1, 6))]  # fmt: skip
            kinds = {n: rng.choice(list(BlockKind)) for n in range(len(paragraphs))}
            texts.append(replace(_text(*paragraphs, kinds=kinds, pages=True)))
        one, other = Document(texts[0]), Document(texts[1])
        comparison = Comparison(one, other, lambda: None)
        comparison.run()
        for side, document in enumerate((one, other)):
            shown = "".join((row.left, row.right)[side] or "" for row in comparison.rows)
            said = "".join(document.text[unit.start : unit.end] for unit in document.units)
            assert "".join(shown.split()) == "".join(said.split())
            for row in comparison.rows:
                text, marks = ((row.left, row.left_marks), (row.right, row.right_marks))[side]
                assert all(0 <= low < high <= len(text or "") for low, high in marks)
                assert all(a[1] <= b[0] for a, b in pairwise(marks))
            assert all(0 <= low < high <= len(document.text) for low, high in comparison.marks[side])
        for row in comparison.rows:
            assert row.same == (not row.left_marks and not row.right_marks and not row.moved)
            assert row.same <= (row.left is not None and row.right is not None)
        again = Comparison(one, one, lambda: None)
        again.run()
        assert all(row.same for row in again.rows)


def test_the_longest_common_sequence_is_found_where_it_can_be_and_order_is_kept():
    rng = random.Random(2)
    for _ in range(60):
        a, b = ([rng.randrange(6) for _ in range(rng.randrange(12))] for _ in range(2))
        table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
        partner = match(a, b).tolist()
        found = [p for p in partner if p >= 0]
        assert found == sorted(set(found))
        assert all(b[p] == a[n] for n, p in enumerate(partner) if p >= 0)
        assert len(found) == table[-1][-1]


def test_a_long_sequence_with_few_changes_is_aligned_but_for_these():
    rng = random.Random(7)
    a = [rng.randrange(3000) for _ in range(100_000)]
    b = [-n if n % 997 == 0 else value for n, value in enumerate(a)]
    partner = match(a, b).tolist()
    assert sum(p == n for n, p in enumerate(partner)) >= len(a) - 110
    assert match([], [1]).tolist() == []
    assert match([1], []).tolist() == [-1]


# ---------------------------------------------------------------- time


def _book(seed: int, size: int) -> list[str]:
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(6_000)]
    often = [words[min(len(words) - 1, int(rng.paretovariate(0.6)))] for _ in range(20_000)]
    out: list[str] = []
    while size > 0:
        out.append(" ".join(" ".join(rng.choices(often, k=14)).capitalize() + "." for _ in range(5)))
        size -= len(out[-1])
    return out


def _seconds(a: ExtractedText, b: ExtractedText) -> tuple[float, list[DiffRow]]:
    began = time.thread_time()
    rows = _rows(a, b)
    return time.thread_time() - began, rows


def test_texts_of_a_megabyte_are_compared_soon():
    book = _book(1, 1_000_000)
    rng = random.Random(3)
    edited = [one if rng.random() > 0.1 else one.replace(" ", " really ", 3) for one in book]
    seconds, rows = _seconds(_text(*book), _text(*edited))
    assert seconds < 10.0  # of CPU, some 0.7; what compares all with all takes hours
    assert sum(not row.same for row in rows) == sum(one != other for one, other in zip(book, edited, strict=True))
    assert not any(row.left is None or row.right is None for row in rows)


def test_texts_that_have_nothing_or_everything_in_common_take_no_longer():
    limit = 10.0
    book = _book(1, 300_000)
    assert _seconds(_text(*book), _text(*_book(2, 300_000)))[0] < limit
    assert _seconds(_text(*book), _text(*reversed(book)))[0] < limit
    lines = _text(*["One is here now and again.", "Two is here now and then."] * 4_000)
    assert _seconds(lines, _text(*["Two is here now and then.", "Three is never here."] * 4_000))[0] < limit
    assert _seconds(_text("a " * 150_000), _text("b " * 75_000 + "a " * 75_000))[0] < limit


def test_the_end_of_a_very_long_text_is_said_not_to_be_compared():
    assert not Document(_text("word " * 100)).is_cut
    book = _book(1, MOST_CHARACTERS + 2_000)
    other = [book[0].replace(" ", " newly ", 200), *book[1:]]
    one, two = Document(_text(*book)), Document(_text(*other))
    assert one.is_cut
    assert two.is_cut
    comparison = Comparison(one, two, lambda: None)
    comparison.run()
    assert [row.same for row in comparison.rows].count(False) == 1


def test_comparing_can_be_ended():
    def check() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        Comparison(Document(_text(NAVE, BELL)), Document(_text(BELL, KEYS)), check).run()


# ---------------------------------------------------------------- files


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
def compare(session, root):
    """Compares two files of the folder."""

    def run(one: str, other: str) -> ComparisonView:
        run_index(session, IndexRequest((root,)), NullContext())
        copies = {copy.path.name: copy for copy in _copies(session, root)}
        return run_compare(session, copies[one], copies[other], NullContext())

    return run


def _copies(session, root: Path) -> list[Copy]:
    from sbert_desktop.app.copies import gather

    run_duplicates(session, DuplicateQuery(), NullContext())
    return [copy for copy in gather(session, NullContext()).copies if copy.path.parent == root]


def test_a_letter_and_the_pdf_printed_of_it_have_no_differences(root, compare):
    body = [
        ("Notes of the meeting", "berschrift1"),
        ("The committee didn’t agree about the well-known wall behind the orchard, and so nothing was de­cided.", ""),
        ("It was said that the bill of 1,240.50 should be paid within thirty days; nobody objected to that.", ""),
    ]
    (root / "notes.docx").write_bytes(make_docx("".join(paragraph(text, style) for text, style in body)))
    lines = [
        (72, 720, 16, "Notes of the meeting"),
        (72, 690, 11, "The committee didn't agree about the well-known wall behind the or-"),
        (72, 676, 11, "chard, and so nothing was decided."),
        (72, 650, 11, "It was said that the bill of 1,240.50 should be paid within thirty days;"),
        (72, 636, 11, "nobody objected to that."),
    ]
    (root / "notes.pdf").write_bytes(make_pdf([lines]))
    compared = compare("notes.docx", "notes.pdf")
    assert _marked(list(compared.rows)) == ([], [])
    assert compared.differences == 0
    assert compared.note == "The words are the same in both."
    assert (compared.left_pages, compared.right_pages) == (0, 1)


def test_of_files_without_text_only_the_facts_are_compared(root, compare):
    (root / "a.bin").write_bytes(b"\0\1\2" * 500)
    (root / "b.bin").write_bytes(b"\0\1\2" * 500)
    compared = compare("a.bin", "b.bin")
    assert (compared.rows, compared.differences) == ((), 0)
    assert compared.note == "The files are identical."
    assert ("Size", "1,500 bytes", "1,500 bytes") in compared.facts


def test_identical_texts_are_said_to_be_identical(root, compare):
    for own in ("a.txt", "b.txt"):
        (root / own).write_text(f"{NAVE}\n\n{BELL}\n")
    compared = compare("a.txt", "b.txt")
    assert compared.note == "The files are identical."
    assert [row.same for row in compared.rows] == [True, True]


def test_words_that_differ_are_marked_on_the_pages_they_stand_on(root, compare, session):
    for own, word in (("a.pdf", "Friday"), ("b.pdf", "Monday")):
        first = [(72, 700, 11, NAVE), (72, 680, 11, "Nothing else stands on this page.")]
        second = [(72, 700, 11, f"On {word} the key was found again in the vestry.")]
        (root / own).write_bytes(make_pdf([first, second]))
    compared = compare("a.pdf", "b.pdf")
    assert [(row.left_page, row.right_page) for row in compared.rows if not row.same] == [(2, 2)]
    pages = run_compare_pages(session, compared.left, compared.right, (2, 2), NullContext(), width=400)
    assert pages.left is not None
    assert pages.right is not None
    assert len(pages.left.passage) == len(pages.right.passage) == 1
    assert (pages.left.page, pages.left.pages) == (2, 2)
    first = run_compare_pages(session, compared.left, compared.right, (1, None), NullContext(), width=400)
    assert first.left is not None
    assert first.left.passage == ()
    assert first.right is None


def test_facts_name_what_is_known_of_either(root, compare):
    (root / "a.txt").write_text(NAVE)
    (root / "b.txt").write_text(BELL)
    compared = compare("a.txt", "b.txt")
    facts = {label: (left, right) for label, left, right in compared.facts}
    assert facts["Words"] == (str(len(NAVE.split())), str(len(BELL.split())))
    assert "Signed" not in facts
    assert all(left or right for left, right in facts.values())
