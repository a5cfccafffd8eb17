"""Rows in other languages: the answer is put into the text of the row's check, and the program is run."""

from __future__ import annotations

import dataclasses

from sandbox_runtime.benchmarks.columns import optional_text, row_id, text
from sandbox_runtime.benchmarks.cruxeval.expressions import Copied, NoAnswer, expression
from sandbox_runtime.benchmarks.cruxeval.modes import ASKED, INPUT, answer_in, in_mode
from sandbox_runtime.benchmarks.cruxeval.placeholders import placed
from sandbox_runtime.benchmarks.programs import program_trial
from sandbox_runtime.benchmarks.sources.go import merged
from sandbox_runtime.benchmarks.trials import python_trial, refused
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import ExtractedCode
from sandbox_runtime.model.judge import Completion, Options, Row, Trial

_STEP_S = 30.0
_CALLS = {
    "csharp": ("F(", ")"),
    "java": ("f(", ")"),
    "scala": ("f(", ")"),
    "swift": ("f(", ")"),
    "perl": ("$candidate->(", ")"),
    "ruby": ("candidate.call(", ")"),
    "racket": ("(candidate ", ")"),
    "bash": ("$(candidate ", ")"),
}
_USUAL_CALL = ("candidate(", ")")


def many_trial(row: Row, completion: Completion, options: Options, mode: str) -> Trial:
    language = detect_language(row)
    check = text(row, mode)
    told = _inner(answer_in(completion.text), check, mode, language)
    try:
        answer = _python_answer(told, mode) if language == "python" else placed(told, mode, language)
    except NoAnswer as error:
        decided = refused(_trial(row, options, language, told, check), str(error))
        return dataclasses.replace(decided, tamper=(str(error),)) if isinstance(error, Copied) else decided
    return _trial(row, options, language, told, check.replace(ASKED, answer))


def detect_language(row: Row) -> str:
    """The id without its number."""
    language, line, number = str(row_id(row)).rpartition("_")
    if not line or not number.isdigit():
        raise InvalidRequest(f"the id {row_id(row)!r} does not begin with a language: it must be like 'cpp_12'")
    return language


def _inner(answer: str, check: str, mode: str, language: str) -> str:
    """What stands in the place of ????: models repeat the line of the check, or the call, around it."""
    line = next(line for line in check.splitlines() if ASKED in line).strip()
    answer = _between(answer, *line.split(ASKED, 1))
    return _between(answer, *_CALLS.get(language, _USUAL_CALL)) if mode == INPUT else answer


def _between(answer: str, head: str, tail: str) -> str:
    if answer.startswith(head) and answer.endswith(tail) and len(answer) >= len(head) + len(tail):
        return answer[len(head) : len(answer) - len(tail)].strip()
    return answer


def _python_answer(told: str, mode: str) -> str:
    """The arguments are those of a call: written as one, they can be read."""
    if mode == INPUT:
        return expression(f"f({told})", mode).removeprefix("f(").removesuffix(")")
    return f"({expression(told, mode)})"


def _trial(row: Row, options: Options, language: str, told: str, check: str) -> Trial:
    code, extracted = text(row, "code"), ExtractedCode(told, "heuristic" if told else "empty")
    if language == "python":
        return python_trial(extracted, options, solution=code, tests=check, run_s=_STEP_S, shared=True)
    whole = f"{code}\n{check}"
    if language == "go_test":
        whole = merged([whole])
    if language == "java":
        whole = whole.replace("class Problem", "class Main")
    return program_trial(extracted, options, language=language, code=whole, tests=check, compile_s=_STEP_S, run_s=_STEP_S)


def many_reference(row: Row, options: Options, mode: str) -> tuple[tuple[str, Options], ...]:
    """What the whole check has where the other one asks."""
    whole, check = optional_text(row, "gt"), text(row, mode)
    head, _, tail = check.partition(ASKED)
    if not whole or not (whole.startswith(head) and whole.endswith(tail)):
        return ()
    told = whole[len(head) : len(whole) - len(tail)]
    return ((f"[ANSWER]{told}[/ANSWER]", in_mode(options, mode)),)
