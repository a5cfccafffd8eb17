"""HumanEval and its kin: a function that a prompt begins, judged by code that calls it. In all languages that there are rows in.

A row: task_id or name, prompt, tests, stop_tokens, language, entry_point; or in an older form id, content, test, labels
{entry_point}. Tests that are test classes (BigCodeBench) are collected and run as such: merely defining them would test nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sandbox_runtime.benchmarks.functions import answers
from sandbox_runtime.benchmarks.functions.completion import cut_at_function_end, join_prompt
from sandbox_runtime.benchmarks.functions.languages import FunctionLanguage, function_language
from sandbox_runtime.benchmarks.programs import program_trial
from sandbox_runtime.benchmarks.prompts import completion_prompt, fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_text, row_id, text, texts
from sandbox_runtime.benchmarks.sources.go import merge_go_files
from sandbox_runtime.benchmarks.trials import extract_freeform, flag, python_trial
from sandbox_runtime.judge.extraction import EMPTY, ExtractedCode, fenced_blocks, incomplete_blocks
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_RUN_S, _TEST_CLASSES_S = 20.0, 60.0
_TEST_CLASS = re.compile(r"^class[ \t]+\w+\([^)\n]*TestCase[ \t]*\)", re.MULTILINE)
_CHECK_CALL = re.compile(r"^(?:check|test_check)\(", re.MULTILINE)
_PROMPT_COLUMNS = ("id", "task_id", "name", "prompt", "content")


def prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    instruction = optional_text(row, "instruct_prompt")
    if instruction is not None and flag(options, "is_freeform"):
        prompt = instruction
    else:
        prompt = completion_prompt(_prompt(row), _language(row, options).fence, options)
    return (Prompt(id=row_id(row), prompt=prompt, labels=_labels(row)),)


def _labels(row: Row) -> Mapping[str, Any]:
    own = {name: value for name, value in row.items() if name not in (*_PROMPT_COLUMNS, "labels")}
    return {**own, **labels_of(row)}


def trial(row: Row, completion: Completion, options: Options) -> Trial:
    language = _language(row, options)
    if language.execution_language == "python":
        return _python(row, completion, options, language)
    extracted, code = _program(row, completion, options, language)
    return program_trial(extracted, options, language=language.execution_language, code=code, tests=_tests(row))


def _python(row: Row, completion: Completion, options: Options, language: FunctionLanguage) -> Trial:
    tests = _tests(row)
    classes = bool(_TEST_CLASS.search(tests)) and "def check(" not in tests
    extracted, solution = _solution(row, completion, options, language)
    entry_point = _entry_point(row)
    if entry_point and "def check(" in tests and not _CHECK_CALL.search(tests):
        tests = f"{tests}\ncheck({entry_point})"
    return python_trial(
        extracted,
        options,
        solution=f"{language.header}{solution}",
        tests=tests,
        pytest=classes,
        run_s=_TEST_CLASSES_S if classes else _RUN_S,
        preamble=f"{language.header}{_prompt(row)}",
        entry=entry_point,
        shared=classes,
    )


def _solution(row: Row, completion: Completion, options: Options, language: FunctionLanguage) -> tuple[ExtractedCode, str]:
    """The function with all that stands before it."""
    prompt = _prompt(row)
    if flag(options, "is_freeform"):
        extracted = _answer(row, completion, language)
        before = optional_text(row, "code_prompt")
        # The imports of the prompt, which its author may rely on, come with a function of the same name that does nothing.
        return extracted, f"{before.rstrip()}\n    pass\n\n{extracted.code}" if before else extracted.code
    written = cut_at_function_end(completion.text, _stop_tokens(row), language)
    return _as_continuation(written), join_prompt(prompt, written)


def _program(row: Row, completion: Completion, options: Options, language: FunctionLanguage) -> tuple[ExtractedCode, str]:
    stop_tokens = _stop_tokens(row) or ()
    if flag(options, "is_freeform"):
        extracted = _answer(row, completion, language)
        body = answers.join_tests(extracted.code, _corrected_tests(row, language), stop_tokens, language, _prompt(row))
    else:
        written = cut_at_function_end(completion.text, stop_tokens, language)
        extracted = _as_continuation(written)
        body = f"{join_prompt(_prompt(row), written)}\n{_corrected_tests(row, language)}"
    return extracted, _file(body, language)


def _file(body: str, language: FunctionLanguage) -> str:
    if language.execution_language == "go_test":
        return merge_go_files([body], add_standard=True, drop_unused=True)
    if language.execution_language == "java":
        return language.header + answers.rename_to_main(body)
    if language.execution_language == "racket" and "#lang" not in body:
        return f"#lang racket\n{body}"
    return language.header + body


def _answer(row: Row, completion: Completion, language: FunctionLanguage) -> ExtractedCode:
    """The block that has the function; all that was written, where there is no block in it."""
    name = _entry_point(row) or answers.function_name(_prompt(row)) or None
    found = extract_freeform(completion, language.fence, first_block_only=True, entry_point=name)
    if found.code or fenced_blocks(completion.text) or incomplete_blocks(completion.text):
        return found
    return ExtractedCode(completion.text, "heuristic") if completion.text.strip() else EMPTY


def _as_continuation(written: str) -> ExtractedCode:
    return ExtractedCode(written, "heuristic") if written.strip() else ExtractedCode(written, "empty")


def _language(row: Row, options: Options) -> FunctionLanguage:
    """By the row; one that does not say is in the language its dataset is named after, else in Python."""
    told = optional_text(row, "language") or optional_text(labels_of(row), "language")
    named = options.dataset.removeprefix("humaneval_") if options.dataset.startswith("humaneval_") else "python"
    return function_language(told or (named if row.get("tests") is not None else "python"))


def _prompt(row: Row) -> str:
    return text(row, "prompt", "complete_prompt", "content")


def _tests(row: Row) -> str:
    return text(row, "tests", "test")


def _corrected_tests(row: Row, language: FunctionLanguage) -> str:
    slip, meant = language.published_typo
    return _tests(row).replace(slip, meant) if slip else _tests(row)


def _entry_point(row: Row) -> str:
    return optional_text(row, "entry_point") or optional_text(labels_of(row), "entry_point") or ""


def _stop_tokens(row: Row) -> tuple[str, ...] | None:
    if row.get("tests") is None:
        return None
    return texts(row, "stop_tokens") or texts(labels_of(row), "stop_tokens")


def reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    body = optional_text(row, "canonical_solution")
    if not body:
        return ()
    if not flag(options, "is_freeform"):
        return ((body, options),)
    return ((fence(join_prompt(_prompt(row), body), _language(row, options).fence), options),)


HUMANEVAL = Benchmark(name="HumanEvalDataset", prompts=prompts, trial=trial, reference=reference)
