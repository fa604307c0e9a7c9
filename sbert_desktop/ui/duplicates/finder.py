"""Asks for groups, one question at a time: the newest wish is asked as soon as the one before is answered."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import QObject, Signal

from sbert_desktop.app.duplicate_views import DuplicatesView
from sbert_desktop.app.ticking import format_rules, parse_rules
from sbert_desktop.cleanup import FLOOR, KINDS_BY_NAME, Assistant, DuplicateQuery
from sbert_desktop.domain import Failure, Filters, Finished, JobId, Outcome
from sbert_desktop.errors import UsageError
from sbert_desktop.ui.bridge import Latest
from sbert_desktop.ui.page import Desk

RULES: Final = "duplicates.rules"
NEAR: Final = "duplicates.near"
RELATED: Final = "duplicates.related"
SHARES: Final = {"near": NEAR, "related": RELATED}
"""The setting behind the slider of a segment."""


class Finder(QObject):
    """The question in force and its answer.

    ``began(looking)``: a question was asked; ``looking`` when everything is compared first, which takes a while.
    ``progressed(Progress)``, ``answered(DuplicatesView)``, ``failed(Failure)``, ``cancelled()``.
    """

    began = Signal(bool)
    progressed = Signal(object)
    answered = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    rulesChanged = Signal()

    def __init__(self, desk: Desk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._latest = Latest(desk.bridge)
        self._wish: tuple[DuplicateQuery, bool] | None = None
        self.kinds = "all"
        self.filters = Filters()
        self.view: DuplicatesView | None = None
        self.looking = False
        self.fresh = False  # the last answer came from a look at everything, not from another cut
        desk.settingChanged.connect(self._on_setting)
        self.assistant = self._read_rules()

    # ---- the question

    @property
    def job(self) -> JobId | None:
        """The job that is under way."""
        return self._latest.job

    def share(self, kinds: str) -> int:
        """Gives the threshold of a segment in per cent."""
        return self._desk.settings.number(SHARES[kinds])

    def set_share(self, kinds: str, percent: int) -> None:
        """Changes the threshold of a segment; what is shown is cut anew."""
        self._desk.settings.set(SHARES[kinds], max(round(100 * FLOOR), min(100, percent)))
        self.ask()

    def set_rules(self, assistant: Assistant) -> None:
        """Puts rules in force and remembers them; the groups are ticked anew."""
        if assistant == self.assistant:
            return
        self.assistant = assistant
        self._desk.settings.set(RULES, format_rules(assistant))
        self.rulesChanged.emit()
        if self.view is not None:
            self.ask()

    def query(self) -> DuplicateQuery:
        """Gives the question as it stands."""
        return DuplicateQuery(
            kinds=KINDS_BY_NAME[self.kinds],
            near=self.share("near") / 100,
            related=self.share("related") / 100,
            filters=self.filters,
            assistant=self.assistant,
        )

    def ask(self, *, again: bool = False) -> None:
        """Asks; while a question is under way only the newest wish is kept for when it is answered."""
        if self._latest.job is not None:
            self._wish = (self.query(), again or (self._wish is not None and self._wish[1]))
            return
        self._send(self.query(), again)

    def cancel(self) -> None:
        """Gives up the question that is under way."""
        self._wish = None
        if self._latest.job is not None:
            self._desk.commands.cancel(self._latest.job)

    def hide(self, view: DuplicatesView) -> None:
        """Takes over an answer in which groups were left out that the person has done with."""
        self.view = view

    # ---- private

    def _send(self, query: DuplicateQuery, again: bool) -> None:
        self.looking = again or self.view is None
        self._latest.watch(self._desk.commands.duplicates(query, again=again), on_progress=self.progressed.emit,
                           on_finished=self._on_finished)
        self.began.emit(self.looking)

    def _on_finished(self, finished: Finished) -> None:
        self._latest.job = None
        wish, self._wish = self._wish, None
        if finished.outcome is Outcome.DONE and isinstance(finished.result, DuplicatesView):
            self.view = finished.result
            self.fresh = self.looking
            if wish is not None and wish != (finished.result.query, False):
                self._send(*wish)
                if not wish[1] and not _same_but_thresholds(wish[0], finished.result.query):
                    return  # the next answer, a moment away, makes this one superfluous
            else:
                self.looking = False
            self.answered.emit(finished.result)
            return
        self.looking = False
        if finished.outcome is Outcome.FAILED:
            self.failed.emit(finished.failure or Failure("unknown", "The duplicates could not be looked for.", ""))
        else:
            self.cancelled.emit()
        if wish is not None:
            self._send(*wish)

    def _read_rules(self) -> Assistant:
        try:
            return parse_rules(self._desk.settings.text(RULES))
        except UsageError:
            return Assistant()  # the setting was written by hand: the page goes on with the plain rules

    def _on_setting(self, key: str) -> None:
        if key == RULES:
            rules = self._read_rules()
            if rules != self.assistant:
                self.assistant = rules
                self.rulesChanged.emit()
                if self.view is not None:
                    self.ask()


def _same_but_thresholds(one: DuplicateQuery, other: DuplicateQuery) -> bool:
    # while a slider moves each cut is shown; groups of another kind are not shown under the wrong segment
    return replace(one, near=0.0, related=0.0) == replace(other, near=0.0, related=0.0)
