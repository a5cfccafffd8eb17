"""Aider's exercises: unit tests that import the answer by its name, in Python and in five other languages."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from tests.benchmarks.boxed import found
from tests.benchmarks.judge_runs import options, prompt, trial

from sandbox_runtime.benchmarks.aider import AIDER
from sandbox_runtime.benchmarks.aider_polyglot import AIDER_POLYGLOT
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import GuardKind

pytestmark = pytest.mark.asyncio(loop_scope="session")

UNIT_TESTS = """\
import unittest

from double import double


class DoubleTest(unittest.TestCase):
    def test_two(self):
        self.assertEqual(double(2), 4)


if __name__ == '__main__':
    unittest.main()
"""
WRAPPER = """
#<INSERT>

def _copy_src_file():
    import shutil
    from pathlib import Path
    if Path(__file__).name == "double.py":
        return
    shutil.copy(__file__, "double.py")

_copy_src_file()

if __name__ == '__main__':
    import unittest
    unittest.main("double_test")
"""
ROW = {
    "id": 1,
    "content": "# Instructions\nDouble it.\n",
    "labels": {"reference": "def double(n):\n    pass\n"},
    "test": {"code": WRAPPER, "asset": {"double_test.py": b64encode(UNIT_TESTS.encode()).decode()}},
    "canonical_solution": "def double(n):\n    return 2 * n\n",
}


def fenced(language: str, code: str) -> str:
    return f"```{language}\n{code}\n```"


async def test_the_stub_is_shown() -> None:
    asked = str(prompt(AIDER, ROW).prompt)
    assert asked.startswith("# Instructions\nDouble it.") and "def double(n):\n    pass" in asked
    assert str(prompt(AIDER, ROW, options(autoeval_wrap_prompt="<<{}>>")).prompt).startswith("<<# Instr")


@pytest.mark.requirement("judge-10.25")
async def test_a_right_answer_passes_its_unit_tests_and_a_wrong_one_does_not(judge: Judge) -> None:
    assert (await found(judge, AIDER, ROW, fenced("python", "def double(n):\n    return 2 * n"))).accepted
    for wrong in ("def double(n):\n    return n", "def twice(n):\n    return 2 * n", "import os\nos._exit(0)", ""):
        assert not (await found(judge, AIDER, ROW, fenced("python", wrong))).accepted, wrong


async def test_the_unit_tests_are_not_on_the_boxs_disk() -> None:
    asked = trial(AIDER, ROW, fenced("python", "def double(n): return 2 * n"))
    assert asked.guard.kind is GuardKind.pytest and asked.job.files == ()
    assert asked.test_code == UNIT_TESTS and "_copy_src_file" in (asked.full_code or "")


async def test_a_template_of_another_form_is_run_as_it_is(judge: Judge) -> None:
    row = {**ROW, "test": {"code": "#<INSERT>\nassert double(2) == 4", "asset": None}}
    assert (await found(judge, AIDER, row, fenced("python", "def double(n): return 2 * n"))).accepted


def exercise(language: str, solution: dict[str, str], tests: dict[str, str], **more: Any) -> dict[str, Any]:
    labels = {"programming_language": language, "exercise": "two-fold"}
    return {"id": f"{language}/two-fold", "content": "Double it.", "labels": labels, "solution": solution, "tests": tests, **more}


GO_TESTS = """\
package twofold

import "testing"

func TestIt(t *testing.T) {
	for _, c := range cases {
		if Double(c) != 2*c {
			t.Fatal(c)
		}
	}
}
"""
JAVA_TESTS = """\
import org.junit.jupiter.api.*;
import static org.assertj.core.api.Assertions.assertThat;

