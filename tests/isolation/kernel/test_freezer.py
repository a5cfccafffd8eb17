"""Groups whose processes are stopped for a while, and how such groups end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.isolation.kernel.cgroup_helpers import MIB, cgroup_root, start
from tests.isolation.kernel.fork_helper import in_child

from sandbox_runtime.isolation.kernel.cgroup.group import Group
from sandbox_runtime.isolation.kernel.cgroup.root import CgroupRoot, open_cgroup_root, sweep

WITHIN_S = 30.0
MANY = """
for _ in range(5):
    if os.fork() == 0:
        break
print('in', flush=True)
while True:
    pass
"""


@pytest.fixture
def root() -> Iterator[CgroupRoot]:
    with cgroup_root() as opened:
        if opened.no_freezer is not None:
            pytest.skip(opened.no_freezer.reason)
        yield opened


@pytest.fixture
def group(root: CgroupRoot) -> Group:
    group = root.open_group("command", freezable=True)
    group.limit(memory_bytes=256 * MIB, processes=32, cpu_cores=4096)
    return group


def started(group: Group, code: str, lines: int = 1) -> subprocess.Popen[str]:
    process = start(group, code)
    assert process.stdout
    for _ in range(lines):
        assert process.stdout.readline() == "in\n"
    return process


def stop(group: Group) -> None:
    group.freeze()
    deadline = time.monotonic() + WITHIN_S
    while not group.is_frozen():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_nobody_in_a_frozen_group_takes_a_step_until_it_is_thawed(group: Group) -> None:
    with started(group, MANY, lines=6):
        stop(group)
        used_s = group.cpu_s()
        time.sleep(0.2)
        assert group.cpu_s() == used_s
        group.thaw()
        deadline = time.monotonic() + WITHIN_S
        while group.cpu_s() == used_s:
            assert time.monotonic() < deadline
        assert not group.is_frozen()
        group.kill()
    assert group.remove(wait_s=WITHIN_S)


def test_who_enters_a_frozen_group_stops_there(group: Group) -> None:
    stop(group)
    with start(group, "print('in', flush=True)") as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        group.thaw()
        assert process.stdout and process.stdout.readline() == "in\n"
    assert group.remove(wait_s=WITHIN_S)


def test_a_frozen_group_is_killed_and_removed(root: CgroupRoot, group: Group) -> None:
    with started(group, MANY, lines=6) as process:
        stop(group)
        group.kill()
        assert process.wait(WITHIN_S) == -signal.SIGKILL
    assert group.remove(wait_s=WITHIN_S)
    assert not any(Path(directory, "command").exists() for directory in root.directories)


def test_closing_a_place_ends_what_is_frozen_in_it(root: CgroupRoot) -> None:
    other = open_cgroup_root("other")
    group = other.open_group("command", freezable=True)
    with started(group, MANY, lines=6) as process:
        stop(group)
        other.close()
        assert process.wait(WITHIN_S) == -signal.SIGKILL
    assert not any(map(os.path.exists, other.directories))


def test_what_a_dead_server_left_frozen_is_swept(root: CgroupRoot) -> None:
    def die_early() -> list[str]:
        left = open_cgroup_root("dead")
        group = left.open_group("command", freezable=True)
        started(group, MANY, lines=6)
        stop(group)
        return list(left.directories)

    directories = in_child(die_early)
    assert isinstance(directories, list) and all(map(os.path.exists, directories))
    assert set(directories) <= set(sweep())
    assert not any(map(os.path.exists, directories))


def test_a_group_that_was_not_opened_for_it_cannot_be_frozen(root: CgroupRoot) -> None:
    group = root.open_group("command")
    with pytest.raises(OSError, match="cannot be frozen"):
        group.freeze()
