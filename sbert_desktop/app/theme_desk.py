"""What themes need at hand in a session: the documents of the library, their vectors, the kept state, the child.

Everything is kept per session in memory and known by the library's generation; the state itself lies in the library.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.app import theme_bytes
from sbert_desktop.app.atlas_views import ClustersView
from sbert_desktop.app.neighbourhood import DocumentGraph, document_graph
from sbert_desktop.app.themes import KEY, Keys, Themes
from sbert_desktop.domain import ContentId, JobContext, Snapshot, SourceFile, Vectors
from sbert_desktop.errors import JobError, LibraryError, SbertDesktopError
from sbert_desktop.explore.cluster_child import Ask, ClusterClient
from sbert_desktop.explore.cluster_labels import Read, ThemeLabel
from sbert_desktop.explore.communities import Clustering, ClusterRequest, background_cosine
from sbert_desktop.explore.neighbours import NeighbourGraph

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session
    from sbert_desktop.jobs import ChildProcess

NAME = "themes"
CHANGED = "arrangement-changed"
"""Code of the error that says that another process has kept other themes meanwhile."""
UNDO = 20
_POLL = 0.05
_TERMS = 48_000_000
"""Signs of terms kept: those of about 1,000 reports."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document lies first, and what it is."""

    path: Path
    member: str
    title: str
    format: str
    language: str
    folder: int


