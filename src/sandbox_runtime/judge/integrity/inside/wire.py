"""Frames between the process of the tests and the process of the solution: a JSON header and a payload, both with a length.

Neither side trusts a length: what is larger than the limit is refused before it is read.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any

_LENGTHS = struct.Struct(">II")
MAX_BYTES = 64 * 1024 * 1024
"""Of a header or of a payload."""
_READ_BYTES = 1 << 20
_SMALL_BYTES = 64 * 1024
"""From here on a payload is not copied to be sent in one piece with its header."""
_dumps, _loads = json.dumps, json.loads


class Disconnected(Exception):
    """The other process closed its end, or sent what is no frame."""


class Wire:
    """One end of a socket pair. Blocking: the box's wall limit ends a process that waits for ever."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        head = _dumps(header).encode()
        if len(head) > MAX_BYTES or len(payload) > MAX_BYTES:
            raise ValueError(f"a message of {len(head) + len(payload)} bytes is too large: at most {MAX_BYTES} are allowed")
        self._write(_LENGTHS.pack(len(head), len(payload)) + head + (payload if len(payload) < _SMALL_BYTES else b""))
        if len(payload) >= _SMALL_BYTES:
            self._write(payload)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            raise Disconnected(str(error)) from None

    def receive(self) -> tuple[dict[str, Any], bytes]:
        head_bytes, payload_bytes = _LENGTHS.unpack(self._read(_LENGTHS.size))
        if head_bytes > MAX_BYTES or payload_bytes > MAX_BYTES:
            raise Disconnected("a message is too large")
        try:
            header = _loads(self._read(head_bytes))
        except (ValueError, RecursionError):
            raise Disconnected("a header is not JSON") from None
        if type(header) is not dict or type(header.get("k")) is not str:
            raise Disconnected("a header has no kind")
        return header, self._read(payload_bytes)

    def _read(self, count: int) -> bytes:
        parts = []
        while count:
            try:
                part = os.read(self._fd, min(count, _READ_BYTES))
            except OSError as error:
                raise Disconnected(str(error)) from None
            if not part:
                raise Disconnected("the other process has ended")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
