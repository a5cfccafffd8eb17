"""MiniF2F in Lean 4: statements in one file, or each in a Lean file of its own; proofs in an archive of Lean files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from sandbox_runtime.benchmarks.importers.source_text import PublishedFile, Record
from sandbox_runtime.model.judge import Row

_OPEN_END = re.compile(r":=\s*(?:by\s*)?(?:sorry\s*)?\Z")
_SPLITS = {"test": "test", "valid": "valid"}


def read(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Iterable[Row]:
    return [_row(record) for file in problems for record in file.records]


def dataset(file: PublishedFile) -> str:
    return f"minif2f_lean4_{'valid' if 'valid' in file.stem else 'test'}"


def read_files(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Iterable[Row]:
    return [row for file in problems for record in file.records for row in _file_rows(record)]


def dataset_of_files(file: PublishedFile) -> str:
    return "minif2f_lean4_test"


def _row(record: Record) -> Row:
    return {
        "id": record["name"],
        "content": _without_proof(record["formal_statement"]),
        "labels": {
            "informal_stmt": str(record.get("informal_prefix", "")).strip().removeprefix("/--").removesuffix("-/").strip()
        },
        "header": record.get("header") or "",
        "split": record["split"],
        "canonical_answer": "",
    }


def _file_rows(record: Record) -> Iterator[Row]:
    """A file is called after its theorem; those that only gather others have none."""
    lean, path = str(record["lean"]), PurePosixPath(str(record["path"]))
    found = re.search(rf"(?m)^theorem\s+{re.escape(path.stem)}\b", lean)
    if found is None:
        return
    begins = found.start()
    sign = _find_proof_sign(lean, begins)
    proof = lean[sign:].strip()
    yield {
        "id": path.stem,
        "content": f"{lean[begins:sign].rstrip()} := by sorry",
        "labels": {},
        "header": _header(lean[:begins]),
        "split": _SPLITS.get(path.parent.name.lower(), ""),
        "canonical_answer": "" if _OPEN_END.fullmatch(proof) else lean,
    }


def _header(before: str) -> str:
    lines = [line for line in before.split("\n") if line.startswith(("import ", "open ", "set_option "))]
    return "\n".join(lines) + "\n"


def _find_proof_sign(lean: str, begins: int) -> int:
    """The first := outside of brackets; the end where there is none."""
    depth = 0
    for found in re.finditer(r"[(\[{⟨]|[)\]}⟩]|:=", lean[begins:]):
        depth += (found[0] in "([{⟨") - (found[0] in ")]}⟩")
        if found[0] == ":=" and depth <= 0:
            return begins + found.start()
    return len(lean)


def _without_proof(statement: str) -> str:
    opened = _OPEN_END.sub("", statement.rstrip()).rstrip()
    return f"{opened} := by sorry"