@dataclass(frozen=True, eq=False)
class Catalogue:
    """The live documents of the library that have passages, by rising content id; no two have the same bytes.

    Attributes:
        contents: int64 [c].
        keys: Bytes [c]: their hashes.
        first: int64 [c]: the first passage of each.
        dates: float64 [c]: seconds, NaN unknown.
        copies: int32 [c]: places where each lies.
        places: The best place of each.
        roots: Folders of the library, as ``Place.folder`` numbers them.
        by_key: int64 [c]: the order of the keys.
    """

    generation: int
    contents: NDArray[np.int64]
    keys: Keys
    first: NDArray[np.int64]
    dates: NDArray[np.float64]
    copies: NDArray[np.int32]
    places: tuple[Place, ...]
    roots: tuple[Path, ...]
    by_key: NDArray[np.int64]

    def of_keys(self, keys: Keys) -> NDArray[np.int64]:
        """Gives the places of documents by their hash, int64 [m], -1 for those that are not there."""
        return _found(self.keys, keys, self.by_key)

    def of_contents(self, contents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Gives the places of documents by content id, int64 [m], -1 for those that are not there."""
        return _found(self.contents, contents, np.arange(len(self.contents)))


@dataclass(frozen=True, eq=False)
class Room:
    """The documents with their vectors, at one state of the library and for one encoder.

    Attributes:
        key: Names the state.
        at: int64 [n]: the place in the catalogue of each row of the graph, -1 for one that takes no part.
        keys: Bytes [n].
        background: Cosine of documents that have nothing to do with each other.
        waiting: Documents without a vector yet.
    """

    key: str
    snapshot: Snapshot
    catalogue: Catalogue
    graph: DocumentGraph
    at: NDArray[np.int64]
    keys: Keys
    background: float
    waiting: int

    @property
    def vectors(self) -> NDArray[np.float32]:
        """float32 [n, dimension], unit rows."""
        return self.graph.documents.vectors

    def rows_of(self, keys: Keys) -> NDArray[np.int64]:
        """Gives the row of each document by its hash, int64 [m], -1 for one without a vector."""
        row = np.full(len(self.catalogue.contents) + 1, -1, np.int64)
        taking = np.flatnonzero(self.at >= 0)
        row[self.at[taking]] = taking
        return row[self.catalogue.of_keys(keys)]  # the last one stands for -1


@dataclass(frozen=True, eq=False)
class Parting:
    """What splitting a theme would make: kept, so that the split makes what was shown."""

    themes: Themes
    theme: int
    keys: Keys
    parts: NDArray[np.int32]
    labels: tuple[ThemeLabel, ...]
    note: str = ""


def _found(values: NDArray[np.generic], wanted: NDArray[np.generic], order: NDArray[np.int64]) -> NDArray[np.int64]:
    if not len(values):
        return np.full(len(wanted), -1, np.int64)
    at = np.searchsorted(values, wanted, sorter=order)
    place = order[np.minimum(at, len(values) - 1)]
    return np.where(values[place] == wanted, place, -1).astype(np.int64)


class Terms:
    """The terms of documents that were read lately, packed into strings: they take a sixth of the time of reading."""

    def __init__(self, most: int = _TERMS) -> None:
        self._held: OrderedDict[tuple[int, tuple[int, ...]], tuple[str, str]] = OrderedDict()
        self._size, self._most = 0, most

    def get(self, content: int, passages: tuple[int, ...]) -> Read | None:
        """Gives what was put under a document and its passages."""
        found = self._held.get((content, passages))
        if found is None:
            return None
        self._held.move_to_end((content, passages))
        return Read(dict(zip(found[0].split("\0"), found[1].split("\0"), strict=True)) if found[0] else {})

    def put(self, content: int, passages: tuple[int, ...], read: Read) -> None:
        """Keeps terms; those asked for longest ago go."""
        packed = "\0".join(read.terms), "\0".join(read.terms.values())
        self._held[content, passages] = packed
        self._size += len(packed[0]) + len(packed[1])
        while self._size > self._most:
            _, old = self._held.popitem(last=False)
            self._size -= len(old[0]) + len(old[1])

    def clear(self) -> None:
        """Forgets all."""
        self._held.clear()
        self._size = 0


class Desk:
    """The memory of one session about its themes. Any thread; what takes long is made under a lock of its own."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.undo: list[tuple[str, Themes]] = []
        self.redo: list[tuple[str, Themes]] = []
        self.scoped: tuple[tuple[int, ...], Themes] | None = None
        self.terms = Terms()
        self.split: Parting | None = None
        self.shown: tuple[Themes, str, ClustersView] | None = None
        self._making = threading.Lock()
        self._catalogue: Catalogue | None = None
        self._room: Room | None = None
        self._themes: Themes | None = None
        self._data: bytes | None = None
        self._only_here = False
        self._child: ChildProcess | None = None
        self._client: ClusterClient | None = None
        self._asking = threading.Lock()

    # ------------------------------------------------------------ documents

    def catalogue(self, session: Session, snapshot: Snapshot) -> Catalogue:
        """Gives the documents of a state of the library."""
        made = self._catalogue
        if made is None or made.generation != snapshot.generation:
            made = self._catalogue = _catalogue(session, snapshot)
        return made

    def room(self, session: Session, context: JobContext | None = None) -> Room:
        """Gives the documents with their vectors, as they are now.

        Raises:
            Cancelled: Through ``context``.
        """
        space, snapshot = session.space_and_snapshot()
        key = f"{space}:{snapshot.generation}"
        made = self._room
        if made is not None and made.key == key:
            return made
        while not self._making.acquire(timeout=_POLL):
            if context is not None:
                context.check()
        try:
            if self._room is None or self._room.key != key:
                self._room = _room(session, snapshot, self.catalogue(session, snapshot), key, context)
            return self._room
        finally:
            self._making.release()

    # ------------------------------------------------------------ the kept state

    def stored(self, session: Session) -> Themes | None:
        """Gives the kept state; where another process changed it, that one, and nothing can be taken back."""
        with self.lock:
            if self._only_here:
                return self._themes
            data = session.library.arrangement(NAME)
            if data != self._data:
                self._data, self._themes = data, theme_bytes.unpack(data)
                self._only_here = theme_bytes.is_newer(data)
                if data and self._themes is None and not self._only_here:
                    session.notice("The kept clusters were damaged and are found anew; their names and pins are gone.")
                self.undo.clear()
                self.redo.clear()
            return self._themes

    def keep(self, session: Session, themes: Themes, old: Themes | None, *, quietly: bool = False) -> None:
        """Keeps a state.

        Args:
            session: The opened library.
            themes: What is to be kept.
            old: What it was made from, as :meth:`stored` gave it.
            quietly: Where the library cannot be written, keep it in memory alone instead of raising.

        Raises:
            LibraryError: ``library-readonly``, ``library-busy``; ``arrangement-changed``, also when quiet: another
                process has kept other themes since :meth:`stored` gave them, and these would undo its work.
        """
        with self.lock:
            if not self._only_here:
                if self._themes is not old:  # another thread has met what another process kept
                    raise LibraryError(CHANGED, "Another program changed the clusters at the same time.", "Try again.")
                data = theme_bytes.pack(themes)
                try:
                    session.library.arrange(NAME, data, over=self._data)
                except (LibraryError, ValueError) as error:
                    if not quietly or (isinstance(error, LibraryError) and error.code == CHANGED):
                        raise
                    # a library that is only busy is written at the next change
                    self._only_here = session.library.read_only
                    if not self._only_here:
                        why = error.message if isinstance(error, LibraryError) else str(error)
                        session.notice(f"The clusters are shown, but not kept yet: {why}")
                else:
                    self._data = data
            self._themes = themes

    def remember(self, word: str, before: Themes) -> None:
        """Has a state come back on undo; several of the slider's in a row are one."""
        with self.lock:
            if not (word == "strictness" and self.undo and self.undo[-1][0] == word and not self.redo):
                self.undo.append((word, before))
                del self.undo[:-UNDO]
            self.redo.clear()

    # ------------------------------------------------------------ the child

    def ask(
        self, session: Session, room: Room, context: JobContext, work: Callable[[ClusterClient, Ask], Clustering]
    ) -> Clustering:
        """Does what the child is needed for; a cancel ends it at once, and the next request starts another.

        Raises:
            Cancelled: Through ``context``.
            SbertDesktopError: ``clusters-failed``: it died, mostly for want of memory.
        """
        with self._asking:
            child, client = self._child, self._client
            if child is None or client is None or not child.alive:
                child = self._child = session.launch("clusters", nice=5 if session.interactive else 0)
                client = self._client = ClusterClient(child)
                weakref.finalize(session, child.close)
            ask = _Asking(child, context)
            try:
                client.load(room.key, room.vectors, room.graph.graph, ask)
                return work(client, ask)
            except JobError as error:
                self._client = None
                child.close()
                if error.code in ("child-died", "child-timeout"):
                    raise SbertDesktopError(
                        "clusters-failed", "Finding clusters ended unexpectedly; there may be too little memory.",
                        "Close other programs and try again.", error.detail,
                    ) from error  # fmt: skip
                raise
            except BaseException:
                self._client = None
                child.close()
                raise


class _Asking:
    """Makes requests of a child in a thread of their own, so that a cancel is heard at once."""

    def __init__(self, child: ChildProcess, context: JobContext) -> None:
        self._child, self._context = child, context

    def __call__(self, header: Mapping[str, object], payload: bytes) -> tuple[dict[str, object], bytes]:
        answer: list[tuple[dict[str, object], bytes]] = []
        failed: list[BaseException] = []

        def work() -> None:
            try:
                answer.append(self._child.request(header, payload))
            except BaseException as error:  # handed on to the thread that waits
                failed.append(error)

        thread = threading.Thread(target=work, name="clusters", daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_POLL)
                self._context.check()
        except BaseException:
            self._child.kill()
            thread.join(5.0)
            raise
        if failed:
            raise failed[0]
        return answer[0]


def find_in_child(
    session: Session, vectors: Vectors, graph: NeighbourGraph, request: ClusterRequest, context: JobContext
) -> Clustering:
    """Finds themes among vectors that are in no library, in a child of its own.

    Raises:
        Cancelled: Through ``context``.
    """
    child = session.launch("clusters")
    try:
        ask, client = _Asking(child, context), ClusterClient(child)
        client.load("made", vectors, graph, ask)
        return client.find(request, ask=ask)
    finally:
        child.close()


_desks: WeakKeyDictionary[Session, Desk] = WeakKeyDictionary()
_desks_lock = threading.Lock()


def desk_of(session: Session) -> Desk:
    """Gives the memory of a session."""
    with _desks_lock:
        return _desks.setdefault(session, Desk())


# ---------------------------------------------------------------- making


def _catalogue(session: Session, snapshot: Snapshot) -> Catalogue:
    library = session.library
    first, contents = snapshot.newest(None, 2**62)
    order = np.argsort(contents)
    first, contents = first[order].astype(np.int64), contents[order].astype(np.int64)
    hashes = library.sha256s(contents.tolist())
    keys = np.array([hashes.get(content, "").encode("ascii", "replace") for content in contents.tolist()], KEY)
    # Of two documents with the same bytes (one of them about to leave) the later one stands.
    _, last = np.unique(keys[::-1], return_index=True)
    kept = np.sort(len(keys) - 1 - last)
    kept = kept[keys[kept] != b""]
    first, contents, keys = first[kept], contents[kept], keys[kept]
    index = {content: place for place, content in enumerate(contents.tolist())}
    places: list[Place | None] = [None] * len(contents)
    copies = np.zeros(len(contents), np.int32)
    roots: dict[bytes, int] = {}
    for record in library.copies():
        place = index.get(record.content)
        if place is None:
            continue
        copies[place] += 1
        known = places[place]
        if known is None or (len(record.path), record.path, record.member) < _order(known):
            folder = roots.setdefault(record.folder, len(roots))
            path = Path(os.fsdecode(record.path))
            places[place] = Place(path, record.member, record.title, record.format, record.language, folder)
    names = tuple(Path(os.fsdecode(root)) for root in roots)
    whole = []
    for place, known in enumerate(places):
        if known is None:  # a person's own words about a file
            copies[place] = 1
            known = _captioned(library.paths_of(ContentId(int(contents[place]))), names)
        whole.append(known)
    dates = snapshot.dates()
    inside = np.minimum(contents, max(0, len(dates) - 1))
    return Catalogue(
        snapshot.generation, contents, keys, first, dates[inside] if len(dates) else np.full(len(contents), np.nan),
        copies, tuple(whole), names or (Path(),), np.argsort(keys),
    )  # fmt: skip


def _captioned(files: tuple[SourceFile, ...], roots: tuple[Path, ...]) -> Place:
    path, member = (files[0].path, files[0].member) if files else (Path(), "")
    folder = next((number for number, root in enumerate(roots) if root in path.parents), 0)
    return Place(path, member, "", "caption", "", folder)


def _order(place: Place) -> tuple[int, bytes, str]:
    raw = os.fsencode(place.path)
    return len(raw), raw, place.member


def _room(session: Session, snapshot: Snapshot, catalogue: Catalogue, key: str, context: JobContext | None) -> Room:
    graph = document_graph(session, snapshot, context)
    at = catalogue.of_contents(graph.documents.contents)
    keys = np.zeros(len(at), KEY)
    keys[at >= 0] = catalogue.keys[at[at >= 0]]
    vectors = graph.documents.vectors
    background = background_cosine(vectors) if len(vectors) else 0.0
    waiting = session.library.pending_count(session.fingerprint())[0]
    return Room(key, snapshot, catalogue, graph, at, keys, background, waiting)
