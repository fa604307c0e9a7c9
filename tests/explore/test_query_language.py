"""What a typed query means: tables of meanings, and properties that hold for any text."""

from __future__ import annotations

import os
import random
import time
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sbert_desktop.domain import Filters, TermKind
from sbert_desktop.explore import parse, with_field, without_term
from sbert_desktop.explore.query_language import LONGEST_TYPED

NOW = datetime(2024, 3, 14, 15, 9).timestamp()  # a Thursday


def read(text, **known):
    return parse(text, now=NOW, **known)


def day(year, month=1, number=1):
    return datetime(year, month, number).timestamp()


# ---------------------------------------------------------------- words, phrases, exclusions

WORDS = [
    "when do I get my deposit back?",
    "https://example.org/a?b=c",
    "mailto:ada@example.org",
    "at 10:30",
    r"C:\Users\ada\taxes",
    "D:/photos",
    "std::vector<int>",
    "path::join",
    "a ratio of 3:1",
    "AB-12/7",
    "ISO:9001",
    "E-mail C++ e.g. 3.40.1",
    '5" pipe',
    '12" x 7"',
    "it is -5 outside",
    "-3,5°C",
    "--no-wait",
    "tar -x",
    "a -> b",
    "->next",
    "Berlin - Paris",
    "pre-war",
    "AND OR NOT NEAR",
    "(a OR b) AND c*",
    "Robert'); DROP TABLE passage;--",
    "😀 👩‍👩‍👧",
    "don't can’t",
    "100%",
    "*",
    "doi:10.1000/182",
    "Re:flat",
    'he said "',
]


@pytest.mark.parametrize("text", WORDS)
def test_what_only_looks_special_is_words_and_nothing_else(text):
    parsed = read(text)
    assert parsed.words == text.removesuffix(' "')
    assert (parsed.phrases, parsed.excluded_words, parsed.excluded_phrases) == ((), (), ())
    assert parsed.filters == Filters()
    assert parsed.notes == ()
    assert {term.kind for term in parsed.terms} <= {TermKind.WORD}


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('"security deposit"', ("security deposit",)),
        ("“security deposit”", ("security deposit",)),
        ("„Kaution der Wohnung“", ("Kaution der Wohnung",)),
        ("„Kaution der Wohnung”", ("Kaution der Wohnung",)),
        ("„Kaution der Wohnung\"", ("Kaution der Wohnung",)),
        ("”deposition”", ("deposition",)),
        ("« dépôt de garantie »", ("dépôt de garantie",)),
        ("»Kaution der Wohnung«", ("Kaution der Wohnung",)),
        ("「完全一致」", ("完全一致",)),
        ("検索「完全一致」テスト", ("完全一致",)),
        ("中文“短语”搜索", ("短语",)),
        ("『本』", ("本",)),
        ('"never closed  and on', ("never closed and on",)),
        ('"a b""c d"', ("a b", "c d")),
        ('("in brackets")', ("in brackets",)),
        ('"a\tb\n c"', ("a b c",)),
        ('"twice" "twice"', ("twice",)),
        ('"say “this” now"', ("say “this” now",)),
        ('""', ()),
        ('"  "', ()),
        ('"--"', ()),
        ("cafe\u0301 \"cafe\u0301\"", ("café",)),
    ],
)
def test_quotes_of_all_sorts_make_phrases(text, phrases):
    assert read(text).phrases == phrases


def test_the_words_of_a_phrase_are_searched_by_meaning_too():
    assert read('when do I get my "security deposit"?').words == "when do I get my security deposit?"
    assert read('"a"b').words == "a b"


def test_an_unclosed_quote_is_told():
    assert "not closed" in read('find "this one').notes[0]


