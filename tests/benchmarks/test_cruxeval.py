from __future__ import annotations

from typing import Any

import pytest
from tests.benchmarks.judge_runs import accepted, options, published, references, trial, verdict

from sandbox_runtime.benchmarks.cruxeval import CRUXEVAL
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import Reason

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROW: dict[str, Any] = {
    "id": "sample_0",
    "code": "def f(numbers, extra):\n    return sorted(numbers) + [extra]",
    "input": "[2, 1], 'a==b'",
    "output": "[1, 2, 'a==b']",
}
INPUT, OUTPUT = options("cruxeval", mode="input"), options("cruxeval", mode="output")


@pytest.mark.requirement("judge-10.20")
async def test_a_row_is_two_questions_and_an_answer_says_which_it_is_to() -> None:
    both = CRUXEVAL.prompts(ROW, options("cruxeval"))
    assert [told.labels["mode"] for told in both] == ["input", "output"]
    assert "assert f(??) == [1, 2, 'a==b']" in str(both[0].prompt) and "assert f([2, 1], 'a==b') == ??" in str(both[1].prompt)
    assert [told.labels["mode"] for told in CRUXEVAL.prompts(ROW, INPUT)] == ["input"]
    with pytest.raises(InvalidRequest, match="mode"):
        trial(CRUXEVAL, ROW, "[1]")
    with pytest.raises(InvalidRequest, match="mode"):
        CRUXEVAL.prompts(ROW, options(mode="both"))


async def test_prompts_ask_for_thoughts_or_for_an_ending_mark() -> None:
    thinking = str(CRUXEVAL.prompts(ROW, options(mode="output", use_cot=True))[0].prompt)
    assert thinking.endswith("[THOUGHT]\n") and "[/THOUGHT]" in thinking
    assert "# done" in str(CRUXEVAL.prompts(ROW, options(mode="output", phind_output=True))[0].prompt)
    wrapped = CRUXEVAL.prompts(ROW, options(mode="output", coding_wrap_prompt="<<{prompt}>>"))[0].prompt
    assert str(wrapped).startswith("<<") and str(wrapped).endswith(">>")


async def test_references_are_accepted_in_both_modes(judge: Judge) -> None:
    assert await references(judge, CRUXEVAL, ROW) == [True, True]


@pytest.mark.parametrize(
    "answer",
    [
        "[1, 2, 'a==b']",
        "[ANSWER]\nassert f([2, 1], 'a==b') == [1, 2, 'a==b']\n[/ANSWER]\n\n[PYTHON]\ndef f",
        "[THOUGHT]\nIt sorts: [ANSWER] is near.\n[/THOUGHT]\n[ANSWER]\n[1, 2] + ['a==' + 'b']\n[/ANSWER]",
        "[1, 2, 'a==b'] # done\nassert f(3) == 4",
        "[ANSWER]\n```python\n[1, 2, 'a==b'] == f([2, 1], 'a==b')\n```\n[/ANSWER]",
    ],
)
async def test_an_output_is_read_however_it_is_written(judge: Judge, answer: str) -> None:
    assert await accepted(judge, CRUXEVAL, ROW, answer, OUTPUT)


@pytest.mark.parametrize(
    "answer", ["f([1, 2], 'a==b')", "assert f([2, 1], 'a==b') == [1, 2, 'a==b']", "f([1, 2], extra='a==' + 'b')"]
)
async def test_any_input_that_gives_the_output_is_right(judge: Judge, answer: str) -> None:
    assert await accepted(judge, CRUXEVAL, ROW, f"[ANSWER]{answer}[/ANSWER]", INPUT)


@pytest.mark.parametrize(
    "answer", ["[1, 2]", "True or 1", "1, 2", "[1, 2, 'a==b'] if 0 else 0", "", "I think it is [1, 2]", "f", "(" * 5000]
)
async def test_a_wrong_output_is_rejected_whatever_it_looks_like(judge: Judge, answer: str) -> None:
    assert not await accepted(judge, CRUXEVAL, ROW, answer, OUTPUT)


@pytest.mark.parametrize("answer", ["[2, 1], 'a==b'", "f([1], 2)", "g()", "True", "1 if f([2, 1], 'a==b') else 0", "lambda: f"])
async def test_a_wrong_input_is_rejected(judge: Judge, answer: str) -> None:
    assert not await accepted(judge, CRUXEVAL, ROW, answer, INPUT)


@pytest.mark.parametrize(
    ("answer", "mode"),
    [
        ("f([2, 1], 'a==b')", OUTPUT),
        ("[f][0]([2, 1], 'a==b')", OUTPUT),
        ("eval('f' + '([2, 1], \"a==b\")')", OUTPUT),
        ("globals()['f']([2, 1], 'a==b')", OUTPUT),
        ("type('Any', (), {'__eq__': lambda self, other: True})()", OUTPUT),
        ("[].__class__.__base__", OUTPUT),
        ("f(type('Any', (list,), {'__eq__': lambda self, other: True})(), 1)", INPUT),
        ("f(__import__('unittest.mock').mock.ANY, 1)", INPUT),
    ],
)
async def test_an_answer_that_has_itself_found_out_is_flagged(judge: Judge, answer: str, mode: Any) -> None:
    found = await verdict(judge, CRUXEVAL, ROW, answer, mode)
    assert not found.accepted and found.reason is Reason.tampered and found.tamper


