"""What the use cases hand to the window and to the command line: frozen, complete, printable.

Offsets inside ``HitView.text`` are code points relative to the passage's own text.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sbert_desktop.domain import Filters, Mode, ScoreKind

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class HitView:
    """One passage as a result list shows it.

    ``start``/``end`` are offsets into the document's text; ``best_sentence`` and ``words`` are
    spans relative to ``text``. ``best_sentence`` is None until it is known.
    """

    passage_id: int
    content_id: int
    path: Path
    text: str
    start: int
    end: int
    page: int | None
    location: str
    score: float
    score_kind: ScoreKind
    cosine: float | None
    bm25: float | None
    meaning_rank: int | None
    words_rank: int | None
    best_sentence: Span | None
    words: tuple[Span, ...]
    stale: bool = False


@dataclass(frozen=True, slots=True)
class DocumentView:
    """One document found. ``paths`` lists every place where the same content lies.

    ``more`` counts further passages of the document that were found but are not in ``hits``.
    ``state`` is ``current``, ``changed`` (the file changed since it was read), ``gone`` or ``offline``.
    """

    content_id: int
    path: Path
    paths: tuple[Path, ...]
    title: str
    format: str
    date: float
    size: int
    language: str
    score: float
    hits: tuple[HitView, ...]
    more: int
    state: str = "current"


@dataclass(frozen=True, slots=True)
class SearchView:
    """The answer to one query.

    ``notes`` are plain sentences that belong above the list (fallback used, still indexing...).
    ``milliseconds`` covers encoding, search, fetch and grouping.
    """

    query: str
    mode: Mode
    filters: Filters
    by: str
    milliseconds: float
    documents: tuple[DocumentView, ...]
    passages_found: int
    passages: int
    embedded: int
    generation: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Marks:
    """Best sentences, found after the list was shown: passage id to span in the passage's text."""

    spans: dict[int, Span]


@dataclass(frozen=True, slots=True)
class FolderView:
    """One folder of the library. ``words_only``: the person chose not to have it encoded.

    ``state``: ``waiting``, ``indexing``, ``paused``, ``current``, ``missing``. ``embedded`` of
    ``documents`` are findable by meaning too.
    """

    path: Path
    documents: int
    embedded: int
    passages: int
    problems: int
    state: str
    last_change: float | None = None
    words_only: bool = False


@dataclass(frozen=True, slots=True)
class ProblemView:
    """One file that was not read, or only in part."""

    path: Path
    folder: Path
    code: str
    message: str
    hint: str
    partial: bool


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One recently read document."""

    path: Path
    title: str
    when: float
    passages: int


@dataclass(frozen=True, slots=True)
class ModelView:
    """One model. ``state``: ``ready``, ``preparing``, ``missing``, ``refused``; ``note`` says why."""

    name: str
    path: Path
    dimension: int
    max_tokens: int
    pooling: str
    sha256: str
    active: bool
    fingerprint: str = ""
    size: int = 0
    state: str = "ready"
    note: str = ""
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexHealth:
    """The accelerator in words. ``kind``: ``exact`` or ``hnsw``; ``recall_at_10`` None if exact."""

    kind: str
    rows: int
    recall_at_10: float | None = None
    notice: str = ""


@dataclass(frozen=True, slots=True)
class LibraryView:
    """The state of the open library."""

    path: Path
    folders: tuple[FolderView, ...]
    documents: int
    passages: int
    embedded: int
    problems: int
    model: ModelView
    backend: str
    device: str
    precision: str
    index: IndexHealth
    read_only: bool = False
    notices: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnreadLanguage:
    """A language of a new folder that the model does not read."""

    code: str
    name: str
    documents: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What adding folders will take, measured for a few seconds on this machine.

    Seconds and bytes are ranges (low, high). ``unread`` is empty when the model reads everything.
    """

    paths: tuple[Path, ...]
    files: int
    bytes: int
    seconds: tuple[float, float]
    disk: tuple[int, int]
    words_seconds: tuple[float, float]
    unread: tuple[UnreadLanguage, ...] = ()
    free_disk: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """Carried by ``Progress.detail``-independent partial results while indexing runs.

    ``seconds_left`` is None during the first five seconds. ``note`` names a step that has no count
    (the window fills it: "Preparing the model", "Waiting for process 4711 on lamp").
    """

    folder: Path | None
    current: str
    files_done: int
    files_total: int
    passages_done: int
    passages_total: int
    passages_per_second: float
    tokens_per_second: float
    seconds_left: float | None
    paused: bool = False
    pace: str = "full"
    note: str = ""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one indexing run did (the JSON of ``index``)."""

    documents: int
    passages: int
    problems: int
    added: int
    changed: int
    unchanged: int
    moved: int
    removed: int
    encoded_passages: int
    seconds: float
    passages_per_second: float
    tokens_per_second: float
    backend: str
    device: str
    removed_pending: int = 0
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreviewText:
    """The text around a hit: ``text`` is the whole document (or a window of it from ``offset``)."""

    path: Path
    title: str
    format: str
    text: str
    offset: int
    passage: Span
    sentence: Span | None
    words: tuple[Span, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class PreviewPage:
    """A rendered PDF page: ``rgb`` is width*height*3 bytes, rows top-down.

    ``passage`` and ``sentence`` are rectangles (x, y, width, height) in pixels of the picture.
    """

    path: Path
    title: str
    page: int
    pages: int
    width: int
    height: int
    rgb: bytes
    passage: tuple[tuple[float, float, float, float], ...]
    sentence: tuple[tuple[float, float, float, float], ...]


PreviewView = PreviewText | PreviewPage
