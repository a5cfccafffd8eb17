"""`sandbox logs`: what an execution printed, or prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sandbox_runtime.cli.remote import Url, client_of, conclude, show
from sandbox_runtime.errors import NotFound

if TYPE_CHECKING:
    from sandbox_runtime.sdk import ExecutionResult, SyncSandboxClient

Id = Annotated[str, typer.Argument(metavar="ID", help="Of an execution; or of a session, for the last one in it.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Until it ends; our exit code is then its own.")]


def register(app: typer.Typer) -> None:
    app.command("logs")(logs)


def logs(name: Id, follow: Follow = False, url: Url = "") -> None:
    """Print the output of an execution, standard error apart."""
    from sandbox_runtime.sdk import Output

    with client_of(url) as client:
        found = _found(client, name)
        if not follow:
            show([Output("stdout", 0, found.stdout.encode()), Output("stderr", 0, found.stderr.encode())])
            return
        show(client.follow(found.id))
        raise conclude(client.wait_execution(found.id))


def _found(client: SyncSandboxClient, name: str) -> ExecutionResult:
    try:
        return client.get_execution(name)
    except NotFound:
        page = client.list_executions(name, limit=1)
    if not page.items:
        raise NotFound(f"nothing was executed in the session {name} yet")
    return client.get_execution(page.items[0].id)
