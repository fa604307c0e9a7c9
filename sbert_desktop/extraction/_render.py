"""A page of a PDF, or a picture, as pixels with rectangles where given characters or words stand. Runs in a child."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import cast

from sbert_desktop.extraction._pdf import opened
from sbert_desktop.extraction._picture import is_picture
from sbert_desktop.extraction._problems import failure

MOST_PIXELS = 40_000_000
"""A larger picture is made smaller: a page of 10 m has no use in a preview."""
_WIDEST = 8192
Rectangle = list[float]


def render(header: Mapping[str, object], data: bytes) -> tuple[Mapping[str, object], bytes]:
    """Draws a page of a PDF, or a picture, on white.

    Args:
        header: ``page`` (from 1), ``width`` in pixels, ``ranges``: groups of [char_start, length]
            in pdfium's numbering, named (a table) or in a list; ``boxes``: a table of groups of [x, y, width,
            height] in fractions of the page, for recognised words; ``password``.
        data: The bytes of the file or member; they tell a picture from a PDF.

    Returns:
        ``{"width", "height", "pages", "page", "rects"}`` (rects in pixels of the picture, x, y, width,
        height, y downwards, one list per group, as ``ranges`` has them, those of ``boxes`` behind them) and the
        RGB bytes, rows top-down without padding.

    Raises:
        ExtractionError: ``encrypted``, ``damaged`` or ``unreadable`` when there is no such page.
    """
    number = int(cast(int, header.get("page", 1)))
    wanted = max(16, min(int(cast(int, header.get("width", 704))), _WIDEST))
    ranges, boxes = header.get("ranges", {}), header.get("boxes", {})
    named = ranges if isinstance(ranges, dict) else dict(enumerate(cast(list[object], ranges)))
    groups = cast(dict[object, list[list[int]]], named)
    if is_picture(data):
        width, height, pages, pixels = _picture(data, number, wanted)
        found: dict[object, list[Rectangle]] = {key: [] for key in groups}
    else:
        password = header.get("password")
        width, height, pages, pixels, found = _page(data, password if isinstance(password, str) else None, number,
                                                    wanted, groups)
    for key, group in cast(dict[str, list[Rectangle]], boxes if isinstance(boxes, dict) else {}).items():
        found.setdefault(key, []).extend(_lines_of([
            [x * width, y * height, across * width, down * height] for x, y, across, down in group]))
    rects: object = found if isinstance(ranges, dict) else list(found.values())
    return {"width": width, "height": height, "pages": pages, "page": number, "rects": rects}, pixels


def _check_page(number: int, pages: int) -> None:
    if not 1 <= number <= pages:
        raise failure("unreadable", f"The document has {pages} page{'s' if pages != 1 else ''}; "
                      f"there is no page {number}.", "")


def _fitting(wanted: int, across: float, down: float) -> tuple[int, int]:
    """Gives a width and height of at most the limit of pixels, in the proportions of the page."""
    width, height = wanted, max(1, round(wanted * down / across))
    if width * height > MOST_PIXELS:
        scale = (MOST_PIXELS / (width * height)) ** 0.5
        width, height = max(1, int(width * scale)), max(1, int(height * scale))
    return width, height


def _picture(data: bytes, number: int, wanted: int) -> tuple[int, int, int, bytes]:
    """Gives width, height, number of pages and pixels of a picture, turned as it was held."""
    from sbert_desktop.extraction import _picture as pictures

    with pictures.opened(data) as picture:
        pages = pictures.frames(picture)
        _check_page(number, pages)
        if number > 1:
            picture.seek(number - 1)
        across, down = picture.size
        longest = max(1, round(wanted * max(1.0, down / max(1, across), across / max(1, down))))
        shown = pictures.turned(picture, min(MOST_PIXELS, 4 * longest * longest))
        width, height = _fitting(wanted, *shown.size)
        final = shown.resize((width, height)).convert("RGB")
        return width, height, pages, final.tobytes()


def _page(data: bytes, password: str | None, number: int, wanted: int, groups: Mapping[object, list[list[int]]],
          ) -> tuple[int, int, int, bytes, dict[object, list[Rectangle]]]:
    """Gives width, height, number of pages, pixels and rectangles of a PDF's page."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    with opened(data, password) as opened_document:
        document = cast(pypdfium2.PdfDocument, opened_document)
        pages = len(document)
        _check_page(number, pages)
        try:
            page = document[number - 1]
            across, down = page.get_size()
            if across <= 0 or down <= 0:
                raise failure("damaged")
            width, height = _fitting(wanted, across, down)
            bitmap = pypdfium2.PdfBitmap.new_native(width, height, pdfium.FPDFBitmap_BGR)
            bitmap.fill_rect((255, 255, 255, 255), 0, 0, width, height)
            pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0,
                                         pdfium.FPDF_ANNOT | pdfium.FPDF_REVERSE_BYTE_ORDER)
            pixels = _without_padding(bytes(bitmap.buffer), width, height, bitmap.stride)
            found = {name: _rectangles(page, group, width, height) for name, group in groups.items()}
        except pypdfium2.PdfiumError as error:
            raise failure("damaged", "This page could not be drawn.") from error
    return width, height, pages, pixels, found


