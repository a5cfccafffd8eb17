"""Rows in Python: the answer is evaluated beside the row's function and compared with what the row has."""

from __future__ import annotations

import dataclasses

from sandbox_runtime.benchmarks.cruxeval.expressions import FUNCTION, ForbiddenAnswer, InvalidAnswer, parse_answer
from sandbox_runtime.benchmarks.cruxeval.modes import INPUT, find_answer, with_mode
from sandbox_runtime.benchmarks.row_columns import text
from sandbox_runtime.benchmarks.trials import python_trial, rejected_trial
from sandbox_runtime.judge.extraction import ExtractedCode
from sandbox_runtime.model.judge import Completion, Options, Row, Trial

_RUN_S = 30.0
_ANSWER = "told_answer"
"""The function that returns what the model answered."""


def python_row_trial(row: Row, completion: Completion, options: Options, mode: str) -> Trial:
    written = find_answer(completion.text)
    try:
        answer = parse_answer(written, mode)
    except InvalidAnswer as error:
        return _reject(_trial(row, options, mode, written, "None"), error)
    return _trial(row, options, mode, answer, answer)


def _trial(row: Row, options: Options, mode: str, told: str, answer: str) -> Trial:
    right = text(row, "output") if mode == INPUT else f"{FUNCTION}({text(row, 'input')})"
    return python_trial(
        ExtractedCode(told, "empty" if not told else "heuristic"),
        options,
        solution=f"{text(row, 'code')}\n\n\ndef {_ANSWER}():\n    return {answer}\n",
        tests=f"assert {_ANSWER}() == {right}",
        run_s=_RUN_S,
        preamble=text(row, "code"),
        entry=_ANSWER,
    )


def _reject(trial: Trial, error: InvalidAnswer) -> Trial:
    decided = rejected_trial(trial, str(error))
    return dataclasses.replace(decided, tamper=(str(error),)) if isinstance(error, ForbiddenAnswer) else decided


def python_reference(row: Row, options: Options, mode: str) -> tuple[tuple[str, Options], ...]:
    told = f"[ANSWER]\nassert {FUNCTION}({text(row, 'input')}) == {text(row, 'output')}\n[/ANSWER]"
    return ((told, with_mode(options, mode)),)
