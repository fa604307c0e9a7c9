from __future__ import annotations

import random
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from sbert_desktop.domain import FolderRules, Problem, SourceFile
from sbert_desktop.library import Library, Writer, _analysis, _schema, open_library

from .makers import document, embed_all, file_at, put_text, start, vector_of

CANARY = "zyxwcanaryqvbn"


def bytes_with(folder: Path, needles: list[bytes]) -> list[tuple[str, bytes]]:
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            found += [(path.name, needle) for needle in needles if needle in data]
    return found


def vector_bytes(text: str) -> bytes:
    return struct.pack("<16f", *vector_of(text).tolist())[4:24]


def fill(library: Library, folder: int, other: int) -> list[bytes]:
    texts = [f"secret {CANARY}{number} of mine" for number in range(30)]
    with library.writer() as writer:
        for number in range(40):
            put_text(writer, other, Path(f"/other/{number}"), [f"stays {number}"])
        for number, text in enumerate(texts):
            extracted, passages = document(
                [text, "more"], title=f"title {CANARY}t{number}", metadata=(("author", f"{CANARY}a"),)
            )
            file = file_at(Path(f"/docs/{CANARY}p/{number}.txt"), extracted.text)
            problem = Problem("partly", f"{CANARY}m could not be read", "", True)
            writer.put(folder, file, extracted, passages, (problem,))  # type: ignore[arg-type]
            if number % 7 == 0:
                embed_all(writer)
        fill_inside(library, writer, folder, texts)
        embed_all(writer)
    return [CANARY.encode(), CANARY.encode().hex().encode(), *(vector_bytes(text) for text in texts)]


def fill_inside(library: Library, writer: Writer, folder: int, texts: list[str]) -> None:
    """Members, captions (one of a file that is gone), ignored entries, rules, cursors and a reading note."""
    box = SourceFile(Path(f"/docs/{CANARY}.mbox"), 1, 1, cursor=f"{CANARY}c")
    writer.begin_container(folder, box)  # type: ignore[arg-type]
    for number, text in enumerate(texts[:5]):
        extracted, passages = document([f"{text} inside"])
        member = replace(file_at(box.path, extracted.text), member=f"{CANARY} {number}.eml")
        writer.put(folder, member, extracted, passages, ())  # type: ignore[arg-type]
        writer.put_caption(box.path, member.member, *document([f"{CANARY} said {number}"]))
    writer.finish_container(folder, box, None, (), (), cursor=f"{CANARY}d")  # type: ignore[arg-type]
    gone = file_at(Path(f"/docs/{CANARY}.png"), "pixels")
    for file in (gone, file_at(Path("/docs/b.png"), "more pixels")):
        writer.put(folder, file, None, (), (Problem("no-text", f"{CANARY}n", ""),))  # type: ignore[arg-type]
        writer.put_caption(file.path, "", *document([f"{CANARY} shows {file.path}"]))
    writer.set_ignored([gone.path, box.path, Path("/docs/b.png")], True)
    writer.set_rules(folder, FolderRules((f"{CANARY}*",), (CANARY,)))  # type: ignore[arg-type]
    writer.commit()
    writer.remove([library.known_files(folder)[bytes(gone.path)].id])  # type: ignore[arg-type]
    writer.commit()
    assert CANARY in library.caption_for(gone.content_hash)
    library.note_reading(bytes(box.path), 1, 1)


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("anew", [False, True])
def test_a_removed_folder_leaves_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: bool, anew: bool
) -> None:  # R6b
    if anew:  # the keyword table is made again from what stays
        monkeypatch.setattr("sbert_desktop.library._erasing.REBUILD_FROM", 1)
    with open_library(tmp_path / "library", index_from=1) as library:
        folder, other = start(library, Path("/docs"), Path("/other"))
        needles = fill(library, folder, other)
        with library.writer() as writer:
            if index:
                writer.build_index(None, force=True)
            _schema.back_up(library.path, writer._connection, 1)
        library.snapshot("fake-1").keyword(f"{CANARY}3", None, 5)
        assert len({needle for _, needle in bytes_with(library.path, needles)}) > 10, "the search sees what is there"
        with library.writer() as writer:
            assert writer.remove_folder(folder) == (35, 71)  # type: ignore[arg-type]
            assert bytes_with(library.path, needles) == []
        assert library.counts().documents == 40
        assert library.snapshot("fake-1").alive.sum() == 40
        assert len(library.snapshot("fake-1").keyword("stays", None, 100)[0]) == 40
        assert {key for key, value in library.integrity().items() if key.startswith("bad_") and value} == set()
    assert bytes_with(library.path, needles) == []


