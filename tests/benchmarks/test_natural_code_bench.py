"""NaturalCodeBench: answers in several forms, tests of pytest and of both forms of JUnit."""

from __future__ import annotations

import pytest
from tests.benchmarks.boxed import found
from tests.benchmarks.judge_runs import options, prompt, trial

from sandbox_runtime.benchmarks.natural_code_bench import NATURAL_CODE_BENCH
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import GuardKind

pytestmark = pytest.mark.asyncio(loop_scope="session")

PYTHON = {
    "id": 3,
    "content": "Double it.",
    "labels": {"programming_language": "python"},
    "test": {"code": "class TestDouble:\n    def test_two(self, tmp_path):\n        assert double(2) == 4\n", "asset": None},
    "canonical_solution": "```python\ndef double(n):\n    return 2 * n\n```",
}
NEWER = "import org.junit.jupiter.api.Test;\nimport static org.junit.jupiter.api.Assertions.*;\n\nclass TwiceTest {\n    @Test\n"
OLDER = "import org.junit.Test;\nimport static org.junit.Assert.*;\n\npublic class TwiceTest {\n    @Test\n"
BODY = "    public void two() { assertEquals(4, new Twice().of(2)); }\n}\n"


def java(head: str) -> dict[str, object]:
    return {"id": 4, "content": "Twice.", "labels": {"programming_language": "java"}, "test": {"code": head + BODY}}


RIGHT = """\
```java
import java.util.function.*;

public class Twice {
    IntUnaryOperator by = n -> 2 * n;
    int of(int n) { return by.applyAsInt(n); }
}
```
"""


@pytest.mark.requirement("judge-10.22")
@pytest.mark.parametrize(
    "answer",
    [
        "```python\ndef double(n):\n    return 2 * n\n```",
        "[Python]\ndef double(n):\n    return 2 * n\n[/Python]",
        "[Python]\n```python\ndef double(n):\n    return 2 * n\n```\n[/Python]",
        "```\ndef double(n):\n    return 2 * n\n```",
        "Sure.\ndef double(n):\n    return 2 * n",
    ],
    ids=["fence", "tags", "fence in tags", "bare fence", "no fence"],
)
async def test_python_is_found_in_every_form(judge: Judge, answer: str) -> None:
    assert (await found(judge, NATURAL_CODE_BENCH, PYTHON, answer)).accepted


@pytest.mark.parametrize(
    "answer",
    ["```python\ndef double(n):\n    return n\n```", "```python\nimport sys\nsys.exit(0)\n```", "I do not know.", ""],
    ids=["wrong", "leaves early", "no code", "nothing"],
)
async def test_what_does_not_pass_the_tests_is_rejected(judge: Judge, answer: str) -> None:
    assert not (await found(judge, NATURAL_CODE_BENCH, PYTHON, answer)).accepted


@pytest.mark.requirement("judge-10.22")
@pytest.mark.parametrize("head", [NEWER, OLDER], ids=["jupiter", "junit 4"])
async def test_java_tests_of_both_forms_are_run(judge: Judge, head: str) -> None:
    right = await found(judge, NATURAL_CODE_BENCH, java(head), RIGHT)
    assert right.accepted, (right.message, right.cases and right.cases[0])
    assert not (await found(judge, NATURAL_CODE_BENCH, java(head), RIGHT.replace("2 * n", "n"))).accepted


async def test_the_test_classes_are_collected_and_one_row_has_more_time() -> None:
    asked = trial(NATURAL_CODE_BENCH, PYTHON, str(PYTHON["canonical_solution"]))
    assert asked.guard.kind is GuardKind.pytest and asked.guard.solution.startswith("import pytest\n")
    slow = trial(NATURAL_CODE_BENCH, {**PYTHON, "id": 52}, str(PYTHON["canonical_solution"]))
    assert slow.job.run_limits.wall_s == 2 * asked.job.run_limits.wall_s


async def test_the_language_is_the_datasets_where_the_labels_do_not_say() -> None:
    bare = {**java(NEWER), "labels": {}}
    assert trial(NATURAL_CODE_BENCH, bare, RIGHT, options("ncb_java_en")).job.language == "junit"
    assert prompt(NATURAL_CODE_BENCH, bare).prompt == "Twice."
