"""MHPP: a Python function after its docstring, judged by assertions; problems are of seven kinds of difficulty.

A row: id, content, test (assertions), labels {difficulty_type}.
"""

from __future__ import annotations

import re

from sandbox_runtime.benchmarks.metrics import pass_at_k_by
from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_text, row_id, text
from sandbox_runtime.benchmarks.trials import flag, python_trial
from sandbox_runtime.judge.extraction import ExtractedCode, default_extract
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_QUOTES = '"""'
_CODE = re.compile(r"^(?:from|import|def|class|@)\b", re.MULTILINE)


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    content = text(row, "content")
    if flag(options, "pretrain_mode"):
        content = _strip_introduction(content)
    return (Prompt(id=row_id(row), prompt=_with_example(content, text(row, "test")), labels=labels_of(row)),)


def _strip_introduction(content: str) -> str:
    """Without the sentences in front of the function."""
    found = _CODE.search(content)
    return content[found.start() :] if found else content


def _with_example(content: str, test: str) -> str:
    """The first test, as the last line of the docstring."""
    head, quotes, _ = content.rpartition(_QUOTES)
    first = test.strip().partition("\n")[0]
    return f"{head}\n    e.g. {first}\n    {_QUOTES}\n" if quotes else content


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    extracted = _extract(text(row, "content"), completion)
    return python_trial(extracted, options, solution=extracted.code, tests=text(row, "test"), info=labels_of(row))


def _extract(content: str, completion: Completion) -> ExtractedCode:
    """The function, or the body of the one that was asked for."""
    found = default_extract(completion, "python")
    if found.code.strip():
        return found
    return default_extract(Completion(text=f"{_strip_introduction(content)}\n{completion.text}"), "python")


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "canonical_solution")
    return ((fence(code, "python"), options),) if code else ()


MHPP = Benchmark(
    name="MHPPDataset",
    prompts=_prompts,
    trial=_trial,
    metrics=pass_at_k_by('return result.tests[0].test_info["difficulty_type"]'),
    reference=_reference,
)
