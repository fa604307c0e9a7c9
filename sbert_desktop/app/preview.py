"""Prepares what the preview shows: a page picture for PDFs, the stored text for everything else.

The picture is rendered in a child: an untrusted PDF never enters the window's process. Text comes
from the library, so a preview works while a drive is away.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from sbert_desktop.app.session import Session
from sbert_desktop.app.views import HitView, PreviewPage, PreviewText, PreviewView, Span
from sbert_desktop.domain import ContentId, ExtractedText
from sbert_desktop.errors import JobError

_WINDOW = 60_000
"""Characters of a long document that are shown around the passage."""

Rect = tuple[float, float, float, float]


def run_preview(session: Session, hit: HitView, *, page: int | None = None, width: int = 704) -> PreviewView:
    """Prepares the preview of a hit.

    Args:
        session: The opened library.
        hit: What was found; its path is used for PDFs.
        page: 1-based page to show instead of the hit's own.
        width: Pixels across the page picture.
    """
    text = session.library.text_of(ContentId(hit.content_id))
    if text.format == "pdf" and hit.path.is_file():
        try:
            return _page(session, hit, text, page or hit.page or 1, max(64, min(4096, width)))
        except JobError:
            pass  # The text is still there to be shown; the file's own trouble is under Problems.
    return _text(hit, text)


def runs_on_page(text: ExtractedText, span: Span, page: int) -> list[Span]:
    """Gives the character ranges of one PDF page (start, length) that a span of the text covers."""
    start, end = span
    out = []
    for block in text.blocks:
        if block.end <= start or block.start >= end:
            continue
        for run in block.runs:
            low, high = max(start, run.text_start), min(end, run.text_start + run.length)
            if run.page == page and low < high:
                out.append((run.char_start + low - run.text_start, high - low))
    return out


def _page(session: Session, hit: HitView, text: ExtractedText, page: int, width: int) -> PreviewPage:
    passage = (hit.start, hit.end)
    groups = {"passage": runs_on_page(text, passage, page)}
    if hit.best_sentence is not None:
        sentence = (hit.start + hit.best_sentence[0], hit.start + hit.best_sentence[1])
        groups["sentence"] = runs_on_page(text, sentence, page)
    reply, rgb = session.render(
        {
            "op": "render",
            "path": os.fsencode(hit.path).hex(),
            "page": page,
            "width": width,
            "ranges": groups,
        }
    )
    rects = reply["rects"]
    assert isinstance(rects, dict)
    return PreviewPage(
        path=hit.path,
        title=text.title,
        page=_number(reply["page"]),
        pages=_number(reply["pages"]),
        width=_number(reply["width"]),
        height=_number(reply["height"]),
        rgb=rgb,
        passage=_rects(rects.get("passage", [])),
        sentence=_rects(rects.get("sentence", [])),
    )


def _text(hit: HitView, text: ExtractedText) -> PreviewText:
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
    )


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def _rects(value: Sequence[Sequence[float]]) -> tuple[Rect, ...]:
    return tuple((float(x), float(y), float(w), float(h)) for x, y, w, h in value)
