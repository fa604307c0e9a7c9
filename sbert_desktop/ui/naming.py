"""How the window names files and what lies inside of them.

A path is shown through :func:`quick_path`: the same as ``domain.display_path``, but names that need no
care cost nothing, so that lists of fifty thousand files can be made.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from sbert_desktop.domain import display_path

# a message of a mailbox is stored as "<number> <subject>.eml"; the number keeps names unique, nobody wants to read it
_MESSAGE: Final = re.compile(r"(\d+)(?: (.*))?\.eml", re.DOTALL | re.IGNORECASE)
_HOLDERS: Final = frozenset({"zip", "tar", "tgz", "tbz2", "txz", "gz", "bz2", "xz", "7z", "mbox", "eml", "msg", "emlx"})


def quick_path(path: str | os.PathLike[str]) -> str:
    """Gives a path as harmless text on one line."""
    text = os.fspath(path)
    return text if text.isascii() and text.isprintable() else display_path(text)


def member_words(member: str) -> str:
    """Gives the name of what lies in a container: ``Re: flat`` for a message, ``docs/a.txt`` in an archive."""
    out = ""
    parts = member.split("/")
    for at, part in enumerate(parts):
        message = _MESSAGE.fullmatch(part)
        out += quick_path((message[2] or "").strip() or f"Message {message[1]}") if message else quick_path(part)
        if at + 1 < len(parts):
            holds = message is not None or part.rpartition(".")[2].casefold() in _HOLDERS
            out += " / " if holds else "/"
    return out


def file_words(path: Path, member: str = "") -> str:
    """Gives a file's name, with what is meant inside of it: ``mail-2022-11.mbox / Re: flat``."""
    own = quick_path(path.name or str(path))
    return f"{own} / {member_words(member)}" if member else own


def in_title(words: str, most: int = 48) -> str:
    """Gives a name short enough for a title that wraps; one of 255 letters would run out of the sheet."""
    return words if len(words) <= most else f"{words[: most // 2]}…{words[-(most // 2 - 1) :]}"


def kind_of(path: Path, member: str = "") -> str:
    """Gives the suffix that says what a file, or a member of one, is: ``pdf``; "" for none."""
    own = member.rpartition("/")[2] if member else path.name
    dot = own.rfind(".")
    return own[dot + 1 :].casefold() if dot > 0 else ""
