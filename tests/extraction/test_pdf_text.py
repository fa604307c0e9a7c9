"""What comes out of a PDF beyond plain lines: scripts, turned pages, notes, fields, outlines, passwords, many pages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from sbert_desktop.domain import BlockKind, ExtractedText, Listing, Problem
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import ExtractionPool, _pdf, _series, extract
from sbert_desktop.extraction._codec import decode_document
from sbert_desktop.extraction._extract import extract_bytes
from sbert_desktop.extraction._pdf import opened
from sbert_desktop.extraction._pdf_layout import Page
from sbert_desktop.extraction._pdf_text import DocumentWriter, Note
from sbert_desktop.extraction.child import make_handler
from tests.extraction.conftest import Context, NearChild, source
from tests.extraction.pdf_parts import Item, large_pdf, pdf_of, pdf_of_signs, scan_of, shown


def read(data: bytes, password: str | None = None) -> ExtractedText:
    return extract_bytes(Path("a.pdf"), data, password)


def pieces(document: ExtractedText, kind: BlockKind | None = None) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks if kind in {None, block.kind}]


def lines(texts: list[str], x: float = 72, top: float = 700, size: float = 10) -> list[Item]:
    return [(x, top - 12 * number, size, text) for number, text in enumerate(texts)]


def drawn_from_right(word: list[str], right: float = 500.0, width: float = 10.0) -> list[tuple[str, float, float]]:
    """Gives the signs of a word as programs draw right-to-left text: the last one first, from left to right."""
    signs = [(sign, right - width * (number + 1), width) for number, sign in enumerate(word)]
    return signs[::-1]


# ---------------------------------------------------------------- scripts


def test_a_lam_alef_glyph_gives_its_letters_in_the_order_they_are_read() -> None:
    # "al-injaz": alef, one glyph for lam and alef with hamza, noon, jeem, alef, zain
    data = pdf_of_signs(drawn_from_right(["\u0627", "\u0644\u0625", "\u0646", "\u062c", "\u0627", "\u0632"]))
    document = read(data)
    assert document.text == "\u0627\u0644\u0625\u0646\u062c\u0627\u0632"
    with opened(data) as pdf:
        there = pdf[0].get_textpage().get_text_range()
    for block in document.blocks:
        for run in block.runs:
            mine = document.text[run.text_start : run.text_start + run.length]
            assert mine == there[run.char_start : run.char_start + run.length]


def test_a_vowel_mark_drawn_before_its_letter_stands_behind_it() -> None:
    # "aydan" with the mark over the dad; the mark is drawn in the dad's place but after it
    signs = drawn_from_right(["\u0623", "\u064a", "\u0636", "\u0627"])
    place = next(x for sign, x, _ in signs if sign == "\u0636")
    at = next(number for number, (sign, _, _) in enumerate(signs) if sign == "\u0636")
    signs.insert(at + 1, ("\u064b", place + 4, 2.0))
    assert read(pdf_of_signs(signs)).text == "\u0623\u064a\u0636\u064b\u0627"


def test_a_foreign_word_in_an_arabic_line_stands_apart_from_the_word_behind_it() -> None:
    latin = [(sign, 420.0 + 10 * number, 10.0) for number, sign in enumerate("Python")]
    before = drawn_from_right(["\u0648"], 490.0)  # "wa", which belongs to the foreign word
    behind = drawn_from_right(["\u0645", "\u0646"], 420.0)
    assert read(pdf_of_signs([*behind, *latin, *before])).text == "\u0648Python \u0645\u0646"


def test_hebrew_is_in_the_order_it_is_read() -> None:
    word = ["\u05e9", "\u05dc", "\u05d5", "\u05dd"]
    assert read(pdf_of_signs(drawn_from_right(word))).text == "".join(word)


def test_chinese_lines_join_without_spaces() -> None:
    text = "\u6f22\u5b57\u4e4b\u9593\u6c92\u6709\u7a7a\u683c"
    signs = [(sign, 72.0 + 23 * number, 20.0) for number, sign in enumerate(text)]
    assert read(pdf_of_signs(signs)).text == text


# ---------------------------------------------------------------- turned pages


@pytest.mark.parametrize(("matrix", "rotate"), [(b"0 1 -1 0", 90), (b"0 -1 1 0", 270), (b"-1 0 0 -1", 180),
                                                (b"0 1 -1 0", 0), (b"0 -1 1 0", 0)])
def test_turned_pages_read_like_upright_ones(matrix: bytes, rotate: int) -> None:
    texts = ["The gardener planted tulips along the southern", "wall and waited for the spring to come with all",
             "its colours and its rain."]
    places = {b"0 1 -1 0": [(100 + 12 * n, 72) for n in range(3)], b"0 -1 1 0": [(500 - 12 * n, 700) for n in range(3)],
              b"-1 0 0 -1": [(540, 100 + 12 * n) for n in range(3)]}[matrix]
    items = [(float(x), float(y), 10.0, text) for (x, y), text in zip(places, texts, strict=True)]
    document = read(pdf_of([shown(items, matrix)], rotate=rotate))
    assert pieces(document) == [" ".join(texts)]


# ---------------------------------------------------------------- what lies on and beside the pages


def annotated(*annotations: bytes, catalog: bytes = b"", extra: tuple[bytes, ...] = ()) -> bytes:
    return pdf_of([shown(lines(["The only line of this page."]))], catalog=catalog,
                  page_entries=b"/Annots [%s]" % b" ".join(annotations), extra=extra)


def test_comments_are_text_with_their_place() -> None:
    note = b"<< /Type /Annot /Subtype /Text /Rect [61.2 79.2 122.4 158.4] /Contents (Ask the roofer about slates) >>"
    link = b"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /Contents (not a comment) >>"
    document = read(annotated(note, link))
    assert pieces(document) == ["The only line of this page.", "Ask the roofer about slates"]
    block = document.blocks[-1]
    assert (block.page, block.part) == (1, "comment")
    assert block.runs[0].box == pytest.approx((0.1, 0.8, 0.1, 0.1), abs=0.002)


def test_filled_form_fields_are_text_and_empty_ones_are_not() -> None:
    def field(name: bytes, value: bytes, label: bytes = b"") -> bytes:
        return (b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (%s) /V (%s) %s /Rect [72 500 300 520] >>"
                % (name, value, b"/TU (%s)" % label if label else b""))

    data = annotated(b"3 0 R", b"4 0 R", b"5 0 R", catalog=b"/AcroForm << /Fields [3 0 R 4 0 R 5 0 R] >>",
                     extra=(field(b"f1[0].a", b"Juniper", b"Favourite plant"), field(b"town", b"Lisbon"),
                            field(b"street", b"")))
    assert pieces(read(data))[1:] == ["Favourite plant: Juniper", "town: Lisbon"]


def test_the_outline_makes_headings_of_lines_that_look_like_text() -> None:
    pages = [shown(lines(["Soil and compost", "", "Turn the heap in March and water it well."])),
             shown(lines(["2. Tools", "", "Oil the shears before the winter comes."]))]
    outline = (b"<< /Type /Outlines /First 4 0 R /Last 5 0 R /Count 2 >>",
               b"<< /Title (1. Soil and compost) /Parent 3 0 R /Next 5 0 R /Dest [0 /Fit] >>",
               b"<< /Title (Tools) /Parent 3 0 R /Prev 4 0 R /Next 4 0 R /Dest [1 /Fit] >>")  # a loop, too
    document = read(pdf_of(pages, catalog=b"/Outlines 3 0 R", extra=outline))
    assert pieces(document, BlockKind.HEADING) == ["Soil and compost", "2. Tools"]
    assert document.blocks[-1].heading == "2. Tools"


def test_attached_files_are_named_behind_the_text() -> None:
    data = pdf_of([shown(lines(["See the table attached."]))], catalog=b"/Names << /EmbeddedFiles << /Names "
                  b"[(budget.xlsx) 3 0 R] >> >>",
                  extra=(b"<< /Type /Filespec /F (budget.xlsx) /UF (budget.xlsx) /EF << /F 4 0 R >> >>",
                         b"<< /Type /EmbeddedFile /Length 2 >>\nstream\nhi\nendstream"))
    assert pieces(read(data), BlockKind.FURNITURE) == ["budget.xlsx"]


def test_a_paragraph_goes_on_past_the_footnotes() -> None:
    first = lines(["The story of the old tree that"], top=120) + lines(["1 A linden, as some say."], top=80, size=7)
    second = lines(["stood beside the river for many years."], top=700)
    found = pieces(read(pdf_of([shown(first), shown(second)])))
    assert found == ["The story of the old tree that stood beside the river for many years.",
                     "1 A linden, as some say."]


def test_soft_hyphens_join_and_pages_without_text_are_counted() -> None:
    grey = bytes(100)
    data = scan_of(grey, 10, 10, pages=3, text=lines(["We looked for gar\xad", "dens and for wells."]))
    document = read(data)
    assert document.text == "We looked for gardens and for wells."
    (problem,) = document.problems
    assert (problem.code, problem.partial) == ("no-text-layer", True)
    assert problem.message.startswith("3 pages hold no text")


# ---------------------------------------------------------------- passwords


def test_a_wrong_password_is_said_to_be_wrong_and_an_empty_one_opens(shared_data: Path) -> None:
    folder = shared_data / "hostile" / "encrypted"
    with pytest.raises(ExtractionError) as caught:
        extract(folder / "r4-user-password.pdf", password="not this")
    assert caught.value.code == "encrypted"
    assert "wrong" in caught.value.message
    assert extract(folder / "r3-empty-password.pdf", password="").text


# ---------------------------------------------------------------- many pages


def test_a_long_document_is_read_by_batches_and_its_headers_are_found_in_all_of_them(
        monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []
    add = DocumentWriter.add

    def counting(self: DocumentWriter, pages: Sequence[Page], notes: Sequence[Note] = ()) -> None:
        batches.append(len(pages))
        add(self, pages, notes)

    monkeypatch.setattr(DocumentWriter, "add", counting)
    pages: list[list[Item]] = [[(72.0, 400.0, 10.0, f"This is what page number {number} of the long book says."),
                                (72.0, 760.0, 9.0, "Yearbook of gardens"), (300.0, 30.0, 9.0, f"Page {number}")]
                               for number in range(1, 451)]
    document = read(large_pdf(pages))
    assert batches == [200, 200, 50]
    assert len(pieces(document, BlockKind.FURNITURE)) == 2 * 450
    text = pieces(document, BlockKind.PARAGRAPH)
    assert text == [f"This is what page number {number} of the long book says." for number in range(1, 451)]
    assert [block.page for block in document.blocks if block.kind is BlockKind.PARAGRAPH] == list(range(1, 451))


def test_a_pdf_of_thousands_of_pages_comes_in_parts_with_the_pages_of_the_file(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_pdf, "_WHOLE", 5)
    monkeypatch.setattr(_pdf, "_PART", 4)
    monkeypatch.setattr(_series, "_LONG_PDF", 100)
    pages: list[list[Item]] = [[(72.0, 400.0, 10.0, f"Page {number} of the book has a line.")]
                               for number in range(1, 11)]
    (tmp_path / "long.pdf").write_bytes(large_pdf(pages))
    handle = make_handler(limits=False)
    reply, _ = handle({"op": "extract", "files": [os.fsencode(tmp_path / "long.pdf").hex()]}, b"")
    results = reply["results"]
    assert isinstance(results, list)
    assert [entry.get("member") for entry in results][:3] == ["part 1", "part 2", "part 3"]
    assert "listing" in results[-1]
    reply, payload = handle({"op": "extract", "files": [os.fsencode(tmp_path / "long.pdf").hex()], "member": "part 2"},
                            b"")
    results = reply["results"]
    assert isinstance(results, list)
    document = decode_document(results[0]["document"], payload)
    assert document.text.startswith("Page 5 of the book")
    assert [block.page for block in document.blocks] == [5, 6, 7, 8]
    (tmp_path / "short.pdf").write_bytes(large_pdf(pages[:5]))
    reply, _ = handle({"op": "extract", "files": [os.fsencode(tmp_path / "short.pdf").hex()]}, b"")
    results = reply["results"]
    assert isinstance(results, list)
    assert len(results) == 1
    assert "document" in results[0]


# ---------------------------------------------------------------- attachments


def with_attachments(text: list[str], **attached: bytes) -> bytes:
    extra, names = [], b""
    for name, data in attached.items():
        at = 3 + len(extra)
        full = name.replace("_", ".").encode()
        names += b"(%s) %d 0 R " % (full, at)
        extra += [b"<< /Type /Filespec /F (%s) /UF (%s) /EF << /F %d 0 R >> >>" % (full, full, at + 1),
                  b"<< /Type /EmbeddedFile /Length %d >>\nstream\n%s\nendstream" % (len(data), data)]
    return pdf_of([shown(lines(text))], catalog=b"/Names << /EmbeddedFiles << /Names [%s] >> >>" % names,
                  extra=tuple(extra))


def test_attached_files_are_members_and_the_pages_stay_the_files_own_text(tmp_path: Path) -> None:
    inner = with_attachments(["An inner page."], deep_txt=b"the deepest words")
    path = tmp_path / "a.pdf"
    path.write_bytes(with_attachments(["See the table attached."], a_csv=b"name,town\nAnna,Rome\n", b_txt=b"more words",
                                      c_pdf=inner, d_exe=b"MZ\x00\x01"))
    pool = ExtractionPool(NearChild, 1)
    results = {file.member: outcome for file, outcome in pool.results([source(path)], Context())}
    pool.close()
    assert list(results) == ["a.csv", "b.txt", "c.pdf", "c.pdf/deep.txt", "d.exe", ""]
    listing, table, deep = results[""], results["a.csv"], results["c.pdf/deep.txt"]
    assert isinstance(listing, Listing)
    assert listing.document is not None
    assert listing.document.text.startswith("See the table attached.")
    assert listing.document.blocks[0].page == 1
    assert isinstance(table, ExtractedText)
    assert "Anna\tRome" in table.text
    assert isinstance(deep, ExtractedText)
    assert deep.text == "the deepest words"
    assert isinstance(results["d.exe"], Problem)


def test_attachments_of_pages_without_text_are_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(with_attachments([], a_txt=b"words of the attachment"))
    pool = ExtractionPool(NearChild, 1)
    results = {file.member: outcome for file, outcome in pool.results([source(path)], Context())}
    pool.close()
    attached, listing = results["a.txt"], results[""]
    assert isinstance(attached, ExtractedText)
    assert isinstance(listing, Listing)
    assert [(entry.code, entry.partial) for entry in listing.problems] == [("empty", True)]
