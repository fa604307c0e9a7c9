"""The preview of PDFs, pictures and members of containers, and what it says when there is nothing to draw."""

from __future__ import annotations

import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from sbert_desktop.app.preview import PageCache, boxes_on_page, run_preview, runs_on_page
from sbert_desktop.app.views import HitView, PreviewPage, PreviewText
from sbert_desktop.domain import Block, ExtractedText, Run, ScoreKind
from sbert_desktop.extraction import extract
from tests.extraction.conftest import make_pdf

RECOGNISED = ExtractedText("picture", "Two words", (Block(0, 9, runs=(
    Run(0, 1, 0, 3, (0.1, 0.5, 0.2, 0.1)), Run(4, 1, 4, 5, (0.32, 0.5, 0.3, 0.1)))),))  # fmt: skip


def hit_of(path: Path, text: ExtractedText, *, page: int | None = None, member: str = "", sentence=None) -> HitView:
    return HitView(
        passage_id=1, content_id=1, path=path, text=text.text, start=0, end=len(text.text), page=page, location="",
        score=1.0, score_kind=ScoreKind.FUSED, cosine=1.0, bm25=None, meaning_rank=1, words_rank=None,
        best_sentence=sentence, words=(), member=member)  # fmt: skip


@pytest.fixture
def preview(session):
    """Previews a text that the library is said to hold, drawn by a real child."""

    def shown(text: ExtractedText, hit: HitView, **options):
        return run_preview(
            SimpleNamespace(library=SimpleNamespace(text_of=lambda _: text), render=session.render), hit, **options
        )

    return shown


def picture_file(path: Path) -> Path:
    Image.new("RGB", (200, 100), (10, 120, 40)).save(path)
    return path


def test_boxes_and_ranges_are_kept_apart():
    mixed = ExtractedText("pdf", "Two words", (Block(0, 9, runs=(Run(0, 1, 7, 3), Run(4, 2, 0, 5, (0, 0, 1, 1)))),))
    assert runs_on_page(mixed, (1, 9), 1) == [(8, 2)]
    assert runs_on_page(mixed, (0, 9), 2) == []
    assert boxes_on_page(mixed, (0, 9), 2) == [(0, 0, 1, 1)]
    assert boxes_on_page(mixed, (0, 3), 2) == []


def test_a_picture_is_shown_with_its_recognised_words_marked(tmp_path, preview):
    path = picture_file(tmp_path / "a.png")
    shown = preview(RECOGNISED, hit_of(path, RECOGNISED, sentence=(4, 9)), width=400)
    assert isinstance(shown, PreviewPage)
    assert (shown.width, shown.height, shown.page, shown.pages) == (400, 200, 1, 1)
    assert shown.rgb[:3] == bytes((10, 120, 40))
    assert shown.passage == (pytest.approx((40, 100, 208, 20)),)  # two words of one line are one mark
    assert shown.sentence == (pytest.approx((128, 100, 120, 20)),)


def test_a_pdf_inside_an_archive_is_shown_as_its_page(tmp_path, preview):
    data = make_pdf([[(72, 700, 12, "first page")], [(72, 700, 12, "second page")]])
    (tmp_path / "inner.pdf").write_bytes(data)
    text = extract(tmp_path / "inner.pdf")
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("papers/inner.pdf", data)
    shown = preview(text, hit_of(archive, text, page=2, member="papers/inner.pdf"), width=300)
    assert isinstance(shown, PreviewPage)
    assert (shown.page, shown.pages, shown.width) == (2, 2, 300)
    assert len(shown.passage) == 1
    part = preview(text, hit_of(archive, text, page=1, member="papers/inner.pdf/part 3"), width=300)
    assert isinstance(part, PreviewPage)


def test_what_is_drawn_as_a_page_can_be_read_as_text_too(tmp_path, preview):
    path = picture_file(tmp_path / "a.png")
    shown = preview(RECOGNISED, hit_of(path, RECOGNISED, sentence=(4, 9)), as_text=True)
    assert isinstance(shown, PreviewText)
    assert (shown.text, shown.sentence, shown.note) == ("Two words", (4, 9), "")


def test_a_file_that_is_gone_is_shown_as_its_stored_text_and_that_is_said(tmp_path, preview):
    path = picture_file(tmp_path / "a.png")
    path.unlink()
    for text in (RECOGNISED, ExtractedText("txt", "Two words", (Block(0, 9),))):
        shown = preview(text, hit_of(path, text))
        assert isinstance(shown, PreviewText)
        assert shown.text == "Two words"
        assert "not there now" in shown.note


def test_a_page_that_cannot_be_drawn_is_said_and_the_text_is_shown(tmp_path, preview):
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    shown = preview(RECOGNISED, hit_of(path, RECOGNISED))
    assert isinstance(shown, PreviewText)
    assert shown.note.startswith("The page cannot be shown: The file is damaged")


def test_a_text_that_is_there_has_no_note(tmp_path, preview):
    (tmp_path / "a.txt").write_text("Two words")
    text = ExtractedText("txt", "Two words", (Block(0, 9),))
    shown = preview(text, hit_of(tmp_path / "a.txt", text))
    assert isinstance(shown, PreviewText)
    assert (shown.text, shown.note) == ("Two words", "")


def test_turning_back_and_zooming_back_draws_nothing_again_until_the_file_changes(tmp_path, session):
    path = tmp_path / "b.pdf"
    path.write_bytes(make_pdf([[(72, 700, 12, "first page")], [(72, 700, 12, "second page")]]))
    text = extract(path)
    asked = []

    def render(header):
        asked.append((header["page"], header["width"]))
        return session.render(header)

    cache = PageCache()
    view = SimpleNamespace(library=SimpleNamespace(text_of=lambda _: text), render=render)

    def shown(page, width=200):
        return run_preview(view, hit_of(path, text, page=1), page=page, width=width, cache=cache)

    first = shown(1)
    shown(2)
    shown(1, 400)
    assert shown(1) is first
    assert shown(1, 400).width == 400
    assert asked == [(1, 200), (2, 200), (1, 400)]
    path.write_bytes(make_pdf([[(72, 600, 12, "another page")]]))
    assert shown(1) is not first


def test_pictures_that_are_kept_stay_below_their_bound():
    cache = PageCache(250)
    pages = [PreviewPage(Path("a"), "", n, 9, 10, 10, bytes(100), (), ()) for n in range(4)]
    for n, page in enumerate(pages):
        cache.keep(n, page)
        assert cache.find(0) is pages[0]
    assert [cache.find(n) is not None for n in range(4)] == [True, False, False, True]
    cache.keep("large", PreviewPage(Path("a"), "", 1, 1, 10, 10, bytes(300), (), ()))
    assert [cache.find(n) for n in (0, 3, "large")] == [None, None, None]
