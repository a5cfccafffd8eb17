"""EvalPlus: HumanEval and MBPP with many more inputs.

Rows come in two forms. With the tests as a text (the original's form): task_id, prompt, test, and entry_point and
canonical_solution (HumanEval+) or code and test_imports (MBPP+). With inputs: task_id, prompt, entry_point, canonical_solution,
base_input, plus_input, atol; what is right is what the reference solution gives for them, which the tests find out as they go.
"""

from __future__ import annotations

import re

from sandbox_runtime.benchmarks.evalplus.inputs import tests_by_inputs
from sandbox_runtime.benchmarks.functions import headers
from sandbox_runtime.benchmarks.functions.completion import join_prompt, python_body
from sandbox_runtime.benchmarks.prompts import completion_prompt, fence
from sandbox_runtime.benchmarks.row_columns import optional_text, row_id, text, texts
from sandbox_runtime.benchmarks.trials import extract_freeform, python_trial
from sandbox_runtime.judge.extraction import ExtractedCode, fenced_blocks, incomplete_blocks
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

__all__ = ["EVALPLUS"]

_RUN_S = 60.0
_LABEL_COLUMNS = ("entry_point", "atol", "source_file")
_INSTRUCTION = "Answer with a Python function in one fenced code block. It should pass this test:\n\n"


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    labels = {name: row[name] for name in _LABEL_COLUMNS if name in row}
    return (Prompt(id=row_id(row), prompt=_prompt(row, options), labels=labels),)


def _prompt(row: Row, options: Options) -> str:
    prompt = text(row, "prompt")
    if _is_function_prompt(row):
        return completion_prompt(prompt, "python", options)
    shown = texts(row, "test_list")[:1]
    return f"{prompt.rstrip()}\n\n{_INSTRUCTION}{shown[0]}\n" if shown else prompt


def _is_function_prompt(row: Row) -> bool:
    """HumanEval+: the prompt is code that the solution goes on with."""
    return re.search(r"^def ", text(row, "prompt"), re.MULTILINE) is not None


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    extracted = _extract(row, completion)
    return python_trial(
        extracted,
        options,
        solution="\n".join([headers.PYTHON, *texts(row, "test_imports"), extracted.code]),
        tests=_tests(row),
        run_s=_RUN_S,
        preamble=f"{headers.PYTHON}{text(row, 'prompt')}" if _is_function_prompt(row) else "",
        entry=_entry_point(row),
    )


def _extract(row: Row, completion: Completion) -> ExtractedCode:
    """A whole function, in a block or not; or what a model goes on with where the prompt ends."""
    name, prompt = _entry_point(row), text(row, "prompt")
    within = bool(fenced_blocks(completion.text) or incomplete_blocks(completion.text) or completion.custom)
    if within or not _is_function_prompt(row) or f"def {name}" in completion.text:
        found = extract_freeform(completion, "python", first_block_only=True, entry_point=name or None)
        lacks = _is_function_prompt(row) and name and f"def {name}" not in found.code
        return ExtractedCode(join_prompt(prompt, found.code), found.kind) if lacks else found
    return ExtractedCode(join_prompt(prompt, python_body(completion.text)), "heuristic")


def _entry_point(row: Row) -> str:
    return optional_text(row, "entry_point") or ""


def _tests(row: Row) -> str:
    if row.get("base_input") is not None:
        return tests_by_inputs(row)
    tests = text(row, "test")
    return f"{tests}\ncheck({_entry_point(row)})" if "def check(" in tests and _entry_point(row) else tests


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "canonical_solution", "code")
    if not code:
        return ()
    whole = join_prompt(text(row, "prompt"), code) if _is_function_prompt(row) else code
    return ((fence(whole, "python"), options),)


EVALPLUS = Benchmark(name="EvalPlusDataset", prompts=_prompts, trial=_trial, reference=_reference)
