"""Passages per second of ``sbert-desktop encode`` against ``SentenceTransformer.encode`` defaults.

    python tests/benchmarks/encode.py [--passages N] [--rounds N] [--json]

One process each for our command's own function (precision as chosen, float32, bf16 where the CPU
has it) and for sentence-transformers (batch 32, float32), all loaded first and then asked in turns,
A B C A B C, so that what else runs on the machine meets all alike; medians are reported. CPU seconds
count the process and its children. Text: ../shared/data (tour and BBC news), cut to 5 to 250 words.
Also measured: the CPU's GEMM peak per precision at the model's own shapes, and a fresh process that
answers one query. Without ../shared/data, sentences of made-up words are used.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

# Both workers: a line with a file name comes in, a line of JSON goes out, the vectors go into the file beside.
OURS = """
import json, os, resource, sys, time
from pathlib import Path
import numpy as np
from sbert_desktop.app.encoding import encode_file
from sbert_desktop.app.session import Session
class Job:
    paused = False
    def check(self): pass
    def progress(self, *args): pass
    def partial(self, result): pass
def cpu():
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
session = Session(Path(sys.argv[1]) / "library", interactive=False)
encoder = session.encoder()
print(json.dumps({"precision": encoder.info.precision, "backend": encoder.info.backend}), flush=True)
for line in sys.stdin:
    file = Path(line.strip())
    began = cpu()
    report = encode_file(session, file, file.with_suffix("." + sys.argv[2] + ".npy"), Job())
    print(json.dumps({**report, "cpu": cpu() - began, "tokens": encoder.count_tokens(file.read_text().splitlines())}),
          flush=True)
session.close()
"""
PEER = """
import json, os, sys, time
os.environ["HF_HUB_OFFLINE"] = "1"
import numpy as np
from pathlib import Path
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(sys.argv[1], device="cpu")
model.encode(["warm", "up"])
print(json.dumps({"precision": "float32", "backend": "sentence-transformers"}), flush=True)
for line in sys.stdin:
    file = Path(line.strip())
    texts = file.read_text().splitlines()
    began, cpu = time.monotonic(), time.process_time()
    vectors = model.encode(texts)
    seconds = time.monotonic() - began
    cpu = time.process_time() - cpu
    np.save(file.with_suffix(".peer.npy"), vectors)
    print(json.dumps({"n": len(texts), "seconds": seconds, "cpu": cpu}), flush=True)
"""
GEMM = """
import json, time, torch
torch.set_num_threads(1)  # per core and in CPU time: what else runs on the machine hardly counts
peak = {}
for name in ("float32", "bfloat16"):
    for inner, outer in ((384, 384), (384, 1536), (1536, 384), (1536, 1536)):
        layer = torch.nn.Linear(inner, outer, dtype=getattr(torch, name))
        data = torch.randn(1024, inner).to(layer.weight.dtype)
        with torch.inference_mode():
            for turn in range(12):
                began = time.process_time()
                for _ in range(4):
                    layer(data)
                rate = 4 * 2 * 1024 * inner * outer / (time.process_time() - began) / 1e9
                if turn > 1:
                    peak[name] = max(peak.get(name, 0.0), rate)
print(json.dumps(peak))
"""
COLD = """
import json, sys, time
began = time.process_time()
from sbert_desktop.encoder import open_encoder
from sbert_desktop.jobs import spawn_child
encoder = open_encoder(launch=spawn_child)
opened = time.process_time()
encoder.encode_query("football transfer deal")
print(json.dumps({"open": opened - began, "first_query": time.process_time() - opened, "process": time.process_time(),
                  "torch": "torch" in sys.modules}))
"""


def collect_passages(count: int) -> list[str]:
    """Gives texts of 5 to 250 words, half of them under 60, without line breaks."""
    rng = random.Random(7)
    texts = []
    for folder, kinds in (("tour", ("*.txt", "*.md", "*.html")), ("clustering/bbc_news", ("*.txt",))):
        files = sorted(file for kind in kinds for file in (DATA / folder).rglob(kind))
        rng.shuffle(files)
        texts += [" ".join(file.read_text("utf-8", "replace").split()) for file in files[:600]]
    if not texts:
        from _made import Writer

        writer = Writer()
        texts = [writer.text(1000) for _ in range(300)]
    passages = []
    for text in texts:
        words, start = text.split(" "), 0
        while start < len(words) and len(passages) < 20 * count:
            length = rng.choice((5, 12, 25, 40, 60, 90, 120, 160, 200, 250))
            passages.append(" ".join(words[start : start + length]))
            start += length
    rng.shuffle(passages)
    return passages[:count]


def linear_flops(layers: int = 6, width: int = 384, inner: int = 1536) -> float:
    """Gives the operations per token in the linear layers of all-MiniLM-L6-v2; attention comes on top."""
    return 2.0 * layers * (4 * width * width + 2 * width * inner)


class Worker:
    """One process that encodes files when asked."""

    def __init__(self, name: str, code: str, arguments: list[str], environment: dict[str, str]) -> None:
        self.name = name
        self._process = subprocess.Popen([sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True, env=environment, stderr=subprocess.DEVNULL)
        self.about = self._answer()
        self.runs: list[dict[str, float]] = []

    def encode(self, file: Path, *, keep: bool = True) -> None:
        """Encodes the lines of a file and keeps the report."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{file}\n")
        self._process.stdin.flush()
        report = self._answer()
        if keep:
            self.runs.append(report)

    def median(self, key: str) -> float:
        """Gives the median over the rounds."""
        return statistics.median(run[key] for run in self.runs)

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _answer(self) -> dict:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended early")
        return json.loads(line)


