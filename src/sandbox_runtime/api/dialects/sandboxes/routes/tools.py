"""Tools, resources and prompts, as the server offers them to agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Query, Request, Response

from sandbox_runtime.api.caller import caller_of, owner_of
from sandbox_runtime.api.dialects.sandboxes import schemas
from sandbox_runtime.api.dialects.sandboxes.mapping import answers
from sandbox_runtime.api.dialects.sandboxes.protocol_version import version_of
from sandbox_runtime.api.dialects.sandboxes.responses import answer, router
from sandbox_runtime.api.dialects.sandboxes.routes.params import Identifier, PageOffset, PageSize
from sandbox_runtime.api.dialects.sandboxes.tool_calls import calls_of, ended_within
from sandbox_runtime.api.dialects.sandboxes.tool_events import events
from sandbox_runtime.api.dialects.sandboxes.tool_provider import offer_of
from sandbox_runtime.api.dialects.sandboxes.tool_retry import attempted
from sandbox_runtime.api.disconnect import cancel_on_disconnect
from sandbox_runtime.api.number_fields import Number
from sandbox_runtime.api.sse import event_stream
from sandbox_runtime.errors import InvalidRequest, NotFound

routes = router("", "tools")
_STREAMED: dict[int | str, dict[str, Any]] = {
    200: {"description": "What came of it; with stream, as events", "content": {"text/event-stream": {}}},
    202: {"model": schemas.ToolResult, "description": "Under way (async)"},
}
Wait = Annotated[Number, Query(ge=0, le=60, description="Seconds.")]


@routes.get("/tools", response_model=schemas.Listed)
async def list_tools(request: Request, page_size: PageSize = 100, page_offset: PageOffset = 0) -> Response:
    """The tools that are switched on, each with the schema of its arguments."""
    return _page(request, offer_of(request).tools(), page_size, page_offset)


@routes.get("/tools/{name}", response_model=schemas.Described)
async def get_tool(request: Request, name: Identifier) -> Response:
    """One tool."""
    return answer(request, schemas.Described.model_validate(_named(offer_of(request).tools(), name, "tool")))


@routes.post("/tools/{name}/execute", response_model=schemas.ToolResult, responses=_STREAMED)
async def execute_tool(request: Request, name: Identifier, asked: schemas.ExecuteTool) -> Response:
    """Call a tool. What fails in it is a result with is_error; faults of ours are tried again as retry_policy says. With async it
    is answered at once, 202, with an execution_id; with stream by server-sent events, items {type: data, error, progress or
    complete}, the last of which holds the result."""
    offer, caller = offer_of(request), caller_of(request)
    _named(offer.tools(), name, "tool")
    if asked.options.async_ and asked.options.stream:
        raise InvalidRequest("async and stream cannot be had together: with async the result is fetched by its execution_id")
    if asked.options.stream:
        return event_stream(events(lambda tell: attempted(offer, name, asked, caller, tell)))
    if asked.options.async_:
        call = calls_of(request).begin(caller.owner, name, lambda: attempted(offer, name, asked, caller))
        return answer(request, call.told(), 202)
    return answer(request, await cancel_on_disconnect(request, attempted(offer, name, asked, caller)))


@routes.get("/tools/{name}/executions/{execution_id}", response_model=schemas.ToolResult)
async def get_execution(request: Request, name: Identifier, execution_id: Identifier, wait: Wait = 0.0) -> Response:
    """A call that was begun with async: running, or what came of it. Results are kept for a quarter of an hour. wait: for its
    end, at most so many seconds."""
    call = calls_of(request).find(execution_id, name, owner_of(request))
    if wait:
        await cancel_on_disconnect(request, ended_within(call, wait))
    return answer(request, call.told())


@routes.delete("/tools/{name}/executions/{execution_id}", response_model=schemas.ToolResult)
async def cancel_execution(request: Request, name: Identifier, execution_id: Identifier) -> Response:
    """End a call that runs, with whatever it began; forget one that has ended."""
    calls = calls_of(request)
    return answer(request, await calls.cancel(calls.find(execution_id, name, owner_of(request))))


@routes.get("/resources", response_model=schemas.Listed)
async def list_resources(request: Request, page_size: PageSize = 20, page_offset: PageOffset = 0) -> Response:
    """Resources of the caller: files of its sandboxes, the configuration, schemas."""
    return _page(request, await offer_of(request).resources(owner_of(request)), page_size, page_offset)


@routes.get("/resources/{uri:path}", response_model=schemas.Described)
async def read_resource(request: Request, uri: str) -> Response:
    """What a resource holds. Its address is percent-encoded, or stands as it is."""
    return answer(request, schemas.Described.model_validate(await offer_of(request).read(uri, owner_of(request))))


@routes.get("/prompts", response_model=schemas.Listed)
async def list_prompts(request: Request, page_size: PageSize = 20, page_offset: PageOffset = 0) -> Response:
    """Prompts for typical work."""
    return _page(request, offer_of(request).prompts(), page_size, page_offset)


@routes.get("/prompts/{name}", response_model=schemas.Described)
async def get_prompt(request: Request, name: Identifier) -> Response:
    """A prompt; parameters of the query are its arguments. Without any, what it takes."""
    offer, arguments = offer_of(request), dict(request.query_params)
    told = offer.prompt(name, arguments) if arguments else _named(offer.prompts(), name, "prompt")
    return answer(request, schemas.Described.model_validate(told))


def _named(items: Sequence[Mapping[str, Any]], name: str, kind: str) -> Mapping[str, Any]:
    for item in items:
        if item["name"] == name:
            return item
    raise NotFound(f"there is no {kind} {name!r}")


def _page(request: Request, items: Sequence[Mapping[str, Any]], size: int, offset: int) -> Response:
    shown = [dict(item) for item in items[offset : offset + size]]
    return answer(request, answers.page(shown, len(items), size, offset, version_of(request)))
