"""Several poolings out of one pass are what transformers' own hidden states give, pooled one by one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.encoder.poolings import COMPARED, Poolings
from sbert_desktop.errors import EncoderError
from sbert_desktop.jobs import NullContext

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("architectures"), pytest.mark.timeout(300)]
torch = pytest.importorskip("torch")

_spec = importlib.util.spec_from_file_location("encoder_made", Path(__file__).with_name("made.py"))
assert _spec is not None
assert _spec.loader is not None
made = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(made)

TEXTS = ["a", "", "rain", *made.TEXTS[20:60:4]]


@pytest.fixture(scope="module")
def plain(model_dir: Path, tmp_path_factory) -> Path:
    """Gives a random BERT of four layers with mean pooling and a prompt for passages."""
    folder = tmp_path_factory.mktemp("models") / "plain"
    folder.mkdir()
    width = made.save_transformer(model_dir, folder, "Bert")
    made.save_modules(folder, made.pooling(width, "mean"), ("Normalize", {}))
    made.write_json(folder, "config_sentence_transformers.json", {"prompts": {"query": made.QUERY, "document": ""}})
    return folder


class InThisProcess:
    """The torch child without a process of its own: importing torch twice is most of what the test would cost."""

    def __init__(self) -> None:
        from sbert_desktop.encoder._torch import make_handler

        self._handle = make_handler()

    def request(self, header, payload=b"", *, timeout=None):
        reply, data = self._handle(dict(header), payload)
        return dict(reply), data

    def close(self) -> None: ...


def by_hand(folder: Path, texts: list[str]) -> dict[str, np.ndarray]:
    """Pools the hidden states that transformers gives, one text at a time, so that nothing is padded."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(str(folder)), AutoModel.from_pretrained(str(folder)).eval()
    out: dict[str, list[np.ndarray]] = {name: [] for name in COMPARED}
    for text in texts:
        with torch.inference_mode():
            inputs = tokenizer(text, return_tensors="pt", truncation=True, max_length=64)
            states = [one[0].double().numpy() for one in model(**inputs, output_hidden_states=True).hidden_states]
        last = states[-1]
        found = {"cls": last[0], "mean": last.mean(0), "max": last.max(0),
                 "mean_sqrt_len": last.sum(0) / np.sqrt(len(last)),
                 "mean_last_2": np.mean(states[-2:], 0).mean(0), "mean_last_4": np.mean(states[-4:], 0).mean(0)}
        for name, vector in found.items():
            out[name].append(vector / np.linalg.norm(vector))
    return {name: np.array(rows) for name, rows in out.items()}


def test_each_pooling_is_what_transformers_gives(plain: Path) -> None:
    with Poolings(plain, COMPARED, launch=lambda kind: InThisProcess()) as opened:
        passages = opened.encode(TEXTS, NullContext())
        queries = opened.encode(TEXTS, NullContext(), queries=True)
        assert opened.encode([], NullContext())["cls"].shape == (0, 32)
    for found, expected in ((passages, by_hand(plain, TEXTS)),
                            (queries, by_hand(plain, [made.QUERY + text for text in TEXTS]))):  # fmt: skip
        assert list(found) == list(COMPARED)
        for name in COMPARED:
            np.testing.assert_allclose(found[name], expected[name], atol=1e-4, err_msg=name)
    apart = [name for name in COMPARED if name != "mean_sqrt_len"]  # of unit length that is the mean
    assert all(np.abs(passages[one] - passages[other]).max() > 1e-2 for one in apart for other in apart if one < other)


def test_a_model_whose_own_layer_fits_its_own_pooling_only_is_refused(model_dir: Path, tmp_path: Path, no_launch):
    made.bert(model_dir, tmp_path)
    with pytest.raises(EncoderError) as refused:
        Poolings(tmp_path, COMPARED, launch=no_launch)
    assert refused.value.code == "model-unsupported"
