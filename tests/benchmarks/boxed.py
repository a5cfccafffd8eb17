"""Verdicts of real boxes, where this host has the toolchain."""

from __future__ import annotations

import pytest
from tests.benchmarks.judge_runs import verdict

from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import Benchmark, Options, Reason, Row, Verdict


async def found(judge: Judge, benchmark: Benchmark, row: Row, text: str, asked: Options | None = None) -> Verdict:
    told = await verdict(judge, benchmark, row, text, asked)
    if told.reason is Reason.not_judged and "does not work on this host" in told.message:
        pytest.skip(told.message)
    return told
