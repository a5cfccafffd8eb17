"""cgroup version 1: every controller may have its own hierarchy.

Theory of operation. The server's directory is created below the process's own group in each hierarchy if that is writable, so
that a limit on the server applies to its boxes too; otherwise in the nearest parent. memory.memsw counts memory plus swap and
must never be below memory, hence the order of the two writes. Data in the sockets of a group is counted separately from its
memory, and only once it has its own limit: it gets the same one. cpuacct.usage is exact; usage_user and usage_sys are sampled
at clock ticks, so they only give the ratio in which the exact sum is divided.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from typing import ClassVar

from sandbox_runtime.isolation.kernel.cgroup.hierarchy import Hierarchy, write_if_exists
from sandbox_runtime.isolation.kernel.cgroup.mounts import Mount, bases

CONTROLLERS = frozenset({"memory", "pids", "cpu", "cpuacct", "freezer"})
_MEMORY = "memory.limit_in_bytes"
_MEMORY_AND_SWAP = "memory.memsw.limit_in_bytes"
_SOCKETS = "memory.kmem.tcp.limit_in_bytes"
_CHARGE_BYTES = 1 << 20


class HierarchyV1(Hierarchy):
    entry_file = "tasks"
    stat_files: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "cpuacct": ("cpuacct.usage", "cpuacct.usage_user", "cpuacct.usage_sys"),
        "memory": ("memory.max_usage_in_bytes", "memory.oom_control"),
        "pids": ("pids.peak", "pids.events"),
    }

    def __init__(self, path: str, controllers: frozenset[str]) -> None:
        super().__init__(path, controllers)
        self._swap_counted = os.path.exists(os.path.join(path, _MEMORY_AND_SWAP))
        self._sockets_counted = os.path.exists(os.path.join(path, _SOCKETS))

    def limit_memory(self, group: str, was: int | None, now: int | None) -> None:
        files = [_MEMORY, _MEMORY_AND_SWAP] if self._swap_counted else [_MEMORY]
        raising = now is None or (was is not None and now > was)
        for file in reversed(files) if raising else files:
            self.write(group, file, "-1" if now is None else str(now))
        if self._sockets_counted:
            self.write(group, _SOCKETS, "-1" if now is None else str(now))

    def limit_cpu(self, group: str, quota_us: int | None) -> None:
        try:
            self.write(group, "cpu.cfs_quota_us", "-1" if quota_us is None else str(quota_us))
        except OSError as error:
            # A quota above that of an outer group is refused. Without a quota the outer, tighter one applies.
            if error.errno != errno.EINVAL or quota_us is None:
                raise
            self.write(group, "cpu.cfs_quota_us", "-1")

    def cpu_s(self, group: str) -> float | None:
        total_ns = self.number(group, "cpuacct.usage")
        return None if total_ns is None else total_ns / 1e9

    def cpu_times(self, group: str) -> tuple[float, float] | None:
        total_s = self.cpu_s(group)
        if total_s is None:
            return None
        user = self.number(group, "cpuacct.usage_user") or 0
        system = self.number(group, "cpuacct.usage_sys") or 0
        system_s = total_s * system / (user + system) if system else 0.0
        return total_s - system_s, system_s

    def memory_peak(self, group: str) -> int | None:
        return self.number(group, "memory.max_usage_in_bytes")

    def oom_kills(self, group: str) -> int | None:
        return self.table(group, "memory.oom_control").get("oom_kill")

    def reached_memory_limit(self, group: str, memory_bytes: int) -> bool:
        """Uses the peak, because not every kernel counts failcnt any more. Memory is charged in batches, hence the margin."""
        return (self.memory_peak(group) or 0) >= memory_bytes - _CHARGE_BYTES


def open_hierarchies(
    mounts: Sequence[Mount], own_paths: Mapping[str, str], directory: str
) -> tuple[list[HierarchyV1], dict[str, str]]:
    """Open every hierarchy that has a wanted controller. Returns the hierarchies, and the reason by controller for those that
    failed."""
    hierarchies: list[HierarchyV1] = []
    failures: dict[str, str] = {}
    taken: set[str] = set()
    for mount in mounts:
        controllers = (mount.controllers & CONTROLLERS) - taken
        if mount.version != 1 or not controllers:
            continue
        path, failure = _claim(mount, own_paths.get(min(controllers), "/"), directory)
        if path is None:
            failures.update(dict.fromkeys(controllers, failure))
            continue
        taken |= controllers
        hierarchies.append(HierarchyV1(path, controllers))
    return hierarchies, {name: reason for name, reason in failures.items() if name not in taken}


def _claim(mount: Mount, own_path: str, directory: str) -> tuple[str | None, str]:
    failure = ""
    for base in bases(mount, own_path):
        path = os.path.join(base, directory)
        try:
            os.mkdir(path)
        except FileExistsError:
            raise
        except OSError as error:
            failure = failure or f"{base}: {error.strerror}"
            continue
        _prepare(path)
        return path, ""
    return None, failure


def _prepare(path: str) -> None:
    """Prepare the server's directory.

    Older kernels count a child's memory in its parents only on request. If swap is not counted it is disabled; new groups
    inherit swappiness. The kernel patches its code when the first group starts to count sockets and when the last one stops:
    our directory counts as long as the server runs.
    """
    write_if_exists(os.path.join(path, "memory.use_hierarchy"), "1")
    write_if_exists(os.path.join(path, _SOCKETS), "-1")
    if not os.path.exists(os.path.join(path, _MEMORY_AND_SWAP)):
        write_if_exists(os.path.join(path, "memory.swappiness"), "0")
