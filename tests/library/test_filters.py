from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.domain import Filters, SourceFile
from sbert_desktop.library import KeptPassage, Library, _filtering
from tests.effort import least_cpu

from .makers import document, embed_all, file_at, put_text, start


def names(library: Library, **filters: object) -> list[str]:
    """The names of what passes, in order."""
    snapshot = library.snapshot("fake-1")
    mask = snapshot.select(Filters(**filters))  # type: ignore[arg-type]
    assert mask is not None
    found = []
    for content in np.flatnonzero(mask):
        place = library.paths_of(int(content))[0]  # type: ignore[arg-type]
        found.append(place.member or place.path.name)
    return sorted(found)


def mail(sender: str, to: str, subject: str, cc: str = "", body: str = "") -> dict[str, object]:
    return {
        "format": "eml",
        "title": subject,
        "metadata": (("from", sender), ("to", to), ("cc", cc), ("message-id", "<x@y>")),
        "paragraphs": [body or f"{sender} {to} {subject}"],
    }


def put(library: Library, path: str, text: dict[str, object], member: str = "", size: int = 100) -> int:
    values = dict(text)
    extracted, passages = document(values.pop("paragraphs"), **values)  # type: ignore[arg-type]
    file = replace(file_at(Path(path), extracted.text), member=member, size=size)
    with library.writer() as writer:
        content = writer.put(library.folders()[0].id, file, extracted, passages, ())
    assert content is not None
    return content


def plain(text: str) -> dict[str, object]:
    return {"paragraphs": [text]}


@pytest.fixture
def filled(library: Library) -> Library:
    start(library, Path("/docs"))
    put(library, "/docs/Taxes/2023/Invoice March.pdf", plain("one"), size=2_000_000)
    put(library, "/docs/taxes/2024/Rechnung März.pdf", plain("two"), size=500)
    put(library, "/docs/my taxes/other.txt", plain("three"), size=0)
    put(library, "/docs/mail/flat.eml", mail("Ánna <anna@example.org>", "bob@example.org", "The flat", "carl@x.de"))
    put(library, "/docs/mail/note.eml", mail("bob@example.org", "anna@example.org", "A note"))
    box = "/docs/mail/box.mbox"
    with library.writer() as writer:
        writer.begin_container(library.folders()[0].id, SourceFile(Path(box), 9, 9))
    put(library, box, mail("dora@example.org", "anna@example.org", "Plans"), member="1 Plans.eml", size=50)
    put(library, box, plain("a plan of the flat"), member="1 Plans.eml/plan.pdf", size=3_000)
    put(library, box, mail("dora@example.org", "carl@x.de", "Nothing"), member="2 Nothing.eml", size=50)
    with library.writer() as writer:
        writer.finish_container(library.folders()[0].id, SourceFile(Path(box), 9, 9), None, (), ())
    return library


ALL = [
    "1 Plans.eml", "1 Plans.eml/plan.pdf", "2 Nothing.eml", "Invoice March.pdf", "Rechnung März.pdf", "flat.eml",
    "note.eml", "other.txt",
]  # fmt: skip


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"names": ("invoice",)}, ["Invoice March.pdf"]),
        ({"names": ("MARZ", "rech")}, ["Rechnung März.pdf"]),
        ({"names": ("marz", "invoice")}, []),
        ({"names": ("plan",)}, ["1 Plans.eml", "1 Plans.eml/plan.pdf"]),
        ({"names": ("box",)}, []),
        ({"folders": ("taxes",)}, ["Invoice March.pdf", "Rechnung März.pdf"]),
        ({"folders": ("TAXES/2023/",)}, ["Invoice March.pdf"]),
        ({"folders": ("2024", "my taxes")}, ["Rechnung März.pdf", "other.txt"]),
        ({"folders": ("tax",)}, []),
        ({"folders": ("/docs/taxes/2024",)}, ["Rechnung März.pdf"]),
        ({"size_from": 500, "size_to": 2_000_000}, ["1 Plans.eml/plan.pdf", "Rechnung März.pdf"]),
        ({"size_to": 1}, ["other.txt"]),
        ({"size_from": 1_000_000}, ["Invoice March.pdf"]),
        ({"senders": ("anna",)}, ["flat.eml"]),
        ({"senders": ("dora", "example.org")}, ["1 Plans.eml", "2 Nothing.eml"]),
        ({"recipients": ("carl@x.de",)}, ["2 Nothing.eml", "flat.eml"]),
        ({"subjects": ("FLAT",)}, ["flat.eml"]),
        ({"attachments": True}, ["1 Plans.eml"]),
        ({"attachments": False}, ["2 Nothing.eml", "flat.eml", "note.eml"]),
        ({"types": ("eml",), "without": (Filters(senders=("dora",)),)}, ["flat.eml", "note.eml"]),
        ({"without": (Filters(types=("eml",)), Filters(folders=("taxes",)))}, ["1 Plans.eml/plan.pdf", "other.txt"]),
        ({"without": (Filters(),)}, ALL),
        ({"without": (Filters(names=("plan",), types=("pdf",)),)}, [n for n in ALL if not n.endswith("plan.pdf")]),
        ({"collections": ("nothing",)}, []),
    ],
)
def test_every_field_narrows(filled: Library, filters: dict[str, object], wanted: list[str]) -> None:
    assert names(filled, **filters) == sorted(wanted)


