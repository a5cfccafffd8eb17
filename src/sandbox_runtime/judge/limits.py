"""Limits as benchmarks ask for them, within what the operator allows. Pure."""

from __future__ import annotations

import dataclasses

from sandbox_runtime.engine import RequestLimits
from sandbox_runtime.model import Job, Limits

_DEFAULTS = Limits()
_WALL_TIME_FACTOR = 4
_OPERATOR_LIMITS = ("processes", "output_bytes", "file_bytes", "disk_bytes", "disk_files", "open_files", "cpu_cores")


def fit_limits(job: Job, allowance: RequestLimits) -> Job:
    """Benchmarks are values that know no machine: what they leave as it is, or set higher than it may be, is as the operator has
    it. Time is never shortened: a limit that is longer than allowed is for the engine to refuse."""
    return dataclasses.replace(
        job, compile_limits=_fit(job.compile_limits, allowance), run_limits=_fit(job.run_limits, allowance)
    )


def with_more_wall_time(job: Job, allowance: RequestLimits) -> Job:
    """For a program that others kept from its share: more wall time, but not more of the processor than it could have had."""
    return dataclasses.replace(
        job, compile_limits=_extend(job.compile_limits, allowance), run_limits=_extend(job.run_limits, allowance)
    )


def _extend(limits: Limits, allowance: RequestLimits) -> Limits:
    wall_s = max(limits.wall_s, min(_WALL_TIME_FACTOR * limits.wall_s, allowance.max_wall_s))
    return limits.replace(wall_s=wall_s, cpu_s=limits.cpu_s or limits.cpu_cores * limits.wall_s)


def _fit(limits: Limits, allowance: RequestLimits) -> Limits:
    usual = allowance.default
    own = {
        name: getattr(usual, name)
        if getattr(limits, name) == getattr(_DEFAULTS, name)
        else min(getattr(limits, name), getattr(usual, name))
        for name in _OPERATOR_LIMITS
    }
    asked = limits.memory_bytes
    most = allowance.max_memory_bytes
    return limits.replace(**own, memory_bytes=most if asked is None else min(asked, most))
