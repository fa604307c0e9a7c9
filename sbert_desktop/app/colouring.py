"""What the colours of the map's points say: theme, folder, type, date, nearness to a query, copies, language.

A point that stands for several documents has the colour of its first one. Everything comes from columns that the
library has at hand; nothing is computed that would let a person wait.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.atlas_views import UNSORTED, ColourBy, ColourGroup, ColourView, MapUnit, MapView
from sbert_desktop.app.map_names import grouping_of, point_themes
from sbert_desktop.app.searching import parse_query
from sbert_desktop.cleanup import DuplicateKind
from sbert_desktop.domain import ContentId, Filters, display_path

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import Mask, Query, Snapshot, Vectors

MOST = 40
"""Groups of a legend."""
OTHER = "Other"
_GREY = -1
_ASKED, _TURNS, _ALL = 400, 4, 1_500
"""Documents asked where they lie, to find out which folders there are: each time, how often, and all of so few."""
_YEARS = 12
"""Years that each have a group; more of them are put together."""
_SPANS = 8
_EDGE = 0.01
"""Share of the dates at each end that a scale of colours does without: one file from 1970 must not grey all others."""

_TYPES = {
    "PDF": "pdf",
    "Word": "docx docm dotx dotm doc wps wpd odt ott fodt sxw rtf pages",
    "Spreadsheets": "xlsx xlsm xltx xltm xls xlt xlsb ods ots fods sxc csv tsv tab numbers",
    "Slides": "pptx pptm ppsx ppsm potx potm ppt pps odp otp fodp sxi key",
    "Mail": "eml emlx msg oft mbox mbx pst ost dbx tnef",
    "Web pages": "html htm xhtml xht shtml mht mhtml",
    "Notes": "md markdown mdown mkd mdx org rst adoc asciidoc",
    "Text": "txt text log",
    "E-books": "epub fb2",
    "Pictures": "png jpg jpeg jpe jfif tif tiff webp bmp gif heic heif svg odg",
    "Subtitles": "srt vtt sbv ass ssa sub lrc",
    "Code": "py pyi js mjs cjs jsx ts tsx java kt scala c h cc cpp hpp cs fs vb m swift go rs rb php pl lua r jl hs ml "
    "clj lisp el erl ex dart zig sql sh bash zsh bat cmd ps1 css scss less vue ipynb tex",
    "Data": "json jsonl ndjson yaml yml toml ini cfg conf xml rss atom opml geojson bib ics vcf",
}
_TYPE_OF = {suffix: word for word, suffixes in _TYPES.items() for suffix in suffixes.split()}
_LANGUAGES = {
    "af": "Afrikaans", "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech",
    "cy": "Welsh", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish",
    "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish",
    "gl": "Galician", "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian",
    "hy": "Armenian", "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese", "ka": "Georgian",
    "ko": "Korean", "la": "Latin", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "mr": "Marathi",
    "ms": "Malay", "nb": "Norwegian", "nl": "Dutch", "nn": "Norwegian (Nynorsk)", "no": "Norwegian", "pl": "Polish",
    "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian",
    "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai", "tl": "Tagalog",
    "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip

Codes = NDArray[np.int32]


class _Legend:
    """Groups under way: a label and a mask over points for each; the first that a point is in has it."""

    def __init__(self, view: MapView) -> None:
        self._view = view
        self.codes: Codes = np.full(len(view), -1, np.int32)
        self.labels: list[str] = []

    def add(self, label: str, points: Mask) -> None:
        """Gives the points that are in no group yet to a new one."""
        mine = points & (self.codes < 0)
        if mine.any():
            self.codes[mine] = len(self.labels)
            self.labels.append(label)

    def finish(self, *, rest: str = OTHER, keep_order: bool = False) -> tuple[Codes, tuple[ColourGroup, ...]]:
        """Orders groups by size, puts those too many and points in none under ``rest``, which comes last."""
        counts = np.bincount(self.codes[self.codes >= 0], self._view.counts[self.codes >= 0], len(self.labels))
        order = list(range(len(self.labels))) if keep_order else np.argsort(-counts, kind="stable").tolist()
        rested = len(order) > MOST or bool((self.codes < 0).any())
        shown = order[: MOST - 1] if rested else order
        place = np.full(len(self.labels) + 1, len(shown) if rested else -1, np.int32)
        place[shown] = np.arange(len(shown), dtype=np.int32)
        codes = place[self.codes]
        left = int(self._view.counts[codes == len(shown)].sum()) if rested else 0
        groups = [ColourGroup(self.labels[at], int(counts[at]), colour) for colour, at in enumerate(shown)]
        if rested:
            groups.append(ColourGroup(rest, left, _GREY))
        return codes, tuple(groups)


def run_colours(session: Session, view: MapView, by: ColourBy, *, query: Query | None = None) -> ColourView:
    """Gives the colours of a map's points.

    Args:
        session: The opened library.
        view: The map; positions do not matter.
        by: What the colours say.
        query: What is searched for now, for :attr:`ColourBy.QUERY`.
    """
    snapshot = session.snapshot()
    dates = _dates(snapshot, view)
    if not len(view):
        return ColourView(by, np.zeros(0, np.int32), (), None, "", "", dates)
    if by is ColourBy.QUERY:
        return _by_query(session, snapshot, view, query, dates)
    if by is ColourBy.DATE:
        return _by_date(view, dates)
    ways: dict[ColourBy, Callable[[], tuple[Codes, tuple[ColourGroup, ...], str]]] = {
        ColourBy.THEME: lambda: _by_theme(session, view),
        ColourBy.FOLDER: lambda: _by_folder(session, snapshot, view),
        ColourBy.TYPE: lambda: _by_type(session, snapshot, view),
        ColourBy.LANGUAGE: lambda: _by_language(session, snapshot, view),
        ColourBy.DUPLICATES: lambda: _by_copies(session, view),
    }
    codes, groups, note = ways[by]()
    return ColourView(by, codes, groups, None, "", "", dates, note)


def _dates(snapshot: Snapshot, view: MapView) -> NDArray[np.float64]:
    """Gives the newest date of each point's documents."""
    known = snapshot.dates()
    if not len(view):
        return np.zeros(0)
    inside = view.contents < len(known)
    dates = np.where(inside, known[np.where(inside, view.contents, 0)], np.nan)
    return np.asarray(np.fmax.reduceat(dates, view.starts[:-1]), np.float64)


