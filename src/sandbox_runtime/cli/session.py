"""`sandbox session`: sessions of a server, made, listed, copied and ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandbox_runtime.cli.remote import AsJson, Env, Url, client_of, pairs
from sandbox_runtime.cli.tables import print_table

if TYPE_CHECKING:
    from sandbox_runtime.sdk import SessionInfo

Id = Annotated[str, typer.Argument(metavar="SESSION", help="Its id.")]
Ids = Annotated[list[str], typer.Argument(metavar="SESSION...", help="Their ids.")]
NewId = Annotated[
    str | None, typer.Argument(metavar="[ID]", help="A name of its own; else the server gives one.", show_default=False)
]
Template = Annotated[str | None, typer.Option("--template", "-t", help="What it starts from.", show_default=False)]
Persistent = Annotated[bool, typer.Option("--persistent", help="Its files outlive the server that runs it.")]
Agent = Annotated[
    str | None,
    typer.Option("--agent", help="Whose it is: the running session of this agent, if there is one.", show_default=False),
]
Cpu = Annotated[str | None, typer.Option("--cpu", help="Cores, for example 0.5.", show_default=False)]
Memory = Annotated[str | None, typer.Option("--memory", help="For example 512Mi.", show_default=False)]
Disk = Annotated[str | None, typer.Option("--disk", help="For example 1Gi.", show_default=False)]
DefaultTimeout = Annotated[
    int | None, typer.Option("--timeout", help="Seconds of an execution that names no time of its own.", show_default=False)
]
Network = Annotated[
    str | None,
    typer.Option("--network", metavar="none|nat", help="What it can reach; else as the server gives it.", show_default=False),
]
Package = Annotated[
    list[str] | None,
    typer.Option("--package", "-p", metavar="NAME[==VERSION]", help="To be installed; may be repeated.", show_default=False),
]
Status = Annotated[str | None, typer.Option("--status", help="Only those: running, terminated, …", show_default=False)]
Limit = Annotated[int, typer.Option("--limit", min=1, max=200, help="So many at most.")]
Offset = Annotated[int, typer.Option("--offset", min=0, help="Leaving out the first so many.")]
Count = Annotated[int, typer.Option("--count", "-n", min=1, max=1000, help="How many copies.")]
Keep = Annotated[bool, typer.Option("--keep", help="End it, but keep what it was and what it ran; its files go either way.")]

_OPERATORS = ("==", ">=", "<=", "~=", "!=", ">", "<")


def register(app: typer.Typer) -> None:
    session = typer.Typer(help="Sessions of a server: boxes that stay.", no_args_is_help=True)
    session.command("create")(create)
    session.command("list")(list_)
    session.command("show")(show)
    session.command("pause")(pause)
    session.command("resume")(resume)
    session.command("fork")(fork)
    session.command("rm")(rm)
    app.add_typer(session, name="session")


def create(
    session_id: NewId = None,
    template: Template = None,
    persistent: Persistent = False,
    agent: Agent = None,
    cpu: Cpu = None,
    memory: Memory = None,
    disk: Disk = None,
    timeout: DefaultTimeout = None,
    network: Network = None,
    env: Env = None,
    packages: Package = None,
    as_json: AsJson = False,
    url: Url = "",
) -> None:
    """Make a session and print its id."""
    asked: dict[str, Any] = {
        "template_id": template,
        "mode": "persistent" if persistent else None,
        "agent_id": agent,
        "cpu": cpu,
        "memory": memory,
        "disk": disk,
        "timeout": timeout,
        "network": network,
        "env_vars": pairs(env, "--env") or None,
        "dependencies": [_dependency(text) for text in packages or []] or None,
    }
    with client_of(url) as client:
        made = client.create_session(session_id, {name: value for name, value in asked.items() if value is not None})
    _tell([made], as_json)


def list_(
    status: Status = None,
    template: Template = None,
    limit: Limit = 50,
    offset: Offset = 0,
    as_json: AsJson = False,
    url: Url = "",
) -> None:
    """List sessions, the newest first."""
    with client_of(url) as client:
        page = client.list_sessions(status=status, template_id=template, limit=limit, offset=offset)
    if as_json:
        print(page.model_dump_json(indent=2))
        return
    print_table(("session", "status", "template", "mode", "created", "last used"), [_row(one) for one in page.items])
    if page.total > offset + len(page.items):
        print(f"{page.total - offset - len(page.items)} more: --offset {offset + len(page.items)}")


def show(session_id: Id, url: Url = "") -> None:
    """Everything the server knows of a session, as JSON."""
    with client_of(url) as client:
        print(client.get_session(session_id).model_dump_json(indent=2))


def pause(session_ids: Ids, url: Url = "") -> None:
    """Have sessions stand still, with everything that runs in them, until they are resumed."""
    with client_of(url) as client:
        for one in session_ids:
            client.pause_session(one)


def resume(session_ids: Ids, url: Url = "") -> None:
    """Have paused sessions go on."""
    with client_of(url) as client:
        for one in session_ids:
            client.resume_session(one)


def fork(session_id: Id, count: Count = 1, as_json: AsJson = False, url: Url = "") -> None:
    """Copy a session as it is now, files and live interpreters, and print the ids of the copies."""
    with client_of(url) as client:
        _tell(client.fork_session(session_id, count), as_json)


def rm(session_ids: Ids, keep: Keep = False, url: Url = "") -> None:
    """End sessions and forget them."""
    with client_of(url) as client:
        for one in session_ids:
            if keep:
                client.terminate_session(one)
            else:
                client.delete_session(one)


def _tell(made: Sequence[SessionInfo], as_json: bool) -> None:
    if as_json:
        print(json.dumps([one.model_dump(mode="json") for one in made], indent=2))
    else:
        print("\n".join(one.id for one in made))


def _row(one: SessionInfo) -> tuple[str, ...]:
    times = (one.created_at, one.last_activity_at)
    told = tuple("" if time is None else f"{time:%Y-%m-%d %H:%M:%S}" for time in times)
    return (one.id, one.status, one.template_id, one.mode, *told)


def _dependency(text: str) -> dict[str, str]:
    """pandas, pandas==2.3.3, pandas>=2."""
    at = min((text.index(sign) for sign in _OPERATORS if sign in text), default=len(text))
    name, version = text[:at].strip(), text[at:].strip()
    return {"name": name, "version": version} if version else {"name": name}
