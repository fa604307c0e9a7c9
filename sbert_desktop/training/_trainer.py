"""The loop that trains, with sentence-transformers' losses; torch lives here, and only a child imports it.

It takes AdamW with the library's Trainer's figures (no weight decay, gradients clipped to a length of 1, a linear rise
over the first steps and a linear fall to 0), without the packages that the Trainer needs. The order of the examples
follows from seed and epoch alone, and a checkpoint holds weights, optimizer, random numbers and step: a run that was
broken off and resumed gives what it would have given.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.errors import TrainingError
from sbert_desktop.training import _packing, _work
from sbert_desktop.training._work import Recipe
from sbert_desktop.training.files import read_json, write_json
from sbert_desktop.training.labels import GRADE_TOP, LabelKind, LabelSet, same_text
from sbert_desktop.training.objectives import objective

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
GRADIENT_LENGTH = 1.0
"""Longest gradient. Source: ``max_grad_norm`` of transformers' TrainingArguments."""
_LOOK_AHEAD = 50
"""Examples looked at for each place of a batch without duplicates, so that many alike cost no square of time."""
_ENCODE_BATCH = 64
OUT_OF_MEMORY = "The graphics card ran out of memory. Training goes on with {count} examples at a time."
ON_THE_CPU = "The graphics card ran out of memory. Training goes on with the CPU."


def plan_batches(labels: LabelSet, *, batch: int, epochs: int, seed: int, distinct: bool) -> list[list[NDArray[Any]]]:
    """Gives for each epoch its batches, each the places of its examples, int64.

    Args:
        labels: The examples.
        batch: Examples in a batch; the last of an epoch has the rest.
        epochs: How often each is seen.
        seed: The same seed gives the same batches.
        distinct: No text stands twice in a batch. Batches of one are left out then: they teach nothing.
    """
    plan = []
    for epoch in range(epochs):
        order = np.random.default_rng([seed, epoch]).permutation(len(labels))
        if distinct:
            plan.append(_distinct(labels, order.tolist(), batch))
        else:
            plan.append([order[at : at + batch] for at in range(0, len(order), batch)])
    return plan


def _distinct(labels: LabelSet, order: Sequence[int], batch: int) -> list[NDArray[Any]]:
    forms = [{same_text(text) for text in example.texts} for example in labels.examples]
    waiting = deque(order)
    found = []
    while waiting:
        taken: list[int] = []
        texts: set[str] = set()
        passed: list[int] = []
        while waiting and len(taken) < batch and len(passed) < _LOOK_AHEAD * batch:
            place = waiting.popleft()
            if texts & forms[place]:
                passed.append(place)
            else:
                taken.append(place)
                texts |= forms[place]
        waiting.extendleft(reversed(passed))
        found.append(np.array(taken, np.int64))
    return [one for one in found if len(one) > 1] or found


def rate(step: int, of: int, warm_up: float) -> float:
    """Gives the share of the highest learning rate before a step, counted from 0: a rise, then a fall to 0.

    Source: the linear schedule of transformers.
    """
    warm = math.ceil(of * warm_up)
    return step / warm if step < warm else max(0.0, (of - step) / max(1, of - warm))


