"""What is judged and what is said of it: a row of a dataset and a completion become a trial, a trial becomes a verdict.

A benchmark is a value of pure functions. It never runs anything: `trial` says which program to run on which cases, how an answer
is checked and how the program is kept from grading itself, and the one loop of the judge does the rest.
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
"""One problem of a dataset, as its source has it: values may be JSON text where a benchmark expects an object."""


class Reason(StrEnum):
    """Why a verdict is what it is. `not_judged` is the platform's fault, and no statement about the completion."""

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
    """A piece of a completion that looks like code. Of several, those with the highest priority count."""

    priority: int
    language: str
    code: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote. custom: blocks that the caller's own extraction code found in it; that code ran in a box before."""

    text: str
    custom: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """How a caller wants a dataset asked and judged. None: as the benchmark has it."""

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
    """One input. `expected` and `info` stay outside: they never enter the box of the program."""

    stdin: bytes | None = None
    expected: str = ""
    info: Mapping[str, Any] | None = None
    """What the answer shows of this case."""
    short_info: Mapping[str, Any] | None = None
    """What it shows instead when the case passed; None: the same."""


@dataclass(frozen=True, slots=True)
class Check:
    """How the output of a case is judged, once its run has ended well. `status` asks for nothing more; `program` and
    `interactive` run `job` in a box of its own (the checker or the interactor)."""

    name: str = "status"
    options: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    job: Job | None = None


class GuardKind(StrEnum):
    none = "none"
    """Nothing in the box is worth anything: what counts is compared outside."""
    ending = "ending"
    """Exit code 0 counts, so the program must show that it came to its end and did not leave early."""
    python = "python"
    """`solution`, then `tests`, in two processes where the tests allow it, else in one that a harness watches."""
    pytest = "pytest"
    """The same, where the tests are test functions and classes that pytest collects; at least one must have run and passed."""


@dataclass(frozen=True, slots=True)
class Guard:
    """How a program that is graded by code beside it is kept from grading itself.

    preamble: what the row itself puts before the solution (helpers, imports); the tests use these definitions, whatever the
    solution makes of them, but for `entry`, the name that the solution has to define. shared: the tests need the process of the
    solution. must_match: a regular expression that what the program printed has to hold; must_not_match: one it may not hold."""

    kind: GuardKind = GuardKind.none
    solution: str = ""
    tests: str = ""
    preamble: str = ""
    entry: str = ""
    shared: bool = False
    must_match: str = ""
    must_not_match: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """What to run and how to decide. job.code is the whole program as it would run by hand; where the guard is `python` or
    `pytest` its solution and tests are run instead, and amount to the same. decided: known without a run."""

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
    """Go on after a case that failed."""
    decided: bool | None = None
    note: str = ""
    """Why it was decided so."""
    tamper: tuple[str, ...] = ()
    """What the completion's text tries on its own grading, in words; not empty only where it was decided against it for that."""


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    passed: bool
    reason: Reason
    blame: Blame | None
    """None for one that passed."""
    compile: Outcome | None = None
    run: Outcome | None = None
    info: Mapping[str, Any] | None = None
    message: str = ""
    files: Mapping[str, bytes] = field(default_factory=lambda: NOTHING)
    """What the trial's job fetched."""


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
    """What the program did to its own grading, in words; not empty only where the reason is `tampered`."""
    message: str = ""
    extra: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A kind of dataset. prompts: those of one row, mostly one; where a row has several, each has an id that `trial` can be asked
    for. extra: facts for the answer, read from the verdict of a trial. metrics: Python text that defines get_metrics(results)."""

    name: str
    prompts: Callable[[Row, Options], tuple[Prompt, ...]]
    trial: Callable[[Row, Completion, Options], Trial]
    extra: Callable[[Row, Verdict], Mapping[str, Any]] | None = None
    metrics: str | None = None
    reference: Callable[[Row, Options], tuple[tuple[str, Options], ...]] | None = None
    """Completions that must be accepted, with the options to judge them under: the row's reference solution, in the form a model
    would answer. None, or no completions: the row has none."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A benchmark with rows. table: the name of the file or database table they are in; other_tables: names that it may have
    instead."""

    id: str
    benchmark: Benchmark
    table: str
    other_tables: tuple[str, ...] = ()
