"""Prepares what the preview shows: a page picture for PDFs and pictures, the stored text for everything else.

The picture is rendered in a child: an untrusted file never enters the window's process. Text comes
from the library, so a preview works while a drive is away.
"""

from __future__ import annotations

import os
import re
import stat
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path

from sbert_desktop.app.session import Session
from sbert_desktop.app.views import HitView, PreviewPage, PreviewText, PreviewView, Span
from sbert_desktop.domain import ContentId, ExtractedText, Run
from sbert_desktop.errors import JobError

_WINDOW = 60_000
"""Characters of a long document that are shown around the passage."""
_DRAWN = ("pdf", "picture")
_PART = re.compile(r"(?:^|/)part \d{1,6}$")
"""A part of a very long text is drawn as a page of the file that it is a part of."""

_CACHED_BYTES = 96 * 1024 * 1024
"""Page pictures that are kept: some forty at the usual width, two or three at the largest zoom."""

Rect = tuple[float, float, float, float]


class PageCache:
    """The page pictures shown last, so that turning back, and zooming back, shows them at once. Any thread."""

    def __init__(self, most: int = _CACHED_BYTES) -> None:
        self._most = most
        self._held = 0
        self._pages: OrderedDict[Hashable, PreviewPage] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> PreviewPage | None:
        """Gives what was kept under a key."""
        with self._lock:
            found = self._pages.get(key)
            if found is not None:
                self._pages.move_to_end(key)
            return found

    def keep(self, key: Hashable, page: PreviewPage) -> None:
        """Keeps a picture; those that were not shown for longest make way."""
        with self._lock:
            old = self._pages.pop(key, None)
            self._held += len(page.rgb) - (len(old.rgb) if old is not None else 0)
            self._pages[key] = page
            while self._held > self._most:
                self._held -= len(self._pages.popitem(last=False)[1].rgb)


def run_preview(
    session: Session,
    hit: HitView,
    *,
    page: int | None = None,
    width: int = 704,
    cache: PageCache | None = None,
    as_text: bool = False,
) -> PreviewView:
    """Prepares the preview of a hit.

    Args:
        session: The opened library.
        hit: What was found; its path (and member) is used for PDFs and pictures.
        page: 1-based page to show instead of the hit's own.
        width: Pixels across the page picture.
        cache: Keeps the pictures; a file that changed is drawn anew.
        as_text: Show the stored text of what would be drawn as a page, to read and copy.

    A file that is gone, or whose page cannot be drawn, is shown as its stored text with a note that says why.
    """
    text = session.library.text_of(ContentId(hit.content_id))
    note = _why_away(hit)
    if text.format in _DRAWN and not note and not as_text:
        try:
            chosen = page or hit.page or _first_page(text, hit)
            return _cached_page(session, hit, text, chosen, max(64, min(4096, width)), cache)
        except (JobError, OSError) as error:
            message = error.message if isinstance(error, JobError) else "the file cannot be reached."
            note = _why_away(hit) or f"The page cannot be shown: {message}"
    return _text(hit, text, note)


def _why_away(hit: HitView) -> str:
    """Says in one line that the file is not there, or that it is not the one that was read; ``""`` if all is well."""
    try:
        status = os.stat(hit.path)
    except FileNotFoundError:
        return "The file is not there now. This is the text that was read from it."
    except (OSError, ValueError):
        return "The file cannot be reached now. This is the text that was read from it."
    if not stat.S_ISREG(status.st_mode):
        return "In the file's place is something else now. This is the text that was read from it."
    return ""


def runs_on_page(text: ExtractedText, span: Span, page: int) -> list[Span]:
    """Gives the character ranges of one PDF page (start, length) that a span of the text covers."""
    return [
        (run.char_start + low - run.text_start, high - low)
        for run, low, high in _runs(text, span)
        if run.page == page and run.box is None
    ]


def boxes_on_page(text: ExtractedText, span: Span, page: int) -> list[Rect]:
    """Gives the boxes of the recognised words of one page that a span of the text covers, as fractions of the page."""
    return [run.box for run, _, _ in _runs(text, span) if run.page == page and run.box is not None]


