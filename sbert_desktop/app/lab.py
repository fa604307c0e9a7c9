"""The model lab: installed models, and ways to use them, measured on the person's own judgements or on a file.

Every way is measured on the same draws of what was judged, so what it costs against the model as it is has an interval
of its own. What was measured last is kept in ``lab.json`` of the library's folder. Heavy work is done by the encoders
and by the torch child; runs in the lane ``study``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from sbert_desktop.app.lab_data import Floats, Judged, Resamples, interval, read_judged
from sbert_desktop.app.models import list_models
from sbert_desktop.app.training_views import LabRow, LabView
from sbert_desktop.domain import Encoder, JobContext, Vectors
from sbert_desktop.errors import SbertDesktopError, UsageError

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.app.views import ModelView

AS_IT_IS = "as it is"
WAYS = ("pooling", "dimensions", "int8")
DIMENSIONS = (256, 128, 64)
"""Dimensions that vectors are cut to. Source: what Matryoshka models are commonly trained for."""
_CLOUD = 256
"""Texts that the figures of the cloud of vectors want; general sentences are added where fewer were judged."""
_MOST_CLOUD = 4_000
_BATCH = 64
_SPEED_TEXTS, _SPEED_SECONDS = 96, 3.0
"""Passages of the library that are timed, and the seconds after which that ends."""
_SPEED_BATCH = 32
_ALIKE = "All similarities are alike, so nothing can be measured."
_NO_INTERVAL = "Too little of what was judged is independent to say how far chance may carry it."
_LEARNED = "Its directions were learned from these same texts: of others expect a little less."
_FILE = "lab.json"
_FORMAT = 1


def run_lab(
    session: Session, models: Sequence[str], data: str, ways: Sequence[str], context: JobContext
) -> LabView:
    """Measures models as they are, and in the ways asked for; hands on the table after each row.

    Args:
        session: Gives models, judgements and passages.
        models: Names; none: all encoders that are installed.
        data: ``judgements`` (also ``judgements:same``, ``:grades``, ``:answers``), or what ``evaluate`` reads.
        ways: Of :data:`WAYS`.
        context: Hears the progress, the table so far as Partial, and is asked for a cancel.

    Raises:
        UsageError: ``bad-arguments`` for a way that is none; what is wrong with the file. A model that cannot be
            measured is a row with a note.
        Cancelled: Through ``context``; what was measured before stays.
    """
    unknown = next((way for way in ways if way not in WAYS), "")
    if unknown:
        raise UsageError("bad-arguments", f"{unknown!r} is no way to use a model.", f"Ways: {', '.join(WAYS)}.")
    context.progress("Reading what was judged", 0, None)
    bench = _Bench.of(session, read_judged(session, data), context)
    listed = {view.name: view for view in list_models(session)}
    names = tuple(dict.fromkeys(models)) or tuple(view.name for view in listed.values() if view.kind == "encoder")
    rows: list[LabRow] = []
    for name in names:
        view = listed.get(name)
        if view is None:
            rows.append(_refused(name, f"There is no model {name!r}."))
            context.partial(bench.table(rows))
            continue
        for row in _rows_of(session, view, bench, ways):
            rows.append(row)
            context.partial(bench.table(rows))
    found = bench.table(rows)
    _keep(session, found)
    return found


def last_results(session: Session) -> LabView | None:
    """Gives what was measured last in this library, None where nothing was or it cannot be read."""
    try:
        kept = json.loads((session.library_path / _FILE).read_text("utf-8"))
        if kept["format"] != _FORMAT:
            return None
        table = kept["table"]
        rows = tuple(_sound(LabRow(**row)) for row in table["rows"])
        notes = tuple(str(note) for note in table["notes"])
        return LabView(rows, str(table["data"]), int(table["n"]), float(table["made"]), notes)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


# ---------------------------------------------------------------- measuring


@dataclass(slots=True)
class _Bench:
    """What all models are measured on."""

    session: Session
    judged: Judged
    context: JobContext
    resamples: Resamples
    more: tuple[str, ...]
    """General sentences beside the texts judged, for the figures of the cloud."""
    timed: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, session: Session, judged: Judged, context: JobContext) -> _Bench:
        more: tuple[str, ...] = ()
        if len(judged.texts) < _CLOUD:
            from sbert_desktop.training.guards import load_general_set

            known = set(judged.texts)
            general = load_general_set()
            free = [text for text in dict.fromkeys(general.first + general.second) if text not in known]
            more = tuple(free[: _CLOUD - len(judged.texts)])
        own = _own_passages(session)
        notes = [note for note in (judged.too_few, *judged.notes) if note]
        if more:
            mine = f"{len(judged.texts):,} texts that were judged and of " if judged.texts else ""
            notes.append(f"Mean cosine and isotropy are those of {mine}{len(more):,} general sentences.")
        notes.append("Speed was measured on this computer, with passages of your own." if own
                     else "Speed was measured on this computer.")  # fmt: skip
        timed = own or (*judged.texts, *more)[:_SPEED_TEXTS]
        return cls(session, judged, context, Resamples(judged.draws), more, timed, tuple(notes))

    def table(self, rows: Sequence[LabRow]) -> LabView:
        """Gives the table so far."""
        return LabView(tuple(rows), self.judged.words, self.judged.units, time.time(), self.notes)

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts that are encoded as passages; those judged come first."""
        return (*self.judged.texts, *self.more)

    def measured(self, row: LabRow, cloud: Cloud, base: Measured | None = None) -> tuple[LabRow, Measured]:
        """Fills a row in: quality with its interval, the difference to the model as it is, figures of the cloud."""
        from sbert_desktop.encoder.geometry import isotropy_after_whitening, mean_cosine

        judged, check = self.judged, self.context.check
        some = cloud.passages[:_MOST_CLOUD]
        row = replace(row, mean_cosine=mean_cosine(some), isotropy=isotropy_after_whitening(some),
                      dimension=cloud.passages.shape[1])  # fmt: skip
        if judged.too_few or not judged.units:
            return replace(row, note=_joined(judged.too_few, row.note)), Measured(None, np.empty(0))
        score = judged.measure(cloud.passages[: len(judged.texts)], cloud.queries, self.context)
        quality = score(self.resamples.whole)
        found = Measured(quality if np.isfinite(quality) else None, self.resamples.scores(score, check))
        if found.quality is None:
            return replace(row, note=_joined(_ALIKE, row.note)), found
        low, high = (interval(found.scores) if self.resamples.enough else None) or (None, None)
        row = replace(row, quality=found.quality, low=low, high=high)
        if low is None:
            row = replace(row, note=_joined(_NO_INTERVAL, row.note))
        if base is not None and base.quality is not None:
            change = found.quality - base.quality
            ends = interval(found.scores - base.scores) if self.resamples.enough else None
            row = replace(row, change=change, change_low=ends and ends[0], change_high=ends and ends[1])
            row = replace(row, note=_joined(_loss(row), row.note))
        return row, found


