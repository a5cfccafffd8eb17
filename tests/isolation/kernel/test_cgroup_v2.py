"""Where a server settles in the single tree of version 2. Each test runs a server in a forked process placed somewhere in it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.isolation.kernel.cgroup_helpers import MIB, NOBODY, SOURCE, cgroup_root, needs_v2
from tests.isolation.kernel.fork_helper import in_child

from sandbox_runtime.isolation.kernel import mounts, namespaces
from sandbox_runtime.isolation.kernel.cgroup import tree, v2
from sandbox_runtime.isolation.kernel.cgroup.root import open_cgroup_root

ALL = ["cpu", "memory", "pids"]
KEPT_SERVER = """
import time
from sandbox_runtime.isolation.watchdog import CrashWatchdog
from sandbox_runtime.isolation.kernel.cgroup.root import open_cgroup_root
root, watchdog = open_cgroup_root("kept"), CrashWatchdog()
watchdog.watch_cgroup_root(root)
watchdog.start()
print(root.leaf, flush=True)
time.sleep(300)
"""


@pytest.fixture
def unit() -> Iterator[Path]:
    """A directory as a service or a container gets it: with all controllers on offer, passed on by none."""
    with cgroup_root() as root:
        needs_v2(root)
        unit = Path(root.directories[0]) / "unit"
        unit.mkdir()
        yield unit


@contextlib.contextmanager
def stranger_in(directory: Path) -> Iterator[int]:
    with subprocess.Popen(["sleep", "300"]) as sleeper:
        tree.write_file(str(directory / "cgroup.procs"), str(sleeper.pid))
        yield sleeper.pid
        sleeper.kill()


def own_group() -> str:
    return Path("/proc/self/cgroup").read_text().strip()


def served_in(unit: Path, serve: Callable[[], object]) -> object:
    """What a server that starts in this directory returns."""

    def child() -> object:
        tree.write_file(str(unit / "cgroup.procs"), "0")
        return serve()

    return in_child(child)


def use_place() -> object:
    """The controllers a place has, and the directory it is below, when a group in it really works."""
    with open_cgroup_root("inner") as root:
        group = root.open_group("command")
        group.limit(64 * MIB, 8, 0.5)
        group.add(os.getpid())
        worked = (Path(root.directories[0]) / "command/cgroup.procs").read_text().split() == [str(os.getpid())]
        tree.write_file(str(Path(root.leaf or Path(root.directories[0]).parent) / "cgroup.procs"), "0")
        return [sorted(root.controllers), str(Path(root.directories[0]).parent), worked, group.remove(wait_s=5)]


def test_a_server_alone_in_its_group_settles_below_it_and_leaves_no_trace(unit: Path) -> None:
    before = sorted(entry.name for entry in unit.iterdir())

    def serve() -> object:
        started_in = own_group()
        return [use_place(), own_group() == started_in]

    assert served_in(unit, serve) == [[ALL, str(unit), True, True], True]
    assert sorted(entry.name for entry in unit.iterdir()) == before
    assert (unit / "cgroup.subtree_control").read_text().split() == []


def test_children_move_along_with_the_server(unit: Path) -> None:
    def serve() -> object:
        with subprocess.Popen(["sleep", "300"]) as child, open_cgroup_root("inner") as root:
            moved = tree.pids_in(root.leaf or "")
            child.kill()
            return moved == {os.getpid(), child.pid}

    assert served_in(unit, serve) is True


def test_strangers_in_the_same_group_stay_where_they_are(unit: Path) -> None:
    with stranger_in(unit) as stranger:

        def serve() -> object:
            with open_cgroup_root("inner") as root:
                return [sorted(root.controllers), root.leaf, str(Path(root.directories[0]).parent)]

        assert served_in(unit, serve) == [ALL, None, str(unit.parent)]
        assert tree.pids_in(str(unit)) == {stranger}


def test_of_two_servers_in_one_group_the_last_puts_everything_back(unit: Path) -> None:
    def serve() -> object:
        first, second = open_cgroup_root("first"), open_cgroup_root("second")
        leaves = [first.leaf, second.leaf]
        first.close()
        still_there = Path(leaves[0] or "").is_dir() and second.open_group("command").remove()
        second.close()
        return [leaves[0] == leaves[1], still_there, Path(leaves[0] or "").exists(), tree.pids_in(str(unit)) == {os.getpid()}]

    assert served_in(unit, serve) == [True, True, False, True]


def test_a_server_started_in_a_home_does_not_nest_another(unit: Path) -> None:
    def serve() -> object:
        with open_cgroup_root("outer"):
            return in_child(lambda: open_cgroup_root("inner").directories[0])

    assert Path(str(served_in(unit, serve))).parent == unit


def test_a_killed_server_s_move_is_undone_by_its_watchdog(unit: Path) -> None:
    def serve() -> object:
        command = [sys.executable, "-c", KEPT_SERVER]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": SOURCE}) as server:
            assert server.stdout
            home = Path(server.stdout.readline().strip())
            was_there = home.is_dir()
            server.kill()
        deadline = time.monotonic() + 20
        while home.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        return [was_there, home.exists(), os.getpid() in tree.pids_in(str(unit))]

    assert served_in(unit, serve) == [True, False, True]


def test_a_container_s_top_is_vacated_whoever_is_in_it(unit: Path) -> None:
    with stranger_in(unit) as stranger:

        def serve() -> object:
            namespaces.unshare(namespaces.NEW_MOUNT | namespaces.NEW_CGROUP)
            mounts.make_private()
            subprocess.run(["umount", "/sys/fs/cgroup"], check=True)
            subprocess.run(["mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"], check=True)
            with open_cgroup_root("inner") as root:
                inside = tree.pids_in(root.leaf or "")
                return [sorted(root.controllers), root.leaf, stranger in inside and os.getpid() in inside]

        assert served_in(unit, serve) == [ALL, f"/sys/fs/cgroup/{v2.LEAF}", True]
        assert tree.pids_in(str(unit)) == {stranger}


def test_a_plain_user_uses_the_subtree_that_was_delegated_to_it(unit: Path) -> None:
    for name in ("", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
        os.chown(unit / name, NOBODY, NOBODY)

    def serve() -> object:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        return use_place()

    assert served_in(unit, serve) == [ALL, str(unit), True, True]


def test_a_controller_that_is_not_passed_on_is_named_with_its_fix(unit: Path) -> None:
    part = unit / "part"
    part.mkdir()
    for controller in ("memory", "pids"):
        tree.write_file(str(unit / "cgroup.subtree_control"), f"+{controller}")
    for name in ("", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
        os.chown(part / name, NOBODY, NOBODY)

    def serve() -> object:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        with open_cgroup_root("inner") as root:
            return [sorted(root.controllers), "Delegate=" in root.missing["cpu"].fix, root.open_group("g").usage().cpu_s]

    assert served_in(part, serve) == [["memory", "pids"], True, 0.0]
