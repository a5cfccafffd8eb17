"""Comparisons that cannot be talked into it: what tests compare with goes through here.

Plain values (numbers, texts, and lists and the like of them) compare as they always do. An object of a class that the solution
made may say that it equals a plain value; then it is asked about other values too, in an order it cannot know. Who equals them
all equals none: that is told of, and counts as different. Objects of one class compared with each other are left to their class.
"""

from __future__ import annotations

import builtins
import operator
import os
from collections import deque
from collections.abc import Callable, Iterable
from types import FunctionType, SimpleNamespace
from typing import Any

from .audit_hook import is_trusted  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us
from .reporter import BUILTINS, Reporter  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us

globals()["__builtins__"] = BUILTINS

_NONE = type(None)
_ATOM_SET = frozenset((int, str, float, bool, _NONE, bytes, complex))
_PLAIN_CLASS = frozenset((type,))
_CONTAINERS = (list, tuple, set, frozenset, deque)
_HEAP_TYPE = 1 << 9
_MAX_DEPTH = 60
_EQUAL_TO_MANY = ("/mock.py", "/_pytest/", "/hypothesis/")
"""Files of libraries whose objects are there to equal many things."""
_flags_of, _mro_of, _dict_of = (type.__dict__[name].__get__ for name in ("__flags__", "__mro__", "__dict__"))
_EQ, _SUB = ("__eq__",), ("__sub__", "__rsub__", "__abs__")
_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")
_IN = ("__contains__", "__iter__", "__getitem__")
_NUMPY = ("__array_function__", "__array_ufunc__", "__array__", "__array_interface__")
_FAR = 1e308
_urandom = os.urandom


class _EqualsNothing:
    """Equals nothing but itself."""


