"""Measures the model on labelled texts, lists of candidates and translations, by MTEB's definitions."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app import judged_tables as tables
from sbert_desktop.domain import Encoder, JobContext, Vectors, display_path
from sbert_desktop.errors import UsageError
from sbert_desktop.paths import ordinary_size

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session

Integers = NDArray[np.int64]
_BATCH = 512


# ---------------------------------------------------------------- classification


@dataclass(frozen=True, slots=True)
class LabelledTexts:
    """Texts with their labels as numbers (places in ``names``), parted into those to learn from and those asked."""

    texts: tuple[str, ...]
    labels: Integers
    names: tuple[str, ...]
    train: Integers
    test: Integers


@dataclass(frozen=True, slots=True)
class Sampling:
    """How classification draws the texts it learns from; see :mod:`sbert_desktop.encoder.probe`."""

    samples: int = 8
    experiments: int = 10
    seed: int = 42


def read_labelled(file: Path, test: Path | None = None, *, seed: int = 42) -> LabelledTexts:
    """Reads ``text,label``; without a file of texts to ask, half of each label's texts are.

    Raises:
        UsageError: As :func:`judged_tables.read_columns`; ``one-class``, ``too-few`` (no label has two texts).
    """
    from sbert_desktop.encoder.probe import halves

    texts, labels = tables.read_columns(file, (tables.TEXT, tables.LABEL))
    known = len(texts)
    if test is not None:
        more, said = tables.read_columns(test, (tables.TEXT, tables.LABEL))
        texts, labels = texts + more, labels + said
    names, numbers = np.unique(np.array([label.strip() for label in labels]), return_inverse=True)
    numbers = numbers.astype(np.int64)
    if len(np.unique(numbers[:known])) < 2:
        raise UsageError("one-class", f"{display_path(file)} has texts of one label only.", "Add texts of another.")
    if test is None:
        learned, asked = halves(numbers, seed=seed)
    else:
        learned, asked = np.arange(known), np.arange(known, len(texts))
    if not len(asked):
        raise UsageError(
            "too-few", f"{display_path(file)} has one text of each label, so none is left to ask.", "Add texts."
        )
    return LabelledTexts(tuple(texts), numbers, tuple(map(str, names)), learned, asked)


def classify(data: LabelledTexts, vectors: Vectors, sampling: Sampling, context: JobContext) -> list[Integers]:
    """Gives what each experiment said of the texts that were asked, int64 [asked] each."""
    from sbert_desktop.encoder.probe import few_of_each, fit_probe

    labels = data.labels[data.train]
    found = []
    chosen = few_of_each(labels, sampling.samples, sampling.experiments, seed=sampling.seed)
    for number, places in enumerate(chosen):
        context.progress("Learning labels", number, sampling.experiments)
        rows = data.train[places]
        kinds, numbers = np.unique(data.labels[rows], return_inverse=True)
        probe = fit_probe(vectors[rows], numbers.astype(np.int64), len(kinds), check=context.check)
        found.append(kinds[probe.predict(vectors[data.test])])
    return found


def run_classification(
    session: Session, file: Path, context: JobContext, *, test: Path | None = None, sampling: Sampling | None = None
) -> dict[str, object]:
    """Accuracy and macro F1 of logistic regression on the vectors, averaged over the experiments.

    Args:
        session: Gives the encoder.
        file: ``text,label``.
        context: Hears the progress.
        test: The texts that are asked; else half of each label's texts in ``file``.
        sampling: Texts of each label that are learned from, and how often.

    Raises:
        UsageError: As :func:`read_labelled`.
    """
    from sbert_desktop.encoder.probe import accuracy, macro_f1

    began = time.monotonic()
    how = sampling or Sampling()
    data = read_labelled(file, test, seed=how.seed)
    vectors = encode_texts(session.encoder(), data.texts, context)
    truth = data.labels[data.test]
    said = classify(data, vectors, how, context)
    accuracies = [accuracy(truth, one) for one in said]
    return {
        "accuracy": float(np.mean(accuracies)),
        "accuracy_spread": float(np.std(accuracies)),
        "f1": float(np.mean([macro_f1(truth, one) for one in said])),
        "labels": len(data.names),
        "samples_per_label": how.samples,
        "experiments": how.experiments,
        "seed": how.seed,
        "trained_on": int(np.minimum(np.bincount(data.labels[data.train]), how.samples).sum()),
        "n": len(data.test),
        "seconds": time.monotonic() - began,
    }


# ---------------------------------------------------------------- reranking


@dataclass(frozen=True, slots=True)
class CandidateLists:
    """Queries, each with candidates (texts) and which of them answer it (bool, as many)."""

    queries: tuple[str, ...]
    candidates: tuple[tuple[str, ...], ...]
    relevant: tuple[NDArray[np.bool_], ...]
    passed_over: int
    """Queries without an answer, or with nothing but answers: nothing can be put in order there."""


def read_candidates(file: Path) -> CandidateLists:
    """Reads ``query,text,label`` with one candidate in each row, or JSON lines with query, positive, negative.

    Raises:
        UsageError: As :func:`judged_tables.read_columns`; ``not-a-number``, ``bad-lines``, ``nothing-judged``.
    """
    found: dict[str, dict[str, bool]] = {}
    if file.suffix.casefold() in (".jsonl", ".ndjson"):
        _read_lines(file, found)
    else:
        columns = tables.read_columns(file, (tables.QUERY, tables.CANDIDATE, tables.RELEVANT))
        for line, (query, text, label) in enumerate(zip(*columns, strict=True), 2):
            said = found.setdefault(query, {})
            said[text] = said.get(text, False) or tables.number_of(file, line, label) > 0
    usable = {query: said for query, said in found.items() if any(said.values()) and not all(said.values())}
    if not usable:
        raise UsageError(
            "nothing-judged", f"No query in {display_path(file)} has both answers and other texts.",
            "Give each query candidates of both kinds.",
        )  # fmt: skip
    return CandidateLists(
        tuple(usable), tuple(tuple(said) for said in usable.values()),
        tuple(np.array(list(said.values()), np.bool_) for said in usable.values()), len(found) - len(usable),
    )  # fmt: skip


def _read_lines(file: Path, found: dict[str, dict[str, bool]]) -> None:
    line = 0
    try:
        ordinary_size(file)
        with open(file, encoding="utf-8-sig") as stream:
            for text in stream:
                line += 1
                if not text.strip():
                    continue
                row = json.loads(text)
                for query in _texts(row["query"]):
                    said = found.setdefault(query, {})
                    for name, answer in (("negative", False), ("positive", True)):
                        for one in _texts(row[name]):
                            said[one] = said.get(one, False) or answer
    except (OSError, UnicodeDecodeError) as error:
        raise tables.refused(file, error, "Save it as UTF-8.") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(
            "bad-lines", f"Line {line} of {display_path(file)} is not in the form of reranking sets.",
            'Each line is {"query": "...", "positive": ["..."], "negative": ["..."]}.',
        ) from None  # fmt: skip


def _texts(value: object) -> list[str]:
    """Gives texts of one, or of a list of them."""
    values = value if isinstance(value, list) else [value]
    texts = [one for one in values if isinstance(one, str)]
    if len(texts) < len(values):
        raise TypeError("a text is wanted")
    return texts


def rank_scores(lists: CandidateLists, cosines: Sequence[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Gives average precision and reciprocal rank within 10 of each query, float64 [queries, 2].

    Candidates of the same similarity share their places: the order of the file cannot help.
    """
    from sbert_desktop.encoder.evaluate import average_precision

    return np.array([
        (average_precision(scores, relevant), _reciprocal(scores, relevant))
        for scores, relevant in zip(cosines, lists.relevant, strict=True)
    ])  # fmt: skip


