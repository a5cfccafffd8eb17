"""Map the ending of a command to the reason of a verdict, and decide whether it says anything about the completion. Pure."""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Mapping
from types import MappingProxyType

from sandbox_runtime.model import Blame, Ending, Outcome, Reason

_REASON_OF_ENDING: Mapping[Ending, Reason] = MappingProxyType(
    {
        Ending.timed_out: Reason.time_limit,
        Ending.cpu_exceeded: Reason.cpu_limit,
        Ending.out_of_memory: Reason.memory_limit,
        Ending.output_limit: Reason.output_limit,
        Ending.disk_limit: Reason.disk_limit,
        Ending.process_limit: Reason.process_limit,
        Ending.denied: Reason.denied,
        Ending.cancelled: Reason.not_judged,
        Ending.lost: Reason.not_judged,
    }
)
_NOT_EXECUTABLE_ERRORS = tuple(os.strerror(number) for number in (errno.ENOENT, errno.EACCES, errno.ENOEXEC))
_CHILD_KILLED = re.compile(
    rb"^(\S+: fatal error: Killed signal terminated program|\S+: fatal error: \S+ terminated with signal 9|signal: killed"
    rb"|.{0,200}\(signal: 9, SIGKILL)",
    re.MULTILINE,
)
"""How compilers report a killed child process. Anchored to the line start: source text that they quote is indented or follows a
file name."""
_STDERR_TAIL_BYTES = 4096
_MIN_CPU_SHARE, _FAIR_CPU_SHARE = 0.02, 0.5
_SHELL_EXIT_CODE_KILLED = 128 + signal.SIGKILL


def reason_of(outcome: Outcome, *, step: str, compiled: bool = False) -> tuple[Reason, Blame]:
    """Return the reason and the blame of a command that failed.

    step: "compile" or "run".
    compiled: whether the program was made by a compile step.
    """
    failed = Reason.compile_error if step == "compile" else Reason.runtime_error
    if step == "compile" and outcome.ending is Ending.signaled and outcome.signal == signal.SIGKILL:
        return Reason.not_judged, Blame.platform  # the program does not run in this step, and no compiler kills itself
    if outcome.ending is Ending.not_started:
        return (failed, Blame.program) if _is_program_fault(outcome, compiled) else (Reason.not_judged, Blame.platform)
    reason = _REASON_OF_ENDING.get(outcome.ending, failed)
    return (reason, Blame.platform) if reason is Reason.not_judged else (reason, outcome.blame)


def _is_program_fault(outcome: Outcome, compiled: bool) -> bool:
    """Whether a program that was not started is at fault itself.

    It is if it has an exit code (its language found nothing to start in it), or if its compile step left nothing executable, such
    as a library. Everything else is a platform fault.
    """
    if outcome.exit_code is not None:
        return True
    return compiled and outcome.message.startswith("cannot start") and outcome.message.endswith(_NOT_EXECUTABLE_ERRORS)


def was_delayed(outcome: Outcome) -> bool:
    """Whether the program timed out while it computed for less than half of the time.

    It waited for something, or other processes took its CPU time, possibly the platform's own. Such a run is repeated once.
    """
    return outcome.ending is Ending.timed_out and outcome.usage.cpu_s < _FAIR_CPU_SHARE * outcome.usage.wall_s


def was_starved(outcome: Outcome) -> bool:
    """Whether a delayed program did compute, so that more wall time may help."""
    return was_delayed(outcome) and outcome.usage.cpu_s > _MIN_CPU_SHARE * outcome.usage.wall_s


def was_maybe_killed(outcome: Outcome) -> bool:
    """Whether the program, or one of its processes, may have been killed from outside.

    Such an end looks the same as that of a program that kills itself. The run is repeated, and counts if it ends so each time.
    """
    if outcome.ending is Ending.signaled:
        return outcome.signal == signal.SIGKILL
    if outcome.ending is not Ending.exited or outcome.exit_code == 0:
        return False
    tail = outcome.stderr.tail or outcome.stderr.head[-_STDERR_TAIL_BYTES:]
    return outcome.exit_code == _SHELL_EXIT_CODE_KILLED or _CHILD_KILLED.search(tail) is not None
