"""A model's space is prepared beside the one in use, and takes its place when it is complete.

See docs/adr/0020-adopting.md. Runs inside an indexing run, which looks after changed files between two steps.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sbert_desktop.app.chance import prepare_chance
from sbert_desktop.app.embedding import Cutter, Embedding, characters, cutter_of, encode_pending, text_there
from sbert_desktop.app.reporting import Reporter
from sbert_desktop.app.session import Session
from sbert_desktop.domain import ContentId, Encoder, JobContext, PassageId, Vectors
from sbert_desktop.errors import EncoderError

if TYPE_CHECKING:
    from sbert_desktop.library import WantedSpace, Writer

_CUT_SECONDS = 0.5
ENCODER = "models.encoder"


class Preparing:
    """The wanted space on its way. Made by :func:`begin_preparing`, on the thread that holds the writer."""

    def __init__(
        self,
        session: Session,
        writer: Writer,
        context: JobContext,
        reporter: Reporter,
        embedding: Embedding,
        wanted: WantedSpace,
        encoder: Encoder,
    ) -> None:
        self._session = session
        self._library = session.library
        self._writer = writer
        self._context = context
        self._report = reporter
        self._embedding = embedding
        self._wanted = wanted
        self._encoder = encoder
        self._switched = False
        self._cutter: Cutter = cutter_of(session, encoder)
        self._fingerprint = encoder.info.fingerprint
        writer.prepare_space(encoder.info, encoder.tokenizer.key, self._cutter.rules)
        self._unreadable: set[ContentId] = set()
        self._uncut: list[ContentId] = self._lacking()
        session.put_beside(encoder)
        reporter.preparing = (encoder.info.name, self._fingerprint)
        reporter.progress(force=True)
        reporter.view(force=True)

    @property
    def given_up(self) -> bool:
        """Says whether the space is not wanted any more: the person, or another process, thought better of it."""
        wanted = self._library.wanted_space()
        return wanted is None or wanted.fingerprint != self._fingerprint

    def go_on(self) -> bool:
        """Does one piece of work; False when nothing is left to do."""
        if self._uncut:
            self._cut_some()
            return True
        self._writer.commit()
        pending = self._writer.pending(tokens_hint_chars=characters(self._session), fingerprint=self._fingerprint)
        self._writer.commit()
        if not pending:
            self._uncut = self._lacking()  # what came meanwhile
            return bool(self._uncut)
        encode_pending(
            self._session, self._encoder, pending, self._put, self._embedding.interruptible(), self._report
        )
        self._report.view()
        return True

    def _lacking(self) -> list[ContentId]:
        """Gives the texts that are not cut for this model, the newest last."""
        needed = self._writer.resegment_needed(self._fingerprint)[::-1]
        return [content for content in needed if content not in self._unreadable]

    def _put(self, ids: Sequence[PassageId], vectors: Vectors) -> None:
        self._writer.put_vectors(ids, vectors, self._fingerprint)
        self._writer.commit()

    def _cut_some(self) -> None:
        """Cuts stored texts as this model wants them, for half a second."""
        end = time.monotonic() + _CUT_SECONDS
        while self._uncut and time.monotonic() < end:
            self._context.check()
            content = self._uncut.pop()
            text = text_there(self._library, content)
            if text is None:
                self._unreadable.add(content)  # else it would be lacking for ever
                continue
            self._writer.put_passages(content, self._cutter.split(text), self._fingerprint)
        self._writer.commit()
        self._report.progress()

    def switch(self) -> bool:
        """Puts the complete space and its encoder in use at the same moment; False when it is not wanted any more."""
        self._context.progress("Building the index", 0, None)
        self._writer.build_index(self._context, fingerprint=self._fingerprint)
        prepare_chance(self._session, self._encoder, self._context)
        self._switched = self._session.take_over(
            self._encoder, lambda: self._writer.activate(self._fingerprint, if_wanted=True)
        )
        self._report.preparing = None
        if self._switched:
            self._session.put_beside(None)
            with contextlib.suppress(OSError):  # what a new library begins with; this one has it in its catalog
                self._session.settings.set(ENCODER, self._wanted.model)
            self._embedding.take(self._encoder)
            self._report.view(force=True)
        return self._switched

    def close(self) -> None:
        """Lets go of the encoder, unless it is in force now; what was prepared stays."""
        self._session.put_beside(None)
        if not self._switched:
            self._encoder.close()


def say_it_stays(session: Session, reporter: Reporter, error: EncoderError) -> None:
    """Says that the wanted model cannot be had now; the run is none the worse for it, and the wish stays."""
    active = session.library.active_space()
    stays = f" The library stays with {active.name}." if active is not None else ""
    reporter.tally.notice(f"{error.message}{stays}")
    reporter.preparing = None


def begin_preparing(
    session: Session, writer: Writer, context: JobContext, reporter: Reporter, embedding: Embedding
) -> Preparing | None:
    """Opens the wanted model and goes on with its space; None where none is wanted any more or it cannot be had.

    ``reporter.preparing`` names it before.
    """
    from sbert_desktop.library import WantedSpace

    library = session.library
    wanted, active = library.wanted_space(), library.active_space()
    if wanted is None or reporter.preparing is None:
        reporter.preparing = None
        return None
    context.progress(f"Preparing {reporter.preparing[0]}", 0, None)
    try:
        encoder = session.models.open(wanted.model)
    except EncoderError as error:
        say_it_stays(session, reporter, error)
        return None
    fingerprint = encoder.info.fingerprint
    if active is None or fingerprint == active.fingerprint:
        library.want_space(None)
        reporter.preparing = None
        encoder.close()
        return None
    if fingerprint != wanted.fingerprint:  # its files are others than when it was chosen
        wanted = WantedSpace(wanted.model, fingerprint)
        library.want_space(wanted)
    try:
        return Preparing(session, writer, context, reporter, embedding, wanted, encoder)
    except BaseException:
        session.put_beside(None)
        encoder.close()
        raise
