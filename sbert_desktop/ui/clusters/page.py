"""The Clusters page."""

from __future__ import annotations

from typing import ClassVar

from sbert_desktop.ui.page import Desk, Page


class ClustersPage(Page):
    """The page in front."""

    key: ClassVar[str] = "clusters"
    title: ClassVar[str] = "Clusters"
    icon: ClassVar[str] = "clusters"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
