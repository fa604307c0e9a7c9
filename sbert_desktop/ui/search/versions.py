"""Asks in the background which version of a document a hit belongs to, and says it under "Why"."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QTimer

from sbert_desktop.app.interface import Commands
from sbert_desktop.app.views import FamilyView, HitView
from sbert_desktop.domain import Finished, JobId, Outcome
from sbert_desktop.errors import SbertDesktopError
from sbert_desktop.ui.bridge import Bridge, Latest
from sbert_desktop.ui.search.text import one_line
from sbert_desktop.ui.search.why import WhyPanel

REST_MS = 400  # a hit that is only passed by is not asked about
KEPT = 200


class Versions(QObject):
    """Fills the family line of a :class:`WhyPanel`; what was found is remembered for each passage."""

    def __init__(self, commands: Commands, bridge: Bridge, why: WhyPanel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands, self._why = commands, why
        self._latest = Latest(bridge)
        self._hit: HitView | None = None
        self._known: dict[int, str] = {}
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._ask)

    def show(self, hit: HitView | None) -> None:
        """Shows the line of a hit, now or when it is known."""
        if hit is not None and self._hit is not None and hit.passage_id == self._hit.passage_id:
            return
        self._hit = hit
        self._latest.drop()
        self._rest.stop()
        self._why.set_family(self._known.get(hit.passage_id, "") if hit is not None else "")
        if hit is not None and hit.passage_id not in self._known:
            self._rest.start()

    def _ask(self) -> None:
        hit = self._hit
        if hit is None:
            return
        try:
            job = self._commands.family(hit)
        except SbertDesktopError:
            return  # a line that is missing says nothing wrong
        self._latest.watch(job, on_finished=partial(self._on_finished, job, hit))

    def _on_finished(self, job: JobId, hit: HitView, event: Finished) -> None:
        if event.outcome is not Outcome.DONE:
            return
        words = one_line(event.result.words) if isinstance(event.result, FamilyView) else ""
        words = words[:1].upper() + words[1:]
        if len(self._known) >= KEPT:
            self._known.clear()
        self._known[hit.passage_id] = words
        if self._hit is not None and self._hit.passage_id == hit.passage_id:
            self._why.set_family(words)
