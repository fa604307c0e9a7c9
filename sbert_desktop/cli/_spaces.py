"""``models spaces``, ``models back`` and ``models forget-space``."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING

from sbert_desktop.cli import _output as output
from sbert_desktop.cli._opening import as_json as _json
from sbert_desktop.cli._opening import session as _session
from sbert_desktop.errors import LibraryError, UsageError

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.app.training_views import SpaceView

ACTIONS = frozenset({"spaces", "back", "forget-space"})


def spaces(options: argparse.Namespace) -> int:
    """Lists the spaces of the library, goes back to one that is kept, or removes one."""
    from sbert_desktop.app.spaces import list_spaces, remove_space, roll_back

    with _session(options) as session:
        listed = list_spaces(session)
        if options.action == "back":
            listed = roll_back(session, _named(listed, options.name).fingerprint)
            if session.library.wanted_space() is None:
                later = " Run 'sbert-desktop index' to add what came meanwhile." if _lacks(session) else ""
                output.say(f"{listed[0].name} is searched again.{later}")
            say_what_follows(session)
        elif options.action == "forget-space":
            listed = remove_space(session, _named(listed, options.name).fingerprint)
        if _json(options):
            output.emit({"spaces": [dataclasses.asdict(view) for view in listed]})
            return 0
        for view in listed:
            _print(view)
        if not listed:
            output.line("The library holds no vectors yet.")
        return 0


def _named(listed: tuple[SpaceView, ...], name: str) -> SpaceView:
    """Gives the space of that model, or with that fingerprint or a part of it.

    Raises:
        UsageError: ``space-unknown`` or ``space-ambiguous``.
    """
    found = [view for view in listed if view.fingerprint == name] or [view for view in listed if view.name == name]
    found = found or [view for view in listed if len(name) >= 4 and view.fingerprint.startswith(name)]
    if not found:
        known = ", ".join(view.name for view in listed) or "none"
        raise UsageError("space-unknown", f"The library has no space of {name}.", f"Its spaces: {known}.")
    if len(found) > 1:
        prints = ", ".join(view.fingerprint for view in found)
        raise UsageError("space-ambiguous", f"{len(found)} spaces are called {name}.", f"Name one by: {prints}.")
    return found[0]


def _lacks(session: Session) -> bool:
    """Says whether documents have no vectors in the space in use, or are not cut for it."""
    active = [space for space in session.library.measured_spaces() if space.state == "active"]
    return any(space.uncut or space.passages < space.of for space in active)


def _print(view: SpaceView) -> None:
    mark = "*" if view.state == "in use" else " "
    output.line(
        f"{mark} {view.name}  {view.state}, {view.passages:,} of {view.of:,} passages, {output.size_text(view.bytes)}"
    )
    missing = "" if view.model or view.state == "words only" else "; its model is not installed"
    output.line(f"    {view.fingerprint}{missing}")


def line(session: Session) -> str:
    """Gives what tells one state of the spaces from another: the one that is wanted, and the one in use."""
    space = session.active_space()
    if space is None:
        return ""
    wanted = session.library.wanted_space()
    return f"{space.fingerprint} {wanted.fingerprint if wanted is not None else ''}"


def say_what_follows(session: Session) -> None:
    """Says what 'index' is for after another model was chosen."""
    try:
        space = session.library.active_space() if session.active_space() is not None else None
    except LibraryError:
        return
    if space is None:
        return
    wanted = session.library.wanted_space()
    if wanted is not None:
        output.say(
            f"Run 'sbert-desktop index' to have the library read by this model; till then {space.name} is searched."
        )
    elif session.expected_fingerprint() not in ("", space.fingerprint):
        output.say("Run 'sbert-desktop index' to bring the library to this model; till then words are searched.")
