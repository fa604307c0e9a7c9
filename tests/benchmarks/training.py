"""Fine-tuning from all-MiniLM-L6-v2 on the CPU: held-out difference, and the same through sentence-transformers.

    python tests/benchmarks/training.py [--only same graded exact curve nli nli-from-nothing triplets collapse floor]
        [--labels 1000] [--epochs E] [--batch B] [--max-tokens 128] [--seeds 0 1] [--threads N] [--json]

``same`` (mrpc_train) and ``graded`` (stsb_train): so many labels, the figure on mrpc_val and stsb_dev before and after,
with its 95 % interval (of groups that share texts), beside sentence-transformers' own Trainer with the same labels,
loss and hyper-parameters (``pip install datasets accelerate``), in an order of its own. A seed more tells what is
chance. ``exact``: both in one order and without dropout, which leaves no chance: how far the vectors differ.
``curve``: walmart_amazon_dev, parted in halves by product; AP on one half after 200, 500 and 1,000 labels of the other.
``nli``: the softmax objective on the first two layers of the base, with SICK and SNLI; before and after, each held-out
pair is classed by a head fitted on the training part anew, since that of the training is thrown away; then NLI and
grades one after the other. ``nli-from-nothing``: SICK with two layers of random weights. ``triplets``:
snli_triplets_dev, one half to learn from. ``collapse``: 20 positives, 50 epochs, learning rate 1e-3, the last state
kept: the guards must trip. ``floor``: CPU seconds of a step against its multiplications at the pace of the machine's
GEMM, in one thread, with texts of like length read together and as the library reads them. Our own
trainings run in the program's child (not in ``floor``). Data: ../shared/data.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from encode import GEMM, linear_flops  # noqa: E402

from sbert_desktop.encoder.models import default_model_dir, describe  # noqa: E402
from sbert_desktop.jobs import NullContext, spawn_child  # noqa: E402
from sbert_desktop.privacy import cut_telemetry  # noqa: E402
from sbert_desktop.training import _trainer, guards, running, saving  # noqa: E402
from sbert_desktop.training.comparing import Comparison, Measured, compare, may_adopt  # noqa: E402
from sbert_desktop.training.labels import NLI_NAMES, Example, LabelKind, LabelSet, nearly_same_text  # noqa: E402
from sbert_desktop.training.objectives import HyperParameters, defaults, objective  # noqa: E402
from sbert_desktop.training.splitting import Apart, Split, components, split  # noqa: E402

cut_telemetry()
Columns = list[NDArray[np.float32]]
Row = dict[str, object]
Plan = list[list[NDArray[np.int64]]]


def cpu_seconds() -> float:
    """Gives those of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def read(name: str, kind: LabelKind, value: Callable[[str], float] = float) -> LabelSet:
    """Gives the labels of a set: two or three texts, then what is said of them."""
    with (DATA / name).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    texts = kind.texts
    return LabelSet(kind, tuple(
        Example(tuple(row[:texts]), value(row[texts]) if len(row) > texts else 1.0) for row in rows))  # fmt: skip


def some(labels: LabelSet, count: int, seed: int = 0) -> LabelSet:
    order = np.random.default_rng(seed).permutation(len(labels))[:count]
    return labels.only(sorted(order.tolist()))


def encode(folder: Path, labels: LabelSet) -> Columns:
    """Gives the vectors of each column as sentence-transformers makes them."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")
    return [model.encode([one.texts[place] for one in labels.examples], normalize_embeddings=True,
                         show_progress_bar=False) for place in range(labels.kind.texts)]  # fmt: skip


def train(base: Path, labels: LabelSet, hyper: HyperParameters, work: Path, threads: int | None) -> tuple[Path, Row]:
    """Trains in a child; gives the model folder and what it took: the child's CPU seconds hold its start."""
    before = cpu_seconds()
    running.begin(work, running.Recipe(base, labels, hyper, device="cpu", base_name=describe(base).name))
    trained = running.Training(work, spawn_child, threads=threads, nice=0).run(NullContext())
    target = work.with_name(f"{work.name}-model")
    saving.assemble(work, target)
    return target, {"steps": trained.step, "seconds": trained.seconds, "cpu": cpu_seconds() - before}


