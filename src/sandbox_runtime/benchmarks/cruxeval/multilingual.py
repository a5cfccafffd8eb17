"""Rows in other languages: the answer is put into the text of the row's check, and the program is run."""

from __future__ import annotations

import dataclasses

from sandbox_runtime.benchmarks.cruxeval.expressions import ForbiddenAnswer, InvalidAnswer, parse_answer
from sandbox_runtime.benchmarks.cruxeval.modes import INPUT, PLACEHOLDER, find_answer, with_mode
from sandbox_runtime.benchmarks.cruxeval.placeholders import check_answer
from sandbox_runtime.benchmarks.programs import program_trial
from sandbox_runtime.benchmarks.row_columns import optional_text, row_id, text
from sandbox_runtime.benchmarks.sources.go import merge_go_files
from sandbox_runtime.benchmarks.trials import python_trial, rejected_trial
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import ExtractedCode
from sandbox_runtime.model.judge import Completion, Options, Row, Trial

_STEP_S = 30.0
_CALL_SYNTAX = {
    "csharp": ("F(", ")"),
    "java": ("f(", ")"),
    "scala": ("f(", ")"),
    "swift": ("f(", ")"),
    "perl": ("$candidate->(", ")"),
    "ruby": ("candidate.call(", ")"),
    "racket": ("(candidate ", ")"),
    "bash": ("$(candidate ", ")"),
}
_DEFAULT_CALL = ("candidate(", ")")


def multilingual_trial(row: Row, completion: Completion, options: Options, mode: str) -> Trial:
    language = row_language(row)
    check = text(row, mode)
    told = _strip_repeated_check(find_answer(completion.text), check, mode, language)
    try:
        answer = _python_answer(told, mode) if language == "python" else check_answer(told, mode, language)
    except InvalidAnswer as error:
        decided = rejected_trial(_trial(row, options, language, told, check), str(error))
        return dataclasses.replace(decided, tamper=(str(error),)) if isinstance(error, ForbiddenAnswer) else decided
    return _trial(row, options, language, told, check.replace(PLACEHOLDER, answer))


def row_language(row: Row) -> str:
    """The id without its number."""
    language, line, number = str(row_id(row)).rpartition("_")
    if not line or not number.isdigit():
        raise InvalidRequest(f"the id {row_id(row)!r} does not begin with a language: it must be like 'cpp_12'")
    return language


def _strip_repeated_check(answer: str, check: str, mode: str, language: str) -> str:
    """What stands in the place of ????: models repeat the line of the check, or the call, around it."""
    line = next(line for line in check.splitlines() if PLACEHOLDER in line).strip()
    answer = _strip_around(answer, *line.split(PLACEHOLDER, 1))
    return _strip_around(answer, *_CALL_SYNTAX.get(language, _DEFAULT_CALL)) if mode == INPUT else answer


def _strip_around(answer: str, head: str, tail: str) -> str:
    if answer.startswith(head) and answer.endswith(tail) and len(answer) >= len(head) + len(tail):
        return answer[len(head) : len(answer) - len(tail)].strip()
    return answer


def _python_answer(told: str, mode: str) -> str:
    """The arguments are those of a call: written as one, they can be read."""
    if mode == INPUT:
        return parse_answer(f"f({told})", mode).removeprefix("f(").removesuffix(")")
    return f"({parse_answer(told, mode)})"


def _trial(row: Row, options: Options, language: str, told: str, check: str) -> Trial:
    code, extracted = text(row, "code"), ExtractedCode(told, "heuristic" if told else "empty")
    if language == "python":
        return python_trial(extracted, options, solution=code, tests=check, run_s=_STEP_S, shared=True)
    whole = f"{code}\n{check}"
    if language == "go_test":
        whole = merge_go_files([whole])
    if language == "java":
        whole = whole.replace("class Problem", "class Main")
    return program_trial(extracted, options, language=language, code=whole, tests=check, compile_s=_STEP_S, run_s=_STEP_S)


def multilingual_reference(row: Row, options: Options, mode: str) -> tuple[tuple[str, Options], ...]:
    """What the whole check has where the other one asks."""
    whole, check = optional_text(row, "gt"), text(row, mode)
    head, _, tail = check.partition(PLACEHOLDER)
    if not whole or not (whole.startswith(head) and whole.endswith(tail)):
        return ()
    told = whole[len(head) : len(whole) - len(tail)]
    return ((f"[ANSWER]{told}[/ANSWER]", with_mode(options, mode)),)
