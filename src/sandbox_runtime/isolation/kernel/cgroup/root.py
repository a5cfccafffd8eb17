"""The server's directories in the cgroup hierarchies of this host.

Theory of operation. A server claims one directory in each hierarchy that has a controller it wants, named

    sandbox_runtime.NAME.PID.START.NAMESPACE

after its pid, the clock tick at which it started, and the pid namespace in which both are valid. So a starting server can
recognize and remove the directories of dead servers, even if a pid was reused. Between the death of a server and the next
start, the crash watchdog (isolation/inside/watchdog.py) does the same within seconds.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType, TracebackType

from sandbox_runtime.isolation.kernel.cgroup import diagnostics, freezer, tree, v1, v2
from sandbox_runtime.isolation.kernel.cgroup.diagnostics import MissingFeature
from sandbox_runtime.isolation.kernel.cgroup.group import Group
from sandbox_runtime.isolation.kernel.cgroup.hierarchy import Hierarchy
from sandbox_runtime.isolation.kernel.cgroup.mounts import Mount, bases, read_mounts, read_own_paths

CONTROLLERS = frozenset({"memory", "pids", "cpu"})
_PREFIX = "sandbox_runtime"
_CLAIM = re.compile(rf"{_PREFIX}\.[A-Za-z0-9_-]+\.(\d+)\.(\d+)\.(\d+)")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class CgroupRoot:
    """The cgroup features of this host, and the server's directories. Not thread-safe. Close it or use it in a with statement.

    controllers: which of memory, pids and cpu are available.
    missing: the others, each with reason and fix; also "swap" if swap cannot be disabled.
    no_freezer: why groups cannot be frozen; None if they can.
    directories, leaf: what the crash watchdog must remove when this process dies.
    """

    def __init__(self, hierarchies: Sequence[Hierarchy], missing: Mapping[str, MissingFeature]) -> None:
        self.hierarchies = tuple(hierarchies)
        by_controller = {name: hierarchy for hierarchy in hierarchies for name in hierarchy.controllers}
        for hierarchy in hierarchies:
            if isinstance(hierarchy, v2.HierarchyV2):  # every directory of version 2 accounts cpu time
                by_controller.setdefault("cpuacct", hierarchy)
        self._by_controller = by_controller
        self.controllers = CONTROLLERS & by_controller.keys()
        self.missing = MappingProxyType({name: feature for name, feature in missing.items() if name != freezer.CONTROLLER})
        self.freezer = freezer.find(hierarchies)
        self.no_freezer = None if self.freezer else missing.get(freezer.CONTROLLER, diagnostics.NO_FREEZER)
        self._without_freezer = tuple(hierarchy for hierarchy in hierarchies if hierarchy.controllers != {freezer.CONTROLLER})
        self._host_cores = os.cpu_count() or 1

    @property
    def directories(self) -> tuple[str, ...]:
        return tuple(hierarchy.path for hierarchy in self.hierarchies)

    @property
    def leaf(self) -> str | None:
        return next((hierarchy.leaf for hierarchy in self.hierarchies if isinstance(hierarchy, v2.HierarchyV2)), None)

    def open_group(self, name: str, *, freezable: bool = False) -> Group:
        """Create a group in every hierarchy, without limits. Raises FileExistsError if the name exists.

        freezable: the group may be frozen; can need one more hierarchy.
        """
        _check_name(name)
        made: list[Hierarchy] = []
        hierarchies = self.hierarchies if freezable else self._without_freezer
        try:
            for hierarchy in hierarchies:
                hierarchy.make(name)
                made.append(hierarchy)
        except BaseException:
            for hierarchy in made:
                hierarchy.remove(name)
            raise
        return Group(name, hierarchies, self._by_controller, self._host_cores, self.freezer if freezable else None)

    def close(self) -> None:
        """Kill and remove all groups and the server's directories. Idempotent. Raises OSError if something is left after 5 s."""
        left = tree.remove_trees(self.directories)
        for hierarchy in self.hierarchies:
            hierarchy.close()
        if self.leaf:
            tree.restore_processes(self.leaf)
        if left:
            raise OSError(errno.EBUSY, f"processes that cannot be killed are left in {', '.join(left)}")

    def __enter__(self) -> CgroupRoot:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def open_cgroup_root(name: str) -> CgroupRoot:
    """Remove what dead servers left, then claim what this host supports. On a host without cgroups, groups do nothing and
    `missing` says why."""
    _check_name(name)
    mounts, own_paths = _read_layout()
    sweep()
    directory = f"{_PREFIX}.{name}.{os.getpid()}.{tree.start_time(os.getpid())}.{_pid_namespace()}"
    with contextlib.ExitStack() as undo:
        hierarchies, failures = _claim(mounts, own_paths, directory, undo)
        undo.pop_all()
    available = {controller for hierarchy in hierarchies for controller in hierarchy.controllers}
    kernel = diagnostics.controllers_in_kernel()
    absent = sorted((CONTROLLERS | {freezer.CONTROLLER}) - available)
    missing = {name: diagnostics.explain(name, mounts, kernel, failures.get(name, "")) for name in absent}
    for hierarchy in hierarchies:
        swap = diagnostics.uncovered_swap(hierarchy.path) if "memory" in hierarchy.controllers else None
        missing.update({"swap": swap} if swap else {})
    return CgroupRoot(hierarchies, missing)


