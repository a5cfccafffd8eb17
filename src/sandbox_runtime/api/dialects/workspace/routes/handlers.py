"""POST /v2/execute_code: a handler without a session, in a fresh box that nothing outlives."""

from __future__ import annotations

import asyncio
import json
import uuid

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import ValidationError

from sandbox_runtime.api.dialects.workspace import responses
from sandbox_runtime.api.dialects.workspace.responses import as_json, described, message
from sandbox_runtime.api.dialects.workspace.schemas import ExecuteHandler, HandlerAnswer, Json
from sandbox_runtime.api.disconnect import while_present
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.assembly import Platform
from sandbox_runtime.engine.environments import RunRequest, RunResult
from sandbox_runtime.engine.handlers import HandlerContext, HandlerExitCode, exit_code, timeout_s
from sandbox_runtime.errors import InvalidRequest, PlatformFault, SandboxError
from sandbox_runtime.model import Blame, ExecutionKind
from sandbox_runtime.model.limits import MIB

GRACE_S = 60.0
"""What a box may take beyond the handler's own time, waiting for a place included."""

router = APIRouter()


@router.post("/v2/execute_code", **described(ExecuteHandler, HandlerAnswer, responses.OF_HANDLER))
async def execute_handler(request: Request) -> Response:
    """Call a handler with an event."""
    try:
        asked = await message(request, ExecuteHandler)
        work = _work(platform_of(request), asked)
        ran = await while_present(request, _invoked(platform_of(request), work))
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in error.errors()[:5])
        return responses.handler_answer(InvalidRequest(told))
    except SandboxError as error:
        return responses.handler_answer(error)
    return _answer(ran, work.limits.wall_s)


def _work(platform: Platform, asked: ExecuteHandler) -> RunRequest:
    if not asked.handler_code.strip():
        raise InvalidRequest("handler_code is empty: define handler(event) or handler(event, context)")
    wall_s = min(timeout_s(asked.event), platform.allowance.max_wall_s)
    return RunRequest(
        kind=ExecutionKind.handler,
        code=asked.handler_code,
        limits=platform.allowance.default.replace(wall_s=wall_s),
        event=asked.event,
        context=HandlerContext(str(uuid.uuid4()), str(uuid.uuid4()), extra=tuple(asked.context.items())),
    )


async def _invoked(platform: Platform, work: RunRequest) -> RunResult:
    try:
        async with asyncio.timeout(work.limits.wall_s + platform.settings.queue_wait_s + GRACE_S):
            ran = await platform.invocations.invoke(work)
    except TimeoutError as error:
        raise PlatformFault("the handler's box did not answer in time") from error
    if ran.outcome.blame is Blame.platform:
        raise PlatformFault(ran.outcome.message or "the handler's box broke")
    return ran


def _answer(ran: RunResult, wall_s: float) -> Response:
    code = exit_code(ran.outcome, ran.handler_result)
    told = _told(ran, wall_s)
    if code == HandlerExitCode.success:
        return as_json(told)
    if code == HandlerExitCode.timed_out:
        return responses.handler_fault(500, "Sandbox.ExecTimeout", f"the handler took longer than {wall_s:g} s", told)
    said = (
        (ran.handler_result.error if ran.handler_result else "")
        or ran.outcome.message
        or f"the handler ended with exit code {code}"
    )
    return responses.handler_fault(500, "Sandbox.ExecException", said, {**told, "exit_code": code})


def _told(ran: RunResult, wall_s: float) -> Json:
    usage = ran.outcome.usage
    peak = usage.memory_peak_bytes
    value = ran.handler_result.value_json if ran.handler_result is not None else None
    return {
        "stdout": ran.outcome.stdout.text,
        "stderr": ran.outcome.stderr.text,
        "result": None if value is None else json.loads(value),
        "metrics": {
            "duration_ms": round(usage.wall_s * 1000, 3),
            "memory_peak_mb": None if peak is None else round(peak / MIB, 3),
            "cpu_time_ms": round(usage.cpu_s * 1000, 3),
            "timeout_seconds": wall_s,
        },
    }
