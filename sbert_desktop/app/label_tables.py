"""Tables of labels: looked at, taken in, listed, removed, and judgements written as one."""

from __future__ import annotations

from pathlib import Path

from sbert_desktop.training.labels import LabelKind, LabelSet
from sbert_desktop.training.tables import read_labels


def read_taken(path: Path, kind: LabelKind | None = None) -> LabelSet:
    """Gives the labels of a table that was taken in, or of any other."""
    return read_labels(path, kind).labels
