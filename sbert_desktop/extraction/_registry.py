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
from typing import cast

from sbert_desktop.domain import ExtractedText
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
    """

    name: str
    module: str
    suffixes: str
    textual: bool = True
    function: str = "read"

    def reader(self) -> Reader:
        """Gives the reading function; imports the module, and with it the heavy library, only now."""
        module = import_module(f"sbert_desktop.extraction.{self.module}")
        return cast(Reader, getattr(module, self.function))


FORMATS: tuple[Format, ...] = (
    Format("txt", "_text", "txt text asc me readme rst org tex latex adoc asciidoc textile nfo diz"),
    Format("data", "_text", "json jsonl ndjson yaml yml toml ini cfg conf properties log env geojson bib ics "
                            "vcf ldif po pot strings srt vtt sub lrc", function="read_data"),
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
    Format("docx", "_docx", "docx docm dotx dotm", textual=False),
    Format("eml", "_mail", "eml emlx mht mhtml", textual=False),
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
_MAIL = re.compile(rb"^(?:(?:Return-Path|Received|Delivered-To|From|To|Subject|Date|Message-ID|MIME-Version|"
                   rb"X-[\w-]+):[^\n]*\n(?:[ \t][^\n]*\n)*){3}", re.IGNORECASE)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
HEAD = 8192
"""Bytes from the beginning of a file that tell its format."""


def format_of(path: Path, head: bytes, whole: bytes | None = None) -> str | None:
    """Gives the name of a file's format, by content where its suffix lies; None if it is not read.

    Args:
        path: The file; opened only to look into a ZIP container, and only without ``whole``.
        head: Its first bytes, 8 KiB where it has them.
        whole: All its bytes, where they are at hand.

    Gives ``encrypted-office`` for an office document inside a password container.
    """
    suffix = suffix_of(path.name)
    told = SUPPORTED.get(suffix)
    if b"%PDF-" in head[:1024] and (told != "eml" or head.startswith(b"%PDF-")):
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_format(path, whole, told)
    if head.startswith(_OLE):
        return "encrypted-office" if _is_encrypted_office(path, whole) else None
    if told is not None and not BY_NAME[told].textual:
        return told
    if is_binary(head):
        return None
    if told in {"txt", None} and _HTML.match(head):
        return "html"
    if told is None and _MAIL.match(head) and suffix in {"", "mail", "msg"}:
        return "eml"
    if told is None and (not suffix or (path.name.lower().split(".")[0] in _NAMES and suffix.isdigit())):
        return _NAMES.get(path.name.lower().split(".")[0], "txt")
    return told


def _zip_format(path: Path, whole: bytes | None, told: str | None) -> str | None:
    try:
        with zipfile.ZipFile(io.BytesIO(whole) if whole is not None else path) as archive:
            names = set(archive.namelist()[:5000])
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, zlib.error, RecursionError):
        return told if told == "docx" else None
    return "docx" if "word/document.xml" in names or (told == "docx" and any(n.startswith("word/") for n in names)) \
        else None


def _is_encrypted_office(path: Path, whole: bytes | None) -> bool:
    if whole is None:
        try:
            with path.open("rb") as stream:
                whole = stream.read(1 << 20)
        except OSError:
            return False
    return "EncryptedPackage".encode("utf-16-le") in whole
