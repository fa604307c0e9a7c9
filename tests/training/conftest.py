"""A tiny encoder with random weights, and labels of every kind to train it on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.training.labels import Example, LabelKind, LabelSet

NOUNS = ["boat", "ship", "harbour", "invoice", "bill", "garden", "tree", "letter", "house", "roof", "cat", "dog"]
VERBS = ["sails", "arrives", "waits", "grows", "falls", "comes", "stands", "sleeps"]
WORDS = [*NOUNS, *VERBS, "the", "a", "old", "new", "red", "late", "early", "today", "again", "north"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def save_tiny(folder: Path, *, dense: bool = False, normalize: bool = True, card: str = "") -> Path:
    """Saves a BERT of two layers and 32 numbers in sentence-transformers' layout."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder.mkdir(parents=True)
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS, *(f"w{n}" for n in range(40))])}
    own = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    own.normalizer = normalizers.Lowercase()
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    own.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    PreTrainedTokenizerFast(
        tokenizer_object=own, model_max_length=32, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]",
    ).save_pretrained(str(folder))  # fmt: skip
    torch.manual_seed(7)
    BertModel(BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=40, initializer_range=0.2,
    )).eval().save_pretrained(str(folder))  # fmt: skip
    kinds = ["Pooling", *(["Dense"] if dense else []), *(["Normalize"] if normalize else [])]
    entries = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    entries += [{"idx": number, "name": str(number), "path": f"{number}_{kind}",
                 "type": f"sentence_transformers.models.{kind}"} for number, kind in enumerate(kinds, 1)]  # fmt: skip
    write(folder / "modules.json", entries)
    write(folder / "1_Pooling/config.json", {"embedding_dimension": 32, "pooling_mode": "mean"})
    if dense:
        write(folder / "2_Dense/config.json", {"in_features": 32, "out_features": 16, "bias": True,
                                               "activation_function": "torch.nn.modules.activation.Tanh"})  # fmt: skip
        from safetensors.torch import save_file

        save_file({"linear.weight": torch.randn(16, 32), "linear.bias": torch.randn(16)},
                  str(folder / "2_Dense/model.safetensors"))  # fmt: skip
    write(folder / "sentence_bert_config.json", {"max_seq_length": 24})
    if card:
        (folder / "README.md").write_text(card, "utf-8")
    return folder


def write(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), "utf-8")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gives the folder of a tiny encoder."""
    pytest.importorskip("torch")
    return save_tiny(tmp_path_factory.mktemp("tiny") / "tiny")


def sentences(count: int, seed: int = 0) -> list[str]:
    """Gives different sentences of known words; each begins with a number word of its own."""
    rng = np.random.default_rng(seed)
    return [f"w{n % 40} the {rng.choice(NOUNS)} {rng.choice(VERBS)} {rng.choice(WORDS)} {rng.choice(WORDS)} w{n // 40}"
            for n in range(count)]  # fmt: skip


def labels_of(kind: LabelKind, count: int = 48) -> LabelSet:
    """Gives labels that can be learned: what is the same differs in one word."""
    left = sentences(count)
    right = [text.replace(" the ", " a ") + " today" for text in left]
    other = sentences(count, seed=1)[::-1]
    examples = []
    for n in range(count):
        if kind is LabelKind.TRIPLETS:
            examples.append(Example((left[n], right[n], other[n]), 1.0))
        elif kind is LabelKind.POSITIVES:
            examples.append(Example((left[n], right[n]), 1.0))
        elif kind is LabelKind.NLI:
            texts = (right, other, sentences(count, seed=2))[n % 3]
            examples.append(Example((left[n], texts[n]), float(n % 3)))
        elif kind is LabelKind.GRADED:
            examples.append(Example((left[n], right[n] if n % 2 else other[n]), 4.5 if n % 2 else 0.5))
        else:
            examples.append(Example((left[n], right[n] if n % 2 else other[n]), float(n % 2)))
    return LabelSet(kind, tuple(examples))
