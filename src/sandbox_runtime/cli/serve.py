"""`sandbox serve`: the HTTP server."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from sandbox_runtime.cli.flags import Config, Isolation, Set, settings_from
from sandbox_runtime.settings import Settings, environment_name, shown

KEEP_ALIVE_S = 30
SHUTDOWN_S = 30

Host = Annotated[str | None, typer.Option(help="Address to listen on (setting host).", show_default=False)]
Port = Annotated[int | None, typer.Option(help="Port to listen on (setting port).", show_default=False)]
Reload = Annotated[bool, typer.Option("--reload", help="Restart when the source changes; for development.")]


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
    from sandbox_runtime.api.app import refuse_exposure

    settings = settings_from(config, sets, host=host, port=port, isolation=isolation)
    refuse_exposure(settings)
    _listen(settings, reload)


def _listen(settings: Settings, reload: bool) -> None:
    """The reloading parent starts its children by import name: they find the flags in their environment."""
    import uvicorn

    from sandbox_runtime.api.app import create_app
    from sandbox_runtime.telemetry import server_log_config

    if reload:
        os.environ.update(_as_environment(settings))
    uvicorn.run(
        "sandbox_runtime.api.app:create_app_from_environment" if reload else create_app(settings),
        factory=reload,
        reload=reload,
        host=settings.host,
        port=settings.port,
        http="httptools",
        loop="uvloop",
        access_log=False,
        log_config=server_log_config(settings.log_level, settings.log_format),
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=SHUTDOWN_S,
    )


def _as_environment(settings: Settings) -> dict[str, str]:
    given = (name for name, origin in settings.origin.items() if origin != "default")
    return {environment_name(name): shown(getattr(settings, name)) for name in given}