class Trainer:
    """One training under way; the same object for encoder and cross-encoder.

    Args:
        work: Its folder, see :mod:`sbert_desktop.training._work`; a checkpoint there is gone on from.
        threads: Cores to use; None: as torch does.

    Raises:
        TrainingError: ``training-damaged``, ``base-missing``, ``no-gpu``, ``nothing-to-learn``.
    """

    def __init__(self, work: Path, *, threads: int | None = None) -> None:
        import torch

        if threads is not None:
            torch.set_num_threads(max(1, threads))
        self.work = work
        _work.clear_parts(work)
        self.recipe = recipe = _work.read_recipe(work)
        if not recipe.labels.examples:
            raise TrainingError("nothing-to-learn", "There are no labels to learn from.", "Label some pairs first.")
        if not recipe.base.is_dir():
            raise TrainingError("base-missing", "The model that this training began with is gone.", "Train anew.")
        torch.manual_seed(recipe.hyper.seed)
        self.device = choose_device(recipe.device)
        self.parts = 1
        self.packs = True  # texts of like length are read together on a CPU; False: as the library does
        self.notices: list[str] = []
        self.done = 0
        self.note: Mapping[str, object] = {}
        self._build()
        batches = plan_batches(self.labels, batch=recipe.hyper.batch, epochs=recipe.hyper.epochs,
                               seed=recipe.hyper.seed, distinct=self._distinct)  # fmt: skip
        self.batches = [one for epoch in batches for one in epoch]
        self._ends = np.cumsum([len(epoch) for epoch in batches])
        self._resume()

    @property
    def of(self) -> int:
        """Steps in all."""
        return len(self.batches)

    @property
    def epoch(self) -> int:
        """The epoch that the next step belongs to, from 1."""
        return min(int(np.searchsorted(self._ends, self.done, side="right")) + 1, len(self._ends))

    def step(self) -> float:
        """Makes one step and gives its loss.

        Raises:
            TrainingError: ``training-diverged`` where the loss is no number any more; weights stay as they were.
        """
        import torch

        rows = self.batches[self.done]
        self.loss.train()
        loss = self._guarded(lambda: self._backward(rows), len(rows))
        if not math.isfinite(loss):
            self._diverged()
        length = torch.nn.utils.clip_grad_norm_([one for _, one in self.parameters], GRADIENT_LENGTH)
        if not math.isfinite(float(length)):
            self._diverged()
        hyper = self.recipe.hyper
        for group in self.optimizer.param_groups:
            group["lr"] = hyper.learning_rate * rate(self.done, self.of, hyper.warm_up)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.done += 1
        return loss

    def encode(self, columns: Sequence[Sequence[str]], prompts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Gives for each column of texts its vectors, float32 [n, dimension], unit rows; each text is encoded once.

        Of a cross-encoder: one array, the scores of the pairs that two columns make, float32 [n, 1], 0 to 1.
        """
        if self.recipe.kind == _work.CROSS_ENCODER:
            from sbert_desktop.training import _scorer

            def score() -> NDArray[np.float32]:
                return _scorer.score(self.model, columns, max(1, _ENCODE_BATCH // self.parts))

            return [self._guarded(score, _ENCODE_BATCH)]
        found = []
        made: dict[str, tuple[dict[str, int], NDArray[np.float32]]] = {}
        for prompt in dict.fromkeys(prompts):
            texts = [text for column, own in zip(columns, prompts, strict=True) if own == prompt for text in column]
            rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
            made[prompt] = rows, self._guarded(lambda: self._encode(list(rows), prompt), _ENCODE_BATCH)  # noqa: B023
        for column, prompt in zip(columns, prompts, strict=True):
            rows, vectors = made[prompt]
            found.append(vectors[[rows[text] for text in column]])
        return found

    def checkpoint(self, note: Mapping[str, object]) -> None:
        """Stores all that is needed to go on from here; ``note`` is the parent's and comes back with the state.

        Of the best states only that after ``note["best"]`` steps stays.

        Raises:
            TrainingError: ``disk-full``.
        """
        state = {"step": self.done, "of": self.of, "parts": self.parts, "device": self.device, "note": dict(note)}
        target = _work.numbered(self.work, _work.CHECKPOINT, self.done)
        if target.is_dir():  # only the note is new
            write_json(target / _work.STATE, state)
        else:
            with _work.whole_folder(target) as folder:
                _save(dict(self.parameters), folder / _work.WEIGHTS)
                _save(self._optimizer_state() | _random_state(self.device), folder / _work.OPTIMIZER)
                write_json(folder / _work.STATE, state)
        self.note = note
        best = note.get("best")
        _work.remove_numbered(self.work, _work.CHECKPOINT, keep=self.done)
        _work.remove_numbered(self.work, _work.BEST, keep=best if isinstance(best, int) else None)

    def keep(self) -> None:
        """Keeps the weights as they are now: those that did best so far."""
        with _work.whole_folder(_work.numbered(self.work, _work.BEST, self.done)) as folder:
            _save(dict(self.model.named_parameters()), folder / _work.WEIGHTS)

    def finish(self, best: int | None) -> None:
        """Writes the result: the state that was kept after ``best`` steps, or the present one.

        The layers of the loss (the head of NLI) are no part of it.
        """
        if best is not None and best != self.done:
            _load(dict(self.model.named_parameters()), _work.numbered(self.work, _work.BEST, best) / _work.WEIGHTS)
        modules = _module_folders(self.recipe.base)
        with _work.whole_folder(self.work / _work.FINAL) as folder:
            # It may put a model's parts together in its own way, and knows the names that loading asks for.
            self.model[0].model.save_pretrained(str(folder), max_shard_size="1000GB")
            written = [_work.WEIGHTS]
            for place, module in enumerate(list(self.model)[1:], 1):
                tensors = module.state_dict()
                if tensors:
                    (folder / modules[place]).mkdir()
                    _save(tensors, folder / modules[place] / _work.WEIGHTS)
                    written.append(f"{modules[place]}/{_work.WEIGHTS}")
            result = {"step": self.done if best is None else best, "weights": written}
            (folder / _work.RESULT).write_text(json.dumps(result), "utf-8")

    # ------------------------------------------------------------ how it is built

    def _build(self) -> None:
        import torch

        recipe = self.recipe
        self.labels = recipe.labels
        if recipe.kind == _work.CROSS_ENCODER:
            from sbert_desktop.training import _scorer

            self.labels = _scorer.pairs_to_score(recipe.labels, recipe.hyper.seed)
            self.model, self.loss = _scorer.build(self.work, recipe, self.device)
            self._distinct = False
        else:
            self.model = load_encoder(recipe.base, self.device)
            self._own_tokens = self.model.max_seq_length
            if recipe.hyper.max_tokens is not None:  # of what is trained on; the model itself reads on as it did
                self.model.max_seq_length = min(recipe.hyper.max_tokens, self._own_tokens or recipe.hyper.max_tokens)
            self.loss = build_loss(self.model, recipe)
            _packing.take_vectors(self.loss.model)
            self._distinct = objective(recipe.hyper.objective).distinct
        self.loss.to(self.device)
        self._price = _packing.price_of_pass(self.model)
        # The loss holds the model and, of NLI, the head. Shared weights come once.
        self.parameters = [(name, one) for name, one in self.loss.named_parameters() if one.requires_grad]
        self.optimizer = torch.optim.AdamW([one for _, one in self.parameters], lr=recipe.hyper.learning_rate,
                                           weight_decay=0.0, fused=self.device == "cpu")  # fmt: skip

    def _backward(self, rows: NDArray[Any]) -> float:
        """Adds up the gradients of a batch, in parts where memory is short; gives the loss."""
        total = 0.0
        self.optimizer.zero_grad(set_to_none=True)
        for part in self._parts_of(rows):
            loss = self._loss_of(part) * (len(part) / len(rows))
            loss.backward()
            total += float(loss.detach())
        return total

    def _parts_of(self, rows: NDArray[Any]) -> list[NDArray[Any]]:
        """Parts a batch where memory is short; that of a cross-encoder by length, too: its loss is a plain mean."""
        if self.packs and self.recipe.kind == _work.CROSS_ENCODER and self.device == "cpu":
            pairs = [self.labels.examples[int(row)].texts for row in rows]
            return [rows[some] for some in _packing.group_pairs(self.model, pairs, self._price)]
        return np.array_split(rows, max(1, min(self.parts, len(rows) // 2)))

    def _loss_of(self, rows: NDArray[Any]) -> torch.Tensor:
        import torch

        examples = [self.labels.examples[int(row)] for row in rows]
        columns = [[one.texts[place] for one in examples] for place in range(self.labels.kind.texts)]
        values = torch.tensor(_targets(self.labels.kind, [one.value for one in examples])).to(self.device)
        if self.recipe.kind == _work.CROSS_ENCODER:
            loss: torch.Tensor = self.loss(columns, values)
            return loss
        prompts = self.recipe.column_prompts()
        features: list[dict[str, Any]] | None = None
        if self.packs and self.device == "cpu":
            features = _packing.embed(self.loss.model, columns, prompts, self._price,
                                      prepare=self.model.preprocess)  # fmt: skip
        if features is None:
            features = [
                {name: one.to(self.device) if isinstance(one, torch.Tensor) else one
                 for name, one in self.model.preprocess(column, prompt=prompt or None).items()}
                for column, prompt in zip(columns, prompts, strict=True)
            ]  # fmt: skip
        loss = self.loss(features, values)
        return loss

    def _encode(self, texts: Sequence[str], prompt: str) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, 0), np.float32)
        while_training, self.model.max_seq_length = self.model.max_seq_length, self._own_tokens
        try:
            vectors = self.model.encode(
                list(texts), prompt=prompt or None, batch_size=max(1, _ENCODE_BATCH // self.parts),
                convert_to_numpy=True, normalize_embeddings=True, show_progress_bar=False,
            )
        finally:
            self.model.max_seq_length = while_training
        return np.ascontiguousarray(vectors, np.float32)

    def _diverged(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        raise TrainingError("training-diverged", f"Training went astray at step {self.done + 1}.",
                            "Train anew with a lower learning rate.", "its loss is not finite")  # fmt: skip

    # ------------------------------------------------------------ when memory runs out

    def _guarded(self, work: Callable[[], T], count: int) -> T:
        """Does work on ``count`` examples again in smaller parts, then on the CPU, where a card has no room for it."""
        while True:
            try:
                return work()
            except Exception as error:
                if self.device == "cpu" or not is_out_of_memory(error):
                    raise
                error.__traceback__ = None  # its frames would keep the tensors alive
            self._give_way(count)

    def _give_way(self, count: int) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        if self.parts * 4 <= count:
            self.parts *= 2
            self.notices.append(OUT_OF_MEMORY.format(count=-(-self.recipe.hyper.batch // self.parts)))
        else:
            self._move_to_cpu()
            self.notices.append(ON_THE_CPU)
        _free()

    def _move_to_cpu(self) -> None:
        import torch

        self.device, self.parts = "cpu", 1
        self.loss.to("cpu")
        self.model.to("cpu")
        for state in self.optimizer.state.values():
            for name, one in state.items():
                if isinstance(one, torch.Tensor):
                    state[name] = one.to("cpu")

    # ------------------------------------------------------------ checkpoints

    def _optimizer_state(self) -> dict[str, torch.Tensor]:
        return {f"{name}/{part}": one for name, parameter in self.parameters
                for part, one in self.optimizer.state.get(parameter, {}).items()}  # fmt: skip

    def _resume(self) -> None:
        """Takes up the newest checkpoint that can be read; without one it begins at the beginning."""
        for step, folder in _work.all_numbered(self.work, _work.CHECKPOINT):
            read = _read_checkpoint(folder, dict(self.parameters))
            if read is None or read[2].get("of") != self.of:
                self.notices.append("A stored state of this training was damaged. It goes on from an earlier one.")
                continue
            weights, more, state = read
            if state["device"] == "cpu" and self.device != "cpu":
                self._move_to_cpu()
            self._take(weights, more)
            self.parts = int(str(state["parts"]))
            self.done = step
            note = state["note"]
            self.note = note if isinstance(note, dict) else {}
            return

    def _take(self, weights: Mapping[str, torch.Tensor], more: Mapping[str, torch.Tensor]) -> None:
        import torch

        _copy(dict(self.parameters), weights)
        for name, parameter in self.parameters:
            parts = {part: more[f"{name}/{part}"] for part in ("step", "exp_avg", "exp_avg_sq")
                     if f"{name}/{part}" in more}  # fmt: skip
            if parts:
                self.optimizer.state[parameter] = {
                    part: one if part == "step" else one.to(parameter.device) for part, one in parts.items()}
        torch.set_rng_state(more["random/cpu"])
        if "random/cuda" in more and self.device == "cuda":
            torch.cuda.set_rng_state(more["random/cuda"])


def choose_device(wanted: str) -> str:
    """Gives where to train: ``gpu`` insists on a graphics card, ``cpu`` on none, ``auto`` takes what there is.

    Raises:
        TrainingError: ``no-gpu`` when there is none but it was asked for.
    """
    import torch

    if wanted != "cpu":
        if torch.cuda.is_available():
            return "cuda"
        if hasattr(torch, "xpu") and torch.xpu.is_available():
            return "xpu"
        if torch.backends.mps.is_available():
            return "mps"
        if wanted == "gpu":
            raise TrainingError("no-gpu", "No graphics card was found that torch can use.", "Train on the CPU.")
    return "cpu"


def is_out_of_memory(error: BaseException) -> bool:
    """Says whether a graphics card ran out of memory (MPS raises a plain RuntimeError)."""
    import torch

    return isinstance(error, torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and "out of memory" in str(error).lower())


def load_encoder(base: Path, device: str) -> Any:
    """Gives the SentenceTransformer of a checked folder, float32."""
    import torch
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(base), device=device, local_files_only=True,
                               model_kwargs={"use_safetensors": True, "dtype": torch.float32})  # fmt: skip


def build_loss(model: Any, recipe: Recipe) -> Any:
    """Gives the loss of an objective around a model, whose modules it shares.

    Distances are meant between unit vectors, which the product searches by, also where the base does not normalise.
    The softmax head alone stands on the vectors before that, as in the paper: components of a unit vector are so small
    that it would hardly learn.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize
    from sentence_transformers.sentence_transformer import losses

    chosen = objective(recipe.hyper.objective)
    modules = list(model)
    while isinstance(modules[-1], Normalize):
        modules.pop()
    trained = SentenceTransformer(modules=modules if chosen.head else [*modules, Normalize()], device=str(model.device))
    given = dict(recipe.parameters)
    if "margin" in given and "triplet_margin" in chosen.parameters:
        given["triplet_margin"] = given.pop("margin")
    figures = {name: given.get(name, value) for name, value in chosen.parameters.items()}
    kind = getattr(losses, chosen.loss)
    if chosen.head:
        return kind(trained, trained.get_embedding_dimension(), num_labels=int(figures["num_labels"]))
    return kind(trained, **figures)


def _targets(kind: LabelKind, values: Iterable[float]) -> list[float] | list[int]:
    """Gives the values as losses want them: grades from 0 to 1, classes as whole numbers."""
    if kind is LabelKind.GRADED:
        return [value / GRADE_TOP for value in values]
    if kind is LabelKind.NLI:
        return [int(value) for value in values]
    return [float(value) for value in values]


def _module_folders(base: Path) -> list[str]:
    """Gives the folder of each module as the base names it, for those that have weights beside the transformer."""
    try:
        entries = json.loads((base / "modules.json").read_text("utf-8"))
    except (OSError, ValueError):
        return ["", "1_Pooling"]
    return [str(entry["path"]) for entry in entries]


def _save(tensors: Mapping[str, torch.Tensor], file: Path) -> None:
    """Writes tensors; with the modes of a normal file, which safetensors' own writer does not give it."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        save_file({name: one.detach().cpu().contiguous() for name, one in tensors.items()}, str(file))
    except SafetensorError as error:
        raise TrainingError("disk-full", "The state of the training could not be stored.",
                            "See whether the disk is full, then resume.", detail=str(error)) from error  # fmt: skip


def _load(parameters: Mapping[str, torch.Tensor], file: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        _copy(parameters, load_file(str(file)))
    except (OSError, SafetensorError, KeyError) as error:
        raise TrainingError("training-damaged", "The best state of this training cannot be read.", "Train anew.",
                            detail=str(error)) from error  # fmt: skip


def _copy(parameters: Mapping[str, torch.Tensor], tensors: Mapping[str, torch.Tensor]) -> None:
    import torch

    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(tensors[name])


def _read_checkpoint(
    folder: Path, parameters: Mapping[str, torch.Tensor]
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor], dict[str, object]] | None:
    """Reads a checkpoint; None where it is damaged or of other weights."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        weights = load_file(str(folder / _work.WEIGHTS))
        more = load_file(str(folder / _work.OPTIMIZER))
    except (OSError, SafetensorError):
        return None
    state = read_json(folder / _work.STATE)
    fits = {name: one.shape for name, one in weights.items()} == {name: one.shape for name, one in parameters.items()}
    return (weights, more, state) if state is not None and fits and "random/cpu" in more else None


def _random_state(device: str) -> dict[str, torch.Tensor]:
    import torch

    found = {"random/cpu": torch.get_rng_state()}
    if device == "cuda":
        found["random/cuda"] = torch.cuda.get_rng_state()
    return found


def _free() -> None:
    import torch

    for kind in (torch.cuda, getattr(torch, "xpu", None), torch.mps):
        with contextlib.suppress(Exception):
            if kind is not None and kind.is_available():
                kind.empty_cache()
