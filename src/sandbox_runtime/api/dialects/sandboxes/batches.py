"""Run one action on many sandboxes, with bounded concurrency and one timeout for all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import ValidationError

from sandbox_runtime.api.dialects.sandboxes import execution, programs, start_stop
from sandbox_runtime.api.dialects.sandboxes.mapping.answers import status_of as sandbox_status
from sandbox_runtime.api.dialects.sandboxes.responses import now, status_of
from sandbox_runtime.api.dialects.sandboxes.schemas.base import SandboxErrorInfo
from sandbox_runtime.api.dialects.sandboxes.schemas.executions import CodeRequest, ExecRequest
from sandbox_runtime.api.dialects.sandboxes.schemas.version2 import (
    BatchActionRequest,
    BatchActionResponse,
    BatchActionResult,
    BatchActionSummary,
)
from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.model import Session
from sandbox_runtime.sessions import Sessions

Action = Callable[[str], Awaitable[Any]]
_FAILED_DEPENDENCY = 424
_TIMEOUT = 408


async def run_batch(sessions: Sessions, body: BatchActionRequest, owner: str) -> BatchActionResponse:
    """Run the action on each sandbox and return the results in the order of the request."""
    action = _action(sessions, body, owner)
    slots, failed = asyncio.Semaphore(body.options.max_concurrency), asyncio.Event()
    deadline = asyncio.get_running_loop().time() + body.options.timeout

    async def run_one(sandbox_id: str) -> BatchActionResult:
        async with slots:
            if failed.is_set() and not body.options.continue_on_error:
                message = "not started: an earlier one failed, and continue_on_error is false"
                return _failure(sandbox_id, _FAILED_DEPENDENCY, message)
            result = await _run_action(action, sandbox_id, deadline)
            if not result.success:
                failed.set()
            return result

    results = await asyncio.gather(*(run_one(sandbox_id) for sandbox_id in body.sandbox_ids))
    succeeded = sum(result.success for result in results)
    summary = BatchActionSummary(total=len(results), succeeded=succeeded, failed=len(results) - succeeded)
    return BatchActionResponse(results=results, summary=summary, timestamp=now())


def _action(sessions: Sessions, body: BatchActionRequest, owner: str) -> Action:
    """Return the action. Raises InvalidRequest if the parameters do not fit it."""
    if body.action in ("exec", "code"):
        return _execution_action(sessions, body, owner)
    if body.parameters:
        raise InvalidRequest(f"the action {body.action} has no parameters; omit them")
    changes: dict[str, Callable[[Sessions, str, str], Awaitable[Session]]] = {
        "start": start_stop.start,
        "stop": start_stop.stop,
        "restart": start_stop.restart,
    }
    change = changes.get(body.action, _terminate)

    async def change_state(sandbox_id: str) -> Any:
        return {"status": sandbox_status(await change(sessions, sandbox_id, owner))}

    return change_state


def _execution_action(sessions: Sessions, body: BatchActionRequest, owner: str) -> Action:
    parameters = {**body.parameters, "stream": False}
    try:
        request = ExecRequest.model_validate(parameters) if body.action == "exec" else CodeRequest.model_validate(parameters)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidRequest(f"parameters.{'.'.join(map(str, first['loc']))}: {first['msg']}") from error

    async def run(sandbox_id: str) -> Any:
        if isinstance(request, ExecRequest):
            result: Any = await execution.execute(sessions, sandbox_id, request, owner)
        else:
            result = await programs.run_code(sessions, sandbox_id, request, owner)
        return result.model_dump(exclude_none=True)

    return run


async def _terminate(sessions: Sessions, sandbox_id: str, owner: str) -> Session:
    return await sessions.terminate(sandbox_id, owner)


async def _run_action(action: Action, sandbox_id: str, deadline: float) -> BatchActionResult:
    try:
        async with asyncio.timeout_at(deadline):
            return BatchActionResult(sandbox_id=sandbox_id, success=True, result=await action(sandbox_id))
    except TimeoutError:
        return _failure(sandbox_id, _TIMEOUT, "the batch timed out")
    except SandboxError as error:
        return _failure(sandbox_id, status_of(error), str(error))


def _failure(sandbox_id: str, status: int, message: str) -> BatchActionResult:
    error = SandboxErrorInfo(code=status, message=message, timestamp=now())
    return BatchActionResult(sandbox_id=sandbox_id, success=False, error=error)
