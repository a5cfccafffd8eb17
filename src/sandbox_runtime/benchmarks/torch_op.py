"""CUDA kernels for PyTorch operators: the answer is compiled and compared with PyTorch on a GPU.

A row: id, content, test {asset: compile.py, run.py and what they need}, canonical_answer. The answer becomes answer.cu beside
them. Both programs are the row's own and end with an exit code; a machine without a GPU says that it has none.
"""

from __future__ import annotations

import dataclasses

from sandbox_runtime.benchmarks.programs import assets_of, program_trial, tests_of
from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_text, row_id, text
from sandbox_runtime.judge.extraction import default_extract
from sandbox_runtime.model.job import File
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_ANSWER = "answer.cu"
_CORRECT = r'"is_correct": true'
"""What the rows' own comparison prints of a right answer."""
_COMPILE_S, _RUN_S = 300.0, 120.0


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    return (Prompt(id=row_id(row), prompt=text(row, "content"), labels=labels_of(row)),)


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    extracted = default_extract(completion, "cpp")
    given = tuple(file for file in assets_of(tests_of(row)) if file.name != _ANSWER)
    answer = File(_ANSWER, extracted.code.encode(errors="surrogatepass"))
    trial = program_trial(
        extracted,
        options,
        language="python_gpu",
        code="",
        tests="\n".join(file.content.decode(errors="replace") for file in given),
        compile_s=_COMPILE_S,
        run_s=_RUN_S,
        files=(*given, answer),
        must_match=_CORRECT if any(b'"is_correct"' in file.content for file in given) else "",
    )
    return dataclasses.replace(trial, full_code=extracted.code)


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "canonical_answer", "canonical_solution")
    return ((fence(code, "cpp"), options),) if code else ()


TORCH_OP = Benchmark(name="TorchOpDataset", prompts=_prompts, trial=_trial, reference=_reference)
