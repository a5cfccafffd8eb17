"""Limits of trials within what the operator allows."""

from __future__ import annotations

import pytest

from sandbox_runtime.assembly import build_request_limits
from sandbox_runtime.errors import PlatformFault, SandboxError, TooMany
from sandbox_runtime.judge.attempts import Attempts
from sandbox_runtime.judge.limits import fit_limits, with_more_wall_time
from sandbox_runtime.model import Job, Limits
from sandbox_runtime.settings import Settings

ALLOWED = build_request_limits(Settings(disk_limit=2**30, process_limit=32, memory_ceiling=2**31, timeout_ceiling=100))


def test_what_is_not_said_is_as_the_operator_has_it() -> None:
    limits = fit_limits(Job("python", "", run_limits=Limits(wall_s=7, memory_bytes=None)), ALLOWED).run_limits
    assert (limits.wall_s, limits.memory_bytes, limits.disk_bytes, limits.processes) == (7, 2**31, 2**30, 32)


def test_what_is_said_counts_as_far_as_it_is_allowed() -> None:
    asked = Limits(wall_s=7, memory_bytes=2**40, disk_bytes=2**20, processes=64)
    limits = fit_limits(Job("python", "", run_limits=asked), ALLOWED).run_limits
    assert (limits.memory_bytes, limits.disk_bytes, limits.processes) == (2**31, 2**20, 32)
    ALLOWED.check(fit_limits(Job("python", "", run_limits=asked), ALLOWED))


def test_time_is_neither_shortened_nor_made_longer_than_allowed() -> None:
    assert fit_limits(Job("python", "", run_limits=Limits(wall_s=1000)), ALLOWED).run_limits.wall_s == 1000
    longer = with_more_wall_time(Job("python", "", run_limits=Limits(wall_s=10, cpu_cores=2)), ALLOWED).run_limits
    assert (longer.wall_s, longer.cpu_s) == (40, 20)
    assert with_more_wall_time(Job("python", "", run_limits=Limits(wall_s=60)), ALLOWED).run_limits.wall_s == 100
    assert with_more_wall_time(Job("python", "", run_limits=Limits(wall_s=10, cpu_s=3)), ALLOWED).run_limits.cpu_s == 3


async def test_what_fails_through_our_fault_is_tried_so_often_and_no_more() -> None:
    faults: list[SandboxError] = [PlatformFault("one"), TooMany("two", 0.001), PlatformFault("three")]
    seen: list[str] = []

    async def once() -> str:
        if faults:
            raise faults.pop(0)
        return "done"

    assert await Attempts(5, 0.001).make(once, lambda fault: seen.append(str(fault))) == "done"
    assert seen == ["one", "two", "three"]
    faults = [PlatformFault(str(number)) for number in range(9)]
    with pytest.raises(PlatformFault, match="2"):
        await Attempts(3, 0.001).make(once, lambda _: None)
