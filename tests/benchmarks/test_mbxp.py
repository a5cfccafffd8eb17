"""MBXP and its kin: a function goes where the test has its mark, in any language; leaving early is no way through."""

from __future__ import annotations

from typing import Any

import pytest
from tests.benchmarks.boxed import found
from tests.benchmarks.judge_runs import options, prompt, trial

from sandbox_runtime.benchmarks.mbxp import MBXP
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import GuardKind, Reason

pytestmark = pytest.mark.asyncio(loop_scope="session")


def row(language: str, test: str, runs: str = "", **labels: Any) -> dict[str, Any]:
    told = {"programming_language": language, "execution_language": runs or language, "task_id": "T/1", **labels}
    return {"id": 1, "content": "Double it.", "labels": told, "test": {"code": test, "asset": None}, "canonical_solution": ""}


PYTHON = row(
    "python",
    "#<INSERT>\n\ndef x_check(candidate):\n    assert candidate(2) == 4\n\nx_check(double)",
    category="mbxp",
    fewshot="Q and A",
)
CPP = row("cpp", "#include <cassert>\n#include <cstdlib>\n#<INSERT>\n\nint main() {\n    assert(doubled(2) == 4);\n}")
PHP = row("php", "#<INSERT>\n\nif (double_it(2) !== 4) { throw new Exception('no'); }\n")
RACKET = row("racket", "#<INSERT>\n(require rackunit)\n(check-equal? (double 2) 4)\n")
GO = row("go", '#<INSERT>\n\nfunc main() {\n\tif Double(2) != 4 {\n\t\tpanic(fmt.Sprint("no"))\n\t}\n}\n')
CSHARP = row(
    "csharp",
    'using System;\nclass Program {\n#<INSERT>\n    static void Main() { if (Twice(2) != 4) throw new Exception("no"); }\n}\n',
)


def fenced(language: str, code: str) -> str:
    return f"Here it is.\n```{language}\n{code}\n```\n"


RIGHT = {
    "python": (PYTHON, "def double(n):\n    return 2 * n\n\nif __name__ == '__main__':\n    print(double(1))"),
    "cpp": (CPP, "int doubled(int n) { return 2 * n; }\nint main() { return 1; }"),
    "php": (PHP, "<?php\nfunction double_it($n) { return 2 * $n; }"),
    "racket": (RACKET, "#lang racket\n(define (double n) (* 2 n))"),
    "go": (
        GO,
        'package main\n\nimport "fmt"\n\nfunc Double(n int) int { return 2 * n }\n\nfunc main() { fmt.Println(Double(1)) }',
    ),
    "csharp": (
        CSHARP,
        "using System;\nclass Program {\n    public static int Twice(int n) { return 2 * n; }\n    static void Main() {}\n}",
    ),
}
WRONG = {
    "python": "def double(n):\n    return n",
    "cpp": "int doubled(int n) { return n; }",
    "php": "<?php\nfunction double_it($n) { return $n; }",
    "racket": "#lang racket\n(define (double n) n)",
    "go": "package main\n\nfunc Double(n int) int { return n }",
    "csharp": "class P {\n    public static int Twice(int n) { return n; }\n}",
}
EARLY = {
    "python": "import os\ndef double(n):\n    os._exit(0)",
    "cpp": "int doubled(int n) { std::_Exit( 00 ); }",
    "php": "<?php\nfunction double_it($n) { exit(); }",
    "racket": "#lang racket\n(define (double n) (exit))",
}


@pytest.mark.parametrize("language", RIGHT)
async def test_a_right_function_is_accepted_without_the_main_that_came_with_it(judge: Judge, language: str) -> None:
    told = await found(judge, MBXP, RIGHT[language][0], fenced(language, RIGHT[language][1]), options("mbxp_v1_en"))
    assert told.accepted, (told.message, told.full_code)


@pytest.mark.parametrize("language", WRONG)
async def test_a_wrong_function_is_rejected(judge: Judge, language: str) -> None:
    told = await found(judge, MBXP, RIGHT[language][0], fenced(language, WRONG[language]), options("mbxp_v1_en"))
    assert not told.accepted and told.reason in (Reason.wrong_answer, Reason.runtime_error), told