@dataclass(frozen=True, slots=True)
class Cloud:
    """Vectors of the texts and of the questions, float32, unit rows."""

    passages: Vectors
    queries: Vectors


@dataclass(frozen=True, slots=True)
class Measured:
    """A quality and what it is in each draw."""

    quality: float | None
    scores: Floats


def _rows_of(session: Session, view: ModelView, bench: _Bench, ways: Sequence[str]) -> Iterator[LabRow]:
    """Measures one model: as it is, then in other ways; what goes wrong is a row that says so."""
    if view.kind != "encoder":
        note = "It scores pairs of texts and gives no vectors to compare: it reads the first hits of a search again."
        yield replace(_refused(view.name, note), size=view.size)
        return
    if view.state == "refused" and not view.dimension:
        yield replace(_refused(view.name, view.note), size=view.size)
        return
    row = LabRow(view.name, AS_IT_IS, bench.judged.metric, None, None, None, None, None, None, view.size, 0)
    try:
        cloud, speed = _encoded(session, view, bench)
        plain, base = bench.measured(replace(row, speed=speed), cloud)
    except SbertDesktopError as error:
        yield replace(_refused(view.name, error.message), size=view.size)
        return
    yield plain
    bare = replace(row, speed=plain.speed)
    if "pooling" in ways:
        yield from _pooled(session, view, bench, bare, base)
    for way, made, note in _smaller(cloud, ways):
        bench.context.progress(f"{view.name}: {way}", 0, None)
        named = replace(bare, way=way, note=note)
        if made is None:
            yield replace(named, speed=None)
        else:
            yield bench.measured(named, made, base)[0]


