"""A round-robin queue: owners take turns, and so do the batches of one owner."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Pure bookkeeping. An item that had its turn moves to the end."""

    def __init__(self) -> None:
        self._owners: OrderedDict[str, deque[T]] = OrderedDict()

    def add(self, owner: str, item: T) -> None:
        self._owners.setdefault(owner, deque()).append(item)

    def remove(self, owner: str, item: T) -> None:
        """Remove the item, if it is still queued."""
        queue = self._owners.get(owner, deque())
        if item in queue:
            queue.remove(item)
        if owner in self._owners and not queue:
            del self._owners[owner]

    def next(self) -> T | None:
        """Return the item whose turn it is and move it to the end, or None if the queue is empty."""
        if not self._owners:
            return None
        owner, queue = self._owners.popitem(last=False)
        self._owners[owner] = queue
        queue.rotate(-1)
        return queue[-1]