def _lines_of(boxes: list[Rectangle]) -> list[Rectangle]:
    """Joins the boxes of words that follow each other on a line."""
    found: list[Rectangle] = []
    for x, y, width, height in boxes:
        if found:
            last = found[-1]
            overlap = min(last[1] + last[3], y + height) - max(last[1], y)
            gap = x - (last[0] + last[2])
            if overlap > 0.5 * min(last[3], height) and -height < gap < 2 * max(last[3], height):
                top, right = min(last[1], y), max(last[0] + last[2], x + width)
                bottom = max(last[1] + last[3], y + height)
                last[:] = [min(last[0], x), top, right - min(last[0], x), bottom - top]
                continue
        found.append([x, y, width, height])
    return found


def _without_padding(pixels: bytes, width: int, height: int, stride: int) -> bytes:
    row = width * 3
    if stride == row:
        return pixels[: row * height]
    return b"".join(pixels[at * stride : at * stride + row] for at in range(height))


def _rectangles(page: object, ranges: list[list[int]], width: int, height: int) -> list[Rectangle]:
    """Gives one rectangle per line of each range, in pixels."""
    import pypdfium2.raw as pdfium

    text_page = page.get_textpage()  # type: ignore[attr-defined]
    count = text_page.count_chars()
    box = pdfium.FS_RECTF()
    found: list[Rectangle] = []
    for start, length in ranges:
        line: list[float] | None = None  # left, top, right, bottom in pixels
        for index in range(max(0, start), min(count, start + length)):
            if not pdfium.FPDFText_GetLooseCharBox(text_page.raw, index, ctypes.byref(box)):
                continue
            if box.right <= box.left or box.top <= box.bottom:
                continue
            here = _in_pixels(page, (box.left, box.bottom, box.right, box.top), width, height)
            if line is not None and _same_line(line, here):
                line[:] = [min(line[0], here[0]), min(line[1], here[1]), max(line[2], here[2]), max(line[3], here[3])]
                continue
            if line is not None:
                found.append([line[0], line[1], line[2] - line[0], line[3] - line[1]])
            line = here
        if line is not None:
            found.append([line[0], line[1], line[2] - line[0], line[3] - line[1]])
    text_page.close()
    return found


def _same_line(line: list[float], here: list[float]) -> bool:
    """Tells whether a character follows on, across or (on turned pages) up and down."""
    return _follows(line, here, 0, 1) or _follows(line, here, 1, 0)


def _follows(line: list[float], here: list[float], along: int, across: int) -> bool:
    thick, thin = line[across + 2] - line[across], here[across + 2] - here[across]
    if min(line[across + 2], here[across + 2]) - max(line[across], here[across]) < 0.5 * min(thick, thin):
        return False
    reach = 2 * max(thick, thin) if along == 0 else max(thick, thin)
    return here[along] - line[along + 2] < reach and line[along] - here[along + 2] < reach


def _in_pixels(page: object, corners: tuple[float, float, float, float], width: int, height: int) -> list[float]:
    """Maps left, bottom, right, top of the page to the picture; rotation and crop box are pdfium's business."""
    import pypdfium2.raw as pdfium

    x, y = ctypes.c_int(), ctypes.c_int()
    fine = 16  # pdfium gives whole pixels: ask in a finer picture
    points: list[tuple[float, float]] = []
    for across, up in (corners[:2], corners[2:]):
        pdfium.FPDF_PageToDevice(page, 0, 0, width * fine, height * fine, 0, across, up, ctypes.byref(x),
                                 ctypes.byref(y))
        points.append((x.value / fine, y.value / fine))
    left, right = sorted(point[0] for point in points)
    top, bottom = sorted(point[1] for point in points)
    return [left, top, right, bottom]
