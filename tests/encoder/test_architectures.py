"""What sentence-transformers would compute, we compute: four architectures, 200 texts, cosine 0.9999."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.encoder import models, open_encoder

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("architectures"), pytest.mark.timeout(300)]
pytest.importorskip("torch")

_spec = importlib.util.spec_from_file_location("encoder_made", Path(__file__).with_name("made.py"))
assert _spec is not None
assert _spec.loader is not None
made = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(made)


@pytest.fixture(scope="module", params=sorted(made.KINDS))
def model(request, model_dir: Path, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models") / request.param
    folder.mkdir()
    made.KINDS[request.param](model_dir, folder)
    return folder


@pytest.fixture(scope="module")
def expected(model: Path) -> tuple[np.ndarray, np.ndarray]:
    """Gives sentence-transformers' vectors of the texts as passages and as queries."""
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(model), device="cpu")
    more = {"convert_to_numpy": True, "normalize_embeddings": True, "show_progress_bar": False}
    if theirs.default_prompt_name is not None:  # it leaves the default prompt out of these two
        both = theirs.encode(made.TEXTS, **more)
        return both, both
    return theirs.encode_document(made.TEXTS, **more), theirs.encode_query(made.TEXTS, **more)


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.sum(first.astype(np.float64) * second, axis=1)


@pytest.mark.parametrize("backend", ["openvino", "torch-cpu"])
def test_vectors_are_those_of_sentence_transformers(model: Path, expected, shared_launch, backend: str) -> None:
    passages, queries = expected
    assert len(made.TEXTS) == 200
    # A test that could not fail would be worth nothing: these texts are told apart by the model.
    assert np.mean(passages[10:60] @ passages[110:160].T) < 0.97
    opened = open_encoder(model, launch=shared_launch, backend=backend)
    try:
        assert opened.info.backend == backend
        assert opened.info.dimension == passages.shape[1]
        assert cosines(opened.encode_passages(made.TEXTS), passages).min() >= 0.9999
        assert cosines(opened.encode_now(made.TEXTS[::10]), passages[::10]).min() >= 0.9999
        some = range(0, 200, 10)
        found = np.stack([opened.encode_query(made.TEXTS[n]) for n in some])
        assert cosines(found, queries[list(some)]).min() >= 0.9999
    finally:
        opened.close()


def test_prompts_limits_and_what_is_kept_are_part_of_the_identity(model: Path) -> None:
    before = models.fingerprint(models.describe(model))
    name = "config_sentence_transformers.json"
    kept = (model / name).read_bytes() if (model / name).exists() else None
    limits = model / "sentence_bert_config.json"
    kept_limits = limits.read_bytes() if limits.exists() else None
    seen = {before}
    try:
        made.write_json(model, name, {"prompts": {"query": "another: "}})
        seen.add(models.fingerprint(models.describe(model)))
        made.write_json(model, name, {"prompts": {"query": "another: "}, "truncate_dim": 8})
        seen.add(models.fingerprint(models.describe(model)))
        made.write_json(model, "sentence_bert_config.json", {"max_seq_length": 20})
        seen.add(models.fingerprint(models.describe(model)))
    finally:
        for file, data in ((model / name, kept), (limits, kept_limits)):
            file.write_bytes(data) if data is not None else file.unlink(missing_ok=True)
    assert len(seen) == 4
    assert models.fingerprint(models.describe(model)) == before


def test_each_pooling_is_the_one_of_sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from sentence_transformers.sentence_transformer.modules import Pooling

    from sbert_desktop.encoder._torch_model import _POOLINGS

    torch.manual_seed(5)
    states = torch.randn(6, 11, 8)
    lengths = torch.tensor([11, 9, 7, 5, 4, 4])
    mask = (torch.arange(11)[None] < lengths[:, None]).long()
    for ours in (name for name in _POOLINGS if name not in models.LAST_LAYERS):
        theirs = Pooling(8, "mean_sqrt_len_tokens" if ours == "mean_sqrt_len" else ours, include_prompt=False)
        for skip in (0, 3):
            features = {"token_embeddings": states, "attention_mask": mask.clone(), "prompt_length": skip}
            pooled = mask.clone()
            pooled[:, :skip] = 0
            found = _POOLINGS[ours](states, pooled.unsqueeze(-1).float())
            torch.testing.assert_close(found, theirs(features)["sentence_embedding"], msg=f"{ours} {skip}")


def test_the_mean_of_the_last_four_layers_can_be_chosen(model: Path, shared_launch) -> None:
    if model.name != "MPNet":
        pytest.skip("one architecture is enough")
    import torch
    from transformers import AutoModel

    opened = open_encoder(model, launch=shared_launch, backend="torch-cpu", pooling="mean_last_4")
    try:
        ids = torch.from_numpy(opened.tokenizer.encode([made.TEXTS[100]])[0][None].astype(np.int64))
        with torch.no_grad():
            layers = AutoModel.from_pretrained(str(model))(ids, output_hidden_states=True).hidden_states[-4:]
        mean = torch.nn.functional.normalize(torch.stack(layers).mean(0).mean(1))
        assert cosines(opened.encode_passages([made.TEXTS[100]]), mean.numpy()).min() >= 0.9999
    finally:
        opened.close()
