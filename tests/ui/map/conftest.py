"""A Map page with its map and colours there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sbert_desktop.settings import Settings
from sbert_desktop.ui.map.page import MapPage
from tests.ui.fake_app import FakeApp

MakeMap = Callable[..., MapPage]


@pytest.fixture
def make_map(make_window, qtbot, settings: Settings) -> MakeMap:
    """Makes a window with the Map page in front: ``make_map(state="full", prepare=lambda app: ...)``."""

    def make(state: str = "full", *, prepare: Callable[[FakeApp], object] | None = None,
             size: tuple[int, int] = (1280, 800), saved: dict[str, object] | None = None, wait: bool = True) -> MapPage:
        program = FakeApp(settings, state=state)
        if prepare is not None:
            prepare(program)
        window = make_window(app=program, size=size, saved=saved)
        window.show_page("map")
        page = window.page("map")
        assert isinstance(page, MapPage)
        if wait:
            qtbot.waitUntil(lambda: page.finder.colours is not None and not page.finder.busy)
        return page

    return make


def program_of(page: MapPage) -> FakeApp:
    """Gives the fake program behind a page."""
    program = page.desk.commands
    assert isinstance(program, FakeApp)
    return program


def in_cluster(page: MapPage, cluster: int, most: int = 60) -> np.ndarray:
    """Gives points of a cluster, ascending."""
    colours = page.finder.colours
    assert colours is not None
    return np.flatnonzero(colours.point_groups == cluster)[:most].astype(np.int32)


def select(page: MapPage, points: np.ndarray) -> None:
    """Selects points as if by hand."""
    page.canvas.set_selection(points)
    page.canvas.selectionChanged.emit(points)


def called(page: MapPage, what: str) -> list[tuple[object, ...]]:
    """Gives the calls of a command."""
    return [call for call in program_of(page).calls if call[0] == what]
