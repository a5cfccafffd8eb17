"""The group of one command: limits, usage and end."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandbox_runtime.isolation.kernel.cgroup.freezer import Freezer
from sandbox_runtime.isolation.kernel.cgroup.hierarchy import Hierarchy, quota_us

_PAUSE_S = 0.001


@dataclass(frozen=True)
class GroupUsage:
    """What the kernel counted for all processes of the group. None: this host does not provide the figure.

    oom_kills: processes that the kernel killed because memory ran out.
    oom_elsewhere: whether the group had not reached its own limit then, so an outer limit or the machine was the cause.
    """

    cpu_user_s: float | None = None
    cpu_system_s: float | None = None
    cpu_s: float | None = None
    memory_peak_bytes: int | None = None
    oom_kills: int | None = None
    oom_elsewhere: bool = False
    processes_peak: int | None = None
    processes_refused: int | None = None


class Group:
    """Created by CgroupRoot.open_group. Each figure and limit uses the hierarchy that has its controller, if any."""

    def __init__(
        self,
        name: str,
        hierarchies: Sequence[Hierarchy],
        by_controller: Mapping[str, Hierarchy],
        host_cores: int,
        freezer: Freezer | None = None,
    ) -> None:
        self.name = name
        self._hierarchies = hierarchies
        self._memory = by_controller.get("memory")
        self._pids = by_controller.get("pids")
        self._cpu = by_controller.get("cpu")
        self._accounting = by_controller.get("cpuacct")
        self._host_cores = host_cores
        self._freezer = freezer
        self._memory_bytes: int | None = None
        self._processes: int | None = None
        self._quota_us: int | None = None
        self._refused_before_kill: int | None = None

    def limit(self, memory_bytes: int | None, processes: int, cpu_cores: float) -> None:
        """Write the limits that changed. Raises OSError (EBUSY) if the kernel cannot shrink memory below a new limit."""
        if self._memory and memory_bytes != self._memory_bytes:
            self._memory.limit_memory(self.name, self._memory_bytes, memory_bytes)
            self._memory_bytes = memory_bytes
        if self._pids and processes != self._processes:
            self._pids.limit_processes(self.name, processes)
            self._processes = processes
        quota = quota_us(cpu_cores, self._host_cores)
        if self._cpu and quota != self._quota_us:
            self._cpu.limit_cpu(self.name, quota)
            self._quota_us = quota

    def add(self, pid: int) -> None:
        """Move a process here, by its pid in our pid namespace. Takes 5 to 20 ms on an idle machine; see open_entry_files."""
        for hierarchy in self._hierarchies:
            hierarchy.add(self.name, pid)

    def open_entry_files(self) -> list[int]:
        """Return descriptors for tree.enter, to send to a process that moves itself here; with version 1 that is much faster.

        Their holder can move processes into this group, so they must be closed before any guest code runs.
        """
        with contextlib.ExitStack() as opened:
            fds: list[int] = []
            for hierarchy in self._hierarchies:
                fds.append(hierarchy.open_entry_file(self.name))
                opened.callback(os.close, fds[-1])
            opened.pop_all()
            return fds

    def keep_stats_open(self) -> None:
        """Keep a descriptor open for each usage file until remove()."""
        for hierarchy in self._hierarchies:
            hierarchy.keep_stats_open(self.name)

    def cpu_s(self) -> float | None:
        """Return the cpu time so far, with one read. Used for the limit over all processes."""
        return self._accounting.cpu_s(self.name) if self._accounting else None

    def oom_kills(self) -> int | None:
        """Return the count so far, with one read. Version 1 kills one process at a time while the others wait for it: poll."""
        return self._memory.oom_kills(self.name) if self._memory else None

    def usage(self) -> GroupUsage:
        times = self._accounting.cpu_times(self.name) if self._accounting else None
        memory, pids, oom_kills = self._memory, self._pids, self.oom_kills()
        return GroupUsage(
            cpu_user_s=times[0] if times else None,
            cpu_system_s=times[1] if times else None,
            cpu_s=sum(times) if times else None,
            memory_peak_bytes=memory.memory_peak(self.name) if memory else None,
            oom_kills=oom_kills,
            oom_elsewhere=bool(oom_kills) and not self._reached_memory_limit(),
            processes_peak=pids.processes_peak(self.name) if pids else None,
            processes_refused=self._processes_refused(),
        )

    def kill(self) -> None:
        """Send SIGKILL to every process of the group. They are gone when remove() returns True."""
        self._refused_before_kill = self._processes_refused()
        self._processes = None
        for hierarchy in self._pids_first():
            hierarchy.kill(self.name)

    def freeze(self) -> None:
        """Freeze every process of the group and every process that enters it; done when is_frozen() is True. Needs a group
        opened as freezable on a host with a freezer."""
        self._require_freezer().freeze(self.name)

    def thaw(self) -> None:
        self._require_freezer().thaw(self.name)

    def is_frozen(self) -> bool:
        return self._require_freezer().is_frozen(self.name)

    def remove(self, wait_s: float = 0.0) -> bool:
        """Remove the group. Returns False if processes in it are still alive after `wait_s`. Idempotent."""
        deadline = time.monotonic() + wait_s
        while not all([hierarchy.remove(self.name) for hierarchy in self._hierarchies]):
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE_S)
        return True

    def _require_freezer(self) -> Freezer:
        if self._freezer is None:
            raise OSError(errno.EOPNOTSUPP, f"the group {self.name} cannot be frozen")
        return self._freezer

    def _reached_memory_limit(self) -> bool:
        if self._memory is None or self._memory_bytes is None:
            return False
        return self._memory.reached_memory_limit(self.name, self._memory_bytes)

    def _processes_refused(self) -> int | None:
        """Forks refused by the limit, without those refused because killing without cgroup.kill sets the limit to 0."""
        if self._refused_before_kill is not None or not self._pids:
            return self._refused_before_kill
        return self._pids.processes_refused(self.name)

    def _pids_first(self) -> list[Hierarchy]:
        return sorted(self._hierarchies, key=lambda hierarchy: hierarchy is not self._pids)
