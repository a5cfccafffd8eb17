"""Of the second version: what sandboxes printed and used, and one action on many of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request, Response

from sandbox_runtime.api.caller import owner_of
from sandbox_runtime.api.dialects.sandboxes import batches, schemas
from sandbox_runtime.api.dialects.sandboxes import metrics as measuring
from sandbox_runtime.api.dialects.sandboxes.mapping import answers
from sandbox_runtime.api.dialects.sandboxes.protocol_version import check_second, version_of
from sandbox_runtime.api.dialects.sandboxes.responses import answer, router
from sandbox_runtime.api.dialects.sandboxes.routes.params import Identifier, PageOffset, PageSize, sessions_of
from sandbox_runtime.api.disconnect import cancel_on_disconnect
from sandbox_runtime.api.number_fields import Number
from sandbox_runtime.model import Period
from sandbox_runtime.store import ExecutionFilter

routes = router("", "watching")
_SECOND = [Depends(check_second)]


@routes.post("/sandboxes:batch", response_model=schemas.BatchResults, dependencies=_SECOND)
async def batch(request: Request, asked: schemas.Batch) -> Response:
    """One action on many sandboxes. Without continue_on_error nothing begins after the first that fails. Each that was named has
    its result, in that order."""
    return answer(
        request, await cancel_on_disconnect(request, batches.carried_out(sessions_of(request), asked, owner_of(request)))
    )


@routes.get("/sandboxes/{sandbox_id}/logs", response_model=schemas.Listed, dependencies=_SECOND)
async def logs(request: Request, sandbox_id: Identifier, page_size: PageSize = 20, page_offset: PageOffset = 0) -> Response:
    """What was run in a sandbox and what it printed, newest first. Where much was printed a page may hold less than its size;
    next_offset says where to go on."""
    wanted = ExecutionFilter(session=sandbox_id)
    page = await sessions_of(request).executions.list(wanted, page_size, page_offset, owner_of(request))
    items = [answers.log_entry(execution) for execution in page.items]
    return answer(request, answers.page(items, page.total, page_size, page_offset, version_of(request)))


@routes.get("/sandboxes/{sandbox_id}/metrics", response_model=schemas.SandboxMetrics, dependencies=_SECOND)
async def metrics(
    request: Request,
    sandbox_id: Identifier,
    name: Annotated[str | None, Query(max_length=64)] = None,
    aggregation: schemas.Period = "raw",
    seconds: Annotated[Number | None, Query(gt=0, le=400 * 86_400)] = None,
) -> Response:
    """What a sandbox used, and what was measured over time: of one metric where name says which, put together by periods of
    aggregation, of the last seconds. What is older is there in coarser periods alone."""
    wanted = measuring.Wanted(name, Period(aggregation), seconds)
    return answer(request, await measuring.metrics(sessions_of(request), sandbox_id, owner_of(request), wanted))


@routes.get("/sandboxes/{sandbox_id}/health", response_model=schemas.SandboxHealth, dependencies=_SECOND)
async def health(request: Request, sandbox_id: Identifier) -> Response:
    """How a sandbox does: whether it is there, could run something, has room left, and whether its interpreters live."""
    return answer(request, answers.health(await sessions_of(request).monitor.health(sandbox_id, owner_of(request))))


@routes.get("/sandboxes/{sandbox_id}/events", response_model=schemas.Listed, dependencies=_SECOND)
async def events(request: Request, sandbox_id: Identifier, page_size: PageSize = 20, page_offset: PageOffset = 0) -> Response:
    """What happened to a sandbox, newest first: changes of its state, of its health, and what was done to mend it."""
    page = await sessions_of(request).monitor.events(sandbox_id, page_size, page_offset, owner_of(request))
    items = [answers.event(entry) for entry in page.items]
    return answer(request, answers.page(items, page.total, page_size, page_offset, version_of(request)))
