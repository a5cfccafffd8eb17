"""Host users for boxes: as root each box runs as one of its own, from a range that no other server of this machine draws from."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from sandbox_runtime.errors import Unavailable

_RANGES = 64
_HIGHEST = 2**32 - 2


def can_assign_uids(first: int, count: int, uid_map: str = "/proc/self/uid_map") -> bool:
    """Whether this process is root over that many users from `first` on. Root of a container that was given fewer is not: it
    makes boxes as a plain user does."""
    if os.geteuid() != 0:
        return False
    with open(uid_map, encoding="ascii") as file:
        spans = [tuple(map(int, line.split())) for line in file]
    return any(inside <= first and first + count <= inside + length for inside, _, length in spans)


def count_tasks(uid: int) -> int:
    """Threads of all processes of a user, as the kernel counts them for RLIMIT_NPROC."""
    return sum(_threads(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit() and _owner(entry) == uid)


def _owner(entry: os.DirEntry[str]) -> int | None:
    try:
        return entry.stat().st_uid
    except OSError:  # gone meanwhile
        return None


def _threads(pid: str) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


@contextmanager
def lease(first: int, count: int) -> Iterator[int]:
    """The first user of a range that is ours for as long as the context lasts, and longer than we live in no case: what holds it
    is a socket's name, which the kernel takes back."""
    for start in range(first, min(first + _RANGES * count, _HIGHEST - count), count):
        held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            held.bind(f"\0sandbox-runtime-users-{start}")
        except OSError:
            held.close()
            continue
        try:
            yield start
        finally:
            held.close()
        return
    raise Unavailable(f"{_RANGES} servers on this machine hold the users from {first} on; set box_uid_base to another number")
