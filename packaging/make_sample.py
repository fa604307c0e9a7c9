"""Writes the PDF and Word files of the sample library from the texts in ``packaging/sample/``.

    python packaging/make_sample.py [--check]

Standard library only, and the same bytes on every machine: fixed dates, nothing compressed (two
builds of zlib need not agree). ``--check`` writes nothing and exits 1 when a file differs.

A source is ``NAME.pdf.txt`` or ``NAME.docx.txt``: lines ``Title:``, ``Author:``, ``Date:``, an empty
line, then paragraphs apart by empty lines. ``# `` starts a heading, ``---page---`` a page.
"""

from __future__ import annotations

import argparse
import io
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "packaging" / "sample"
SAMPLE = ROOT / "resources" / "sample"
PAGE_BREAK = "---page---"


@dataclass(frozen=True)
class Document:
    """A source as read: ``pages`` hold (is a heading, text) pairs."""

    title: str
    author: str
    date: str  # YYYY-MM-DD
    pages: list[list[tuple[bool, str]]]


def read(path: Path) -> Document:
    """Reads one source."""
    head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    pages: list[list[tuple[bool, str]]] = [[]]
    for part in filter(None, (part.strip() for part in body.split("\n\n"))):
        if part == PAGE_BREAK:
            pages.append([])
        else:
            pages[-1].append((part.startswith("# "), part.removeprefix("# ")))
    return Document(fields["Title"], fields["Author"], fields["Date"], pages)


# ---------------------------------------------------------------- PDF

# Advance widths of Helvetica for the characters 32 to 126, in thousandths of the size.
# Source: the font metrics that every PDF reader has built in for this font.
HELVETICA = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
]  # fmt: skip
WIDTH, HEIGHT = 595, 842  # A4 in points
MARGIN = 72
SIZE, LEADING = 11, 15


def wrap(text: str, size: float, width: float) -> Iterator[str]:
    """Breaks a paragraph into lines that fit."""

    def measure(words: str) -> float:
        return sum(HELVETICA[ord(c) - 32] if 32 <= ord(c) <= 126 else 556 for c in words) * size / 1000

    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and measure(longer) > width:
            yield line
            line = word
        else:
            line = longer
    yield line


def show(font: str, size: float, x: float, y: float, text: str) -> bytes:
    """Gives the operators that draw one line of text."""
    raw = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    return b"BT /%s %g Tf %g %g Td (%s) Tj ET\n" % (font.encode(), size, x, y, raw)


def page_content(document: Document, number: int) -> bytes:
    """Draws one page: the title on the first, headings, paragraphs, a foot with title and page number."""
    y = HEIGHT - MARGIN
    drawn = b""
    if number == 0:
        drawn += show("B", 17, MARGIN, y, document.title)
        y -= 20
        drawn += show("R", 9, MARGIN, y, f"{document.author}, {document.date}")
        y -= 12
    for heading, text in document.pages[number]:
        y -= 22 if heading else 9
        for line in wrap(text, SIZE, WIDTH - 2 * MARGIN - (20 if heading else 0)):
            drawn += show("B" if heading else "R", SIZE + 1 if heading else SIZE, MARGIN, y, line)
            y -= LEADING
    if y < MARGIN:
        raise ValueError(f"page {number + 1} of {document.title!r} is too full: put a {PAGE_BREAK} into it")
    return drawn + show("R", 8, MARGIN, 40, f"{document.title}   {number + 1} / {len(document.pages)}")


def make_pdf(document: Document) -> bytes:
    """Gives a PDF 1.4 with the two built-in fonts and no compression."""

    def string(text: str) -> bytes:
        return b"(" + text.encode("cp1252").replace(b"(", b"\\(").replace(b")", b"\\)") + b")"

    count = len(document.pages)
    kids = b" ".join(b"%d 0 R" % (6 + 2 * i) for i in range(count))
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /Lang (en) >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
        font % b"Helvetica",
        font % b"Helvetica-Bold",
        b"<< /Title %s /Author %s /CreationDate (D:%s120000Z) >>"
        % (string(document.title), string(document.author), document.date.replace("-", "").encode()),
    ]
    for number in range(count):
        content = page_content(document, number)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R "
            b"/Resources << /Font << /R 3 0 R /B 4 0 R >> >> >>" % (WIDTH, HEIGHT, 7 + 2 * number)
        )
        objects.append(b"<< /Length %d >>\nstream\n%sendstream" % (len(content), content))
    out = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(out))
    return out + b"xref\n0 %d\n" % size + table + trailer


