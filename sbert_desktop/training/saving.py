"""Makes a model folder of what a training gave: the standard sentence-transformers layout, whole or not at all.

The base's own files stay as they are, byte for byte (so texts are split as before, and need not be split anew); only
the weights are new, and the card. Nothing heavy, no torch: weights are moved as files.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from sbert_desktop.errors import TrainingError
from sbert_desktop.training import _work
from sbert_desktop.training._work import CROSS_ENCODER, Recipe
from sbert_desktop.training.files import read_json
from sbert_desktop.training.objectives import objective

_SCRATCH = ".adding-"
"""As the model store calls folders that are not models yet: they are listed nowhere and cleared when forgotten."""
# What belongs to a model beside weights and card; as the model store keeps.
_KEPT = re.compile(r"[\w.-]+\.json|[\w.-]+\.txt|LICENSE[\w.-]*")
_NOT_KEPT = frozenset({"sbert-desktop.json", "model.safetensors.index.json", "data_config.json"})
_TRIES = 1000
Result = tuple[str, str]


def save_model(
    work: Path,
    store: Path,
    name: str,
    *,
    results: Sequence[Result] = (),
    seal: Callable[[Path], None] | None = None,
    made: float | None = None,
) -> Path:
    """Puts the result of a training into the model store and gives its folder.

    Args:
        work: Work folder of a training that has ended.
        store: Folder of the models, one sub-folder each.
        name: What the person calls it; ``home`` becomes ``home-1``, the next one ``home-2``.
        results: Lines of the card on the held-out part: what, and its figures.
        seal: Called with the finished folder before it takes its name, to record its files.
        made: When, in seconds since the epoch; now by default.

    Raises:
        TrainingError: ``not-trained``, ``training-damaged``, ``base-missing``, ``disk-full``.
    """
    scratch: Path | None = None
    try:
        store.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=store))
        for _ in range(_TRIES):
            target = store / next_name(store, name)
            part = scratch / target.name  # it bears its name from the start: families are known by theirs
            if not part.exists():
                shutil.rmtree(scratch)
                scratch.mkdir()
                assemble(work, part, results=results, made=made)
                if seal is not None:
                    seal(part)
                _sync_all(part)
            try:
                os.rename(part, target)
            except OSError:
                if not target.exists():
                    raise
                continue  # another took the name meanwhile
            _work.sync(store)
            return target
        raise TrainingError("model-exists", f"There are too many models called {name!r}.", "Choose another name.")
    except OSError as error:
        raise TrainingError("disk-full", f"The model could not be stored: {error.strerror or error}.",
                            "See whether the disk is full.") from error  # fmt: skip
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)


def file_stem(name: str, most: int = 90) -> str:
    """Gives a name as file systems take it: no blanks or signs, and no more bytes of UTF-8 than ``most``."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip(".-")
    return plain.encode("utf-8")[:most].decode("utf-8", "ignore").strip(".-") or "model"


def next_name(store: Path, name: str) -> str:
    """Gives the name of the next version: ``home`` and ``home-2`` become ``home-3`` where ``home-2`` is the last."""
    stem = file_stem(name)
    taken = {entry.name.casefold() for entry in store.iterdir()} if store.is_dir() else set()
    numbered = re.fullmatch(r"(.+)-\d{1,4}", stem)
    if numbered is not None and f"{numbered[1]}-1".casefold() in taken:
        stem = numbered[1]  # a version of a model that is there
    found = [int(name.rpartition("-")[2]) for name in taken
             if re.fullmatch(re.escape(stem.casefold()) + r"-\d{1,4}", name)]  # fmt: skip
    return f"{stem}-{max(found, default=0) + 1}"


