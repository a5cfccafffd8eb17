"""What runs in a sandbox for one request: until its end, or under way with an id at which it is followed."""

from __future__ import annotations

import codecs
import json
from collections.abc import AsyncIterator
from typing import Any

from sandbox_runtime.api.dialects.sandboxes import packages, schemas
from sandbox_runtime.api.dialects.sandboxes.mapping import answers, requests
from sandbox_runtime.api.dialects.sandboxes.waiting import QUEUE_S, ran
from sandbox_runtime.errors import NotFound
from sandbox_runtime.model import Execution
from sandbox_runtime.sessions import ExecutionSpec, Sessions


async def execute(sessions: Sessions, sandbox_id: str, asked: schemas.Exec, owner: str) -> schemas.ExecResult:
    spec = requests.exec_spec(asked)
    return answers.exec_result(await _run(sessions, sandbox_id, spec, owner, stream=asked.stream))


async def run_code(sessions: Sessions, sandbox_id: str, asked: schemas.Code, owner: str) -> schemas.CodeResult:
    """In the usual way of its language, or, where that has packages in the sandbox, so that it finds them."""
    spec = requests.code_spec(asked)
    if asked.packages:
        await packages.install(sessions, sandbox_id, asked, owner)
    line = await packages.line_of(sessions, sandbox_id, asked, owner)
    if line is None:
        return answers.code_result(await _run(sessions, sandbox_id, spec, owner, stream=asked.stream))
    async with packages.placed(sessions, sandbox_id, line, asked, owner, stays=asked.stream) as started:
        execution = await _run(sessions, sandbox_id, started, owner, stream=asked.stream)
    return answers.code_result(execution).model_copy(update={"language": spec.language})


async def _run(sessions: Sessions, sandbox_id: str, spec: ExecutionSpec, owner: str, *, stream: bool) -> Execution:
    """Under way, or its end."""
    return await sessions.submit(sandbox_id, spec, owner) if stream else await ran(sessions, sandbox_id, spec, owner)


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
    ended = await sessions.wait(stream_id, QUEUE_S, owner)
    result = answers.exec_result(ended).model_dump(exclude={"stdout", "stderr", "stream_id"}, exclude_none=True)
    yield _event({"type": "complete", "data": result})


def _event(item: dict[str, Any]) -> str:
    return f"data: {json.dumps(item)}\n\n"
