"""Whether the library has a file already: its bytes, its words, another version of it, or something like it."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sbert_desktop.app.copies import hash_of, read_hash
from sbert_desktop.app.duplicate_views import HaveView
from sbert_desktop.app.reading import read_file
from sbert_desktop.app.rules import is_online_only
from sbert_desktop.app.session import Session
from sbert_desktop.cleanup import NEAR_THRESHOLD, DuplicateKind
from sbert_desktop.domain import ContentId, ExtractedText, JobContext, Snapshot, SourceFile, display_path
from sbert_desktop.errors import EncoderError, ExtractionError, LibraryError, UsageError
from sbert_desktop.explore.comparable import Comparable
from sbert_desktop.explore.families import FamilyMember, read_family
from sbert_desktop.explore.relations import Verdict, relate
from sbert_desktop.library import CopyRecord
from sbert_desktop.platform import is_in_trash

_STRETCH = 800  # characters of the file that are searched by at a time
_STRETCHES = 8
_NEIGHBOURS = 40  # passages looked at for each
_COMPARED = 24  # documents whose texts are compared
_SIMILAR = 0.6
"""Cosine from which a document is called similar; unrelated ones rarely reach it."""
_SHOWN = 8

Near = list[tuple[int, float]]


def run_have(session: Session, path: Path, context: JobContext) -> HaveView:
    """Tells whether the library has a file: its bytes, its words, another version, something like it, or nothing.

    Raises:
        UsageError: ``file-missing``, ``not-a-file`` or ``file-unreadable``.
    """
    path = Path(os.path.realpath(path.expanduser()))
    try:
        mine = os.stat(path)
    except (OSError, ValueError):
        raise UsageError("file-missing", f"{display_path(path)} is not there.", "Choose a file.") from None
    if not stat.S_ISREG(mine.st_mode):
        raise UsageError("not-a-file", f"{display_path(path)} is not a file.", "Choose a file.")
    if is_online_only(mine):
        raise UsageError("file-missing", f"{display_path(path)} is only in the cloud.", "Have it fetched first.")
    context.progress("Reading the file", 0, None)
    digest = read_hash(path, context.check)
    if not digest:
        raise UsageError("file-unreadable", f"{display_path(path)} cannot be read.", "Check whether you may read it.")
    same, gone = _equal_files(session, mine, digest, context)
    if same:
        words = f"You have this file already: {_named(same)}."
        return HaveView(path, "identical", words, _files(same, 1.0), same[0].path.parent)
    if gone is not None:
        words = f"You had this file at {display_path(gone)}, but it is not there any more, or changed."
        return HaveView(path, "new", words)
    try:
        text = read_file(session, path)
    except (ExtractionError, UsageError):
        return HaveView(path, "new", "No file of the library has the same bytes; its text cannot be read.")
    return _by_text(session, path, text, context)


def _equal_files(
    session: Session, mine: os.stat_result, digest: str, context: JobContext
) -> tuple[list[SourceFile], Path | None]:
    """Gives the files and members with these bytes that are there now, and one that should be and is not.

    Somebody may delete the file in their hands because of this answer: the first one is read in full again.
    """
    equal: list[SourceFile] = []
    gone: Path | None = None
    away = session.presence.away(session.roots())
    for record in session.library.copies():
        if not record.member and (record.size != mine.st_size or mine.st_size == 0):
            continue
        place = Path(os.fsdecode(record.path))
        if record.sha256 or record.member:
            known = record.sha256
        else:
            known = hash_of(session, record, context.check) if _stands(record) else ""
        if known != digest or _is_same_file(place, mine):
            continue
        stands = record.folder not in away and _stands(record)
        if not stands or not (equal or record.member or read_hash(place, context.check) == digest):
            gone = place
            continue
        equal.append(SourceFile(place, record.size, record.mtime_ns, member=record.member))
    equal.sort(key=lambda one: (bool(one.member), len(one.path.parts)))
    return equal, gone


def _is_same_file(path: Path, mine: os.stat_result) -> bool:
    """Says whether a path leads to the very file that is asked about, or to a hard link of it."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == (mine.st_dev, mine.st_ino)


def _stands(record: CopyRecord) -> bool:
    """Says whether a file (or what it is in) is there as it was read."""
    try:
        status = os.lstat(record.path)
    except OSError:
        return False
    if not stat.S_ISREG(status.st_mode) or is_online_only(status) or is_in_trash(Path(os.fsdecode(record.path))):
        return False
    return bool(record.member) or (status.st_size, status.st_mtime_ns) == (record.size, record.mtime_ns)


def _by_text(session: Session, path: Path, text: ExtractedText, context: JobContext) -> HaveView:
    space, snapshot = session.space_and_snapshot()
    near = _near(session, space, snapshot, text, context)
    mine = Comparable(text.text, text.blocks, format=text.format)
    verdicts: list[tuple[int, Verdict]] = []
    for content, _ in near[:_COMPARED]:
        context.check()
        try:
            other = session.library.text_of(ContentId(content))
        except LibraryError:
            continue
        verdict = relate(mine, Comparable(other.text, other.blocks, format=other.format))
        if verdict is not None:
            verdicts.append((content, verdict))
    verdicts.sort(key=lambda one: (one[1].kind.rank, -one[1].similarity))
    if verdicts:
        return _alike(session, path, text, verdicts, near)
    like = [(content, cosine) for content, cosine in near if cosine >= _SIMILAR]
    folder = _folder_of(session, near)
    if not like:
        return HaveView(path, "new", "Nothing in the library is like it.", (), folder)
    files = _listed(session, like)
    return HaveView(path, "similar", f"You do not have it; the nearest is {files[0][0].name}.", files, folder)


