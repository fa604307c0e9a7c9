"""What the second stage is worth: nDCG@10 and time for the best 20, 50 and 100.

    python tests/benchmarks/rerank.py [--short-steps 200] [--steps 200] [--model DIR] [--keep DIR] [--threads N]
        [--sets cranfield xquad_en] [--queries 60] [--compare] [--json]

Fine-tunes a cross-encoder from the bundled all-MiniLM-L6-v2 with sentence-transformers' trainer (it needs
``pip install datasets accelerate``): first on short graded pairs (STS-B, SICK, Quora), which are cheap, then on half of
the judged queries of each set, each beside passages that the program's own first stage finds for it, the wrong ones
too. Queries of one document are all on one side. Says the mean average precision on held-out lists before, between and
after. Measures on the other half, with the program's own search and cross-encoder: of two parts each chooses the share
of the cross-encoder in the order that the other is judged with; the gain has a paired bootstrap interval over the
documents that queries ask for. CPU seconds are those of this process: they hold on a busy machine, the wall time does
not. The tuned model is for measuring, is not shipped, and is gone at the end unless ``--keep`` names a folder.
``--model`` takes a cross-encoder from a folder instead.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import random
import sys
import tempfile
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch: on a shared machine, spinning tripled the CPU time

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATA = ROOT.parent / "shared" / "data"
DEPTHS = (20, 50, 100)
LONG = 6
"""Passages in a list that is learned from, at most :data:`MOST_RIGHT` of them right."""
MOST_RIGHT = 2
DEEP = 30
"""Documents of the first stage that the lists are taken from."""
LISTS = 400
"""A set with few queries is gone through again, with other passages, until it has about so many lists (three times at
most): 600 questions of the one must not drown the 110 of the other."""
GRADE = 6.0
"""Label of what is right, 0 being wrong: beside five wrong ones its share of the softmax is then 0.99."""
MOST_TOKENS, READ_TOKENS = 128, 192
"""Tokens of a pair while training, where they cost most, and of the model that comes of it."""
RATE = 3e-4
"""At 5e-5 the fresh head and the pooler, which the encoder never used, hardly move within some hundred steps."""
FROZEN = 2
"""Layers that stay as they are, with the embeddings: a step costs a quarter less."""
PAIRS_A_STEP, LISTS_A_STEP = 32, 4
WATCHED = 16
"""Held-out queries of each set that are looked at while training."""
SHARES = (0.0, 0.2, 0.4, 0.5, 0.55, 0.6, 0.7, 0.8, 1.0)
ANEW = 4
"""Queries whose time is measured at each depth; that of the greatest depth is measured for all."""
DRAWN = 2000
Listed = tuple[str, list[str], list[float]]
"""A query, passages, and whether each is right."""


def asks_for(judgement: Mapping[str, float]) -> str:
    """Gives the document that a query asks for before all others."""
    return max(judgement, key=lambda name: judgement[name])


def dealt(judged: Any) -> tuple[list[int], list[int], list[int]]:
    """Gives the numbers of the queries to train on, half of them, and two parts to measure on."""
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for number, (judgement, _) in enumerate(judged._queries):
        parts[max(0, zlib.crc32(asks_for(judgement).encode()) % 4 - 1)].append(number)
    return parts


def first_stage(judged: Any, number: int, top: int) -> tuple[Any, Any]:
    """Gives the program's snapshot and its answer to a query."""
    from sbert_desktop.domain import Query
    from sbert_desktop.explore import search

    encoder = judged._session.encoder()
    snapshot, text = judged._inner.library.snapshot(encoder.info.fingerprint), judged._queries[number][1]
    return snapshot, search(snapshot, Query(text, top=top, fold=False), encoder.encode_now([text])[0])


def lists_of(judged: Any, chosen: Sequence[int], rng: random.Random, long: int = LONG) -> list[Listed]:
    """Gives for each query a list of right and wrong passages, drawn from what the first stage found."""
    found = []
    for number in chosen:
        judgement, text = judged._queries[number]
        snapshot, results = first_stage(judged, number, DEEP)
        records = snapshot.fetch([one.hits[0].passage_id for one in results.documents])
        sides: tuple[list[str], list[str]] = ([], [])
        for one in results.documents:
            right = judgement.get(judged._ids[one.content_id], 0) > 0
            sides[right].append(records[one.hits[0].passage_id].text)
        if not sides[0] or not sides[1]:
            continue
        chosen_right = rng.sample(sides[1], min(MOST_RIGHT, len(sides[1])))
        chosen_wrong = rng.sample(sides[0], min(long - len(chosen_right), len(sides[0])))
        labels = [1.0] * len(chosen_right) + [0.0] * len(chosen_wrong)
        found.append((text, chosen_right + chosen_wrong, labels))
    return found


