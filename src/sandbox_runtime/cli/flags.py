"""Flags that several commands share, and from them the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings import Settings, load

Config = Annotated[Path | None, typer.Option("--config", help="Settings file (TOML).", show_default=False)]
Isolation = Annotated[
    str | None, typer.Option("--isolation", help="namespaces, bubblewrap or none (setting isolation).", show_default=False)
]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Any setting, by its name; may be repeated.")]


def settings_from(config: Path | None, sets: list[str] | None, **named: object) -> Settings:
    """named holds the flags that have an option of their own; those that were not given are None."""
    flags: dict[str, object] = dict(_pair(text) for text in sets or [])
    flags |= {name: value for name, value in named.items() if value is not None}
    return load(flags, file=config)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidRequest(f"--set {text!r}: write it as NAME=VALUE")
    return name.strip().lower().replace("-", "_"), value
