"""One word for what became of a run."""

from __future__ import annotations

from pydantic import BaseModel

from sandbox_runtime.sdk.execution_models import CommandRunResult, CommandRunStatus, RunCodeResponse, RunStatus


class SummaryMapping(BaseModel):
    """The words. Of the last four, those that are None are told as Failed."""

    Success: str = RunStatus.Success.value
    Failed: str = RunStatus.Failed.value
    CompileFailed: str | None = None
    CompileTimeout: str | None = None
    RunFailed: str | None = None
    RunTimeout: str | None = None


def summary_run_code_result(result: RunCodeResponse, mapping: SummaryMapping | None = None) -> str:
    """A SandboxError says nothing about the program and stays what it is."""
    words = mapping or SummaryMapping()
    if result.status is RunStatus.SandboxError:
        return RunStatus.SandboxError.value
    if result.status is RunStatus.Success:
        return words.Success
    return _step(result.compile_result, words.CompileTimeout, words.CompileFailed) or (
        _step(result.run_result, words.RunTimeout, words.RunFailed) or words.Failed
    )


def _step(step: CommandRunResult | None, timeout: str | None, failed: str | None) -> str | None:
    """What a step that went wrong is called; None for one that did not, or has no word of its own."""
    if step is None:
        return None
    if step.status is CommandRunStatus.TimeLimitExceeded:
        return timeout
    return failed if step.return_code != 0 else None
