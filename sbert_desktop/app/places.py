"""Where a folder lies: in a folder that a service copies to other machines, or on a network share.

A library there would be torn: its files change together, and a service copies them one by one. A
person's documents there are fine; only their changes may have to be looked for instead of heard of.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from sbert_desktop import paths
from sbert_desktop.domain import short_path
from sbert_desktop.errors import LibraryError

_NAMES = (
    ("Dropbox", ("dropbox", "dropbox (*)")),
    ("OneDrive", ("onedrive", "onedrive - *", "onedrive-*")),
    ("iCloud Drive", ("iclouddrive", "icloud drive")),
    ("Google Drive", ("google drive", "googledrive", "googledrive-*", "google drive (*)")),
    ("Nextcloud", ("nextcloud", "nextcloud[0-9]", "nextcloud-*")),
    ("ownCloud", ("owncloud", "owncloud[0-9]", "owncloud-*", "owncloud - *")),
    ("Proton Drive", ("proton drive", "protondrive*")),
    ("pCloud", ("pclouddrive", "pcloud drive", "pcloud sync")),
    ("MEGA", ("mega", "megasync")),
    ("Box", ("box", "box sync", "box-box")),
    ("Seafile", ("seafile",)),
    ("Syncthing", ("syncthing",)),
)
"""Names that the services give their folder in the home folder or at the top of a drive."""

_MARKERS = (
    ("Dropbox", (".dropbox", ".dropbox.cache")),
    ("Syncthing", (".stfolder",)),
    ("Google Drive", (".tmp.drivedownload", ".tmp.driveupload")),
    ("Nextcloud", (".nextcloudsync.log", ".sync_*.db", "._sync_*.db")),
    ("ownCloud", (".owncloudsync.log",)),
    ("MEGA", (".megaignore", ".debris")),
    ("Seafile", (".seafile-data", "seafile-data")),
    ("Resilio Sync", (".sync",)),
)
"""What the services leave at the top of a folder that they copy."""

_OWN_MARKS = {"Dropbox": (".dropbox",), "MEGA": (".megaignore",), "Resilio Sync": (".sync/ID", ".sync/IgnoreList")}
"""Where a marker's name alone says too little: the file that must be there."""

_ONEDRIVE = ("OneDrive", "OneDriveConsumer", "OneDriveCommercial")
"""Environment variables in which Windows names OneDrive's folders."""

_NETWORK = frozenset(
    ("nfs", "nfs3", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afpfs", "afs", "ncpfs", "webdav", "davfs", "ceph",
     "glusterfs", "lustre", "gpfs", "beegfs", "9p", "drvfs", "virtiofs", "vboxsf", "vmhgfs", "prl_fs", "coda", "acfs")
)  # fmt: skip
"""File systems on which others change files without this system hearing of it."""

_LOCAL_FUSE = frozenset(
    ("fuse.ntfs-3g", "fuse.ntfs", "fuse.exfat", "fuse.ext2", "fuse.encfs", "fuse.gocryptfs", "fuse.cryfs",
     "fuse.securefs", "fuse.bindfs", "fuse.mergerfs", "fuse.overlayfs", "fuse.fuse-overlayfs", "fuse.lxcfs",
     "fuse.portal", "fuse.unionfs", "fuse.zfs")
)  # fmt: skip


def synced_folder(path: Path) -> str:
    """Gives the name of the service that copies this place to other machines, or ``""``.

    Told by names, marker files and, for OneDrive, the environment; opens nothing.
    """
    place = Path(os.path.realpath(path.expanduser()))
    home = Path(os.path.realpath(Path.home()))
    for variable in _ONEDRIVE:
        told = os.environ.get(variable)
        if told and place.is_relative_to(os.path.realpath(told)):
            return "OneDrive"
    for folder in (place, *place.parents):
        service = _by_name(folder, home) or ("" if folder in (home, Path(folder.anchor)) else _by_marker(folder))
        if service:
            return service
    return ""


def _by_name(folder: Path, home: Path) -> str:
    name, parent = folder.name.lower(), folder.parent
    if parent.name == "Mobile Documents" or name == "com~apple~clouddocs":
        return "iCloud Drive"
    cloud = parent.name == "CloudStorage" and parent.parent.name == "Library"
    if not (cloud or parent == home or parent == Path(folder.anchor) or os.path.ismount(parent)):
        return ""
    for service, patterns in _NAMES:
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return service
    return folder.name.partition("-")[0] if cloud else ""


def _by_marker(folder: Path) -> str:
    try:
        names = [name for name in os.listdir(folder) if name.startswith((".", "seafile"))]
    except OSError:
        return ""
    for service, patterns in _MARKERS:
        if any(fnmatchcase(name, pattern) for name in names for pattern in patterns):
            proof = _OWN_MARKS.get(service)
            if proof is None or any((folder / mark).exists() for mark in proof):
                return service
    return ""


def network_share(path: Path) -> str:
    """Gives the kind of network file system that a place lies on (``nfs``, ``cifs``, ...), or ``""``.

    Told by the table of mounts; the place itself is not touched, for it may not answer.
    """
    text = os.path.abspath(path)
    if text.startswith("\\\\"):
        return "smb"
    best, kind = "", ""
    for place, found in _mounts():
        if _holds(place, text) and len(place) >= len(best):
            best, kind = place, found
    return kind if _is_network(kind) else ""


def shares_below(path: Path) -> list[tuple[Path, str]]:
    """Gives the network file systems that are mounted somewhere below a folder, with their kinds."""
    text = os.path.abspath(path)
    return [
        (Path(place), kind) for place, kind in _mounts() if place != text and _holds(text, place) and _is_network(kind)
    ]


def better_place() -> Path:
    """Gives where a library lies well: the program's own folder for data of this user, on this machine."""
    return paths.own_library()


def refuse_synced(library: Path) -> None:
    """Refuses to make a library where a service would copy its files one by one, and tear it.

    Raises:
        LibraryError: ``library-synced``.
    """
    if os.path.lexists(library / "catalog.sqlite") or os.environ.get("SBERT_DESKTOP_ALLOW_SYNCED"):
        return
    service = synced_folder(library)
    if service:
        raise LibraryError(
            "library-synced",
            f"{short_path(library)} lies in a folder that {service} copies to other machines; "
            "a library would be damaged there.",
            f"Choose a place on this machine alone, such as {short_path(better_place())}; "
            "the folders you search may lie anywhere.",
        )


def _is_network(kind: str) -> bool:
    return kind in _NETWORK or (kind.startswith("fuse.") and kind not in _LOCAL_FUSE)


def _holds(place: str, text: str) -> bool:
    return text == place or text.startswith(place.rstrip(os.sep) + os.sep)


def _mounts() -> Iterator[tuple[str, str]]:
    """Gives the mounts with their kinds; later ones lie over earlier ones."""
    try:
        with open("/proc/self/mounts", "rb") as stream:
            lines = stream.read().splitlines()
    except OSError:
        yield from _partitions()
        return
    for line in lines:
        fields = line.split(b" ")
        if len(fields) >= 3:
            place = re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8)]), fields[1])
            yield os.fsdecode(place), fields[2].decode("ascii", "replace")


def _partitions() -> Iterator[tuple[str, str]]:
    """Gives the mounts of Windows and macOS."""
    import psutil

    for part in psutil.disk_partitions(all=True):
        yield part.mountpoint.rstrip("\\"), "smb" if "remote" in part.opts.split(",") else part.fstype.lower()
