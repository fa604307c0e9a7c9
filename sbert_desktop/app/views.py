"""What the use cases hand to the window and to the command line: frozen, complete, printable.

Offsets inside ``HitView.text`` are code points relative to the passage's own text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sbert_desktop.domain import Filters, FolderRules, Mode, Parsed, ScoreKind

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
    member: str = ""
    rerank: float | None = None
    folded: int = 0
    judged: str = ""  # "relevant", "not relevant" or "": what the person said of it for this query


@dataclass(frozen=True, slots=True)
class DocumentView:
    """One document found. ``paths`` lists every place where the same content lies.

    ``more`` counts further passages of the document that were found but are not in ``hits``.
    ``state`` is ``current``, ``changed`` (the file changed since it was read) or ``offline``; documents
    that are gone are left out of the answer and counted in a note. ``member`` names what was found inside
    the container at ``path`` (see ``SourceFile.member``).
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
    member: str = ""


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
    parsed: Parsed | None = None
    chance: float | None = None
    reranked: int = 0


@dataclass(frozen=True, slots=True)
class Marks:
    """Best sentences, found after the list was shown: passage id to span in the passage's text."""

    spans: dict[int, Span]


@dataclass(frozen=True, slots=True)
class FolderView:
    """One folder of the library. ``words_only``: the person chose not to have it encoded.

    ``state``: ``waiting``, ``indexing``, ``paused``, ``current``, ``offline`` (drive or folder not
    there: its documents stay). ``embedded`` of ``documents`` are findable by meaning too. ``problems``
    leaves out what the person chose to ignore. ``watch``: ``live``, ``periodic`` (checked every so many
    minutes) or ``""`` (not watched); ``watch_note`` says why not live.
    """

    path: Path
    documents: int
    embedded: int
    passages: int
    problems: int
    state: str
    last_change: float | None = None
    words_only: bool = False
    watch: str = ""
    watch_note: str = ""
    rules: FolderRules = field(default_factory=FolderRules)
    ignored: int = 0


@dataclass(frozen=True, slots=True)
class ProblemView:
    """One file, or member of a container, that was not read, or only in part.

    ``ignored``: the person chose not to see it any more. ``size`` in bytes of the file on disk; ``when``
    it was tried, seconds since the epoch.
    """

    path: Path
    folder: Path
    code: str
    message: str
    hint: str
    partial: bool
    member: str = ""
    ignored: bool = False
    size: int = 0
    when: float = 0.0


@dataclass(frozen=True, slots=True)
class LeftOutView:
    """A file or folder that a rule leaves out, seen by a walk just now.

    ``reason``: ``hidden``, ``pattern``, ``ignore-file``, ``unknown-type``, ``system``, ``link``, ``special``,
    ``too-large``, ``lock-file``; ``message`` says it in words (which pattern, which file). ``is_folder``:
    everything below is left out with it.
    """

    path: Path
    folder: Path
    reason: str
    message: str
    is_folder: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What the rules leave out; ``rows`` are the first 5,000 of ``total``."""

    rows: tuple[LeftOutView, ...]
    total: int
    counts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class UnlockView:
    """The answer to a password. ``kept``: the text is in the library now; ``text``: to be shown once."""

    path: Path
    opened: bool
    message: str
    kept: bool = False
    text: str = ""
    member: str = ""


@dataclass(frozen=True, slots=True)
class CaptionView:
    """The person's own transcript or caption of a file; ``text`` is ``""`` when there is none."""

    path: Path
    text: str
    member: str = ""


@dataclass(frozen=True, slots=True)
class ProgramsView:
    """Programs on this machine that help with reading; ``""`` where one is absent."""

    tesseract: str
    languages: tuple[str, ...]
    libreoffice: str


