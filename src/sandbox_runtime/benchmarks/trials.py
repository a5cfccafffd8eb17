"""Trials of the kinds that many benchmarks share: how long a program may take, and where its tests are run."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import ExtractedCode
from sandbox_runtime.model.job import File, Job
from sandbox_runtime.model.judge import Case, Guard, GuardKind, Options, Trial
from sandbox_runtime.model.limits import Limits

_PATIENCE = 3
"""How many times longer than its time on the processor a program may take."""
_FUTURE = re.compile(r"^from __future__ import [^\n]*\n?", re.MULTILINE)


def limits(asked_s: float | None, usual_s: float, *, threads: int = 2) -> Limits:
    """Of one step: the time a caller asks for, or the benchmark's own. The latter is time of the processor, for each of so many
    threads, so that a busy machine does not turn a right answer into a late one; who merely waits is ended later. The memory is
    left to the operator: no benchmark here depends on a bound of its own."""
    if asked_s is not None:
        return Limits(wall_s=asked_s, memory_bytes=None)
    return Limits(wall_s=usual_s * _PATIENCE, cpu_s=usual_s * threads, memory_bytes=None)


def flag(options: Options, name: str) -> bool:
    """A switch among the caller's extra options."""
    value = options.extra.get(name, False)
    if value is None or isinstance(value, bool | int):
        return bool(value)
    raise InvalidRequest(f"the option {name!r} must be true or false, not {value!r}")


def future_first(code: str) -> str:
    """Python wants its imports from the future on top, also when other lines were put in front of the code that has them."""
    found = [line.rstrip("\n") for line in _FUTURE.findall(code)]
    if not found:
        return code
    return "".join(f"{line}\n" for line in dict.fromkeys(found)) + _FUTURE.sub("", code)


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
    solution = future_first(solution)
    whole = f"{solution}\n{tests}"
    language, kind = ("pytest", GuardKind.pytest) if pytest else ("python", GuardKind.python)
    return Trial(
        job=Job(language=language, code=whole, files=files, run_limits=limits(options.run_timeout_s, run_s, threads=1 + pytest)),
        cases=(Case(info=info),),
        guard=Guard(kind, solution, tests, preamble=_helpers(preamble, entry) if entry else "", entry=entry, shared=shared),
        extracted_code=extracted.code,
        extracted_type=extracted.kind,
        full_code=whole,
        test_code=tests,
    )


def _helpers(preamble: str, entry: str) -> str:
    """The text, where it defines more than the entry point; nothing where it does not, or is no Python by itself."""
    try:
        body = ast.parse(preamble).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    defined = (node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign))
    return preamble if any(not isinstance(node, ast.FunctionDef) or node.name != entry for node in defined) else ""


def refused(trial: Trial, note: str) -> Trial:
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


def fence(code: str, language: str) -> str:
    """Code as a chat model would answer it."""
    return f"```{language}\n{code.strip(chr(10))}\n```"
