"""The map as one HTML page that needs nothing but itself: style, script and data are inside.

The page's own rules let nothing be fetched and no other script run: both are named by their hashes, and the data is a
block of JSON in which no text can end it. Size is bounded: names are cut, and beyond some number points have none.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import ColourBy, ColourGroup, ColourView, MapUnit, MapView
from sbert_desktop.app.map_report import Place, folder_and_name, place_of
from sbert_desktop.domain import display_path
from sbert_desktop.paths import resource

NAMED = 200_000
"""Points that have a title and a file's name in the page: about 100 bytes each."""
_TITLE, _NAME, _FOLDER = 120, 200, 400
_GRID = 65_535
_NONE = 255
_NO_THEME = 65_535
_NO_DAY = -(2**31)
_DAY = 86_400
_WORDS = {
    ColourBy.THEME: "Themes",
    ColourBy.FOLDER: "Folders",
    ColourBy.TYPE: "Types",
    ColourBy.DATE: "Dates",
    ColourBy.QUERY: "Nearness to the query",
    ColourBy.DUPLICATES: "Copies",
    ColourBy.LANGUAGE: "Languages",
}
_LIGHT = ("#bf840a", "#3798cc", "#009e73", "#9b910a", "#0072b2", "#d55e00", "#c875a3", "#4a4a4a", "#7b61c4")
_DARK = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#2e88c8", "#d55e00", "#cc79a7", "#cfcfcf", "#a690f0")
_GREY = ("#8c8b86", "#6b6d72")


