"""VerilogEval: a module after its description, simulated beside a reference by the row's test bench.

A row: id, task_id, code_preface (the module's head with its ports; empty where the answer is to bring it), description, test (the
bench, with the reference), canonical_solution, labels {system_prompt, question_prompt, fewshot}. The bench ends with exit code 0
whatever it found, so what counts is its last line: no mismatches, in at least one sample. The design shares a simulation with the
bench: one that ends it, prints its line or reaches for its parts is refused before it runs.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from sandbox_runtime.benchmarks.programs import program_trial
from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_text, row_id, text
from sandbox_runtime.benchmarks.trials import rejected_trial
from sandbox_runtime.judge.extraction import ExtractedCode, default_extract, fenced_blocks, freeform_v2, incomplete_blocks
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_COMPILE_S, _RUN_S = 60.0, 30.0
_ALL_MATCH = r"Mismatches: 0 in [1-9]\d* samples"
_HAS_MISMATCH = r"Mismatches: [1-9]\d* in"

_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_HEAD = re.compile(r"\bmodule\s+(\w+)\b(?:(?!\bmodule\b)[^;])*;", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_WORDS = "module input output inout wire reg logic signed unsigned integer int bit byte parameter localparam"
_NOT_PORTS = frozenset(_WORDS.split())
_TRICKS: Mapping[str, re.Pattern[str]] = {
    "the design ends the simulation": re.compile(r"\$(?:finish|stop|exit|fatal|system)\b"),
    "the design prints the bench's result": re.compile(r'"[^"\n]*Mismatch'),
    "the design reaches for the bench": re.compile(r"\b(?:tb|stats1|tb_match|tb_mismatch|stim1|good1)\b\s*(?:\.|=|<=)"),
    "the design uses the reference": re.compile(r"\b(?:reference_module|RefModule|stimulus_gen)\b"),
    "the design changes signals of others": re.compile(r"\b(?:force|release)\b|\$(?:fopen|readmem[bh]|value\$plusargs)\b"),
}


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    labels = labels_of(row)
    task = _task(row, labels)
    shown = optional_text(labels, "fewshot") if options.is_fewshot else None
    prompt = f"{shown}\n\nQuestion:\n{task}\n\nAnswer:\n" if shown else task
    return (Prompt(id=row_id(row), prompt=prompt, labels=labels),)


def _task(row: Row, labels: Mapping[str, object]) -> str:
    preface = optional_text(row, "code_preface")
    wishes = [labels.get("system_prompt"), labels.get("question_prompt"), text(row, "description")]
    said = [wish for wish in wishes if isinstance(wish, str) and wish]
    return "\n".join([*said, fence(preface, "verilog")] if preface else said)


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    preface = optional_text(row, "code_preface", "prompt") or ""
    extracted = _extract(completion, preface)
    design = extracted.code if _HEAD.search(extracted.code) else f"{preface}\n{extracted.code}"
    trial = program_trial(
        extracted,
        options,
        language="verilog",
        code=f"{text(row, 'test')}\n{design}",
        tests=text(row, "test"),
        compile_s=_COMPILE_S,
        run_s=_RUN_S,
        must_match=_ALL_MATCH,
        must_not_match=_HAS_MISMATCH,
    )
    trial = dataclasses.replace(trial, full_code=design)
    tricks = find_tricks(design)
    return dataclasses.replace(rejected_trial(trial, tricks[0]), tamper=tricks) if tricks else trial


def _extract(completion: Completion, preface: str) -> ExtractedCode:
    """A module with all the ports that were asked for is taken as it is, with those beside it. Of another, what stands behind
    its ports: the head is the row's own."""
    whole = _whole_answer(completion)
    asked = _HEAD.search(_COMMENT.sub("", preface))
    if asked is None or any(_same_head(found, asked) for found in _HEAD.finditer(_COMMENT.sub("", whole.code))):
        return whole
    return freeform_v2(completion.text, "verilog")


def _whole_answer(completion: Completion) -> ExtractedCode:
    found = default_extract(completion, "verilog")
    if found.kind != "empty" or fenced_blocks(completion.text) or incomplete_blocks(completion.text):
        return found
    return ExtractedCode(completion.text, "heuristic" if completion.text.strip() else "empty")


def _same_head(found: re.Match[str], asked: re.Match[str]) -> bool:
    return found[1] == asked[1] and _names(asked[0]) <= _names(found[0])


def _names(head: str) -> frozenset[str]:
    return frozenset(_NAME.findall(head)) - _NOT_PORTS


def find_tricks(design: str) -> tuple[str, ...]:
    """What a design tries on its own grading. Nothing that describes hardware needs any of it."""
    plain = _COMMENT.sub(" ", design)
    return tuple(told for told, pattern in _TRICKS.items() if pattern.search(plain))


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "canonical_solution")
    return ((fence(code, "verilog"), options),) if code else ()


VERILOG_EVAL = Benchmark(name="VerilogDataset", prompts=_prompts, trial=_trial, reference=_reference)