def train_theirs(
    base: Path, labels: LabelSet, hyper: HyperParameters, target: Path, plan: Plan | None = None
) -> float | None:
    """Trains with SentenceTransformerTrainer, in its own order or that of a plan; None where its packages are missing.

    Gives the CPU seconds of its ``train``.
    """
    try:
        from datasets import Dataset
        from sentence_transformers import (
            SentenceTransformer,
            SentenceTransformerTrainer,
            SentenceTransformerTrainingArguments,
        )
        from sentence_transformers.sentence_transformer import losses
    except ImportError:
        return None
    chosen = objective(hyper.objective)
    model = SentenceTransformer(str(base), device="cpu")
    whole, model.max_seq_length = model.max_seq_length, hyper.max_tokens or model.max_seq_length
    columns: dict[str, list[object]] = {
        f"text{place}": [one.texts[place] for one in labels.examples] for place in range(labels.kind.texts)}
    scale = 5.0 if labels.kind is LabelKind.GRADED else 1.0
    columns["label"] = [one.value / scale for one in labels.examples]
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(target.with_name("trainer")), num_train_epochs=hyper.epochs, use_cpu=True, seed=hyper.seed,
        per_device_train_batch_size=hyper.batch, learning_rate=hyper.learning_rate, warmup_steps=hyper.warm_up,
        save_strategy="no", logging_strategy="no", report_to=[], disable_tqdm=True,
        **({} if plan is None else {"batch_sampler": _in_order(plan)}),
    )  # fmt: skip
    trainer = SentenceTransformerTrainer(model=model, args=arguments, train_dataset=Dataset.from_dict(columns),
                                         loss=getattr(losses, chosen.loss)(model, **chosen.parameters))  # fmt: skip
    before = cpu_seconds()
    trainer.train()
    took = cpu_seconds() - before
    model.max_seq_length = whole
    model.save_pretrained(str(target), create_model_card=False)
    return took


def _in_order(plan: Plan) -> Callable[..., object]:
    """Gives what makes the sampler that the Trainer asks for batches: ours, an epoch after the other."""
    from sentence_transformers.base.sampler import DefaultBatchSampler

    class Planned(DefaultBatchSampler):  # type: ignore[misc]
        def __iter__(self) -> Iterator[list[int]]:
            for rows in plan[self.epoch]:
                yield rows.tolist()

    def make(dataset: object, batch_size: int, drop_last: bool, **_: object) -> object:
        return Planned(range(sum(map(len, plan[0]))), batch_size=batch_size, drop_last=drop_last)

    return make


def plan_of(labels: LabelSet, hyper: HyperParameters) -> Plan:
    return _trainer.plan_batches(labels, batch=hyper.batch, epochs=hyper.epochs, seed=hyper.seed,
                                 distinct=objective(hyper.objective).distinct)  # fmt: skip


def joined(train_part: LabelSet, held_part: LabelSet) -> tuple[LabelSet, Split]:
    """Gives both parts as one set, with its split; held-out labels with a text of the other part are left out."""
    known = {nearly_same_text(text) for one in train_part.examples for text in one.texts}
    held = [one for one in held_part.examples if not known & {nearly_same_text(text) for text in one.texts}]
    both = LabelSet(train_part.kind, (*train_part.examples, *held))
    count = len(train_part)
    return both, Split(tuple(range(count)), tuple(range(count, len(both))), (), Apart.TEXT, components(both))


def figures(comparison: Comparison) -> Row:
    measured = comparison.primary
    assert isinstance(measured, Measured), comparison.verdict
    return {"metric": measured.metric, "base": 100 * measured.base, "tuned": 100 * measured.tuned,
            "difference": 100 * measured.difference, "ci95": [100 * measured.low, 100 * measured.high],
            "held_out": comparison.n, "groups": comparison.clusters, "clearly_better": comparison.clearly_better,
            "verdict": comparison.verdict}  # fmt: skip


