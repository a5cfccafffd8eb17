"""`sandbox serve`: the HTTP server."""

from __future__ import annotations

from typing import Annotated

import typer

from sandbox_runtime.cli.flags import Config, Isolation, Set, settings_from

Host = Annotated[str | None, typer.Option(help="Address to listen on (setting host).", show_default=False)]
Port = Annotated[int | None, typer.Option(help="Port to listen on (setting port).", show_default=False)]
Reload = Annotated[bool, typer.Option("--reload", help="Restart when the source changes (for development).")]


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)


def serve(
    host: Host = None,
    port: Port = None,
    isolation: Isolation = None,
    reload: Reload = False,
    config: Config = None,
    sets: Set = None,
) -> None:
    """Start the HTTP server."""
    from sandbox_runtime.cli.web_server import listen, listen_and_reload

    settings = settings_from(config, sets, host=host, port=port, isolation=isolation)
    listen_and_reload(settings) if reload else listen(settings)
