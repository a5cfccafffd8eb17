"""Amounts as this protocol writes them: "512Mi", "1Gi", "0.5". Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from sandbox_runtime.quantities import format_bytes, parse_bytes, parse_cpu


def bytes_of(text: str, what: str = "the size") -> int:
    """Raises InvalidQuantity. Units as in Kubernetes: 1Ki is 1024 bytes, 1K is 1000."""
    return parse_bytes(text, what, decimal=True)


def text_of_bytes(size: int) -> str:
    return format_bytes(size)


def cores_of(text: str) -> float:
    """Raises InvalidQuantity."""
    return parse_cpu(text)


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
