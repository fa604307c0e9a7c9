"""A map as a picture at print size, with its labels, its legend and a line that says what it shows.

Works without a window, in any thread, and without a display: :func:`write_png` starts what Qt needs where nothing did.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from PySide6.QtCore import QBuffer, QByteArray, QCoreApplication, QIODevice, QLineF, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QImage, QLinearGradient, QPainter, QPen
from PySide6.QtWidgets import QApplication

from sbert_desktop.app.atlas_views import ColourGroup, ColourView, Contour, MapUnit, MapView, contours
from sbert_desktop.domain import display_path
from sbert_desktop.errors import SbertDesktopError
from sbert_desktop.ui import words
from sbert_desktop.ui.map.canvas_lens import Lens, fitting_lens
from sbert_desktop.ui.map.canvas_marks import dressed, theme_tops
from sbert_desktop.ui.map.drawing import (
    Dim,
    Frame,
    Painter,
    Scheme,
    Style,
    codes_of,
    make_cloud,
    palette_of,
    scale_color,
)
from sbert_desktop.ui.map.labels import LabelBook
from sbert_desktop.ui.map.words import LEGEND

_WIDTH: Final = 1280.0  # logical pixels that a picture is laid out for
_LARGEST: Final = 20_000
_ROW: Final = 20
_FOOT: Final = 32

_application: list[QGuiApplication] = []  # kept: Qt ends with the last reference


def write_png(view: MapView, colours: ColourView, target: Path, size: tuple[int, int], *, dark: bool = False) -> None:
    """Writes a map as a picture; the file is there as a whole or not at all.

    Args:
        view: The map.
        colours: Of its points.
        target: The file; one that is there is replaced.
        size: Width and height in pixels, 200 to 20,000.
        dark: In dark colours.

    Raises:
        SbertDesktopError: ``no-fonts`` where no letter can be drawn; ``not-written`` where the file cannot be.
    """
    _start_qt()
    image = render_map(view, colours, size, dark=dark)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]
        raise SbertDesktopError("not-written", "The picture could not be made.", "Try a smaller size.")
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".map-", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data.data())
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SbertDesktopError("not-written", f"{display_path(target)} could not be written: {error.strerror}.",
                                "Choose another place.") from error


def render_map(view: MapView, colours: ColourView | None, size: tuple[int, int], *, dark: bool = False,
               labels: bool = True, legend: bool = True, lines: bool = False) -> QImage:
    """Gives the whole map as a picture; needs a QGuiApplication (:func:`write_png` sees to that).

    Args:
        view: The map.
        colours: Of its points; None: all grey.
        size: Width and height in pixels, 200 to 20,000.
        dark: In dark colours.
        labels: With the names of its themes.
        legend: With what the colours mean and how many there are of each.
        lines: With contours around where many of them lie.

    Raises:
        SbertDesktopError: ``no-fonts`` where no letter can be drawn.
    """
    width, height = (min(_LARGEST, max(200, side)) for side in size)
    ratio = max(0.5, width / _WIDTH)
    wide, high = round(width / ratio), round(height / ratio)
    scheme = Scheme(dark)
    _check_fonts(scheme)
    frame = Frame(width, height)
    image = frame.image
    image.fill(scheme.color("surface"))
    rows = _legend_rows(colours, high) if legend and colours is not None else []
    box = _legend_box(colours, rows, high) if legend and colours is not None else QRect()
    shown_labels = []
    book = LabelBook(scheme)
    # beside the legend, unless that would leave too little
    left = box.right() if not box.isEmpty() and wide > 3 * box.width() else 0
    lens = fitting_lens(view.positions, wide, high, (float(left), 0.0, 0.0, float(_FOOT)))
    part = lens.view(wide, high, ratio)
    part = type(part)(part.left, part.top, part.scale, width, height)
    if len(view):
        painter = Painter(make_cloud(view.positions, view.counts, view.fresh))
        codes, front = dressed(codes_of(colours, len(view)), np.ones(len(view), np.bool_), None, np.zeros(0, np.int32))
        painter.dress(codes, front)
        painter.draw(part, Style(palette_of(colours, scheme, Dim()), ratio, 1.0, float(wide * high)), frame.pixels)
    if labels:
        book.set_labels(view.labels)
        book.set_tops(theme_tops(view, colours))
        blocks = [QRect(0, high - _FOOT, wide, _FOOT), *([box] if not box.isEmpty() else [])]
        shown_labels = book.arrange(part, ratio, 1.5 if len(view.labels) < 60 else 1.0, blocks)
    image.setDevicePixelRatio(ratio)
    paint = QPainter(image)
    paint.setRenderHint(QPainter.RenderHint.Antialiasing)
    if lines and len(view):
        _paint_contours(paint, scheme, contours(view.positions), lens, wide, high)
    book.paint(paint, shown_labels, ratio)
    if not box.isEmpty() and colours is not None:
        _paint_legend(paint, scheme, view, colours, rows, box)
    _paint_caption(paint, scheme, caption(view), wide, high)
    paint.end()
    image.setDevicePixelRatio(1.0)
    image.setText("Description", caption(view))
    return image


def _paint_contours(paint: QPainter, scheme: Scheme, found: Sequence[Contour], lens: Lens, wide: int,
                    high: int) -> None:
    """As :class:`~sbert_desktop.ui.map.canvas_surface.MapSurface` does on the screen."""
    for line in found:
        color = scheme.color("text")
        color.setAlphaF(0.55 - 0.35 * line.share)
        paint.setPen(QPen(color, 1.0))
        spots = (line.pieces.reshape(-1, 2) - (lens.x, lens.y)) * lens.scale + (wide / 2, high / 2)
        paint.drawLines([QLineF(*piece) for piece in spots.reshape(-1, 4).tolist()])


def caption(view: MapView) -> str:
    """Gives the line below the map: how much it shows, and how far it can be trusted."""
    unit = "passage" if view.request.unit is MapUnit.PASSAGES else "document"
    parts = [words.counted(int(view.counts.sum()), unit)]
    if view.quality == "exact":
        parts.append("exact")
    elif view.quality:
        parts.append(f"map quality {view.quality} (trustworthiness {view.trustworthiness:.2f})")
    else:
        parts.append("map quality not measured")
    if view.preview:
        parts.append("a first sketch")
    if view.waiting:
        parts.append(f"{words.count(view.waiting)} not on it yet")
    return " · ".join(parts)


def _legend_rows(colours: ColourView, high: int) -> list[tuple[ColourGroup, str]]:
    """Gives the groups that there is room for, and the text of each; the last one counts the others."""
    if colours.values is not None:
        return []
    groups = list(colours.groups)
    loose = int((colours.point_groups < 0).sum())
    if loose and not any(group.colour < 0 for group in groups):
        groups.append(ColourGroup("In none", loose, -1))
    room = max(3, (high - _FOOT - 120) // _ROW)
    rows = [(group, group.label) for group in groups[:room]]
    if len(groups) > room:
        rest = groups[room - 1 :]
        rows[-1] = (ColourGroup("", sum(group.count for group in rest), -1), f"{len(rest)} more")
    return rows


def _legend_box(colours: ColourView, rows: list[tuple[ColourGroup, str]], high: int) -> QRect:
    if colours.values is None and not rows:
        return QRect()
    tall = 16 + 22 + (34 if colours.values is not None else _ROW * len(rows)) + 4
    return QRect(16, high - _FOOT - tall - 4, 216, tall)


def _paint_legend(paint: QPainter, scheme: Scheme, view: MapView, colours: ColourView,
                  rows: list[tuple[ColourGroup, str]], box: QRect) -> None:
    paint.setPen(QPen(scheme.color("border"), 1))
    paint.setBrush(scheme.color("raised"))
    paint.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    inner = box.adjusted(12, 8, -12, -8)
    right, left = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, Qt.AlignmentFlag.AlignVCenter
    head = QRectF(inner.x(), inner.y(), inner.width(), 22)
    paint.setFont(scheme.font("meta_strong"))
    paint.setPen(scheme.color("text"))
    paint.drawText(head, left, LEGEND.get(colours.by, ""))
    if colours.values is not None:
        _paint_scale(paint, scheme, colours, QRectF(inner.x(), head.bottom() + 6, inner.width(), 10))
        return
    paint.setFont(scheme.font("meta"))
    metrics = QFontMetricsF(scheme.font("meta"))
    for at, (group, text) in enumerate(rows):
        line = QRectF(inner.x(), head.bottom() + at * _ROW, inner.width(), _ROW)
        count = words.count(group.count)
        paint.setPen(Qt.PenStyle.NoPen)
        paint.setBrush(scheme.group_color(group.colour))
        paint.drawEllipse(QPointF(line.x() + 5, line.center().y()), 5, 5)
        paint.setPen(scheme.color("text"))
        room = line.width() - 18 - metrics.horizontalAdvance(count) - 8
        paint.drawText(line.adjusted(18, 0, 0, 0), left, metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))
        paint.setPen(scheme.color("muted"))
        paint.drawText(line, right, count)


def _paint_scale(paint: QPainter, scheme: Scheme, colours: ColourView, bar: QRectF) -> None:
    gradient = QLinearGradient(bar.topLeft(), bar.topRight())
    for step in range(11):
        gradient.setColorAt(step / 10, scale_color(step / 10, scheme.dark))
    paint.setPen(Qt.PenStyle.NoPen)
    paint.setBrush(gradient)
    paint.drawRoundedRect(bar, 3, 3)
    paint.setFont(scheme.font("meta"))
    paint.setPen(scheme.color("muted"))
    below = QRectF(bar.x(), bar.bottom() + 2, bar.width(), _ROW)
    paint.drawText(below, Qt.AlignmentFlag.AlignLeft, colours.low)
    paint.drawText(below, Qt.AlignmentFlag.AlignRight, colours.high)


def _paint_caption(paint: QPainter, scheme: Scheme, text: str, wide: int, high: int) -> None:
    paint.setFont(scheme.font("meta"))
    paint.setPen(scheme.color("muted"))
    line = QRectF(16, high - _FOOT, wide - 32, _FOOT - 4)
    text = QFontMetricsF(scheme.font("meta")).elidedText(text, Qt.TextElideMode.ElideRight, line.width())
    paint.drawText(line, Qt.AlignmentFlag.AlignVCenter, text)


def _check_fonts(scheme: Scheme) -> None:
    """Draws a letter and looks whether there is ink: a machine without fonts draws nothing, and says nothing."""
    probe = QImage(48, 32, QImage.Format.Format_RGB32)
    probe.fill(Qt.GlobalColor.white)
    paint = QPainter(probe)
    paint.setFont(scheme.font("body"))
    paint.setPen(Qt.GlobalColor.black)
    paint.drawText(QPointF(4, 22), "Map")
    paint.end()
    if (np.frombuffer(probe.constBits(), np.uint32) == 0xFFFFFFFF).all():
        raise SbertDesktopError("no-fonts", "This machine has no font to write the map's labels with.",
                                "Install one, for example DejaVu Sans, and try again.")


def _start_qt() -> None:
    """Starts what Qt needs to draw letters, where no window did; without a display it draws for none."""
    running = QCoreApplication.instance()
    if isinstance(running, QGuiApplication):
        return
    if running is not None:
        raise RuntimeError("a QCoreApplication is running, which cannot draw text")
    shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not os.environ.get("QT_QPA_PLATFORM") and sys.platform not in ("win32", "darwin") and not shown:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    # a QApplication, for who opens a window in this process later can have no other
    _application.append(QApplication(sys.argv[:1]))
