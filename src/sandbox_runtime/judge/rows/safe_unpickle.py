"""Tests that are packed as some datasets publish them: base64 of zlib of a Python pickle of JSON.

Nothing is unpickled: a pickle is a program, and even an unpickler that knows no classes can be made to take all memory. The few
instructions that texts, numbers, lists and maps need are carried out here, one by one; any other is refused. What comes out is
never larger than what went in, unpacked.
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
"""Of one row's tests, unpacked."""

_TEXTS = ("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "UNICODE")
_NUMBERS = ("BININT", "BININT1", "BININT2", "INT", "LONG", "LONG1", "BINFLOAT", "FLOAT")
_SCALARS = frozenset((*_TEXTS, *_NUMBERS))
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_IGNORED = frozenset(("PROTO", "FRAME"))
_MARK = object()


def unpack_tests(text: str) -> Any:
    """What the text holds, be it JSON or packed. Where the pickle holds JSON as a text, what that says."""
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
        packed = base64.b64decode(text, validate=True)
        inflater = zlib.decompressobj()
        data = inflater.decompress(packed, MAX_BYTES)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise InvalidRequest(f"the tests are neither JSON nor base64 of zlib: {error}") from error
    if not inflater.eof:
        raise InvalidRequest(f"the packed tests are cut off, or larger than {MAX_BYTES} bytes")
    return data


def _unpickle(data: bytes) -> Any:
    machine = _PickleMachine()
    try:
        for operation, argument, _ in pickletools.genops(data):
            machine.step(operation.name, argument)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise InvalidRequest(f"the packed tests are no pickle of texts, numbers, lists and maps: {error}") from error
    return machine.result()


class _PickleMachine:
    """The pickle machine, as far as plain data goes. Only single values can be named again: a list that is used twice would let a
    short text stand for an endless one."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def result(self) -> Any:
        if len(self._stack) != 1:
            raise InvalidRequest("the packed tests are a pickle that holds not one value")
        return self._stack[0]

    def step(self, name: str, argument: Any) -> None:
        if name in _SCALARS:
            self._stack.append(argument)
        elif name in _CONSTANTS:
            self._stack.append(_CONSTANTS[name])
        elif name in _STEPS:
            _STEPS[name](self, argument)
        elif name not in _IGNORED:
            raise ValueError(f"the instruction {name} is refused")

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
        items = self._popped()
        self._list().extend(items)

    def set_item(self, _: Any) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._map()[key] = value

    def set_items(self, _: Any) -> None:
        items = self._popped()
        self._map().update(zip(items[::2], items[1::2], strict=True))

    def put(self, index: Any) -> None:
        self._memo[int(index)] = self._stack[-1]

    def memoize(self, _: Any) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def get(self, index: Any) -> None:
        value = self._memo[int(index)]
        if isinstance(value, list | dict):
            raise ValueError("a list or map is used twice")
        self._stack.append(value)

    def stop(self, _: Any) -> None:
        pass

    def _popped(self) -> list[Any]:
        """What was pushed since the last mark."""
        place = next((at for at in range(len(self._stack) - 1, -1, -1) if self._stack[at] is _MARK), None)
        if place is None:
            raise ValueError("a mark is missing")
        items = self._stack[place + 1 :]
        del self._stack[place:]
        return items

    def _list(self) -> list[Any]:
        if not isinstance(self._stack[-1], list):
            raise ValueError("something is appended to what is no list")
        return self._stack[-1]

    def _map(self) -> dict[Any, Any]:
        if not isinstance(self._stack[-1], dict):
            raise ValueError("something is set in what is no map")
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
