from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.benchmarks.judge_runs import accepted, options, prompt, verdict

from sandbox_runtime.benchmarks.mhpp import MHPP
from sandbox_runtime.judge.judge import Judge

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROW: dict[str, Any] = {
    "id": 1,
    "content": 'Write a function after its docstring.\n\ndef larger(a: int, b: int) -> int:\n    """The larger of both."""',
    "test": "assert larger(1, 2) == 2\nassert larger(5, 3) == 5",
    "labels": '{"difficulty_type": "Shortcut"}',
}


@pytest.mark.requirement("judge-10.19")
async def test_the_prompt_has_an_example_and_the_case_the_labels(judge: Judge) -> None:
    told = str(prompt(MHPP, ROW).prompt)
    assert told.startswith("Write a function") and 'e.g. assert larger(1, 2) == 2\n    """' in told and "larger(5, 3)" not in told
    assert str(prompt(MHPP, ROW, options(pretrain_mode=True)).prompt).startswith("def larger")
    found = await verdict(judge, MHPP, ROW, "```python\ndef larger(a, b):\n    return max(a, b)\n```")
    assert found.accepted and found.cases[0].info == {"difficulty_type": "Shortcut"}


async def test_a_function_or_its_body_alone_is_judged(judge: Judge) -> None:
    assert await accepted(judge, MHPP, ROW, "    return a if a > b else b\n")
    assert not await accepted(judge, MHPP, ROW, "    return a\n")


@pytest.mark.requirement("judge-8.15")
async def test_metrics_are_by_kind_of_difficulty() -> None:
    def result(called: int, accepted: bool, kind: str) -> SimpleNamespace:
        return SimpleNamespace(id=called, accepted=accepted, tests=[SimpleNamespace(test_info={"difficulty_type": kind})])

    scope: dict[str, Any] = {"repeats": 2, "k_targets": [1, 2, 5]}
    assert MHPP.metrics is not None
    exec(MHPP.metrics, scope)
    results = [
        result(1, True, "Shortcut"),
        result(1, False, "Shortcut"),
        result(2, False, "Complex"),
        result(2, False, "Complex"),
    ]
    expected = {"Shortcut/Pass@k=1": 0.5, "Shortcut/Pass@k=2": 1.0, "Complex/Pass@k=1": 0.0, "Complex/Pass@k=2": 0.0}
    assert scope["get_metrics"](results) == expected
