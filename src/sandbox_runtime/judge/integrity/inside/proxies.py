"""The solution as the tests see it: functions, classes and objects that live in the other process.

Results arrive as plain data, rebuilt here from types of our own (codec.py), and are compared by the tests' own code. What cannot
be plain data stays over there and is seen through a proxy. A proxy must never be asked to agree with what the tests expect. So
operators that compare or compute (`result == 5`, `result - 5`, `5 in result`) are not sent to it, and neither are methods that
plain values answer by (`result.startswith("a")`). It has its attributes, its other methods, its length and its items. Only a name
that begins with a capital letter may turn out to be a class: `half(3)` is a function's result, whatever the solution makes of it.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable, Iterator
from threading import RLock
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any

from .codec import Decoder, Encoder, NotTransferable  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .failures import FRAMES, builtin_class, describe, own_class, rebuild  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .merge import merge  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .objects import RemoteFunction, RemoteObject, make_class  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .solution_process import PAGE_ITEMS  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .wire import Disconnected, Wire  # type: ignore[import-not-found, import-untyped, unused-ignore]

_MODULES = frozenset(
    (
        "array", "bisect", "cmath", "collections", "collections.abc", "copy", "datetime", "decimal", "fractions", "functools",
        "hashlib", "heapq", "itertools", "json", "math", "numbers", "numpy", "numpy.linalg", "operator", "pandas", "random",
        "re", "statistics", "string", "sys", "textwrap", "time", "typing",
    )
)  # fmt: skip
"""What tests may mean by a name that the solution imported: the same module, imported here."""
_ERROR_MODULES = frozenset(
    (
        "asyncio.exceptions", "binascii", "builtins", "concurrent.futures._base", "configparser", "copy", "csv", "_csv",
        "decimal",
        "json.decoder", "queue", "_queue", "re", "sre_constants", "re._constants", "re.error", "statistics", "struct", "zlib",
        "xml.etree.ElementTree",
    )
)  # fmt: skip
"""Whose exceptions are raised here as they are. Those of test runners are not: they would skip a test, or end it well."""
_ALIASES = {"np": "numpy", "pd": "pandas"}
_CALLABLE = (FunctionType, BuiltinFunctionType, BuiltinMethodType, MethodType)


class SolutionLost(BaseException):
    """The process of the solution has ended, or sends what is no message. No test may go on after that."""


class Remote:
    """named: names that occur in the tests. names: the namespace of the tests."""

    def __init__(self, wire: Wire, named: frozenset[str], names: dict[str, Any]) -> None:
        self._wire = wire
        self._named = named
        self._names = names
        self._lock = RLock()
        self._objects: dict[int, RemoteObject] = {}
        self._classes: dict[int, type] = {}
        self._errors: dict[str, type[BaseException]] = {}
        self._callbacks: list[Callable[..., Any]] = []
        self.data: dict[str, Any] = {}
        """Variables of the solution, as the tests were given them."""
        self._binding = ""
        """The name whose value is being read: a function of a library is the same one here only under its own name."""
        self.lost: SolutionLost | None = None

    def load(self, solution: str, stdin: str, shared: frozenset[str], classes: dict[str, str]) -> dict[str, Any]:
        """Run the solution and return what its names mean to the tests. shared: names of classes whose objects cross by their
        fields. classes: sources of those that the solution finds defined by the tests."""
        header = {"k": "load", "names": sorted(self._named), "shared": sorted(shared), "stdin": stdin, "classes": classes}
        told, _ = self._exchange(header, solution.encode("utf-8", "surrogatepass"))
        return self._values(told.get("names"))

    def _values(self, messages: Any) -> dict[str, Any]:
        found = {}
        for name, message in messages.items() if isinstance(messages, dict) else ():
            if name not in self._named:
                continue
            self._binding = name
            try:
                value = self._decoder().loads(message.encode())
            except (NotTransferable, AttributeError):
                continue
            finally:
                self._binding = ""
            if _is_expected_module(name, value):
                found[name] = value
        return found

    def call(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any], **more: Any) -> Any:
        """more: n, the attribute to call; made, where the tests make an object."""
        encoder = self._encoder()
        payload = encoder.dumps((args, kwargs))
        try:
            header, reply = self._exchange({"k": "call", "o": number, **more}, payload)
        except (StopIteration, StopAsyncIteration, GeneratorExit) as error:
            if more.get("n") == "__next__":
                raise
            raise _as_runtime_error(error) from None  # it would silently end a loop of the tests
        value, after = self._pair(self._decoder(encoder.instances).loads(reply))
        if after is not None:
            merge((args, kwargs), after)
        if "names" in header:
            self._update(header["names"])
        if "made" in header and more.get("made"):
            return self._made(header["made"])
        if "argument" in header:
            return _argument(args, header["argument"])
        return self._pages(_check_number(header["pages"])) if "pages" in header else value

    def _pages(self, number: int) -> list[Any]:
        items: list[Any] = []
        while True:
            _, reply = self._exchange({"k": "page", "o": number, "from": len(items)})
            page, _ = self._pair(self._decoder().loads(reply))
            if type(page) is not list:
                raise NotTransferable("a page is no list")
            items += page
            if len(page) < PAGE_ITEMS:
                return items

    def _update(self, messages: Any) -> None:
        """Variables of the solution that a call has changed. What the tests have bound themselves stays theirs."""
        for name, value in self._values(messages).items():
            if name in self.data and self._names.get(name) is self.data[name]:
                self._names[name] = self.data[name] = value

    def get(self, number: int, name: str) -> Any:
        _, reply = self._exchange({"k": "get", "o": number, "n": name})
        return self._pair(self._decoder().loads(reply))[0]

    def set(self, number: int, name: str, value: Any) -> None:
        self._exchange({"k": "set", "o": number, "n": name}, self._encoder().dumps(value))

    # Messages.

    def _exchange(self, header: dict[str, Any], payload: bytes = b"") -> tuple[dict[str, Any], bytes]:
        if self.lost is not None:
            raise self.lost
        with self._lock:
            try:
                self._wire.send(header, payload)
                return self._reply()
            except Disconnected as error:
                self.lost = SolutionLost(str(error))
                raise self.lost from None

    def _reply(self) -> tuple[dict[str, Any], bytes]:
        while True:
            header, payload = self._wire.receive()
            if header["k"] == "raise":
                raise self._failure(header, payload)
            if header["k"] != "callback":
                return header, payload
            self._run_callback(header, payload)

    def _run_callback(self, header: dict[str, Any], payload: bytes) -> None:
        try:
            function = self._callbacks[header["f"]]
            args, kwargs = self._pair(self._decoder().loads(payload))
            result = self._encoder().dumps(function(*args, **kwargs))
        except Exception as error:
            self._wire.send({"k": "raise", **describe(error)}, self._encoder().dumps(((str(error),), {})))
        else:
            self._wire.send({"k": "result"}, result)

    def _failure(self, header: dict[str, Any], payload: bytes) -> BaseException:
        try:
            content = self._decoder().loads(payload) if payload else None
        except NotTransferable:
            content = None
        return self._rebuilt(header, content)

    def _rebuilt(self, told: dict[str, Any], content: Any) -> BaseException:
        error = rebuild(self._error_class(told), content, told)
        if isinstance(told.get("cause"), dict):
            error.__cause__ = self._rebuilt(told["cause"], None)
        return error

    def _error_class(self, told: dict[str, Any]) -> type[BaseException]:
        """That of Python or of a module that is loaded here; for a class of the solution's own, one that stands for it."""
        name, module = str(told.get("class", "")), str(told.get("module", ""))
        is_known = module in _ERROR_MODULES or module.partition(".")[0] in ("numpy", "pandas")
        known = getattr(sys.modules.get(module), name, None) if is_known else None
        if isinstance(known, type) and issubclass(known, BaseException):
            return known
        return self._own_error(told.get("own"), told.get("bases"))

    def _own_error(self, own: Any, bases: Any) -> type[BaseException]:
        kind = builtin_class(bases)
        for name in reversed(own if isinstance(own, list) else []):
            if str(name) not in self._errors:
                self._errors[str(name)] = own_class(str(name), kind)
            kind = self._errors[str(name)]
        return kind

    @staticmethod
    def _pair(value: Any) -> tuple[Any, Any]:
        if type(value) is not tuple or len(value) != 2:
            raise NotTransferable("a reply is no pair")
        return value

    # What crosses by name.

    def _encoder(self) -> Encoder:
        return Encoder(self._reference, self._by_fields)

    def _decoder(self, known: list[Any] | None = None) -> Decoder:
        return Decoder(self._resolve, self._make, known)

    def _by_fields(self, kind: type) -> bool:
        return kind.__module__ == "__main__" and self._names.get(kind.__name__) is kind

    def _make(self, name: str) -> Any:
        kind = self._names.get(name)
        if not isinstance(kind, type) or issubclass(kind, RemoteObject) or kind.__module__ != "__main__":
            raise NotTransferable(f"the tests have no class {name[:80]!r}")
        return kind.__new__(kind)

    def _reference(self, value: Any, last: bool) -> Any:
        if isinstance(value, (RemoteObject, RemoteFunction)):
            return {"o": object.__getattribute__(value, "_sandbox_number")}
        if isinstance(value, type):
            return self._reference_of_class(value)
        if isinstance(value, _CALLABLE) or (last and callable(value)):
            return {"cb": self._callback(value)}
        return None

    def _reference_of_class(self, value: type) -> Any:
        number = next((number for number, kind in self._classes.items() if kind is value), None)
        if number is not None:
            return {"o": number}
        if value.__module__ == "builtins":
            return {"n": value.__name__}
        return {"cb": self._callback(value)} if value.__module__ == "__main__" else {"im": [value.__module__, value.__name__]}

    def _callback(self, value: Callable[..., Any]) -> int:
        if value not in self._callbacks:
            self._callbacks.append(value)
        return self._callbacks.index(value)

    def _resolve(self, tag: str, held: Any) -> Any:
        if tag == "fn":
            return RemoteFunction(self, _check_number(held[0]), str(held[1]), bool(held[2]))
        if tag == "im":
            return self._imported(_check_name(held[0]), _check_name(held[1]), held[2])
        if tag == "n":
            return _builtin_type(held)
        if tag == "cl":
            return self._class(_check_number(held))
        if tag == "o":
            return self._object(_check_number(held[0]), _check_number(held[1]))
        if tag == "g":
            return self._items(_check_number(held))
        if tag == "cb":
            return self._callbacks[_check_number(held)]
        if tag == "e":
            return self._rebuilt(held, None)
        if tag == "mo":
            return _module(_check_name(held))
        raise NotTransferable("a message has an unknown tag")

    def _imported(self, module: str, name: str, number: Any) -> Any:
        """A function or class of a library that the solution imported: the same one, imported here. Under another name, or as a
        result, it stays in the other process."""
        public = module.lstrip("_").partition(".")[0] if module.startswith("_") else module
        if name == self._binding and public in _MODULES - {"sys"}:
            found = getattr(importlib.import_module(public), name, None)
            if found is not None and not isinstance(found, ModuleType):
                return found
        if number is None:
            raise NotTransferable(f"{module}.{name} cannot be used by the tests")
        return RemoteFunction(self, _check_number(number), name, False)

    def _class(self, number: int) -> type:
        if number not in self._classes:
            told, _ = self._exchange({"k": "class", "o": number})
            if told.get("errors"):
                self._classes[number] = self._own_error(told.get("own"), told["errors"])
            else:
                bases = [self._class(_check_number(base)) for base in told.get("bases", []) if base != number]
                self._classes[number] = make_class(self, number, str(told.get("name")), bases, told.get("special", []))
        return self._classes[number]

    def _object(self, number: int, kind: int) -> RemoteObject:
        """A result: known already, or of a class that the tests speak of."""
        if number not in self._objects:
            found = self._class(kind)
            if found.__name__ not in self._named or not issubclass(found, RemoteObject):
                raise NotTransferable(f"the solution returned an object of its class {found.__name__}; return plain data")
            self._objects[number] = found._sandbox_new(number)
        return self._objects[number]

    def _made(self, held: Any) -> RemoteObject:
        number, kind = _check_number(held[0]), self._class(_check_number(held[1]))
        if not issubclass(kind, RemoteObject) or not kind.__name__[:1].isupper():
            raise NotTransferable(f"the solution made a class of {kind.__name__}; it must be a function that returns plain data")
        self._objects[number] = kind._sandbox_new(number)
        return self._objects[number]

    def _items(self, number: int) -> Iterator[Any]:
        ended = False
        while not ended:
            _, reply = self._exchange({"k": "next", "o": number})
            ended, items = self._pair(self._pair(self._decoder().loads(reply))[0])
            yield from items


