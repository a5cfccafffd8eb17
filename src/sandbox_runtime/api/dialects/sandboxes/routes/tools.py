"""Routes of tools, resources and prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Query, Request, Response

from sandbox_runtime.api.caller import caller_of, owner_of
from sandbox_runtime.api.dialects.sandboxes.mapping.answers import to_page
from sandbox_runtime.api.dialects.sandboxes.protocol_version import version_of
from sandbox_runtime.api.dialects.sandboxes.responses import model_response, router
from sandbox_runtime.api.dialects.sandboxes.routes.params import Identifier, PageOffset, PageSize
from sandbox_runtime.api.dialects.sandboxes.schemas.base import PageResponse
from sandbox_runtime.api.dialects.sandboxes.schemas.tools import ExecuteToolRequest, McpObject, ToolResult
from sandbox_runtime.api.dialects.sandboxes.tool_calls import tool_calls_of, wait_until_done
from sandbox_runtime.api.dialects.sandboxes.tool_events import tool_events
from sandbox_runtime.api.dialects.sandboxes.tool_provider import tool_provider_of
from sandbox_runtime.api.dialects.sandboxes.tool_retry import call_tool
from sandbox_runtime.api.disconnect import cancel_on_disconnect
from sandbox_runtime.api.number_fields import Number
from sandbox_runtime.api.sse import event_stream
from sandbox_runtime.errors import InvalidRequest, NotFound

routes = router("", "tools")
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The result; with stream, events", "content": {"text/event-stream": {}}},
    202: {"model": ToolResult, "description": "Started (async)"},
}
Wait = Annotated[Number, Query(ge=0, le=60, description="Wait up to this many seconds for the end of the call.")]


@routes.get("/tools", response_model=PageResponse)
async def list_tools(request: Request, page_size: PageSize = 100, page_offset: PageOffset = 0) -> Response:
    """List the enabled tools, each with the JSON schema of its arguments."""
    return _page_response(request, tool_provider_of(request).tools(), page_size, page_offset)


@routes.get("/tools/{name}", response_model=McpObject)
async def get_tool(request: Request, name: Identifier) -> Response:
    """Return one tool."""
    return model_response(request, McpObject.model_validate(_find(tool_provider_of(request).tools(), name, "tool")))


@routes.post("/tools/{name}/execute", response_model=ToolResult, responses=_RESPONSES)
async def execute_tool(request: Request, name: Identifier, body: ExecuteToolRequest) -> Response:
    """Call a tool.

    - A failure of the tool is a result with `is_error`. Failures of the server are retried according to `retry_policy`.
    - With `async` the response is 202 with an `execution_id`, before the call ends.
    - With `stream` the response is server-sent events of type `data`, `error` or `progress`, then `complete` with the result.
    """
    provider, caller = tool_provider_of(request), caller_of(request)
    _find(provider.tools(), name, "tool")
    if body.options.async_ and body.options.stream:
        raise InvalidRequest("async and stream cannot be combined: the result of an async call is fetched by its execution_id")
    if body.options.stream:
        return event_stream(tool_events(lambda emit: call_tool(provider, name, body, caller, emit)))
    if body.options.async_:
        call = tool_calls_of(request).start(caller.owner, name, lambda: call_tool(provider, name, body, caller))
        return model_response(request, call.to_result(), 202)
    return model_response(request, await cancel_on_disconnect(request, call_tool(provider, name, body, caller)))


@routes.get("/tools/{name}/executions/{execution_id}", response_model=ToolResult)
async def get_execution(request: Request, name: Identifier, execution_id: Identifier, wait: Wait = 0.0) -> Response:
    """Return an async call: its result, or status running. Results are kept for 15 minutes."""
    call = tool_calls_of(request).get(execution_id, name, owner_of(request))
    if wait:
        await cancel_on_disconnect(request, wait_until_done(call, wait))
    return model_response(request, call.to_result())


@routes.delete("/tools/{name}/executions/{execution_id}", response_model=ToolResult)
async def cancel_execution(request: Request, name: Identifier, execution_id: Identifier) -> Response:
    """Cancel a running async call and stop what it started, or delete the result of one that has ended."""
    calls = tool_calls_of(request)
    return model_response(request, await calls.cancel(calls.get(execution_id, name, owner_of(request))))


@routes.get("/resources", response_model=PageResponse)
async def list_resources(request: Request, page_size: PageSize = 20, page_offset: PageOffset = 0) -> Response:
    """List the caller's resources: files of sandboxes, the configuration and schemas."""
    return _page_response(request, await tool_provider_of(request).resources(owner_of(request)), page_size, page_offset)


@routes.get("/resources/{uri:path}", response_model=McpObject)
async def read_resource(request: Request, uri: str) -> Response:
    """Return the contents of a resource. Its URI may be percent-encoded."""
    resource = await tool_provider_of(request).read(uri, owner_of(request))
    return model_response(request, McpObject.model_validate(resource))


@routes.get("/prompts", response_model=PageResponse)
async def list_prompts(request: Request, page_size: PageSize = 20, page_offset: PageOffset = 0) -> Response:
    """List the prompts."""
    return _page_response(request, tool_provider_of(request).prompts(), page_size, page_offset)


@routes.get("/prompts/{name}", response_model=McpObject)
async def get_prompt(request: Request, name: Identifier) -> Response:
    """Return a prompt, rendered with the query parameters as its arguments. Without any, return its definition."""
    provider, arguments = tool_provider_of(request), dict(request.query_params)
    prompt = provider.prompt(name, arguments) if arguments else _find(provider.prompts(), name, "prompt")
    return model_response(request, McpObject.model_validate(prompt))


def _find(items: Sequence[Mapping[str, Any]], name: str, kind: str) -> Mapping[str, Any]:
    for item in items:
        if item["name"] == name:
            return item
    raise NotFound(f"there is no {kind} {name!r}")


def _page_response(request: Request, items: Sequence[Mapping[str, Any]], size: int, offset: int) -> Response:
    page = [dict(item) for item in items[offset : offset + size]]
    return model_response(request, to_page(page, len(items), size, offset, version_of(request)))
