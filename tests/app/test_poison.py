"""Killed in the middle of a file: the next start skips that file, says so, and tries it only when asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

PAGES = 3_000  # read for about 25 s of CPU, under the limit of 60 s


def long_pdf(pages: int) -> bytes:
    """Makes a small file that takes long to read: every page shows the same stream of text."""
    lines = b"".join(b"(The ferry leaves the harbour at dawn, tide %d) Tj T* " % n for n in range(80))
    stream = b"BT /F1 8 Tf 20 780 Td 9 TL " + lines + b"ET"
    kids = b" ".join(b"%d 0 R" % (5 + n) for n in range(pages))
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
        b" /Resources << /Font << /F1 3 0 R >> >> >>"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, kids),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        *[page] * pages,
    ]
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, table)
    return bytes(out)


def command(library, *arguments, wait=True):
    env = {**os.environ, "SBERT_DESKTOP_ADVANCED_ENCODER": "hashing"}
    process = subprocess.Popen(
        [sys.executable, "-m", "sbert_desktop", "--library", str(library), *map(str, arguments), "--json", "--quiet"],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if not wait:
        return process
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    return json.loads(out)


def kill_in_the_middle(library, *arguments) -> None:
    """Runs a command until it notes that the poison takes long, then kills it."""
    process = command(library, *arguments, wait=False)
    end = time.monotonic() + 60
    while b"poison.pdf".hex() not in "".join(note.read_text() for note in (library / "reading").glob("*.json")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "no file took long"
        time.sleep(0.02)
    process.kill()
    process.communicate()


def run(root, library, kills: int) -> None:
    root.mkdir()
    (root / "poison.pdf").write_bytes(long_pdf(PAGES))
    (root / "good.txt").write_text("The lighthouse keeper counted gulls all morning.\n")
    for number in range(kills):
        # The first time the folder is new, then the person asks for the file again.
        kill_in_the_middle(library, *(("index", root) if number == 0 else ("retry", root / "poison.pdf")))
        report = command(library, "index")
        assert any("when the program was ended" in notice for notice in report["notices"])
        listed = command(library, "problems")["problems"]
        assert [(os.path.basename(entry["path"]), entry["code"]) for entry in listed] == [("poison.pdf", "interrupted")]
        assert not any((library / "reading").glob("*.json"))
        again = command(library, "index")
        assert (again["changed"], again["added"], again["notices"]) == (0, 0, [])
    hits = command(library, "search", "lighthouse gulls")["hits"]
    assert hits[0]["path"].endswith("good.txt")
    # It is read once it changes.
    (root / "poison.pdf").write_bytes(long_pdf(3))
    assert command(library, "index")["changed"] == 1
    assert command(library, "problems")["problems"] == []


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.timeout(300)
def test_file_that_was_being_read_at_a_kill_is_skipped_and_listed(tmp_path):
    run(tmp_path / "docs", tmp_path / "library", 2)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.timeout(900)
def test_ten_kills_in_the_middle_of_a_file_end_in_a_start_each(tmp_path):
    run(tmp_path / "docs", tmp_path / "library", 10)
