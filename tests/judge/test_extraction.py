"""What of a completion is taken for code."""

from __future__ import annotations

import pytest

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import (
    ExtractedCode,
    default_extract,
    fence_language,
    fenced_blocks,
    freeform,
    freeform_v2,
    heuristic_blocks,
    incomplete_blocks,
    trim_stop_tokens,
)
from sandbox_runtime.judge.extraction.braces import block_end
from sandbox_runtime.model.judge import Block, Completion

TICKS = "```"


def block(word: str, code: str) -> str:
    return f"{TICKS}{word}\n{code}\n{TICKS}\n"


@pytest.mark.requirement("judge-11.01")
def test_every_closed_fence_is_a_block_with_its_language() -> None:
    text = f"First {block('python', 'a = 1')}then\n{block('C++', 'int a;')}and {TICKS}plain\nx\n  {TICKS} done"
    assert fenced_blocks(text) == [Block(30, "python", "a = 1"), Block(30, "cpp", "int a;"), Block(30, "", "x")]
    assert incomplete_blocks(text) == []


@pytest.mark.requirement("judge-11.01")
def test_a_fence_that_is_never_closed_is_an_incomplete_block() -> None:
    text = f"{block('python', 'a = 1')}\n{TICKS}python\nb = 2"
    assert [found.code for found in fenced_blocks(text)] == ["a = 1"]
    assert incomplete_blocks(text) == [Block(20, "python", "b = 2")]


def test_backticks_behind_the_last_statement_are_no_code() -> None:
    assert incomplete_blocks(f"{TICKS}py\nprint(1){TICKS}") == [Block(20, "python", "print(1)")]


def test_backticks_within_a_sentence_open_nothing() -> None:
    assert fenced_blocks(f"call {TICKS}f(x){TICKS} and see\n{block('py', 'y')}") == [Block(30, "python", "y")]


def test_a_doubled_fence_counts_once() -> None:
    assert fenced_blocks(f"{TICKS}\n{TICKS}python\nx\n{TICKS}\n{TICKS}\n") == [Block(30, "python", "x")]


def test_a_longer_fence_holds_shorter_ones() -> None:
    assert fenced_blocks(f"{TICKS}`md\n{block('py', 'x')}{TICKS}`\n") == [Block(30, "", f"{TICKS}py\nx\n{TICKS}")]


@pytest.mark.requirement("judge-11.02")
@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("python Python py Python3 python3 PY", "python"),
        ("cpp c++ C++ Cpp CPP", "cpp"),
        ("JS js", "nodejs"),
        ("javascript", "javascript"),
        ("go Go", "go"),
        ("php PHP", "php"),
        ("csharp c# C#", "csharp"),
        ("bash Bash BASH sh shell", "bash"),
        ("rust Rust rs", "rust"),
        ("D d", "D"),
        ("julia jl", "julia"),
        ("R r", "R"),
        ("c C", "c"),
        ("verilog Verilog VERILOG", "verilog"),
        ("java typescript", None),
        ("klingon", ""),
    ],
)
def test_the_word_behind_a_fence_names_a_language(words: str, language: str | None) -> None:
    for word in words.split():
        assert fence_language(word) == (word if language is None else language)


@pytest.mark.requirement("judge-11.03")
def test_the_default_way_takes_the_first_block_in_the_language_else_the_first() -> None:
    text = block("bash", "ls") + block("python", "a") + block("python", "b")
    assert default_extract(Completion(text), "python") == ExtractedCode("a", "fenced")
    assert default_extract(Completion(text), "java") == ExtractedCode("ls", "fenced")


def test_javascript_and_nodejs_are_one_language() -> None:
    text = block("bash", "ls") + block("javascript", "a")
    assert default_extract(Completion(text), "nodejs").code == "a"


@pytest.mark.requirement("judge-11.03")
def test_the_default_way_prefers_closed_to_open_to_guessed() -> None:
    guessed = "def f():\n    return 1\n"
    opened = f"{guessed}\n{TICKS}python\nb = 2"
    assert default_extract(Completion(opened + f"\n{TICKS}\n"), "python") == ExtractedCode("b = 2", "fenced")
    assert default_extract(Completion(opened), "python") == ExtractedCode("b = 2", "incomplete_fenced")
    assert default_extract(Completion(guessed), "python") == ExtractedCode("def f():\n    return 1", "heuristic")
    assert default_extract(Completion("I do not know."), "python") == ExtractedCode("", "empty")


