"""The commands on problems and folders: keys, exit statuses, one line per trouble, friendly to shells."""

from __future__ import annotations

import csv
import io
import json
import os
import select
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sbert_desktop.cli import main


@pytest.fixture
def folder(tmp_path) -> Path:
    root = tmp_path / "papers"
    root.mkdir()
    (root / "rain.txt").write_text("The rain gauge on the roof filled twice in October.\n")
    (root / "bad.pdf").write_bytes(b"%PDF-1.4 nothing here")
    with zipfile.ZipFile(root / "box.zip", "w") as archive:
        archive.writestr("sub/choir.md", "# Choir\n\nThe altos rehearse on Tuesday.\n")
        archive.writestr("bad.pdf", b"%PDF-1.4 nothing here")
    return root


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("SBERT_DESKTOP_ADVANCED_ENCODER", "hashing")
    monkeypatch.setenv("SBERT_DESKTOP_LIBRARY", str(tmp_path / "library"))

    def call(*arguments, stdin="") -> tuple[int, dict, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capfd.readouterr()
        status = main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return status, json.loads(out) if out.strip().startswith("{") else {"out": out}, err

    return call


def test_problems_are_listed_ignored_and_written_as_csv(run, folder, tmp_path):
    run("index", folder, "--json")
    status, answer, _ = run("problems", "--json")
    assert status == 0
    assert [(Path(p["path"]).name, p["member"]) for p in answer["problems"]] == [
        ("bad.pdf", ""),
        ("box.zip", "bad.pdf"),
    ]
    keys = {"path", "member", "code", "message", "hint", "partial", "ignored"}
    assert all(set(problem) >= keys for problem in answer["problems"])
    _, answer, _ = run("ignore", folder / "bad.pdf", "--json")
    assert [problem["ignored"] for problem in answer["problems"]] == [True]
    assert len(run("problems", "--json")[1]["problems"]) == 1
    assert len(run("problems", "--all", "--json")[1]["problems"]) == 2
    _, answer, _ = run("problems", "--csv", "-")
    rows = list(csv.DictReader(io.StringIO(answer["out"])))
    assert [(row["member"], row["ignored"]) for row in rows] == [("bad.pdf", "no")]
    assert run("problems", "--csv", tmp_path / "list.csv")[0] == 0
    assert (tmp_path / "list.csv").read_bytes().startswith(b"\xef\xbb\xbfpath,")
    run("ignore", folder / "bad.pdf", "--undo")
    assert len(run("problems", "--json")[1]["problems"]) == 2


def test_retry_caption_and_members(run, folder):
    run("index", folder, "--json")
    _, answer, _ = run("retry", folder / "bad.pdf", "--json")
    assert (answer["changed"], answer["added"]) == (1, 0)
    hit = run("search", "altos rehearse", "--json")[1]["hits"][0]
    assert (Path(hit["path"]).name, hit["member"], hit["stale"]) == ("box.zip", "sub/choir.md", False)
    assert run("caption", folder / "bad.pdf", "-", "--json", stdin="A walrus sings.\n")[1]["text"] == "A walrus sings."
    assert Path(run("search", "walrus", "--json")[1]["hits"][0]["path"]).name == "bad.pdf"
    assert "A walrus sings." in run("caption", folder / "bad.pdf")[1]["out"]
    assert run("caption", folder / "bad.pdf", "--remove", "--json")[1]["text"] == ""
    assert run("search", "walrus", "--mode", "keyword", "--json")[1]["hits"] == []
    entries = run("extract", folder / "box.zip", "--json")[1]["files"]
    assert [entry.get("member") for entry in entries] == ["sub/choir.md", "bad.pdf", None]
    assert entries[2]["members"] == 2
    assert "altos rehearse" in entries[2]["text"]


def test_rules_and_a_new_place(run, folder, tmp_path):
    run("index", folder, "--json")
    _, report, _ = run("rules", folder, "--exclude", "*.zip", "--json")
    assert report["documents"] == 1
    assert run("rules", folder, "--json")[1]["exclude"] == ["*.zip"]
    assert run("rules", folder, "--clear", "--json")[1]["documents"] == 2
    os.rename(folder, tmp_path / "elsewhere")
    _, report, err = run("index", "--json")
    assert report["documents"] == 2
    assert "offline" in err
    assert run("status", "--json")[1]["folders"][0]["state"] == "offline"
    _, report, _ = run("locate", folder, tmp_path / "elsewhere", "--json")
    assert (report["documents"], report["encoded_passages"], report["added"]) == (2, 0, 0)
    assert run("search", "rain gauge", "--json")[1]["hits"][0]["path"] == str(tmp_path / "elsewhere" / "rain.txt")


@pytest.mark.parametrize(
    ("arguments", "status", "word"),
    [
        (["retry", "/no/such/file"], 1, "no folder of this library"),
        (["ignore", "/no/such/file"], 1, "no folder of this library"),
        (["caption", "/no/such/file", "x"], 1, "no folder of this library"),
        (["rules", "/no/such/folder"], 1, "not a folder of this library"),
        (["locate", "/no/such/folder", "/tmp"], 1, "not a folder of this library"),
        (["unlock", "/no/such/file"], 1, "empty"),
        (["retry"], 2, "PATH"),
        (["problems", "--csv", "/no/such/folder/f.csv"], 1, "could not be written"),
    ],
)
def test_bad_input_is_one_plain_line(run, folder, arguments, status, word):
    run("index", folder, "--json")
    got, _, err = run(*arguments)
    assert got == status
    assert word in err
    assert len([line for line in err.splitlines() if line.startswith("sbert-desktop")]) == 1


WATCH = """
import sys
from sbert_desktop.app import watching
watching._BLIND = 60  # on a slow machine the folder would be looked at once more
from sbert_desktop.interrupt import end_at_once_until_begun
end_at_once_until_begun()
from sbert_desktop.cli import main
sys.exit(main())
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGINT")
def test_watch_prints_a_line_per_update_until_it_is_interrupted(tmp_path, folder):
    env = {
        **os.environ,
        "SBERT_DESKTOP_ADVANCED_ENCODER": "hashing",
        "SBERT_DESKTOP_LIBRARY": str(tmp_path / "library"),
    }
    command = [sys.executable, "-m", "sbert_desktop"]
    subprocess.run([*command, "index", str(folder), "--quiet"], env=env, check=True, capture_output=True)
    process = subprocess.Popen(
        [sys.executable, "-c", WATCH, "watch", "--json", "--quiet"],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert json.loads(process.stdout.readline())["unchanged"] == 3
        for turn in range(30):  # the thread that watches does not say when it has begun: what came before is not told
            (folder / "new.txt").write_text(f"A walrus sings on the ice floe, {turn}.\n")
            if select.select([process.stdout], [], [], 3.0)[0]:
                break
        assert json.loads(process.stdout.readline())["added"] >= 1  # counted again where it changed while it was read
    finally:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
