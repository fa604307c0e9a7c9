"""Before a folder is added: how many files, how long, how much disk, and can the model read it.

A few seconds are spent on a sample of the real files on this machine: they are read, cut and, as
far as time allows, encoded. Everything else is that measurement scaled up; the answer is a range.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sbert_desktop.app.index_scope import checked_folder
from sbert_desktop.app.rules import Rules
from sbert_desktop.app.scanning import scan
from sbert_desktop.app.session import Session, cores
from sbert_desktop.app.views import Estimate, UnreadLanguage
from sbert_desktop.domain import Encoder, ExtractedText, JobContext, Listing, Passage, SourceFile, short_path
from sbert_desktop.errors import EncoderError, SbertDesktopError, UsageError

_SAMPLE_FILES = 96
_READ_SECONDS = 2.5
_ENCODE_SECONDS = 1.5
_UNREAD_SHARE = 0.05
_VECTOR_BYTES = 4
_TEXT_SHARE, _WORDS_SHARE = 0.55, 0.95
"""Bytes in the catalog per character: compressed text with blocks; passages and word index.
Source: tests/benchmarks/estimate.py over BBC news and the tour."""
_INDEX_BYTES = 160
"""Bytes per passage that hnswlib adds to the vector it copies (M = 16)."""
_STORE_SECONDS = 0.0006
"""Seconds of one core that storing one passage takes (word index, commit)."""

LANGUAGE_NAMES = {
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "pl": "Polish",
    "ru": "Russian",
    "uk": "Ukrainian",
    "zh": "Chinese",
    "ja": "Japanese",
    "ko": "Korean",
    "ar": "Arabic",
    "he": "Hebrew",
    "tr": "Turkish",
    "sv": "Swedish",
    "da": "Danish",
    "no": "Norwegian",
    "nb": "Norwegian",
    "fi": "Finnish",
    "cs": "Czech",
    "el": "Greek",
    "hu": "Hungarian",
    "ro": "Romanian",
    "th": "Thai",
    "vi": "Vietnamese",
    "hi": "Hindi",
    "en": "English",
}


@dataclass(slots=True)
class _Stratum:
    """Files of one suffix: all of them, and what the sample of them gave."""

    files: list[SourceFile] = field(default_factory=list)
    bytes: int = 0
    read_bytes: int = 0
    read_files: int = 0
    read_ok: int = 0
    chars: int = 0
    passages: int = 0


def run_estimate(session: Session, folders: Sequence[Path], context: JobContext) -> Estimate:
    """Measures for a few seconds and scales up.

    Raises:
        UsageError: A folder is missing, is a file, cannot be read, or is already in the library.
    """
    session.start_encoder()
    roots = [checked_folder(path) for path in folders]
    _refuse_known(session, roots)
    strata: dict[str, _Stratum] = defaultdict(_Stratum)
    total_files = total_bytes = 0
    for root in roots:
        found = scan(root, context, rules=Rules.of(session.settings), skip=(session.library_path,))
        for file in found.files.values():
            stratum = strata[file.path.suffix.lower()]
            stratum.files.append(file)
            stratum.bytes += file.size
            total_files += 1
            total_bytes += file.size
    free = shutil.disk_usage(_existing(session.library_path)).free
    if not total_files:
        return Estimate(tuple(roots), 0, 0, (0.0, 0.0), (0, 0), (0.0, 0.0), free_disk=free)
    encoder = _encoder(session)
    texts, languages, seconds_per_byte = _read_sample(session, strata, encoder, context)
    chars, passages = _scaled(strata)
    read_seconds = seconds_per_byte * total_bytes + passages * _STORE_SECONDS
    chars_per_second = _encode_sample(encoder, texts, context) if encoder is not None else 0.0
    encode_seconds = chars / chars_per_second if chars_per_second else 0.0
    words = read_seconds
    total = max(read_seconds, encode_seconds) + 0.5 * min(read_seconds, encode_seconds)
    dimension = encoder.info.dimension if encoder is not None else 384
    indexed = passages >= session.settings.number("advanced.index_from")
    disk = chars * (_TEXT_SHARE + _WORDS_SHARE) + passages * dimension * _VECTOR_BYTES
    if indexed:
        disk += passages * (dimension * _VECTOR_BYTES + _INDEX_BYTES)
    return Estimate(
        paths=tuple(roots),
        files=total_files,
        bytes=total_bytes,
        seconds=(total / 1.4, total * 1.4),
        disk=(int(disk / 1.3), int(disk * 1.3)),
        words_seconds=(words / 1.4, words * 1.4),
        unread=_unread(encoder, languages, total_files),
        free_disk=free,
        problem="There is not enough room on the disk of the library." if disk * 1.3 > free else "",
    )


def _refuse_known(session: Session, roots: Sequence[Path]) -> None:
    own = Path(os.path.realpath(session.library_path))
    active = [Path(os.path.realpath(record.path)) for record in session.library.folders() if record.state == "active"]
    for root in roots:
        if root.is_relative_to(own):
            raise UsageError(
                "folder-is-library", f"{short_path(root)} is the library itself.", "Choose another folder."
            )
        for known in active:
            if root == known:
                raise UsageError(
                    "folder-known", f"{short_path(root)} is already in the library.", "Check for changes instead."
                )
            if root.is_relative_to(known):
                raise UsageError(
                    "folder-nested",
                    f"{short_path(root)} lies inside {short_path(known)}, which is in the library already.",
                    "Its files are found there. Nothing needs to be added.",
                )
            if known.is_relative_to(root):
                raise UsageError(
                    "folder-nested",
                    f"{short_path(root)} holds {short_path(known)}, which is in the library already.",
                    "Remove that folder from the library first, then add this one.",
                )


def _existing(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _encoder(session: Session) -> Encoder | None:
    try:
        return session.encoder()
    except EncoderError:
        return None


def _read_sample(
    session: Session, strata: dict[str, _Stratum], encoder: Encoder | None, context: JobContext
) -> tuple[list[str], Counter[str], float]:
    """Reads files drawn by bytes and by count; gives passages' inputs, languages, seconds per byte."""
    from sbert_desktop.extraction import split

    chosen = _draw(strata)
    texts: list[str] = []
    languages: Counter[str] = Counter()
    pool = session.extraction_pool(cores())
    read_bytes = 0
    sizes = {file.path: file.size for file in chosen}
    began: float | None = None
    spent = 0.0
    try:
        for file, outcome in pool.results(chosen, context):
            context.check()
            now = time.monotonic()
            if began is None:
                began = now  # The first answer carries the start of the children.
            stratum = strata[file.path.suffix.lower()]
            if isinstance(outcome, Listing):
                outcome = outcome.document
            if not file.member:
                size = sizes.get(file.path, 0)
                stratum.read_files += 1
                stratum.read_bytes += size
                read_bytes += size
            if isinstance(outcome, ExtractedText):
                passages = _cut(session, encoder, outcome, split)
                stratum.read_ok += 1
                stratum.chars += len(outcome.text)
                stratum.passages += len(passages)
                texts += [passage.encoder_input() for passage in passages[:12]]
                languages[outcome.language] += 1
            spent = now - began
            if spent > _READ_SECONDS:
                break
    except SbertDesktopError:
        pass
    finally:
        pool.close()
    return texts, languages, spent / read_bytes if read_bytes else 0.0


