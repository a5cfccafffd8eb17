"""NaturalCodeBench: problems as people ask them, with tests for pytest or JUnit.

A row: id, content, labels {programming_language}, test {code, asset}, canonical_solution. The language is the labels', else the
dataset's.
"""

from __future__ import annotations

import re

from sandbox_runtime.benchmarks.auto_eval import java_trial
from sandbox_runtime.benchmarks.programs import assets_of, code_of, tests_of
from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_text, row_id, text
from sandbox_runtime.benchmarks.trials import python_trial
from sandbox_runtime.judge.extraction import EMPTY, ExtractedCode, default_extract, fenced_blocks
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_COMPILE_S, _RUN_S = 40.0, 20.0
_SLOW_ROWS = {52: 40.0}
_TAG, _END_TAG = "[Python]", "[/Python]"
_CODE_START = re.compile(r"(?m)^(?:import|from|class|def)\b")


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    return (Prompt(id=row_id(row), prompt=text(row, "content"), labels=labels_of(row)),)


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    if _language(row, options) == "java":
        return java_trial(row, completion, options, compile_s=_COMPILE_S, run_s=_RUN_S)
    test = tests_of(row)
    extracted = _extract_python(completion)
    return python_trial(
        extracted,
        options,
        solution=f"import pytest\n{extracted.code}",
        tests=code_of(test),
        pytest=True,
        run_s=_SLOW_ROWS.get(row_number(row), _RUN_S),
        files=assets_of(test),
        shared=True,  # objects of libraries, files and figures that cannot cross between processes
    )


def row_number(row: Row) -> int:
    found = row_id(row)
    return int(found) if isinstance(found, int) or found.isdecimal() else -1


def _language(row: Row, options: Options) -> str:
    told = optional_text(labels_of(row), "programming_language")
    return told or ("java" if "java" in options.dataset else "python")


def _extract_python(completion: Completion) -> ExtractedCode:
    """Between tags, in a fence, or from the first line that looks like a program."""
    tagged, closed, _ = completion.text.partition(_TAG)[2].partition(_END_TAG)
    if closed and not completion.custom:
        return default_extract(Completion(tagged), "python") if fenced_blocks(tagged) else ExtractedCode(tagged, "fenced")
    found = default_extract(completion, "python")
    if found.kind in ("fenced", "incomplete_fenced"):
        return found
    begins = _CODE_START.search(completion.text)
    return ExtractedCode(completion.text[begins.start() :], "heuristic") if begins else EMPTY


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "canonical_solution")
    if not code:
        return ()
    return ((code if "```" in code else fence(code, _language(row, options)), options),)


NATURAL_CODE_BENCH = Benchmark(name="NaturalCodeBenchDataset", prompts=_prompts, trial=_trial, reference=_reference)
