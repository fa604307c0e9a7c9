"""Which programs of a Linux desktop open a kind of file, by the desktop's own entries.

The kinds come from the shared MIME database, the programs from the ``.desktop`` entries, and the person's order
from ``mimeapps.list``. All three are plain text files; nothing is started here.
"""

from __future__ import annotations

import fnmatch
import mimetypes
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

_ENTRY = "Desktop Entry"
_MOST_BYTES = 256 * 1024
"""An entry, with its name in a hundred languages, is below 64 kB; larger is not one."""
_LISTS = ("Default Applications", "Added Associations", "Removed Associations")
_DROPPED = frozenset("%" + letter for letter in "icdDnNvmk")


def programs_for(path: Path) -> tuple[tuple[str, Path], ...]:
    """Gives the programs that the desktop knows for a file, the usual one first.

    Args:
        path: The file; only its name is looked at.

    Returns:
        Name in the person's language and ``.desktop`` entry of each; empty on other systems, or when none is known.

    Source: freedesktop.org's specifications of desktop entries and of associations between MIME types and programs.
    """
    if not sys.platform.startswith("linux"):
        return ()
    kinds = _kinds_of(path.name)
    entries = _entries()
    ids: dict[str, None] = {}
    removed: set[str] = set()
    for kind in kinds:
        for wanted in _preferred(kind, removed):
            ids.setdefault(wanted)
        for id_, entry in entries.items():
            if kind in entry[1].get("MimeType", "").split(";") and id_ not in removed:
                ids.setdefault(id_)
    found: dict[str, Path] = {}
    for id_ in ids:
        if id_ in entries and _usable(entries[id_][1]):
            found.setdefault(_name_of(entries[id_][1]), entries[id_][0])
    return tuple(found.items())


def command_of(entry: Path, path: Path) -> list[str] | None:
    """Gives the command with which a ``.desktop`` entry opens a file; None when it is no entry with a command."""
    keys = _groups(entry).get(_ENTRY, {})
    try:
        parts = shlex.split(keys.get("Exec", ""))
    except ValueError:
        return None
    if not parts or not _usable(keys):
        return None
    command: list[str] = []
    named = False
    for part in parts:
        if part in ("%f", "%F", "%u", "%U"):
            command.append(str(path) if part in ("%f", "%F") else path.absolute().as_uri())
            named = True
        elif part not in _DROPPED:
            command.append(part.replace("%%", "%"))
    return command if named else [*command, str(path)]


def is_entry(program: Path) -> bool:
    """Says whether this is a ``.desktop`` entry that lies where the desktop keeps its own."""
    return program.suffix == ".desktop" and any(program.is_relative_to(folder) for folder in _application_folders())


# ---- where the desktop keeps things ---------------------------------------------------------


def _data_folders() -> list[Path]:
    own = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    shared = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    return [Path(name) for name in (own, *shared.split(":")) if os.path.isabs(name)]


def _application_folders() -> list[Path]:
    return [folder / "applications" for folder in _data_folders()]


def _lists() -> Iterator[Path]:
    own = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    shared = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    for name in (own, *shared.split(":")):
        if os.path.isabs(name):
            yield Path(name) / "mimeapps.list"
    for folder in _application_folders():
        yield folder / "mimeapps.list"


def _text(path: Path) -> str:
    try:
        with open(path, "rb") as stream:
            return stream.read(16 * _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _groups(path: Path) -> dict[str, dict[str, str]]:
    """Reads a file of ``[groups]`` with ``key=value`` lines; the first of two equal keys counts."""
    groups: dict[str, dict[str, str]] = {}
    group: dict[str, str] = {}
    for line in _text(path).splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            group = groups.setdefault(line[1:-1], {})
        elif "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            group.setdefault(key.strip(), value.strip())
    return groups


def _entries() -> dict[str, tuple[Path, dict[str, str]]]:
    """Gives every entry by its id: the person's own hides the system's of the same id."""
    found: dict[str, tuple[Path, dict[str, str]]] = {}
    for folder in _application_folders():
        try:
            paths = sorted(folder.rglob("*.desktop"))
        except OSError:
            continue
        for path in paths:
            id_ = "-".join(path.relative_to(folder).parts)
            if id_ not in found:
                found[id_] = (path, _groups(path).get(_ENTRY, {}))
    return found


def _preferred(kind: str, removed: set[str]) -> list[str]:
    """Gives the ids that the lists name for a kind, the default first; fills ``removed`` with those taken away."""
    defaults: list[str] = []
    added: list[str] = []
    for path in _lists():
        default, more, less = ([id_ for id_ in _groups(path).get(group, {}).get(kind, "").split(";") if id_]
                               for group in _LISTS)
        defaults += [id_ for id_ in default if id_ not in removed]
        added += [id_ for id_ in more if id_ not in removed]
        removed.update(id_ for id_ in less if id_ not in defaults and id_ not in added)
    return [*defaults, *added]


def _kinds_of(name: str) -> list[str]:
    """Gives the MIME types of a file by its name, the exact one first, then what it is a kind of."""
    best: tuple[int, int, str] = (-1, -1, "")
    parents: dict[str, str] = {}
    low = name.lower()
    for folder in _data_folders():
        for line in _text(folder / "mime" / "globs2").splitlines():
            weight, _, rest = line.partition(":")
            kind, _, glob = rest.partition(":")
            glob = glob.partition(":")[0].lower()
            if not weight.isdecimal() or not glob or (int(weight), len(glob)) <= best[:2]:
                continue
            if low.endswith(glob[1:]) if glob.startswith("*.") else fnmatch.fnmatchcase(low, glob):
                best = (int(weight), len(glob), kind)
        for line in _text(folder / "mime" / "subclasses").splitlines():
            child, _, parent = line.partition(" ")
            parents.setdefault(child, parent)
    kind = best[2] or mimetypes.guess_type(low)[0] or ""
    kinds: list[str] = []
    while kind and kind not in kinds:
        kinds.append(kind)
        kind = parents.get(kind, "")
    if kinds and kinds[0].startswith("text/") and "text/plain" not in kinds:
        kinds.append("text/plain")
    return [kind for kind in kinds if kind != "application/octet-stream"]


def _usable(keys: dict[str, str]) -> bool:
    if keys.get("Type", "Application") != "Application" or not keys.get("Exec"):
        return False
    if "true" in (keys.get("Hidden", "").lower(), keys.get("Terminal", "").lower()):
        return False
    tried = keys.get("TryExec", "")
    return not tried or shutil.which(tried) is not None


def _name_of(keys: dict[str, str]) -> str:
    for language in _languages():
        own = keys.get(f"Name[{language}]")
        if own:
            return own
    return keys.get("Name", "") or keys["Exec"].split()[0]


def _languages() -> Sequence[str]:
    code = next((os.environ[key] for key in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(key)), "")
    code = code.partition(".")[0].partition("@")[0]
    return (code, code.partition("_")[0]) if code not in ("", "C", "POSIX") else ()
