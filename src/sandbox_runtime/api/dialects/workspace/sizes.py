"""Sizes as this protocol writes them: 100M, 1G, or a plain number."""

from __future__ import annotations

from sandbox_runtime.quantities import KIB, parse_bytes


def bytes_of(text: str, what: str) -> int:
    return parse_bytes(text, what)


def memory_bytes_of(value: int | str) -> int:
    """A number counts KB, as everywhere in this protocol."""
    return parse_bytes(value, "memory_limit", unit=KIB)