@pytest.mark.parametrize(
    ("text", "words", "phrases"),
    [
        ("-draft", ("draft",), ()),
        ("−draft", ("draft",), ()),
        ('-"first draft"', (), ("first draft",)),
        ("-„erster Entwurf“", (), ("erster Entwurf",)),
        ("-e-mail -C++", ("e-mail", "C++"), ()),
        ("-2023", ("2023",), ()),
        ("-東京", ("東京",), ()),
        ("-https://example.org", ("https://example.org",), ()),
        ("\u200f-draft", ("draft",), ()),
        ("a-b c- -", (), ()),
    ],
)
def test_a_minus_excludes_words_and_phrases(text, words, phrases):
    parsed = read(text)
    assert parsed.excluded_words == words
    assert parsed.excluded_phrases == phrases
    assert all(word not in parsed.words.split() for word in words)


def test_only_exclusions_are_told():
    assert "only what is not wanted" in read("-draft").notes[0]
    assert read("-draft deposit").notes == ()


def test_a_query_that_asks_for_nothing_is_told():
    for text in ('""', "\x00", '"', "\u200f"):
        parsed = read(text)
        assert (parsed.words, parsed.terms) == ("", ())
        assert "nothing to look for" in parsed.notes[0]
    assert read("").notes == read(" \n").notes == ()


# ---------------------------------------------------------------- fields

FIELDS = [
    ("type:pdf", Filters(types=("pdf",))),
    ("TYPE:.PDF", Filters(types=("pdf",))),
    ("ext:*.md", Filters(types=("md", "markdown", "mdown", "mkd"))),
    ("type:pdf,txt", Filters(types=("pdf", "txt"))),
    ("type:pdf type:txt", Filters(types=("pdf", "txt"))),
    ("type：pdf，txt", Filters(types=("pdf", "txt"))),
    ("kind:mail", Filters(types=("eml", "emlx", "msg", "oft", "mbox", "mbx"))),
    ("type:pdf;", Filters(types=("pdf",))),
    ("folder:taxes", Filters(folders=("taxes",))),
    ('folder:"my taxes/2023",bills', Filters(folders=("my taxes/2023", "bills"))),
    (r"path:C:\taxes\ ", Filters(folders=(r"C:\taxes",))),
    ("folder:/home/ada/", Filters(folders=("/home/ada",))),
    ("name:invoice name:2023", Filters(names=("invoice", "2023"))),
    ("filename:invoice*", Filters(names=("invoice",))),
    ("from:ada to:ben", Filters(senders=("ada",), recipients=("ben",))),
    ('subject:"keys of the flat"', Filters(subjects=("keys of the flat",))),
    ("from:ada@example.org", Filters(senders=("ada@example.org",))),
    ("has:attachment", Filters(attachments=True)),
    ("in:thesis", Filters(collections=("thesis",))),
    ("in:„Meine Arbeit“", Filters(collections=("Meine Arbeit",))),
    ("lang:de", Filters(languages=("de",))),
    ("language:German,en-US", Filters(languages=("de", "en"))),
    ("lang:norwegian", Filters(languages=("no", "nb", "nn"))),
    ("-type:pdf,txt", Filters(without=(Filters(types=("pdf", "txt")),))),
    ("-has:attachment", Filters(without=(Filters(attachments=True),))),
    ("-name:a,b", Filters(without=(Filters(names=("a",)), Filters(names=("b",))))),
    ("name:a,b", Filters(without=(Filters(without=(Filters(names=("a",)), Filters(names=("b",)))),))),
    ("size:>1mb", Filters(size_from=1_000_001)),
    ("size:>=1mb", Filters(size_from=1_000_000)),
    ("size:1mb", Filters(size_from=1_000_000)),
    ("size:=5b", Filters(size_from=5, size_to=6)),
    ("size:0", Filters(size_from=0, size_to=1)),
    ("size:<=200kb", Filters(size_to=200_001)),
    ("size:<1KiB", Filters(size_to=1024)),
    ("size:1mb..5mb", Filters(size_from=1_000_000, size_to=5_000_001)),
    ("size:..5mb", Filters(size_to=5_000_001)),
    ("size:1mb..", Filters(size_from=1_000_000)),
    ("size:>1,5mb", Filters(size_from=1_500_001)),
    ('size:"> 1.5 MB"', Filters(size_from=1_500_001)),
    ("size:>999999999999tb", Filters(size_from=2**62 + 1)),
    ("size:>1kb size:<1mb", Filters(size_from=1001, size_to=1_000_000)),
    ("after:2023", Filters(after=day(2023))),
    ("since:2023-05", Filters(after=day(2023, 5))),
    ("after:2023 after:2022", Filters(after=day(2023))),
    ("before:2023-05-31", Filters(before=day(2023, 5, 31))),
    ("until:2023-05", Filters(before=day(2023, 6))),
    ("date:2023..2024-02", Filters(after=day(2023), before=day(2024, 3))),
    ("date:>=2023", Filters(after=day(2023))),
    ("date:>2023", Filters(after=day(2024))),
    ("date:..2023", Filters(before=day(2024))),
    ("date:2023..", Filters(after=day(2023))),
    ("-date:2023", Filters(without=(Filters(after=day(2023), before=day(2024)),))),
    (
        "date:2021,2023",
        Filters(
            without=(
                Filters(
                    without=(
                        Filters(after=day(2021), before=day(2022)),
                        Filters(after=day(2023), before=day(2024)),
                    )
                ),
            )
        ),
    ),
]


