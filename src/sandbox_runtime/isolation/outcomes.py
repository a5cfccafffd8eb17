"""Turn everything known about the end of a command into an Outcome. Pure functions."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox_runtime.isolation.inside import wire
from sandbox_runtime.isolation.kernel.cgroup.group import GroupUsage
from sandbox_runtime.model import Ending, Limits, Outcome, Output, Usage

_MESSAGE = {
    Ending.out_of_memory: "the memory limit was reached",
    Ending.timed_out: "the wall time limit was reached",
    Ending.cpu_exceeded: "the cpu time limit was reached",
    Ending.output_limit: "the output limit was reached",
    Ending.disk_limit: "the disk limit was reached",
    Ending.process_limit: "the process limit was reached",
    Ending.denied: "the program made system calls that boxes refuse",
    Ending.cancelled: "cancelled by the caller",
    Ending.lost: "the box died while the program ran; this is a fault of the platform, not of the program",
}

PROBES = frozenset(
    {
        *("io_uring_setup", "perf_event_open", "userfaultfd", "name_to_handle_at", "clone3", "socket"),
        "process_vm_readv",  # Zig reads its own stack this way to print it
    }
)
"""Calls that well-behaved runtimes probe and do without. A refusal of one of them does not explain a failure."""


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """How a command ended.

    report: init's report; None if the box died first.
    used_before: usage of the group when counting began.
    failure: why the command could not be started.
    stop_reason: why the server killed it (wall, cpu, output, cancel); None if it did not.
    disk: bytes and files in use (None if not counted), and whether either reached its limit.
    denied: refused system calls and how often.
    """

    report: wire.Message | None
    used: GroupUsage
    used_before: GroupUsage
    failure: str | None
    stop_reason: str | None
    wall_s: float
    output_bytes: int
    limits: Limits
    disk: tuple[int | None, int | None, bool]
    denied: Mapping[str, int]


def make_outcome(end: CommandEnd, stdout: Output, stderr: Output, isolation: str) -> Outcome:
    usage = _usage(end)
    facts = _facts(end, usage)
    ending = classify_ending(facts)
    return Outcome(
        ending=ending,
        exit_code=facts.exit_code if ending not in (Ending.not_started, Ending.lost) else None,
        signal=facts.signal if ending is not Ending.lost else None,
        stdout=stdout,
        stderr=stderr,
        usage=usage,
        message=end.failure or _MESSAGE.get(ending, ""),
        isolation=isolation,
        limits=end.limits,
    )


def _facts(end: CommandEnd, usage: Usage) -> EndFacts:
    report = end.report or {}
    return EndFacts(
        exit_code=report.get("exit_code"),
        signal=report.get("signal"),
        stop_reason=end.stop_reason,
        lost=end.report is None or bool(report.get("lost")),
        not_started=end.failure is not None,
        oom_kills=end.used.oom_kills or 0,
        processes_refused=end.used.processes_refused or 0,
        disk_full=end.disk[2],
        cpu_s=usage.cpu_s,
        cpu_limit_s=end.limits.cpu_s,
        denied=frozenset(end.denied),
    )


def _usage(end: CommandEnd) -> Usage:
    report, used, before = end.report or {}, end.used, end.used_before
    return Usage(
        wall_s=end.wall_s,
        cpu_user_s=_since(used.cpu_user_s, before.cpu_user_s, report.get("user_s")),
        cpu_system_s=_since(used.cpu_system_s, before.cpu_system_s, report.get("system_s")),
        memory_peak_bytes=used.memory_peak_bytes or report.get("memory_peak_bytes"),
        processes_peak=used.processes_peak,
        output_bytes=end.output_bytes,
        disk_bytes=end.disk[0],
        disk_files=end.disk[1],
        processes_refused=used.processes_refused,
        denied_calls=end.denied,
    )


def _since(now_s: float | None, before_s: float | None, instead_s: float | None) -> float:
    """Return the usage since counting began, or `instead_s` if the host does not count all processes together."""
    if now_s is None:
        return float(instead_s or 0.0)
    return max(0.0, now_s - (before_s or 0.0))


@dataclass(frozen=True, slots=True)
class EndFacts:
    """Facts that decide the ending.

    stop_reason: why the server killed it (wall, cpu, output, cancel); None if it did not.
    lost: the box died before the command ended.
    """

    exit_code: int | None = None
    signal: int | None = None
    stop_reason: str | None = None
    lost: bool = False
    not_started: bool = False
    oom_kills: int = 0
    processes_refused: int = 0
    disk_full: bool = False
    cpu_s: float = 0.0
    cpu_limit_s: float | None = None
    denied: frozenset[str] = field(default=frozenset())


_STOP_ENDINGS = {
    "wall": Ending.timed_out,
    "cpu": Ending.cpu_exceeded,
    "output": Ending.output_limit,
    "cancel": Ending.cancelled,
}


def classify_ending(facts: EndFacts) -> Ending:
    """Return the first ending that applies. A program that succeeded despite a refused call counts as exited."""
    if facts.not_started:
        return Ending.not_started
    if facts.stop_reason is not None:
        return _STOP_ENDINGS[facts.stop_reason]
    if facts.lost:
        return Ending.lost
    if facts.exit_code == 0:
        return Ending.exited
    return _ending_by_limit(facts) or _ending_by_program(facts)


def _ending_by_limit(facts: EndFacts) -> Ending | None:
    if facts.oom_kills:
        return Ending.out_of_memory
    if facts.signal == signal.SIGXCPU or (facts.signal == signal.SIGKILL and _cpu_used_up(facts)):
        return Ending.cpu_exceeded
    if facts.signal == signal.SIGXFSZ or facts.disk_full:
        return Ending.disk_limit
    if facts.processes_refused:
        return Ending.process_limit
    return None


def _cpu_used_up(facts: EndFacts) -> bool:
    return facts.cpu_limit_s is not None and facts.cpu_s >= facts.cpu_limit_s


def _ending_by_program(facts: EndFacts) -> Ending:
    if facts.signal == signal.SIGSYS or facts.denied - PROBES:
        return Ending.denied
    return Ending.signaled if facts.signal is not None else Ending.exited
