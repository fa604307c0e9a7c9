from __future__ import annotations

import contextlib
import hashlib
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sbert_desktop.errors import LibraryError, SbertDesktopError
from sbert_desktop.library import Library, _disk, _schema, open_library

from .makers import embed_all, put_text, start


def bytes_of(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def filled(path: Path) -> Path:
    with open_library(path) as library:
        (folder,) = start(library, Path("/docs"))
        with library.writer() as writer:
            for number in range(20):
                put_text(writer, folder, Path(f"/docs/{number}.txt"), [f"sample text {number}", "second part"])
            embed_all(writer)
    return path


def test_missing_library_is_said_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(LibraryError) as caught:
        open_library(tmp_path / "none", create=False)
    assert caught.value.code == "library-missing"
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(os.name != "posix", reason="POSIX rights")
def test_only_the_owner_may_read(tmp_path: Path) -> None:  # R22
    before = os.umask(0o022)
    try:
        path = filled(tmp_path / "library")
        with open_library(path, index_from=1) as library, library.writer() as writer:
            writer.build_index(None, force=True)
            for place in [path, *path.rglob("*")]:
                mode = stat.S_IMODE(place.stat().st_mode)
                assert mode == (0o700 if place.is_dir() else 0o600), place
    finally:
        os.umask(before)


def test_a_newer_library_is_refused_with_its_bytes_unchanged(tmp_path: Path) -> None:  # R25
    path = filled(tmp_path / "library")
    connection = sqlite3.connect(path / "catalog.sqlite")
    connection.execute(f"PRAGMA user_version={_schema.SCHEMA_VERSION + 1}")
    connection.close()
    before = bytes_of(path)
    with pytest.raises(LibraryError) as caught:
        open_library(path)
    assert caught.value.code == "library-newer"
    after = bytes_of(path)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) <= {"catalog.sqlite-wal", "catalog.sqlite-shm"}


def test_an_older_library_is_backed_up_and_brought_forward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path / "library")
    released = _schema.SCHEMA_VERSION
    for version in range(released + 1, released + 6):
        monkeypatch.setattr(_schema, "SCHEMA_VERSION", version)
        monkeypatch.setitem(
            _schema.MIGRATIONS, version - 1, lambda c, v=version: c.execute(f"CREATE TABLE extra_{v}(x)") and None
        )
        with open_library(path) as library:
            assert library.counts().documents == 20
    kept = _schema.backups(path)
    versions = [int(backup.name.split("-")[1][1:]) for backup in kept]
    assert versions == [released + 4, released + 3, released + 2], "the last three"
    connection = sqlite3.connect(kept[0])
    assert connection.execute("SELECT count(*) FROM file").fetchone() == (20,)
    connection.close()


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path / "library")

    def broken(connection: sqlite3.Connection) -> None:
        connection.execute("DROP TABLE history")
        raise RuntimeError

    with monkeypatch.context() as newer:
        newer.setitem(_schema.MIGRATIONS, _schema.SCHEMA_VERSION, broken)
        newer.setattr(_schema, "SCHEMA_VERSION", _schema.SCHEMA_VERSION + 1)
        with pytest.raises(RuntimeError):
            open_library(path)
    with open_library(path) as library:
        assert library.history() == ()
        assert library.counts().documents == 20


def test_a_foreign_database_is_not_taken_for_a_library(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "catalog.sqlite")
    connection.execute("CREATE TABLE other(x)")
    connection.execute("PRAGMA application_id=77")
    connection.commit()
    connection.close()
    with pytest.raises(LibraryError) as caught:
        open_library(tmp_path)
    assert caught.value.code == "library-damaged"


def use_all_of_it(path: Path) -> None:
    with open_library(path) as library:
        library.folders()
        library.problems()
        library.recent(5)
        snapshot = library.snapshot("fake-1")
        ids, _, _ = snapshot.keyword("sample text 7", None, 50)
        snapshot.fetch(ids.tolist())
        for record in library.folders():
            for known in library.known_files(record.id).values():
                if known.content is not None:
                    library.text_of(known.content)
        found = library.quick_check()
        if found:
            raise LibraryError("library-damaged", found[0])
        with library.writer() as writer:
            folder = writer.add_folder(Path("/docs"))
            put_text(writer, folder, Path("/docs/new.txt"), ["fresh"])