@pytest.mark.parametrize(("text", "filters"), FIELDS)
def test_fields_become_filters(text, filters):
    parsed = read(text)
    assert parsed.filters == filters
    assert parsed.words == ""
    assert parsed.notes == ()
    assert all(term.kind is TermKind.FIELD for term in parsed.terms)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2023", (2023, 1, 1), (2024, 1, 1)),
        ("2023-05", (2023, 5, 1), (2023, 6, 1)),
        ("2023-12", (2023, 12, 1), (2024, 1, 1)),
        ("2023-05-31", (2023, 5, 31), (2023, 6, 1)),
        ("2023/5/31", (2023, 5, 31), (2023, 6, 1)),
        ("31.5.2023", (2023, 5, 31), (2023, 6, 1)),
        ("31/5/2023", (2023, 5, 31), (2023, 6, 1)),
        ("5/31/2023", (2023, 5, 31), (2023, 6, 1)),
        ("20230531", (2023, 5, 31), (2023, 6, 1)),
        ("5.2023", (2023, 5, 1), (2023, 6, 1)),
        ('"31 May 2023"', (2023, 5, 31), (2023, 6, 1)),
        ('"May 31, 2023"', (2023, 5, 31), (2023, 6, 1)),
        ("31-may-2023", (2023, 5, 31), (2023, 6, 1)),
        ('"May 2023"', (2023, 5, 1), (2023, 6, 1)),
        ("may", (2023, 5, 1), (2023, 6, 1)),  # the next one has not begun
        ("march", (2024, 3, 1), (2024, 4, 1)),
        ("monday", (2024, 3, 11), (2024, 3, 12)),
        ('"last monday"', (2024, 3, 11), (2024, 3, 12)),
        ('"last thursday"', (2024, 3, 7), (2024, 3, 8)),  # the one before today
        ("past-friday", (2024, 3, 8), (2024, 3, 9)),
        ('"this thursday"', (2024, 3, 14), (2024, 3, 15)),
        ('"this monday"', (2024, 3, 11), (2024, 3, 12)),
        ('"this sunday"', (2024, 3, 17), (2024, 3, 18)),
        ("mon", (2024, 3, 11), (2024, 3, 12)),
        ('"last thurs"', (2024, 3, 7), (2024, 3, 8)),
        ('"last may"', (2023, 5, 1), (2023, 6, 1)),
        ('"last march"', (2023, 3, 1), (2023, 4, 1)),  # this one is not over
        ('"last february"', (2024, 2, 1), (2024, 3, 1)),
        ('"this march"', (2024, 3, 1), (2024, 4, 1)),
        ('"this may"', (2024, 5, 1), (2024, 6, 1)),
        ("today", (2024, 3, 14), (2024, 3, 15)),
        ("Yesterday", (2024, 3, 13), (2024, 3, 14)),
        ('"this week"', (2024, 3, 11), (2024, 3, 18)),
        ('"last week"', (2024, 3, 4), (2024, 3, 11)),
        ("last-week", (2024, 3, 4), (2024, 3, 11)),
        ("last_month", (2024, 2, 1), (2024, 3, 1)),
        ('"last year"', (2023, 1, 1), (2024, 1, 1)),
        ('"3 days ago"', (2024, 3, 11), (2024, 3, 12)),
        ("3-days-ago", (2024, 3, 11), (2024, 3, 12)),
        ("3d", (2024, 3, 11), (2024, 3, 12)),
        ('"a month ago"', (2024, 2, 14), (2024, 2, 15)),
        ('"two weeks ago"', (2024, 2, 29), (2024, 3, 1)),
        ('"last 7 days"', (2024, 3, 7), (2024, 3, 15)),
        ("1066", (1066, 1, 1), (1067, 1, 1)),
    ],
)
def test_dates_are_periods_of_local_days(text, start, end):
    parsed = read(f"date:{text}")
    assert (parsed.filters.after, parsed.filters.before) == (day(*start), day(*end))
    assert parsed.notes == ()


