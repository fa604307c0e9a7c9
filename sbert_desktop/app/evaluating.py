"""Measures the product on judged data, through the very paths that a search takes.

Metric names are those of sentence-transformers and BEIR. Missing columns are an error that names
the columns found.
"""

from __future__ import annotations

import csv
import json
import math
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app.evaluating_tasks import encode_queries
from sbert_desktop.app.judged_tables import number_of, read_columns
from sbert_desktop.app.session import Session
from sbert_desktop.domain import (
    WORDS_WEIGHT,
    Block,
    BlockKind,
    Encoder,
    ExtractedText,
    JobContext,
    Mode,
    Query,
    SourceFile,
    SplitRules,
    Vectors,
    display_path,
)
from sbert_desktop.errors import UsageError

_COLUMNS = {
    "sts": (
        ("sentence1", "sentence_1", "text_a"),
        ("sentence2", "sentence_2", "text_b"),
        ("score", "score_0_5", "label"),
    ),
    "pairs": (
        ("text_a", "sentence1", "question1", "text1"),
        ("text_b", "sentence2", "question2", "text2"),
        ("label", "score", "is_duplicate"),
    ),
    "triplets": (("anchor",), ("positive",), ("negative",)),
}


def run_sts(session: Session, file: Path, context: JobContext) -> dict[str, object]:
    """Spearman (and Pearson) of cosine against the gold score."""
    from sbert_desktop.encoder.evaluate import pearson, spearman

    began = time.monotonic()
    first, second, gold = read_scored(file, "sts")
    scores = np.array(gold)
    if len(set(scores.tolist())) < 2:
        raise UsageError(
            "one-score", f"All scores in {display_path(file)} are equal, so nothing can be ranked.", "Add other scores."
        )
    cosines = _cosines(session.encoder(), first, second, context)
    if not np.ptp(cosines):
        raise UsageError(
            "one-score", f"All pairs in {display_path(file)} are equally similar.", "Add pairs of other texts."
        )
    return {
        "spearman_cosine": spearman(cosines, scores),
        "pearson_cosine": pearson(cosines, scores),
        "n": len(scores),
        "seconds": time.monotonic() - began,
    }


def run_pairs(session: Session, file: Path, context: JobContext) -> dict[str, object]:
    """Average precision and the best F1 with its threshold, for label 1 = same."""
    from sbert_desktop.encoder.evaluate import average_precision, best_f1

    began = time.monotonic()
    first, second, labels = read_scored(file, "pairs")
    gold = np.array(labels) > 0.5
    if gold.all() or not gold.any():
        raise UsageError(
            "one-class", f"{display_path(file)} has labels of one class only.", "Add pairs of the other class."
        )
    cosines = _cosines(session.encoder(), first, second, context)
    f1, threshold = best_f1(cosines, gold)
    return {
        "ap": average_precision(cosines, gold),
        "f1": f1,
        "threshold": threshold,
        "share_of_positives": float(gold.mean()),
        "n": len(gold),
        "seconds": time.monotonic() - began,
    }


def run_triplets(session: Session, file: Path, context: JobContext) -> dict[str, object]:
    """Share of triplets whose anchor is nearer to the positive."""
    began = time.monotonic()
    anchor, positive, negative = read_columns(file, _COLUMNS["triplets"])
    encoder = session.encoder()
    near, far = _cosines(encoder, anchor, positive, context), _cosines(encoder, anchor, negative, context)
    return {"accuracy_cosine": float((near > far).mean()), "n": len(near), "seconds": time.monotonic() - began}


def run_retrieval(
    session: Session, folder: Path, mode: Mode, context: JobContext, *, words_weight: float = WORDS_WEIGHT
) -> dict[str, object]:
    """nDCG@10, MRR@10 and recall@100 on a BEIR folder, through a library made for it and thrown away.

    Documents are cut, encoded, stored and searched exactly as files of the person are.
    """
    began = time.monotonic()
    with RetrievalSet(session, folder, context) as judged:
        result = judged.measure(mode, words_weight=words_weight)
    return {**result, "seconds": time.monotonic() - began}


