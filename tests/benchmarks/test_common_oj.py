from __future__ import annotations

import json
from typing import Any

import pytest
from tests.benchmarks.judge_runs import options, prompt, references, trial, verdict

from sandbox_runtime.benchmarks.common_oj import COMMON_OJ
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import Reason

pytestmark = pytest.mark.asyncio(loop_scope="session")

PYTHON = options(language="python")
DOUBLE = "```python\nprint(int(input()) * 2)\n```"


def row(*cases: tuple[str, str], **more: Any) -> dict[str, Any]:
    tests = [{"input": {"stdin": given}, "output": {"stdout": wanted}} for given, wanted in cases]
    return {"id": 7, "content": "Print twice the number.", "labels": '{"difficulty": "easy"}', "test": json.dumps(tests), **more}


@pytest.mark.requirement("judge-10.02")
async def test_the_prompt_asks_for_a_program_in_the_language_and_in_the_words_of_the_locale() -> None:
    problem = row(("1", "2"))
    assert "C++" in str(prompt(COMMON_OJ, problem, options(language="cpp")).prompt)
    assert "class Main" in str(prompt(COMMON_OJ, problem, options(language="java")).prompt)
    assert "in rust" in str(prompt(COMMON_OJ, problem, options(language="rust")).prompt)
    assert "标准输入" in str(prompt(COMMON_OJ, problem, options(language="python", locale="zh")).prompt)
    told = prompt(COMMON_OJ, problem)
    assert str(told.prompt).startswith("Print twice the number.\n\n") and told.labels == {"difficulty": "easy"}


@pytest.mark.requirement("judge-10.01")
async def test_a_completion_without_a_language_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="language"):
        trial(COMMON_OJ, row(("1", "2")), DOUBLE)


@pytest.mark.requirement("judge-12.02")
async def test_nothing_that_is_expected_is_in_the_job() -> None:
    made = trial(COMMON_OJ, row(("1", "expected-7f3a")), DOUBLE, PYTHON)
    assert "expected-7f3a" not in repr(made.job)


@pytest.mark.requirement("judge-10.03")
async def test_outputs_are_compared_line_by_line(judge: Judge) -> None:
    printed = "```python\nprint('Yes ')\nprint(0.3333333)\nprint()\n```"
    assert (
        await verdict(
            judge,
            COMMON_OJ,
            row(
                ("", " YES\n0.333333"),
            ),
            printed,
            PYTHON,
        )
    ).accepted
    assert not (await verdict(judge, COMMON_OJ, row(("", "YES\n0.334")), printed, PYTHON)).accepted
    assert not (await verdict(judge, COMMON_OJ, row(("", "YES 0.333333")), printed, PYTHON)).accepted


@pytest.mark.requirement("judge-10.04")
async def test_cases_are_told_up_to_the_first_that_fails_or_all_of_them(judge: Judge) -> None:
    problem = row(("1", "2"), ("2", "5"), ("3", "6"), ("x", "0"))
    told = await verdict(judge, COMMON_OJ, problem, DOUBLE, PYTHON)
    assert not told.accepted and told.reason is Reason.wrong_answer and [case.passed for case in told.cases] == [True, False]
    everything = await verdict(judge, COMMON_OJ, problem, DOUBLE, options(language="python", run_all_cases=True))
    assert [case.passed for case in everything.cases] == [True, False, True, False]
    assert everything.cases[3].reason is Reason.runtime_error


@pytest.mark.requirement("judge-10.05")
async def test_long_texts_of_a_case_are_shortened_when_it_passed(judge: Judge) -> None:
    problem = row(("1" * 1500, "2" * 1500), ("1" * 1500, "3"))
    told = await verdict(judge, COMMON_OJ, problem, DOUBLE, PYTHON)
    assert told.cases[0].info is not None and told.cases[1].info is not None
    assert len(told.cases[0].info["input"]["stdin"]) == 1003 and "..." in told.cases[0].info["input"]["stdin"]
    assert told.cases[1].info["input"]["stdin"] == "1" * 1500
    full = await verdict(judge, COMMON_OJ, problem, DOUBLE, options(language="python", return_full_case=True))
    assert full.cases[0].info is not None and full.cases[0].info["input"]["stdin"] == "1" * 1500


async def test_the_caller_or_the_row_names_another_checker(judge: Judge) -> None:
    spread = "```python\nprint('1.000001')\nprint(2)\n```"
    one_line = row(("", "1 2"))
    assert not (await verdict(judge, COMMON_OJ, one_line, spread, PYTHON)).accepted
    assert (await verdict(judge, COMMON_OJ, one_line, spread, options(language="python", checker="tokens"))).accepted
    assert (await verdict(judge, COMMON_OJ, {**one_line, "checker": "tokens"}, spread, PYTHON)).accepted
    narrow = options(language="python", checker={"name": "floats", "absolute": 1e-9, "relative": 0})
    assert not (await verdict(judge, COMMON_OJ, one_line, spread, narrow)).accepted


async def test_a_checker_that_is_a_program_decides_which_of_many_answers_is_right(judge: Judge) -> None:
    code = """
import sys
given, printed = (open(name).read().split() for name in sys.argv[1:3])
sys.exit(0 if len(printed) == 2 and int(printed[0]) + int(printed[1]) == int(given[0]) else 1)
"""
    asked = options(language="python", checker={"language": "python", "code": code})
    problem = row(("10", "5 5"))
    assert (await verdict(judge, COMMON_OJ, problem, "```python\nprint(3, 7)\n```", asked)).accepted
    assert (await verdict(judge, COMMON_OJ, problem, "```python\nprint(3, 8)\n```", asked)).reason is Reason.wrong_answer


async def test_an_interactor_talks_with_the_solution(judge: Judge) -> None:
    interactor = """
import sys
secret, asked = 37, 0
while asked < 10:
    asked += 1
    guess = int(input())
    print("=" if guess == secret else "<" if secret < guess else ">", flush=True)
    if guess == secret:
        sys.exit(0)
sys.exit(1)
"""
    solution = """
low, high = 1, 100
while True:
    guess = (low + high) // 2
    print(guess, flush=True)
    said = input()
    if said == "=":
        break
    low, high = (low, guess - 1) if said == "<" else (guess + 1, high)
"""
    asked = options(language="python", interactor={"language": "python", "code": interactor})
    assert (await verdict(judge, COMMON_OJ, row(("", "")), f"```python\n{solution}```", asked)).accepted
    stubborn = "```python\nfor _ in range(20):\n    print(1, flush=True)\n    input()\n```"
    assert not (await verdict(judge, COMMON_OJ, row(("", "")), stubborn, asked)).accepted


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ({"test": "[]"}, "at least one"),
        ({"test": "no json"}, "JSON"),
        ({"test": [{"input": {"stdin": 3}, "output": {"stdout": ""}}]}, "input.stdin"),
        ({"labels": "[1]"}, "object"),
        ({"checker": {"language": "python"}}, "checker"),
        ({"interactor": {"language": "python"}}, "interactor"),
    ],
)
async def test_a_row_that_cannot_be_judged_is_refused_in_words(broken: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidRequest, match=told):
        trial(COMMON_OJ, row(("1", "2")) | broken, DOUBLE, PYTHON)


async def test_the_reference_of_a_row_is_judged_in_its_language(judge: Judge) -> None:
    problem = row(("4", "8"), canonical_solution="print(int(input()) * 2)", language="python")
    assert await references(judge, COMMON_OJ, problem) == [True]
    assert COMMON_OJ.reference is not None and COMMON_OJ.reference(row(("4", "8")), options()) == ()
