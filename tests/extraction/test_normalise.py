from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sbert_desktop.extraction._normalise import normalise, one_line, without_spans


@pytest.mark.parametrize(("raw", "expected"), [
    ("e\u0301tude", "étude"),
    ("ﬁnd the oﬃce", "find the office"),
    ("co\u00adoperate", "cooperate"),
    ("a\x00b", "ab"),
    ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
    ("no\u00a0break\u3000wide", "no break wide"),
    ("\ufeffzero\u200bwidth\u202e", "zerowidth"),
    ("\ud800lone", "\ufffdlone"),
    ("\ufefb", "لا"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("👩\u200d💻", "👩\u200d💻"),
    ("tab\tstays\nline stays", "tab\tstays\nline stays"),
])
def test_normal_form(raw: str, expected: str) -> None:
    assert normalise(raw) == expected


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=60))
def test_normal_form_is_stable_and_can_be_encoded(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    once.encode("utf-8")
    assert not set(once) & set("\x00\r\u00ad\u00a0\ufb01\u200b")


def test_one_line_cuts_at_a_space() -> None:
    assert one_line("  many\n spaces\there ") == "many spaces here"
    assert one_line("word " * 100, 20) == "word word word word"


def test_spans_without_an_end_stay_and_cost_no_quadratic_time() -> None:
    begin, end = re.compile("<!--"), re.compile("-->")
    assert without_spans("a<!-- x -->b<!-- open", begin, end) == "ab<!-- open"
    assert len(without_spans("<!--" * 200_000, begin, end)) == 800_000
