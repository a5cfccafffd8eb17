from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from tests.benchmarks.judge_runs import accepted, prompt, published, references, trial, verdict

from sandbox_runtime.benchmarks.pal_math import PAL_MATH
from sandbox_runtime.benchmarks.pal_math.inside.equality import is_same_answer
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge

pytestmark = pytest.mark.asyncio(loop_scope="session")


def row(right: object, **more: Any) -> dict[str, Any]:
    answer = base64.b64encode(json.dumps({"gt": right}).encode()).decode()
    return {"id": "own/0", "content": "How many?", "labels": "{}", "test": json.dumps({"asset": {"answer.json": answer}}), **more}


def returning(value: str) -> str:
    return f"So:\n```python\nimport math\n```\n```python\ndef solution():\n    return {value}\n```"


@pytest.mark.requirement("judge-10.23")
@pytest.mark.parametrize(
    ("value", "right"),
    [("9", "9"), ("'9'", "9"), ("9.00001", 9), ("1 / 3", "0.33333"), ("0.07", "7\\%"), ("[1, 2]", "(1, 2)"), ("'Red'", "red")],
)
async def test_a_value_is_compared_with_the_answer(judge: Judge, value: str, right: object) -> None:
    assert await accepted(judge, PAL_MATH, row(right), returning(value))


@pytest.mark.parametrize(
    ("value", "right"), [("8", "9"), ("None", "9"), ("[2, 1]", "(1, 2)"), ("9867628", 9867630.0), ("float('nan')", "9")]
)
async def test_another_value_is_rejected(judge: Judge, value: str, right: object) -> None:
    assert not await accepted(judge, PAL_MATH, row(right), returning(value))


async def test_expressions_are_compared_as_mathematics(judge: Judge) -> None:
    """In a box, where sympy is; the rest of the comparison is tried below."""
    code = "```python\nfrom sympy import sqrt\ndef solution():\n    return 1 / sqrt(2)\n```"
    assert await accepted(judge, PAL_MATH, row("\\frac{\\sqrt{2}}{2}"), code)
    assert not await accepted(judge, PAL_MATH, row("\\frac{\\sqrt{3}}{2}"), code)


@pytest.mark.parametrize(
    "attack",
    [
        "import os; os._exit(0)",
        "raise SystemExit(0)",
        "return \"__import__('os')._exit(0)\"",
        "return '9 if __import__(\"os\")._exit(0) else 9'",
        "return '\\\\frac{__import__(\"os\")}{1}'",
        "return 'x' * 10 ** 6",
        "print(9)",
    ],
)
async def test_what_a_solution_prints_or_ends_is_no_answer(judge: Judge, attack: str) -> None:
    assert not await accepted(judge, PAL_MATH, row("9"), f"```python\ndef solution():\n    {attack}\n```")


async def test_the_right_answer_is_not_in_the_box_of_the_solution() -> None:
    made = trial(PAL_MATH, row("secret-41"), returning("1"))
    assert "secret-41" not in repr(made.job) and made.cases[0].expected == "secret-41"
    assert prompt(PAL_MATH, row(1)).prompt == "How many?"


async def test_what_a_solution_prints_beside_its_value_does_not_matter(judge: Judge) -> None:
    found = await verdict(judge, PAL_MATH, row(9), "```python\nprint('hello')\ndef solution():\n    print(3)\n    return 9\n```")
    assert found.accepted


async def test_references_are_accepted(judge: Judge) -> None:
    held = json.dumps({"answer": "9", "code": 'def solution():\n    return "9"', "cot": "7+2=9"})
    assert await references(judge, PAL_MATH, row("9", canonical_solution=held)) == [True]
    hard = {"id": "hard/0", "input": "?", "code": "\ndef solution():\n    return 2 * 4.5\n", "target": 9.0}
    assert await references(judge, PAL_MATH, hard) == [True]


@pytest.mark.parametrize(
    "test", ["{}", {"asset": {"answer.json": "%%"}}, {"asset": {"answer.json": base64.b64encode(b"[]").decode()}}]
)
async def test_a_row_without_an_answer_is_refused(test: object) -> None:
    with pytest.raises(InvalidRequest, match=r"answer\.json"):
        trial(PAL_MATH, row(1) | {"test": test}, returning("1"))


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("40000", "40,000"),
        ("162", "162\\text{ minutes}"),
        ("45", "45^\\circ"),
        ("6.75", "6 \\frac{3}{4}"),
        ("-0.5", "-\\frac{1}{2}"),
        ("1/2", "\\frac12"),
        ("[-3, -2, 9]", "\\begin{pmatrix} -3 \\\\ -2 \\\\ 9 \\end{pmatrix}"),
        ("[-3/2, -1, 7]", "-\\frac{3}{2}, -1, 7"),
        ("x", "y = x"),
        (".5", "0.5"),
        ("98765.434", "98765.43"),
        ("98765.4", "98765"),
        ("05/01/2021", "05/01/2021"),
        ("a", "(a)"),
    ],
)
async def test_answers_that_only_look_different_are_the_same(answer: str, right: str) -> None:
    assert is_same_answer(answer, right)


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("98766.43", "98765.43"),
        ("1000000", "1000001"),
        ("12", "1,2"),
        ("", "3"),
        ("3", ""),
        ("1, 2, 3", "1, 2"),
        ("b", "(a)"),
        ("0.5", "0.51"),
    ],
)
async def test_answers_that_are_others_are_not_the_same(answer: str, right: str) -> None:
    assert not is_same_answer(answer, right)


@pytest.mark.slow
async def test_published_references_are_accepted(judge: Judge) -> None:
    for number, hard in enumerate(published("pal-math/gsmhardv2.jsonl.gz")[:6]):
        assert await references(judge, PAL_MATH, {"id": number, **hard}) == [True], number
