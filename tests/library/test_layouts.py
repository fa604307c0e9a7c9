"""Layouts are a cache of large arrays: whole or not there, and never in anybody's way."""

from __future__ import annotations

import errno
import io
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from sbert_desktop.library import Library, _layouts, open_library
from sbert_desktop.library._layouts import FOLDER, Layouts
from tests.effort import least_cpu

from .makers import put_text, start

META = {"method": "pca", "count": 3, "share": 0.5, "list": [1, 2], "name": "ü"}


def arrays(seed: int = 0, count: int = 50) -> dict[str, np.ndarray]:
    random_ = np.random.default_rng(seed)
    return {
        "positions": random_.standard_normal((count, 2)).astype(np.float32),
        "ids": np.arange(count),
        "shown": np.arange(count) % 3 == 0,
        "sha256": np.array([b"%064x" % number for number in range(count)], "S64"),
        "by_column": np.asfortranarray(np.arange(count * 4, dtype=np.int16).reshape(count, 4)),
        "none": np.zeros((0, 2), np.float32),
        "single": np.float64(3.5) * np.ones(()),
    }


def assert_same(found: object, wanted: dict[str, np.ndarray]) -> None:
    assert found is not None
    meta, given = found  # type: ignore[misc]
    assert meta == META
    assert list(given) == list(wanted)
    for name, array in wanted.items():
        assert (given[name].dtype, given[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(given[name], array)


def test_what_was_put_comes_back_and_the_last_one_counts(tmp_path: Path) -> None:
    layouts = Layouts(tmp_path)
    assert layouts.get("map") is None
    assert layouts.names() == ()
    assert layouts.put("map", {}, {})
    assert layouts.get("map") == ({}, {})
    assert layouts.put("map", META, arrays(1))
    assert layouts.put("graph-documents", META, arrays(2))
    assert_same(Layouts(tmp_path, read_only=True).get("map"), arrays(1))
    assert_same(layouts.get("graph-documents"), arrays(2))
    assert layouts.names() == ("graph-documents", "map")
    layouts.drop("map")
    layouts.drop("map")
    assert layouts.get("map") is None
    assert layouts.names() == ("graph-documents",)


def test_the_file_is_one_that_numpy_reads_and_nobody_else_may(tmp_path: Path) -> None:
    old_mask = os.umask(0)
    try:
        assert Layouts(tmp_path).put("map", META, arrays())
    finally:
        os.umask(old_mask)
    path = tmp_path / FOLDER / "map.npz"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]
    with np.load(path) as opened:
        np.testing.assert_array_equal(opened["positions"], arrays()["positions"])


def test_arrays_cannot_be_changed_by_mistake(tmp_path: Path) -> None:
    Layouts(tmp_path).put("map", META, arrays())
    found = Layouts(tmp_path).get("map")
    assert found is not None
    assert not any(array.flags.writeable for array in found[1].values())


def test_no_words_and_no_objects_go_into_a_layout(tmp_path: Path) -> None:
    layouts = Layouts(tmp_path)
    for array in (np.array(["a word"]), np.array([{}], object), np.array([("a", 1)], "U3,i4")):
        with pytest.raises(TypeError):
            layouts.put("map", {}, {"bad": array})
    for name in ("", "../map", "a/b", ".hidden", "a\0", "x" * 90):
        for call in (layouts.get, layouts.drop, lambda name: layouts.put(name, {}, {})):
            with pytest.raises(ValueError, match="plain"):
                call(name)
    with pytest.raises(ValueError, match="plain"):
        layouts.put("map", {}, {"../x": np.zeros(1)})
    assert not (tmp_path / FOLDER).exists()


def test_a_torn_or_changed_file_is_as_if_there_were_none(tmp_path: Path) -> None:
    layouts = Layouts(tmp_path)
    wanted = arrays()
    layouts.put("map", META, wanted)
    path, chance = tmp_path / FOLDER / "map.npz", random.Random(7)
    data = path.read_bytes()
    for length in [0, 1, 22, *(chance.randrange(len(data)) for _ in range(60)), len(data) - 1]:
        path.write_bytes(data[:length])
        assert layouts.get("map") is None, f"cut at {length}"
    for _ in range(600):
        torn = bytearray(data)
        at = chance.randrange(len(torn))
        torn[at] ^= 1 << chance.randrange(8)
        path.write_bytes(torn)
        found = layouts.get("map")
        if found is not None:  # a time, or another byte that says nothing
            assert_same(found, wanted)
    path.write_bytes(data)
    assert_same(layouts.get("map"), wanted)


def test_a_foreign_file_is_as_if_there_were_none(tmp_path: Path) -> None:
    layouts = Layouts(tmp_path)
    layouts.put("map", META, arrays())
    path = tmp_path / FOLDER / "map.npz"
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def again(change: dict[str, bytes | None], kind: int = zipfile.ZIP_STORED) -> None:
        with zipfile.ZipFile(path, "w", kind) as archive:
            for name, content in {**members, **change}.items():
                if content is not None:
                    archive.writestr(name, content)

    other_shape = io.BytesIO()
    np.save(other_shape, arrays()["ids"].reshape(5, 10))
    again({})
    assert layouts.get("map") is not None
    for change in (
        {"ids.npy": None}, {"ids.npy": members["positions.npy"]}, {"ids.npy": members["ids.npy"][:-8]}, {"x.npy": b""},
        {"ids.npy": members["ids.npy"] + bytes(8)}, {"ids.npy": b""}, {"meta.json": None}, {"meta.json": b"[]"},
        {"ids.npy": other_shape.getvalue()},
        {"meta.json": b'{"meta": 1, "arrays": {}}'}, {"meta.json": b"\xff"}, {"meta.json": b"[" * 100_000},
    ):  # fmt: skip
        again(change)  # type: ignore[arg-type]
        assert layouts.get("map") is None, change.keys()
    again({}, zipfile.ZIP_DEFLATED)
    assert layouts.get("map") is None, "a small file could fill the memory"
    np.savez(path, a=np.array([{}], object))
    assert layouts.get("map") is None
    path.unlink()
    path.mkdir()
    assert layouts.get("map") is None
    assert not layouts.put("map", META, arrays())
    layouts.drop("map")


def test_a_library_that_may_only_be_read_keeps_no_layout(tmp_path: Path) -> None:
    with open_library(tmp_path / "library") as library:
        assert library.layouts.put("map", META, arrays())
    with open_library(tmp_path / "library", read_only=True) as library:
        assert not library.layouts.put("map", META, arrays(5))
        assert not library.layouts.put("other", META, arrays(5))
        library.layouts.drop("map")
        assert_same(library.layouts.get("map"), arrays())
        assert library.layouts.names() == ("map",)


def test_on_a_full_disk_nothing_is_kept_and_the_old_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    layouts = Layouts(tmp_path)
    assert layouts.put("map", META, arrays())

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert not layouts.put("map", META, arrays(1))
    assert "No space left" in caplog.text
    with monkeypatch.context() as patch:
        usage = shutil.disk_usage(tmp_path)
        patch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1_000_500))  # 1 MB has to stay free
        assert not layouts.put("map", META, arrays(1))
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["map.npz"]
    assert_same(layouts.get("map"), arrays())


