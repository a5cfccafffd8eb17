"""Programs started in real groups, for the tests beside this file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import sandbox_runtime
from sandbox_runtime.isolation.kernel.cgroup import v2
from sandbox_runtime.isolation.kernel.cgroup.group import Group
from sandbox_runtime.isolation.kernel.cgroup.root import CONTROLLERS, CgroupRoot, open_cgroup_root

MIB = 1 << 20
SOURCE = str(Path(sandbox_runtime.__file__).parent.parent)
ENTER = "import os, sys\nfrom sandbox_runtime.isolation.kernel.cgroup.tree import enter\nenter({})\n"
BUSY = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: sum(range(10_000))"
NOBODY = 65534


@contextmanager
def cgroup_root() -> Iterator[CgroupRoot]:
    """A place with every controller; the test is skipped where this host has none."""
    with open_cgroup_root("test") as opened:
        if opened.controllers != CONTROLLERS:
            pytest.skip("; ".join(f"{name}: {lack.reason}" for name, lack in opened.missing.items()))
        yield opened


def start(group: Group, code: str) -> subprocess.Popen[str]:
    """A Python program that moves itself into the group before it does anything else."""
    entries = group.open_entry_files()
    try:
        return subprocess.Popen(
            [sys.executable, "-c", ENTER.format(entries) + code],
            pass_fds=entries,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={"PYTHONPATH": SOURCE},
        )
    finally:
        for entry in entries:
            os.close(entry)


def run(group: Group, code: str) -> int:
    with start(group, code) as process:
        return process.wait(60)


def start_sleeper(group: Group) -> subprocess.Popen[str]:
    process = start(group, "import time\nprint('in', flush=True)\ntime.sleep(300)")
    assert process.stdout and process.stdout.readline() == "in\n"
    return process


def kernel_file(root: CgroupRoot, name: str, group: str = "command") -> str:
    """The file of that name in whichever hierarchy has it."""
    found = [path for path in (Path(directory, group, name) for directory in root.directories) if path.exists()]
    return found[0].read_text().strip()


def is_v2(root: CgroupRoot) -> bool:
    return all(isinstance(hierarchy, v2.HierarchyV2) for hierarchy in root.hierarchies)


def needs_v2(root: CgroupRoot) -> None:
    if not is_v2(root):
        pytest.skip("needs a host with cgroup version 2 alone: make test-cgroup2")


def needs_v1(root: CgroupRoot) -> None:
    if is_v2(root):
        pytest.skip("needs a host with cgroup version 1")