SHELL: dict[str, Any] = {
    "id": "bash_3",
    "code": "#!/bin/bash\nf() {\n    echo $(($1 + $2))\n",
    "input": '}\n\ncandidate() {\n    f "$@"\n}\n\nset -e\nrun_test() {\n    [[ $(candidate ????) = "7" ]]\n}\n\nrun_test',
    "output": '}\n\ncandidate() {\n    f "$@"\n}\n\nset -e\nrun_test() {\n    [[ $(candidate "3" "4") = ???? ]]\n}\n\nrun_test',
    "gt": '}\n\ncandidate() {\n    f "$@"\n}\n\nset -e\nrun_test() {\n    [[ $(candidate "3" "4") = "7" ]]\n}\n\nrun_test',
}
RACKET: dict[str, Any] = {
    "id": "racket_1",
    "code": "#lang racket\n(define (f a) (list a a))",
    "input": "(require rackunit)\n(let ((candidate f))\n  (check-within (candidate ????) (list 1 1) 0.001))",
    "output": "(require rackunit)\n(let ((candidate f))\n  (check-within (candidate 1) ???? 0.001))",
    "gt": "(require rackunit)\n(let ((candidate f))\n  (check-within (candidate 1) (list 1 1) 0.001))",
}
PYTHON_X: dict[str, Any] = {
    "id": "python_5",
    "code": "def f(a: int) -> int:\n    return a * 2\n",
    "input": "def check(candidate):\n    assert candidate(????) == 6\n\ncheck(f)\n",
    "output": "def check(candidate):\n    assert candidate(3) == ????\n\ncheck(f)\n",
    "gt": "def check(candidate):\n    assert candidate(3) == 6\n\ncheck(f)\n",
}


@pytest.mark.requirement("judge-10.21")
async def test_answers_in_other_languages_stand_in_the_check(judge: Judge) -> None:
    assert await references(judge, CRUXEVAL, SHELL, options("cruxeval_x")) == [True, True]
    assert await accepted(judge, CRUXEVAL, SHELL, '[ANSWER]$(candidate "5" "2")[/ANSWER]', INPUT)
    assert not await accepted(judge, CRUXEVAL, SHELL, '"8"', OUTPUT)
    assert await references(judge, CRUXEVAL, PYTHON_X, options("cruxeval_x")) == [True, True]
    assert not await accepted(judge, CRUXEVAL, PYTHON_X, "7", OUTPUT)
    assert trial(CRUXEVAL, RACKET, "(list 1 1)", OUTPUT).job.language == "racket"


async def test_prompts_in_other_languages_have_an_example_in_theirs() -> None:
    told = str(CRUXEVAL.prompts(SHELL, options("cruxeval_x", mode="output"))[0].prompt)
    assert "[BASH]" in told and "echo $(($1 * $2 + 1))" in told and told.endswith("[ANSWER]\n")


@pytest.mark.parametrize(
    ("row", "answer", "mode"),
    [
        (SHELL, "*", OUTPUT),
        (SHELL, '"8" || true', OUTPUT),
        (SHELL, "$(candidate 3 4)", OUTPUT),
        (SHELL, '"$(f 3 4)"', OUTPUT),
        (SHELL, "1 2); echo 7 #", INPUT),
        (SHELL, '"1" "2" || true', INPUT),
        (RACKET, "(list 9 9) 1e9", OUTPUT),
        (RACKET, "(candidate 1)", OUTPUT),
        (RACKET, "(list 1 1)) (void", OUTPUT),
        (PYTHON_X, "candidate(3)", OUTPUT),
        (PYTHON_X, "7 or True", OUTPUT),
        (PYTHON_X, "f(3)", OUTPUT),
        (PYTHON_X | {"id": "cpp_5"}, "7 || true) || (true", OUTPUT),
        (PYTHON_X | {"id": "ruby_5"}, '"#{f(3)}"', OUTPUT),
    ],
)
async def test_an_answer_cannot_leave_its_place_in_the_check(judge: Judge, row: dict[str, Any], answer: str, mode: Any) -> None:
    made = trial(CRUXEVAL, row, answer, mode)
    assert made.decided is False or not (await judge.judge(made)).accepted


@pytest.mark.parametrize("answer", ["'(1 1)", "#hash((a . 1))", "(list 1 1)", '"f (x"', "#f", "-1.5"])
async def test_one_value_of_racket_is_taken_as_one(answer: str) -> None:
    assert trial(CRUXEVAL, RACKET, answer, OUTPUT).decided is None


async def test_a_row_whose_id_names_no_language_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="language"):
        trial(CRUXEVAL, PYTHON_X | {"id": "python"}, "6", OUTPUT)


@pytest.mark.slow
async def test_published_references_are_accepted(judge: Judge) -> None:
    for row in published("cruxeval/cruxeval.jsonl.gz")[:6]:
        assert await references(judge, CRUXEVAL, row, options("cruxeval")) == [True, True], row["id"]