def _first(view: MapView) -> NDArray[np.int64]:
    return view.contents[view.starts[:-1]]


def _passing(snapshot: Snapshot, first: NDArray[np.int64], filters: Filters) -> Mask:
    """Says of each point's document whether it passes."""
    mask = snapshot.select(filters)
    if mask is None:
        return np.ones(len(first), np.bool_)
    inside = first < len(mask)
    return np.asarray(inside & mask[np.where(inside, first, 0)], np.bool_)


# ---------------------------------------------------------------- groups


def _by_theme(session: Session, view: MapView) -> tuple[Codes, tuple[ColourGroup, ...], str]:
    themes = grouping_of(session)
    if themes is None:
        return np.full(len(view), -1, np.int32), (), "There are no clusters yet; open Clusters to find them."
    labels = point_themes(view, themes)
    counts = np.bincount(labels[labels >= 0], view.counts[labels >= 0], len(themes.themes))
    shown = [at for at in range(len(themes.themes)) if counts[at]]
    many = len(shown) > MOST - 2
    if many:
        shown = sorted(np.argsort(-counts, kind="stable")[: MOST - 2].tolist())
    place = np.full(len(themes.themes) + 1, len(shown), np.int32)
    place[shown] = np.arange(len(shown), dtype=np.int32)
    place[-1] = len(shown) + 1 if many else len(shown)
    codes = place[labels]
    groups = [
        ColourGroup(themes.themes[at].label, int(counts[at]), themes.themes[at].colour, themes.themes[at].id)
        for at in shown
    ]
    if many:
        groups.append(ColourGroup(OTHER, int(view.counts[codes == len(shown)].sum()), _GREY))
    if (labels < 0).any():
        groups.append(ColourGroup("Unsorted", int(view.counts[labels < 0].sum()), _GREY, UNSORTED))
    return codes, tuple(groups), ""


