"""What the model lab measures on: the person's judgements, or a file that ``evaluate`` reads.

Either becomes a :class:`Judged`: texts and questions to encode, and a function from their vectors to a score of any
resample of what was judged. The interval is a bootstrap which draws labels that share a document or a text together
(training/resampling.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app import judged_tables as tables
from sbert_desktop.domain import JobContext, Vectors, display_path
from sbert_desktop.errors import UsageError
from sbert_desktop.training.labels import LabelKind, LabelSet, same_text
from sbert_desktop.training.resampling import FEWEST_GROUPS, Draws

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Score = Callable[[Integers], float]
"""Gives the quality over these units (which may repeat), nan where they allow none."""

JUDGEMENTS = "judgements"
RESAMPLES = 1_000
_CERTAIN = 0.9  # share of the resamples that must allow a score, or there is no interval
_TASKS = {
    "same": (LabelKind.PAIRS,), "grades": (LabelKind.GRADED,), "answers": (LabelKind.RELEVANCE,),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """What was judged.

    Attributes:
        words: What it is, to be shown: ``120 of your judgements``.
        metric: ``ap``, ``spearman``, ``triplet accuracy``, ``ndcg@10``, ``map``, ``accuracy``.
        texts: All passages, each once.
        queries: All questions, each once; encoded as the search does.
        draws: How the units (pairs, questions, texts, ...) are drawn anew.
        measure: Gives the score of vectors of the texts and of the queries; may take a while.
        too_few: Why there can be no quality, else "".
        notes: Plain sentences about what was left out.
    """

    words: str
    metric: str
    texts: tuple[str, ...]
    queries: tuple[str, ...]
    draws: Draws
    measure: Callable[[Vectors, Vectors, JobContext], Score]
    too_few: str = ""
    notes: tuple[str, ...] = ()

    @property
    def units(self) -> int:
        """How many pairs, questions or texts are judged."""
        return len(self.draws)


class Resamples:
    """Draws of the units of a data set, the same for every model, so that differences are paired.

    Args:
        draws: Of the units.
        seed: Of the draws.
    """

    def __init__(self, draws: Draws, *, seed: int = 0) -> None:
        self.whole = np.arange(len(draws))
        self._seed = seed
        self._draws = draws

    @property
    def enough(self) -> bool:
        """Says whether an interval of these can be trusted."""
        return self._draws.enough

    def scores(self, score: Score, check: Callable[[], None]) -> Floats:
        """Gives the score of each draw, float64 [draws], nan where it allows none."""
        lot = np.random.default_rng(self._seed)
        found = np.full(RESAMPLES if len(self._draws) else 0, np.nan)
        for number in range(len(found)):
            if number % 50 == 0:
                check()
            units = self._draws.units(lot)
            found[number] = score(units) if len(units) else np.nan
        return found


def interval(scores: Floats) -> tuple[float, float] | None:
    """Gives the ends of the middle 95 %, None where too few draws allow a score."""
    good = scores[np.isfinite(scores)]
    if not len(scores) or len(good) < _CERTAIN * len(scores):
        return None
    low, high = np.quantile(good, (0.025, 0.975))
    return float(low), float(high)


# ---------------------------------------------------------------- reading


def read_judged(session: Session, data: str) -> Judged:
    """Reads what ``data`` names.

    Args:
        session: Holds the judgements.
        data: ``judgements``, that with ``:same``, ``:grades`` or ``:answers``, or the path of a file or folder.

    Raises:
        UsageError: ``bad-data``, or as the readers of ``evaluate``.
    """
    name, _, task = data.partition(":")
    if name == JUDGEMENTS:
        if task and task not in _TASKS:
            raise UsageError("bad-data", f"There are no judgements of the kind {display_path(task)!r}.",
                             f"Kinds: {', '.join(_TASKS)}.")  # fmt: skip
        return _from_judgements(session, task)
    return _from_file(Path(data).expanduser())


def _from_judgements(session: Session, task: str) -> Judged:
    from sbert_desktop.app.label_records import labels_from

    found = {kind: named.labels for kind, named in labels_from(session.library.judgements()).items()}
    offered = {kind: labels for kind, labels in found.items() if not task or kind in _TASKS[task]}
    offered = {kind: labels for kind, labels in offered.items() if kind in _OF_LABELS}
    if not offered:
        kind = _TASKS[task][0] if task else LabelKind.PAIRS
        return _of_labels(LabelSet(kind), "none of your judgements", ())
    # The kind that tells most: the one of which most is independent.
    kind = max(offered, key=lambda one: (_drawn(offered[one], _joined(offered[one])).count, len(offered[one])))
    labels = offered[kind]
    rest = sum(len(other) for other in found.values()) - len(labels)
    said = "1 judgement of another kind says" if rest == 1 else f"{rest:,} judgements of other kinds say"
    notes = (f"{said} nothing here.",) if rest else ()
    return _of_labels(labels, f"{len(labels):,} of your judgements ({labels.unit})", notes)


def _joined(labels: LabelSet) -> Integers:
    """Gives the component of each label, int64 [labels]."""
    from sbert_desktop.training.splitting import components

    return components(labels) if len(labels) else np.arange(0)


def _drawn(labels: LabelSet, groups: Integers) -> Draws:
    return Draws.of_labels(labels, np.arange(len(labels)), groups)


def _of_labels(labels: LabelSet, words: str, notes: tuple[str, ...], *, many: bool = False) -> Judged:
    """Gives labels of one kind as what is measured; ``many``: of a file, where rows count as independent."""
    groups = np.arange(len(labels)) if many else _joined(labels)
    judged = _OF_LABELS[labels.kind](labels, words, groups, notes)
    if many or judged.too_few or judged.draws.enough:
        return judged
    what = "questions" if labels.kind is LabelKind.RELEVANCE else "independent judgements"
    said = f"{judged.draws.count} of at least {FEWEST_GROUPS}"
    return _without_quality(judged, f"Too few {what} to compare models by ({said}): judge more under Train.")


def _without_quality(judged: Judged, why: str) -> Judged:
    return Judged(judged.words, judged.metric, judged.texts, judged.queries, judged.draws, judged.measure, why,
                  judged.notes)  # fmt: skip


def _pairs(labels: LabelSet, words: str, groups: Integers, notes: tuple[str, ...]) -> Judged:
    from sbert_desktop.encoder.evaluate import average_precision

    gold = _values(labels) > 0.5

    def score(cosines: Floats) -> Score:
        return lambda units: (average_precision(cosines[units], gold[units])
                              if gold[units].any() and not gold[units].all() else float("nan"))  # fmt: skip

    missing = "" if not len(gold) else "same" if not gold.any() else "different" if gold.all() else ""
    why = f"No pair was judged {missing} yet, so nothing can be told apart." if missing else ""
    return _of_cosines(labels, words, "ap", groups, notes, score, why)


def _grades(labels: LabelSet, words: str, groups: Integers, notes: tuple[str, ...]) -> Judged:
    from sbert_desktop.encoder.evaluate import spearman

    grades = _values(labels)
    why = "All grades are equal, so nothing can be put in order." if len(grades) and not np.ptp(grades) else ""
    return _of_cosines(labels, words, "spearman", groups, notes,
                       lambda cosines: lambda units: spearman(cosines[units], grades[units]), why)  # fmt: skip


def _of_cosines(
    labels: LabelSet, words: str, metric: str, groups: Integers, notes: tuple[str, ...],
    score: Callable[[Floats], Score], why: str,
) -> Judged:  # fmt: skip
    texts, rows = _numbered([example.texts[:2] for example in labels.examples])

    def measure(vectors: Vectors, queries: Vectors, context: JobContext) -> Score:
        return score(np.einsum("nd,nd->n", vectors[rows[:, 0]], vectors[rows[:, 1]]).astype(np.float64))

    return Judged(words, metric, texts, (), _drawn(labels, groups), measure, why, notes)


def _triplets(labels: LabelSet, words: str, groups: Integers, notes: tuple[str, ...]) -> Judged:
    texts, rows = _numbered([example.texts for example in labels.examples])

    def measure(vectors: Vectors, queries: Vectors, context: JobContext) -> Score:
        near, far = (np.einsum("nd,nd->n", vectors[rows[:, 0]], vectors[rows[:, place]]) for place in (1, 2))
        return _mean((near > far).astype(np.float64))

    return Judged(words, "triplet accuracy", texts, (), _drawn(labels, groups), measure, notes=notes)


def _answers(labels: LabelSet, words: str, groups: Integers, notes: tuple[str, ...]) -> Judged:
    """Ranks for each question all passages that were judged; those nobody judged for it count as not relevant."""
    texts, rows = _numbered([(example.texts[1],) for example in labels.examples])
    relevant: dict[str, set[int]] = {}
    places: dict[str, list[int]] = {}
    asked: dict[str, tuple[str, int]] = {}
    for place, example in enumerate(labels.examples):
        form = same_text(example.texts[0])
        asked.setdefault(form, (example.texts[0], place))
        if example.value > 0.5:
            relevant.setdefault(form, set()).add(int(rows[place, 0]))
            places.setdefault(form, []).append(place)
    forms = [form for form in asked if form in relevant]
    answers = [np.array(sorted(relevant[form])) for form in forms]
    of_questions = np.array([groups[asked[form][1]] for form in forms], np.int64)
    draws = Draws.of_units(labels, [places[form] for form in forms], of_questions)
    why = ""
    if len(labels) and not forms:
        why = "No passage was judged relevant yet, so nothing can be put in order."
    elif forms and all(len(one) == len(texts) for one in answers):
        why = "No passage was judged not relevant yet, so nothing can be put in order."
    return Judged(words, "ndcg@10", texts, tuple(asked[form][0] for form in forms), draws,
                  _ranker(answers, [np.ones(len(one)) for one in answers]), why, notes)  # fmt: skip


_OF_LABELS: dict[LabelKind, Callable[[LabelSet, str, Integers, tuple[str, ...]], Judged]] = {
    LabelKind.PAIRS: _pairs, LabelKind.GRADED: _grades, LabelKind.TRIPLETS: _triplets, LabelKind.RELEVANCE: _answers,
}  # fmt: skip


def _ranker(
    answers: Sequence[Integers], gains: Sequence[Floats]
) -> Callable[[Vectors, Vectors, JobContext], Score]:
    """Gives nDCG@10 (linear gain) of each query over all texts."""
    discount = 1.0 / np.log2(np.arange(2, 12))

    def measure(vectors: Vectors, queries: Vectors, context: JobContext) -> Score:
        found = np.empty(len(queries))
        for row, query in enumerate(queries):
            if row % 50 == 0:
                context.check()
            scores = vectors @ query
            gain = np.zeros(len(scores))
            gain[answers[row]] = gains[row]
            best = np.argsort(-scores, kind="stable")[:10]
            ideal = np.sort(gains[row])[::-1][:10]
            found[row] = (gain[best] * discount[: len(best)]).sum() / (ideal * discount[: len(ideal)]).sum()
        return _mean(found)

    return measure


# ---------------------------------------------------------------- files


def _from_file(file: Path) -> Judged:
    if file.is_dir():
        return _of_retrieval(file)
    name = display_path(file.name)
    if file.suffix.casefold() in (".jsonl", ".ndjson"):
        return _of_reranking(file, name)
    columns = {column.strip().casefold() for column in tables.header(file)}
    for fits, read in _FORMS:
        if fits(columns):
            return read(file, name)
    raise UsageError(
        "column-missing",
        f"{display_path(file)} has none of the known sets of columns; it has: {tables.listed(sorted(columns))}.",
        "See 'sbert-desktop lab --help' for what can be measured on.",
    )


def _has(*groups: tables.Names) -> Callable[[set[str]], bool]:
    def fits(columns: set[str]) -> bool:
        return all(columns.intersection(group) for group in groups)

    return fits


def _labels_of(kind: LabelKind, rows: Sequence[tuple[str, ...]], values: Sequence[float], name: str) -> Judged:
    from sbert_desktop.training.labels import Example

    examples = tuple(Example(texts, value) for texts, value in zip(rows, values, strict=True))
    return _of_labels(LabelSet(kind, examples), f"{len(rows):,} {kind.unit} of {name}", (), many=True)


def _of_scored(file: Path, name: str) -> Judged:
    from sbert_desktop.app.evaluating import read_scored

    first, second, scores = read_scored(file, "sts")
    return _labels_of(LabelKind.GRADED, list(zip(first, second, strict=True)), scores, name)


def _of_pairs(file: Path, name: str) -> Judged:
    from sbert_desktop.app.evaluating import read_scored

    first, second, labels = read_scored(file, "pairs")
    values = [float(label > 0.5) for label in labels]
    return _labels_of(LabelKind.PAIRS, list(zip(first, second, strict=True)), values, name)


def _of_triplets(file: Path, name: str) -> Judged:
    columns = tables.read_columns(file, (("anchor",), ("positive",), ("negative",)))
    rows = list(zip(*columns, strict=True))
    return _labels_of(LabelKind.TRIPLETS, rows, [1.0] * len(rows), name)


def _of_labelled(file: Path, name: str) -> Judged:
    from sbert_desktop.app.evaluating_tasks import Sampling, classify, read_labelled

    data = read_labelled(file)
    truth = data.labels[data.test]

    def measure(vectors: Vectors, queries: Vectors, context: JobContext) -> Score:
        said = classify(data, vectors, Sampling(), context)
        return _mean(np.mean([one == truth for one in said], axis=0))

    return Judged(f"{len(truth):,} texts of {len(data.names):,} labels of {name}", "accuracy", data.texts, (),
                  Draws(np.arange(len(truth))), measure)  # fmt: skip


def _of_reranking(file: Path, name: str) -> Judged:
    from sbert_desktop.app.evaluating_tasks import candidate_cosines, rank_scores, read_candidates

    lists = read_candidates(file)
    rows = {text: row for row, text in enumerate(dict.fromkeys(text for one in lists.candidates for text in one))}

    def measure(vectors: Vectors, queries: Vectors, context: JobContext) -> Score:
        return _mean(rank_scores(lists, candidate_cosines(lists, rows, vectors, queries))[:, 0])

    return Judged(f"{len(lists.queries):,} queries of {name}", "map", tuple(rows), lists.queries,
                  Draws(np.arange(len(lists.queries))), measure)  # fmt: skip


def _of_translations(file: Path, name: str) -> Judged:
    from sbert_desktop.app.evaluating_tasks import read_bitext
    from sbert_desktop.encoder.evaluate import nearest_across

    first, second = read_bitext(file)
    texts, rows = _numbered(list(zip(first, second, strict=True)))

    def measure(vectors: Vectors, queries: Vectors, context: JobContext) -> Score:
        ways = nearest_across(vectors[rows[:, 0]], vectors[rows[:, 1]])
        return _mean(np.mean([way == np.arange(len(rows)) for way in ways], axis=0))

    return Judged(f"{len(first):,} translations of {name}", "accuracy", texts, (), Draws(np.arange(len(first))),
                  measure)  # fmt: skip


def _of_retrieval(folder: Path) -> Judged:
    from sbert_desktop.app.evaluating import read_beir

    corpus, asked, judgements = read_beir(folder)
    texts = [text if not title or text.startswith(title) else f"{title} {text}" for _, title, text in corpus]
    row_of = {name: row for row, (name, _, _) in enumerate(corpus)}
    queries, answers, gains = [], [], []
    for name, query in asked:
        good = {row_of[one]: gain for one, gain in judgements.get(name, {}).items() if gain > 0 and one in row_of}
        if good:
            queries.append(query)
            answers.append(np.array(list(good)))
            gains.append(np.array(list(good.values())))
    note = "Each document is read as far as the model goes; the search itself reads all of it in passages."
    return Judged(
        f"{len(queries):,} queries over {len(texts):,} documents of {display_path(folder.name)}", "ndcg@10",
        tuple(texts), tuple(queries), Draws(np.arange(len(queries))), _ranker(answers, gains), notes=(note,),
    )  # fmt: skip


_FORMS: tuple[tuple[Callable[[set[str]], bool], Callable[[Path, str], Judged]], ...] = (
    (_has(("anchor",), ("positive",), ("negative",)), _of_triplets),
    (_has(("query",), tables.CANDIDATE, tables.RELEVANT), _of_reranking),
    (_has(("sentence1", "sentence_1", "text_a"), ("sentence2", "sentence_2", "text_b"), ("score", "score_0_5")),
     _of_scored),
    (_has(("text_a", "sentence1", "question1", "text1"), ("text_b", "sentence2", "question2", "text2"),
          ("label", "is_duplicate")), _of_pairs),
    (_has(tables.TEXT, tables.LABEL), _of_labelled),
    (_has(tables.FIRST, tables.SECOND), _of_translations),
)  # fmt: skip


# ---------------------------------------------------------------- shared


def _values(labels: LabelSet) -> Floats:
    return np.array([example.value for example in labels.examples], np.float64)


def _mean(values: Floats) -> Score:
    return lambda units: float(values[units].mean()) if len(units) else float("nan")


def _numbered(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], Integers]:
    """Gives all texts once, and for each row their numbers, int64 [rows, texts]."""
    numbers: dict[str, int] = {}
    found = [[numbers.setdefault(text, len(numbers)) for text in row] for row in rows]
    return tuple(numbers), np.array(found, np.int64).reshape(len(rows), -1 if rows else 0)