def is_remote(error: BaseException) -> bool:
    """Whether an exception was raised in the process of the solution."""
    return hasattr(error, FRAMES)


def _is_expected_module(name: str, value: Any) -> bool:
    """Whether a module comes under its own name, or a usual one."""
    return not isinstance(value, ModuleType) or value.__name__ in (name, _ALIASES.get(name))


def _as_runtime_error(error: BaseException) -> BaseException:
    made = RuntimeError(f"the solution raised {type(error).__name__}")
    setattr(made, FRAMES, getattr(error, FRAMES, []))
    return made


def _argument(args: tuple[Any, ...], place: Any) -> Any:
    if type(place) is not int or not 0 <= place < len(args) or type(args[place]) not in (list, dict, set):
        raise NotTransferable("a reply names an argument that there is not")
    return args[place]


def _check_number(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise NotTransferable("a message holds what is no number of an object")
    return number


def _check_name(text: Any) -> str:
    if type(text) is not str or len(text) > 200:
        raise NotTransferable("a message holds what is no name")
    return text


def _builtin_type(name: Any) -> type:
    found = getattr(builtins, _check_name(name), None)
    if not isinstance(found, type):
        raise NotTransferable("a message names a type that there is not")
    return found


def _module(name: str) -> ModuleType:
    if name not in _MODULES:
        raise NotTransferable(f"the module {name} cannot be used by the tests unless they import it")
    return importlib.import_module(name)
