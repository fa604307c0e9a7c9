"""The shared collections through the whole program: found by their words, listed with their reason."""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys

import psutil
import pytest

from sbert_desktop.app.facade import App
from sbert_desktop.domain import Mode, Query
from sbert_desktop.errors import SbertDesktopError
from tests.events import Inbox

NEEDS_OFFICE = {"doc", "ppt"}


def _expected(shared_data, name):
    with (shared_data / name).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def _command(*arguments, library=None):
    env = {**os.environ, "SBERT_DESKTOP_ADVANCED_ENCODER": "hashing"}
    base = [sys.executable, "-m", "sbert_desktop", *(("--library", str(library)) if library else ())]
    return subprocess.run([*base, *map(str, arguments)], env=env, capture_output=True, text=True, timeout=300)


@pytest.mark.timeout(300)
def test_extract_prints_every_key_phrase_of_the_tour(shared_data, tmp_path, monkeypatch, capsys):
    done = _command("extract", shared_data / "tour", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    files = json.loads(done.stdout)["files"]
    out = tmp_path / "extracted.jsonl"
    with out.open("w", encoding="utf-8") as stream:
        for entry in files:
            if entry.get("member"):
                continue
            name = os.path.relpath(entry["path"], shared_data / "tour")
            stream.write(json.dumps({"file": name, "text": entry.get("text", "")}, ensure_ascii=False) + "\n")
    spec = importlib.util.spec_from_file_location("check_tour", shared_data / "check_tour.py")
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    rows = _expected(shared_data, "tour_expected.csv")
    texts = {entry["file"]: entry for entry in map(json.loads, out.read_text(encoding="utf-8").splitlines())}
    missed = []
    for row in rows:
        text = checker.norm(texts[row["file"]]["text"], row["language"])
        phrases = [row[key] for key in ("key_phrase_1", "key_phrase_2") if row[key]]
        if row["mode"] == "ocr" or (row["format"] in NEEDS_OFFICE and not shutil.which("soffice")):
            continue
        missed += [(row["file"], phrase) for phrase in phrases if checker.norm(phrase, row["language"]) not in text]
    assert missed == []
    assert len(texts) == len(rows)


@pytest.mark.timeout(300)
def test_every_key_phrase_of_the_tour_is_found_by_words_in_window_and_command_line(
    shared_data, tmp_path, settings, capsys
):
    from sbert_desktop.cli import main

    library = tmp_path / "library"
    app, inbox = App(library, settings), Inbox()
    rows = _expected(shared_data, "tour_expected.csv")
    wanted = [
        (row["file"], row[key])
        for row in rows
        for key in ("key_phrase_1", "key_phrase_2")
        if row[key] and row["mode"] != "ocr" and (row["format"] not in NEEDS_OFFICE or shutil.which("soffice"))
    ]
    missed = []
    try:
        app.connect(inbox.post)
        inbox.result(app.add_folders([shared_data / "tour"]), timeout=200)
        for name, phrase in wanted:
            view = inbox.result(app.search(Query(phrase, mode=Mode.KEYWORD, top=20, fold=False)))
            if shared_data / "tour" / name not in [path for d in view.documents for path in d.paths]:
                missed.append(("window", name, phrase))
    finally:
        app.close()
    for name, phrase in wanted:
        status = main(["--library", str(library), "search", phrase, "--mode", "keyword", "--top", "20", "--json"])
        out = json.loads(capsys.readouterr().out)
        assert status == 0
        if str(shared_data / "tour" / name) not in [hit["path"] for hit in out["hits"]]:
            missed.append(("command line", name, phrase))
    assert missed == []
    assert len(wanted) > 100


@pytest.mark.timeout(300)
def test_hostile_files_behave_as_is_right_for_each(shared_data, tmp_path):
    library = tmp_path / "library"
    before = sum(os.times()[2:4])
    done = _command("index", shared_data / "hostile", "--json", "--quiet", library=library)
    assert done.returncode == 0, done.stderr
    assert sum(os.times()[2:4]) - before < 60  # seconds of processor time of the run and its children: some 3
    listed = {
        os.path.relpath(entry["path"], shared_data / "hostile"): entry
        for entry in json.loads(_command("problems", "--json", library=library).stdout)["problems"]
    }
    texts = {}
    for entry in json.loads(_command("extract", shared_data / "hostile", "--json", "--quiet").stdout)["files"]:
        texts[os.path.relpath(entry["path"], shared_data / "hostile")] = entry.get("text", "")
    for row in _expected(shared_data, "hostile_expected.csv"):
        name, right = row["file"], row["right_behaviour"]
        problem = listed.get(name)
        if row["must_contain"]:
            assert row["must_contain"] in texts[name]
        if row["must_not"]:
            assert row["must_not"] not in texts[name]
        if right.startswith("extract the text"):
            assert problem is None or problem["partial"], name
            assert texts[name].strip(), name
        elif right.startswith(("fail cleanly", "say that it needs", "recognise as binary", "report as empty")):
            assert problem is not None, f"{name} is not listed"
            assert problem["message"].strip(), name
            assert not texts[name].strip(), name
        elif "either" in right or "stay within limits" in right:
            assert problem is not None or texts[name].strip(), f"{name} is neither indexed nor listed"
        if "password" in right and "needs" in right:
            assert problem["code"] == "encrypted", name
    assert listed["zero/zero.txt"]["code"] == "empty"
    assert listed["wrong names/program.txt"]["code"] == "unknown-type"


@pytest.mark.timeout(300)
def test_no_child_outlives_an_index_run(shared_data, tmp_path):
    env = {**os.environ, "SBERT_DESKTOP_ADVANCED_ENCODER": "hashing"}
    process = subprocess.Popen(
        [sys.executable, "-m", "sbert_desktop", "--library", str(tmp_path / "library"), "index",
         str(shared_data / "hostile"), "--json", "--quiet"],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    seen: dict[int, psutil.Process] = {}
    while process.poll() is None:
        try:
            seen.update({child.pid: child for child in psutil.Process(process.pid).children(recursive=True)})
        except psutil.NoSuchProcess:
            break
        try:
            process.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
    process.communicate()
    assert seen, "no extraction child was ever seen"
    _, alive = psutil.wait_procs(list(seen.values()), timeout=60)
    assert alive == []


def test_a_locked_file_of_the_collection_opens_with_its_password(shared_data, tmp_path, settings):
    app, inbox = App(tmp_path / "library", settings), Inbox()
    path = tmp_path / "locked" / "file.pdf"  # alone: the text of its neighbour names the password
    path.parent.mkdir()
    shutil.copyfile(shared_data / "hostile" / "encrypted" / "r4-user-password.pdf", path)
    password = next(r["password"] for r in _expected(shared_data, "hostile_expected.csv") if r["password"])
    try:
        app.connect(inbox.post)
        inbox.result(app.add_folders([path.parent]), timeout=100)
        wrong = inbox.result(app.unlock(path, password + "x", keep=False))
        assert not wrong.opened
        shown = inbox.result(app.unlock(path, password, keep=False))
        assert shown.opened
        assert shown.text.strip()
        assert not shown.kept
        word = next(word for word in shown.text.split() if len(word) > 4 and word.isalpha())
        found = inbox.result(app.search(Query(word, mode=Mode.KEYWORD)))
        assert path not in [d.path for d in found.documents], "the text was kept without a yes"
        # before it is kept, since the text of this file, too, names its own password
        for part in (tmp_path / "library").rglob("*"):
            with contextlib.suppress(FileNotFoundError, IsADirectoryError):  # some come and go
                assert password.encode() not in part.read_bytes(), f"the password stands in {part.name}"
        kept = inbox.result(app.unlock(path, password, keep=True))
        assert kept.kept
        found = inbox.result(app.search(Query(word, mode=Mode.KEYWORD)))
        assert path in [d.path for d in found.documents]
    except SbertDesktopError as error:
        pytest.fail(str(error))
    finally:
        app.close()