def test_a_damaged_catalog_is_said_never_a_crash_or_a_bug(tmp_path: Path) -> None:  # R9
    path = filled(tmp_path / "library")
    good = (path / "catalog.sqlite").read_bytes()
    chance, codes = random.Random(9), set()
    for number in range(100):
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(path, copy)
        data = bytearray(good)
        if number % 10 == 0:
            del data[chance.randrange(len(data)) :]
        else:
            for _ in range(chance.choice([1, 16, 400])):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        (copy / "catalog.sqlite").write_bytes(data)
        try:
            use_all_of_it(copy)
        except SbertDesktopError as error:
            codes.add(error.code)
    assert "library-damaged" in codes


def test_unclean_end_with_a_damaged_catalog_is_noticed_when_opened(tmp_path: Path) -> None:  # R9
    path = filled(tmp_path / "library")
    data = bytearray((path / "catalog.sqlite").read_bytes())
    page, chance = 4096, random.Random(9)
    for start_ in range(5 * page, len(data), 3 * page):
        data[start_ : start_ + 200] = chance.randbytes(200)
    (path / "catalog.sqlite").write_bytes(data)
    (path / "writer.json").write_text("{}")
    for _ in range(2):
        with pytest.raises(LibraryError) as caught:
            open_library(path)
        assert caught.value.code == "library-damaged"


# ---------------------------------------------------------------- read-only


def test_a_read_only_library_is_searched_and_not_written(tmp_path: Path) -> None:
    path = filled(tmp_path / "library")
    before = bytes_of(path)
    with open_library(path, read_only=True) as library:
        assert library.read_only
        snapshot = library.snapshot("fake-1")
        assert len(snapshot.keyword("sample", None, 50)[0]) == 20
        assert library.counts().embedded == 40
        library.add_history("nothing")
        assert library.history() == ()
        library.clear_history()
        with pytest.raises(LibraryError) as caught, library.writer():
            pass
        assert caught.value.code == "library-readonly"
    after = bytes_of(path)
    assert {name: after.get(name) for name in before} == before


def test_a_folder_that_cannot_be_written_opens_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path / "library")
    monkeypatch.setattr("sbert_desktop.library._opening._writable", lambda _: False)
    before = bytes_of(path)
    with open_library(path) as library:
        assert library.read_only
        assert library._mode == "immutable"
        assert len(library.snapshot("fake-1").keyword("sample", None, 50)[0]) == 20
    assert bytes_of(path) == before, "not even a log beside it"
    with pytest.raises(LibraryError) as caught:
        open_library(path, read_only=False)
    assert caught.value.code == "library-readonly"
    with pytest.raises(LibraryError) as new:
        open_library(tmp_path / "new")
    assert new.value.code == "library-readonly"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount")
