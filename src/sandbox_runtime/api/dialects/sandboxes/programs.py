"""Run a program in a sandbox, with the packages that it needs."""

from __future__ import annotations

from sandbox_runtime.api.dialects.sandboxes import packages, schemas
from sandbox_runtime.api.dialects.sandboxes.execution import run
from sandbox_runtime.api.dialects.sandboxes.mapping import answers, requests
from sandbox_runtime.sessions import Sessions


async def run_code(sessions: Sessions, sandbox_id: str, asked: schemas.Code, owner: str) -> schemas.CodeResult:
    """In the usual way of its language, or, where that has packages in the sandbox, so that it finds them."""
    spec = requests.code_spec(asked)
    if asked.packages:
        await packages.install(sessions, sandbox_id, asked, owner)
    line = await packages.line_of(sessions, sandbox_id, asked, owner)
    if line is None:
        return answers.code_result(await run(sessions, sandbox_id, spec, owner, stream=asked.stream))
    async with packages.placed(sessions, sandbox_id, line, asked, owner, stays=asked.stream) as started:
        execution = await run(sessions, sandbox_id, started, owner, stream=asked.stream)
    return answers.code_result(execution).model_copy(update={"language": spec.language})
