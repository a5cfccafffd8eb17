"""What came of a run, as tests look at it."""

from __future__ import annotations

from sandbox_runtime.model import JobResult, Outcome


def told(result: JobResult) -> str:
    ended = result.run or result.compile
    assert ended is not None
    return f"{ended.ending} {ended.exit_code} {ended.message}\n{ended.stdout.text[-2000:]}\n{ended.stderr.text[-2000:]}"


def ran(result: JobResult) -> Outcome:
    assert result.run is not None, told(result)
    return result.run
