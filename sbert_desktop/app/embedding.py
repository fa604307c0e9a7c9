"""The model's share of an indexing run: texts cut for it, passages encoded, the accelerator built."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sbert_desktop.app.reporting import Reporter
from sbert_desktop.app.session import Session
from sbert_desktop.domain import (
    ContentId,
    Encoder,
    EncoderInfo,
    ExtractedText,
    JobContext,
    Passage,
    PassageId,
    SplitRules,
    Tokenizer,
    Vectors,
)
from sbert_desktop.errors import EncoderError, LibraryError

if TYPE_CHECKING:
    from sbert_desktop.library import Library, PendingDocument, Writer

_ENCODE_CHARS_WINDOW = 24_000
_ENCODE_CHARS_CONSOLE = 160_000
_WORDS_ONLY_TOKENS = 254
WORDS_ONLY = EncoderInfo("words-only", "words only", 1, 256, "none", "none", "none", "none")
"""Stands for the encoder while there is no model: its space never gets a vector."""


@dataclass(frozen=True, slots=True)
class Cutter:
    """The encoder in force as far as texts are cut for it."""

    info: EncoderInfo
    tokenizer: Tokenizer
    rules: SplitRules

    def split(self, text: ExtractedText) -> list[Passage]:
        """Cuts a text by the rules in force."""
        from sbert_desktop.extraction import split

        return split(text, self.rules, self.tokenizer)

    def use(self, writer: Writer) -> None:
        """Makes the encoder's space the one that new passages go to."""
        writer.use_space(self.info, self.tokenizer.key, self.rules)


def cutter_of(session: Session, encoder: Encoder | None) -> Cutter:
    """Gives the cutter of an encoder; without one, texts are cut for words only."""
    if encoder is not None:
        return Cutter(encoder.info, encoder.tokenizer, session.rules(encoder))
    from sbert_desktop.encoder.hashing import HashingEncoder

    return Cutter(WORDS_ONLY, HashingEncoder().tokenizer, SplitRules(max_tokens=_WORDS_ONLY_TOKENS))


def cutter_in_force(session: Session) -> Cutter:
    """Gives the cutter of the session's encoder, waiting until that is prepared."""
    try:
        return cutter_of(session, session.encoder())
    except EncoderError:
        return cutter_of(session, None)


class Embedding:
    """Cuts texts by the rules of the encoder in force and gives passages their vectors.

    Args:
        session: Holds the encoder.
        writer: The one that changes the library.
        context: Asked for a cancel.
        reporter: Told what was encoded.

    Attributes:
        commit: Called between two pieces of work; set by who stores.
        aside: Says, while the encoder waits for the person, that there is something else to do meanwhile.
    """

    def __init__(self, session: Session, writer: Writer, context: JobContext, reporter: Reporter) -> None:
        self.commit: Callable[..., None] = _nowhere
        self.aside: Callable[[], bool] = bool
        self._session = session
        self._library = session.library
        self._writer = writer
        self._context = context
        self._report = reporter
        self._cutter: Cutter | None = None
        self._encoder: Encoder | None = None
        self._nothing_pending = False

    @property
    def waiting(self) -> bool:
        """Says whether passages may wait for a vector."""
        return self._encoder is not None and not self._nothing_pending

    @property
    def prepared(self) -> bool:
        """Says whether texts can be cut."""
        return self._cutter is not None

    def look_again(self) -> None:
        """Forgets that nothing waited."""
        self._nothing_pending = False

    def behind(self) -> bool:
        """Says whether vectors are another encoder's than the one in force, or a change to it was cut short."""
        active = self._library.active_space()
        if active is None:
            return False
        expected = self._session.expected_fingerprint()
        return bool(self._writer.resegment_needed()) or expected not in ("", active.fingerprint)

    def prepare(self, *, unread: bool) -> None:
        """Waits for the encoder; without one, texts are still cut and found by words, old and new ones alike."""
        self._context.progress("Preparing the model", 0, None)
        try:
            encoder = self._session.encoder()
        except EncoderError as error:
            self._report.tally.notice(f"{error.message} Only words can be searched until there is a model.")
            active = self._library.active_space()
            if unread or (active is not None and active.fingerprint == WORDS_ONLY.fingerprint):
                self._cut_with(cutter_of(self._session, None))
            return
        self._use(encoder)

    def prepare_if_ready(self) -> None:
        """Uses the encoder if it is there already; waits for nothing."""
        encoder = self._session.ready_encoder()
        if encoder is not None and self._library.active_space() is not None:
            self._use(encoder)

    def _use(self, encoder: Encoder) -> None:
        self._encoder = self._report.encoder = encoder
        self._cut_with(cutter_of(self._session, encoder))
        for notice in encoder.info.notices:
            self._report.tally.notice(notice)

    def _cut_with(self, cutter: Cutter) -> None:
        """Makes a space the active one and cuts every stored text that was not cut for it yet."""
        self._cutter = cutter
        cutter.use(self._writer)
        self._writer.commit()  # texts are read beside the writer
        for content in self._writer.resegment_needed():
            self._context.check()
            text = text_there(self._library, content)
            if text is not None:
                self._writer.put_passages(content, self.split(text))
                self.commit()

    def split(self, text: ExtractedText) -> list[Passage]:
        """Cuts a text by the rules in force."""
        assert self._cutter is not None
        self._nothing_pending = False
        return self._cutter.split(text)

    def encode_some(self) -> None:
        """Encodes the newest documents without vectors; whole documents are committed together."""
        encoder = self._encoder
        assert encoder is not None
        self._writer.commit()
        pending = self._writer.pending(tokens_hint_chars=characters(self._session))
        self._writer.commit()
        if not pending:
            self._nothing_pending = True
            return

        def put(ids: Sequence[PassageId], vectors: Vectors) -> None:
            self._writer.put_vectors(ids, vectors)
            self.commit(force=True)

        encode_pending(self._session, encoder, pending, put, self.interruptible(), self._report)

    def interruptible(self) -> JobContext:
        """Gives the job's context, which also ends an encoder's wait when there is something else to do."""
        return _Interruptible(self._context, self.aside)

    def take(self, encoder: Encoder) -> None:
        """Goes on with the encoder that has come into force."""
        self._nothing_pending = False
        self._use(encoder)

    def build_index(self) -> None:
        """Builds the accelerator where it is worth it."""
        if self._encoder is None:
            return
        self._context.progress("Building the index", 0, None)
        self._writer.build_index(self._context)


