"""Types of judging: a row of a dataset and a completion become a trial, and a trial becomes a verdict.

A benchmark is a value of pure functions. It never runs anything: `trial` says which program to run on which cases, how its output
is checked and how the program is kept from grading itself. The judge's loop does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from sandbox_runtime.model.job import Job
from sandbox_runtime.model.outcome import Blame, Outcome

NOTHING: Mapping[str, Any] = MappingProxyType({})

Row = Mapping[str, Any]
"""One problem of a dataset, as stored in its source. Objects may be stored as JSON text."""


class Reason(StrEnum):
    """The reason of a verdict. `not_judged` is a platform fault and says nothing about the completion."""

    accepted = "accepted"
    wrong_answer = "wrong_answer"
    presentation = "presentation"
    runtime_error = "runtime_error"
    compile_error = "compile_error"
    time_limit = "time_limit"
    cpu_limit = "cpu_limit"
    memory_limit = "memory_limit"
    output_limit = "output_limit"
    disk_limit = "disk_limit"
    process_limit = "process_limit"
    denied = "denied"
    tampered = "tampered"
    not_judged = "not_judged"


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a completion that looks like code. The blocks with the highest priority count."""

    priority: int
    language: str
    code: str


@dataclass(frozen=True, slots=True)
class Completion:
    """The text that a model wrote."""

    text: str
    custom: tuple[Block, ...] = ()
    """Blocks found by the caller's extraction code, which ran in a box before."""


@dataclass(frozen=True, slots=True)
class Options:
    """The caller's options for prompts and judging. None: the benchmark's default."""

    dataset: str
    language: str | None = None
    locale: str | None = None
    is_fewshot: bool | None = None
    compile_timeout_s: float | None = None
    run_timeout_s: float | None = None
    extra: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Prompt:
    id: int | str
    prompt: str | tuple[Mapping[str, str], ...]
    """A text, or messages with role and content."""
    labels: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Case:
    """One input. `expected` and `info` never enter the box of the program."""

    stdin: bytes | None = None
    expected: str = ""
    info: Mapping[str, Any] | None = None
    """Description of the case in the response."""
    short_info: Mapping[str, Any] | None = None
    """Description if the case passed. None: the same as `info`."""


@dataclass(frozen=True, slots=True)
class Check:
    """How the output of a successful run is checked. `status` requires nothing more; `program` and `interactive` run `job` (the
    checker or the interactor) in a separate box."""

    name: str = "status"
    options: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    job: Job | None = None


class GuardKind(StrEnum):
    none = "none"
    """The output is compared outside the box, so nothing in the box needs protection."""
    ending = "ending"
    """Exit code 0 counts, so the program must prove that it ran to its end."""
    python = "python"
    """`solution`, then `tests`: in two processes if the tests allow it, else in one process under a harness."""
    pytest = "pytest"
    """Like `python`, with tests that pytest collects. At least one test must have run and passed."""


@dataclass(frozen=True, slots=True)
class Guard:
    """How a program that shares a box with its tests is kept from grading itself."""

    kind: GuardKind = GuardKind.none
    solution: str = ""
    tests: str = ""
    preamble: str = ""
    """Code of the row before the solution (helpers, imports). The tests use these definitions, even if the solution redefines
    them, except for `entry`."""
    entry: str = ""
    """The name that the solution must define."""
    shared: bool = False
    """Whether the tests need the process of the solution."""
    must_match: str = ""
    """A regular expression that the output must match."""
    must_not_match: str = ""
    """A regular expression that the output must not match."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What to run and how to decide. `job.code` is the whole program, as it would run by hand. If the guard is `python` or
    `pytest`, its solution and tests, which are equivalent, run instead."""

    job: Job
    cases: tuple[Case, ...] = (Case(),)
    check: Check = Check()
    guard: Guard = Guard()
    extracted_code: str = ""
    extracted_type: str | None = None
    """fenced, incomplete_fenced, heuristic, empty"""
    full_code: str | None = None
    test_code: str | None = None
    run_all: bool = False
    """Continue after a failed case."""
    decided: bool | None = None
    """The result, if it is known without a run."""
    note: str = ""
    """Why it was decided so."""
    tamper: tuple[str, ...] = ()
    """Tampering attempts in the completion's text. Not empty only if the trial was decided for that reason."""


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    passed: bool
    reason: Reason
    blame: Blame | None
    """None if the case passed."""
    compile: Outcome | None = None
    run: Outcome | None = None
    info: Mapping[str, Any] | None = None
    message: str = ""
    files: Mapping[str, bytes] = field(default_factory=lambda: NOTHING)
    """Files fetched by the trial's job."""


@dataclass(frozen=True, slots=True)
class Verdict:
    accepted: bool
    reason: Reason
    blame: Blame | None
    cases: tuple[CaseVerdict, ...] = ()
    extracted_code: str = ""
    extracted_type: str | None = None
    full_code: str | None = None
    test_code: str | None = None
    tamper: tuple[str, ...] = ()
    """How the program tampered with its grading. Not empty only if the reason is `tampered`."""
    message: str = ""
    extra: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A kind of dataset."""

    name: str
    prompts: Callable[[Row, Options], tuple[Prompt, ...]]
    """Returns the prompts of a row, usually one."""
    trial: Callable[[Row, Completion, Options], Trial]
    extra: Callable[[Row, Verdict], Mapping[str, Any]] | None = None
    """Returns additional fields of the response, read from a verdict."""
    metrics: str | None = None
    """Python source that defines get_metrics(results)."""
    reference: Callable[[Row, Options], tuple[tuple[str, Options], ...]] | None = None
    """Returns completions that must be accepted, with the options to judge them under: the row's reference solution, in the form
    of a model's answer. None, or no completions: the row has none."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A benchmark with rows."""

    id: str
    benchmark: Benchmark
    table: str
    """Name of the file or database table that holds the rows."""
    other_tables: tuple[str, ...] = ()
    """Alternative names of the table."""
