"""Spaces beside the active one: which there are, which is wanted, and how large each is."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from sbert_desktop.library import _vectors
from sbert_desktop.library._records import SpaceRecord

# What a space should hold: the passages of its segmentation of documents in folders searched by meaning.
_WANTED_PASSAGES = (
    "SELECT coalesce(sum(s.embeddable), 0) FROM segmented s WHERE s.segmentation=? AND EXISTS (SELECT 1 FROM file f"
    " JOIN folder d ON d.id=f.folder WHERE f.content=s.content AND d.state='active' AND NOT d.words_only)"
)


def measure(library: Path, connection: sqlite3.Connection) -> tuple[SpaceRecord, ...]:
    """Lists all spaces with what they hold and how large they are."""
    rows = connection.execute(
        "SELECT x.fingerprint, x.dimension, x.state, x.name, s.key, x.id, x.segmentation FROM space x"
        " JOIN segmentation s ON s.id=x.segmentation ORDER BY x.id"
    ).fetchall()
    records = []
    for fingerprint, dimension, state, name, key, space, segmentation in rows:
        held = int(connection.execute("SELECT count(*) FROM row WHERE space=?", (space,)).fetchone()[0])
        wanted = int(connection.execute(_WANTED_PASSAGES, (segmentation,)).fetchone()[0])
        size = _size(_vectors.space_folder(library, fingerprint))
        records.append(SpaceRecord(fingerprint, dimension, state, name, key, held, max(held, wanted), size))
    return tuple(records)


def _size(folder: Path) -> int:
    try:
        with os.scandir(folder) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return 0