def test_the_ends_of_the_calendar_are_dates():
    assert read("date:9999").filters == Filters(after=day(9999))
    assert read("date:9999-12-31").filters == Filters(after=day(9999, 12, 31))
    assert read("before:0001").notes == ()


def test_a_month_before_a_long_one_ends_on_its_last_day():
    parsed = parse('date:"1 month ago"', now=datetime(2023, 3, 31, 12).timestamp())
    assert parsed.filters.after == day(2023, 2, 28)


def test_a_date_that_two_countries_read_otherwise_is_told():
    parsed = read("after:5/6/2023")
    assert parsed.filters == Filters(after=day(2023, 6, 5))
    assert "5 June 2023" in parsed.notes[0]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone cannot be set here")
def test_days_begin_at_midnight_of_the_local_zone(monkeypatch):
    try:
        for zone, offset in (("Etc/GMT-9", -9), ("Etc/GMT+5", 5)):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            # 20:00 of 30 May in Greenwich
            now = 1_685_476_800.0
            local_day = 31 if offset == -9 else 30
            midnight = 1_685_404_800 + (local_day - 30) * 86_400 + offset * 3600
            assert parse("after:today", now=now).filters.after == midnight
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("after:2023-13-45", "2023-13-45"),
        ("before:30.2.2023", "30.2.2023"),
        ("date:0000", "0000"),
        ("after:soon", "soon"),
        ("after:99999999-days-ago", "99999999"),
        ("after:99999y", "99999y"),
        ("size:big", "big"),
        ("size:>1..2", ">1..2"),
        ("lang:klingon", "klingon"),
        ("has:wings", "has:wings"),
        ("type:a/b", "a/b"),
        ("colour:red", "colour:"),
        ("author:ada", "author:"),
    ],
)
def test_what_cannot_be_read_is_searched_as_words_and_told(text, told):
    parsed = read(text)
    assert parsed.words == text
    assert parsed.filters == Filters()
    assert len(parsed.notes) == 1
    assert told in parsed.notes[0]


def test_a_field_without_a_value_is_told():
    for text in ("type: pdf", "type:", 'type:""'):
        parsed = read(text)
        assert parsed.words.startswith("type:")
        assert "stands alone" in parsed.notes[0]
    assert read("From: Ada\nSubject: Keys").notes == ()  # lines of a mail


def test_a_number_that_may_mean_something_else_is_told():
    parsed = read("size:>1 mb")
    assert parsed.filters == Filters(size_from=2)
    assert "bytes" in parsed.notes[0]
    assert read("size:>200000").notes == read("size:0").notes == ()
    assert "after:2023" in read("from:2023").notes[0]
    assert "until:31.5.2024" in read("to:31.5.2024").notes[0]


def test_what_nothing_can_pass_is_told():
    assert "No day" in read("after:2023 before:2022").notes[0]
    assert "No size" in read("size:>2mb size:<1mb").notes[0]