def sweep() -> list[str]:
    """Kill and remove what dead servers left in places that this process can write. Returns the removed paths."""
    mounts, own_paths = _read_layout()
    stale: list[str] = []
    for mount in mounts:
        if mount.version == 1 and not mount.controllers & v1.CONTROLLERS:
            continue
        for base in bases(mount, own_paths.get(_own_key(mount), "/")):
            stale += _stale_below(base)
    left = tree.remove_trees(stale)
    return [path for path in stale if path not in left]


def _claim(
    mounts: Sequence[Mount], own_paths: Mapping[str, str], directory: str, undo: contextlib.ExitStack
) -> tuple[list[Hierarchy], dict[str, str]]:
    """Return hierarchies, and errors by controller. If a later claim raises, `undo` reverts the earlier ones."""
    hierarchies: list[Hierarchy] = []
    v1_hierarchies, failures = v1.open_hierarchies(mounts, own_paths, directory)
    for hierarchy in v1_hierarchies:
        undo.callback(tree.remove_tree, hierarchy.path)
        hierarchies.append(hierarchy)
    in_v1 = {controller for hierarchy in hierarchies for controller in hierarchy.controllers} | failures.keys()
    v2_mounts = sorted((mount for mount in mounts if mount.version == 2), key=lambda mount: mount.read_only)
    if v2_mounts and CONTROLLERS - in_v1:
        unified, failure = v2.open_hierarchy(v2_mounts[0], own_paths.get("", "/"), CONTROLLERS - in_v1, directory)
        hierarchies += [unified] if unified else []
        failures.update(dict.fromkeys(CONTROLLERS - in_v1, failure))
    return hierarchies, failures


def _read_layout() -> tuple[list[Mount], Mapping[str, str]]:
    mounts = read_mounts(_read_text("/proc/self/mountinfo"))
    return mounts, read_own_paths(_read_text("/proc/self/cgroup"))


def _read_text(path: str) -> str:
    with open(path) as file:
        return file.read()


def _own_key(mount: Mount) -> str:
    return "" if mount.version == 2 else min(mount.controllers & v1.CONTROLLERS)


def _stale_below(base: str) -> Iterator[str]:
    with contextlib.suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            match = _CLAIM.fullmatch(entry.name)
            if match and _is_stale(*map(int, match.groups())):
                yield entry.path


def _is_stale(pid: int, start: int, namespace: int) -> bool:
    """Whether the directory's server is dead. Servers in other pid namespaces cannot be checked and are left alone."""
    return namespace == _pid_namespace() and tree.start_time(pid) != start


def _pid_namespace() -> int:
    return os.stat("/proc/self/ns/pid").st_ino


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"a cgroup name has 1 to 64 letters, digits, '_' or '-', not {name!r}")