def _runs(text: ExtractedText, span: Span) -> Iterable[tuple[Run, int, int]]:
    """Gives the runs that a span touches, each with the stretch of the text that both share."""
    start, end = span
    for block in text.blocks:
        if block.end <= start or block.start >= end:
            continue
        for run in block.runs:
            low, high = max(start, run.text_start), min(end, run.text_start + run.length)
            if low < high:
                yield run, low, high


def _first_page(text: ExtractedText, hit: HitView) -> int:
    return next((run.page for run, _, _ in _runs(text, (hit.start, hit.end))), 1)


def _cached_page(
    session: Session, hit: HitView, text: ExtractedText, page: int, width: int, cache: PageCache | None
) -> PreviewPage:
    if cache is None:
        return _page(session, hit, text, page, width)
    status = os.stat(hit.path)
    key = (
        os.fsencode(hit.path), hit.member, status.st_size, status.st_mtime_ns, hit.content_id, hit.start, hit.end,
        hit.best_sentence, page, width,
    )  # fmt: skip
    found = cache.find(key)
    if found is None:
        found = _page(session, hit, text, page, width)
        cache.keep(key, found)
    return found


def _page(session: Session, hit: HitView, text: ExtractedText, page: int, width: int) -> PreviewPage:
    marks = {"passage": [(hit.start, hit.end)]}
    if hit.best_sentence is not None:
        marks["sentence"] = [(hit.start + hit.best_sentence[0], hit.start + hit.best_sentence[1])]
    return draw_page(session, hit.path, hit.member, text, page, width, marks)


def draw_page(
    session: Session,
    path: Path,
    member: str,
    text: ExtractedText,
    page: int,
    width: int,
    marks: Mapping[str, Sequence[Span]],
) -> PreviewPage:
    """Draws a page of a file, or a picture, with stretches of its text marked.

    Args:
        session: The opened library.
        path: The file.
        member: Inside it, ``""`` for the file itself.
        text: What was read from it.
        page: 1-based.
        width: Pixels across.
        marks: ``passage`` and ``sentence``: code points of the text.

    Raises:
        JobError: It cannot be drawn.
    """
    reply, rgb = session.render(
        {
            "op": "render",
            "path": os.fsencode(path).hex(),
            "member": _PART.sub("", member),
            "page": page,
            "width": width,
            "ranges": {name: [run for span in spans for run in runs_on_page(text, span, page)]
                       for name, spans in marks.items()},
            "boxes": {name: [box for span in spans for box in boxes_on_page(text, span, page)]
                      for name, spans in marks.items()},
        }
    )  # fmt: skip
    rects = reply["rects"]
    assert isinstance(rects, dict)
    return PreviewPage(
        path=path,
        title=text.title,
        page=_number(reply["page"]),
        pages=_number(reply["pages"]),
        width=_number(reply["width"]),
        height=_number(reply["height"]),
        rgb=rgb,
        passage=_rects(rects.get("passage", [])),
        sentence=_rects(rects.get("sentence", [])),
    )


def _text(hit: HitView, text: ExtractedText, note: str) -> PreviewText:
    whole = text.text
    start = max(0, min(hit.start - _WINDOW // 2, len(whole) - _WINDOW))
    stop = min(len(whole), start + _WINDOW)
    sentence = hit.best_sentence
    return PreviewText(
        path=hit.path,
        title=text.title,
        format=text.format,
        text=whole[start:stop],
        offset=start,
        passage=(hit.start - start, hit.end - start),
        sentence=(hit.start + sentence[0] - start, hit.start + sentence[1] - start) if sentence else None,
        words=tuple((hit.start + a - start, hit.start + b - start) for a, b in hit.words),
        truncated=stop - start < len(whole),
        note=note,
    )


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def _rects(value: Sequence[Sequence[float]]) -> tuple[Rect, ...]:
    return tuple((float(x), float(y), float(w), float(h)) for x, y, w, h in value)