def against_theirs(
    base: Path, labels: LabelSet, held: LabelSet, folder: Path, options: argparse.Namespace
) -> list[Row]:
    """Trains ours and theirs with each seed and compares both with the base on the same held-out part."""
    both, parts = joined(labels, held)
    before = encode(base, both)
    found = []
    for seed in options.seeds:
        wanted = replace(chosen(labels, options), seed=seed)
        ours, took = train(base, labels, wanted, folder / f"ours-{seed}", options.threads)
        after = encode(ours, both)
        comparison = compare(both, parts, before, after)
        row: Row = {"seed": seed, "hyper": asdict(wanted), "labels": len(labels), "epochs": wanted.epochs, **took,
                    **figures(comparison), **guarded(base, ours, comparison)}  # fmt: skip
        target = folder / f"theirs-{seed}"
        cpu = train_theirs(base, labels, wanted, target)
        if cpu is not None:
            between = figures(compare(both, parts, encode(target, both), after))
            row |= {"theirs": between["base"], "theirs_cpu": cpu, "ours_less_theirs": between["difference"],
                    "ours_less_theirs_ci95": between["ci95"]}  # fmt: skip
        found.append(row)
        tell(row)
    return found


def same(base: Path, folder: Path, options: argparse.Namespace) -> list[Row]:
    labels = some(read("pairs/mrpc_train.csv", LabelKind.PAIRS), options.labels)
    return against_theirs(base, labels, read("pairs/mrpc_val.csv", LabelKind.PAIRS), folder, options)


def graded(base: Path, folder: Path, options: argparse.Namespace) -> list[Row]:
    labels = some(read("sts/stsb_train.csv", LabelKind.GRADED), options.labels)
    return against_theirs(base, labels, read("sts/stsb_dev.csv", LabelKind.GRADED), folder, options)


def exact(base: Path, folder: Path, options: argparse.Namespace) -> list[Row]:
    """Trains ours and theirs in one order and without dropout: only rounding may part them."""
    still = folder / "still"
    shutil.copytree(base, still)
    config = json.loads((still / "config.json").read_text("utf-8"))
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (still / "config.json").write_text(json.dumps(config), "utf-8")
    found = []
    for labels in (some(read("pairs/mrpc_train.csv", LabelKind.PAIRS), 200),
                   some(read("sts/stsb_train.csv", LabelKind.GRADED), 200)):  # fmt: skip
        wanted = replace(chosen(labels, options), epochs=2)
        ours, _ = train(still, labels, wanted, folder / labels.kind.value, options.threads)
        theirs = folder / f"theirs-{labels.kind.value}"
        if train_theirs(still, labels, wanted, theirs, plan_of(labels, wanted)) is None:
            continue
        before, one, other = (np.concatenate(encode(model, labels)) for model in (still, ours, theirs))
        found.append({"objective": wanted.objective, "labels": len(labels), "epochs": wanted.epochs,
                      "moved_by": float(np.linalg.norm(one - before, axis=1).mean()),
                      "apart_mean": float(np.linalg.norm(one - other, axis=1).mean()),
                      "apart_most": float(np.linalg.norm(one - other, axis=1).max())})  # fmt: skip
        tell(found[-1])
    return found


def curve(base: Path, folder: Path, options: argparse.Namespace) -> list[Row]:
    """Learns from ever more labels of one half; the other half, of other products, stays the same."""
    labels = read("pairs/walmart_amazon_dev.csv", LabelKind.PAIRS)
    parts = split(labels, share=0.5)
    order = np.random.default_rng(0).permutation(np.array(parts.train)).tolist()
    before = encode(base, labels)
    gold = np.array([one.value for one in labels.examples])
    found: list[Row] = [{"ap_of_the_base_on_all": _average_precision(before, gold), "labels": len(labels)}]
    for count in (200, 500, 1000):
        learned = labels.only(order[:count])
        hyper = chosen(learned, options)
        tuned, took = train(base, learned, hyper, folder / str(count), options.threads)
        now = replace(parts, train=tuple(order[:count]))
        comparison = compare(labels, now, before, encode(tuned, labels))
        found.append({"labels": count, "same_among_them": int(gold[order[:count]].sum()), "epochs": hyper.epochs,
                      **took, **figures(comparison), **guarded(base, tuned, comparison)})  # fmt: skip
        tell(found[-1])
    return found


def _average_precision(columns: Columns, gold: NDArray[np.float64]) -> float:
    from sklearn.metrics import average_precision_score

    return 100 * float(average_precision_score(gold, np.sum(columns[0] * columns[1], axis=1)))


