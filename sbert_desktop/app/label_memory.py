"""What was proposed to be judged in this session, so that it does not come again at once. Any thread."""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sbert_desktop.training.labels import same_text

if TYPE_CHECKING:
    from sbert_desktop.app.session import Session

_SIGNS, _ACCENTS = re.compile(r"[\W_]+"), re.compile("[\u0300-\u036f]+")


@dataclass(slots=True)
class Memory:
    """What was proposed in this session.

    Attributes:
        texts: Hashes of the texts that were shown.
        pairs: Ids of the pairs that were shown.
        mark_pairs: The same by the marks of their vectors.
        marks: Which text, by its hash, a vector with a mark is of.
        cosines: Of pairs, by id; nan where a passage is gone.
        fingerprint: Of the encoder that marks and cosines are of.
        calls: How often pairs were asked for.
    """

    texts: set[int] = field(default_factory=set)
    pairs: set[str] = field(default_factory=set)
    mark_pairs: set[tuple[int, int]] = field(default_factory=set)
    marks: dict[int, int] = field(default_factory=dict)
    cosines: dict[str, float] = field(default_factory=dict)
    fingerprint: str = ""
    calls: int = 0


_memories: WeakKeyDictionary[Session, Memory] = WeakKeyDictionary()
_lock = threading.Lock()


def memory_of(session: Session) -> Memory:
    """Gives what was proposed in a session; cosines and marks only of the encoder in force."""
    fingerprint = session.fingerprint()
    with _lock:
        memory = _memories.setdefault(session, Memory())
        if memory.fingerprint != fingerprint:
            memory.fingerprint = fingerprint
            memory.marks.clear()
            memory.mark_pairs.clear()
            memory.cosines.clear()
        memory.calls += 1
        return memory


def text_hash(text: str) -> int:
    """Gives what two texts have in common that differ in case, accents and punctuation only."""
    plain = text.lower() if text.isascii() else _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold())
    form = _SIGNS.sub(" ", plain).strip() or same_text(text)
    return int.from_bytes(hashlib.blake2b(form.encode("utf-8", "replace"), digest_size=8).digest())
