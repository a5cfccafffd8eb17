"""`sandbox version`."""

from __future__ import annotations

from importlib import metadata

import typer


def register(app: typer.Typer) -> None:
    app.command("version")(show)


def show() -> None:
    """Print the version."""
    print(metadata.version("sandbox-runtime"))
