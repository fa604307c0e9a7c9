"""How the text of a document, its blocks and its problems are kept in the catalog.

The text is cut into parts of a fixed number of code points, each compressed by itself, so that a
passage of a long book costs one part and not the whole book.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Sequence

from sbert_desktop.domain import Block, BlockKind, ContentId, ExtractedText, Problem, Run

PART = 32_768  # code points


def pack_text(text: str) -> list[bytes]:
    """Gives the compressed parts of a text; at least one. Lone surrogates survive."""
    return [
        zlib.compress(text[start : start + PART].encode("utf-8", "surrogatepass"), 6)
        for start in range(0, max(len(text), 1), PART)
    ]


def unpack_part(data: bytes) -> str:
    """Gives the text of one part."""
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


def pack_blocks(blocks: Sequence[Block]) -> bytes:
    """Gives the blocks as compressed JSON rows."""
    rows = [
        [
            b.start,
            b.end,
            b.kind.value,
            b.page,
            b.heading,
            b.part,
            [[r.text_start, r.page, r.char_start, r.length, *([r.box] if r.box else [])] for r in b.runs],
        ]
        for b in blocks
    ]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), 6)


def unpack_blocks(data: bytes) -> tuple[Block, ...]:
    """Gives the blocks back."""
    return tuple(
        Block(start, end, BlockKind(kind), page, heading, part, tuple(_run(*run) for run in runs))
        for start, end, kind, page, heading, part, runs in json.loads(zlib.decompress(data))
    )


def _run(text_start: int, page: int, char_start: int, length: int, box: list[float] | None = None) -> Run:
    return Run(text_start, page, char_start, length, (box[0], box[1], box[2], box[3]) if box else None)


def pack_problems(problems: Iterable[Problem]) -> str:
    """Gives problems as JSON."""
    return json.dumps([[p.code, p.message, p.hint, p.partial] for p in problems])


def unpack_problems(data: str) -> tuple[Problem, ...]:
    """Gives problems back."""
    return tuple(Problem(*row) for row in json.loads(data))


def insert(connection: sqlite3.Connection, sha256: str, version: int, text: ExtractedText) -> ContentId:
    """Writes one content with its text; gives its id."""
    cursor = connection.execute(
        "INSERT INTO content(sha256, extractor_version, format, language, title, date, characters, blocks, metadata,"
        " problems) VALUES(?,?,?,?,?,?,?,?,?,?)",
        (
            sha256,
            version,
            text.format,
            text.language,
            clean(text.title),
            text.date,
            len(text.text),
            pack_blocks(text.blocks),
            json.dumps([list(pair) for pair in text.metadata]),
            pack_problems(text.problems),
        ),
    )
    content = ContentId(int(cursor.lastrowid or 0))
    connection.executemany(
        "INSERT INTO text_part(content, part, data) VALUES(?,?,?)",
        [(content, number, data) for number, data in enumerate(pack_text(text.text))],
    )
    return content


def clean(text: str) -> str:
    """Replaces lone surrogates, which SQLite's TEXT cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read(connection: sqlite3.Connection, content: int) -> str | None:
    """Gives the whole text of a content, or None when it is gone."""
    parts = connection.execute("SELECT data FROM text_part WHERE content=? ORDER BY part", (content,)).fetchall()
    return "".join(unpack_part(part[0]) for part in parts) if parts else None


def read_record(connection: sqlite3.Connection, content: int) -> ExtractedText | None:
    """Gives the extracted text as it was put, or None when it is gone."""
    row = connection.execute(
        "SELECT format, title, date, language, blocks, metadata, problems FROM content WHERE id=?", (content,)
    ).fetchone()
    text = read(connection, content) if row else None
    if row is None or text is None:
        return None
    return ExtractedText(
        format=row[0],
        text=text,
        blocks=unpack_blocks(row[4]),
        title=row[1],
        date=row[2],
        language=row[3],
        problems=unpack_problems(row[6]),
        metadata=tuple((k, v) for k, v in json.loads(row[5])),
    )


class Slices:
    """Reads stretches of texts through one connection; keeps the parts it has unpacked."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._parts: dict[tuple[int, int], str] = {}

    def get(self, content: int, start: int, end: int) -> str:
        """Gives the code points ``[start, end)`` of a content; shorter when they are gone."""
        first, last = start // PART, max(start, end - 1) // PART
        text = "".join(self._part(content, number) for number in range(first, last + 1))
        return text[start - first * PART : end - first * PART]

    def _part(self, content: int, number: int) -> str:
        key = (content, number)
        if key not in self._parts:
            row = self._connection.execute("SELECT data FROM text_part WHERE content=? AND part=?", key).fetchone()
            self._parts[key] = unpack_part(row[0]) if row else ""
        return self._parts[key]
