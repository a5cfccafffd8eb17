"""Pause and resume every process of a group.

Theory of operation. Version 2 has the file cgroup.freeze in every group; version 1 has a separate hierarchy whose file
freezer.state takes FROZEN and THAWED. Either way the kernel stops each process before it next runs in user space, so unlike
SIGSTOP no process can notice, refuse or be left out; a process that is forked in or moved into a frozen group stops there.
Freezing may take a moment, hence is_frozen. Signals to a frozen process wait, in version 1 even SIGKILL: to kill such a group,
kill first and thaw then, so that nothing in it runs another instruction (tree.kill_directory).
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from sandbox_runtime.isolation.kernel.cgroup import tree
from sandbox_runtime.isolation.kernel.cgroup.hierarchy import Hierarchy

CONTROLLER = "freezer"
_UNIFIED = "cgroup.freeze"


class Freezer:
    """Freezes groups through the hierarchy that supports it."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self._unified = CONTROLLER not in hierarchy.controllers

    def freeze(self, group: str) -> None:
        self._set_state(group, "1" if self._unified else tree.FROZEN)

    def thaw(self, group: str) -> None:
        self._set_state(group, "0" if self._unified else tree.THAWED)

    def is_frozen(self, group: str) -> bool:
        if self._unified:
            return self.hierarchy.table(group, "cgroup.events").get("frozen") == 1
        return (tree.read_file(f"{group}/{tree.FREEZER_STATE}", dir_fd=self.hierarchy.fd) or "").strip() == tree.FROZEN

    def _set_state(self, group: str, word: str) -> None:
        self.hierarchy.write(group, _UNIFIED if self._unified else tree.FREEZER_STATE, word)


def find(hierarchies: Iterable[Hierarchy]) -> Freezer | None:
    """Return a freezer for the first hierarchy that supports it, or None."""
    for hierarchy in hierarchies:
        if CONTROLLER in hierarchy.controllers or os.path.exists(os.path.join(hierarchy.path, _UNIFIED)):
            return Freezer(hierarchy)
    return None
