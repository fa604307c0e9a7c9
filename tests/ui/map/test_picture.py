"""The map as a picture in a file."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage

from sbert_desktop.app.atlas_views import ColourBy, ColourGroup, ColourView, MapLabel, MapRequest, MapView
from sbert_desktop.errors import SbertDesktopError
from sbert_desktop.ui.map import picture
from sbert_desktop.ui.map.picture import caption, render_map, write_png

pytestmark = pytest.mark.gui


def made(points: int = 300) -> tuple[MapView, ColourView]:
    rng = np.random.default_rng(2)
    group = np.arange(points) % 2
    positions = (rng.normal(size=(points, 2)) * 0.2 + np.where(group[:, None] == 0, (0, 0), (4, 2))).astype(np.float32)
    starts = np.arange(points + 1, dtype=np.int64)
    view = MapView(MapRequest(), positions, np.ones(points, np.int32), starts[:-1], starts[1:], starts,
                   np.zeros(points, np.bool_), (MapLabel("Soil", 0, 0, 10, 0, 0), MapLabel("Mail", 4, 2, 9, 0, 1)),
                   quality="good", trustworthiness=0.94)
    groups = tuple(ColourGroup(text, int((group == at).sum()), at, at) for at, text in enumerate(("Soil", "Mail")))
    return view, ColourView(ColourBy.THEME, group.astype(np.int32), groups, None, "", "", np.full(points, np.nan))


def pixels(image: QImage) -> np.ndarray:
    return np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width()).copy()


@pytest.mark.parametrize("dark", [False, True])
def test_a_picture_has_points_labels_and_legend(qapp, dark):
    view, colours = made()
    full = pixels(render_map(view, colours, (900, 600), dark=dark))
    bare = pixels(render_map(view, colours, (900, 600), dark=dark, labels=False))
    none = pixels(render_map(view, colours, (900, 600), dark=dark, labels=False, legend=False))
    assert full.shape == (600, 900)
    assert (full != bare).sum() > 50  # the labels really show
    assert (bare != none).sum() > 500
    assert ((full[0, 0] & 255) < 128) == dark
    lined = pixels(render_map(view, colours, (900, 600), dark=dark, lines=True))
    assert 200 < (full != lined).sum() < 30_000  # the contours show, and are no more than lines


def test_the_line_below_says_how_much_it_shows_and_how_far_it_can_be_trusted():
    view, _ = made(3)
    assert caption(view) == "3 documents · map quality good (trustworthiness 0.94)"
    assert "not measured" in caption(replace(view, quality=""))
    assert "2 not on it yet" in caption(replace(view, waiting=2))
    assert "first sketch" in caption(replace(view, preview=True))


@pytest.mark.parametrize("points", [0, 1, 2, 3])
def test_hardly_any_points_make_a_picture_too(qapp, points):
    view, colours = made(points)
    assert render_map(view, colours, (640, 400)).width() == 640


def test_a_scale_has_its_ends_in_the_legend(qapp):
    view, colours = made()
    values = np.linspace(0, 1, 300).astype(np.float32)
    scale = ColourView(ColourBy.DATE, np.full(300, -1, np.int32), (), values, "2012", "2024", colours.dates)
    image = render_map(view, scale, (900, 600))
    assert (pixels(image) != pixels(render_map(view, replace(scale, low="x"), (900, 600)))).any()


def test_a_file_is_written_whole_or_not_at_all(qapp, tmp_path, monkeypatch):
    view, colours = made()
    target = tmp_path / "map.png"
    write_png(view, colours, target, (640, 400))
    before = target.read_bytes()
    assert QImage(str(target)).size().toTuple() == (640, 400)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(picture.os, "replace", fail)
    with pytest.raises(SbertDesktopError, match="No space left") as caught:
        write_png(view, colours, target, (800, 600), dark=True)
    assert caught.value.code == "not-written"
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_that_is_not_there_is_said_plainly(qapp, tmp_path):
    view, colours = made(3)
    with pytest.raises(SbertDesktopError) as caught:
        write_png(view, colours, tmp_path / "gone" / "map.png", (640, 400))
    assert caught.value.code == "not-written"


def test_without_a_font_it_is_refused_rather_than_drawn_without_letters(qapp, monkeypatch):
    class Mute(picture.QPainter):
        def drawText(self, *_: object) -> None:
            pass

    monkeypatch.setattr(picture, "QPainter", Mute)
    view, colours = made(3)
    with pytest.raises(SbertDesktopError) as caught:
        render_map(view, colours, (640, 400))
    assert caught.value.code == "no-fonts"


def test_it_works_in_a_process_without_a_window_or_a_display(tmp_path):
    code = (
        "import sys; from pathlib import Path\n"
        "from tests.ui.map.test_picture import made\n"
        "from sbert_desktop.ui.map.picture import write_png\n"
        "write_png(*made(), Path(sys.argv[1]), (800, 500))\n"
    )
    root = Path(__file__).resolve().parents[3]
    env = {key: value for key, value in os.environ.items()
           if key not in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")}
    if not sys.platform.startswith("linux"):
        env["QT_QPA_PLATFORM"] = "offscreen"
    target = tmp_path / "map.png"
    done = subprocess.run([sys.executable, "-c", code, str(target)], cwd=root, capture_output=True, text=True,
                          timeout=100, env=env | {"PYTHONPATH": str(root)})
    assert done.returncode == 0, done.stderr
    assert QImage(str(target)).width() == 800
