"""One action on many sandboxes: so many at once, all within one time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import ValidationError

from sandbox_runtime.api.dialects.sandboxes import execution, programs, schemas, start_stop
from sandbox_runtime.api.dialects.sandboxes.mapping import answers
from sandbox_runtime.api.dialects.sandboxes.responses import now, status_of
from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.model import Session
from sandbox_runtime.sessions import Sessions

Act = Callable[[str], Awaitable[Any]]
_NOT_BEGUN = schemas.SandboxFault(
    code=424, message="not begun: an earlier one failed, and continue_on_error is not set", timestamp=""
)


async def carried_out(sessions: Sessions, asked: schemas.Batch, owner: str) -> schemas.BatchResults:
    act = _act(sessions, asked, owner)
    places, failed = asyncio.Semaphore(asked.options.max_concurrency), asyncio.Event()
    ends_at = asyncio.get_running_loop().time() + asked.options.timeout

    async def one(sandbox_id: str) -> schemas.BatchResult:
        async with places:
            if failed.is_set() and not asked.options.continue_on_error:
                return schemas.BatchResult(sandbox_id=sandbox_id, success=False, error=_NOT_BEGUN.model_copy(update=_stamp()))
            result = await _tried(act, sandbox_id, ends_at)
            if not result.success:
                failed.set()
            return result

    results = await asyncio.gather(*(one(sandbox_id) for sandbox_id in asked.sandbox_ids))
    good = sum(result.success for result in results)
    summary = schemas.Summary(total=len(results), succeeded=good, failed=len(results) - good)
    return schemas.BatchResults(results=results, summary=summary, timestamp=now())


def _act(sessions: Sessions, asked: schemas.Batch, owner: str) -> Act:
    """Raises InvalidRequest where the parameters are not those of the action."""
    if asked.action in ("exec", "code"):
        return _program(sessions, asked, owner)
    if asked.parameters:
        raise InvalidRequest(f"the action {asked.action} takes no parameters")
    verbs: dict[str, Callable[[Sessions, str, str], Awaitable[Session]]] = {
        "start": start_stop.start,
        "stop": start_stop.stop,
        "restart": start_stop.restart,
    }
    verb = verbs.get(asked.action, _terminated)

    async def change(sandbox_id: str) -> Any:
        return {"status": answers.status_of(await verb(sessions, sandbox_id, owner))}

    return change


def _program(sessions: Sessions, asked: schemas.Batch, owner: str) -> Act:
    body = {**asked.parameters, "stream": False}
    try:
        given = schemas.Exec.model_validate(body) if asked.action == "exec" else schemas.Code.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidRequest(f"parameters.{'.'.join(map(str, first['loc']))}: {first['msg']}") from error

    async def run(sandbox_id: str) -> Any:
        if isinstance(given, schemas.Exec):
            result: Any = await execution.execute(sessions, sandbox_id, given, owner)
        else:
            result = await programs.run_code(sessions, sandbox_id, given, owner)
        return result.model_dump(exclude_none=True)

    return run


async def _terminated(sessions: Sessions, sandbox_id: str, owner: str) -> Session:
    return await sessions.terminate(sandbox_id, owner)


async def _tried(act: Act, sandbox_id: str, ends_at: float) -> schemas.BatchResult:
    try:
        async with asyncio.timeout_at(ends_at):
            return schemas.BatchResult(sandbox_id=sandbox_id, success=True, result=await act(sandbox_id))
    except TimeoutError:
        return _failure(sandbox_id, 408, "the time for the whole batch was over")
    except SandboxError as error:
        return _failure(sandbox_id, status_of(error), str(error))


def _failure(sandbox_id: str, status: int, text: str) -> schemas.BatchResult:
    return schemas.BatchResult(
        sandbox_id=sandbox_id, success=False, error=schemas.SandboxFault(code=status, message=text, timestamp=now())
    )


def _stamp() -> dict[str, str]:
    return {"timestamp": now()}
