"""Routes of a runtime node in the design document: the same operations, for this server as a node."""

from __future__ import annotations

from fastapi import Request, Response

from sandbox_runtime.api.dialects.control_plane.mapping import nodes as mapping
from sandbox_runtime.api.dialects.control_plane.responses import json_response, new_router, returns
from sandbox_runtime.api.dialects.control_plane.routes import executions, sessions
from sandbox_runtime.api.dialects.control_plane.routes.params import sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import nodes as schemas
from sandbox_runtime.api.dialects.control_plane.schemas.executions import SubmitResponse
from sandbox_runtime.api.dialects.control_plane.schemas.sessions import SessionResponse
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.model import Node

router = new_router("", "runtime node")
router.post("/sessions", status_code=201, responses=returns(SessionResponse, 201))(sessions.create_session)
router.post("/sessions/{session_id}/execute", responses=returns(SubmitResponse))(executions.submit_to_session)
router.delete("/sessions/{session_id}", status_code=204)(sessions.delete_session)
router.get("/sessions/{session_id}/status", responses=returns(SessionResponse))(sessions.get_session)


@router.get("/health", responses=returns(schemas.RuntimeHealth))
async def node_health(request: Request) -> Response:
    """Return the health of this node."""
    return json_response(mapping.to_health(await _this_node(request)))


@router.get("/metrics", responses=returns(schemas.RuntimeMetrics))
async def node_metrics(request: Request) -> Response:
    """Return the resource usage of this node."""
    return json_response(mapping.to_metrics(await _this_node(request)))


async def _this_node(request: Request) -> Node:
    return await sessions_of(request).nodes.get(platform_of(request).settings.node_name)
