"""Times and sizes as they are written in the configuration: "30s", "5m", "64K", "1.5G", or plain numbers."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_UNITS_BYTES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
_TIME_PART = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_TIME = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", re.IGNORECASE)
_LONGEST_TEXT = 40


def seconds(value: object) -> object:
    """Plain numbers are seconds; texts have units, several in a row where wanted: 1m30s."""
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        return value
    text = value.strip().lower()
    if _TIME.fullmatch(text):
        return sum(float(number) * _UNITS_S[unit] for number, unit in _TIME_PART.findall(text))
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    raise ValueError(f"{value!r} is no time: write it like 30s, 5m or 24h")


def size_bytes(value: object) -> object:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        return value
    found = _SIZE.fullmatch(value.strip())
    if found is None:
        raise ValueError(f"{value!r} is no size: write it like 512K, 64M or 1G")
    return int(float(found[1]) * _UNITS_BYTES[found[2].upper()])


def shown_seconds(value: float) -> str:
    for unit in ("h", "m", "s"):
        if value >= _UNITS_S[unit] and value % _UNITS_S[unit] == 0:
            return f"{int(value / _UNITS_S[unit])}{unit}"
    return f"{round(value * 1000)}ms"


Seconds = Annotated[float, BeforeValidator(seconds), PlainSerializer(shown_seconds, return_type=str)]
SizeBytes = Annotated[int, BeforeValidator(size_bytes)]
