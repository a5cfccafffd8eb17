"""CanItEdit: a program changed as it was asked for."""

from __future__ import annotations

import pytest
from tests.benchmarks.boxed import found
from tests.benchmarks.judge_runs import options, prompt

from sandbox_runtime.benchmarks.can_it_edit import CAN_IT_EDIT
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROW = {
    "id": 1,
    "content": "def add(a, b):\n    return a - b\n",
    "labels": {
        "instruction_descriptive": "Make add add its arguments.",
        "instruction_lazy": "Fix it.",
        "programming_language": "python",
    },
    "test": {"asset": None, "code": "if True:\n    assert add(1, 2) == 3\n"},
    "canonical_solution": "def add(a, b):\n    return a + b\n",
}


async def test_the_program_and_one_of_its_two_instructions_are_shown() -> None:
    asked = str(prompt(CAN_IT_EDIT, ROW).prompt)
    assert "return a - b" in asked and "Make add add" in asked
    assert "Fix it." in str(prompt(CAN_IT_EDIT, ROW, options(instruction="lazy")).prompt)
    with pytest.raises(InvalidRequest, match="descriptive, lazy"):
        prompt(CAN_IT_EDIT, ROW, options(instruction="other"))


async def test_the_changed_program_is_accepted_and_the_old_one_is_not(judge: Judge) -> None:
    assert (await found(judge, CAN_IT_EDIT, ROW, f"```python\n{ROW['canonical_solution']}```")).accepted
    assert not (await found(judge, CAN_IT_EDIT, ROW, f"```python\n{ROW['content']}```")).accepted
