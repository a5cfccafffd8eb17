"""EvoEval: problems of HumanEval made into others; the id tells of which category.

A row: id ("EvoEval_<category>_EvoEval/<n>"), content (the beginning of the function), test (defines check), labels {entry_point,
stop_tokens}.
"""

from __future__ import annotations

from sandbox_runtime.benchmarks.metrics import pass_at_k_by
from sandbox_runtime.benchmarks.prompts import completion_prompt, fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_text, row_id, text, texts
from sandbox_runtime.benchmarks.trials import extract_freeform, flag, python_trial
from sandbox_runtime.judge.extraction import ExtractedCode, default_extract, fenced_blocks, incomplete_blocks, trim_stop_tokens
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    prompt = completion_prompt(text(row, "content", "prompt"), "python", options)
    return (Prompt(id=row_id(row), prompt=prompt, labels=labels_of(row)),)


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    extracted = _extract(row, completion, options)
    tests = f"{text(row, 'test')}\ncheck({_entry_point(row)})"
    before, entry = text(row, "content", "prompt"), _entry_point(row)
    return python_trial(extracted, options, solution=extracted.code, tests=tests, preamble=before, entry=entry)


def _extract(row: Row, completion: Completion, options: Options) -> ExtractedCode:
    """An answer with fences holds the whole function; one without goes on where the prompt ends."""
    if flag(options, "is_freeform"):
        return default_extract(completion, "python")
    if fenced_blocks(completion.text) or incomplete_blocks(completion.text):
        return extract_freeform(completion, "python", first_block_only=True)
    written = trim_stop_tokens(completion.text, texts(labels_of(row), "stop_tokens"))
    return extract_freeform(completion, "python", text=f"{text(row, 'content', 'prompt')}\n{written}", first_block_only=True)


def _entry_point(row: Row) -> str:
    return optional_text(row, "entry_point") or text(labels_of(row), "entry_point")


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    body = optional_text(row, "canonical_solution")
    if not body:
        return ()
    whole = f"{text(row, 'content', 'prompt')}\n{body}"
    return ((body, options), (fence(whole, "python"), options))


EVOEVAL = Benchmark(
    name="EvoEvalDataset",
    prompts=_prompts,
    trial=_trial,
    metrics=pass_at_k_by('return str(result.id).split("EvoEval_")[-1].split("_EvoEval")[0]'),
    reference=_reference,
)