class Comparer:
    """teller: told of objects that lie."""

    __slots__ = ("_bound", "_reporter")
    real = SimpleNamespace(**vars(builtins))
    """The builtins, for tests whose own were shadowed."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._bound: dict[str, object] = {}

    def bound(self, name: str, value: object) -> None:
        """A function or class of the tests: nobody else is to change what its name stands for."""
        self._bound[name] = value

    def rebound(self, names: dict[str, Any]) -> bool:
        return any(names.get(name) is not value for name, value in self._bound.items())

    def own(self, name: str) -> Any:
        """What the tests themselves gave that name to."""
        return self._bound[name]

    def chain(self, names: tuple[str, ...], *values: Any) -> Any:
        """a < b < c"""
        result: Any = True
        for name, a, b in zip(names, values, values[1:], strict=False):
            result = getattr(self, name)(a, b)
            if not result:
                return result
        return result

    def same(self, a: Any, b: Any) -> bool:
        return a is b

    def differs(self, a: Any, b: Any) -> bool:
        return a is not b

    def eq(self, a: Any, b: Any) -> Any:
        if _is_atom(type(a)) and _is_atom(type(b)):
            return a == b
        foreign = _is_foreign(a, _EQ)
        if foreign == _is_foreign(b, _EQ):
            return a == b
        return self._equal(a, b, 0) if foreign else self._equal(b, a, 0)

    def ne(self, a: Any, b: Any) -> Any:
        if _is_atom(type(a)) and _is_atom(type(b)):
            return a != b
        return a != b if _is_foreign(a, _EQ) == _is_foreign(b, _EQ) else not self.eq(a, b)

    def lt(self, a: Any, b: Any) -> Any:
        return self._ordered(operator.lt, a, b, -_FAR)

    def le(self, a: Any, b: Any) -> Any:
        return self._ordered(operator.le, a, b, -_FAR)

    def gt(self, a: Any, b: Any) -> Any:
        return self._ordered(operator.gt, a, b, _FAR)

    def ge(self, a: Any, b: Any) -> Any:
        return self._ordered(operator.ge, a, b, _FAR)

    def sub(self, a: Any, b: Any) -> Any:
        """Differences are compared with tolerances: a number of the solution's own making must differ more from what is
        further away."""
        result = a - b
        if _is_atom(type(a)) and _is_atom(type(b)):
            return result
        if _is_number(type(result)) and _is_foreign(a, _SUB) and _is_number(type(b)):
            self._demand(abs((result - (a - (b + 64))) - 64) < 1)
        elif _is_number(type(result)) and _is_foreign(b, _SUB) and _is_number(type(a)):
            self._demand(abs(((a + 64) - b) - result - 64) < 1)
        return result

    def contains(self, item: Any, box: Any) -> Any:
        result = item in box
        if not result:
            return result
        if _is_container(type(box)):
            others = [one for one in box if _is_foreign(one, _EQ) != _is_foreign(item, _EQ)]
            return len(others) < len(box) or any(self.eq(item, one) for one in others)
        if _is_foreign(box, _IN) and not _is_foreign(item, _EQ):
            return self._demand(not all(decoy in box for decoy in _decoys(item))) and result
        return result

    def not_contains(self, item: Any, box: Any) -> Any:
        return not self.contains(item, box)

    def pair(self, a: Any, b: Any) -> tuple[Any, Any]:
        """For assertions that compare by themselves. What lies is told of, whatever they then say."""
        if _is_foreign(a, _EQ) != _is_foreign(b, _EQ):
            self.eq(a, b)
        return a, b

    def shown(self, value: Any) -> Any:
        """For numpy, which lets objects answer in its place."""
        if not _is_atom(type(value)) and _is_foreign(value, _NUMPY):
            self._demand(False)
        return value

    def _demand(self, kept: bool) -> bool:
        if not kept:
            self._reporter.report("comparison")
        return kept

    def _equal(self, foreign: Any, plain: Any, depth: int) -> bool:
        """foreign is, or holds, something of the solution's making; plain is and holds nothing of the kind."""
        if _is_array(type(foreign)):
            self._equal(_flat(foreign), _flat(plain), depth + 1)
            return foreign == plain  # type: ignore[no-any-return]
        if _is_list(type(foreign)) and type(foreign) is type(plain) and depth < _MAX_DEPTH:
            return len(foreign) == len(plain) and all(map(self._part(depth), foreign, plain))
        if type(foreign) is dict and type(plain) is dict and depth < _MAX_DEPTH:
            same_keys = len(foreign) == len(plain) and all(map(_is_plain_key, foreign)) and foreign.keys() == plain.keys()
            return same_keys and all(self._part(depth)(foreign[key], plain[key]) for key in plain)
        if _is_container(type(foreign)):
            return bool(foreign == plain) and self._demand(not any(foreign == decoy for decoy in _decoys(plain)))
        return self._ask_twice(foreign, plain)

    def _part(self, depth: int) -> Callable[[Any, Any], bool]:
        return lambda a, b: self._equal(a, b, depth + 1) if _is_foreign(a, _EQ) else bool(a == b)

    def _ask_twice(self, foreign: Any, plain: Any) -> bool:
        asked = _shuffle([plain, *_decoys(plain)])
        said = [value for value in asked if _says_equal(foreign, value, value is plain)]
        return self._demand(len(said) < 2) and len(said) == 1 and said[0] is plain

    def _ordered(self, compare: Callable[[Any, Any], Any], a: Any, b: Any, far: float) -> Any:
        """Who is less than a number must not be less than all numbers."""
        result = compare(a, b)
        if _is_atom(type(a)) and _is_atom(type(b)):
            return result
        if _is_number(type(b)) and _is_foreign(a, _ORDER):
            return self._demand(not compare(a, far)) and result
        if _is_number(type(a)) and _is_foreign(b, _ORDER):
            return self._demand(not compare(-far, b)) and result
        return result


def _says_equal(foreign: Any, value: Any, is_real: bool) -> bool:
    """What it does not bear to be compared with is different, unless the tests themselves ask."""
    try:
        return bool(foreign == value)
    except Exception:
        if is_real:
            raise
        return False


def _is_atom(kind: type) -> bool:
    """By identity: a class of classes can say that its classes equal int."""
    return kind is int or kind is str or kind is float or kind is bool or kind is _NONE or kind is bytes or kind is complex


def _is_number(kind: type) -> bool:
    return kind is int or kind is float


