"""Everything on disk: open, snapshot, update, publish. Hides SQL, file names and hnswlib.

``open_library`` gives a :class:`Library`; ``Library.writer()`` takes the writer's lock and gives the
one :class:`Writer`; ``Library.snapshot()`` gives arrays that fulfil ``domain.Snapshot``.
"""

from __future__ import annotations

from sbert_desktop.library._cleanups import CleanUpEntry, CleanUpJournal, CleanUpRecord, CleanUps
from sbert_desktop.library._kept_copies import kept_copies
from sbert_desktop.library._library import Library
from sbert_desktop.library._opening import open_library
from sbert_desktop.library._records import (
    ChangeRecord,
    CollectionRecord,
    CopyRecord,
    Counts,
    FolderRecord,
    HealthRecord,
    ItemRecord,
    JudgementRecord,
    KeptPassage,
    KnownFile,
    PendingDocument,
    ProblemRecord,
    SavedRecord,
    SpaceRecord,
    WantedSpace,
)
from sbert_desktop.library._writer import Writer

__all__ = [
    "ChangeRecord",
    "CleanUpEntry",
    "CleanUpJournal",
    "CleanUpRecord",
    "CleanUps",
    "CollectionRecord",
    "CopyRecord",
    "Counts",
    "FolderRecord",
    "HealthRecord",
    "ItemRecord",
    "JudgementRecord",
    "KeptPassage",
    "KnownFile",
    "Library",
    "PendingDocument",
    "ProblemRecord",
    "SavedRecord",
    "SpaceRecord",
    "WantedSpace",
    "Writer",
    "kept_copies",
    "open_library",
]
