"""Moves what is ticked to the trash, shows how far it is, says what became of it, and brings it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from sbert_desktop.app.duplicate_views import CleanUpView, GroupView
from sbert_desktop.app.ticking import removals
from sbert_desktop.cleanup import Removal, Ticks
from sbert_desktop.domain import Finished, JobId, Outcome, Progress
from sbert_desktop.ui import words
from sbert_desktop.ui.page import Desk


def moved_words(view: CleanUpView) -> str:
    """Gives what a clean-up did in a sentence."""
    whole = len(view.files)
    if view.moved == whole:
        return f"Moved {words.counted(whole, 'file')} to the trash"
    return f"Moved {words.count(view.moved)} of {words.counted(whole, 'file')} to the trash"


def stayed_words(view: CleanUpView) -> str:
    """Gives what became of the files that did not go: one that is lost is not where it was."""
    lost = sum(one.state == "lost" for one in view.files)
    stayed = len(view.files) - view.moved - lost
    parts = []
    if stayed:
        parts.append(f"{words.counted(stayed, 'file')} stayed where {'it is' if stayed == 1 else 'they are'}.")
    if lost:
        parts.append(f"{words.counted(lost, 'file')} {'is' if lost == 1 else 'are'} neither there nor in the trash.")
    return " ".join(parts)


def back_words(view: CleanUpView) -> str:
    """Gives what an undo did in a sentence."""
    back = sum(one.state == "restored" for one in view.files)
    away = sum(one.state in ("moved", "lost") for one in view.files)
    if away:
        return f"Brought back {words.count(back)} of {words.counted(back + away, 'file')}"
    return f"Brought back {words.counted(back, 'file')}"


class Cleaning(QObject):
    """One clean-up at a time.

    ``began(int, bool)``: so many files, True when they are brought back. ``progressed(Progress)``. ``moved`` and
    ``restored`` bring a :class:`CleanUpView`; ``ended()`` comes in every case, also when nothing was done.
    """

    began = Signal(int, bool)
    progressed = Signal(object)
    moved = Signal(object)
    restored = Signal(object)
    ended = Signal()

    def __init__(self, desk: Desk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self.job: JobId | None = None
        self._preparing = False

    @property
    def busy(self) -> bool:
        """True while files are moved."""
        return self._preparing or self.job is not None

    def move(self, groups: Sequence[GroupView], ticks: Ticks, files: int) -> None:
        """Moves the ticked files of groups to the trash."""
        if self.busy or not files:
            return
        self._preparing = True
        self.began.emit(files, False)
        # which copies must be alive for each file is worked out beside the window: folders hold thousands of them
        self._desk.errands.run(lambda: removals(groups, ticks), self._send, lambda _: self._end())

    def _send(self, wanted: tuple[Removal, ...]) -> None:
        self._preparing = False
        if not wanted:
            self._end()
            return
        self._watch(self._desk.commands.clean_up(wanted), self.moved.emit)

    def bring_back(self, id: str, paths: Sequence[Path] = (), files: int = 0) -> None:
        """Brings back what a clean-up moved, all or these."""
        if self.busy:
            return
        self.began.emit(files, True)
        self._watch(self._desk.commands.undo_clean_up(id, tuple(paths)), self.restored.emit)

    def cancel(self) -> None:
        """Stops after the file at hand; what was moved is in the answer."""
        if self.job is not None:
            self._desk.commands.cancel(self.job)

    def _watch(self, job: JobId, done: Callable[[object], object]) -> None:
        self.job = job

        def on_finished(finished: Finished) -> None:
            self.job = None
            self.ended.emit()
            if self._desk.report_failure(finished):
                return
            if finished.outcome is Outcome.DONE and isinstance(finished.result, CleanUpView):
                done(finished.result)

        self._desk.bridge.watch(job, on_progress=self._on_progress, on_finished=on_finished)

    def _on_progress(self, progress: Progress) -> None:
        self.progressed.emit(progress)

    def _end(self) -> None:
        self._preparing = False
        self.ended.emit()
