"""The process of the solution: runs it, then does what the process of the tests asks for.

Nothing here is trusted by the other side, and nothing here is worth hiding: the tests, what they expect and the tokens of the
verdict never enter this process. It was forked before they were read.
"""

from __future__ import annotations

import builtins
import contextlib
import inspect
import linecache
import os
import sys
import types
from base64 import b64decode
from collections.abc import Callable, Iterable
from typing import Any

from .codec import Decoder, Encoder, NotTransferable  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .failures import builtin_class, describe, own_names, rebuild  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .wire import Disconnected, Wire  # type: ignore[import-not-found, import-untyped, unused-ignore]

_FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
)
_FIXED = (*_FUNCTIONS, type, types.ModuleType)
_PREFETCH_ITEMS = 256
PAGE_ITEMS = 100_000
"""A longer list is fetched in pages: as one message it would take several times its memory."""
_MAIN = "__main__"


def serve(fd: int, names: dict[str, Any]) -> None:
    """names: the namespace of the program. Returns when the tests have ended."""
    process = SolutionProcess(Wire(fd), names)
    try:
        process.run()
    except Disconnected:
        return


class SolutionProcess:
    def __init__(self, wire: Wire, names: dict[str, Any]) -> None:
        self._wire = wire
        self._names = names
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._shared: frozenset[str] = frozenset()
        self._callbacks: dict[int, Callable[..., Any]] = {}
        self._made: dict[str, type] = {}
        self._data: dict[str, str] = {}

    def run(self) -> None:
        while True:
            self.answer(*self._wire.receive())

    def answer(self, header: dict[str, Any], payload: bytes) -> None:
        try:
            self._do(header, payload)
        except Disconnected:
            raise
        except BaseException as error:
            self._send_failure(error)

    def _do(self, header: dict[str, Any], payload: bytes) -> None:
        kind = header["k"]
        if kind == "call":
            self._call(self._target(header), payload, made=header.get("made", False))
        elif kind == "page":
            self._send_value(self._page(header["o"], header["from"]))
        elif kind == "next":
            self._send_value(self._next(self._objects[header["o"]]))
        elif kind == "get":
            self._send_value(getattr(self._objects[header["o"]], header["n"]))
        elif kind == "set":
            setattr(self._objects[header["o"]], header["n"], self._decoder().loads(payload))
            self._send_value(None)
        elif kind == "class":
            self._send({"k": "class", **self._described(self._objects[header["o"]])})
        elif kind == "load":
            self._load(header, payload.decode("utf-8", "surrogatepass"))

    def _load(self, header: dict[str, Any], text: str) -> None:
        filename = self._names["__file__"]
        self._shared = frozenset(header["shared"])
        _set_stdin(header["stdin"])
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        exec(compile(text, filename, "exec", dont_inherit=True), self._names)
        wanted = [name for name in header["names"] if name in self._names]
        self._define_missing(header["classes"])
        messages = self._sendable(wanted)
        self._data = {name: text for name, text in messages.items() if type(self._names[name]) not in _FIXED}
        self._send({"k": "names", "names": messages})

    def _define_missing(self, classes: dict[str, str]) -> None:
        """Classes of the tests that the solution may use: it finds them where it would in one process."""
        for name, source in classes.items():
            if name not in self._names:
                with contextlib.suppress(Exception):
                    exec(compile(source, "<classes>", "exec", dont_inherit=True), self._names)

    def _sendable(self, names: Iterable[str]) -> dict[str, str]:
        """The value of each that can be sent, as a message of its own; the tests find the others missing."""
        messages = {}
        for name in names:
            try:
                messages[name] = self._encoder().dumps(self._names[name]).decode()
            except Exception:
                continue
        return messages

    def _changed(self) -> dict[str, str]:
        """Variables of the program that the tests read and that have another value now."""
        now = self._sendable(self._data)
        changed = {name: text for name, text in now.items() if text != self._data[name]}
        self._data.update(changed)
        return changed

    def _target(self, header: dict[str, Any]) -> Callable[..., Any]:
        target: Callable[..., Any] = self._objects[header["o"]]
        if "n" in header:
            target = getattr(target, header["n"])
        return target

    def _call(self, function: Callable[..., Any], payload: bytes, *, made: bool) -> None:
        decoder = self._decoder()
        args, kwargs = decoder.loads(payload)
        value = function(*args, **kwargs)
        if inspect.iscoroutine(value):
            value = _run_coroutine(value)
        header: dict[str, Any] = {"k": "value"}
        if made and isinstance(function, type) and isinstance(value, function) and not hasattr(function, "_fields"):
            header["made"], value = self._handle(value)["o"], None
        elif (place := _argument_index(value, args)) is not None:
            header["argument"], value = place, None
        elif type(value) is list and len(value) > PAGE_ITEMS:
            header["pages"], value = self._number(value), None
        numbers = {id(one): number for number, one in enumerate(decoder.instances)}
        after = self._after((args, kwargs), payload, numbers)
        if self._data and (changed := self._changed()):
            header["names"] = changed
        self._send(header, self._encoder(numbers).dumps((value, after)))

    def _after(self, arguments: Any, before: bytes, numbers: dict[int, int]) -> Any:
        """The arguments, where the call changed them; None where it did not, or where they can no longer be sent."""
        try:
            now = self._encoder(numbers).dumps(arguments)
        except Exception:
            return None
        return None if now == before else arguments

    def _page(self, number: int, start: int) -> list[Any]:
        """A part of a long list; the last one lets it go."""
        items: list[Any] = self._objects[number]
        page = items[start : start + PAGE_ITEMS]
        if start + PAGE_ITEMS >= len(items):
            self._numbers.pop(id(items), None)
            self._objects[number] = None
        return page

    def _next(self, iterator: Any) -> tuple[bool, list[Any]]:
        """Whether it has ended, and its next items."""
        items: list[Any] = []
        try:
            while len(items) < _PREFETCH_ITEMS:
                items.append(next(iterator))
                if len(items) == 1 and not _is_materialized(iterator):
                    break
        except StopIteration:
            return True, items
        return False, items

    def _send_value(self, value: Any) -> None:
        self._send({"k": "value"}, self._encoder().dumps((value, None)))

    def _send_failure(self, error: BaseException) -> None:
        self._send({"k": "raise", **describe(error)}, self._content(error))

    def _content(self, error: BaseException) -> bytes:
        """Its arguments and attributes, as far as they can be sent."""
        for content in ((tuple(error.args), dict(vars(error))), (tuple(error.args), {})):
            try:
                return self._encoder().dumps(content)
            except BaseException:
                continue
        return b""

    def _send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        _flush()
        self._wire.send(header, payload)

    # What crosses by name.

    def _encoder(self, numbers: dict[int, int] | None = None) -> Encoder:
        return Encoder(self._reference, self._by_fields, numbers)

    def _decoder(self) -> Decoder:
        return Decoder(self._resolve, self._make)

    def _by_fields(self, kind: type) -> bool:
        return kind.__name__ in self._shared and kind.__module__ == _MAIN

    def _reference(self, value: Any, last: bool) -> Any:
        if last:
            return self._handle(value)
        if isinstance(value, _FUNCTIONS):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.ModuleType):
            return {"mo": value.__name__}
        if isinstance(value, BaseException):
            return {"e": describe(value)}
        if isinstance(value, types.GeneratorType) or (hasattr(type(value), "__next__") and type(value).__module__ == "builtins"):
            return {"g": self._number(value)}
        if type(value).__module__ == "typing":
            return {"im": ["typing", str(getattr(value, "_name", None) or getattr(value, "__name__", "")), None]}
        return None

    def _function(self, value: Any) -> Any:
        for number, stub in self._callbacks.items():
            if stub is value:
                return {"cb": number}
        name, module = getattr(value, "__name__", ""), getattr(value, "__module__", None)
        if module not in (None, _MAIN) and not isinstance(value, types.MethodType):
            return {"im": [module, name, self._number(value)]}
        return {"fn": [self._number(value), name, inspect.iscoroutinefunction(value)]}

    def _class(self, value: type) -> Any:
        if value.__module__ == "builtins" and getattr(builtins, value.__name__, None) is value:
            return {"n": value.__name__}
        if value.__module__ not in (_MAIN, None):
            return {"im": [value.__module__, value.__name__, self._number(value)]}
        return {"cl": self._number(value)}

    def _handle(self, value: Any) -> Any:
        if callable(value) and type(value).__module__ == "functools":
            return {"fn": [self._number(value), getattr(value, "__name__", ""), False]}
        return {"o": [self._number(value), self._number(type(value))]}

    def _number(self, value: Any) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return number

    def _described(self, kind: type) -> dict[str, Any]:
        own = [base for base in kind.__mro__ if base.__module__ == _MAIN]
        special = {name for base in own for name in vars(base) if name.startswith("__") and name.endswith("__")}
        bases = [self._number(base) for base in kind.__bases__ if base.__module__ == _MAIN]
        errors = [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins" and issubclass(base, BaseException)]
        return {"name": kind.__name__, "special": sorted(special), "bases": bases, "errors": errors, "own": own_names(kind)}

    def _resolve(self, tag: str, held: Any) -> Any:
        if tag == "o":
            return self._objects[held]
        if tag == "n":
            return getattr(builtins, held)
        if tag == "im":
            return getattr(__import__(held[0], fromlist=["*"]), held[1])
        if tag == "cb":
            return self._callback(held)
        raise NotTransferable(f"unknown tag {tag!r}")

    def _make(self, name: str) -> Any:
        """A new instance of the class that both sides know by this name; a bare one where the solution has none."""
        kind = self._names.get(name)
        if not isinstance(kind, type):
            kind = self._made.setdefault(name, type(name, (), {"__module__": _MAIN}))
        return object.__new__(kind)

    def _callback(self, number: int) -> Callable[..., Any]:
        if number not in self._callbacks:

            def callback(*args: Any, **kwargs: Any) -> Any:
                self._send({"k": "callback", "f": number}, self._encoder().dumps((args, kwargs)))
                return self._result_of_callback()

            self._callbacks[number] = callback
        return self._callbacks[number]

    def _result_of_callback(self) -> Any:
        while True:
            header, payload = self._wire.receive()
            if header["k"] == "result":
                return self._decoder().loads(payload)
            if header["k"] == "raise":
                raise rebuild(builtin_class(header["bases"]), self._decoder().loads(payload), header)
            self.answer(header, payload)


def _argument_index(value: Any, args: list[Any]) -> int | None:
    """Which argument a result is: the tests then get their own object back."""
    if type(value) not in (list, dict, set):
        return None
    return next((place for place, argument in enumerate(args) if argument is value), None)


def _is_materialized(iterator: Any) -> bool:
    """Whether its items are there already: taking them ahead runs nothing of the solution."""
    return type(iterator).__module__ == "builtins" and not isinstance(iterator, (types.GeneratorType, map, filter))


def _run_coroutine(coroutine: Any) -> Any:
    import asyncio

    return asyncio.run(coroutine)


def _set_stdin(text: str) -> None:
    if text:
        given = os.memfd_create("stdin")
        os.write(given, b64decode(text))
        os.lseek(given, 0, os.SEEK_SET)
        os.dup2(given, 0)
        os.close(given)


def _flush() -> None:
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except BaseException:  # a program may have closed or replaced it
            continue
