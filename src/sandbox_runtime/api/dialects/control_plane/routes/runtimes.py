"""Runtimes: the nodes on which sessions run."""

from __future__ import annotations

from fastapi import Request, Response

from sandbox_runtime.api.dialects.control_plane.mapping import nodes as translation
from sandbox_runtime.api.dialects.control_plane.responses import answer, returns, router
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import nodes as wire

routes = router("/runtimes", "runtimes")


@routes.get("", responses=returns(wire.RuntimeList))
async def list_runtimes(request: Request) -> Response:
    """The nodes on which sessions run."""
    page = await sessions_of(request).nodes.list(limit=200)
    found = [translation.runtime_of(node) for node in page.items]
    return answer(wire.RuntimeList(runtimes=found, items=found, total=page.total))


@routes.get("/{runtime_id}", responses=returns(wire.RuntimeNode))
async def get_runtime(request: Request, runtime_id: Identifier) -> Response:
    """One node."""
    return answer(translation.runtime_of(await sessions_of(request).nodes.get(runtime_id)))


@routes.get("/{runtime_id}/health", responses=returns(wire.RuntimeHealth))
async def runtime_health(request: Request, runtime_id: Identifier) -> Response:
    """Whether a node is fit for use."""
    return answer(translation.health_of(await sessions_of(request).nodes.get(runtime_id)))


@routes.get("/{runtime_id}/metrics", responses=returns(wire.RuntimeMetrics))
async def runtime_metrics(request: Request, runtime_id: Identifier) -> Response:
    """How much of a node is in use."""
    return answer(translation.metrics_of(await sessions_of(request).nodes.get(runtime_id)))
