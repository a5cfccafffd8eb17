"""Trials of the kinds that many benchmarks share: how long a program may take, and where its tests are run."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any, Unpack

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import FENCED, ExtractedCode, FreeformOptions, default_extract, freeform
from sandbox_runtime.model.job import File, Job
from sandbox_runtime.model.judge import Case, Completion, Guard, GuardKind, Options, Trial
from sandbox_runtime.model.limits import Limits

_WALL_TIME_FACTOR = 3
"""How many times longer than its time on the processor a program may take."""
_FUTURE_IMPORT = re.compile(r"^from __future__ import [^\n]*\n?", re.MULTILINE)
_REDIRECT_STDOUT = """\
import sys as _told_sys
_told_stream, _told_sys.stdout = _told_sys.stdout, _told_sys.stderr
"""
_PRINT_VALUE = """

_told_sys.set_int_max_str_digits(0)
_told_stream.write({expression} + "\\n")
_told_stream.flush()
"""


def limits(asked_s: float | None, usual_s: float, *, threads: int = 2) -> Limits:
    """Of one step: the time a caller asks for, or the benchmark's own. The latter is time of the processor, for each of so many
    threads, so that a busy machine does not turn a right answer into a late one; who merely waits is ended later. The memory is
    left to the operator: no benchmark here depends on a bound of its own."""
    if asked_s is not None:
        return Limits(wall_s=asked_s, memory_bytes=None)
    return Limits(wall_s=usual_s * _WALL_TIME_FACTOR, cpu_s=usual_s * threads, memory_bytes=None)


def flag(options: Options, name: str) -> bool:
    """A switch among the caller's extra options."""
    value = options.extra.get(name, False)
    if value is None or isinstance(value, bool | int):
        return bool(value)
    raise InvalidRequest(f"the option {name!r} must be true or false, not {value!r}")


def move_future_imports(code: str) -> str:
    """Python wants its imports from the future on top, also when other lines were put in front of the code that has them."""
    found = [line.rstrip("\n") for line in _FUTURE_IMPORT.findall(code)]
    if not found:
        return code
    return "".join(f"{line}\n" for line in dict.fromkeys(found)) + _FUTURE_IMPORT.sub("", code)


def python_trial(
    extracted: ExtractedCode,
    options: Options,
    *,
    solution: str,
    tests: str,
    run_s: float = 20,
    pytest: bool = False,
    info: Mapping[str, Any] | None = None,
    files: tuple[File, ...] = (),
    preamble: str = "",
    entry: str = "",
    shared: bool = False,
) -> Trial:
    """A solution and its tests; `pytest` where the tests are functions and classes to be collected. preamble: what the row itself
    puts before the solution; the tests use its definitions, but for `entry`, which is the solution's. shared: the tests need
    the process of the solution, or have the completion in themselves."""
    solution = move_future_imports(solution)
    whole = f"{solution}\n{tests}"
    language, kind = ("pytest", GuardKind.pytest) if pytest else ("python", GuardKind.python)
    return Trial(
        job=Job(language=language, code=whole, files=files, run_limits=limits(options.run_timeout_s, run_s, threads=1 + pytest)),
        cases=(Case(info=info),),
        guard=Guard(
            kind, solution, tests, preamble=_preamble_with_helpers(preamble, entry) if entry else "", entry=entry, shared=shared
        ),
        extracted_code=extracted.code,
        extracted_type=extracted.kind,
        full_code=whole,
        test_code=tests,
    )


def _preamble_with_helpers(preamble: str, entry: str) -> str:
    """The text, where it defines more than the entry point; nothing where it does not, or is no Python by itself."""
    try:
        body = ast.parse(preamble).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    defined = (node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign))
    return preamble if any(not isinstance(node, ast.FunctionDef) or node.name != entry for node in defined) else ""


def rejected_trial(trial: Trial, note: str) -> Trial:
    """The same trial, decided without a run: the answer is none."""
    return Trial(
        job=trial.job,
        cases=trial.cases,
        extracted_code=trial.extracted_code,
        extracted_type=trial.extracted_type,
        full_code=trial.full_code,
        test_code=trial.test_code,
        decided=False,
        note=note,
    )


def extract_freeform(
    completion: Completion, language: str, *, text: str | None = None, **options: Unpack[FreeformOptions]
) -> ExtractedCode:
    """text: what to read instead of all that the model wrote."""
    if any(block.priority > FENCED for block in completion.custom):
        return default_extract(completion, language)
    return freeform(completion.text if text is None else text, language, **options)


def value_program(code: str, expression: str) -> str:
    """The program. expression: of a text, evaluated when the code has run."""
    return move_future_imports(f"{_REDIRECT_STDOUT}{code}\n{_PRINT_VALUE.format(expression=expression)}")
