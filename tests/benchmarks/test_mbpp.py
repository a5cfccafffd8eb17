from __future__ import annotations

from typing import Any

import pytest
from tests.benchmarks.judge_runs import accepted, options, prompt, published, references, trial

from sandbox_runtime.benchmarks.mbpp import MBPP
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROW: dict[str, Any] = {
    "id": 11,
    "content": "Write a function that sorts a list.",
    "labels": '{"test_setup_code": "", "challenge_test_list": []}',
    "test_list": ["assert sort([2, 1]) == [1, 2]", "assert sort([]) == []", "assert sort([3, 3]) == [3, 3]"],
    "canonical_solution": "def sort(values):\r\n    return sorted(values)",
}
FEWSHOT = options(fewshot=True)


async def test_the_prompt_shows_the_tests() -> None:
    told = prompt(MBPP, ROW)
    text = (
        "You are an expert Python programmer, and here is your task: Write a function that sorts a list. "
        "Your code should pass these tests:"
    )
    assert str(told.prompt).startswith(text) and all(test in str(told.prompt) for test in ROW["test_list"])
    assert told.labels["challenge_test_list"] == []


@pytest.mark.requirement("judge-10.17")
async def test_with_examples_two_tests_are_shown_and_the_last_is_run(judge: Judge) -> None:
    told = str(prompt(MBPP, ROW, FEWSHOT).prompt)
    assert told.count("[DONE]") == 3 and told.endswith("[BEGIN]\n")
    assert ROW["test_list"][1] in told and ROW["test_list"][2] not in told
    only_the_last = "def sort(values):\n    return [3, 3]\n[DONE]\n\nYou are an expert"
    assert await accepted(judge, MBPP, ROW, only_the_last, FEWSHOT)
    assert not await accepted(judge, MBPP, ROW, only_the_last)


async def test_references_are_accepted_and_wrong_ones_are_not(judge: Judge) -> None:
    assert await references(judge, MBPP, ROW) == [True]
    assert not await accepted(judge, MBPP, ROW, "```python\ndef sort(values):\n    return values\n```")
    assert not await accepted(judge, MBPP, ROW, "")


async def test_assertions_and_remarks_of_the_model_are_cut_off(judge: Judge) -> None:
    fenced = "```python\ndef sort(values):\n    return sorted(values)\n\nassert sort([1]) == [2]\n```"
    assert await accepted(judge, MBPP, ROW, fenced)
    bare = 'def sort(values):\n    return sorted(values)\n"""\nThis sorts.'
    assert await accepted(judge, MBPP, ROW, bare)


@pytest.mark.requirement("judge-13.02")
async def test_setup_that_needs_the_solution_runs_behind_it(judge: Judge) -> None:
    row = ROW | {
        "labels": {"test_setup_code": "root = Node(1)\nroot.left = Node(2)"},
        "test_list": ["assert size(root) == 2"],
    }
    code = (
        "class Node:\n    def __init__(self, data):\n        self.data, self.left, self.right = data, None, None\n\n"
        "def size(node):\n    return 0 if node is None else 1 + size(node.left) + size(node.right)"
    )
    assert await accepted(judge, MBPP, row, f"```python\n{code}\n```")


async def test_imports_of_the_tests_stand_before_the_solution(judge: Judge) -> None:
    row = ROW | {"labels": {"test_imports": ["import math"]}, "test_list": ["assert math.isclose(half_pi(), math.pi / 2)"]}
    assert await accepted(judge, MBPP, row, "```python\ndef half_pi():\n    return math.pi / 2\n```")


async def test_a_row_without_tests_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="test_list"):
        trial(MBPP, ROW | {"test_list": []}, "x = 1")


@pytest.mark.slow
async def test_published_references_are_accepted(judge: Judge) -> None:
    rows = published("mbpp/mbpp.jsonl.gz")
    for row in [*rows[:5], *(row for row in rows if row["task_id"] in (367, 927))]:
        assert await references(judge, MBPP, row) == [True], row["task_id"]
