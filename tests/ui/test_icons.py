from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QImage

from sbert_desktop.ui import icons

WANTED = [
    "search",
    "duplicates",
    "clusters",
    "map",
    "train",
    "models",
    "library",
    "settings",
    "collapse",
    "folder",
    "file",
    "pdf",
    "mail",
    "note",
    "code",
    "web",
    "table",
    "close",
    "chevron",
    "plus",
    "minus",
    "pause",
    "play",
    "refresh",
    "warning",
    "check",
    "up",
    "down",
    "more",
    "open",
    "reveal",
    "copy",
    "panel",
    "filter",
    "history",
    "trash",
    "undo",
    "shield",
    "clock",
    "sliders",
    "relevant",
    "not_relevant",
    "fit",
]


def ink(image: QImage) -> int:
    return sum(image.pixelColor(x, y).alpha() > 40 for x in range(image.width()) for y in range(image.height()))


@pytest.mark.parametrize("name", icons.NAMES)
def test_every_icon_draws_something_inside_its_grid(qapp, name: str) -> None:
    image = icons.pixmap(name, 20, QColor("black"), 1.0).toImage()
    drawn = ink(image)
    assert 8 < drawn < 260
    lines, dots = icons.parse(icons._DRAWINGS[name])
    box = lines.boundingRect().united(dots.boundingRect())
    assert box.left() >= 1.5
    assert box.top() >= 1.5
    assert box.right() <= 18.5
    assert box.bottom() <= 18.5


def test_the_family_is_complete(qapp) -> None:
    assert set(WANTED) <= set(icons.NAMES)


def test_icons_take_the_colour_and_the_pixel_ratio_and_are_cached(qapp) -> None:
    red = icons.pixmap("close", 18, QColor("#ff0000"), 2.0)
    assert red.width() == 36
    assert red.devicePixelRatio() == 2.0
    image = red.toImage()
    assert image.pixelColor(18, 18).red() > 200
    assert image.pixelColor(18, 18).blue() < 60
    assert icons.pixmap("close", 18, QColor("#ff0000"), 2.0).cacheKey() == red.cacheKey()


def test_documents_get_the_icon_of_their_kind(qapp) -> None:
    assert icons.for_format("PDF") == "pdf"
    assert icons.for_format("eml") == "mail"
    assert icons.for_format("whatever") == "file"
