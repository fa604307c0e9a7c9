"""Check my quotes, and the versions of a document."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from sbert_desktop.app.presence import CURRENT, GONE
from sbert_desktop.app.reading import MOST_JOINED, read_text
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import FamilyView, HitView, QuoteView
from sbert_desktop.domain import (
    BlockKind,
    ContentId,
    ExtractedText,
    JobContext,
    PassageRecord,
    SourceFile,
    Vectors,
    display_path,
)
from sbert_desktop.errors import EncoderError, LibraryError, UsageError
from sbert_desktop.explore.quotations import Quotation, find_code, find_quotations
from sbert_desktop.explore.quotes import Source, check_quotations
from sbert_desktop.explore.versions import (
    History,
    Version,
    Words,
    find_candidates,
    in_order,
    is_version,
    read_name,
    sentence_history,
)
from sbert_desktop.explore.wording import Span, Wording

_PLAIN = frozenset({".txt", ".text", ".md", ".markdown", ".mdown", ".rst", ".org", ".adoc"})
"""Read as they stand: their block quotes are lines with ``>`` or an indent, which the stored text does not keep."""
_PLAIN_BYTES = 100_000_000
_NOT_QUOTED = frozenset({BlockKind.CODE, BlockKind.HEADER, BlockKind.FURNITURE})
_SAMPLED = 12
_SAMPLED_WORDS = 8
_FEWEST_SAMPLED = 3
_OWN_SHARE = 0.6
"""A document with so many of the draft's own sentences is a version of the draft, and no source."""
_TEXTS_KEPT = 16
_MAIL = frozenset({"eml", "mbox", "msg", "mail", "emlx"})
"""A reply repeats what it answers, and is no version of it."""
_STRETCH = 400
_VERSION_CHARS = 200_000
"""Characters of a document that are compared with its versions."""


def run_quotes(session: Session, draft: Path | str, context: JobContext) -> tuple[QuoteView, ...]:
    """Finds each quotation of a draft in the library, in the order of the draft.

    Args:
        session: The opened library.
        draft: A file of any kind that is read, or a pasted text.
        context: Told how far it is; asked for a cancel per quotation.

    What of the draft could not be read is a notice of the session.

    Raises:
        UsageError: ``file-missing``, ``not-a-file``, ``no-text`` or ``draft-too-long``.
        ExtractionError: The draft could not be read.
    """
    text, code, set_apart = _draft_text(session, draft)
    quotations = find_quotations(text, leave_out=code, set_apart=set_apart)
    if not quotations:
        return ()
    own = _Own(session, draft, text, quotations)
    space, snapshot = session.space_and_snapshot()

    def step(done: int, total: int) -> None:
        context.check()
        context.progress("Looking for quotations", done, total)

    def encode(texts: Sequence[str]) -> Vectors | None:
        if not len(snapshot.vectors):
            return None
        try:
            encoder = session.encoder()
            return encoder.encode_now(texts) if encoder.info.fingerprint == space else None
        except EncoderError:
            return None  # words have found what they can; or another model was chosen meanwhile

    found = check_quotations(snapshot, quotations, is_own=own.holds, encode=encode, on_step=step)
    return tuple(
        _view(session, own, quotation, source)
        for quotation, source in zip(quotations, found, strict=True)
        if not _is_told(quotation, source, found)
    )


def _is_told(quotation: Quotation, source: Source | None, found: Sequence[Source | None]) -> bool:
    """Tells whether the quotation around this one was found, and speaks for it; not as changed for an exact one."""
    around = None if quotation.within is None else found[quotation.within]
    return around is not None and (around.exact or source is None or not source.exact)


def _draft_text(session: Session, draft: Path | str) -> tuple[str, list[Span], list[Span]]:
    """Gives the draft's text, the stretches of it that are no prose, and those that its form calls quotations."""
    if isinstance(draft, str):
        return draft, [], []
    path = draft.expanduser()
    plain = _plain_text(path)
    if plain is not None:
        return plain, list(find_code(plain, path.suffix.lower())), []
    read, problems = read_text(session, path)
    if len(read.text) >= MOST_JOINED:
        raise UsageError(
            "draft-too-long", f"{display_path(path)} holds more text than can be checked at once.", "Check it in parts."
        )
    for problem in problems:
        session.notice(f"{display_path(path.name)}: {problem.message}")
    if not read.text.strip():
        raise UsageError("no-text", f"There is no text in {display_path(path)}.", "Choose another file.")
    no_prose = [(block.start, block.end) for block in read.blocks if block.kind in _NOT_QUOTED]
    return read.text, no_prose, _set_apart(read)


