"""The vocabulary of the program: frozen records, id types and the Protocols between rooms.

Every room may import this module; it imports numpy and the standard library only. Words follow
DESIGN section 7. Offsets are always **code points** into the stored, normalised text, as
half-open ranges ``[start, end)``. Times are seconds (float) unless a name says ``_ns``/``_ms``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NewType, Protocol

import numpy as np
from numpy.typing import NDArray

FolderId = NewType("FolderId", int)
FileId = NewType("FileId", int)
ContentId = NewType("ContentId", int)
PassageId = NewType("PassageId", int)
JobId = NewType("JobId", str)

Vectors = NDArray[np.float32]  # [n, dimension], rows of unit length
Mask = NDArray[np.bool_]

EMOJI = (
    "\u231a\u231b\u23e9-\u23f3\u2600-\u2604\u260e\u2614\u2615\u2618\u261d\u2620-\u26ff\u2702\u2705\u2708-\u270d\u2728\u2744"
    "\u274c\u2753-\u2755\u2757\u2763\u2764\u2b50\U0001f1e6-\U0001f1ff\U0001f300-\U0001f3fa\U0001f400-\U0001f64f"
    "\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7eb\U0001f900-\U0001faff"
)
"""Pictures that are words to those who search, as ranges of a regular expression's class.

Left out are skin tones, and what stands before the items of a list (ticks, stars, boxes, arrows).
"""

# ---------------------------------------------------------------- files and their text


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as the scan saw it; ``content_hash`` is the sha256 hex of its bytes or ``""``.

    ``member`` names what lies inside a container (``"docs/a.pdf"`` in an archive, ``"12 Re: flat.eml"``
    in a mailbox, ``"12 Re: flat.eml/plan.pdf"`` for its attachment, ``"part 2"`` of a huge text); ``""``
    is the file itself. ``cursor`` is what its reader left behind the last time, to go on from there when
    the file only grew.
    """

    path: Path
    size: int
    mtime_ns: int
    device: int = 0
    inode: int = 0
    content_hash: str = ""
    member: str = ""
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """Maps a stretch of the text onto the characters of a PDF page.

    ``length`` code points from ``text_start`` on are the characters ``char_start`` and following
    of page ``page`` (1-based) in pdfium's own character numbering. A recognised word (OCR) has a
    ``box`` instead: x, y, width, height as fractions of the page, from the top left.
    """

    text_start: int
    page: int
    char_start: int
    length: int
    box: tuple[float, float, float, float] | None = None


class BlockKind(StrEnum):
    """What a block of text is; ``FURNITURE`` is findable by words but not embedded."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    TABLE = "table"
    CODE = "code"
    HEADER = "header"  # mail header lines, front matter
    FURNITURE = "furniture"
    QUOTE = "quote"  # set apart by the author as said by another


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the text with one kind and one location."""

    start: int
    end: int
    kind: BlockKind = BlockKind.PARAGRAPH
    page: int | None = None
    heading: str = ""
    part: str = ""
    runs: tuple[Run, ...] = ()


