"""Hits as text that leaves the window: on the clipboard, and as a citation."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QGuiApplication

from sbert_desktop.app.views import DocumentView, HitView
from sbert_desktop.domain import display_path
from sbert_desktop.ui.naming import member_words
from sbert_desktop.ui.search.model import date_text, title_of
from sbert_desktop.ui.search.text import collapse


def put_on_clipboard(text: str) -> None:
    """Puts plain text on the clipboard; a path that is not UTF-8 arrives with U+FFFD."""
    QGuiApplication.clipboard().setText(text.encode("utf-8", "replace").decode("utf-8"))


def short_text(text: str, limit: int = 60) -> str:
    """Gives the beginning of a text on one line."""
    flat, _ = collapse(text)
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def citation(document: DocumentView, hit: HitView) -> str:
    """Gives a passage with where it stands: title, date, page, its words, and the file."""
    where = hit.location or (f"p. {hit.page}" if hit.page is not None else "")
    head = ", ".join(piece for piece in (title_of(document), date_text(document.date), collapse(where)[0]) if piece)
    member = f" ({member_words(hit.member)})" if hit.member else ""
    return f"“{collapse(hit.text)[0]}”\n{head}\n{display_path(document.path)}{member}"


def citations(chosen: Iterable[tuple[DocumentView, HitView]]) -> str:
    """Gives several citations, an empty line between them."""
    return "\n\n".join(citation(document, hit) for document, hit in chosen)
