"""What a model folder tells a person beside its figures: licence, what it was tuned from, where it came from."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

_HEAD = re.compile(r"---[ \t]*\r?\n(.*?)\n---", re.DOTALL)
_TUNED = "with SBERT Desktop"  # what training writes into the card of each model that it makes
_BASE = re.compile(r"^\| Base \| (.+) \|$", re.MULTILINE)
_MOST = 1_000_000  # characters of a card: results on a hundred data sets may stand before what is looked for


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What a folder says of its model.

    ``licence``: as the hub calls it (``apache-2.0``), "" when nothing is said. ``base``: the model that this program
    tuned it from, "" for one that it did not make. ``source``: the folder or the name on the hub that it was added
    from, "" when not known. ``added``: when, in seconds since the epoch, 0 when not known.
    """

    licence: str = ""
    base: str = ""
    source: str = ""
    added: float = 0.0


def read_card(folder: Path) -> ModelCard:
    """Reads a model's card and its seal; what cannot be read says nothing."""
    text, card = "", folder / "README.md"
    try:
        if card.is_file():  # a pipe would never end
            with card.open(encoding="utf-8", errors="replace") as stream:
                text = stream.read(_MOST)
    except OSError:
        pass
    head = _HEAD.match(text)
    licence = _value(head[1], "license_name") or _value(head[1], "license") if head else ""
    base = _BASE.search(text) if _TUNED in text else None
    return ModelCard(licence, base[1].replace("\\|", "|") if base else "", *_seal_of(folder))


def _value(head: str, key: str) -> str:
    found = re.search(rf"^{key}:[ \t]*(?:\n[ \t]*-[ \t]*)?([^\n]*)", head, re.MULTILINE)
    return found[1].strip().strip("\"'[]")[:80] if found else ""


def _seal_of(folder: Path) -> tuple[str, float]:
    seal = folder / "sbert-desktop.json"
    try:
        added = seal.stat().st_mtime
        source = json.loads(seal.read_text("utf-8")).get("source", "")
    except (OSError, ValueError, AttributeError):
        return "", 0.0
    return (source if isinstance(source, str) else ""), added
