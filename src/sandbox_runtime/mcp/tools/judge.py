"""judge_solution."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from sandbox_runtime.mcp.hosts.port import JudgeOutcome, Solution
from sandbox_runtime.mcp.tools.arguments import Code, Timeout
from sandbox_runtime.mcp.tools.tool import AnyTool, Arguments, Result, Tool, ToolContext, ToolResponse

_Text = Annotated[str, Field(max_length=1024**2)]
_TIMEOUT_S = 10


class TestCase(Arguments):
    stdin: _Text = ""
    stdout: Annotated[str, Field(max_length=1024**2, description="The output that the program must print.")]


class JudgeArguments(Arguments):
    code: Code
    language: Annotated[str, Field(min_length=1, max_length=40, description="Such as python, cpp, java, go, rust.")] = "python"
    tests: Annotated[list[TestCase], Field(min_length=1, max_length=200)]
    timeout: Timeout = _TIMEOUT_S


class JudgeResult(Result):
    accepted: bool
    reason: str = Field(description="accepted, or why not: wrong_answer, time_limit, runtime_error, compile_error, …")
    message: str
    passed: int
    total: int
    cases: list[dict[str, Any]]


async def judge(ctx: ToolContext, arguments: JudgeArguments) -> ToolResponse:
    tests = tuple((test.stdin, test.stdout) for test in arguments.tests)
    timeout_s = float(arguments.timeout or _TIMEOUT_S)
    outcome = await ctx.host.judge(Solution(code=arguments.code, language=arguments.language, tests=tests, timeout_s=timeout_s))
    result = _to_result(outcome, len(tests))
    head = "Accepted" if outcome.accepted else f"Not accepted: {outcome.reason}"
    lines = [f"{head} ({result.passed} of {len(tests)} tests passed)", *([outcome.message] if outcome.message else [])]
    return ToolResponse("\n".join(lines), result, {"accepted": outcome.accepted})


def _to_result(outcome: JudgeOutcome, total: int) -> JudgeResult:
    return JudgeResult(
        accepted=outcome.accepted,
        reason=outcome.reason,
        message=outcome.message,
        passed=sum(bool(case.get("passed")) for case in outcome.cases),
        total=total,
        cases=[dict(case) for case in outcome.cases],
    )


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "judge_solution",
        "Judge a solution",
        "Runs a program on tests, each with an input and the expected output, and reports which passed. It runs outside of any "
        "sandbox, and the program cannot see the expected outputs.",
        JudgeArguments,
        JudgeResult,
        judge,
        {"readOnlyHint": True},
    ),
)
