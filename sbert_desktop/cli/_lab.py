"""``evaluate classification|reranking|bitext`` and ``lab`` on the command line."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable

from sbert_desktop.app.session import Session
from sbert_desktop.app.training_views import LabRow, LabView
from sbert_desktop.cli import _output as output
from sbert_desktop.cli._opening import as_json, console
from sbert_desktop.cli._opening import session as opened_session
from sbert_desktop.domain import JobContext
from sbert_desktop.errors import UsageError

KINDS = frozenset({"classification", "reranking", "bitext"})


def evaluate(session: Session, options: argparse.Namespace, context: JobContext) -> dict[str, object]:
    """Measures the model on one of these kinds."""
    from sbert_desktop.app import evaluating_tasks as tasks

    if options.kind == "classification":
        sampling = tasks.Sampling(options.samples, options.experiments, options.seed)
        return tasks.run_classification(session, options.data, context, test=options.test, sampling=sampling)
    run = tasks.run_reranking if options.kind == "reranking" else tasks.run_bitext
    return run(session, options.data, context)


def lab(options: argparse.Namespace) -> None:
    """Compares models and ways to use them."""
    from sbert_desktop.app.lab import last_results, run_lab
    from sbert_desktop.app.lab_export import export_lab

    with opened_session(options, create=True) as session, console(options) as context:
        if options.last:
            view = last_results(session)
            if view is None:
                raise UsageError("nothing-measured", "Nothing was measured yet in this library.", "Leave out --last.")
        else:
            view = run_lab(session, tuple(options.models), options.data, tuple(options.ways), context)
        context.clear()
        if options.csv is not None:
            export_lab(view, options.csv)
        if as_json(options):
            output.emit(dataclasses.asdict(view))
            return
        _print(view)


def _print(view: LabView) -> None:
    output.line(f"Measured on {view.data}.")
    for row in view.rows:
        output.line(_line(row))
    for note in view.notes:
        output.line(note)


def _line(row: LabRow) -> str:
    name = row.model if row.way == "as it is" else f"  {row.way}"
    quality = "not measured" if row.quality is None else f"{row.metric} {row.quality:.4f}"
    if row.low is not None and row.high is not None:
        quality += f" [{row.low:.4f}, {row.high:.4f}]"
    facts = [
        f"mean cosine {row.mean_cosine:.3f}" if row.mean_cosine is not None else "",
        f"isotropy {row.isotropy:.3f}" if row.isotropy is not None else "",
        f"{row.speed:,.0f} passages/s" if row.speed else "",
        f"{row.dimension} dimensions" if row.dimension else "",
        f"{row.size / 1e6:,.0f} MB" if row.size else "",
        row.note,
    ]
    return f"{name:32} {quality:40} " + ", ".join(fact for fact in facts if fact)


COMMANDS: dict[str, Callable[[argparse.Namespace], int | None]] = {"lab": lab}