def short_pairs() -> list[tuple[str, str, float]]:
    """Gives pairs of sentences with how alike they are, 0 to 1."""
    found = []
    for name, low, high, column in (("sts/stsb_train", 0, 5, 2), ("nli/sick_train", 1, 5, 3),
                                    ("pairs/quora_shared", 0, 1, 2)):  # fmt: skip
        with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
        found += [(row[0], row[1], (float(row[column]) - low) / (high - low)) for row in rows]
    return found


def by_length(pairs: Sequence[tuple[str, str, float]], rng: random.Random) -> list[tuple[str, str, float]]:
    """Gives pairs in batches of like length, in an order drawn by lot: hardly anything is padded."""
    order = sorted(rng.sample(list(pairs), len(pairs)), key=lambda pair: len(pair[0]) + len(pair[1]))
    batches = [order[at : at + PAIRS_A_STEP] for at in range(0, len(order), PAIRS_A_STEP)]
    return [pair for batch in rng.sample(batches, len(batches)) for pair in batch]


def teach(model: Any, loss: Any, columns: Mapping[str, Sequence[Any]], steps: int, batch: int) -> None:
    """Trains for so many steps, the rows in the order that they have."""
    import datasets  # type: ignore[import-untyped]
    from sentence_transformers.base.sampler import DefaultBatchSampler
    from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
    from torch.utils.data import SequentialSampler

    def in_order(data: Any, batch_size: int, drop_last: bool, **_: object) -> DefaultBatchSampler:
        return DefaultBatchSampler(SequentialSampler(data), batch_size, drop_last)

    with tempfile.TemporaryDirectory() as scratch:
        arguments = CrossEncoderTrainingArguments(
            output_dir=scratch, max_steps=steps, per_device_train_batch_size=batch, learning_rate=RATE,
            warmup_steps=max(1, steps // 10), seed=0, use_cpu=True, save_strategy="no", logging_steps=20,
            report_to="none", disable_tqdm=True, batch_sampler=in_order,
        )  # fmt: skip
        data = datasets.Dataset.from_dict({name: list(values) for name, values in columns.items()})
        CrossEncoderTrainer(model=model, args=arguments, train_dataset=data, loss=loss).train()


def tune(lists: Sequence[Listed], watched: Sequence[Listed], folder: Path, options: Any) -> dict[str, object]:
    """Fine-tunes and saves a cross-encoder; gives the seconds, and the mean average precision on the watched lists."""
    import torch
    from sentence_transformers.cross_encoder import CrossEncoder
    from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss, ListNetLoss

    from sbert_desktop.encoder.models import default_model_dir

    torch.manual_seed(0)
    torch.set_num_threads(options.threads)
    model = CrossEncoder(str(default_model_dir()), num_labels=1, max_length=MOST_TOKENS, device="cpu")
    for part in (model.model.bert.embeddings, *model.model.bert.encoder.layer[:FROZEN]):
        part.requires_grad_(False)
    samples: list[dict[str, Any]] = [
        {"query": query, "positive": [text for text, label in zip(texts, labels, strict=True) if label],
         "negative": [text for text, label in zip(texts, labels, strict=True) if not label]}
        for query, texts, labels in watched
    ]  # fmt: skip
    looked: list[float] = []

    def look() -> None:
        looked.append(round(float(CrossEncoderRerankingEvaluator(samples, write_csv=False)(model)["map"]), 4))
        print(f"held-out MAP {looked[-1]:.4f}", file=sys.stderr, flush=True)

    began, work = time.perf_counter(), time.process_time()
    look()
    if options.short_steps:
        pairs = zip(*by_length(short_pairs(), random.Random(0)), strict=True)
        teach(model, BinaryCrossEntropyLoss(model), dict(zip(("first", "second", "label"), pairs, strict=True)),
              options.short_steps, PAIRS_A_STEP)  # fmt: skip
        look()
    queries, texts, labels = zip(*lists, strict=True)
    columns = {"query": queries, "texts": texts, "labels": [[GRADE * label for label in some] for some in labels]}
    teach(model, ListNetLoss(model, mini_batch_size=LONG * LISTS_A_STEP), columns, options.steps, LISTS_A_STEP)
    look()
    model.max_seq_length = READ_TOKENS
    model.save_pretrained(str(folder))
    return {"lists": len(lists), "steps": [options.short_steps, options.steps], "held_out_map": looked,
            "seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - work}  # fmt: skip


def ask(judged: Any, number: int, cross: Any) -> dict[tuple[int, float], float]:
    """Gives nDCG@10 of a query by depth and share of the cross-encoder; (0, 0.0) is the first stage."""
    from sbert_desktop.encoder.evaluate import ndcg
    from sbert_desktop.explore import reorder, shortlist

    judgement, text = judged._queries[number]
    snapshot, results = first_stage(judged, number, max(DEPTHS))

    def value(found: Any) -> float:
        return float(ndcg([[judged._ids[one.content_id] for one in found.documents]], [judgement], 10))

    values = {(0, 0.0): value(results)}
    for depth in DEPTHS:
        passages = shortlist(results, depth)
        records = snapshot.fetch(passages)
        scores = cross.score(text, [records[one].text for one in passages])
        known = dict(zip(map(int, passages), scores.tolist(), strict=True))
        values |= {(depth, share): value(reorder(results, known, share=share)) for share in SHARES}
    return values


def spend(judged: Any, number: int, cross: Any, depth: int) -> tuple[float, float]:
    """Gives wall and CPU seconds of the second stage alone, nothing being known beforehand."""
    from sbert_desktop.app.reranking import rerank
    from sbert_desktop.app.searching import Found
    from sbert_desktop.domain import Query
    from sbert_desktop.jobs import NullContext

    snapshot, results = first_stage(judged, number, max(DEPTHS))
    query = Query(judged._queries[number][1], top=max(DEPTHS), fold=False, rerank=depth)
    cross._known.clear()
    wall, work = time.perf_counter(), time.process_time()
    rerank(Found(query, snapshot, results, 0.0), cross, NullContext())
    return time.perf_counter() - wall, time.process_time() - work


def interval(gains: Sequence[float], groups: Sequence[str]) -> list[float]:
    """Gives the 95 % interval of a mean, by bootstrap over groups."""
    names = sorted(set(groups))
    sums = np.array([sum(gain for gain, group in zip(gains, groups, strict=True) if group == name) for name in names])
    sizes = np.array([sum(group == name for group in groups) for name in names])
    drawn = np.random.default_rng(0).integers(0, len(names), (DRAWN, len(names)))
    means = sums[drawn].sum(1) / sizes[drawn].sum(1)
    return [round(float(bound), 4) for bound in np.percentile(means, (2.5, 97.5))]


def gained(parts: Sequence[Sequence[Mapping[tuple[int, float], float]]], groups: Sequence[str]) -> dict[str, object]:
    """Gives what each depth gains: at a share chosen on the other part, at the program's own, and alone."""
    from sbert_desktop.explore.refinement import SHARE

    both = [one for part in parts for one in part]

    def told(values: Sequence[float]) -> dict[str, object]:
        gains = [value - one[0, 0.0] for value, one in zip(values, both, strict=True)]
        return {"ndcg@10": round(float(np.mean(values)), 4), "gain": round(float(np.mean(gains)), 4),
                "ci95": interval(gains, groups)}  # fmt: skip

    found: dict[str, object] = {"0": {"ndcg@10": round(float(np.mean([one[0, 0.0] for one in both])), 4)}}
    for depth in DEPTHS:
        means = [{share: float(np.mean([one[depth, share] for one in part])) for share in SHARES} for part in parts]
        best = [max(SHARES, key=lambda share: mean[share]) for mean in reversed(means)]
        values = [one[depth, share] for part, share in zip(parts, best, strict=True) for one in part]
        found[str(depth)] = {
            "chosen": {"shares": best, **told(values)},
            f"at {SHARE:g}": told([one[depth, SHARE] for one in both]),
            "alone": told([one[depth, 1.0] for one in both]),
        }
    return found


def measure(judged: Any, parts: Sequence[Sequence[int]], cross: Any) -> dict[str, object]:
    """Gives what the second stage gains on the queries of two parts, and its time per query."""
    spent: dict[int, list[tuple[float, float]]] = {depth: [] for depth in DEPTHS}
    told: list[list[dict[tuple[int, float], float]]] = []
    for part in parts:
        told.append([])
        for place, number in enumerate(part):
            for depth in DEPTHS:
                if depth == max(DEPTHS) or place < ANEW:
                    spent[depth].append(spend(judged, number, cross, depth))
            told[-1].append(ask(judged, number, cross))
    return {
        "n": [len(part) for part in parts],
        "by_depth": gained(told, [asks_for(judged._queries[number][0]) for part in parts for number in part]),
        "seconds_per_query": {str(depth): {"wall_p50": round(float(np.median([wall for wall, _ in some])), 3),
                                           "wall_p95": round(float(np.percentile([wall for wall, _ in some], 95)), 3),
                                           "cpu_mean": round(float(np.mean([work for _, work in some])), 3)}
                              for depth, some in spent.items()},
    }  # fmt: skip


def compare(folder: Path, judged: Any, chosen: Sequence[int]) -> dict[str, object]:
    """Gives the CPU seconds of 50 pairs beside sentence-transformers', the same texts in turn; and the difference.

    The floor is what the multiplications of the layers cost at the pace of this machine's own matrix product.
    """
    from sentence_transformers import CrossEncoder

    from sbert_desktop.encoder import open_cross_encoder
    from sbert_desktop.explore import shortlist
    from sbert_desktop.jobs import spawn_child

    theirs = CrossEncoder(str(folder), device="cpu")
    ours: dict[str, Any] = {name: open_cross_encoder(folder, launch=spawn_child, precision=name, backend="openvino")
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
        snapshot, results = first_stage(judged, number, 50)
        texts = [record.text for record in snapshot.fetch(shortlist(results, 50)).values()]
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
        tokens += sum(len(ids) for ids, _ in ours["float32"]._tokenizer.encode_pairs(text, texts))
    for one in ours.values():
        one.close()
    weights = sum(value.numel() for name, value in theirs.model.named_parameters()
                  if "encoder.layer" in name and value.ndim == 2)  # fmt: skip
    return {
        "queries": len(chosen),
        "tokens_per_query": round(tokens / len(chosen)),
        "cpu_seconds_per_50": {name: round(float(np.mean(some)), 3) for name, some in spent.items()},
        "floor_cpu_seconds": round(tokens * 2 * weights / len(chosen) / pace(), 3),
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


def learned(held: Mapping[str, tuple[Any, Sequence[Sequence[int]]]], folder: Path, options: Any) -> dict[str, object]:
    """Makes the lists of all sets and fine-tunes on those to train on, into a folder; gives what came of it."""
    rng = random.Random(0)
    lists: list[Listed] = []
    watched: list[Listed] = []
    for judged, (train, first, second) in held.values():
        for _ in range(max(1, min(3, LISTS // max(1, len(train))))):
            lists += lists_of(judged, train, rng)
        aside = rng.sample([*first, *second], min(WATCHED, len(first) + len(second)))
        watched += lists_of(judged, aside, rng, long=2 * LONG)
    rng.shuffle(lists)
    return tune(lists, watched, folder, options)


def table(name: str, report: Mapping[str, Any]) -> str:
    """Gives the lines of a set: by depth the gain in nDCG@10 at each way to weigh both stages, and the time."""
    lines = [f"{name}: {sum(report['n'])} queries, first stage alone {report['by_depth']['0']['ndcg@10']:.4f}"]
    for depth in map(str, DEPTHS):
        spent = report["seconds_per_query"][depth]
        lines.append(f"  best {depth}: {spent['wall_p50']:.2f} s, {spent['cpu_mean']:.2f} CPU-s")
        for way, told in report["by_depth"][depth].items():
            shares = " (" + " and ".join(f"{share:g}" for share in told["shares"]) + ")" if "shares" in told else ""
            low, high = told["ci95"]
            lines.append(
                f"    {way}{shares}: {told['ndcg@10']:.4f}, gain {told['gain']:+.4f} [{low:+.4f}, {high:+.4f}]"
            )
    return "\n".join(lines)


def parsed() -> argparse.Namespace:
    """Gives what was asked on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--short-steps", type=int, default=200, help="on short pairs, before")
    parser.add_argument("--steps", type=int, default=200, help="on passages")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of the training")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--sets", nargs="+", default=["cranfield", "xquad_en"])
    parser.add_argument("--queries", type=int, default=60, help="measured per part and set, at even steps; 0 for all")
    parser.add_argument("--compare", action="store_true", help="with sentence-transformers' CrossEncoder.predict")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Prepares, measures and prints."""
    from sbert_desktop.app.evaluating import RetrievalSet
    from sbert_desktop.app.session import Session
    from sbert_desktop.encoder import open_cross_encoder
    from sbert_desktop.jobs import NullContext, spawn_child

    options = parsed()
    report: dict[str, object] = {}
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        session = Session(scratch / "library")
        stack.callback(session.close)
        held: dict[str, tuple[Any, Sequence[Sequence[int]]]] = {}
        for name in options.sets:
            judged = stack.enter_context(RetrievalSet(session, DATA / "retrieval" / name, NullContext()))
            held[name] = judged, dealt(judged)
        folder = options.model or (options.keep or scratch / "made") / "tuned"
        if options.model is None:
            report["training"] = learned(held, folder, options)
        cross = open_cross_encoder(folder, launch=spawn_child)
        stack.callback(cross.close)
        cross.score("warm", ["up"])
        for name, (judged, (_, *parts)) in held.items():
            step = [max(1, len(part) // options.queries) if options.queries else 1 for part in parts]
            result = measure(judged, [part[::by] for part, by in zip(parts, step, strict=True)], cross)
            report[name] = result
            if options.compare:
                report[f"{name} speed"] = compare(folder, judged, parts[0][:: max(1, len(parts[0]) // 4)])
            if not options.json:
                print(table(name, result), flush=True)
    print(json.dumps(report, indent=None if options.json else 1))


if __name__ == "__main__":
    main()
