"""The words and numbers of a comparison: units, intervals, ranks, what the tag says."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Final

from sbert_desktop.app.training_views import ChangeRow, ComparisonView, is_known
from sbert_desktop.ui import words

MINUS: Final = "\N{MINUS SIGN}"
FAR: Final = "100+"
"""A rank that is not among the first 100."""
_STEPS: Final = 8  # most steps of an axis

METRICS: Final = {
    "ap": "average precision", "f1": "F1", "accuracy": "accuracy", "balanced_accuracy": "balanced accuracy",
    "spearman_cosine": "Spearman's correlation", "pearson_cosine": "Pearson's correlation", "ndcg@10": "nDCG@10",
    "mrr@10": "MRR@10", "map": "mean average precision", "accuracy_cosine": "accuracy of triplets",
    "accuracy@1": "right first (accuracy@1)",
}  # fmt: skip
"""How the field writes its measures."""


def metric_words(metric: str) -> str:
    """Gives a measure as the field writes it."""
    return METRICS.get(metric, metric)


def counted(view: ComparisonView) -> bool:
    """True where the unit counts cases of a hundred, false for correlations and the like."""
    return "of 100" in view.unit


def number(view: ComparisonView, value: float) -> str:
    """Gives a value in the unit of the bars: ``58``, or ``0.58``."""
    if not counted(view):
        return f"{value:.2f}"
    hundred = 100 * value
    # a difference that is there must not read as none
    return f"{hundred:.1f}" if 0 < abs(hundred) < 0.5 else f"{hundred:.0f}"


def clear(view: ComparisonView) -> int:
    """Gives 1 when the whole interval is better, -1 when it is worse, 0 when it touches no difference."""
    if not view.measured:
        return 0
    return 1 if view.low > 0 else -1 if view.high < 0 else 0


def interval(view: ComparisonView) -> str:
    """Gives the interval as it is written beside the picture: ``6 to 20 better``."""
    if not is_known(view.low, view.high):
        return "could be chance"
    low, high = number(view, abs(view.low)), number(view, abs(view.high))
    side = clear(view)
    if side > 0:
        return f"{low} to {high} better"
    if side < 0:
        return f"{high} to {low} worse"
    if view.low == view.high == 0:
        return "no difference"
    return f"{low} worse to {high} better"


def interval_spoken(view: ComparisonView) -> str:
    """Gives the interval as it is said: ``between 6 and 20 better, 95 % sure``."""
    if not is_known(view.low, view.high):
        return "could be chance: too few independent ones were kept aside"
    low, high = number(view, abs(view.low)), number(view, abs(view.high))
    side = clear(view)
    if side > 0:
        return f"between {low} and {high} better, 95 % sure"
    if side < 0:
        return f"between {high} and {low} worse, 95 % sure"
    if view.low == view.high == 0:
        return "no difference that could not be chance"
    return f"from {low} worse to {high} better, 95 % sure: it could be chance"


def most_likely(view: ComparisonView) -> str:
    """Gives ``95 % sure; 13 most likely``."""
    if not is_known(view.low, view.high):
        return "too few independent ones"
    word = "" if clear(view) or not view.difference else " better" if view.difference > 0 else " worse"
    return f"95 % sure; {number(view, abs(view.difference))}{word} most likely"


def picture_words(view: ComparisonView) -> str:
    """Gives all that the bars and the interval show, as text."""
    if not view.measured:
        return view.verdict
    return (f"{view.base_name} now {number(view, view.base)} {view.unit}; {view.name} tuned "
            f"{number(view, view.tuned)} {view.unit}; difference {interval_spoken(view)}, "
            f"{number(view, abs(view.difference))} {'worse' if view.difference < 0 else 'better'} most likely")


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis in the unit of the bars: its ends, and its ticks with their words."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float) -> float:
        """Gives where a value lies, 0 at the left end and 1 at the right one."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def nice_step(span: float, most: int) -> float:
    """Gives a round step that divides a span into at most so many parts."""
    if not math.isfinite(span) or span <= 0:
        return 1.0
    raw = span / most
    base = 10.0 ** math.floor(math.log10(raw))
    return next(base * factor for factor in (1, 2, 5, 10) if base * factor >= raw * (1 - 1e-9))


def shown_ends(view: ComparisonView) -> tuple[float, float]:
    """Gives the ends of the interval; where it is not known there is the difference alone."""
    return (view.low, view.high) if is_known(view.low, view.high) else (view.difference, view.difference)


def difference_axis(view: ComparisonView) -> Axis:
    """Gives the axis of the difference: "same" inside it, with room for the words on both sides."""
    factor = 100.0 if counted(view) else 1.0
    ends = shown_ends(view)
    low, high = min(0.0, factor * ends[0]), max(0.0, factor * ends[1])
    step = nice_step(max(high - low, 0.04 * factor), _STEPS - 3)
    first, last = math.floor(low / step - 1e-9), math.ceil(high / step + 1e-9)
    if low > -1e-9:
        first = -2
    elif high < 1e-9:
        last = 2
    first, last = min(first, -1), max(last, 1)
    if last * step - high < 0.3 * step and high > 0:
        last += 1
    if low - first * step < 0.3 * step and low < 0:
        first -= 1
    digits = 0 if counted(view) and step >= 1 else 1 if counted(view) else max(1, math.ceil(-math.log10(step) - 1e-9))

    def word(at: int) -> str:
        text = f"{abs(at * step):.{digits}f}"
        return "same" if not at else f"{'+' if at > 0 else MINUS}{text}"

    return Axis(first * step, last * step, tuple((at * step, word(at)) for at in range(first, last + 1)))


