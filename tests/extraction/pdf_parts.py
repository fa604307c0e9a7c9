"""Makes small PDFs of any objects, and a large one page by page, for the tests and benchmarks of extraction."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator, Sequence

Item = tuple[float, float, float, str]


class Objects:
    """Numbered objects of a PDF in the making; object 1 is the catalog."""

    def __init__(self) -> None:
        self._bodies: list[bytes] = [b""]

    def add(self, body: bytes) -> int:
        """Adds an object, gives its number."""
        self._bodies.append(body)
        return len(self._bodies)

    def stream(self, data: bytes, entries: bytes = b"") -> int:
        """Adds a stream, gives its number."""
        return self.add(b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data))

    def finish(self, catalog: bytes, trailer: bytes = b"") -> bytes:
        """Gives the file."""
        self._bodies[0] = b"<< /Type /Catalog %s >>" % catalog
        out = io.BytesIO(b"%PDF-1.7\n")
        out.seek(0, io.SEEK_END)
        places = []
        for number, body in enumerate(self._bodies, 1):
            places.append(out.tell())
            out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
        start = out.tell()
        out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1))
        out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
        out.write(b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n"
                  % (len(places) + 1, trailer, start))
        return out.getvalue()


HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"


def pdf_of(contents: Sequence[bytes], *, size: tuple[int, int] = (612, 792), rotate: int = 0, resources: bytes = b"",
           page_entries: bytes = b"", fonts: bytes = b"", catalog: bytes = b"", extra: Sequence[bytes] = ()) -> bytes:
    """Makes a PDF of content streams (font /F1 is Helvetica).

    ``extra`` are further objects: they get the numbers 3 and following, which the other arguments refer to.
    """
    objects = Objects()
    pages = objects.add(b"")
    for body in extra:
        objects.add(body)
    font = objects.add(HELVETICA)
    kids = []
    for content in contents:
        place = objects.stream(content)
        kids.append(objects.add(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Rotate %d /Contents %d 0 R %s "
            b"/Resources << /Font << /F1 %d 0 R %s >> %s >> >>" % (
                *size, rotate, place, page_entries, font, fonts, resources)))
    objects._bodies[pages - 1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (
        b" ".join(b"%d 0 R" % kid for kid in kids), len(kids))
    return objects.finish(b"/Pages 2 0 R " + catalog)


def shown(items: Sequence[Item], matrix: bytes = b"1 0 0 1") -> bytes:
    """Gives the content that shows texts at places, each through the same matrix."""
    return b"BT\n" + b"".join(
        b"/F1 %g Tf %s %g %g Tm (%s) Tj\n" % (points, matrix, x, y, text.encode("cp1252").replace(b"\\", b"\\\\")
                                              .replace(b"(", b"\\(").replace(b")", b"\\)"))
        for x, y, points, text in items) + b"ET\n"


def pdf_of_signs(signs: Sequence[tuple[str, float, float]], *, size: float = 20.0) -> bytes:
    """Makes a page of signs of any script: what each glyph means, its place x, and its width, in points.

    A glyph may mean several characters, as a ligature does. All glyphs look like bars.
    """
    count = len(signs)
    widths = [round(width / size * 1000) for _, _, width in signs]
    table = b"\n".join(b"<%02x> <%s>" % (number, text.encode("utf-16-be").hex().encode())
                       for number, (text, _, _) in enumerate(signs, 1))
    meaning = (b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def /CMapType 2 def\n"
               b"1 begincodespacerange <00> <ff> endcodespacerange\n%d beginbfchar\n%s\nendbfchar\n"
               b"endcmap end end" % (count, table))
    content = b"BT /F2 %g Tf\n" % size + b"".join(
        b"1 0 0 1 %g 700 Tm <%02x> Tj\n" % (x, number) for number, (_, x, _) in enumerate(signs, 1)) + b"ET"
    glyphs = [b"%d 0 0 0 %d 700 d1 0 0 %d 700 re f" % (width, width, width) for width in widths]
    font = (b"<< /Type /Font /Subtype /Type3 /FontBBox [0 -200 1000 900] /FontMatrix [.001 0 0 .001 0 0] /FirstChar 1 "
            b"/LastChar %d /Widths [%s] /Encoding << /Differences [1 %s] >> /CharProcs << %s >> /Resources << >> "
            b"/ToUnicode 4 0 R >>" % (
                count, b" ".join(b"%d" % width for width in widths),
                b" ".join(b"/g%d" % number for number in range(1, count + 1)),
                b" ".join(b"/g%d %d 0 R" % (number, number + 4) for number in range(1, count + 1))))
    streams = [b"<< /Length %d >>\nstream\n%s\nendstream" % (len(body), body) for body in (meaning, *glyphs)]
    return pdf_of([content], extra=[font, *streams], fonts=b"/F2 3 0 R")


def scan_of(pixels: bytes, width: int, height: int, *, pages: int = 1, text: Sequence[Item] = (),
            contents: Sequence[bytes] = ()) -> bytes:
    """Makes a PDF whose pages are one grey picture; a page of text may stand before them.

    ``contents``: other pages instead, which know the picture as /I1.
    """
    packed = zlib.compress(pixels)
    image = (b"<< /Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent 8 /ColorSpace /DeviceGray "
             b"/Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (width, height, len(packed), packed))
    draw = b"q 612 0 0 792 0 0 cm /I1 Do Q"
    contents = contents or ([shown(text)] if text else []) + [draw] * pages
    return pdf_of(contents, resources=b"/XObject << /I1 3 0 R >>", extra=[image])


def large_pdf(pages: Iterator[list[Item]] | list[list[Item]]) -> bytes:
    """Makes a PDF of many pages in one flat list, as some programs write them."""
    return pdf_of([shown(page) for page in pages])
