"""The second look: a model that reads the best passages again together with the query, where one is installed."""

from __future__ import annotations

from PySide6.QtCore import QObject

from sbert_desktop.app.views import ModelView
from sbert_desktop.domain import Finished, Progress
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.search.head import SearchHead
from sbert_desktop.ui.search.session import READ_AGAIN, SearchSession
from sbert_desktop.ui.widgets import plain_tip

OFFERED = "cross-encoder/ms-marco-MiniLM-L6-v2"
"""Offered where none is installed. Source: the model most often used with sentence-transformers' CrossEncoder."""


class SecondLook(QObject):
    """Shows its button only while a cross-encoder is installed; on by itself when one is in use."""

    def __init__(self, bridge: Bridge, head: SearchHead, session: SearchSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._head, self._session = head, session
        self._results = False
        self.possible = False
        head.second.toggled.connect(lambda on: session.set_rerank(READ_AGAIN if on else 0))
        session.progressed.connect(self._on_progress)
        bridge.listen("models", on_finished=self._on_models)

    def _on_models(self, event: Finished) -> None:
        if not isinstance(event.result, tuple):
            return
        readers = [each for each in event.result if isinstance(each, ModelView) and each.kind == "cross-encoder"
                   and each.state == "ready"]
        if bool(readers) != self.possible:
            self.possible = bool(readers)
            self.show(self._results)
            self._head.second.setChecked(any(each.active for each in readers))

    def show(self, results: bool) -> None:
        """Shows the button beside results, if there is something to press it for."""
        self._results = results
        self._head.second.setVisible(results and self.possible)
        if not results:
            self.rest()

    def rest(self) -> None:
        """The search is over: nothing is read any more."""
        self._head.progress.hide()

    def _on_progress(self, progress: Progress) -> None:
        if progress.total:
            bar, words = self._head.progress, f"Reading {progress.done} of {progress.total} again"
            bar.set_fraction(progress.done / progress.total)
            bar.setToolTip(plain_tip(words))
            bar.setAccessibleDescription(words)
            bar.setVisible(progress.done < progress.total)
