"""MBXP and its kin: a function in one of many languages, put into a program that calls it.

A row: id, content, labels {task_id, programming_language, execution_language, fewshot, docs}, test {code with #<INSERT>, asset},
canonical_solution. Used by mbxp_*, humanevalds_* and oodtest_*; the dataset's name tells the language of the prompt.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from sandbox_runtime.benchmarks.programs import MARKER, assets_of, code_of, template_trial, tests_of
from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_text, row_id, text
from sandbox_runtime.benchmarks.sources.go import merge_go_files
from sandbox_runtime.benchmarks.trials import rejected_trial
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.antihack import passes_text_rule
from sandbox_runtime.judge.extraction import FENCED, ExtractedCode, default_extract, fenced_blocks, freeform_v2
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_COMPILE_S = _RUN_S = 30.0
_DEFAULT = "default"
_QUESTION_WORDS = {"en": ("Question:", "Answer:"), "zh": ("问题：", "答案：")}
_MODES = ("first", "all")


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    labels = labels_of(row)
    shown = _fewshot(labels, options)
    question = _wrap_prompt(text(row, "content"), options)
    prompt = f"{shown}\n\n{_format_question(question, options)}" if shown else question
    return (Prompt(id=row_id(row), prompt=prompt, labels=labels),)


def _fewshot(labels: Mapping[str, Any], options: Options) -> str:
    """The caller's own examples for this kind of task, else the row's, where examples are asked for."""
    own = options.extra.get("autoeval_custom_fewshot")
    if isinstance(own, Mapping):
        return str(own.get(str(labels.get("category")), own.get(_DEFAULT, "")) or "")
    return str(labels.get("fewshot") or "") if options.is_fewshot else ""


def _wrap_prompt(content: str, options: Options) -> str:
    """autoeval_wrap_prompt: a text around the question, whose place in it is {}."""
    wrap = options.extra.get("autoeval_wrap_prompt")
    if not wrap:
        return content
    if not isinstance(wrap, str) or "{}" not in wrap:
        raise InvalidRequest("the option 'autoeval_wrap_prompt' must be a text with {} where the question goes")
    return wrap.replace("{}", content, 1)


def _format_question(question: str, options: Options) -> str:
    before, after = _QUESTION_WORDS["en" if options.dataset.endswith("_en") else "zh"]
    return f"{before}{question}\n\n{after}"


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    labels, test = labels_of(row), tests_of(row)
    language = text(labels, "programming_language")
    runs = optional_text(labels, "execution_language") or language
    extracted = _extract(completion, language, options)
    template, code = _join_go_imports(code_of(test), extracted.code, runs)
    trial = template_trial(
        extracted,
        options,
        language=runs,
        template=template,
        code=code,
        compile_s=_COMPILE_S,
        run_s=_RUN_S,
        files=assets_of(test),
    )
    if passes_text_rule(extracted.code, language):
        return trial
    told = "the answer leaves with exit code 0"
    return dataclasses.replace(rejected_trial(trial, told), tamper=(told,))


def _join_go_imports(template: str, code: str, runs: str) -> tuple[str, str]:
    """Go wants the imports of the answer and those of the test in one place."""
    if runs not in ("go", "go_test"):
        return template, code
    return MARKER, merge_go_files([template.replace(MARKER, code)], add_standard=True, drop_unused=True)


def _extract(completion: Completion, language: str, options: Options) -> ExtractedCode:
    mode = options.extra.get("autoeval_extract_code_mode") or "first"
    if mode not in _MODES:
        raise InvalidRequest(f"the option 'autoeval_extract_code_mode' must be one of {', '.join(_MODES)}, not {mode!r}")
    if any(block.priority > FENCED for block in completion.custom):
        return default_extract(completion, language)
    return freeform_v2(
        completion.text,
        language,
        first_block_only=mode == "first",
        exactly_match=any(block.language for block in fenced_blocks(completion.text)),
        inner_function_only=_is_method_only(language, options.dataset),
    )


def _is_method_only(language: str, dataset: str) -> bool:
    """Where the test brings the class around the method."""
    return language == "csharp" or (language == "java" and dataset.startswith("humanevalds"))


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "canonical_solution")
    return ((fence(code, text(labels_of(row), "programming_language")), options),) if code else ()


MBXP = Benchmark(name="MBXPDataset", prompts=_prompts, trial=_trial, reference=_reference)
