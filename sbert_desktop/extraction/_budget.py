"""What archives may unpack: counted while they stream, whatever their headers claim."""

from __future__ import annotations

from collections.abc import Callable

from sbert_desktop.extraction._problems import failure

ARCHIVE_MEMBERS = 2000
ARCHIVE_BYTES = 512 * 1024 * 1024
RATIO, RATIO_FREE = 200, 10 * 1024 * 1024
ARCHIVE_DEPTH = 2
"""2,000 members, 512 MB, 200:1 beyond 10 MB, archives two deep. Source: RELIABILITY R12."""
_CHUNK = 1 << 18


class Budget:
    """What one file and all archives inside it may still unpack.

    Args:
        size: Bytes of the outermost file: the ratio is measured against them.
    """

    __slots__ = ("members", "size", "unpacked")

    def __init__(self, size: int) -> None:
        self.size = size
        self.members = 0
        self.unpacked = 0

    def count_member(self) -> None:
        """Counts one member of an archive.

        Raises:
            ExtractionError: ``archive-limit``.
        """
        if self.members >= ARCHIVE_MEMBERS:
            raise failure("archive-limit", f"Only the first {ARCHIVE_MEMBERS:,} files of the archive were read.")
        self.members += 1

    def count(self, size: int) -> None:
        """Counts bytes that were unpacked.

        Raises:
            ExtractionError: ``archive-limit``.
        """
        self.unpacked += size
        if self.unpacked > ARCHIVE_BYTES:
            raise failure("archive-limit", f"The archive unpacks to more than {ARCHIVE_BYTES // 1024 // 1024} MB; "
                          "the rest was not read.")
        if self.unpacked > RATIO_FREE and self.unpacked > RATIO * self.size:
            raise failure("archive-limit", f"The archive unpacks to more than {RATIO} times its size; the rest was "
                          "not read.")

    def read(self, read: Callable[[int], bytes]) -> bytes:
        """Reads a stream of an archive to its end, counting.

        Raises:
            ExtractionError: ``archive-limit``.
        """
        pieces: list[bytes] = []
        while piece := read(_CHUNK):
            self.count(len(piece))
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)
