"""Routes that only version 2 has: batches, logs, metrics, health and events."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request, Response

from sandbox_runtime.api.caller import owner_of
from sandbox_runtime.api.dialects.sandboxes.batches import run_batch
from sandbox_runtime.api.dialects.sandboxes.mapping.answers import to_event, to_health, to_log_entry, to_page
from sandbox_runtime.api.dialects.sandboxes.metrics import SeriesQuery, collect_metrics
from sandbox_runtime.api.dialects.sandboxes.protocol_version import require_v2, version_of
from sandbox_runtime.api.dialects.sandboxes.responses import model_response, router
from sandbox_runtime.api.dialects.sandboxes.routes.params import Identifier, PageOffset, PageSize, sessions_of
from sandbox_runtime.api.dialects.sandboxes.schemas import version2
from sandbox_runtime.api.dialects.sandboxes.schemas.base import PageResponse
from sandbox_runtime.api.disconnect import cancel_on_disconnect
from sandbox_runtime.api.number_fields import Number
from sandbox_runtime.model import Period
from sandbox_runtime.store import ExecutionFilter

routes = router("", "watching")
_V2_ONLY = [Depends(require_v2)]


@routes.post("/sandboxes:batch", response_model=version2.BatchActionResponse, dependencies=_V2_ONLY)
async def batch(request: Request, body: version2.BatchActionRequest) -> Response:
    """Run one action on many sandboxes and return a result for each, in the order of the request.

    Unless `continue_on_error` is true, no further action starts after a failure.
    """
    results = await cancel_on_disconnect(request, run_batch(sessions_of(request), body, owner_of(request)))
    return model_response(request, results)


@routes.get("/sandboxes/{sandbox_id}/logs", response_model=PageResponse, dependencies=_V2_ONLY)
async def logs(request: Request, sandbox_id: Identifier, page_size: PageSize = 20, page_offset: PageOffset = 0) -> Response:
    """List the executions of a sandbox with their output, newest first.

    A page with much output may have fewer items than `page_size`. Continue at `next_offset`.
    """
    execution_filter = ExecutionFilter(session=sandbox_id)
    page = await sessions_of(request).executions.list(execution_filter, page_size, page_offset, owner_of(request))
    items = [to_log_entry(execution) for execution in page.items]
    return model_response(request, to_page(items, page.total, page_size, page_offset, version_of(request)))


@routes.get("/sandboxes/{sandbox_id}/metrics", response_model=version2.SandboxMetrics, dependencies=_V2_ONLY)
async def metrics(
    request: Request,
    sandbox_id: Identifier,
    name: Annotated[str | None, Query(max_length=64, description="Only this metric.")] = None,
    aggregation: Annotated[version2.Period, Query(description="Period by which samples are aggregated.")] = "raw",
    seconds: Annotated[Number | None, Query(gt=0, le=400 * 86_400, description="Only samples of the last seconds.")] = None,
) -> Response:
    """Return the resource usage of a sandbox and its time series. Older samples exist only in coarser periods."""
    query = SeriesQuery(name, Period(aggregation), seconds)
    return model_response(request, await collect_metrics(sessions_of(request), sandbox_id, owner_of(request), query))


@routes.get("/sandboxes/{sandbox_id}/health", response_model=version2.SandboxHealth, dependencies=_V2_ONLY)
async def health(request: Request, sandbox_id: Identifier) -> Response:
    """Check a sandbox: whether it exists, can run something, has disk space left, and whether its interpreters are alive."""
    return model_response(request, to_health(await sessions_of(request).monitor.health(sandbox_id, owner_of(request))))


@routes.get("/sandboxes/{sandbox_id}/events", response_model=PageResponse, dependencies=_V2_ONLY)
async def events(request: Request, sandbox_id: Identifier, page_size: PageSize = 20, page_offset: PageOffset = 0) -> Response:
    """List the events of a sandbox, newest first: changes of its state and health, and recoveries."""
    page = await sessions_of(request).monitor.events(sandbox_id, page_size, page_offset, owner_of(request))
    items = [to_event(entry) for entry in page.items]
    return model_response(request, to_page(items, page.total, page_size, page_offset, version_of(request)))
