"""Containers: the boxes of sessions, under the name that this protocol has for them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import PlainTextResponse

from sandbox_runtime import timestamps
from sandbox_runtime.api.dialects.control_plane.mapping import nodes as translation
from sandbox_runtime.api.dialects.control_plane.quantities import time_of
from sandbox_runtime.api.dialects.control_plane.responses import answer, returns, router
from sandbox_runtime.api.dialects.control_plane.routes.params import (
    Identifier,
    Limit,
    Offset,
    clamped,
    owner_of,
    sessions_of,
)
from sandbox_runtime.api.dialects.control_plane.schemas import nodes as wire
from sandbox_runtime.errors import NotFound
from sandbox_runtime.model import BoxState, Execution, Session
from sandbox_runtime.sessions.api.monitor_api import box_record
from sandbox_runtime.store import ExecutionFilter, Page, SessionFilter

routes = router("/containers", "containers")
_NAME, _UNNAMED = "sandbox-", "box_of_"
_EXECUTIONS_LOOKED_AT = 50
Tail = Annotated[int, Query(ge=1, le=10_000)]
Since = Annotated[int | None, Query(ge=0, description="Seconds since the epoch.")]


@routes.get("", responses=returns(wire.ContainerList))
async def list_containers(
    request: Request,
    status: BoxState | None = None,
    runtime_type: str | None = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """The boxes of the caller's sessions, newest first."""
    sessions, states = sessions_of(request), None if status is None else translation.STATES_OF_BOX[status]
    wanted = SessionFilter(states=states)
    if runtime_type is not None:
        nodes = [node.id for node in (await sessions.nodes.list(limit=200)).items if node.backend == runtime_type]
        wanted = SessionFilter(states=states if nodes else (), node=nodes[0] if len(nodes) == 1 else None)
    page = await sessions.list(wanted, clamped(limit), offset, owner_of(request))
    if runtime_type is not None:
        found = tuple(session for session in page.items if session.backend == runtime_type)
        page = Page(found, page.total, page.limit, page.offset)
    return answer(translation.page_of([_container(session) for session in page.items], page))


@routes.get("/{container_id}", responses=returns(wire.ContainerResponse))
async def get_container(request: Request, container_id: Identifier) -> Response:
    """One box, by its id or its name."""
    return answer(_container(await _session(request, container_id)))


@routes.get("/{container_id}/logs", response_class=PlainTextResponse)
async def container_logs(request: Request, container_id: Identifier, tail: Tail = 100, since: Since = None) -> Response:
    """What the executions of a box printed, oldest first: the last lines of it."""
    session = await _session(request, container_id)
    page = await sessions_of(request).executions.list(
        ExecutionFilter(session=session.id), _EXECUTIONS_LOOKED_AT, 0, owner_of(request)
    )
    lines = [line for one in reversed(page.items) if one.created_ms >= (since or 0) * 1000 for line in _lines(one)]
    return PlainTextResponse("".join(f"{line}\n" for line in lines[-tail:]), headers={"X-Content-Type-Options": "nosniff"})


def _lines(execution: Execution) -> list[str]:
    begun = time_of(execution.created_ms)
    head = f"--- {execution.id} {begun.isoformat() if begun else ''} {execution.state}"
    return [head, *execution.stdout.splitlines(), *execution.stderr.splitlines()]


async def _session(request: Request, container_id: str) -> Session:
    """By the box's id, or by its name, which has the session's id in it."""
    sessions, owner = sessions_of(request), owner_of(request)
    for prefix in (_NAME, _UNNAMED):
        if container_id.startswith(prefix):
            return await sessions.get(container_id.removeprefix(prefix), owner)
    page = await sessions.list(SessionFilter(box=container_id), 1, 0, owner)
    if not page.items:
        raise NotFound(f"there is no container {container_id!r}")
    return page.items[0]


def _container(session: Session) -> wire.ContainerResponse:
    return translation.container_of(box_record(session), session, timestamps.now_ms())
