"""POST /v2/execute_code: call a handler without a session, in a fresh box that is deleted afterwards."""

from __future__ import annotations

import asyncio
import json
import uuid

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import ValidationError

from sandbox_runtime.api.dialects.workspace.responses import (
    HANDLER_ERRORS,
    handler_error_response,
    handler_failure,
    json_response,
    problems_text,
    read_body,
    route_options,
)
from sandbox_runtime.api.dialects.workspace.schemas import HandlerRequest, HandlerResponse, Json
from sandbox_runtime.api.disconnect import cancel_on_disconnect
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.assembly import Platform
from sandbox_runtime.engine.environments import RunRequest, RunResult
from sandbox_runtime.engine.handlers import HandlerContext, HandlerExitCode, exit_code, timeout_s
from sandbox_runtime.errors import InvalidRequest, PlatformFault, SandboxError
from sandbox_runtime.model import Blame, ExecutionKind
from sandbox_runtime.model.limits import MIB

GRACE_S = 60.0
"""Time for starting and closing the box, beyond the handler's timeout and the time in the queue."""

router = APIRouter()


@router.post("/v2/execute_code", **route_options(HandlerRequest, HandlerResponse, HANDLER_ERRORS))
async def execute_handler(request: Request) -> Response:
    """Call a handler with an event, in a fresh box. No session is used or created."""
    try:
        body = await read_body(request, HandlerRequest)
        run_request = _run_request(platform_of(request), body)
        result = await cancel_on_disconnect(request, _invoke(platform_of(request), run_request))
    except ValidationError as error:
        return handler_error_response(InvalidRequest(problems_text(error)))
    except SandboxError as error:
        return handler_error_response(error)
    return _response(result, run_request.limits.wall_s)


def _run_request(platform: Platform, body: HandlerRequest) -> RunRequest:
    if not body.handler_code.strip():
        raise InvalidRequest("handler_code is empty: define handler(event) or handler(event, context)")
    wall_s = min(timeout_s(body.event), platform.request_limits.max_wall_s)
    return RunRequest(
        kind=ExecutionKind.handler,
        code=body.handler_code,
        limits=platform.request_limits.default.replace(wall_s=wall_s),
        event=body.event,
        context=HandlerContext(str(uuid.uuid4()), str(uuid.uuid4()), extra=tuple(body.context.items())),
    )


async def _invoke(platform: Platform, run_request: RunRequest) -> RunResult:
    try:
        async with asyncio.timeout(run_request.limits.wall_s + platform.settings.queue_wait_s + GRACE_S):
            result = await platform.invocations.invoke(run_request)
    except TimeoutError as error:
        raise PlatformFault("the handler's box did not respond in time") from error
    if result.outcome.blame is Blame.platform:
        raise PlatformFault(result.outcome.message or "the handler's box failed")
    return result


def _response(result: RunResult, wall_s: float) -> Response:
    code = exit_code(result.outcome, result.handler_result)
    body = _body(result, wall_s)
    if code == HandlerExitCode.success:
        return json_response(body)
    if code == HandlerExitCode.timed_out:
        return handler_failure(500, "Sandbox.ExecTimeout", f"the handler took longer than {wall_s:g} s", body)
    error = result.handler_result.error if result.handler_result else ""
    description = error or result.outcome.message or f"the handler ended with exit code {code}"
    return handler_failure(500, "Sandbox.ExecException", description, {**body, "exit_code": code})


def _body(result: RunResult, wall_s: float) -> Json:
    usage = result.outcome.usage
    peak = usage.memory_peak_bytes
    value = result.handler_result.value_json if result.handler_result is not None else None
    return {
        "stdout": result.outcome.stdout.text,
        "stderr": result.outcome.stderr.text,
        "result": None if value is None else json.loads(value),
        "metrics": {
            "duration_ms": round(usage.wall_s * 1000, 3),
            "memory_peak_mb": None if peak is None else round(peak / MIB, 3),
            "cpu_time_ms": round(usage.cpu_s * 1000, 3),
            "timeout_seconds": wall_s,
        },
    }
