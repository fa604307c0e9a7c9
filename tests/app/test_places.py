"""A library is not made where a service copies it about; a network share is told by the table of mounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from sbert_desktop.app import places
from sbert_desktop.app.places import better_place, network_share, shares_below, synced_folder


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr(Path, "home", lambda: home)
    for name in ("OneDrive", "OneDriveConsumer", "OneDriveCommercial"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.mark.parametrize(
    ("folder", "service"),
    [
        ("Dropbox", "Dropbox"),
        ("Dropbox (Personal)", "Dropbox"),
        ("OneDrive - Example AG", "OneDrive"),
        ("iCloudDrive", "iCloud Drive"),
        ("Library/Mobile Documents/com~apple~CloudDocs", "iCloud Drive"),
        ("Library/CloudStorage/GoogleDrive-ada@example.org", "Google Drive"),
        ("Library/CloudStorage/Tresorit-x", "Tresorit"),
        ("Google Drive", "Google Drive"),
        ("Nextcloud", "Nextcloud"),
        ("ownCloud2", "ownCloud"),
    ],
)
def test_folders_of_services_are_known_by_name_in_the_home_folder_and_below(home, folder, service):
    assert synced_folder(home / folder) == service
    assert synced_folder(home / folder / "docs" / "library") == service


@pytest.mark.parametrize(
    ("marker", "service"),
    [
        (".stfolder", "Syncthing"),
        (".dropbox", "Dropbox"),
        (".sync_1a2b3c.db", "Nextcloud"),
        (".owncloudsync.log", "ownCloud"),
        (".tmp.drivedownload", "Google Drive"),
        (".sync/ID", "Resilio Sync"),
    ],
)
def test_folders_of_services_are_known_by_what_lies_in_them(home, tmp_path, marker, service):
    synced = tmp_path / "data" / "shared things"
    (synced / marker).parent.mkdir(parents=True)
    (synced / marker).touch()
    assert synced_folder(synced / "docs" / "library") == service
    assert synced_folder(tmp_path / "data" / "library") == ""


def test_ordinary_folders_are_not_taken_for_a_service(home):
    (home / "notes" / ".sync").mkdir(parents=True)
    for place in ("library", "notes/about/Dropbox/library", "Documents/box", ".local/share/x", "Dropboxes"):
        assert synced_folder(home / place) == ""
    assert synced_folder(better_place()) == ""


def test_link_into_a_synced_folder_is_seen_through(home):
    (home / "Dropbox").mkdir()
    (home / "short").symlink_to("Dropbox")
    assert synced_folder(home / "short" / "library") == "Dropbox"


def test_onedrive_is_known_by_the_environment(home, tmp_path, monkeypatch):
    monkeypatch.setenv("OneDriveCommercial", str(tmp_path / "work"))
    assert synced_folder(tmp_path / "work" / "library") == "OneDrive"


def test_better_place_is_not_what_the_environment_names(monkeypatch, tmp_path):
    monkeypatch.setenv("SBERT_DESKTOP_LIBRARY", str(tmp_path / "Dropbox"))
    assert not better_place().is_relative_to(tmp_path / "Dropbox")


def test_network_shares_are_told_by_the_innermost_mount(monkeypatch):
    table = [
        ("/", "ext4"), ("/mnt/nas", "nfs4"), ("/mnt/nas/disk", "ext4"), ("/mnt/pc", "cifs"),
        ("/home/a/ssh", "fuse.sshfs"), ("/mnt/usb", "fuseblk"), ("/mnt/safe", "fuse.gocryptfs"),
        ("/c", "9p"), ("/mnt/pc", "ext4"),
    ]  # fmt: skip
    monkeypatch.setattr(places, "_mounts", lambda: iter(table))
    told = {"/home/a/x": "", "/mnt/nas/x": "nfs4", "/mnt/nas/disk/x": "", "/home/a/ssh/x": "fuse.sshfs",
            "/mnt/nasty": "", "/mnt/usb/x": "", "/mnt/safe/x": "", "/c/Users": "9p", "/mnt/pc/x": ""}  # fmt: skip
    assert {place: network_share(Path(place)) for place in told} == told
    assert shares_below(Path("/home/a")) == [(Path("/home/a/ssh"), "fuse.sshfs")]
    assert shares_below(Path("/mnt/nas")) == []


def test_this_machines_temporary_folder_is_on_a_disk_of_its_own(tmp_path):
    assert network_share(tmp_path) == ""
    assert [place for place, _ in places._mounts()]
