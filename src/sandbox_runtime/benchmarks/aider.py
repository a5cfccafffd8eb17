"""Aider's benchmark: an exercise with its instructions and a stub, judged by the exercise's unit tests.

A row: id, content, labels {reference: the stub}, test {code with #<INSERT>, asset: the unit tests}, canonical_solution. The test
code copies the program to the name its unit tests import and runs them. Where it is of that form the same is done without putting
the unit tests on the box's disk: the program itself is known under that name.
"""

from __future__ import annotations

import dataclasses
import re

from sandbox_runtime.benchmarks.programs import MARKER, assets_of, code_of, template_trial, tests_of
from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_text, row_id, text
from sandbox_runtime.benchmarks.trials import python_trial
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import ExtractedCode, default_extract, text_before
from sandbox_runtime.model.job import File
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_RUN_S = 60.0
_PROMPT = "{content}\n\nWrite the whole Python program in one fenced code block. Keep the names in this stub:\n\n{stub}\n"
_COPIED_TO = re.compile(r"""shutil\.copy\(__file__, ["'](\w+)\.py["']\)""")
_UNITTEST_MAIN = re.compile(r"""unittest\.main\(["'](\w+)["']\)""")
_REGISTER_MODULE = """\
import sys as _sys
_sys.modules[{name!r}] = _sys.modules["__main__"]
"""
"""The module itself, not a copy of its names: tests put others in their place."""


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    stub = optional_text(labels_of(row), "reference") or ""
    content = text(row, "content").strip("\n")
    asked = _PROMPT.format(content=content, stub=fence(stub, "python"))
    wrap = options.extra.get("autoeval_wrap_prompt")
    if wrap:
        if not isinstance(wrap, str) or "{}" not in wrap:
            raise InvalidRequest("the option 'autoeval_wrap_prompt' must be a text with {} where the question goes")
        asked = wrap.replace("{}", asked, 1)
    return (Prompt(id=row_id(row), prompt=asked, labels=labels_of(row)),)


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    test = tests_of(row)
    extracted = default_extract(completion, "python")
    template, files = code_of(test), assets_of(test)
    tests = "\n".join(file.content.decode(errors="replace") for file in files)
    found = _find_unit_tests(template, files)
    if found is None:
        trial = template_trial(
            extracted,
            options,
            language="python",
            template=template,
            code=extracted.code,
            compile_s=_RUN_S,
            run_s=_RUN_S,
            files=files,
        )
    else:
        trial = tested_module_trial(extracted, options, *found, files=files)
    return dataclasses.replace(trial, full_code=template.replace(MARKER, extracted.code), test_code=tests)


def _find_unit_tests(template: str, files: tuple[File, ...]) -> tuple[str, File] | None:
    """The module's name and the file with its tests, where the template does no more than join them."""
    copied, tested = _COPIED_TO.search(template), _UNITTEST_MAIN.search(template)
    if copied is None or tested is None:
        return None
    named = [file for file in files if file.name == f"{tested[1]}.py"]
    return (copied[1], named[0]) if named else None


def tested_module_trial(
    extracted: ExtractedCode, options: Options, module: str, tests: File, *, files: tuple[File, ...], run_s: float = _RUN_S
) -> Trial:
    """A solution whose unit tests import it by name."""
    text_of_tests = text_before(tests.content.decode(errors="replace"), "if __name__ ==")
    return python_trial(
        extracted,
        options,
        solution=extracted.code,
        tests=f"{_REGISTER_MODULE.format(name=module)}\n{text_of_tests}",
        pytest=True,
        run_s=run_s,
        files=tuple(file for file in files if file.name != tests.name),
    )


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "canonical_solution")
    return ((fence(code, "python"), options),) if code else ()


AIDER = Benchmark(name="AiderBenchmarkDataset", prompts=_prompts, trial=_trial, reference=_reference)
