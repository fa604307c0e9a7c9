"""A window's worth of parts for the tests of the Search page; everything offscreen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from search_fakes import FakeCommands, library, tenancy, view

from sbert_desktop.settings import Settings
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.search.page import SearchPage
from sbert_desktop.ui.theme import theme


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[FakeCommands]:
    made = FakeCommands(Settings(tmp_path / "settings.toml"))
    made.answer = view(tenancy())
    yield made
    made.close()


@pytest.fixture
def bridge(qtbot: object, commands: FakeCommands) -> Iterator[Bridge]:
    made = Bridge()
    commands.connect(made.post)
    yield made
    made.close()


@pytest.fixture
def page(qtbot, commands: FakeCommands, bridge: Bridge) -> Iterator[SearchPage]:  # type: ignore[no-untyped-def]
    theme.apply(scheme="light", text_scale=100, reduce_motion=True)
    made = SearchPage(commands, bridge, theme)  # type: ignore[arg-type]
    made.set_library(library())
    made.resize(716, 772)
    qtbot.addWidget(made)
    qtbot.addWidget(made.inspector)
    made.inspector.resize(392, 772)
    made.show()
    made.inspector.show()
    qtbot.waitExposed(made)
    yield made
    theme.apply(scheme="light", text_scale=100)
