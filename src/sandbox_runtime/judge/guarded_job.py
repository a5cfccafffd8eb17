"""Guard a trial's job against tampering, and inspect its results: the judge's side of `integrity`."""

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
    result: JobResult
    """The result without the guard's own output."""
    check_result: CheckResult | None = None
    """Why the run fails, or None if the guard found nothing wrong."""
    tamper: tuple[str, ...] = ()
    message: str = ""
    """Details from the harness about a run that failed by itself."""


@dataclass(frozen=True, slots=True)
class GuardedJob:
    job: Job
    stdin: bytes | None
    """Standard input of the run. None: that of each case."""
    inspect: Callable[[JobResult], InspectedRun]
    """Called with every result that is not a platform fault."""
    separation: str = SPLIT
    """`split` if the program cannot reach what decides; `shared` if that runs in the program's own process."""
    evidence: str = "output"
    """What a successful exit must come with."""


def guard(trial: Trial, *, harness_preloaded: bool) -> GuardedJob:
    """Return the job to run. `harness_preloaded`: whether the interpreters of boxes have the harness loaded."""
    if trial.guard == _UNGUARDED:
        return GuardedJob(trial.job, None, InspectedRun)
    nonce = secrets.token_hex(_NONCE_BYTES)
    prepared = prepare(trial, nonce, harness_preloaded=harness_preloaded)

    def inspect_result(result: JobResult) -> InspectedRun:
        return _to_inspected_run(result, inspect(trial, prepared, nonce, result))

    # A guard without its own input leaves each case its input.
    stdin = None if trial.guard.kind is GuardKind.none or prepared.stdin == trial.cases[0].stdin else prepared.stdin
    is_split = prepared.harness is Harness.two_processes or trial.guard.kind is GuardKind.none
    return GuardedJob(prepared.job, stdin, inspect_result, SPLIT if is_split else SHARED, prepared.evidence)


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