def small_encoder(base: Path, target: Path, *, random: bool, layers: int = 2) -> Path:
    """Writes the base with its first layers only, or with as many of random weights."""
    import torch
    from transformers import AutoModel

    shutil.copytree(base, target, ignore=shutil.ignore_patterns("*.safetensors", "README.md"))
    model = AutoModel.from_pretrained(str(base))
    model.encoder.layer = model.encoder.layer[:layers]
    model.config.num_hidden_layers = layers
    if random:
        torch.manual_seed(0)
        model = AutoModel.from_config(model.config)
    model.save_pretrained(str(target))
    return target


def classed_right(columns: Columns, values: NDArray[np.float64], parts: Split) -> NDArray[np.float64]:
    """Says for each held-out pair whether a head on (u, v, |u - v|), fitted on the training part, is right: 0 or 1."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    first, second = columns
    features = np.hstack([first, second, np.abs(first - second)])
    train_part, held_part = list(parts.train), list(parts.held_out)
    head = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=500))
    head.fit(features[train_part], values[train_part])
    return np.asarray(head.predict(features[held_part]) == values[held_part], np.float64)


def interval(gains: NDArray[np.float64], clusters: NDArray[np.int64]) -> list[float]:
    """Gives the 95 % interval x100 of a mean, by drawing whole groups."""
    groups = np.unique(clusters, return_inverse=True)[1]
    sums, sizes = np.bincount(groups, gains), np.bincount(groups)
    drawn = np.random.default_rng(0).integers(0, len(sizes), (2000, len(sizes)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return [100 * float(end) for end in np.quantile(means, (0.025, 0.975))]


def weights_of(model: Path) -> set[str]:
    from safetensors import safe_open

    with safe_open(str(model / "model.safetensors"), "pt") as file:
        return set(file.keys())


def nli(base: Path, folder: Path, options: argparse.Namespace) -> list[Row]:
    small = small_encoder(base, folder / "small", random=False)
    row, taught = _entailment("sick_train", small, folder, options)
    found = [row, *_nli_then_graded(small, taught, folder, options)]
    return [*found, _entailment("snli_dev", small, folder, options)[0]]


def nli_from_nothing(base: Path, folder: Path, options: argparse.Namespace) -> list[Row]:
    blank = small_encoder(base, folder / "random", random=True)
    return [_entailment("sick_train", blank, folder, options, 2 * options.labels)[0]]


def _entailment(
    name: str, start: Path, folder: Path, options: argparse.Namespace, count: int | None = None
) -> tuple[Row, Path]:
    labels = read(f"nli/{name}.csv", LabelKind.NLI, lambda word: float(NLI_NAMES.index(word)))
    labels = labels if count is None else some(labels, count)
    parts = split(labels)
    learned = labels.only(parts.train)
    hyper = chosen(learned, options)
    if start.name == "random":  # what knows nothing needs longer and larger steps
        hyper = replace(hyper, epochs=4, learning_rate=5e-4)
    tuned, took = train(start, learned, hyper, folder / f"{name}-{start.name}", options.threads)
    values = np.array([one.value for one in labels.examples])
    held = values[list(parts.held_out)]
    before, after = (classed_right(encode(model, labels), values, parts) for model in (start, tuned))
    loss = _trainer.build_loss(_trainer.load_encoder(start, "cpu"), running.Recipe(start, learned, hyper))
    row: Row = {
        "set": name, "from": start.name, "labels": len(learned), "left_out": len(parts.left_out),
        "held_out": len(held), "epochs": hyper.epochs, "learning_rate": hyper.learning_rate, **took,
        "largest_class": 100 * max(float(np.mean(held == value)) for value in range(3)),
        "base": 100 * float(before.mean()), "tuned": 100 * float(after.mean()),
        "difference": 100 * float((after - before).mean()),
        "ci95": interval(after - before, parts.clusters[list(parts.held_out)]),
        "head_in_training": [key for key, _ in loss.named_parameters() if key.startswith("classifier")],
        "weights_beyond_the_bases": sorted(weights_of(tuned) - weights_of(start)),
    }  # fmt: skip
    tell(row)
    return row, tuned


def _nli_then_graded(small: Path, taught: Path, folder: Path, options: argparse.Namespace) -> list[Row]:
    """Compares on stsb_dev what grades alone, NLI alone, and both one after the other give."""
    labels = some(read("sts/stsb_train.csv", LabelKind.GRADED), options.labels)
    both, parts = joined(labels, read("sts/stsb_dev.csv", LabelKind.GRADED))
    before = encode(small, both)
    hyper = chosen(labels, options)
    models = {"NLI alone": taught}
    for name, start in (("grades alone", small), ("NLI, then grades", taught)):
        models[name], _ = train(start, labels, hyper, folder / f"grades-from-{start.name}", options.threads)
    found: list[Row] = []
    for name, model in models.items():
        found.append({"stages": name, "labels": len(labels), "epochs": hyper.epochs,
                      **figures(compare(both, parts, before, encode(model, both)))})  # fmt: skip
        tell(found[-1])
    alone, after = (encode(models[name], both) for name in ("grades alone", "NLI, then grades"))
    found.append({"stages": "NLI, then grades, against grades alone", **figures(compare(both, parts, alone, after))})
    tell(found[-1])
    return found


def triplets(base: Path, folder: Path, options: argparse.Namespace) -> list[Row]:
    labels = read("nli/snli_triplets_dev.csv", LabelKind.TRIPLETS)
    parts = split(labels, share=0.5)
    learned = labels.only(parts.train)
    before = encode(base, labels)
    whole = 100 * float(np.mean(np.sum(before[0] * before[1], 1) > np.sum(before[0] * before[2], 1)))
    found = []
    for key in ("triplet", "multiple-negatives"):
        hyper = chosen(learned, options, key)
        tuned, took = train(base, learned, hyper, folder / key, options.threads)
        comparison = compare(labels, parts, before, encode(tuned, labels))
        found.append({"objective": key, "labels": len(learned), "epochs": hyper.epochs, **took, "base_on_all": whole,
                      **figures(comparison), **guarded(base, tuned, comparison)})  # fmt: skip
        tell(found[-1])
    return found


def collapse(base: Path, folder: Path, options: argparse.Namespace) -> list[Row]:
    pairs = read("pairs/mrpc_train.csv", LabelKind.PAIRS)
    right = [place for place, one in enumerate(pairs.examples) if one.value == 1.0]
    # The comparison takes its threshold from labels of both answers.
    both, parts = joined(some(pairs, 200), some(read("pairs/mrpc_val.csv", LabelKind.PAIRS), 300))
    before = encode(base, both)
    found = []
    for kind in (LabelKind.PAIRS, LabelKind.POSITIVES):  # of the former, only ever "same" was said
        labels = LabelSet(kind, pairs.only(right[:20]).examples)
        hyper = replace(defaults(kind, 20), epochs=50, learning_rate=1e-3, patience=None, keep_best=False,
                        max_tokens=options.max_tokens)  # fmt: skip
        tuned, took = train(base, labels, hyper, folder / kind.value, options.threads)
        comparison = compare(both, parts, before, encode(tuned, both))
        said = figures(comparison) if comparison.measured else {"verdict": comparison.verdict}
        found.append({"objective": hyper.objective, "labels": 20, "epochs": 50, "learning_rate": 1e-3, **took, **said,
                      **guarded(base, tuned, comparison)})  # fmt: skip
        tell(found[-1])
    return found


def guarded(base: Path, tuned: Path, comparison: Comparison) -> Row:
    """Says whether the tuned model may be adopted, and what each guard found: passed, base, tuned."""
    grades = guards.load_general_set().grades
    (first, second), (now_first, now_second) = _general(base), _general(tuned)
    looks = guards.check_guards((first, second), (now_first, now_second), grades)
    allowed, why = may_adopt(comparison, looks)
    return {"may_adopt": allowed, "why": why,
            **{f"guard_{one.code}": [one.passed, one.base, one.tuned] for one in looks}}  # fmt: skip


def _general(model: Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    general = guards.load_general_set()
    pairs = zip(general.first, general.second, strict=True)
    first, second = encode(model, LabelSet(LabelKind.PAIRS, tuple(Example(pair, 0.0) for pair in pairs)))
    return first, second


def floor(base: Path, folder: Path, options: argparse.Namespace) -> list[Row]:
    """Compares the CPU seconds of a step, in one thread, with what its linear layers need at the pace of the GEMM."""
    import torch

    run = [sys.executable, "-c", GEMM]
    pace = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)["float32"] * 1e9
    found: list[Row] = []
    for name, kind in (("pairs/mrpc_train.csv", LabelKind.PAIRS), ("sts/stsb_train.csv", LabelKind.GRADED)):
        hyper = replace(defaults(kind, 1000), epochs=1, max_tokens=options.max_tokens)
        labels = some(read(name, kind), 6 * hyper.batch)
        packed, plain = (_Watched(base, labels, hyper, folder / f"{kind.value}-{packs}", packs)
                         for packs in (True, False))  # fmt: skip
        steps = packed.trainer.of
        for _ in range(steps):  # one after the other, so that the machine is as busy for both
            packed.step()
            plain.step()
        needed = 3 * linear_flops() * plain.real / steps / pace
        theirs = train_theirs(base, labels, hyper, folder / f"theirs-{kind.value}", plan_of(labels, hyper))
        found.append({
            "objective": hyper.objective, "batch": hyper.batch, "steps": steps, "tokens_a_step": plain.real / steps,
            "padded": packed.computed / plain.real, "plain_padded": plain.computed / plain.real,
            "passes_a_step": packed.passes / steps, "gemm_gflops": pace / 1e9, "floor_cpu": needed,
            "step_cpu": packed.cpu / steps, "above_floor": packed.cpu / steps / needed,
            "packed_by_plain": packed.cpu / plain.cpu, "loss_and_gradient_cpu": packed.learning / steps,
            "clip_and_adamw_cpu": (packed.cpu - packed.learning) / steps,
            "theirs_step_cpu": None if theirs is None else theirs / steps,
            "ours_by_theirs": None if theirs is None else packed.cpu / theirs,
        })  # fmt: skip
        tell(found[-1])
    torch.set_num_threads(options.threads or torch.get_num_threads())
    return found


class _Watched:
    """A trainer whose CPU seconds and tokens are counted: those of the texts, and those computed with the padding."""

    def __init__(self, base: Path, labels: LabelSet, hyper: HyperParameters, work: Path, packs: bool) -> None:
        running.begin(work, running.Recipe(base, labels, hyper, device="cpu"))
        self.trainer = trainer = _trainer.Trainer(work, threads=1)
        trainer.packs = packs
        self.cpu = self.learning = 0.0
        self.real = self.computed = self.passes = 0
        trainer.model[0].register_forward_pre_hook(self._count)
        inner = trainer._backward

        def backward(rows: NDArray[np.int64]) -> float:
            before = cpu_seconds()
            loss = inner(rows)
            self.learning += cpu_seconds() - before
            return loss

        trainer._backward = backward  # type: ignore[method-assign]

    def step(self) -> None:
        before = cpu_seconds()
        self.trainer.step()
        self.cpu += cpu_seconds() - before

    def _count(self, module: object, given: tuple[dict[str, Any], ...]) -> None:
        mask = given[0]["attention_mask"]
        self.real += int(mask.sum())
        self.computed += mask.numel()
        self.passes += 1


def chosen(labels: LabelSet, options: argparse.Namespace, key: str = "auto") -> HyperParameters:
    """Gives the program's own figures, but those asked for; the last state is kept, as nothing is held out for it."""
    hyper = defaults(labels.kind, len(labels), key)
    return replace(hyper, patience=None, keep_best=False, max_tokens=options.max_tokens,
                   epochs=options.epochs or hyper.epochs, batch=options.batch or hyper.batch)  # fmt: skip


def tell(row: Row) -> None:
    print(json.dumps(row), file=sys.stderr, flush=True)


PARTS = {"same": same, "graded": graded, "exact": exact, "curve": curve, "nli": nli,
         "nli-from-nothing": nli_from_nothing, "triplets": triplets, "collapse": collapse, "floor": floor}  # fmt: skip


def show(name: str, rows: Sequence[Row]) -> None:
    print(f"\n{name}")
    for row in rows:
        print("  " + ", ".join(f"{key} {_rounded(value)}" for key, value in row.items() if key != "hyper"))


def _rounded(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"
    if isinstance(value, list):
        return f"[{', '.join(map(_rounded, value))}]"
    return str(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    base = default_model_dir()
    if base is None or not DATA.is_dir():
        print("needs the bundled model and ../shared/data", file=sys.stderr)
        return 1
    if options.threads:
        import torch

        torch.set_num_threads(options.threads)
    found: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            place = Path(folder) / name
            place.mkdir()
            found[name] = PARTS[name](base, place, options)
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        for name, rows in found.items():
            show(name, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
