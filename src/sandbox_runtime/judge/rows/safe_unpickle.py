"""Unpack tests as some datasets publish them: base64 of zlib of a Python pickle of JSON.

The pickle module is not used: a pickle is a program, and even an unpickler without classes can be made to exhaust memory. This
module executes only the few instructions that texts, numbers, lists and maps need, and refuses all others. The result is never
larger than the decompressed input.
"""

from __future__ import annotations

import base64
import binascii
import json
import pickletools
import zlib
from typing import Any

from sandbox_runtime.errors import InvalidRequest

MAX_BYTES = 256 * 1024 * 1024
"""Limit for the decompressed tests of one row."""

_TEXTS = ("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "UNICODE")
_NUMBERS = ("BININT", "BININT1", "BININT2", "INT", "LONG", "LONG1", "BINFLOAT", "FLOAT")
_SCALARS = frozenset((*_TEXTS, *_NUMBERS))
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_IGNORED = frozenset(("PROTO", "FRAME"))
_MARK = object()


def unpack_tests(text: str) -> Any:
    """Return the value of a text that is JSON or packed. A pickled text is parsed as JSON."""
    if text.lstrip()[:1] in ("{", "["):
        return _parse_json(text)
    value = _unpickle(_decompress(text))
    return _parse_json(value) if isinstance(value, str) else value


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"the packed tests are not JSON: {error}") from error


def _decompress(text: str) -> bytes:
    try:
        compressed = base64.b64decode(text, validate=True)
        decompressor = zlib.decompressobj()
        data = decompressor.decompress(compressed, MAX_BYTES)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise InvalidRequest(f"the tests are neither JSON nor base64 of zlib: {error}") from error
    if not decompressor.eof:
        raise InvalidRequest(f"the packed tests are truncated, or larger than {MAX_BYTES} bytes")
    return data


def _unpickle(data: bytes) -> Any:
    machine = _PickleMachine()
    try:
        for operation, argument, _ in pickletools.genops(data):
            machine.step(operation.name, argument)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise InvalidRequest(f"the packed tests are not a pickle of texts, numbers, lists and maps: {error}") from error
    return machine.result()


class _PickleMachine:
    """The pickle machine for plain data. Only scalars can be reused from the memo: with lists, a short pickle could expand to an
    endless value."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def result(self) -> Any:
        if len(self._stack) != 1:
            raise InvalidRequest("the packed tests must be a pickle of exactly one value")
        return self._stack[0]

    def step(self, name: str, argument: Any) -> None:
        if name in _SCALARS:
            self._stack.append(argument)
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in _STEPS:
            _STEPS[name](self, argument)
        elif name not in _IGNORED:
            raise ValueError(f"the instruction {name} is not allowed")

    def mark(self, _: Any) -> None:
        self._stack.append(_MARK)

    def empty_list(self, _: Any) -> None:
        self._stack.append([])

    def empty_map(self, _: Any) -> None:
        self._stack.append({})

    def append(self, _: Any) -> None:
        item = self._stack.pop()
        self._list().append(item)

    def appends(self, _: Any) -> None:
        items = self._pop_to_mark()
        self._list().extend(items)

    def set_item(self, _: Any) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._map()[key] = value

    def set_items(self, _: Any) -> None:
        items = self._pop_to_mark()
        self._map().update(zip(items[::2], items[1::2], strict=True))

    def put(self, index: Any) -> None:
        self._memo[int(index)] = self._stack[-1]

    def memoize(self, _: Any) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def get(self, index: Any) -> None:
        value = self._memo[int(index)]
        if isinstance(value, list | dict):
            raise ValueError("a list or map is referenced twice")
        self._stack.append(value)

    def stop(self, _: Any) -> None:
        pass

    def _pop_to_mark(self) -> list[Any]:
        """Pop and return the items above the last mark."""
        index = next((index for index in range(len(self._stack) - 1, -1, -1) if self._stack[index] is _MARK), None)
        if index is None:
            raise ValueError("malformed pickle: no MARK on the stack")
        items = self._stack[index + 1 :]
        del self._stack[index:]
        return items

    def _list(self) -> list[Any]:
        if not isinstance(self._stack[-1], list):
            raise ValueError("malformed pickle: APPEND to a non-list")
        return self._stack[-1]

    def _map(self) -> dict[Any, Any]:
        if not isinstance(self._stack[-1], dict):
            raise ValueError("malformed pickle: SETITEM on a non-dict")
        return self._stack[-1]


_STEPS = {
    "MARK": _PickleMachine.mark,
    "EMPTY_LIST": _PickleMachine.empty_list,
    "EMPTY_DICT": _PickleMachine.empty_map,
    "APPEND": _PickleMachine.append,
    "APPENDS": _PickleMachine.appends,
    "SETITEM": _PickleMachine.set_item,
    "SETITEMS": _PickleMachine.set_items,
    "PUT": _PickleMachine.put,
    "BINPUT": _PickleMachine.put,
    "LONG_BINPUT": _PickleMachine.put,
    "MEMOIZE": _PickleMachine.memoize,
    "GET": _PickleMachine.get,
    "BINGET": _PickleMachine.get,
    "LONG_BINGET": _PickleMachine.get,
    "STOP": _PickleMachine.stop,
}
