from __future__ import annotations

import json
from typing import Any

import pytest
from tests.benchmarks.judge_runs import accepted, options, prompt, published, references, trial, verdict

from sandbox_runtime.benchmarks.humaneval import HUMANEVAL
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import GuardKind

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROW: dict[str, Any] = {
    "task_id": "Own/0",
    "prompt": 'def mean(numbers: List[float]) -> float:\n    """The mean of the numbers."""\n',
    "entry_point": "mean",
    "canonical_solution": "    return sum(numbers) / len(numbers)\n",
    "test": "def check(candidate):\n    assert candidate([1, 2, 3]) == 2\n    assert candidate([5]) == 5\n",
}
FREE = options(is_freeform=True)
CPP: dict[str, Any] = {
    "name": "Own_1_twice",
    "language": "cpp",
    "prompt": "#include<assert.h>\n#include<bits/stdc++.h>\n// Twice the number.\nlong twice(long n) {\n",
    "tests": "}\nint main() {\n    auto candidate = twice;\n    assert(candidate((2)) == (4));\n}\n",
    "stop_tokens": ["\n}"],
}
SHELL: dict[str, Any] = {
    "name": "Own_2_twice",
    "language": "sh",
    "prompt": "#!/bin/bash\n# Twice the number.\ntwice() {\n",
    "tests": '}\n\ncandidate() {\n    twice "$@"\n}\n\nset -e\nrun_test() {\n    [[ $(candidate "2") = "4" ]]\n}\n\nrun_test\n',
    "stop_tokens": ["\n}"],
}


@pytest.mark.requirement("judge-10.12")
async def test_a_model_that_goes_on_with_the_text_is_cut_where_its_function_ends(judge: Judge) -> None:
    assert await references(judge, HUMANEVAL, ROW) == [True]
    went_on = ROW["canonical_solution"] + "\nprint(undefined)\n"
    assert await accepted(judge, HUMANEVAL, ROW, went_on)
    assert not await accepted(judge, HUMANEVAL, ROW, "    return sum(numbers)\n")


@pytest.mark.requirement("judge-10.13")
async def test_a_whole_function_is_taken_from_an_answer(judge: Judge) -> None:
    answer = "Here it is:\n```python\ndef mean(numbers):\n    return np.mean(numbers)\n```\nUse it so:\n```python\nmean([])\n```"
    assert await accepted(judge, HUMANEVAL, ROW, answer, FREE)
    assert await references(judge, HUMANEVAL, ROW, FREE) == [True]
    assert await accepted(judge, HUMANEVAL, ROW, "def mean(numbers):\n    return sum(numbers) / len(numbers)", FREE)
    assert not await accepted(judge, HUMANEVAL, ROW, "I do not know.", FREE)


async def test_imports_from_the_future_may_stand_below_the_header(judge: Judge) -> None:
    answer = (
        "```python\nfrom __future__ import annotations\n\ndef mean(numbers: Later):\n    return sum(numbers) / len(numbers)\n```"
    )
    assert await accepted(judge, HUMANEVAL, ROW, answer, FREE)


async def test_prompts_are_the_code_or_a_request_with_it() -> None:
    plain = prompt(HUMANEVAL, ROW)
    assert plain.id == "Own/0" and plain.prompt == ROW["prompt"] and plain.labels["entry_point"] == "mean"
    asked, in_chinese = prompt(HUMANEVAL, ROW, FREE).prompt, prompt(HUMANEVAL, ROW, options(is_freeform=True, locale="zh")).prompt
    assert "```python\n" in str(asked) and "函数" in str(in_chinese)


@pytest.mark.requirement("judge-10.14")
async def test_rows_with_content_and_labels_are_judged_as_well(judge: Judge) -> None:
    older = {
        "id": 3,
        "content": ROW["prompt"],
        "test": ROW["test"],
        "labels": json.dumps({"entry_point": "mean"}),
        "canonical_solution": ROW["canonical_solution"],
    }
    assert await references(judge, HUMANEVAL, older, options("shadow_humaneval_python")) == [True]
    assert not await accepted(judge, HUMANEVAL, older, "    return 0\n")


CLASSES: dict[str, Any] = {
    "id": "Own/4",
    "content": 'def task_func(n):\n    """Twice the number."""',
    "labels": '{"entry_point": "task_func"}',
    "test": (
        "import unittest\n\nclass TestCases(unittest.TestCase):\n    def test_two(self):\n"
        "        self.assertEqual(task_func(2), 4)\n"
    ),
    "canonical_solution": "    return n * 2",
}


@pytest.mark.requirement("judge-13.03")
async def test_test_classes_are_run_and_not_merely_defined(judge: Judge) -> None:
    assert trial(HUMANEVAL, CLASSES, "    return 5").guard.kind is GuardKind.pytest
    assert await references(judge, HUMANEVAL, CLASSES, options("bigcodebench")) == [True]
    assert not await accepted(judge, HUMANEVAL, CLASSES, "    return 5", options("bigcodebench"))


async def test_a_whole_function_may_use_what_the_prompt_imported(judge: Judge) -> None:
    published_form = {
        "task_id": "Own/5",
        "complete_prompt": "import textwrap as tw\ndef task_func(text):\n    ...",
        "instruct_prompt": "Write it.",
        "code_prompt": "import textwrap as tw\ndef task_func(text):\n",
        "entry_point": "task_func",
        "test": CLASSES["test"].replace("task_func(2), 4", "task_func(' a'), 'a'"),
    }
    assert prompt(HUMANEVAL, published_form, FREE).prompt == "Write it."
    answer = "```python\ndef task_func(text):\n    return tw.dedent(text)\n```"
    assert await accepted(judge, HUMANEVAL, published_form, answer, FREE)


