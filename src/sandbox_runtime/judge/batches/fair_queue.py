"""Whose turn it is: owners take turns, and so do the batches of one owner."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Pure bookkeeping. Whoever has had a turn goes to the end of the line."""

    def __init__(self) -> None:
        self._owners: OrderedDict[str, deque[T]] = OrderedDict()

    def add(self, owner: str, work: T) -> None:
        self._owners.setdefault(owner, deque()).append(work)

    def remove(self, owner: str, work: T) -> None:
        """Nothing where it is not in line any more."""
        line = self._owners.get(owner, deque())
        if work in line:
            line.remove(work)
        if owner in self._owners and not line:
            del self._owners[owner]

    def next(self) -> T | None:
        """The one whose turn it is. It stays in line, behind all others."""
        if not self._owners:
            return None
        owner, line = self._owners.popitem(last=False)
        self._owners[owner] = line
        line.rotate(-1)
        return line[-1]
