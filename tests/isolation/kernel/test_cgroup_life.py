"""How groups and places begin and end: nothing is left of them, of living servers or dead ones."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.isolation.kernel.cgroup_helpers import MIB, NOBODY, cgroup_root, start, start_sleeper
from tests.isolation.kernel.fork_helper import in_child

from sandbox_runtime.isolation.kernel.cgroup import diagnostics, mounts, tree
from sandbox_runtime.isolation.kernel.cgroup.group import Group
from sandbox_runtime.isolation.kernel.cgroup.root import CONTROLLERS, CgroupRoot, open_cgroup_root, sweep


@pytest.fixture
def root() -> Iterator[CgroupRoot]:
    with cgroup_root() as opened:
        yield opened


@pytest.fixture
def group(root: CgroupRoot) -> Group:
    group = root.open_group("command")
    group.limit(memory_bytes=64 * MIB, processes=32, cpu_cores=4096)
    return group


# The life of a group


def test_a_process_can_be_added_from_outside(group: Group) -> None:
    with subprocess.Popen(["sleep", "300"]) as sleeper:
        group.add(sleeper.pid)
        assert not group.remove()
        group.kill()
        assert sleeper.wait(10) == -signal.SIGKILL
    assert group.remove(wait_s=5)


def test_kill_and_remove_leave_nothing_of_a_fork_bomb(root: CgroupRoot, group: Group) -> None:
    code = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('in', flush=True)
while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
"""
    with start(group, code) as process:
        assert process.stdout and process.stdout.readline() == "in\n"
        time.sleep(0.2)
        group.kill()
        assert process.wait(10) == -signal.SIGKILL
    assert group.remove(wait_s=10)
    assert not any(Path(directory, "command").exists() for directory in root.directories)


def test_removing_twice_is_as_good_as_once_and_figures_are_gone_then(group: Group) -> None:
    assert group.remove()
    assert group.remove()
    group.kill()
    usage = group.usage()
    assert (usage.cpu_s, usage.memory_peak_bytes, usage.oom_kills, usage.processes_peak) == (None, None, None, None)


def test_a_name_taken_leaves_no_half_made_group(root: CgroupRoot) -> None:
    Path(root.directories[-1], "taken").mkdir()
    with pytest.raises(FileExistsError):
        root.open_group("taken", freezable=True)
    assert [directory for directory in root.directories if Path(directory, "taken").exists()] == [root.directories[-1]]


@pytest.mark.parametrize("name", ["", "..", "a/b", "cgroup.procs", "a\nb", "x" * 65])
def test_a_name_that_could_lead_elsewhere_is_refused(root: CgroupRoot, name: str) -> None:
    with pytest.raises(ValueError, match="cgroup name"):
        root.open_group(name)


def test_closing_the_place_ends_every_process_and_removes_every_directory() -> None:
    root = open_cgroup_root("test")
    if not root.hierarchies:
        pytest.skip("no cgroup can be made here")
    sleeper = start_sleeper(root.open_group("left"))
    root.close()
    assert sleeper.wait(10) == -signal.SIGKILL
    assert not any(Path(directory).exists() for directory in root.directories)
    root.close()


def test_groups_take_no_descriptors(root: CgroupRoot) -> None:
    before = os.listdir("/proc/self/fd")
    groups = [root.open_group(f"many-{number}") for number in range(20)]
    for group in groups:
        group.limit(64 * MIB, 8, 0.5)
        group.usage()
        group.remove()
    assert os.listdir("/proc/self/fd") == before


def test_the_same_place_cannot_be_claimed_twice_by_one_server(root: CgroupRoot) -> None:
    with pytest.raises(FileExistsError):
        open_cgroup_root("test")
    assert all(Path(directory).exists() for directory in root.directories)


# Dead servers


def beside(root: CgroupRoot, pid: int, start: int | None, namespace: int | None = None) -> list[Path]:
    """Directories as a server with that pid and start would have claimed them."""
    namespace = namespace or os.stat("/proc/self/ns/pid").st_ino
    paths = [Path(directory).parent / f"sandbox_runtime.other.{pid}.{start}.{namespace}" for directory in root.directories]
    for path in paths:
        path.mkdir()
    return paths


def test_what_a_dead_server_left_is_swept_with_its_processes(root: CgroupRoot) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    paths = beside(root, dead.pid, 12345)
    with subprocess.Popen(["sleep", "300"]) as sleeper:
        for path in paths:
            tree.write_file(str(path / "cgroup.procs"), str(sleeper.pid))
        assert set(sweep()) >= set(map(str, paths))
        assert sleeper.wait(10) == -signal.SIGKILL
    assert not any(path.exists() for path in paths)


def test_a_reused_pid_does_not_keep_a_dead_server_s_directory(root: CgroupRoot) -> None:
    start = tree.start_time(os.getppid())
    paths = beside(root, os.getppid(), (start or 0) + 1)
    assert set(sweep()) >= set(map(str, paths))


def test_directories_of_living_servers_and_of_other_namespaces_are_left_alone(root: CgroupRoot) -> None:
    paths = [*beside(root, os.getpid(), tree.start_time(os.getpid())), *beside(root, 999999999, 1, namespace=7)]
    try:
        assert not set(sweep()) & set(map(str, paths))
        assert all(Path(directory).exists() for directory in root.directories)
    finally:
        for path in paths:
            path.rmdir()


# What a host lacks


def test_a_plain_user_without_a_delegated_subtree_is_told_what_to_do(root: CgroupRoot) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")

    def as_nobody() -> object:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        with open_cgroup_root("nobody") as nobodys:
            group = nobodys.open_group("empty")
            group.limit(64 * MIB, 8, 1.0)
            group.add(os.getpid())
            group.kill()
            texts = [text for lack in nobodys.missing.values() for text in (lack.reason, lack.fix)]
            return [sorted(nobodys.missing), all(texts), group.usage().cpu_s, group.remove()]

    assert in_child(as_nobody) == [["cpu", "memory", "pids"], True, None, True]


def test_every_lack_has_a_reason_and_a_fix() -> None:
    read_only = mounts.read_mounts("30 23 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw,nsdelegate")
    old = mounts.read_mounts("35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory")
    unified = mounts.read_mounts("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw")
    assert "mount -t cgroup2" in diagnostics.explain("memory", [], CONTROLLERS, "").fix
    assert "read-only" in diagnostics.explain("pids", read_only, CONTROLLERS, "").reason
    assert "root" in diagnostics.explain("memory", old, CONTROLLERS, "/sys/fs/cgroup/memory: Permission denied").fix
    assert "cgroup_enable=memory" in diagnostics.explain("memory", unified, CONTROLLERS - {"memory"}, "").fix
    assert "Delegate=cpu memory pids" in diagnostics.explain("cpu", unified, CONTROLLERS, "").fix
    assert "systemd-run" in diagnostics.explain("cpu", unified, CONTROLLERS, "/sys/fs/cgroup: Permission denied").fix
