"""Options and output of the commands that call a server."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox_runtime.cli.exit_codes import execution_exit_code
from sandbox_runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from sandbox_runtime.sdk import ExecutionResult, Output, SyncSandboxClient

Url = Annotated[
    str,
    typer.Option(
        "--url", envvar="SANDBOX_URL", help="URL of the server. Its API key is read from SANDBOX_API_KEY.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the server's response as JSON.")]
Timeout = Annotated[float, typer.Option("--timeout", help="Timeout in seconds.")]
Env = Annotated[
    list[str] | None,
    typer.Option("--env", "-e", metavar="NAME=VALUE", help="Environment variable; repeatable.", show_default=False),
]


def open_client(url: str) -> SyncSandboxClient:
    """Return a client with few attempts, so that an unreachable server is reported soon."""
    from sandbox_runtime.sdk import SyncSandboxClient

    return SyncSandboxClient(url, max_attempts=3)


def parse_pairs(texts: list[str] | None, flag: str) -> dict[str, str]:
    values = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InvalidRequest(f"{flag} {text!r} must have the form NAME=VALUE")
        values[name] = value
    return values


def print_output(outputs: Iterable[Output]) -> None:
    """Write each piece to stdout or stderr as it arrives."""
    for output in outputs:
        target = (sys.stdout if output.stream == "stdout" else sys.stderr).buffer
        target.write(output.data)
        target.flush()


def exit_for(result: ExecutionResult) -> typer.Exit:
    """Print the error of a failed execution and return the exit."""
    if not result.ok and result.error_message:
        print(f"sandbox: {result.status}: {result.error_message}", file=sys.stderr)
    return typer.Exit(execution_exit_code(result.status, result.exit_code))
