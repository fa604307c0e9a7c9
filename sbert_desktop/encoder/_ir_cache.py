"""Converted models on disk: made once in a child, checked by sha256 before every use, deletable at any time."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop import paths
from sbert_desktop.domain import Vectors
from sbert_desktop.encoder._remote import Launch, pack, spec_text
from sbert_desktop.encoder._tokens import ModelTokenizer
from sbert_desktop.encoder.models import ModelFacts, sha256
from sbert_desktop.errors import EncoderError, JobError, SbertDesktopError

Packed = tuple[list[int], bytes]
"""Lengths of token ids, and all of them behind each other (those of pairs with their types after them)."""

FORMAT = 1  # raised when what the converter writes changes
_CONVERT_S = 900.0
_FILES = ("model.xml", "model.bin", "reference.f32")

SELF_TEST: Sequence[str] = (
    "a",
    "Invoice 4711 is due on the first of March.",
    "The river rose by two metres overnight, and the lower town was cut off until noon.",
    "def mean(values): return sum(values) / len(values)",
    "Grüße aus Köln, 你好, мир \N{GRINNING FACE}",
    " ".join(f"Part {n}: the committee heard the report of section {n} and put the vote off." for n in range(40)),
    "",
)
"""Texts of 2 to over 250 tokens whose vectors, as torch computes them, every other way must reproduce."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A checked conversion: ``weights`` is the mapped file whose bytes were hashed, uint8 [size]."""

    folder: Path
    xml: str
    weights: NDArray[np.uint8]
    reference: Vectors


def conversion_folder(facts: ModelFacts) -> Path:
    """Gives where the conversion of a model lies: one folder per weights, pooling, layers and format."""
    parts = [FORMAT, facts.weights_sha256, facts.files["config.json"], facts.pooling, facts.max_tokens,
             [[layer.folder, layer.activation] for layer in facts.dense]]
    # Only where they say something: conversions that were made before are found again.
    more = [facts.truncated, facts.prompt_pooled, [layer.unit for layer in facts.dense],
            None if facts.layers is None else [facts.layers.folder, facts.layers.start]]
    if facts.truncated or not facts.prompt_pooled or facts.layers is not None or any(x.unit for x in facts.dense):
        parts.append(more)
    return paths.model_cache() / hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def get_conversion(
    facts: ModelFacts, tokenizer: ModelTokenizer, launch: Launch, *, told: Callable[[], None] | None = None,
    packed: Packed | None = None,
) -> Converted:
    """Gives the checked conversion of a model, making it first when there is none or it is damaged.

    Args:
        facts: The checked model.
        tokenizer: The model's.
        launch: ``launch("torch")`` gives the child that converts.
        told: Called before a conversion, which takes some ten seconds.
        packed: What the child computes the reference of; the texts of the self-test by default.

    Raises:
        EncoderError: ``backend-failed``.
    """
    folder = conversion_folder(facts)
    found = _read(folder, facts)
    if found is not None:
        return found
    if told is not None:
        told()
    _convert(folder, facts, packed or pack(tokenizer.encode(SELF_TEST)), launch)
    found = _read(folder, facts)
    if found is None:
        raise EncoderError("backend-failed", "The converted model could not be read back.",
                           "See whether the disk is full.")
    return found


def read_choices(folder: Path) -> dict[str, dict[str, object]]:
    """Gives what was measured on this machine, by CPU and version; empty when nothing was."""
    try:
        table = json.loads((folder / "precision.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    entries = table.items() if isinstance(table, dict) else ()
    return {str(key): value for key, value in entries if isinstance(value, dict)}


def write_choice(folder: Path, key: str, choice: dict[str, object]) -> None:
    """Keeps what was measured; a cache that cannot be written is measured again next time."""
    table = {**read_choices(folder), key: choice}
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".precision-")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(table, stream, indent=1)
        os.replace(temporary, folder / "precision.json")
    except OSError:
        pass


def _read(folder: Path, facts: ModelFacts) -> Converted | None:
    """Gives the conversion when every byte is what was written; None else."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        hashes = manifest["sha256"]
        xml = (folder / "model.xml").read_bytes()
        reference = (folder / "reference.f32").read_bytes()
        # Mapped copy-on-write (OpenVINO wants a writable array): the hashed pages are the ones that are used.
        weights = np.memmap(folder / "model.bin", np.uint8, "c")
    except (OSError, ValueError, KeyError, TypeError):
        return None
    digests = [hashlib.sha256(part).hexdigest() for part in (xml, weights.data, reference)]
    if not isinstance(hashes, dict) or [hashes.get(name) for name in _FILES] != digests:
        return None
    vectors = np.frombuffer(reference, "<f4").reshape(len(SELF_TEST), -1)
    if vectors.shape[1] != (facts.dimension or 1):  # a cross-encoder has one score and no dimension
        return None
    return Converted(folder, xml.decode("utf-8"), weights, vectors)


def _convert(folder: Path, facts: ModelFacts, packed: Packed, launch: Launch) -> None:
    """Converts into a scratch folder and renames it; of two at once the first wins."""
    scratch: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".converting-", dir=folder.parent))
        lengths, payload = packed
        child = launch("torch")
        try:
            reply, vectors = child.request(
                {"do": "convert", "folder": str(facts.path.absolute()), "spec": spec_text(facts),
                 "target": str(scratch), "lengths": lengths}, payload, timeout=_CONVERT_S)
        finally:
            child.close()
        (scratch / "reference.f32").write_bytes(vectors)
        manifest = {"format": FORMAT, "openvino": reply.get("version"), "model": facts.name,
                    "weights": facts.weights_sha256, "sha256": {name: sha256(scratch / name) for name in _FILES}}
        (scratch / "manifest.json").write_text(json.dumps(manifest, indent=1), "utf-8")
        if folder.exists() and _read(folder, facts) is None:
            shutil.rmtree(folder, ignore_errors=True)
        try:
            os.rename(scratch, folder)
        except OSError:
            if _read(folder, facts) is None:  # not the other process's finished work but a fault
                raise
    except (OSError, JobError) as error:
        detail = error.detail if isinstance(error, SbertDesktopError) else ""
        reason = error.message if isinstance(error, SbertDesktopError) else str(error.strerror)
        raise EncoderError("backend-failed", f"The model could not be prepared for OpenVINO: {reason}",
                           "See whether the disk is full.", detail=detail) from error
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
