"""Convert between milliseconds since the epoch and datetimes in UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import overload


@overload
def to_datetime(time_ms: int) -> datetime: ...
@overload
def to_datetime(time_ms: int | None) -> datetime | None: ...
def to_datetime(time_ms: int | None) -> datetime | None:
    return None if time_ms is None else datetime.fromtimestamp(time_ms / 1000, UTC)


def to_ms(time: datetime | None) -> int | None:
    """A time without a time zone is UTC."""
    if time is None:
        return None
    zoned = time if time.tzinfo else time.replace(tzinfo=UTC)
    return int(zoned.timestamp() * 1000)
