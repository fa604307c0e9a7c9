"""What an update does last: recognise scans, read again with a newer reader; and files somebody writes to."""

from __future__ import annotations

import shutil
import zipfile

import pytest

from sbert_desktop.app.indexing import IndexRequest, run_index
from sbert_desktop.app.overview import problem_views
from sbert_desktop.app.searching import run_search
from sbert_desktop.app.session import Session
from sbert_desktop.domain import Mode, Query
from sbert_desktop.jobs import NullContext


def index(session, *folders, **options):
    return run_index(session, IndexRequest(tuple(folders), **options), NullContext())


def found(session, text):
    return [(d.path.name, d.member) for d in run_search(session, Query(text, mode=Mode.KEYWORD)).documents]


def picture(path, words) -> None:
    """Draws words as a scanner would see them."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("L", (1400, 200), 255)
    ImageDraw.Draw(image).text((40, 60), words, fill=0, font=ImageFont.load_default(size=64))
    image.save(path)


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="needs Tesseract")
def test_pictures_are_recognised_last_where_the_person_wants_it(session, folder, settings):
    picture(folder / "sign.png", "The walrus sings at noon")
    with zipfile.ZipFile(folder / "box.zip", "w") as archive:
        picture(folder / "inner.png", "A pelican came instead")
        archive.write(folder / "inner.png", "inner.png")
    (folder / "inner.png").unlink()
    report = index(session, folder)
    assert (report.documents, report.problems) == (6, 0)
    assert {(v.path.name, v.member, v.code) for v in problem_views(session)} == {
        ("sign.png", "", "picture"),
        ("box.zip", "inner.png", "picture"),
    }
    assert found(session, "walrus noon") == []
    report = index(session, recognise=(folder / "sign.png",), keep_leaving=True)
    assert report.changed == 1
    assert found(session, "walrus noon") == [("sign.png", "")]
    assert index(session, recognise_members=((folder / "box.zip", "other.png"),), keep_leaving=True).changed == 0
    assert found(session, "pelican instead") == []
    index(session, recognise_members=((folder / "box.zip", "inner.png"),), keep_leaving=True)
    assert found(session, "pelican instead") == [("box.zip", "inner.png")]
    picture(folder / "blank.png", "")
    report = index(session, folder)
    report = index(session, recognise=(folder / "blank.png",), keep_leaving=True)
    assert report.problems == 0  # a photo without words is no problem
    assert {v.code for v in problem_views(session) if v.path.name == "blank.png"} == {"wordless"}
    assert index(session, recognise=(folder,), keep_leaving=True).changed == 0  # and is not tried again
    (folder / "blank.png").unlink()
    index(session)
    picture(folder / "late.png", "A heron at last")
    assert index(session).added == 1
    assert found(session, "heron") == []
    settings.set("reading.ocr", True)
    report = index(session)
    assert (report.changed, report.added) == (0, 0)
    assert found(session, "heron") == [("late.png", "")]
    assert problem_views(session) == ()
    assert index(session).encoded_passages == 0


def test_text_of_an_earlier_reader_is_found_until_it_is_read_again(tmp_path, settings, folder, monkeypatch):
    with zipfile.ZipFile(folder / "box.zip", "w") as archive:
        archive.writestr("a.txt", "The ferry leaves at dawn.")
    session = Session(tmp_path / "library", settings)
    assert index(session, folder).documents == 7
    session.close()
    from sbert_desktop import extraction

    monkeypatch.setattr(extraction, "EXTRACTOR_VERSION", extraction.EXTRACTOR_VERSION + 1)
    session = Session(tmp_path / "library", settings)
    try:
        assert found(session, "sourdough") == [("bread.txt", "")]
        report = index(session)
        assert (report.unchanged, report.changed, report.added, report.documents) == (7, 0, 0, 7)
        assert found(session, "ferry") == [("box.zip", "a.txt")]
        assert not any(
            known.outdated for known in session.library.known_files(session.library.folders()[0].id).values()
        )
        assert index(session).encoded_passages == 0
    finally:
        session.close()


def test_file_that_changes_while_it_is_read_is_read_again_in_the_same_run(session, folder, monkeypatch):
    from sbert_desktop.domain import Problem
    from sbert_desktop.extraction import ExtractionPool

    results, torn = ExtractionPool.results, []

    def tearing(self, files, context):
        for file, outcome in results(self, files, context):
            if file.path.name == "bread.txt" and not torn:
                torn.append(file)
                outcome = Problem("changed-while-read", "The file changed while it was read.")
            yield file, outcome

    monkeypatch.setattr(ExtractionPool, "results", tearing)
    monkeypatch.setattr("sbert_desktop.app.indexing._SETTLE_SECONDS", 0.05)
    report = index(session, folder)
    assert torn
    assert (report.documents, report.problems, report.added) == (6, 0, 6)
    assert found(session, "sourdough") == [("bread.txt", "")]
