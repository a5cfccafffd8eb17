"""Times and sizes as they are written in the configuration: "30s", "5m", "64K", "1.5G", or plain numbers."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

from sandbox_runtime.quantities import format_seconds, parse_bytes, parse_cpu, parse_seconds


def cores(value: object) -> str:
    """Return the text again, which is what the configuration holds. Raises InvalidQuantity."""
    parse_cpu(value, "cpu_limit")
    return str(value)


Seconds = Annotated[float, BeforeValidator(lambda value: parse_seconds(value)), PlainSerializer(format_seconds, return_type=str)]
SizeBytes = Annotated[int, BeforeValidator(lambda value: parse_bytes(value))]
Cores = Annotated[str, BeforeValidator(cores)]
