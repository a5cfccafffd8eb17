"""fork_sandbox, install_packages, judge_solution."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from sandbox_runtime.mcp.hosts.port import Solution
from sandbox_runtime.mcp.tools import packages, sandboxes
from sandbox_runtime.mcp.tools.arguments import Code, LanguageName, SandboxId, Timeout
from sandbox_runtime.mcp.tools.packages import Packages
from sandbox_runtime.mcp.tools.sandboxes import SandboxResult
from sandbox_runtime.mcp.tools.tool import AnyTool, Arguments, Result, Tool, ToolContext, ToolResponse

_Text = Annotated[str, Field(max_length=1024**2)]


class ForkArguments(Arguments):
    sandbox_id: SandboxId


class InstallArguments(Arguments):
    sandbox_id: SandboxId
    packages: Annotated[Packages, Field(min_length=1)]
    language: Annotated[LanguageName, Field(description="Whose packages they are.")] = "python"
    timeout: Annotated[int, Field(ge=1, le=1800, description="Seconds.")] = 300


class InstallResult(Result):
    sandbox_id: str
    installed: list[str]


class TestCase(Arguments):
    stdin: _Text = ""
    stdout: Annotated[str, Field(max_length=1024**2, description="What the program must print for it.")]


class JudgeArguments(Arguments):
    code: Code
    language: Annotated[str, Field(min_length=1, max_length=40, description="Such as python, cpp, java, go, rust.")] = "python"
    tests: Annotated[list[TestCase], Field(min_length=1, max_length=200)]
    timeout: Timeout = 10


class JudgeResult(Result):
    accepted: bool
    reason: str = Field(description="accepted, or why not: wrong_answer, time_limit, runtime_error, compile_error, …")
    message: str
    passed: int
    total: int
    cases: list[dict[str, Any]]


async def fork(ctx: ToolContext, arguments: ForkArguments) -> ToolResponse:
    """Copies made by the host have names of their own; a sandbox must have a UUID, which the place sees to."""
    result = sandboxes.to_sandbox_result(await ctx.host.fork(arguments.sandbox_id.lower()), ctx.config.sandbox.default_image)
    metadata = {"sandbox_id": result.sandbox_id, "container_id": result.container_id}
    return ToolResponse(f"Sandbox forked successfully\n{result.model_dump_json(indent=2)}", result, metadata)


async def install(ctx: ToolContext, arguments: InstallArguments) -> ToolResponse:
    sandbox_id = arguments.sandbox_id.lower()
    there = await packages.install(ctx, sandbox_id, arguments.language, arguments.packages, float(arguments.timeout))
    result = InstallResult(sandbox_id=sandbox_id, installed=sorted(there))
    return ToolResponse(f"Installed: {', '.join(arguments.packages)}", result, result.model_dump())


async def judge(ctx: ToolContext, arguments: JudgeArguments) -> ToolResponse:
    tests = tuple((test.stdin, test.stdout) for test in arguments.tests)
    verdict = await ctx.host.judge(
        Solution(code=arguments.code, language=arguments.language, tests=tests, timeout_s=float(arguments.timeout or 10))
    )
    passed = sum(bool(case.get("passed")) for case in verdict.cases)
    result = JudgeResult(
        accepted=verdict.accepted,
        reason=verdict.reason,
        message=verdict.message,
        passed=passed,
        total=len(tests),
        cases=[dict(case) for case in verdict.cases],
    )
    head = "Accepted" if verdict.accepted else f"Not accepted: {verdict.reason}"
    told = [f"{head} ({passed} of {len(tests)} tests passed)", *([verdict.message] if verdict.message else [])]
    return ToolResponse("\n".join(told), result, {"accepted": verdict.accepted})


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "fork_sandbox",
        "Copy a sandbox",
        "Makes a copy of a sandbox as it is now, with its files and its live Python contexts; both go on by themselves.",
        ForkArguments,
        SandboxResult,
        fork,
        {"readOnlyHint": False, "destructiveHint": False},
    ),
    Tool(
        "install_packages",
        "Install packages",
        "Installs packages of a language into a sandbox that has a network, for everything that runs in it afterwards.",
        InstallArguments,
        InstallResult,
        install,
        {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True},
    ),
    Tool(
        "judge_solution",
        "Judge a solution",
        "Runs a program on tests, each with an input and the output it must give, outside of any sandbox's files, and tells "
        "which passed. The expected outputs are never where the program could see them.",
        JudgeArguments,
        JudgeResult,
        judge,
        {"readOnlyHint": True},
    ),
)