def test_what_a_killed_process_left_goes_when_it_is_old(tmp_path: Path) -> None:
    layouts = Layouts(tmp_path)
    layouts.put("map", META, arrays())
    old, young = tmp_path / FOLDER / ".layout-old", tmp_path / FOLDER / ".layout-young"
    for path in (old, young):
        path.write_bytes(b"half")
    long_ago = time.time() - 2 * _layouts.LEFT_SECONDS
    os.utime(old, (long_ago, long_ago))
    layouts.put("map", META, arrays())
    assert (old.exists(), young.exists(), layouts.names()) == (False, True, ("map",))


CHILD = """
import sys
from pathlib import Path
import numpy as np
from sbert_desktop.library._layouts import Layouts
layouts = Layouts(Path(sys.argv[1]))
for number in range(100_000):
    layouts.put("map", {"number": number}, {"a": np.full(300_000, number)})
    print(number, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_process_leaves_the_old_layout_or_the_new_one(tmp_path: Path) -> None:
    chance = random.Random(3)
    for _ in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True,
            cwd=Path(__file__).resolve().parents[2],
        )  # fmt: skip
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(chance.randrange(1, 12))]
        child.send_signal(signal.SIGKILL)
        lines += list(child.stdout)
        child.wait()
        child.stdout.close()
        last = int([line for line in lines if line.endswith("\n")][-1])
        found = Layouts(tmp_path).get("map")
        assert found is not None
        assert found[0]["number"] in (last, last + 1)
        assert (found[1]["a"] == found[0]["number"]).all()


def test_a_layout_stays_when_a_folder_is_removed(library: Library) -> None:
    (folder,) = start(library, Path("/docs"))
    with library.writer() as writer:
        put_text(writer, folder, Path("/docs/a.txt"), ["words"])
    library.layouts.put("map", META, arrays())
    with library.writer() as writer:
        writer.remove_folder(folder)  # type: ignore[arg-type]
    assert_same(library.layouts.get("map"), arrays())


def test_a_million_points_come_back_in_a_moment(tmp_path: Path) -> None:
    count = 1_000_000
    points = {
        "positions": np.ones((count, 2), np.float32),
        "ids": np.arange(count),
        "sha256": np.ones((count, 32), "u1"),
    }
    layouts = Layouts(tmp_path)
    assert layouts.put("map", META, points)
    assert layouts.get("map") is not None
    assert least_cpu(lambda: layouts.get("map"), enough=0.3) < 0.3