class _Aside(Exception):  # noqa: N818  a signal
    """The encoder waits for the person, and something else can be done meanwhile."""


class _Interruptible:
    """The job's context, which also ends a wait of the encoder when something else can be done."""

    def __init__(self, context: JobContext, aside: Callable[[], bool]) -> None:
        self._context = context
        self._aside = aside

    @property
    def paused(self) -> bool:
        """As the job's context."""
        return self._context.paused

    def check(self) -> None:
        """As the job's context; raises when there is something else to do."""
        self._context.check()
        if self._aside():
            raise _Aside

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        """As the job's context."""
        self._context.progress(phase, done, total, detail)

    def partial(self, result: object) -> None:
        """As the job's context."""
        self._context.partial(result)


def _nowhere(**_: bool) -> None:
    """Commits nothing: nobody stores yet."""


def text_there(library: Library, content: ContentId) -> ExtractedText | None:
    """Gives a stored text; None where it was removed meanwhile, or is missing in a damaged library."""
    try:
        return library.text_of(content)
    except LibraryError as error:
        if error.code != "content-gone":
            raise
        return None


def characters(session: Session) -> int:
    """Gives how much text is encoded between two looks at what else there is to do."""
    return _ENCODE_CHARS_WINDOW if session.interactive else _ENCODE_CHARS_CONSOLE


def encode_pending(
    session: Session,
    encoder: Encoder,
    pending: Sequence[PendingDocument],
    put: Callable[[Sequence[PassageId], Vectors], None],
    context: JobContext,
    reporter: Reporter,
) -> None:
    """Encodes documents in slices and hands on the vectors of each; ends early when there is something else to do."""
    tally = reporter.tally
    ids = [pid for document in pending for pid, _ in document.passages]
    texts = [text for document in pending for _, text in document.passages]
    encoder.set_pace(gentle=session.gentle())
    began = time.monotonic()
    for start, stop in _slices(pending, characters(session) * 4):
        part = texts[start:stop]
        try:
            vectors = encoder.encode_passages(part, context)
        except _Aside:
            return
        if not np.isfinite(vectors).all():
            raise EncoderError(
                "model-failed",
                f"The model {encoder.info.name} gives numbers that are none.",
                "Choose another model; its files may be damaged.",
            )
        put(ids[start:stop], vectors)
        tally.encoded += len(part)
        tally.tokens += encoder.count_tokens(part)
        tally.encode_seconds += time.monotonic() - began
        began = time.monotonic()
        reporter.progress()


def _slices(pending: Sequence[PendingDocument], chars: int) -> list[tuple[int, int]]:
    """Cuts the flat list of passages at document borders, about ``chars`` characters each."""
    out: list[tuple[int, int]] = []
    start = position = size = 0
    for document in pending:
        position += len(document.passages)
        size += sum(len(text) for _, text in document.passages)
        if size >= chars:
            out.append((start, position))
            start, size = position, 0
    if position > start:
        out.append((start, position))
    return out
