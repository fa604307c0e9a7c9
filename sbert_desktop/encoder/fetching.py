"""The child that fetches a model from the hub: the one process that may use the network, on a click.

Plain HTTP with the standard library: no token of the person is read or sent, nothing is counted. All
files come from one commit; the hub's sha256 of each large file is checked. What an earlier try left in
the target is taken up where it stopped, as long as the hub still has that commit. Requests (``do``):
``begin`` (model, target, hub, keep) and ``go on``, which works for about half a second; closing the
pipe ends it.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO

from sbert_desktop.errors import EncoderError
from sbert_desktop.wire import Handler

_TURN_S = 0.5
_SILENCE_S = 30.0  # without a byte for so long the connection counts as lost
_PIECE = 256 * 1024
_MOST_FILES = 200
_MOST_BYTES = 20 * 1024**3
_LIST_BYTES = 16 * 1024**2
NOTE = ".fetching.json"
"""Which commit the files of a target that is not whole yet belong to."""
_PART = ".part"
_HINT = "See whether there is a connection, and try again."


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    size: int
    sha256: str


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows the hub to where it keeps its files, over https only (or as plain as the hub itself)."""

    def __init__(self, scheme: str) -> None:
        self._scheme = scheme

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: object, newurl: str
    ) -> urllib.request.Request | None:
        if urllib.parse.urlsplit(newurl).scheme not in {"https", self._scheme}:
            raise EncoderError("fetch-failed", "The hub names a place without encryption.", "Try again later.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


class Fetch:
    """One model under way.

    Args:
        model: ``owner/name``.
        target: A folder that is empty, or that holds what an earlier try left.
        hub: Address of the hub: https, or http on this machine.
        keep: Pattern of the files that are wanted.

    Raises:
        EncoderError: ``fetch-failed``, ``model-missing`` or ``model-refused``.
    """

    def __init__(self, model: str, target: Path, hub: str, keep: str) -> None:
        parts = urllib.parse.urlsplit(hub)
        local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
        if parts.scheme != "https" and not (parts.scheme == "http" and local):
            raise EncoderError("fetch-failed", f"The address of the hub, {hub[:80]}, is not encrypted.",
                               "Set HF_ENDPOINT to an https address, or take it away.")
        self._hub = hub.rstrip("/")
        self._opener = urllib.request.build_opener(_Redirects(parts.scheme))
        self._model = model
        self._target = target
        commit, self.files = self._list(re.compile(keep))
        self._base = f"{self._hub}/{model}/resolve/{commit}/"
        self._begin(commit)
        self.total = sum(file.size for file in self.files)
        self.done = 0
        self.file = ""
        self._steps = self._run()

    def go_on(self) -> bool:
        """Works for about half a second; gives False at the end."""
        until = time.monotonic() + _TURN_S
        while time.monotonic() < until:
            try:
                next(self._steps)
            except StopIteration:
                return False
        return True

    def _list(self, keep: re.Pattern[str]) -> tuple[str, list[_File]]:
        address = f"{self._hub}/api/models/{self._model}?blobs=true"
        with self._open(address) as stream:
            data = _read(stream, _LIST_BYTES)
        try:
            listing = json.loads(data)
            commit = str(listing["sha"])
            entries = [(str(entry["rfilename"]), entry) for entry in listing["siblings"]]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise EncoderError("fetch-failed", "The hub's answer was not understood.", _HINT) from error
        if re.fullmatch(r"[0-9a-f]{7,64}", commit) is None:
            raise EncoderError("fetch-failed", "The hub's answer was not understood.", _HINT)
        files = [_file(name, entry) for name, entry in entries if keep.fullmatch(name) and ".." not in name]
        names = {file.name for file in files}
        if not any(name.endswith(".safetensors") and "/" not in name for name in names):
            pickle = next((name for name, _ in entries if name.endswith((".bin", ".pt", ".pth", ".ckpt"))), "")
            why = f"keeps its weights in {pickle}, a pickle, which can run code" if pickle else "has no safetensors"
            raise EncoderError("model-refused", f"{self._model} {why}.", "Choose a model with safetensors weights.")
        if "model.safetensors" in names:  # weights in another precision beside it are not wanted
            files = [file for file in files if "/" in file.name or not file.name.endswith(".safetensors")
                     or file.name == "model.safetensors"]
        if len(files) > _MOST_FILES or sum(file.size for file in files) > _MOST_BYTES:
            raise EncoderError("model-refused", f"{self._model} is too large to be run here.",
                               "Choose a smaller model.")
        return commit, files

    def _begin(self, commit: str) -> None:
        """Clears the target of what another commit, or something that tells of none, left."""
        note = self._target / NOTE
        try:
            same = json.loads(note.read_text("utf-8")) == {"model": self._model, "commit": commit}
        except (OSError, ValueError):
            same = False
        if not same:
            self._clear()
            note.write_text(json.dumps({"model": self._model, "commit": commit}), "utf-8")

    def _clear(self) -> None:
        for entry in self._target.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()

    def _run(self) -> Iterator[None]:
        for file in self.files:
            self.file = file.name
            yield from self._one(file)
        (self._target / NOTE).unlink(missing_ok=True)

    def _one(self, file: _File) -> Iterator[None]:
        place = self._target / file.name
        part = place.with_name(place.name + _PART)
        place.parent.mkdir(exist_ok=True)
        if place.is_file():  # an earlier try had all of it
            place.replace(part)
        digest, size = hashlib.sha256(), 0
        if part.is_file():
            for piece in _pieces(part):
                digest.update(piece)
                size += len(piece)
                yield
        self.done += size
        if size < file.size or not part.is_file():
            with self._open(self._base + urllib.parse.quote(file.name), size) as stream:
                if size and not _goes_on(stream, size):  # the hub begins anew
                    self.done -= size
                    digest, size = hashlib.sha256(), 0
                with part.open("ab" if size else "wb") as out:
                    while piece := _read(stream, _PIECE, whole=False):
                        out.write(piece)
                        digest.update(piece)
                        size += len(piece)
                        self.done += len(piece)
                        if size > file.size:
                            break
                        yield
        if size < file.size:
            raise _lost(OSError("the connection ended early"))
        if size != file.size or (file.sha256 and digest.hexdigest() != file.sha256):
            self._clear()  # nothing of it is trusted
            raise EncoderError("fetch-failed", f"{file.name} did not arrive as the hub describes it.", _HINT)
        part.replace(place)

    def _open(self, address: str, start: int = 0) -> IO[bytes]:
        more = {"Range": f"bytes={start}-"} if start else {}
        request = urllib.request.Request(address, headers={"User-Agent": "sbert-desktop", **more})
        try:
            stream: IO[bytes] = self._opener.open(request, timeout=_SILENCE_S)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in {401, 403, 404}:
                raise EncoderError("model-missing", f"The hub gives no model {self._model!r} (status {error.code}).",
                                   "Check the name; a model that wants a licence accepted has to be "
                                   "downloaded by hand and added from its folder.") from None
            raise EncoderError("fetch-failed", f"The hub answered with status {error.code}.", _HINT) from None
        except (OSError, HTTPException) as error:
            raise _lost(error) from error
        return stream


def _file(name: str, entry: Mapping[str, object]) -> _File:
    size, lfs = entry.get("size"), entry.get("lfs")
    digest = lfs.get("sha256") if isinstance(lfs, dict) else ""
    if not isinstance(size, int) or size < 0:
        raise EncoderError("fetch-failed", "The hub does not say how large the files are.", _HINT)
    return _File(name, size, str(digest or ""))


def _pieces(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while piece := stream.read(16 * _PIECE):
            yield piece


def _goes_on(stream: IO[bytes], start: int) -> bool:
    """Says whether an answer begins where it was asked to."""
    headers = getattr(stream, "headers", {})
    return getattr(stream, "status", 0) == 206 and str(headers.get("Content-Range", "")).startswith(f"bytes {start}-")


def _read(stream: IO[bytes], most: int, *, whole: bool = True) -> bytes:
    try:
        data: bytes = stream.read(most) if whole else stream.read1(most)  # type: ignore[attr-defined]
    except (OSError, HTTPException) as error:
        raise _lost(error) from error
    return data


def _lost(error: Exception) -> EncoderError:
    return EncoderError("fetch-failed", f"The hub cannot be reached: {getattr(error, 'reason', error)}.", _HINT)


def make_handler() -> Handler:
    """Gives the handler of ``child fetch``."""
    fetch: Fetch | None = None

    def handle(header: dict[str, object], payload: bytes) -> tuple[Mapping[str, object], bytes]:
        nonlocal fetch
        ended = False
        if header.get("do") == "begin":
            fetch = Fetch(str(header["model"]), Path(str(header["target"])), str(header["hub"]), str(header["keep"]))
        elif header.get("do") == "go on" and fetch is not None:
            ended = not fetch.go_on()
        else:
            raise EncoderError("child-refused", f"The fetching child does not know {header.get('do')!r}.")
        return {"ended": ended, "done": fetch.done, "total": fetch.total, "file": fetch.file}, b""

    return handle
