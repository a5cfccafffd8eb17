"""What runs in a sandbox for one request: until its end, or under way with an id at which it is followed."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
from collections.abc import AsyncIterator

from sandbox_runtime.api.dialects.sandboxes import schemas
from sandbox_runtime.api.dialects.sandboxes.mapping import answers, requests
from sandbox_runtime.api.sse import event
from sandbox_runtime.errors import NotFound, SandboxError
from sandbox_runtime.model import Execution
from sandbox_runtime.sessions import ExecutionSpec, Sessions

AT_ONCE_S = 0.1
QUEUE_S = 300.0


async def execute(sessions: Sessions, sandbox_id: str, asked: schemas.Exec, owner: str) -> schemas.ExecResult:
    spec = requests.exec_spec(asked)
    return answers.exec_result(await run(sessions, sandbox_id, spec, owner, stream=asked.stream))


async def run(sessions: Sessions, sandbox_id: str, spec: ExecutionSpec, owner: str, *, stream: bool) -> Execution:
    """Under way, or its end."""
    return await sessions.executions.submit(sandbox_id, spec, owner) if stream else await ran(sessions, sandbox_id, spec, owner)


async def ran(sessions: Sessions, sandbox_id: str, spec: ExecutionSpec, owner: str) -> Execution:
    """Its end. Whoever cancels this ends the program as well."""
    begin = asyncio.create_task(sessions.executions.run(sandbox_id, spec, wait_s=AT_ONCE_S, owner=owner))
    try:
        begun = await asyncio.shield(begin)
    except asyncio.CancelledError:
        # Until it comes back nobody knows what there would be to cancel.
        with contextlib.suppress(SandboxError):
            await sessions.executions.cancel((await begin).id, owner)
        raise
    if begun.state.ended:
        return begun
    try:
        return await sessions.executions.wait(begun.id, (spec.timeout_s or schemas.LONGEST_S) + QUEUE_S, owner)
    except BaseException:
        await asyncio.shield(sessions.executions.cancel(begun.id, owner))
        raise


async def check_stream(sessions: Sessions, sandbox_id: str, stream_id: str, owner: str) -> None:
    """Raises NotFound where that sandbox has no such stream."""
    execution = await sessions.executions.get(stream_id, owner)
    if execution.session != sandbox_id:
        raise NotFound(f"the sandbox {sandbox_id!r} has no stream {stream_id!r}")


async def followed(sessions: Sessions, stream_id: str, owner: str) -> AsyncIterator[str]:
    """Events of the stream: what is printed, from the beginning on, and in the end how it ended."""
    decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
    async for piece in sessions.executions.output(stream_id, owner=owner):
        text = decoders[piece.stream].decode(piece.data)
        yield event({"type": "data" if piece.stream == "stdout" else "error", "stream": piece.stream, "data": text})
    ended = await sessions.executions.wait(stream_id, QUEUE_S, owner)
    result = answers.exec_result(ended).model_dump(exclude={"stdout", "stderr", "stream_id"}, exclude_none=True)
    yield event({"type": "complete", "data": result})