def _by_folder(session: Session, snapshot: Snapshot, view: MapView) -> tuple[Codes, tuple[ColourGroup, ...], str]:
    roots = [record.path for record in session.library.folders() if record.state == "active"]
    first, legend = _first(view), _Legend(view)
    if len(roots) == 1:
        _add_subfolders(session, snapshot, roots[0], first, legend)
    else:
        # The innermost first: a folder of the library may lie in another.
        for root in sorted(roots, key=lambda path: -len(path.parts)):
            legend.add(_short(root, roots), _passing(snapshot, first, Filters(folder=root)))
    codes, groups = legend.finish()
    return codes, groups, ""


def _short(root: Path, roots: Sequence[Path]) -> str:
    """Gives the last name of a folder, with the one around it where two have the same."""
    alike = sum(other.name == root.name for other in roots) > 1
    name = display_path(root.name) or display_path(root)
    return f"{name} ({display_path(root.parent.name or root.parent)})" if alike else name


def _add_subfolders(
    session: Session, snapshot: Snapshot, root: Path, first: NDArray[np.int64], legend: _Legend
) -> None:
    """Adds the folders right below a root, the largest ones for sure, and what lies in it itself.

    Where documents lie is asked of a sample, so that no list of all files is read; which of all documents lie in a
    folder is then known exactly.
    """
    random = np.random.default_rng(0)
    for turn in range(_TURNS):
        left = np.flatnonzero(legend.codes < 0)
        if not len(left) or len(legend.labels) >= MOST:
            return
        everything = len(left) <= _ALL
        asked = left if everything else left[random.choice(len(left), _ASKED, replace=False)]
        names = [_below(session, root, content) for content in first[asked].tolist()]
        for name, _ in Counter(name for name in names if name).most_common(MOST - len(legend.labels)):
            assert name is not None
            legend.add(display_path(name), _passing(snapshot, first, Filters(folder=root / name)))
        direct = [name == "" for name in names]
        if everything:
            here = np.zeros(len(first), np.bool_)
            here[asked[np.array(direct, np.bool_)]] = True
            legend.add(f"{display_path(root.name)} itself", here)
            return
        if all(direct) or (turn == _TURNS - 1 and sum(direct) > len(direct) / 2):
            legend.add(f"{display_path(root.name)} itself", _passing(snapshot, first, Filters(folder=root)))
            return


def _below(session: Session, root: Path, content: int) -> str | None:
    """Gives the folder right below the root in which a document lies, "" for none, None where it is gone."""
    for place in session.library.paths_of(ContentId(content)):
        try:
            parts = place.path.relative_to(root).parts
        except ValueError:
            continue
        return parts[0] if len(parts) > 1 else ""
    return None


def _by_type(session: Session, snapshot: Snapshot, view: MapView) -> tuple[Codes, tuple[ColourGroup, ...], str]:
    words: dict[str, list[str]] = {}
    for suffix in session.library.formats():
        words.setdefault(_TYPE_OF.get(suffix, display_path(suffix).upper()), []).append(suffix)
    first, legend = _first(view), _Legend(view)
    for word, suffixes in words.items():
        legend.add(word, _passing(snapshot, first, Filters(types=tuple(suffixes))))
    codes, groups = legend.finish()
    return codes, groups, ""


def _by_language(session: Session, snapshot: Snapshot, view: MapView) -> tuple[Codes, tuple[ColourGroup, ...], str]:
    first, legend = _first(view), _Legend(view)
    for code in session.library.languages():
        legend.add(_LANGUAGES.get(code, code), _passing(snapshot, first, Filters(languages=(code,))))
    codes, groups = legend.finish(rest=OTHER if len(legend.labels) > MOST else "Too short to tell")
    return codes, groups, ""


