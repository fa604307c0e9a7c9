"""The tuned model is a folder like any other: sentence-transformers and the product give the same vectors from it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.encoder import models, open_cross_encoder, open_encoder
from sbert_desktop.errors import TrainingError
from sbert_desktop.jobs import NullContext, spawn_child
from sbert_desktop.training import _work, running, saving
from sbert_desktop.training.labels import Example, LabelKind, LabelSet
from sbert_desktop.training.objectives import HyperParameters
from sbert_desktop.training.running import CROSS_ENCODER, ENCODER, Recipe, Training

from .conftest import labels_of, save_tiny, sentences, write
from .test_running import Child

pytest.importorskip("torch")
pytestmark = [pytest.mark.xdist_group("training"), pytest.mark.timeout(300)]  # torch is imported first
HYPER = HyperParameters("multiple-negatives", 1, 8, learning_rate=3e-3, patience=None)
CARD = "---\nlanguage:\n- en\n- de\nlicense: mit\ndatasets:\n- nobody\n---\n# Base\nSecret of the base.\n"
TEXTS = [*sentences(30, seed=9), "the", "", "boat " * 60]


@pytest.fixture(scope="session")
def torch_child() -> Iterator[object]:
    """Gives one torch child for all models of these tests."""
    child = spawn_child("torch")

    class Shared:
        request = staticmethod(child.request)

        def close(self) -> None: ...

    yield lambda kind, **more: Shared()
    child.close()


@pytest.fixture(scope="session")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("dense") / "dense", dense=True, normalize=False, card=CARD)


def trained(folder: Path, base: Path, kind: LabelKind = LabelKind.POSITIVES, *, scorer: bool = False,
            labels: LabelSet | None = None, **more: object) -> Path:  # fmt: skip
    key = {LabelKind.NLI: "softmax", LabelKind.GRADED: "cosent", LabelKind.PAIRS: "contrastive"}
    hyper = replace(HYPER, objective=key.get(kind, HYPER.objective))
    recipe = Recipe(base, labels or labels_of(kind), hyper, CROSS_ENCODER if scorer else ENCODER, device="cpu",
                    **more)  # type: ignore[arg-type]  # fmt: skip
    running.begin(folder, recipe)
    Training(folder, lambda kind, nice: Child()).run(NullContext())
    return folder


def theirs(folder: Path) -> np.ndarray:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu").encode(TEXTS, normalize_embeddings=True)


@pytest.mark.parametrize("name", ["tiny", "dense"])
def test_sentence_transformers_and_the_product_give_the_same_vectors(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, torch_child: object
) -> None:
    base = request.getfixturevalue(name)
    store = tmp_path / "models"
    folder = saving.save_model(trained(tmp_path / "run", base), store, "home", seal=models.seal)
    facts = models.describe(folder)
    models.check_model(facts)
    assert models.problems_of(folder, facts.files) == []
    assert models.verify_model(folder) == []
    expected = theirs(folder)
    opened = open_encoder(folder, launch=torch_child, backend="torch-cpu")  # type: ignore[arg-type]
    try:
        found = opened.encode_passages(TEXTS)
    finally:
        opened.close()
    assert np.sum(found * expected, axis=1).min() >= 0.9999
    assert np.sum(theirs(base) * expected, axis=1).mean() < 0.999, "training changed nothing"


def test_all_but_the_weights_and_the_card_is_the_bases_to_the_byte(dense: Path, tmp_path: Path) -> None:
    folder = saving.save_model(trained(tmp_path / "run", dense), tmp_path / "models", "home")
    own = {"README.md", "model.safetensors", "2_Dense/model.safetensors"}
    before = {path.relative_to(dense).as_posix(): path for path in dense.rglob("*") if path.is_file()}
    after = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert before.keys() == after.keys()
    for name in before:
        assert (before[name].read_bytes() == after[name].read_bytes()) == (name not in own), name
    # The same tokenizer and the same limit: passages need not be split anew.
    old, new = models.describe(dense), models.describe(folder)
    assert (old.tokenizer_sha256, old.max_tokens, old.pooling) == (new.tokenizer_sha256, new.max_tokens, new.pooling)
    assert models.fingerprint(old) != models.fingerprint(new)


def test_the_languages_and_the_licence_of_the_base_go_along(dense: Path, tmp_path: Path) -> None:
    folder = saving.save_model(trained(tmp_path / "run", dense), tmp_path / "models", "home")
    assert models.describe(folder).languages == ("en", "de")
    card = (folder / "README.md").read_text("utf-8")
    assert "\nlicense: mit\n" in card
    assert "nobody" not in card
    assert "Secret" not in card


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_files_have_normal_modes_though_the_trainers_are_private(tiny: Path, tmp_path: Path) -> None:
    work = trained(tmp_path / "run", tiny)
    before = os.umask(0o022)
    try:
        folder = saving.save_model(work, tmp_path / "models", "home", seal=models.seal)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()} == {0o644}


def test_versions_are_numbered_and_never_overwritten(tiny: Path, tmp_path: Path) -> None:
    work, store = trained(tmp_path / "run", tiny), tmp_path / "models"
    first = saving.save_model(work, store, "My home")
    kept = (first / "model.safetensors").stat().st_mtime_ns
    (store / "my-home-7").mkdir()
    names = [saving.save_model(work, store, name).name for name in ("My home", "My-home-1", "other", "../escape")]
    assert first.name == "My-home-1"
    assert names == ["My-home-8", "My-home-9", "other-1", "escape-1"]
    assert (first / "model.safetensors").stat().st_mtime_ns == kept
    assert not list(store.glob(".*"))


def test_a_name_that_is_taken_meanwhile_gives_the_next_number(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, store = trained(tmp_path / "run", tiny), tmp_path / "models"
    real, taken = os.rename, []

    def rename(source: Path, target: Path) -> None:
        if Path(target).parent == store and not taken:
            taken.append(target)
            write(Path(target) / "config.json", {})
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)
    assert saving.save_model(work, store, "home").name == "home-2"
    assert (store / "home-1" / "config.json").read_text() == "{}"


def test_a_model_that_could_not_be_finished_leaves_nothing(tiny: Path, tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    work, store = trained(tmp_path / "run", tiny), tmp_path / "models"
    with pytest.raises(TrainingError) as raised:
        saving.save_model(work, store, "home", seal=fails)
    assert raised.value.code == "disk-full"
    assert list(store.iterdir()) == []


def test_a_training_that_has_not_ended_gives_no_model(tiny: Path, tmp_path: Path) -> None:
    running.begin(tmp_path / "run", Recipe(tiny, labels_of(LabelKind.POSITIVES), HYPER))
    with pytest.raises(TrainingError) as raised:
        saving.save_model(tmp_path / "run", tmp_path / "models", "home")
    assert raised.value.code == "not-trained"


def test_the_card_tells_all_but_the_texts(tiny: Path, tmp_path: Path) -> None:
    labels = labels_of(LabelKind.PAIRS)
    work = trained(tmp_path / "run", tiny, LabelKind.PAIRS, labels=labels, base_name="all | tiny",
                   parameters={"margin": 0.4})  # fmt: skip
    results = [("AP on 20 pairs kept aside", "0.71 before, 0.78 after")]
    folder = saving.save_model(work, tmp_path / "models", "home", results=results, made=950_400.0)
    card = (folder / "README.md").read_text()
    for part in ("# home-1", "all \\| tiny", "48 pairs (24 same, 24 different)", "ContrastiveLoss (margin 0.4)",
                 "| Epochs, batch | 1, 8 |", "0.003", "0.71 before, 0.78 after", "1970-01-1",
                 "| Steps | 6 of 6 |"):  # fmt: skip
        assert part in card, part
    for example in labels.examples:
        assert not any(text in card for text in example.texts)
    assert str(tmp_path) not in card


def test_the_head_of_nli_is_thrown_away_and_grades_can_follow(tiny: Path, tmp_path: Path) -> None:
    from safetensors import safe_open

    first = tmp_path / "first"
    work = trained(tmp_path / "nli", tiny, LabelKind.NLI)
    saving.assemble(work, first)
    with safe_open(str(first / "model.safetensors"), "np") as stored, safe_open(str(tiny / "model.safetensors"),
                                                                               "np") as base:  # fmt: skip
        assert set(stored.keys()) == set(base.keys())
    assert not [path for path in first.rglob("*") if "classifier" in path.name or path.suffix == ".bin"]
    folder = saving.save_model(trained(tmp_path / "grades", first, LabelKind.GRADED, base_name="tiny, tuned on NLI"),
                               tmp_path / "models", "home")  # fmt: skip
    assert "tiny, tuned on NLI" in (folder / "README.md").read_text()
    assert np.sum(theirs(first) * theirs(folder), axis=1).min() < 0.9999


def test_a_cross_encoder_scores_in_the_product_as_in_sentence_transformers(
    tiny: Path, tmp_path: Path, torch_child: object
) -> None:
    from sentence_transformers import CrossEncoder

    labels = LabelSet(LabelKind.RELEVANCE, tuple(
        Example(one.texts, one.value) for one in labels_of(LabelKind.PAIRS).examples))  # fmt: skip
    work = trained(tmp_path / "run", tiny, LabelKind.RELEVANCE, scorer=True, labels=labels)
    folder = saving.save_model(work, tmp_path / "models", "judge", seal=models.seal)
    facts = models.describe(folder)
    assert (facts.kind, facts.activation, models.verify_model(folder)) == (models.CROSS_ENCODER, "sigmoid", [])
    assert "pipeline_tag: text-ranking" in (folder / "README.md").read_text()
    texts = sentences(12, seed=4)
    model = CrossEncoder(str(folder), device="cpu")
    assert model.max_seq_length == facts.max_tokens
    expected = model.predict([("w1 the boat sails", text) for text in texts])
    opened = open_cross_encoder(folder, launch=torch_child, device="cpu", precision="float32",
                                backend="torch")  # type: ignore[arg-type]  # fmt: skip
    try:
        np.testing.assert_allclose(opened.score("w1 the boat sails", texts), expected, atol=1e-4)
    finally:
        opened.close()
    # And it can be trained on.
    again = saving.save_model(trained(tmp_path / "more", folder, LabelKind.PAIRS, scorer=True), tmp_path / "models",
                              "judge")  # fmt: skip
    assert models.describe(again).kind == models.CROSS_ENCODER


def test_prompts_that_a_name_stood_for_and_half_precision_are_written_down(tmp_path: Path) -> None:
    import json

    base = save_tiny(tmp_path / "tiny-e5")
    config = json.loads((base / "config.json").read_text())
    write(base / "config.json", {**config, "dtype": "float16", "torch_dtype": "float16"})
    prompts = models.describe(base).prompts
    assert prompts["query"]
    work = trained(tmp_path / "run", base, prompts=(prompts["query"], prompts["document"]))
    folder = saving.save_model(work, tmp_path / "models", "home")
    facts = models.describe(folder)
    assert (facts.prompts["query"], facts.prompts["document"]) == (prompts["query"], prompts["document"])
    config = json.loads((folder / "config.json").read_text())
    assert (config["dtype"], config["torch_dtype"]) == ("float32", "float32")


def test_weights_that_lie_in_parts_become_one_file(tiny: Path, tmp_path: Path) -> None:
    from transformers import AutoModel

    base = tmp_path / "parts"
    base.mkdir()
    for path in tiny.rglob("*"):
        if path.is_file() and path.name != "model.safetensors":
            (base / path.relative_to(tiny)).parent.mkdir(exist_ok=True)
            (base / path.relative_to(tiny)).write_bytes(path.read_bytes())
    AutoModel.from_pretrained(str(tiny)).save_pretrained(str(base), max_shard_size="40KB")
    assert len(list(base.glob("*.safetensors"))) > 1
    folder = saving.save_model(trained(tmp_path / "run", base), tmp_path / "models", "home")
    assert [path.name for path in folder.glob("*.safetensors*")] == ["model.safetensors"]
    models.check_model(models.describe(folder))
    assert theirs(folder).shape == (len(TEXTS), 32)


@pytest.mark.parametrize("name", ["模" * 200, "n" * 300, "a/../b", "..", "\udcff", "é" * 89])
def test_a_name_of_any_length_and_script_is_one_that_a_folder_can_have(tmp_path: Path, name: str) -> None:
    found = saving.next_name(tmp_path, name)
    (tmp_path / f".{found}.part").mkdir()
    (tmp_path / found).mkdir()
    assert (tmp_path / found).parent == tmp_path
    assert len(found.encode("utf-8")) < 100
    assert saving.next_name(tmp_path, name).removesuffix("-2") == found.removesuffix("-1")


def test_a_full_disk_is_told_whichever_library_meets_it(tmp_path: Path) -> None:
    for error in (
        Exception("Error while serializing: I/O error: No space left on device (os error 28)"),
        OSError(28, "No space left on device"),
    ):
        with pytest.raises(TrainingError, match="No space left on device\\.") as refused:  # noqa: SIM117
            with _work.whole_folder(tmp_path / "state"):
                raise error
        assert refused.value.code == "disk-full"
        assert not list(tmp_path.iterdir())
    with pytest.raises(KeyError), _work.whole_folder(tmp_path / "state"):
        raise KeyError("another fault")