def test_what_is_not_in_the_library_is_told():
    known = {"types": ("pdf", "eml"), "languages": ("en",)}
    assert read("type:pdf kind:mail lang:en", **known).notes == ()
    assert "“docx”" in read("type:docx", **known).notes[0]
    assert "German" in read("lang:German", **known).notes[0]


def test_many_notes_are_counted_not_listed():
    notes = read(" ".join(f"{letter * 3}:x" for letter in "abcdefghijk")).notes
    assert len(notes) == 6
    assert notes[-1].startswith("6 more")


def test_terms_name_their_field_whatever_alias_was_typed():
    terms = read('rent -ext:pdf,txt since:2023 "no pets"').terms
    assert [(t.kind.value, t.value, t.field, t.excluded) for t in terms] == [
        ("word", "rent", "", False),
        ("field", "pdf,txt", "type", True),
        ("field", "2023", "after", False),
        ("phrase", "no pets", "", False),
    ]


# ---------------------------------------------------------------- changing a query


def test_a_term_is_taken_out_with_one_space():
    text = "rent  type:pdf deposit"
    made = [without_term(text, term) for term in read(text).terms]
    assert made == [" type:pdf deposit", "rent  deposit", "rent  type:pdf"]


@pytest.mark.parametrize(
    ("text", "field", "value", "made"),
    [
        ("", "type", "pdf", "type:pdf"),
        ("rent ", "type", "pdf", "rent type:pdf"),
        ("rent", "-folder", "my taxes", 'rent -folder:"my taxes"'),
        ("rent", "name", "a,b", 'rent name:"a,b"'),
        ("rent", "name", 'a"b', 'rent name:a"b'),
        ("rent", "name", '"a b"', 'rent name:“"a b"”'.replace("“", "«").replace("”", "»")),
        ("rent type:pdf", "type", "pdf", "rent type:pdf"),
        ("rent ext:pdf", "type", "pdf", "rent ext:pdf"),
        ('find "this one', "type", "pdf", 'find "this one" type:pdf'),
        ('find "', "type", "pdf", "find type:pdf"),
        ("rent", "type", "  ", "rent"),
    ],
)
def test_a_field_is_added_so_that_it_is_read_back(text, field, value, made):
    assert with_field(text, field, value) == made


# ---------------------------------------------------------------- pasted texts


def test_a_pasted_text_is_words_but_fields_around_it_count():
    body = 'He wrote "come in", -not "later. type:exe kind:mail end ' * 100
    parsed = read(f"type:pdf {body} after:2023")
    assert (parsed.phrases, parsed.excluded_words) == ((), ())
    assert parsed.filters == Filters(types=("pdf",), after=day(2023))
    assert parsed.words.count("type:exe") == 100
    assert len(parsed.notes) == 1
    assert with_field(body, "type", "pdf").endswith(" type:pdf")
    assert read(with_field(body, "type", "pdf")).filters == Filters(types=("pdf",))


HEAVY = {
    "straight quotes": '"',
    "typographic quotes": "“",
    "guillemets": "«",
    "phrases": '"a b" ',
    "open phrases": '-"a ',
    "quoted fields": 'type:"',
    "unknown fields": "aaa:b ",
    "values": "name:a,",
    "commas": ",",
    "marks": "\u200f",
    "inches": '5"',
    "words": "word ",
    "accents": "e\u0301",
    "minus": "-",
    "ranges": "date:2023..",
    "one word": "a",
}


