"""Kill every process of a box and sum up what they used."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox_runtime.isolation.kernel import libc

_SET_CHILD_SUBREAPER = 36


@dataclass
class Reaped:
    """The sum over all processes reaped so far."""

    processes: int = 0
    user_s: float = 0.0
    system_s: float = 0.0
    memory_peak_bytes: int = 0

    def collect(self, options: int) -> tuple[int, int] | None:
        """Reap one child and return (pid, wait status), or None if none is dead (WNOHANG) or none is left."""
        try:
            pid, status, used = os.wait3(options)
        except ChildProcessError:
            return None
        if pid == 0:
            return None
        self.processes += 1
        self.user_s += used.ru_utime
        self.system_s += used.ru_stime
        self.memory_peak_bytes = max(self.memory_peak_bytes, used.ru_maxrss * 1024)
        return pid, status


def adopt_orphans() -> None:
    """Outside a pid namespace: become the parent of orphaned descendants, so that they can be found and killed."""
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_others(*, own_namespace: bool, reaped: Reaped) -> None:
    """Kill and reap every process but the caller.

    In a pid namespace whose pid 1 is the caller, one signal reaches all. Otherwise descendants are searched until none is left;
    one that forks faster than we search is still found, because its children are reparented to us.
    """
    while has_children():
        if own_namespace:
            signal_everyone()
        else:
            signal_descendants()
        while reaped.collect(os.WNOHANG) is not None:
            pass
        if has_children():
            if own_namespace:
                reaped.collect(0)
            else:
                time.sleep(0.001)


def has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def signal_everyone() -> None:
    """Call as pid 1 of a pid namespace: kill all other processes in it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def signal_descendants() -> None:
    for pid in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def descendants(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for pid, parent in _all_processes():
        children.setdefault(parent, []).append(pid)
    result, pending = [], [root]
    while pending:
        below = children.get(pending.pop(), [])
        result += below
        pending += below
    return result


def _all_processes() -> Iterator[tuple[int, int]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    yield int(name), int(file.read().rpartition(b")")[2].split()[1])
            except OSError:
                continue
