from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sbert_desktop.domain import Block, BlockKind, ExtractedText, Problem, Run
from sbert_desktop.errors import JobError
from sbert_desktop.extraction._codec import decode_document, encode_document

WORDS = st.text(alphabet="ab é中🙂\n", max_size=12)


@st.composite
def documents(draw: st.DrawFn) -> ExtractedText:
    text, blocks = "", []
    for _ in range(draw(st.integers(0, 5))):
        piece = draw(WORDS)
        runs = tuple(Run(len(text) + at, 1 + at, 7 * at, 1) for at in range(draw(st.integers(0, 3))))
        blocks.append(Block(len(text), len(text) + len(piece), draw(st.sampled_from(BlockKind)),
                            draw(st.one_of(st.none(), st.integers(1, 9))), draw(WORDS), draw(WORDS), runs))
        text += piece + "\n\n"
    return ExtractedText(draw(WORDS), text, tuple(blocks), draw(WORDS),
                         draw(st.one_of(st.none(), st.floats(-1e9, 1e9))), "de",
                         tuple(Problem("code", draw(WORDS), "", True) for _ in range(draw(st.integers(0, 2)))),
                         (("author", draw(WORDS)),))


@settings(max_examples=100, deadline=None)
@given(documents())
def test_a_document_comes_through_the_wire_unchanged(document: ExtractedText) -> None:
    header, payload = encode_document(document)
    assert decode_document(json.loads(json.dumps(header)), payload) == document


@pytest.mark.parametrize("change", [
    {"blocks": [[0, 999, 0, 0, 0, 0, []]]}, {"blocks": [[3, 1, 0, 0, 0, 0, []]]}, {"blocks": [[0, 1, 99, 0, 0, 0, []]]},
    {"blocks": [[0, 1, 0, 0, 5, 0, []]]}, {"blocks": "x"}, {"title": 3}, {"problems": [{}]}, {"strings": None},
    {"blocks": [["a", 1, 0, 0, 0, 0, []]]}, {"blocks": [[0, 1, 0, 0, 0, 0, [1, 2]]]},
])
def test_an_answer_that_makes_no_sense_is_refused(change: dict[str, object]) -> None:
    header, payload = encode_document(ExtractedText("txt", "abc", (Block(0, 3),)))
    with pytest.raises(JobError) as caught:
        decode_document({**header, **change}, payload)
    assert caught.value.code == "child-refused"
