"""Text recognition, pictures, and their picture in the preview. Tests that need Tesseract skip where it is absent."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont, PngImagePlugin

from sbert_desktop.domain import PICTURE, ExtractedText
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import _ocr, _picture, _programs
from sbert_desktop.extraction._extract import extract_bytes
from sbert_desktop.extraction._ocr import check_languages, page_of, recognise
from sbert_desktop.extraction._render import render
from tests.extraction.pdf_parts import scan_of, shown

TEXT = ["The lighthouse keeper wrote down", "every ship that passed in the fog,", "and the height of the tide."]
needs_tesseract = pytest.mark.skipif(not _programs.find().tesseract, reason="Tesseract is not installed")
HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"


def drawn(texts: list[str], size: tuple[int, int] = (1200, 500), letters: int = 44) -> Image.Image:
    picture = Image.new("L", size, 255)
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=letters)
    for number, text in enumerate(texts):
        pen.text((60, 60 + 70 * number), text, fill=0, font=font)
    return picture


def saved(picture: Image.Image, kind: str = "PNG", **more: object) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **more)
    return out.getvalue()


def words(document: ExtractedText) -> str:
    return " ".join(document.text.split())


def row(block: int, line: int, word: int, text: str, confidence: float = 95, left: int = 0, top: int = 0) -> str:
    return f"5\t1\t{block}\t1\t{line}\t{word}\t{left}\t{top}\t80\t20\t{confidence}\t{text}\n"


# ---------------------------------------------------------------- Tesseract's table


def test_lines_paragraphs_and_boxes_come_from_the_table() -> None:
    table = HEAD + row(1, 1, 1, "Two", left=100, top=50) + row(1, 1, 2, "words", left=200, top=50) + row(
        1, 2, 1, "below", left=100, top=80) + row(2, 1, 1, "Apart.", left=100, top=300)
    found = page_of(table, 1, (1000, 500), (240.0, 120.0))
    assert [line.text for line in found.page.lines] == ["Two words", "below", "Apart."]
    assert [line.group for line in found.page.lines] == [0, 0, 1]
    assert found.page.boxes is not None
    assert found.page.boxes[1] == (4, 9, (0.2, 0.1, 0.08, 0.04))
    assert found.page.characters[4:9] == "words"
    assert found.confidence == pytest.approx(95)


def test_stains_and_unsure_signs_are_no_words() -> None:
    table = HEAD + row(1, 1, 1, "~|", 20) + row(2, 1, 1, "xq", 12) + row(3, 1, 1, "Sure", 91) + "broken row\n"
    assert [line.text for line in page_of(table, 1, (100, 100), (24.0, 24.0)).page.lines] == ["Sure"]


def test_a_missing_program_or_language_pack_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_programs, "find", lambda: _programs.Programs("5.3.0", ("deu", "eng"), "", "/bin/tesseract"))
    assert check_languages("eng, DEU") == "eng+deu"
    with pytest.raises(ExtractionError) as caught:
        check_languages("eng+fra")
    assert caught.value.code == "needs-program"
    assert "fra" in caught.value.message
    assert "tesseract-ocr-fra" in caught.value.hint
    monkeypatch.setattr(_programs, "find", _programs.Programs)
    with pytest.raises(ExtractionError) as caught:
        check_languages("eng")
    assert "Tesseract" in caught.value.message


def test_words_that_are_not_sure_are_said_to_read_badly(monkeypatch: pytest.MonkeyPatch) -> None:
    table = HEAD + "".join(row(1, 1, number, f"scrawl{number}", 41) for number in range(1, 9))
    monkeypatch.setattr(_programs, "find", lambda: _programs.Programs("5.3.0", ("eng",), "", "/bin/tesseract"))
    monkeypatch.setattr(_programs, "run", lambda *_, **__: _programs.Ended(0, table.encode(), b""))
    document = recognise(saved(drawn(TEXT)), "letter.png", "eng")
    assert document.text.startswith("scrawl1 scrawl2")
    (problem,) = document.problems
    assert (problem.code, problem.partial) == ("reads-badly", True)


def test_pages_that_are_not_reached_in_time_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_programs, "find", lambda: _programs.Programs("5.3.0", ("eng",), "", "/bin/tesseract"))
    monkeypatch.setattr(_ocr.Reader, "late", lambda self: self.done >= 1)
    table = HEAD + "".join(row(1, 1, number, f"harbour{number}") for number in range(1, 9))
    monkeypatch.setattr(_programs, "run", lambda *_, **__: _programs.Ended(0, table.encode(), b""))
    document = recognise(scan_of(bytes(100), 10, 10, pages=3), "scan.pdf", "eng")
    assert document.text.count("harbour1") == 1
    (problem,) = document.problems
    assert problem.code == "timed-out"
    assert "2 of 3 pages" in problem.message


# ---------------------------------------------------------------- with Tesseract


@needs_tesseract
def test_a_scanned_pdf_is_recognised_with_the_place_of_each_word() -> None:
    page = Image.new("L", (1275, 1650), 255)
    page.paste(drawn(TEXT), (0, 200))
    data = scan_of(page.tobytes(), *page.size)
    with pytest.raises(ExtractionError) as caught:
        extract_bytes(Path("scan.pdf"), data)
    assert caught.value.code == "no-text-layer"
    assert "Tesseract" in caught.value.hint
    document = recognise(data, "scan.pdf", "eng")
    assert words(document) == " ".join(TEXT)
    assert document.format == "pdf"
    (block,) = document.blocks
    assert block.page == 1
    run = next(run for run in block.runs if document.text[run.text_start :].startswith("lighthouse"))
    assert run.length == len("lighthouse")
    assert run.box is not None
    x, y, width, height = run.box
    assert 0.08 < x < 0.2
    assert 0.14 < y < 0.2
    header, pixels = render({"page": 1, "width": 500, "ranges": {"passage": []},
                             "boxes": {"passage": [run.box]}}, data)
    rects = header["rects"]
    assert isinstance(rects, dict)
    assert rects["passage"] == [pytest.approx([500 * x, header["height"] * y, 500 * width, header["height"] * height])]
    assert len(pixels) == 3 * 500 * int(str(header["height"]))


@needs_tesseract
def test_a_stamp_on_a_scan_does_not_hide_its_text_and_a_page_on_its_side_is_read() -> None:
    page = Image.new("L", (1275, 1650), 255)
    page.paste(drawn(TEXT), (0, 200))
    side = page.transpose(Image.Transpose.ROTATE_90)
    content = b"q 612 0 0 792 0 0 cm /I1 Do Q " + shown([(500, 20, 8, "Page 7")])
    data = scan_of(page.tobytes(), *page.size, contents=[content])
    assert " ".join(TEXT) in words(recognise(data, "scan.pdf", "eng"))
    document = recognise(saved(side.resize((1100, 850))), "side.png", "eng")
    if "osd" in _programs.find().languages or words(document):
        assert " ".join(TEXT) in words(document)
        run = next(run for run in document.blocks[0].runs if document.text[run.text_start :].startswith("lighthouse"))
        assert run.box is not None
        assert run.box[2] < run.box[3]  # it runs upwards


@needs_tesseract
@pytest.mark.parametrize(("kind", "name"), [("JPEG", "a.jpg"), ("WEBP", "a.webp")])
def test_pictures_of_each_kind_are_recognised(kind: str, name: str) -> None:
    document = recognise(saved(drawn(TEXT[:1], (900, 200)), kind), name, "eng")
    assert words(document) == TEXT[0]
    assert document.format == "picture"
    assert document.blocks[0].page is None
    assert not document.problems


@needs_tesseract
def test_each_page_of_a_tiff_is_read() -> None:
    texts = ["First page of it.", "Second page of it."]
    pages = [drawn([text], (900, 200)) for text in texts]
    data = saved(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    document = recognise(data, "fax.tif", "eng")
    assert [block.page for block in document.blocks] == [1, 2]
    assert words(document) == " ".join(texts)


@needs_tesseract
def test_a_picture_is_turned_as_the_camera_was_held() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = saved(drawn(TEXT).transpose(Image.Transpose.ROTATE_90), "JPEG", exif=exif)
    assert words(recognise(data, "a.jpg", "eng")) == " ".join(TEXT)
    header, _ = render({"page": 1, "width": 300}, data)
    assert (header["width"], header["height"], header["pages"]) == (300, 125, 1)


# ---------------------------------------------------------------- pictures without recognition


def test_a_picture_without_words_of_its_own_is_no_problem_to_count() -> None:
    with pytest.raises(ExtractionError) as caught:
        extract_bytes(Path("a.png"), saved(drawn(TEXT)))
    assert caught.value.code == PICTURE
    assert "text recognition" in caught.value.hint


def test_what_was_written_into_a_photo_is_its_text() -> None:
    exif = Image.Exif()
    exif[0x010E] = "Grandmother feeding the hens"
    exif[0x9C9E] = "farm;hens;farm".encode("utf-16-le")
    exif.get_ifd(0x8769)[0x9003] = "1998:07:12 10:30:00"
    xmp = (b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
           b'<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li>Summer on the farm'
           b'</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>')
    document = extract_bytes(Path("a.jpg"), saved(drawn([]), "JPEG", exif=exif, xmp=xmp))
    assert document.title == "Summer on the farm"
    assert document.text.split("\n\n") == ["Summer on the farm", "Grandmother feeding the hens", "farm, hens"]
    assert document.date == 900239400.0
    (problem,) = document.problems
    assert (problem.code, problem.partial) == (PICTURE, True)


def test_what_the_camera_writes_by_itself_is_no_text() -> None:
    exif = Image.Exif()
    exif[0x010E] = "OLYMPUS DIGITAL CAMERA         "
    with pytest.raises(ExtractionError) as caught:
        extract_bytes(Path("a.jpg"), saved(drawn([]), "JPEG", exif=exif))
    assert caught.value.code == PICTURE


def test_text_chunks_of_a_png_are_read() -> None:
    notes = PngImagePlugin.PngInfo()
    notes.add_itxt("Title", "Plan of the attic")
    notes.add_text("Description", "Beams are marked in red")
    document = extract_bytes(Path("a.png"), saved(drawn([]), pnginfo=notes))
    assert document.title == "Plan of the attic"
    assert "Beams are marked in red" in document.text


def test_bombs_and_broken_pictures_are_refused() -> None:
    bomb = saved(Image.new("1", (20_000, 20_000)))
    with pytest.raises(ExtractionError) as caught:
        extract_bytes(Path("a.png"), bomb)
    assert caught.value.code == "too-large"
    whole = saved(drawn(TEXT))
    for data in (whole[:12], b"\x89PNG\r\n\x1a\n" + bytes(64), b"GIF89a\xff\xff"):
        with pytest.raises(ExtractionError) as caught:
            render({"page": 1, "width": 100}, data)
        assert caught.value.code == "damaged"
    with pytest.raises(ExtractionError) as caught:
        render({"page": 1, "width": 100}, whole[: len(whole) // 2])
    assert caught.value.code == "damaged"


def test_clear_grounds_are_white_and_odd_depths_are_seen() -> None:
    clear = Image.new("RGBA", (40, 30), (0, 0, 0, 0))
    deep = Image.new("I;16", (40, 30), 65535)
    for data in (saved(clear), saved(deep, "TIFF"), saved(Image.new("1", (40, 30), 1), "TIFF")):
        with _picture.opened(data) as picture:
            shown = _picture.turned(picture, 1000)
            assert shown.size[0] * shown.size[1] <= 1000
            assert shown.mode in {"L", "RGB"}
    header, pixels = render({"page": 1, "width": 20}, saved(clear))
    assert (header["width"], header["height"]) == (20, 15)
    assert set(pixels) == {255}


def test_a_page_that_a_picture_does_not_have_is_said() -> None:
    with pytest.raises(ExtractionError) as caught:
        render({"page": 2, "width": 100}, saved(drawn(TEXT)))
    assert caught.value.code == "unreadable"
    assert "1 page" in caught.value.message


def test_a_real_heic_is_decoded_and_its_description_read(tmp_path: Path) -> None:
    import shutil
    import subprocess

    from PIL import Image

    from sbert_desktop.extraction import extract
    from sbert_desktop.extraction._picture import opened, turned

    if shutil.which("heif-enc") is None:
        pytest.skip("heif-enc (libheif-examples) is not here")
    picture = Image.new("RGB", (320, 200), (250, 250, 250))
    picture.paste((200, 20, 20), (160, 0, 320, 200))
    exif = Image.Exif()
    exif[0x010E] = "A boat on the lake"
    picture.save(tmp_path / "a.jpg", exif=exif, quality=95)
    subprocess.run(["heif-enc", str(tmp_path / "a.jpg"), "-o", str(tmp_path / "a.heic")], check=True,
                   capture_output=True, timeout=60)
    assert "A boat on the lake" in extract(tmp_path / "a.heic").text
    with opened((tmp_path / "a.heic").read_bytes()) as found:
        shown = turned(found, 1_000_000).convert("RGB")
    assert shown.size == (320, 200)
    left, right = shown.getpixel((20, 100)), shown.getpixel((300, 100))
    assert min(left) > 230
    assert right[0] > 170 > 80 > right[1]


def test_of_a_photo_only_the_head_is_read_for_its_words(tmp_path: Path) -> None:
    import os

    from PIL import Image

    from sbert_desktop.extraction._picture import read
    from sbert_desktop.extraction._source import Source

    exif = Image.Exif()
    exif[0x010E] = "A boat on the lake"
    Image.effect_noise((900, 900), 80).save(tmp_path / "a.jpg", exif=exif, quality=95)
    descriptor = os.open(tmp_path / "a.jpg", os.O_RDONLY)
    try:
        os.truncate(tmp_path / "a.jpg", 100_000)
        source = Source("a.jpg", file=descriptor)
        assert "A boat on the lake" in read(source).text
        assert source._data is None
    finally:
        os.close(descriptor)