@pytest.mark.parametrize("piece", HEAVY.values(), ids=HEAVY.keys())
def test_a_paste_of_100_kb_is_read_in_linear_time(piece):
    def cost(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        began = time.thread_time()
        parse(text, now=NOW)
        return time.thread_time() - began

    small, large = min(cost(12_500) for _ in range(3)), min(cost(100_000) for _ in range(2))
    assert large < max(0.05, 24 * small)  # 8 times the text; 64 times would be quadratic
    assert large < 3.0
    typed = LONGEST_TYPED - 1
    assert cost(typed) < 1.0


# ---------------------------------------------------------------- any text at all

ATOMS = [
    *"ab\"-,:. \t\n“”„«»「」(5é\x00\u200f\u202e\ufeff\ud800−：，",
    "type:", "size:", "date:", "foo:", "name:", "in:", "after:", "lang:de", "folder:C:\\x", 'in:"a b"', '"x y"', '-"',
    "pdf", "2023", ">1mb", "..", "last week", "検索", "//", "AND", "NEAR(", "*", "'", ";--", "\U0001f600",
]  # fmt: skip
ANY_TEXT = st.one_of(
    st.lists(st.sampled_from(ATOMS), max_size=12).map("".join),
    st.text(max_size=40),
    st.text(alphabet=st.characters(exclude_categories=()), max_size=20),  # lone surrogates too
)


def meaning(term):
    return term.kind, term.value, term.field, term.excluded


def check(text):
    """Checks a text: terms in order, apart, without white space at their ends; each can be taken out alone."""
    parsed = read(text)
    end = 0
    for term in parsed.terms:
        assert end <= term.start < term.end <= len(text)
        assert not text[term.start].isspace()
        assert not text[term.end - 1].isspace()
        assert term.value.strip()
        end = term.end
    for value in (parsed.words, *parsed.phrases, *parsed.excluded_words, *parsed.excluded_phrases, *parsed.notes):
        value.encode()  # no lone surrogates
        assert value.isprintable() or not any(ord(ch) < 32 or ch in "\u202e\u200f" for ch in value)
    for number, term in enumerate(parsed.terms):
        others = [meaning(other) for other in parsed.terms[:number] + parsed.terms[number + 1 :]]
        assert [meaning(other) for other in read(without_term(text, term)).terms] == others


@settings(max_examples=2_000, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(ANY_TEXT)
def test_any_text_is_a_query_whose_terms_can_be_taken_out_one_by_one(text):
    check(text)


def test_so_are_ten_thousand_random_strings():
    rng = random.Random(20_240_314)
    for _ in range(10_000):
        check("".join(rng.choice(ATOMS) for _ in range(rng.randrange(1, 12))))


@settings(max_examples=1_000, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(ANY_TEXT, st.sampled_from(["type", "-folder", "name", "in", "after", "-has"]), ANY_TEXT)
def test_a_field_added_to_any_text_changes_nothing_else(text, field, value):
    made = with_field(text, field, value)
    before, after = [meaning(t) for t in read(text).terms], [meaning(t) for t in read(made).terms]
    assert after[: len(before)] == before
    assert len(after) <= len(before) + 1
    if made != text and len(after) > len(before) and after[-1][0] is TermKind.FIELD:
        assert after[-1][2:] == (field.lstrip("-"), field.startswith("-"))


def test_the_zone_of_this_process_is_left_as_it_was():
    assert os.environ.get("TZ", "") not in ("Etc/GMT-9", "Etc/GMT+5")


@pytest.mark.parametrize("text", ["type:,", "type:,,", 'name:""', "name:“", 'in:"', "lang:，"])
def test_field_of_which_the_value_is_empty_says_so(text):
    parsed = read(text)
    assert not parsed.filters
    assert "stands alone" in parsed.notes[0]


@pytest.mark.parametrize("sign", ['-"..."', "-“。”", '-"!?'])
def test_signs_alone_leave_nothing_out_and_are_not_looked_for(sign):
    assert read(f"rain {sign}").words == "rain"
    parsed = read(sign)
    assert (parsed.words, parsed.phrases, parsed.excluded_phrases) == ("", (), ())


def test_emoji_are_words():
    assert read('"🎉"').phrases == ("🎉",)
    assert read("-🎂 rain").excluded_words == ("🎂",)
    assert read("🎉 party").words == "🎉 party"
    assert read('rain "→"').phrases == ()


def test_wide_figures_are_figures():
    assert read("after：２０２３-０５").filters.after == day(2023, 5)
    assert read("size:＞１ｍｂ").filters.size_from == 1_000_001