def test_blocks_of_the_callers_own_win_when_their_priority_is_highest() -> None:
    text = block("python", "a")
    assert default_extract(Completion(text, (Block(40, "python", "mine"),)), "python").code == "mine"
    assert default_extract(Completion(text, (Block(5, "python", "mine"),)), "python").code == "a"


@pytest.mark.requirement("judge-11.01")
def test_python_without_fences_is_found_between_sentences() -> None:
    text = (
        "Here it is:\n\nimport re\nfrom math import *\nMOD = 7\n\n@cache\ndef f(x):\n    '''Says\nmore.'''\n    return x\n\n"
        "class A:\n    pass\n\nThis works because of magic.\nif you like, try it\n"
    )
    [found] = heuristic_blocks(text, "python")
    assert found.priority == 10
    assert found.code.startswith("import re\nfrom math import *\nMOD = 7\n") and found.code.endswith("class A:\n    pass")


@pytest.mark.requirement("judge-11.01")
def test_sql_and_bash_without_fences() -> None:
    assert heuristic_blocks("Use this:\nSELECT 1;\n", "sql") == [Block(10, "sql", "SELECT 1;")]
    assert heuristic_blocks("ls | wc", "bash") == [Block(10, "bash", "ls | wc")]
    assert heuristic_blocks("fn main() {}", "rust") == []


@pytest.mark.requirement("judge-11.06", "judge-11.07")
def test_freeform_joins_blocks_by_a_blank_line_and_drops_carriage_returns() -> None:
    text = block("python", "a = 1\r") + block("bash", "ls") + block("python", "b = 2")
    assert freeform(text, "python") == ExtractedCode("a = 1\n\nb = 2", "fenced")
    assert freeform(text, "python", first_block_only=True).code == "a = 1"
    assert freeform(text, "python", code_block_idx=1).code == "b = 2"
    assert freeform(text, "python", code_block_idx=2) == ExtractedCode("", "empty")


@pytest.mark.requirement("judge-11.06")
def test_freeform_for_few_shots_takes_nothing_behind_the_first_answer() -> None:
    text = block("bash", "ls") + block("", "a = 1") + block("python", "b = 2")
    assert freeform(text, "python", is_fewshot_task=True).code == "a = 1"


@pytest.mark.requirement("judge-11.06")
def test_freeform_can_insist_on_the_language() -> None:
    text = block("", "a = 1")
    assert freeform(text, "python").code == "a = 1"
    assert freeform(text, "python", exactly_match=True) == ExtractedCode("", "empty")


@pytest.mark.requirement("judge-11.06")
def test_freeform_prefers_blocks_that_name_the_entry_point_and_declares_it_where_none_does() -> None:
    text = block("python", "def helper(): ...") + block("python", "def wanted(): ...")
    assert freeform(text, "python", entry_point="wanted").code == "def wanted(): ..."
    body = freeform(block("python", "    return 1"), "python", entry_point="f", declaration="def f():").code
    assert body == "def f():\n    return 1"


@pytest.mark.requirement("judge-11.07")
@pytest.mark.parametrize(
    ("language", "code", "left"),
    [
        ("python", 'a\nif __name__ == "__main__":\n    b', "a\n"),
        ("cpp", "int f();\nint main() { }", "int f();\n"),
        ("java", "public class Main {\n}", "class Solution {\n}"),
        ("go", "package main\nfunc f() {}", "\nfunc f() {}"),
        ("python", "a\n# Example usage:\nb", "a\n"),
    ],
)
def test_freeform_takes_main_parts_off(language: str, code: str, left: str) -> None:
    assert freeform(block(language, code), language).code == left
    assert freeform(block(language, code), language, no_removal=True).code == code