class RetrievalSet:
    """A BEIR folder in a scratch library, to be measured in several ways.

    Args:
        session: Gives settings and the encoder.
        folder: Holds corpus.jsonl, queries.jsonl and qrels.tsv.
        context: Asked for a cancel per document.
        rules: How documents are cut; the session's own by default.
    """

    def __init__(self, session: Session, folder: Path, context: JobContext, rules: SplitRules | None = None) -> None:
        self._session = session
        self._context = context
        self._corpus, queries, judgements = read_beir(folder)
        self._queries = [(judgements[query_id], text) for query_id, text in queries if query_id in judgements]
        self._rules = rules
        self._vectors: Vectors | None = None

    def __enter__(self) -> RetrievalSet:
        """Cuts, encodes and stores the documents."""
        self._scratch = tempfile.TemporaryDirectory(prefix="sbert-desktop-evaluate-")
        self._inner = Session(Path(self._scratch.name) / "library", self._session.settings)
        encoder = self._session.encoder()
        rules = self._rules or self._session.rules(encoder)
        self._ids = _fill(self._inner, rules, encoder, self._corpus, self._context)
        return self

    def __exit__(self, *_: object) -> None:
        """Throws the library away."""
        self._inner.close()
        self._scratch.cleanup()

    def measure(self, mode: Mode, *, words_weight: float = WORDS_WEIGHT) -> dict[str, object]:
        """Asks all judged queries in one mode; gives the metrics and the search's 95th percentile."""
        from sbert_desktop.encoder.evaluate import mrr, ndcg, recall
        from sbert_desktop.explore import search

        encoder = self._session.encoder()
        snapshot = self._inner.library.snapshot(encoder.info.fingerprint)
        if mode is not Mode.KEYWORD and self._vectors is None:
            self._vectors = encode_queries(encoder, [text for _, text in self._queries], self._context)
        ranked, spent = [], []
        for number, (_, text) in enumerate(self._queries):
            self._context.progress("Searching", number, len(self._queries))
            vector = self._vectors[number] if self._vectors is not None and mode is not Mode.KEYWORD else None
            query = Query(text, mode=mode, top=100, words_weight=words_weight)
            start = time.perf_counter()
            results = search(snapshot, query, vector)
            spent.append((time.perf_counter() - start) * 1000)
            ranked.append([self._ids[document.content_id] for document in results.documents])
        judged = [judgements for judgements, _ in self._queries]
        return {
            "ndcg@10": ndcg(ranked, judged, 10),
            "mrr@10": mrr(ranked, judged, 10),
            "recall@100": recall(ranked, judged, 100),
            "mode": mode.value,
            "documents": len(self._corpus),
            "n": len(ranked),
            "milliseconds_p95": float(np.percentile(spent, 95)) if spent else 0.0,
        }


def _fill(
    inner: Session, rules: SplitRules, encoder: Encoder, corpus: Sequence[tuple[str, str, str]], context: JobContext
) -> dict[int, str]:
    from sbert_desktop.extraction import detect_language, split

    ids: dict[int, str] = {}
    root = inner.library_path.parent / "corpus"
    root.mkdir()
    with inner.library.writer() as writer:
        writer.use_space(encoder.info, encoder.tokenizer.key, rules)
        owner = writer.add_folder(root)
        for number, (doc_id, title, text) in enumerate(corpus):
            context.check()
            body = text if not title or text.startswith(title) else f"{title} {text}"
            # Two documents of one text would be one content: the number keeps their hashes apart.
            file = SourceFile(root / f"{number}.txt", len(body), number + 1, content_hash=f"{number:064x}")
            extracted = ExtractedText("txt", body, _blocks(title, body), title=title, language=detect_language(body))
            content = writer.put(owner, file, extracted, split(extracted, rules, encoder.tokenizer), ())
            assert content is not None
            ids[int(content)] = doc_id
        writer.commit()
        done = 0
        while pending := writer.pending(tokens_hint_chars=400_000):
            passages = [(pid, text) for document in pending for pid, text in document.passages]
            vectors = encoder.encode_passages([text for _, text in passages], context)
            writer.put_vectors([pid for pid, _ in passages], vectors)
            writer.commit()
            done += len(pending)
            context.progress("Encoding", done, len(corpus))
    return ids


