"""Tools, resources and prompts, as the server offers them to agents."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request, Response

from sandbox_runtime.api.callers import caller_of, owner_of
from sandbox_runtime.api.dialects.sandboxes import telling, wire
from sandbox_runtime.api.dialects.sandboxes.answering import answer, now, router
from sandbox_runtime.api.dialects.sandboxes.offer import Offer, offer_of
from sandbox_runtime.api.dialects.sandboxes.routes.requests import Identifier, PageOffset, PageSize
from sandbox_runtime.api.dialects.sandboxes.versions import version_of
from sandbox_runtime.api.presence import while_present
from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.sessions.retrying import Backoff

routes = router("", "tools")


@routes.get("/tools", response_model=wire.Listed)
async def list_tools(request: Request, page_size: PageSize = 100, page_offset: PageOffset = 0) -> Response:
    """The tools that are switched on, each with the schema of its arguments."""
    return _page(request, offer_of(request).tools(), page_size, page_offset)


@routes.get("/tools/{name}", response_model=wire.Described)
async def get_tool(request: Request, name: Identifier) -> Response:
    """One tool."""
    return answer(request, wire.Described.model_validate(_named(offer_of(request).tools(), name, "tool")))


@routes.post("/tools/{name}/execute", response_model=wire.ToolResult)
async def execute_tool(request: Request, name: Identifier, asked: wire.ExecuteTool) -> Response:
    """Call a tool. What fails in it is a result with is_error; faults of ours are tried again as retry_policy says."""
    options = asked.options
    if options.async_ or options.stream:
        raise InvalidRequest("tools are called to their end here: leave async and stream out, or use /exec and /code with stream")
    begun = time.monotonic()
    called = await while_present(request, _called(request, offer_of(request), name, asked))
    result = wire.ToolResult(
        result=called["result"],
        is_error=called["is_error"],
        duration=round(time.monotonic() - begun, 6),
        timestamp=now(),
        metadata=dict(called["metadata"]) or None,
    )
    return answer(request, result)


@routes.get("/resources", response_model=wire.Listed)
async def list_resources(request: Request, page_size: PageSize = 20, page_offset: PageOffset = 0) -> Response:
    """Resources of the caller: files of its sandboxes, the configuration, schemas."""
    return _page(request, await offer_of(request).resources(owner_of(request)), page_size, page_offset)


@routes.get("/resources/{uri:path}", response_model=wire.Described)
async def read_resource(request: Request, uri: str) -> Response:
    """What a resource holds. Its address is percent-encoded, or stands as it is."""
    return answer(request, wire.Described.model_validate(await offer_of(request).read(uri, owner_of(request))))


@routes.get("/prompts", response_model=wire.Listed)
async def list_prompts(request: Request, page_size: PageSize = 20, page_offset: PageOffset = 0) -> Response:
    """Prompts for typical work."""
    return _page(request, offer_of(request).prompts(), page_size, page_offset)


@routes.get("/prompts/{name}", response_model=wire.Described)
async def get_prompt(request: Request, name: Identifier) -> Response:
    """A prompt; parameters of the query are its arguments. Without any, what it takes."""
    offer, arguments = offer_of(request), dict(request.query_params)
    told = offer.prompt(name, arguments) if arguments else _named(offer.prompts(), name, "prompt")
    return answer(request, wire.Described.model_validate(told))


async def _called(request: Request, offer: Offer, name: str, asked: wire.ExecuteTool) -> Mapping[str, Any]:
    """Within the time of the options, however often it is tried."""
    caller, policy = caller_of(request), asked.options.retry_policy
    backoff = Backoff(policy.max_retries, policy.initial_delay, policy.backoff_factor, policy.max_delay)
    try:
        async with asyncio.timeout(asked.options.timeout):
            for delay_s in (*backoff.delays_s(), None):
                called = await offer.call(name, asked.arguments, caller.owner, caller.grants.most_sessions)
                if delay_s is None or not called["transient"]:
                    return called
                await asyncio.sleep(delay_s)
    except TimeoutError:
        pass
    told = f"it took longer than the {asked.options.timeout:g} s that options.timeout allows"
    return {"result": told, "is_error": True, "metadata": {"error_code": "EXECUTION_TIMEOUT"}, "transient": False}


def _named(items: Sequence[Mapping[str, Any]], name: str, kind: str) -> Mapping[str, Any]:
    for item in items:
        if item["name"] == name:
            return item
    raise NotFound(f"there is no {kind} {name!r}")


def _page(request: Request, items: Sequence[Mapping[str, Any]], size: int, offset: int) -> Response:
    shown = [dict(item) for item in items[offset : offset + size]]
    return answer(request, telling.page(shown, len(items), size, offset, version_of(request)))
