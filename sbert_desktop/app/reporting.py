"""What a run counts, and how it tells the window: progress, the library's state, the report at the end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from sbert_desktop.app.overview import library_view
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import IndexProgress, IndexReport
from sbert_desktop.domain import Encoder, JobContext

_REPORT_SECONDS = 0.25
_VIEW_SECONDS = 2.0
_FIRST_SECONDS = 5.0


@dataclass(slots=True)
class Tally:
    """What one run has done so far; files count once, however many members they hold."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    moved: int = 0
    removed: int = 0
    removed_pending: int = 0
    stored_passages: int = 0
    files_done: int = 0
    files_total: int = 0
    encoded: int = 0
    tokens: int = 0
    encode_seconds: float = 0.0
    notices: list[str] = field(default_factory=list)

    def notice(self, line: str) -> None:
        """Keeps a plain line for the report, once."""
        if line not in self.notices:
            self.notices.append(line)


class Reporter:
    """Tells how far a run is, thinned out; holds the run's tally.

    Attributes:
        tally: What was done.
        encoder: The encoder in use, or None while only words are stored.
        current: Folder and name of the file that was stored last.
        phase: What is read now, in words.
        preparing: Name and fingerprint of the model whose space is being prepared, or None.
    """

    def __init__(self, session: Session, context: JobContext) -> None:
        self.tally = Tally()
        self.encoder: Encoder | None = None
        self.current: tuple[Path | None, str] = (None, "")
        self.phase = "Reading"
        self.preparing: tuple[str, str] | None = None
        self._session = session
        self._context = context
        self._began = time.monotonic()
        self._last_progress = self._last_view = 0.0

    def view(self, *, force: bool = False) -> None:
        """Hands the library's state to the window, every two seconds at most."""
        now = time.monotonic()
        if self._session.interactive and (force or now - self._last_view >= _VIEW_SECONDS):
            self._last_view = now
            self._context.partial(library_view(self._session, indexing=True))

    def progress(self, *, force: bool = False) -> None:
        """Hands on how far the run is, four times a second at most."""
        now = time.monotonic()
        if not force and now - self._last_progress < _REPORT_SECONDS:
            return
        self._last_progress = now
        if self.preparing is not None:
            self._prepared(*self.preparing)
            return
        tally = self.tally
        encoding = self.encoder is not None
        pending = self._session.library.pending_count(self._session.fingerprint())[1] if encoding else 0
        left = max(0, tally.files_total - tally.files_done)
        per_file = tally.stored_passages / tally.files_done if tally.files_done else 1.0
        total = tally.encoded + pending + (int(left * per_file) if encoding else 0)
        speed = tally.encoded / tally.encode_seconds if tally.encode_seconds > 0 else 0.0
        seconds_left = self._seconds_left(now - self._began, left, total - tally.encoded, speed)
        self._context.partial(
            IndexProgress(
                folder=self.current[0],
                current=self.current[1],
                files_done=tally.files_done,
                files_total=tally.files_total,
                passages_done=tally.encoded,
                passages_total=total,
                passages_per_second=speed,
                tokens_per_second=tally.tokens / tally.encode_seconds if tally.encode_seconds > 0 else 0.0,
                seconds_left=seconds_left,
                paused=self._context.paused,
                pace="gentle" if self._session.gentle() else "full",
            )
        )
        if left:
            self._context.progress(self.phase, tally.files_done, tally.files_total, self.current[1])
        else:
            minutes = f", about {seconds_left / 60:,.1f} min left" if seconds_left else ""
            self._context.progress("Passages by meaning", tally.encoded, total, f"{speed:,.0f} passages/s{minutes}")

    def _prepared(self, model: str, fingerprint: str) -> None:
        """Says how far the space is that is to take the place of the one in use."""
        tally, library = self.tally, self._session.library
        held, left = library.held(fingerprint), library.pending_count(fingerprint)[1]
        speed = tally.encoded / tally.encode_seconds if tally.encode_seconds > 0 else 0.0
        seconds = left / speed if speed else None
        self._context.partial(
            IndexProgress(
                folder=None,
                current="",
                files_done=0,  # passages alone are counted
                files_total=0,
                passages_done=held,
                passages_total=held + left,
                passages_per_second=speed,
                tokens_per_second=tally.tokens / tally.encode_seconds if tally.encode_seconds > 0 else 0.0,
                seconds_left=seconds,
                paused=self._context.paused,
                pace="gentle" if self._session.gentle() else "full",
                preparing=model,
            )
        )
        minutes = f"about {seconds / 60:,.1f} min left" if seconds else ""
        self._context.progress(f"Preparing {model}", held, held + left, minutes)

    def _seconds_left(self, elapsed: float, files: int, passages: int, speed: float) -> float | None:
        tally = self.tally
        if elapsed <= _FIRST_SECONDS or not (tally.files_done or tally.encoded):
            return None
        reading = max(0.1, elapsed - tally.encode_seconds)
        seconds = files * reading / max(1, tally.files_done) if files else 0.0
        if self.encoder is not None and speed > 0:
            seconds += passages / speed
        return seconds

    def report(self) -> IndexReport:
        """Gives what the run did, with the library's counts as they are now."""
        tally, encoder = self.tally, self.encoder
        counts = self._session.library.counts(self._session.fingerprint())
        spent = tally.encode_seconds
        return IndexReport(
            documents=counts.documents,
            passages=counts.passages,
            problems=counts.problems,
            added=tally.added,
            changed=tally.changed,
            unchanged=tally.unchanged,
            moved=tally.moved,
            removed=tally.removed,
            encoded_passages=tally.encoded,
            seconds=time.monotonic() - self._began,
            passages_per_second=tally.encoded / spent if spent else 0.0,
            tokens_per_second=tally.tokens / spent if spent else 0.0,
            backend=encoder.info.backend if encoder else "none",
            device=encoder.info.device if encoder else "none",
            removed_pending=tally.removed_pending,
            preparing=self.preparing[0] if self.preparing is not None else "",
            notices=tuple(dict.fromkeys((*tally.notices, *self._session.notices()))),
        )
