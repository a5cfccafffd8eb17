"""`mcp-sandboxd` and `sandbox mcp`: the MCP server."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from sandbox_runtime.cli.exit_codes import error_exit_code
from sandbox_runtime.errors import InvalidRequest, SandboxError, operator_text

Config = Annotated[Path | None, typer.Option("--config", "-c", help="Configuration file (YAML).", show_default=False)]
LogLevel = Annotated[
    str | None, typer.Option("--log-level", "-l", help="Log level: debug, info, warn or error.", show_default=False)
]
LogFormat = Annotated[
    str | None, typer.Option("--log-format", "-f", help="Log format: json, text or console.", show_default=False)
]
WorkspaceDir = Annotated[str | None, typer.Option("--workspace-dir", "-w", help="Folder for its data.", show_default=False)]
Http = Annotated[bool, typer.Option("--http", help="Serve HTTP and WebSocket instead of stdio.")]
Port = Annotated[int | None, typer.Option("--port", "-p", help="Port to listen on with --http.", show_default=False)]
Server = Annotated[str, typer.Option("--server", help="Use the sandboxes of the server at this URL.", show_default=False)]
Version = Annotated[bool, typer.Option("--version", help="Print the version and exit.")]
Tools = Annotated[
    str | None, typer.Option("--tools", help='Tools to enable, comma-separated; "all" for every tool.', show_default=False)
]
File = Annotated[
    Path | None, typer.Argument(help="The file; if omitted, the one that the server would load.", show_default=False)
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write to.", show_default=False)]


def build(name: str = "mcp-sandboxd") -> typer.Typer:
    app = typer.Typer(
        name=name,
        help="Serve sandboxes over the Model Context Protocol, on stdio or HTTP.",
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(serve)
    config = typer.Typer(name="config", help="Generate or validate the configuration file.", no_args_is_help=True)
    config.command("generate")(generate)
    config.command("validate")(validate)
    app.add_typer(config)
    app.command("version")(print_version)
    return app


def register(app: typer.Typer) -> None:
    app.add_typer(build("mcp"), name="mcp")


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
    """Serve until the client disconnects, or, with --http, until SIGINT or SIGTERM."""
    if version:
        print_version()
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
    """Print or write a configuration file with every key at its default."""
    from sandbox_runtime.mcp.config import default_yaml

    if output is None:
        typer.echo(default_yaml(), nl=False)
        return
    try:
        with output.open("x") as file:
            file.write(default_yaml())
    except OSError as error:
        raise InvalidRequest(f"cannot write {output}: {error.strerror}") from error
    typer.echo(f"wrote {output}")


def validate(context: typer.Context, file: File = None) -> None:
    """Check a configuration: the given file, or the one that the server would load."""
    from sandbox_runtime.mcp.config import load_config
    from sandbox_runtime.mcp.config.effects import RunMode, ineffective_keys
    from sandbox_runtime.mcp.tools.registry import enabled_tools

    config = load_config(os.environ, file or context.obj)
    typer.echo(f"the configuration is valid; {len(enabled_tools(config))} tools are enabled")
    http = config.server.enable_http or config.server.protocol == "http"
    for key, reason in ineffective_keys(config, RunMode(http=http)).items():
        typer.echo(f"{key} has no effect: {reason}")


def print_version() -> None:
    """Print the version."""
    from sandbox_runtime.assembly import version

    typer.echo(f"mcp-sandboxd {version()}")


def main() -> None:
    try:
        build()()
    except SandboxError as error:
        print(f"mcp-sandboxd: {operator_text(error)}", file=sys.stderr)
        sys.exit(error_exit_code(error))
