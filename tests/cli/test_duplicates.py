"""The contract of ``duplicates``, ``undo``, ``have`` and ``export duplicates``: keys, exit statuses, what moves."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sbert_desktop.cli import main
from sbert_desktop.settings import Settings

pytestmark = pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="looks into the trash itself")

WALK = (
    "We left the harbour before eight and followed the wall of the old salt works to the second stile. The path is "
    "dry there even in March, and the dogs may run. Behind the farm the way divides: left to the church, right to "
    "the cliffs. We took the right one, because the wind had dropped.\n"
)
BREAD = (
    "Mix the rye flour with the sour dough in the evening and let it stand in a warm place under a cloth. In the "
    "morning add wheat flour, salt and lukewarm water, and knead until the dough leaves the bowl.\n"
)


@pytest.fixture
def folder(tmp_path) -> Path:
    root = tmp_path / "papers"
    for name, text in {
        "walk.txt": WALK,
        "old/walk copy.txt": WALK,
        "old/walk (2).txt": WALK,
        "walk2.txt": WALK.replace("eight", "nine in the morning"),
        "bread.txt": BREAD,
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_600_000_000, 1_600_000_000))
    return root


@pytest.fixture
def environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    monkeypatch.setenv("SBERT_DESKTOP_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("SBERT_DESKTOP_HOME", str(tmp_path / "home"))  # settings of one test are not another's
    return tmp_path


@pytest.fixture
def run(environment, capfd):
    def call(*arguments) -> tuple[int, dict, str]:
        capfd.readouterr()
        try:
            status = main([str(a) for a in arguments])
        except SystemExit as error:
            status = int(error.code or 0)
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, json.loads(out) if out.strip().startswith("{") else {"out": out}, err

    return call


def _names(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


ALL = {"walk.txt", "old/walk copy.txt", "old/walk (2).txt", "walk2.txt", "bread.txt"}


def test_the_report_keeps_its_keys_and_moves_nothing(run, folder):
    run("index", folder)
    status, report, _ = run("duplicates", "--json")
    assert status == 0
    assert set(report) >= {"groups", "reclaimable_bytes"}
    [group] = report["groups"]
    assert set(group) >= {"kind", "lowest_similarity", "members"}
    assert (group["kind"], len(group["members"])) == ("near", 4)
    assert all(set(m) >= {"path", "bytes", "modified", "suggestion", "reason"} for m in group["members"])
    assert report["reclaimable_bytes"] == sum(m["bytes"] for m in group["members"][1:])
    assert "applied" not in report
    for kind, count in (("bytes", 1), ("text", 0), ("near", 1), ("related", 0), ("all", 1)):
        _, report, _ = run("duplicates", "--json", "--kind", kind)
        assert len(report["groups"]) == count, kind
    assert len(run("duplicates", "--json", "--threshold", "0.99")[1]["groups"][0]["members"]) == 3
    assert run("duplicates", "--json", "--folder", folder / "old")[1]["files"] == 2
    assert run("duplicates", "--json", "--type", "pdf")[1]["groups"] == []
    assert _names(folder) == ALL


WRONG = (
    ("--yes",), ("--threshold", "0.5"), ("--threshold", "nan"), ("--threshold", "x"), ("--kind", "some"),
    ("--apply", "eldest"), ("--apply", "in:"), ("--apply", "newest:/x"), ("--apply", "tick:numbers"),
    ("--apply", "protect:/not there/at all"), ("--apply", "in:~nobody-of-that-name/x"),
    ("--apply", "only-in:missing", "--yes"),
)  # fmt: skip


def test_wrong_usage_ends_with_2_and_moves_nothing(run, folder):
    run("index", folder)
    for arguments in WRONG:
        status, _, err = run("duplicates", *arguments)
        assert status == 2, arguments
        assert err.strip()
    assert _names(folder) == ALL


def test_a_dry_run_says_what_would_go(run, folder, environment):
    run("index", folder)
    status, report, _ = run("duplicates", "--apply", "no-copy-name", "--json")
    assert status == 0
    assert (report["applied"]["dry"], report["applied"]["moved"]) == (True, 2)
    assert _names(folder) == ALL
    assert not (environment / "share" / "Trash").exists()
    assert not list((environment / "library").rglob("cleanups/*.jsonl"))
    assert run("undo", "--list", "--json")[1] == {"clean_ups": []}


def test_what_is_ticked_goes_the_library_forgets_it_and_undo_brings_it_back(run, folder, environment):
    run("index", folder)
    status, report, _ = run("duplicates", "--apply", "no-copy-name", "--yes", "--json")
    done = report["applied"]
    assert (status, done["moved"], done["failed"], done["skipped"], done["dry"]) == (0, 2, 0, 0, False)
    assert done["bytes"] == report["ticked_bytes"] == 2 * len(WALK)
    assert _names(folder) == {"walk.txt", "walk2.txt", "bread.txt"}
    assert all(Path(one["trash"]).is_file() for one in done["files"])
    assert run("status", "--json")[1]["documents"] == 3
    _, listed, _ = run("undo", "--list", "--json")
    assert [(one["id"], one["moved"], one["undone"]) for one in listed["clean_ups"]] == [(done["id"], 2, False)]

    status, back, _ = run("undo", folder / "old" / "walk copy.txt", "--json")
    assert (status, [Path(one["path"]).name for one in back["restored"]]) == (0, ["walk copy.txt"])
    status, back, _ = run("undo", "--id", done["id"], "--json")
    assert (status, [Path(one["path"]).name for one in back["restored"]]) == (0, ["walk (2).txt"])
    assert back["not_restored"] == []
    assert _names(folder) == ALL
    assert run("status", "--json")[1]["documents"] == 5
    assert (folder / "old" / "walk copy.txt").stat().st_mtime == 1_600_000_000
    status, _, err = run("undo")
    assert (status, "undo --list" in err) == (1, True)
    assert run("undo", "--id", "none")[0] == 1


def test_undo_takes_back_what_the_clean_up_taught(run, folder, environment):
    from sbert_desktop.library import open_library

    def taught() -> int:
        library = open_library(environment / "library", create=False)
        try:
            return len(library.judgements("same"))
        finally:
            library.close()

    (folder / "walk again.txt").write_text(WALK + "\n\n")  # equal bytes teach nothing, equal words do
    run("index", folder, "--json")
    status, _, _ = run("duplicates", "--apply", "newest,tick:bytes+text", "--yes", "--json")
    assert status == 0
    assert taught() >= 1
    assert run("undo", "--json")[0] == 0
    assert taught() == 0


def test_in_another_process_undo_brings_back_what_was_moved(run, folder, environment):
    run("index", folder)
    run("duplicates", "--apply", "no-copy-name", "--yes")
    subprocess.run([sys.executable, "-m", "sbert_desktop", "undo"], check=True, capture_output=True)
    assert _names(folder) == ALL


def test_many_that_go_at_once_are_forgotten_without_a_question(run, folder):
    for number in range(200):
        (folder / f"{number} copy.txt").write_text(WALK)
    run("index", folder)
    assert run("duplicates", "--apply", "no-copy-name", "--yes", "--json")[1]["applied"]["moved"] == 202
    assert run("status", "--json")[1]["documents"] == 3
    _, hits, _ = run("search", "harbour stile", "--mode", "keyword", "--top", "50", "--json")
    assert {Path(hit["path"]).name for hit in hits["hits"]} == {"walk.txt", "walk2.txt"}
    assert run("undo")[0] == 0
    assert run("status", "--json")[1]["documents"] == 205


def test_protected_folders_hold_however_they_are_named(run, folder, environment, monkeypatch):
    run("index", folder)
    (environment / "alias").symlink_to(folder / "old")
    monkeypatch.chdir(folder)
    for name in (folder / "old", environment / "alias", "old", "../papers/old", "./old/"):
        _, report, _ = run("duplicates", "--json", "--apply", f"oldest,not-in:{folder},protect:{name}")
        ticked = [m["path"] for g in report["groups"] for m in g["members"] if m["suggestion"] == "trash"]
        assert [Path(one).name for one in ticked] == ["walk.txt"], name
    Settings().set("duplicates.rules", f"newest, protect:{environment / 'alias'}")
    _, report, _ = run("duplicates", "--json", "--apply", f"not-in:{folder / 'old'}")
    assert [Path(m["path"]).name for m in report["groups"][0]["members"] if m["suggestion"] == "trash"] == ["walk.txt"]
    Settings().set("duplicates.rules", "eldest")
    status, _, err = run("duplicates")
    assert (status, "duplicates.rules" in err) == (2, True)


@pytest.mark.parametrize("form", ["csv", "json", "html"])
def test_groups_are_written_in_every_format(run, folder, tmp_path, form):
    run("index", folder)
    target = tmp_path / f"out.{form}"
    status, said, _ = run("export", "duplicates", "-o", target, "--json")
    assert (status, said["format"], said["groups"]) == (0, form, 1)
    text = target.read_text(encoding="utf-8-sig")
    assert "walk copy.txt" in text
    if form == "csv":
        rows = list(csv.DictReader(text.splitlines()))
        assert len(rows) == 4
    status, _, err = run("export", "duplicates", "-o", target)
    assert (status, target.read_text(encoding="utf-8-sig")) == (1, text)
    assert "--force" in err or "there" in err
    assert run("export", "duplicates", "-o", target, "--force")[0] == 0
    assert run("export", "duplicates", "-o", tmp_path / "none" / f"x.{form}")[0] == 1
    status, out, _ = run("export", "duplicates", "--format", form)
    assert status == 0
    assert "walk copy.txt" in json.dumps(out, ensure_ascii=False)


def test_have_tells_what_is_there(run, folder, tmp_path):
    (folder / "song.mp3").write_bytes(b"\1\2" * 5000)
    run("index", folder)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    same = elsewhere / "x.txt"
    same.write_text(WALK)
    status, view, _ = run("have", same, "--json")
    assert (status, view["verdict"], len(view["files"])) == (0, "identical", 3)
    song = elsewhere / "tune.mp3"
    song.write_bytes(b"\1\2" * 5000)
    assert run("have", song, "--json")[1]["verdict"] == "identical"
    assert run("have", folder / "bread.txt", "--json")[1]["verdict"] != "identical", "it is no copy of itself"
    (folder / "song.mp3").unlink()
    assert run("have", song, "--json")[1]["verdict"] == "new", "what is gone is not there"
    assert run("have", elsewhere / "none.txt")[0] == 1
    assert run("have", elsewhere)[0] == 1


SLOW = """
import sys, time
from sbert_desktop.platform import SystemTrash
move = SystemTrash.move
count = 0
def slowly(self, path):
    print("moving", file=sys.stderr, flush=True)
    global count
    count += 1
    time.sleep(0.05 if count < 5 else 1)  # the signal comes with the fifth, long before the last
    return move(self, path)