def _cut(session: Session, encoder: Encoder | None, text: ExtractedText, split) -> list[Passage]:  # type: ignore[no-untyped-def]
    if encoder is None:
        return []
    return [p for p in split(text, session.rules(encoder), encoder.tokenizer) if p.embedded]


def _draw(strata: dict[str, _Stratum]) -> list[SourceFile]:
    """Draws files of every suffix, more where there are more bytes, the same ones every time."""
    rng = random.Random(7)
    total = sum(stratum.bytes for stratum in strata.values()) or 1
    chosen: list[SourceFile] = []
    for stratum in strata.values():
        count = max(2, round(_SAMPLE_FILES * stratum.bytes / total))
        chosen += rng.sample(stratum.files, min(count, len(stratum.files)))
    rng.shuffle(chosen)
    return chosen


def _scaled(strata: dict[str, _Stratum]) -> tuple[float, float]:
    """Scales characters and passages from the sample to all files, suffix by suffix."""
    chars = passages = 0.0
    read = [s for s in strata.values() if s.read_bytes]
    all_bytes = sum(s.read_bytes for s in read) or 1
    mean_chars = sum(s.chars for s in read) / all_bytes
    mean_passages = sum(s.passages for s in read) / all_bytes
    for stratum in strata.values():
        if stratum.read_bytes:
            chars += stratum.bytes * stratum.chars / stratum.read_bytes
            passages += stratum.bytes * stratum.passages / stratum.read_bytes
        elif not stratum.read_files:
            chars += stratum.bytes * mean_chars
            passages += stratum.bytes * mean_passages
    return chars, passages


def _encode_sample(encoder: Encoder, texts: list[str], context: JobContext) -> float:
    """Encodes sampled passages for a moment; gives characters per second."""
    if not texts:
        return 0.0
    rng = random.Random(11)
    rng.shuffle(texts)
    encoder.encode_passages(texts[:2])  # Compilation of shapes is not part of the speed.
    chars = 0
    began = time.monotonic()
    for start in range(0, len(texts), 16):
        context.check()
        part = texts[start : start + 16]
        encoder.encode_passages(part, context)
        chars += sum(len(text) for text in part)
        if time.monotonic() - began > _ENCODE_SECONDS:
            break
    return chars / max(1e-6, time.monotonic() - began)


def _unread(encoder: Encoder | None, languages: Counter[str], files: int) -> tuple[UnreadLanguage, ...]:
    read = set(encoder.info.languages) if encoder is not None else set()
    known = sum(count for code, count in languages.items() if code)
    if not read or not known:
        return ()
    sampled = sum(languages.values())
    out = []
    for code, count in languages.most_common():
        if code and code not in read and count / known >= _UNREAD_SHARE:
            out.append(UnreadLanguage(code, LANGUAGE_NAMES.get(code, code), round(files * count / sampled)))
    return tuple(out)
