"""Host users for boxes. As root each box runs as its own user, from a range that no other server on this machine uses."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from sandbox_runtime.errors import Unavailable

_RANGES = 64
_HIGHEST = 2**32 - 2


def can_assign_uids(first: int, count: int, uid_map: str = "/proc/self/uid_map") -> bool:
    """Whether this process is root over `count` users from `first` on. Root of a container with fewer users is not, and opens
    boxes as a plain user does."""
    if os.geteuid() != 0:
        return False
    with open(uid_map, encoding="ascii") as file:
        spans = [tuple(map(int, line.split())) for line in file]
    return any(inside <= first and first + count <= inside + length for inside, _, length in spans)


def count_tasks(uid: int) -> int:
    """Count the threads of all processes of a user, as RLIMIT_NPROC does."""
    return sum(_threads(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit() and _owner(entry) == uid)


def _owner(entry: os.DirEntry[str]) -> int | None:
    try:
        return entry.stat().st_uid
    except OSError:  # the process has ended
        return None


def _threads(pid: str) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


@contextmanager
def lease(first: int, count: int) -> Iterator[int]:
    """Yield the first user of a range reserved for this server.

    The reservation is the name of an abstract socket, which the kernel releases when the server ends in any way.
    """
    for start in range(first, min(first + _RANGES * count, _HIGHEST - count), count):
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0sandbox-runtime-users-{start}")
        except OSError:
            claim.close()
            continue
        try:
            yield start
        finally:
            claim.close()
        return
    raise Unavailable(f"{_RANGES} other servers use the host users from {first} on; set box_uid_base to another number")
