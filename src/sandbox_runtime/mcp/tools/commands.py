"""exec_command: runs a program with arguments, without a shell."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.config.variables import redact
from sandbox_runtime.mcp.hosts.port import WORKSPACE, RunSpec
from sandbox_runtime.mcp.tools import error_codes, run
from sandbox_runtime.mcp.tools.arguments import CacheFlag, Environment, SandboxId, Timeout, WorkingDir, resolve_folder
from sandbox_runtime.mcp.tools.run import RunResult
from sandbox_runtime.mcp.tools.tool import AnyTool, Arguments, Tool, ToolContext, ToolResponse

_ENV = "/usr/bin/env"
_OWN_CODES = {error_codes.EXECUTION_TIMEOUT: error_codes.TIMEOUT}


class ExecArguments(Arguments):
    sandbox_id: SandboxId
    command: Annotated[
        str,
        Field(
            min_length=1,
            max_length=65_536,
            description="A program and its arguments. Quotes and backslashes group words. No shell: for pipes, variables and "
            'redirections use `bash -c "…"`.',
        ),
    ]
    working_dir: WorkingDir = WORKSPACE
    environment: Environment = Field(default_factory=dict)
    timeout: Timeout = None
    cache: CacheFlag = False


def split_command(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise InvalidRequest(f"cannot split the command into words: {error}") from error
    if not words or not words[0]:
        raise InvalidRequest("the command is empty: name a program to start")
    return words


async def execute(ctx: ToolContext, arguments: ExecArguments) -> ToolResponse:
    sandbox_id, folder = arguments.sandbox_id.lower(), resolve_folder(arguments.working_dir)
    spec = RunSpec(
        argv=(_ENV, "-C", folder, *split_command(arguments.command)),
        env=arguments.environment,
        timeout_s=arguments.timeout or ctx.config.tools.default_timeout,
    )
    outcome = await run.run(replace(ctx, cacheable=arguments.cache), sandbox_id, spec)
    result = run.to_result(outcome, sandbox_id, ctx.config.tools.max_output_size, command=arguments.command, working_dir=folder)
    facts = {
        "Sandbox": sandbox_id,
        "Command": arguments.command,
        "Working Directory": folder,
        "Exit Code": outcome.exit_code,
        "Execution Time": f"{outcome.wall_s * 1000:.1f}ms",
    }
    error = run.error_code(outcome)
    response = run.to_response(outcome, result, run.render_text(facts, result), _OWN_CODES.get(error, error))
    return ToolResponse(
        response.text,
        result,
        {**response.metadata, "environment": redact(arguments.environment, ctx.config.tools.environment)},
        response.error,
    )


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "exec_command",
        "Run a command",
        "Runs one command in a sandbox, without a shell, and returns its output and exit code.",
        ExecArguments,
        RunResult,
        execute,
        {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    ),
)
