"""Arguments that the solution changed in place: the tests' own objects get the new content."""

from __future__ import annotations

from typing import Any

_CONTAINERS = (list, dict, set, tuple, bytearray)


def merge(old: Any, new: Any) -> None:
    """Change old in place, as deep as both have the same shape. What cannot be changed stays as it is."""
    kind = type(old)
    if kind is not type(new):
        return
    if kind is tuple:
        for one, other in zip(old, new):  # noqa: B905
            merge(one, other)
    elif kind is list:
        old[:] = _merge_list(old, new)
    elif kind is dict:
        fresh = {key: _merge_or_replace(old[key], value) if key in old else value for key, value in new.items()}
        old.clear()
        old.update(fresh)
    elif kind is set:
        old.clear()
        old.update(new)
    elif kind is bytearray:
        old[:] = new
    elif kind.__name__ == "deque":
        old.clear()
        old.extend(new)
    elif kind.__name__ == "ndarray" and old.shape == new.shape and old.dtype == new.dtype:
        old[...] = new


def _merge_list(old: list[Any], new: list[Any]) -> list[Any]:
    """With the inner objects of old, where an inner object has kept its place."""
    if len(old) != len(new):
        return new
    return [_merge_or_replace(one, other) for one, other in zip(old, new)]  # noqa: B905


def _merge_or_replace(old: Any, new: Any) -> Any:
    if type(old) is not type(new) or type(old) not in _CONTAINERS:
        return new
    if type(old) is tuple and old != new:
        return new
    merge(old, new)
    return old
