"""Frames survive the pipe, and what is not a frame is refused."""

from __future__ import annotations

import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbert_desktop.wire import WireError, read_frame, write_frame

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON), st.binary(max_size=2000))
def test_frame_comes_back_as_it_went(header, payload):
    stream = io.BytesIO()
    write_frame(stream, header, payload)
    stream.seek(0)
    assert read_frame(stream) == (header, payload)


@given(st.binary(max_size=200))
def test_rubbish_is_refused_and_never_hangs(data):
    stream = io.BytesIO(data)
    try:
        header, _ = read_frame(stream)
    except WireError:
        return
    assert isinstance(header, dict)


def test_lengths_over_the_limit_are_refused_before_memory_is_taken():
    with pytest.raises(WireError, match="limit"):
        read_frame(io.BytesIO(struct.pack("<II", 2**32 - 1, 2**32 - 1)))


def test_cut_frame_is_refused():
    stream = io.BytesIO()
    write_frame(stream, {"a": 1}, b"12345")
    with pytest.raises(WireError):
        read_frame(io.BytesIO(stream.getvalue()[:-1]))
