"""What the Duplicates page does when files are moved to the trash and when they come back."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

from sbert_desktop.app.duplicate_views import CleanUpView, DuplicatesView, GroupView
from sbert_desktop.domain import Finished
from sbert_desktop.ui.duplicates.body import DuplicatesBody
from sbert_desktop.ui.duplicates.cleaning import back_words, moved_words, stayed_words
from sbert_desktop.ui.duplicates.selection import without
from sbert_desktop.ui.naming import in_title, quick_path
from sbert_desktop.ui.page import Desk

OWN_SECONDS: Final = 30.0
"""How long after a clean-up or its undo a change of the library is taken for what came of it: it is looked at."""


class MovingPage(DuplicatesBody):
    """Moving, undo, what is told of both, and the history."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._bringing_back = False
        self._own_until = 0.0  # till then the library takes in what this page moved or brought back
        self._ran_meanwhile = False  # the library took something in while files were moved
        self._told = ""  # the clean-up cut short that was told of last
        self._was_moving = False  # the window was closed in the middle of a clean-up
        self._asked_history = False

    def _show_groups(self, view: DuplicatesView) -> None:
        raise NotImplementedError

    def _show_foot(self) -> None:
        raise NotImplementedError

    def _take_out(self, view: DuplicatesView, groups: tuple[GroupView, ...]) -> None:
        left = replace(view, groups=groups, bytes_to_win=sum(one.bytes_to_win for one in groups))
        self.finder.hide(left)
        self._show_groups(left)

    def move_ticked(self) -> None:
        """Moves what is ticked to the trash."""
        button = self.foot_bar.move_button
        if button.isEnabled() and self.stack.currentWidget() is self.files and not self.cleaning.busy:
            self.cleaning.move(self.selection.ticked_groups(), self.selection.ticks(), self.selection.total.files)

    def _on_moving(self, files: int, back: bool) -> None:
        self._bringing_back = back
        self._ran_meanwhile = False
        self.selection.frozen = True
        self._notice_holder.hide()
        self.foot_bar.show_moving(None, files, back=back)
        self.column.set_controls(False)
        self.strip.setEnabled(False)

    def _stop_moving(self) -> None:
        self.foot_bar.show_stopping()
        self.cleaning.cancel()

    def _on_moved_end(self) -> None:
        self.selection.frozen = False
        self.foot_bar.show_still()
        self.column.set_controls(True)
        self.strip.setEnabled(True)
        self._show_foot()

    def _on_moved(self, done: CleanUpView) -> None:
        gone = frozenset(one.path for one in done.files if one.state == "moved")
        if self.finder.view is not None and gone:
            self._take_out(self.finder.view, without(self.finder.view.groups, gone))
        text = moved_words(done)
        if done.moved:
            self.desk.toast(text, action="Undo", run=lambda: self.cleaning.bring_back(done.id, (), done.moved))
        left = [one for one in done.files if one.state != "moved"]
        if left:
            reasons = {one.message for one in left}
            why = reasons.pop() if len(reasons) == 1 else ""
            if len(left) == 1 and why:
                self._tell(f"{text}. {_named(done)}: {why}", done)
            else:  # one reason for all (no trash there) is said at once; that the person stopped it is known
                why = "" if why.startswith("Not begun") else why
                self._tell(f"{text}. {stayed_words(done)} {why}".strip(), done)
        self._look_anew()

    def _tell(self, text: str, done: CleanUpView) -> None:
        self.notice.show_text(text, action="Which and why", run=lambda: self._show_clean_up(done.id))
        self._notice_holder.show()

    def _show_clean_up(self, id: str) -> None:
        self._notice_holder.hide()
        self.show_history(id)

    def _on_restored(self, done: CleanUpView) -> None:
        text = back_words(done)
        self.desk.toast(text)
        beside = [one for one in done.files if one.state == "restored" and one.message]
        if beside or any(one.state in ("lost", "moved") for one in done.files):
            self._tell(f"{text}. " + (beside[0].message if beside else
                                      "The others could not be brought back."), done)
        self._look_anew()

    def _look_anew(self) -> None:
        """Shows at once what is left; whenever the library has taken in what went or came back, that is looked at."""
        self._own_until = time.monotonic() + OWN_SECONDS
        self.finder.ask(again=self._ran_meanwhile)

    def _is_own(self) -> bool:
        return time.monotonic() < self._own_until

    def _on_index_finished(self) -> None:
        self._ran_meanwhile = True
        if self._is_own() and not self.cleaning.busy and self.finder.view is not None:
            self.finder.ask(again=True)

    def _on_history(self, finished: Finished) -> None:
        """Tells once of a clean-up that was cut short: the program was ended, or the window closed in its middle."""
        views = finished.result if isinstance(finished.result, tuple) else ()
        last = views[0] if views else None
        if not isinstance(last, CleanUpView) or last.id == self._told or self.cleaning.busy:
            return
        if not last.finished or (self._was_moving and last.moved < len(last.files)):
            self._told = last.id
            self._tell(f"The last clean-up was cut short. {moved_words(last)}.", last)

    def show_history(self, id: str = "") -> None:
        """Shows earlier clean-ups; ``id`` chooses one."""
        from sbert_desktop.ui.duplicates.history_sheet import open_history

        open_history(self.window(), self.desk, self.cleaning, id if isinstance(id, str) else "")


def _named(done: CleanUpView) -> str:
    """Gives the name of the one file that stayed."""
    return next((in_title(quick_path(one.path.name)) for one in done.files if one.state != "moved"), "")
