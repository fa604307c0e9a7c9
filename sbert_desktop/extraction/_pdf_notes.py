"""What lies on the pages of a PDF or beside them: comments, form fields, attachments, and the table of contents."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

from sbert_desktop.extraction._normalise import one_line
from sbert_desktop.extraction._pdf_text import Note, Outline, squeezed
from sbert_desktop.extraction._problems import failure

_MOST_TITLES = 20_000
_MOST_NOTES = 2_000  # per page
_DEEPEST = 8
_LONGEST = 100_000  # characters of one comment or field
_MOST_ATTACHMENTS = 200
_LARGEST_ATTACHMENT = 256 * 1024 * 1024


def outline_of(document: object) -> Outline:
    """Gives the titles of the table of contents by page and squeezed text, with their level from 1 on."""
    import pypdfium2.raw as pdfium

    found: dict[int, dict[str, int]] = {}
    seen: set[int] = set()

    def walk(parent: object, level: int) -> None:
        bookmark = pdfium.FPDFBookmark_GetFirstChild(document, parent)
        while bookmark and len(seen) < _MOST_TITLES:
            address = ctypes.addressof(bookmark.contents)
            if address in seen:  # a loop
                return
            seen.add(address)
            destination = pdfium.FPDFBookmark_GetDest(document, bookmark)
            if not destination:
                action = pdfium.FPDFBookmark_GetAction(bookmark)
                destination = pdfium.FPDFAction_GetDest(document, action) if action else None
            page = int(pdfium.FPDFDest_GetDestPageIndex(document, destination)) if destination else -1
            if page >= 0:
                title = squeezed(_wide(partial(pdfium.FPDFBookmark_GetTitle, bookmark)))
                if title:
                    found.setdefault(page + 1, {}).setdefault(title, level)
            if level < _DEEPEST:
                walk(bookmark, level + 1)
            bookmark = pdfium.FPDFBookmark_GetNextSibling(document, bookmark)

    walk(None, 1)
    return found


class Notes:
    """Reads comments and the values of form fields, page by page."""

    def __init__(self, document: Any) -> None:
        import pypdfium2.raw as pdfium

        self._form: Any = None
        self._fields: set[tuple[str, str]] = set()
        if document.get_formtype() != pdfium.FORMTYPE_NONE:
            document.init_forms()
            self._form = document.formenv

    def on(self, page: Any, number: int) -> list[Note]:
        """Gives what lies on a page, in the order of the file."""
        import pypdfium2.raw as pdfium

        found: list[Note] = []
        for index in range(min(_MOST_NOTES, int(pdfium.FPDFPage_GetAnnotCount(page)))):
            annotation = pdfium.FPDFPage_GetAnnot(page, index)
            if not annotation:
                continue
            try:
                subtype = int(pdfium.FPDFAnnot_GetSubtype(annotation))
                if subtype == pdfium.FPDF_ANNOT_WIDGET:
                    text, part = self._field(annotation), "form"
                elif subtype in {pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP}:
                    continue
                else:
                    text, part = _string(annotation, b"Contents"), "comment"
                if text.strip():
                    found.append(Note(text[:_LONGEST], number, part, _box(page, annotation)))
            finally:
                pdfium.FPDFPage_CloseAnnot(annotation)
        return found

    def _field(self, annotation: object) -> str:
        """Gives ``label: value`` of a filled-in field, once for all its places; ``""`` for an empty one."""
        import pypdfium2.raw as pdfium

        if self._form is None:
            return ""
        form = self._form
        kind = int(pdfium.FPDFAnnot_GetFormFieldType(form, annotation))
        label = one_line(_wide(lambda at, size: pdfium.FPDFAnnot_GetFormFieldAlternateName(form, annotation, at, size)))
        name = _wide(lambda at, size: pdfium.FPDFAnnot_GetFormFieldName(form, annotation, at, size))
        if kind in {pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON}:
            value = label if label and pdfium.FPDFAnnot_IsChecked(form, annotation) else ""
            label = ""
        elif kind in {pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX}:
            value = _wide(lambda at, size: pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, at, size)).strip()
        else:
            return ""
        if not value or (name, value) in self._fields:
            return ""
        self._fields.add((name, value))
        label = label or (name if "[" not in name and "." not in name else "")
        return f"{label}: {value}" if label else value


def embedded_in(document: object) -> list[tuple[str, Callable[[], bytes]]]:
    """Gives the files that lie inside a PDF: name, and what gives the bytes while the document is open."""
    import pypdfium2.raw as pdfium

    found: list[tuple[str, Callable[[], bytes]]] = []
    for index in range(min(_MOST_ATTACHMENTS, int(pdfium.FPDFDoc_GetAttachmentCount(document)))):
        attachment = pdfium.FPDFDoc_GetAttachment(document, index)
        if attachment:
            name = one_line(_wide(partial(pdfium.FPDFAttachment_GetName, attachment)))
            found.append((name, partial(_bytes_of, attachment)))
    return found


def _bytes_of(attachment: object) -> bytes:
    import pypdfium2.raw as pdfium

    length = ctypes.c_ulong()
    if not pdfium.FPDFAttachment_GetFile(attachment, None, 0, length) or not length.value:
        raise failure("damaged")
    if length.value > _LARGEST_ATTACHMENT:
        raise failure("too-large", "The attachment is too large to be read from inside the PDF.",
                      "Save it as a file of its own.")
    buffer = ctypes.create_string_buffer(length.value)
    if not pdfium.FPDFAttachment_GetFile(attachment, buffer, length, length):
        raise failure("damaged")
    return buffer.raw[: length.value]


def attachments_of(document: object) -> list[str]:
    """Gives the names of the files that lie inside a PDF."""
    import pypdfium2.raw as pdfium

    names = []
    for index in range(min(_MOST_ATTACHMENTS, int(pdfium.FPDFDoc_GetAttachmentCount(document)))):
        attachment = pdfium.FPDFDoc_GetAttachment(document, index)
        if attachment:
            names.append(one_line(_wide(partial(pdfium.FPDFAttachment_GetName, attachment))))
    return [name for name in names if name]


def _box(page: object, annotation: object) -> tuple[float, float, float, float] | None:
    """Gives where an annotation lies, as fractions of the page as it is shown."""
    import pypdfium2.raw as pdfium

    rect = pdfium.FS_RECTF()
    if not pdfium.FPDFAnnot_GetRect(annotation, ctypes.byref(rect)):
        return None
    fine = 10_000
    x, y = ctypes.c_int(), ctypes.c_int()
    points = []
    for across, up in ((rect.left, rect.bottom), (rect.right, rect.top)):
        pdfium.FPDF_PageToDevice(page, 0, 0, fine, fine, 0, across, up, ctypes.byref(x), ctypes.byref(y))
        points.append((min(1.0, max(0.0, x.value / fine)), min(1.0, max(0.0, y.value / fine))))
    left, right = sorted(point[0] for point in points)
    top, bottom = sorted(point[1] for point in points)
    return (left, top, right - left, bottom - top) if right > left and bottom > top else None


def _string(annotation: object, key: bytes) -> str:
    import pypdfium2.raw as pdfium

    return _wide(lambda buffer, size: pdfium.FPDFAnnot_GetStringValue(annotation, key, buffer, size))


def _wide(read: Callable[[Any, int], int]) -> str:
    """Calls one of pdfium's functions that fill a buffer with UTF-16 and tell its size in bytes."""
    import pypdfium2.raw as pdfium

    size = int(read(None, 0))
    if size <= 2 or size > 8 * _LONGEST:
        return ""
    buffer = ctypes.create_string_buffer(size)
    read(ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")
