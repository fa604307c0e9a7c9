"""Encodes the lines of a text file into a NumPy array: the command line's ``encode``."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np

from sbert_desktop.app.session import Session
from sbert_desktop.domain import JobContext, display_path
from sbert_desktop.errors import UsageError


def encode_file(
    session: Session, file: Path, output: Path, context: JobContext, *, pooling: str | None = None, prompt: str = ""
) -> dict[str, object]:
    """Encodes each line of a UTF-8 file and writes float32 [n, dimension] of unit rows.

    Args:
        session: Gives settings and children; its library is not touched.
        file: One text a line; empty lines are encoded too, so that rows and lines agree.
        output: The ``.npy`` file, replaced only when all is done.
        context: Asked for a cancel per batch.
        pooling: ``mean``, ``cls``, ``max`` or ``mean_sqrt_len`` instead of the model's own.
        prompt: Put before every text.

    Raises:
        UsageError: ``file-missing``, ``file-unreadable``, ``no-lines``, ``output-unwritable``.
    """
    try:
        lines = _lines(file)
    except FileNotFoundError:
        raise UsageError("file-missing", f"There is no file {display_path(file)}.", "Check the name.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            "file-unreadable", f"{display_path(file)} is not a readable UTF-8 file: {error}.", "Save it as UTF-8."
        ) from None
    if not lines:
        raise UsageError("no-lines", f"{display_path(file)} is empty.", "Write one text a line.")
    if output.exists() and not output.is_file():  # /dev/full must not become a file
        raise UsageError("output-unwritable", f"{display_path(output)} is not a file.", "Choose another place.")
    if not output.parent.is_dir():
        raise UsageError("output-unwritable", f"There is no folder {display_path(output.parent)}.", "Make it first.")
    encoder = session.encoder() if pooling is None else session.encoder_with(pooling=pooling)
    texts = [prompt + line for line in lines] if prompt else lines
    began = time.monotonic()
    vectors = encoder.encode_passages(texts, context)
    seconds = time.monotonic() - began
    _write(output, vectors)
    tokens = encoder.count_tokens(texts)
    return {
        "n": len(lines),
        "dimension": int(vectors.shape[1]),
        "seconds": seconds,
        "passages_per_second": len(lines) / seconds,
        "tokens_per_second": tokens / seconds,
        "backend": encoder.info.backend,
        "precision": encoder.info.precision,
        "device": encoder.info.device,
        "notices": list(encoder.info.notices),
    }


def _lines(file: Path) -> list[str]:
    """Cuts at line ends only: a form feed or U+2028 inside a text ends no line, as no other tool counts one there."""
    lines = file.read_text("utf-8-sig").split("\n")  # read_text makes one of all three line ends
    return lines if lines[-1] else lines[:-1]


def _write(output: Path, vectors: np.ndarray) -> None:
    try:
        handle, temporary = tempfile.mkstemp(dir=output.parent, prefix=".encode-", suffix=".npy")
        try:
            with os.fdopen(handle, "wb") as stream:
                np.save(stream, vectors)
            os.replace(temporary, output)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(
            "output-unwritable",
            f"{display_path(output)} could not be written: {error.strerror}.",
            "Choose another place.",
        ) from None
