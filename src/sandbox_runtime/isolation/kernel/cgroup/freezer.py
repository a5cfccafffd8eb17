"""Stopping every process of a group for a while, and letting them go on.

Theory of operation. Version 2 has the file cgroup.freeze in every group; version 1 has a hierarchy of its own, whose file
freezer.state takes FROZEN and THAWED. Either way the kernel stops each process where it next would run in user space, so nobody
in the group can see it coming, refuse it or go on in part, as with SIGSTOP; a process that is forked or moved into a stopped
group stops there. It may take a moment, hence is_frozen. To a stopped process signals wait, and in version 1 SIGKILL does too:
whoever kills such a group kills first and lets go on then, so that nothing in it takes another step (tree.kill_directory).
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from sandbox_runtime.isolation.kernel.cgroup import tree
from sandbox_runtime.isolation.kernel.cgroup.hierarchy import Hierarchy

CONTROLLER = "freezer"
_UNIFIED = "cgroup.freeze"


class Freezer:
    """On the branch that has one. Everything is reached as the branch reaches it."""

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
    """The first that this host offers; None where it offers none."""
    for hierarchy in hierarchies:
        if CONTROLLER in hierarchy.controllers or os.path.exists(os.path.join(hierarchy.path, _UNIFIED)):
            return Freezer(hierarchy)
    return None
