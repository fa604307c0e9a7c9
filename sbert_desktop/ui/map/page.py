"""The Map page."""

from __future__ import annotations

from typing import ClassVar

from sbert_desktop.ui.page import Desk, Page


class MapPage(Page):
    """The page in front."""

    key: ClassVar[str] = "map"
    title: ClassVar[str] = "Map"
    icon: ClassVar[str] = "map"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
