"""What the person made comes back from a daily copy: judgements, collections, saved searches, captions."""

from __future__ import annotations

import datetime
from pathlib import Path

from sbert_desktop.app.session import Session
from sbert_desktop.app.views import KeptView
from sbert_desktop.domain import display_path
from sbert_desktop.errors import LibraryError, UsageError


def newest_with_more(session: Session) -> KeptView | None:
    """Gives the newest copy of this library that holds something the library does not; None where none does.

    Takes the library's catalog for a moment per copy, of which there are at most fourteen.
    """
    if session.library.read_only:
        return None
    return _newest(session, session.library.kept_copies())


def restore(session: Session, source: Path | None = None) -> KeptView:
    """Adds what a copy holds and the library does not; what is there stays as it is. Harmless to do twice.

    Args:
        session: The opened library.
        source: A copy; or a folder with copies, also another library's: the newest that holds something more.
            None: of this library's own.

    Returns:
        What was brought back.

    Raises:
        UsageError: ``kept-missing`` when there is no copy.
        LibraryError: ``kept-unreadable``, ``kept-damaged``, ``library-readonly`` or ``library-busy``.
    """
    library = session.library
    if source is not None and not source.is_dir():
        return _view(source, library.import_kept(source))
    copies = copies_in(source or library.path)
    if not copies:
        raise UsageError(
            "kept-missing",
            f"There is no copy of judgements and collections in {display_path(source or library.path)}.",
            "Name a .jsonl file, or the folder of a library; copies lie in its folder “kept”.",
        )
    chosen = _newest(session, copies)
    return _view(copies[0], {}) if chosen is None else _view(chosen.path, library.import_kept(chosen.path))


def copies_in(folder: Path) -> tuple[Path, ...]:
    """Lists the copies in a library's folder, or in its folder ``kept``, newest first."""
    from sbert_desktop.library import kept_copies

    return kept_copies(folder)


def _newest(session: Session, copies: tuple[Path, ...]) -> KeptView | None:
    for path in copies:
        try:
            view = _view(path, session.library.missing_from(path))
        except LibraryError as error:
            if error.code not in {"kept-unreadable", "kept-damaged"}:
                raise
            continue  # an older one may be whole
        if view.total or view.later:
            return view
    return None


def _view(path: Path, counts: dict[str, int]) -> KeptView:
    try:
        day = datetime.date.fromisoformat(path.stem).isoformat()
    except ValueError:
        day = ""
    return KeptView(path=path, day=day, **counts)


def in_words(view: KeptView) -> str:
    """Gives what a copy brings: ``2 judgements, 1 collection``; ``nothing`` for nothing."""
    things = (
        ("judgement", view.judgements),
        ("collection", view.collections),
        ("collected passage", view.items),
        ("saved search", view.searches),
        ("caption", view.captions),
        ("cluster arrangement", view.arrangements),
    )
    return ", ".join(f"{count:,} {_many(name, count)}" for name, count in things if count) or "nothing"


def _many(name: str, count: int) -> str:
    return name if count == 1 else f"{name}es" if name.endswith("ch") else f"{name}s"
