"""The spaces of a library: which models' vectors it holds, which serve, which are prepared or kept.

See docs/adr/0020-adopting.md.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sbert_desktop.app.embedding import WORDS_ONLY, cutter_of
from sbert_desktop.app.session import Session
from sbert_desktop.app.training_views import SpaceView
from sbert_desktop.domain import short_path
from sbert_desktop.errors import EncoderError, LibraryBusy, LibraryError, UsageError

if TYPE_CHECKING:
    from sbert_desktop.library import SpaceRecord

ENCODER = "models.encoder"
NEARLY_ALL = 0.9
"""Share of the passages that a kept space has to hold to serve at once when its model is chosen."""
HALF = 0.5
"""Share that the space in use has to hold to be worth waiting with; below, the chosen model takes over at once."""
_BYTES = 4
_WITH_INDEX = 2.2
"""Vectors with their accelerator against the vectors alone. Source: DESIGN section 10 (168 MB to 154 MB)."""
_WAIT_SECONDS = 30.0


def list_spaces(session: Session) -> tuple[SpaceView, ...]:
    """Lists the spaces of the library: the one in use first, then the one being built, then those that are kept."""
    library = session.library
    records, wanted = library.measured_spaces(), library.wanted_space()
    views = [_view(record, wanted.fingerprint if wanted is not None else "") for record in records]
    if wanted is not None and all(view.fingerprint != wanted.fingerprint for view in views):
        name = wanted.model or _bundled()
        total = max((record.of for record in records if record.state == "active"), default=0)
        views.append(SpaceView(wanted.fingerprint, name, "building", 0, 0, total, _installed(name)))
    order = {"in use": 0, "words only": 1, "building": 2}
    return tuple(sorted(views, key=lambda view: order.get(view.state, 3)))


def adopt(session: Session, model_name: str) -> tuple[SpaceView, ...]:
    """Has the library come to a model; a cross-encoder is in use at once.

    The next indexing run prepares the model's space while the one in use serves; then it takes over. At once it does
    so where there is nothing to serve meanwhile (see :data:`HALF`), or where its space is kept and complete. The
    model in use itself: what is being prepared is given up, and kept.

    Raises:
        EncoderError: ``model-missing``, ``model-refused`` or ``model-unsupported``; nothing changes then.
        LibraryError: ``disk-full``, ``library-readonly``, ``library-busy``.
    """
    from sbert_desktop.app.models import use_model

    use_model(session, model_name)
    return list_spaces(session)


def come_to(session: Session, model: str) -> None:
    """What :func:`adopt` does for an encoder that was checked; ``model`` as the settings name it."""
    session.follow_space()  # another process may have switched: what is chosen is chosen instead of that one
    active = session.active_space()
    if active is None:
        _choose(session, model)
        return
    library = session.library
    fingerprint = session.models.fingerprint_of(model)
    serves = active.fingerprint == session.expected_fingerprint()
    if not serves or fingerprint == active.fingerprint:
        if library.wanted_space() is not None:
            library.want_space(None)
        _choose(session, model)
        return
    records = {record.fingerprint: record for record in library.measured_spaces()}
    held = records[active.fingerprint]
    if held.passages < HALF * held.of or not held.passages:
        _take_over_at_once(session, model)
        return
    kept = records.get(fingerprint)
    if kept is not None and _is_nearly_whole(kept, library.counts().documents) and _activate(session, kept, model):
        return
    _need_room(session, model, held)
    from sbert_desktop.library import WantedSpace

    library.want_space(WantedSpace(model, fingerprint))


def roll_back(session: Session, fingerprint: str) -> tuple[SpaceView, ...]:
    """Goes back to a kept space, at once: it answers as it did; the next indexing run adds what came meanwhile.

    One that was never complete, or lost all its vectors with their file, is prepared further instead.

    Raises:
        UsageError: ``space-unknown``, ``space-words-only``.
        EncoderError: ``model-missing`` when its model is not installed, or not with the same files; ``model-failed``.
        LibraryError: ``library-readonly``; ``library-busy`` when another program writes for long.
    """
    from sbert_desktop.library import WantedSpace

    wanted = session.library.wanted_space()
    known = {record.fingerprint for record in session.library.spaces()}
    if wanted is not None and wanted.fingerprint == fingerprint and fingerprint not in known:
        return list_spaces(session)  # it is on its way, and was not begun yet
    record = _find(session, fingerprint)
    if record.fingerprint == WORDS_ONLY.fingerprint:
        raise UsageError("space-words-only", "This space has no model.", "Choose a model.")
    model = "" if record.name == _bundled() else record.name
    if session.models.fingerprint_of(model) != fingerprint:
        raise EncoderError(
            "model-missing",
            f"The model {record.name}, which made this space, is not here as it was then.",
            "Add it again under Models, then go back.",
        )
    if record.state == "part":
        return adopt(session, record.name)
    if record.state != "active":
        if not _activate(session, record, model):
            session.library.want_space(WantedSpace(model, fingerprint))
    elif session.library.wanted_space() is not None:
        session.library.want_space(None)
    return list_spaces(session)


def remove_space(session: Session, fingerprint: str) -> tuple[SpaceView, ...]:
    """Removes a kept space, or gives up the one being built; the documents and the model stay.

    Raises:
        UsageError: ``space-unknown``.
        LibraryError: ``space-in-use``, ``library-readonly``, ``library-busy``.
    """
    library = session.library
    wanted = library.wanted_space()
    if wanted is not None and wanted.fingerprint == fingerprint:
        library.want_space(None)
        if all(record.fingerprint != fingerprint for record in library.spaces()):
            return list_spaces(session)  # it was not begun
    record = _find(session, fingerprint)
    if record.state == "active":
        raise LibraryError("space-in-use", f"The space of {record.name} is in use.", "Go back to another one first.")
    with library.writer(check=_patience()) as writer:
        writer.drop_space(fingerprint)
    return list_spaces(session)


def kept_model_names(session: Session) -> frozenset[str]:
    """Gives the names of the models without which a space of the library could not be searched or finished."""
    if session.active_space() is None:
        return frozenset()
    library = session.library
    names = {record.name for record in library.spaces() if record.state != "part"}
    wanted = library.wanted_space()
    if wanted is not None:
        names.add(wanted.model or _bundled())
    return frozenset(names - {WORDS_ONLY.name})


def kept_whole(session: Session) -> frozenset[str]:
    """Gives the names of the models whose kept spaces serve at once when their model is chosen."""
    documents = session.library.counts().documents
    return frozenset(record.name for record in session.library.measured_spaces() if _is_nearly_whole(record, documents))


def _is_nearly_whole(kept: SpaceRecord, documents: int) -> bool:
    """Says whether a space that was in use once can serve at once."""
    enough = kept.passages >= max(1, NEARLY_ALL * kept.of) and kept.uncut <= (1 - NEARLY_ALL) * documents
    return kept.state == "inactive" and enough


def _choose(session: Session, model: str) -> None:
    """Puts the model in force that the settings are to name: no space stands against it."""
    before = session.models.name()
    _remember(session, model)
    if before != model:
        session.change_encoder()


def _take_over_at_once(session: Session, model: str) -> None:
    """Makes the space of a model the active one though it is empty: the one in use holds little."""
    encoder = session.models.open(model)
    try:
        with session.library.writer(check=_patience()) as writer:

            def change() -> bool:
                cutter_of(session, encoder).use(writer)
                return True

            taken = session.take_over(encoder, change)
    except BaseException:
        encoder.close()
        raise
    if not taken:
        encoder.close()
        return
    session.library.want_space(None)
    _remember(session, model)


def _activate(session: Session, record: SpaceRecord, model: str) -> bool:
    """Makes a kept space the active one, and its encoder the one in force at the same moment.

    False, and nothing changes, where it holds nothing though the one in use does: its file is gone.
    """
    library = session.library
    # A command only notes it: nobody asks this session, and the next one opens the right encoder.
    encoder = session.models.open(model) if session.ready_encoder() is not None else None
    taken = False
    try:
        with library.writer(check=_patience()) as writer:
            active = library.active_space()
            if active is not None and library.held(active.fingerprint) and not library.held(record.fingerprint):
                return False  # whoever takes the lock looks whether the files are there
            if encoder is None:
                writer.activate(record.fingerprint)
                session.change_encoder()
            else:
                taken = session.take_over(encoder, lambda: writer.activate(record.fingerprint))
    finally:
        if encoder is not None and not taken:
            encoder.close()
    _remember(session, model)
    return True


def _remember(session: Session, model: str) -> None:
    """Names the model in the settings: a new library begins with it. This one has it in its catalog."""
    if session.settings.text(ENCODER) == model:
        return
    try:
        session.settings.set(ENCODER, model)
    except OSError as error:
        session.notice(f"The settings could not be written ({error.strerror or error}); the next start may not know"
                       f" that {model or _bundled()} was chosen.")  # fmt: skip


def _patience() -> _Patience:
    return _Patience(time.monotonic() + _WAIT_SECONDS)


class _Patience:
    """Waits for another writer for a while."""

    def __init__(self, end: float) -> None:
        self._end = end

    def __call__(self) -> None:
        if time.monotonic() > self._end:
            raise LibraryBusy(
                "library-busy", "Another program is writing to the library.", "Try again when it has finished."
            )


def _need_room(session: Session, model: str, held: SpaceRecord) -> None:
    """Makes sure that the new space has room beside the old one.

    Raises:
        LibraryError: ``disk-full``.
    """
    from sbert_desktop.app.models import dimension_of

    wanted = int(held.of * dimension_of(model) * _BYTES * _WITH_INDEX)
    room = session.library.room()
    if room < wanted:
        raise LibraryError(
            "disk-full",
            f"The vectors of {model or _bundled()} need about {_size(wanted)} beside those in use; the disk that holds"
            f" the library {short_path(session.library_path)} has {_size(max(0, room))} to spare.",
            "Remove a space that is kept, or make room on that disk.",
        )


def _size(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{max(1, round(count / 1e6)):,} MB"


def _view(record: SpaceRecord, wanted: str) -> SpaceView:
    state = "in use" if record.state == "active" else "building" if record.fingerprint == wanted else "kept"
    if record.fingerprint == WORDS_ONLY.fingerprint:
        state = "words only"
    return SpaceView(
        record.fingerprint, record.name, state, record.bytes, record.passages, record.of, _installed(record.name)
    )


def _find(session: Session, fingerprint: str) -> SpaceRecord:
    for record in session.library.spaces():
        if record.fingerprint == fingerprint:
            return record
    raise UsageError("space-unknown", "The library has no such space.", "List them again.")


def _installed(name: str) -> str:
    from sbert_desktop.encoder.store import find_model

    try:
        find_model(name)
    except EncoderError:
        return ""
    return name


def _bundled() -> str:
    from sbert_desktop.encoder.models import BUNDLED_NAME

    return BUNDLED_NAME
