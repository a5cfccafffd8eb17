"""exec_command: a program and its arguments, started as they are and not by a shell."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.config.environment import hidden
from sandbox_runtime.mcp.hosts.port import WORKSPACE, Work
from sandbox_runtime.mcp.tools import error_codes, run
from sandbox_runtime.mcp.tools.arguments import Environment, Repeatable, SandboxId, Timeout, WorkingDir, folder_of
from sandbox_runtime.mcp.tools.run import RunResult
from sandbox_runtime.mcp.tools.tool import Answer, AnyTool, Arguments, Call, Tool

_ENV = "/usr/bin/env"
_OWN_CODES = {error_codes.EXECUTION_TIMEOUT: error_codes.TIMEOUT}


class ExecArguments(Arguments):
    sandbox_id: SandboxId
    command: Annotated[
        str,
        Field(
            min_length=1,
            max_length=65_536,
            description="A program and its arguments. Quotes and backslashes group words; there is no shell, so no pipes, "
            'variables or redirections: use `bash -c "…"` for those.',
        ),
    ]
    working_dir: WorkingDir = WORKSPACE
    environment: Environment = Field(default_factory=dict)
    timeout: Timeout = None
    cache: Repeatable = False


def words_of(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise InvalidRequest(f"the command cannot be split into words: {error}") from error
    if not words or not words[0]:
        raise InvalidRequest("the command is empty: name a program to start")
    return words


async def execute(call: Call, asked: ExecArguments) -> Answer:
    sandbox_id, folder = asked.sandbox_id.lower(), folder_of(asked.working_dir)
    work = Work(
        argv=(_ENV, "-C", folder, *words_of(asked.command)),
        env=asked.environment,
        timeout_s=asked.timeout or call.config.tools.default_timeout,
    )
    ran = await run.run(replace(call, cacheable=asked.cache), sandbox_id, work)
    result = run.result_of(ran, sandbox_id, call.config.tools.max_output_size, command=asked.command, working_dir=folder)
    facts = {
        "Sandbox": sandbox_id,
        "Command": asked.command,
        "Working Directory": folder,
        "Exit Code": ran.exit_code,
        "Execution Time": f"{ran.wall_s * 1000:.1f}ms",
    }
    error = run.error_of(ran)
    answer = run.told(ran, result, run.lines_of(facts, result), _OWN_CODES.get(error, error))
    return Answer(
        answer.text,
        result,
        {**answer.metadata, "environment": hidden(asked.environment, call.config.tools.environment)},
        answer.error,
    )


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "exec_command",
        "Run a command",
        "Runs one command in a sandbox, without a shell, and tells what it printed and how it ended.",
        ExecArguments,
        RunResult,
        execute,
        {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    ),
)
