"""Summarize the result of a run in one word."""

from __future__ import annotations

from pydantic import BaseModel

from sandbox_runtime.sdk.execution_models import CommandRunResult, CommandRunStatus, RunCodeResponse, RunStatus


class SummaryMapping(BaseModel):
    """The words to return. The last four default to the word of Failed."""

    Success: str = RunStatus.Success.value
    Failed: str = RunStatus.Failed.value
    CompileFailed: str | None = None
    CompileTimeout: str | None = None
    RunFailed: str | None = None
    RunTimeout: str | None = None


def summary_run_code_result(result: RunCodeResponse, mapping: SummaryMapping | None = None) -> str:
    """Return the word for the result. A SandboxError says nothing about the program and is returned as such."""
    words = mapping or SummaryMapping()
    if result.status is RunStatus.SandboxError:
        return RunStatus.SandboxError.value
    if result.status is RunStatus.Success:
        return words.Success
    return _step(result.compile_result, words.CompileTimeout, words.CompileFailed) or (
        _step(result.run_result, words.RunTimeout, words.RunFailed) or words.Failed
    )


def _step(step: CommandRunResult | None, timeout: str | None, failed: str | None) -> str | None:
    """Return the word of a failed step, or None if it succeeded or has no word."""
    if step is None:
        return None
    if step.status is CommandRunStatus.TimeLimitExceeded:
        return timeout
    return failed if step.return_code != 0 else None
