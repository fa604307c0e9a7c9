"""A comparison as a text that can be kept or sent: Markdown, every figure with its name in the field."""

from __future__ import annotations

import os
from pathlib import Path

from sbert_desktop.app.training_views import ComparisonView, interval_words
from sbert_desktop.ui.train.arrows import arrows_words
from sbert_desktop.ui.train.changes import groups_words
from sbert_desktop.ui.train.comparing_checks import LOOKS
from sbert_desktop.ui.train.comparing_words import about, in_order, interval_spoken, judge, metric_words, number, rank


def report(view: ComparisonView) -> str:
    """Gives the report."""
    said = judge(view)
    out = [f"# {view.name}: {said.headline}", "", f"**{said.tag}.** {about(view)}.", "", said.below, ""]
    if view.measured:
        out += ["| | value |", "|---|---|",
                f"| {_cell(view.base_name)} (now) | {number(view, view.base)} {view.unit} |",
                f"| {_cell(view.name)} (tuned) | {number(view, view.tuned)} {view.unit} |",
                f"| difference | {interval_spoken(view)} |",
                f"| {metric_words(view.metric)} | {view.base:.4f} to {view.tuned:.4f}, difference "
                f"{view.difference:+.4f}, 95 % interval {interval_words(view.low, view.high)} |"]
        out += [f"| {metric_words(metric)} | {base:.4f} to {tuned:.4f} |" for metric, base, tuned in view.other_metrics]
        out += [""]
    out += ["## Checks", ""]
    for guard in view.guards:
        look = LOOKS["passed" if guard.passed else "stops" if guard.severity == "stops" else "warns"][2]
        out.append(f"- {guard.title}: {look}. {guard.sentence}")
    out += ["", "## What would change", "", groups_words(view), "", arrows_words(view.arrows), ""]
    if view.changes:
        out += ["| question | right document | now | tuned |", "|---|---|---|---|"]
        out += [f"| {_cell(row.query)} | {_cell(row.document)} | {rank(row.now)} | {rank(row.tuned)} |"
                for row in in_order(view.changes)]
        out.append("")
    for search in view.searches:
        out += [f"### {search.query}", "", f"| {_cell(view.base_name)} | {_cell(view.name)} |", "|---|---|"]
        longest = max(len(search.now), len(search.tuned))
        pairs = zip(*(side + ("",) * (longest - len(side)) for side in (search.now, search.tuned)), strict=True)
        out += [f"| {_cell(now)} | {_cell(tuned)} |" for now, tuned in pairs]
        out.append("")
    if view.refusal:
        out += [f"It may not be adopted: {view.refusal}", ""]
    return "\n".join(out)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def write_report(view: ComparisonView, target: Path) -> Path:
    """Writes the report; a file that was there stays whole until the new one is."""
    part = target.with_name(f".{target.name}.part")
    try:
        part.write_text(report(view), encoding="utf-8")
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
    return target
