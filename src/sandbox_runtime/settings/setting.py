"""What is known of one setting: its unit, its sentence, its bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sandbox_runtime.errors import InvalidRequest

Number = int | float


@dataclass(frozen=True, slots=True)
class Knob:
    """What is known of one setting beside its name, type and value."""

    unit: str
    text: str
    group: str
    low: Number | None = None
    high: Number | None = None
    choices: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    secret: bool = False
    environment: str = ""
    default_text: str = ""


def knob(
    default: Any,
    unit: str,
    text: str,
    group: str,
    *,
    low: Number | None = None,
    high: Number | None = None,
    choices: tuple[str, ...] = (),
    renamed: tuple[tuple[str, str], ...] = (),
    secret: bool = False,
    environment: str = "",
    default_text: str = "",
) -> Any:
    """A field of Settings. A callable default is worked out on the machine; default_text then tells it in the reference."""
    about = Knob(unit, text, group, low, high, choices, renamed, secret, environment, default_text)
    if callable(default):
        return field(default_factory=default, metadata={"knob": about})
    return field(default=default, metadata={"knob": about})


def check(value: Any, about: Knob, name: str, source: str) -> None:
    if about.choices and value not in about.choices:
        raise InvalidRequest(f"{name} ({source}): {value!r} is not one of {', '.join(about.choices)}")
    if isinstance(value, str) and "\0" in value:
        raise InvalidRequest(f"{name} ({source}): must not hold NUL bytes")
    low, high = about.low, about.high
    if (low is not None and value < low) or (high is not None and value > high):
        raise InvalidRequest(f"{name} ({source}): must be between {low:,} and {high:,} {about.unit}, not {value:,}")
