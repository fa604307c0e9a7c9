"""One opened library with everything that works on it: encoder, children, settings.

A Session has no threads of its own beyond the one that prepares the encoder, so the command line
can use it directly and the window through its lanes.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sbert_desktop import paths
from sbert_desktop.app.model_choice import ModelChoice
from sbert_desktop.app.places import refuse_synced
from sbert_desktop.app.presence import Presence
from sbert_desktop.app.rendering import Renderer
from sbert_desktop.app.second_stage import SecondStage
from sbert_desktop.domain import Encoder, Snapshot, SourceFile, SplitRules
from sbert_desktop.errors import EncoderError, LibraryError, SbertDesktopError
from sbert_desktop.jobs import ChildProcess, spawn_child
from sbert_desktop.settings import Settings

if TYPE_CHECKING:
    from sbert_desktop.extraction import ExtractionPool
    from sbert_desktop.library import Library, SpaceRecord

_T = TypeVar("_T")

_CHANGES = 3
"""Changes of the model that a single piece of work begins anew for."""
_LONGEST = 512
"""Tokens of a passage at most, also where the model takes more: a passage is what is read and shown as one."""
_LOADING_SECONDS = 4.0
"""How long a closing session waits for a model that is being loaded (0.5 to 2 s of native code)."""
_ROOTS_SECONDS = 10.0
CONTEXT = "title"
"""What is put before a passage when it is encoded. Source: docs/adr/0009-passages-and-fusion.md."""
OVERLAP = 0
"""Tokens of whole sentences repeated at a cut. Source: the same."""


class Session:
    """Holds what a run of the program needs; parts are opened when first asked for.

    Args:
        library: Folder of the library; made when it does not exist and ``create`` is set.
        settings: Values in force.
        interactive: A window is open: small batches, queries first.
        create: Make a missing library instead of refusing it.
        notify: Receives plain one-line notices (fall-backs, rebuilds) from any thread.
        on_encoder: Called once from a thread when the encoder is prepared or has failed.

    Attributes:
        models: Knows which models are in use, and opens them.
        presence: Asks the disk about files, with a bound on the time.
        second_stage: Keeps the cross-encoder that is in use.
        watch_states: Gives how each folder is watched, and why not live; set by who watches.
        others_wait: Says whether something waits for the writer that a space in preparation should let pass; set by
            who has lanes.
    """

    def __init__(
        self,
        library: Path,
        settings: Settings | None = None,
        *,
        interactive: bool = False,
        create: bool = True,
        notify: Callable[[str], None] | None = None,
        on_encoder: Callable[[], None] | None = None,
    ) -> None:
        self.library_path = library
        self.settings = settings or Settings()
        self.interactive = interactive
        self.last_activity = 0.0
        self._held_until = 0.0
        self._create = create
        self._notify = notify
        self._on_encoder = on_encoder
        self._notices: list[str] = []
        self._lock = threading.Lock()
        self._library: Library | None = None
        self._encoder: Encoder | None = None
        self._encoder_error: SbertDesktopError | None = None
        self._encoder_done = threading.Event()
        self._encoder_thread: threading.Thread | None = None
        self._encoder_begun = False
        self._beside: Encoder | None = None
        self._followed: tuple[str, str] = ("", "")
        self._renderer = Renderer(self.launch)
        self.models = ModelChoice(self)
        self.presence = Presence()
        self.second_stage = SecondStage(self.models.open_cross_encoder)
        self._roots: tuple[float, dict[bytes, int]] = (-math.inf, {})
        self.watch_states: Callable[[], Mapping[Path, tuple[str, str]]] = dict
        self.others_wait: Callable[[], bool] = bool
        self._closed = False

    # ------------------------------------------------------------- library

    @property
    def library(self) -> Library:
        """The library, opened on first use.

        Raises:
            LibraryError: When it cannot be opened.
        """
        with self._lock:
            if self._library is None:
                from sbert_desktop.extraction import EXTRACTOR_VERSION
                from sbert_desktop.library import open_library

                if self._create:
                    refuse_synced(self.library_path)
                self._library = open_library(
                    self.library_path,
                    create=self._create,
                    exact_below=self.settings.number("advanced.exact_below"),
                    index_from=self.settings.number("advanced.index_from"),
                    extractor_version=EXTRACTOR_VERSION,
                )
            return self._library

    def fingerprint(self) -> str:
        """Gives the fingerprint of the space that is searched: the encoder's, else the library's."""
        encoder = self._encoder
        if encoder is not None:
            return encoder.info.fingerprint
        space = self.library.active_space()
        return space.fingerprint if space is not None else ""

    def roots(self) -> Mapping[bytes, int]:
        """Gives the folders of the library with about how many files each has; at most ten seconds old."""
        made, roots = self._roots
        if time.monotonic() - made > _ROOTS_SECONDS:
            roots = {os.fsencode(r.path): r.documents + r.problems for r in self.library.folders()}
            self._roots = (time.monotonic(), roots)
        return roots

    def snapshot(self) -> Snapshot:
        """Gives the newest state of the library."""
        return self.library.snapshot(self.fingerprint())

    def space_and_snapshot(self) -> tuple[str, Snapshot]:
        """Gives the fingerprint of the space that is searched with its newest state.

        Asked for one by one, another model may come into force in between.
        """
        space = self.fingerprint()
        return space, self.library.snapshot(space)

    # ------------------------------------------------------------- encoder

    def start_encoder(self) -> None:
        """Begins to prepare the encoder in a thread; does nothing when it has begun."""
        with self._lock:
            if self._encoder_begun or self._closed:
                return
            self._encoder_begun = True
            self._encoder_thread = threading.Thread(
                target=self._open_encoder, args=(self._encoder_done,), name="encoder-start", daemon=True
            )
            self._encoder_thread.start()

    def encoder(self) -> Encoder:
        """Gives the encoder, waiting until it is prepared.

        Raises:
            EncoderError: The model is missing, damaged or cannot run.
        """
        while True:
            self.start_encoder()
            done = self._encoder_done
            done.wait()
            encoder, error = self._encoder, self._encoder_error
            if done is self._encoder_done:  # else another model was chosen meanwhile
                break
        if encoder is None:
            raise error or EncoderError("model-missing", "There is no model.", "Add one under Models.")
        return encoder

    def change_encoder(self, *, over: Encoder | None = None) -> None:
        """Opens the encoder anew that is to be in force now, in place of the one that is; waits for nothing.

        What encodes with the old one at this moment ends with ``encoder-closed``; see :meth:`with_one_encoder`.

        Args:
            over: Only if this one is still in force.
        """
        with self._lock:
            if over is not None and self._encoder is not over:
                return
            old, self._encoder = self._encoder, None
            begun, self._encoder_begun = self._encoder_begun, False
            self._encoder_error, self._encoder_thread = None, None
            before, self._encoder_done = self._encoder_done, threading.Event()
        _close_apart(old)
        if begun:
            self.start_encoder()
        before.set()

    def take_over(self, encoder: Encoder, change: Callable[[], bool]) -> bool:
        """Changes the library and puts another encoder in force at the same moment.

        A query is encoded by one encoder and compared with that one's vectors, before, after and in between: see
        :func:`sbert_desktop.app.searching.find`. What encodes with the old one meanwhile is done once more.

        Args:
            encoder: An open one; it belongs to the session when this gives True.
            change: Makes its space the active one; False where it thinks better of it, and then nothing changes.
        """
        with self._lock:
            if self._closed or not change():
                return False
            self._followed = ("", "")  # another process may come to the same space once more
            old, self._encoder = self._encoder, encoder
            self._encoder_error, self._encoder_begun = None, True
            before, self._encoder_done = self._encoder_done, threading.Event()
            self._encoder_done.set()
        if old is not encoder:
            _close_apart(old)
        before.set()
        if self._on_encoder is not None:
            self._on_encoder()
        return True

    def follow_space(self) -> None:
        """Takes up the encoder of the active space where another process has changed that; waits for nothing."""
        encoder = self._encoder
        space = self.active_space()
        if encoder is None or space is None or space.fingerprint == encoder.info.fingerprint:
            return
        seen = (space.fingerprint, encoder.info.fingerprint)
        if seen != self._followed and self.models.pooling is None:
            self._followed = seen
            if self.models.fingerprint_of(self.models.name()) == space.fingerprint:
                self.change_encoder(over=encoder)

    def with_one_encoder(self, work: Callable[[], _T]) -> _T:
        """Does what asks the encoder, once more where another model came into force in the middle of it.

        Raises:
            EncoderError: ``encoder-closed`` when the session is closing, or what else ``work`` raises.
        """
        for _ in range(_CHANGES):
            try:
                return work()
            except EncoderError as error:
                if error.code != "encoder-closed" or self._closed:
                    raise
        return work()

    def active_space(self) -> SpaceRecord | None:
        """Gives the active space of the library; None also where there is no library, or it cannot be opened."""
        with self._lock:
            if self._closed or (self._library is None and not os.path.lexists(self.library_path / "catalog.sqlite")):
                return None
        try:
            return self.library.active_space()
        except LibraryError:
            return None  # what needs the library says so

    def put_beside(self, encoder: Encoder | None) -> None:
        """Names an encoder that works beside the one in force, so that it steps aside for the person, too."""
        self._beside = encoder

    def encoder_with(self, *, pooling: str) -> Encoder:
        """Gives the model under another pooling, in place of the session's own.

        Raises:
            EncoderError: As :meth:`encoder`.
        """
        with self._lock:
            self.models.pooling = pooling
        return self.encoder()

    def ready_encoder(self) -> Encoder | None:
        """Gives the encoder if it is prepared, else None at once."""
        return self._encoder

    def expected_fingerprint(self) -> str:
        """Gives the fingerprint of the encoder in force without waiting for it; "" when there is none."""
        encoder = self._encoder
        return encoder.info.fingerprint if encoder is not None else self.models.fingerprint_of(self.models.name())

    def encoder_state(self) -> tuple[str, str]:
        """Gives (``preparing`` | ``ready`` | ``failed``, one plain line)."""
        if not self._encoder_done.is_set():
            return "preparing", "The model is being prepared."
        if self._encoder is None:
            return "failed", str(self._encoder_error or "")
        return "ready", ""

    def rules(self, encoder: Encoder) -> SplitRules:
        """Gives how texts are cut for this encoder."""
        around = encoder.count_tokens([""])  # the special ones, and the prompt where the model has one
        most = min(encoder.info.max_tokens, _LONGEST)
        return SplitRules(max_tokens=max(8, most - around), overlap_tokens=OVERLAP, context=CONTEXT)

    def _open_encoder(self, done: threading.Event) -> None:
        encoder: Encoder | None = None
        failed: SbertDesktopError | None = None
        try:
            encoder = self.models.open(self.models.name())
        except SbertDesktopError as error:
            failed = error
        except Exception as error:  # a broken installation of a native library is a known problem here
            failed = EncoderError(
                "model-failed",
                f"The model could not be started: {type(error).__name__}: {error}.",
                "Search by words goes on. Re-install the program if this stays.",
            )
        with self._lock:
            wanted = not self._closed and done is self._encoder_done  # else another model was chosen meanwhile
            if wanted:
                self._encoder, self._encoder_error = encoder, failed
        if encoder is not None and not wanted:
            encoder.close()
        done.set()
        if wanted and self._on_encoder is not None:
            self._on_encoder()

    # ------------------------------------------------------------- children

    def launch(self, kind: str, *, env: Mapping[str, str] | None = None, nice: int = 0) -> ChildProcess:
        """Starts a child process of a kind."""
        return spawn_child(kind, env=env, nice=nice)

    def extraction_pool(
        self,
        size: int | None = None,
        *,
        known: Callable[[str], bool] | None = None,
        on_slow: Callable[[SourceFile, bool], None] | None = None,
        password: str | None = None,
    ) -> ExtractionPool:
        """Gives a new pool of extraction children under the limits of the settings.

        Args:
            size: How many children; as many as there are cores by default.
            known: Tells whether the text of a content (sha256 hex) need not be read again.
            password: Opens protected files; never kept.
            on_slow: Told when a file has been under way for a second (True), and when it is over (False).
        """
        from sbert_desktop.extraction import ExtractionPool

        limits = {
            "SBERT_DESKTOP_CHILD_MEMORY_MB": str(self.settings.number("reading.memory_limit")),
            "OPENBLAS_NUM_THREADS": "1",  # numpy's thread stacks would count against the memory limit
        }
        return ExtractionPool(
            lambda: spawn_child("extract", env=limits, nice=10 if self.interactive else 0),
            size=size or cores(),
            time_limit=float(self.settings.number("reading.time_limit")),
            size_limit=self.settings.number("reading.size_limit") * 1024 * 1024,
            known=known,
            on_slow=on_slow,
            memory_limit=self.settings.number("reading.memory_limit") * 1024 * 1024,
            password=password,
        )

    def render(self, header: Mapping[str, object]) -> tuple[dict[str, object], bytes]:
        """Asks the rendering child for a page picture; see :meth:`Renderer.request`."""
        return self._renderer.request(header)

    # ------------------------------------------------------------- notices and activity

    def notice(self, line: str) -> None:
        """Keeps a plain one-line notice and hands it on."""
        if line not in self._notices:
            self._notices.append(line)
            if self._notify is not None:
                self._notify(line)

    def notices(self) -> tuple[str, ...]:
        """Gives the notices of this session and of the library."""
        own = list(self._notices)
        with self._lock:
            library = self._library
        if library is not None:
            own += [line for line in library.notices if line not in own]
        return tuple(own)

    def touch(self) -> None:
        """Notes that the person does something now."""
        self.last_activity = time.monotonic()

    def hold_bulk(self, seconds: float = 1.0) -> None:
        """Makes bulk work, storing and encoding alike, step aside for so long. Never waits."""
        self.touch()
        self._held_until = max(self._held_until, time.monotonic() + seconds)
        for encoder in (self._encoder, self._beside):
            if encoder is not None:
                encoder.hold_bulk(seconds)

    def held(self) -> float:
        """Gives the seconds for which bulk work should still step aside; 0.0 when it may go on."""
        return max(0.0, self._held_until - time.monotonic()) if self.interactive else 0.0

    def gentle(self) -> bool:
        """Says whether bulk work should leave half the machine to the person."""
        pace = self.settings.text("indexing.pace")
        if pace != "auto":
            return pace == "gentle"
        if not self.interactive:
            return False
        from sbert_desktop.platform import on_battery

        return time.monotonic() - self.last_activity < 30.0 or on_battery()

    def close(self) -> None:
        """Ends children, frees the encoder and closes the library. Idempotent."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            encoder, self._encoder = self._encoder, None
            library, self._library = self._library, None
        self._renderer.close()
        self.second_stage.close()
        if encoder is not None:
            encoder.close()
        if library is not None:
            library.close()
        starting = self._encoder_thread
        if starting is not None and starting is not threading.current_thread():
            # the interpreter's end would tear down native code that is still loading: the process would abort
            starting.join(_LOADING_SECONDS)


def _close_apart(encoder: Encoder | None) -> None:
    """Closes an encoder in a thread of its own: what it is at may take a moment to end."""
    if encoder is not None:
        threading.Thread(target=encoder.close, name="encoder-close", daemon=True).start()


def cores() -> int:
    """Gives the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def sample_folder() -> Path:
    """Gives the folder of the sample library that comes with the program."""
    return paths.resource("sample")