def assemble(work: Path, target: Path, *, results: Sequence[Result] = (), made: float | None = None) -> None:
    """Writes the model folder of a training that has ended; the folder must not be there yet.

    Used by itself for a model that is only tried, or that a second training begins with.

    Raises:
        TrainingError: ``not-trained``, ``training-damaged``, ``base-missing``.
        OSError: It cannot be written.
    """
    recipe = _work.read_recipe(work)
    result = read_json(work / _work.FINAL / _work.RESULT)
    if result is None:
        raise TrainingError("not-trained", "This training has not ended yet.", "Resume it first.")
    base = work / _work.SCORER if (work / _work.SCORER).is_dir() else recipe.base
    if not (base / "config.json").is_file():
        raise TrainingError("base-missing", "The model that this training began with is gone.", "Train anew.")
    target.mkdir()
    written = _written(result)
    for name in _names_of(base, set(written)):
        _copy(base / name, target / name)
    for name in written:
        _copy(work / _work.FINAL / name, target / name)
    _say_precision(target / "config.json")
    if recipe.kind != CROSS_ENCODER:
        _say_prompts(target / "config_sentence_transformers.json", recipe.prompts)
    card = model_card(target.name, work, results=results, made=made)
    (target / "README.md").write_text(card, "utf-8")


