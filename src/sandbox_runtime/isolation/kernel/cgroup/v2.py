"""cgroup version 2: one tree for all controllers.

Theory of operation. A controller is available in a directory only if every directory above enables it (cgroup.subtree_control),
and a directory that enables memory, pids or cpu may not contain processes itself, except the root of the real tree. So the
server looks for the nearest directory, from its own group upwards, that it may write and that has the controllers:

    base/                          the server's own group, or a parent
    ├── sandbox_runtime.home/      leaf: processes that were in base, moved here unless base is the root; moved back at the end
    └── sandbox_runtime.NAME.…/    the server's directory: enables the controllers, swap disabled for everything below
        └── GROUP/                 one command: limits, accounting, killed as a unit when it runs out of memory

Processes are moved out of base only if they are related to this server, or if base is the top of what a container sees; the
move then changes no limit. A plain user gets a base only if one was delegated (systemd's Delegate=yes).
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Mapping
from typing import ClassVar

from sandbox_runtime.isolation.kernel.cgroup import tree
from sandbox_runtime.isolation.kernel.cgroup.hierarchy import CPU_PERIOD_US, Hierarchy, write_if_exists
from sandbox_runtime.isolation.kernel.cgroup.mounts import Mount, bases

LEAF = "sandbox_runtime.home"
_MAX_ROUNDS = 10


class HierarchyV2(Hierarchy):
    stat_files: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "cpu": ("cpu.stat",),
        "memory": ("memory.peak", "memory.events"),
        "pids": ("pids.peak", "pids.events"),
    }
    leaf: str | None = None
    """Where processes of the base were moved; undo with tree.restore_processes."""

    def make(self, group: str) -> None:
        super().make(group)
        if "memory" in self.controllers:
            with contextlib.suppress(FileNotFoundError):  # before Linux 4.19
                self.write(group, "memory.oom.group", "1")

    def kill(self, group: str) -> None:
        try:
            self.write(group, "cgroup.kill", "1")
        except FileNotFoundError:  # before Linux 5.14, or the group is gone
            super().kill(group)

    def limit_memory(self, group: str, was: int | None, now: int | None) -> None:
        self.write(group, "memory.max", "max" if now is None else str(now))

    def limit_cpu(self, group: str, quota_us: int | None) -> None:
        self.write(group, "cpu.max", f"{'max' if quota_us is None else quota_us} {CPU_PERIOD_US}")

    def cpu_s(self, group: str) -> float | None:
        total_us = self.table(group, "cpu.stat").get("usage_usec")
        return None if total_us is None else total_us / 1e6

    def cpu_times(self, group: str) -> tuple[float, float] | None:
        times = self.table(group, "cpu.stat")
        return (times["user_usec"] / 1e6, times["system_usec"] / 1e6) if times else None

    def memory_peak(self, group: str) -> int | None:
        return self.number(group, "memory.peak")

    def oom_kills(self, group: str) -> int | None:
        return self.table(group, "memory.events").get("oom_kill")

    def reached_memory_limit(self, group: str, memory_bytes: int) -> bool:
        return self.table(group, "memory.events").get("oom", 0) > 0


def open_hierarchy(mount: Mount, own_path: str, wanted: frozenset[str], directory: str) -> tuple[HierarchyV2 | None, str]:
    """Open a directory with as many of the wanted controllers as possible. Returns None and the reason if there is none."""
    failure = f"{mount.point}: not offered here"
    candidates = [base for base in bases(mount, own_path) if os.path.basename(base) != LEAF and available(base) & wanted]
    for base in sorted(candidates, key=lambda base: -len(available(base) & wanted)):
        try:
            return _create(base, wanted, directory, is_top=base == mount.point), ""
        except FileExistsError:
            raise
        except OSError as error:
            failure = f"{base}: {error.strerror}"
    return None, failure


def available(base: str) -> frozenset[str]:
    return _words(os.path.join(base, "cgroup.controllers"))


def _create(base: str, wanted: frozenset[str], directory: str, *, is_top: bool) -> HierarchyV2:
    if not os.access(os.path.join(base, "cgroup.procs"), os.W_OK):
        raise PermissionError(errno.EACCES, "processes cannot be moved inside it")
    path = os.path.join(base, directory)
    os.mkdir(path)
    leaf = os.path.join(base, LEAF)
    try:
        fresh = (available(base) & wanted) - _enabled_below(base)
        if fresh and _is_occupied(base):
            _move_to_leaf(base, leaf, is_top=is_top)
        _enable_below(base, fresh)
        _enable_below(path, available(path) & wanted)
        return _open(path, wanted, leaf if os.path.isdir(leaf) else None)
    except BaseException:
        os.rmdir(path)
        tree.restore_processes(leaf)
        raise


def _open(path: str, wanted: frozenset[str], leaf: str | None) -> HierarchyV2:
    for file in ("memory.swap.max", "memory.zswap.max"):
        write_if_exists(os.path.join(path, file), "0")
    hierarchy = HierarchyV2(path, _enabled_below(path) & wanted)
    hierarchy.leaf = leaf
    return hierarchy


def _enable_below(directory: str, controllers: frozenset[str]) -> None:
    """Enable the controllers for child directories, one by one so that a refused one does not block the others."""
    refused: OSError | None = None
    for controller in sorted(controllers):
        try:
            tree.write_file(os.path.join(directory, "cgroup.subtree_control"), f"+{controller}")
        except OSError as error:
            refused = error
    if refused and not _enabled_below(directory):
        raise refused


def _enabled_below(directory: str) -> frozenset[str]:
    return _words(os.path.join(directory, "cgroup.subtree_control"))


def _is_occupied(base: str) -> bool:
    """Whether base contains processes that must be moved. The root of the real tree, the only one without a type, may have
    some."""
    return os.path.exists(os.path.join(base, "cgroup.type")) and bool(tree.pids_in(base))


def _move_to_leaf(base: str, leaf: str, *, is_top: bool) -> None:
    """Move the processes of base into the leaf, repeatedly, because a moved process may just have forked."""
    if not is_top and not all(map(_is_related, tree.pids_in(base))):
        raise OSError(errno.EBUSY, "unrelated processes run in the same group")
    with contextlib.suppress(FileExistsError):
        os.mkdir(leaf)
    for _ in range(_MAX_ROUNDS):
        for pid in tree.pids_in(base):
            with contextlib.suppress(ProcessLookupError):
                tree.write_file(os.path.join(leaf, "cgroup.procs"), str(pid))


def _is_related(pid: int) -> bool:
    """Whether the process is this one, an ancestor or a descendant."""
    return pid in _ancestors(os.getpid()) or os.getpid() in _ancestors(pid)


def _ancestors(pid: int) -> list[int]:
    ancestors: list[int] = []
    while pid > 0:
        ancestors.append(pid)
        stat = tree.read_file(f"/proc/{pid}/stat")
        pid = int(stat.rpartition(")")[2].split()[1]) if stat else 0
    return ancestors


def _words(path: str) -> frozenset[str]:
    return frozenset((tree.read_file(path) or "").split())