def _is_list(kind: type) -> bool:
    return kind is list or kind is tuple


def _is_array(kind: type) -> bool:
    return kind.__name__ == "ndarray" and not _flags_of(kind) & _HEAP_TYPE


def _flat(value: Any) -> Any:
    return value.ravel().tolist() if _is_array(type(value)) else value


def _is_container(kind: type) -> bool:
    return kind is list or kind is tuple or kind is dict or kind is set or kind is frozenset


def _is_foreign(value: Any, methods: tuple[str, ...], depth: int = 0) -> bool:
    """Whether it is, or holds, an object whose class answers one of these with code that is not the interpreter's own."""
    kind = type(value)
    if _is_atom(kind):
        return False
    if not _is_container(kind) and _flags_of(kind) & _HEAP_TYPE and any(_is_untrusted(kind, method) for method in methods):
        return True
    return depth < _MAX_DEPTH and _holds_foreign(_parts(value, kind), methods, depth)


def _parts(value: Any, kind: type) -> Iterable[Any]:
    """What a container holds, in words of its class of builtins, whatever its own class says."""
    if kind is list or kind is tuple or kind is set or kind is frozenset:
        return value  # type: ignore[no-any-return]
    for base in _mro_of(kind):
        if base is dict:
            return (*dict.keys(value), *dict.values(value))
        if base in _CONTAINERS:
            return base.__iter__(value)  # type: ignore[no-any-return]
    return _flat(value) if _is_array(kind) and value.dtype.hasobject else ()


def _holds_foreign(parts: Iterable[Any], methods: tuple[str, ...], depth: int) -> bool:
    parts = list(parts)
    if set(map(type, map(type, parts))) <= _PLAIN_CLASS and set(map(type, parts)) <= _ATOM_SET:
        return False
    return any(_is_foreign(part, methods, depth + 1) for part in parts)


def _is_untrusted(kind: type, method: str) -> bool:
    for base in _mro_of(kind):
        found = _dict_of(base).get(method)
        if found is not None:
            return _flags_of(base) & _HEAP_TYPE != 0 and _is_own_code(found)
    return False


def _is_own_code(method: object) -> bool:
    """Dataclasses and named tuples have theirs made from text; what was made from the solution's own text looks the same."""
    if type(method) is not FunctionType:
        return type(method).__name__ not in ("wrapper_descriptor", "method_descriptor", "builtin_function_or_method")
    filename = method.__code__.co_filename
    return not is_trusted(filename) or any(part in filename for part in _EQUAL_TO_MANY)


def _is_plain_key(key: object) -> bool:
    return not _is_foreign(key, (*_EQ, "__hash__"))


def _decoys(value: Any) -> list[Any]:
    """Values that differ from it, of the same kind where there are such."""
    return [decoy for decoy in _alter(value) if decoy != value] or [_EqualsNothing()]


def _alter(value: Any) -> list[Any]:
    kind = type(value)
    if kind is bool:
        return [not value, 17, "", None]
    if kind in (int, float, complex):
        return [value + 1, value - 1, value * 2 + 3, -value - 7, value + 1000003]
    if kind is str or kind is bytes:
        more = "x" if kind is str else b"x"
        return [value + more, more + value, value + value + more, value[1:] + more * 2]
    if _is_list(kind):
        return [
            kind(_EqualsNothing() for _ in value),
            value + kind((0,)),
            kind(_decoys(part)[0] for part in value) or kind((1,)),
        ]
    if kind is dict:
        return [{key: _decoys(part)[0] for key, part in value.items()} or {0: 0}, {**value, "x": 0, 17: 1}]
    if kind in (set, frozenset):
        return [kind(_decoys(part)[0] for part in value) or kind([0]), value | {_EqualsNothing()}]
    return [0, "", (), _EqualsNothing()]


def _shuffle(values: list[Any]) -> list[Any]:
    """By chance of the kernel: what the solution can seed is no secret from it."""
    dice = _urandom(len(values))
    return [value for _, _, value in sorted(zip(dice, range(len(values)), values, strict=True), key=operator.itemgetter(0, 1))]
