"""The spaces of a library: which models' vectors it holds, which serve, which are prepared or kept."""

from __future__ import annotations

from sbert_desktop.app.embedding import WORDS_ONLY
from sbert_desktop.app.session import Session
from sbert_desktop.app.training_views import SpaceView
from sbert_desktop.errors import EncoderError, LibraryError, UsageError


def list_spaces(session: Session) -> tuple[SpaceView, ...]:
    """Lists the spaces of the library: the one in use first, then the one being built, then those that are kept."""
    views = []
    for record in session.library.measured_spaces():
        state = {"active": "in use"}.get(record.state, "kept")
        if record.fingerprint == WORDS_ONLY.fingerprint:
            state = "words only"
        views.append(
            SpaceView(record.fingerprint, record.name, state, record.bytes, record.passages, record.of,
                      _installed(record.name))
        )  # fmt: skip
    order = {"in use": 0, "words only": 1, "building": 2}
    return tuple(sorted(views, key=lambda view: order.get(view.state, 3)))


def adopt(session: Session, model_name: str) -> tuple[SpaceView, ...]:
    """Has the library come to a model: its space is prepared in the background, the one in use serves until then."""
    from sbert_desktop.app.models import use_model

    use_model(session, model_name)
    return list_spaces(session)


def roll_back(session: Session, fingerprint: str) -> tuple[SpaceView, ...]:
    """Goes back to a kept space, at once.

    Raises:
        UsageError: ``space-unknown``.
    """
    return adopt(session, _find(session, fingerprint).name)


def remove_space(session: Session, fingerprint: str) -> tuple[SpaceView, ...]:
    """Removes a kept space, or gives up the one being built.

    Raises:
        UsageError: ``space-unknown`` or ``space-in-use``.
    """
    view = _find(session, fingerprint)
    if view.state == "in use":
        raise UsageError("space-in-use", f"{view.name} is in use.", "Go back to another model first.")
    raise LibraryError("space-not-removed", f"The space of {view.name} cannot be removed yet.", "")


def kept_model_names(session: Session) -> frozenset[str]:
    """Gives the names of the models that a space of the library needs, in use or kept."""
    return frozenset(view.model for view in list_spaces(session) if view.model)


def _find(session: Session, fingerprint: str) -> SpaceView:
    for view in list_spaces(session):
        if view.fingerprint == fingerprint:
            return view
    raise UsageError("space-unknown", "The library has no such space.", "List them again.")


def _installed(name: str) -> str:
    from sbert_desktop.encoder.store import find_model

    try:
        find_model(name)
    except EncoderError:
        return ""
    return name