def _blocks(title: str, body: str) -> tuple[Block, ...]:
    """Gives the title as the heading that it is, and the rest as text under it."""
    cut = len(title) if title and body.startswith(title) else 0
    if not cut or cut == len(body):
        return (Block(0, len(body)),)
    return Block(0, cut, BlockKind.HEADING, heading=title), Block(cut, len(body), heading=title)


def read_beir(
    folder: Path,
) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]], dict[str, dict[str, float]]]:
    """Reads a folder as BEIR lays them out: documents (id, title, text), queries (id, text), gains by query.

    Raises:
        UsageError: ``no-retrieval-set``, ``bad-retrieval-set``, ``nothing-judged``.
    """
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"):
        if not (_qrels(folder) if name == "qrels.tsv" else folder / name).is_file():
            raise UsageError(
                "no-retrieval-set",
                f"There is no {name} in {display_path(folder)}.",
                "A retrieval set holds corpus.jsonl, queries.jsonl and qrels.tsv.",
            )
    try:
        corpus, queries, judgements = _beir_files(folder)
    except (ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        raise UsageError(
            "bad-retrieval-set",
            f"The files in {display_path(folder)} are not in BEIR's form ({type(error).__name__}: {error}).",
            "corpus.jsonl has _id, title, text; queries.jsonl _id, text; qrels.tsv query, document, gain.",
        ) from None
    there = {name for name, _, _ in corpus}
    if not any(gain > 0 and name in there for asked, _ in queries for name, gain in judgements.get(asked, {}).items()):
        raise UsageError(
            "nothing-judged",
            f"No query in {display_path(folder)} has a relevant document that is in the corpus.",
            "Compare the names in qrels.tsv with those in corpus.jsonl and queries.jsonl.",
        )
    return corpus, queries, judgements


def _qrels(folder: Path) -> Path:
    """Gives where the judgements are; BEIR itself keeps them in a folder, one file for each split."""
    inside = folder / "qrels" / "test.tsv"
    return inside if inside.is_file() and not (folder / "qrels.tsv").is_file() else folder / "qrels.tsv"


def _beir_files(
    folder: Path,
) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]], dict[str, dict[str, float]]]:
    with open(folder / "corpus.jsonl", encoding="utf-8-sig") as stream:
        rows = [json.loads(line) for line in stream if line.strip()]
    corpus = [(str(row["_id"]), str(row.get("title") or ""), str(row.get("text") or "")) for row in rows]
    with open(folder / "queries.jsonl", encoding="utf-8-sig") as stream:
        queries = [(str(row["_id"]), str(row["text"])) for row in map(json.loads, filter(str.strip, stream))]
    judgements: dict[str, dict[str, float]] = {}
    with open(_qrels(folder), encoding="utf-8-sig", newline="") as stream:
        for row in csv.reader(stream, delimiter="\t"):
            if not row or row[0] == "query-id":
                continue
            if len(row) < 3 or not math.isfinite(float(row[-1])):
                raise ValueError(f"{' '.join(row)[:60]!r} in the judgements")
            # Four columns are TREC's form, with a column between query and document that says nothing.
            judgements.setdefault(row[0], {})[row[-2]] = float(row[-1])
    return corpus, queries, judgements


def read_scored(file: Path, kind: str) -> tuple[list[str], list[str], list[float]]:
    """Reads two texts and a number in each row: kind ``sts`` or ``pairs``.

    Raises:
        UsageError: As :func:`judged_tables.read_columns`; ``not-a-number``.
    """
    first, second, numbers = read_columns(file, _COLUMNS[kind])
    return first, second, [number_of(file, line, value) for line, value in enumerate(numbers, 2)]


def _cosines(encoder: Encoder, first: list[str], second: list[str], context: JobContext) -> NDArray[np.float64]:
    a: Vectors = encoder.encode_passages(first, context)
    b: Vectors = encoder.encode_passages(second, context)
    cosines: NDArray[np.float64] = np.einsum("nd,nd->n", a, b).astype(np.float64)
    return cosines
