"""No text costs more than its length: repeated signs that lead backtracking readers astray."""

from __future__ import annotations

import contextlib
import time

import pytest

from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction._parts import _read
from sbert_desktop.extraction._registry import BY_NAME
from sbert_desktop.extraction._source import Source
from tests.effort import least_cpu

# (format, suffix, what is repeated): of some 180 pieces tried on every reader, those that were or may be dear.
NASTY = [
    ("txt", "txt", "00:00 A: "), ("rst", "rst", "  :END\n"), ("rst", "rst", ".. a:: b\n"), ("rst", "rst", "`a`_ "),
    ("org", "org", ":a:\n"), ("org", "org", "#+BEGIN_a\n"), ("org", "org", "*a "), ("org", "org", "[[a]["),
    ("adoc", "adoc", "ifdef::a[]\n"), ("adoc", "adoc", "+a "), ("tex", "tex", "\\begin{a}"), ("tex", "tex", "{\\bf "),
    ("subtitles", "srt", "1\n00:00:00,000 --> 00:00:01,000\na\n\n"), ("subtitles", "vtt", "<v a"),
    ("data", "json", "[1,"), ("data", "json", "\"\\"), ("data", "yaml", "\"\\"), ("data", "ini", "\"\\"),
    ("data", "ics", "BEGIN:VEVENT\n"), ("data", "vcf", "A;B=\""), ("data", "properties", "\\u0041"),
    ("xml", "xml", "<![CDATA["), ("xml", "xml", "<!--"), ("xml", "xml", "<a "), ("md", "md", "!["),
    ("md", "md", "[[a]("), ("md", "md", "`a"), ("html", "html", "<b><i>"), ("html", "html", "<table>"),
    ("html", "html", "<!--"), ("table", "csv", "\""), ("table", "csv", ",\""), ("code", "py", "\"\"\""),
]


def seconds(name: str, suffix: str, text: str, enough: float) -> float:
    reader = BY_NAME[name].reader()

    def read() -> None:
        with contextlib.suppress(ExtractionError):
            reader(Source(f"a.{suffix}", text.encode()))

    return least_cpu(read, enough=enough)


@pytest.mark.parametrize(("name", "suffix", "piece"), NASTY)
def test_time_grows_with_the_length_and_not_with_its_square(name: str, suffix: str, piece: str) -> None:
    seconds(name, suffix, piece, 9.0)
    short = seconds(name, suffix, piece * (40_000 // len(piece)), 0.1)
    most = 0.15 + 7 * short  # a square would be 16 times
    long = seconds(name, suffix, piece * (160_000 // len(piece)), min(most, 3.0))
    assert long < most, (short, long)
    assert long < 10.0


@pytest.mark.parametrize("piece", ["<!--", "<?", "<![CDATA[", "<a ", "&#", "<!DOCTYPE a ["])
def test_a_part_of_xml_takes_time_for_its_length_only(piece: str) -> None:
    began = time.thread_time()
    with contextlib.suppress(ExtractionError):
        _read("xml", Source("a.xml", b"x"), piece * (400_000 // len(piece)), [])
    assert time.thread_time() - began < 10.0  # its square would be a minute