def _written(result: dict[str, object]) -> list[str]:
    """Gives the files of weights that a training wrote; they lie in its folder, whatever its note says.

    Raises:
        TrainingError: ``training-damaged``.
    """
    found = result.get("weights")
    names = [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
    if not names or not isinstance(found, list) or len(names) < len(found) or not all(map(_is_inside, names)):
        raise TrainingError("training-damaged", "What this training gave cannot be read.", "Train anew.")
    return names


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(name) and "\\" not in name and "\0" not in name and not path.is_absolute() and ".." not in path.parts


def model_card(name: str, work: Path, *, results: Sequence[Result] = (), made: float | None = None) -> str:
    """Gives the card of a model: what it was made from and how, none of the person's texts."""
    recipe = _work.read_recipe(work)
    trained = read_json(work / _work.TRAINED) or {}
    hyper = recipe.hyper
    scores = recipe.kind == CROSS_ENCODER
    counts = ", ".join(f"{count} {word}" for word, count in _counts(recipe).items())
    rows = [
        ("Base", recipe.base_name or recipe.base.name),
        ("Learned from", f"{len(recipe.labels):,} {recipe.labels.unit} ({counts})"),
        ("Objective", "BinaryCrossEntropyLoss on pairs" if scores else _objective_line(recipe)),
        ("Epochs, batch", f"{hyper.epochs}, {hyper.batch}"),
        ("Learning rate", f"{hyper.learning_rate:g}, a rise over {hyper.warm_up:.0%} of the steps, then an even fall"),
        ("Seed", str(hyper.seed)),
        ("Tokens read while training", str(hyper.max_tokens) if hyper.max_tokens else "as the base"),
        ("Steps", _steps_line(trained)),
        *results,
        ("Made", time.strftime("%Y-%m-%d", time.localtime(time.time() if made is None else made))),
    ]  # fmt: skip
    kind = "cross-encoder" if scores else "sentence encoder"
    use = ("CrossEncoder(path).predict([(question, text)])" if scores else "SentenceTransformer(path).encode(texts)")
    table = "\n".join(f"| {_cell(what)} | {_cell(figure)} |" for what, figure in rows)
    return (
        f"---\n{_head(recipe, scores)}---\n\n# {name}\n\n"
        f"A {kind} that was tuned on one person's own judgements with SBERT Desktop. It knows what that person calls\n"
        "the same, or an answer; for other texts it may be worse than its base.\n\n"
        f"| | |\n|---|---|\n{table}\n\n"
        f"Use it with sentence-transformers: `{use}`.\n"
    )


def _objective_line(recipe: Recipe) -> str:
    chosen = objective(recipe.hyper.objective)
    figures = {**chosen.parameters, **recipe.parameters}
    said = ", ".join(f"{name} {value:g}" for name, value in figures.items())
    return f"{chosen.loss}{f' ({said})' if said else ''}{', its head thrown away' if chosen.head else ''}"


def _steps_line(trained: dict[str, object]) -> str:
    if not trained:
        return "unknown"
    best = trained.get("best")
    kept = f", the state after {best} kept" if isinstance(best, int) and best != trained["step"] else ""
    return f"{trained['step']} of {trained['of']}{kept}"


def _counts(recipe: Recipe) -> dict[str, int]:
    counts = recipe.labels.counts()
    if len(counts) <= 6:
        return counts
    found: dict[str, int] = {}
    for example in recipe.labels.examples:  # grades may be any number: by fifths of the scale
        low = min(4, int(example.value))
        word = f"grade {low} to {low + 1}"
        found[word] = found.get(word, 0) + 1
    return dict(sorted(found.items()))


def _head(recipe: Recipe, scores: bool) -> str:
    """Gives the head of the card; language and licence are those of the base."""
    lines = []
    with contextlib.suppress(OSError):
        with (recipe.base / "README.md").open(encoding="utf-8", errors="replace") as stream:
            card = re.match(r"---\s*\n(.*?)\n---", stream.read(1_000_000), re.DOTALL)
        for key in ("language", "license"):
            found = re.search(rf"^{key}:[ \t]*(.*(?:\n[ \t]*-.*)*)", card[1], re.MULTILINE) if card else None
            if found is not None:
                lines.append(found[0].rstrip())
    does, tag = ("text-ranking", "cross-encoder") if scores else ("sentence-similarity", "sentence-similarity")
    lines += ["library_name: sentence-transformers", f"pipeline_tag: {does}", "tags:", "- sentence-transformers",
              f"- {tag}"]  # fmt: skip
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _names_of(base: Path, written: set[str]) -> list[str]:
    """Gives the files of the base that go along: those of the folder and of its modules, but weights and card."""
    modules = _work_modules(base)
    found = []
    for folder in ["", *modules]:
        place = base / folder
        if not place.is_dir():  # a module without files of its own (unit length) may have none
            continue
        for entry in sorted(place.iterdir()):
            name = PurePosixPath(folder, entry.name).as_posix()
            if entry.is_file() and name not in written and _KEPT.fullmatch(entry.name) and name not in _NOT_KEPT:
                found.append(name)
            elif folder and entry.name == _work.WEIGHTS and name not in written:
                found.append(name)  # of a module that has none of its own to train
    return found


def _work_modules(base: Path) -> list[str]:
    try:
        entries = json.loads((base / "modules.json").read_text("utf-8"))
        folders = [str(entry["path"]) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError):
        return ["1_Pooling"]
    # What a folder names must lie in it.
    return [name for name in folders if name and not PurePosixPath(name).is_absolute() and ".." not in name]


def _copy(source: Path, target: Path) -> None:
    """Copies what a file holds; its modes are those of a new file, not those of the source (often 0600)."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _say_precision(config: Path) -> None:
    """Says that the weights are float32 where the base's were stored otherwise."""
    found = json.loads(config.read_text("utf-8"))
    stated = [name for name in ("dtype", "torch_dtype") if found.get(name) not in (None, "float32")]
    if stated:
        for name in stated:
            found[name] = "float32"
        config.write_text(json.dumps(found, indent=2) + "\n", "utf-8")


def _say_prompts(config: Path, prompts: tuple[str, str]) -> None:
    """Writes the prompts down where the base is known to want them by its name alone, which the new one lost."""
    if not any(prompts):
        return
    try:
        found = json.loads(config.read_text("utf-8"))
    except (OSError, ValueError):
        found = {}
    stated = found.get("prompts")
    stated = stated if isinstance(stated, dict) else {}
    if not any(stated.values()):
        found["prompts"] = {**stated, "query": prompts[0], "document": prompts[1]}
        config.write_text(json.dumps(found, indent=2) + "\n", "utf-8")


def _sync_all(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        _work.sync(path)
    _work.sync(folder)
