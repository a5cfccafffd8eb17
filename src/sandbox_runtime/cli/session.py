"""`sandbox session`: create, list, pause, fork and remove sessions of a server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandbox_runtime.cli.output import print_table
from sandbox_runtime.cli.remote import AsJson, Env, Url, open_client, parse_pairs

if TYPE_CHECKING:
    from sandbox_runtime.sdk import SessionInfo

Id = Annotated[str, typer.Argument(metavar="SESSION", help="Id of the session.")]
Ids = Annotated[list[str], typer.Argument(metavar="SESSION...", help="Ids of the sessions.")]
NewId = Annotated[
    str | None, typer.Argument(metavar="[ID]", help="Id of the new session; generated if omitted.", show_default=False)
]
Template = Annotated[str | None, typer.Option("--template", "-t", help="Template of the session.", show_default=False)]
Persistent = Annotated[bool, typer.Option("--persistent", help="Keep the files when the session moves to another server.")]
Agent = Annotated[
    str | None,
    typer.Option("--agent", help="Id of an agent: reuse its running session, if any.", show_default=False),
]
Cpu = Annotated[str | None, typer.Option("--cpu", help="CPU cores, such as 0.5.", show_default=False)]
Memory = Annotated[str | None, typer.Option("--memory", help="Memory limit, such as 512Mi.", show_default=False)]
Disk = Annotated[str | None, typer.Option("--disk", help="Disk limit, such as 1Gi.", show_default=False)]
DefaultTimeout = Annotated[
    int | None, typer.Option("--timeout", help="Default timeout of executions in seconds.", show_default=False)
]
Network = Annotated[
    str | None,
    typer.Option("--network", metavar="none|nat", help="Network access; the server's default if omitted.", show_default=False),
]
Package = Annotated[
    list[str] | None,
    typer.Option("--package", "-p", metavar="NAME[==VERSION]", help="Package to install; repeatable.", show_default=False),
]
Status = Annotated[
    str | None, typer.Option("--status", help="Only sessions with this status: running, terminated, …", show_default=False)
]
Limit = Annotated[int, typer.Option("--limit", min=1, max=200, help="Maximum number of sessions.")]
Offset = Annotated[int, typer.Option("--offset", min=0, help="Number of sessions to skip.")]
Count = Annotated[int, typer.Option("--count", "-n", min=1, max=1000, help="Number of copies.")]
Keep = Annotated[
    bool,
    typer.Option(
        "--keep", help="Terminate only: keep the record of the session and its executions. Its files are deleted in any case."
    ),
]

_OPERATORS = ("==", ">=", "<=", "~=", "!=", ">", "<")


def register(app: typer.Typer) -> None:
    session = typer.Typer(help="Manage sessions of a server: boxes that persist between executions.", no_args_is_help=True)
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
    """Create a session and print its id."""
    options: dict[str, Any] = {
        "template_id": template,
        "mode": "persistent" if persistent else None,
        "agent_id": agent,
        "cpu": cpu,
        "memory": memory,
        "disk": disk,
        "timeout": timeout,
        "network": network,
        "env_vars": parse_pairs(env, "--env") or None,
        "dependencies": [_dependency(text) for text in packages or []] or None,
    }
    with open_client(url) as client:
        session = client.create_session(session_id, {name: value for name, value in options.items() if value is not None})
    _print_sessions([session], as_json)


def list_(
    status: Status = None,
    template: Template = None,
    limit: Limit = 50,
    offset: Offset = 0,
    as_json: AsJson = False,
    url: Url = "",
) -> None:
    """List sessions, newest first."""
    with open_client(url) as client:
        page = client.list_sessions(status=status, template_id=template, limit=limit, offset=offset)
    if as_json:
        print(page.model_dump_json(indent=2))
        return
    print_table(("session", "status", "template", "mode", "created", "last used"), [_row(session) for session in page.items])
    if page.total > offset + len(page.items):
        print(f"{page.total - offset - len(page.items)} more: --offset {offset + len(page.items)}")


def show(session_id: Id, url: Url = "") -> None:
    """Print a session as JSON."""
    with open_client(url) as client:
        print(client.get_session(session_id).model_dump_json(indent=2))


def pause(session_ids: Ids, url: Url = "") -> None:
    """Pause sessions and everything that runs in them."""
    with open_client(url) as client:
        for session_id in session_ids:
            client.pause_session(session_id)


def resume(session_ids: Ids, url: Url = "") -> None:
    """Resume paused sessions."""
    with open_client(url) as client:
        for session_id in session_ids:
            client.resume_session(session_id)


def fork(session_id: Id, count: Count = 1, as_json: AsJson = False, url: Url = "") -> None:
    """Copy a session with its files and live interpreters, and print the ids of the copies."""
    with open_client(url) as client:
        _print_sessions(client.fork_session(session_id, count), as_json)


def rm(session_ids: Ids, keep: Keep = False, url: Url = "") -> None:
    """Terminate and delete sessions."""
    with open_client(url) as client:
        for session_id in session_ids:
            if keep:
                client.terminate_session(session_id)
            else:
                client.delete_session(session_id)


def _print_sessions(sessions: Sequence[SessionInfo], as_json: bool) -> None:
    if as_json:
        print(json.dumps([session.model_dump(mode="json") for session in sessions], indent=2))
    else:
        print("\n".join(session.id for session in sessions))


def _row(session: SessionInfo) -> tuple[str, ...]:
    times = (session.created_at, session.last_activity_at)
    texts = tuple("" if time is None else f"{time:%Y-%m-%d %H:%M:%S}" for time in times)
    return (session.id, session.status, session.template_id, session.mode, *texts)


def _dependency(text: str) -> dict[str, str]:
    """Parse pandas, pandas==2.3.3 or pandas>=2."""
    at = min((text.index(sign) for sign in _OPERATORS if sign in text), default=len(text))
    name, version = text[:at].strip(), text[at:].strip()
    return {"name": name, "version": version} if version else {"name": name}
