"""A deterministic encoder without a model: feature hashing of word stems.

Tests of all rooms use it: it starts at once, the same text always gives the same vector, and texts
that share words are similar. It knows nothing of meaning.
"""

from __future__ import annotations

import hashlib
import re
import time
import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import EncoderInfo, JobContext, Vectors
from sbert_desktop.encoder.pacing import EncodeStats, Gate

DIMENSION = 256
_SPECIAL = 2  # counted like the start and end tokens of a real model
_BATCH = 64
# A token is a run of word characters, one CJK character, or one other sign.
_TOKEN = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    "|[^\\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
    "|[^\\w\\s]|_"
)
_ENDINGS = ("ations", "ation", "ings", "ing", "ness", "ies", "ed", "es", "ly", "s")


class HashingTokenizer:
    """Splits at the borders of words; needs no file."""

    @property
    def key(self) -> str:
        """Gives the fake's name and version."""
        return "hashing-words-1"

    def offsets(self, text: str) -> NDArray[np.int32]:
        """Gives the code-point range of each word or sign, int32 [tokens, 2]."""
        spans = [match.span() for match in _TOKEN.finditer(text)]
        return np.array(spans, dtype=np.int32).reshape(-1, 2)


class HashingEncoder:
    """The fake encoder: unit vectors of hashed word stems.

    Args:
        dimension: Length of the vectors, a multiple of 8 up to 512.
        max_tokens: Longer texts are truncated, as a real model would; special tokens included.
        name: Part of the fingerprint, so that tests can have two spaces.
    """

    def __init__(self, *, dimension: int = DIMENSION, max_tokens: int = 256, name: str = "hashing") -> None:
        if dimension % 8 or not 8 <= dimension <= 512:
            raise ValueError("dimension must be a multiple of 8 from 8 to 512")
        identity = f"{name}:1:{dimension}:{max_tokens}"
        self._info = EncoderInfo(
            fingerprint=hashlib.sha256(identity.encode()).hexdigest(), name=name, dimension=dimension,
            max_tokens=max_tokens, pooling="sum", backend="hashing", device="CPU", precision="float32",
        )
        self._tokenizer = HashingTokenizer()
        self._gate = Gate()
        self._words: dict[str, NDArray[np.float32]] = {}

    @property
    def info(self) -> EncoderInfo:
        """Gives the fake's identity."""
        return self._info

    @property
    def tokenizer(self) -> HashingTokenizer:
        """Gives the fake's tokenizer."""
        return self._tokenizer

    @property
    def stats(self) -> EncodeStats:
        """Gives what bulk encoding did so far."""
        return self._gate.stats

    def encode_passages(self, texts: Sequence[str], context: JobContext | None = None) -> Vectors:
        """Encodes in batches of 64, float32 [n, dimension] of unit rows."""
        out = np.empty((len(texts), self._info.dimension), np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            with self._gate.bulk(context):
                began = time.perf_counter()
                for row, text in enumerate(batch, start):
                    out[row] = self._encode(text)
                tokens = self.count_tokens(batch)
                self._gate.count(passages=len(batch), tokens=tokens, padded=tokens,
                                 seconds=time.perf_counter() - began)
        return out

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """Encodes one query, float32 [dimension] of unit length."""
        with self._gate.query():
            return self._encode(text)

    def encode_now(self, texts: Sequence[str]) -> Vectors:
        """Encodes a few texts ahead of bulk work, float32 [n, dimension] of unit rows."""
        with self._gate.query():
            rows = [self._encode(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self._info.dimension), np.float32)

    def count_tokens(self, texts: Sequence[str]) -> int:
        """Counts words and signs, two special tokens per text, truncated to max tokens."""
        limit = self._info.max_tokens
        return sum(min(len(_TOKEN.findall(text)) + _SPECIAL, limit) for text in texts)

    def hold_bulk(self, seconds: float = 1.0) -> None:
        """Keeps bulk work away for so long."""
        self._gate.hold(seconds)

    def set_pace(self, *, gentle: bool) -> None:
        """Does nothing: the fake is over before it could be gentle."""

    def close(self) -> None:
        """Forgets the words."""
        self._words.clear()

    def _encode(self, text: str) -> NDArray[np.float32]:
        total = np.zeros(self._info.dimension, np.float32)
        for number, match in enumerate(_TOKEN.finditer(text)):
            if number >= self._info.max_tokens - _SPECIAL:
                break
            total += self._word(match.group())
        norm = float(np.linalg.norm(total))
        if norm < 1e-6:  # nothing to hash: one fixed direction, so that every text has a unit vector
            total = self._signs("")
            norm = float(np.linalg.norm(total))
        return total / np.float32(norm)

    def _word(self, word: str) -> NDArray[np.float32]:
        vector = self._words.get(word)
        if vector is None:
            stem = _stem(word)
            # Short words are mostly function words: they say little about what a text is about.
            weight = 0.15 if len(stem) <= 3 and stem.isascii() and not stem.isdigit() else 1.0
            vector = self._signs(stem) * np.float32(weight)
            if len(self._words) < 200_000:
                self._words[word] = vector
        return vector

    def _signs(self, stem: str) -> NDArray[np.float32]:
        digest = hashlib.blake2b(stem.encode("utf-8", "surrogatepass"), digest_size=self._info.dimension // 8).digest()
        bits = np.unpackbits(np.frombuffer(digest, np.uint8))
        return bits.astype(np.float32) * np.float32(2) - np.float32(1)


def _stem(word: str) -> str:
    folded = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(ch for ch in folded if not unicodedata.combining(ch)) or folded
    for ending in _ENDINGS:
        if plain.endswith(ending) and len(plain) - len(ending) >= 3:
            stem = plain[: -len(ending)]
            return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
    return plain