def test_letters_that_do_not_decompose_are_folded_in_every_field(library: Library) -> None:
    start(library, Path("/docs"))
    put(library, "/docs/Œuvres/Łódź plan.txt", plain("one"))
    put(library, "/docs/mail/a.eml", mail("Bjørn Đorđević <b@x.no>", "Şafak IŞIK", "Þing á Ísafirði"))
    assert names(library, names=("lodz",)) == names(library, names=("ŁÓDŹ",)) == ["Łódź plan.txt"]
    assert names(library, folders=("oeuvres",)) == ["Łódź plan.txt"]
    assert names(library, senders=("bjorn",)) == names(library, senders=("DORDEVIC",)) == ["a.eml"]
    assert names(library, recipients=("ışık",)) == names(library, subjects=("thing a isafirdi",)) == ["a.eml"]


def test_a_collection_is_a_filter(filled: Library) -> None:
    content = put(filled, "/docs/extra.txt", plain("words of an extra"))
    sha = filled.sha256_of(content)
    filled.collect("Ärzte", [KeptPassage(sha, 0, 5, "words", Path("/docs/extra.txt"))])
    assert names(filled, collections=("arzte",)) == ["extra.txt"]
    assert "extra.txt" not in names(filled, without=(Filters(collections=("Ärzte",)),))
    filled.change_collection("Ärzte", delete=True)
    assert names(filled, collections=("arzte",)) == []


def test_only_certain_documents_and_all_other_filters_with_them(filled: Library) -> None:
    snapshot = filled.snapshot("fake-1")
    by_name = {filled.paths_of(id_)[0].path.name: id_ for id_ in range(1, 6)}  # type: ignore[arg-type]
    invoice, other, note = by_name["Invoice March.pdf"], by_name["other.txt"], by_name["note.eml"]
    chosen = (note, invoice, other)
    assert names(filled, contents=chosen) == ["Invoice March.pdf", "note.eml", "other.txt"]
    assert names(filled, contents=(invoice, -1, 0, 10**30, 9999, invoice)) == ["Invoice March.pdf"]
    assert names(filled, contents=(-1, 9999)) == [], "of none there is"
    assert names(filled, contents=chosen, types=("pdf",)) == ["Invoice March.pdf"]
    assert names(filled, contents=chosen, size_to=1000, folders=("docs",)) == ["note.eml", "other.txt"]
    assert names(filled, contents=chosen, senders=("bob",)) == ["note.eml"]
    filled.collect("box", [KeptPassage(filled.sha256_of(other), 0, 3, "thr", Path("/x"))])
    assert names(filled, contents=chosen, collections=("box",)) == ["other.txt"]
    rest = names(filled, without=(Filters(contents=chosen),))
    assert rest
    assert not {"Invoice March.pdf", "note.eml", "other.txt"} & set(rest)
    assert names(filled, contents=chosen, without=(Filters(contents=(note,)),)) == ["Invoice March.pdf", "other.txt"]
    assert snapshot.select(Filters(contents_label="a label alone")) is None