LEFT_OUT = "unknown-type"
"""Code of files of a kind that is not read (music, programs): listed, but not counted as problems."""
PICTURE = "picture"
"""Code of pictures whose text was not recognised: listed, but not counted as problems either."""
WORDLESS = "wordless"
"""Code of pictures in which text recognition found no word: listed, not counted, not tried again by itself."""
NOT_COUNTED = frozenset((LEFT_OUT, PICTURE, WORDLESS))
"""Codes that counts of problems leave out."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file was not read, or only in part. ``partial``: some text was still read."""

    code: str
    message: str
    hint: str = ""
    partial: bool = False


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """The normalised text of one document with its blocks, ordered and not overlapping.

    ``title`` and ``date`` come from the document itself (``""`` / ``None`` where it has none);
    ``language`` is an ISO 639-1 code or ``""`` when too short to tell.
    """

    format: str
    text: str
    blocks: tuple[Block, ...] = ()
    title: str = ""
    date: float | None = None
    language: str = ""
    problems: tuple[Problem, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """The end of a container: it was gone through, and these are its totals.

    The members were given before, one by one. ``grown``: the reader went on from the cursor, so members
    from before stay; else a member that was not given this time is gone. ``cursor``: where to go on when
    the file has grown, ``""`` if it cannot. ``document``: the container's own text (a mail with
    attachments), None for a mere container. ``problems``: what was not read of it.
    """

    members: int
    document: ExtractedText | None = None
    problems: tuple[Problem, ...] = ()
    cursor: str = ""
    grown: bool = False


@dataclass(frozen=True, slots=True)
class FolderRules:
    """Which files of a folder are read: patterns in the manner of ``.gitignore``, relative to the folder.

    ``include`` empty: all kinds that are known. ``hidden`` None: as the setting says.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hidden: bool | None = None


@dataclass(frozen=True, slots=True)
class Location:
    """Where in a document a passage begins: page (1-based), heading path, part (mail, slide...)."""

    page: int | None = None
    heading: str = ""
    part: str = ""

    def label(self) -> str:
        """Gives the short form that a result list shows, e.g. ``p. 3`` or a heading."""
        if self.page is not None:
            return f"p. {self.page}"
        return self.part or self.heading


@dataclass(frozen=True, slots=True)
class Passage:
    """One stretch of a document's text that gets one vector.

    ``context`` (title and heading, from the content, never the path) is put before the text when
    it is encoded; ``embedded`` is False for furniture, which is findable by words only.
    """

    ordinal: int
    start: int
    end: int
    text: str
    context: str = ""
    location: Location = Location()
    embedded: bool = True

    def encoder_input(self) -> str:
        """Gives the exact text that the encoder sees."""
        return f"{self.context}\n{self.text}" if self.context else self.text


@dataclass(frozen=True, slots=True)
class SplitRules:
    """How texts are cut into passages; part of a segmentation's identity.

    Args:
        max_tokens: Content tokens (special tokens not counted) that a passage may hold at most,
            context included.
        overlap_tokens: Whole sentences of at most this many tokens are repeated at a cut.
        context: ``none``, ``title``, ``heading`` or ``title+heading``.
        version: Raised whenever the splitter's output changes for the same rules.
    """

    max_tokens: int = 254
    overlap_tokens: int = 0
    context: str = "none"
    version: int = 1

    def key(self) -> str:
        """Gives a stable identity string."""
        return f"v{self.version}:{self.max_tokens}:{self.overlap_tokens}:{self.context}"


# ---------------------------------------------------------------- encoder


class Tokenizer(Protocol):
    """What the splitter needs of an encoder's tokenizer."""

    @property
    def key(self) -> str:
        """Stable identity (sha256 of the tokenizer file, or a name for the fake)."""
        ...

    def offsets(self, text: str) -> NDArray[np.int32]:
        """Gives the code-point range of each content token, int32 [tokens, 2], untruncated."""
        ...


@dataclass(frozen=True, slots=True)
class EncoderInfo:
    """What an encoder is; ``fingerprint`` names its space (precision float32/bf16 left out)."""

    fingerprint: str
    name: str
    dimension: int
    max_tokens: int
    pooling: str
    backend: str
    device: str
    precision: str
    languages: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


class Encoder(Protocol):
    """A bi-encoder: one pass per text, unit vectors, cosine as similarity."""

    @property
    def info(self) -> EncoderInfo:
        """Gives the identity and the live backend (may change after an out-of-memory fall-back)."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """Gives the tokenizer that passages are split with."""
        ...

    def encode_passages(self, texts: Sequence[str], context: JobContext | None = None) -> Vectors:
        """Encodes passages in bulk, float32 [n, dimension] of unit rows, in the order given.

        Yields to queries between batches and calls ``context.check()`` per batch.
        """
        ...

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """Encodes one query ahead of any bulk work, float32 [dimension] of unit length."""
        ...

    def encode_now(self, texts: Sequence[str]) -> Vectors:
        """Encodes a few passages or sentences ahead of any bulk work, float32 [n, dimension].

        For what a person waits for (best sentences); use ``encode_passages`` for bulk.
        """
        ...

    def hold_bulk(self, seconds: float = 1.0) -> None:
        """Makes bulk encoding step aside for so long, because the person types. Never waits."""
        ...

    def set_pace(self, *, gentle: bool) -> None:
        """Gentle uses about half the cores for bulk work; takes effect at the next batch."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> int:
        """Counts the tokens (special ones included, truncated to max tokens) of the texts."""
        ...

    def close(self) -> None:
        """Ends children and frees the model; idempotent."""
        ...


class CrossEncoder(Protocol):
    """Scores a query and a text together: exact, and slow enough for a short list only."""

    @property
    def name(self) -> str:
        """Gives the model's name."""
        ...

    def score(
        self, query: str, texts: Sequence[str], context: JobContext | None = None
    ) -> NDArray[np.float32]:
        """Gives one score per text, float32 [n], larger is better; the model's own scale."""
        ...

    def close(self) -> None:
        """Ends its child; idempotent."""
        ...


# ---------------------------------------------------------------- children and jobs


class Child(Protocol):
    """One isolated child process that answers requests, one at a time."""

    def request(
        self, header: Mapping[str, object], payload: bytes = b"", *, timeout: float | None = None
    ) -> tuple[dict[str, object], bytes]:
        """Sends one request and gives the reply's header and payload.

        Raises:
            JobError: ``child-timeout``, ``child-died`` or ``child-refused``; the child is dead
                after the first two and must be replaced.
        """
        ...

    def close(self) -> None:
        """Ends the child; idempotent."""
        ...


class JobContext(Protocol):
    """What a running job may say and must ask."""

    @property
    def paused(self) -> bool:
        """True while ``check`` would wait: commit what you hold before you call it."""
        ...

    def check(self) -> None:
        """Waits while the job is paused; raises Cancelled after a cancel. Call it per file/batch."""
        ...

    def progress(self, phase: str, done: int, total: int | None, detail: str = "") -> None:
        """Reports progress; cheap enough to be called per file."""
        ...

    def partial(self, result: object) -> None:
        """Hands a piece of the result to the window before the end."""
        ...


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job ended without a result. ``is_bug`` means our fault: it carries a traceback."""

    code: str
    message: str
    hint: str = ""
    is_bug: bool = False
    traceback: str = ""


class Outcome(StrEnum):
    """How a job ended."""

    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    SUPERSEDED = "superseded"  # a newer request of the same key took its place


@dataclass(frozen=True, slots=True)
class Started:
    """A job has begun to run."""

    job_id: JobId
    kind: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is; ``total`` is None while it is not known."""

    job_id: JobId
    phase: str
    done: int
    total: int | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Partial:
    """A piece of a result, ahead of the end."""

    job_id: JobId
    result: object


@dataclass(frozen=True, slots=True)
class Finished:
    """The one last event of every job."""

    job_id: JobId
    outcome: Outcome
    result: object = None
    failure: Failure | None = None


Event = Started | Progress | Partial | Finished

# ---------------------------------------------------------------- search


class Mode(StrEnum):
    """Which of the two rankings are used."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    KEYWORD = "keyword"


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents may be found; every field narrows, empty means any.

    ``folder``: absolute path, sub-folders included; ``folders``: names (or ends of paths) of folders, any of
    them. ``types``: lower-case extensions without dot. ``after``/``before``: seconds since the epoch, ``after``
    inclusive, ``before`` exclusive, compared with the document's own date, else the file's modification time.
    ``names``: parts of the file's (or member's) name, all of them; ``size_from``/``size_to``: bytes of the file,
    from inclusive, to exclusive. ``senders``, ``recipients``, ``subjects``: parts of mail headers, all of them.
    ``attachments``: True: only mails with attachments, False: only without. ``collections``: names, any of
    them. ``contents``: only these content ids, and ``contents_label`` says what they are ("99 documents of the map").
    All texts are compared without case and accents. ``without``: documents that pass one of these are left out.
    """

    folder: Path | None = None
    types: tuple[str, ...] = ()
    after: float | None = None
    before: float | None = None
    languages: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    size_from: int | None = None
    size_to: int | None = None
    senders: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    attachments: bool | None = None
    collections: tuple[str, ...] = ()
    contents: tuple[int, ...] = ()
    contents_label: str = ""
    without: tuple[Filters, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, name) not in (None, (), "") for name in self.__slots__ if name != "contents_label")


