"""Queries end to end: what each part of the language finds in a small library, and 200 hostile ones."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sbert_desktop.app.asking_query import with_notes
from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.naming import find_documents
from sbert_desktop.app.searching import parse_query, run_search
from sbert_desktop.app.session import Session
from sbert_desktop.domain import Filters, Mode, Query
from sbert_desktop.settings import Settings
from tests.app.conftest import TEXTS
from tests.app.test_fuzz import Quiet


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Iterator[tuple[Session, Path]]:
    """Gives one library for all: nothing here changes it."""
    root = tmp_path_factory.mktemp("asking")
    folder = root / "docs"
    for name, text in TEXTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
        session = Session(root / "library", Settings(root / "settings.toml"))
        run_index(session, IndexRequest((folder,)), Quiet())
        yield session, folder
        session.close()


@pytest.fixture
def asked(library):
    session, folder = library

    def ask(text: str, **options) -> set[str]:
        view = run_search(session, Query(text, top=50, **options), wait_for_model=True)
        assert view.query == text
        return {str(document.path.relative_to(folder)) for document in view.documents}

    return ask


ALL = {
    "garden/beds.md",
    "garden/tools.txt",
    "kitchen/bread.txt",
    "kitchen/soup.html",
    "letters/flat.eml",
    "code/tide.py",
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("type:txt", {"garden/tools.txt", "kitchen/bread.txt"}),
        ("-type:txt", ALL - {"garden/tools.txt", "kitchen/bread.txt"}),
        ("kind:mail", {"letters/flat.eml"}),
        ("kind:code,mail", {"letters/flat.eml", "code/tide.py"}),
        ("folder:garden", {"garden/beds.md", "garden/tools.txt"}),
        ("folder:docs/garden type:txt", {"garden/tools.txt"}),
        ("name:be", {"garden/beds.md"}),
        ("name:beds,tools", {"garden/beds.md", "garden/tools.txt"}),
        ("-name:beds,tools folder:garden", set()),
        ("from:ada", {"letters/flat.eml"}),
        ("-from:ada", ALL - {"letters/flat.eml"}),
        ("from:nobody,ada", {"letters/flat.eml"}),
        ("to:BEN@", {"letters/flat.eml"}),
        ('subject:"keys of"', {"letters/flat.eml"}),
        ("date:2023-03", {"letters/flat.eml"}),
        ("before:2024", {"letters/flat.eml"}),
        ("after:2024 folder:kitchen", {"kitchen/bread.txt", "kitchen/soup.html"}),
        ("has:attachment", set()),
        ("size:>1mb", set()),
        ("size:<1mb", ALL),
        ("in:nowhere", set()),
        ('"sourdough rest"', {"kitchen/bread.txt"}),
        ('"rest sourdough"', set()),
        ("“broad beans” type:md", {"garden/beds.md"}),
        ("water -tomatoes folder:garden", {"garden/tools.txt"}),
        ('folder:kitchen -"three leeks"', {"kitchen/bread.txt"}),
        ("-tomatoes -sourdough -leeks -deposit", {"garden/tools.txt", "code/tide.py"}),
    ],
)
def test_a_query_finds_what_it_says(asked, text, found):
    assert asked(text) == found
    assert asked(text, mode=Mode.KEYWORD) <= found


def test_what_is_typed_and_what_is_chosen_both_narrow(asked, library):
    folder = library[1]
    assert asked("type:txt", filters=Filters(folder=folder / "garden")) == {"garden/tools.txt"}
    assert asked("type:txt,md", filters=Filters(types=("md",))) == {"garden/beds.md"}
    assert asked("", filters=Filters(types=("md",))) == {"garden/beds.md"}


def test_a_query_of_fields_lists_the_newest_first(library):
    session = library[0]
    view = run_search(session, Query("size:<1mb", top=50))
    dates = [document.date for document in view.documents]
    assert len(dates) == len(ALL)
    assert dates == sorted(dates, reverse=True)


def test_a_query_that_asks_for_nothing_says_so(library):
    view = run_search(library[0], Query('""'))
    assert any("nothing to look for" in note for note in view.notes)


def test_notes_of_the_query_stand_with_the_answer(library):
    session = library[0]
    view = run_search(session, Query("colour:red after:2023-13"))
    assert any("colour:" in note for note in view.notes)
    assert any("2023-13" in note for note in view.notes)
    assert view.parsed is not None
    assert view.parsed.words == "colour:red after:2023-13"


def test_a_collection_that_is_not_there_is_said_with_those_that_are(library):
    session = library[0]

    def notes(text: str) -> list[str]:
        return [note for note in run_search(session, Query(text)).notes if "ollection" in note]

    assert notes("in:nowhere soil") == ["No collection is called “nowhere”; there is none yet."]
    assert notes("-in:nowhere soil")
    assert notes("soil") == []
    asked: list[bool] = []

    def names() -> list[str]:
        asked.append(True)
        return ["Flat", "Émile", "Garden", "Tax", "Work"]

    parsed = replace(parse_query(session, "in:emile soil"), notes=())
    assert with_notes(parsed, names).notes == ()
    (note,) = with_notes(replace(parsed, filters=Filters(collections=("gone", "flat"))), names).notes
    assert note == "No collection is called “gone”; there are Flat, Émile, Garden and 2 more."
    del asked[:]
    with_notes(parse_query(session, "soil"), names)
    assert not asked  # the library is not asked for nothing


def test_documents_are_found_by_name_and_title(library):
    session = library[0]

    def found(words: str, **options) -> list[str]:
        return [document.path.name for document in find_documents(session, words, **options)]

    assert found("BEDS") == ["beds.md"]
    assert found("keys flat") == ["flat.eml"]  # by its title
    assert found("soup le") == ["soup.html"]
    assert found("zebra") == found("") == found("  ") == []
    assert len(found(".", limit=2)) == 2
    (document,) = find_documents(session, "bread")
    assert document.hits[0].text.startswith("Knead")


# ---------------------------------------------------------------- hostile texts

HOSTILE = [
    # the operators of FTS5
    "AND", "OR", "NOT", "NEAR", "NEAR(a b)", 'NEAR("a" "b", 5)', "a AND", "NOT a", "a OR OR b", "a NOT NOT b",
    "(", ")", "(((((", "a)", "(a", "a*", "*a", "*", "^a", "a^", '"a"*', "a:b", "exact:a", "stem : a",
    "{exact stem}: a", "-{exact}: a", "a + b", "a +", '"a" + "b"', "-", "--", "---", "- -", '-"', '-""',
    "tokens MATCH a", "rank", "rowid:1", "#", "#tag", "@ada", "~", "~a",
    # quotes
    '"', '""', '"""', '""""', '" "', '"a', 'a"', '"a""b"', "'", "''", "'''", "'a", "`", "``a``", "“", "”", "„",
    "“”", "„“", "«", "»", "«»", "‹a›", "「", "」", "「」", "『a", '"“”"', '“"”', '"a “b" c”', "-“a", 'type:"',
    'type:"pdf', "folder:“", "\"'\"'\"",
    # nothing, controls, NULs, surrogates
    "\x00", "a\x00b", '"a\x00b"', "-\x00a", "\x00" * 1000, "a\x1fb\x7fc", "\t\r\n", "a\nb", '"a\nb"',
    "\x1b[31mred", "\ud800", "a\udfffb", '"\ud800"', "-\ud800", "\ufffe", "\uffff", "\U0010ffff",
    "\ufeffdeposit", "a\u200bb", "\xa0", "\u3000", "\u2028",
    # SQL
    "'; DROP TABLE passage; --", '" OR 1=1 --', "1' OR '1'='1", "a; DELETE FROM file", "/* a */",
    "x' UNION SELECT sql FROM sqlite_master --", "%", "_", "LIKE %a%", "\\", "\\\\", "\\'", "?1", ":a", "$a",
    "@1", "a' COLLATE NOCASE", "x--y", "${HOME}", "%s%n", "{0}", "../../etc/passwd", "C:\\Windows\\System32",
    "<script>alert(1)</script>", "<b>a</b>", "&lt;", "javascript:a",
    # emoji, directions, odd letters
    "😀", '"😀"', "-😀", "👩\u200d👩\u200d👧\u200d👦", "🇩🇪", "\u200fשלום", "\u202eabc\u202c", '"\u202eabc"',
    "-\u200fabc", "\u2066a\u2069", 'שלום "עולם"', "مرحبا -عالم", "ﷺ", "İstanbul", "ß", "ẞ", "ﬁne", "e\u0301",
    "Z" + "\u0300" * 500, "\u0300", '"\u0300"', "한국어", '日本語 "検索"', "ไทย", "ខ្មែរ", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "①②③", "١٢٣", "Ǆ",
    "٪", "…", "—", "–a", "−a", "‐a", "“„“„“„",
    # fields gone wrong
    ":", "::", "a:", "type:", "type::", "type:,", "type:,,,", "-type:", "--type:pdf", "type:type:pdf",
    "type:pdf:txt", 'type:"a b"', "type:😀", "size:", "size:>", "size:>>1", "size:-1", "size:1e999",
    "size:99999999999999999999", "size:>9tb", "size:1..", "size:..", "size:...", "size:5mb..1mb", "size:١mb",
    "size:nan", "size:inf", "after:", "after:0", "after:0000", "after:9999", "after:99999", "after:0001",
    "before:0001-01-01", "until:9999-12-31", "after:-1", "after:2023-02-30", "after:31.02.2023",
    "after:99999-days-ago", "after:99999-years-ago", "date:..", "date:2023..2021", "after:١٢٣٤", "lang:",
    "lang:xx", "lang:😀", "folder:/", "folder:\\", "folder:..", "folder:~", "folder:\x00", 'folder:"\x00"',
    "name:*", "name:%", "name:'", 'name:"', 'in:""', "in:'; DROP", "from:<ada@example.org>", "from:@", "to:,",
    "subject::a", "has:", "has:everything", 'http://a:b@c:80/?q="a"&b=-c#d', "type:pdf" * 50, "https:type:pdf",
    "-https://a",
]  # fmt: skip


def pastes():
    """Gives texts of 100 kB."""
    rng = random.Random(5)
    letters = 'ab "-:,()*\'\n“”«»😀é\x00\u200f日'
    yield "the water of the deposit is due within thirty days. " * 2000
    yield '"' * 100_000
    yield '"a b" ' * 17_000
    yield "-a" * 50_000
    yield "type:pdf " * 11_000
    yield "name:a," * 14_000
    yield "a" * 100_000
    yield "日本" * 50_000
    yield "".join(rng.choice(letters) for _ in range(100_000))
    yield " ".join(f"{rng.getrandbits(40):x}" for _ in range(9_000))
    yield '"' + "water " * 16_000
    yield "\x00" * 100_000


def test_there_are_two_hundred_hostile_queries():
    assert len(set(HOSTILE)) >= 200


def test_nothing_that_is_typed_is_an_error(library):
    session = library[0]
    for number, text in enumerate(dict.fromkeys(HOSTILE)):
        if not text.strip():
            continue
        view = run_search(session, Query(text, mode=list(Mode)[number % 3]))
        for note in view.notes:
            assert note, text
            assert len(note) < 250, text
            assert "\x00" not in note, text
            note.encode()
        assert view.parsed is not None
        assert len(view.notes) <= 8, text


def test_a_paste_of_100_kb_is_answered(library):
    for text in pastes():
        began = time.process_time()
        view = run_search(library[0], Query(text))
        assert view.parsed is not None
        assert all(len(note) < 250 for note in view.notes)
        assert time.process_time() - began < 10, text[:20]
