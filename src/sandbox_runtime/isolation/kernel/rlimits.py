"""Per-process limits: the second line behind the cgroup, and the only one where the host has none.

`plan` computes them once, on the server's side; `apply` sets them in the process that becomes the guest's program. Soft and hard
are the same wherever a program could otherwise raise its own limit.
"""

from __future__ import annotations

import math
import resource
from collections.abc import Iterable

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

Limit = tuple[int, int, int]
"""resource, soft, hard; -1 is no limit."""

KEEP = -2
"""As a hard limit: leave the one that is in force."""

_STACK_BYTES = 8 * MIB
_ADDRESS_SPACE_SLACK_BYTES = 40 * GIB
ALWAYS: tuple[Limit, ...] = (
    (resource.RLIMIT_CORE, 0, 0),
    (resource.RLIMIT_MEMLOCK, 64 * KIB, 64 * KIB),
    (resource.RLIMIT_MSGQUEUE, 800 * KIB, 800 * KIB),
    (resource.RLIMIT_SIGPENDING, 1024, 1024),
    (resource.RLIMIT_RTPRIO, 0, 0),
    (resource.RLIMIT_NICE, 0, 0),
    # A server started with an unlimited stack would hand its guests another memory layout than one that was not.
    (resource.RLIMIT_STACK, _STACK_BYTES, KEEP),
)


def plan(
    *,
    file_bytes: int,
    open_files: int,
    cpu_s: float | None = None,
    processes: int | None = None,
    memory_bytes: int | None = None,
) -> list[Limit]:
    """What a command has besides ALWAYS. processes and memory_bytes only where no cgroup holds them: here they bound a user and a
    single process, not a command.

    Memory is bounded by what a process can write privately (DATA). Shared mappings escape that, so the address space is bounded
    too, but loosely: node, java, go and .NET reserve gigabytes that they never touch, and node ten more for each WebAssembly
    memory.
    """
    limits = [_both(resource.RLIMIT_FSIZE, file_bytes), _both(resource.RLIMIT_NOFILE, open_files)]
    if cpu_s is not None:
        # SIGXCPU at the soft limit can be caught; the hard one, a second later, cannot.
        limits.append((resource.RLIMIT_CPU, math.ceil(cpu_s), math.ceil(cpu_s) + 1))
    if processes is not None:
        limits.append(_both(resource.RLIMIT_NPROC, processes))
    if memory_bytes is not None:
        limits.append(_both(resource.RLIMIT_DATA, memory_bytes))
        limits.append(_both(resource.RLIMIT_AS, memory_bytes + _ADDRESS_SPACE_SLACK_BYTES))
    return limits


def apply(limits: Iterable[Limit]) -> None:
    """Where the hard limit in force is already lower than the one wanted, it stays: nobody may raise it, and it is tighter."""
    for number, soft, hard in limits:
        in_force = resource.getrlimit(number)[1]
        hard = in_force if hard == KEEP else _min_limit(hard, in_force)
        resource.setrlimit(number, (_min_limit(soft, hard), hard))


def in_force(limits: Iterable[Limit]) -> list[Limit]:
    """The same resources with the values the calling process really has."""
    return [(number, *resource.getrlimit(number)) for number, _, _ in limits]


def _both(number: int, value: int) -> Limit:
    return number, value, value


def _min_limit(one: int, other: int) -> int:
    if resource.RLIM_INFINITY in (one, other):
        return other if one == resource.RLIM_INFINITY else one
    return min(one, other)
