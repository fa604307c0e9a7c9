"""The language between the program and its child processes: length-prefixed JSON and raw bytes.

A frame is two unsigned 32-bit little-endian lengths, a JSON object and a raw payload (vectors
travel there). Never pickle: a child that parsed a hostile file must not be able to run code here.
Standard library only, because children import it first.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import BinaryIO

_HEAD = struct.Struct("<II")
MAX_HEADER = 512 * 1024 * 1024
MAX_PAYLOAD = 1024 * 1024 * 1024


class WireError(Exception):
    """The other side closed the pipe or sent something that is not a frame."""


def write_frame(stream: BinaryIO, header: Mapping[str, object], payload: bytes = b"") -> None:
    """Writes one frame and flushes it."""
    data = json.dumps(header, ensure_ascii=True).encode("ascii")
    stream.write(_HEAD.pack(len(data), len(payload)))
    stream.write(data)
    if payload:
        stream.write(payload)
    stream.flush()


def read_frame(stream: BinaryIO, *, most: int = MAX_PAYLOAD) -> tuple[dict[str, object], bytes]:
    """Reads one frame.

    Args:
        stream: The other side.
        most: Bytes that header and payload may each have; what says it has more is not read.

    Raises:
        WireError: End of stream, a length over the limits or not a JSON object.
    """
    head = _read_exactly(stream, _HEAD.size)
    header_length, payload_length = _HEAD.unpack(head)
    if header_length > min(most, MAX_HEADER) or payload_length > min(most, MAX_PAYLOAD):
        raise WireError(f"frame of {header_length}+{payload_length} bytes is over the limit")
    try:
        header = json.loads(_read_exactly(stream, header_length))
    except ValueError as error:
        raise WireError("frame header is not JSON") from error
    if not isinstance(header, dict):
        raise WireError("frame header is not an object")
    payload = _read_exactly(stream, payload_length) if payload_length else b""
    return header, payload


def _read_exactly(stream: BinaryIO, count: int) -> bytes:
    chunks: list[bytes] = []
    left = count
    while left:
        chunk = stream.read(left)
        if not chunk:
            raise WireError("the other side closed the pipe")
        chunks.append(chunk)
        left -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


Handler = Callable[[dict[str, object], bytes], tuple[Mapping[str, object], bytes]]


def serve(stdin: BinaryIO, stdout: BinaryIO, handler: Handler) -> None:
    """Answers requests in a child until the parent closes the pipe.

    ``handler`` gets header and payload and gives the reply's. An exception inside it becomes a
    reply ``{"error": {"code", "message", "hint", "type"}}``, so that one bad request does not end the child.
    """
    from sbert_desktop.errors import SbertDesktopError

    while True:
        try:
            header, payload = read_frame(stdin)
        except WireError:
            return
        try:
            reply, data = handler(header, payload)
        except SbertDesktopError as error:
            reply = {"error": {"code": error.code, "message": error.message, "hint": error.hint, "type": "known"}}
            data = b""
        except Exception as error:
            import traceback

            reply = {
                "error": {
                    "code": "bug",
                    "message": f"{type(error).__name__}: {error}",
                    "hint": "",
                    "type": type(error).__name__,
                    "traceback": traceback.format_exc(),
                }
            }
            data = b""
        write_frame(stdout, reply, data)