def _by_copies(session: Session, view: MapView) -> tuple[Codes, tuple[ColourGroup, ...], str]:
    """Tells apart what there is once from copies, and from near duplicates as far as they were found already."""
    first, legend = _first(view), _Legend(view)
    note = ""
    same, near = _found_copies(session)
    alike = view.counts > 1 if view.request.unit is MapUnit.DOCUMENTS else np.zeros(len(view), np.bool_)
    if same is not None:
        alike |= np.isin(first, same)
    else:
        note = "Only documents with the same text are known; open Duplicates to find those that are nearly the same."
    legend.add("Copies", alike)
    if near is not None:
        legend.add("Nearly the same", np.isin(first, near))
    if not legend.labels and not note:
        note = "There are no copies here."
    codes, groups = legend.finish(rest="One of a kind", keep_order=True)
    return codes, groups, note


def _found_copies(session: Session) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    """Gives the contents that lie in several files, and those with a near duplicate; None where nobody looked."""
    from sbert_desktop.app.deciding import apart
    from sbert_desktop.app.duplicates import kept_found
    from sbert_desktop.app.found import count_copies

    found = kept_found(session)
    if found is None:
        return None, None
    copies, shas = found.gathered.copies, found.gathered.shas
    counts = count_copies(copies, len(shas))
    numbers = {sha256: number for number, sha256 in enumerate(shas)}
    excluded = {(numbers[a], numbers[b]) for a, b in apart(session) if a in numbers and b in numbers and a != b}
    kinds = [kind for kind in DuplicateKind if kind is not DuplicateKind.RELATED]
    same, near = np.zeros(len(shas), np.bool_), np.zeros(len(shas), np.bool_)
    for group in found.kinship.group(counts, kinds=kinds, excluded=excluded):
        equal = group.kind in (DuplicateKind.BYTES, DuplicateKind.TEXT, DuplicateKind.FORMAT)
        (same if equal else near)[list(group.units)] = True
    same |= counts > 1
    pairs = {(copy.unit, copy.content) for copy in copies if copy.content and (same[copy.unit] or near[copy.unit])}
    return (
        np.array(sorted({content for unit, content in pairs if same[unit]}), np.int64),
        np.array(sorted({content for unit, content in pairs if not same[unit]}), np.int64),
    )


# ---------------------------------------------------------------- scales


def _by_date(view: MapView, dates: NDArray[np.float64]) -> ColourView:
    known = np.isfinite(dates)
    if not known.any():
        return ColourView(ColourBy.DATE, np.full(len(view), -1, np.int32), (), None, "", "", dates, "No date is known.")
    low, high = (float(value) for value in np.quantile(dates[known], (_EDGE, 1 - _EDGE)))
    span = max(high - low, 1.0)
    values = np.where(known, np.clip((dates - low) / span, 0, 1), np.nan).astype(np.float32)
    if high == low:
        values[known] = 1.0
    codes, groups = _spans(view, dates, known)
    return ColourView(ColourBy.DATE, codes, groups, values, _day(low), _day(high), dates)


def _spans(
    view: MapView, dates: NDArray[np.float64], known: Mask
) -> tuple[Codes, tuple[ColourGroup, ...]]:
    """Groups dates by year, by several years where there are many, by month where there is one; oldest first."""
    calendar = np.where(known, dates, 0).astype("datetime64[s]")
    years = calendar.astype("datetime64[Y]").astype(np.int64) + 1970
    found = np.unique(years[known])
    legend = _Legend(view)
    if len(found) == 1:
        months = calendar.astype("datetime64[M]")
        for month in np.unique(months[known]):
            said = month.astype(datetime.date)
            legend.add(f"{said:%B} {said.year}", known & (months == month))
    elif len(found) <= _YEARS:
        for year in found.tolist():
            legend.add(str(year), known & (years == year))
    else:
        cuts = np.unique(np.quantile(years[known], np.linspace(0, 1, _SPANS + 1)[1:], method="lower").astype(np.int64))
        begin = int(found[0])
        for end in cuts.tolist():
            if end >= begin:
                inside = known & (years >= begin) & (years <= end)
                legend.add(str(end) if begin == end else f"{begin}–{end}", inside)
                begin = end + 1
    return legend.finish(rest="No date", keep_order=True)


def _day(seconds: float) -> str:
    try:
        day = datetime.datetime.fromtimestamp(seconds)
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{day.day} {day:%b} {day.year}"