def test_a_removed_file_takes_its_vectors_with_it(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        for number in range(10):
            put_text(writer, folder, Path(f"/docs/{number}"), [f"text {number}"])
        embed_all(writer)
        writer.remove([library.known_files(folder)[b"/docs/3"].id])  # type: ignore[arg-type]
        writer.commit()
        assert bytes_with(library.path / "spaces", [vector_bytes("text 3")]) == []
        assert bytes_with(library.path / "spaces", [vector_bytes("text 4")]) != []


@pytest.mark.parametrize("anew", [False, True])
def test_an_interrupted_removal_goes_on(library: Library, monkeypatch: pytest.MonkeyPatch, anew: bool) -> None:
    if anew:
        monkeypatch.setattr("sbert_desktop.library._erasing.REBUILD_FROM", 1)
    monkeypatch.setattr("sbert_desktop.library._erasing.FILES_PER_COMMIT", 5)
    folder, other = start(library, Path("/docs"), Path("/other"))
    needles = fill(library, folder, other)
    calls = 0

    def stop(*_: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("sbert_desktop.library._erasing.zero_dead_rows", stop)
        with pytest.raises(KeyboardInterrupt), library.writer() as writer:
            writer.remove_folder(folder)  # type: ignore[arg-type]
    (leaving, _) = library.folders()
    assert leaving.state == "leaving"
    assert 0 < leaving.documents < 35
    with library.writer() as writer:
        assert library.integrity()["bad_words"] == 0, "made good before anything else is written"
        writer.remove_folder(folder)  # type: ignore[arg-type]
    assert bytes_with(library.path, needles) == []
    assert library.notices == []
    assert len(library.snapshot("fake-1").keyword("stays", None, 100)[0]) == 40


def test_an_emptied_catalog_gives_its_pages_back(library: Library) -> None:
    folder, other = start(library, Path("/docs"), Path("/other"))
    with library.writer() as writer:
        put_text(writer, other, Path("/other/a"), ["stays"])
        writer.commit()
        small = catalog_size(library)
        for number in range(40):
            put_text(writer, folder, Path(f"/docs/{number}"), [random.Random(number).randbytes(4_000).hex()])
        writer.commit()
        assert catalog_size(library) > small + 100_000
        writer.remove_folder(folder)  # type: ignore[arg-type]
        assert catalog_size(library) < small + 50_000
    assert library.quick_check() == []
    assert len(library.snapshot("fake-1").keyword("stays", None, 5)[0]) == 1


def catalog_size(library: Library) -> int:
    with library._reading() as connection:
        connection.execute("PRAGMA query_only=OFF")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (library.path / "catalog.sqlite").stat().st_size


def test_cleared_history_leaves_no_byte(library: Library) -> None:
    library.add_history(f"where is {CANARY}")
    assert bytes_with(library.path, [CANARY.encode()]) != []
    library.clear_history()
    assert bytes_with(library.path, [CANARY.encode()]) == []


def test_changed_rules_for_words_rebuild_the_table(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a"), ["alpha beta", "gamma"], title="delta")
    monkeypatch.setattr(_analysis, "VERSION", _analysis.VERSION + 1)
    monkeypatch.setattr(_analysis, "MARKS", (2,))
    with library.writer():
        pass
    assert any("rules for words" in notice for notice in library.notices)
    for word in ("beta", "gamma", "delta"):
        assert len(library.snapshot("fake-1").keyword(word, None, 5)[0]) == 1
    with library.writer() as writer:
        assert library.notices.count(library.notices[0]) == 1
        writer.remove_folder(folder)  # type: ignore[arg-type]
    assert library.integrity()["bad_words"] == 0
