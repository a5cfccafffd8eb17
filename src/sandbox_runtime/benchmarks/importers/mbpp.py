"""MBPP, whole and sanitized, and its enlarged tests in the original's form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sandbox_runtime.benchmarks.importers.source_text import PublishedFile, Record
from sandbox_runtime.model.judge import Row

_LABELS = ("test_setup_code", "challenge_test_list", "test_imports", "source_file")


def read(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Iterable[Row]:
    return [_row(record) for file in problems for record in file.records]


def dataset(file: PublishedFile) -> str:
    """The sanitized problems have imports for their tests in place of a setup."""
    return "mbpp_sanitized" if "test_imports" in file.records[0] else "mbpp"


def read_plus(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Iterable[Row]:
    return [{"id": record["task_id"], **record} for file in problems for record in file.records]


def _row(record: Record) -> Row:
    return {
        "id": record["task_id"],
        "content": record.get("text") or record.get("prompt"),
        "labels": {name: record[name] for name in _LABELS if name in record},
        "test_list": record["test_list"],
        "canonical_solution": record["code"],
    }
