from __future__ import annotations

import dataclasses

import pytest
from tests.benchmarks.judge_runs import options, verdict

from sandbox_runtime.benchmarks.mbpp import MBPP
from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.trials import flag, limits, move_future_imports
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import Completion, Reason

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROW = {"id": 1, "content": "Say yes.", "test_list": ["assert yes()"]}
SPINS = "```python\ndef yes():\n    while True:\n        pass\n```"


@pytest.mark.requirement("judge-10.29")
async def test_a_benchmarks_time_is_the_processors_and_a_callers_is_the_clocks(judge: Judge) -> None:
    own, asked = limits(None, 20, threads=1), limits(1.5, 20)
    assert own.cpu_s == 20 and own.wall_s > 20 and asked.cpu_s is None and asked.wall_s == 1.5
    found = await verdict(judge, MBPP, ROW, SPINS, dataclasses.replace(options(), run_timeout_s=1.0))
    assert not found.accepted and found.reason is Reason.time_limit


async def test_a_program_that_has_used_its_time_is_told_so(judge: Judge) -> None:
    made = MBPP.trial(ROW, Completion(SPINS), options())
    job = dataclasses.replace(made.job, run_limits=limits(None, 1, threads=1))
    found = await judge.judge(dataclasses.replace(made, job=job))
    assert not found.accepted and found.reason in (Reason.cpu_limit, Reason.time_limit)


async def test_imports_from_the_future_come_first_and_once() -> None:
    code = "import os\nfrom __future__ import annotations\nx = 1\nfrom __future__ import annotations"
    assert move_future_imports(code) == "from __future__ import annotations\nimport os\nx = 1\n"
    assert move_future_imports("x = 1") == "x = 1"


async def test_a_switch_is_a_switch() -> None:
    assert flag(options(on=True), "on") and not flag(options(on=None), "on") and not flag(options(), "on")
    with pytest.raises(InvalidRequest, match="true or false"):
        flag(options(on="yes"), "on")
    assert fence("\nx = 1\n", "python") == "```python\nx = 1\n```"
