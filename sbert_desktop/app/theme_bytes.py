"""Themes as bytes, as the library keeps them."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import fields
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import ClusterRequest, Curve, Keyword, Method
from sbert_desktop.app.themes import ARRAYS, KEY, ThemeRecord, Themes

_MAGIC, _VERSION = b"SBDTHEME", 1
_HEAD = struct.Struct("<8sHIII")


def pack(themes: Themes) -> bytes:
    """Gives a state as bytes: a head with checksum, JSON, the arrays one after the other."""
    curve = themes.curve
    header = {
        "n": len(themes),
        "themes": [
            {**{f.name: getattr(theme, f.name) for f in fields(theme) if f.name != "keywords"},
             "keywords": [[k.text, k.weight, k.share, k.elsewhere] for k in theme.keywords]}
            for theme in themes.themes
        ],
        "request": {f.name: getattr(themes.request, f.name) for f in fields(themes.request)},
        "strictness": themes.strictness,
        "silhouette": themes.silhouette,
        "curve": None if curve is None else {
            "counts": curve.counts.tolist(), "silhouettes": curve.silhouettes.tolist(),
            "losses": curve.losses.tolist(), "by_silhouette": curve.by_silhouette, "by_elbow": curve.by_elbow,
        },
        "note": themes.note,
        "generation": themes.generation,
        "next_id": themes.next_id,
    }  # fmt: skip
    text = json.dumps(header, ensure_ascii=True, sort_keys=True).encode("ascii")
    whole = b"".join([text, *(np.ascontiguousarray(getattr(themes, name)).tobytes() for name in ARRAYS)])
    body = zlib.compress(whole, 1)  # a library takes 64 MB of it at most: hashes in hex halve
    return _HEAD.pack(_MAGIC, _VERSION, len(text), len(body), zlib.crc32(body)) + body


def unpack(data: bytes | None) -> Themes | None:
    """Gives the state that bytes hold; None for none, damaged ones and those of a newer version."""
    try:
        if not data:
            return None
        magic, version, length, whole, check = _HEAD.unpack_from(data)
        body = data[_HEAD.size :]
        if magic != _MAGIC or version != _VERSION or len(body) != whole or zlib.crc32(body) != check:
            return None
        plain = zlib.decompress(body)
        return _checked(_unpacked(json.loads(plain[:length]), plain, length))
    except (ValueError, KeyError, TypeError, struct.error, zlib.error, AttributeError, OverflowError):
        return None


def is_newer(data: bytes | None) -> bool:
    """Says whether bytes are themes that a newer version of the program keeps: those are not to be written over."""
    return data is not None and data[:8] == _MAGIC and int.from_bytes(data[8:10], "little") > _VERSION


def same(one: Themes, other: Themes) -> bool:
    """Says whether two states are equal, bit for bit."""
    return pack(one) == pack(other)


def _unpacked(header: dict[str, object], body: bytes, at: int) -> Themes:
    count = cast(int, header["n"])
    types = (np.dtype(KEY), np.dtype("<i4"), np.dtype("<f4"), *[np.dtype(bool)] * 4)
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, type_ in zip(ARRAYS, types, strict=True):
        arrays[name] = np.frombuffer(body, type_, count, at)
        at += count * type_.itemsize
    records = []
    for one in cast("list[dict[str, object]]", header["themes"]):
        words = tuple(Keyword(*word) for word in cast("list[tuple[str, float, float, float]]", one["keywords"]))
        records.append(ThemeRecord(**{**one, "keywords": words}))  # type: ignore[arg-type]
    asked = cast("dict[str, object]", header["request"])
    request = ClusterRequest(**{**asked, "method": Method(cast(str, asked["method"]))})  # type: ignore[arg-type]
    drawn = cast("dict[str, object] | None", header["curve"])
    curve = None
    if drawn is not None:
        curve = Curve(
            np.array(drawn["counts"], np.int32), np.array(drawn["silhouettes"], np.float64),
            np.array(drawn["losses"], np.float64), cast(int, drawn["by_silhouette"]), cast(int, drawn["by_elbow"]),
        )  # fmt: skip
    return Themes(
        **arrays,  # type: ignore[arg-type]
        themes=tuple(records),
        request=request,
        strictness=float(cast(float, header["strictness"])),
        silhouette=float(cast(float, header["silhouette"])),
        curve=curve,
        note=str(header["note"]),
        generation=int(cast(int, header["generation"])),
        next_id=int(cast(int, header["next_id"])),
    )


def _checked(themes: Themes) -> Themes | None:
    """Gives the state if it is one: bytes with a right checksum may still be another program's."""
    ids = [theme.id for theme in themes.themes]
    lost = themes.nearest < 0
    sound = (
        len(set(ids)) == len(ids)
        and all(isinstance(theme.label, str) and theme.label for theme in themes.themes)
        and bool(np.all(themes.keys[1:] > themes.keys[:-1]))
        and bool(np.all((themes.nearest >= -1) & (themes.nearest < max(1, len(ids)))))
        and (bool(ids) or bool(lost.all()))
        and bool(np.all(themes.outside[lost] & themes.by_hand[lost]))
    )
    return themes if sound else None
