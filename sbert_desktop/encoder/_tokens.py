"""The model's own tokenizer, twice: truncating to encode, untruncated to split."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.errors import EncoderError

if TYPE_CHECKING:
    from tokenizers import Encoding
    from tokenizers import Tokenizer as FastTokenizer

_PIECE = 200_000  # code points that are split into tokens at once: bounds the memory for one huge text


class ModelTokenizer:
    """Reads ``tokenizer.json``; what it says about truncation and padding is not ours and is reset.

    Truncation is a state of a tokenizer, therefore there are two of them. Safe from any thread.

    Args:
        folder: Folder of the model.
        sha256: Of its ``tokenizer.json``.
        max_tokens: Where encoding truncates, special tokens included.
        lower_case: Lower-case the text first.

    Raises:
        EncoderError: ``model-refused`` when the file cannot be read as a tokenizer.
    """

    def __init__(self, folder: Path, sha256: str, *, max_tokens: int, lower_case: bool = False) -> None:
        self._file = folder / "tokenizer.json"
        self._sha256 = sha256
        self._lower = lower_case
        self._max_tokens = max_tokens
        self._encoder = self._load()
        self._encoder.enable_truncation(max_tokens)
        self._splitter: FastTokenizer | None = None
        self._lock = threading.Lock()

    @property
    def key(self) -> str:
        """Gives the sha256 of the tokenizer file."""
        return self._sha256

    def offsets(self, text: str) -> NDArray[np.int32]:
        """Gives the code-point range of each content token, int32 [tokens, 2], untruncated."""
        splitter = self._untruncated()
        parts = []
        start = 0
        while start < len(text):
            end = _piece_end(text, start)
            found: Encoding = splitter.encode(_encodable(text[start:end]), add_special_tokens=False)
            parts.append(np.asarray(found.offsets, dtype=np.int32).reshape(-1, 2) + np.int32(start))
            start = end
        return np.concatenate(parts) if parts else np.empty((0, 2), np.int32)

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        """Gives the token ids of each text, int32, special tokens included, truncated."""
        found = self._encoder.encode_batch_fast([_encodable(text) for text in texts])
        return [np.asarray(one.ids, dtype=np.int32) for one in found]

    def encode_pairs(self, first: str, texts: Sequence[str]) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """Gives ids and types of each pair (first, text), int32 each; of the two the longer one is truncated."""
        one = _encodable(first)
        found = self._encoder.encode_batch_fast([(one, _encodable(text)) for text in texts])
        return [(np.asarray(pair.ids, np.int32), np.asarray(pair.type_ids, np.int32)) for pair in found]

    def prompt_length(self, prompt: str) -> int:
        """Gives how many tokens a prompt takes at the beginning, the special one before it included."""
        if not prompt:
            return 0
        found = self._encoder.encode(_encodable(prompt))
        return len(found.ids) - int(bool(found.ids) and found.special_tokens_mask[-1] == 1)

    def _untruncated(self) -> FastTokenizer:
        with self._lock:
            if self._splitter is None:
                self._splitter = self._load()
                self._splitter.no_truncation()
            return self._splitter

    def _load(self) -> FastTokenizer:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self._file))
        except Exception as error:  # the library raises a bare Exception
            raise EncoderError("model-refused", "tokenizer.json of the model cannot be read.",
                               "Replace the model by a fresh copy.", detail=str(error)) from error
        tokenizer.no_padding()
        if self._lower:
            # In the tokenizer and not before it: it knows other capitals than Python, and offsets stay right.
            from tokenizers.normalizers import Lowercase
            from tokenizers.normalizers import Sequence as Normalizers

            own = tokenizer.normalizer
            tokenizer.normalizer = Normalizers([Lowercase()] if own is None else [Lowercase(), own])
        return tokenizer


def _encodable(text: str) -> str:
    """Gives the text with each lone surrogate as U+FFFD (one for one: offsets stay)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= ch <= "\udfff" else ch for ch in text)
    return text


def _piece_end(text: str, start: int) -> int:
    end = start + _PIECE
    if end >= len(text):
        return len(text)
    cut = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    return cut if cut > start else end
