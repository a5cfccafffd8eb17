"""Sizes as this protocol writes them: 100M, 1G, or a plain number."""

from __future__ import annotations

import re

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.limits import GIB, KIB, MIB

_SIZE = re.compile(r"(\d{1,15})\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_UNITS = {"": 1, "k": KIB, "m": MIB, "g": GIB, "t": 1024 * GIB}


def bytes_of(text: str, what: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise InvalidRequest(f"{what} must be a size such as 100M or 1G, not {text[:20]!r}")
    return int(found[1]) * _UNITS[found[2].lower()]


def memory_bytes_of(value: int | str) -> int:
    """A number counts KB, as everywhere in this protocol."""
    return value * KIB if isinstance(value, int) else bytes_of(value, "memory_limit")