def _set_apart(read: ExtractedText) -> list[Span]:
    """Gives the block quotes; paragraphs of one, one behind the other, are one."""
    spans: list[Span] = []
    goes_on = False
    for block in read.blocks:
        if block.kind is not BlockKind.QUOTE:
            goes_on = False
            continue
        spans.append((spans.pop()[0] if goes_on else block.start, block.end))
        goes_on = True
    return spans


def _plain_text(path: Path) -> str | None:
    if path.suffix.lower() not in _PLAIN:
        return None
    try:
        if not path.is_file() or path.stat().st_size > _PLAIN_BYTES:
            return None
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None  # the reader finds out which encoding it is, or says what is wrong


def _view(session: Session, own: _Own, quotation: Quotation, source: Source | None) -> QuoteView:
    if source is None:
        return QuoteView(quotation.text, quotation.start, quotation.end, "not found")
    place = _place(session, source.record)
    page = source.record.location.page
    if page is not None:
        page = page_at(own.texts.get(source.record.content_id), source.start) or page
    return QuoteView(
        quotation.text,
        quotation.start,
        quotation.end,
        "exact" if source.exact else "changed",
        path=place.path,
        member=place.member,
        page=page,
        source=source.wording,
        changes=source.changes,
        passage_id=source.record.passage_id,
    )


def _place(session: Session, record: PassageRecord) -> SourceFile:
    """Gives the place of a source that is there as it was read, else the first that is there at all."""
    states = session.presence.states(record.paths[:20], session.roots())
    for wanted in (CURRENT, None):
        for place, state in zip(record.paths, states, strict=False):
            if state == wanted or (wanted is None and state != GONE):
                return place
    return record.paths[0]


def page_at(text: ExtractedText | None, offset: int) -> int | None:
    """Gives the page on which a code point of a document stands, None where there are no pages."""
    page = None
    for block in text.blocks if text is not None else ():
        if block.start > offset:
            break
        page = block.page or page
        for run in block.runs:
            if run.text_start > offset:
                break
            page = run.page
    return page


class _Texts:
    """Stored texts of documents, those read last kept."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kept: OrderedDict[int, ExtractedText | None] = OrderedDict()

    def get(self, content: int) -> ExtractedText | None:
        """Gives a document's text, None when it is gone."""
        if content not in self._kept:
            try:
                self._kept[content] = self._session.library.text_of(ContentId(content))
            except LibraryError:
                self._kept[content] = None
            if len(self._kept) > _TEXTS_KEPT:
                self._kept.popitem(last=False)
        return self._kept[content]


class _Own:
    """Tells the draft itself, and other versions of it, from sources: they hold what the draft says unquoted."""

    def __init__(self, session: Session, draft: Path | str, text: str, quotations: Sequence[Quotation]) -> None:
        self.texts = _Texts(session)
        self._content: int | None = None
        if isinstance(draft, Path):
            self._content = session.library.content_at(Path(os.path.realpath(draft.expanduser())))
        self._sample = _own_sentences(text, quotations)

    def holds(self, content: int) -> bool:
        """Tells whether a content is the draft or a version of it."""
        if content == self._content:
            return True
        if len(self._sample) < _FEWEST_SAMPLED:
            return False
        text = self.texts.get(content)
        if text is None:
            return False
        wording = Wording(text.text)
        said = sum(wording.find(words) is not None for words in self._sample)
        return said >= _OWN_SHARE * len(self._sample)


