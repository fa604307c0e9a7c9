from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl

from sbert_desktop.ui.addresses import address_of, path_of
from sbert_desktop.ui.drop import local_paths

NAMES = [b"plain.txt", b"bad\xff\xfe name.txt", b"dir\xe9 100%/x\n#1 \"y\"?.md", "Ärger 日本 🙂.txt".encode(),
         "real � sign.txt".encode()]


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
@pytest.mark.parametrize("name", NAMES)
def test_any_name_survives_as_an_address(name: bytes) -> None:
    path = Path(os.fsdecode(b"/home/ada/" + name))
    address = address_of(path)
    assert address.isLocalFile()
    data = QMimeData()
    data.setUrls([address])
    sent = bytes(data.data("text/uri-list").data())
    assert path_of(QUrl.fromEncoded(sent.strip())) == path
    assert local_paths(data) == (path,)


def test_bytes_that_are_not_utf_8_are_sent_as_they_are() -> None:
    assert bytes(address_of(Path(os.fsdecode(b"/a/b\xff c.txt"))).toEncoded().data()) == b"file:///a/b%FF%20c.txt"


@pytest.mark.parametrize("address", ["https://example.org/x", "mailto:a@b.c", "", "file://"])
def test_what_is_no_file_here_has_no_path(address: str) -> None:
    assert path_of(QUrl(address)) is None
