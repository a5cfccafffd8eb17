"""run_code: runs a program in a new process, or, with a context, in a Python interpreter that keeps its variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.detection import detect_language
from sandbox_runtime.mcp.hosts.port import WORKSPACE, RunSpec
from sandbox_runtime.mcp.tools import run
from sandbox_runtime.mcp.tools.arguments import CacheFlag, Code, SandboxId, Timeout, WorkingDir, check_code, resolve_folder
from sandbox_runtime.mcp.tools.programs import Program, run_program
from sandbox_runtime.mcp.tools.run import RunResult
from sandbox_runtime.mcp.tools.tool import AnyTool, Arguments, Tool, ToolContext, ToolResponse
from sandbox_runtime.mcp.tools.word_filter import check_words

NEW_CONTEXT = "new"
_LANGUAGES = Literal["python", "javascript", "typescript", "bash", "sh", "go", "rust", "java", "cpp", "c"]


class RunCodeArguments(Arguments):
    sandbox_id: SandboxId
    code: Code
    language: Annotated[_LANGUAGES | None, Field(description="Detected from the code if omitted.")] = None
    working_dir: WorkingDir = WORKSPACE
    timeout: Timeout = None
    cache: CacheFlag = False
    context: Annotated[
        str | None,
        Field(
            max_length=64,
            description='A Python interpreter that keeps its variables: "new", or the id from an earlier response. Plots and the '
            "value of the last line are returned too.",
        ),
    ] = None


async def run_code(ctx: ToolContext, arguments: RunCodeArguments) -> ToolResponse:
    check_code(arguments.code)
    check_words(arguments.code, ctx.config.tools.validation_level)
    if arguments.context and arguments.cache:
        raise InvalidRequest("cache cannot be combined with context: the result depends on the context's variables")
    if arguments.context:
        return await _in_context(ctx, arguments)
    language, folder = arguments.language or detect_language(arguments.code), resolve_folder(arguments.working_dir)
    program = Program(
        sandbox_id=arguments.sandbox_id.lower(),
        language=language,
        code=arguments.code,
        folder=folder,
        timeout_s=arguments.timeout or ctx.config.tools.default_timeout,
    )
    outcome, command = await run_program(replace(ctx, cacheable=arguments.cache), program)
    max_bytes = ctx.config.tools.max_output_size
    result = run.to_result(outcome, program.sandbox_id, max_bytes, language=language, working_dir=folder, command=command)
    error = run.error_code(outcome, language)
    return run.to_response(outcome, result, run.render_text(_facts(result), result), error)


async def _in_context(ctx: ToolContext, arguments: RunCodeArguments) -> ToolResponse:
    if arguments.language not in (None, "python"):
        raise InvalidRequest(f"context is supported for Python only, not for {arguments.language}; omit context")
    if resolve_folder(arguments.working_dir) != WORKSPACE:
        raise InvalidRequest(f"contexts run in {WORKSPACE}; omit working_dir, or call os.chdir in the code")
    sandbox_id = arguments.sandbox_id.lower()
    context = await ctx.host.open_context(sandbox_id) if arguments.context == NEW_CONTEXT else str(arguments.context)
    timeout_s = arguments.timeout or ctx.config.tools.default_timeout
    outcome = await run.run(ctx, sandbox_id, RunSpec(code=arguments.code, context=context, timeout_s=timeout_s))
    max_bytes = ctx.config.tools.max_output_size
    result = run.to_result(outcome, sandbox_id, max_bytes, language="python", working_dir=WORKSPACE, context=context)
    shown = run.text_values(outcome)
    text = run.render_text({**_facts(result), "Context": context}, result) + (f"\nVALUE:\n{shown}" if shown else "")
    return run.to_response(outcome, result, text, run.error_code(outcome))


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
        "Runs code in a sandbox and returns its output and exit code. Each call is a new process on the same files; with "
        "context, Python keeps its variables between calls and plots are returned as images.",
        RunCodeArguments,
        RunResult,
        run_code,
        {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    ),
)
