"""What the second stage is worth: nDCG@10 and time for the best 20, 50 and 100.

    python tests/benchmarks/rerank.py [--steps 200] [--model DIR] [--sets cranfield xquad_en] [--json]

Fine-tunes a cross-encoder from the bundled all-MiniLM-L6-v2 with sentence-transformers' trainer (it needs
``pip install datasets accelerate``) on half of the judged queries of each set, of xquad_en on the questions
of half of the paragraphs, with the encoder's own best wrong documents as negatives; measures on the other
half, with the program's own search and cross-encoder; of that half again one half chooses the share of the
cross-encoder in the order and the other judges it. CPU seconds are those of this process: they hold on a busy
machine, the wall time does not. The tuned model is for measuring, is not shipped, and
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
SHARES = (0.0, 0.2, 0.4, 0.5, 0.55, 0.6, 0.7, 0.8, 1.0)
ANEW = 4
"""Queries whose time is measured at each depth; that of the greatest depth is measured for all."""


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


def measure(judged, chosen: Sequence[int], cross, shares: Sequence[float]) -> dict[str, object]:  # type: ignore[no-untyped-def]
    """Gives nDCG@10 by depth and share of the cross-encoder, and the second stage's time per query, read anew.

    The queries are dealt out in turn: a share is to be chosen on the one half and judged on the other.
    """
    from sbert_desktop.app.reranking import rerank
    from sbert_desktop.app.searching import Found
    from sbert_desktop.domain import Query
    from sbert_desktop.encoder.evaluate import ndcg
    from sbert_desktop.explore import reorder, search, shortlist
    from sbert_desktop.jobs import NullContext

    encoder = judged._session.encoder()
    snapshot, ids = judged._inner.library.snapshot(encoder.info.fingerprint), judged._ids
    told: dict[str, dict[str, list[float]]] = {half: {"0": []} for half in ("tune", "test")}
    spent: dict[str, list[tuple[float, float]]] = {str(depth): [] for depth in DEPTHS}
    for place, number in enumerate(chosen):
        judgement, text = judged._queries[number]
        values = told["test" if place % 2 else "tune"]
        query = Query(text, top=max(DEPTHS), fold=False)
        results = search(snapshot, query, encoder.encode_now([text])[0])

        def value(found) -> float:  # type: ignore[no-untyped-def]
            return ndcg([[ids[one.content_id] for one in found.documents]], [judgement], 10)  # noqa: B023

        values["0"].append(value(results))
        for depth in sorted(DEPTHS, reverse=True):
            asked = Query(text, top=max(DEPTHS), fold=False, rerank=depth)
            wall, work = time.perf_counter(), time.process_time()
            if depth == max(DEPTHS) or place < ANEW:
                cross._known.clear()
                rerank(Found(asked, snapshot, results, 0.0), cross, NullContext())
                spent[str(depth)].append((time.perf_counter() - wall, time.process_time() - work))
            passages = shortlist(results, depth)
            records = snapshot.fetch(passages)
            scores = cross.score(text, [records[one].text for one in passages])
            known = dict(zip(map(int, passages), scores.tolist(), strict=True))
            for share in shares:
                values.setdefault(f"{depth} at {share:g}", []).append(value(reorder(results, known, share=share)))
    return {
        "n": {half: len(table["0"]) for half, table in told.items()},
        "ndcg@10": {half: {key: round(float(np.mean(some)), 4) for key, some in table.items()}
                    for half, table in told.items()},
        "seconds_per_query": {depth: {"wall_p50": round(float(np.median([wall for wall, _ in some])), 3),
                                      "wall_p95": round(float(np.percentile([wall for wall, _ in some], 95)), 3),
                                      "cpu_mean": round(float(np.mean([work for _, work in some])), 3)}
                              for depth, some in spent.items()},
    }  # fmt: skip


def compare(folder: Path, judged, chosen: Sequence[int]) -> dict[str, object]:  # type: ignore[no-untyped-def]
    """Gives the CPU seconds of 50 pairs beside sentence-transformers', the same texts in turn; and the difference.

    The floor is what the multiplications of the layers cost at the pace of this machine's own matrix product.
    """
    from sentence_transformers import CrossEncoder

    from sbert_desktop.domain import Query
    from sbert_desktop.encoder import open_cross_encoder
    from sbert_desktop.explore import search, shortlist
    from sbert_desktop.jobs import spawn_child

    theirs = CrossEncoder(str(folder), device="cpu")
    encoder = judged._session.encoder()
    snapshot = judged._inner.library.snapshot(encoder.info.fingerprint)
    ours = {name: open_cross_encoder(folder, launch=spawn_child, precision=name, backend="openvino")
            for name in ("float32", "bf16")}  # fmt: skip
    spent: dict[str, list[float]] = {name: [] for name in ("sentence-transformers", *ours)}
    apart: dict[str, float] = dict.fromkeys(ours, 0.0)
    moved: dict[str, list[int]] = {name: [] for name in ours}
    tokens = 0
    for one in ours.values():
        one.score("warm", ["up"])
    theirs.predict([("warm", "up")], show_progress_bar=False)
    for number in chosen:
        text = judged._queries[number][1]
        passages = shortlist(search(snapshot, Query(text, top=50, fold=False), encoder.encode_now([text])[0]), 50)
        texts = [record.text for record in snapshot.fetch(passages).values()]
        began = time.process_time()
        expected = theirs.predict([(text, one) for one in texts], show_progress_bar=False)
        spent["sentence-transformers"].append(time.process_time() - began)
        for name, one in ours.items():
            began = time.process_time()
            found = one.score(text, texts)
            spent[name].append(time.process_time() - began)
            apart[name] = max(apart[name], float(np.abs(found - expected).max()))
            first, again = (np.argsort(-values, kind="stable")[:10] for values in (expected, found))
            moved[name].append(len(set(first) & set(again)))
        tokens += sum(len(ids) for ids, _ in ours["float32"]._tokenizer.encode_pairs(text, texts))  # type: ignore[attr-defined]
    for one in ours.values():
        one.close()
    flops = tokens * 2 * sum(value.numel() for name, value in theirs.model.named_parameters()
                             if "encoder.layer" in name and value.ndim == 2)  # fmt: skip
    return {
        "queries": len(spent["float32"]),
        "tokens_per_query": round(tokens / len(chosen)),
        "cpu_seconds_per_50": {name: round(float(np.mean(some)), 3) for name, some in spent.items()},
        "floor_cpu_seconds": round(flops / len(chosen) / pace(), 3),
        "greatest_difference": apart,
        "top_10_in_common": {name: float(np.mean(some)) for name, some in moved.items()},
    }


def pace() -> float:
    """Gives the operations per CPU second of a large float32 matrix product, as torch computes it here."""
    import torch

    one, other = torch.rand(512, 384), torch.rand(384, 1536)
    best = 0.0
    for _ in range(20):
        began = time.process_time()
        for _ in range(20):
            one @ other
        best = max(best, 20 * 2 * 512 * 384 * 1536 / max(1e-9, time.process_time() - began))
    return best


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
    parser.add_argument("--compare", action="store_true", help="with sentence-transformers' CrossEncoder.predict")
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
                report[name] = measure(judged, held[name][::step], cross, SHARES)
                if options.compare:
                    report[f"{name} speed"] = compare(folder, judged, held[name][:: max(1, len(held[name]) // 4)])
                if not options.json:
                    print(name, json.dumps(report[name]), flush=True)
        cross.close()
        session.close()
    print(json.dumps(report, indent=None if options.json else 1))


if __name__ == "__main__":
    main()