SystemTrash.move = slowly
from sbert_desktop.interrupt import end_at_once_until_begun
end_at_once_until_begun()
from sbert_desktop.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_ctrl_c_ends_between_two_files_and_all_is_told(run, folder, environment, name):
    for number in range(60):
        (folder / f"{number} copy.txt").write_text(WALK)
    run("index", folder)
    command = [sys.executable, "-c", SLOW, "duplicates", "--apply", "no-copy-name", "--yes", "--json", "--quiet"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    for _ in range(5):
        child.stderr.readline()
    child.send_signal(getattr(signal, name))
    out, err = child.communicate(timeout=100)
    assert child.returncode == 130, err
    done = json.loads(out)["applied"]
    assert 0 < done["moved"] < 62
    assert done["moved"] + done["skipped"] == 62
    gone = {Path(one["path"]) for one in done["files"] if one["state"] == "moved"}
    assert all(path.exists() is (path not in gone) for path in (Path(one["path"]) for one in done["files"]))
    assert run("status", "--json")[1]["documents"] == 65 - done["moved"]
    _, listed, _ = run("undo", "--list", "--json")
    assert [(one["moved"], one["skipped"]) for one in listed["clean_ups"]] == [(done["moved"], done["skipped"])]
    assert run("undo")[0] == 0
    assert len(_names(folder)) == 65


def test_two_processes_at_once_never_take_both_copies(run, folder, environment):
    for number in range(30):
        for part in "ab":
            path = folder / part / f"{number}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{number} {WALK}")
    run("index", folder)
    command = [sys.executable, "-m", "sbert_desktop", "duplicates", "--yes", "--kind", "bytes", "--apply"]
    rules = (f"not-in:{folder / 'a'}", f"not-in:{folder / 'b'}")
    children = [subprocess.Popen([*command, rule], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for rule in rules]
    for child in children:
        child.communicate(timeout=120)
    left = {path.name for part in "ab" for path in (folder / part).iterdir()}
    assert left == {f"{number}.txt" for number in range(30)}
