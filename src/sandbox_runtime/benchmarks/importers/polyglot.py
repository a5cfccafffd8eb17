"""Aider's polyglot exercises: each with all of its files, of which its configuration says what they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from sandbox_runtime.benchmarks.importers.source_text import PublishedFile, Record
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Row

_CONFIG = ".meta/config.json"
_INSTRUCTIONS = (".docs/introduction.md", ".docs/instructions.md", ".docs/instructions.append.md")
_EXAMPLES = ("example", "proof")
_BUILD_FILES = ("Cargo.toml", "package.json", "CMakeLists.txt", "go.mod", "build.gradle")
"""What builds an exercise by hand, and is not needed here."""


def read(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Iterable[Row]:
    return [_row(record) for file in problems for record in file.records]


def _row(record: Record) -> Row:
    files: Mapping[str, str] = record["files"]
    config = _config(record, files)
    stubs = [name for name in config.get("solution", ()) if name in files and name not in _BUILD_FILES]
    tests = [name for name in config.get("test", ()) if name in files]
    return {
        "id": f"{record['language']}/{record['exercise']}",
        "content": "\n\n".join(files[name].strip() for name in _INSTRUCTIONS if name in files),
        "labels": {"programming_language": record["language"], "exercise": record["exercise"]},
        "solution": {name: files[name] for name in stubs},
        "tests": {name: files[name] for name in tests},
        "support": _support(files, {*stubs, *tests}),
        "reference": _reference(files, config.get("example", ()), stubs),
    }


def _config(record: Record, files: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
    try:
        told = json.loads(files[_CONFIG])["files"]
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidRequest(f"{record['language']}/{record['exercise']} has no {_CONFIG} that names its files") from error
    return {name: list(value) for name, value in told.items()}


def _support(files: Mapping[str, str], told: set[str]) -> Mapping[str, str]:
    kept = (name for name in files if not name.startswith(".") and name not in told)
    return {name: files[name] for name in kept if PurePosixPath(name).name not in _BUILD_FILES and name != "test/tests-main.cpp"}


def _reference(files: Mapping[str, str], examples: Sequence[str], stubs: Sequence[str]) -> Mapping[str, str]:
    """Each example under the name of the file that it is for."""
    found: dict[str, str] = {}
    for example in (name for name in examples if name in files):
        found[_reference_name(PurePosixPath(example), [stub for stub in stubs if stub not in found], stubs)] = files[example]
    return found


def _reference_name(example: PurePosixPath, left: Sequence[str], stubs: Sequence[str]) -> str:
    """Some tracks call examples by that word: such a one is for the stub of its kind. Others call them as the stubs, or as what
    lies beside those."""
    alike = [stub for stub in left if PurePosixPath(stub).suffix == example.suffix]
    if alike and example.name.startswith(_EXAMPLES):
        return alike[0]
    folder = PurePosixPath(stubs[0]).parent if stubs else PurePosixPath()
    return str(folder / example.name)
