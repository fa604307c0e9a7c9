"""What a person does with models and with the vectors of them: use, remove, go back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from sbert_desktop.app.training_views import SpaceView
from sbert_desktop.domain import Finished
from sbert_desktop.ui import words
from sbert_desktop.ui.models.detail import can_remove, can_use
from sbert_desktop.ui.models.words import SECOND, is_whole

if TYPE_CHECKING:
    from sbert_desktop.ui.models.page import ModelsPage


class Deeds(QObject):
    """Runs them for a page. ``hidden``, ``hidden_spaces``: what is being removed, while Undo is offered."""

    def __init__(self, page: ModelsPage) -> None:
        super().__init__(page)
        self._page = page
        self._desk = page.desk
        self.hidden: set[str] = set()
        self.hidden_spaces: set[str] = set()

    # ---- models

    def use_chosen(self) -> None:
        """Makes the model shown the one in force."""
        row = self._page.chosen_row()
        if row is not None and can_use(row) and self._desk.can("use_model"):
            self.use(row.name)

    def use(self, own: str) -> None:
        """Makes a model the one in force; for another encoder the library is prepared beside the old one."""
        page = self._page
        row = page.table.row_of(own)
        if row is None:
            return
        rows = [other for other in page.rows() if other.model.kind == row.model.kind]
        before = next((other.name for other in rows if other.serves), "")
        kept = row.space is not None and row.space.state == "kept" and is_whole(row.space)

        def done(result: object) -> None:
            self._take(result)
            library = self._desk.library
            if row.model.kind == SECOND:
                text = f"Using {own}. It puts the first hits in order from now on"
            elif kept or not before or library is None or not library.passages:
                text = f"Using {own}"
            else:
                text = f"Your library is prepared for {own}; {before} answers until then"
            self._desk.toast(text, action="Undo" if before else "",
                             run=(lambda: self._desk.start(self._desk.commands.use_model(before), self._take))
                             if before else None)

        self._desk.start(self._desk.commands.use_model(own), done)

    def _take(self, result: object) -> None:
        if isinstance(result, tuple):
            self._page.show_models(result)
        self._page.ask_spaces()
        self._desk.refresh()

    def remove_chosen(self) -> None:
        """Takes the model shown away; its files go only when Undo is no longer offered."""
        page, row = self._page, self._page.chosen_row()
        if row is None or not can_remove(row) or not self._desk.can("remove_model"):
            return
        own = row.name
        self.hidden.add(own)
        page.show_again()
        gone = "; search goes on without a second look" if row.serves else ""
        self._desk.toast(f"Removed {own}, {words.size(row.model.size)}{gone}", action="Undo",
                         run=lambda: self._bring_back(own), expired=lambda: self._remove(own))

    def _bring_back(self, own: str) -> None:
        self.hidden.discard(own)
        self._page.show_again()
        self._page.choose(own)

    def _remove(self, own: str) -> None:
        def done(finished: Finished) -> None:
            self.hidden.discard(own)
            if self._desk.report_failure(finished) or not isinstance(finished.result, tuple):
                self._page.show_again()  # it is there still
            else:
                self._page.show_models(finished.result)

        self._desk.bridge.watch(self._desk.commands.remove_model(own), on_finished=done)

    # ---- spaces

    def _space(self, fingerprint: str) -> SpaceView | None:
        return next((space for space in self._page.spaces if space.fingerprint == fingerprint), None)

    def use_space(self, fingerprint: str) -> None:
        """Goes back to vectors that are kept, at once."""
        space = self._space(fingerprint)
        before = next((other for other in self._page.spaces if other.state == "in use"), None)
        if space is None:
            return

        def done(_: object) -> None:
            self._page.reload()
            self._desk.refresh()
            again = before is not None and before.fingerprint != fingerprint
            text = f"Searches answer from {space.name} again" if is_whole(space) else \
                f"{space.name} is prepared further"
            self._desk.toast(text, action="Undo" if again else "",
                             run=(lambda: self.use_space(before.fingerprint)) if before is not None else None)

        self._desk.start(self._desk.commands.use_space(fingerprint), done)

    def remove_space(self, fingerprint: str) -> None:
        """Gives up what is being prepared at once; kept vectors go only when Undo is no longer offered."""
        space = self._space(fingerprint)
        if space is None:
            return
        if space.state == "building":
            serving = next((other.name for other in self._page.spaces if other.state == "in use"), "")
            stays = f"; {serving} stays in use" if serving else ""
            self._run_removal(fingerprint, f"{space.name} is no longer prepared{stays}")
            return
        self.hidden_spaces.add(fingerprint)
        self._page.show_again()
        self._desk.toast(f"Removed the vectors of {space.name}, {words.size(space.bytes)}", action="Undo",
                         run=lambda: self._bring_space_back(fingerprint),
                         expired=lambda: self._run_removal(fingerprint, ""))

    def _bring_space_back(self, fingerprint: str) -> None:
        self.hidden_spaces.discard(fingerprint)
        self._page.show_again()

    def _run_removal(self, fingerprint: str, said: str) -> None:
        def done(finished: Finished) -> None:
            self.hidden_spaces.discard(fingerprint)
            if not self._desk.report_failure(finished) and said:
                self._desk.toast(said)
            self._page.reload()
            self._desk.refresh()

        self._desk.bridge.watch(self._desk.commands.remove_space(fingerprint), on_finished=done)
