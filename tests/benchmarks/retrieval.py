"""Retrieval quality, and what the choices of the splitter, the fusion and the line of chance are worth.

    python tests/benchmarks/retrieval.py [--folds] [--chance] [--sweep] [--json]

Prints nDCG@10, MRR@10 and recall@100 of semantic, keyword and hybrid on ../shared/data/retrieval,
beside sentence-transformers' ``semantic_search`` and bm25s on the same texts in the same run.
``--folds`` tunes the fusion's weight on four fifths of the judged queries and measures on the fifth, five
times. ``--chance`` tells how many relevant documents lie above the line of chance, and how many questions
of the other set find nothing above it. ``--sweep`` adds weights and, with short passages (so that documents
have several), the context and the overlap.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATA = ROOT.parent / "shared" / "data" / "retrieval"
SETS = ("cranfield", "xquad_en")
OTHER_LANGUAGES = ("ar", "de", "el", "es", "hi", "ro", "ru", "th", "tr", "vi", "zh")
WEIGHTS = tuple(round(0.05 * step, 2) for step in range(21))
FOLDS = 5
OFF_TOPIC = 100
SHALLOW, DEEP = 10, 100
METRICS = ("ndcg@10", "mrr@10", "recall@100")


def references(folder: Path) -> Iterator[tuple[str, dict[str, float]]]:
    """Measures the peers over whole documents: sentence-transformers (cut at 256 tokens) and bm25s."""
    from sbert_desktop.privacy import cut_telemetry

    cut_telemetry()
    import bm25s
    import Stemmer
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import semantic_search

    from sbert_desktop.app.evaluating import _beir
    from sbert_desktop.encoder.evaluate import mrr, ndcg, recall
    from sbert_desktop.encoder.models import default_model_dir

    corpus, queries, judgements = _beir(folder)
    names = [name for name, _, _ in corpus]
    bodies = [text if not title or text.startswith(title) else f"{title} {text}" for _, title, text in corpus]
    asked = [(judgements[qid], text) for qid, text in queries if qid in judgements]
    judged = [judgement for judgement, _ in asked]
    texts = [text for _, text in asked]

    def measured(ranked: Sequence[Sequence[int]]) -> dict[str, float]:
        found = [[names[i] for i in row] for row in ranked]
        return {
            "ndcg@10": ndcg(found, judged, SHALLOW),
            "mrr@10": mrr(found, judged, SHALLOW),
            "recall@100": recall(found, judged, DEEP),
        }

    model = SentenceTransformer(str(default_model_dir()), device="cpu")
    documents = model.encode(bodies, batch_size=32, convert_to_tensor=True)
    vectors = model.encode(texts, convert_to_tensor=True)
    found = semantic_search(vectors, documents, top_k=DEEP)
    yield "sentence-transformers", measured([[int(hit["corpus_id"]) for hit in hits] for hits in found])

    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    index.index(bm25s.tokenize(bodies, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    wanted = bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
    rows, _ = index.retrieve(wanted, k=min(DEEP, len(bodies)), show_progress=False)
    yield "bm25s (English stems, stop words)", measured(rows.tolist())


def by_weight(judged: object) -> np.ndarray:
    """Gives nDCG@10 of every query at every weight, float64 [queries, weights]."""
    from sbert_desktop.domain import Query
    from sbert_desktop.encoder.evaluate import ndcg
    from sbert_desktop.explore import search

    snapshot, vectors, queries, ids = opened(judged)
    out = np.zeros((len(queries), len(WEIGHTS)))
    for number, (judgement, text) in enumerate(queries):
        for place, weight in enumerate(WEIGHTS):
            found = search(snapshot, Query(text, top=SHALLOW, words_weight=weight, fold=False), vectors[number])
            ranked = [ids[document.content_id] for document in found.documents]
            out[number, place] = ndcg([ranked], [judgement], SHALLOW)
    return out


def opened(judged):  # type: ignore[no-untyped-def]
    """Gives snapshot, query vectors, judged queries and document ids of a retrieval set."""
    encoder = judged._session.encoder()
    if judged._vectors is None:
        judged._vectors = encoder.encode_passages([text for _, text in judged._queries], judged._context)
    return judged._inner.library.snapshot(encoder.info.fingerprint), judged._vectors, judged._queries, judged._ids


def tune(tables: dict[str, np.ndarray]) -> list[dict[str, object]]:
    """Chooses the weight on four fifths of both sets, counted alike; measures on the fifth left out."""
    from sbert_desktop.domain import WORDS_WEIGHT

    folds = {name: np.random.default_rng(0).permutation(len(table)) % FOLDS for name, table in tables.items()}
    held = {name: np.zeros(len(table)) for name, table in tables.items()}
    chosen = []
    for fold in range(FOLDS):
        best = int(sum(table[folds[name] != fold].mean(axis=0) for name, table in tables.items()).argmax())
        chosen.append(WEIGHTS[best])
        for name, table in tables.items():
            held[name][folds[name] == fold] = table[folds[name] == fold, best]
    default = WEIGHTS.index(WORDS_WEIGHT)
    return [
        {
            "set": name,
            "chosen": chosen,
            "held_out": float(held[name].mean()),
            "as_shipped": float(table[:, default].mean()),
            "keyword": float(table[:, -1].mean()),
            "semantic": float(table[:, 0].mean()),
        }
        for name, table in tables.items()
    ]


def chance_rates(judged, strangers: np.ndarray, off_topic: np.ndarray) -> dict[str, float]:  # type: ignore[no-untyped-def]
    """Tells how the line of chance sorts: on odd queries, since the even ones chose its parameters.

    Args:
        judged: An opened retrieval set.
        strangers: Vectors of the questions that the line is measured with, float32 [s, dimension].
        off_topic: Vectors of questions of another set, float32 [n, dimension].
    """
    from sbert_desktop.explore import Chance, strangers_in

    snapshot, vectors, queries, ids = opened(judged)
    rows = np.asarray(snapshot.vectors)[snapshot.alive]
    owners = np.array([ids[int(content)] for content in snapshot.contents[snapshot.alive]])
    readable = strangers_in(judged._session.encoder().info.languages)
    line = Chance(strangers, readable).level(snapshot, among=len(rows))
    relevant: list[bool] = []
    answered: list[bool] = []
    for vector, (judgement, _) in list(zip(vectors, queries, strict=True))[1::2]:
        cosines = rows @ vector
        above = [bool((cosines[owners == name] > line).any()) for name, gain in judgement.items() if gain > 0]
        relevant += above
        answered.append(any(above))
    counts = (off_topic @ rows.T > line).sum(axis=1)
    return {
        "line": float(line or 0.0),
        "relevant_above": float(np.mean(relevant)),
        "queries_with_a_relevant_one_above": float(np.mean(answered)),
        "off_topic_with_none_above": float((counts == 0).mean()),
        "off_topic_with_at_most_3_above": float((counts <= 3).mean()),
        "off_topic": float(len(counts)),
    }


def measure_splitter(session, folder: Path, note) -> None:  # type: ignore[no-untyped-def]
    """Measures lengths of passages, contexts and overlaps."""
    from sbert_desktop.app.evaluating import RetrievalSet
    from sbert_desktop.domain import Mode
    from sbert_desktop.jobs import NullContext

    base = session.rules(session.encoder())
    full = base.max_tokens
    for tokens, context, overlap in (
        (64, "none", 0),
        (64, "none", 32),
        (64, "title", 0),
        (128, "none", 0),
        (128, "title", 0),
        (full, "none", 0),
        (full, "title", 0),
        (full, "title", 32),
    ):
        rules = replace(base, max_tokens=tokens, context=context, overlap_tokens=overlap)
        with RetrievalSet(session, folder, NullContext(), rules) as judged:
            for mode in (Mode.SEMANTIC, Mode.HYBRID):
                note(f"{mode.value}, {tokens} tokens, {context}, overlap {overlap}", judged.measure(mode))


def skipped(session) -> list[str]:  # type: ignore[no-untyped-def]
    """Says why sets in other languages are not measured."""
    present = [code for code in OTHER_LANGUAGES if (DATA / f"xquad_{code}").is_dir()]
    languages = session.encoder().info.languages
    if not present:
        return ["XQuAD in other languages: left out, there is none in the shared data"]
    if set(languages) <= {"en"}:
        return [f"xquad_{code}: left out, the model reads English only" for code in present]
    return []


def main() -> None:
    """Runs and prints the table."""
    options = argparse.ArgumentParser(description=__doc__)
    for name in ("--folds", "--chance", "--sweep", "--json"):
        options.add_argument(name, action="store_true")
    args = options.parse_args()
    from sbert_desktop.app.evaluating import RetrievalSet, _beir
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import Mode
    from sbert_desktop.explore import STRANGERS
    from sbert_desktop.jobs import NullContext

    rows: list[dict[str, object]] = []

    def say(line: str) -> None:
        print(line, flush=True, file=sys.stderr if args.json else sys.stdout)

    def note(name: str, what: str, result: dict) -> None:  # type: ignore[type-arg]
        row = {"set": name, "what": what, **{key: result[key] for key in METRICS}}
        rows.append(row)
        say(
            f"{name:10} {what:34} nDCG@10 {row['ndcg@10']:.4f}  MRR@10 {row['mrr@10']:.4f}  "
            f"R@100 {row['recall@100']:.4f}"
        )

    with tempfile.TemporaryDirectory() as scratch:
        session = Session(Path(scratch) / "library")
        names = [*SETS, *(f"xquad_{code}" for code in OTHER_LANGUAGES if (DATA / f"xquad_{code}").is_dir())]
        left_out = skipped(session)
        for line in left_out:
            say(line)
        tables: dict[str, np.ndarray] = {}
        for name in SETS if left_out else names:
            folder = DATA / name
            for what, result in references(folder):
                note(name, what, result)
            with RetrievalSet(session, folder, NullContext()) as judged:
                for mode in Mode:
                    note(name, mode.value, judged.measure(mode))
                for weight in (0.1, 0.2, 0.3, 0.5, 0.6) if args.sweep else ():
                    note(name, f"hybrid, words {weight}", judged.measure(Mode.HYBRID, words_weight=weight))
                if args.folds:
                    tables[name] = by_weight(judged)
                if args.chance:
                    other = SETS[1] if name == SETS[0] else SETS[0]
                    texts = [text for _, text in _beir(DATA / other)[1]][1::2][:OFF_TOPIC]
                    encoder = session.encoder()
                    strangers = np.stack([encoder.encode_query(text) for text in STRANGERS])
                    rates = chance_rates(judged, strangers, encoder.encode_passages(texts, NullContext()))
                    rows.append({"set": name, "what": "chance", **rates})
                    say(f"{name:10} chance: " + ", ".join(f"{key} {value:.3f}" for key, value in rates.items()))
            if args.sweep:
                measure_splitter(session, folder, lambda what, result, name=name: note(name, what, result))
        for row in tune(tables) if tables else ():
            rows.append({"what": "folds", **row})
            say(f"{row['set']:10} " + ", ".join(f"{key} {value}" for key, value in row.items() if key != "set"))
        session.close()
    if args.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