@dataclass(frozen=True, slots=True)
class OpenerView:
    """A program that opens a kind of file; ``program`` is what ``Commands.open_with`` takes."""

    name: str
    program: Path


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One recently read document."""

    path: Path
    title: str
    when: float
    passages: int
    member: str = ""


@dataclass(frozen=True, slots=True)
class ModelView:
    """One model. ``state``: ``ready``, ``preparing``, ``missing``, ``refused``; ``note`` says why.

    ``prompts``: (``query`` or ``document``, what is put before such a text). ``licence`` as the hub calls it. ``base``:
    the model that this program tuned it from. ``source``: the folder or the name on the hub that it was added from;
    ``added``: when, seconds, 0 not known.
    """

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
    kind: str = "encoder"  # or "cross-encoder"
    bundled: bool = False
    licence: str = ""
    prompts: tuple[tuple[str, str], ...] = ()
    base: str = ""
    source: str = ""
    added: float = 0.0


@dataclass(frozen=True, slots=True)
class CollectionItem:
    """One document or passage in a collection; ``text`` is kept itself, so that it outlives the file.

    ``passage_id`` and ``content_id`` are 0 when the library does not hold it any more.
    """

    id: int
    path: Path
    member: str
    title: str
    text: str
    page: int | None
    note: str
    added: float
    passage_id: int = 0
    content_id: int = 0


@dataclass(frozen=True, slots=True)
class CollectionView:
    """A named set of documents and passages."""

    name: str
    note: str
    items: tuple[CollectionItem, ...]


@dataclass(frozen=True, slots=True)
class SavedSearchView:
    """A search kept by name. ``fresh``: passages indexed since it was last looked at that match it by meaning."""

    name: str
    text: str
    mode: Mode
    saved: float
    fresh: int = 0


@dataclass(frozen=True, slots=True)
class KeptView:
    """A daily copy of what the person made, and how much of it the library did not hold.

    ``day``: ISO date, ``""`` for a file of another name. ``items``: collected passages. ``later``: captions that
    come back once the library has a folder. ``unread``: lines that are damaged. ``arrangements``: themes.
    """

    path: Path
    day: str = ""
    judgements: int = 0
    collections: int = 0
    items: int = 0
    searches: int = 0
    captions: int = 0
    later: int = 0
    unread: int = 0
    arrangements: int = 0

    @property
    def total(self) -> int:
        """How many things."""
        return self.judgements + self.collections + self.items + self.searches + self.captions + self.arrangements


@dataclass(frozen=True, slots=True)
class QuoteView:
    """One quotation of a draft: where the library holds it, and what differs.

    ``verdict``: ``exact``, ``changed``, ``not found``. ``start``/``end`` in the draft; ``changes`` are spans of
    ``quoted`` that the source says otherwise (``source`` is its wording).
    """

    quoted: str
    start: int
    end: int
    verdict: str
    path: Path | None = None
    member: str = ""
    page: int | None = None
    source: str = ""
    changes: tuple[Span, ...] = ()
    passage_id: int = 0


@dataclass(frozen=True, slots=True)
class FamilyView:
    """The versions of a document: ``paths`` oldest first; ``words`` says it ("newest of 4; ...")."""

    paths: tuple[Path, ...]
    place: int
    words: str


@dataclass(frozen=True, slots=True)
class HealthView:
    """The accelerator and the vectors, counted: rows alive, dead, without a passage; recall against exact search.

    ``waiting``: passages that have no vector yet, or lost it. ``damaged``: vectors are lost or no unit vectors.
    ``wasteful``: nothing is wrong, only many places are free.
    """

    rows: int
    dead: int
    orphans: int
    recall_at_10: float | None
    queries: int
    words: str
    repairable: bool = False
    waiting: int = 0
    damaged: bool = False
    wasteful: bool = False


@dataclass(frozen=True, slots=True)
class CheckView:
    """One thing that was looked at in a library: whether it is in order, and what there is to say."""

    name: str
    ok: bool
    detail: str


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
    preparing: str = ""  # "Preparing MODEL: 1,240 of 8,800 passages", while a model's space is not complete


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
    (the window fills it: "Preparing the model", "Waiting for process 4711 on lamp"). ``preparing`` names the model
    whose space is being prepared beside the one in use: then the passages are counted for it.
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
    preparing: str = ""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one indexing run did (the JSON of ``index``). ``preparing``: the model whose space let others pass."""

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
    preparing: str = ""


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
    note: str = ""  # why the page itself is not shown: the file is gone, or cannot be drawn


@dataclass(frozen=True, slots=True)
class PreviewPage:
    """A rendered PDF page or a picture: ``rgb`` is width*height*3 bytes, rows top-down.

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
