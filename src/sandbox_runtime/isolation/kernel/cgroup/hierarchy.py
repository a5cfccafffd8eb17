"""The server's directory in one hierarchy, with the groups of its commands below it.

Files are accessed as "group/file" relative to one directory descriptor, so a group needs no descriptor of its own.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import ClassVar

from sandbox_runtime.isolation.kernel.cgroup import tree

CPU_PERIOD_US = 100_000
_MIN_QUOTA_US = 1_000


class Hierarchy(ABC):
    entry_file = "cgroup.procs"
    stat_files: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """For each controller, the files with usage figures of a group."""

    def __init__(self, path: str, controllers: Iterable[str]) -> None:
        self.path = path
        self.controllers = frozenset(controllers)
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._open_stats: dict[str, int] = {}

    def close(self) -> None:
        for descriptor in self._open_stats.values():
            os.close(descriptor)
        self._open_stats.clear()
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def make(self, group: str) -> None:
        os.mkdir(group, dir_fd=self.fd)

    def keep_stats_open(self, group: str) -> None:
        """Keep the usage files open, so that reading them needs no path lookup: for groups whose end somebody waits for."""
        for file in itertools.chain(*(self.stat_files.get(controller, ()) for controller in self.controllers)):
            with contextlib.suppress(FileNotFoundError):
                self._open_stats[f"{group}/{file}"] = os.open(f"{group}/{file}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.fd)

    def _close_stats(self, group: str) -> None:
        """Close what keep_stats_open opened."""
        for file in itertools.chain(*self.stat_files.values()):
            descriptor = self._open_stats.pop(f"{group}/{file}", None)
            if descriptor is not None:
                os.close(descriptor)

    def remove(self, group: str) -> bool:
        """Remove the group. Returns False while processes are in it."""
        self._close_stats(group)
        try:
            os.rmdir(group, dir_fd=self.fd)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            return False
        return True

    def write(self, group: str, file: str, text: str) -> None:
        tree.write_file(f"{group}/{file}", text, dir_fd=self.fd)

    def number(self, group: str, file: str) -> int | None:
        text = self._read(group, file)
        return None if text is None else int(text)

    def table(self, group: str, file: str) -> dict[str, int]:
        """Parse a file of lines "name number"; empty if the kernel has no such file."""
        words = (self._read(group, file) or "").split()
        return dict(zip(words[::2], map(int, words[1::2]), strict=False))

    def _read(self, group: str, file: str) -> str | None:
        path = f"{group}/{file}"
        descriptor = self._open_stats.get(path)
        if descriptor is None:
            return tree.read_file(path, dir_fd=self.fd)
        return os.pread(descriptor, tree.MAX_STAT_BYTES, 0).decode()

    def kill(self, group: str) -> None:
        tree.kill_directory(os.path.join(self.path, group))

    def add(self, group: str, pid: int) -> None:
        self.write(group, "cgroup.procs", str(pid))

    def open_entry_file(self, group: str) -> int:
        return os.open(f"{group}/{self.entry_file}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self.fd)

    def limit_processes(self, group: str, processes: int) -> None:
        self.write(group, "pids.max", str(processes))

    def processes_peak(self, group: str) -> int | None:
        return self.number(group, "pids.peak")

    def processes_refused(self, group: str) -> int | None:
        return self.table(group, "pids.events").get("max")

    @abstractmethod
    def limit_memory(self, group: str, was: int | None, now: int | None) -> None:
        """Limit memory, with no swap. `was` is the current limit."""

    @abstractmethod
    def limit_cpu(self, group: str, quota_us: int | None) -> None:
        """Limit cpu time per CPU_PERIOD_US."""

    @abstractmethod
    def cpu_s(self, group: str) -> float | None: ...

    @abstractmethod
    def cpu_times(self, group: str) -> tuple[float, float] | None:
        """Return user and system seconds, which add up to cpu_s."""

    @abstractmethod
    def memory_peak(self, group: str) -> int | None: ...

    @abstractmethod
    def oom_kills(self, group: str) -> int | None: ...

    @abstractmethod
    def reached_memory_limit(self, group: str, memory_bytes: int) -> bool:
        """Whether the group reached its own limit. That alone does not kill: memory can often be reclaimed."""


def quota_us(cpu_cores: float, host_cores: int) -> int | None:
    """Return None if the limit is at least the whole machine, which needs no quota."""
    return None if cpu_cores >= host_cores else max(_MIN_QUOTA_US, int(cpu_cores * CPU_PERIOD_US))


def write_if_exists(path: str, text: str) -> None:
    """Write to a file that some kernels lack and that only tightens limits."""
    with contextlib.suppress(FileNotFoundError):
        tree.write_file(path, text)