@dataclass(frozen=True, slots=True)
class Judged:
    """What stands first: a tag, a headline and a sentence below it."""

    tag: str
    tone: str
    icon: str
    headline: str
    below: str


def by_what_decides(view: ComparisonView) -> ComparisonView:
    """Gives the comparison in the measure that decided, where the one in the labels' unit says less.

    A model may order pairs clearly better, though no more of them lie on the right side of the threshold.
    """
    first = view.measures[0] if view.measures else None
    if first is None or not view.measured or not view.recommended or view.low > 0 or first.low <= 0:
        return view
    return replace(view, metric=first.metric, unit=metric_words(first.metric), base=first.base, tuned=first.tuned,
                   difference=first.tuned - first.base, low=first.low, high=first.high)


def judge(view: ComparisonView) -> Judged:
    """Says what came of a training."""
    asked = counts_of(view)
    if not view.measured:
        return Judged("Cannot measure", "warn", "warning", "Nothing can be said about this model", view.verdict)
    said = view.verdict.partition(";")[0]
    headline = said.strip().rstrip(".")
    stops = [guard for guard in view.guards if not guard.passed and guard.severity == "stops"]
    if stops:
        return Judged("Not recommended", "danger", "warning", headline, " ".join(
            [*(guard.sentence for guard in stops), asked]))
    side = clear(view)
    if side < 0:
        return Judged("Worse", "danger", "down", headline, asked)
    if not side:
        known = is_known(view.low, view.high)
        return Judged("Not clearly better", "warn", "warning",
                      f"About as good as {view.base_name}" if known else "Too little to tell which is better",
                      f"{_ended(view.verdict)} {asked}".strip())
    if view.refusal or not view.recommended:
        return Judged("Not clearly better", "warn", "warning", f"About as good as {view.base_name}",
                      f"{_ended(view.refusal or view.verdict)} {asked}".strip())
    if not counted(view) and "of 100" in headline:  # see by_what_decides
        return Judged("Recommended", "good", "check", f"Orders your pairs clearly better than {view.base_name}",
                      f"{_ended(view.verdict)} {asked}".strip())
    return Judged("Recommended", "good", "check", headline, asked)


def refusal_words(view: ComparisonView) -> str:
    """Gives why it cannot be adopted, for the place above the button; the whole of it stands on the page."""
    if not view.refusal:
        return ""
    failed = [guard.title for guard in view.guards if not guard.passed and guard.severity == "stops"]
    if failed:
        return f"It cannot be adopted: it failed the check {words.listed([f'“{title}”' for title in failed])}."
    if view.measured and not clear(view):
        return "It cannot be adopted: it is not clearly better. More judgements tell more."
    if view.measured and clear(view) < 0:
        return "It cannot be adopted: it is worse."
    return f"It cannot be adopted: {view.refusal}"


def _ended(text: str) -> str:
    return text if not text or text.endswith(".") else f"{text}."


def counts_of(view: ComparisonView) -> str:
    """Gives how many got better, how many stayed and how many got worse."""
    if not view.held_out:
        return ""
    thing = "questions" if "question" in view.verdict.lower() or "first" in view.unit else "pairs"
    if "triplet" in view.unit:
        thing = "triplets"
    one = thing[:-1] if view.held_out == 1 else thing
    return (f"Asked with {words.count(view.held_out)} {one} kept aside: {words.count(view.better)} got better, "
            f"{words.count(view.same)} stayed the same, {words.count(view.worse)} got worse.")


def adopted_words(when: float, now: float | None = None) -> str:
    """Gives when a model was adopted, to stand behind "is in use": ``, adopted today at 14:05``; "" if not known."""
    day = words.day(when) if when else ""
    if not day:
        return ""
    if day == words.day(time.time() if now is None else now):
        return f", adopted today at {time.strftime('%H:%M', time.localtime(when))}"
    return f", adopted {day}"


def took(seconds: float) -> str:
    """Gives how long a training took: ``3 min 12 s``."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def about(view: ComparisonView) -> str:
    """Gives what was tuned on what: ``MiniLM tuned on 300 of your judgements in 3 min 12 s``."""
    text = f"{view.base_name} tuned on {words.counted(view.trained_on, 'judgement')}"
    return f"{text} in {took(view.seconds)}" if view.seconds else text


def rank(place: int) -> str:
    """Gives ``1st``, ``2nd``, ``100+`` for one that is not among the first hundred."""
    if place <= 0:
        return FAR
    ending = "th" if 10 <= place % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def move(row: ChangeRow) -> int:
    """Gives 1 where the tuned model ranks the document higher, -1 where lower, 0 where alike."""
    now, tuned = row.now or 101, row.tuned or 101
    return (now > tuned) - (now < tuned)


def in_order(rows: tuple[ChangeRow, ...]) -> tuple[ChangeRow, ...]:
    """Puts what gets better first, then what gets worse, what stays, and what nobody judged; each as it came.

    A row that nobody judged shows what the tuned model puts first: it is no gain, only a change.
    """
    return tuple(sorted(rows, key=lambda row: {1: 0, -1: 1, 0: 2}[move(row)] if row.judged else 3))


def shortened(rows: tuple[ChangeRow, ...], most: int) -> tuple[ChangeRow, ...]:
    """Gives so many of the rows that change: better first, yet what gets worse is always among them."""
    moved = [row for row in in_order(rows) if move(row)]
    worse = [row for row in moved if row.judged and move(row) < 0]
    kept = min(len(worse), max(1, most // 3)) if worse else 0
    better = [row for row in moved if row.judged and move(row) > 0][: most - kept]
    known = better + worse[: most - len(better)]
    return tuple(known + [row for row in moved if not row.judged][: most - len(known)])
