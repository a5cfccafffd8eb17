"""Per-process limits: a second defence behind cgroups, and the only one on hosts without them.

`plan` computes them in the server; `apply` sets them in the process that becomes the guest's program. Soft and hard limits are
equal wherever a program could otherwise raise its own limit.
"""

from __future__ import annotations

import math
import resource
from collections.abc import Iterable

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

Limit = tuple[int, int, int]
"""(resource, soft, hard); -1 means no limit."""

KEEP = -2
"""As a hard limit: keep the current one."""

_STACK_BYTES = 8 * MIB
_ADDRESS_SPACE_SLACK_BYTES = 40 * GIB
ALWAYS: tuple[Limit, ...] = (
    (resource.RLIMIT_CORE, 0, 0),
    (resource.RLIMIT_MEMLOCK, 64 * KIB, 64 * KIB),
    (resource.RLIMIT_MSGQUEUE, 800 * KIB, 800 * KIB),
    (resource.RLIMIT_SIGPENDING, 1024, 1024),
    (resource.RLIMIT_RTPRIO, 0, 0),
    (resource.RLIMIT_NICE, 0, 0),
    # A server started with an unlimited stack would otherwise give its guests a different memory layout.
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
    """Return the limits of a command besides ALWAYS.

    Set processes and memory_bytes only if no cgroup limits them: here they limit a user and a single process, not a command.
    Memory is limited by what a process can write privately (DATA). Shared mappings are not covered by that, so the address
    space is limited too, but loosely: node, java, go and .NET reserve gigabytes that they never touch, and node ten more for
    each WebAssembly memory.
    """
    limits = [_both(resource.RLIMIT_FSIZE, file_bytes), _both(resource.RLIMIT_NOFILE, open_files)]
    if cpu_s is not None:
        # SIGXCPU at the soft limit can be caught; the hard limit, a second later, cannot.
        limits.append((resource.RLIMIT_CPU, math.ceil(cpu_s), math.ceil(cpu_s) + 1))
    if processes is not None:
        limits.append(_both(resource.RLIMIT_NPROC, processes))
    if memory_bytes is not None:
        limits.append(_both(resource.RLIMIT_DATA, memory_bytes))
        limits.append(_both(resource.RLIMIT_AS, memory_bytes + _ADDRESS_SPACE_SLACK_BYTES))
    return limits


def apply(limits: Iterable[Limit]) -> None:
    """Set the limits. A hard limit that is already lower stays: it cannot be raised, and it is tighter."""
    for number, soft, hard in limits:
        in_force = resource.getrlimit(number)[1]
        hard = in_force if hard == KEEP else _min_limit(hard, in_force)
        resource.setrlimit(number, (_min_limit(soft, hard), hard))


def in_force(limits: Iterable[Limit]) -> list[Limit]:
    """Return the same resources with the current values of this process."""
    return [(number, *resource.getrlimit(number)) for number, _, _ in limits]


def _both(number: int, value: int) -> Limit:
    return number, value, value


def _min_limit(first: int, second: int) -> int:
    if resource.RLIM_INFINITY in (first, second):
        return second if first == resource.RLIM_INFINITY else first
    return min(first, second)
