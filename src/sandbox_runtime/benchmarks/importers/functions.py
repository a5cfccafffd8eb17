"""HumanEval and its kin: their benchmarks read the records as they are; what is to be found out is which dataset they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sandbox_runtime.benchmarks.importers.source_text import PublishedFile
from sandbox_runtime.model.judge import Row


def read(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Iterable[Row]:
    """Without the columns of the carrier's own."""
    return [{name: value for name, value in record.items() if name != "_id"} for file in problems for record in file.records]


def dataset_of_multipl_e(file: PublishedFile) -> str:
    language = str(file.records[0]["language"])
    return f"multiple_{language.removesuffix('_test.go')}"


def dataset_of_x(file: PublishedFile) -> str:
    named = str(file.records[0]["task_id"]).partition("/")[0].lower()
    return f"humaneval_x_{'js' if named == 'javascript' else named}"


def dataset_of_big(file: PublishedFile) -> str:
    return "bigcodebench_hard" if "hard" in file.stem.lower() else "bigcodebench"


def dataset_of_plus(file: PublishedFile) -> str:
    return "mbppplus" if str(file.records[0]["task_id"]).lower().startswith("mbpp") else "humanevalplus"


def dataset_of_humaneval(file: PublishedFile) -> str:
    """The enlarged tests come in the original's form too: only the name tells."""
    return "humanevalplus" if "plus" in file.stem.lower() else "humaneval_python"
