"""A window's worth of parts for the tests of the Search page; everything offscreen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QHBoxLayout, QWidget

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from sbert_desktop.settings import Settings
from sbert_desktop.ui.bridge import Bridge
from sbert_desktop.ui.search.page import SearchPage
from sbert_desktop.ui.theme import theme
from tests.ui.search.search_fakes import FakeCommands, library, tenancy, view


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
    window = QWidget()  # the frame of the real window, in small
    row = QHBoxLayout(window)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(made, 1)
    row.addWidget(made.inspector)
    made.inspector.setFixedWidth(392)
    window.resize(1108, 772)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitActive(window)
    yield made
    theme.apply(scheme="light", text_scale=100)
