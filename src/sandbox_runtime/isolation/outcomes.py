"""The outcome of a command, from all that is known of its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sandbox_runtime.isolation.endings import Facts, ending_of
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
    Ending.denied: "calls that boxes may not make were refused",
    Ending.cancelled: "cancelled by the caller",
    Ending.lost: "the box died under the program; this is a fault of the platform, not of the program",
}


@dataclass(frozen=True, slots=True)
class End:
    """report None: its box died under it. used_before: what its group had used when the count began. failure: why it could not be
    started. disk: bytes and files in use where they are counted, and whether either is at its limit."""

    report: wire.Message | None
    used: GroupUsage
    used_before: GroupUsage
    failure: str | None
    stopped_for: str | None
    wall_s: float
    output_bytes: int
    limits: Limits
    disk: tuple[int | None, int | None, bool]
    denied: Mapping[str, int]


def outcome_of(end: End, stdout: Output, stderr: Output, isolation: str) -> Outcome:
    usage = _usage(end)
    facts = _facts(end, usage)
    ending = ending_of(facts)
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


def _facts(end: End, usage: Usage) -> Facts:
    report = end.report or {}
    return Facts(
        exit_code=report.get("exit_code"),
        signal=report.get("signal"),
        stopped_for=end.stopped_for,
        lost=end.report is None or bool(report.get("lost")),
        not_started=end.failure is not None,
        oom_kills=end.used.oom_kills or 0,
        processes_refused=end.used.processes_refused or 0,
        disk_full=end.disk[2],
        cpu_s=usage.cpu_s,
        cpu_limit_s=end.limits.cpu_s,
        denied=frozenset(end.denied),
    )


def _usage(end: End) -> Usage:
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
    """What was used since the count began; instead_s where the host does not count for all processes together."""
    if now_s is None:
        return float(instead_s or 0.0)
    return max(0.0, now_s - (before_s or 0.0))
