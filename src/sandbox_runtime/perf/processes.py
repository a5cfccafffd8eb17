"""What the kernel tells about a process and those that descend from it: who they are, what they hold, what they weigh."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sandbox_runtime.isolation.kernel import libc, syscalls

KIB = 1024
_KCMP_VM = 1
_kcmp = libc.Function("syscall", libc.LONG, libc.INT, libc.INT, libc.INT, libc.ULONG, libc.ULONG, what="kcmp")
_CLAIM = "sandbox_runtime."
"""How the cgroup directories of a server begin; its pid is the third word of their names."""


@dataclass(frozen=True, slots=True)
class Weight:
    """pss: its share of what it shares with others, and all of what it has alone."""

    pss_bytes: int
    private_bytes: int

    def __add__(self, other: Weight) -> Weight:
        return Weight(self.pss_bytes + other.pss_bytes, self.private_bytes + other.private_bytes)


NOTHING = Weight(0, 0)


def descendants(pid: int) -> set[int]:
    """Of the process as it is now; itself not among them."""
    children: dict[int, list[int]] = {}
    for child, parent in _parents().items():
        children.setdefault(parent, []).append(child)
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        born = children.get(waiting.pop(), [])
        found.update(born)
        waiting += born
    return found


def parent_of(pid: int) -> int | None:
    """None when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def _parents() -> dict[int, int]:
    found = {int(name): parent_of(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    return {pid: parent for pid, parent in found.items() if parent is not None}


def weight(pid: int) -> Weight:
    """Nothing for a process that is dead or gone. Raises PermissionError for one that may not be looked into."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except (ProcessLookupError, FileNotFoundError):
        return NOTHING
    figures = {}
    for line in lines:
        name, _, rest = line.partition(":")
        figures[name] = int(rest.split()[0]) * KIB
    return Weight(figures["Pss"], figures["Private_Clean"] + figures["Private_Dirty"])


def weight_of_all(pids: Iterable[int], beside: Iterable[int] = ()) -> Weight:
    """Together. Memory that is one and the same for several (not copied, as by a fork) counts once; not at all where one of those
    beside has it too."""
    owners = list(beside)
    total = NOTHING
    for pid in sorted(pids):
        if not any(same_memory(pid, owner) for owner in owners):
            total += weight(pid)
            owners.append(pid)
    return total


def same_memory(one: int, other: int) -> bool:
    """Whether two processes have one address space, as a parent and its child after vfork. Dead ones have none. Where the
    kernel cannot tell, they pass for two."""
    try:
        return _kcmp(syscalls.numbers(syscalls.this_machine())["kcmp"], one, other, _KCMP_VM, 0, 0) == 0
    except OSError as error:
        if error.errno in (errno.ESRCH, errno.ENOSYS):
            return False
        raise


def resident_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * KIB
    raise ProcessLookupError(pid)


def cgroups_of(server: int) -> list[str]:
    """Every group below the directories that a server has claimed, whichever hierarchy they are in."""
    found = []
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        claimed = _claimed_by(server, folder)
        found += [f"{folder}/{name}" for name in names] if claimed else []
    return found


def processes_in(groups: Iterable[str]) -> set[int]:
    found: set[int] = set()
    for group in groups:
        try:
            found.update(map(int, Path(group, "cgroup.procs").read_text().split()))
        except OSError:
            continue
    return found


def _claimed_by(server: int, folder: str) -> bool:
    parts = (part.split(".") for part in folder.split("/") if part.startswith(_CLAIM))
    return any(len(words) > 2 and words[2] == str(server) for words in parts)


def descriptors(pid: int) -> int:
    """0 for a process that may not be looked into."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def mounts(pid: int) -> int:
    try:
        return len(Path(f"/proc/{pid}/mountinfo").read_text().splitlines())
    except OSError:
        return 0


def entries_below(folder: str) -> int:
    return sum(len(names) + len(files) for _, names, files in os.walk(folder))
