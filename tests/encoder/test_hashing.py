from __future__ import annotations

import subprocess
import sys

import numpy as np

from sbert_desktop.encoder import HashingEncoder, PacedEncoder

ODD = ["", "   \n", "a", "\0", "\ud800 lost", "中文文本", "\N{GRINNING FACE}" * 300, "word " * 5000]


def test_odd_texts_get_unit_vectors() -> None:
    vectors = HashingEncoder().encode_passages(ODD)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_texts_that_share_words_are_similar_and_others_are_not() -> None:
    encoder: PacedEncoder = HashingEncoder()
    deal, record, bank = encoder.encode_passages(
        ["Football transfer deal agreed", "The football club transferred a player", "Interest rates rise at the bank"]
    )
    assert deal @ record > 0.3
    assert abs(deal @ bank) < 0.25


def test_vectors_are_the_same_in_every_process() -> None:
    code = "from sbert_desktop.encoder import HashingEncoder as H; print(H().encode_query('Füße run').tobytes().hex())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert HashingEncoder().encode_query("Füße run").tobytes().hex() == other


def test_text_behind_the_last_token_does_not_count() -> None:
    encoder = HashingEncoder(max_tokens=10)
    one, other = encoder.encode_passages(["w " * 8 + "football", "w " * 8 + "bank"])
    np.testing.assert_array_equal(one, other)
    assert encoder.count_tokens(["w " * 100, ""]) == 12


def test_offsets_cut_the_text_at_its_words() -> None:
    text = "Hello, wörld 中文 x_y"
    pieces = [text[start:end] for start, end in HashingEncoder().tokenizer.offsets(text)]
    assert pieces == ["Hello", ",", "wörld", "中", "文", "x", "_", "y"]
    assert HashingEncoder().tokenizer.offsets("").shape == (0, 2)


def test_another_name_is_another_space() -> None:
    assert HashingEncoder().info.fingerprint == HashingEncoder().info.fingerprint
    assert HashingEncoder(name="b").info.fingerprint != HashingEncoder().info.fingerprint
