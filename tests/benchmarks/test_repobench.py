"""RepoBench: the next line, word by word, without running anything."""

from __future__ import annotations

import pytest
from tests.benchmarks.judge_runs import options, prompt, trial

from sandbox_runtime.benchmarks.repobench import REPOBENCH_C, REPOBENCH_P, estimate_tokens, first_line
from sandbox_runtime.errors import InvalidRequest

LINE = "    total  = add(1, 2)"
ROW = {
    "id": 3,
    "prompt": "def f():\n",
    "code": "a = 1\n",
    "import_statement": "import os",
    "file_path": "pkg/m.py",
    "next_line": LINE,
}
SNIPPETS = [{"path": f"pkg/{name}.py", "snippet": f"def {name}():\n    pass"} for name in ("one", "two", "three")]
PIPELINE = {**ROW, "context": SNIPPETS, "gold_snippet_index": 2}


@pytest.mark.requirement("judge-10.26", "judge-13.07")
@pytest.mark.parametrize(
    ("written", "language", "right"),
    [
        ("    total = add(1, 2)\n    print(total)", "python", True),
        ("\n\n    # adds\n    total = add(1, 2)", "python", True),
        ('    """doc"""\n    total = add(1, 2)', "python", True),
        ('    """doc\n    more"""\n    total = add(1, 2)', "python", True),
        ("```python\n    total = add(1, 2)\n```", "python", True),
        ("// adds\n/* more\n * lines */\ntotal = add(1, 2)", "java", True),
        ("total = add(2, 1)", "python", False),
        ("total=add(1, 2)", "python", False),
        ("", "python", False),
    ],
)
def test_the_first_line_of_code_decides(written: str, language: str, right: bool) -> None:
    told = trial(REPOBENCH_C, ROW, written, options(f"repobench_c_{language}"))
    assert told.decided is right
    assert bool(told.note) is not right


def test_a_comment_that_never_ends_has_no_line() -> None:
    assert first_line('"""\n' + "x = 1\n" * 10, "python") == ""


def test_the_prompt_of_completion_is_the_rows_own() -> None:
    asked = prompt(REPOBENCH_C, ROW, options("repobench_c_python"))
    assert (asked.prompt, asked.labels) == ("def f():\n", {"next_line": LINE})


def test_the_snippet_that_matters_comes_first_and_the_file_last() -> None:
    asked = str(prompt(REPOBENCH_P, PIPELINE, options("repobench_p_python")).prompt)
    assert asked.startswith("# Path: pkg/three.py\n# def three():")
    assert asked.index("pkg/one.py") > 0 and asked.index("pkg/two.py") > 0
    assert asked.endswith("# Path: pkg/m.py\nimport os\na = 1\n")
    assert str(prompt(REPOBENCH_P, PIPELINE, options("repobench_p_java")).prompt).startswith("// Path: pkg/three.py")


def test_the_prompt_keeps_to_its_length_but_for_the_snippet_that_matters() -> None:
    short = str(prompt(REPOBENCH_P, PIPELINE, options("repobench_p_python", max_prompt_length=20)).prompt)
    assert "pkg/three.py" in short and "pkg/one.py" not in short and "pkg/two.py" not in short


def test_only_the_end_of_a_long_file_is_shown() -> None:
    row = {**PIPELINE, "code": "\n".join(f"line_{number} = {number}" for number in range(1000))}
    asked = str(prompt(REPOBENCH_P, row, options("repobench_p_python")).prompt)
    assert "line_999 = 999" in asked and "line_939 = 939" not in asked


def test_tokens_are_counted_about_as_gpt_2_does() -> None:
    assert estimate_tokens("def add(a, b):\n    return a + b\n") in range(12, 20)
    assert estimate_tokens("") == 0


@pytest.mark.parametrize("extra", [{"retrieval_mode": "random"}, {"max_prompt_length": 0}, {"max_prompt_length": "8"}])
def test_options_that_mean_nothing_are_told(extra: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest, match="the option"):
        prompt(REPOBENCH_P, PIPELINE, options("repobench_p_python", **extra))


@pytest.mark.parametrize("change", [{"context": "no"}, {"context": [1]}, {"gold_snippet_index": 9}, {"gold_snippet_index": None}])
def test_rows_that_are_no_rows_are_told(change: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest):
        prompt(REPOBENCH_P, {**PIPELINE, **change}, options("repobench_p_python"))
