from __future__ import annotations

from typing import Any

import pytest
from tests.benchmarks.judge_runs import accepted, options, prompt, published, references, trial

from sandbox_runtime.benchmarks.evalplus import EVALPLUS
from sandbox_runtime.benchmarks.evalplus.typed import literal_calls, restore_types
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge

pytestmark = pytest.mark.asyncio(loop_scope="session")

BY_INPUTS: dict[str, Any] = {
    "task_id": "Own/0",
    "prompt": 'def halves(numbers: List[float]) -> List[float]:\n    """Half of each."""\n',
    "entry_point": "halves",
    "canonical_solution": "    return [number / 2 for number in numbers]\n",
    "base_input": [[[1.0, 3.0]]],
    "plus_input": [[[]], [[0.1, 0.7]]],
    "atol": 0,
}
BY_TEXT: dict[str, Any] = {
    "id": 2,
    "task_id": 2,
    "prompt": "Write a function to double a number.",
    "code": "def double(n):\n    return 2 * n\n",
    "test_imports": ["import math"],
    "test_list": ["assert double(2) == 4"],
    "test": (
        "inputs, results = [[2], [5]], [4, 10]\nfor given, wanted in zip(inputs, results):\n    assert double(*given) == wanted\n"
    ),
}
ELEMENTS: dict[str, Any] = {
    "task_id": "Mbpp/2",
    "prompt": '"""\nThe elements that both have.\nassert similar_elements((1, 2), (2, 3)) == (2,)\n"""\n',
    "entry_point": "similar_elements",
    "canonical_solution": "\ndef similar_elements(a, b):\n    return tuple(set(a) & set(b))\n",
    "base_input": [[[1, 2], [2, 3]]],
    "plus_input": [[[5, 4, 3], [3, 4, 9]]],
    "atol": 0,
    "assertion": "\nassert similar_elements((1, 2), (2, 3)) == (2,)\n",
}


async def test_solutions_are_compared_with_the_reference_on_every_input(judge: Judge) -> None:
    assert await references(judge, EVALPLUS, BY_INPUTS) == [True]
    assert await accepted(judge, EVALPLUS, BY_INPUTS, "    return [number * 0.5 + 1e-9 for number in numbers]\n")
    assert not await accepted(judge, EVALPLUS, BY_INPUTS, "    return [number // 2 for number in numbers] if numbers else []\n")
    assert not await accepted(judge, EVALPLUS, BY_INPUTS, "    return [0.5, 1.5]\n")
    assert not await accepted(judge, EVALPLUS, BY_INPUTS, "    return tuple(number / 2 for number in numbers)\n")


async def test_arguments_have_the_types_that_the_assertions_show(judge: Judge) -> None:
    assert await references(judge, EVALPLUS, ELEMENTS) == [True]
    typed = "```python\ndef similar_elements(a, b):\n    assert isinstance(a, tuple)\n    return sorted({*a} & {*b})\n```"
    assert await accepted(judge, EVALPLUS, ELEMENTS, typed)
    assert not await accepted(judge, EVALPLUS, ELEMENTS, typed.replace("&", "|"))


async def test_a_function_may_have_the_name_of_any_other(judge: Judge) -> None:
    row = BY_INPUTS | {"prompt": "def compare(numbers):\n", "entry_point": "compare"}
    assert await references(judge, EVALPLUS, row) == [True]


async def test_a_zero_of_a_polynomial_may_be_another_than_the_reference_finds(judge: Judge) -> None:
    row = BY_INPUTS | {
        "prompt": "def find_zero(xs: list):\n",
        "entry_point": "find_zero",
        "canonical_solution": "    return 1.0\n",
        "base_input": [[[-1, 0, 1]]],
        "plus_input": [],
        "atol": 0.0001,
    }
    assert await accepted(judge, EVALPLUS, row, "    return -1.0\n")
    assert not await accepted(judge, EVALPLUS, row, "    return 0.5\n")


async def test_tests_as_a_text_are_run(judge: Judge) -> None:
    assert await references(judge, EVALPLUS, BY_TEXT) == [True]
    assert not await accepted(judge, EVALPLUS, BY_TEXT, "```python\ndef double(n):\n    return n + 2\n```")
    checked = BY_INPUTS | {"base_input": None, "test": "def check(candidate):\n    assert candidate([2.0]) == [1.0]\n"}
    assert await references(judge, EVALPLUS, checked) == [True]
    assert not await accepted(judge, EVALPLUS, checked, "    return numbers\n")


async def test_prompts_are_code_or_a_sentence_with_a_test() -> None:
    assert prompt(EVALPLUS, BY_INPUTS).prompt == BY_INPUTS["prompt"]
    assert "```python" in str(prompt(EVALPLUS, BY_INPUTS, options(is_freeform=True)).prompt)
    told = prompt(EVALPLUS, BY_TEXT)
    assert told.id == 2 and "assert double(2) == 4" in str(told.prompt)


async def test_values_get_the_types_of_examples_back() -> None:
    examples = literal_calls("assert f((1, 2), {3: (4,)}, {5}) == f([1], {}, set())", "f")
    assert examples == [[(1, 2), {3: (4,)}, {5}], [[1], {}, set()]] and literal_calls("no python (", "f") == []
    assert restore_types([7, 8], [(1, 2)]) == (7, 8) and restore_types([7], [(1,), [2]]) == [7]
    assert restore_types([1, [2, [3]]], [(1, (2,))]) == (1, (2, (3,))) and restore_types(["(1-2j)", "x"], [[1j, 2]]) == [
        1 - 2j,
        "x",
    ]
    assert (
        restore_types({"3": [4]}, [{3: (4,)}]) == {3: (4,)}
        and restore_types([5], [{5}]) == {5}
        and restore_types([[1]], [[(1,)]]) == [(1,)]
    )


@pytest.mark.parametrize(
    "broken", [{"base_input": [], "plus_input": []}, {"base_input": [1]}, {"atol": "small"}, {"entry_point": None}]
)
async def test_a_row_that_cannot_be_judged_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        trial(EVALPLUS, BY_INPUTS | broken, "    return []\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["HumanEvalPlus-OriginFmt", "HumanEvalPlus", "MbppPlus-OriginFmt", "MbppPlus"])
async def test_published_references_are_accepted(judge: Judge, name: str) -> None:
    for row in published(f"evalplus/{name}.jsonl.gz")[:3]:
        assert await references(judge, EVALPLUS, row) == [True], row["task_id"]
