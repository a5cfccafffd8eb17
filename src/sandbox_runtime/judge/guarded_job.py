"""A trial on its way into a box and what its runs say on their way out: the judge's side of integrity."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from sandbox_runtime.judge.checkers import CheckResult
from sandbox_runtime.judge.integrity import Finding, Harness, inspect, prepare
from sandbox_runtime.model import Guard, GuardKind, Job, JobResult, Reason, Trial

SPLIT, SHARED = "split", "shared"
_NONCE_BYTES = 16
_UNGUARDED = Guard()


@dataclass(frozen=True, slots=True)
class InspectedRun:
    """A result without our marks, and what was found in it; None: nothing that speaks against it. message: of a run that failed
    by itself, where the harness said more of it."""

    result: JobResult
    check_result: CheckResult | None = None
    tamper: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True)
class GuardedJob:
    """job and stdin: what is run; stdin None: that of each case. inspect is called with every result that is no fault of ours.
    guard: "split" where what decides is out of the program's reach, "shared" where it runs in the program's own process.
    evidence: what a good end has to come with."""

    job: Job
    stdin: bytes | None
    inspect: Callable[[JobResult], InspectedRun]
    separation: str = SPLIT
    evidence: str = "output"


def guard(trial: Trial, *, given: bool) -> GuardedJob:
    """given: whether the interpreters of boxes have the harness loaded."""
    if trial.guard == _UNGUARDED:
        return GuardedJob(trial.job, None, InspectedRun)
    nonce = secrets.token_hex(_NONCE_BYTES)
    prepared = prepare(trial, nonce, given=given)

    def inspected(result: JobResult) -> InspectedRun:
        return _to_inspected_run(result, inspect(trial, prepared, nonce, result))

    # A guard that shows nothing of its own leaves each case its input.
    stdin = None if trial.guard.kind is GuardKind.none or prepared.stdin == trial.cases[0].stdin else prepared.stdin
    is_split = prepared.harness is Harness.two_processes or trial.guard.kind is GuardKind.none
    return GuardedJob(prepared.job, stdin, inspected, SPLIT if is_split else SHARED, prepared.evidence)


def _to_inspected_run(result: JobResult, finding: Finding) -> InspectedRun:
    run = result.run
    if run is None:
        return InspectedRun(result)
    shown = dataclasses.replace(result, run=dataclasses.replace(run, stdout=finding.stdout))
    if finding.tamper:
        return InspectedRun(shown, CheckResult(Reason.tampered, finding.message), finding.tamper)
    if finding.wrong_answer or (run.ok and not finding.finished):
        return InspectedRun(shown, CheckResult(Reason.wrong_answer, finding.message))
    return InspectedRun(shown, message=finding.message)
