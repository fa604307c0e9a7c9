"""Pairs that wait to be judged: asked for long before they are needed, so that the next one is there at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal

from sbert_desktop.app.training_views import PairView, Task
from sbert_desktop.domain import Failure, Finished, Outcome
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.page import Desk

AHEAD: Final = 12
"""Pairs under which more are asked for: at a second each, more time than proposing takes."""
BATCH: Final = 24


class PairFeed(QObject):
    """Pairs of one task. ``changed``: a pair came, or none will; ``failed(Failure)``: they could not be proposed."""

    changed = Signal()
    failed = Signal(object)

    def __init__(self, desk: Desk, task: Task, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk, self.task = desk, task
        self._waiting: deque[PairView] = deque()
        self._seen: set[str] = set()
        self._latest = Latest(desk.bridge)
        self.asking = False
        self.exhausted = False
        self.failure: Failure | None = None
        self.among: tuple[int, ...] = ()

    def set_among(self, contents: tuple[int, ...]) -> None:
        """Proposes only from these documents from the next :meth:`fill` on; none: from all. What waits is put aside."""
        if contents == self.among:
            return
        self.stop()
        self.among = contents
        self._seen.difference_update(pair.id for pair in self._waiting)
        self._waiting.clear()
        self.failure, self.exhausted = None, False

    def drop_under(self, gone: Collection[Path], folders: Collection[Path]) -> None:
        """Drops pairs that wait from folders that were taken out of the library, unless another one holds them."""

        def lost(path: Path | None) -> bool:
            return path is not None and any(map(path.is_relative_to, gone)) and \
                not any(map(path.is_relative_to, folders))

        left = [pair for pair in self._waiting if not lost(pair.left.path) and not lost(pair.right.path)]
        if len(left) < len(self._waiting):
            self._seen.difference_update(pair.id for pair in self._waiting)
            self._seen.update(pair.id for pair in left)
            self._waiting = deque(left)
            self.changed.emit()

    def current(self) -> PairView | None:
        """Gives the pair to be judged now."""
        return self._waiting[0] if self._waiting else None

    def following(self) -> PairView | None:
        """Gives the pair after it."""
        return self._waiting[1] if len(self._waiting) > 1 else None

    def left(self) -> int:
        """Gives how many pairs are there."""
        return len(self._waiting)

    def take(self) -> PairView | None:
        """Takes the pair that was judged or skipped; the next one is there at once."""
        taken = self._waiting.popleft() if self._waiting else None
        self.fill()
        return taken

    def put_back(self, pair: PairView) -> None:
        """Puts a pair to the front: its judgement was taken back."""
        if all(one.id != pair.id for one in self._waiting):
            self._waiting.appendleft(pair)
            self.changed.emit()

    def fill(self) -> None:
        """Asks for more when few are left."""
        if self.asking or self.exhausted or self.failure is not None or len(self._waiting) >= AHEAD:
            return
        self.asking = True
        self._latest.watch(self._desk.commands.pairs(self.task, BATCH, among=self.among),
                           on_finished=self._on_finished)

    def again(self) -> None:
        """Tries anew after a failure, or after documents came."""
        self.failure = None
        self.exhausted = False
        self.fill()
        self.changed.emit()

    def stop(self) -> None:
        """Gives up waiting: the newest request for pairs wins, and it may be that of another task."""
        self._latest.drop()
        self.asking = False

    def _on_finished(self, finished: Finished) -> None:
        self.asking = False
        if finished.outcome is Outcome.FAILED:
            self.failure = finished.failure
            self.failed.emit(finished.failure)
        elif isinstance(finished.result, tuple):
            fresh = [pair for pair in finished.result if isinstance(pair, PairView) and pair.id not in self._seen]
            self._seen.update(pair.id for pair in fresh)
            had = bool(self._waiting)
            self._waiting.extend(fresh)
            # those that wait may have been proposed again; only with none waiting does an empty answer mean the end
            self.exhausted = not fresh and not had
        self.changed.emit()
