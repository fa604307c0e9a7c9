"""Patterns mean what git says they mean; the nearer source wins; hostile lines cost nothing."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
import unicodedata

import pytest

from sbert_desktop.app.rules import Judge, Rules
from sbert_desktop.app.scanning import Scan, scan
from sbert_desktop.domain import FolderRules
from sbert_desktop.jobs import NullContext
from sbert_desktop.settings import DEFAULT_EXCLUDE


def made(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return root


def walked(root, rules=None, **options) -> Scan:
    return scan(root, NullContext(), rules=rules, **options)


def names_of(found: Scan) -> set[str]:
    return {os.fsdecode(os.path.relpath(path, found.root)) for path in found.files}


def reasons_of(found: Scan) -> dict[str, tuple[str, str]]:
    return {
        os.fsdecode(os.path.relpath(path, found.root)): (verdict.reason, verdict.message)
        for path, _, verdict in found.rows
    }


def test_an_ignore_file_holds_for_its_folder_and_below_and_takes_back_in(tmp_path):
    root = made(tmp_path / "d", "a.log", "notes/a.log", "notes/keep.log", "notes/deep/b.log", "notes/b.txt")
    (root / "notes" / ".sbertignore").write_text("# logs\n\n*.log\n!keep.log\n")
    found = walked(root, rows=9)
    assert names_of(found) == {"a.log", "notes/keep.log", "notes/b.txt"}
    assert reasons_of(found)["notes/deep/b.log"] == ("ignore-file", "named in notes/.sbertignore, line 3")


def test_the_deeper_ignore_file_wins_and_the_folders_own_rules_win_over_both(tmp_path):
    root = made(tmp_path / "d", "a.log", "notes/a.log", "notes/secret.log")
    (root / ".sbertignore").write_text("*.log\n")
    (root / "notes" / ".sbertignore").write_text("!*.log\n")
    assert names_of(walked(root)) == {"notes/a.log", "notes/secret.log"}
    own = Rules(FolderRules(exclude=("secret.*", "!/a.log")))
    found = walked(root, own, rows=9)
    assert names_of(found) == {"a.log", "notes/a.log"}
    assert reasons_of(found)["notes/secret.log"] == ("pattern", "matches secret.* of this folder's rules")


def test_nothing_below_a_folder_that_is_left_out_is_taken_back_in(tmp_path):
    root = made(tmp_path / "d", "build/keep.txt", "a.txt")
    (root / ".sbertignore").write_text("build/\n!build/keep.txt\n")
    found = walked(root, rows=9)
    assert names_of(found) == {"a.txt"}
    assert found.left_out["ignore-file"] == 1


def test_patterns_for_all_folders_leave_out_what_programs_fill_and_an_ignore_file_takes_it_back(tmp_path):
    root = made(
        tmp_path / "d", "web/node_modules/x/readme.md", "node_modules.txt", "py/__pycache__/a.txt", "a/venv/b.md"
    )
    rules = Rules(exclude=DEFAULT_EXCLUDE)
    assert names_of(walked(root, rules)) == {"node_modules.txt"}
    (root / "web" / ".sbertignore").write_text("!node_modules\n")
    assert names_of(walked(root, rules)) == {"node_modules.txt", "web/node_modules/x/readme.md"}


def test_gitignore_is_honoured_only_when_asked_for_and_is_weaker_than_sbertignore(tmp_path):
    root = made(tmp_path / "d", "a.txt", "b.txt", "c.md")
    (root / ".gitignore").write_text("*.txt\n")
    (root / ".sbertignore").write_text("!b.txt\n")
    assert names_of(walked(root)) == {"a.txt", "b.txt", "c.md"}
    assert names_of(walked(root, Rules(gitignore=True))) == {"b.txt", "c.md"}


def test_include_patterns_let_in_only_what_they_name_at_any_depth(tmp_path):
    root = made(tmp_path / "d", "a.md", "x/b.md", "x/c.txt", "plans/d.txt", "x/plans/e/f.txt", "plans/.h.txt")
    rules = Rules(FolderRules(include=("*.md", "plans/", "!b.md")))
    found = walked(root, rules, rows=9)
    assert names_of(found) == {"a.md", "plans/d.txt", "x/plans/e/f.txt"}
    assert reasons_of(found)["x/c.txt"][0] == "pattern"


def test_hidden_follows_the_folders_rules_before_the_setting(tmp_path):
    root = made(tmp_path / "d", ".h/a.txt", "b.txt")
    assert names_of(walked(root, Rules(hidden=True))) == {".h/a.txt", "b.txt"}
    assert names_of(walked(root, Rules(FolderRules(hidden=False), hidden=True))) == {"b.txt"}
    assert names_of(walked(root, Rules(FolderRules(hidden=True)))) == {".h/a.txt", "b.txt"}


def test_both_forms_of_an_accent_match_the_pattern(tmp_path):
    composed = "caf\u00e9.txt"
    root = made(tmp_path / "d", composed, unicodedata.normalize("NFD", composed), "b.txt")
    assert names_of(walked(root, Rules(FolderRules(exclude=(composed,))))) == {"b.txt"}
    decomposed = unicodedata.normalize("NFD", "caf\u00e9*")
    assert names_of(walked(root, Rules(FolderRules(exclude=(decomposed,))))) == {"b.txt"}


@pytest.mark.parametrize(
    "name",
    ["~$letter.docx", ".~lock.a.odt#", ".a.txt.swp", "a.tmp", "A.TMP", "film.crdownload", "x.part",
     ".goutputstream-ABC123", "a.txt~", "#a.txt#", "._a.txt"],
)  # fmt: skip
def test_lock_and_temporary_files_are_left_out_even_where_hidden_ones_are_read(tmp_path, name):
    root = made(tmp_path / "d", name, "real.txt")
    found = walked(root, Rules(hidden=True), rows=3)
    assert names_of(found) == {"real.txt"}
    assert reasons_of(found)[name][0] == "lock-file"


def test_lines_that_mean_nothing_are_passed_over_and_the_others_hold(tmp_path):
    root = made(tmp_path / "d", "a.txt", "b.log", "x[.txt")
    (root / ".sbertignore").write_bytes(b"!\n/\n   \nx[\n\xff\xfe*\n***/***\n[z-a]\n\\\n*.log\n")
    assert names_of(walked(root)) == {"a.txt", "x[.txt"}


def test_ignore_file_that_is_a_link_a_pipe_or_a_folder_counts_as_absent(tmp_path):
    root = made(tmp_path / "d", "a.txt", "b/c.txt", "e/f.txt")
    (tmp_path / "evil").write_text("*\n")
    os.symlink(tmp_path / "evil", root / ".sbertignore")
    os.mkfifo(root / "b" / ".sbertignore")
    (root / "e" / ".sbertignore").mkdir()
    assert names_of(walked(root)) == {"a.txt", "b/c.txt", "e/f.txt"}


def test_a_hostile_pattern_does_not_hold_up_the_walk(tmp_path):
    root = tmp_path / "d"
    root.mkdir()
    for letter in "bcdefg":
        (root / ("a" * 240 + letter)).write_text("x")
    lines = ["*a" * 40 + "*z", "**/" * 60 + "z", "*a*a*a*a*a*a*z/", "/" + "*a" * 30]
    (root / ".sbertignore").write_text("\n".join(lines))
    began = time.process_time()
    assert len(walked(root).files) == 6
    assert time.process_time() - began < 10.0


def test_one_path_is_judged_as_the_walk_judges_it(tmp_path):
    root = made(tmp_path / "d", "a/b.txt", "a/node_modules/c.txt", ".h/d.txt", "a/e.log", "x.tmp")
    (root / "a" / ".sbertignore").write_text("*.log\n")
    judge = Judge(os.fsencode(root), Rules(exclude="node_modules"))
    wanted = {
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and judge.wants(os.fsencode(path), False)
    }
    assert wanted == names_of(walked(root, Rules(exclude="node_modules"))) == {"a/b.txt"}
    assert not judge.wants(os.fsencode(tmp_path / "elsewhere.txt"), False)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git to compare with")
def test_patterns_mean_what_git_says(tmp_path):
    rng = random.Random(5)
    parts = ["a", "b", "ab", "c.txt", "d.log", "b.txt", "foo"]
    root = tmp_path / "d"
    for _ in range(120):
        place = root.joinpath(*rng.choices(parts, k=rng.randint(0, 3)))
        try:
            place.mkdir(parents=True, exist_ok=True)
            (place / rng.choice(["x.txt", "y.log", "z", "a", "foo.md"])).write_text("x")
        except OSError:
            continue
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    pieces = ["a", "b", "foo", "*.txt", "*.log", "?", "a*", "[ab]", "**", "*", "x.txt", "z", "c.txt", "!", "/", "foo.*"]
    rules = Rules(exclude=".git/")
    for round_ in range(60):
        lines = []
        for _ in range(rng.randint(1, 4)):
            line = rng.choice(["", "", "", "!", "/", "!/"]) + "/".join(
                rng.choice(pieces[:13]) for _ in range(rng.choice([1, 1, 1, 2, 2, 3]))
            )
            lines.append(line + rng.choice(["", "", "", "/"]))
        for place in [root, *(path for path in root.iterdir() if path.is_dir() and path.name != ".git")]:
            for name in (".gitignore", ".sbertignore"):
                (place / name).unlink(missing_ok=True)
        where = root if round_ % 3 else min(path for path in root.iterdir() if path.is_dir() and path.name != ".git")
        for name in (".gitignore", ".sbertignore"):
            (where / name).write_text("\n".join(lines) + "\n")
        told = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-o", "-z", "--exclude-per-directory=.gitignore"],
            capture_output=True, check=True, text=True, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
        )  # fmt: skip
        expected = {name for name in told.stdout.split("\0") if name and "ignore" not in name}
        assert names_of(walked(root, rules)) == expected, lines


def test_included_lines_of_which_none_can_match_leave_nothing_out():
    for lines in (("",), ("# x",), ("*a" * 30,)):
        rules = Rules(FolderRules(include=lines))
        assert rules.judge(rules.start(), b"notes.txt", "", False) is None
    rules = Rules(FolderRules(include=("", "*.md")))
    assert rules.judge(rules.start(), b"notes.txt", "", False) is not None
