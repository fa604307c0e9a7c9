"""Retrieval quality, and what the choices of the splitter and the fusion are worth.

    python tests/benchmarks/retrieval.py [--sweep] [--json]

Prints nDCG@10, MRR@10 and recall@100 of semantic, keyword and hybrid on ../shared/data/retrieval,
beside sentence-transformers on the same texts in the same run. ``--sweep`` adds the weights of the
fusion and, with short passages (so that documents have several), the context and the overlap.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
DATA = ROOT.parent / "shared" / "data" / "retrieval"
SETS = ("cranfield", "xquad_en")


def reference(folder: Path) -> dict[str, float]:
    """nDCG@10 and others of SentenceTransformer over whole documents cut at 256 tokens."""
    from sbert_desktop.privacy import cut_telemetry

    cut_telemetry()
    import numpy as np
    from sentence_transformers import SentenceTransformer

    from sbert_desktop.app.evaluating import _beir
    from sbert_desktop.encoder.evaluate import mrr, ndcg, recall
    from sbert_desktop.encoder.models import default_model_dir

    corpus, queries, judgements = _beir(folder)
    model = SentenceTransformer(str(default_model_dir()), device="cpu")
    bodies = [text if not title or text.startswith(title) else f"{title} {text}" for _, title, text in corpus]
    documents = model.encode(bodies, normalize_embeddings=True, batch_size=32)
    asked = [(qid, text) for qid, text in queries if qid in judgements]
    vectors = model.encode([text for _, text in asked], normalize_embeddings=True)
    order = np.argsort(-(vectors @ documents.T), axis=1)[:, :100]
    ranked = [[corpus[i][0] for i in row] for row in order]
    judged = [judgements[qid] for qid, _ in asked]
    return {
        "ndcg@10": ndcg(ranked, judged, 10),
        "mrr@10": mrr(ranked, judged, 10),
        "recall@100": recall(ranked, judged, 100),
    }


def main() -> None:
    """Runs and prints the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sweep", action="store_true")
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    import tempfile

    from sbert_desktop.app.evaluating import RetrievalSet
    from sbert_desktop.app.session import Session
    from sbert_desktop.domain import Mode
    from sbert_desktop.jobs import NullContext

    rows = []

    def note(name: str, what: str, result: dict) -> None:
        row = {"set": name, "what": what, **{k: result[k] for k in ("ndcg@10", "mrr@10", "recall@100")}}
        rows.append(row)
        if not args.json:
            print(
                f"{name:10} {what:34} nDCG@10 {row['ndcg@10']:.4f}  MRR@10 {row['mrr@10']:.4f}  "
                f"R@100 {row['recall@100']:.4f}",
                flush=True,
            )

    with tempfile.TemporaryDirectory() as scratch:
        session = Session(Path(scratch) / "library")
        for name in SETS:
            folder = DATA / name
            note(name, "sentence-transformers", reference(folder))
            with RetrievalSet(session, folder, NullContext()) as judged:
                for mode in Mode:
                    note(name, mode.value, judged.measure(mode))
                for weight in (0.1, 0.2, 0.4, 0.5, 0.6) if args.sweep else ():
                    note(name, f"hybrid, words {weight}", judged.measure(Mode.HYBRID, words_weight=weight))
            if not args.sweep:
                continue
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
                        what = f"{mode.value}, {tokens} tokens, {context}, overlap {overlap}"
                        note(name, what, judged.measure(mode))
        session.close()
    if args.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