def page(view: MapView, colours: ColourView, places: dict[int, Place], *, palette: Sequence[str] = ()) -> str:
    """Gives the page.

    Args:
        view: The map.
        colours: Of its points.
        places: As :func:`sbert_desktop.app.map_report.places_of` gives them.
        palette: ``#rrggbb`` for each place that a group's ``colour`` names.
    """
    style = resource("map", "page.css").read_text("utf-8")
    script = resource("map", "page.js").read_text("utf-8")
    rules = (
        f"default-src 'none'; style-src '{_named(style)}'; script-src '{_named(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    one = "document" if view.request.unit is MapUnit.DOCUMENTS else "passage"
    members = int(view.counts.sum())
    about = f"{members:,} {one}{'' if members == 1 else 's'}. {view.quality_sentence}".strip()
    data = json.dumps(_data(view, colours, places, palette), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{rules}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Map</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<canvas id="map" tabindex="0" role="img" aria-label="Map of {members:,} {one}s"></canvas>\n'
        f'<div id="head" class="panel"><h1>Map</h1><p id="about">{html.escape(about)}</p>'
        '<input id="find" type="search" placeholder="Find a title" aria-label="Find a title" autocomplete="off">'
        '<ul id="hits" aria-live="polite"></ul></div>\n'
        '<div id="legend" class="panel" role="group" aria-label="Legend"></div>\n<div id="card" class="panel"></div>\n'
        '<div id="keys" class="panel">Arrows move, + and - zoom, 0 shows all, / finds, Esc clears</div>\n'
        f'<script type="application/json" id="data">{data}</script>\n<script>{script}</script>\n</body>\n</html>\n'
    )


def _named(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}"


def _data(
    view: MapView, colours: ColourView, places: dict[int, Place], palette: Sequence[str]
) -> dict[str, object]:
    low, scale = _fitted(view)
    spots = np.round((view.positions.astype(np.float64) - low) * scale).astype("<u2")
    ends = spots.max(axis=0).tolist() if len(spots) else [1, 1]
    firsts = [place_of(places, content) for content in view.contents[view.starts[:-1]].tolist()]
    named = firsts[:NAMED]
    cut = [folder_and_name(place.raw) for place in named]
    folders = list(dict.fromkeys(folder for folder, _ in cut)) or [b""]
    number = {folder: at for at, folder in enumerate(folders)}
    themes = list(dict.fromkeys(place.theme for place in firsts if place.theme))[:_NO_THEME]
    theme_number = {theme: at for at, theme in enumerate(themes)}
    rest = [""] * (len(firsts) - len(named))
    days = np.where(np.isfinite(colours.dates), colours.dates / _DAY, _NO_DAY)
    return {
        "count": len(view),
        "by": colours.by.value,
        "words": _WORDS[colours.by],
        "made": datetime.now(UTC).strftime("%Y-%m-%d"),
        "wide": max(1, int(ends[0])),
        "high": max(1, int(ends[1])),
        "spots": _packed(spots),
        "group": _packed(np.where(colours.point_groups < 0, _NONE, colours.point_groups).astype("<u1")),
        "value": None if colours.values is None else _packed(_levels(colours.values)),
        "many": _packed(np.minimum(view.counts, 65_535).astype("<u2")),
        "day": _packed(np.clip(np.floor(days), _NO_DAY, 2**31 - 1).astype("<i4")),
        "folder": _packed(np.array([number[folder] for folder, _ in cut] + [0] * len(rest), "<u4")),
        "theme": _packed(np.array([theme_number.get(place.theme, _NO_THEME) for place in firsts], "<u2")),
        "low": colours.low,
        "high_word": colours.high,
        "groups": [_group(group, palette) for group in colours.groups],
        "labels": [
            {
                "text": _short(label.text, _TITLE),
                "x": float((label.x - low[0]) * scale),
                "y": float((label.y - low[1]) * scale),
                "level": label.level,
            }
            for label in sorted(view.labels, key=lambda label: (label.level, -label.weight))
        ],
        "themes": [_short(theme, _TITLE) for theme in themes],
        "titles": [_short(" ".join(place.title.split()), _TITLE) for place in named] + rest,
        "names": [_short(display_path(name), _NAME) for _, name in cut] + rest,
        "inside": [_short(display_path(place.member), _NAME) if place.member else "" for place in named] + rest,
        "folders": [_short(display_path(folder), _FOLDER) for folder in folders],
        "links": [_address(folder) for folder in folders],
        "unlinked": [at for at, (_, name) in enumerate(cut) if _short(display_path(name), _NAME).encode() != name],
    }


def _fitted(view: MapView) -> tuple[NDArray[np.float64], float]:
    """Gives the corner and the scale that bring all positions onto the page's grid."""
    if not len(view):
        return np.zeros(2), 1.0
    low = view.positions.min(axis=0).astype(np.float64)
    span = float((view.positions.max(axis=0) - low).max())
    return low, _GRID / span if span > 0 else 1.0


def _levels(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Gives 0 to 254 for 0 to 1, and 255 where nothing is known."""
    known = np.isfinite(values)
    return np.where(known, np.round(np.clip(np.where(known, values, 0), 0, 1) * (_NONE - 1)), _NONE).astype("<u1")


def _group(group: ColourGroup, palette: Sequence[str]) -> dict[str, object]:
    if group.colour < 0:
        light, dark = _GREY
    elif group.colour < len(palette) and _is_colour(palette[group.colour]):
        light = dark = palette[group.colour]
    else:
        light, dark = _LIGHT[group.colour % len(_LIGHT)], _DARK[group.colour % len(_DARK)]
    return {"label": _short(group.label, _TITLE), "count": group.count, "light": light, "dark": dark}


def _is_colour(text: str) -> bool:
    return len(text) == 7 and text[0] == "#" and all(sign in "0123456789abcdefABCDEF" for sign in text[1:])


def _address(folder: bytes) -> str:
    """Gives a folder as the beginning of a file's address, "" where it has none."""
    try:
        return Path(os.fsdecode(folder)).as_uri().rstrip("/") + "/"
    except ValueError:  # not absolute
        return ""


def _packed(array: NDArray[np.generic]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _short(text: str, most: int) -> str:
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= most else text[: most - 1] + "…"