public class TwoFoldTest {
    @Disabled("Remove to run test")
    @Test
    public void two() { assertThat(TwoFold.of(2)).isEqualTo(4); }
}
"""
EXERCISES = {
    "python": exercise(
        "python",
        {"two_fold.py": "def double(n): pass"},
        {"two_fold_test.py": UNIT_TESTS.replace("from double", "from two_fold")},
    ),
    "go": exercise(
        "go",
        {"two_fold.go": "package twofold\n"},
        {"two_fold_test.go": GO_TESTS},
        support={"cases_test.go": "package twofold\n\nvar cases = []int{1, 2}\n"},
    ),
    "rust": exercise(
        "rust",
        {"src/lib.rs": "pub fn double(n: i32) -> i32 { todo!() }"},
        {"tests/two-fold.rs": "use two_fold::double;\n#[test]\n#[ignore]\nfn two() { assert_eq!(double(2), 4); }\n"},
    ),
    "javascript": exercise(
        "javascript",
        {"two-fold.js": "export const double = (n) => {};"},
        {"two-fold.spec.js": "import { double } from './two-fold';\nxtest('two', () => { expect(double(2)).toEqual(4); });\n"},
    ),
    "java": exercise(
        "java",
        {"src/main/java/TwoFold.java": "class TwoFold {}"},
        {"src/test/java/TwoFoldTest.java": JAVA_TESTS},
    ),
}
RIGHT = {
    "python": "def double(n):\n    return 2 * n",
    "go": 'package twofold\n\nimport "math"\n\nfunc Double(n int) int { return int(math.Abs(2)) * n }',
    "rust": "pub fn double(n: i32) -> i32 { 2 * n }",
    "javascript": "export const double = (n) => 2 * n;",
    "java": "class TwoFold { static int of(int n) { return A.of(n); } }\nclass A { static int of(int n) { return 2 * n; } }",
}
WRONG = {name: code.replace("2 * n", "3 * n").replace("math.Abs(2)", "math.Abs(3)") for name, code in RIGHT.items()}


@pytest.mark.parametrize("language", EXERCISES)
async def test_an_exercise_is_judged_by_its_tracks_tests(judge: Judge, language: str) -> None:
    right = await found(judge, AIDER_POLYGLOT, EXERCISES[language], fenced(language, RIGHT[language]))
    assert right.accepted, (right.message, right.cases and right.cases[0])
    assert not (await found(judge, AIDER_POLYGLOT, EXERCISES[language], fenced(language, WRONG[language]))).accepted


async def test_tests_may_patch_names_of_the_solution_and_have_modules_of_their_own(judge: Judge) -> None:
    tests = (
        "import unittest\nfrom unittest.mock import patch\nfrom helping import EXPECTED\nfrom two_fold import double\n\n\n"
        "class TwoFoldTest(unittest.TestCase):\n    @patch('two_fold.abs', create=True, new=lambda n: 2)\n"
        "    def test_two(self):\n        self.assertEqual(double(-9), EXPECTED)\n        self.assertEqual(abs(-9), 9)\n"
    )
    row = exercise("python", {"two_fold.py": ""}, {"two_fold_test.py": tests, "helping.py": "EXPECTED = 4\n"})
    assert (await found(judge, AIDER_POLYGLOT, row, fenced("python", "def double(n):\n    return 2 * abs(n)"))).accepted
    assert not (await found(judge, AIDER_POLYGLOT, row, fenced("python", "def double(n):\n    return abs(n)"))).accepted


TWO = exercise("cpp", {"a.cpp": "// cpp", "a.h": "// h"}, {"a_test.cpp": 'TEST_CASE("x") {}'}, reference={"a.h": "int f();"})


@pytest.mark.parametrize(
    "answer",
    [
        "a.h\n```cpp\nint f();\n```\n\na.cpp\n```cpp\nint f() { return 1; }\n```",
        "**`a.h`**\n```cpp\nint f();\n```\nand `a.cpp`:\n```cpp\nint f() { return 1; }\n```",
        "```cpp\nint f() { return 1; }\n```\n```cpp\nint f();\n```",
    ],
    ids=["names above", "names in a sentence", "in order"],
)
async def test_several_files_are_told_apart(answer: str) -> None:
    files = {file.name: file.content.decode() for file in trial(AIDER_POLYGLOT, TWO, answer).job.files}
    assert files == {"a.h": "int f();", "a.cpp": "int f() { return 1; }"}


async def test_the_reference_keeps_the_stub_where_it_has_no_file_of_its_own() -> None:
    assert AIDER_POLYGLOT.reference is not None
    ((reference, _),) = AIDER_POLYGLOT.reference(TWO, options())
    files = {file.name: file.content.decode() for file in trial(AIDER_POLYGLOT, TWO, reference).job.files}
    assert files == {"a.h": "int f();", "a.cpp": "// cpp"}


async def test_rows_that_are_no_rows_are_told() -> None:
    with pytest.raises(InvalidRequest, match="exercises are in"):
        trial(AIDER_POLYGLOT, exercise("cobol", {"a": ""}, {"b": ""}), "")
    with pytest.raises(InvalidRequest, match="has no file"):
        trial(AIDER_POLYGLOT, exercise("go", {}, {"b": ""}), "")
