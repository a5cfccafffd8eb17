"""VerilogEval, both versions: v1 with descriptions in files of their own, v2 with a text for each part of a problem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sandbox_runtime.benchmarks.importers.source_text import PublishedFile, Record
from sandbox_runtime.model.judge import Row

_SYSTEM_PROMPT = "Answer with Verilog of correct syntax in one fenced code block."
_COMPLETE_PROMPT = (
    "Complete this module up to its endmodule. Signals are clocked at the positive edge unless it is said otherwise."
)
_WRITE_PROMPT = "Write the module that is described here."


def read_v1(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Iterable[Row]:
    told = {record["task_id"]: record["detail_description"] for file in besides for record in file.records}
    records = [record for file in problems for record in file.records]
    return [_v1(number, record, told.get(record["task_id"], "")) for number, record in enumerate(records)]


def read_v2(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Iterable[Row]:
    records = [record for file in problems for record in file.records]
    return [_v2(number, record) for number, record in enumerate(records)]


def dataset_v1(file: PublishedFile) -> str:
    return "verilogeval_machine" if "machine" in file.name.lower() else "verilogeval_human"


def dataset_v2(file: PublishedFile) -> str:
    return "verilogeval_v2_complete" if file.records[0].get("ifc_txt") else "verilogeval_v2_spec"


def _v1(number: int, record: Record, description: str) -> Row:
    return {
        "id": number,
        "task_id": record["task_id"],
        "code_preface": record["prompt"],
        "description": description,
        "test": record["test"],
        "canonical_solution": record["canonical_solution"],
        "labels": {"system_prompt": _SYSTEM_PROMPT, "question_prompt": _COMPLETE_PROMPT},
    }


def _v2(number: int, record: Record) -> Row:
    """The reference is a module beside the bench; the answer is the same under another name."""
    preface = record.get("ifc_txt") or ""
    return {
        "id": number,
        "task_id": record["task_id"],
        "code_preface": preface,
        "description": record["prompt_txt"],
        "test": f"{record['test_sv']}\n{record['ref_sv']}",
        "canonical_solution": record["ref_sv"].replace("RefModule", "TopModule"),
        "labels": {"system_prompt": _SYSTEM_PROMPT, "question_prompt": _COMPLETE_PROMPT if preface else _WRITE_PROMPT},
    }
