"""Find what boxes left behind on the host: processes, mounts, cgroups, folders, descriptors.

Only descendants of this process count: whatever starts in a box, and however often it forks, its parent stays below us. Zombies
do nothing any more and are not counted.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox_runtime.isolation.kernel.cgroup.mounts import bases, read_mounts, read_own_paths
from sandbox_runtime.isolation.kernel.reaper import descendants

_DEAD = ("Z", "X")
UNMOUNT_TIMEOUT_S = 20.0
_POLL_S = 0.01
_MOUNT_NAMESPACE_LINK = "(mnt:["
"""The server holds the mount namespace of a closed box until the kernel has freed it."""


@dataclass(frozen=True, slots=True)
class HostSnapshot:
    processes: frozenset[tuple[int, str]]
    mounts: frozenset[str]
    folders: frozenset[str]
    cgroups: frozenset[str]
    descriptors: frozenset[tuple[int, str]]

    def since(self, before: HostSnapshot) -> list[str]:
        """Describe what is new compared with `before`."""
        return [
            *(f"process {pid} ({name}) is left" for pid, name in sorted(self.processes - before.processes)),
            *(f"mount {path} is left" for path in sorted(self.mounts - before.mounts)),
            *(f"{path} is left" for path in sorted(self.folders - before.folders)),
            *(f"cgroup {path} is left" for path in sorted(self.cgroups - before.cgroups)),
            *(f"descriptor {number} ({target}) is left" for number, target in sorted(self.descriptors - before.descriptors)),
        ]


def take_snapshot(state_dir: str) -> HostSnapshot:
    """Record what exists now.

    state_dir: folder of the backend, the only place on the host where it creates mounts and folders.
    """
    return HostSnapshot(_processes(), _mounts(state_dir), _folders(state_dir), _cgroups(), _descriptors())


async def wait_for_leftovers(before: HostSnapshot, state_dir: str, within_s: float = UNMOUNT_TIMEOUT_S) -> list[str]:
    """Return what is left after the kernel had time to free mounts. Anything else must be gone immediately."""
    deadline = time.monotonic() + within_s
    while left := take_snapshot(state_dir).since(before):
        if time.monotonic() > deadline or not all(_MOUNT_NAMESPACE_LINK in text for text in left):
            return left
        await asyncio.sleep(_POLL_S)
    return []


def _processes() -> frozenset[tuple[int, str]]:
    return frozenset((pid, name) for pid in descendants(os.getpid()) if (name := _living(pid)))


def _living(pid: int) -> str:
    """Return the name of a process, or "" if it is dead."""
    try:
        name, _, rest = Path(f"/proc/{pid}/stat").read_text(errors="replace").partition("(")[2].rpartition(")")
    except OSError:
        return ""
    return name if rest.split()[0] not in _DEAD else ""


def _mounts(state_dir: str) -> frozenset[str]:
    points = (line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines())
    return frozenset(point for point in points if point.startswith(state_dir))


def _folders(state_dir: str) -> frozenset[str]:
    """Look two levels deep, where boxes have their folders."""
    return frozenset(str(path) for pattern in ("*", "*/*") for path in Path(state_dir).glob(pattern))


def _cgroups() -> frozenset[str]:
    """Return the groups in directories that carry our pid: in our own group of each hierarchy, or above."""
    own_paths = read_own_paths(Path("/proc/self/cgroup").read_text())
    groups: set[str] = set()
    for mount in read_mounts(Path("/proc/self/mountinfo").read_text()):
        own = own_paths.get("", "/") if mount.version == 2 else _first(own_paths, mount.controllers)
        claims = (claim for base in bases(mount, own) for claim in _folders_in(base) if f".{os.getpid()}." in claim.name)
        groups.update(group.path for claim in claims for group in _folders_in(claim.path))
    return frozenset(groups)


def _first(paths: Mapping[str, str], names: Iterable[str]) -> str:
    return next((paths[name] for name in names if name in paths), "/")


def _folders_in(path: str) -> list[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        return [entry for entry in entries if entry.is_dir(follow_symlinks=False)]


def _descriptors() -> frozenset[tuple[int, str]]:
    opened = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            opened.add((int(name), os.readlink(f"/proc/self/fd/{name}")))
        except FileNotFoundError:
            continue  # the descriptor that lists the folder
    return frozenset(opened)