def _own_sentences(text: str, quotations: Sequence[Quotation]) -> list[list[str]]:
    """Gives the words of some sentences that the draft says itself, from all over it."""
    from sbert_desktop.extraction import sentences

    sample = []
    at = 0
    for quotation in (*quotations, Quotation("", len(text), len(text))):
        between = text[at : max(at, quotation.start)]
        for start, end in sentences(between):
            words = Wording(between[start:end]).words
            if len(words) >= _SAMPLED_WORDS:
                sample.append(words)
        at = max(at, quotation.end)
    step = max(1, len(sample) // _SAMPLED)
    return sample[::step][:_SAMPLED]


# ---------------------------------------------------------------- versions


def run_family(session: Session, hit: HitView) -> FamilyView | None:
    """Finds the versions of a hit's document, and what became of its best sentence; None if there is one only.

    ``place`` of the answer numbers the hit's own document in ``paths``, from 0. Quick enough to be asked whenever
    a hit is opened.
    """
    sentence, subject = hit.text, "this passage"
    if hit.best_sentence is not None:
        sentence, subject = hit.text[hit.best_sentence[0] : hit.best_sentence[1]], "this sentence"
    return _family(session, hit.content_id, SourceFile(hit.path, 0, 0, member=hit.member), sentence, subject)


def run_versions(session: Session, path: Path) -> FamilyView | None:
    """Finds the versions of a file of the library; None if there is one only.

    Raises:
        UsageError: ``not-in-library``.
    """
    real = Path(os.path.realpath(path.expanduser()))
    content = session.library.content_at(real)
    if content is None:
        raise UsageError(
            "not-in-library", f"{display_path(path)} is not in the library.", "Add its folder, or bring it up to date."
        )
    return _family(session, content, SourceFile(real, 0, 0), "", "")


def _family(session: Session, content: int, at: SourceFile, sentence: str, subject: str) -> FamilyView | None:
    texts = _Texts(session)
    own = texts.get(content)
    if own is None or own.format in _MAIL:
        return None
    snapshot = session.snapshot()
    size = len(own.text)
    stretches = [own.text[start : start + _STRETCH] for start in range(0, size, max(_STRETCH, size // 4))]
    places = session.library.paths_of(ContentId(content))
    mine = _version(content, next((p for p in places if (p.path, p.member) == (at.path, at.member)), at), own)
    paths = {content: at.path}
    versions = []
    for candidate in find_candidates(snapshot, content, stretches):
        text = texts.get(candidate)
        place = _there(session, candidate) if text is not None and text.format not in _MAIL else None
        if text is None or place is None:
            continue
        other = _version(candidate, place, text)
        if is_version(mine, other):
            versions.append(other)
            paths[candidate] = place.path
    if not versions:
        return None
    ordered = in_order([mine, *versions])
    number = next(number for number, version in enumerate(ordered) if version.content == content)
    words = _family_words(ordered, number, sentence, subject)
    return FamilyView(tuple(paths[version.content] for version in ordered), number, words)


def _version(content: int, place: SourceFile, text: ExtractedText) -> Version:
    name = place.member.rsplit("/", 1)[-1] if place.member else display_path(place.path.name)
    return Version(content, name, text.date, place.mtime_ns / 1e9, Words(text.text[:_VERSION_CHARS]))


def _there(session: Session, content: int) -> SourceFile | None:
    """Gives the first place of a document that is not gone from the disk."""
    places = session.library.paths_of(ContentId(content))[:8]
    states = session.presence.states(places, session.roots())
    return next((place for place, state in zip(places, states, strict=True) if state != GONE), None)


def _family_words(versions: Sequence[Version], place: int, sentence: str, subject: str) -> str:
    """Says in words which version this is, and what became of its sentence."""
    count = len(versions)
    if place == count - 1:
        said = [f"newest of {count}"]
    else:
        which = "oldest" if place == 0 else f"version {place + 1}"
        said = [f"{which} of {count}", f"the newest is “{versions[-1].name}”"]
    history = sentence_history(versions, place, sentence)
    if history is not None:
        said.append(_history_words(versions, history, subject))
    return "; ".join(said)


def _history_words(versions: Sequence[Version], history: History, subject: str) -> str:
    began = {"same": "", "changed": f"{subject} changed in ", "new": f"{subject} is new in "}[history.kind]
    since = began + _label(versions, history.since) if began else ""
    if history.until is None:
        return since or f"{subject} is the same in all"
    changed = "changed again in " if history.kind == "changed" else "changed in "
    ended = ("was left out in " if history.gone else changed) + _label(versions, history.until)
    return f"{since} and {ended}" if since else f"{subject} {ended}"


def _label(versions: Sequence[Version], number: int) -> str:
    """Calls a version by what its name says of it (``draft 3``), else by its whole name."""
    labels = [read_name(version.name).label for version in versions]
    label = labels[number]
    return label if label and labels.count(label) == 1 else f"“{versions[number].name}”"
