"""The models of this machine: list, add, use, remove, verify."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sbert_desktop.app.session import Session
from sbert_desktop.app.views import ModelView
from sbert_desktop.domain import JobContext
from sbert_desktop.errors import EncoderError, UsageError

if TYPE_CHECKING:
    from sbert_desktop.encoder.models import ModelFacts

ENCODER = "models.encoder"
CROSS_ENCODER = "models.cross_encoder"
_GOOD = "All files are as published."
_SEALED = "All files are as they were when it was added."


@dataclass(frozen=True, slots=True)
class _Stamp:
    """What tells that the files of a folder are those that were hashed before."""

    files: tuple[tuple[str, int, int], ...]

    @property
    def size(self) -> int:
        return sum(size for _, size, _ in self.files)


_described: dict[Path, tuple[_Stamp, ModelFacts | EncoderError]] = {}


def list_models(session: Session, *, verify: bool = False) -> tuple[ModelView, ...]:
    """Lists all models, the bundled one first; with ``verify`` every file is hashed and compared with its record."""
    from sbert_desktop.encoder.models import default_model_dir
    from sbert_desktop.encoder.store import list_models as folders

    bundled = default_model_dir()
    return tuple(_view(session, folder, bundled=folder == bundled, verify=verify) for folder in folders())


def add_model(
    session: Session, source: str, context: JobContext, *, hub: bool | None = None, again: str = ""
) -> tuple[ModelView, ...]:
    """Adds a model from a folder, or from the hub by its name: call it for a name only on the person's wish.

    ``hub`` says which of them the source is; None: a folder if there is one. ``again``: name of the model that this
    takes the place of, for one whose files changed.
    The first cross-encoder comes into use at once; an encoder does not, for it would read the library anew.

    Raises:
        UsageError: ``no-model`` for an empty source.
        EncoderError: See :func:`sbert_desktop.encoder.store.add_model`.
        Cancelled: From ``context.check()``; of a download what arrived is kept for a day.
    """
    from sbert_desktop.encoder.models import CROSS_ENCODER as SCORES
    from sbert_desktop.encoder.store import add_model as add

    if not source.strip():
        raise UsageError("no-model", "No model is named.", "Name a folder, or a model on the hub.")
    facts = add(source.strip(), session.launch, context, hub=hub, again=again)
    if facts.kind == SCORES and not session.settings.text(CROSS_ENCODER):
        session.settings.set(CROSS_ENCODER, facts.name)
        session.second_stage.forget()
    elif again and facts.kind == SCORES:
        session.second_stage.forget()
    elif again and facts.name == session.models.name():
        session.change_encoder()  # what was refused, or open still, is opened anew
    return list_models(session)


def changes_encoder(session: Session, name: str) -> bool:
    """Says whether using a model would have the library come to another encoder; False for what is refused.

    Ask before :func:`use_model`: an indexing run should step aside, and go on after it.
    """
    from sbert_desktop.encoder.models import default_model_dir
    from sbert_desktop.encoder.store import find_model

    try:
        folder = find_model(name)
    except EncoderError:
        return False
    facts = _describe(folder, _stamp(folder))
    own = "" if folder == default_model_dir() else folder.name
    if isinstance(facts, EncoderError) or facts.kind != "encoder":
        return False
    return own != (session.models.name() if _wanted(session) is None else _wanted(session))


def use_model(session: Session, name: str) -> tuple[ModelView, ...]:
    """Has the library come to an encoder (see :func:`sbert_desktop.app.spaces.adopt`), or uses a cross-encoder at once.

    It is checked first. The encoder in use serves until the next indexing run has prepared the other one's space.

    Raises:
        EncoderError: ``model-missing``, ``model-refused`` or ``model-unsupported``; nothing changes then.
        LibraryError: ``disk-full``, ``library-readonly``, ``library-busy``.
    """
    from sbert_desktop.encoder.models import CROSS_ENCODER as SCORES
    from sbert_desktop.encoder.models import check_model, default_model_dir, describe
    from sbert_desktop.encoder.store import find_model

    folder = find_model(name)
    facts = describe(folder)
    check_model(facts)
    if facts.kind == SCORES:
        session.settings.set(CROSS_ENCODER, facts.name)
        session.second_stage.forget()
    else:
        from sbert_desktop.app.spaces import come_to

        come_to(session, "" if folder == default_model_dir() else folder.name)
    return list_models(session)


def remove_model(session: Session, name: str) -> tuple[ModelView, ...]:
    """Removes the files of a model that was added; a cross-encoder in use goes out of use first, and that is said.

    Raises:
        EncoderError: ``model-missing``, ``model-bundled``, ``model-in-use`` or ``model-not-removed``.
    """
    from sbert_desktop.app.spaces import kept_model_names
    from sbert_desktop.encoder.store import find_model
    from sbert_desktop.encoder.store import remove_model as remove

    folder = find_model(name)
    if folder.name in kept_model_names(session) and folder.name != session.models.name():
        raise EncoderError(
            "model-in-use",
            f"The library keeps, or prepares, the vectors of {name}, which only this model can search.",
            "Remove its space first, then the model.",
        )
    if session.settings.text(CROSS_ENCODER) == folder.name:
        session.settings.reset(CROSS_ENCODER)
        session.second_stage.forget()
        session.notice(f"{folder.name} read the first hits a second time; search goes on without it.")
    remove(name, in_use=lambda chosen: chosen.name in {session.settings.text(ENCODER), session.models.name()})
    return list_models(session)


def multilingual(session: Session) -> tuple[str, ...]:
    """Gives the names of added encoders that read more than one language, so that they can be offered."""
    return tuple(view.name for view in list_models(session)
                 if view.kind == "encoder" and view.state == "ready" and len(view.languages) > 1)


def _view(session: Session, folder: Path, *, bundled: bool, verify: bool) -> ModelView:
    from sbert_desktop.encoder.cards import read_card
    from sbert_desktop.encoder.models import fingerprint, name_of
    from sbert_desktop.encoder.store import verify as check

    stamp = _stamp(folder)
    name = name_of(folder)
    facts = _describe(folder, stamp)
    card = read_card(folder)
    problems = check(folder) if verify else []
    note = (_GOOD if bundled else _SEALED) if verify else ""
    if isinstance(facts, EncoderError):
        return ModelView(name, folder, 0, 0, "", "", _in_use(session, name, "encoder", bundled=bundled),
                         size=stamp.size, state="refused", note=" ".join(problems) or facts.message, bundled=bundled,
                         licence=card.licence, base=card.base, source=card.source, added=card.added)
    active = _in_use(session, name, facts.kind, bundled=bundled)
    view = ModelView(
        name=name, path=folder, dimension=facts.dimension, max_tokens=facts.max_tokens, pooling=facts.pooling,
        sha256=facts.weights_sha256, active=active, fingerprint=fingerprint(facts), size=stamp.size,
        note=note, languages=facts.languages, kind=facts.kind, bundled=bundled, licence=card.licence,
        prompts=tuple(sorted(facts.prompts.items())), base=card.base, source=card.source, added=card.added,
    )
    if problems:
        return replace(view, state="refused", note=" ".join(problems))
    if facts.kind == "encoder" and not note and _wanted(session) == ("" if bundled else name):
        return replace(view, note="Being prepared: the model in use serves until it has read the library.")
    if active and facts.kind == "encoder":
        state, line = session.encoder_state()
        encoder = session.ready_encoder()
        said = "; ".join(encoder.info.notices) if encoder is not None else line
        return replace(view, state="refused" if state == "failed" else state, note=note or said)
    return view


def _in_use(session: Session, name: str, kind: str, *, bundled: bool) -> bool:
    chosen = session.models.name() if kind == "encoder" else session.settings.text(CROSS_ENCODER)
    return name == chosen or (bundled and not chosen and kind == "encoder")


def _wanted(session: Session) -> str | None:
    """Gives the model whose space is to be prepared, as the settings would name it; None where there is none."""
    if session.active_space() is None:
        return None
    wanted = session.library.wanted_space()
    return wanted.model if wanted is not None else None


def dimension_of(model: str) -> int:
    """Gives the dimension of an encoder's vectors; ``model`` as the settings name it."""
    from sbert_desktop.encoder.store import find_model

    folder = find_model(model)
    facts = _describe(folder, _stamp(folder))
    return 0 if isinstance(facts, EncoderError) else facts.dimension


def _stamp(folder: Path) -> _Stamp:
    found = []
    for entry in sorted(folder.rglob("*")):
        try:
            status = entry.stat()
        except OSError:
            continue
        if entry.is_file():
            found.append((entry.relative_to(folder).as_posix(), status.st_size, status.st_mtime_ns))
    return _Stamp(tuple(found))


def _describe(folder: Path, stamp: _Stamp) -> ModelFacts | EncoderError:
    """Gives the facts, or why it is refused; hashed again only when a file changed (half a second a gigabyte)."""
    from sbert_desktop.encoder.models import describe

    known = _described.get(folder)
    if known is not None and known[0] == stamp:
        return known[1]
    try:
        facts: ModelFacts | EncoderError = describe(folder)
    except EncoderError as error:
        facts = error
    _described[folder] = (stamp, facts)
    return facts
