"""Extraction alone: files and megabytes per second per format against the fastest tools, and memory of a huge PDF.

    python tests/benchmarks/extraction.py [--repeat 5] [--pages 5000] [--json]

Reads ``../shared/data/tour``. Each file is read ``--repeat`` times by this program (in this process, warm) and by each
peer that is installed, in turns; CPU seconds are summed over the fastest reading of each file, so that one noisy moment
does not count. Programs are started once per file, as they have to be; what starting costs is shown beside them and
taken off for the ratio, so that only the reading is compared.

``--pages N`` makes a PDF of N dense pages, reads it through a real child and shows the peak memory of both processes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
TOUR = ROOT.parent / "shared" / "data" / "tour"
SUFFIXES = {"pdf": (".pdf",), "docx": (".docx",), "html": (".html", ".htm")}
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def main() -> None:
    """Runs and prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeat", type=int, default=5)
    options.add_argument("--pages", type=int, default=0)
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    result: dict[str, object] = {}
    if TOUR.is_dir():
        result["formats"] = [row for name in SUFFIXES for row in compare(name, args.repeat)]
    else:
        print(f"{TOUR} is not here: only --pages can be measured.", file=sys.stderr)
    if args.pages:
        result["many_pages"] = many_pages(args.pages)
    print(json.dumps(result) if args.json else as_text(result))


def as_text(result: dict[str, object]) -> str:
    """Gives the figures as a table."""
    lines = []
    for row in result.get("formats", []):  # type: ignore[attr-defined]
        if not lines:
            lines.append("  ".join(f"{key:>10}" for key in row))
        lines.append("  ".join(f"{value:>10.3g}" if isinstance(value, float) else f"{value!s:>10}"
                               for value in row.values()))  # fmt: skip
    lines += [f"{key:24} {value}" for key, value in dict(result.get("many_pages", {})).items()]  # type: ignore[call-overload]
    return "\n".join(lines)


# ---------------------------------------------------------------- formats and peers


def compare(name: str, repeat: int) -> Iterator[dict[str, object]]:
    """Measures one format; gives a row for this program and one for each peer."""
    files = sorted(path for path in TOUR.rglob("*") if path.suffix.lower() in SUFFIXES[name])
    readers: dict[str, tuple[Callable[[Path], None], float]] = {"ours": (_ours, 0.0)}
    readers |= {peer: (read, 0.0) for peer, read in BASELINES.get(name, {}).items()}
    for peer, command in PROGRAMS.get(name, {}).items():
        if shutil.which(command[0]):
            readers[peer] = (_program(command), min(_cpu(_program(STARTS[peer]), files[0]) for _ in range(9)))
    best: dict[str, list[float]] = {reader: [] for reader in readers}
    _ours(files[0])  # imports
    for path in files:
        times = {reader: [_cpu(read, path) for _ in range(1)] for reader, (read, _) in readers.items()}
        for _ in range(repeat - 1):
            for reader, (read, _start) in readers.items():
                times[reader].append(_cpu(read, path))
        for reader, (_, start) in readers.items():
            best[reader].append(max(1e-6, min(times[reader]) - start))
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    ours = best["ours"]
    for reader, (_, start) in readers.items():
        seconds = sum(best[reader])
        ratios = [mine / theirs for mine, theirs in zip(ours, best[reader], strict=True)]
        yield {"format": name, "reader": reader, "files": len(files), "MB": round(megabytes, 2), "cpu_s": seconds,
               "files/s": len(files) / seconds, "MB/s": megabytes / seconds, "start_ms": start * 1000,
               "ours/peer": sum(ours) / seconds, "median": statistics.median(ratios), "worst": max(ratios)}  # fmt: skip


def _cpu(read: Callable[[Path], None], path: Path) -> float:
    """Gives the CPU seconds of one reading, those of programs included."""
    before = time.process_time() + _of_programs()
    read(path)
    return time.process_time() + _of_programs() - before


def _of_programs() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _ours(path: Path) -> None:
    from sbert_desktop.errors import ExtractionError
    from sbert_desktop.extraction import extract

    try:
        extract(path)
    except ExtractionError:
        pass  # a scan: the peers find no text in it either


