"""Old and foreign office formats: LibreOffice turns them into OpenDocument, our own reader takes it from there.

LibreOffice runs as :mod:`_programs` says: with limits, without network, with a profile of its own that is thrown away,
macros and links to other files off.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sbert_desktop.domain import ExtractedText
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction import _programs
from sbert_desktop.extraction._builder import TextBuilder
from sbert_desktop.extraction._dates import parse_date
from sbert_desktop.extraction._docx import is_bad_title
from sbert_desktop.extraction._encoding import decode, is_binary
from sbert_desktop.extraction._normalise import one_line
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source, suffix_of
from sbert_desktop.extraction._xml import TEXT_LIMIT

TIME_LIMIT = 45.0
"""Seconds for one conversion; the first start of a fresh profile takes about one."""
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_STREAMS = ("WordDocument", "PowerPoint Document", "Workbook", "Book", "MatOST", "CONTENTS", "MM")
"""What an old file must hold, else LibreOffice takes its bytes for plain text: Word, PowerPoint, Excel, Works."""
_HEADS = (b"\xffWPC", b"\xdb\xa5", b"\x9b\xa5", b"\x31\xbe\0\0", b"\x01\xfe", b"\x09\x00\x04\x00", b"\x09\x02\x06\x00",
          b"\x09\x04\x06\x00", b"\xff\x00\x02\x00", b"<?xml")
"""Beginnings of old files that are no OLE containers: WordPerfect, Word 2, Write, Works, Excel 2 to 4, XML of 2003."""
_RESTART = 81  # what LibreOffice ends with after it has made a fresh profile. Source: its sal/exithelper
_TARGETS = {"odt": "odt:writer8", "odp": "odp:impress8", "ods": "ods:calc8"}
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
{}</oor:items>
"""
_SETTING = ('<item oor:path="/org.openoffice.{}"><prop oor:name="{}" oor:op="fuse"><value>{}</value></prop></item>\n')
_SAFE = (("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
         ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
         ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
         ("Office.Common/Security/Scripting", "DisableActiveContent", "true"),
         ("Office.Writer/Content/Update", "Link", "0"),
         ("Office.Calc/Content/Update", "Link", "2"),
         ("Office.Common/Misc", "FirstRun", "false"))
_HTML = re.compile(rb"^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,500}?-->\s*)*<(?:!doctype html|html|head|body|table|meta|p)\b",
                   re.IGNORECASE | re.DOTALL)


def read(source: Source) -> ExtractedText:
    """Reads a doc, a ppt, a Works or WordPerfect file; or what only bears such a name.

    Raises:
        ExtractionError: ``needs-program`` without LibreOffice, ``encrypted``, ``timed-out``, ``damaged``, ``empty``.
    """
    if not source.data.startswith(OLE):
        found = read_disguised(source)
        if found is not None:
            return found
    suffix = source.suffix
    slides = suffix in {"ppt", "pps", "pot"} or "PowerPoint Document\0".encode("utf-16-le") in source.data
    if suffix in {"doc", "dot"}:
        slides = False
    return read_converted(source, "odp" if slides else "odt", "ppt" if slides else "doc")


def read_disguised(source: Source) -> ExtractedText | None:
    """Reads a page, a mail, rich or plain text that bears the name of an old office format; None if it is none."""
    from sbert_desktop.extraction._extract import read_as

    head = source.data[:8192]
    if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{\\rtf"):
        return read_as(source, "rtf")
    if b"MIME-Version:" in head[:1024]:
        return read_as(source, "eml")
    text = head if not head.startswith((b"\xff\xfe", b"\xfe\xff")) else decode(head, "")[0].encode()
    if _HTML.match(text.lstrip(b"\xef\xbb\xbf")):
        return read_as(source, "html")
    if text.lstrip(b"\xef\xbb\xbf").startswith(b"<?xml") or is_binary(head):
        return None
    return read_as(source, "table" if suffix_of(source.name) == "xls" else "txt")


def read_converted(source: Source, target: str, name: str) -> ExtractedText:
    """Reads a file through LibreOffice.

    Args:
        source: The file.
        target: ``odt``, ``odp`` or ``ods``.
        name: What the document's format is called.

    Raises:
        ExtractionError: ``needs-program``, ``encrypted``, ``timed-out``, ``damaged`` or ``empty``.
    """
    from sbert_desktop.extraction._locked import unlocked
    from sbert_desktop.extraction._odf import read as read_odf

    ole = source.data.startswith(OLE)
    if not _programs.find().libreoffice:
        raise failure("needs-program", f"Reading .{source.suffix or name} files needs LibreOffice.",
                      f"Install LibreOffice, or save the file as {_better(target)}.")
    known = any(name.encode("utf-16-le") in source.data for name in _STREAMS) if ole else source.data.startswith(_HEADS)
    if not known:
        raise failure("damaged")
    data = unlocked(source) if ole else source.data
    converted = _convert(data, source.suffix if source.suffix.isalnum() else name, target)
    extracted = read_odf(Source(f"converted.{target}", converted))
    extra = properties(data) if ole else TextBuilder(name)
    return replace(extracted, format=name, title=extracted.title or extra.title, date=extra.date or extracted.date)


def _better(target: str) -> str:
    return {"odt": "docx", "odp": "pptx", "ods": "xlsx"}[target]


def _convert(data: bytes, suffix: str, target: str) -> bytes:
    with _programs.workspace() as folder:
        (folder / f"in.{suffix}").write_bytes(data)
        profile = folder / "profile" / "user"
        profile.mkdir(parents=True)
        settings = _SETTINGS.format("".join(_SETTING.format(*setting) for setting in _SAFE))
        (profile / "registrymodifications.xcu").write_text(settings, encoding="utf-8")
        out = folder / "out"
        argv = [_programs.find().libreoffice_path, f"-env:UserInstallation={(folder / 'profile').as_uri()}",
                "--headless", "--norestore", "--nolockcheck", "--nodefault", "--nofirststartwizard", "--nologo",
                "--convert-to", _TARGETS[target], "--outdir", str(out), str(folder / f"in.{suffix}")]
        ended = _programs.run(argv, timeout=TIME_LIMIT, folder=folder)
        if ended.status == _RESTART:
            ended = _programs.run(argv, timeout=TIME_LIMIT, folder=folder)
        path = out / f"in.{target}"
        if not path.is_file():
            raise failure("damaged", "LibreOffice could not read the file.", detail=f"exit status {ended.status}")
        if path.stat().st_size > _programs.OUTPUT_LIMIT:
            raise failure("too-large")
        return path.read_bytes()


def properties(data: bytes) -> TextBuilder:
    """Gives title, date and author of an old office file, in a builder without text."""
    import io

    import olefile

    out = TextBuilder("ole", limit=TEXT_LIMIT)
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            found = ole.get_metadata()
    except Exception:  # a foreign parser on any bytes: without properties the text is still worth reading
        return out
    codepage = found.codepage if isinstance(found.codepage, int) else 1252
    codec = "utf-8" if codepage in {65001, -535} else f"cp{codepage & 0xFFFF}"

    def text(value: object) -> str:
        if isinstance(value, bytes):
            try:
                return one_line(value.decode(codec, "replace").rstrip("\0"))
            except LookupError:
                return one_line(value.decode("cp1252", "replace").rstrip("\0"))
        return one_line(value.rstrip("\0")) if isinstance(value, str) else ""

    title = text(found.title)
    out.title = "" if is_bad_title(title) else title
    for moment in (found.last_saved_time, found.create_time):
        if out.date is None and moment is not None:
            out.date = parse_date(str(moment).replace(" ", "T"))
    for name, value in (("author", found.author), ("subject", found.subject), ("keywords", found.keywords)):
        out.metadata.append((name, text(value)))
    return out


def read_iwork(source: Source) -> ExtractedText:
    """Reads the preview of a Pages, Numbers or Keynote file where it has one as PDF.

    Raises:
        ExtractionError: ``needs-program`` with what to do instead, ``unknown-type``.
    """
    from sbert_desktop.extraction._extract import read_as
    from sbert_desktop.extraction._xml import Container

    if not source.data.startswith(b"PK"):
        raise failure("unknown-type", f"The name ends in .{source.suffix}, but the content is not a document.", "")
    container = Container(source.data)
    for name in ("QuickLook/Preview.pdf", "preview.pdf"):
        preview = container.part(name)
        if preview:
            try:
                return replace(read_as(Source("preview.pdf", preview), "pdf"), format="iwork")
            except ExtractionError:
                break
    raise failure("needs-program", "Files of Pages, Numbers and Keynote are read only by these programs.",
                  "Export the document as PDF, or as docx, xlsx or pptx.")
