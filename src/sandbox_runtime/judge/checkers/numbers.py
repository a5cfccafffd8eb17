"""Numbers in outputs."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE)
_MAX_CHARACTERS = 400


def parse_number(text: str) -> float | None:
    """None for what is none. Narrower than Python's own reading, which takes `1_0` for ten and digits of any script."""
    if len(text) > _MAX_CHARACTERS or _NUMBER.fullmatch(text) is None:
        return None
    return float(text)


def is_close(printed: float, expected: float, *, absolute: float = 0.0, relative: float = 0.0) -> bool:
    """Within either tolerance of what was expected. Infinities are close to themselves alone, and nothing is close to NaN."""
    if printed == expected:
        return True
    if not (math.isfinite(printed) and math.isfinite(expected)):
        return False
    return abs(printed - expected) <= max(absolute, relative * abs(expected))
