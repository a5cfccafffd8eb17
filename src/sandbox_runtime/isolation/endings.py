"""From kernel facts to an ending. Pure."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field

from sandbox_runtime.model import Ending

PROBES = frozenset(
    {
        *("io_uring_setup", "perf_event_open", "userfaultfd", "name_to_handle_at", "clone3", "socket"),
        "process_vm_readv",  # how Zig looks at its own stack before it prints it
    }
)
"""Calls that well-behaved runtimes try and do without; having been refused one of them explains no failure."""


@dataclass(frozen=True, slots=True)
class Facts:
    """stopped_for: why we killed it (wall, cpu, output, cancel), if we did. lost: its box died under it."""

    exit_code: int | None = None
    signal: int | None = None
    stopped_for: str | None = None
    lost: bool = False
    not_started: bool = False
    oom_kills: int = 0
    processes_refused: int = 0
    disk_full: bool = False
    cpu_s: float = 0.0
    cpu_limit_s: float | None = None
    denied: frozenset[str] = field(default=frozenset())


_STOPPED = {
    "wall": Ending.timed_out,
    "cpu": Ending.cpu_exceeded,
    "output": Ending.output_limit,
    "cancel": Ending.cancelled,
}


def ending_of(facts: Facts) -> Ending:
    """The first of these that holds. A program that ended well despite a refusal has simply exited."""
    if facts.not_started:
        return Ending.not_started
    if facts.stopped_for is not None:
        return _STOPPED[facts.stopped_for]
    if facts.lost:
        return Ending.lost
    if facts.exit_code == 0:
        return Ending.exited
    return _limit_reached(facts) or _own_doing(facts)


def _limit_reached(facts: Facts) -> Ending | None:
    if facts.oom_kills:
        return Ending.out_of_memory
    if facts.signal == signal.SIGXCPU or (facts.signal == signal.SIGKILL and _cpu_used_up(facts)):
        return Ending.cpu_exceeded
    if facts.signal == signal.SIGXFSZ or facts.disk_full:
        return Ending.disk_limit
    if facts.processes_refused:
        return Ending.process_limit
    return None


def _cpu_used_up(facts: Facts) -> bool:
    return facts.cpu_limit_s is not None and facts.cpu_s >= facts.cpu_limit_s


def _own_doing(facts: Facts) -> Ending:
    if facts.signal == signal.SIGSYS or facts.denied - PROBES:
        return Ending.denied
    return Ending.signaled if facts.signal is not None else Ending.exited
