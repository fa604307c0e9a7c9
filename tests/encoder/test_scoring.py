"""The cross-encoder beside sentence-transformers' own, and what it refuses."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.encoder import models, open_cross_encoder, open_encoder
from sbert_desktop.errors import Cancelled, EncoderError, JobError

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("architectures"), pytest.mark.timeout(300)]
pytest.importorskip("torch")

_spec = importlib.util.spec_from_file_location("encoder_made", Path(__file__).with_name("made.py"))
assert _spec is not None
assert _spec.loader is not None
made = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(made)

QUERIES = ["when is the invoice due", "", "Grüße aus Köln " * 30]
ACTIVATIONS = {"Bert": "torch.nn.modules.linear.Identity", "Roberta": "torch.nn.modules.activation.Sigmoid"}


@pytest.fixture(scope="module", params=sorted(ACTIVATIONS))
def scorer(request, model_dir: Path, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("scorers") / request.param
    folder.mkdir()
    made.save_transformer(model_dir, folder, request.param, labels=1)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    if request.param == "Bert":  # the older way to say it
        made.write_json(folder, "config.json",
                        {**config, "sbert_ce_default_activation_function": ACTIVATIONS["Bert"]})  # fmt: skip
    return folder


def test_scores_are_those_of_sentence_transformers(scorer: Path, shared_launch) -> None:
    from sentence_transformers import CrossEncoder

    theirs = CrossEncoder(str(scorer), device="cpu")
    ours = open_cross_encoder(scorer, launch=shared_launch)
    assert models.describe(scorer).kind == "cross-encoder"
    for query, texts in zip(QUERIES, (made.TEXTS[:120], made.TEXTS[:30], made.TEXTS[:30]), strict=True):
        expected = theirs.predict([(query, text) for text in texts], show_progress_bar=False)
        assert expected.std() > 0.01
        np.testing.assert_allclose(ours.score(query, texts), expected, atol=1e-4)
    assert ours.score("a", []).shape == (0,)
    ours.close()
    with pytest.raises(EncoderError, match="closed"):
        ours.score("a", ["b"])


@pytest.fixture
def crafted(model_dir: Path, tmp_path: Path) -> Path:
    """Gives a cross-encoder that no child need ever load."""
    folder = tmp_path / "scorer"
    folder.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_bytes((model_dir / name).read_bytes())
    (folder / "model.safetensors").write_bytes(b"weights")
    made.write_json(folder, "config.json",
                    {"architectures": ["BertForSequenceClassification"], "model_type": "bert", "hidden_size": 32,
                     "id2label": {"0": "LABEL_0"}, "max_position_embeddings": 128, "vocab_size": 30522})  # fmt: skip
    return folder


def test_the_two_kinds_are_told_apart(crafted: Path, model_dir: Path, no_launch) -> None:
    assert models.describe(crafted).kind == "cross-encoder"
    assert models.describe(model_dir).kind == "encoder"
    with pytest.raises(EncoderError, match="no vectors"):
        open_encoder(crafted, launch=no_launch)
    with pytest.raises(EncoderError, match="no scores"):
        open_cross_encoder(model_dir, launch=no_launch)


@pytest.mark.parametrize(("name", "change", "code"), [
    ("config.json", {"auto_map": {"AutoModel": "evil.Model"}}, "model-refused"),
    ("config.json", {"id2label": {"0": "no", "1": "yes"}}, "model-unsupported"),
    ("config.json", {"sbert_ce_default_activation_function": "os.system"}, "model-unsupported"),
    ("modules.json", [{"type": "evil.Run", "path": ""}], "model-refused"),
    ("config_sentence_transformers.json", {"model_type": "SparseEncoder"}, "model-unsupported"),
])  # fmt: skip
def test_a_crafted_one_is_refused_before_anything_runs(crafted, no_launch, name, change, code) -> None:
    own = json.loads((crafted / name).read_text("utf-8")) if (crafted / name).exists() else {}
    made.write_json(crafted, name, change if isinstance(change, list) else {**own, **change})
    with pytest.raises(EncoderError) as caught:
        open_cross_encoder(crafted, launch=no_launch)
    assert caught.value.code == code


def test_a_pickle_and_a_changed_byte_are_refused(crafted: Path, no_launch) -> None:
    models.seal(crafted)
    open_cross_encoder(crafted, launch=no_launch).close()
    (crafted / "model.safetensors").write_bytes(b"Weights")
    with pytest.raises(EncoderError, match=r"model\.safetensors"):
        open_cross_encoder(crafted, launch=no_launch)
    (crafted / "model.safetensors").unlink()
    (crafted / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch canary'\ntR.")
    with pytest.raises(EncoderError, match="pickle"):
        open_cross_encoder(crafted, launch=no_launch)


class Counter:
    """Answers with the length of each pair; may be cancelled after so many batches."""

    paused = False

    def __init__(self, batches: int = 10**9) -> None:
        self.left = batches
        self.lengths: list[list[int]] = []
        self.asked: list[str] = []

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Cancelled

    def progress(self, phase, done, total, detail="") -> None: ...

    def partial(self, result) -> None: ...

    def answer(self, header, payload):
        self.asked.append(str(header["do"]))
        if header["do"] == "load":
            return {}, b""
        self.lengths.append(list(header["lengths"]))
        return {}, np.array(header["lengths"], "<f4").tobytes()


LONG = ["word " * (n * 37 % 120) for n in range(90)]


def test_batches_are_sorted_by_length_and_the_order_of_the_texts_is_kept(crafted: Path, fake_child) -> None:
    counter = Counter()
    opened = open_cross_encoder(crafted, launch=lambda kind: fake_child(counter.answer), backend="torch")
    scores = opened.score("word", LONG)
    np.testing.assert_array_equal(scores, [min(128, 4 + n * 37 % 120) for n in range(90)])
    seen = [length for batch in counter.lengths for length in batch]
    assert seen == sorted(seen, reverse=True)
    assert len(counter.lengths) > 2
    assert max(max(batch) * len(batch) for batch in counter.lengths) <= 1024


def test_a_cancel_is_heard_between_batches(crafted: Path, fake_child) -> None:
    counter = Counter(batches=2)
    opened = open_cross_encoder(crafted, launch=lambda kind: fake_child(counter.answer), backend="torch")
    with pytest.raises(Cancelled):
        opened.score("word", LONG, counter)
    assert counter.asked == ["load", "score", "score"]


def test_a_dead_child_is_replaced_once(crafted: Path, fake_child) -> None:
    counter = Counter()

    def dies(header, payload):
        if header["do"] == "score":
            raise JobError("child-died", "The helper process ended unexpectedly (status -9).")
        return {}, b""

    children = [fake_child(dies), fake_child(counter.answer)]
    told: list[str] = []
    opened = open_cross_encoder(crafted, launch=lambda kind: children.pop(0), backend="torch", notify=told.append)
    assert opened.score("word", ["word"]).tolist() == [5]
    assert "started again" in told[0]
    twice = open_cross_encoder(crafted, launch=lambda kind: fake_child(dies), backend="torch")
    with pytest.raises(EncoderError) as caught:
        twice.score("word", ["word"])
    assert caught.value.code == "backend-failed"
