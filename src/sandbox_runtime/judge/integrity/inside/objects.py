"""Proxies of functions, classes and objects of the solution. What they may be asked is decided in remote.py's docstring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .codec import Uncrossable  # type: ignore[import-not-found, import-untyped, unused-ignore]

_COMPARED = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_COMPUTED = tuple(f"__{prefix}{name}__" for name in _NAMES for prefix in ("", "r", "i"))
_ALONE = (
    "__len__", "__iter__", "__next__", "__reversed__", "__bool__", "__int__", "__float__", "__index__", "__complex__", "__neg__",
    "__pos__", "__abs__", "__invert__", "__str__", "__repr__", "__enter__", "__round__", "__trunc__", "__ceil__", "__floor__",
)  # fmt: skip
_KEYED = ("__getitem__", "__setitem__", "__delitem__", "__call__", "__contains__", "__exit__", "__format__")
_RETURN_SELF = frozenset(("__enter__", "__iter__", *(name for name in _COMPUTED if name.startswith("__i"))))
_TYPES = {"__len__": int, "__bool__": bool, "__int__": int, "__float__": float, "__index__": int, "__str__": str, "__repr__": str}
_FORWARDED = frozenset((*_COMPARED, *_COMPUTED, *_ALONE, *_KEYED))
_QUERIES = frozenset(name for kind in (str, list, dict, set, int, float, bytes, tuple) for name in vars(kind) if name[0] != "_")
_QUERIES -= {"add", "append", "clear", "discard", "extend", "insert", "pop", "push", "remove", "reverse", "sort", "update"}
"""Methods that plain values have and answer by: of a result they are asked only where it is plain."""


class RemoteFunction:
    """weak: a method of an object that is a result."""

    __slots__ = ("__name__", "_sandbox_async", "_sandbox_number", "_sandbox_remote", "_sandbox_weak")

    def __init__(self, remote: Any, number: int, name: str, is_async: bool, weak: bool = False) -> None:
        self._sandbox_remote = remote
        self._sandbox_number = number
        self._sandbox_async = is_async
        self._sandbox_weak = weak
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._sandbox_weak and self.__name__ in _QUERIES and not _are_remote((*args, *kwargs.values())):
            raise Uncrossable(f"the solution returned an object of its own with a method {self.__name__}; return plain data")
        if self._sandbox_async:
            return self._later(args, kwargs)
        return self._sandbox_remote.call(self._sandbox_number, args, kwargs)

    async def _later(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._sandbox_remote.call(self._sandbox_number, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return self._sandbox_remote.get(self._sandbox_number, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemoteFunction) and other._sandbox_number == self._sandbox_number

    def __hash__(self) -> int:
        return hash(("function", self._sandbox_number))

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


class RemoteClass(type):
    """Class attributes and class methods."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_sandbox"):
            raise AttributeError(name)
        return cls._sandbox_remote.get(cls._sandbox_number_of_class, name)


class RemoteObject(metaclass=RemoteClass):
    """strong: made by the tests themselves."""

    __slots__ = ("_sandbox_number", "_sandbox_set", "_sandbox_strong", "_sandbox_weak_view")
    _sandbox_remote: Any
    _sandbox_number_of_class: int

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._sandbox_remote.call(cls._sandbox_number_of_class, args, kwargs, made=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Everything was done in the other process."""

    @classmethod
    def _sandbox_new(cls, remote: Any, number: int, strong: bool) -> RemoteObject:
        made = object.__new__(cls)
        object.__setattr__(made, "_sandbox_number", number)
        object.__setattr__(made, "_sandbox_strong", strong)
        object.__setattr__(made, "_sandbox_set", {})
        object.__setattr__(made, "_sandbox_weak_view", None)
        return made

    def _sandbox_as_result(self) -> RemoteObject:
        """The same object without what only the tests' own objects may do."""
        if not self._sandbox_strong:
            return self
        if self._sandbox_weak_view is None:
            weak = type(self)._sandbox_new(self._sandbox_remote, self._sandbox_number, False)
            object.__setattr__(self, "_sandbox_weak_view", weak)
        view: RemoteObject = self._sandbox_weak_view
        return view

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_sandbox"):
            raise AttributeError(name)
        value = self._sandbox_remote.get(self._sandbox_number, name)
        stored = self._sandbox_set.get(name)
        if isinstance(value, RemoteObject) and isinstance(stored, RemoteObject) and _same(value, stored):
            return stored
        if isinstance(value, RemoteFunction) and not self._sandbox_strong:
            value._sandbox_weak = True
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        self._sandbox_remote.set(self._sandbox_number, name, value)
        self._sandbox_set[name] = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemoteObject) and _same(self, other)

    def __hash__(self) -> int:
        return hash(("object", self._sandbox_number))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object>"


def make_class(remote: Any, number: int, name: str, bases: list[type], special: Any) -> type:
    """A proxy of a class of the solution. special: the methods with underscores that it defines."""
    found = {one: _forward(one) for one in special if isinstance(one, str) and one in _FORWARDED}
    if "__hash__" not in found:
        found["__hash__"] = RemoteObject.__hash__
    own = {"__slots__": (), "__module__": "__main__", "_sandbox_remote": remote, "_sandbox_number_of_class": number}
    above = tuple(base for base in bases if issubclass(base, RemoteObject)) or (RemoteObject,)
    return RemoteClass(name[:200], above, {**found, **own})


def _forward(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        if not self._sandbox_strong and name not in _ALONE and not _are_remote(args) and name not in ("__getitem__", "__exit__"):
            if name in _COMPARED or name in _COMPUTED:
                return NotImplemented
            raise Uncrossable("the solution returned an object of its own; return plain data")
        given = (args[0], None, None) if name == "__exit__" else args
        value = self._sandbox_remote.call(self._sandbox_number, given, {}, n=name)
        if name in _RETURN_SELF and isinstance(value, RemoteObject) and _same(value, self):
            return self
        return _checked(name, value)

    method.__name__ = name
    return method


def _checked(name: str, value: Any) -> Any:
    """Python trusts what these methods return."""
    wanted = bool if name in _COMPARED or name == "__contains__" else _TYPES.get(name)
    if wanted is not None and type(value) is not wanted and value is not NotImplemented:
        raise TypeError(f"{name} should return {wanted.__name__}, not {type(value).__name__}")
    return value


def _are_remote(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, (RemoteObject, RemoteFunction)) for value in values)


def _same(one: RemoteObject, other: RemoteObject) -> bool:
    return bool(one._sandbox_number == other._sandbox_number)