# ---------------------------------------------------------------- docx

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OFFICE = "http://schemas.openxmlformats.org"
WORD = f"{OFFICE}/wordprocessingml/2006/main"
RELATIONS = f"{OFFICE}/officeDocument/2006/relationships"


def make_docx(document: Document) -> bytes:
    """Gives a Word file with a title, headings and paragraphs, as an uncompressed zip."""

    def paragraph(style: str, text: str) -> str:
        styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f'<w:p>{styled}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'

    def style(name: str, shown: str, outline: str, size: int) -> str:
        return (
            f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{shown}"/>'
            f'<w:pPr><w:spacing w:before="240" w:after="120"/>{outline}</w:pPr>'
            f'<w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>'
        )

    parts = [paragraph("Title", document.title)]
    for number, page in enumerate(document.pages):
        if number:
            parts.append('<w:p><w:r><w:br w:type="page"/></w:r></w:p>')
        parts += [paragraph("Heading1" if heading else "", text) for heading, text in page]
    created = f'xsi:type="dcterms:W3CDTF">{document.date}T12:00:00Z'
    files = {
        "[Content_Types].xml": f'<Types xmlns="{OFFICE}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        + "".join(
            f'<Override PartName="/{name}" ContentType="application/vnd.openxmlformats-{kind}+xml"/>'
            for name, kind in (
                ("word/document.xml", "officedocument.wordprocessingml.document.main"),
                ("word/styles.xml", "officedocument.wordprocessingml.styles"),
                ("docProps/core.xml", "package.core-properties"),
            )
        )
        + "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{OFFICE}/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{RELATIONS}/officeDocument" Target="word/document.xml"/>'
        f'<Relationship Id="r2" Type="{OFFICE}/package/2006/relationships/metadata/core-properties" '
        'Target="docProps/core.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{OFFICE}/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{RELATIONS}/styles" Target="styles.xml"/></Relationships>',
        "word/styles.xml": f'<w:styles xmlns:w="{WORD}">'
        + style("Title", "Title", "", 36)
        + style("Heading1", "heading 1", '<w:outlineLvl w:val="0"/>', 28)
        + "</w:styles>",
        "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{"".join(parts)}</w:body></w:document>',
        "docProps/core.xml": f'<cp:coreProperties xmlns:cp="{OFFICE}/package/2006/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(document.title)}</dc:title><dc:creator>{escape(document.author)}</dc:creator>"
        f"<dcterms:created {created}</dcterms:created>"
        f"<dcterms:modified {created}</dcterms:modified></cp:coreProperties>",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, xml in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 0  # else the zip tells which system wrote it
            archive.writestr(entry, XML + xml)
    return buffer.getvalue()


# ---------------------------------------------------------------- all of them


def make_all() -> dict[Path, bytes]:
    """Gives every generated file below ``resources/sample`` with its bytes."""
    makers = {".pdf": make_pdf, ".docx": make_docx}
    made = {}
    for source in sorted(SOURCES.rglob("*.txt")):
        target = SAMPLE / source.relative_to(SOURCES).with_suffix("")
        made[target] = makers[target.suffix](read(source))
    return made


def main() -> int:
    """Writes, or with ``--check`` compares, the files; gives the exit status."""
    parser = argparse.ArgumentParser(description="Make the PDF and Word files of the sample library.")
    parser.add_argument("--check", action="store_true", help="only tell whether the files are up to date")
    check = parser.parse_args().check
    stale = 0
    for target, data in make_all().items():
        if target.is_file() and target.read_bytes() == data:
            continue
        stale += 1
        print(f"{'differs' if check else 'written'}: {target.relative_to(ROOT)}")
        if not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
