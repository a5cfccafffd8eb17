"""Options shared by several commands, and the settings they select."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings import Settings, load

Config = Annotated[Path | None, typer.Option("--config", help="Settings file (TOML).", show_default=False)]
Isolation = Annotated[
    str | None,
    typer.Option(
        "--isolation", help="Isolation backend: namespaces, bubblewrap or none (setting isolation).", show_default=False
    ),
]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Set any setting by name; repeatable.")]


def settings_from(config: Path | None, sets: list[str] | None, **options: object) -> Settings:
    """Load the settings. `options`: settings with their own option; None if not given."""
    flags: dict[str, object] = dict(_parse_pair(text) for text in sets or [])
    flags |= {name: value for name, value in options.items() if value is not None}
    return load(flags, file=config)


def _parse_pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidRequest(f"--set {text!r} must have the form NAME=VALUE")
    return name.strip().lower().replace("-", "_"), value
