"""Every path that the program uses, in one place.

``SBERT_DESKTOP_LIBRARY`` names the library; ``SBERT_DESKTOP_HOME`` moves settings, caches and the
default library together (tests and portable installations use it).
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

APP = "sbert-desktop"


def _base(kind: str) -> Path:
    home = os.environ.get("SBERT_DESKTOP_HOME")
    if home:
        return Path(home) / kind
    import platformdirs

    dirs = platformdirs.PlatformDirs(APP, appauthor=False)
    return {
        "config": dirs.user_config_path,
        "cache": dirs.user_cache_path,
        "data": dirs.user_data_path,
        "state": dirs.user_state_path,
    }[kind]


def default_library() -> Path:
    """Gives the library that is opened when none is named."""
    named = os.environ.get("SBERT_DESKTOP_LIBRARY")
    return Path(named).expanduser() if named else own_library()


def own_library() -> Path:
    """Gives the library in the program's own folder for data, whatever is named elsewhere."""
    return _base("data") / "library"


def settings_file() -> Path:
    """Gives the sparse TOML file of changed settings."""
    return _base("config") / "settings.toml"


def state_file() -> Path:
    """Gives the file in which the window remembers its geometry and history."""
    return _base("state") / "window.json"


def model_cache() -> Path:
    """Gives the folder of converted models, one sub-folder per weights fingerprint."""
    return _base("cache") / "models"


def added_models() -> Path:
    """Gives the folder of the models that the person added, one sub-folder each."""
    return _base("data") / "models"


def resource(*parts: str) -> Path:
    """Finds a file of ``resources/`` in a source tree, an installed wheel and a frozen program."""
    import sys

    here = Path(__file__).resolve().parent
    roots = [here / "resources", here.parent / "resources"]
    frozen = getattr(sys, "_MEIPASS", None)
    if frozen:
        roots.insert(0, Path(frozen) / "resources")
    for root in roots:
        found = root.joinpath(*parts)
        if found.exists():
            return found
    return roots[-1].joinpath(*parts)


def ordinary_size(path: Path) -> int:
    """Gives the bytes of an ordinary file; what else has a name (a pipe, a device) may never end, or never begin.

    Raises:
        OSError: It is none, or is not there; ``strerror`` says so.
    """
    try:
        found = path.stat()
    except ValueError:  # a zero byte in the name
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "It is no ordinary file", str(path))
    return found.st_size
