"""Count from outside what boxes could leave behind."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from sandbox_runtime.isolation.kernel import mounts, namespaces
from sandbox_runtime.isolation.kernel.cgroup.mounts import read_mounts
from sandbox_runtime.isolation.kernel.reaper import descendants
from sandbox_runtime.isolation.port import Backend, Box

SETTLED_WITHIN_S, CALM_S = 30.0, 0.2


def mounts_below(folder: str) -> tuple[str, ...]:
    """In this process' namespace. Elsewhere other programs of the machine mount and unmount meanwhile."""
    points = (line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines())
    return tuple(sorted(point for point in points if f"{point}/".startswith(f"{folder}/")))


def enter_own_mount_namespace(state_dir: str) -> str:
    """Leave the machine's mount namespace, so that every mount in ours is of our doing. A plain user has no right to: then only
    the state folder is watched. Returns the folder below which mounts tell."""
    if os.geteuid() != 0:
        return state_dir
    namespaces.unshare(namespaces.NEW_MOUNT)
    mounts.make_private()
    return ""


def groups_of(server: int) -> set[str]:
    """Every cgroup directory of the server with this pid. Those of others come and go meanwhile."""
    points = {mount.point for mount in read_mounts(Path("/proc/self/mountinfo").read_text())}
    claim = re.compile(rf"/sandbox_runtime\.[^/]+\.{server}\.\d+\.\d+(/|$)")
    return {folder for point in points for folder, _, _ in os.walk(point) if claim.search(folder)}


@dataclass(frozen=True)
class HeldResources:
    """What this process and those it started hold."""

    processes: int
    descriptors: int
    mounts: tuple[str, ...]
    groups: int
    folders: tuple[str, ...]

    @classmethod
    def measure(cls, state_dir: str, mounts_root: str) -> HeldResources:
        return cls(
            processes=sum(map(lives, descendants(os.getpid()))),
            descriptors=len(os.listdir("/proc/self/fd")),
            mounts=mounts_below(mounts_root),
            groups=len(groups_of(os.getpid())),
            folders=tuple(sorted(str(path.relative_to(state_dir)) for path in Path(state_dir).rglob("*"))),
        )

    @classmethod
    async def measure_settled(cls, state_dir: str, mounts_root: str, like: HeldResources | None = None) -> HeldResources:
        """As it is when it is like that, or when it has not changed for a while. What was killed needs a moment to be gone."""
        held, deadline = cls.measure(state_dir, mounts_root), time.monotonic() + SETTLED_WITHIN_S
        while held != like and time.monotonic() < deadline:
            await asyncio.sleep(CALM_S)
            before, held = held, cls.measure(state_dir, mounts_root)
            if like is None and held == before:
                break
        return held


def lives(pid: int) -> bool:
    """The dead that nobody has collected yet hold nothing."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def memory_held() -> int:
    """Of this process' own, shared pages left out. What it has freed is given back first: that is the allocator's, not ours."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    _, resident, shared = Path("/proc/self/statm").read_text().split()[:3]
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def start_time(pid: int) -> str:
    """Return the clock tick at which the process started; empty if it is missing or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def has_ended(pid: int, start: str) -> bool:
    """start: as it was seen; empty where it had ended by then."""
    return not start or start_time(pid) != start


def first_process(box: Box) -> int:
    """The pid of the process that holds the box together."""
    text = Path(f"/proc/self/fdinfo/{box.pidfd}").read_text()  # type: ignore[attr-defined]
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("Pid:")))


def spawners_of(backend: Backend) -> list[int]:
    """The one child of each of its gates."""
    gates = {spawner._process.pid for spawner in backend._spawners.values() if spawner._process}  # type: ignore[attr-defined]
    return [child for gate in gates for child in descendants(gate) if _parent(child) == gate]


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