def _encoded(session: Session, view: ModelView, bench: _Bench) -> tuple[Cloud, float]:
    """Encodes with the model as the program uses it; gives passages per second too."""
    from sbert_desktop.encoder import open_encoder

    bench.context.progress(f"Opening {view.name}", 0, None)
    encoder = open_encoder(
        view.path, backend=session.settings.text("advanced.encoder"),
        precision=session.settings.text("advanced.precision"), launch=session.launch, interactive=session.interactive,
    )  # fmt: skip
    try:
        speed = _timed(session, encoder, view, bench)
        passages = np.empty((len(bench.texts), encoder.info.dimension), np.float32)
        for at in range(0, len(passages), _BATCH):
            _give_way(session, bench.context)
            bench.context.progress(f"Encoding with {view.name}", at, len(passages))
            some = bench.texts[at : at + _BATCH]
            passages[at : at + len(some)] = encoder.encode_passages(some, bench.context)
        queries = np.empty((len(bench.judged.queries), encoder.info.dimension), np.float32)
        for place, query in enumerate(bench.judged.queries):
            _give_way(session, bench.context)
            bench.context.progress(f"Encoding questions with {view.name}", place, len(queries))
            queries[place] = encoder.encode_query(query)
        return Cloud(passages, queries), speed
    finally:
        encoder.close()


def _timed(session: Session, encoder: Encoder, view: ModelView, bench: _Bench) -> float:
    """Gives the passages per second, without what the first batch costs more."""
    bench.context.progress(f"Timing {view.name}", 0, None)
    encoder.encode_passages(bench.timed[:4], bench.context)
    spent, done = 0.0, 0
    for at in range(0, len(bench.timed), _SPEED_BATCH):
        _give_way(session, bench.context)
        some = bench.timed[at : at + _SPEED_BATCH]
        began = time.perf_counter()
        encoder.encode_passages(some, bench.context)
        spent += time.perf_counter() - began
        done += len(some)
        if spent > _SPEED_SECONDS:
            break
    return done / max(1e-6, spent)


def _pooled(session: Session, view: ModelView, bench: _Bench, bare: LabRow, base: Measured) -> Iterator[LabRow]:
    """Measures the other poolings, all of one pass of the texts through the model in the torch child."""
    from sbert_desktop.encoder.poolings import COMPARED, Poolings

    backend = session.settings.text("advanced.encoder")
    if backend == "hashing":
        return
    names = tuple(name for name in COMPARED if name != view.pooling)
    device = {"torch-cpu": "cpu", "torch-gpu": "gpu"}.get(backend, "auto")
    bench.context.progress(f"Opening the layers of {view.name}", 0, None)
    try:
        with Poolings(view.path, names, launch=session.launch, device=device) as opened:
            passages = opened.encode(bench.texts, bench.context)
            queries = opened.encode(bench.judged.queries, bench.context, queries=True)
    except SbertDesktopError as error:
        yield replace(bare, way="pooling", speed=None, note=f"Other poolings were not measured: {error.message}")
        return
    for name in names:
        bench.context.progress(f"{view.name}: {name}", 0, None)
        note = "Of unit length it is the mean." if name == "mean_sqrt_len" else ""
        yield bench.measured(replace(bare, way=name, note=note), Cloud(passages[name], queries[name]), base)[0]