def _program(command: list[str]) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        subprocess.run([word.replace("FILE", str(path)) for word in command], stdin=subprocess.DEVNULL, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip

    return read


def _words_of_docx(path: Path) -> None:
    """The least that gives the text of a docx: unzip, parse, take the runs. No headings, notes, tables or limits."""
    from lxml import etree

    with zipfile.ZipFile(path) as archive:
        root = etree.fromstring(archive.read("word/document.xml"), etree.XMLParser(resolve_entities=False))
    "\n".join("".join(run.text or "" for run in line.iter(f"{WORD}t")) for line in root.iter(f"{WORD}p"))


def _words_of_html(path: Path) -> None:
    """The least that gives the text of a page: parse, take everything. No article, title, tables or offsets."""
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(path.read_bytes().decode("utf-8", "replace")).body
    if body is not None:
        body.text(separator=" ")


BASELINES: dict[str, dict[str, Callable[[Path], None]]] = {
    "docx": {"zip+lxml": _words_of_docx},
    "html": {"selectolax": _words_of_html},
}
PROGRAMS = {
    "pdf": {"pdftotext": ["pdftotext", "FILE", "-"]},
    "docx": {"pandoc": ["pandoc", "-f", "docx", "-t", "plain", "FILE"]},
    "html": {"pandoc": ["pandoc", "-f", "html", "-t", "plain", "FILE"],
             "html2text": ["html2text", "FILE"], "lynx": ["lynx", "-dump", "-nolist", "FILE"]},
}  # fmt: skip
STARTS = {"pdftotext": ["pdftotext", "-v"], "pandoc": ["pandoc", "--version"], "html2text": ["html2text", "-version"],
          "lynx": ["lynx", "-version"]}  # fmt: skip


# ---------------------------------------------------------------- many pages


def many_pages(count: int) -> dict[str, object]:
    """Reads a PDF of so many dense pages through a child; gives times and peak memory of both processes."""
    from sbert_desktop.extraction._codec import decode_document
    from sbert_desktop.jobs.children import spawn_child

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.pdf"
        subprocess.run(
            [sys.executable, __file__, "--make", str(count), str(path)], check=True
        )  # its memory is not ours
        child = spawn_child("extract")
        try:
            child.request({"op": "ping"}, timeout=60)
            before = _memory("self", "VmHWM")
            idle = _memory(str(child.pid), "VmHWM")
            began = time.monotonic()
            header = {"op": "extract", "files": [os.fsencode(path).hex()]}
            characters = blocks = results = 0
            while True:
                reply, payload = child.request(header, timeout=600)
                at = 0
                for entry in reply["results"]:  # type: ignore[attr-defined]
                    if "document" in entry:
                        size = entry["document"]["bytes"]
                        document = decode_document(entry["document"], payload[at : at + size])
                        at += size
                        characters, blocks, results = characters + len(document.text), blocks + len(
                            document.blocks), results + 1  # fmt: skip
                if reply["next"] is None:
                    break
                header = {"op": "page", "next": reply["next"]}
            seconds = time.monotonic() - began
            peak, own = _memory(str(child.pid), "VmHWM"), _memory("self", "VmHWM")
            ticks = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            cpu = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        finally:
            child.close()
        row: dict[str, object] = {
            "pages": count, "file_MB": round(path.stat().st_size / 1e6, 1), "characters": characters, "blocks": blocks,
            "results": results, "seconds": round(seconds, 1), "child_cpu_s": cpu, "child_idle_MB": idle,
            "child_peak_MB": peak, "parent_before_MB": before, "parent_peak_MB": own}  # fmt: skip
        if shutil.which("pdftotext"):
            row["pdftotext_cpu_s"] = round(_cpu(_program(["pdftotext", "FILE", "-"]), path), 2)
        return row


def _memory(process: str, key: str) -> int:
    """Gives a figure of /proc in MB."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith(key)).split()[1]) // 1024


def make(count: int, path: Path) -> None:
    """Writes a PDF of dense pages with running heads."""
    from tests.extraction.pdf_parts import Item, large_pdf

    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnoprstuvw", k=chance.randint(2, 11))) for _ in range(8000)]
    pages: list[list[Item]] = []
    for number in range(1, count + 1):
        page: list[Item] = [(72, 760, 9, "Yearbook of gardens, second part"), (300, 30, 9, f"Page {number}")]
        page += [(72, 730 - 15 * line, 10, " ".join(chance.choices(words, k=12)) + ("." if line % 7 == 6 else ""))
                 for line in range(45)]  # fmt: skip
        pages.append(page)
    path.write_bytes(large_pdf(pages))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make(int(sys.argv[2]), Path(sys.argv[3]))
    else:
        main()
