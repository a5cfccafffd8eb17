"""Explain why a controller is unavailable on this host, and how to fix it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox_runtime.isolation.kernel.cgroup import tree
from sandbox_runtime.isolation.kernel.cgroup.mounts import Mount

_KERNEL_FIX = {
    "memory": "boot the kernel with cgroup_enable=memory (and one built with CONFIG_MEMCG)",
    "pids": "boot a kernel built with CONFIG_CGROUP_PIDS",
    "cpu": "boot a kernel built with CONFIG_CFS_BANDWIDTH",
    "freezer": "boot a kernel built with CONFIG_CGROUP_FREEZER, or with cgroup version 2 from Linux 5.2 on",
}
_NO_MOUNT_FIX = "as root: mount -t cgroup2 none /sys/fs/cgroup"
_READ_ONLY_FIX = "give the container its own writable cgroup tree: docker run --privileged --cgroupns=private …"
_DELEGATE_FIX = "start the server in its own group: systemd-run {scope} -p Delegate=yes -- sandbox serve"
_V1_FIX = "run the server as root, or boot with systemd.unified_cgroup_hierarchy=1 and have a subtree delegated"
_CONTROLLER_FIX = "as root: systemctl edit user@.service, add [Service] Delegate=cpu memory pids, and log in again"


@dataclass(frozen=True)
class MissingFeature:
    reason: str
    fix: str


NO_FREEZER = MissingFeature("the kernel has no cgroup freezer", _KERNEL_FIX["freezer"])


def explain(controller: str, mounts: Sequence[Mount], in_kernel: frozenset[str], failure: str) -> MissingFeature:
    """Return why the controller is missing and the fix.

    failure: the kernel's error when the controller was tried; empty if it was not found.
    """
    if not mounts:
        return MissingFeature("no cgroup file system is mounted", _NO_MOUNT_FIX)
    if controller not in in_kernel:
        return MissingFeature(f"the kernel has no {controller} controller, or it is disabled", _KERNEL_FIX[controller])
    in_v1 = [mount for mount in mounts if mount.version == 1 and controller in mount.controllers]
    relevant = in_v1 or [mount for mount in mounts if mount.version == 2]
    if relevant and all(mount.read_only for mount in relevant):
        return MissingFeature(f"{relevant[0].point} is mounted read-only", _READ_ONLY_FIX)
    if in_v1:
        return MissingFeature(failure or f"{in_v1[0].point} is not writable", _V1_FIX)
    if not failure:
        return MissingFeature(f"the {controller} controller is not delegated to this process", _CONTROLLER_FIX)
    return MissingFeature(failure, _DELEGATE_FIX.format(scope="--scope" if os.geteuid() == 0 else "--user --scope"))


def uncovered_swap(memory_directory: str) -> MissingFeature | None:
    """Return a report if the machine has swap that the memory limit does not cover."""
    files = ("memory.swap.max", "memory.memsw.limit_in_bytes", "memory.swappiness")
    if any(os.path.exists(os.path.join(memory_directory, file)) for file in files):
        return None
    if len((tree.read_file("/proc/swaps") or "").splitlines()) < 2:
        return None
    return MissingFeature("swap is not covered by the memory limit", "as root: swapoff -a, or boot the kernel with swapaccount=1")


def controllers_in_kernel() -> frozenset[str]:
    """Read /proc/cgroups, which lists name, hierarchy, number of groups, enabled."""
    rows = [line.split() for line in (tree.read_file("/proc/cgroups") or "").splitlines()]
    return frozenset(row[0] for row in rows if row[-1] == "1")
