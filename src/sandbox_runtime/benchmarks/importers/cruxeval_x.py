"""CRUXEval-X: a function in one of nineteen languages and its check, once with the input left out, once with the output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sandbox_runtime.benchmarks.importers.source_text import PublishedFile, Record
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Row

_PLACEHOLDER = "????"
_LANGUAGES: Mapping[str, str] = {
    "cpp": "cpp",
    "cs": "csharp",
    "d": "D_ut",
    "go": "go_test",
    "java": "java",
    "jl": "julia",
    "js": "nodejs",
    "lua": "lua",
    "php": "php",
    "pl": "perl",
    "py": "python",
    "r": "R",
    "rb": "ruby",
    "rkt": "racket",
    "rs": "rust",
    "scala": "scala",
    "sh": "bash",
    "swift": "swift",
    "ts": "typescript",
}


def read(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Iterable[Row]:
    return [_row(_language(file), record) for file in problems for record in file.records]


def _language(file: PublishedFile) -> str:
    found = _LANGUAGES.get(file.stem)
    if found is None:
        raise InvalidRequest(f"{file.name} must be called after its language: {', '.join(_LANGUAGES)}")
    return found


def _row(language: str, record: Record) -> Row:
    asks_input, asks_output = str(record["input_reasoning"]), str(record["output_reasoning"])
    return {
        "id": f"{language}_{record['id']}",
        "code": record["code"],
        "input": asks_input,
        "output": asks_output,
        "gt": fill_placeholders(asks_input, asks_output),
    }


def fill_placeholders(asks_input: str, asks_output: str) -> str:
    """The check with nothing left out: what the one leaves out stands in the other."""
    before, _, after = asks_input.partition(_PLACEHOLDER)
    shown, _, rest = asks_output.partition(_PLACEHOLDER)
    if not shown.startswith(before) or not after.endswith(rest):
        return ""
    given = shown[len(before) :]
    between = next((given[-size:] for size in range(len(given), 0, -1) if after.startswith(given[-size:])), "")
    return shown + after[len(between) :]
