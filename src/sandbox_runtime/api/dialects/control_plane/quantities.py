"""Amounts as this protocol writes them: "512Mi", "1Gi", "0.5". Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_UNITS = {"": 1, "Ki": 1024, "Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
_AMOUNT = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)(Ki|Mi|Gi|Ti|K|M|G|T)?B?")
_NUMBER = re.compile(r"\d{1,6}(?:\.\d{1,6})?")
_WRITTEN = (("Gi", 1024**3), ("Mi", 1024**2), ("Ki", 1024))


def bytes_of(text: str) -> int:
    """Raises ValueError."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text[:40]!r} is no amount of bytes; write it as 512Mi or 1Gi")
    return int(float(found[1]) * _UNITS[found[2] or ""])


def text_of_bytes(size: int) -> str:
    """The largest unit of which it is a whole number."""
    unit, factor = next(((unit, factor) for unit, factor in _WRITTEN if size and size % factor == 0), ("", 1))
    return f"{size // factor}{unit}"


def cores_of(text: str) -> float:
    """Raises ValueError."""
    if not _NUMBER.fullmatch(text.strip()):
        raise ValueError(f"{text[:40]!r} is no number of processors; write it as 1 or 0.5")
    return float(text)


def time_of(moment_ms: int | None) -> datetime | None:
    return None if moment_ms is None else datetime.fromtimestamp(moment_ms / 1000, UTC)


def moment_of(moment_ms: int) -> datetime:
    return datetime.fromtimestamp(moment_ms / 1000, UTC)


def ms_of(moment: datetime | None) -> int | None:
    """A time without a zone is taken as UTC."""
    if moment is None:
        return None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(zoned.timestamp() * 1000)
