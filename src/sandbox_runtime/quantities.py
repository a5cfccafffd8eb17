"""Numbers and amounts as callers write them: bytes, cores, seconds. Pure, and the only parser of them for every interface.

Every function takes what arrived, text or number, and returns a finite number within its bounds, or raises InvalidQuantity, which
is an InvalidRequest and also a ValueError, so that validators of messages report it as theirs. Not accepted anywhere: booleans,
NaN, infinity, signs, exponents, hexadecimal or non-ASCII digits, empty text.

Interfaces differ in two things, which are parameters: what a plain number counts (bytes or KiB), and whether "1K" is 1024 bytes
or, beside "1Ki", 1000.
"""

from __future__ import annotations

import math
import re
from typing import SupportsFloat

from sandbox_runtime.errors import InvalidRequest

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
TIB = 1024 * GIB
MAX_BYTES = 1024 * TIB
MIN_CORES, MAX_CORES = 0.01, 4096.0
MAX_SECONDS = 400 * 86_400.0

_MAX_TEXT = 40
_PREFIXES = "KMGT"
_BINARY = (("Ti", TIB), ("Gi", GIB), ("Mi", MIB), ("Ki", KIB))
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([kmgt]?)(i?)b?", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?")
_TIME_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ms|s|m|h|d)")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


class InvalidQuantity(InvalidRequest, ValueError):
    pass


def parse_bytes(
    value: object, what: str = "the size", *, unit: int = 1, decimal: bool = False, low: int = 0, high: int = MAX_BYTES
) -> int:
    """Return a number of bytes: 1048576, "512M", "1.5Gi", "1 GB". A plain number counts units; decimal: "1K" is 1000 bytes."""
    if isinstance(value, str):
        match = _SIZE.fullmatch(value.strip()) if len(value) <= _MAX_TEXT else None
        if match is None or (match[3] and not match[2]):
            raise _invalid(value, what, "a size such as 512M or 1G")
        base = 1000 if decimal and not match[3] else 1024
        power = 1 + _PREFIXES.index(match[2].upper()) if match[2] else 0
        size = int(float(match[1]) * base**power)
    else:
        size = int(_require_number(value, what, "a size in bytes, or such as 512M or 1G") * unit)
    if not low <= size <= high:
        raise InvalidQuantity(f"{what} must be between {show_bytes(low)} and {show_bytes(high)}, not {_display(value)}")
    return size


def parse_cpu(value: object, what: str = "cpu") -> float:
    """Return a number of processor cores: 2, 0.5, "1.5"."""
    cores = _number(value, what, "a number of cores such as 1 or 0.5")
    return check_range(cores, what, MIN_CORES, MAX_CORES)


def parse_seconds(value: object, what: str = "the time", *, low: float = 0.0, high: float = MAX_SECONDS) -> float:
    """Return seconds: 30, "30", "500ms", "1m30s"."""
    text = value.strip().lower() if isinstance(value, str) and len(value) <= _MAX_TEXT else None
    parts = _TIME_PART.findall(text) if text else []
    if parts and "".join(number + unit for number, unit in parts) == text:
        return check_range(sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts), what, low, high)
    return check_range(_number(value, what, "a time such as 30s, 5m or 24h"), what, low, high)


def parse_number(value: object, what: str = "the value") -> float:
    """Return a finite number, given as one or as plain decimal text. It may be negative."""
    if isinstance(value, str) and value[:1] == "-":
        return -_number(value[1:], what, "a valid number")
    return (
        _number(value, what, "a valid number")
        if isinstance(value, str)
        else _require_number(value, what, "a valid number", signed=True)
    )


def parse_whole(value: object, what: str = "the value") -> int:
    """Return a whole number, given as one or as decimal text. It may be negative."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        number = parse_number(value, what)
    except InvalidQuantity as error:
        raise _invalid(value, what, "a valid integer") from error
    if number != int(number):
        raise _invalid(value, what, "a valid integer")
    return int(number)


def check_range(value: object, what: str, low: float, high: float) -> float:
    """Return the value. Raises InvalidQuantity unless it is a finite number within the bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise InvalidQuantity(f"{what} must be a number, not {_display(value)}")
    if not low <= value <= high:
        displayed = [show_amount(number, what) for number in (low, high, value)]
        raise InvalidQuantity(f"{what} must be between {displayed[0]} and {displayed[1]}, not {displayed[2]}")
    return value


def format_bytes(size: int) -> str:
    """Return the exact text in the largest unit that divides the size: 512Mi, 1Gi, 1000."""
    unit, factor = next(((unit, factor) for unit, factor in _BINARY if size and size % factor == 0), ("", 1))
    return f"{size // factor}{unit}"


def show_bytes(size: float) -> str:
    """Return the size as a person reads it: 4 GiB, 1.5 MiB, 100 bytes."""
    for unit, factor in _BINARY:
        if abs(size) >= factor:
            return f"{show_number(round(size / factor, 2))} {unit}B"
    return f"{show_number(size)} bytes"


def show_amount(value: float, name: str) -> str:
    """Return the value in the unit that the name ends with."""
    return show_bytes(value) if name.endswith("bytes") else show_number(value)


def show_number(value: float) -> str:
    """Return the number without an exponent: 0.01, 86,400."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value):
        return f"{int(value):,}" if abs(value) < 10**18 else "a number of more than 18 digits"
    return f"{value:,.9f}".rstrip("0")


def format_seconds(value: float) -> str:
    """Return the time in the largest unit that divides it: 24h, 5m, 30s, 500ms."""
    for unit in ("h", "m", "s"):
        if value >= _UNIT_SECONDS[unit] and value % _UNIT_SECONDS[unit] == 0:
            return f"{int(value / _UNIT_SECONDS[unit])}{unit}"
    return f"{round(value * 1000)}ms"


def _number(value: object, what: str, wanted: str) -> float:
    if not isinstance(value, str):
        return _require_number(value, what, wanted)
    text = value.strip()
    if len(text) > _MAX_TEXT or not _NUMBER.fullmatch(text):
        raise _invalid(value, what, wanted)
    return float(text)


def _require_number(value: object, what: str, wanted: str, *, signed: bool = False) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise _invalid(value, what, wanted)
    if not signed and (value < 0 or math.copysign(1.0, value) < 0):
        raise _invalid(value, what, wanted)
    return value


def _is_finite(value: SupportsFloat) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of more digits than any float has
        return False


def _invalid(value: object, what: str, wanted: str) -> InvalidQuantity:
    return InvalidQuantity(f"{what} must be {wanted}, not {_display(value)}")


def _display(value: object) -> str:
    if isinstance(value, str):
        return repr(value[:_MAX_TEXT])
    if isinstance(value, int) and not isinstance(value, bool):
        return show_number(value) if abs(value) < 10**18 else "a number of more than 18 digits"
    return repr(value)[:_MAX_TEXT]
