"""The `sandbox` command. To add a command, add a module with `register(app)` and its name to MODULES."""

from __future__ import annotations

import logging
import sys
from importlib import import_module, metadata

import typer

from sandbox_runtime.cli.exit_codes import error_exit_code
from sandbox_runtime.errors import SandboxError, operator_text

MODULES = (
    "serve", "run", "session", "exec", "shell", "cp", "logs", "languages", "datasets", "judge", "doctor", "bench",
    "db", "keys", "mcp_sandboxd", "settings", "docs",
)  # fmt: skip


def build() -> typer.Typer:
    app = typer.Typer(
        name="sandbox",
        help="Run untrusted code in isolated boxes.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for name in MODULES:
        import_module(f"sandbox_runtime.cli.{name}").register(app)
    app.command("version")(print_version)
    return app


def print_version() -> None:
    """Print the version."""
    print(metadata.version("sandbox-runtime"))


def main() -> None:
    # Errors are printed below, so do not also log them. A server sets its own handlers.
    logging.getLogger("sandbox_runtime").addHandler(logging.NullHandler())
    try:
        build()()
    except SandboxError as error:
        print(f"sandbox: {operator_text(error)}", file=sys.stderr)
        sys.exit(error_exit_code(error))
