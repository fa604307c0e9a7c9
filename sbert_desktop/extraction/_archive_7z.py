"""7z archives, unpacked into memory."""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING

from sbert_desktop.domain import Problem
from sbert_desktop.errors import ExtractionError
from sbert_desktop.extraction._archive import _JUNK, BROKEN
from sbert_desktop.extraction._budget import Budget
from sbert_desktop.extraction._container import Member, Members, Remainder
from sbert_desktop.extraction._problems import failure, problem, problem_of
from sbert_desktop.extraction._source import Source

if TYPE_CHECKING:
    from py7zr import SevenZipFile


class _Sink:
    """What py7zr writes a member into; counts, and knows whether the member is complete."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._pieces: list[bytes] = []
        self.complete = False

    def write(self, data: bytes | bytearray) -> int:
        self._budget.count(len(data))
        self._pieces.append(bytes(data))
        return len(data)

    def read(self, size: int | None = None) -> bytes:
        return b""

    def seek(self, offset: int, whence: int = 0) -> int:
        return offset

    def flush(self) -> None: ...

    def size(self) -> int:
        return sum(map(len, self._pieces))

    def close(self) -> None:
        self.complete = True

    def take(self) -> bytes:
        """Gives the bytes and lets go of them."""
        data = b"".join(self._pieces)
        self._pieces = []
        return data


class _Sinks:
    """Makes the sinks; py7zr asks for one by the name that it was given."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.by_name: dict[str, _Sink] = {}

    def create(self, filename: str) -> _Sink:
        sink = self.by_name[filename] = _Sink(self._budget)
        return sink


def seven_zip_members(source: Source) -> Members:
    """Gives the files of a 7z archive; see :func:`sbert_desktop.extraction._archive.members`.

    Solid blocks give no way to unpack one file alone: all of it is unpacked first, within the budget.
    """
    import py7zr
    from py7zr.exceptions import ArchiveError, PasswordRequired

    broken = (*BROKEN, ArchiveError, TypeError, AttributeError, NotImplementedError, RuntimeError)
    problems: list[Problem] = []
    sinks = _Sinks(source.budget)
    with source.stream() as stream:
        try:
            archive = py7zr.SevenZipFile(stream, password=source.password)
        except PasswordRequired as error:
            raise failure("encrypted") from error
        except broken as error:
            if source.password and isinstance(error, lzma.LZMAError | ArchiveError | TypeError):
                raise failure("encrypted", "The password is not the right one.") from error
            raise failure("damaged", detail=type(error).__name__) from error
        with archive:
            if archive.needs_password() and not source.password:
                raise failure("encrypted")
            try:
                _unpack(archive, sinks, source.budget)
            except ExtractionError as error:
                problems.append(problem_of(error))
            except PasswordRequired as error:
                raise failure("encrypted") from error
            except broken as error:
                if source.password and not any(sink.complete for sink in sinks.by_name.values()):
                    raise failure("encrypted", "The password is not the right one.") from error
                problems.append(problem("damaged", "The archive is damaged; only some of its files could be read.",
                                        partial=True))
            given = 0
            for entry in archive.files:
                sink = sinks.by_name.pop(str(entry.id), None)
                if sink is not None and sink.complete:
                    given += 1
                    time = entry.lastwritetime
                    yield Member(str(entry.filename), sink.take(), float(time.totimestamp()) if time else None)
            if problems and problems[0].code == "damaged" and not given:
                raise failure("damaged")
    return Remainder(tuple(problems))


def _unpack(archive: SevenZipFile, sinks: _Sinks, budget: Budget) -> None:
    """Unpacks the files into sinks; their names are not used for anything, as hostile ones would end the run."""
    from py7zr.io import MemIO

    full: ExtractionError | None = None
    for entry in archive.files:
        wanted = not (entry.is_directory or entry.is_socket or entry.is_symlink or entry.is_junction
                      or _JUNK.search(str(entry.filename))) and full is None
        if wanted:
            try:
                budget.count_member()
            except ExtractionError as error:
                full, wanted = error, False
        archive.worker.register_filelike(entry.id, MemIO(str(entry.id), sinks) if wanted else None)  # type: ignore[arg-type]
    archive.worker.extract(archive.fp, None, parallel=False)
    if full is not None:
        raise full
