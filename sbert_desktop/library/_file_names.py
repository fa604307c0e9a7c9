"""What the names of files and members say: their type, and what a person knows them by."""

from __future__ import annotations

import os
import re

_PARTS = re.compile(r"(?:^|/)(?:part \d+|caption(?: \d+)?)$")


def file_type(name: bytes, member: str) -> str:
    """Gives the type (lower-case extension) of a file by its last name; of a member by its own, where that tells one.

    Parts of a member and its caption are of its type.
    """
    if member:
        own = _PARTS.sub("", member).rpartition("/")[2]
        found = _extension(own.encode("utf-8", "surrogatepass"))
        if found:
            return found
    return _extension(name)


def is_part(member: str) -> bool:
    """Says whether a member is a part of a text, or a caption, and has no name of its own."""
    return _PARTS.search(member) is not None


def shown_name(path: bytes, member: str) -> str:
    """Gives the last name of a file or member, as a person knows it; parts and captions have that of their file."""
    name = _PARTS.sub("", member).rpartition("/")[2]
    return name or os.fsdecode(path).rpartition(os.sep)[2]


def _extension(name: bytes) -> str:
    stem, dot, extension = name.rstrip().rpartition(b".")
    return extension.decode("utf-8", "replace").lower() if dot and stem else ""
