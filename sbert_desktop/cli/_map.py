"""The commands ``map`` and ``export map``."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from sbert_desktop.app.atlas_views import ColourBy, ColourView, LayoutRules, MapRequest, MapUnit, MapView
from sbert_desktop.app.session import Session
from sbert_desktop.cli import _output as output
from sbert_desktop.cli._console import ConsoleContext
from sbert_desktop.cli._opening import as_json, console, session
from sbert_desktop.domain import display_path
from sbert_desktop.errors import SbertDesktopError, UsageError

_UNITS = {"documents": MapUnit.DOCUMENTS, "passages": MapUnit.PASSAGES}
_OUTPUT = Path("-")


def make_map(options: argparse.Namespace) -> None:
    """Gives the map that the window shows, laid out anew where that is asked for, and writes what is wanted."""
    targets = _targets(options)
    if as_json(options) and options.csv == _OUTPUT:
        raise UsageError("bad-arguments", "--json and --csv - both want the output.", "Give --csv a file.")
    with session(options) as opened, console(options) as context:
        view = _map(opened, options, context, parts=bool(options.png or options.html))
        context.clear()
        written = {} if not targets and options.csv is None else _write(opened, options, view)
        if as_json(options):
            output.emit({**_fields(view), **written})
        elif options.csv != _OUTPUT:
            _tell(view)
            for name in written.values():
                output.line(f"Written: {name}")


def export_map(options: argparse.Namespace) -> None:
    """Writes where each document lies, or a page with the map."""
    from sbert_desktop.app import map_report

    target: Path | None = None if options.output in (None, _OUTPUT) else options.output
    form = options.format or (map_report.form_of(target) if target is not None else "csv")
    if target is None and as_json(options):
        form = options.format or "json"
        if form != "json":
            raise UsageError("bad-arguments", f"--json and {form} both want the output.", "Give -o a file.")
    map_report.check_form(form)
    if target is not None:
        _refuse(target, options.force)
    with session(options) as opened, console(options) as context:
        view = _map(opened, options, context, parts=form == "html")
        context.clear()
        colours = _colours(opened, view)
        if target is None:
            output.line(map_report.written(opened, view, colours, form).rstrip("\r\n"))
            return
        written = map_report.export_map(opened, view, colours, target, form=form, replace=options.force)
        if as_json(options):
            output.emit({"written": output.path_fields(written), "format": form, "points": len(view)})
        else:
            output.line(f"{len(view):,} points written to {display_path(written)}.")


def _map(opened: Session, options: argparse.Namespace, context: ConsoleContext, *, parts: bool) -> MapView:
    from sbert_desktop.app.mapping import run_map

    return run_map(opened, _request(opened, options), context, parts=parts)


def _request(opened: Session, options: argparse.Namespace) -> MapRequest:
    """Gives what is asked for: as the map is, but for what was named; another one is laid out anew."""
    from sbert_desktop.app.mapping import stored_request

    unit = _UNITS[options.unit]
    stored = stored_request(opened, unit)
    before = stored or MapRequest(unit)
    named = {
        name: value
        for name, value in (
            ("neighbours", options.neighbours),
            ("minimum_distance", options.minimum_distance),
            ("seed", options.seed),
        )
        if value is not None
    }
    rules: LayoutRules = replace(before.rules, **named)
    if rules.seed < 0:
        raise UsageError("bad-arguments", f"{rules.seed} is no seed.", "Give 0 or more.")
    wanted = replace(before, method=options.method or before.method, rules=rules)
    return replace(wanted, refit=options.refit or (stored is not None and wanted != before))


def _targets(options: argparse.Namespace) -> list[Path]:
    """Gives the files that are to be written; refuses those that are there before anything is computed."""
    targets = [target for target in (options.csv, options.png, options.html) if target not in (None, _OUTPUT)]
    if options.png is not None and options.png.suffix.lower() != ".png":
        raise UsageError("bad-arguments", f"{options.png.name} is no name for a PNG.", "Let it end in .png.")
    for target in targets:
        _refuse(target, options.force)
    places = [os.path.realpath(target.expanduser()) for target in targets]
    if len(set(places)) < len(places):
        raise UsageError("bad-arguments", "Two things would be written into one file.", "Give each a name of its own.")
    return targets


def _refuse(target: Path, force: bool) -> None:
    place = target.expanduser()
    if place.is_dir() or not place.parent.is_dir():
        message = f"{display_path(place)} is a folder." if place.is_dir() else f"There is no folder for {place.name}."
        raise UsageError("output-unwritable", message, "Choose another place.")
    if place.exists() and not force:
        raise SbertDesktopError(
            "file-exists", f"{display_path(place)} is there already.", "Choose another name, or add --force."
        )


def _colours(opened: Session, view: MapView) -> ColourView:
    """Gives the colours of themes, of types where there are no themes."""
    from sbert_desktop.app.colouring import run_colours

    colours = run_colours(opened, view, ColourBy.THEME)
    return colours if colours.groups else run_colours(opened, view, ColourBy.TYPE)


def _write(opened: Session, options: argparse.Namespace, view: MapView) -> dict[str, str]:
    from sbert_desktop.app import map_report

    colours = _colours(opened, view)
    written = {}
    if options.csv == _OUTPUT:
        output.line(map_report.written(opened, view, colours, "csv").rstrip("\r\n"))
    for name, target in (("csv", options.csv), ("html", options.html)):
        if target not in (None, _OUTPUT):
            place = map_report.export_map(opened, view, colours, target, form=name, replace=options.force)
            written[name] = display_path(place)
    if options.png is not None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        from sbert_desktop.ui.map.picture import write_png

        place = Path(os.path.realpath(options.png.expanduser()))
        write_png(view, colours, place, options.size, dark=options.dark)
        written["png"] = display_path(place)
    return written


def _fields(view: MapView) -> dict[str, object]:
    return {
        "unit": view.request.unit.value,
        "method": view.request.method,
        "points": len(view),
        "documents": int(view.counts.sum()),
        "fresh": int(view.counts[view.fresh].sum()),
        "waiting": view.waiting,
        "trustworthiness": round(view.trustworthiness, 4),
        "neighbour_overlap": round(view.kept, 4),
        "quality": view.quality,
        "quality_sentence": view.quality_sentence,
        "seconds": round(view.seconds, 3),
        "labels": [label.text for label in view.labels if not label.level],
        "note": view.note,
    }


def _tell(view: MapView) -> None:
    count, unit = int(view.counts.sum()), view.request.unit.value
    points = "1 point" if len(view) == 1 else f"{len(view):,} points"
    output.line(f"{points} for {count:,} {unit if count != 1 else unit[:-1]}.")
    if view.quality and len(view) > 1:
        figures = f"trustworthiness {view.trustworthiness:.3f}, {view.kept:.0%} of the nearest kept"
        output.line(f"Quality: {view.quality} ({figures}).")
        output.line(view.quality_sentence)
    if view.seconds and len(view):
        output.line(f"Laid out in {view.seconds:.1f} s by {view.request.method}.")
    if view.note:
        output.line(view.note)
