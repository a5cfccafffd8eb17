"""`sandbox logs`: print the output of an execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sandbox_runtime.cli.remote import Url, exit_for, open_client, print_output
from sandbox_runtime.errors import NotFound

if TYPE_CHECKING:
    from sandbox_runtime.sdk import ExecutionResult, SyncSandboxClient

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of an execution, or of a session for its latest execution.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Follow until it ends, and exit with its exit code.")]


def register(app: typer.Typer) -> None:
    app.command("logs")(logs)


def logs(name: Id, follow: Follow = False, url: Url = "") -> None:
    """Print the output of an execution to stdout and stderr."""
    from sandbox_runtime.sdk import Output

    with open_client(url) as client:
        execution = _find_execution(client, name)
        if not follow:
            print_output([Output("stdout", 0, execution.stdout.encode()), Output("stderr", 0, execution.stderr.encode())])
            return
        print_output(client.follow(execution.id))
        raise exit_for(client.wait_execution(execution.id))


def _find_execution(client: SyncSandboxClient, name: str) -> ExecutionResult:
    try:
        return client.get_execution(name)
    except NotFound:
        page = client.list_executions(name, limit=1)
    if not page.items:
        raise NotFound(f"the session {name} has no executions")
    return client.get_execution(page.items[0].id)
