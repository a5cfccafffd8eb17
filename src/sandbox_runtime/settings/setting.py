"""The declaration of one setting: unit, description, bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sandbox_runtime.errors import InvalidRequest

Number = int | float


@dataclass(frozen=True, slots=True)
class Setting:
    """Metadata of one setting. Name, type and default are those of the field of Settings."""

    unit: str
    description: str
    group: str
    low: Number | None = None
    high: Number | None = None
    choices: tuple[str, ...] = ()
    value_aliases: tuple[tuple[str, str], ...] = ()
    secret: bool = False
    environment: str = ""
    default_text: str = ""


def setting(
    default: Any,
    unit: str,
    description: str,
    group: str,
    *,
    low: Number | None = None,
    high: Number | None = None,
    choices: tuple[str, ...] = (),
    value_aliases: tuple[tuple[str, str], ...] = (),
    secret: bool = False,
    environment: str = "",
    default_text: str = "",
) -> Any:
    """Return a field of Settings. A callable default is computed on this machine; default_text describes it in the reference."""
    declared = Setting(unit, description, group, low, high, choices, value_aliases, secret, environment, default_text)
    if callable(default):
        return field(default_factory=default, metadata={"setting": declared})
    return field(default=default, metadata={"setting": declared})


def check_value(value: Any, setting: Setting, name: str, source: str) -> None:
    if setting.choices and value not in setting.choices:
        raise InvalidRequest(f"{name} ({source}): {value!r} is not one of {', '.join(setting.choices)}")
    if isinstance(value, str) and "\0" in value:
        raise InvalidRequest(f"{name} ({source}): must not contain NUL bytes")
    low, high = setting.low, setting.high
    if (low is not None and value < low) or (high is not None and value > high):
        raise InvalidRequest(f"{name} ({source}): must be between {low:,} and {high:,} {setting.unit}, not {value:,}")
