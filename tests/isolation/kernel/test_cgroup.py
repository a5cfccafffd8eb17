"""Limits and figures of groups in the real cgroup tree of this machine, and on a version 2 host: see scripts/cgroup2-vm."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.isolation.kernel.cgroup_helpers import (
    BUSY,
    MIB,
    cgroup_root,
    is_v2,
    kernel_file,
    needs_v1,
    needs_v2,
    run,
    start,
    start_sleeper,
)

from sandbox_runtime.isolation.kernel.cgroup.group import Group
from sandbox_runtime.isolation.kernel.cgroup.root import CgroupRoot


@pytest.fixture
def root() -> Iterator[CgroupRoot]:
    with cgroup_root() as opened:
        yield opened


@pytest.fixture
def group(root: CgroupRoot) -> Group:
    group = root.open_group("command")
    group.limit(memory_bytes=64 * MIB, processes=32, cpu_cores=4096)
    return group


# Memory


def test_a_program_beyond_its_memory_is_killed_and_the_kill_is_counted(group: Group) -> None:
    assert run(group, f"block = b'x' * {200 * MIB}") == -signal.SIGKILL
    usage = group.usage()
    assert usage.oom_kills and usage.oom_kills >= 1
    assert not usage.oom_elsewhere
    assert group.oom_kills() == usage.oom_kills


def test_a_program_within_its_memory_is_not_killed_and_its_peak_is_told(group: Group) -> None:
    assert run(group, f"block = b'x' * {30 * MIB}\ndel block") == 0
    usage = group.usage()
    assert usage.oom_kills == 0
    assert usage.memory_peak_bytes and 30 * MIB <= usage.memory_peak_bytes <= 64 * MIB


def test_file_cache_reclaimed_at_the_limit_is_no_kill(root: CgroupRoot, group: Group, tmp_path: Path) -> None:
    if subprocess.check_output(["stat", "-f", "-c", "%T", tmp_path], text=True).strip() in ("tmpfs", "ramfs"):
        pytest.skip("files on this machine live in memory and cannot be reclaimed")
    code = f"import os\nwith open({str(tmp_path / 'big')!r}, 'wb') as f:\n for _ in range(100): f.write(bytes({MIB}))"
    assert run(group, code) == 0
    assert group.usage().oom_kills == 0


def test_a_limit_further_out_is_not_taken_for_the_command_s_own(root: CgroupRoot, group: Group) -> None:
    outer = next(hierarchy for hierarchy in root.hierarchies if "memory" in hierarchy.controllers)
    outer.limit_memory(".", None, 40 * MIB)
    assert run(group, f"block = b'x' * {200 * MIB}") == -signal.SIGKILL
    assert group.usage().oom_elsewhere


def test_out_of_memory_takes_the_whole_command(root: CgroupRoot, group: Group) -> None:
    needs_v2(root)
    sleeper = start_sleeper(group)
    assert run(group, f"block = b'x' * {200 * MIB}") == -signal.SIGKILL
    assert sleeper.wait(10) == -signal.SIGKILL


def test_swap_does_not_widen_the_memory_limit(root: CgroupRoot, group: Group) -> None:
    if is_v2(root):
        assert kernel_file(root, "memory.swap.max", group=".") == "0"
    else:
        assert kernel_file(root, "memory.memsw.limit_in_bytes") == str(64 * MIB)


def test_memory_limits_go_up_and_down_and_away(root: CgroupRoot, group: Group) -> None:
    file, unlimited = ("memory.max", "max") if is_v2(root) else ("memory.memsw.limit_in_bytes", "9223372036854771712")
    for memory_bytes in (128 * MIB, 32 * MIB, None, 48 * MIB):
        group.limit(memory_bytes, 32, 4096)
        assert kernel_file(root, file) == (unlimited if memory_bytes is None else str(memory_bytes))


def test_a_limit_below_what_is_in_use_is_refused_by_version_1(root: CgroupRoot, group: Group) -> None:
    needs_v1(root)
    process = start(group, f"import time\nblock = b'x' * {30 * MIB}\nprint('in', flush=True)\ntime.sleep(300)")
    assert process.stdout and process.stdout.readline() == "in\n"
    with pytest.raises(OSError) as raised:
        group.limit(4 * MIB, 32, 4096)
    assert raised.value.errno == errno.EBUSY
    group.kill()
    process.wait(10)


# Processes


def test_forks_beyond_the_limit_are_refused_and_counted(group: Group) -> None:
    group.limit(64 * MIB, 5, 4096)
    code = """
import time
refused = 0
for _ in range(10):
    try:
        if os.fork() == 0:
            time.sleep(300)
    except OSError:
        refused += 1
