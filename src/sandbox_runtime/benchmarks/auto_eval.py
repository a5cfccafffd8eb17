"""AutoEval: the general form. Whoever has a question, a program that tests an answer and maybe files needs no class of their own.

A row: id, content, labels {programming_language, execution_language, context, fewshot, prompt_template}, test {code, asset},
canonical_solution. The answer goes where the test has #<INSERT>, else in front of the test. Java answers are split into files and
run with JUnit; a report of Jest is told case by case.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from string import Template
from typing import Any

from sandbox_runtime.benchmarks.programs import MARKER, assets_of, code_of, program_trial, template_trial, tests_of
from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_text, row_id, text
from sandbox_runtime.benchmarks.sources.go import merge_go_files
from sandbox_runtime.benchmarks.sources.java import blocks_of, junit_files
from sandbox_runtime.benchmarks.trials import flag
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import ExtractedCode, default_extract, text_before
from sandbox_runtime.model.job import File
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial, Verdict

_COMPILE_S, _RUN_S = 40.0, 20.0
_RULE = "-" * 16
_QUESTION_WORDS = {"en": ("Question:", "Answer:"), "zh": ("问题：", "答案：")}
_JEST_REPORT = "jest-report.json"
_PAGE = "index.html"
_PYTHON_MAIN = "if __name__ =="


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    return (Prompt(id=row_id(row), prompt=_prompt(row, options), labels=labels_of(row)),)


def _prompt(row: Row, options: Options) -> str:
    content, locale = text(row, "content"), "zh" if options.locale == "zh" else "en"
    context, template = _option_or_label(row, options, "context"), _option_or_label(row, options, "prompt_template")
    fewshot = _option_or_label(row, options, "fewshot") if options.is_fewshot else ""
    if options.is_fewshot and not fewshot:
        raise InvalidRequest("is_fewshot is asked for, and neither the row's labels nor config.extra have a fewshot")
    if template:
        values = {"question": content, "fewshot": fewshot, "context": context, "locale": locale}
        return Template(template).safe_substitute(values)
    if not context and not fewshot:
        return content
    question, answer = _QUESTION_WORDS[locale]
    parts = [*([context, _RULE] if context else []), *([fewshot] if fewshot else []), f"{question}{content}", answer]
    return "\n".join(parts)


def _option_or_label(row: Row, options: Options, name: str) -> str:
    """The caller's word, else the row's."""
    value = options.extra.get(name) or labels_of(row).get(name) or ""
    if not isinstance(value, str):
        raise InvalidRequest(f"{name} must be a text, not {value!r}")
    return value


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    labels = labels_of(row)
    language = text(labels, "programming_language")
    if language == "java":
        return java_trial(row, completion, options, compile_s=_COMPILE_S, run_s=_RUN_S)
    extracted = default_extract(completion, language)
    runs = optional_text(labels, "execution_language") or language
    return _place_answer(tests_of(row), extracted, strip_entry_point(extracted.code, language), runs, language, options)


def _place_answer(
    test: Mapping[str, Any], extracted: ExtractedCode, code: str, runs: str, language: str, options: Options
) -> Trial:
    template, files = code_of(test), assets_of(test)
    if MARKER in template:
        code = repr(code) if flag(options, "repr_code") else code
    elif language == "html":
        files = (*(file for file in files if file.name != _PAGE), File(_PAGE, code.encode(errors="surrogatepass")))
        template, code = template + MARKER, ""
    else:
        template, code = f"{MARKER}\n{template}", text_before(code, _PYTHON_MAIN)
    if runs in ("go", "go_test"):
        template, code = MARKER, merge_go_files([template.replace(MARKER, code)])
    return template_trial(
        extracted,
        options,
        language=runs,
        template=template,
        code=code,
        compile_s=_COMPILE_S,
        run_s=_RUN_S,
        files=files,
        fetch=(_JEST_REPORT,) if runs == "jest" else (),
    )


def java_trial(row: Row, completion: Completion, options: Options, *, compile_s: float, run_s: float) -> Trial:
    """The answer's types and the tests', each in a file of its own; the class path has no other program."""
    test = tests_of(row)
    extracted = _java_blocks(completion)
    tests = code_of(test)
    trial = program_trial(
        extracted,
        options,
        language="junit",
        code="",
        tests=tests,
        compile_s=compile_s,
        run_s=run_s,
        files=(*assets_of(test), *junit_files(extracted.code, tests)),
    )
    return dataclasses.replace(trial, full_code=f"{extracted.code}\n{tests}")


def _java_blocks(completion: Completion) -> ExtractedCode:
    """All blocks: answers of several classes often have one for each."""
    found = default_extract(completion, "java")
    return found if completion.custom or found.kind != "fenced" else ExtractedCode(blocks_of(completion.text), found.kind)


def strip_entry_point(code: str, language: str) -> str:
    """Without what would run before the tests do, or beside them."""
    if language == "python":
        code = text_before(code, 'if __name__ == "__main__":')
    elif language == "cpp":
        code = text_before(code, "int main()")
    elif language in ("go", "go_test"):
        code = code.replace("package main", "", 1)
    return text_before(code, "# Example usage")


def _extra(row: Row, verdict: Verdict) -> Mapping[str, Any]:
    """What Jest says of each test, where Jest was run."""
    report = next((case.files[_JEST_REPORT] for case in verdict.cases if _JEST_REPORT in case.files), None)
    return {} if report is None else {"jest_cases": jest_cases(report)}


def jest_cases(report: bytes) -> list[dict[str, Any]]:
    """The report is written by a program that is judged: whatever is not as it should be is left out."""
    try:
        told = json.loads(report)
    except ValueError:
        return []
    suites = told.get("testResults") if isinstance(told, dict) else None
    return [_jest_case(suite, case) for suite in _objects(suites) for case in _suite_cases(suite)]


def _suite_cases(suite: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Jest has two forms of its report."""
    return _objects(suite.get("testResults") or suite.get("assertionResults"))


def _jest_case(suite: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    titles = case.get("ancestorTitles")
    return {
        "passed": case.get("status") == "passed",
        "full_name": str(case.get("fullName", "")),
        "file": str(suite.get("testFilePath") or suite.get("name") or ""),
        "suite": " > ".join(str(title) for title in titles) if isinstance(titles, list) else "",
        "test": str(case.get("title", "")),
        "failure_messages": [str(message) for message in case.get("failureMessages") or ()],
    }


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "canonical_solution")
    if not code:
        return ()
    return ((code if "```" in code else fence(code, text(labels_of(row), "programming_language")), options),)


AUTO_EVAL = Benchmark(name="AutoEvalDataset", prompts=_prompts, trial=_trial, extra=_extra, reference=_reference)
