"""Small models with random weights, made and not downloaded: one of each architecture."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

WORDS = [
    "lighthouse", "keeper", "wrote", "down", "wind", "height", "waves", "every", "ship",
    "passed", "river", "rose", "two", "metres", "overnight", "town", "lower", "invoice",
    "due", "first", "march", "Grüße", "aus", "Köln", "grün", "süß", "naïve",
    "café", "CAPITALS", "Mixed", "straße",
]  # fmt: skip
TEXTS = [
    "a", "rain", "", "   ", "İstanbul ΟΔΟΣ STRASSE", "你好，世界", "\N{GRINNING FACE} \N{ROCKET}",
    *(" ".join(WORDS[(n * 7 + k * k) % len(WORDS)] + ("," if k % 5 == 4 else "") for k in range(1 + n * n % 90))
      for n in range(193)),
]  # fmt: skip
QUERY, PASSAGE = "query: ", "passage: "


def save_tokenizer(source: Path, folder: Path, *, limit: int = 64) -> None:
    """Puts the bundled model's tokenizer into a folder."""
    from transformers import AutoTokenizer

    AutoTokenizer.from_pretrained(str(source), model_max_length=limit).save_pretrained(str(folder))


def save_roberta_tokenizer(folder: Path, *, limit: int = 64) -> int:
    """Trains a byte-pair tokenizer as RoBERTa has one, padding with id 1; gives its size."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    own = Tokenizer(models.BPE())
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special, letters = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=special, initial_alphabet=letters, show_progress=False)
    own.train_from_iterator(TEXTS, trainer)
    own.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    PreTrainedTokenizerFast(tokenizer_object=own, model_max_length=limit, bos_token="<s>", eos_token="</s>",
                            cls_token="<s>", sep_token="</s>", pad_token="<pad>", unk_token="<unk>",
                            mask_token="<mask>").save_pretrained(str(folder))  # fmt: skip
    return own.get_vocab_size()


def save_transformer(source: Path, folder: Path, kind: str, *, labels: int = 0, **more: Any) -> int:
    """Saves a transformer of a kind with a tokenizer; ``labels`` > 0 makes a classifier. Gives its width."""
    import torch
    import transformers

    torch.manual_seed(7)
    # Weights far from zero: with the usual ones all texts would have almost the same vector.
    sizes = {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 64,
             "max_position_embeddings": 80, "initializer_range": 0.4, **more}  # fmt: skip
    if labels:
        sizes["num_labels"] = labels
    suffix = "ForSequenceClassification" if labels else "Model"
    if kind in {"Roberta", "XLMRoberta"}:
        sizes |= {"vocab_size": save_roberta_tokenizer(folder), "pad_token_id": 1, "bos_token_id": 0,
                  "eos_token_id": 2, "type_vocab_size": 1}  # fmt: skip
    else:
        save_tokenizer(source, folder)
        sizes["vocab_size"] = 30522
    if kind == "DistilBert":
        sizes = {"dim": 32, "hidden_dim": 64, "n_layers": 4, "n_heads": 2, "vocab_size": 30522,
                 "max_position_embeddings": 80, "initializer_range": 0.4, **more}  # fmt: skip
    config = getattr(transformers, f"{kind}Config")(**sizes)
    getattr(transformers, kind + suffix)(config).eval().save_pretrained(str(folder))
    return 32


def write_json(folder: Path, name: str, value: object) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(value), "utf-8")


def save_modules(folder: Path, *modules: tuple[str, Mapping[str, object]]) -> None:
    """Writes ``modules.json`` and the configuration of each module behind the transformer."""
    listed = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    for number, (kind, config) in enumerate(modules, 1):
        path = f"{number}_{kind}"
        listed.append({"idx": number, "name": str(number), "path": path,
                       "type": f"sentence_transformers.models.{kind}"})  # fmt: skip
        if config:
            write_json(folder, f"{path}/config.json", config)
    write_json(folder, "modules.json", listed)


def save_weights(folder: Path, **tensors: Any) -> None:
    from safetensors.torch import save_file

    save_file(dict(tensors), str(folder / "model.safetensors"))


def pooling(width: int, *modes: str, include_prompt: bool = True) -> tuple[str, dict[str, object]]:
    config = {"embedding_dimension": width, "pooling_mode": list(modes), "include_prompt": include_prompt}
    return "Pooling", config


def bert(source: Path, folder: Path) -> None:
    """Two poolings behind each other, unit length, a dense layer, Matryoshka, prompts."""
    import torch

    width = save_transformer(source, folder, "Bert")
    dense = {"in_features": 2 * width, "out_features": 24, "bias": True,
             "activation_function": "torch.nn.modules.activation.Tanh"}  # fmt: skip
    save_modules(folder, pooling(width, "mean", "max"), ("Normalize", {}), ("Dense", dense))
    torch.manual_seed(3)
    save_weights(folder / "3_Dense", **{"linear.weight": torch.randn(24, 2 * width), "linear.bias": torch.randn(24)})
    write_json(folder, "config_sentence_transformers.json",
               {"prompts": {"query": QUERY, "document": PASSAGE}, "truncate_dim": 16})  # fmt: skip


def mpnet(source: Path, folder: Path) -> None:
    """The first and the last token, an older way of writing it; a limit of its own."""
    width = save_transformer(source, folder, "MPNet", pad_token_id=0)
    config = {"word_embedding_dimension": width, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False,
              "pooling_mode_lasttoken": True}  # fmt: skip
    save_modules(folder, ("Pooling", config), ("Normalize", {}))
    write_json(folder, "sentence_bert_config.json", {"max_seq_length": 40, "do_lower_case": False})


def xlm_roberta(source: Path, folder: Path) -> None:
    """The prompt is left out of the pooling."""
    width = save_transformer(source, folder, "XLMRoberta")
    save_modules(folder, pooling(width, "cls", "weightedmean", "mean", include_prompt=False))
    write_json(folder, "config_sentence_transformers.json",
               {"prompts": {"query": "Represent the question: ", "document": ""}})  # fmt: skip


def distilbert(source: Path, folder: Path) -> None:
    """A weighted mean of the last layers; all in small letters."""
    import torch

    width = save_transformer(source, folder, "DistilBert", output_hidden_states=True)
    layers = {"embedding_dimension": width, "layer_start": 1, "num_hidden_layers": 4}
    save_modules(folder, ("WeightedLayerPooling", layers), pooling(width, "mean_sqrt_len_tokens"))
    save_weights(folder / "1_WeightedLayerPooling", layer_weights=torch.tensor([1.0, 0.5, 2.0, 3.0]))
    write_json(folder, "sentence_bert_config.json", {"do_lower_case": True})
    write_json(folder, "config_sentence_transformers.json",
               {"prompts": {"topic": "topic: "}, "default_prompt_name": "topic"})  # fmt: skip


KINDS = {"BERT": bert, "MPNet": mpnet, "XLM-R": xlm_roberta, "DistilBERT": distilbert}
