"""How much memory the program takes while it reads what is huge, or very much.

    python tests/benchmarks/reading_memory.py [--case text|pdf|json|tiny|mailbox ...] [--scale 1.0] [--json]

Cases: a text file of 500 MB, a PDF of 5,000 pages, a JSON file of 50 MB on one line, 50,000 tiny files, a
mailbox of 20,000 messages. Each is indexed by words (the model is not what is measured) by the command line
in a process of its own; reported are the peak resident memory of that process and of its largest child, over
the peak for a single small file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def _lines(seed: int, count: int) -> list[str]:
    from tests.benchmarks._made import Writer

    writer = Writer(seed)
    return [writer.sentence() for _ in range(count)]


def make_text(folder: Path, scale: float) -> None:
    """Writes a text of 500 MB, paragraphs of three sentences."""
    pool, rng, left = _lines(1, 5000), random.Random(1), int(500e6 * scale)
    with (folder / "huge.txt").open("w", encoding="utf-8") as stream:
        while left > 0:
            block = "\n\n".join(" ".join(rng.choices(pool, k=3)) for _ in range(500)) + "\n\n"
            stream.write(block)
            left -= len(block)


def make_json(folder: Path, scale: float) -> None:
    """Writes an array of objects of 50 MB without a line break."""
    pool, rng, left = _lines(2, 3000), random.Random(2), int(50e6 * scale)
    with (folder / "huge.json").open("w", encoding="utf-8") as stream:
        stream.write("[")
        number = 0
        while left > 0:
            entry = json.dumps({"id": number, "note": rng.choice(pool), "remark": rng.choice(pool)})
            stream.write((", " if number else "") + entry)
            left -= len(entry) + 2
            number += 1
        stream.write("]")


def make_tiny(folder: Path, scale: float) -> None:
    """Writes 50,000 files of one sentence."""
    pool, rng = _lines(3, 3000), random.Random(3)
    for number in range(int(50_000 * scale)):
        place = folder / f"d{number // 500}"
        if number % 500 == 0:
            place.mkdir()
        (place / f"n{number}.txt").write_text(f"{number} {rng.choice(pool)}", encoding="utf-8")


def make_mailbox(folder: Path, scale: float) -> None:
    """Writes an mbox of 20,000 messages of about 2 kB."""
    pool, rng = _lines(4, 3000), random.Random(4)
    with (folder / "mail.mbox").open("w", encoding="utf-8") as stream:
        for number in range(int(20_000 * scale)):
            body = "\n\n".join(" ".join(rng.choices(pool, k=4)) for _ in range(6))
            stream.write(
                f"From ada@example.org Tue Mar 14 10:00:00 2023\nFrom: Ada <ada@example.org>\nTo: ben@example.org\n"
                f"Subject: Letter {number}\nDate: Tue, 14 Mar 2023 10:00:00 +0000\nMessage-ID: <{number}@example.org>\n"
                f"Content-Type: text/plain; charset=utf-8\n\n{body}\n\n"
            )


def make_pdf(folder: Path, scale: float) -> None:
    """Writes a PDF of 5,000 pages of 40 lines."""
    pool, rng, pages = _lines(5, 3000), random.Random(5), int(5_000 * scale)
    offsets: list[int] = []
    with (folder / "huge.pdf").open("wb") as stream:

        def put(body: bytes) -> None:
            offsets.append(stream.tell())
            stream.write(b"%d 0 obj\n" % len(offsets) + body + b"\nendobj\n")

        stream.write(b"%PDF-1.4\n")
        put(b"<< /Type /Catalog /Pages 2 0 R >>")
        kids = b" ".join(b"%d 0 R" % (4 + 2 * page) for page in range(pages))
        put(b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, kids))
        put(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
        for page in range(pages):
            put(
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >>"
                b" /Contents %d 0 R >>" % (5 + 2 * page)
            )
            lines = [rng.choice(pool)[:90] for _ in range(40)]
            text = b"BT /F1 10 Tf 50 800 Td 14 TL\n" + b"".join(b"(%s) Tj T*\n" % s.encode() for s in lines) + b"ET"
            put(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text))
        start = stream.tell()
        stream.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1))
        for offset in offsets:
            stream.write(b"%010d 00000 n \n" % offset)
        stream.write(b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(offsets) + 1, start))


def make_small(folder: Path, scale: float) -> None:
    """Writes one small file: what the process takes at least."""
    (folder / "small.txt").write_text("One sentence about a lantern on the pier.", encoding="utf-8")


CASES: dict[str, Callable[[Path, float], None]] = {
    "small": make_small,
    "text": make_text,
    "pdf": make_pdf,
    "json": make_json,
    "tiny": make_tiny,
    "mailbox": make_mailbox,
}


def measure(case: str, scale: float) -> dict[str, object]:
    """Indexes one case by words in a process of its own and watches its memory (MB)."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "files"
        folder.mkdir()
        CASES[case](folder, scale)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        env = {**os.environ, "PYTHONPATH": str(ROOT), "SBERT_DESKTOP_READING_TIME_LIMIT": "600"}
        command = [sys.executable, "-m", "sbert_desktop", "--library", str(Path(scratch) / "library"), "index"]
        began = time.monotonic()
        process = subprocess.Popen(
            [*command, str(folder), "--words-only", "--json", "--quiet"], env=env, stdout=subprocess.PIPE, text=True
        )
        own = child = 0
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            try:
                own = max(own, watched.memory_info().rss)
                child = max([child, *(entry.memory_info().rss for entry in watched.children(recursive=True))])
            except psutil.Error:
                pass
            time.sleep(0.05)
        out = json.loads(process.stdout.read() if process.stdout else "{}")
        return {
            "case": case,
            "input_mb": round(size / 1e6, 1),
            "main_mb": round(own / 1e6),
            "child_mb": round(child / 1e6),
            "documents": out.get("documents"),
            "passages": out.get("passages"),
            "problems": out.get("problems"),
            "seconds": round(time.monotonic() - began, 1),
        }


def main() -> None:
    """Runs the cases and prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--case", action="append", choices=[name for name in CASES if name != "small"])
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    rows = []
    for case in ["small", *(args.case or [name for name in CASES if name != "small"])]:
        row = measure(case, args.scale)
        row["main_over_small_mb"] = int(str(row["main_mb"])) - int(str((rows[0] if rows else row)["main_mb"]))
        rows.append(row)
        if not args.json:
            print(row, flush=True)
    if args.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