def test_a_read_only_mount_is_detected(tmp_path: Path) -> None:
    path = filled(tmp_path / "library")
    point = tmp_path / "mount"
    point.mkdir()
    if subprocess.run(["mount", "--bind", str(path), str(point)], capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        done = subprocess.run(["mount", "-o", "remount,bind,ro", str(point)], capture_output=True, check=False)
        if done.returncode:
            pytest.skip("remounting is not allowed here")
        with open_library(point) as library:
            assert library.read_only
            assert len(library.snapshot("fake-1").keyword("sample", None, 50)[0]) == 20
    finally:
        subprocess.run(["umount", str(point)], check=True)


# ---------------------------------------------------------------- disks


def test_a_network_share_is_refused_for_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # R23
    path = filled(tmp_path / "library")
    monkeypatch.setattr(_disk, "filesystem_of", lambda _: "nfs4")
    with pytest.raises(LibraryError) as caught:
        open_library(path)
    assert caught.value.code == "library-network-share"
    with open_library(path, read_only=True) as library:
        assert library.counts().documents == 20


def test_the_file_system_of_a_path_is_known() -> None:
    if sys.platform == "linux":
        assert _disk.filesystem_of(Path("/proc/self")) == "proc"


def test_a_full_disk_pauses_and_loses_nothing(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:  # R5
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a"), ["first"])
        writer.commit()
        put_text(writer, folder, Path("/docs/b"), ["second"])
        monkeypatch.setenv("SBERT_DESKTOP_MIN_FREE_MB", "1e9")
        with pytest.raises(LibraryError) as caught:
            writer.commit()
        assert caught.value.code == "disk-full"
        assert library.counts().documents == 1
        monkeypatch.setenv("SBERT_DESKTOP_MIN_FREE_MB", "1")
        writer.commit()
        assert library.counts().documents == 2, "goes on when there is room again"


def test_a_full_disk_does_not_keep_anybody_from_forgetting(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:  # R5
    folder, other = start(library, Path("/docs"), Path("/more"))
    with library.writer() as writer:
        for number in range(5):
            put_text(writer, folder, Path(f"/docs/{number}"), ["text"])
            put_text(writer, other, Path(f"/more/{number}"), ["text"])
    monkeypatch.setenv("SBERT_DESKTOP_MIN_FREE_MB", "1e9")
    with library.writer() as writer:
        writer.remove([library.known_files(folder)[b"/docs/3"].id])  # type: ignore[arg-type]
        writer.set_ignored([Path("/docs/1")], True)
        writer.commit()
        writer.set_folder_state(other, "leaving")  # type: ignore[arg-type]
        writer.commit()
        assert library.counts().documents == 4
        writer.remove_folder(other)  # type: ignore[arg-type]
        put_text(writer, folder, Path("/docs/new"), ["text"])
        with pytest.raises(LibraryError) as caught:
            writer.commit()
        assert caught.value.code == "disk-full"
        monkeypatch.setenv("SBERT_DESKTOP_MIN_FREE_MB", "1")
    assert library.counts().documents == 5


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_disk_of_eight_megabytes_fills_up_without_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # R5
    point = tmp_path / "small"
    point.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(point)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        monkeypatch.setenv("SBERT_DESKTOP_MIN_FREE_MB", "0")
        fill_a_small_disk(point)
    finally:
        subprocess.run(["umount", str(point)], check=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_library_on_a_full_disk_can_be_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # R5
    point = tmp_path / "small"
    point.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(point)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        monkeypatch.setenv("SBERT_DESKTOP_MIN_FREE_MB", "0")
        search_on_a_full_disk(point)
    finally:
        subprocess.run(["umount", str(point)], check=True)


def search_on_a_full_disk(point: Path) -> None:
    with open_library(point / "library") as library:
        (folder,) = start(library, Path("/docs"))
        with library.writer() as writer:
            put_text(writer, folder, Path("/docs/a"), ["a rain gauge on the roof"])
            writer.commit()
    with contextlib.suppress(OSError), open(point / "fill", "wb", buffering=0) as stream:
        while stream.write(b"0" * 4096):
            pass
    with open_library(point / "library", create=False) as library:
        assert library.counts().documents == 1
        assert len(library.snapshot("").keyword("gauge", None, 10)[0]) == 1
        assert any("full" in notice for notice in library.notices)
        with pytest.raises(LibraryError) as caught, library.writer():
            pass
        assert caught.value.code == "disk-full"
    with pytest.raises(LibraryError) as caught:  # whoever wants to write is told at once
        open_library(point / "library")
    assert caught.value.code == "disk-full"
    (point / "fill").unlink()
    with open_library(point / "library", create=False) as library:
        assert not library.read_only


def write_until_full(library: Library, folder: int, safe: list[int]) -> None:
    with library.writer() as writer:
        for number in range(100_000):
            text = hashlib.sha256(str(number).encode()).hexdigest() * 100
            put_text(writer, folder, Path(f"/docs/{number}"), [f"{number} {random.Random(number).random()} {text}"])
            if number % 20 == 19:
                embed_all(writer)
                safe.append(number + 1)


def fill_a_small_disk(point: Path) -> None:
    safe: list[int] = []
    with open_library(point / "library") as library:
        (folder,) = start(library, Path("/docs"))
        with pytest.raises(LibraryError) as caught:
            write_until_full(library, folder, safe)
        assert caught.value.code == "disk-full"
        assert len(safe) > 1
    with open_library(point / "library") as library:
        assert library.quick_check() == []
        assert safe[-1] <= library.counts().documents <= safe[-1] + 20, "nothing acknowledged was lost"
        known = library.known_files(library.folders()[0].id)
        assert {f"/docs/{number}".encode() for number in range(safe[-1])} <= set(known)
        assert {key for key, value in library.integrity().items() if key.startswith("bad_") and value} == set()


def test_every_connection_is_careful(library: Library) -> None:  # R4, R24
    start(library, Path("/docs"))
    with library.writer() as writer:
        wanted = {
            "foreign_keys": 1, "trusted_schema": 0, "busy_timeout": 5000, "synchronous": 2, "journal_mode": "wal",
            "journal_size_limit": 64 * 2**20, "secure_delete": 1,
        }  # fmt: skip
        for pragma, value in wanted.items():
            assert writer._connection.execute(f"PRAGMA {pragma}").fetchone()[0] == value, pragma
    with library._reading() as connection:
        for pragma, value in {"foreign_keys": 1, "trusted_schema": 0, "busy_timeout": 5000, "query_only": 1}.items():
            assert connection.execute(f"PRAGMA {pragma}").fetchone()[0] == value, pragma
        assert not connection.in_transaction


def test_the_log_stays_small_while_readers_come_and_go(library: Library) -> None:  # R24
    (folder,) = start(library, Path("/docs"))
    biggest = 0
    with library.writer() as writer:
        for number in range(25):
            chance = random.Random(number)
            words = [" ".join(str(chance.random()) for _ in range(300)) for _ in range(10)]
            put_text(writer, folder, Path(f"/docs/{number}"), words)
            writer.commit()
            library.snapshot("fake-1").keyword("nothing", None, 5)
            biggest = max(biggest, (library.path / "catalog.sqlite-wal").stat().st_size)
    assert biggest < 16 * 2**20


def test_a_closed_library_says_so(library: Library) -> None:
    start(library, Path("/docs"))
    snapshot = library.snapshot("fake-1")
    library.close()
    library.close()
    assert snapshot.passages == 0
    with pytest.raises(LibraryError) as caught:
        library.snapshot("fake-1")
    assert caught.value.code == "library-closed"


def test_a_catalog_that_a_kill_left_empty_is_made(tmp_path: Path) -> None:  # R3
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / _schema.CATALOG).touch()
    with open_library(tmp_path / "library") as library:
        assert library.folders() == ()


def test_an_emptied_catalog_of_a_filled_library_is_damage(tmp_path: Path) -> None:  # R9
    path = filled(tmp_path / "library")
    (path / _schema.CATALOG).write_bytes(b"")
    with pytest.raises(LibraryError) as caught:
        open_library(path)
    assert caught.value.code == "library-damaged"
    assert (path / _schema.CATALOG).stat().st_size == 0


def test_a_closed_library_file_is_unreadable_and_a_write_protected_one_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vectors").touch()
    for readable, code in ((False, "library-unreadable"), (True, "library-readonly")):
        monkeypatch.setattr(os, "access", lambda *_, readable=readable: readable)
        with pytest.raises(LibraryError) as caught, _disk.known_errors(tmp_path):
            raise PermissionError(13, "Permission denied", str(tmp_path / "vectors"))
        assert caught.value.code == code


def test_a_failing_disk_is_said_and_a_fault_elsewhere_is_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(LibraryError) as caught, _disk.known_errors(tmp_path):
        raise OSError(5, "Input/output error", str(tmp_path / "spaces" / "x"))
    assert caught.value.code == "library-unreadable"
    with pytest.raises(OSError, match="elsewhere"), _disk.known_errors(tmp_path):
        raise OSError(5, "Input/output error", "/elsewhere")


def test_a_library_that_cannot_be_made_says_where_and_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LibraryError) as caught:
        open_library(tmp_path / "file" / "library")
    assert caught.value.code == "library-readonly"
    assert "is a file" in caught.value.message


def test_forgetting_works_on_an_almost_full_disk(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:  # R5
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["sample text"])
        embed_all(writer)
    monkeypatch.setenv("SBERT_DESKTOP_MIN_FREE_MB", "1e12")
    with library.writer() as writer:
        assert writer.remove_folder(folder) == (1, 1)
    assert library.folders() == ()
    with pytest.raises(LibraryError) as caught, library.writer() as writer:
        writer.add_folder(Path("/docs"))
    assert caught.value.code == "disk-full"
