"""Names and text forms of settings for the environment, the reference and flags."""

from __future__ import annotations

import dataclasses
import typing

from sandbox_runtime.settings.settings import Settings, all_settings

ENVIRONMENT_PREFIX = "SANDBOX_"


def environment_name(name: str) -> str:
    return all_settings()[name].environment or ENVIRONMENT_PREFIX + name.upper()


def type_name(name: str) -> str:
    """Return the type of a setting as the reference names it."""
    return {"str": "text", "int": "whole number", "float": "number", "bool": "yes or no"}.get(annotation(name), "list of text")


def default_text(name: str) -> str:
    """Return the default as the reference shows it; the same on every machine."""
    declared = next(entry for entry in dataclasses.fields(Settings) if entry.name == name)
    return all_settings()[name].default_text or f"`{format_value(declared.default)}`"


def format_value(value: object) -> str:
    """Return a value as it is written in a flag."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def annotation(name: str) -> str:
    return typing.cast(str, Settings.__dataclass_fields__[name].type)
