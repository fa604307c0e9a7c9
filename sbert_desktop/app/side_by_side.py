"""Two documents side by side: sentence by sentence, with the words marked that only one of them has."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

from sbert_desktop.app.diffing import Comparison, Document, Pages
from sbert_desktop.app.duplicate_views import ComparisonView, PagesView, Span
from sbert_desktop.app.preview import draw_page
from sbert_desktop.app.session import Session
from sbert_desktop.app.views import PreviewPage
from sbert_desktop.cleanup import Copy
from sbert_desktop.domain import ContentId, ExtractedText, JobContext, display_path
from sbert_desktop.errors import JobError, LibraryError

_DRAWN = frozenset({"pdf", "picture"})
_PAGE_MARKS = 200
_KEPT = 8


class _Aligned:
    """The last comparisons, for the pages that are drawn of them."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], tuple[list[Span], list[Span]]] = OrderedDict()

    def keep(self, key: tuple[int, int], marks: tuple[list[Span], list[Span]]) -> None:
        self._kept[key] = marks
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def get(self, key: tuple[int, int]) -> tuple[list[Span], list[Span]] | None:
        return self._kept.get(key)


_ALIGNED: WeakKeyDictionary[Session, _Aligned] = WeakKeyDictionary()


def run_compare(session: Session, left: Copy, right: Copy, context: JobContext) -> ComparisonView:
    """Compares two documents word by word, in rows that lie side by side.

    Of files without text only the facts are compared. A document that is gone meanwhile counts as without text.
    """
    a, b = _text(session, left), _text(session, right)
    facts = _facts(left, right, a, b)
    if a is None or b is None:
        same = bool(left.sha256) and left.sha256 == right.sha256
        note = "The files are identical." if same else "No text was read of these files; only facts can be compared."
        return ComparisonView(left, right, (), 0, facts, note=note)
    context.progress("Comparing", 0, None)
    one, other = Document(a), Document(b)
    context.check()
    comparison = Comparison(one, other, context.check)
    comparison.run()
    _ALIGNED.setdefault(session, _Aligned()).keep((left.content, right.content), comparison.marks)
    differing = sum(not row.same for row in comparison.rows)
    note = ""
    if not differing:
        identical = bool(left.sha256) and left.sha256 == right.sha256
        note = "The files are identical." if identical else "The words are the same in both."
    return ComparisonView(
        left,
        right,
        tuple(comparison.rows),
        differing,
        facts,
        left_pages=_page_count(a),
        right_pages=_page_count(b),
        cut=one.is_cut or other.is_cut,
        note=note,
    )


def _text(session: Session, copy: Copy) -> ExtractedText | None:
    if not copy.content:
        return None
    try:
        text = session.library.text_of(ContentId(copy.content))
    except LibraryError:
        return None
    return text if text.text.strip() else None


def _page_count(text: ExtractedText) -> int:
    if text.format not in _DRAWN:
        return 0
    return max((block.page or 1 for block in text.blocks), default=1)


# ---------------------------------------------------------------- facts


def _facts(
    left: Copy, right: Copy, a: ExtractedText | None, b: ExtractedText | None
) -> tuple[tuple[str, str, str], ...]:
    """Gives what is known of both, label and both values; what neither has is left out."""
    rows: list[tuple[str, str, str]] = [
        ("Folder", display_path(left.path.parent), display_path(right.path.parent)),
        ("Inside", _inside(left), _inside(right)),
        ("Size", f"{left.size:,} bytes", f"{right.size:,} bytes"),
        ("Modified", _time(left.mtime_ns / 1e9), _time(right.mtime_ns / 1e9)),
        ("Format", left.format or left.path.suffix.lstrip("."), right.format or right.path.suffix.lstrip(".")),
        ("Title", left.title, right.title),
        ("Date", _time(left.date), _time(right.date)),
        ("Words", _words(a), _words(b)),
        ("Signed", "yes" if left.signed else "", "yes" if right.signed else ""),
    ]
    mine, theirs = dict(a.metadata if a is not None else ()), dict(b.metadata if b is not None else ())
    known = {row[0].lower() for row in rows}
    more = [key for key in sorted({*mine, *theirs}) if key.lower() not in known]
    rows += [(key[:1].upper() + key[1:].replace("_", " "), mine.get(key, ""), theirs.get(key, "")) for key in more]
    return tuple((label, one, other) for label, one, other in rows if one or other)


def _inside(copy: Copy) -> str:
    return display_path(copy.member) if copy.member else ""


def _words(text: ExtractedText | None) -> str:
    return f"{len(text.text.split()):,}" if text is not None else ""


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return ""


# ---------------------------------------------------------------- pages


def run_compare_pages(
    session: Session,
    left: Copy,
    right: Copy,
    pages: tuple[int | None, int | None],
    context: JobContext,
    *,
    width: int,
) -> PagesView:
    """Draws a page of each document (None: that side shows none), with what the other lacks marked."""
    marks = _ALIGNED.setdefault(session, _Aligned()).get((left.content, right.content))
    if marks is None:
        run_compare(session, left, right, context)
        marks = _ALIGNED.setdefault(session, _Aligned()).get((left.content, right.content)) or ([], [])
    drawn = []
    for copy, page, spans in ((left, pages[0], marks[0]), (right, pages[1], marks[1])):
        context.check()
        drawn.append(_drawn(session, copy, page, spans, max(64, min(4096, width))))
    return PagesView(*drawn)


def _drawn(session: Session, copy: Copy, page: int | None, spans: Sequence[Span], width: int) -> PreviewPage | None:
    text = _text(session, copy) if page is not None else None
    if text is None or page is None or text.format not in _DRAWN:
        return None
    pages = Pages(text)
    here = [span for span in spans if pages.holds(page, span)][:_PAGE_MARKS]
    try:
        return draw_page(session, Path(copy.path), copy.member, text, page, width, {"passage": here})
    except (JobError, OSError):
        return None
