"""Rows in Python: the answer is evaluated beside the row's function and compared with what the row has."""

from __future__ import annotations

import dataclasses

from sandbox_runtime.benchmarks.columns import text
from sandbox_runtime.benchmarks.cruxeval.expressions import FUNCTION, Copied, NoAnswer, expression
from sandbox_runtime.benchmarks.cruxeval.modes import INPUT, answer_in, in_mode
from sandbox_runtime.benchmarks.trials import python_trial, refused
from sandbox_runtime.judge.extraction import ExtractedCode
from sandbox_runtime.model.judge import Completion, Options, Row, Trial

_RUN_S = 30.0
_ANSWER = "told_answer"
"""The function that returns what the model answered."""


def python_trial_of(row: Row, completion: Completion, options: Options, mode: str) -> Trial:
    written = answer_in(completion.text)
    try:
        answer = expression(written, mode)
    except NoAnswer as error:
        return _refused(_trial(row, options, mode, written, "None"), error)
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


def _refused(trial: Trial, error: NoAnswer) -> Trial:
    decided = refused(trial, str(error))
    return dataclasses.replace(decided, tamper=(str(error),)) if isinstance(error, Copied) else decided


def python_reference(row: Row, options: Options, mode: str) -> tuple[tuple[str, Options], ...]:
    told = f"[ANSWER]\nassert {FUNCTION}({text(row, 'input')}) == {text(row, 'output')}\n[/ANSWER]"
    return ((told, in_mode(options, mode)),)
