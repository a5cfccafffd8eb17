"""Runtimes: the nodes that run sessions."""

from __future__ import annotations

from fastapi import Request, Response

from sandbox_runtime.api.dialects.control_plane.mapping import nodes as mapping
from sandbox_runtime.api.dialects.control_plane.responses import json_response, new_router, returns
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import nodes as schemas

router = new_router("/runtimes", "runtimes")


@router.get("", responses=returns(schemas.RuntimeList))
async def list_runtimes(request: Request) -> Response:
    """List the nodes that run sessions."""
    page = await sessions_of(request).nodes.list(limit=200)
    nodes = [mapping.to_runtime(node) for node in page.items]
    return json_response(schemas.RuntimeList(runtimes=nodes, items=nodes, total=page.total))


@router.get("/{runtime_id}", responses=returns(schemas.RuntimeNode))
async def get_runtime(request: Request, runtime_id: Identifier) -> Response:
    """Return a node."""
    return json_response(mapping.to_runtime(await sessions_of(request).nodes.get(runtime_id)))


@router.get("/{runtime_id}/health", responses=returns(schemas.RuntimeHealth))
async def runtime_health(request: Request, runtime_id: Identifier) -> Response:
    """Return the health of a node."""
    return json_response(mapping.to_health(await sessions_of(request).nodes.get(runtime_id)))


@router.get("/{runtime_id}/metrics", responses=returns(schemas.RuntimeMetrics))
async def runtime_metrics(request: Request, runtime_id: Identifier) -> Response:
    """Return the resource usage of a node."""
    return json_response(mapping.to_metrics(await sessions_of(request).nodes.get(runtime_id)))