def _reciprocal(scores: NDArray[np.float32], relevant: NDArray[np.bool_]) -> float:
    """Gives the reciprocal rank of the best answer, the mean over the places that equal ones share; 0 beyond 10."""
    best = scores[relevant].max()
    above, equal = int((scores > best).sum()), int((scores == best).sum())
    hits = int((relevant & (scores == best)).sum())
    places = np.arange(above + 1, above + equal - hits + 2)
    # The chance that the first of the answers stands at a place among the equal ones.
    chances = [math.comb(equal - 1 - shift, hits - 1) / math.comb(equal, hits) for shift in range(len(places))]
    return float(sum(chance / place for chance, place in zip(chances, places.tolist(), strict=True) if place <= 10))


def candidate_cosines(
    lists: CandidateLists, texts: dict[str, int], vectors: Vectors, queries: Vectors
) -> list[NDArray[np.float32]]:
    """Gives the similarity of each query to its candidates.

    Args:
        lists: The candidates.
        texts: Row of each candidate.
        vectors: Of the candidates.
        queries: Of the queries.
    """
    return [vectors[[texts[text] for text in candidates]] @ query
            for candidates, query in zip(lists.candidates, queries, strict=True)]  # fmt: skip


def run_reranking(session: Session, file: Path, context: JobContext) -> dict[str, object]:
    """MAP and MRR@10 of candidates put in order by their similarity to the query.

    Raises:
        UsageError: As :func:`read_candidates`.
    """
    began = time.monotonic()
    lists = read_candidates(file)
    rows = {text: row for row, text in enumerate(dict.fromkeys(t for one in lists.candidates for t in one))}
    encoder = session.encoder()
    vectors = encode_texts(encoder, tuple(rows), context)
    queries = encode_queries(encoder, lists.queries, context)
    scores = rank_scores(lists, candidate_cosines(lists, rows, vectors, queries))
    return {
        "map": float(scores[:, 0].mean()),
        "mrr@10": float(scores[:, 1].mean()),
        "candidates": sum(map(len, lists.candidates)),
        "passed_over": lists.passed_over,
        "n": len(lists.queries),
        "seconds": time.monotonic() - began,
    }


