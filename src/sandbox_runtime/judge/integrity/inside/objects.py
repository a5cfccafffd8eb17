"""Proxies of functions, classes and objects of the solution. proxies.py tells what they may be asked, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .codec import NotTransferable  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us

_UNARY_METHODS = (
    "__len__", "__iter__", "__next__", "__reversed__", "__bool__", "__int__", "__float__", "__index__", "__complex__", "__neg__",
    "__pos__", "__abs__", "__invert__", "__str__", "__repr__", "__enter__", "__round__", "__trunc__", "__ceil__", "__floor__",
)  # fmt: skip
_ARGUMENT_METHODS = ("__getitem__", "__setitem__", "__delitem__", "__call__", "__exit__", "__format__")
_FORWARDED_METHODS = frozenset((*_UNARY_METHODS, *_ARGUMENT_METHODS))
_RESULT_TYPES = {
    "__len__": int,
    "__bool__": bool,
    "__int__": int,
    "__float__": float,
    "__index__": int,
    "__str__": str,
    "__repr__": str,
}
_QUERIES = frozenset(
    (
        "startswith", "endswith", "count", "index", "rindex", "find", "rfind", "issubset", "issuperset", "isdisjoint", "equals",
        "equal", "identical", "almost_equal", "match", "fullmatch", "search", "is_integer",
    )
)  # fmt: skip
"""Methods of plain values that tests give what they expect. They are asked of plain values alone."""


class RemoteFunction:
    """A function, or a method of an object, of the solution. of_object: its name must not be one that plain values answer by."""

    __slots__ = ("__name__", "_sandbox_async", "_sandbox_number", "_sandbox_remote", "of_object")

    def __init__(self, remote: Any, number: int, name: str, is_async: bool) -> None:
        self._sandbox_remote = remote
        self._sandbox_number = number
        self._sandbox_async = is_async
        self.of_object = False
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.of_object and (args or kwargs) and self.__name__ in _QUERIES:
            raise NotTransferable(f"the solution returned an object of its own with a method {self.__name__}; return plain data")
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
    """Equal to itself alone, whatever its class says."""

    __slots__ = ("_sandbox_number",)
    _sandbox_remote: Any
    _sandbox_number_of_class: int

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls._sandbox_remote.call(cls._sandbox_number_of_class, args, kwargs, made=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Everything was done in the other process."""

    @classmethod
    def _sandbox_new(cls, number: int) -> RemoteObject:
        made = object.__new__(cls)
        object.__setattr__(made, "_sandbox_number", number)
        return made

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_sandbox"):
            raise AttributeError(name)
        value = self._sandbox_remote.get(self._sandbox_number, name)
        if isinstance(value, RemoteFunction):
            value.of_object = True
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        self._sandbox_remote.set(self._sandbox_number, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemoteObject) and bool(self._sandbox_number == other._sandbox_number)

    def __hash__(self) -> int:
        return hash(("object", self._sandbox_number))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object>"


def make_class(remote: Any, number: int, name: str, bases: list[type], special: Any) -> type:
    """A proxy of a class of the solution. special: the methods with underscores that it defines."""
    found = {one: _forward(one) for one in special if isinstance(one, str) and one in _FORWARDED_METHODS}
    own = {"__slots__": (), "__module__": "__main__", "_sandbox_remote": remote, "_sandbox_number_of_class": number}
    above = tuple(base for base in bases if issubclass(base, RemoteObject)) or (RemoteObject,)
    return RemoteClass(name[:200], above, {**found, **own})


def _forward(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any) -> Any:
        given = (args[0], None, None) if name == "__exit__" else args
        return _check_type(name, self._sandbox_remote.call(self._sandbox_number, given, {}, n=name))

    method.__name__ = name
    return method


def _check_type(name: str, value: Any) -> Any:
    """Python trusts what these methods return."""
    wanted = _RESULT_TYPES.get(name)
    if wanted is not None and type(value) is not wanted:
        raise TypeError(f"{name} should return {wanted.__name__}, not {type(value).__name__}")
    return value
