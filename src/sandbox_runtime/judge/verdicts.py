"""Turn the engine's result of a run into the verdict of a case, and cases into the verdict of a trial. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_runtime.judge.checkers import CheckResult
from sandbox_runtime.judge.reasons import reason_of, was_delayed, was_maybe_killed, was_starved
from sandbox_runtime.model import Blame, Case, CaseVerdict, JobResult, Outcome, Reason, Trial, Verdict
from sandbox_runtime.model.judge import NOTHING


def last_outcome(result: JobResult) -> Outcome | None:
    return result.run or result.compile


def failure_reason(result: JobResult) -> tuple[Reason, Blame] | None:
    """Return the reason and the blame of a failed run, or None for a successful one."""
    if result.compile is not None and not result.compile.ok:
        return reason_of(result.compile, step="compile")
    if result.run is None:
        return Reason.not_judged, Blame.platform
    return None if result.run.ok else reason_of(result.run, step="run", compiled=result.compile is not None)


def platform_fault(result: JobResult) -> str:
    """Return the text of a platform fault; empty if the result says something about the program."""
    failure, outcome = failure_reason(result), last_outcome(result)
    if failure is None or failure[0] is not Reason.not_judged:
        return ""
    return (outcome and outcome.message) or "the run gave no outcome"


def maybe_killed(result: JobResult) -> bool:
    outcome = last_outcome(result)
    return outcome is not None and was_maybe_killed(outcome)


def maybe_delayed(result: JobResult) -> bool:
    outcome = last_outcome(result)
    return outcome is not None and was_delayed(outcome)


def maybe_starved(result: JobResult) -> bool:
    outcome = last_outcome(result)
    return outcome is not None and was_starved(outcome)


def case_verdict(case: Case, result: JobResult, checked: CheckResult, blame: Blame | None) -> CaseVerdict:
    passed = checked.passed
    info = case.short_info if passed and case.short_info is not None else case.info
    files = {file.name: file.content for file in result.files}
    return CaseVerdict(passed, checked.reason, blame, result.compile, result.run, info, checked.message, files)


def not_judged_case(case: Case, message: str, result: JobResult | None, blame: Blame = Blame.platform) -> CaseVerdict:
    return case_verdict(case, result or JobResult(None, None), CheckResult(Reason.not_judged, message), blame)


def trial_verdict(
    trial: Trial, cases: Sequence[CaseVerdict], tamper: tuple[str, ...] = (), extra: Mapping[str, Any] = NOTHING
) -> Verdict:
    """Return the verdict of the trial: that of the first failed case, or accepted."""
    failed = next((case for case in cases if not case.passed), None)
    return Verdict(
        accepted=failed is None,
        reason=failed.reason if failed else Reason.accepted,
        blame=failed.blame if failed else None,
        cases=tuple(cases),
        extracted_code=trial.extracted_code,
        extracted_type=trial.extracted_type,
        full_code=trial.full_code,
        test_code=trial.test_code,
        tamper=tamper,
        message=failed.message if failed else "",
        extra=extra,
    )


def decided_verdict(trial: Trial) -> Verdict:
    """Return the verdict of a trial that was decided without a run."""
    if trial.decided:
        reason, blame = Reason.accepted, None
    else:
        reason, blame = (Reason.tampered if trial.tamper else Reason.wrong_answer), Blame.program
    checked = CheckResult(reason, trial.note)
    cases = [case_verdict(case, JobResult(None, None), checked, blame) for case in trial.cases[:1] or (Case(),)]
    return trial_verdict(trial, cases, trial.tamper)
