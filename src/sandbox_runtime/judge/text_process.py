"""The program of a text worker process: calls functions on long texts, one after another, off the server's event loop.

Started by text_workers, which calls main(). Requests and answers are length-prefixed pickles on standard input and output. Both
ends are this package; texts of callers are plain data in them.
"""

from __future__ import annotations

import io
import os
import pickle
import resource
import struct
import sys
from types import MappingProxyType
from typing import Any, BinaryIO

LENGTH = struct.Struct(">Q")
MAX_MEMORY_BYTES = 4 * 1024**3
_NICE = 5


def _read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


class _Pickler(pickle.Pickler):
    """Also pickles read-only mappings, which hold the options of a request."""

    def reducer_override(self, value: object) -> Any:
        return (_read_only, (dict(value),)) if isinstance(value, MappingProxyType) else NotImplemented


def dumps(value: object) -> bytes:
    buffer = io.BytesIO()
    _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    os.nice(_NICE)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # stray prints must not mix with the answers
    while head := requests.read(LENGTH.size):
        (size,) = LENGTH.unpack(head)
        _answer(answers, requests.read(size))


def _answer(answers: BinaryIO, request: bytes) -> None:
    data = _call(request)
    answers.write(LENGTH.pack(len(data)) + data)
    answers.flush()


def _call(request: bytes) -> bytes:
    """Return a pickled pair: whether the call succeeded, and its result or exception."""
    try:
        function, arguments = pickle.loads(request)
        return dumps((True, function(*arguments)))
    except Exception as error:
        return _failure(error)


def _failure(error: Exception) -> bytes:
    try:
        pickle.loads(data := dumps((False, error)))
        return data
    except Exception:
        return dumps((False, RuntimeError(f"{type(error).__name__}: {error}"[:1000])))
