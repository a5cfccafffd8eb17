"""A solution and its interactor have ended: what does that say, and of whom? Pure."""

from __future__ import annotations

from sandbox_runtime.engine import InteractiveResult
from sandbox_runtime.judge.checkers import CheckResult
from sandbox_runtime.judge.checkers.program import checker_message, read_checker_result
from sandbox_runtime.judge.reasons import reason_of
from sandbox_runtime.model import Blame, Ending, Outcome, Reason

_BUSY_SHARE, _BUSY_S, _TIMES_AS_BUSY = 0.05, 0.25, 4
"""Who computed for that share of the time, and so many times as long as the other, is the one who kept the other waiting. Not
more is asked for, because on a busy machine nobody gets more."""
_TIME = (Ending.timed_out, Ending.cpu_exceeded)


def interactive_result(joined: InteractiveResult, *, compiled: bool) -> tuple[CheckResult, Blame | None]:
    """Whoever failed first is told of: what the other did then, with nobody to talk to, is no fault of its own."""
    solution, interactor = joined.first, joined.second
    if joined.first_ended_first and not solution.ok:
        if solution.ending in _TIME and _kept_waiting(solution, interactor):
            return _not_judged("the interactor kept the solution waiting until the time was up")
        return _solution_failure(solution, compiled)
    word = read_checker_result(interactor)
    if word is None:
        return _not_judged(
            f"the interactor failed ({interactor.message or _exit_text(interactor)}): {checker_message(interactor)}"
        )
    if not word.passed:
        return word, Blame.program
    return (word, None) if solution.ok else _solution_failure(solution, compiled)


def _solution_failure(solution: Outcome, compiled: bool) -> tuple[CheckResult, Blame]:
    reason, blame = reason_of(solution, step="run", compiled=compiled)
    return CheckResult(reason, solution.message), blame


def _not_judged(message: str) -> tuple[CheckResult, Blame]:
    return CheckResult(Reason.not_judged, message), Blame.caller


def _kept_waiting(solution: Outcome, interactor: Outcome) -> bool:
    used_s = interactor.usage.cpu_s
    least_s = max(_BUSY_S, _BUSY_SHARE * interactor.usage.wall_s, _TIMES_AS_BUSY * solution.usage.cpu_s)
    return used_s > least_s


def _exit_text(outcome: Outcome) -> str:
    return f"exit code {outcome.exit_code}" if outcome.signal is None else f"signal {outcome.signal}"
