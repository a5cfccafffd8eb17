"""`sandbox version`."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    app.command("version")(show)


def show() -> None:
    """Print the version."""
    from sandbox_runtime.assembly import version

    print(version())
