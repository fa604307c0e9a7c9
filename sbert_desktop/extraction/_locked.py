"""Office files behind a password: opened with the one that the person typed, else said to be protected."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.domain import ExtractedText
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction._limits import own_files
from sbert_desktop.extraction._problems import failure
from sbert_desktop.extraction._source import Source

if TYPE_CHECKING:
    from msoffcrypto.format.base import BaseOfficeFile

_USUAL = ("VelvetSweatshop", "/01Hannes Ruescher/01")
"""What Excel and PowerPoint use themselves for files that anybody may open. Source: MS-XLS 2.4.191, MS-PPT 2.3.7."""


def read(source: Source) -> ExtractedText:
    """Reads a docx, xlsx or pptx inside a password container.

    Raises:
        ExtractionError: ``encrypted`` without the right password, else as its reader.
    """
    from sbert_desktop.extraction._extract import extract_bytes

    plain = unlocked(source)
    if plain.startswith(b"\xd0\xcf\x11\xe0"):
        raise failure("encrypted")
    return extract_bytes(Path(source.name), plain)


def unlocked(source: Source) -> bytes:
    """Gives the bytes of an Office file without its password; as they are if it has none.

    Raises:
        ExtractionError: ``encrypted``: no password was given, it is wrong, or the protection is of an unknown kind.
    """
    import msoffcrypto
    import olefile
    from msoffcrypto.exceptions import FileFormatError, ParseError

    try:
        office = msoffcrypto.OfficeFile(io.BytesIO(source.data))
        locked = office.is_encrypted()
    except (FileFormatError, ParseError, OSError, ValueError, KeyError, IndexError, struct.error, AttributeError,
            olefile.olefile.OleFileError):
        return source.data  # odd, but not for its protection: its reader tells
    if not locked:
        return source.data
    for password in [source.password] if source.password else _USUAL:
        plain = _open(office, password)
        if plain is not None:
            return plain
    if source.password:
        raise failure("encrypted", "The password is wrong, or the file's protection is of a kind that is not known.",
                      "Check the password and try again.")
    raise failure("encrypted")


def _open(office: BaseOfficeFile, password: str) -> bytes | None:
    """Gives the bytes, None if the password does not fit."""
    out = io.BytesIO()
    try:
        with own_files():  # the library works in a temporary file that has no name
            office.load_key(password=password)
            office.decrypt(out)
    except (ExtractionError, MemoryError):
        raise
    except Exception:  # the library fails in many ways on a wrong key: all mean that it does not open
        return None
    return out.getvalue() or None
