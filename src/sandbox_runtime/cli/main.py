"""The `sandbox` command and its subcommands. A new command is a file beside this one and its name in COMMANDS."""

from __future__ import annotations

import logging
import sys
from importlib import import_module

import typer

from sandbox_runtime.cli.exit_codes import code_of
from sandbox_runtime.errors import SandboxError, operator_text

COMMANDS = (
    "serve", "run", "session", "exec", "shell", "cp", "logs", "languages", "datasets", "judge", "doctor", "bench",
    "db", "keys", "mcp", "settings", "version", "docs",
)  # fmt: skip


def build() -> typer.Typer:
    app = typer.Typer(
        name="sandbox",
        help="Runs code that nobody trusts, in isolated boxes.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    for name in COMMANDS:
        import_module(f"sandbox_runtime.cli.{name}").register(app)
    return app


def main() -> None:
    # What a room logs before it raises is printed here, with the error; a server sets handlers of its own.
    logging.getLogger("sandbox_runtime").addHandler(logging.NullHandler())
    try:
        build()()
    except SandboxError as error:
        print(f"sandbox: {operator_text(error)}", file=sys.stderr)
        sys.exit(code_of(error))
