"""Containers: the boxes of sessions, as this protocol calls them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import PlainTextResponse

from sandbox_runtime import timestamps
from sandbox_runtime.api.dialects.control_plane.mapping import nodes as mapping
from sandbox_runtime.api.dialects.control_plane.mapping.times import to_datetime
from sandbox_runtime.api.dialects.control_plane.responses import json_response, new_router, returns
from sandbox_runtime.api.dialects.control_plane.routes.params import (
    Identifier,
    Limit,
    Offset,
    clamp_limit,
    owner_of,
    sessions_of,
)
from sandbox_runtime.api.dialects.control_plane.schemas import nodes as schemas
from sandbox_runtime.errors import NotFound
from sandbox_runtime.model import BoxState, Execution, Session
from sandbox_runtime.sessions.api.monitor_api import box_record
from sandbox_runtime.store import ExecutionFilter, Page, SessionFilter

router = new_router("/containers", "containers")
_NAME_PREFIX, _ID_PREFIX = "sandbox-", "box_of_"
_LOGGED_EXECUTIONS = 50
Tail = Annotated[int, Query(ge=1, le=10_000)]
Since = Annotated[int | None, Query(ge=0, description="Seconds since the epoch.")]


@router.get("", responses=returns(schemas.ContainerList))
async def list_containers(
    request: Request,
    status: BoxState | None = None,
    runtime_type: str | None = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """List the containers of the caller's sessions, newest first."""
    sessions, states = sessions_of(request), None if status is None else mapping.SESSION_STATES[status]
    filter_ = SessionFilter(states=states)
    if runtime_type is not None:
        nodes = [node.id for node in (await sessions.nodes.list(limit=200)).items if node.backend == runtime_type]
        filter_ = SessionFilter(states=states if nodes else (), node=nodes[0] if len(nodes) == 1 else None)
    page = await sessions.list(filter_, clamp_limit(limit), offset, owner_of(request))
    if runtime_type is not None:
        matching = tuple(session for session in page.items if session.backend == runtime_type)
        page = Page(matching, page.total, page.limit, page.offset)
    return json_response(mapping.to_container_list([_container(session) for session in page.items], page))


@router.get("/{container_id}", responses=returns(schemas.ContainerResponse))
async def get_container(request: Request, container_id: Identifier) -> Response:
    """Return a container by its id or name."""
    return json_response(_container(await _session(request, container_id)))


@router.get("/{container_id}/logs", response_class=PlainTextResponse)
async def container_logs(request: Request, container_id: Identifier, tail: Tail = 100, since: Since = None) -> Response:
    """Return the last lines of the output of a container's executions, oldest first."""
    session = await _session(request, container_id)
    page = await sessions_of(request).executions.list(
        ExecutionFilter(session=session.id), _LOGGED_EXECUTIONS, 0, owner_of(request)
    )
    recent = [execution for execution in reversed(page.items) if execution.created_ms >= (since or 0) * 1000]
    lines = [line for execution in recent for line in _lines(execution)]
    return PlainTextResponse("".join(f"{line}\n" for line in lines[-tail:]), headers={"X-Content-Type-Options": "nosniff"})


def _lines(execution: Execution) -> list[str]:
    head = f"--- {execution.id} {to_datetime(execution.created_ms).isoformat()} {execution.state}"
    return [head, *execution.stdout.splitlines(), *execution.stderr.splitlines()]


async def _session(request: Request, container_id: str) -> Session:
    """Find the session by the id of its container, or by its name, which contains the id of the session."""
    sessions, owner = sessions_of(request), owner_of(request)
    for prefix in (_NAME_PREFIX, _ID_PREFIX):
        if container_id.startswith(prefix):
            return await sessions.get(container_id.removeprefix(prefix), owner)
    page = await sessions.list(SessionFilter(box=container_id), 1, 0, owner)
    if not page.items:
        raise NotFound(f"container {container_id!r} does not exist")
    return page.items[0]


def _container(session: Session) -> schemas.ContainerResponse:
    return mapping.to_container(box_record(session), session, timestamps.now_ms())
