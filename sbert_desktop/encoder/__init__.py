"""Texts to vectors: one door, :func:`open_encoder`, whatever computes behind it. Nothing heavy at import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sbert_desktop.domain import Encoder, Vectors
from sbert_desktop.encoder.hashing import HashingEncoder
from sbert_desktop.encoder.pacing import EncodeStats, Gate

__all__ = ["EncodeStats", "Gate", "HashingEncoder", "PacedEncoder"]


class PacedEncoder(Encoder, Protocol):
    """An encoder whose bulk work can be held back; every encoder of this room is one."""

    @property
    def stats(self) -> EncodeStats:
        """Gives what bulk encoding did so far."""
        ...

    def encode_now(self, texts: Sequence[str]) -> Vectors:
        """Encodes a few passages (the sentences of the hits shown) ahead of bulk work, as ``encode_passages``."""
        ...

    def hold_bulk(self, seconds: float = 1.0) -> None:
        """Keeps bulk work away for so long: call it at each keystroke in the search box."""
        ...

    def set_pace(self, *, gentle: bool) -> None:
        """Gentle: bulk uses half the cores, from the next batch on. Queries always use all."""
        ...
