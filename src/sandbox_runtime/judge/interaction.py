"""A solution and its interactor have ended: what does that say, and of whom? Pure."""

from __future__ import annotations

from sandbox_runtime.engine import InteractiveResult
from sandbox_runtime.judge.checkers import Found
from sandbox_runtime.judge.checkers.program import said, told
from sandbox_runtime.judge.reasons import reason_of
from sandbox_runtime.model import Blame, Ending, Outcome, Reason

_BUSY_SHARE, _BUSY_S, _TIMES_AS_BUSY = 0.05, 0.25, 4
"""Who computed for that share of the time, and so many times as long as the other, is the one who kept the other waiting. Not
more is asked for, because on a busy machine nobody gets more."""
_TIME = (Ending.timed_out, Ending.cpu_exceeded)


def settled(joined: InteractiveResult, *, compiled: bool) -> tuple[Found, Blame | None]:
    """Whoever failed first is told of: what the other did then, with nobody to talk to, is no fault of its own."""
    solution, interactor = joined.first, joined.second
    if joined.first_ended_first and not solution.ok:
        if solution.ending in _TIME and _kept_waiting(solution, interactor):
            return _no_word("the interactor kept the solution waiting until the time was up")
        return _of_solution(solution, compiled)
    word = said(interactor)
    if word is None:
        return _no_word(f"the interactor failed ({interactor.message or _end_of(interactor)}): {told(interactor)}")
    if not word.passed:
        return word, Blame.program
    return (word, None) if solution.ok else _of_solution(solution, compiled)


def _of_solution(solution: Outcome, compiled: bool) -> tuple[Found, Blame]:
    reason, blame = reason_of(solution, step="run", compiled=compiled)
    return Found(reason, solution.message), blame


def _no_word(message: str) -> tuple[Found, Blame]:
    return Found(Reason.not_judged, message), Blame.caller


def _kept_waiting(solution: Outcome, interactor: Outcome) -> bool:
    used_s = interactor.usage.cpu_s
    least_s = max(_BUSY_S, _BUSY_SHARE * interactor.usage.wall_s, _TIMES_AS_BUSY * solution.usage.cpu_s)
    return used_s > least_s


def _end_of(outcome: Outcome) -> str:
    return f"exit code {outcome.exit_code}" if outcome.signal is None else f"signal {outcome.signal}"
