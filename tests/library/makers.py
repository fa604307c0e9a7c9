"""Documents, encoders and vectors for the library's tests: all made up, all from fixed seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sbert_desktop.domain import (
    Block,
    EncoderInfo,
    ExtractedText,
    Location,
    Passage,
    SourceFile,
    SplitRules,
    Vectors,
)
from sbert_desktop.library import Library, Writer

DIMENSION = 16
RULES = SplitRules()


def info(fingerprint: str = "fake-1", dimension: int = DIMENSION, max_tokens: int = 254) -> EncoderInfo:
    return EncoderInfo(fingerprint, f"fake {fingerprint}", dimension, max_tokens, "mean", "fake", "cpu", "float32")


def vector_of(text: str, dimension: int = DIMENSION) -> np.ndarray:
    """A unit vector that depends on the text only."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "little")
    vector = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    return vector / np.linalg.norm(vector)


def encode(texts: Sequence[str], dimension: int = DIMENSION) -> Vectors:
    return np.stack([vector_of(text, dimension) for text in texts])


def document(
    paragraphs: Sequence[str], *, furniture: int = 0, **changes: object
) -> tuple[ExtractedText, list[Passage]]:
    """One text with one passage per paragraph; the last ``furniture`` ones are not embedded."""
    blocks, passages, at = [], [], 0
    for number, paragraph in enumerate(paragraphs):
        end = at + len(paragraph)
        blocks.append(Block(at, end, page=number + 1))
        embedded = number < len(paragraphs) - furniture
        passages.append(Passage(number, at, end, paragraph, location=Location(number + 1), embedded=embedded))
        at = end + 1
    values: dict[str, object] = {"format": "txt", "language": "en", **changes}
    return ExtractedText(text="\n".join(paragraphs), blocks=tuple(blocks), **values), passages  # type: ignore[arg-type]


def file_at(path: Path | bytes, data: str, *, mtime: float = 1_700_000_000.0, inode: int = 0) -> SourceFile:
    import os

    place = Path(os.fsdecode(path))
    raw = data.encode("utf-8", "surrogatepass")
    return SourceFile(place, len(raw), int(mtime * 1e9), 1, inode, hashlib.sha256(raw).hexdigest())


def put_text(writer: Writer, folder: int, path: Path | bytes, paragraphs: Sequence[str], **changes: object) -> int:
    text, passages = document(paragraphs, **changes)
    content = writer.put(folder, file_at(path, text.text), text, passages, ())  # type: ignore[arg-type]
    assert content is not None
    return content


def embed_all(writer: Writer, dimension: int = DIMENSION) -> int:
    """Encodes everything that waits; gives the number of passages encoded."""
    count = 0
    while batch := writer.pending():
        pairs = [pair for pending in batch for pair in pending.passages]
        writer.put_vectors([id_ for id_, _ in pairs], encode([text for _, text in pairs], dimension))
        count += len(pairs)
    writer.commit()
    return count


def start(library: Library, *folders: Path, fingerprint: str = "fake-1") -> list[int]:
    """Chooses the fake encoder and adds folders."""
    with library.writer() as writer:
        writer.use_space(info(fingerprint), "tokenizer", RULES)
        return [writer.add_folder(folder) for folder in folders]
