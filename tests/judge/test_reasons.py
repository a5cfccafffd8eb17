"""What the ending of a command says of a completion, and of whom."""

from __future__ import annotations

import signal

import pytest

from sandbox_runtime.engine import InteractiveResult
from sandbox_runtime.judge.interaction import interactive_result
from sandbox_runtime.judge.reasons import reason_of, was_delayed, was_maybe_killed, was_starved
from sandbox_runtime.model import Blame, Ending, Outcome, Output, Reason, Usage

OK, FAILED = Outcome(Ending.exited, 0), Outcome(Ending.exited, 1)
STOPPED, LATE = Outcome(Ending.cancelled), Outcome(Ending.timed_out)


@pytest.mark.parametrize(
    ("ending", "reason", "blame"),
    [
        (Ending.signaled, Reason.runtime_error, Blame.program),
        (Ending.timed_out, Reason.time_limit, Blame.limit),
        (Ending.cpu_exceeded, Reason.cpu_limit, Blame.limit),
        (Ending.out_of_memory, Reason.memory_limit, Blame.limit),
        (Ending.output_limit, Reason.output_limit, Blame.limit),
        (Ending.disk_limit, Reason.disk_limit, Blame.limit),
        (Ending.process_limit, Reason.process_limit, Blame.limit),
        (Ending.denied, Reason.denied, Blame.program),
        (Ending.lost, Reason.not_judged, Blame.platform),
        (Ending.cancelled, Reason.not_judged, Blame.platform),
    ],
)
def test_every_ending_has_a_reason(ending: Ending, reason: Reason, blame: Blame) -> None:
    assert reason_of(Outcome(ending), step="run") == (reason, blame)


def test_what_does_not_compile_is_a_compile_error() -> None:
    assert reason_of(FAILED, step="compile") == (Reason.compile_error, Blame.program)
    assert reason_of(FAILED, step="run") == (Reason.runtime_error, Blame.program)


def test_a_program_that_its_language_refuses_is_at_fault_itself() -> None:
    refused = Outcome(Ending.not_started, exit_code=1, message="Object name not found.")
    assert reason_of(refused, step="compile") == (Reason.compile_error, Blame.program)


def test_what_cannot_be_started_is_ours_unless_it_was_compiled_to_something_else() -> None:
    library = Outcome(Ending.not_started, message="cannot start './test': Permission denied")
    assert reason_of(library, step="run", compiled=True) == (Reason.runtime_error, Blame.program)
    assert reason_of(library, step="run", compiled=False) == (Reason.not_judged, Blame.platform)
    no_memory = Outcome(Ending.not_started, message="cannot start './test': Cannot allocate memory")
    assert reason_of(no_memory, step="run", compiled=True) == (Reason.not_judged, Blame.platform)


def test_a_kill_may_have_come_from_outside() -> None:
    assert was_maybe_killed(Outcome(Ending.signaled, signal=signal.SIGKILL))
    assert was_maybe_killed(Outcome(Ending.exited, 137))
    assert was_maybe_killed(
        Outcome(Ending.exited, 1, stderr=Output(b"g++: fatal error: Killed signal terminated program cc1plus\n"))
    )
    assert not was_maybe_killed(Outcome(Ending.signaled, signal=signal.SIGSEGV))
    assert not was_maybe_killed(FAILED) and not was_maybe_killed(OK)
    shown = b"main.cpp:1:2: error: #error Killed signal terminated program\n    1 | int Killed = signal: killed;\n"
    assert not was_maybe_killed(Outcome(Ending.exited, 1, stderr=Output(shown)))
    killed = Outcome(Ending.signaled, signal=signal.SIGKILL)
    assert reason_of(killed, step="compile") == (Reason.not_judged, Blame.platform)


def test_a_program_whose_time_ran_out_without_computing_may_have_been_held_up() -> None:
    waited, shared, busy = (Outcome(Ending.timed_out, usage=Usage(wall_s=10, cpu_user_s=used_s)) for used_s in (0.1, 2, 9))
    assert [was_delayed(one) for one in (waited, shared, busy)] == [True, True, False]
    assert [was_starved(one) for one in (waited, shared, busy)] == [False, True, False]
    assert not was_delayed(Outcome(Ending.exited, 1, usage=Usage(wall_s=10)))


def _settled(first: Outcome, second: Outcome, *, first_ended_first: bool) -> tuple[Reason, Blame | None]:
    found, blame = interactive_result(InteractiveResult(first, second, first_ended_first), compiled=False)
    return found.reason, blame


def test_of_two_that_talk_the_one_that_failed_first_is_told_of() -> None:
    assert _settled(OK, OK, first_ended_first=True) == (Reason.accepted, None)
    assert _settled(FAILED, STOPPED, first_ended_first=True) == (Reason.runtime_error, Blame.program)
    assert _settled(STOPPED, FAILED, first_ended_first=False) == (Reason.wrong_answer, Blame.program)
    assert _settled(OK, FAILED, first_ended_first=True) == (Reason.wrong_answer, Blame.program)
    assert _settled(FAILED, OK, first_ended_first=False) == (Reason.runtime_error, Blame.program)
    assert _settled(STOPPED, Outcome(Ending.signaled, signal=11), first_ended_first=False) == (Reason.not_judged, Blame.caller)
    assert _settled(LATE, STOPPED, first_ended_first=True) == (Reason.time_limit, Blame.limit)


def test_an_interactor_that_computes_while_the_solution_waits_has_used_up_the_time() -> None:
    waited = Outcome(Ending.timed_out, usage=Usage(wall_s=5, cpu_user_s=0.02))
    busy = Outcome(Ending.cancelled, usage=Usage(wall_s=5, cpu_user_s=4))
    assert _settled(waited, busy, first_ended_first=True) == (Reason.not_judged, Blame.caller)
    computed = Outcome(Ending.timed_out, usage=Usage(wall_s=5, cpu_user_s=3))
    assert _settled(computed, busy, first_ended_first=True) == (Reason.time_limit, Blame.limit)
