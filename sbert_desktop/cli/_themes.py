"""The themes of the library on the command line: ``clusters``, ``export clusters``, ``evaluate clustering``."""

from __future__ import annotations

import argparse
from pathlib import Path

from sbert_desktop.app.atlas_views import (
    ClusterRequest,
    ClustersView,
    Method,
    SplitView,
    ThemeChange,
    ThemeDeed,
    ThemeView,
)
from sbert_desktop.app.session import Session
from sbert_desktop.cli import _output as output
from sbert_desktop.cli._opening import as_json, console, session
from sbert_desktop.domain import JobContext, display_path
from sbert_desktop.errors import UsageError

_LABEL = 48
_KEYWORDS = 6


def clusters(options: argparse.Namespace) -> None:
    """Shows the themes, finds them anew, or changes one."""
    from sbert_desktop.app import theme_report
    from sbert_desktop.app.clustering import change_clusters, run_split_preview

    rename = _rename(options)
    with session(options) as opened, console(options) as context:
        view = _find(opened, options, context)
        if options.split is not None:
            parts = run_split_preview(opened, options.split, context)
            context.clear()
            _print_split(options, view, parts)
            return
        if rename is not None:
            view = change_clusters(opened, rename, context)
        context.clear()
        if as_json(options):
            output.emit(theme_report.as_json(theme_report.report(opened, view)))
        else:
            _print(view)


def _rename(options: argparse.Namespace) -> ThemeChange | None:
    if options.rename is None:
        return None
    id_, name = options.rename
    if not id_.isdecimal():
        raise UsageError("bad-arguments", f"{id_} is no number of a cluster.", "'clusters' shows the numbers.")
    return ThemeChange(ThemeDeed.RENAME, (int(id_),), name=name)


def _find(opened: Session, options: argparse.Namespace, context: JobContext) -> ClustersView:
    """Gives the themes that the window shows, or finds them as the options say."""
    from sbert_desktop.app.clustering import change_clusters, run_clusters

    view = run_clusters(opened, context, _request(options), again=options.again)
    if options.strictness is not None and options.strictness != view.strictness and view.documents:
        view = change_clusters(opened, ThemeChange(ThemeDeed.STRICTNESS, strictness=options.strictness), context)
    return view


def _request(options: argparse.Namespace) -> ClusterRequest | None:
    if options.method is None and options.count is None and options.detail is None and not options.seed:
        return None
    if options.count is not None and options.method in ("hdbscan", "threshold"):
        raise UsageError("no-count", f"{options.method} finds how many there are by itself.",
                         "Leave --count out, or take --method kmeans or communities.")
    return ClusterRequest(
        Method(options.method or Method.AUTO.value), options.count, options.detail or 0.0, options.seed
    )  # fmt: skip


def _print(view: ClustersView) -> None:
    wide = max((len(str(theme.id)) for theme in view.themes), default=2)
    for theme in view.themes:
        _print_theme(theme, max(2, wide))
    if view.note:
        output.line(view.note)
    if view.documents:
        share = f"{100 * view.unsorted / view.documents:.1f} %"
        themes = "1 cluster" if len(view.themes) == 1 else f"{len(view.themes):,} clusters"
        documents = "1 document" if view.documents == 1 else f"{view.documents:,} documents"
        output.line(f"{themes} of {documents}; {view.unsorted:,} unsorted ({share}). Silhouette {view.silhouette:.2f}.")
    if view.fresh:
        came = "1 document came" if view.fresh == 1 else f"{view.fresh:,} documents came"
        output.line(f"{came} since they were found; --again finds them anew.")
    if view.waiting and view.documents:
        wait = "1 document waits for its vector" if view.waiting == 1 else f"{view.waiting:,} wait for their vectors"
        output.line(f"{wait}, and takes no part yet." if view.waiting == 1 else f"{wait}, and take no part yet.")


def _print_theme(theme: ThemeView, wide: int) -> None:
    marks = "".join((" [pinned]" if theme.pinned else "", " [named]" if theme.named else ""))
    label = output.one_line(display_path(theme.label), _LABEL)
    output.line(f"{theme.id:>{wide}}  {theme.size:>7,}  {theme.similarity:.2f}  {label}{marks}")
    words = ", ".join(keyword.text for keyword in theme.keywords[:_KEYWORDS])
    if words:
        output.line(f"{'':{wide}}  {'':7}  {'':4}  {output.one_line(display_path(words), 90)}")
    if theme.central:
        typical = theme.central[0]
        place = f"{typical.path}{' > ' + typical.member if typical.member else ''}"
        output.line(f"{'':{wide}}  {'':7}  {'':4}  {display_path(place)}")


def _print_split(options: argparse.Namespace, view: ClustersView, parts: SplitView) -> None:
    theme = view.theme(parts.theme)
    if as_json(options):
        output.emit(
            {
                "id": parts.theme,
                "label": theme.label if theme is not None else "",
                "parts": [
                    {"label": part.label, "size": part.size, "keywords": list(part.keywords)} for part in parts.parts
                ],
                "note": parts.note,
            }
        )
        return
    if parts.note:
        output.line(parts.note)
    for part in parts.parts:
        output.line(f"{part.size:>7,}  {output.one_line(display_path(part.label), _LABEL)}")


def export_clusters(options: argparse.Namespace) -> None:
    """Writes the themes with their documents."""
    from sbert_desktop.app import theme_report

    target: Path | None = None if options.output in (None, Path("-")) else options.output
    form = options.format or (target.suffix.lower().lstrip(".") if target is not None else "csv")
    if target is None and as_json(options):
        form = options.format or "json"
        if form != "json":
            raise UsageError("bad-arguments", f"--json and {form} both want the output.", "Give -o a file.")
    with session(options) as opened, console(options) as context:
        view = _find(opened, options, context)
        context.clear()
        if view.note:
            output.say(view.note)
        if target is None:
            whole = theme_report.report(opened, view)
            if as_json(options):
                output.emit(theme_report.as_json(whole))
            else:
                output.line(theme_report.written(whole, form, line_end="\n").rstrip("\n"))
            return
        written = theme_report.export_clusters(opened, target, form=form, replace=options.force, view=view)
        if as_json(options):
            output.emit({"written": output.path_fields(written), "format": form, "clusters": len(view.themes)})
        else:
            output.line(f"{len(view.themes):,} clusters written to {display_path(written)}.")


def evaluate(session: Session, options: argparse.Namespace, context: JobContext) -> dict[str, object]:
    """Measures the themes of labelled texts."""
    from sbert_desktop.app.theme_evaluating import run_clustering

    request = ClusterRequest(Method(options.method), options.count, 0.0, options.seed)
    return run_clustering(session, options.data, context, request)