def _alike(
    session: Session, path: Path, text: ExtractedText, verdicts: Sequence[tuple[int, Verdict]], near: Near
) -> HaveView:
    """Says what the best of the documents that share its words is to it."""
    content, best = verdicts[0]
    files = _listed(session, [(one, verdict.similarity) for one, verdict in verdicts])
    folder = _folder_of(session, [(one, verdict.similarity) for one, verdict in verdicts] or near)
    if not files:
        return HaveView(path, "new", "What was like it is gone meanwhile.", (), folder)
    name = display_path(files[0][0].name)
    if best.kind in (DuplicateKind.TEXT, DuplicateKind.FORMAT):
        what = "in another format" if best.kind is DuplicateKind.FORMAT else "with the same words"
        return HaveView(path, "same text", f"You have it {what}: {name}.", files, folder)
    if best.kind is DuplicateKind.NUMBERS:
        return HaveView(path, "similar", f"It differs from {name} in numbers or dates only.", files, folder)
    age = _age(session, path, text, content)
    if age and best.similarity >= NEAR_THRESHOLD:
        older = "an older version of" if age == "older version" else "a newer version of"
        return HaveView(path, age, f"It is {older} {name}, which you have.", files, folder)
    share = round(100 * best.similarity)
    return HaveView(path, "similar", f"It shares {share} % of its words with {name}.", files, folder)


def _age(session: Session, path: Path, text: ExtractedText, content: int) -> str:
    """Says whether the file is newer or older than a document, by name or date; ``""`` where nothing tells."""
    places = session.library.paths_of(ContentId(content))
    if not places:
        return ""
    other = session.library.text_of(ContentId(content))
    place = places[0]
    name = place.member.rsplit("/", 1)[-1] if place.member else place.path.name
    family = read_family(
        [
            FamilyMember(path.name, text.date, path.stat().st_mtime),
            FamilyMember(name, other.date, place.mtime_ns / 1e9),
        ]
    )
    if family is None:
        return ""
    return "newer version" if family.newest == 0 else "older version"


def _near(session: Session, space: str, snapshot: Snapshot, text: ExtractedText, context: JobContext) -> Near:
    """Gives documents near to stretches from all over the text, nearest first, by meaning or else by words."""
    size = len(text.text)
    step = max(_STRETCH, size // _STRETCHES)
    stretches = [part for start in range(0, size, step) if (part := text.text[start : start + _STRETCH]).strip()]
    best: dict[int, list[float]] = {}
    vectors = None
    if len(snapshot.vectors) and stretches:
        try:
            encoder = session.encoder()
            if encoder.info.fingerprint == space:
                context.progress("Comparing", 0, None)
                vectors = encoder.encode_now(stretches)
        except EncoderError:
            pass  # words find what they can
    if vectors is not None:
        for number, row in enumerate(vectors):
            context.check()
            cosines = np.where(snapshot.alive, snapshot.vectors @ row, -1.0)
            for place in np.argsort(-cosines)[:_NEIGHBOURS].tolist():
                sums = best.setdefault(int(snapshot.contents[place]), [0.0] * len(stretches))
                sums[number] = max(sums[number], float(cosines[place]))
    else:
        for number, stretch in enumerate(stretches):
            _, scores, contents = snapshot.keyword(stretch, None, _NEIGHBOURS)
            for score, content in zip(scores.tolist(), contents.tolist(), strict=True):
                sums = best.setdefault(content, [0.0] * len(stretches))
                sums[number] = max(sums[number], min(1.0, score / max(1.0, float(scores.max()))))
    found = [(content, float(np.mean(values))) for content, values in best.items() if content >= 0]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _listed(session: Session, contents: Sequence[tuple[int, float]]) -> tuple[tuple[Path, str, float], ...]:
    found = []
    for content, similarity in contents[:_SHOWN]:
        places = session.library.paths_of(ContentId(content))
        if places:
            found.append((places[0].path, places[0].member, similarity))
    return tuple(found)


def _files(places: Sequence[SourceFile], similarity: float) -> tuple[tuple[Path, str, float], ...]:
    return tuple((place.path, place.member, similarity) for place in places[:_SHOWN])


def _named(places: Sequence[SourceFile]) -> str:
    name = display_path(places[0].path)
    return name if len(places) == 1 else f"{name} and {len(places) - 1} more"


def _folder_of(session: Session, near: Near) -> Path | None:
    """Gives the folder that most of the nearest documents lie in."""
    folders = Counter(path.parent for path, _, _ in _listed(session, near))
    return folders.most_common(1)[0][0] if folders else None
