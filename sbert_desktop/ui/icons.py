"""One family of icons on a 20 x 20 grid, stroke 1.5, round caps, no fill, drawn for this program.

Use::

    icons.pixmap("search", 18, "muted")      # QPixmap, cached per (name, size, colour, pixel ratio)
    icons.icon("search")                     # QIcon with normal, active and disabled states
    icons.paint(painter, "search", rect, "accent")  # inside a paintEvent or delegate

A colour is a token's name or a QColor. :data:`NAMES` lists what there is. The path is scaled, the
pen is not: a stroke stays 1.5 logical pixels at every size. GUI thread only.

Each drawing is a string of strokes: ``M x y`` move, ``L x y`` line, ``C x1 y1 x2 y2 x y`` curve,
``Z`` close, ``O cx cy r`` circle, ``R x y w h r`` rounded rectangle, ``A cx cy r start sweep`` arc
(degrees, anticlockwise), ``D cx cy r`` filled dot.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPainterPath, QPen, QPixmap, QTransform

from sbert_desktop.ui.theme import theme

STROKE: Final = 1.5
GRID: Final = 20

_SHEET = "M5 2.75 L11.5 2.75 L15.5 6.75 L15.5 16 C15.5 16.8 14.9 17.25 14.2 17.25 L5.8 17.25 " \
         "C5.1 17.25 4.5 16.8 4.5 16 L4.5 3.25 C4.5 2.95 4.7 2.75 5 2.75 M11.25 3 L11.25 7 L15.25 7 "

_DRAWINGS: Final[dict[str, str]] = {
    # pages
    "search": "O 8.75 8.75 5.25 M12.6 12.6 L17 17",
    "duplicates": "R 7 2.75 10 10 2 M13 12.9 L13 15.25 C13 16.4 12.2 17.25 11 17.25 L5 17.25 "
                  "C3.8 17.25 3 16.4 3 15.25 L3 9 C3 7.8 3.8 7 5 7 L6.9 7",
    "clusters": "O 6 6.25 3 O 14.75 5 1.9 O 12.75 13.75 3.1 D 5 13.75 1",
    "map": "M3 5.25 L7.75 3.25 L12.25 5.5 L17 3.5 L17 14.75 L12.25 16.75 L7.75 14.5 L3 16.5 Z "
           "M7.75 3.4 L7.75 14.4 M12.25 5.6 L12.25 16.6",
    "train": "M10 4 L18 8 L10 12 L2 8 Z M5.25 9.75 L5.25 13.5 C7.8 15.9 12.2 15.9 14.75 13.5 L14.75 9.75",
    "models": "M10 2.5 L16.75 6.25 L16.75 13.75 L10 17.5 L3.25 13.75 L3.25 6.25 Z "
              "M3.5 6.4 L10 10 L16.5 6.4 M10 10 L10 17.2",
    "library": "R 2.75 3.25 3.5 13.5 0.75 R 6.25 3.25 3.5 13.5 0.75 M12 4.6 L14.8 3.8 L18 15.7 L15.2 16.5 Z",
    "settings": "M2.75 6.25 L10.5 6.25 M15 6.25 L17.25 6.25 O 12.75 6.25 2.1 M2.75 13.75 L5 13.75 "
                "M9.5 13.75 L17.25 13.75 O 7.25 13.75 2.1",
    "collapse": "R 2.75 3.5 14.5 13 2 M7.5 3.75 L7.5 16.25",
    "panel": "R 2.75 3.5 14.5 13 2 M12.5 3.75 L12.5 16.25",
    # kinds of documents
    "folder": "M2.75 15 L2.75 5.5 C2.75 4.7 3.4 4.25 4 4.25 L7.75 4.25 L9.5 6.25 L16 6.25 "
              "C16.8 6.25 17.25 6.8 17.25 7.5 L17.25 14.75 C17.25 15.5 16.7 16 16 16 L4 16 C3.2 16 2.75 15.6 2.75 15 Z",
    "file": _SHEET + "M7.5 10.5 L12.5 10.5 M7.5 13.5 L12.5 13.5",
    "pdf": _SHEET + "R 7.4 9.75 5.2 4.6 0.8",
    "mail": "R 2.75 4.25 14.5 11.5 2 M3.25 5.75 L10 10.75 L16.75 5.75",
    "note": "M16.75 11.5 L16.75 5 C16.75 3.9 16.1 3.25 15 3.25 L5 3.25 C3.9 3.25 3.25 3.9 3.25 5 L3.25 15 "
            "C3.25 16.1 3.9 16.75 5 16.75 L11.5 16.75 L16.75 11.5 M11.5 16.5 L11.5 12.9 C11.5 12 12 11.5 12.9 11.5 "
            "L16.5 11.5 M6.5 7 L13.5 7 M6.5 10.25 L9.5 10.25",
    "code": "M6.5 5.75 L2.5 10 L6.5 14.25 M13.5 5.75 L17.5 10 L13.5 14.25 M11.25 4 L8.75 16",
    "web": "O 10 10 7.25 M2.75 10 L17.25 10 M10 2.75 C13.4 6.4 13.4 13.6 10 17.25 M10 2.75 C6.6 6.4 6.6 13.6 10 17.25",
    "table": "R 2.75 3.5 14.5 13 2 M3 8 L17 8 M3 12.25 L17 12.25 M8 8 L8 16.25",
    "slides": "R 2.75 4 14.5 9.5 1.5 M10 13.5 L10 16.5 M6.75 16.75 L13.25 16.75",
    # actions
    "close": "M5 5 L15 15 M15 5 L5 15",
    "chevron": "M5.5 7.75 L10 12.25 L14.5 7.75",
    "chevron_right": "M7.75 5.5 L12.25 10 L7.75 14.5",
    "updown": "M6.5 7.5 L10 4 L13.5 7.5 M6.5 12.5 L10 16 L13.5 12.5",
    "plus": "M10 3.75 L10 16.25 M3.75 10 L16.25 10",
    "minus": "M3.75 10 L16.25 10",
    "pause": "M7 4.25 L7 15.75 M13 4.25 L13 15.75",
    "play": "M6 4 L15.75 10 L6 16 Z",
    "refresh": "M16.5 8.25 C15.4 5.2 12.9 3.25 10 3.25 C7.3 3.25 5 4.6 3.75 6.75 M3.5 3 L3.5 7 L7.5 7 "
               "M3.5 11.75 C4.6 14.8 7.1 16.75 10 16.75 C12.7 16.75 15 15.4 16.25 13.25 M16.5 17 L16.5 13 L12.5 13",
    "warning": "M10 3.25 L17.75 16.5 L2.25 16.5 Z M10 8 L10 11.75 D 10 14 0.9",
    "check": "M3.75 10.5 L8 14.75 L16.25 5.5",
    "up": "M4.75 12.5 L10 7.25 L15.25 12.5",
    "down": "M4.75 7.5 L10 12.75 L15.25 7.5",
    "more": "D 4.25 10 1.3 D 10 10 1.3 D 15.75 10 1.3",
    "open": "M11.5 3.25 L16.75 3.25 L16.75 8.5 M16.5 3.5 L9 11 M14.75 11.5 L14.75 15.5 C14.75 16.3 "
            "14.2 16.75 13.5 16.75 "
            "L4.5 16.75 C3.7 16.75 3.25 16.2 3.25 15.5 L3.25 6.5 C3.25 5.7 3.8 5.25 4.5 5.25 L8.5 5.25",
    "reveal": "M2.75 14.75 L2.75 5.25 C2.75 4.5 3.3 4 4 4 L7.25 4 L9 6 L14.25 6 C15 6 15.5 6.5 15.5 7.25 L15.5 8.5 "
              "M2.9 15 L5.4 9.25 C5.6 8.75 6 8.5 6.5 8.5 L17.4 8.5 L14.9 15.2 C14.7 15.7 14.3 16 13.8 16 L4 16 "
              "C3.2 16 2.75 15.5 2.75 14.75",
    "copy": "R 6.75 6.75 10 10 1.75 M13.25 6.5 L13.25 4.75 C13.25 3.9 12.6 3.25 11.75 3.25 L4.75 3.25 "
            "C3.9 3.25 3.25 3.9 3.25 4.75 L3.25 11.75 C3.25 12.6 3.9 13.25 4.75 13.25 L6.5 13.25",
    "eye": "M2 10 C4 6.4 6.8 4.75 10 4.75 C13.2 4.75 16 6.4 18 10 C16 13.6 13.2 15.25 10 15.25 C6.8 15.25 4 13.6 2 10 "
           "Z O 10 10 2.4",
    "eye_off": "M2 10 C4 6.4 6.8 4.75 10 4.75 C13.2 4.75 16 6.4 18 10 C16 13.6 13.2 15.25 10 15.25 C6.8 15.25 4 13.6 2 "
               "10 Z O 10 10 2.4 M4 16 L16 4",
    "lock": "R 4 9 12 8 1.75 M6.5 9 L6.5 6.5 C6.5 4.4 8 3 10 3 C12 3 13.5 4.4 13.5 6.5 L13.5 9 M10 12 L10 14",
    "text": "M4 6 L4 3.75 L16 3.75 L16 6 M10 4 L10 16.25 M7.25 16.25 L12.75 16.25",
    "quote": "R 2.75 3.5 14.5 11 2 M6.5 7.5 L13.5 7.5 M6.5 10.5 L11 10.5 M6.5 14.5 L6.5 17.5 L10 14.5",
    "scan": "M3 6.5 L3 4.5 C3 3.7 3.7 3 4.5 3 L6.5 3 M13.5 3 L15.5 3 C16.3 3 17 3.7 17 4.5 L17 6.5 M17 13.5 L17 15.5 "
            "C17 16.3 16.3 17 15.5 17 L13.5 17 M6.5 17 L4.5 17 C3.7 17 3 16.3 3 15.5 L3 13.5 M6.5 8 L13.5 8 "
            "M6.5 12 L13.5 12",
    "filter": "M2.75 4 L17.25 4 L11.75 10.75 L11.75 16.5 L8.25 14.5 L8.25 10.75 Z",
    "history": "M3.5 6.75 C5 4.4 7.3 3.25 10 3.25 C13.8 3.25 16.75 6.2 16.75 10 C16.75 13.8 13.8 16.75 10 16.75 "
               "C6.9 16.75 4.4 14.9 3.5 12.25 M3.25 3 L3.25 7 L7.25 7 M10 6.75 L10 10.5 L12.75 12",
    "trash": "M3.25 5.5 L16.75 5.5 M7.25 5.25 L7.25 3.25 L12.75 3.25 L12.75 5.25 M4.75 5.75 L5.5 16.75 L14.5 16.75 "
             "L15.25 5.75 M8.25 8.75 L8.5 13.75 M11.75 8.75 L11.5 13.75",
    "undo": "M7.25 3.75 L3.25 7.75 L7.25 11.75 M3.5 7.75 L12 7.75 C14.8 7.75 16.75 9.6 16.75 12 "
            "C16.75 14.4 14.8 16.25 12 16.25 "
            "L8 16.25",
    "shield": "M10 2.5 L16.5 4.75 L16.5 9.5 C16.5 13.4 13.9 16.2 10 17.5 C6.1 16.2 3.5 13.4 3.5 9.5 L3.5 4.75 Z "
              "M7 9.75 L9.25 12 L13 8",
    "clock": "O 10 10 7.25 M10 5.75 L10 10.25 L13 12",
    "sliders": "M5 3 L5 10 M5 14 L5 17 O 5 12 2 M15 3 L15 6 M15 10 L15 17 O 15 8 2",
    "relevant": "O 10 10 7.25 M6.75 10.25 L9 12.5 L13.25 7.75",
    "not_relevant": "O 10 10 7.25 M7.25 7.25 L12.75 12.75 M12.75 7.25 L7.25 12.75",
    "fit": "M3.25 7 L3.25 4.5 C3.25 3.8 3.8 3.25 4.5 3.25 L7 3.25 M13 3.25 L15.5 3.25 C16.2 3.25 16.75 3.8 16.75 4.5 "
           "L16.75 7 M16.75 13 L16.75 15.5 C16.75 16.2 16.2 16.75 15.5 16.75 L13 16.75 M7 16.75 L4.5 16.75 "
           "C3.8 16.75 3.25 16.2 3.25 15.5 L3.25 13",
    "export": "M10 12.5 L10 3.25 M6.25 6.75 L10 3 L13.75 6.75 M3.25 12.25 L3.25 15 C3.25 16.1 3.9 "
              "16.75 5 16.75 L15 16.75 "
              "C16.1 16.75 16.75 16.1 16.75 15 L16.75 12.25",
    "collection": "M5.75 3 L14.25 3 C15 3 15.5 3.5 15.5 4.25 L15.5 17 L10 13.25 L4.5 17 "
                  "L4.5 4.25 C4.5 3.5 5 3 5.75 3 Z",
    "star": "M10 2.75 L12.25 7.4 L17.25 8.1 L13.6 11.65 L14.5 16.75 L10 14.3 L5.5 16.75 L6.4 11.65 L2.75 8.1 "
            "L7.75 7.4 Z",
    "get": "M10 3 L10 12.5 M6.25 9 L10 12.75 L13.75 9 M3.25 12.25 L3.25 15 C3.25 16.1 3.9 16.75 5 16.75 "
           "L15 16.75 C16.1 16.75 16.75 16.1 16.75 15 L16.75 12.25",
    "pencil": "M3.5 16.5 L4.25 12.9 L13.4 3.75 C14 3.15 15 3.15 15.6 3.75 L16.25 4.4 C16.85 5 16.85 6 16.25 6.6 "
              "L7.1 15.75 Z M12 5.25 L14.75 8",
    "similar": "O 7.5 10 4.75 O 12.5 10 4.75",
    "merge": "M4.5 3.5 L10 9.5 L15.5 3.5 M10 9.5 L10 16.5 M7.25 13.75 L10 16.5 L12.75 13.75",
    "split": "M10 3.25 L10 9.75 L4.25 16.5 M10 9.75 L15.75 16.5",
    "pin": "M7 3 L13 3 M8 3 L8 7.75 L5.25 11.75 L14.75 11.75 L12 7.75 L12 3 M10 11.75 L10 17.25",
    "question": "O 10 10 7.25 M7.6 7.9 C7.6 6.5 8.6 5.75 10 5.75 C11.4 5.75 12.4 6.6 12.4 7.75 "
                "C12.4 9.4 10 9.5 10 11.5 D 10 14 0.9",
    "info": "O 10 10 7.25 M10 9.25 L10 13.5 D 10 6.5 0.9",
    "keyboard": "R 2.25 5 15.5 10 2 M7 12 L13 12 D 6 8.5 0.8 D 10 8.5 0.8 D 14 8.5 0.8",
    "language": "M3 5.25 L11.5 5.25 M7.25 3.25 L7.25 5 M10 5.5 C9.2 9 6.6 11.3 3.5 12.5 M4.75 7.5 "
                "C5.8 9.9 8 11.3 10 12 "
                "M9.5 17 L13.25 8.5 L17 17 M10.75 14.25 L15.75 14.25",
    # the map
    "move": "M10 2.5 L10 17.5 M2.5 10 L17.5 10 M7.75 4.5 L10 2.25 L12.25 4.5 M7.75 15.5 L10 17.75 L12.25 15.5 "
            "M4.5 7.75 L2.25 10 L4.5 12.25 M15.5 7.75 L17.75 10 L15.5 12.25",
    "lasso": "M5.2 12.6 C3.6 11.5 2.75 10.1 2.75 8.5 C2.75 5.3 6 2.75 10 2.75 C14 2.75 17.25 5.3 17.25 8.5 "
             "C17.25 11.7 14 14.25 10 14.25 C9.1 14.25 8.3 14.1 7.5 13.9 O 6.25 13.25 1.5 "
             "M6 14.8 C6.2 16 5.8 17 4.75 17.75",
    "marquee": "M3.25 6 L3.25 4.75 C3.25 3.9 3.9 3.25 4.75 3.25 L6 3.25 M8.75 3.25 L11.25 3.25 M14 3.25 L15.25 3.25 "
               "C16.1 3.25 16.75 3.9 16.75 4.75 L16.75 6 M16.75 8.75 L16.75 11.25 M16.75 14 L16.75 15.25 "
               "C16.75 16.1 16.1 16.75 15.25 16.75 L14 16.75 M11.25 16.75 L8.75 16.75 M6 16.75 L4.75 16.75 "
               "C3.9 16.75 3.25 16.1 3.25 15.25 L3.25 14 M3.25 11.25 L3.25 8.75",
    "palette": "M10 2.75 C5.9 2.75 2.75 5.9 2.75 10 C2.75 14.1 5.9 17.25 9.75 17.25 C11.2 17.25 11.9 16.2 11.5 15 "
               "C11.1 13.7 11.9 12.5 13.25 12.5 L15 12.5 C16.4 12.5 17.25 11.4 17.25 9.75 "
               "C17.25 5.8 14 2.75 10 2.75 Z D 6.5 9.5 1.1 D 9 6.25 1.1 D 13 6.75 1.1",
    "gauge": "M4.9 15.6 C3.5 14.3 2.75 12.5 2.75 10.75 C2.75 6.75 6 3.5 10 3.5 C14 3.5 17.25 6.75 17.25 10.75 "
             "C17.25 12.5 16.5 14.3 15.1 15.6 M10 11.5 L13.25 7.5 D 10 11.75 1.4",
    "tag": "M3 9.4 L3 4.4 C3 3.6 3.6 3 4.4 3 L9.4 3 L16.7 10.3 C17.3 10.9 17.3 11.7 16.7 12.3 L12.3 16.7 "
           "C11.7 17.3 10.9 17.3 10.3 16.7 Z D 6.6 6.6 1.1",
    "disk": "R 2.75 10.5 14.5 6 1.75 M3.25 11 L5.25 4.25 C5.4 3.6 5.9 3.25 6.5 3.25 L13.5 3.25 "
            "C14.1 3.25 14.6 3.6 14.75 4.25 "
            "L16.75 11 D 14 13.5 0.9",
}

NAMES: Final[tuple[str, ...]] = tuple(_DRAWINGS)

_FORMAT_ICONS: Final[dict[str, str]] = {
    "pdf": "pdf", "eml": "mail", "mbox": "mail", "msg": "mail", "mail": "mail", "md": "note", "markdown": "note",
    "html": "web", "htm": "web", "xhtml": "web", "csv": "table", "tsv": "table", "xlsx": "table", "xls": "table",
    "ods": "table", "pptx": "slides", "odp": "slides", "py": "code", "js": "code", "ts": "code", "c": "code",
    "h": "code", "cpp": "code", "java": "code", "rs": "code", "go": "code", "sh": "code", "code": "code",
    "json": "code", "xml": "code", "toml": "code", "yaml": "code",
}

_paths: dict[str, tuple[QPainterPath, QPainterPath]] = {}
_pixmaps: dict[tuple[str, int, int, float], QPixmap] = {}


def for_format(name: str) -> str:
    """Gives the icon's name for a document format or a file suffix without dot."""
    return _FORMAT_ICONS.get(name.lower(), "file")