print(refused, flush=True)
time.sleep(300)
"""
    with start(group, code) as process:
        assert process.stdout and process.stdout.readline() == "6\n"
        usage = group.usage()
        group.kill()
    assert usage.processes_refused == 6
    assert usage.processes_peak in (5, None)


def test_killing_is_not_counted_as_a_refused_fork(group: Group) -> None:
    code = """
import time
print('in', flush=True)
while True:
    if os.fork() == 0:
        os._exit(0)
    os.wait()
"""
    with start(group, code) as process:
        assert process.stdout and process.stdout.readline() == "in\n"
        group.kill()
    assert group.remove(wait_s=5) or pytest.fail("processes are left")
    assert group.usage().processes_refused == 0


# CPU


def test_time_spent_in_the_program_counts_as_user_time(group: Group) -> None:
    assert run(group, BUSY.format(0.4)) == 0
    usage = group.usage()
    assert usage.cpu_s is not None and usage.cpu_user_s is not None and usage.cpu_system_s is not None
    assert usage.cpu_s >= 0.4
    assert usage.cpu_user_s + usage.cpu_system_s == pytest.approx(usage.cpu_s, abs=1e-4)
    assert usage.cpu_user_s > usage.cpu_system_s
    assert group.cpu_s() == pytest.approx(usage.cpu_s, abs=1e-4)


def test_time_spent_in_the_kernel_counts_as_system_time(group: Group) -> None:
    code = f"zero = os.open('/dev/zero', 0)\nend = os.times().system + 0.4\nwhile os.times().system < end: os.read(zero, {MIB})"
    assert run(group, code) == 0
    system_s = group.usage().cpu_system_s
    assert system_s is not None and system_s > 0.1


def test_time_of_all_processes_is_counted_also_of_those_nobody_waited_for(group: Group) -> None:
    code = """
import time
reading, writing = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        os.close(reading)
        while time.process_time() < 0.3: sum(range(10_000))
    os._exit(0)
os.close(writing)
os.read(reading, 1)
"""
    assert run(group, code) == 0
    cpu_s = group.cpu_s()
    assert cpu_s is not None and cpu_s >= 0.3


def test_a_command_gets_no_more_than_its_share_of_the_machine(root: CgroupRoot, group: Group) -> None:
    group.limit(64 * MIB, 32, 0.1)
    assert run(group, BUSY.format(0.2)) == 0
    assert int(dict(line.split() for line in kernel_file(root, "cpu.stat").splitlines())["nr_throttled"]) > 0


def test_a_share_as_large_as_the_machine_is_no_quota(root: CgroupRoot, group: Group) -> None:
    group.limit(64 * MIB, 32, 0.01)
    group.limit(64 * MIB, 32, 4096)
    assert kernel_file(root, "cpu.max" if is_v2(root) else "cpu.cfs_quota_us").split()[0] in ("max", "-1")


def test_a_share_wider_than_the_outer_one_keeps_to_the_outer_one(root: CgroupRoot) -> None:
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one core is no quota to exceed")
    outer = next(hierarchy for hierarchy in root.hierarchies if "cpu" in hierarchy.controllers)
    outer.limit_cpu(".", 20_000)
    group = root.open_group("inner")
    group.limit(64 * MIB, 32, 1.0)
    assert run(group, BUSY.format(0.2)) == 0
    assert "nr_throttled 0" not in kernel_file(root, "cpu.stat", group=".")


# Limits as a whole


def test_figures_that_are_kept_open_are_those_of_now(group: Group) -> None:
    before = set(os.listdir("/proc/self/fd"))
    group.keep_stats_open()
    held = set(os.listdir("/proc/self/fd")) - before
    first = group.usage()
    assert run(group, f"block = b'x' * {200 * MIB}") == -signal.SIGKILL
    kept = group.usage()
    assert held and kept.oom_kills and not first.oom_kills and (kept.memory_peak_bytes or 0) > (first.memory_peak_bytes or 0)
    assert (kept.cpu_s or 0) > (first.cpu_s or 0) and kept.processes_peak == 1
    assert group.remove(10.0) and set(os.listdir("/proc/self/fd")) == before


def test_only_what_changed_is_written(root: CgroupRoot, group: Group) -> None:
    hierarchy = next(hierarchy for hierarchy in root.hierarchies if "pids" in hierarchy.controllers)
    hierarchy.limit_processes("command", 7)
    group.limit(65 * MIB, 32, 4096)
    assert kernel_file(root, "pids.max") == "7"
    group.limit(65 * MIB, 33, 4096)
    assert kernel_file(root, "pids.max") == "33"
