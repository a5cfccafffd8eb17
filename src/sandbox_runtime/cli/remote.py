"""What the commands share that talk to a server: where it is, and how an execution is shown."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox_runtime.cli.exit_codes import code_of_execution
from sandbox_runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from sandbox_runtime.sdk import ExecutionResult, Output, SyncSandboxClient

Url = Annotated[
    str,
    typer.Option("--url", envvar="SANDBOX_URL", help="The server; its key is taken from SANDBOX_API_KEY.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print what the server answers, as JSON.")]
Timeout = Annotated[float, typer.Option("--timeout", help="Seconds it may take.")]
Env = Annotated[list[str] | None, typer.Option("--env", "-e", metavar="NAME=VALUE", help="May be repeated.", show_default=False)]


def client_of(url: str) -> SyncSandboxClient:
    """Somebody waits in front of this: a server that is not there is told soon."""
    from sandbox_runtime.sdk import SyncSandboxClient

    return SyncSandboxClient(url, max_attempts=3)


def pairs(texts: list[str] | None, flag: str) -> dict[str, str]:
    found = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InvalidRequest(f"{flag} {text!r}: write it as NAME=VALUE")
        found[name] = value
    return found


def show(outputs: Iterable[Output]) -> None:
    """Each stream to our own of that name, as it comes."""
    for output in outputs:
        target = (sys.stdout if output.stream == "stdout" else sys.stderr).buffer
        target.write(output.data)
        target.flush()


def conclude(result: ExecutionResult) -> typer.Exit:
    """What its output does not tell, on standard error, and the exit code to end with."""
    if not result.ok and result.error_message:
        print(f"sandbox: {result.status}: {result.error_message}", file=sys.stderr)
    return typer.Exit(code_of_execution(result.status, result.exit_code))