@pytest.mark.requirement("judge-13.05")
@pytest.mark.parametrize("body", ["    import os; os._exit(0)\n", "    raise SystemExit(0)\n", "    import sys; sys.exit()\n"])
async def test_a_solution_that_ends_the_process_early_is_rejected(judge: Judge, body: str) -> None:
    assert not await accepted(judge, HUMANEVAL, ROW, body)


async def test_in_other_languages_text_goes_on_and_answers_are_whole_functions(judge: Judge) -> None:
    assert await accepted(judge, HUMANEVAL, SHELL, "    echo $(($1 * 2))\n}\n\ntwice 7\n")
    assert await accepted(judge, HUMANEVAL, SHELL, "```bash\ntwice() {\n    echo $(($1 * 2))\n}\ntwice 3\n```", FREE)
    assert not await accepted(judge, HUMANEVAL, SHELL, "```bash\ntwice() {\n    echo $(($1 * 3))\n}\n```", FREE)


async def test_an_answer_keeps_the_functions_that_stand_behind_the_one_asked_for(judge: Judge) -> None:
    answer = """```cpp
long add(long a, long b);
long twice(long n) {
    return add(n, n);
}
long add(long a, long b) {
    return a + b;
}
int main() {
    return 1;
}
```"""
    assert await accepted(judge, HUMANEVAL, CPP, answer, FREE)
    assert not await accepted(judge, HUMANEVAL, CPP, answer.replace("a + b", "a - b"), FREE)


JAVA: dict[str, Any] = {
    "name": "Own_3_twice",
    "language": "java",
    "prompt": "class Problem {\n    public static long twice(long n) {\n",
    "tests": "    }\n    public static void main(String[] args) {\n    assert(twice(2l) == 4l);\n    }\n\n}\n",
    "stop_tokens": ["\n    }\n"],
}
WITH_A_CLASS = """
class Problem {
    public static long twice(long n) {
        return add(n, n);
    }

    static long add(long a, long b) {
        return a + b;
    }
}
"""
WITHOUT = "public static long twice(long n) {\n    return 2 * n;\n}"
GO: dict[str, Any] = {
    "name": "Own_4_twice",
    "language": "go_test.go",
    "prompt": 'package twice_test\n\nimport (\n    "testing"\n    "fmt"\n)\n\nfunc twice(n int) int {\n',
    "tests": 'func TestTwice(t *testing.T) {\n  if twice(2) != 4 { t.Errorf("wrong") }\n}\n',
    "stop_tokens": ["\nfunc"],
}
WITH_A_MAIN = """
package main

import (
\t"fmt"
\t"strings"
)

func twice(n int) int {
\treturn len(strings.Repeat("a", 2*n))
}

func main() {
\tfmt.Println(twice(1))
}
"""


@pytest.mark.parametrize(
    ("row", "answer", "expected"),
    [
        pytest.param(JAVA, WITH_A_CLASS, ["class Main {", "static long add", "void main"], id="java"),
        pytest.param(JAVA, WITHOUT, ["class Main {", "void main"], id="a method without its class"),
        pytest.param(GO, WITH_A_MAIN, ["package main", '"strings"', '"testing"'], id="go"),
    ],
)
async def test_answers_in_classes_and_packages_are_put_together_with_the_tests(
    row: dict[str, Any], answer: str, expected: list[str]
) -> None:
    code = trial(HUMANEVAL, row, f"```\n{answer}\n```", FREE).job.code
    assert all(piece in code for piece in expected)
    assert code.count("void main") <= 1 and "func main" not in code and code.count("{") == code.count("}")


async def test_an_answer_that_ends_its_file_does_not_end_the_tests() -> None:
    row = {"name": "Own_5_f", "language": "php", "prompt": "<?php\nfunction f() {\n", "tests": "test();", "stop_tokens": []}
    code = trial(HUMANEVAL, row, "```php\n<?php\nfunction f() {\n    return 1;\n}\n?>\n```", FREE).job.code
    assert "?>" not in code and code.endswith("test();")


async def test_lists_of_csharp_are_compared_by_what_is_in_them() -> None:
    row = {**JAVA, "language": "cs", "tests": "    }\n Debug.Assert(F().Equals((new List<long>())));\n}\n"}
    assert ".SequenceEqual((new List<long>" in trial(HUMANEVAL, row, "return null;").job.code


async def test_a_language_that_there_is_none_of_is_refused_in_words() -> None:
    with pytest.raises(InvalidRequest, match="no such language"):
        trial(HUMANEVAL, {**CPP, "language": "cobol"}, "x")
    with pytest.raises(InvalidRequest, match="'prompt'"):
        trial(HUMANEVAL, {"task_id": 1, "tests": "x"}, "x")


async def test_the_language_of_a_dataset_is_that_of_rows_that_do_not_say() -> None:
    silent = {key: value for key, value in CPP.items() if key != "language"}
    assert trial(HUMANEVAL, silent, "    return 2 * n;", options("humaneval_cpp")).job.language == "cpp"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["humaneval/HumanEval.jsonl.gz", "multipl-e/open_humaneval_python.jsonl.gz"])
async def test_published_references_are_accepted(judge: Judge, name: str) -> None:
    for row in published(name)[:6]:
        assert await references(judge, HUMANEVAL, row) == [True], row["task_id"]
        assert await references(judge, HUMANEVAL, row, FREE) == [True], row["task_id"]


async def test_the_whole_program_is_shown(judge: Judge) -> None:
    told = await verdict(judge, HUMANEVAL, ROW, ROW["canonical_solution"])
    assert told.full_code is not None and told.full_code.endswith("check(mean)") and "import numpy" in told.full_code
