"""The formats that are read: one line each. A new format is a private module and a line here."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, cast

from sbert_desktop.domain import ExtractedText
from sbert_desktop.extraction._container import MembersOf
from sbert_desktop.extraction._encoding import is_binary
from sbert_desktop.extraction._source import Source, suffix_of

Reader = Callable[[Source], ExtractedText]


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its name, the private module that reads it, its suffixes.

    Args:
        name: What ``ExtractedText.format`` says (data files say their suffix).
        module: Name of the module in this package.
        suffixes: Lower-case, space separated, without dots.
        textual: The bytes are text: a file with binary content is refused.
        function: Name of the reading function in the module.
        container: It has members: the module has ``members(source, cursor)`` (see :mod:`._container`).
        growing: A mailbox: no limit on its size, and it is not hashed as a whole.
    """

    name: str
    module: str
    suffixes: str
    textual: bool = True
    function: str = "read"
    container: bool = False
    growing: bool = False

    def reader(self) -> Reader:
        """Gives the reading function; imports the module, and with it the heavy library, only now."""
        module = import_module(f"sbert_desktop.extraction.{self.module}")
        return cast(Reader, getattr(module, self.function))

    def members(self) -> MembersOf:
        """Gives the generator of a container's members."""
        return cast(MembersOf, import_module(f"sbert_desktop.extraction.{self.module}").members)


FORMATS: tuple[Format, ...] = (
    Format("txt", "_text", "txt text asc me readme textile nfo diz"),
    Format("rst", "_rst", "rst rest"),
    Format("org", "_org", "org"),
    Format("adoc", "_asciidoc", "adoc asciidoc"),
    Format("tex", "_tex", "tex latex ltx"),
    Format("ipynb", "_notebook", "ipynb"),
    Format("subtitles", "_subtitles", "srt vtt sbv ass ssa sub lrc"),
    Format("data", "_data", "json jsonl ndjson jsonc json5 yaml yml toml ini cfg conf env properties log geojson bib "
                            "ics ical vcf vcard ldif po pot strings"),
    Format("xml", "_markup", "xml rss atom opml plist kml gpx svg dbk docbook xliff tei fb2"),
    Format("md", "_markdown", "md markdown mdown mkd mdx qmd rmd"),
    Format("html", "_html", "html htm xhtml xht shtml"),
    Format("table", "_table", "csv tsv tab"),
    Format("code", "_code", "py pyi pyx js mjs cjs jsx ts tsx java kt kts scala groovy gradle c h cc cpp cxx hh hpp "
                            "hxx cs fs vb m mm swift go rs rb php pl pm lua r jl hs ml mli clj cljs lisp el scm erl ex "
                            "exs dart zig nim d pas f f90 f95 asm s v sv vhd vhdl sql sh bash zsh fish bat cmd ps1 css "
                            "scss sass less vue svelte proto thrift graphql cmake mk make dockerfile tf hcl nix awk "
                            "sed for tcl coffee elm cr sol ipy jsp asp aspx"),
    Format("pdf", "_pdf", "pdf", textual=False),
    Format("picture", "_picture", "png jpg jpeg jpe jfif tif tiff webp bmp gif heic heif", textual=False),
    Format("docx", "_docx", "docx docm dotx dotm", textual=False),
    Format("pptx", "_slides", "pptx pptm ppsx ppsm potx potm", textual=False),
    Format("xlsx", "_sheets", "xlsx xlsm xltx xltm", textual=False),
    Format("xls", "_sheets_binary", "xls xlt xlsb", textual=False),
    Format("odt", "_odf", "odt ott odm fodt sxw", textual=False),
    Format("ods", "_odf", "ods ots fods sxc", textual=False),
    Format("odp", "_odf", "odp otp fodp odg otg fodg sxi", textual=False),
    Format("rtf", "_rtf", "rtf", textual=False),
    Format("epub", "_epub", "epub", textual=False),
    Format("doc", "_legacy", "doc wps wpd", textual=False),
    Format("ppt", "_legacy", "ppt pps", textual=False),
    Format("iwork", "_legacy", "pages numbers key", textual=False, function="read_iwork"),
    Format("encrypted-office", "_locked", "", textual=False),
    Format("eml", "_mail", "eml emlx", textual=False, container=True),
    Format("mht", "_mail", "mht mhtml", textual=False, function="read_page"),
    Format("mbox", "_mbox", "mbox mbx", textual=False, container=True, growing=True),
    Format("msg", "_msg", "msg oft", textual=False, container=True),
    Format("tnef", "_tnef", "tnef", textual=False, container=True),
    Format("mail-store", "_msg", "pst ost dbx", textual=False, function="read_store", growing=True),
    Format("zip", "_archive", "zip", textual=False, container=True),
    Format("tar", "_archive", "tar tgz tbz tbz2 txz tlz tzst", textual=False, container=True),
    Format("gz", "_archive", "gz bz2 xz lzma zst", textual=False, container=True),
    Format("7z", "_archive", "7z", textual=False, container=True),
    Format("rar", "_archive", "rar cbr", textual=False, function="read_unknown"),
)
BY_NAME: Mapping[str, Format] = MappingProxyType({entry.name: entry for entry in FORMATS})
SUPPORTED: Mapping[str, str] = MappingProxyType(
    {suffix: entry.name for entry in FORMATS for suffix in entry.suffixes.split()})
