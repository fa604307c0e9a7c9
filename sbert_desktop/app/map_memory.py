"""What a map is between two looks at it: where each document (or passage) lies, kept among the library's layouts.

Positions belong to content ids (or passage ids); a document that was read again has another id and is known by the
sha256 of its bytes. What is not there at the moment keeps its place until the next write after it is gone for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import LayoutRules, MapRequest, MapUnit

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session

_VERSION = 1
_NAMES = {MapUnit.DOCUMENTS: "map-documents", MapUnit.PASSAGES: "map-passages"}
_FEW = 300
"""Documents whose sha256 is asked for one by one; for more all files are listed at once."""
_SHA = 32


@dataclass(frozen=True, slots=True)
class Kept:
    """A map as it is kept.

    Attributes:
        method: ``umap`` or ``pca``.
        rules: It was laid out by.
        fingerprint: Of the encoder then.
        positions: float32 [points, 2].
        fresh: Bool [points]: placed since.
        ids: int64 [members]: contents, or passages.
        points: int32 [members]: the point of each.
        shas: uint8 [members, 32], of documents; [0, 32] on a map of passages.
        laid: Members when it was laid out.
        quality: A word, "" where it was not measured.
        sentence: What that says.
        trustworthiness: 0-1.
        overlap: 0-1.
        seconds: It took.
    """

    method: str
    rules: LayoutRules
    fingerprint: str
    positions: NDArray[np.float32]
    fresh: NDArray[np.bool_]
    ids: NDArray[np.int64]
    points: NDArray[np.int32]
    shas: NDArray[np.uint8]
    laid: int
    quality: str = ""
    sentence: str = ""
    trustworthiness: float = 0.0
    overlap: float = 0.0
    seconds: float = 0.0


def read(session: Session, unit: MapUnit) -> Kept | None:
    """Gives the map that is kept, or None."""
    stored = session.library.layouts.get(_NAMES[unit])
    if stored is None:
        return None
    meta, arrays = stored
    if meta.get("version") != _VERSION:
        return None
    try:
        kept = Kept(
            method=str(meta["method"]),
            rules=LayoutRules(**cast("dict[str, float]", meta["rules"])),  # type: ignore[arg-type]
            fingerprint=str(meta["fingerprint"]),
            positions=cast("NDArray[np.float32]", arrays["positions"]),
            fresh=cast("NDArray[np.bool_]", arrays["fresh"]),
            ids=cast("NDArray[np.int64]", arrays["ids"]),
            points=cast("NDArray[np.int32]", arrays["points"]),
            shas=cast("NDArray[np.uint8]", arrays["shas"]),
            laid=int(cast("int", meta["laid"])),
            quality=str(meta["quality"]),
            sentence=str(meta["sentence"]),
            **{name: float(cast("float", meta[name])) for name in ("trustworthiness", "overlap", "seconds")},
        )
    except (KeyError, TypeError, ValueError):
        return None
    return kept if _is_sound(kept) else None


def _is_sound(kept: Kept) -> bool:
    points, members = len(kept.positions), len(kept.ids)
    return (
        kept.positions.shape == (points, 2)
        and kept.fresh.shape == (points,)
        and kept.points.shape == (members,)
        and kept.shas.shape in ((members, _SHA), (0, _SHA))
        and bool(np.isfinite(kept.positions).all())
        and (not members or (int(kept.points.min()) >= 0 and int(kept.points.max()) < points))
    )


def write(session: Session, unit: MapUnit, kept: Kept) -> None:
    """Keeps a map; without effect where nothing may be written."""
    meta = {
        "version": _VERSION,
        "method": kept.method,
        "rules": asdict(kept.rules),
        "fingerprint": kept.fingerprint,
        "laid": kept.laid,
        "quality": kept.quality,
        "sentence": kept.sentence,
        "trustworthiness": kept.trustworthiness,
        "overlap": kept.overlap,
        "seconds": kept.seconds,
    }
    arrays: dict[str, NDArray[np.generic]] = {
        "positions": kept.positions, "fresh": kept.fresh, "ids": kept.ids, "points": kept.points, "shas": kept.shas,
    }  # fmt: skip
    session.library.layouts.put(_NAMES[unit], meta, arrays)


def stored_request(session: Session, unit: MapUnit) -> MapRequest | None:
    """Gives what the map that is kept was laid out by; None where there is none."""
    kept = read(session, unit)
    return None if kept is None else MapRequest(unit, False, kept.method, kept.rules)


def hashes(session: Session, contents: Sequence[int]) -> NDArray[np.uint8]:
    """Gives the sha256 of documents, uint8 [n, 32]; zeros where it is not known."""
    found = np.zeros((len(contents), _SHA), np.uint8)
    if len(contents) <= _FEW:
        known = {content: session.library.sha256_of(content) for content in contents}
    else:
        known = {record.content: record.sha256 for record in session.library.copies()}
    for row, content in enumerate(contents):
        sha256 = known.get(content, "")
        if len(sha256) == 2 * _SHA:
            found[row] = np.frombuffer(bytes.fromhex(sha256), np.uint8)
    return found


def by_hash(kept: Kept) -> dict[bytes, int]:
    """Gives the point of each sha256 that is known."""
    if not len(kept.shas):
        return {}
    found = {sha.tobytes(): int(point) for sha, point in zip(kept.shas, kept.points, strict=True)}
    found.pop(bytes(_SHA), None)
    return found
