"""Trials of programs in other languages than Python: tests and solution are one program, and its exit code counts."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from sandbox_runtime.benchmarks.trials import limits, python_trial
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import ExtractedCode
from sandbox_runtime.model.job import File, Job
from sandbox_runtime.model.judge import Case, Guard, GuardKind, Options, Row, Trial

MARKER = "#<INSERT>"
RACKET_FAILURE = r"\bFAILURE\b"
"""What rackunit prints of a check that failed; the exit code is 0 all the same."""
_SKIPPED_NAME = "IGNORE_THIS_FILE"


def program_trial(
    extracted: ExtractedCode,
    options: Options,
    *,
    language: str,
    code: str,
    tests: str | None = None,
    compile_s: float = 20,
    run_s: float = 20,
    files: tuple[File, ...] = (),
    fetch: tuple[str, ...] = (),
    must_match: str = "",
    must_not_match: str = "",
    info: Mapping[str, Any] | None = None,
) -> Trial:
    """code: the whole program, with its tests."""
    job = Job(
        language=language,
        code=code,
        files=files,
        fetch=fetch,
        compile_limits=limits(options.compile_timeout_s, compile_s),
        run_limits=limits(options.run_timeout_s, run_s),
    )
    fails = RACKET_FAILURE if language == "racket" and not must_not_match else must_not_match
    return Trial(
        job=job,
        cases=(Case(info=info),),
        guard=Guard(kind=GuardKind.ending, must_match=must_match, must_not_match=fails),
        extracted_code=extracted.code,
        extracted_type=extracted.kind,
        full_code=code,
        test_code=tests,
    )


def template_trial(
    extracted: ExtractedCode,
    options: Options,
    *,
    language: str,
    template: str,
    code: str,
    compile_s: float,
    run_s: float,
    files: tuple[File, ...] = (),
    fetch: tuple[str, ...] = (),
    info: Mapping[str, Any] | None = None,
) -> Trial:
    """The template's marker is replaced by the code. What stands behind it are the tests: where Python runs them, they are
    watched over."""
    whole = template.replace(MARKER, code)
    if language not in ("python", "pytest") or template.count(MARKER) != 1:
        return program_trial(
            extracted,
            options,
            language=language,
            code=whole,
            tests=template,
            compile_s=compile_s,
            run_s=run_s,
            files=files,
            fetch=fetch,
            info=info,
        )
    head, _, tests = template.partition(MARKER)
    return python_trial(
        extracted,
        options,
        solution=f"{head}{code}",
        tests=tests,
        run_s=run_s,
        pytest=language == "pytest",
        info=info,
        files=files,
    )


def tests_of(row: Row) -> Mapping[str, Any]:
    """The column `test` of a row: an object with code and, where there are any, asset files."""
    value = row.get("test")
    if isinstance(value, str):
        value = _object(value, "test")
    if not isinstance(value, Mapping):
        raise InvalidRequest("the column 'test' must be an object with code and asset")
    return value


def code_of(test: Mapping[str, Any]) -> str:
    code = test.get("code")
    if code is None:
        return ""
    if not isinstance(code, str):
        raise InvalidRequest("test.code must be a text")
    return code


def assets_of(test: Mapping[str, Any]) -> tuple[File, ...]:
    """The files that come with a test: names and base64."""
    assets = test.get("asset") or {}
    if isinstance(assets, str):
        assets = _object(assets, "test.asset")
    if not isinstance(assets, Mapping):
        raise InvalidRequest("test.asset must be an object of file names and base64")
    return tuple(_file(name, held) for name, held in assets.items() if held is not None and _SKIPPED_NAME not in name)


def _object(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidRequest(f"{what} must be JSON: {error}") from error


def _file(name: object, held: object) -> File:
    if not isinstance(name, str) or not isinstance(held, str):
        raise InvalidRequest("test.asset must be an object of file names and base64")
    try:
        return File(name, base64.b64decode(held, validate=True))
    except binascii.Error as error:
        raise InvalidRequest(f"test.asset.{name} must be base64: {error}") from error