@pytest.mark.requirement("judge-11.08")
@pytest.mark.parametrize(
    ("language", "code", "left"),
    [
        ("python", "a\n  if '__main__' == __name__ :\n    b", "a"),
        ("c", "int f();\nint main() { }", "int f();\n"),
        ("go", 'func f() {}\nfunc main() {\n\ts := "}"\n\tif a {}\n}\nfunc g() {}', "func f() {}\n\nfunc g() {}"),
        ("kotlin", "fun main() { println(1) } // }\nfun f() {}", " // }\nfun f() {}"),
        ("scala", "object Main {\n  def f = 1\n}\n", "\n  def f = 1\n"),
    ],
)
def test_the_second_form_takes_main_functions_and_wrappers_apart(language: str, code: str, left: str) -> None:
    assert freeform_v2(block(language, code), language).code == left


@pytest.mark.requirement("judge-11.08")
def test_the_second_form_mends_fences() -> None:
    assert freeform_v2(f"{TICKS}\n{block('python', 'x')}", "python").code == "x"
    assert freeform_v2(block("", "python\nx"), "python", exactly_match=True).code == "x"


@pytest.mark.requirement("judge-11.06")
def test_the_second_form_can_take_a_method_out_of_its_class() -> None:
    method = "    public static int F(int x) {\n        if (x) { return '}'; }\n        return 1;\n    }"
    code = f"class P {{\n    int a;\n{method}\n    int b;\n}}"
    assert freeform_v2(block("java", code), "java", inner_function_only=True).code == method
    assert freeform_v2(block("csharp", code), "csharp", inner_function_only=True).code == method


def test_assertions_at_the_left_edge_can_be_dropped() -> None:
    code = "def f():\n    assert 1\nassert f() == 1\n"
    assert freeform(block("python", code), "python", remove_asserts=True).code == "def f():\n    assert 1\n"


@pytest.mark.requirement("judge-11.08")
@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (
            block("verilog", "module top_module(input a, // one; two\noutput b);\nassign b = a;\nendmodule"),
            "\nassign b = a;\nendmodule",
        ),
        (block("verilog", "assign b = a;\nendmodule"), "assign b = a;\nendmodule"),
        ("assign b = a;\nendmodule", "assign b = a;\nendmodule"),
        (
            block("verilog", "module helper(input x);\nendmodule\nmodule top_module(input a);\nassign b = a;\nendmodule"),
            "\nassign b = a;\nendmodule\n\nmodule helper(input x);\nendmodule\n",
        ),
    ],
)
def test_of_a_verilog_module_the_inside_is_taken(answer: str, left: str) -> None:
    assert freeform_v2(answer, "verilog").code == left


def test_stop_tokens_end_a_completion() -> None:
    assert trim_stop_tokens("a\nfunc b\n// c", ["\n//", "\nfunc"]) == "a"
    assert trim_stop_tokens("    a\n\n    b\nc", ["re:\\n(?!\\s|\\n)(?=.|\\n)"]) == "    a\n\n    b"
    assert trim_stop_tokens("a", [""]) == "a"


@pytest.mark.parametrize("token", ["re:(a+)+$", "re:a*b", "re:(a|b|c|d|e|f)", "re:a{9}", "re:(", "re:" + "a" * 101])
def test_a_stop_token_whose_time_could_explode_is_refused(token: str) -> None:
    with pytest.raises(InvalidRequest, match="stop token"):
        trim_stop_tokens("a" * 30, [token])


@pytest.mark.parametrize(
    "text",
    [
        TICKS * 100_000,
        f"{TICKS}a\n" * 60_000,
        f"{TICKS}a\nx {TICKS}" * 30_000,
        "\n" * 300_000,
        "def f(\n" * 60_000,
        "x = (" * 60_000,
        "import a\n" + "a" * 300_000 + "(",
        "import a\nif " + ":" * 300_000,
        f"{TICKS}go\n" + 'func main() {"\\"' * 100_000,
        f"{TICKS}go\n" + "func main() { /* " * 30_000,
        f"{TICKS}go\n" + "`'" * 100_000,
    ],
)
def test_no_text_is_too_hard(text: str) -> None:
    """Texts that are made to be slow take the time of any other: were it quadratic, the run's own limit would end it."""
    for language in ("python", "go"):
        default_extract(Completion(text), language)
        freeform(text, language)
        freeform_v2(text, language)
    block_end(text, 0)
