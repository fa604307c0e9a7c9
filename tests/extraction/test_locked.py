from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import extract
from tests.extraction.conftest import make_docx, paragraph
from tests.extraction.office import make_pptx, make_xlsx, read, shape, slide


def lock(data: bytes, password: str) -> bytes:
    from msoffcrypto.method.ecma376_agile import ECMA376Agile

    with zipfile.ZipFile(whole := io.BytesIO(data), "a") as archive:
        archive.writestr("padding", bytes(8000))  # the library's writer gets packages under 4 KiB wrong
    return bytes(ECMA376Agile.encrypt(password, io.BytesIO(whole.getvalue())))


@pytest.fixture(scope="module")
def locked() -> bytes:
    return lock(make_docx(paragraph("behind the door")), "Geheim ä1")


def test_a_locked_file_opens_with_its_password_only(tmp_path: Path, locked: bytes) -> None:
    assert read(tmp_path, locked, "a.docx", "Geheim ä1").text == "behind the door"
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, locked, "a.docx")
    assert (caught.value.code, "wrong" in caught.value.message) == ("encrypted", False)
    with pytest.raises(ExtractionError) as caught:
        read(tmp_path, locked, "a.docx", "geheim")
    assert (caught.value.code, "wrong" in caught.value.message) == ("encrypted", True)


def test_what_excel_locks_for_everybody_opens_without_a_password(tmp_path: Path) -> None:
    cell = '<row><c t="inlineStr"><is><t>open to all</t></is></c></row>'
    assert read(tmp_path, lock(make_xlsx({"Sheet1": cell}), "VelvetSweatshop"), "a.xlsx").text == "open to all"


def test_slides_open_too_and_a_damaged_lock_is_no_crash(tmp_path: Path, locked: bytes) -> None:
    data = lock(make_pptx([slide(shape("locked slide"))]), "x")
    assert read(tmp_path, data, "a.pptx", "x").text == "locked slide"
    for cut in (600, 2000, len(locked) // 2):
        with pytest.raises(ExtractionError):
            read(tmp_path, locked[:cut], "a.docx", "Geheim ä1")


def test_a_locked_file_of_the_collection_says_so(shared_data: Path) -> None:
    with pytest.raises(ExtractionError) as caught:
        extract(shared_data / "hostile" / "encrypted" / "encrypted.docx")
    assert caught.value.code == "encrypted"
