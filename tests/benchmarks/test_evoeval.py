from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.benchmarks.judge_runs import accepted, options, prompt, published, references, trial

from sandbox_runtime.benchmarks.evoeval import EVOEVAL
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROW: dict[str, Any] = {
    "id": "EvoEval_subtle_EvoEval/0",
    "content": 'import math\n\ndef area(radius):\n    """The area of a circle."""',
    "labels": '{"entry_point": "area"}',
    "test": "def check(candidate):\n    assert abs(candidate(2) - 12.56637) < 1e-4\n",
    "canonical_solution": "    return math.pi * radius ** 2\n",
}


@pytest.mark.requirement("judge-10.16")
async def test_the_entry_point_is_checked(judge: Judge) -> None:
    assert trial(EVOEVAL, ROW, "    return 0").job.code.endswith("check(area)")
    assert await references(judge, EVOEVAL, ROW) == [True, True]
    assert not await accepted(judge, EVOEVAL, ROW, "    return math.pi * radius\n")


async def test_answers_may_be_free_in_form(judge: Judge) -> None:
    answer = "Sure.\n```python\nfrom math import pi\n\ndef area(radius):\n    return pi * radius * radius\n```\nDone."
    assert await accepted(judge, EVOEVAL, ROW, answer)
    assert await accepted(judge, EVOEVAL, ROW, answer, options(is_freeform=True))
    assert "```python" in str(prompt(EVOEVAL, ROW, options(is_freeform=True)).prompt)


@pytest.mark.requirement("judge-8.15")
async def test_metrics_are_by_category() -> None:
    scope: dict[str, Any] = {"repeats": 1, "k_targets": [1]}
    assert EVOEVAL.metrics is not None
    exec(EVOEVAL.metrics, scope)
    results = [
        SimpleNamespace(id=f"EvoEval_{kind}_EvoEval/{n}", accepted=right)
        for kind, n, right in (("a", 0, True), ("a", 1, False), ("b", 0, True))
    ]
    assert scope["get_metrics"](results) == {"a/Pass@k=1": 0.5, "b/Pass@k=1": 1.0}


async def test_a_row_without_an_entry_point_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="entry_point"):
        trial(EVOEVAL, ROW | {"labels": {}}, "x = 1")


@pytest.mark.slow
async def test_published_references_are_accepted(judge: Judge) -> None:
    for row in published("sandboxfusion-samples/code_eval_EvoEval.jsonl.gz")[:4]:
        assert await references(judge, EVOEVAL, row) == [True, True], row["id"]
