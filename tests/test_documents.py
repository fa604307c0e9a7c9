"""What README and the lists name is there, and what is there is named."""

from __future__ import annotations

import re
from pathlib import Path

from sbert_desktop.cli._commands import COMMANDS

ROOT = Path(__file__).resolve().parents[1]


def test_every_command_is_named_in_the_readme_and_no_other() -> None:
    table = (ROOT / "README.md").read_text("utf-8").split("## Command line", 1)[1].split("\n## ", 1)[0]
    named = {word for row in re.findall(r"^\| (.+?) \| ", table, re.MULTILINE)
             for word in re.findall(r"`([a-z]+)[ `\\]", row)}  # fmt: skip
    assert named == set(COMMANDS)


def test_every_benchmark_is_listed() -> None:
    folder = ROOT / "tests" / "benchmarks"
    listed = set(re.findall(r"tests/benchmarks/(\w+)\.py", (folder / "README.md").read_text("utf-8")))
    assert listed == {place.stem for place in folder.glob("[!_]*.py")}


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "adr"
    text = (folder / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d{4}) \| \[.+\]\((\d{4})(-.+\.md)\) \|$", text, re.MULTILINE)
    assert {number + rest for _, number, rest in rows} == {place.name for place in folder.glob("[0-9]*.md")}
    assert all(number == shown for shown, number, _ in rows)
