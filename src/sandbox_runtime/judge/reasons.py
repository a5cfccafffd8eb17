"""From the ending of a command to the reason of a verdict, and whether it says anything of the completion at all. Pure."""

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
"""How compilers tell that a process of theirs was killed, at the beginning of a line: what they show of a program is indented, or
comes after its name."""
_STDERR_TAIL_BYTES = 4096
_MIN_CPU_SHARE, _FAIR_CPU_SHARE = 0.02, 0.5
_SHELL_EXIT_CODE_KILLED = 128 + signal.SIGKILL


def reason_of(outcome: Outcome, *, step: str, compiled: bool = False) -> tuple[Reason, Blame]:
    """Of a command that did not end well. step: "compile" or "run"; compiled: what was run was made by a step before it."""
    failed = Reason.compile_error if step == "compile" else Reason.runtime_error
    if step == "compile" and outcome.ending is Ending.signaled and outcome.signal == signal.SIGKILL:
        return Reason.not_judged, Blame.platform  # nothing of the program runs in this step, and no compiler kills itself
    if outcome.ending is Ending.not_started:
        return (failed, Blame.program) if _is_program_fault(outcome, compiled) else (Reason.not_judged, Blame.platform)
    reason = _REASON_OF_ENDING.get(outcome.ending, failed)
    return (reason, Blame.platform) if reason is Reason.not_judged else (reason, outcome.blame)


def _is_program_fault(outcome: Outcome, compiled: bool) -> bool:
    """A program that was refused before it was begun has an exit code: its language found nothing to start in it. One whose
    compile step left nothing that can be started, such as a library, is at fault as well. All else is ours."""
    if outcome.exit_code is not None:
        return True
    return compiled and outcome.message.startswith("cannot start") and outcome.message.endswith(_NOT_EXECUTABLE_ERRORS)


def was_delayed(outcome: Outcome) -> bool:
    """Whether its time ran out while it computed for less than half of it: it waited for something, or others had its turn, and
    it may have been us who stood in its way. It is run once more."""
    return outcome.ending is Ending.timed_out and outcome.usage.cpu_s < _FAIR_CPU_SHARE * outcome.usage.wall_s


def was_starved(outcome: Outcome) -> bool:
    """Whether it did compute meanwhile, so that more time may make up for what others took."""
    return was_delayed(outcome) and outcome.usage.cpu_s > _MIN_CPU_SHARE * outcome.usage.wall_s


def was_maybe_killed(outcome: Outcome) -> bool:
    """Whether someone outside may have killed it, or a process of it: nothing that is known of such an end tells it from that of
    a program that kills itself. It is run again, and counts when it ends so each time."""
    if outcome.ending is Ending.signaled:
        return outcome.signal == signal.SIGKILL
    if outcome.ending is not Ending.exited or outcome.exit_code == 0:
        return False
    last_words = outcome.stderr.tail or outcome.stderr.head[-_STDERR_TAIL_BYTES:]
    return outcome.exit_code == _SHELL_EXIT_CODE_KILLED or _CHILD_KILLED.search(last_words) is not None