# ---------------------------------------------------------------- bitext


def read_bitext(file: Path) -> tuple[list[str], list[str]]:
    """Reads ``sentence1,sentence2``: each row a text and its translation.

    Raises:
        UsageError: As :func:`judged_tables.read_columns`; ``too-few``.
    """
    first, second = tables.read_columns(file, (tables.FIRST, tables.SECOND))
    if len(first) < 2:
        raise UsageError("too-few", f"{display_path(file)} has one row only.", "Add others to choose among.")
    return first, second


def run_bitext(session: Session, file: Path, context: JobContext) -> dict[str, object]:
    """Accuracy and F1 of the nearest neighbour as the translation, in both directions and their mean.

    Rows whose text stands in another row too cannot all be found: ``repeated`` tells how many there are.

    Raises:
        UsageError: As :func:`read_bitext`.
    """
    from sbert_desktop.encoder.evaluate import bitext_scores, nearest_across

    began = time.monotonic()
    first, second = read_bitext(file)
    encoder = session.encoder()
    to, back = nearest_across(encode_texts(encoder, first, context), encode_texts(encoder, second, context))
    (accuracy, f1), (accuracy_back, f1_back) = bitext_scores(to), bitext_scores(back)
    return {
        "accuracy": (accuracy + accuracy_back) / 2,
        "f1": (f1 + f1_back) / 2,
        "accuracy_1_to_2": accuracy,
        "accuracy_2_to_1": accuracy_back,
        "f1_1_to_2": f1,
        "f1_2_to_1": f1_back,
        "repeated": len(first) - min(len(set(first)), len(set(second))),
        "n": len(first),
        "seconds": time.monotonic() - began,
    }


# ---------------------------------------------------------------- shared


def encode_texts(encoder: Encoder, texts: Sequence[str], context: JobContext) -> Vectors:
    """Encodes texts as passages, a cancel heard between batches; float32 [n, dimension]."""
    made = []
    for at in range(0, len(texts), _BATCH):
        context.check()
        context.progress("Encoding", at, len(texts))
        made.append(encoder.encode_passages(texts[at : at + _BATCH], context))
    return np.concatenate(made) if made else np.empty((0, encoder.info.dimension), np.float32)


def encode_queries(encoder: Encoder, texts: Sequence[str], context: JobContext) -> Vectors:
    """Encodes texts as the search encodes what is asked; float32 [n, dimension]."""
    out = np.empty((len(texts), encoder.info.dimension), np.float32)
    for row, text in enumerate(texts):
        context.check()
        context.progress("Encoding questions", row, len(texts))
        out[row] = encoder.encode_query(text)
    return out
