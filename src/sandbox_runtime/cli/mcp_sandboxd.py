"""`mcp-sandboxd`, which is also `sandbox mcp`: sandboxes for clients of the Model Context Protocol."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from sandbox_runtime.cli.exit_codes import code_of
from sandbox_runtime.errors import InvalidRequest, SandboxError, operator_text

Config = Annotated[Path | None, typer.Option("--config", "-c", help="Configuration file (YAML).", show_default=False)]
LogLevel = Annotated[str | None, typer.Option("--log-level", "-l", help="debug, info, warn or error.", show_default=False)]
LogFormat = Annotated[str | None, typer.Option("--log-format", "-f", help="json, text or console.", show_default=False)]
WorkspaceDir = Annotated[str | None, typer.Option("--workspace-dir", "-w", help="Folder for what it keeps.", show_default=False)]
Http = Annotated[bool, typer.Option("--http", help="Serve HTTP and WebSocket instead of standard input and output.")]
Port = Annotated[int | None, typer.Option("--port", "-p", help="Port to listen on with --http.", show_default=False)]
Server = Annotated[
    str, typer.Option("--server", help="Address of a running server whose sandboxes are used.", show_default=False)
]
Version = Annotated[bool, typer.Option("--version", help="Tell the version and end.")]
Tools = Annotated[str | None, typer.Option("--tools", help='Tools to offer, by commas; "all" for every one.', show_default=False)]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write to.", show_default=False)]


def build(name: str = "mcp-sandboxd") -> typer.Typer:
    app = typer.Typer(
        name=name,
        help="Sandboxes for clients of the Model Context Protocol: standard input and output, or HTTP.",
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(serve)
    config = typer.Typer(name="config", help="The configuration file.", no_args_is_help=True)
    config.command("generate")(generate)
    config.command("validate")(validate)
    app.add_typer(config)
    app.command("version")(tell_version)
    return app


def serve(
    context: typer.Context,
    config: Config = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
    workspace_dir: WorkspaceDir = None,
    http: Http = False,
    port: Port = None,
    server: Server = "",
    tools: Tools = None,
    version: Version = False,
) -> None:
    """Serve until the client is gone, or with --http until a signal says to stop."""
    if version:
        tell_version()
        return
    if context.invoked_subcommand is not None:
        context.obj = config
        return
    from sandbox_runtime.cli.mcp_server import run
    from sandbox_runtime.mcp.config import load_config

    flags = {
        "logging.level": log_level,
        "logging.format": log_format,
        "sandbox.workspace_dir": workspace_dir,
        "server.port": port,
        "server.enable_http": True if http else None,
        "tools.enabled_tools": tools.split(",") if tools else None,
    }
    run(load_config(os.environ, config, {name: value for name, value in flags.items() if value is not None}), server)


def generate(output: Output = None) -> None:
    """Write a configuration with every key at its default."""
    from sandbox_runtime.mcp.config import default_yaml

    if output is None:
        typer.echo(default_yaml(), nl=False)
        return
    try:
        with output.open("x") as file:
            file.write(default_yaml())
    except OSError as error:
        raise InvalidRequest(f"{output} cannot be written: {error.strerror}") from error
    typer.echo(f"written: {output}")


def validate(context: typer.Context, file: Annotated[Path | None, typer.Argument(show_default=False)] = None) -> None:
    """Check a configuration: the one that is named, or the one that would be found."""
    from sandbox_runtime.mcp.config import load_config
    from sandbox_runtime.mcp.config.effects import RunMode, ineffective_keys
    from sandbox_runtime.mcp.tools.registry import enabled_tools

    config = load_config(os.environ, file or context.obj)
    typer.echo(f"the configuration is valid; {len(enabled_tools(config))} tools are enabled")
    http = config.server.enable_http or config.server.protocol == "http"
    for key, reason in ineffective_keys(config, RunMode(http=http)).items():
        typer.echo(f"{key} has no effect: {reason}")


def tell_version() -> None:
    """Tell the version."""
    from sandbox_runtime.assembly import version

    typer.echo(f"mcp-sandboxd {version()}")


def main() -> None:
    try:
        build()()
    except SandboxError as error:
        print(f"mcp-sandboxd: {operator_text(error)}", file=sys.stderr)
        sys.exit(code_of(error))
