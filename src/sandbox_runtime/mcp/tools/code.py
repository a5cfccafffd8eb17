"""run_code: a program of any language in a fresh process, or, with a context, in a Python that keeps its variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.detection import language_of
from sandbox_runtime.mcp.hosts.port import WORKSPACE, Work
from sandbox_runtime.mcp.tools import run
from sandbox_runtime.mcp.tools.arguments import Code, Repeatable, SandboxId, Timeout, WorkingDir, check_code, folder_of
from sandbox_runtime.mcp.tools.programs import Program, run_program
from sandbox_runtime.mcp.tools.run import RunResult
from sandbox_runtime.mcp.tools.tool import Answer, AnyTool, Arguments, Call, Tool
from sandbox_runtime.mcp.tools.word_filter import check_words

NEW_CONTEXT = "new"
_LANGUAGES = Literal["python", "javascript", "typescript", "bash", "sh", "go", "rust", "java", "cpp", "c"]


class RunCodeArguments(Arguments):
    sandbox_id: SandboxId
    code: Code
    language: Annotated[_LANGUAGES | None, Field(description="Found out from the code where it is left out.")] = None
    working_dir: WorkingDir = WORKSPACE
    timeout: Timeout = None
    cache: Repeatable = False
    context: Annotated[
        str | None,
        Field(
            max_length=64,
            description='Python that keeps its variables: "new" for a fresh one, or the id that an earlier answer told. Plots '
            "and the value of the last line come back as well.",
        ),
    ] = None


async def run_code(call: Call, asked: RunCodeArguments) -> Answer:
    check_code(asked.code)
    check_words(asked.code, call.config.tools.validation_level)
    if asked.context and asked.cache:
        raise InvalidRequest("what runs in a context depends on its variables: leave cache out")
    if asked.context:
        return await _in_context(call, asked)
    language, folder = asked.language or language_of(asked.code), folder_of(asked.working_dir)
    program = Program(
        sandbox_id=asked.sandbox_id.lower(),
        language=language,
        code=asked.code,
        folder=folder,
        timeout_s=asked.timeout or call.config.tools.default_timeout,
    )
    ran, command = await run_program(replace(call, cacheable=asked.cache), program)
    most = call.config.tools.max_output_size
    result = run.result_of(ran, program.sandbox_id, most, language=language, working_dir=folder, command=command)
    error = run.error_of(ran, language)
    return run.told(ran, result, run.lines_of(_facts(result), result), error)


async def _in_context(call: Call, asked: RunCodeArguments) -> Answer:
    if asked.language not in (None, "python"):
        raise InvalidRequest(f"contexts keep variables of Python, not of {asked.language}: leave context out")
    if folder_of(asked.working_dir) != WORKSPACE:
        raise InvalidRequest(f"contexts run in {WORKSPACE}: leave working_dir out, or call os.chdir in the code")
    sandbox_id = asked.sandbox_id.lower()
    context = await call.place.open_context(sandbox_id) if asked.context == NEW_CONTEXT else str(asked.context)
    timeout_s = asked.timeout or call.config.tools.default_timeout
    ran = await run.run(call, sandbox_id, Work(code=asked.code, context=context, timeout_s=timeout_s))
    most = call.config.tools.max_output_size
    result = run.result_of(ran, sandbox_id, most, language="python", working_dir=WORKSPACE, context=context)
    shown = run.shown_values(ran)
    text = run.lines_of({**_facts(result), "Context": context}, result) + (f"\nVALUE:\n{shown}" if shown else "")
    return run.told(ran, result, text, run.error_of(ran))


def _facts(result: RunResult) -> dict[str, object]:
    return {
        "Sandbox": result.sandbox_id,
        "Language": result.language,
        "Working Directory": result.working_dir,
        "Exit Code": result.exit_code,
        "Execution Time": f"{result.duration * 1000:.1f}ms",
    }


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "run_code",
        "Run code",
        "Runs code in a sandbox and tells what it printed and how it ended. Each call is a fresh process on the same files; with "
        "context, Python keeps its variables from call to call and plots come back as images.",
        RunCodeArguments,
        RunResult,
        run_code,
        {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    ),
)
