"""PAL-Math: a question, and a Python function solution() whose value is the answer.

A row: id ("asdiv/0"), content (the whole prompt), labels, test {"asset": {"answer.json": base64 of {"gt": …}}},
canonical_solution {"code", …}. The value is printed in one box and compared in another (`inside.equality`), which alone knows the
right answer: the comparison may have to read both as mathematics, and what a solution printed is nothing to be read beside the
judge.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, mapping, optional_json, optional_text, row_id, text
from sandbox_runtime.benchmarks.trials import limits, value_program
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import ExtractedCode, default_extract, fenced_blocks
from sandbox_runtime.model.job import Job
from sandbox_runtime.model.judge import Benchmark, Case, Check, Completion, Options, Prompt, Row, Trial

__all__ = ["PAL_MATH"]

_RUN_S, _COMPARE_S = 20.0, 60.0
_ANSWER = "answer.json"
_SOLUTION = re.compile(r"^def[ \t]+solution[ \t]*\(", re.MULTILINE)


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    return (Prompt(id=row_id(row), prompt=text(row, "content", "input"), labels=labels_of(row)),)


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    extracted = _extract(completion)
    whole = value_program(extracted.code, "str(solution())")
    return Trial(
        job=Job(language="python", code=whole, run_limits=limits(options.run_timeout_s, _RUN_S, threads=1)),
        cases=(Case(expected=_expected_answer(row)),),
        check=Check(name="program", job=Job(language="python", code=_checker_source(), run_limits=limits(None, _COMPARE_S))),
        extracted_code=extracted.code,
        extracted_type=extracted.kind,
        full_code=whole,
    )


def _extract(completion: Completion) -> ExtractedCode:
    """The first block that has the function: models write others around it."""
    if not completion.custom:
        for block in fenced_blocks(completion.text):
            if _SOLUTION.search(block.code):
                return ExtractedCode(block.code, "fenced_blocks")
    return default_extract(completion, "python")


def _checker_source() -> str:
    return resources.files(f"{__package__}.inside").joinpath("equality.py").read_text(encoding="utf-8")


def _expected_answer(row: Row) -> str:
    if row.get("test") is None and row.get("target") is not None:
        return _as_text(row["target"])
    assets = mapping(mapping(row, "test"), "asset")
    packed = assets.get(_ANSWER)
    if not isinstance(packed, str):
        raise InvalidRequest(f"the row's test has no asset {_ANSWER}")
    try:
        answer = json.loads(base64.b64decode(packed, validate=True))
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest(f"{_ANSWER} must be base64 of JSON: {error}") from error
    if not isinstance(answer, Mapping) or "gt" not in answer:
        raise InvalidRequest(f"{_ANSWER} must be an object with the right answer as gt")
    return _as_text(answer["gt"])


def _as_text(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer)


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "code") or _canonical_code(row)
    return ((fence(code, "python"), options),) if code else ()


def _canonical_code(row: Row) -> str:
    held = row.get("canonical_solution")
    if isinstance(held, str) and not held.lstrip().startswith("{"):
        return held
    value = optional_json(row, "canonical_solution")
    return optional_text(value, "code") or "" if isinstance(value, Mapping) else ""


PAL_MATH = Benchmark(name="PalMathDataset", prompts=_prompts, trial=_trial, reference=_reference)
