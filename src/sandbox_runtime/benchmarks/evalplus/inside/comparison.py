"""Comparison of results in the box of EvalPlus tests; its text becomes part of the program."""

from copy import deepcopy as _deepcopy
from math import isclose as _isclose
from math import isnan as _isnan
from typing import Any as _Any

_NARROW, _FLOATS = 1e-7, 1e-6


def _plus_same(given: _Any, right: _Any, atol: float, arguments: _Any) -> bool:
    """The same value; numbers with a point may be off by what the problem allows."""
    if isinstance(right, (list, tuple)):
        alike = isinstance(given, type(right)) and len(given) == len(right)
        return alike and all(_plus_same(one, other, atol, arguments) for one, other in zip(given, right, strict=True))
    if isinstance(right, float) or (atol and isinstance(right, int)):
        return _plus_same_number(given, right, atol or _FLOATS)
    return bool(given == right)


def _plus_same_number(given: _Any, right: float, atol: float) -> bool:
    try:
        number = float(given)
    except (TypeError, ValueError, OverflowError):
        return False
    return number == right or _isclose(number, right, rel_tol=_NARROW, abs_tol=atol) or (_isnan(number) and _isnan(right))


def _plus_same_set(given: _Any, right: _Any, atol: float, arguments: _Any) -> bool:
    """The same elements, in any order and as often as it may be."""
    return given is not None and set(given) == set(right)


def _plus_both_or_none(given: _Any, right: _Any, atol: float, arguments: _Any) -> bool:
    """Found or not found, whatever stands for it."""
    return bool(given) == bool(right)


def _plus_is_zero(given: _Any, right: _Any, atol: float, arguments: _Any) -> bool:
    """A place where the polynomial with these coefficients is nothing."""
    value = sum(factor * given**power for power, factor in enumerate(arguments[0]))
    return bool(abs(value) <= (atol or 1e-4))


def _plus_compare(candidate: _Any, name: str, reference: str, inputs: _Any, atol: float, alike: _Any) -> None:
    """The reference is not there before the solution has given all its answers."""
    answers = [candidate(*_deepcopy(arguments)) for arguments in inputs]
    known: dict[str, _Any] = {}
    exec(reference, known)
    for arguments, given in zip(inputs, answers, strict=True):
        right = known[name](*_deepcopy(arguments))
        assert alike(given, right, atol, arguments), f"{name}{tuple(arguments)!r} gives {given!r}; right is {right!r}"
