"""One stretch of a longer list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from sandbox_runtime.errors import InvalidRequest

Item = TypeVar("Item")
MAX_ITEMS = 1000
MAX_OFFSET = 10_000_000


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """total counts all that fit, on every page. items may be fewer than limit even in the middle, where they are large: the
    next page starts at next_offset."""

    items: tuple[Item, ...]
    total: int
    limit: int
    offset: int

    @property
    def next_offset(self) -> int:
        return self.offset + len(self.items)

    @property
    def has_more(self) -> bool:
        return self.next_offset < self.total


def check_page(limit: int, offset: int) -> None:
    if not 1 <= limit <= MAX_ITEMS:
        raise InvalidRequest(f"limit must be between 1 and {MAX_ITEMS}, not {limit}")
    if not 0 <= offset <= MAX_OFFSET:
        raise InvalidRequest(f"offset must be between 0 and {MAX_OFFSET}, not {offset}; narrow the list with a filter")
