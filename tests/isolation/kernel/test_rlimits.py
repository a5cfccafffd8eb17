"""Limits of single processes, set in real ones."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sandbox_runtime
from sandbox_runtime.isolation.kernel import rlimits

SOURCE = str(Path(sandbox_runtime.__file__).parent.parent)
MIB = 1 << 20


def run(code: str, limits: list[rlimits.Limit], before: str = "") -> subprocess.CompletedProcess[str]:
    """A program that takes the limits on and then does what the code says."""
    apply = (
        f"{before}\nimport json, os, resource\nfrom sandbox_runtime.isolation.kernel import rlimits\nrlimits.apply({limits})\n"
    )
    command = [sys.executable, "-c", apply + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={"PYTHONPATH": SOURCE})


def plan(**changes: float) -> list[rlimits.Limit]:
    return [*rlimits.ALWAYS, *rlimits.plan(**{"file_bytes": 16 * MIB, "open_files": 64, **changes})]  # type: ignore[arg-type]


def in_force(limits: list[rlimits.Limit], before: str = "") -> dict[int, tuple[int, int]]:
    said = run(f"print(json.dumps(rlimits.in_force({limits})))", limits, before)
    return {number: (soft, hard) for number, soft, hard in json.loads(said.stdout)}


def test_a_busy_program_is_ended_by_its_cpu_limit() -> None:
    assert run("while True: pass", plan(cpu_s=0.2)).returncode == -signal.SIGXCPU


def test_a_program_that_ignores_the_cpu_signal_is_killed_a_second_later() -> None:
    code = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    assert run(code, plan(cpu_s=1)).returncode == -signal.SIGKILL


def test_a_file_cannot_grow_beyond_its_limit(tmp_path: Path) -> None:
    big = tmp_path / "big"
    assert run(f"open({str(big)!r}, 'wb').write(bytes({32 * MIB}))", plan()).returncode != 0
    assert big.stat().st_size == 16 * MIB


def test_no_more_files_can_be_opened_than_allowed() -> None:
    said = run("held = []\ntry:\n while True: held.append(os.dup(0))\nexcept OSError as e: print(len(held), e.errno)", plan())
    count, number = map(int, said.stdout.split())
    assert count < 64 and number == 24


RESERVES = f"""
import mmap
never_reserved = 0x4000
mmap.mmap(-1, {48 << 30}, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | never_reserved, prot=mmap.PROT_READ)
"""


def test_private_and_shared_memory_are_bounded_where_no_cgroup_does_it() -> None:
    limits = plan(memory_bytes=200 * MIB)
    assert "MemoryError" in run(f"bytearray({300 * MIB})", limits).stderr
    assert run(RESERVES, limits).returncode == 1 and run(RESERVES, plan()).returncode == 0
    assert run(f"bytearray({100 * MIB})", limits).returncode == 0


def test_processes_are_bounded_where_no_cgroup_does_it() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to become a user of which there is no process")
    limits = plan(processes=3)
    code = """
os.setgid(54321)
os.setuid(54321)
pids = []
try:
    for _ in range(10):
        pid = os.fork()
        if not pid:
            import signal
            signal.pause()
        pids.append(pid)
except BlockingIOError:
    pass
print(len(pids), flush=True)
for pid in pids:
    os.kill(pid, 9)
"""
    assert run(code, limits).stdout == "2\n"


def test_no_limit_can_be_raised_again_by_the_program() -> None:
    limits = plan(cpu_s=5, memory_bytes=500 * MIB, processes=50)
    movable = {resource.RLIMIT_CPU, resource.RLIMIT_STACK}
    assert [number for number, (soft, hard) in in_force(limits).items() if soft != hard and number not in movable] == []


def test_core_files_are_off_and_the_stack_is_8_mib_whatever_the_server_had() -> None:
    before = "import resource\nresource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY,) * 2)"
    values = in_force(plan(), before if resource.getrlimit(resource.RLIMIT_STACK)[1] == resource.RLIM_INFINITY else "")
    assert values[resource.RLIMIT_CORE] == (0, 0)
    assert values[resource.RLIMIT_STACK] == (8 * MIB, resource.getrlimit(resource.RLIMIT_STACK)[1])


def test_a_hard_limit_that_is_lower_already_stays_and_can_be_read_back() -> None:
    before = (
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))\nresource.setrlimit(resource.RLIMIT_CPU, (3, 3))"
    )
    values = in_force(plan(cpu_s=60), before)
    assert values[resource.RLIMIT_NOFILE] == (20, 20)
    assert values[resource.RLIMIT_CPU] == (3, 3)


def test_without_a_cpu_limit_there_is_none() -> None:
    assert resource.RLIMIT_CPU not in [number for number, _, _ in plan()]