def pixmap(name: str, size: int = 18, color: str | QColor = "muted", ratio: float | None = None) -> QPixmap:
    """Gives an icon as a picture of ``size`` logical pixels; cached."""
    shade = theme.color(color) if isinstance(color, str) else color
    ratio = ratio if ratio is not None else _ratio()
    key = (name, size, shade.rgba(), ratio)
    found = _pixmaps.get(key)
    if found is None:
        found = QPixmap(max(1, round(size * ratio)), max(1, round(size * ratio)))
        found.setDevicePixelRatio(ratio)
        found.fill(Qt.GlobalColor.transparent)
        painter = QPainter(found)
        draw(painter, name, QRectF(0, 0, size, size), shade)
        painter.end()
        if len(_pixmaps) > 2000:  # themes and sizes come and go; never let the cache grow for ever
            _pixmaps.clear()
        _pixmaps[key] = found
    return found


def icon(name: str, size: int = 18, color: str = "muted") -> QIcon:
    """Gives an icon for menus and Qt's own controls, in the colours now in force."""
    made = QIcon(pixmap(name, size, color))
    made.addPixmap(pixmap(name, size, theme.faded("muted", 0.6)), QIcon.Mode.Disabled)
    return made


def paint(painter: QPainter, name: str, rect: QRect, color: str | QColor = "muted") -> None:
    """Paints an icon centred in ``rect``, as large as its shorter side."""
    size = min(rect.width(), rect.height())
    device = painter.device()
    ratio = device.devicePixelRatioF() if device is not None else 1.0
    picture = pixmap(name, size, color, ratio)
    painter.drawPixmap(rect.x() + (rect.width() - size) // 2, rect.y() + (rect.height() - size) // 2, picture)


def draw(painter: QPainter, name: str, rect: QRectF, color: QColor, stroke: float = STROKE) -> None:
    """Strokes an icon's path into ``rect`` without the cache."""
    lines, dots = _path(name)
    scale = rect.width() / GRID
    place = QTransform().translate(rect.x(), rect.y()).scale(scale, scale)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, stroke, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(place.map(lines))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawPath(place.map(dots))
    painter.restore()


def app_icon() -> QIcon:
    """Gives the program's mark: two meanings that overlap, on the accent."""
    made = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        picture = QPixmap(size, size)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent"))
        painter.drawRoundedRect(QRectF(0, 0, size, size), size / 4, size / 4)
        inset = size / 8
        draw(painter, "similar", QRectF(inset, inset, size - 2 * inset, size - 2 * inset), theme.color("on_accent"),
             max(1.5, size / 16))
        painter.end()
        made.addPixmap(picture)
    return made


def size_of(size: int) -> QSize:
    """Gives a square QSize."""
    return QSize(size, size)


def _ratio() -> float:
    app = QGuiApplication.instance()
    return app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0


def _path(name: str) -> tuple[QPainterPath, QPainterPath]:
    found = _paths.get(name)
    if found is None:
        found = _paths[name] = parse(_DRAWINGS[name])
    return found


def parse(drawing: str) -> tuple[QPainterPath, QPainterPath]:
    """Gives the stroked lines and the filled dots of a drawing's string."""
    for letter in "MLCZORAD":
        drawing = drawing.replace(letter, f" {letter} ")
    words = drawing.split()
    lines, dots = QPainterPath(), QPainterPath()
    counts = {"M": 2, "L": 2, "C": 6, "Z": 0, "O": 3, "R": 5, "A": 5, "D": 3}
    at = 0
    while at < len(words):
        verb = words[at]
        v = [float(word) for word in words[at + 1: at + 1 + counts[verb]]]
        at += 1 + counts[verb]
        if verb == "M":
            lines.moveTo(v[0], v[1])
        elif verb == "L":
            lines.lineTo(v[0], v[1])
        elif verb == "C":
            lines.cubicTo(v[0], v[1], v[2], v[3], v[4], v[5])
        elif verb == "Z":
            lines.closeSubpath()
        elif verb == "O":
            lines.addEllipse(QPointF(v[0], v[1]), v[2], v[2])
        elif verb == "R":
            lines.addRoundedRect(QRectF(v[0], v[1], v[2], v[3]), v[4], v[4])
        elif verb == "A":
            box = QRectF(v[0] - v[2], v[1] - v[2], 2 * v[2], 2 * v[2])
            lines.arcMoveTo(box, v[3])
            lines.arcTo(box, v[3], v[4])
        else:
            dots.addEllipse(QPointF(v[0], v[1]), v[2], v[2])
    return lines, dots
