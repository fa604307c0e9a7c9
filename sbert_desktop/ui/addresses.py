"""Paths as addresses, for what is dragged in and out: also where a name is not UTF-8."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes

from PySide6.QtCore import QUrl


def address_of(path: Path) -> QUrl:
    """Gives the address of a file. Qt writes a byte that is not UTF-8 as one that no program can read back."""
    text = str(path)
    if os.name == "nt" or _is_unicode(text):
        return QUrl.fromLocalFile(text)
    return QUrl.fromEncoded(b"file://" + quote_from_bytes(os.fsencode(path)).encode("ascii"))


def path_of(address: QUrl) -> Path | None:
    """Gives the local path of an address; None for what lies elsewhere, or is no file."""
    text = address.toLocalFile() if address.isLocalFile() else ""
    if not text:
        return None
    if os.name == "nt" or "�" not in text:
        return Path(text)
    raw = unquote_to_bytes(address.path(QUrl.ComponentFormattingOption.FullyEncoded))
    return Path(os.fsdecode(raw)) if raw else None


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
