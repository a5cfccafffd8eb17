"""Run commands and programs in a sandbox: to the end, or in the background with a stream id for their output."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
from collections.abc import AsyncIterator

from sandbox_runtime.api.dialects.sandboxes.mapping.answers import to_exec_result
from sandbox_runtime.api.dialects.sandboxes.mapping.requests import exec_spec
from sandbox_runtime.api.dialects.sandboxes.schemas.base import MAX_TIMEOUT_S
from sandbox_runtime.api.dialects.sandboxes.schemas.executions import ExecRequest, ExecResult
from sandbox_runtime.api.sse import event
from sandbox_runtime.errors import NotFound, SandboxError
from sandbox_runtime.model import Execution
from sandbox_runtime.sessions import ExecutionSpec, Sessions

QUEUE_TIMEOUT_S = 300.0
"""How long an execution may wait for its turn in the sandbox."""
_SHORT_WAIT_S = 0.1
"""Most executions end within this time. Those that do not are waited for by id."""


async def execute(sessions: Sessions, sandbox_id: str, body: ExecRequest, owner: str) -> ExecResult:
    return to_exec_result(await run(sessions, sandbox_id, exec_spec(body), owner, stream=body.stream))


async def run(sessions: Sessions, sandbox_id: str, spec: ExecutionSpec, owner: str, *, stream: bool) -> Execution:
    """Return the execution when it has ended, or with `stream` as soon as it is queued."""
    if stream:
        return await sessions.executions.submit(sandbox_id, spec, owner)
    return await run_to_end(sessions, sandbox_id, spec, owner)


async def run_to_end(sessions: Sessions, sandbox_id: str, spec: ExecutionSpec, owner: str) -> Execution:
    """Return the execution when it has ended. Cancelling this cancels the execution."""
    start = asyncio.create_task(sessions.executions.run(sandbox_id, spec, wait_s=_SHORT_WAIT_S, owner=owner))
    try:
        execution = await asyncio.shield(start)
    except asyncio.CancelledError:
        # The id to cancel is known only when the start returns.
        with contextlib.suppress(SandboxError):
            await sessions.executions.cancel((await start).id, owner)
        raise
    if execution.state.ended:
        return execution
    try:
        return await sessions.executions.wait(execution.id, (spec.timeout_s or MAX_TIMEOUT_S) + QUEUE_TIMEOUT_S, owner)
    except BaseException:
        await asyncio.shield(sessions.executions.cancel(execution.id, owner))
        raise


async def check_stream(sessions: Sessions, sandbox_id: str, stream_id: str, owner: str) -> None:
    """Raise NotFound if the sandbox has no such stream."""
    execution = await sessions.executions.get(stream_id, owner)
    if execution.session != sandbox_id:
        raise NotFound(f"the sandbox {sandbox_id!r} has no stream {stream_id!r}")


async def stream_events(sessions: Sessions, stream_id: str, owner: str) -> AsyncIterator[str]:
    """Yield server-sent events: the output from its start, then the result."""
    decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
    async for piece in sessions.executions.output(stream_id, owner=owner):
        text = decoders[piece.stream].decode(piece.data)
        yield event({"type": "data" if piece.stream == "stdout" else "error", "stream": piece.stream, "data": text})
    execution = await sessions.executions.wait(stream_id, QUEUE_TIMEOUT_S, owner)
    result = to_exec_result(execution).model_dump(exclude={"stdout", "stderr", "stream_id"}, exclude_none=True)
    yield event({"type": "complete", "data": result})