@pytest.mark.parametrize("language", EARLY)
async def test_leaving_before_the_tests_scores_nothing_and_is_told(judge: Judge, language: str) -> None:
    told = await found(judge, MBXP, RIGHT[language][0], fenced(language, EARLY[language]), options("mbxp_v1_en"))
    assert (told.accepted, told.reason) == (False, Reason.tampered)


@pytest.mark.parametrize(
    ("language", "code"), [("python", "def double(n): exit( 0 )"), ("cpp", "int doubled(int n) { exit(0); }")]
)
async def test_the_text_rule_against_exit_0_holds_without_a_run(language: str, code: str) -> None:
    decided = trial(MBXP, RIGHT[language][0], fenced(language, code))
    assert decided.decided is False and decided.tamper


@pytest.mark.requirement("judge-10.18")
async def test_only_a_block_in_the_language_counts_where_blocks_name_one() -> None:
    assert trial(MBXP, PYTHON, fenced("ruby", "def double(n) = 2 * n")).extracted_type == "empty"
    two = fenced("bash", "pip install x") + fenced("python", "def double(n): return 2 * n")
    assert trial(MBXP, PYTHON, two).extracted_code == "def double(n): return 2 * n"
    assert trial(MBXP, PYTHON, "```\ndef double(n): return 2 * n\n```").extracted_code == "def double(n): return 2 * n"


@pytest.mark.requirement("judge-10.18")
async def test_all_blocks_are_joined_on_request() -> None:
    two = fenced("python", "import math") + fenced("python", "def double(n): return 2 * n")
    assert trial(MBXP, PYTHON, two).extracted_code == "import math"
    asked = options("mbxp_v1_en", autoeval_extract_code_mode="all")
    assert trial(MBXP, PYTHON, two, asked).extracted_code == "import math\n\ndef double(n): return 2 * n"
    with pytest.raises(InvalidRequest, match="first, all"):
        trial(MBXP, PYTHON, two, options(autoeval_extract_code_mode="some"))


async def test_java_keeps_the_method_alone_in_the_datasets_that_bring_the_class() -> None:
    answer = fenced("java", "class Problem {\n    public static int twice(int n) {\n        return 2 * n;\n    }\n}")
    java = row("java", "class Main {\n#<INSERT>\n}")
    assert trial(MBXP, java, answer, options("humanevalds_v2_en")).extracted_code.strip().startswith("public static int twice")
    assert trial(MBXP, java, answer, options("mbxp_v1_en")).extracted_code.startswith("class Problem")


async def test_the_tests_are_watched_and_the_answer_shows_them() -> None:
    asked = trial(MBXP, PYTHON, fenced("python", "def double(n): return 2 * n"))
    assert asked.guard.kind is GuardKind.python and "x_check(double)" in (asked.test_code or "")


async def test_prompts_have_examples_and_wrapping_on_request() -> None:
    assert prompt(MBXP, PYTHON, options("mbxp_v1_en")).prompt == "Double it."
    assert prompt(MBXP, PYTHON, options("mbxp_v1_en", fewshot=True)).prompt == "Q and A\n\nQuestion:Double it.\n\nAnswer:"
    assert prompt(MBXP, PYTHON, options("oodtest_v1_zh", fewshot=True)).prompt == "Q and A\n\n问题：Double it.\n\n答案："
    own = options("mbxp_v1_en", autoeval_custom_fewshot={"mbxp": "Mine", "default": "Other"}, autoeval_wrap_prompt="<{}>")
    assert prompt(MBXP, PYTHON, own).prompt == "Mine\n\nQuestion:<Double it.>\n\nAnswer:"


async def test_rows_that_are_no_rows_are_told() -> None:
    with pytest.raises(InvalidRequest, match="programming_language"):
        trial(MBXP, {"id": 1, "content": "", "labels": {}, "test": {"code": ""}}, "")
    with pytest.raises(InvalidRequest, match="base64"):
        trial(MBXP, {**PYTHON, "test": {"code": "", "asset": {"a.txt": "?"}}}, "")
    with pytest.raises(InvalidRequest, match="JSON"):
        trial(MBXP, {**PYTHON, "test": "{"}, "")