def _by_query(
    session: Session, snapshot: Snapshot, view: MapView, query: Query | None, dates: NDArray[np.float64]
) -> ColourView:
    """Colours by the cosine of each point's best passage; never waits for a model."""

    def nothing(note: str) -> ColourView:
        return ColourView(ColourBy.QUERY, np.full(len(view), -1, np.int32), (), None, "", "", dates, note)

    if query is not None and query.parsed is None:
        query = replace(query, parsed=parse_query(session, query.text))
    if query is None or not (query.words.strip() or query.like.strip() or query.more):
        return nothing("Search for something first.")
    vector, note = _query_vector(session, snapshot, query)
    if vector is None:
        return nothing(note)
    rows = np.flatnonzero(snapshot.alive)
    if not len(rows) or snapshot.vectors.shape[1] != len(vector):
        return nothing("Nothing is findable by meaning with this model yet.")
    cosines = _cosines(snapshot, rows, vector)
    by, wanted = (
        (snapshot.contents[rows], _first(view))
        if view.request.unit is MapUnit.DOCUMENTS
        else (snapshot.passage_ids[rows], view.passages[view.starts[:-1]])
    )
    ids, at = np.unique(by, return_inverse=True)
    best = np.full(len(ids), -1.0, np.float32)
    np.maximum.at(best, at, cosines)
    place = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    nearness = np.where(ids[place] == wanted, best[place], np.nan).astype(np.float32)
    if not np.isfinite(nearness).any():
        return nothing("Nothing on this map is findable by meaning with this model.")
    top, middle = float(np.nanmax(nearness)), float(np.nanmedian(nearness))
    floor = _line(session, snapshot, len(rows))
    note = ""
    if floor is None or floor >= top:
        note = "Nothing here is clearly about that; the colours show what comes closest." if floor is not None else ""
        floor = middle
    values = np.clip((nearness - floor) / max(top - floor, 1e-6), 0, 1).astype(np.float32)
    codes = np.full(len(view), -1, np.int32)
    return ColourView(ColourBy.QUERY, codes, (), values, "not about it", f"closest ({top:.2f})", dates, note)


def _query_vector(session: Session, snapshot: Snapshot, query: Query) -> tuple[NDArray[np.float32] | None, str]:
    """Gives the query's vector, or why there is none."""
    from sbert_desktop.explore import steer

    more, less = _vectors_of(snapshot, query.more), _vectors_of(snapshot, query.less)
    vector: NDArray[np.float32] | None = None
    if query.words.strip() or query.like.strip():
        session.start_encoder()
        encoder = session.ready_encoder()
        if encoder is None:
            state, line = session.encoder_state()
            return None, line if state == "failed" else "The model is being prepared; try again in a moment."
        pasted = query.like.strip()
        vector = _unit(encoder.encode_now([pasted])) if pasted else encoder.encode_query(query.words)
    elif len(more):
        vector = _unit(more)
    if vector is None:
        return None, "Search for something first."
    return (steer(vector, more, less) if len(more) + len(less) else vector), ""


def _vectors_of(snapshot: Snapshot, passages: Sequence[int]) -> Vectors:
    if not passages:
        return np.zeros((0, snapshot.vectors.shape[1]), np.float32)
    rows = np.flatnonzero(np.isin(snapshot.passage_ids, list(passages)) & snapshot.alive)
    return np.asarray(snapshot.vectors[rows], np.float32)


def _unit(vectors: Vectors) -> NDArray[np.float32]:
    mean = vectors.mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), np.float32)


def _cosines(snapshot: Snapshot, rows: NDArray[np.int64], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    if len(rows) == len(snapshot.vectors):
        return np.asarray(snapshot.vectors @ vector, np.float32)
    step = 65_536
    parts = [snapshot.vectors[rows[at : at + step]] @ vector for at in range(0, len(rows), step)]
    return np.asarray(np.concatenate(parts), np.float32)


def _line(session: Session, snapshot: Snapshot, among: int) -> float | None:
    """Gives the cosine that the best of all passages reaches by chance, None where it is not known."""
    from sbert_desktop.app.chance import known_chance

    encoder = session.ready_encoder()
    chance = known_chance(session, encoder) if encoder is not None else None
    return chance.level(snapshot, among=among) if chance is not None else None
