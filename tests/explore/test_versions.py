"""Names that tell versions, which texts are versions of each other, and their order."""

from __future__ import annotations

import pytest

from sbert_desktop.explore.versions import Version, Words, in_order, is_version, read_name, sentence_history

LETTER = (
    "Dear Mrs Quarry, the boiler in our flat has been broken since the third of March. We told your caretaker twice. "
    "He came once and said that a part was missing. Since then the rooms have not been warm. We ask you to have it "
    "repaired within two weeks. Until then we hold back a fifth of the rent, as the law allows. Yours, Ada Moor"
)


def version(content, name, text=LETTER, date=None, written=1000.0):
    return Version(content, name, date, written, Words(text))


@pytest.mark.parametrize(
    ("name", "stem", "rank", "label"),
    [
        ("Report v2.docx", "report", (0, (2,)), "v2"),
        ("report_V10.pdf", "report", (0, (10,)), "V10"),
        ("report-draft3.odt", "report", (0, (3,)), "draft3"),
        ("Report, draft 3 (final).docx", "report", (1, (3,)), "draft 3 final"),
        ("Report final.docx", "report", (1, ()), "final"),
        ("Report_old.docx", "report", (-1, ()), "old"),
        ("Report (2).docx", "report", (0, (2,)), ""),
        ("Copy of Report.docx", "report", None, ""),
        ("Report - Kopie.docx", "report", None, ""),
        ("Report v1.2.docx", "report", (0, (1, 2)), "v1.2"),
        ("Report.docx", "report", None, ""),
        ("Bericht Entwurf 4.docx", "bericht", (0, (4,)), "Entwurf 4"),
        ("invoice 1041.pdf", "invoice 1041", None, ""),
        ("R2D2 manual.pdf", "r2d2 manual", None, ""),
    ],
)
def test_name_tells_the_version(name, stem, rank, label):
    found = read_name(name)
    assert (found.stem, found.rank, found.label) == (stem, rank, label)


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("Report 2024-03-12.docx", (2024, 3, 12)),
        ("20240312_report.docx", (2024, 3, 12)),
        ("report 12.03.2024.docx", (2024, 3, 12)),
        ("report 2024-03.docx", (2024, 3, 0)),
        ("report 2024.docx", (2024, 0, 0)),
        ("report 20245.docx", None),
    ],
)
def test_name_tells_the_day(name, day):
    found = read_name(name)
    assert found.day == day
    assert found.stem.startswith("report")


def test_texts_that_share_most_of_their_words_are_versions():
    changed = LETTER.replace("two weeks", "ten days").replace("a fifth", "a quarter")
    assert is_version(version(1, "a.docx"), version(2, "b.docx", changed))
    rewritten = " ".join(LETTER.split()[:30]) + " and all the rest of it was written anew by somebody else " * 2
    assert is_version(version(1, "letter v1.docx"), version(2, "letter v2.docx", rewritten))
    assert not is_version(version(1, "a.docx"), version(2, "b.docx", rewritten))


def test_documents_of_one_subject_and_excerpts_are_no_versions():
    other = (
        "Dear Mrs Quarry, thank you for your call. The boiler works again and the rooms are warm. We pay the whole "
        "rent from now on. The caretaker was very kind. Yours, Ada Moor"
    )
    assert not is_version(version(1, "letter v1.docx"), version(2, "letter v2.docx", other))
    book = " ".join(f"word{number} that{number % 7} follows{number % 11}" for number in range(500))
    assert not is_version(version(1, "a.docx"), version(2, "book.docx", LETTER + " " + book))


def names(versions):
    return [version.name for version in in_order(versions)]


def test_numbers_in_the_names_go_before_dates():
    made = [version(1, "R v10.docx", written=1), version(2, "R v9.docx", written=2)]
    made.append(version(3, "R final.docx", written=0))
    assert names(made) == ["R v9.docx", "R v10.docx", "R final.docx"]


def test_one_without_a_number_is_the_first_unless_it_was_written_last():
    assert names([version(1, "R v2.docx", written=5), version(2, "R.docx", written=4)]) == ["R.docx", "R v2.docx"]
    assert names([version(1, "R v2.docx", written=5), version(2, "R.docx", written=9)]) == ["R v2.docx", "R.docx"]


def test_days_in_the_names_then_dates_of_the_documents_then_times_of_the_files():
    made = [version(1, "R 2024-05-01.docx", written=1), version(2, "R 2023-06-02.docx", written=2)]
    assert names(made) == ["R 2023-06-02.docx", "R 2024-05-01.docx"]
    made = [version(1, "b.docx", date=9.0, written=1), version(2, "a.docx", date=8.0, written=2)]
    assert names(made) == ["a.docx", "b.docx"]
    made = [version(1, "b.docx", date=9.0, written=3), version(2, "a.docx", date=9.0, written=2)]
    assert names(made) == ["a.docx", "b.docx"]
    made = [version(1, "x10.docx", written=3), version(2, "x9.docx", written=3)]
    assert names(made) == ["x9.docx", "x10.docx"]


OLD = version(1, "v1", "The boiler is broken. We pay half of the rent from April on. Yours, Ada")
MIDDLE = version(2, "v2", "The boiler is broken. We pay a fifth of the rent from May on. Yours, Ada")
NEW = version(3, "v3", "The boiler is broken. We pay a fifth of the rent from May on. The cellar is wet as well. Yours")
LAST = version(4, "v4", "Nothing of it remained in this last one, which speaks of other things altogether.")


@pytest.mark.parametrize(
    ("place", "sentence", "kind", "since", "until", "gone"),
    [
        (2, "We pay a fifth of the rent from May on.", "changed", 1, None, False),
        (1, "We pay a fifth of the rent from May on.", "changed", 1, None, False),
        (0, "We pay half of the rent from April on.", "same", 0, 1, False),
        (2, "The boiler is broken. We pay", "same", 0, None, False),
        (2, "The cellar is wet as well.", "new", 2, None, False),
    ],
)
def test_history_tells_in_which_version_a_sentence_got_its_wording(place, sentence, kind, since, until, gone):
    found = sentence_history([OLD, MIDDLE, NEW], place, sentence)
    assert found is not None
    assert (found.kind, found.since, found.until, found.gone) == (kind, since, until, gone)


def test_history_tells_where_a_sentence_was_left_out():
    found = sentence_history([OLD, MIDDLE, NEW, LAST], 2, "We pay a fifth of the rent from May on.")
    assert found is not None
    assert (found.kind, found.since, found.until, found.gone) == ("changed", 1, 3, True)
    assert sentence_history([OLD, NEW], 1, "Yours, Ada") is None
