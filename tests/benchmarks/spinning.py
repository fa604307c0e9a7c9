"""How long threads of a child wait in a busy loop: a training step by GOMP_SPINCOUNT, alone and beside load.

    python tests/benchmarks/spinning.py [--steps 12] [--load 2]

GNU OpenMP's threads look at each other's work in a loop before they sleep. Where others want the cores that loop takes
the time of who is waited for. Wall and CPU seconds of a step of 32 texts, each setting in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEP = """
import sys, time, torch
from sentence_transformers import SentenceTransformer
from sbert_desktop.encoder.models import default_model_dir
torch.set_num_threads(2)
model = SentenceTransformer(str(default_model_dir()), device="cpu").train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
batch = model.tokenize(["a boat left the pier in the morning and came back late with nets full of herring " * 2] * 32)
def step():
    found = model(dict(batch))["sentence_embedding"]
    (found @ found.T).mean().backward(); optimizer.step(); optimizer.zero_grad()
for _ in range(3): step()
steps, wall, work = int(sys.argv[1]), time.perf_counter(), time.process_time()
for _ in range(steps): step()
print(f"{(time.perf_counter() - wall) / steps:6.2f} s wall {(time.process_time() - work) / steps:6.2f} s CPU a step")
"""


def main() -> int:
    """Prints a line per setting and load."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--load", type=int, default=2, help="busy loops beside it")
    options = parser.parse_args()
    for load in (0, options.load):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
        try:
            for count in ("0", "1000", "10000", "100000", ""):
                env = dict(os.environ)
                env.pop("OMP_WAIT_POLICY", None)
                env.pop("GOMP_SPINCOUNT", None)
                if count:
                    env["GOMP_SPINCOUNT"] = count
                told = subprocess.run([sys.executable, "-c", STEP, str(options.steps)], env=env, cwd=ROOT, text=True,
                                      capture_output=True, check=True).stdout  # fmt: skip
                print(f"load {load}, GOMP_SPINCOUNT {count or 'not set':>7}: {told.strip()}", flush=True)
        finally:
            for process in busy:
                process.kill()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
