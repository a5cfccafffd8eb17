"""HumanEval-X: six languages, each with the rule by which its own tests tell of a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.benchmarks.boxed import found
from tests.benchmarks.judge_runs import options, prompt, trial

from sandbox_runtime.benchmarks.humaneval_x import HUMANEVAL_X, row_language
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import GuardKind, Reason

pytestmark = pytest.mark.asyncio(loop_scope="session")

PYTHON = {
    "task_id": "Python/0",
    "prompt": 'def half(n: int) -> int:\n    return n // 2\n\n\ndef quarter(n: int) -> int:\n    """ A quarter of n. """\n',
    "declaration": "def quarter(n: int) -> int:\n",
    "canonical_solution": "    return half(half(n))\n",
    "test": "def check(quarter):\n    assert quarter(9) == 2\n\ncheck(quarter)\n",
}
CPP = {
    "task_id": "CPP/0",
    "prompt": "/*\nA quarter.\n*/\n#include<vector>\nint half(int n){\n    return n/2;\n}\nint quarter(int n){\n",
    "declaration": "#include<vector>\nint quarter(int n){\n",
    "canonical_solution": "    return half(half(n));\n}\n",
    "test": "#undef NDEBUG\n#include<assert.h>\nint main(){\n    assert (quarter(9) == 2);\n}\n",
}
JAVA = {
    "task_id": "Java/0",
    "prompt": "import java.util.*;\n\nclass Solution {\n    /** A quarter of n. */\n    public int quarter(int n) {\n",
    "declaration": "class Solution {\n    public int quarter(int n) {\n",
    "canonical_solution": "        return n / 4;\n    }\n}",
    "test": "public class Main {\n    public static void main(String[] args) {\n"
    "        if (new Solution().quarter(9) != 2) throw new AssertionError();\n    }\n}\n",
}
JS = {
    "task_id": "JavaScript/0",
    "prompt": "/* A quarter of n. */\nconst quarter = (n) => {\n",
    "declaration": "\nconst quarter = (n) => {\n",
    "canonical_solution": "  return Math.floor(n / 4);\n}\n",
    "test": "const testQuarter = () => {\n  console.assert(quarter(9) === 2)\n}\n\ntestQuarter()\n",
}
GO = {
    "task_id": "Go/0",
    "prompt": 'import (\n    "math"\n)\n\n// A quarter of n.\nfunc Quarter(n float64) float64 {\n',
    "import": 'import (\n    "math"\n)\n',
    "declaration": "\nfunc Quarter(n float64) float64 {\n",
    "canonical_solution": "    return math.Floor(n / 4)\n}\n",
    "test_setup": 'package main\n\nimport (\n    "testing"\n    "github.com/stretchr/testify/assert"\n)\n',
    "test": "func TestQuarter(t *testing.T) {\n    assert := assert.New(t)\n    assert.Equal(2.0, Quarter(9))\n}\n",
}
RUST = {
    "task_id": "Rust/0",
    "prompt": "\n/*\n A quarter of n.\n*/\n",
    "declaration": "\nuse rand::Rng;\nuse regex::Regex;\nuse md5;\n\nfn quarter(n: i32) -> i32 {\n",
    "canonical_solution": "\n    n / 4\n}\n",
    "test": "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n"
    "    fn test_quarter() {\n        assert_eq!(quarter(9), 2);\n    }\n}\n",
}
ROWS = {"python": PYTHON, "cpp": CPP, "java": JAVA, "javascript": JS, "go": GO, "rust": RUST}
WRONG = {
    "python": "    return half(n)\n",
    "cpp": "    return half(n);\n}\n",
    "java": "        return n / 2;\n    }\n}",
    "javascript": "  return n;\n}\n",
    "go": "    return math.Floor(n / 2)\n}\n",
    "rust": "\n    n / 2\n}\n",
}


@pytest.mark.parametrize("language", ROWS)
async def test_the_reference_is_accepted_as_a_body_and_as_a_block(judge: Judge, language: str) -> None:
    row = ROWS[language]
    assert HUMANEVAL_X.reference is not None
    told = HUMANEVAL_X.reference(row, options("humaneval_x"))
    assert len(told) == 2
    for text, under in told:
        judged = await found(judge, HUMANEVAL_X, row, text, under)
        assert judged.accepted, (judged.message, judged.cases and judged.cases[0])


@pytest.mark.parametrize("language", ROWS)
async def test_a_wrong_body_is_rejected(judge: Judge, language: str) -> None:
    judged = await found(judge, HUMANEVAL_X, ROWS[language], WRONG[language])
    assert not judged.accepted and judged.reason is not Reason.compile_error


async def test_a_javascript_answer_that_prints_is_rejected_though_it_is_right(judge: Judge) -> None:
    judged = await found(judge, HUMANEVAL_X, JS, "  console.log(n);\n  return Math.floor(n / 4);\n}\n")
    assert judged.reason is Reason.wrong_answer


@pytest.mark.parametrize("language", ["cpp", "rust", "go"])
async def test_an_answer_that_leaves_early_scores_nothing(judge: Judge, language: str) -> None:
    early = {
        "cpp": "    exit(0);\n}\n",
        "rust": "\n    std::process::exit(0)\n}\n",
        "go": "    os.Exit(0)\n    return 0\n}\n",
    }
    assert not (await found(judge, HUMANEVAL_X, ROWS[language], early[language])).accepted


async def test_a_function_that_the_prompt_gives_is_not_defined_twice() -> None:
    again = "```cpp\nint half(int n){\n    return n/2;\n}\nint quarter(int n){\n    return half(half(n));\n}\n```"
    code = trial(HUMANEVAL_X, CPP, again).job.code
    assert code.count("int half(int n){") == 1 and "#include<vector>" in code
    alone = trial(HUMANEVAL_X, CPP, "```cpp\nint quarter(int n){\n    return half(half(n));\n}\n```").job.code
    assert alone.count("int half(int n){") == 1


async def test_a_rust_answer_may_import_again_what_the_prompt_imports(judge: Judge) -> None:
    answer = "```rust\nuse md5;\nuse regex::Regex;\nfn quarter(n: i32) -> i32 { n / 4 }\n```"
    assert (await found(judge, HUMANEVAL_X, RUST, answer)).accepted


async def test_a_block_with_the_body_alone_goes_on_where_the_prompt_ends() -> None:
    code = trial(HUMANEVAL_X, PYTHON, "```python\n    return n // 4\n```").guard.solution
    assert code.rstrip().endswith('""" A quarter of n. """\n    return n // 4')


async def test_python_tests_are_kept_apart_from_the_solution() -> None:
    found_trial = trial(HUMANEVAL_X, PYTHON, "    return n // 4\n")
    assert found_trial.guard.kind is GuardKind.python
    assert "assert quarter" not in found_trial.guard.solution and "assert quarter" in found_trial.guard.tests


@pytest.mark.parametrize(
    ("row", "dataset", "language"),
    [
        ({"task_id": "CPP/3"}, "", "cpp"),
        ({"task_id": "JavaScript/3"}, "", "javascript"),
        ({"task_id": "3"}, "humaneval_x_js", "javascript"),
        ({"id": 3}, "humaneval_x_rust", "rust"),
    ],
)
async def test_the_language_is_that_of_the_task_else_of_the_dataset(row: Mapping[str, Any], dataset: str, language: str) -> None:
    assert row_language(row, options(dataset)) == language


async def test_a_row_in_no_language_is_told() -> None:
    with pytest.raises(InvalidRequest, match="says no language"):
        row_language({"task_id": "Klingon/1"}, options("x"))


async def test_the_prompt_is_as_published_or_asks_for_a_block() -> None:
    assert prompt(HUMANEVAL_X, CPP).prompt == CPP["prompt"]
    assert "```cpp\n" in str(prompt(HUMANEVAL_X, CPP, options(is_freeform=True)).prompt)
    assert "test" not in prompt(HUMANEVAL_X, CPP).labels
