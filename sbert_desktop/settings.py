"""Settings: one frozen record per setting, a sparse file, and the values now in force.

The settings dialog and ``settings.toml`` are both generated from :data:`SCHEMA`. Only values that
differ from their default are written, so a better default reaches everybody who never chose.
"""

from __future__ import annotations

import os
import tempfile
import threading
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sbert_desktop import paths
from sbert_desktop.errors import UsageError

Value = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its key, its default (which fixes its type) and the words of the dialog.

    Args:
        key: ``group.name``.
        default: Value used while the person has not chosen.
        label: What the dialog calls it.
        help: One sentence on what it does.
        choices: Allowed values with their labels, for a closed list.
        minimum: Smallest number allowed.
        maximum: Largest number allowed.
        unit: Shown behind a number.
    """

    key: str
    default: Value
    label: str
    help: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    unit: str = ""

    @property
    def group(self) -> str:
        """The part of the key before the dot."""
        return self.key.partition(".")[0]

    def checked(self, value: object) -> Value:
        """Gives the value in the setting's type.

        Raises:
            UsageError: ``setting-invalid`` with what is allowed.
        """
        kind = type(self.default)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not kind:
            raise UsageError(
                "setting-invalid",
                f"{self.key} must be {_KINDS[kind]}, not {value!r}.",
                f"The default is {self.default!r}.",
            )
        if self.choices and value not in {key for key, _ in self.choices}:
            allowed = ", ".join(key for key, _ in self.choices)
            raise UsageError("setting-invalid", f"{self.key} cannot be {value!r}.", f"Choose one of: {allowed}.")
        if isinstance(value, int | float) and not isinstance(value, bool):
            low, high = self.minimum, self.maximum
            if (low is not None and value < low) or (high is not None and value > high):
                raise UsageError("setting-invalid", f"{self.key} must lie between {low} and {high}, not at {value}.")
        assert isinstance(value, bool | int | float | str)
        return value


_KINDS: dict[type, str] = {bool: "yes or no", int: "a whole number", float: "a number", str: "a word"}

GROUPS = {
    "appearance": "Appearance",
    "indexing": "Indexing",
    "search": "Search",
    "duplicates": "Duplicates",
    "reading": "Reading files",
    "advanced": "Details",
}

DEFAULT_EXCLUDE = (
    ".git/; .hg/; .svn/; node_modules/; bower_components/; __pycache__/; site-packages/; .venv/; venv/; .tox/; .nox/; "
    ".mypy_cache/; .pytest_cache/; .ruff_cache/; .ipynb_checkpoints/; .cache/; .gradle/; .idea/; .vscode/; *.egg-info/"
)
"""Folders that programs fill for themselves: no document of a person lies in them."""

SCHEMA: tuple[Setting, ...] = (
    Setting(
        "appearance.theme",
        "system",
        "Colours",
        "Follow the system, or always light or dark.",
        choices=(("system", "Like the system"), ("light", "Light"), ("dark", "Dark")),
    ),
    Setting(
        "appearance.text_scale", 100, "Text size", "Size of all text in the window.", minimum=80, maximum=200, unit="%"
    ),
    Setting("appearance.reduce_motion", False, "Less motion", "Show changes at once instead of moving them."),
    Setting(
        "indexing.pace",
        "auto",
        "Pace",
        "Gentle uses half the cores while you work or on battery; full uses all of them.",
        choices=(("auto", "Gentle while I work"), ("gentle", "Always gentle"), ("full", "Always full")),
    ),
    Setting("indexing.hidden", False, "Include hidden files", "Read files and folders whose name starts with a dot."),
    Setting(
        "indexing.watch",
        True,
        "Watch folders",
        "Read new and changed files within seconds, as long as the window is open.",
    ),
    Setting(
        "indexing.exclude",
        DEFAULT_EXCLUDE,
        "Leave out everywhere",
        "Patterns of files and folders that are not read, in the manner of .gitignore, apart by semicolons.",
    ),
    Setting(
        "indexing.gitignore",
        False,
        "Honour .gitignore",
        "Leave out what the .gitignore files in your folders name; .sbertignore is always honoured.",
    ),
    Setting(
        "indexing.rescan_minutes",
        15,
        "Check network drives every",
        "Folders whose changes the system does not report are checked again after so long.",
        minimum=1,
        maximum=1440,
        unit="min",
    ),
    Setting(
        "indexing.check_at_start",
        True,
        "Check folders at start",
        "Look for new and changed files when the window opens.",
    ),
    Setting(
        "search.words_weight",
        40,
        "Weight of words",
        "How much exact words count beside the meaning.",
        minimum=0,
        maximum=100,
        unit="%",
    ),
    Setting(
        "search.rerank",
        "50",
        "Read again",
        "How many of the best passages a cross-encoder reads again, where one is in use (see Models).",
        choices=(("0", "None"), ("20", "The best 20"), ("50", "The best 50"), ("100", "The best 100")),
    ),
    Setting("search.history", True, "Remember searches", "Offer earlier searches in the search box."),
    Setting(
        "search.best_sentence",
        True,
        "Mark the best sentence",
        "Mark the sentence of each passage that is closest to the query.",
    ),
    Setting(
        "search.key_relevant",
        "S",
        "Key for “this is what I meant”",
        "Pressed in the list of results, where 1 does the same; empty for neither. It does not go to the search box.",
    ),
    Setting(
        "search.key_not_relevant",
        "D",
        "Key for “this is not what I meant”",
        "Pressed in the list of results, where 2 does the same; empty for neither.",
    ),
    Setting(
        "duplicates.rules",
        "no-copy-name, newest, shortest-path, tick:bytes",
        "Which copy stays",
        "Rules in their order, as the Duplicates page writes them; nothing in protect:FOLDER is ever ticked.",
    ),
    Setting(
        "duplicates.near",
        80,
        "Near duplicates share",
        "Documents that share so many of their words are near duplicates.",
        minimum=70,
        maximum=100,
        unit="%",
    ),
    Setting(
        "duplicates.related",
        80,
        "Related from",
        "Documents whose similarity reaches this are related: they say the same in other words.",
        minimum=70,
        maximum=100,
        unit="%",
    ),
    Setting(
        "reading.time_limit",
        60,
        "Time limit per file",
        "A file that takes longer is listed under Problems.",
        minimum=1,
        maximum=3600,
        unit="s",
    ),
    Setting(
        "reading.memory_limit",
        2048,
        "Memory limit per file",
        "Memory that reading one file may take.",
        minimum=256,
        maximum=65536,
        unit="MB",
    ),
    Setting(
        "reading.size_limit",
        1024,
        "Size limit per file",
        "Larger files are listed under Problems.",
        minimum=1,
        maximum=1048576,
        unit="MB",
    ),
    Setting(
        "reading.ocr",
        False,
        "Recognise text in scans and pictures",
        "Needs Tesseract on this machine (the package tesseract-ocr); takes a few seconds per page.",
    ),
    Setting(
        "reading.ocr_languages",
        "eng",
        "Languages of scans",
        "Tesseract's codes with a plus between them, such as eng+deu; each needs its language pack.",
    ),
    Setting(
        "reading.ocr_time_limit",
        120,
        "Time limit for recognising one file",
        "Pages of a scan that are not reached within it are listed under Problems.",
        minimum=10,
        maximum=36_000,
        unit="s",
    ),
    Setting(
        "advanced.encoder",
        "auto",
        "Run the model on",
        "Where the model runs.",
        choices=(
            ("auto", "The fastest available"),
            ("openvino", "CPU with OpenVINO"),
            ("torch-cpu", "CPU with torch"),
            ("torch-gpu", "Graphics card"),
            ("hashing", "Test encoder without a model"),
        ),
    ),
    Setting(
        "advanced.precision",
        "auto",
        "Precision",
        "bf16 only where the CPU has its instructions.",
        choices=(("auto", "Automatic"), ("bf16", "bf16"), ("float32", "float32")),
    ),
    Setting(
        "advanced.exact_below",
        100_000,
        "Exact search below",
        "Passages up to which every search is exact.",
        minimum=0,
        maximum=10_000_000,
        unit="passages",
    ),
    Setting(
        "advanced.index_from",
        10_000,
        "Build the index from",
        "Passages from which the index is built.",
        minimum=100,
        maximum=10_000_000,
        unit="passages",
    ),
)

ELSEWHERE: tuple[Setting, ...] = (
    Setting("models.encoder", "", "Encoder", "The model that passages are found with; empty for the bundled one."),
    Setting("models.cross_encoder", "", "Cross-encoder", "The model that reads the first hits again; empty for none."),
)
"""Settings that are made on pages of their own (Models), and not in the dialog."""

BY_KEY = {setting.key: setting for setting in (*SCHEMA, *ELSEWHERE)}


class Settings:
    """The values in force: defaults, the file, then the environment; safe from any thread.

    A value in the file that is unknown or wrong is ignored and listed in ``problems``; the file is
    never overwritten because of it. ``SBERT_DESKTOP_<GROUP>_<NAME>`` overrides a setting for tests
    and scripts.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file if file is not None else paths.settings_file()
        self._lock = threading.Lock()
        self._values: dict[str, Value] = {}
        self._unknown: dict[str, object] = {}
        self._listeners: list[Callable[[str], None]] = []
        self.problems: list[str] = []
        self._load()

    def __getitem__(self, key: str) -> Value:
        """Gives the value of a setting; KeyError when there is no such setting."""
        setting = BY_KEY[key]
        override = os.environ.get("SBERT_DESKTOP_" + key.replace(".", "_").upper())
        if override is not None:
            return setting.checked(_parse(setting, override))
        with self._lock:
            return self._values.get(key, setting.default)

    def number(self, key: str) -> int:
        """Gives an integer setting."""
        return int(self[key])

    def text(self, key: str) -> str:
        """Gives a text setting."""
        return str(self[key])

    def flag(self, key: str) -> bool:
        """Gives a yes/no setting."""
        return bool(self[key])

    def changed(self) -> Iterator[str]:
        """Gives the keys that the person set."""
        with self._lock:
            return iter(tuple(self._values))

    def set(self, key: str, value: object) -> None:
        """Checks and keeps a value, writes the file, tells the listeners.

        Raises:
            UsageError: ``setting-invalid``; the old value stays.
        """
        checked = BY_KEY[key].checked(value)
        with self._lock:
            if checked == BY_KEY[key].default:
                self._values.pop(key, None)
            else:
                self._values[key] = checked
            self._save()
        for listener in tuple(self._listeners):
            listener(key)

    def reset(self, key: str) -> None:
        """Goes back to the default."""
        self.set(key, BY_KEY[key].default)

    def subscribe(self, listener: Callable[[str], None]) -> None:
        """Calls ``listener(key)`` after each change, in the thread that changed it."""
        self._listeners.append(listener)

    def _load(self) -> None:
        try:
            table = tomllib.loads(self._file.read_text("utf-8"))
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            self.problems.append(f"The settings file could not be read ({error}). Defaults are in force.")
            return
        for group, entries in table.items():
            for name, value in entries.items() if isinstance(entries, dict) else ():
                key = f"{group}.{name}"
                try:
                    self._values[key] = BY_KEY[key].checked(value)
                except KeyError:
                    self._unknown[key] = value
                except UsageError as error:
                    self.problems.append(str(error))

    def _save(self) -> None:
        groups: dict[str, dict[str, object]] = {}
        for key, value in {**self._unknown, **self._values}.items():
            group, _, name = key.partition(".")
            groups.setdefault(group, {})[name] = value
        lines = []
        for group in sorted(groups):
            lines.append(f"[{group}]")
            lines += [f"{name} = {_toml(value)}" for name, value in sorted(groups[group].items())]
            lines.append("")
        self._file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=self._file.parent, prefix=".settings-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write("\n".join(lines))
            os.replace(temporary, self._file)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise


def _parse(setting: Setting, text: str) -> Value:
    if isinstance(setting.default, bool):
        return text.lower() in {"1", "true", "yes", "on"}
    try:
        return type(setting.default)(text)
    except ValueError:
        return text  # what was meant as a number and is none: the check names the setting


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    import json

    return json.dumps(str(value), ensure_ascii=False)
