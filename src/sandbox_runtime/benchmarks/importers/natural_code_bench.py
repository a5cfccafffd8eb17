"""NaturalCodeBench: problems with tests, and reference answers in files beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sandbox_runtime.benchmarks.importers.source_text import PublishedFile, Record
from sandbox_runtime.model.judge import Row

_FIRST_ID = 131
"""The authors' numbers begin here; those of the tables with 0."""


def read(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Iterable[Row]:
    answers = {record["_id"]: record["response"] for file in besides for record in file.records}
    return [_row(record, answers.get(record["_id"])) for file in problems for record in file.records]


def _row(record: Record, answer: str | None) -> Row:
    language = _language(str(record["prompt"]))
    setup = record.get("setup_code") or ""
    return {
        "id": int(record["_id"]) - _FIRST_ID,
        "content": record["prompt"],
        "labels": {
            "programming_language": language,
            "execution_language": language,
            "original_id": record["_id"],
            "original_problem": record["problem"],
            "tags": record.get("classification"),
        },
        "test": {"code": f"{setup}\n{record['testcases']}" if setup else record["testcases"], "asset": None},
        "canonical_solution": answer or record.get("reference_solution") or "",
    }


def _language(prompt: str) -> str:
    """The one whose block is asked for first: a problem may be about blocks of others."""
    places = {prompt.find(f"```{name}"): name for name in ("java", "python") if f"```{name}" in prompt}
    return places[min(places)] if places else "python"
