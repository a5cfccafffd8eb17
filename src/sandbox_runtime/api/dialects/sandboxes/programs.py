"""Run a program in a sandbox, with the packages that it needs."""

from __future__ import annotations

from sandbox_runtime.api.dialects.sandboxes import packages
from sandbox_runtime.api.dialects.sandboxes.execution import run
from sandbox_runtime.api.dialects.sandboxes.mapping.answers import to_code_result
from sandbox_runtime.api.dialects.sandboxes.mapping.requests import code_spec
from sandbox_runtime.api.dialects.sandboxes.schemas.executions import CodeRequest, CodeResult
from sandbox_runtime.sessions import Sessions


async def run_code(sessions: Sessions, sandbox_id: str, body: CodeRequest, owner: str) -> CodeResult:
    """Run the program as usual for its language. If that has packages in this sandbox, run it so that it finds them."""
    spec = code_spec(body)
    if body.packages:
        await packages.install(sessions, sandbox_id, body, owner)
    launch = await packages.find_launch(sessions, sandbox_id, body, owner)
    if launch is None:
        return to_code_result(await run(sessions, sandbox_id, spec, owner, stream=body.stream))
    async with packages.saved_program(sessions, sandbox_id, launch, body, owner, keep=body.stream) as launch_spec:
        execution = await run(sessions, sandbox_id, launch_spec, owner, stream=body.stream)
    return to_code_result(execution).model_copy(update={"language": spec.language})
