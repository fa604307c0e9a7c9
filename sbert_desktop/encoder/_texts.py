"""From texts to vectors over any back-end: tokens, batches sorted by length, order kept, queries first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sbert_desktop.domain import EncoderInfo, JobContext, Vectors
from sbert_desktop.encoder._tokens import ModelTokenizer
from sbert_desktop.encoder.pacing import EncodeStats, Gate
from sbert_desktop.errors import EncoderError

TokenIds = NDArray[np.int32]
Batch = Sequence[TokenIds]
_TOKENISE_AT_ONCE = 512  # texts between two looks at a cancel
_MAX_ROWS = 512
_LEAST = 64  # padded tokens below which a batch of its own is not worth it


class Backend(Protocol):
    """What computes: token ids to unit vectors. Called by one thread at a time."""

    @property
    def name(self) -> str:
        """``openvino``, ``torch-cpu`` or ``torch-gpu``; may change after a fall-back, as the next two."""
        ...

    @property
    def device(self) -> str:
        """Gives the device in words."""
        ...

    @property
    def precision(self) -> str:
        """``bf16``, ``float16`` or ``float32``."""
        ...

    @property
    def budget(self) -> int:
        """Padded tokens that a bulk batch may hold."""
        ...

    @property
    def width(self) -> int:
        """How many batches one turn should hold; the model is not given to a query before all are done."""
        ...

    def run(self, batches: Sequence[Batch], *, bulk: bool, skip: int = 0) -> list[Vectors]:
        """Computes batches, each a list of ids int32 of about one length; float32 [rows, dimension] each.

        ``skip`` tokens at the beginning of each text are left out of the pooling.

        Raises:
            EncoderError: ``backend-failed``; the caller may take another back-end and repeat.
        """
        ...

    def set_pace(self, *, gentle: bool) -> None:
        """Gentle bulk work uses about half the cores."""
        ...

    def close(self) -> None:
        """Frees everything; idempotent."""
        ...


class TextEncoder:
    """The encoder of a real model. Safe from any thread.

    Args:
        info: Identity; back-end, device, precision and notices are kept up to date from then on.
        tokenizer: The model's.
        backend: What computes.
        prompts: Put before a passage, before a query.
        prompt_pooled: False leaves the tokens of prompts out of the pooling.
        fall_back: Gives the next back-end when one fails for good, or raises EncoderError.
        notify: Receives plain one-line notices.
    """

    def __init__(
        self,
        info: EncoderInfo,
        tokenizer: ModelTokenizer,
        backend: Backend,
        *,
        prompts: tuple[str, str] = ("", ""),
        prompt_pooled: bool = True,
        fall_back: Callable[[EncoderError], Backend] | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self._info = info
        self._tokenizer = tokenizer
        self._backend = backend
        self._passage_prompt, self._query_prompt = prompts
        lengths = (0, 0) if prompt_pooled else tuple(tokenizer.prompt_length(one) for one in prompts)
        self._passage_skip, self._query_skip = lengths
        self._fall_back = fall_back
        self._notify = notify
        self._gentle = False
        self._notices: list[str] = list(info.notices)
        self._gate = Gate()
        self._closed = False

    @property
    def info(self) -> EncoderInfo:
        """Gives the identity and the live back-end."""
        backend = self._backend
        return replace(self._info, backend=backend.name, device=backend.device, precision=backend.precision,
                       notices=tuple(self._notices))

    @property
    def tokenizer(self) -> ModelTokenizer:
        """Gives the model's tokenizer."""
        return self._tokenizer

    @property
    def stats(self) -> EncodeStats:
        """Gives what bulk encoding did so far."""
        return self._gate.stats

    def note(self, line: str) -> None:
        """Keeps a notice and tells it once; back-ends call it on a fall-back."""
        if line not in self._notices:
            self._notices.append(line)
            if self._notify is not None:
                self._notify(line)

    def encode_passages(self, texts: Sequence[str], context: JobContext | None = None) -> Vectors:
        """Encodes in bulk, float32 [n, dimension] of unit rows, in the order given.

        Raises:
            Cancelled: From ``context.check()``, between batches.
            EncoderError: ``backend-failed`` when nothing can compute any more.
        """
        ids = self._tokenise(texts, self._passage_prompt, context)
        out = np.empty((len(texts), self._info.dimension), np.float32)
        plan = plan_batches(np.array([len(one) for one in ids], np.int64), self._backend.budget)
        while group := list(islice(plan, max(1, self._backend.width))):
            with self._gate.bulk(context):
                began = time.perf_counter()
                batches = [[ids[row] for row in rows] for rows in group]
                for rows, vectors in zip(group, self._run(batches, bulk=True, skip=self._passage_skip), strict=True):
                    out[rows] = vectors
                lengths = [[len(one) for one in batch] for batch in batches]
                self._gate.count(
                    passages=sum(len(rows) for rows in group), tokens=sum(map(sum, lengths)),
                    padded=sum(max(one) * len(one) for one in lengths), seconds=time.perf_counter() - began,
                )
        return out

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """Encodes one query ahead of any bulk work, float32 [dimension] of unit length."""
        ids = self._tokenise([text], self._query_prompt, None)
        with self._gate.query():
            vector: NDArray[np.float32] = self._run([ids], bulk=False, skip=self._query_skip)[0][0]
        return vector

    def encode_now(self, texts: Sequence[str]) -> Vectors:
        """Encodes a few passages ahead of any bulk work, float32 [n, dimension] of unit rows."""
        ids = self._tokenise(texts, self._passage_prompt, None)
        out = np.empty((len(texts), self._info.dimension), np.float32)
        lengths = np.array([len(one) for one in ids], np.int64)
        width = max(1, self._backend.width)
        share = -(-int(lengths.sum()) // width)  # a few sentences: each core gets its part of them
        plan = plan_batches(lengths, min(self._backend.budget, max(_LEAST, share)))
        while group := list(islice(plan, width)):
            # One turn per group: a query that comes in between need not wait for all.
            with self._gate.query():
                batches = [[ids[row] for row in rows] for rows in group]
                for rows, vectors in zip(group, self._run(batches, bulk=False, skip=self._passage_skip), strict=True):
                    out[rows] = vectors
        return out

    def count_tokens(self, texts: Sequence[str]) -> int:
        """Counts the tokens (special ones included, truncated to max tokens) of the texts."""
        return sum(len(one) for one in self._tokenise(texts, self._passage_prompt, None))

    def hold_bulk(self, seconds: float = 1.0) -> None:
        """Keeps bulk work away for so long; never waits."""
        self._gate.hold(seconds)

    def set_pace(self, *, gentle: bool) -> None:
        """Gentle uses about half the cores for bulk work, from the next batch on."""
        self._gentle = gentle
        self._backend.set_pace(gentle=gentle)

    def close(self) -> None:
        """Ends children and frees the model, when the batch that runs is done; idempotent."""
        if not self._closed:
            self._closed = True
            with self._gate.query():
                self._backend.close()

    def _tokenise(self, texts: Sequence[str], prompt: str, context: JobContext | None) -> list[TokenIds]:
        ids: list[TokenIds] = []
        for start in range(0, len(texts), _TOKENISE_AT_ONCE):
            if context is not None:
                context.check()
            part = texts[start : start + _TOKENISE_AT_ONCE]
            ids += self._tokenizer.encode([prompt + text for text in part] if prompt else part)
        return ids

    def _run(self, batches: Sequence[Batch], *, bulk: bool, skip: int) -> list[Vectors]:
        if self._closed:
            raise EncoderError("encoder-closed", "The model was closed.")
        try:
            return self._backend.run(batches, bulk=bulk, skip=skip)
        except EncoderError as error:
            if self._fall_back is None or error.code != "backend-failed":
                raise
            failed = self._backend
            self._backend = self._fall_back(error)
            self._fall_back = None
            failed.close()
            self._backend.set_pace(gentle=self._gentle)
            return self._backend.run(batches, bulk=bulk, skip=skip)


def plan_batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Gives the rows of each batch, longest texts first, each batch within the budget of padded tokens.

    Sorting keeps texts of about one length together: padding stays at a few per cent. The longest
    come first, so that memory runs out at once or not at all.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        longest = max(1, int(lengths[order[start]]))
        rows = min(_MAX_ROWS, max(1, budget // longest))
        yield order[start : start + rows]
        start += rows


def pad_batch(
    batch: Batch, pad_id: int, *, multiple: int, limit: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Gives ids and mask, int64 [rows, length], the length rounded up (to ``limit`` at most): few shapes occur."""
    longest = max(1, max(len(one) for one in batch))
    length = max(longest, min(-(-longest // multiple) * multiple, limit))
    ids = np.full((len(batch), length), pad_id, np.int64)
    mask = np.zeros((len(batch), length), np.int64)
    for row, one in enumerate(batch):
        ids[row, : len(one)] = one
        mask[row, : len(one)] = 1
    return ids, mask
