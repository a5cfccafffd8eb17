"""CanItEdit: a program and an instruction to change it; the changed program is judged by tests.

A row: id, content (the program), labels {instruction_descriptive, instruction_lazy, programming_language}, test {code},
canonical_solution. `extra.instruction` chooses which of the two instructions is given: descriptive (the default) or lazy.
"""

from __future__ import annotations

from sandbox_runtime.benchmarks.programs import MARKER, assets_of, code_of, template_trial, tests_of
from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_text, row_id, text
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import default_extract
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_RUN_S = 20.0
_KINDS = ("descriptive", "lazy")
_PROMPT = (
    "Change the following program.\n\n{program}\n\n{instruction}\n\nAnswer with the whole program in one fenced code block.\n"
)


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    kind = options.extra.get("instruction") or _KINDS[0]
    if kind not in _KINDS:
        raise InvalidRequest(f"the option 'instruction' must be one of {', '.join(_KINDS)}, not {kind!r}")
    instruction = text(labels_of(row), f"instruction_{kind}")
    asked = _PROMPT.format(program=fence(text(row, "content"), _language(row)), instruction=instruction)
    return (Prompt(id=row_id(row), prompt=asked, labels=labels_of(row)),)


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    test, language = tests_of(row), _language(row)
    extracted = default_extract(completion, language)
    return template_trial(
        extracted,
        options,
        language=optional_text(labels_of(row), "execution_language") or language,
        template=f"{MARKER}\n{code_of(test)}",
        code=extracted.code,
        compile_s=_RUN_S,
        run_s=_RUN_S,
        files=assets_of(test),
    )


def _language(row: Row) -> str:
    return optional_text(labels_of(row), "programming_language") or "python"


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "canonical_solution")
    return ((fence(code, _language(row)), options),) if code else ()


CAN_IT_EDIT = Benchmark(name="CanItEditDataset", prompts=_prompts, trial=_trial, reference=_reference)