"""Suffix (lower case, without dot) to the name of its format."""

_NAMES = {"readme": "txt", "license": "txt", "licence": "txt", "copying": "txt", "authors": "txt", "changelog": "txt",
          "changes": "txt", "news": "txt", "todo": "txt", "notes": "txt", "install": "txt", "contributing": "txt",
          "makefile": "code", "dockerfile": "code", "gnumakefile": "code", "rakefile": "code", "gemfile": "code",
          "jenkinsfile": "code", "vagrantfile": "code", "cmakelists": "code"}
_HTML = re.compile(rb"^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)*"
                   rb"<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
_MAIL = re.compile(rb"\A(?:\xef\xbb\xbf)?(?:[A-Za-z][A-Za-z0-9-]{0,60}:[^\n]{0,2000}\n(?:[ \t][^\n]*\n)*){3,}")
_MAIL_NAMES = re.compile(rb"^(Return-Path|Received|Delivered-To|From|To|Subject|Date|Message-ID|MIME-Version):",
                         re.IGNORECASE | re.MULTILINE)
_MAILDIR = re.compile(r"^\d{6,}\.[\w=,+-]+\.[^/]+$")  # 1700000000.M1P2.host:2,S
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_IN_ZIP = frozenset(("docx", "pptx", "xlsx", "xls", "odt", "ods", "odp", "epub"))
_MIME_SIGNS = ((b"application/epub+zip", "epub"), (b"opendocument.text", "odt"), (b"opendocument.spreadsheet", "ods"),
               (b"opendocument.presentation", "odp"), (b"opendocument.graphics", "odp"),
               (b"vnd.sun.xml.writer", "odt"), (b"vnd.sun.xml.calc", "ods"), (b"vnd.sun.xml.impress", "odp"))
_ZIP_SIGNS = (("word/document.xml", "docx"), ("ppt/presentation.xml", "pptx"), ("xl/workbook.xml", "xlsx"),
              ("xl/workbook.bin", "xls"), ("META-INF/container.xml", "epub"), ("Index/Document.iwa", "iwork"),
              ("Index.zip", "iwork"))
_OLE_SIGNS = (("EncryptedPackage", "encrypted-office"), ("__properties_version1.0", "msg"), ("WordDocument\0", "doc"),
              ("PowerPoint Document\0", "ppt"), ("Workbook\0", "xls"), ("Book\0", "xls"))
HEAD = 8192
"""Bytes from the beginning of a file that tell its format."""


def format_of(path: Path, head: bytes, whole: bytes | BinaryIO | None = None) -> str | None:
    """Gives the name of a file's format, by content where its suffix lies; None if it is not read.

    Args:
        path: The file; opened only to look into a ZIP or OLE container, and only without ``whole``.
        head: Its first bytes, 8 KiB where it has them.
        whole: All its bytes or a seekable stream of them, where they are at hand.

    Gives ``encrypted-office`` for an office document inside a password container.
    """
    suffix = suffix_of(path.name)
    told = SUPPORTED.get(suffix)
    if head.startswith(b"%PDF-"):
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_format(path, whole, told)
    if head.startswith(_OLE):
        return _ole_format(path, whole, told)
    if archive := _archive_format(head, path.name):
        return archive
    if b"%PDF-" in head[:1024] and (told in {None, "pdf"} or is_binary(head)):  # with something before it
        return "pdf"
    if head.startswith(b"{\\rtf"):
        return "rtf"
    if mail := _mail_format(path.name, head, told):
        return mail
    if told is not None and not BY_NAME[told].textual:
        return told
    if is_binary(head):
        return None
    if told in {"txt", None} and _HTML.match(head):
        return "html"
    if told is None and (not suffix or (path.name.lower().split(".")[0] in _NAMES and suffix.isdigit())):
        return _NAMES.get(path.name.lower().split(".")[0], "txt")
    return told


def _mail_format(name: str, head: bytes, told: str | None) -> str | None:
    """Tells mailboxes and mails without a suffix of their own (Thunderbird, Maildir) by their first lines."""
    if head.startswith(b"From ") and told in {None, "txt", "mbox"}:
        from sbert_desktop.extraction._mbox import looks_like_mailbox

        if looks_like_mailbox(head):
            return "mbox"
    elif head.startswith(b"\x78\x9f\x3e\x22"):
        return "tnef"
    elif told is None or _MAILDIR.match(name):
        match = _MAIL.match(head)
        if match and len({found.lower() for found in _MAIL_NAMES.findall(match[0])}) >= 2:
            return "eml"
    return None


_COMPRESSED = (b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\0", b"\x5d\0\0", b"7z\xbc\xaf\x27\x1c",
               b"\x28\xb5\x2f\xfd", b"Rar!\x1a\x07")


def _archive_format(head: bytes, name: str) -> str | None:
    """Tells archives other than zip; their reader is imported only for what looks like one."""
    if not head.startswith(_COMPRESSED) and head[257:262] != b"ustar":
        return None
    from sbert_desktop.extraction._archive import archive_of

    return archive_of(head, name)


def _zip_format(path: Path, whole: bytes | BinaryIO | None, told: str | None) -> str | None:
    mere = "zip" if told == "zip" or (told is None and not suffix_of(path.name)) else None
    try:
        with zipfile.ZipFile(io.BytesIO(whole) if isinstance(whole, bytes) else whole or path) as archive:
            names = set(archive.namelist()[:5000])
            mime = archive.open("mimetype").read(100) if "mimetype" in names else b""
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, zlib.error, RuntimeError, EOFError):
        return told if told in _IN_ZIP else mere
    for kind, name in _MIME_SIGNS:
        if kind in mime:
            return name
    for sign, name in _ZIP_SIGNS:
        if sign in names:
            return name
    # A package may call its main part as it likes.
    return told if told in _IN_ZIP and names & {"[Content_Types].xml", "content.xml"} else mere


def _ole_format(path: Path, whole: bytes | BinaryIO | None, told: str | None) -> str | None:
    """Tells an old office file by the names of its streams."""
    if whole is not None and not isinstance(whole, bytes):
        whole.seek(0)
        whole = whole.read()
    if whole is None:
        try:
            with path.open("rb") as stream:
                whole = stream.read(1 << 20)
        except OSError:
            return None
    found = [name for sign, name in _OLE_SIGNS if sign.encode("utf-16-le") in whole and name in BY_NAME]
    if "msg" in found and told in {"msg", None}:
        return "msg"  # whatever its attachments are
    if "encrypted-office" in found or not found:
        return found[0] if found else told if told in {"doc", "ppt", "xls", "msg"} else None
    return told if told in found else found[0]  # a document may hold another kind inside
