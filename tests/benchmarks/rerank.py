"""What the second stage is worth: nDCG@10 and time for the best 20, 50 and 100.

    python tests/benchmarks/rerank.py [--steps 200] [--model DIR] [--sets cranfield xquad_en] [--json]

Fine-tunes a cross-encoder from the bundled all-MiniLM-L6-v2 with sentence-transformers' trainer (it needs
``pip install datasets accelerate``) on half of the judged queries of each set, of xquad_en on the questions
of half of the paragraphs, with the encoder's own best wrong documents as negatives; measures on the other
half, with the program's own search and cross-encoder. The tuned model is for measuring, is not shipped, and
is gone at the end unless ``--keep`` names a folder. ``--model`` takes a cross-encoder from a folder instead.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATA = ROOT.parent / "shared" / "data" / "retrieval"
DEPTHS = (20, 50, 100)
NEGATIVES = 3
MOST_POSITIVES = 3  # per query, so that the 1,190 questions of one set do not drown the 225 of the other
MOST_TOKENS = 192
BATCH = 16


def halves(name: str, asked: Sequence[tuple[str, str, Mapping[str, float]]]) -> tuple[list[int], list[int]]:
    """Gives the numbers of the queries to train and to measure on; no paragraph of xquad has some in both."""

    def odd(query: tuple[str, str, Mapping[str, float]], number: int) -> bool:
        paragraph = max(query[2], key=lambda one: query[2][one])
        return sum(paragraph.encode()) % 2 > 0 if "xquad" in name else number % 2 > 0

    train = [number for number, query in enumerate(asked) if not odd(query, number)]
    return train, [number for number in range(len(asked)) if number not in set(train)]


def pairs_of(encoder, corpus, asked, chosen: Sequence[int], rng: random.Random) -> list[tuple[str, str, float]]:  # type: ignore[no-untyped-def]
    """Gives (query, text, label): relevant documents, and as hard negatives the nearest that are not."""
    names = [name for name, _, _ in corpus]
    bodies = {name: text if not title or text.startswith(title) else f"{title} {text}" for name, title, text in corpus}
    documents = encoder.encode_passages([bodies[name] for name in names])
    found = []
    for number in chosen:
        _, text, judgement = asked[number]
        right = [name for name, gain in judgement.items() if gain > 0 and name in bodies]
        order = np.argsort(-(documents @ encoder.encode_now([text])[0]))[:30]
        wrong = [names[place] for place in order if judgement.get(names[place], 0) <= 0]
        for name in rng.sample(right, min(MOST_POSITIVES, len(right))):
            found.append((text, bodies[name], 1.0))
            found += [(text, bodies[other], 0.0) for other in rng.sample(wrong, min(NEGATIVES, len(wrong)))]
    return found


def tune(pairs: Sequence[tuple[str, str, float]], folder: Path, steps: int) -> float:
    """Fine-tunes and saves a cross-encoder; gives the seconds."""
    import datasets
    import torch
    from sentence_transformers.cross_encoder import CrossEncoder, CrossEncoderTrainer, CrossEncoderTrainingArguments
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

    from sbert_desktop.encoder.models import default_model_dir

    torch.manual_seed(0)
    model = CrossEncoder(str(default_model_dir()), num_labels=1, max_length=MOST_TOKENS, device="cpu")
    queries, texts, labels = zip(*pairs, strict=True)
    data = datasets.Dataset.from_dict({"query": queries, "text": texts, "label": labels})
    arguments = CrossEncoderTrainingArguments(
        output_dir=str(folder / "run"), max_steps=steps, per_device_train_batch_size=BATCH, learning_rate=5e-5,
        warmup_steps=max(1, steps // 10), seed=0, use_cpu=True, save_strategy="no", logging_steps=20, report_to="none",
        disable_tqdm=True,
    )
    loss = BinaryCrossEntropyLoss(model, pos_weight=torch.tensor(float(NEGATIVES)))
    began = time.perf_counter()
    CrossEncoderTrainer(model=model, args=arguments, train_dataset=data, loss=loss).train()
    model.save_pretrained(str(folder / "tuned"))
    return time.perf_counter() - began


def measure(judged, chosen: Sequence[int], cross) -> dict[str, object]:  # type: ignore[no-untyped-def]
    """Gives nDCG@10 without and with the second stage, and its milliseconds per query."""
    from sbert_desktop.domain import Query
    from sbert_desktop.encoder.evaluate import ndcg
    from sbert_desktop.explore import reorder, search, shortlist

    encoder = judged._session.encoder()
    snapshot, ids = judged._inner.library.snapshot(encoder.info.fingerprint), judged._ids
    told: dict[str, list[float]] = {"0": [], **{str(depth): [] for depth in DEPTHS}}
    spent: dict[str, list[float]] = {str(depth): [] for depth in DEPTHS}
    for number in chosen:
        judgement, text = judged._queries[number]
        query = Query(text, top=max(DEPTHS), fold=False)
        results = search(snapshot, query, encoder.encode_now([text])[0])

        def value(found) -> float:  # type: ignore[no-untyped-def]
            return ndcg([[ids[one.content_id] for one in found.documents]], [judgement], 10)  # noqa: B023

        told["0"].append(value(results))
        for depth in DEPTHS:
            passages = shortlist(results, depth)
            began = time.perf_counter()
            records = snapshot.fetch(passages)
            scores = cross.score(text, [records[one].text for one in passages])
            again = reorder(results, dict(zip(map(int, passages), scores.tolist(), strict=True)))
            spent[str(depth)].append((time.perf_counter() - began) * 1000)
            told[str(depth)].append(value(again))
    return {
        "n": len(chosen),
        "ndcg@10": {depth: float(np.mean(values)) for depth, values in told.items()},
        "milliseconds_p50": {depth: float(np.median(values)) for depth, values in spent.items()},
        "milliseconds_p95": {depth: float(np.percentile(values, 95)) for depth, values in spent.items()},
    }


def main() -> None:
    """Prepares, measures and prints."""
    from sbert_desktop.app.evaluating import RetrievalSet, _beir
    from sbert_desktop.app.session import Session
    from sbert_desktop.encoder import open_cross_encoder
    from sbert_desktop.jobs import NullContext, spawn_child

    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--sets", nargs="+", default=["cranfield", "xquad_en"])
    parser.add_argument("--queries", type=int, default=60, help="measured per set, at even steps; 0 for all")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rng = random.Random(0)
    report: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as scratch:
        session = Session(Path(scratch) / "library")
        encoder = session.encoder()
        held: dict[str, list[int]] = {}
        pairs: list[tuple[str, str, float]] = []
        for name in options.sets:
            corpus, queries, judgements = _beir(DATA / name)
            asked = [(qid, text, judgements[qid]) for qid, text in queries if qid in judgements]
            train, held[name] = halves(name, asked)
            if options.model is None:
                pairs += pairs_of(encoder, corpus, asked, train, rng)
        folder = options.model
        if folder is None:
            rng.shuffle(pairs)
            home = options.keep or Path(scratch) / "made"
            report["training"] = {"pairs": len(pairs), "steps": options.steps,
                                  "seconds": tune(pairs, home, options.steps)}  # fmt: skip
            folder = home / "tuned"
        cross = open_cross_encoder(folder, launch=spawn_child)
        cross.score("warm", ["up"])
        for name in options.sets:
            with RetrievalSet(session, DATA / name, NullContext()) as judged:
                step = max(1, len(held[name]) // options.queries) if options.queries else 1
                report[name] = measure(judged, held[name][::step], cross)
                if not options.json:
                    print(name, json.dumps(report[name]), flush=True)
        cross.close()
        session.close()
    print(json.dumps(report, indent=None if options.json else 1))


if __name__ == "__main__":
    main()
