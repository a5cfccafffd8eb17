"""Two programs in two boxes, what either prints being what the other reads; and a place held over several steps."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.conftest import skip_where_the_host_lacks
from tests.engine.faulty import FaultyBackend
from tests.engine.makers import platform_in

from sandbox_runtime.assembly import Platform
from sandbox_runtime.engine import InteractiveResult
from sandbox_runtime.model import Ending, File, Job, Limits

LIMITS = Limits(wall_s=60)
ECHO = "import sys\nfor line in sys.stdin:\n    print('echo', line.strip(), flush=True)"
ASKS = "import sys\nfor n in range(50):\n    print(n, flush=True)\n    assert input() == f'echo {n}'"


async def run_interactive(platform: Platform, first: str, second: str, wall_s: float = 60) -> InteractiveResult:
    limits = LIMITS.replace(wall_s=wall_s, memory_bytes=2**30)
    async with platform.engine.slot() as slot:
        one, other = [await slot.build(Job("python", code, run_limits=limits)) for code in (first, second)]
        return await slot.run_interactive(one, other)


async def test_they_hear_each_other_and_the_end_of_each_other(platform: Platform, backend: FaultyBackend) -> None:
    result = await run_interactive(platform, ASKS, ECHO)
    assert result.first.ok and result.second.ok and result.first_ended_first
    assert result.second.stdout.text.splitlines() == [f"echo {n}" for n in range(50)]
    assert not backend.open_boxes and platform.admission.busy == 0


async def test_who_prints_faster_than_the_other_reads_has_to_wait(tmp_path: Path) -> None:
    """The reader reads only when the writer has found that it can write no more; then all of it arrives."""
    skip_where_the_host_lacks("namespaces")
    writer = """
import os, sys
os.set_blocking(1, False)
sent = 0
while sent < 4 << 20:
    try:
        sent += os.write(1, b"x" * 65536)
    except BlockingIOError:
        break
os.set_blocking(1, True)
print(flush=True)
print("stopped at", sent, file=sys.stderr)
"""
    reader = "import sys, time\nprint('ready', flush=True)\ntime.sleep(3)\nprint(len(sys.stdin.read()), file=sys.stderr)"
    async with platform_in(tmp_path) as platform:
        result = await run_interactive(platform, f"input()\n{writer}", reader)
    sent = int(result.first.stderr.text.split()[-1])
    assert result.first.ok and result.second.ok and sent < 2 << 20
    assert int(result.second.stderr.text) == sent + 1


async def test_when_one_fails_the_other_is_stopped(platform: Platform) -> None:
    result = await run_interactive(platform, "1/0", "import time\ntime.sleep(600)")
    assert result.first.exit_code == 1 and result.second.ending is Ending.cancelled and result.first_ended_first
    result = await run_interactive(platform, "import time\ntime.sleep(600)", "1/0")
    assert result.second.exit_code == 1 and result.first.ending is Ending.cancelled and not result.first_ended_first


async def test_two_that_wait_for_each_other_end_with_their_time(platform: Platform) -> None:
    result = await run_interactive(platform, "input()", "input()", wall_s=1)
    assert Ending.timed_out in (result.first.ending, result.second.ending)


async def test_what_one_closed_the_other_may_go_on_printing_to(platform: Platform) -> None:
    result = await run_interactive(platform, "for n in range(10_000): print(n)", "import os\nos.close(0)")
    assert result.first.ok and result.second.ok


async def test_a_built_program_takes_arguments_and_files(platform: Platform) -> None:
    code = "import sys; print(*[open(name).read() for name in sys.argv[1:]], sys.stdin.read())"
    async with platform.engine.slot() as slot:
        program = await slot.build(Job("python", code, files=(File("own", b"own"),)))
        result = await slot.run_case(program, b"in", args=("own", "more"), files=(File("more", b"more"),))
        again = await slot.run_case(dataclasses.replace(program), None)
    assert result.run is not None and result.run.stdout.text == "own more in\n"
    assert again.run is not None and again.run.stdout.text == "\n"


@pytest.mark.parametrize("settings", ["namespaces"], indirect=True)
async def test_a_platform_has_an_interpreter_of_its_own_for_graded_programs(platform: Platform) -> None:
    async with platform.engine.slot() as slot:
        result = await slot.run(Job("python", "import sys; print('unittest' in sys.modules)"), preset="judge")
        plain = await slot.run(Job("python", "import sys; print('unittest' in sys.modules)"))
    assert result.run is not None and plain.run is not None
    assert (result.run.stdout.text, plain.run.stdout.text) == ("True\n", "False\n")
