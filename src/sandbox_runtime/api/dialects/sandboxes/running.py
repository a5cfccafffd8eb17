"""What runs in a sandbox for one request: until its end, or under way with an id at which it is followed."""

from __future__ import annotations

import asyncio
import codecs
import json
from collections.abc import AsyncIterator
from typing import Any

from sandbox_runtime.api.dialects.sandboxes import asking, telling, wire
from sandbox_runtime.errors import NotFound
from sandbox_runtime.model import Execution
from sandbox_runtime.sessions import ExecutionSpec, Sessions

_AT_ONCE_S = 0.1
_QUEUE_S = 300.0
_INSTALL_S = 300.0


async def ran(sessions: Sessions, sandbox_id: str, spec: ExecutionSpec, owner: str) -> Execution:
    """Its end. Whoever cancels this ends the program as well."""
    begun = await sessions.execute(sandbox_id, spec, wait_s=_AT_ONCE_S, owner=owner)
    if begun.state.ended:
        return begun
    try:
        return await sessions.wait(begun.id, (spec.timeout_s or wire.LONGEST_S) + _QUEUE_S, owner)
    except BaseException:
        await asyncio.shield(sessions.cancel(begun.id, owner))
        raise


async def execute(sessions: Sessions, sandbox_id: str, asked: wire.Exec, owner: str) -> wire.ExecResult:
    spec = asking.exec_spec(asked)
    if asked.stream:
        return telling.exec_result(await sessions.submit(sandbox_id, spec, owner))
    return telling.exec_result(await ran(sessions, sandbox_id, spec, owner))


async def run_code(sessions: Sessions, sandbox_id: str, asked: wire.Code, owner: str) -> wire.CodeResult:
    spec, packages = asking.code_spec(asked), asking.dependencies_of(asked)
    if packages:
        await sessions.install(sandbox_id, packages, timeout_s=_INSTALL_S, owner=owner)
    if asked.stream:
        return telling.code_result(await sessions.submit(sandbox_id, spec, owner))
    return telling.code_result(await ran(sessions, sandbox_id, spec, owner))


async def check_stream(sessions: Sessions, sandbox_id: str, stream_id: str, owner: str) -> None:
    """Raises NotFound where that sandbox has no such stream."""
    execution = await sessions.execution(stream_id, owner)
    if execution.session != sandbox_id:
        raise NotFound(f"the sandbox {sandbox_id!r} has no stream {stream_id!r}")


async def followed(sessions: Sessions, stream_id: str, owner: str) -> AsyncIterator[str]:
    """Events of the stream: what is printed, from the beginning on, and in the end how it ended."""
    decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
    async for piece in sessions.output(stream_id, owner=owner):
        text = decoders[piece.stream].decode(piece.data)
        yield _event({"type": "data" if piece.stream == "stdout" else "error", "stream": piece.stream, "data": text})
    ended = await sessions.wait(stream_id, _QUEUE_S, owner)
    result = telling.exec_result(ended).model_dump(exclude={"stdout", "stderr", "stream_id"}, exclude_none=True)
    yield _event({"type": "complete", "data": result})


def _event(item: dict[str, Any]) -> str:
    return f"data: {json.dumps(item)}\n\n"