def test_words_newest_and_phrases_keep_to_certain_documents(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        ids = [put_text(writer, folder, Path(f"/docs/{n}.txt"), [f"green tea number {n}"]) for n in range(6)]
        embed_all(writer)
    snapshot = library.snapshot("fake-1")
    chosen = (ids[1], ids[4])
    mask = snapshot.select(Filters(contents=chosen))
    passages, _, _ = snapshot.keyword("tea", mask, 10)
    assert sorted(record.content_id for record in snapshot.fetch(passages.tolist()).values()) == sorted(chosen)
    passages, _ = snapshot.newest(mask, 10)
    assert {record.content_id for record in snapshot.fetch(passages.tolist()).values()} == set(chosen)
    holding = snapshot.holding(["green tea"], [], [], mask)
    assert holding is not None
    assert set(np.flatnonzero(holding.mask)) == set(chosen)
    with library.writer() as writer:
        writer.remove([library.known_files(folder)[b"/docs/1.txt"].id])  # type: ignore[arg-type]
    mask = library.snapshot("fake-1").select(Filters(contents=chosen))
    assert mask is not None
    assert set(np.flatnonzero(mask)) == {ids[4]}, "what is gone stays gone"


def test_a_hundred_thousand_documents_by_id_take_milliseconds() -> None:
    chosen = tuple(np.random.default_rng(0).permutation(100_000).tolist())
    assert _filtering._among(chosen, 100_001).sum() == 100_000
    assert least_cpu(lambda: _filtering._among(chosen, 100_001), enough=0.04) < 0.04, "measured: 4 ms"


def test_details_follow_moves_changes_and_removals(filled: Library) -> None:
    assert names(filled, names=("rechnung",)) == ["Rechnung März.pdf"]
    assert names(filled, attachments=True) == ["1 Plans.eml"]
    (folder,) = filled.folders()
    known = filled.known_files(folder.id)
    old = known["/docs/taxes/2024/Rechnung März.pdf".encode()]
    with filled.writer() as writer:
        writer.move(old.id, SourceFile(Path("/docs/new/bill.pdf"), 7_000, 1), folder.id)
        box = SourceFile(Path("/docs/mail/box.mbox"), 9, 10)
        writer.begin_container(folder.id, box)
        writer.finish_container(folder.id, box, None, (), ())  # all members are gone
    put(filled, "/docs/fresh.eml", mail("eve@example.org", "x", "Fresh"), size=9_000)
    assert names(filled, names=("rechnung",)) == []
    assert names(filled, names=("bill",), folders=("new",), size_from=7_000) == ["bill.pdf"]
    assert names(filled, senders=("eve",), size_from=8_999) == ["fresh.eml"]
    assert names(filled, attachments=True) == []
    assert names(filled, attachments=False) == ["flat.eml", "fresh.eml", "note.eml"]


def test_details_kept_up_to_date_are_those_of_a_fresh_library(library: Library) -> None:
    from sbert_desktop.library import open_library

    start(library, Path("/docs"))
    chance = random.Random(5)
    for _ in range(40):
        number = chance.randrange(12)
        sender = chance.choice(["ann", "bob", "carl"])
        put(library, f"/docs/{number % 3}/{number}.eml", mail(sender, "x", f"s{chance.randrange(9)}"), size=number)
        if chance.random() < 0.3:
            (folder,) = library.folders()
            gone = chance.choice(list(library.known_files(folder.id).values()))
            with library.writer() as writer:
                writer.remove([gone.id])
        asked = [{"senders": ("ann",)}, {"names": ("1",)}, {"size_from": 5}, {"folders": ("2",)}, {"subjects": ("s3",)}]
        with open_library(library.path, read_only=True) as other:
            for filters in asked:
                assert names(library, **filters) == names(other, **filters), filters


def test_a_crowded_folder_does_not_hide_the_single_document_of_another(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        for number in range(1_000):
            put_text(writer, folder, Path(f"/docs/crowd/{number}.txt"), [f"tea tea tea tea {number}"])
        single = put_text(writer, folder, Path("/docs/alone/one.txt"), ["a long text with tea in it somewhere"])
        embed_all(writer)
    snapshot = library.snapshot("fake-1")
    for filters in (Filters(folders=("alone",)), Filters(folder=Path("/docs/alone")), Filters(names=("one.",)),
                    Filters(without=(Filters(folders=("crowd",)),))):  # fmt: skip
        mask = snapshot.select(filters)
        contents = snapshot.keyword("tea", mask, 10)[2]
        assert contents.tolist() == [single]
        held = snapshot.holding(("with tea",), (), (), mask)
        assert held is not None
        assert np.flatnonzero(held.mask).tolist() == [single]


@pytest.mark.parametrize("count", [20_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_select_takes_milliseconds(library: Library, count: int) -> None:
    (folder,) = start(library, Path("/docs"))
    put(library, "/docs/seed.eml", mail("ann", "x", "s"))
    rows = [(number, f"sha{number}", json.dumps([["from", f"p{number % 300}"]])) for number in range(10, count)]
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(library.path / "catalog.sqlite")) as connection:
        connection.executemany(
            "INSERT INTO content SELECT ?, ?, extractor_version, format, language, 'title ' || ?1, date, characters,"
            " blocks, ?, problems FROM content WHERE id=1", rows,
        )  # fmt: skip
        connection.executemany(
            "INSERT INTO file(id, folder, path, size, mtime_ns, device, inode, content, read_at)"
            " VALUES(?,?,?,?,1,1,1,?,1)",
            [(n, folder, f"/docs/f{n % 500}/name {n}.txt".encode(), n, n) for n, _, _ in rows],
        )
        connection.execute("INSERT INTO change(kind, id) VALUES(3, 1)")
        connection.commit()
    snapshot = library.snapshot("fake-1")
    common = [Filters(folders=("f7",)), Filters(names=("name 77",)), Filters(size_from=5, size_to=18_000),
              Filters(senders=("p7",)), Filters(types=("txt",), after=0.0), Filters(attachments=False)]  # fmt: skip
    for filters in common:
        mask = snapshot.select(filters)  # reads what it needs
        assert mask is not None
        assert mask.any() or filters.after is not None
    enough = max(0.005, count / 5_000_000)  # 5.5 ms at 100,000 on a machine of its own
    best = {filters: least_cpu(partial(snapshot.select, filters), enough=enough, tries=20) for filters in common}
    assert max(best.values()) < enough, best