def _smaller(cloud: Cloud, ways: Sequence[str]) -> Iterator[tuple[str, Cloud | None, str]]:
    """Gives smaller forms of vectors: the way, the vectors (None: not possible), and a note."""
    from sbert_desktop.encoder.geometry import cut, eight_bits, principal_directions, unit

    whole = cloud.passages.shape[1]
    for count in DIMENSIONS if "dimensions" in ways else ():
        if count >= whole:
            continue
        room = f"{100 * count / whole:.0f} % of the room."
        if len(cloud.passages) < 2 * count:
            yield f"pca {count}", None, f"Too few texts to learn {count} directions from."
        else:
            turn = principal_directions(cloud.passages[:_MOST_CLOUD], count).T
            yield f"pca {count}", Cloud(unit(cloud.passages @ turn), unit(cloud.queries @ turn)), f"{room} {_LEARNED}"
        yield f"cut {count}", Cloud(cut(cloud.passages, count), cut(cloud.queries, count)), room
    if "int8" in ways:
        yield "int8", Cloud(eight_bits(cloud.passages), eight_bits(cloud.queries)), "25 % of the room."


# ---------------------------------------------------------------- words and storing


def _refused(name: str, note: str) -> LabRow:
    return LabRow(name, AS_IT_IS, "", None, None, None, None, None, None, 0, 0, note)


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _loss(row: LabRow) -> str:
    """Gives in one sentence what a way costs: ``1.2 of 100 worse than as it is (0.4 to 2.0, 95 % sure)``."""
    change = row.change or 0.0
    correlation = row.metric == "spearman"

    def figure(value: float) -> str:
        return f"{abs(value):.3f}" if correlation else f"{100 * abs(value):.1f}"

    if row.change_low is None or row.change_high is None:
        return ""
    if row.change_low == row.change_high == 0:
        return "The same as it is."
    low, high = sorted((row.change_low, row.change_high))
    if low <= 0 <= high:
        return (f"No difference that could not be chance (from {figure(min(0.0, low))} worse to "
                f"{figure(max(0.0, high))} better).")  # fmt: skip
    ends = " to ".join(figure(end) for end in sorted((low, high), key=abs))
    unit = "" if correlation else " of 100"
    return f"{figure(change)}{unit} {'better' if change > 0 else 'worse'} than as it is ({ends}, 95 % sure)."


def _give_way(session: Session, context: JobContext) -> None:
    """Waits while the person searches."""
    context.check()
    while (seconds := session.held()) > 0:
        time.sleep(min(0.1, seconds))
        context.check()


def _own_passages(session: Session) -> tuple[str, ...]:
    """Gives passages of the library drawn by lot, none where it has none or cannot be opened."""
    try:
        snapshot = session.snapshot()
        rows = np.flatnonzero(snapshot.alive)
        if not len(rows):
            return ()
        chosen = np.random.default_rng(0).permutation(rows)[:_SPEED_TEXTS]
        found = snapshot.fetch([int(one) for one in snapshot.passage_ids[chosen]])
    except SbertDesktopError:
        return ()
    return tuple(found[key].text for key in sorted(found))


def _sound(row: LabRow) -> LabRow:
    """Gives a row whose fields hold what they should.

    Raises:
        TypeError: One does not.
    """
    words = (row.model, row.way, row.metric, row.note)
    figures = (row.quality, row.low, row.high, row.mean_cosine, row.isotropy, row.speed, row.change, row.change_low,
               row.change_high)  # fmt: skip
    sound = all(isinstance(one, str) for one in words) and all(isinstance(one, int | float | None) for one in figures)
    if not sound or not isinstance(row.size, int) or not isinstance(row.dimension, int):
        raise TypeError("not a row of the lab")
    return row


def _keep(session: Session, view: LabView) -> None:
    """Keeps a table in the library's folder; without a place to write it is measured again."""
    folder = session.library_path
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=folder, prefix=".lab-")
        temporary = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as stream:
            json.dump({"format": _FORMAT, "table": cast(object, dataclasses.asdict(view))}, stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, folder / _FILE)
    except OSError:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
