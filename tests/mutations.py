"""Six ways to damage a file, seeded: what disks, networks and foreign programs do to documents."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable, Sequence


def flip(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """Flips one to 64 bits anywhere."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 64)):
        at = rng.randrange(len(out))
        out[at] ^= 1 << rng.randrange(8)
    return bytes(out)


def truncate(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """Cuts the end off."""
    return data[: rng.randrange(len(data))]


def splice(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """Goes on in the middle with the middle of another file."""
    other = rng.choice(others)
    return data[: rng.randrange(len(data))] + other[rng.randrange(max(1, len(other))) :]


def repeat(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """Writes a stretch of itself many times over."""
    start = rng.randrange(len(data))
    piece = data[start : start + rng.randint(1, 4096)]
    return data[:start] + piece * rng.randint(2, 200) + data[start:]


def header(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """Scrambles the first bytes, where formats keep their sizes and offsets."""
    size = min(len(data), rng.randint(4, 512))
    out = bytearray(data)
    for _ in range(rng.randint(1, 16)):
        out[rng.randrange(size)] = rng.choice((0, 255, 127, 128, rng.randrange(256)))
    return bytes(out)


def inside_zip(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """Damages a member of a ZIP container and packs it again, or swaps two members' contents."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(info, archive.read(info)) for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError):
        return flip(data, others, rng)
    if not members:
        return flip(data, others, rng)
    at = rng.randrange(len(members))
    if len(members) > 1 and rng.random() < 0.3:
        other = rng.randrange(len(members))
        (one, first), (two, second) = members[at], members[other]
        members[at], members[other] = (one, second), (two, first)
    elif members[at][1]:
        damage = rng.choice((flip, truncate, repeat, header))
        members[at] = (members[at][0], damage(members[at][1], others, rng))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in members:
            archive.writestr(info.filename, content)
    return out.getvalue()


MUTATORS: tuple[Callable[[bytes, Sequence[bytes], random.Random], bytes], ...] = (
    flip,
    truncate,
    splice,
    repeat,
    header,
    inside_zip,
)
