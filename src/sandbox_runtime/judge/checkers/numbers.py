"""Parse and compare numbers in outputs."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE)
_MAX_CHARACTERS = 400


def parse_number(text: str) -> float | None:
    """Return None for other text. Stricter than float(), which accepts `1_0` and digits of any script."""
    if len(text) > _MAX_CHARACTERS or _NUMBER.fullmatch(text) is None:
        return None
    return float(text)


def is_close(printed: float, expected: float, *, absolute: float = 0.0, relative: float = 0.0) -> bool:
    """Whether the number is within either tolerance. Infinities are close only to themselves; nothing is close to NaN."""
    if printed == expected:
        return True
    if not (math.isfinite(printed) and math.isfinite(expected)):
        return False
    return abs(printed - expected) <= max(absolute, relative * abs(expected))
