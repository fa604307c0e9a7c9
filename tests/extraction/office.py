"""Makers of office files for the tests: every byte is written here."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from sbert_desktop.domain import BlockKind, ExtractedText
from sbert_desktop.extraction import extract

RELATIONS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
CORE = ('<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>{}</dc:title>'
        "<dc:creator>Ann Author</dc:creator><dcterms:modified>2022-02-03T00:00:00Z</dcterms:modified>"
        "</cp:coreProperties>")
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" ' \
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ' + R
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ' + R
ODF = " ".join(f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"' for short, long in (
    ("office", "office"), ("text", "text"), ("table", "table"), ("style", "style"), ("draw", "drawing"),
    ("presentation", "presentation"), ("meta", "meta"), ("fo", "xsl-fo-compatible"))) + \
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"'


def pack(parts: dict[str, str | bytes], *, stored: str = "") -> bytes:
    """Makes a ZIP of the parts, in order; ``stored`` is a first part that is not packed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        if stored:
            archive.writestr(zipfile.ZipInfo("mimetype"), stored)
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def relations(**targets: tuple[str, str]) -> str:
    """Gives a part of relations: id -> (last word of the type, target)."""
    return f"<Relationships {RELATIONS}>" + "".join(
        f'<Relationship Id="{key}" Type="{KIND}{kind}" Target="{target}"/>'
        for key, (kind, target) in targets.items()) + "</Relationships>"


def shape(text: str, role: str = "") -> str:
    """Gives a shape of a slide; lines are paragraphs."""
    place = f'<p:nvPr><p:ph type="{role}"/></p:nvPr>' if role else "<p:nvPr/>"
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/>{place}</p:nvSpPr><p:txBody>{lines}</p:txBody></p:sp>'


def slide(*shapes: str, hidden: bool = False) -> str:
    """Gives a slide's part."""
    show = ' show="0"' if hidden else ""
    return f"<p:sld {P}{show}><p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld></p:sld>"


def make_pptx(slides: list[str], order: list[int] | None = None, **parts: str) -> bytes:
    """Makes a pptx of slides (in the order of the show); ``parts`` by name, slashes as double underscores."""
    order = order or list(range(1, len(slides) + 1))
    found: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "ppt/presentation.xml": f"<p:presentation {P}><p:sldIdLst>" + "".join(
            f'<p:sldId id="{255 + number}" r:id="rId{number}"/>' for number in order)
        + "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(**{
            f"rId{number}": ("slide", f"slides/slide{number}.xml") for number in range(1, len(slides) + 1)})}
    found |= {f"ppt/slides/slide{number}.xml": text for number, text in enumerate(slides, 1)}
    return pack(found | {name.replace("__", "/"): text for name, text in parts.items()})


def make_xlsx(sheets: dict[str, str], strings: list[str] | None = None, codes: list[str] | None = None, *,
              states: dict[str, str] | None = None, extra: dict[str, str | bytes] | None = None) -> bytes:
    """Makes an xlsx. ``sheets``: name -> rows as XML; ``codes``: number format of each cell style from 1 on."""
    names = list(sheets)
    states = states or {}
    book = "".join(f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}" state="{states.get(name, "visible")}"/>'
                   for number, name in enumerate(names, 1))
    styles = "".join(f'<numFmt numFmtId="{164 + number}" formatCode="{code}"/>'
                     for number, code in enumerate(codes or []))
    formats = '<xf numFmtId="0"/>' + "".join(f'<xf numFmtId="{164 + number}"/>' for number in range(len(codes or [])))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f"<workbook {S}><sheets>{book}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(**{
            f"rId{number}": ("worksheet", f"worksheets/sheet{number}.xml") for number in range(1, len(names) + 1)}),
        "xl/styles.xml": f"<styleSheet {S}><numFmts>{styles}</numFmts><cellXfs>{formats}</cellXfs></styleSheet>",
        "xl/sharedStrings.xml": f"<sst {S}>" + "".join(f"<si>{text}</si>" for text in strings or []) + "</sst>"}
    for number, name in enumerate(names, 1):
        parts[f"xl/worksheets/sheet{number}.xml"] = f"<worksheet {S}><sheetData>{sheets[name]}</sheetData></worksheet>"
    return pack(parts | (extra or {}))


def make_odf(kind: str, body: str, *, styles: str = "", meta: str = "", flat: bool = False,
             extra: dict[str, str | bytes] | None = None) -> bytes:
    """Makes an OpenDocument file; ``kind`` is text, spreadsheet or presentation."""
    mime = f"application/vnd.oasis.opendocument.{kind}"
    inner = (f"<office:automatic-styles>{styles}</office:automatic-styles>"
             f"<office:body><office:{kind}>{body}</office:{kind}></office:body>")
    about = f"<office:meta>{meta}</office:meta>"
    if flat:
        whole = f'<office:document {ODF} office:mimetype="{mime}">{about}{inner}</office:document>'
        return f'<?xml version="1.0"?>{whole}'.encode()
    return pack({"content.xml": f"<office:document-content {ODF}>{inner}</office:document-content>",
                 "meta.xml": f"<office:document-meta {ODF}>{about}</office:document-meta>",
                 "META-INF/manifest.xml": "<manifest/>"} | (extra or {}), stored=mime)


def make_epub(chapters: dict[str, str], *, about: str = "", manifest: str = "", spine: str | None = None,
              extra: dict[str, str | bytes] | None = None) -> bytes:
    """Makes an epub of chapters (name -> XHTML body)."""
    items = "".join(f'<item id="{name}" href="text/{name}.xhtml" media-type="application/xhtml+xml"/>'
                    for name in chapters)
    order = spine if spine is not None else "".join(f'<itemref idref="{name}"/>' for name in chapters)
    parts: dict[str, str | bytes] = {
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        "OPS/book.opf": f'<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
                        f"<metadata>{about}</metadata><manifest>{items}{manifest}</manifest><spine>{order}</spine></package>"}
    for name, body in chapters.items():
        parts[f"OPS/text/{name}.xhtml"] = (f'<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
                                           f"<head><title>{name}</title></head><body>{body}</body></html>")
    return pack(parts | (extra or {}), stored="application/epub+zip")


def read(folder: Path, data: bytes, name: str, password: str | None = None) -> ExtractedText:
    """Writes the bytes under a name and reads them."""
    path = folder / name
    path.write_bytes(data)
    return extract(path, password=password)


def pieces(document: ExtractedText, kind: BlockKind | None = None, part: str | None = None) -> list[str]:
    """Gives the texts of the blocks of a kind and part."""
    return [document.text[block.start : block.end] for block in document.blocks
            if kind in {None, block.kind} and part in {None, block.part}]
