"""Judge the outcomes of a solution and its interactor. Pure."""

from __future__ import annotations

from sandbox_runtime.engine import InteractiveResult
from sandbox_runtime.judge.checkers import CheckResult
from sandbox_runtime.judge.checkers.program import checker_message, read_checker_result
from sandbox_runtime.judge.reasons import reason_of
from sandbox_runtime.model import Blame, Ending, Outcome, Reason

_BUSY_SHARE, _BUSY_S, _BUSY_FACTOR = 0.05, 0.25, 4
"""An interactor that computed for this share of the wall time, and this many times as long as the solution, kept the solution
waiting. The share is small because on a busy machine no process gets more."""
_TIME_ENDINGS = (Ending.timed_out, Ending.cpu_exceeded)


def interactive_result(outcomes: InteractiveResult, *, compiled: bool) -> tuple[CheckResult, Blame | None]:
    """Return the result of whichever side failed first. What the other side did afterwards, without a partner, does not count."""
    solution, interactor = outcomes.first, outcomes.second
    if outcomes.first_ended_first and not solution.ok:
        if solution.ending in _TIME_ENDINGS and _interactor_kept_waiting(solution, interactor):
            return _not_judged("the interactor kept the solution waiting until its time limit")
        return _solution_failure(solution, compiled)
    result = read_checker_result(interactor)
    if result is None:
        message = f"the interactor failed ({interactor.message or _exit_text(interactor)}): {checker_message(interactor)}"
        return _not_judged(message)
    if not result.passed:
        return result, Blame.program
    return (result, None) if solution.ok else _solution_failure(solution, compiled)


def _solution_failure(solution: Outcome, compiled: bool) -> tuple[CheckResult, Blame]:
    reason, blame = reason_of(solution, step="run", compiled=compiled)
    return CheckResult(reason, solution.message), blame


def _not_judged(message: str) -> tuple[CheckResult, Blame]:
    return CheckResult(Reason.not_judged, message), Blame.caller


def _interactor_kept_waiting(solution: Outcome, interactor: Outcome) -> bool:
    min_cpu_s = max(_BUSY_S, _BUSY_SHARE * interactor.usage.wall_s, _BUSY_FACTOR * solution.usage.cpu_s)
    return interactor.usage.cpu_s > min_cpu_s


def _exit_text(outcome: Outcome) -> str:
    return f"exit code {outcome.exit_code}" if outcome.signal is None else f"signal {outcome.signal}"
