"""The addresses that the design gives a runtime node: the same verbs, for the node that this server is."""

from __future__ import annotations

from fastapi import Request, Response

from sandbox_runtime.api.dialects.control_plane.mapping import nodes as translation
from sandbox_runtime.api.dialects.control_plane.responses import answer, returns, router
from sandbox_runtime.api.dialects.control_plane.routes import executions, sessions
from sandbox_runtime.api.dialects.control_plane.routes.params import sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import nodes as wire
from sandbox_runtime.api.dialects.control_plane.schemas.executions import Submitted
from sandbox_runtime.api.dialects.control_plane.schemas.sessions import SessionResponse
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.model import Node

routes = router("", "runtime node")
routes.post("/sessions", status_code=201, responses=returns(SessionResponse, 201))(sessions.create_session)
routes.post("/sessions/{session_id}/execute", responses=returns(Submitted))(executions.submit_to_session)
routes.delete("/sessions/{session_id}", status_code=204)(sessions.delete_session)
routes.get("/sessions/{session_id}/status", responses=returns(SessionResponse))(sessions.get_session)


@routes.get("/health", responses=returns(wire.RuntimeHealth))
async def node_health(request: Request) -> Response:
    """Whether the node that this server is can be used."""
    return answer(translation.health_of(await _this(request)))


@routes.get("/metrics", responses=returns(wire.RuntimeMetrics))
async def node_metrics(request: Request) -> Response:
    """How much of this node is in use."""
    return answer(translation.metrics_of(await _this(request)))


async def _this(request: Request) -> Node:
    return await sessions_of(request).nodes.get(platform_of(request).settings.node_name)