def has_bf16() -> bool:
    """Says whether the CPU's instruction sets hold bf16."""
    try:
        return "bf16" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def measure(count: int, rounds: int) -> dict:
    """Runs everything and gives the table."""
    from sbert_desktop.encoder.models import default_model_dir

    with tempfile.TemporaryDirectory(prefix="sbert-desktop-encode-") as scratch:
        place = Path(scratch)
        base = {**os.environ, "PYTHONPATH": str(ROOT)}
        base.setdefault("SBERT_DESKTOP_HOME", str(place / "home"))
        passages = collect_passages(count)
        file = place / "passages.txt"
        file.write_text("\n".join(passages), "utf-8")
        warm = place / "warm.txt"
        warm.write_text("\n".join(passages[:32]), "utf-8")
        workers = [Worker("sentence-transformers", PEER, [str(default_model_dir())], base)]
        for precision in ("auto", "float32", *(["bf16"] if has_bf16() else [])):
            environment = {**base, "SBERT_DESKTOP_ADVANCED_PRECISION": precision}
            workers.append(Worker(precision, OURS, [str(place / precision), precision], environment))
        for worker in workers:
            worker.encode(warm, keep=False)
        for _ in range(rounds):
            for worker in workers:
                worker.encode(file)
        for worker in workers:
            worker.close()
        peer, ours = workers[0], workers[1:]
        expected = np.load(file.with_suffix(".peer.npy"))
        run = [sys.executable, "-c"]
        peak = json.loads(subprocess.run([*run, GEMM], capture_output=True, text=True, env=base, check=True).stdout)
        cold = [json.loads(subprocess.run([*run, COLD], capture_output=True, text=True, env=base, check=True).stdout)
                for _ in range(3)]
        tokens = ours[0].median("tokens")
        rows = []
        for worker in workers:
            seconds, cpu = worker.median("seconds"), worker.median("cpu")
            precision = worker.about["precision"]
            core = peak["bfloat16" if precision == "bf16" else "float32"]
            row = {
                "what": worker.name, "precision": precision, "passages_per_second": count / seconds,
                "tokens_per_second": tokens / seconds, "tokens_per_cpu_second": tokens / cpu,
                "ratio": peer.median("seconds") / seconds, "cpu_ratio": peer.median("cpu") / cpu,
                "gemm_share": tokens / cpu * linear_flops() / 1e9 / core,
            }
            if worker is not peer:
                found = np.load(file.with_suffix(f".{worker.name}.npy"))
                norms = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
                row["cosine_min"] = float(np.min(np.sum(found * expected, axis=1) / norms))
            rows.append(row)
    return {"passages": count, "tokens": tokens, "rounds": rounds, "gemm_gflops_per_core": peak, "rows": rows,
            "cold_cpu_seconds": {key: statistics.median(float(one[key]) for one in cold)
                                 for key in ("open", "first_query", "process")},
            "cold_imports_torch": any(one["torch"] for one in cold)}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options.passages, options.rounds)
    if options.json:
        print(json.dumps(result, indent=1))
        return
    print(f"{result['passages']} passages, {result['tokens']:.0f} tokens, median of {result['rounds']} rounds in turns")
    for row in result["rows"]:
        print(f"{row['what']:22} {row['precision']:8} {row['passages_per_second']:7.1f} passages/s "
              f"{row['tokens_per_second']:8.0f} tokens/s {row['tokens_per_cpu_second']:8.0f} tokens/CPU-s  "
              f"{row['ratio']:.2f}x (CPU {row['cpu_ratio']:.2f}x)  {100 * row['gemm_share']:.0f} % of the GEMM peak  "
              f"cosine >= {row.get('cosine_min', 1.0):.6f}")
    peak, cold = result["gemm_gflops_per_core"], result["cold_cpu_seconds"]
    print(f"GEMM peak: float32 {peak['float32']:.0f}, bf16 {peak['bfloat16']:.0f} GFLOPS per core")
    print(f"fresh process, CPU seconds: open {cold['open']:.2f}, first query {cold['first_query']:.3f}, "
          f"all {cold['process']:.2f}; torch imported: {result['cold_imports_torch']}")


if __name__ == "__main__":
    main()
