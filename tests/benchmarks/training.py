"""Fine-tuning from all-MiniLM-L6-v2 on the CPU: held-out difference, and the same through sentence-transformers.

    python tests/benchmarks/training.py [--only same graded curve nli triplets collapse]
        [--labels 1000] [--epochs E] [--seeds 0 1] [--threads N] [--json]

``same`` (mrpc_train) and ``graded`` (stsb_train): so many labels, the figure on mrpc_val and stsb_dev before and after,
with its 95 % interval, beside sentence-transformers' own Trainer with the same labels, loss and hyper-parameters
(``pip install datasets accelerate``; the order of the examples is its own, so a seed more tells what is chance).
``curve``: walmart_amazon_dev, AP on the same rest after 200, 500 and 1,000 labels. ``nli``: the softmax objective on a
small encoder (the first two layers of the base) with SICK and SNLI; each held-out pair is classed by a head that is
fitted on the training part afterwards, since that of the training is thrown away. ``triplets``: snli_triplets_dev, one
half to learn from. ``collapse``: 20 positives, 50 epochs, learning rate 1e-3, the last state kept: the guards must
trip. Our own trainings run in the program's child. Data: ../shared/data.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
sys.path.insert(0, str(ROOT))

from sbert_desktop.encoder.models import default_model_dir, describe  # noqa: E402
from sbert_desktop.jobs import NullContext, spawn_child  # noqa: E402
from sbert_desktop.privacy import cut_telemetry  # noqa: E402
from sbert_desktop.training import guards, running, saving  # noqa: E402
from sbert_desktop.training.comparing import Comparison, Measured, compare, may_adopt  # noqa: E402
from sbert_desktop.training.labels import NLI_NAMES, Example, LabelKind, LabelSet, same_text  # noqa: E402
from sbert_desktop.training.objectives import HyperParameters, defaults, objective  # noqa: E402
from sbert_desktop.training.splitting import Apart, Split, split  # noqa: E402

cut_telemetry()
Columns = list[NDArray[np.float32]]


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


def train(base: Path, labels: LabelSet, hyper: HyperParameters, work: Path, threads: int | None) -> tuple[Path, float]:
    """Trains in a child; gives the model folder and seconds."""
    running.begin(work, running.Recipe(base, labels, hyper, device="cpu", base_name=describe(base).name))
    trained = running.Training(work, spawn_child, threads=threads, nice=0).run(NullContext())
    target = work.with_name(f"{work.name}-model")
    saving.assemble(work, target)
    return target, trained.seconds


def train_theirs(base: Path, labels: LabelSet, hyper: HyperParameters, target: Path) -> float | None:
    """Trains with SentenceTransformerTrainer; None where its packages are not there."""
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
    columns: dict[str, list[object]] = {
        f"text{place}": [one.texts[place] for one in labels.examples] for place in range(labels.kind.texts)}
    scale = 5.0 if labels.kind is LabelKind.GRADED else 1.0
    columns["label"] = [one.value / scale for one in labels.examples]
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(target.with_name("trainer")), num_train_epochs=hyper.epochs, use_cpu=True, seed=hyper.seed,
        per_device_train_batch_size=hyper.batch, learning_rate=hyper.learning_rate, warmup_ratio=hyper.warm_up,
        save_strategy="no", logging_strategy="no", report_to=[], disable_tqdm=True,
    )  # fmt: skip
    began = time.perf_counter()
    SentenceTransformerTrainer(model=model, args=arguments, train_dataset=Dataset.from_dict(columns),
                               loss=getattr(losses, chosen.loss)(model, **chosen.parameters)).train()  # fmt: skip
    seconds = time.perf_counter() - began
    model.save_pretrained(str(target), create_model_card=False)
    return seconds


def joined(train_part: LabelSet, held_part: LabelSet) -> tuple[LabelSet, Split]:
    """Gives both parts as one set, with its split."""
    both = LabelSet(train_part.kind, train_part.examples + held_part.examples)
    count = len(train_part)
    return both, Split(tuple(range(count)), tuple(range(count, len(both))), (), Apart.TEXT, np.arange(len(both)))


def figures(comparison: Comparison) -> dict[str, object]:
    measured = comparison.primary
    assert isinstance(measured, Measured), comparison.verdict
    return {"metric": measured.metric, "base": 100 * measured.base, "tuned": 100 * measured.tuned,
            "difference": 100 * measured.difference, "ci95": [100 * measured.low, 100 * measured.high],
            "held_out": comparison.n, "clearly_better": comparison.clearly_better}  # fmt: skip


def against_theirs(
    base: Path, labels: LabelSet, held: LabelSet, hyper: HyperParameters, folder: Path, options: argparse.Namespace
) -> list[dict[str, object]]:
    """Trains ours and theirs with each seed and compares both with the base on the same held-out part."""
    both, parts = joined(labels, held)
    before = encode(base, both)
    found = []
    for seed in options.seeds:
        wanted = replace(hyper, seed=seed, patience=None, keep_best=False)
        ours, seconds = train(base, labels, wanted, folder / f"ours-{seed}", options.threads)
        row = {"seed": seed, "hyper": asdict(wanted), "labels": len(labels), "seconds": seconds,
               **figures(compare(both, parts, before, encode(ours, both)))}  # fmt: skip
        target = folder / f"theirs-{seed}"
        took = train_theirs(base, labels, wanted, target)
        if took is not None:
            theirs = figures(compare(both, parts, before, encode(target, both)))
            row |= {"theirs": theirs["tuned"], "theirs_seconds": took,
                    "ours_less_theirs": float(str(row["tuned"])) - float(str(theirs["tuned"]))}  # fmt: skip
        found.append(row)
        print(json.dumps(row), file=sys.stderr)
    return found


def same(base: Path, folder: Path, options: argparse.Namespace) -> object:
    labels = some(read("pairs/mrpc_train.csv", LabelKind.PAIRS), options.labels)
    hyper = _with_epochs(defaults(LabelKind.PAIRS, len(labels)), options)
    return against_theirs(base, labels, read("pairs/mrpc_val.csv", LabelKind.PAIRS), hyper, folder, options)


def graded(base: Path, folder: Path, options: argparse.Namespace) -> object:
    labels = some(read("sts/stsb_train.csv", LabelKind.GRADED), options.labels)
    hyper = _with_epochs(defaults(LabelKind.GRADED, len(labels)), options)
    return against_theirs(base, labels, read("sts/stsb_dev.csv", LabelKind.GRADED), hyper, folder, options)


def curve(base: Path, folder: Path, options: argparse.Namespace) -> object:
    """Learns from ever more labels; the rest, with no text of the largest part in it, stays the same."""
    labels = read("pairs/walmart_amazon_dev.csv", LabelKind.PAIRS)
    order = np.random.default_rng(0).permutation(len(labels)).tolist()
    known = {same_text(text) for place in order[:1000] for text in labels.examples[place].texts}
    rest = [place for place in order[1000:] if not {same_text(text) for text in labels.examples[place].texts} & known]
    found = []
    for count in (200, 500, 1000):
        both, parts = joined(labels.only(order[:count]), labels.only(rest))
        hyper = _with_epochs(replace(defaults(LabelKind.PAIRS, count), patience=None, keep_best=False), options)
        tuned, seconds = train(base, labels.only(order[:count]), hyper, folder / str(count), options.threads)
        found.append({"labels": count, "epochs": hyper.epochs, "seconds": seconds,
                      **figures(compare(both, parts, encode(base, both), encode(tuned, both)))})  # fmt: skip
        print(json.dumps(found[-1]), file=sys.stderr)
    return found


def small_encoder(base: Path, target: Path, layers: int = 2) -> Path:
    """Writes the base with its first layers only."""
    from transformers import AutoModel

    shutil.copytree(base, target, ignore=shutil.ignore_patterns("*.safetensors", "README.md"))
    model = AutoModel.from_pretrained(str(base))
    model.encoder.layer = model.encoder.layer[:layers]
    model.config.num_hidden_layers = layers
    model.save_pretrained(str(target))
    return target


def nli(base: Path, folder: Path, options: argparse.Namespace) -> object:
    small = small_encoder(base, folder / "small")
    found = []
    for name in ("sick_train", "snli_dev"):
        labels = read(f"nli/{name}.csv", LabelKind.NLI, lambda word: float(NLI_NAMES.index(word)))
        parts = split(labels)
        learned = labels.only(parts.train)
        hyper = _with_epochs(replace(defaults(LabelKind.NLI, len(learned)), patience=None), options)
        tuned, seconds = train(small, learned, hyper, folder / name, options.threads)
        values = [labels.examples[place].value for place in parts.held_out]
        comparison = compare(labels, parts, encode(small, labels), encode(tuned, labels))
        others = {one.metric: [100 * one.base, 100 * one.tuned] for one in comparison.others}
        found.append({"set": name, "labels": len(learned), "epochs": hyper.epochs, "seconds": seconds,
                      "largest_class": 100 * max(np.mean(np.array(values) == value) for value in range(3)),
                      **figures(comparison), "others": others,
                      "head_saved": "classifier" in (tuned / "model.safetensors").read_bytes()[:100_000].decode(
                          "latin-1")})  # fmt: skip
        print(json.dumps(found[-1]), file=sys.stderr)
    return found


def triplets(base: Path, folder: Path, options: argparse.Namespace) -> object:
    labels = read("nli/snli_triplets_dev.csv", LabelKind.TRIPLETS)
    parts = split(labels, share=0.5)
    learned = labels.only(parts.train)
    before = encode(base, labels)
    whole = 100 * float(np.mean(np.sum(before[0] * before[1], 1) > np.sum(before[0] * before[2], 1)))
    found = []
    for key in ("triplet", "multiple-negatives"):
        hyper = _with_epochs(replace(defaults(LabelKind.TRIPLETS, len(learned), key), patience=None), options)
        tuned, seconds = train(base, learned, hyper, folder / key, options.threads)
        found.append({"objective": key, "labels": len(learned), "epochs": hyper.epochs, "seconds": seconds,
                      "base_on_all": whole, **figures(compare(labels, parts, before, encode(tuned, labels)))})
        print(json.dumps(found[-1]), file=sys.stderr)
    return found


def collapse(base: Path, folder: Path, options: argparse.Namespace) -> object:
    pairs = read("pairs/mrpc_train.csv", LabelKind.PAIRS)
    right = [place for place, one in enumerate(pairs.examples) if one.value == 1.0]
    found = []
    for kind in (LabelKind.POSITIVES, LabelKind.PAIRS):  # the latter: only ever "same" was said
        labels = LabelSet(kind, pairs.only(right[:20]).examples)
        hyper = replace(defaults(kind, 20), epochs=50, learning_rate=1e-3, patience=None, keep_best=False)
        tuned, seconds = train(base, labels, hyper, folder / kind.value, options.threads)
        found.append({"objective": hyper.objective, "seconds": seconds, **_looked_at(base, tuned, pairs)})
        print(json.dumps(found[-1]), file=sys.stderr)
    return found


def _looked_at(base: Path, tuned: Path, pairs: LabelSet) -> dict[str, object]:
    """Gives what the guards say, the comparison, and whether the model may be adopted."""
    general = guards.load_general_set()
    graded_pairs = LabelSet(LabelKind.GRADED, tuple(
        Example((a, b), g) for a, b, g in zip(general.first, general.second, general.grades.tolist(), strict=True)))
    first, second = (encode(model, graded_pairs) for model in (base, tuned))
    looks = guards.check_guards((first[0], first[1]), (second[0], second[1]), general.grades)
    # The comparison takes its threshold from labels of both answers.
    both, parts = joined(some(pairs, 200), read("pairs/mrpc_val.csv", LabelKind.PAIRS))
    comparison = compare(both, parts, encode(base, both), encode(tuned, both))
    allowed, why = may_adopt(comparison, looks)
    return {**figures(comparison), "may_adopt": allowed, "why": why,
            "guards": {one.code: [one.passed, one.base, one.tuned] for one in looks}}  # fmt: skip


def _with_epochs(hyper: HyperParameters, options: argparse.Namespace) -> HyperParameters:
    return hyper if options.epochs is None else replace(hyper, epochs=options.epochs)


PARTS = {"same": same, "graded": graded, "curve": curve, "nli": nli, "triplets": triplets, "collapse": collapse}


def show(name: str, rows: Sequence[dict[str, object]]) -> None:
    print(f"\n{name}")
    for row in rows:
        print("  " + ", ".join(f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}"
                               for key, value in row.items() if key != "hyper"))  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    base = default_model_dir()
    if base is None or not DATA.is_dir():
        print("needs the bundled model and ../shared/data", file=sys.stderr)
        return 1
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            place = Path(folder) / name
            place.mkdir()
            found[name] = PARTS[name](base, place, options)
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        for name, rows in found.items():
            show(name, rows)  # type: ignore[arg-type]
    return 0


if __name__ == "__main__":
    sys.exit(main())
