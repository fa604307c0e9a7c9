"""What the duplicate finder finds, end to end: planted pairs, exact duplicates, related pairs; and how long it takes.

    python tests/benchmarks/duplicates.py [--json] [--only planted|bbc|related]

Makes folders of the planted near-duplicates and of the BBC news, indexes them, looks for duplicates through the
program's own use case and compares with the truth. The average precision of "related" is compared with the cosine
of sentence-transformers and its own evaluator in the same run.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATA = ROOT.parent / "shared" / "data"


def planted(scratch: Path) -> dict[str, object]:
    """Looks for the planted pairs among 1,000 articles."""
    source = DATA / "pairs" / "neardup_articles_1000"
    folder = scratch / "articles"
    folder.mkdir()
    for line in (source / "docs.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        (folder / f"{row['_id']}.txt").write_text(row["text"], "utf-8")
    lines = [line.split("\t") for line in (source / "truth.tsv").read_text("utf-8").splitlines()]
    truth = {frozenset(pair[:2]) for pair in lines if all((folder / f"{name}.txt").exists() for name in pair[:2])}
    view, _, figures = _found(scratch / "library-a", folder)
    pairs = {
        frozenset(one.copy.path.stem for one in two)
        for group in view.groups
        if group.kind.value in ("bytes", "text", "format", "near", "contained")
        for two in itertools.combinations(group.members, 2)
    }
    return {**figures, "planted": len(truth), "found": len(pairs & truth), "false": len(pairs - truth)}


def bbc(scratch: Path) -> dict[str, object]:
    """Looks for the exact duplicates of the BBC news."""
    folder = scratch / "bbc"
    shutil.copytree(DATA / "clustering" / "bbc_news", folder)
    with (DATA / "clustering" / "bbc_news_exact_duplicates.tsv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    groups: dict[str, set[str]] = {}
    for row in rows:
        groups.setdefault(row["group"], set()).add(row["file"])
    truth = {frozenset(files) for files in groups.values()}
    view, identical, figures = _found(scratch / "library-b", folder)
    told = {
        frozenset(member.copy.path.relative_to(folder).as_posix() for member in group.members)
        for group in identical.groups
    }
    kinds: dict[str, int] = {}
    for group in view.groups:
        kinds[group.kind.value] = kinds.get(group.kind.value, 0) + 1
    return {
        **figures,
        "exact_groups": len(truth),
        "found": len(truth & told),
        "claimed_identical_and_not": len(told - truth),
        "groups": kinds,
    }


def _found(library: Path, folder: Path):  # type: ignore[no-untyped-def]
    from sbert_desktop.app.cutting import cut
    from sbert_desktop.app.duplicates import find
    from sbert_desktop.app.indexing import IndexRequest, run_index
    from sbert_desktop.app.session import Session
    from sbert_desktop.cleanup import DuplicateKind, DuplicateQuery
    from sbert_desktop.jobs import NullContext

    session = Session(library)
    try:
        report = run_index(session, IndexRequest((folder,)), NullContext())
        began, cpu = time.perf_counter(), time.process_time()
        found = find(session, NullContext())
        wall, used = time.perf_counter() - began, time.process_time() - cpu
        cuts = []
        for threshold in np.linspace(0.7, 1.0, 13):
            start = time.perf_counter()
            cut(session, found, DuplicateQuery(near=float(threshold), related=float(threshold)))
            cuts.append(time.perf_counter() - start)
        strong = tuple(kind for kind in DuplicateKind if kind is not DuplicateKind.RELATED)
        view = cut(session, found, DuplicateQuery(kinds=strong))
        identical = cut(session, found, DuplicateQuery(kinds=(DuplicateKind.BYTES,)))
        figures = {
            "documents": report.documents,
            "passages": report.passages,
            "find_s": round(wall, 2),
            "find_cpu_s": round(used, 2),
            "cut_ms_median": round(1000 * float(np.median(cuts)), 1),
            "cut_ms_worst": round(1000 * max(cuts), 1),
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }
        return view, identical, figures
    finally:
        session.close()


def related(scratch: Path) -> dict[str, object]:
    """Average precision of the related score of single passages against sentence-transformers' own evaluator."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.evaluation import BinaryClassificationEvaluator

    from sbert_desktop.app.session import Session
    from sbert_desktop.encoder.evaluate import average_precision, best_f1
    from sbert_desktop.encoder.models import default_model_dir
    from sbert_desktop.explore.candidates import document_cosine

    result: dict[str, object] = {}
    session = Session(scratch / "library-c")
    encoder = session.encoder()
    model = SentenceTransformer(str(default_model_dir()), device="cpu")
    for name in ("mrpc_val", "quora_shared"):
        with (DATA / "pairs" / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        first, second = (key for key in rows[0] if key != "label")
        labels = [int(float(row["label"])) for row in rows]
        one = encoder.encode_passages([row[first] for row in rows])
        other = encoder.encode_passages([row[second] for row in rows])
        length = np.ones(1, np.int64)
        scores = [document_cosine(a[None], length, b[None], length) for a, b in zip(one, other, strict=True)]
        evaluator = BinaryClassificationEvaluator(
            [row[first] for row in rows], [row[second] for row in rows], labels, similarity_fn_names=["cosine"]
        )
        theirs = evaluator(model)
        ap = next(value for key, value in theirs.items() if key.endswith("cosine_ap"))
        at = next(value for key, value in theirs.items() if key.endswith("cosine_f1_threshold"))
        mine = best_f1(scores, [bool(label) for label in labels])
        result[name] = {
            "ap": round(100 * average_precision(scores, labels), 2),
            "ap_sentence_transformers": round(100 * float(ap), 2),
            "f1": round(100 * mine[0], 2),
            "f1_threshold": round(mine[1], 4),
            "f1_threshold_sentence_transformers": round(float(at), 4),
        }
    session.close()
    return result


def main() -> None:
    """Runs all three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", choices=("planted", "bbc", "related"), action="append")
    options = parser.parse_args()
    if not DATA.is_dir():
        print("../shared/data is not here; nothing was measured", file=sys.stderr)
        return
    chosen = options.only or ["planted", "bbc", "related"]
    result: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, work in (("planted", planted), ("bbc", bbc), ("related", related)):
            if name in chosen:
                result[name] = work(Path(scratch))
    if options.json:
        print(json.dumps(result, default=str))
        return
    for name, figures in result.items():
        print(name)
        for key, value in figures.items():  # type: ignore[attr-defined]
            print(f"  {key}: {value}")


if __name__ == "__main__":
    main()
