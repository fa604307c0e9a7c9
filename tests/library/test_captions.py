from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sbert_desktop.domain import ExtractedText, Filters, Passage, Problem, SourceFile
from sbert_desktop.errors import LibraryError
from sbert_desktop.library import Library, Writer

from .makers import document, embed_all, file_at, put_text, start
from .test_members import BOX, box, put_member, read_box, sound, texts_found

PICTURE = Path("/docs/beach.png")
NO_TEXT = Problem("no-text", "No text was found.", "")


def caption(words: str) -> tuple[ExtractedText, list[Passage]]:
    return document([words], format="caption")


def put_picture(writer: Writer, folder: int, path: Path = PICTURE, data: str = "pixels") -> SourceFile:
    file = file_at(path, data)
    writer.put(folder, file, None, (), (NO_TEXT,))  # type: ignore[arg-type]
    return file


def test_a_caption_is_found_like_a_passage(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_picture(writer, folder)
        content = writer.put_caption(PICTURE, "", *caption("grandma at the beach"))
        assert content is not None
        assert embed_all(writer) == 1
    assert library.caption_of(PICTURE) == "grandma at the beach"
    assert texts_found(library, "grandma", types=("png",)) == ["grandma at the beach"]
    (place,) = library.paths_of(content)
    assert (place.path, place.member, place.size) == (PICTURE, "caption", len("pixels"))
    assert library.text_of(content).format == "caption"
    assert library.counts().documents == 0, "words about a document are none themselves"
    assert (library.counts().passages, library.counts().embedded) == (1, 1)
    assert [problem.member for problem in library.problems()] == [""]
    assert list(library.known_files(folder)) == [b"/docs/beach.png"]  # type: ignore[arg-type]


def test_a_caption_survives_reading_again_moving_and_new_bytes(library: Library) -> None:
    folder, other = start(library, Path("/docs"), Path("/more"))
    there = Path("/more/sea.png")
    with library.writer() as writer:
        put_picture(writer, folder)
        writer.put_caption(PICTURE, "", *caption("grandma"))
        put_picture(writer, folder)
        writer.commit()
        assert library.caption_of(PICTURE) == "grandma"
        put_picture(writer, folder, data="rotated pixels")
        known = library.known_files(folder)[b"/docs/beach.png"]  # type: ignore[arg-type]
        writer.move(known.id, file_at(there, "rotated pixels"), other)  # type: ignore[arg-type]
    assert (library.caption_of(PICTURE), library.caption_of(there)) == ("", "grandma")
    assert texts_found(library, "grandma", folder=Path("/more")) == ["grandma"]
    assert library.caption_for(file_at(there, "rotated pixels").content_hash) == "grandma"
    assert library.caption_for(file_at(there, "pixels").content_hash) == ""
    with library.writer() as writer:
        writer.remove_folder(folder)  # type: ignore[arg-type]
    assert library.caption_of(there) == "grandma", "it belongs to the other folder now"
    assert library.caption_for(file_at(there, "rotated pixels").content_hash) == "grandma"


def test_a_caption_comes_back_with_its_bytes(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        file = put_picture(writer, folder)
        writer.put_caption(PICTURE, "", *caption("grandma"))
        writer.commit()
        writer.remove([library.known_files(folder)[b"/docs/beach.png"].id])  # type: ignore[arg-type]
        writer.commit()
        assert library.caption_of(PICTURE) == ""
        assert texts_found(library, "grandma") == []
        assert library.caption_for(file.content_hash) == "grandma"
        put_picture(writer, folder, Path("/docs/other.png"))
        writer.put_caption(Path("/docs/other.png"), "", *caption(library.caption_for(file.content_hash)))
    assert library.caption_of(Path("/docs/other.png")) == "grandma"
    assert sound(library)


def test_a_caption_is_replaced_and_taken_away(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        file = put_picture(writer, folder)
        writer.put_caption(PICTURE, "", *caption("first"))
        writer.put_caption(PICTURE, "", *caption("second"))
        writer.commit()
        assert library.caption_of(PICTURE) == "second"
        assert texts_found(library, "first second") == ["second"]
        assert writer.put_caption(PICTURE, "", None, ()) is None
        assert writer.put_caption(PICTURE, "", None, ()) is None, "nothing there: nothing to do"
    assert library.caption_of(PICTURE) == ""
    assert library.caption_for(file.content_hash) == ""
    assert texts_found(library, "first second") == []
    assert library.integrity()["contents"] == 0


def test_a_document_with_a_caption_is_one_document(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["own words"])
        writer.put_caption(Path("/docs/a.txt"), "", *caption("own words"))
        writer.commit()
        assert library.counts().documents == 1
        assert len(texts_found(library, "own")) == 2, "the same words, but not the same document"
        put_text(writer, folder, Path("/docs/a.txt"), ["new words"])
    assert texts_found(library, "words") == ["new words", "own words"]
    assert library.has_content(file_at(Path("/docs/a.txt"), "new words").content_hash) is not None


def test_a_member_has_a_caption_of_its_own(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        read_box(writer, folder, [("1.eml", "one"), ("1.eml/a.png", "pixels"), ("2.eml", "two")])
        writer.put_caption(BOX, "1.eml/a.png", *caption("grandma"))
        writer.put_caption(BOX, "", *caption("old mails"))
        read_box(writer, folder, [("1.eml", "one"), ("1.eml/a.png", "pixels")], 2)
    assert library.caption_of(BOX, "1.eml/a.png") == "grandma"
    assert library.caption_of(BOX) == "old mails"
    assert texts_found(library, "grandma", types=("png",)) == ["grandma"]
    with library.writer() as writer:
        read_box(writer, folder, [("1.eml", "one")], 3)
    assert library.caption_of(BOX, "1.eml/a.png") == "", "what it was about is gone"
    assert library.caption_for(file_at(BOX, "pixels").content_hash) == "grandma", "until it comes back"
    assert library.caption_of(BOX) == "old mails"
    assert sound(library)


def test_a_member_that_is_really_called_caption_has_its_place(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        read_box(writer, folder, [("x", "one")])
        writer.put_caption(BOX, "", *caption("mine"))
        read_box(writer, folder, [("x", "one"), ("caption", "a real file")], 2)
        writer.commit()
        assert library.caption_of(BOX) == "mine"
        content = library.content_at(BOX, "caption")
        assert content is not None
        assert library.text_of(content).text == "a real file"
        writer.put_caption(BOX, "", *caption("mine too"))
        read_box(writer, folder, [("x", "one"), ("caption", "a real file")], 3)
    assert library.caption_of(BOX) == "mine too"
    assert texts_found(library, "real mine one") == ["a real file", "mine too", "one"]


def test_a_caption_of_nothing_is_refused_and_costs_nothing(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_picture(writer, folder)
        with pytest.raises(LibraryError) as caught:
            writer.put_caption(Path("/docs/none.png"), "", *caption("x"))
        assert caught.value.code == "file-unknown"
        writer.commit()
    assert library.counts().problems == 1, "what was put before is still there"


def test_another_segmentation_cuts_captions_too(library: Library) -> None:
    from sbert_desktop.domain import SplitRules

    from .makers import info

    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        writer.begin_container(folder, box())  # type: ignore[arg-type]
        put_member(writer, folder, "m", "member")
        writer.finish_container(folder, box(), None, (), ())  # type: ignore[arg-type]
        writer.put_caption(BOX, "", *caption("words of mine"))
        writer.use_space(info("fake-2"), "tokenizer", SplitRules(max_tokens=3))
        for content in writer.resegment_needed():
            text = library.text_of(content)
            writer.put_passages(content, replace_passages(text))
        assert embed_all(writer) == 2
    snapshot = library.snapshot("fake-2")
    assert snapshot.select(Filters()) is None
    assert snapshot.alive.sum() == 2


def replace_passages(text: ExtractedText) -> list[Passage]:
    (passage,) = document([text.text])[1]
    return [replace(passage, context="")]