class TermKind(StrEnum):
    """What a piece of a typed query is."""

    WORD = "word"
    PHRASE = "phrase"
    FIELD = "field"


@dataclass(frozen=True, slots=True)
class Term:
    """A piece of a typed query, code points ``[start, end)`` of it; ``field`` only for fields."""

    start: int
    end: int
    kind: TermKind
    value: str
    field: str = ""
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a typed query means. ``words`` is what is searched by meaning and words (phrases' words included).

    ``notes`` are plain sentences for what was taken otherwise than it looks (an unknown field, no date).
    """

    words: str
    phrases: tuple[str, ...] = ()
    excluded_words: tuple[str, ...] = ()
    excluded_phrases: tuple[str, ...] = ()
    filters: Filters = Filters()
    notes: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()


WORDS_WEIGHT = 0.4
"""Share of BM25 in the hybrid score. Source: docs/adr/0009-passages-and-fusion.md."""


@dataclass(frozen=True, slots=True)
class Query:
    """One search as the person asked it.

    ``words_weight`` in [0, 1] is the share of BM25 in the hybrid score.
    ``by``: ``document`` groups the passages of one document, ``passage`` does not. ``text`` is what was typed;
    ``parsed`` what it means (None: all of it are words). ``recency`` in [0, 1]: weight of newness in the score.
    ``rerank``: how many passages a cross-encoder scores again, 0 for none. ``more``/``less``: passages that the
    person wants more or less like. ``like``: a pasted text that takes the query's place by meaning.
    ``fold``: near-identical passages count as one.
    """

    text: str
    mode: Mode = Mode.HYBRID
    top: int = 10
    filters: Filters = Filters()
    by: str = "document"
    words_weight: float = WORDS_WEIGHT
    passages_per_document: int = 3
    parsed: Parsed | None = None
    recency: float = 0.0
    rerank: int = 0
    more: tuple[int, ...] = ()
    less: tuple[int, ...] = ()
    like: str = ""
    fold: bool = True

    @property
    def words(self) -> str:
        """What is searched by words and by meaning."""
        return self.text if self.parsed is None else self.parsed.words


class ScoreKind(StrEnum):
    """What the order of the hits used."""

    COSINE = "cosine"
    BM25 = "bm25"
    FUSED = "fused"
    RERANK = "rerank"


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage found. ``score`` in [0, 1] is what the order used; parts are None if absent."""

    passage_id: PassageId
    content_id: ContentId
    score: float
    score_kind: ScoreKind
    cosine: float | None
    bm25: float | None
    meaning_rank: int | None = None
    words_rank: int | None = None
    rerank: float | None = None
    folded: int = 0  # further passages that say nearly the same


@dataclass(frozen=True, slots=True)
class DocumentHits:
    """One document found, with its best passages, best first; ``more`` counts further ones."""

    content_id: ContentId
    hits: tuple[Hit, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The ranked outcome of one query on one snapshot."""

    documents: tuple[DocumentHits, ...]
    generation: int
    passages: int  # live passages in the library
    embedded: int  # of these, findable by meaning
    candidates: int  # passages that entered the ranking
    chance: float | None = None  # cosine that the best of the searched passages reaches for an unrelated question


@dataclass(frozen=True, slots=True)
class Holding:
    """Documents that hold the phrases of a query: bool [max content id + 1], and where each phrase begins."""

    mask: Mask
    passages: NDArray[np.int64]


class NeighbourIndex(Protocol):
    """The ANN accelerator over the first ``rows`` rows of a space."""

    @property
    def rows(self) -> int:
        """How many rows, from the first on, the index covers."""
        ...

    def search(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[np.int64], Vectors]:
        """Gives row numbers int64 [<=k] and cosines float32 [<=k], best first; dead rows too."""
        ...


@dataclass(frozen=True, slots=True)
class PassageRecord:
    """A passage with what a hit needs to be shown.

    ``paths`` lists every place where the content lies, the best one (shortest) first. Size and time of a
    place inside a container are those of the file on disk.
    """

    passage_id: PassageId
    content_id: ContentId
    text: str
    start: int
    end: int
    location: Location
    title: str
    format: str
    language: str
    date: float
    paths: tuple[SourceFile, ...]


class Snapshot(Protocol):
    """One consistent state of the library for one space: arrays, not a transaction."""

    @property
    def generation(self) -> int:
        """Rises with every commit that changes what can be found."""
        ...

    @property
    def vectors(self) -> Vectors:
        """Committed rows, float32 [rows, dimension]; read-only."""
        ...

    @property
    def alive(self) -> Mask:
        """Bool [rows]: False where the document was removed or replaced."""
        ...

    @property
    def passage_ids(self) -> NDArray[np.int64]:
        """int64 [rows]: the passage of each row."""
        ...

    @property
    def contents(self) -> NDArray[np.int64]:
        """int64 [rows]: the content of each row."""
        ...

    @property
    def lengths(self) -> NDArray[np.int64]:
        """int64 [rows]: words of the passage of each row, 0 for dead rows."""
        ...

    @property
    def passages(self) -> int:
        """Live passages meant to be embedded, with a vector or not yet."""
        ...

    @property
    def index(self) -> NeighbourIndex | None:
        """The accelerator, or None: then every search is exact."""
        ...

    def select(self, filters: Filters) -> Mask | None:
        """Gives bool [max content id + 1], True where the content passes; None when all do."""
        ...

    def dates(self) -> NDArray[np.float64]:
        """Gives when each content is from, float64 [max content id + 1] in seconds, NaN where none is live.

        The document's own date, else the newest modification time of its files.
        """
        ...

    def newest(self, mask: Mask | None, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Gives the newest documents that pass, newest first: first passages int64 [m] and contents int64 [m]."""
        ...

    def keyword(
        self, text: str, mask: Mask | None, limit: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
        """BM25 search by words.

        Args:
            text: Raw words of the person; never a syntax error.
            mask: As ``select`` gives; applied before ``limit``.
            limit: At most so many passages.

        Returns:
            Passage ids int64 [m], BM25 scores float64 [m] (positive, larger is better, best
            first) and content ids int64 [m].
        """
        ...

    def holding(
        self, phrases: Sequence[str], excluded_words: Sequence[str], excluded_phrases: Sequence[str], mask: Mask | None
    ) -> Holding | None:
        """Gives the documents that hold all phrases, also over the border of two passages, and none of the excluded.

        Words are compared as :meth:`keyword` compares them (case, accents), phrases word by word without stemming.
        None when nothing is asked.
        """
        ...

    def fetch(self, passage_ids: Sequence[int]) -> dict[int, PassageRecord]:
        """Reads text and places of passages; ids that are gone are left out."""
        ...


# ---------------------------------------------------------------- paths as text


def display_path(path: str | bytes | os.PathLike[str]) -> str:
    """Gives a path as text that can be printed, encoded and shown on one line.

    Bytes that are not UTF-8 become U+FFFD; control and bidi characters become their visible
    escape, so that a name can neither break a line nor turn the text around it.
    """
    raw = os.fsencode(path).decode("utf-8", "replace")
    out = []
    for ch in raw:
        code = ord(ch)
        if code < 32 or 127 <= code < 160 or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069:
            out.append(f"\\u{code:04x}" if code > 127 else {10: "\\n", 13: "\\r", 9: "\\t"}.get(code, f"\\x{code:02x}"))
        elif code in (0x200E, 0x200F, 0x061C):
            out.append(f"\\u{code:04x}")
        else:
            out.append(ch)
    return "".join(out)


def short_path(path: str | bytes | os.PathLike[str]) -> str:
    """Gives the display path with the home folder written as ``~``."""
    text = display_path(path)
    home = display_path(Path.home())
    if text == home:
        return "~"
    return "~" + text[len(home) :] if text.startswith(home + os.sep) else text
