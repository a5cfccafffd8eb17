"""`sandbox mcp`: see mcp_sandboxd."""

from __future__ import annotations

import typer

from sandbox_runtime.cli.mcp_sandboxd import build


def register(app: typer.Typer) -> None:
    app.add_typer(build("mcp"), name="mcp")
