"""AutoEval: the general form of a row, with its ways of asking and of putting an answer into a test."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest
from tests.benchmarks.boxed import found
from tests.benchmarks.judge_runs import options, prompt, trial

from sandbox_runtime.benchmarks.auto_eval import AUTO_EVAL, jest_cases, strip_entry_point
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge

pytestmark = pytest.mark.asyncio(loop_scope="session")


def row(language: str, code: str, runs: str | None = None, asset: Any = None, **labels: Any) -> dict[str, Any]:
    told = {"programming_language": language, **({"execution_language": runs} if runs else {}), **labels}
    return {"id": 7, "content": "Do it.", "labels": json.dumps(told), "test": json.dumps({"code": code, "asset": asset})}


def fenced(language: str, code: str) -> str:
    return f"```{language}\n{code}\n```"


BEFORE = row("python", "assert double(2) == 4")
JEST = row("typescript", "#<INSERT>\ndescribe('doubles', () => { test('two', () => { expect(double(2)).toBe(4); }); });", "jest")
JUNIT = row("java", "class TwiceTest {\n    @Test\n    void twice() { assertEquals(4, Twice.of(2)); }\n}")


@pytest.mark.requirement("judge-10.07")
async def test_an_answer_goes_before_the_test_or_where_it_says(judge: Judge) -> None:
    answer = fenced("python", 'def double(n):\n    return 2 * n\n\nif __name__ == "__main__":\n    double(1)')
    assert (await found(judge, AUTO_EVAL, BEFORE, answer)).accepted
    assert (await found(judge, AUTO_EVAL, row("python", "import math\n#<INSERT>\nassert double(2) == 4"), answer)).accepted
    assert not (await found(judge, AUTO_EVAL, BEFORE, fenced("python", "def double(n):\n    return n"))).accepted


async def test_files_lie_beside_the_program(judge: Judge) -> None:
    asset = json.dumps({"words.txt": b64encode(b"one two").decode()})
    reads = row("python", "assert count() == 2", asset=asset)
    assert (
        await found(judge, AUTO_EVAL, reads, fenced("python", "def count():\n    return len(open('words.txt').read().split())"))
    ).accepted


@pytest.mark.requirement("judge-10.07")
async def test_the_answer_can_be_given_as_a_text(judge: Judge) -> None:
    as_text = row("python", "text = #<INSERT>\nassert text == 'SELECT 1'")
    assert (await found(judge, AUTO_EVAL, as_text, fenced("python", "SELECT 1"), options(repr_code=True))).accepted


@pytest.mark.requirement("judge-10.09")
async def test_a_report_of_jest_is_told_case_by_case(judge: Judge) -> None:
    under = options("mine")
    told = await judge.submit(
        "mine",
        7,
        fenced("typescript", "const double = (n: number) => 2 * n;"),
        under,
        provided=JEST,
        dataset_type="AutoEvalDataset",
    )
    if "does not work" in told.message:
        pytest.skip(told.message)
    assert told.accepted, told.message
    assert [(case["passed"], case["suite"], case["test"]) for case in told.extra["jest_cases"]] == [(True, "doubles", "two")]


@pytest.mark.parametrize("report", [b"", b"[]", b"{}", b'{"testResults": [1, {"testResults": "x"}]}', b"\xff"])
async def test_a_report_that_is_none_has_no_cases(report: bytes) -> None:
    assert jest_cases(report) == []


@pytest.mark.requirement("judge-10.08")
@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (fenced("java", "public class Twice { static int of(int n) { return 2 * n; } }"), True),
        (
            fenced("java", "public class Twice { static int of(int n) { return Inner.twice(n); } }")
            + "\n"
            + fenced("java", "class Inner { static int twice(int n) { return 2 * n; } }"),
            True,
        ),
        (fenced("java", "public class Twice { static int of(int n) { return n; } }"), False),
        (fenced("java", "public class Twice { static int of(int n) { System.exit(0); return 4; } }"), False),
    ],
    ids=["one class", "two blocks", "wrong", "leaves early"],
)
async def test_java_answers_are_run_with_junit(judge: Judge, answer: str, right: bool) -> None:
    told = await found(judge, AUTO_EVAL, JUNIT, answer)
    assert told.accepted is right, told.message


async def test_go_has_its_imports_in_one_place() -> None:
    go = row("go", 'import "testing"\nfunc TestX(t *testing.T) { X() }\n#<INSERT>', "go_test")
    code = trial(AUTO_EVAL, go, fenced("go", 'package main\nimport "fmt"\nfunc X() { fmt.Print() }')).job.code
    assert code.startswith('package main\n\nimport (\n\t"testing"\n\t"fmt"\n)')


@pytest.mark.requirement("judge-10.07")
async def test_a_page_is_a_file_of_its_test() -> None:
    asked = trial(AUTO_EVAL, row("html", "assert 'x' in open('index.html').read()", "python"), fenced("html", "<p>x</p>"))
    assert {file.name: file.content for file in asked.job.files} == {"index.html": b"<p>x</p>"}
    assert "<p>" not in asked.job.code


@pytest.mark.parametrize(
    ("language", "code", "left"),
    [
        ("python", 'x = 1\nif __name__ == "__main__":\n    y()', "x = 1\n"),
        ("cpp", "int f();\nint main() {}", "int f();\n"),
        ("go", "package main\nfunc F() {}", "\nfunc F() {}"),
        ("ruby", "def f; end\n# Example usage\nf", "def f; end\n"),
    ],
)
async def test_what_would_run_beside_the_tests_is_dropped(language: str, code: str, left: str) -> None:
    assert strip_entry_point(code, language) == left


@pytest.mark.requirement("judge-10.06")
async def test_the_ways_of_asking() -> None:
    plain = row("python", "", context="Some context.", fewshot="An example.")
    rule = "-" * 16
    assert prompt(AUTO_EVAL, BEFORE).prompt == "Do it."
    assert prompt(AUTO_EVAL, plain).prompt == f"Some context.\n{rule}\nQuestion:Do it.\nAnswer:"
    asked = prompt(AUTO_EVAL, plain, options(locale="zh", fewshot=True)).prompt
    assert asked == f"Some context.\n{rule}\nAn example.\n问题：Do it.\n答案："
    template = options(locale="en", prompt_template="$locale: $question $unknown [$context]", context="Mine")
    assert prompt(AUTO_EVAL, plain, template).prompt == "en: Do it. $unknown [Mine]"
    with pytest.raises(InvalidRequest, match="fewshot"):
        prompt(AUTO_EVAL, BEFORE, options(fewshot=True))
