"""Fit the limits of a benchmark's jobs to what the operator allows. Pure."""

from __future__ import annotations

import dataclasses

from sandbox_runtime.engine import RequestLimits
from sandbox_runtime.model import Job, Limits

_DEFAULTS = Limits()
_WALL_TIME_FACTOR = 4
_OPERATOR_LIMITS = ("processes", "output_bytes", "file_bytes", "disk_bytes", "disk_files", "open_files", "cpu_cores")


def fit_limits(job: Job, allowed: RequestLimits) -> Job:
    """Return the job with limits that the operator allows.

    Benchmarks know nothing about the machine: a limit that they leave at its default, or set too high, becomes the operator's.
    Time is never shortened: the engine refuses a time limit that is too long.
    """
    compile_limits, run_limits = _fit(job.compile_limits, allowed), _fit(job.run_limits, allowed)
    return dataclasses.replace(job, compile_limits=compile_limits, run_limits=run_limits)


def with_more_wall_time(job: Job, allowed: RequestLimits) -> Job:
    """Return the job with more wall time but no more CPU time, for a program that was starved by other processes."""
    compile_limits, run_limits = _extend(job.compile_limits, allowed), _extend(job.run_limits, allowed)
    return dataclasses.replace(job, compile_limits=compile_limits, run_limits=run_limits)


def _extend(limits: Limits, allowed: RequestLimits) -> Limits:
    wall_s = max(limits.wall_s, min(_WALL_TIME_FACTOR * limits.wall_s, allowed.max_wall_s))
    return limits.replace(wall_s=wall_s, cpu_s=limits.cpu_s or limits.cpu_cores * limits.wall_s)


def _fit(limits: Limits, allowed: RequestLimits) -> Limits:
    operator = allowed.default
    fitted = {
        name: getattr(operator, name)
        if getattr(limits, name) == getattr(_DEFAULTS, name)
        else min(getattr(limits, name), getattr(operator, name))
        for name in _OPERATOR_LIMITS
    }
    max_bytes = allowed.max_memory_bytes
    memory_bytes = max_bytes if limits.memory_bytes is None else min(limits.memory_bytes, max_bytes)
    return limits.replace(**fitted, memory_bytes=memory_bytes)
