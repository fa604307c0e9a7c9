"""Made-up encoders under the names of models: what adopting needs, without weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sbert_desktop.encoder import HashingEncoder
from sbert_desktop.encoder.models import BUNDLED_NAME

SIZES = {BUNDLED_NAME: (256, 256), "mine": (128, 256), "long": (64, 40)}  # "long" cuts texts in another way


class Made(HashingEncoder):
    """One of them; ``pace`` is called before each text is encoded in bulk."""

    pace: Callable[[str], None] = staticmethod(lambda name: None)  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        dimension, max_tokens = SIZES.get(name, (512, 256))
        super().__init__(name=name, dimension=dimension, max_tokens=max_tokens)
        self.closed = False

    def encode_passages(self, texts, context=None):
        Made.pace(self.info.name)
        return super().encode_passages(texts, context)

    def close(self) -> None:
        self.closed = True


def named(model: Path | None, **_: object) -> Made:
    return Made(model.name if model is not None else BUNDLED_NAME)


def use_made(patch: Callable[[str, object], None]) -> None:
    """Puts them in the place of real ones; ``patch`` is monkeypatch.setattr, or what does as it does."""
    patch("sbert_desktop.encoder.open_encoder", named)
    patch("sbert_desktop.encoder.expected_fingerprint", lambda model, **more: named(model).info.fingerprint)
