"""Every backend enforces limits, reports which one was reached, and reports usage."""

from __future__ import annotations

import pytest
from tests.isolation.box_helpers import command, needs, needs_many_commands, open_box, put_file, run, run_python, shell

from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Blame, Ending, Layer, LayerState, Policy
from sandbox_runtime.model.limits import KIB, MIB

pytestmark = pytest.mark.asyncio(loop_scope="session")

BURN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: sum(range(10_000))\n"
TOUCH = "data = bytearray({} << 20)\nfor n in range(0, len(data), 4096): data[n] = 1\n"
MANY = """
import os, sys, time
started = 0
try:
    while started < 200:
        if os.fork() == 0:
            time.sleep(300)
        started += 1
except OSError as error:
    print(error.errno, flush=True)
    sys.exit(1)
print("no limit met")
"""


def skip_where_held(backend: Backend, layer: Layer) -> None:
    if any(report.layer is layer and report.state is LayerState.on for report in backend.layers()):
        pytest.skip("control groups hold it here")


async def test_at_the_wall_limit_the_output_so_far_is_kept(backend: Backend) -> None:
    outcome = await run(backend, shell("echo before; echo error >&2; sleep 300; echo after", wall_s=0.8))
    assert (outcome.ending, outcome.exit_code, outcome.blame) == (Ending.timed_out, None, Blame.limit)
    assert (outcome.stdout.text, outcome.stderr.text) == ("before\n", "error\n")
    assert outcome.message == "the wall time limit was reached" and outcome.usage.wall_s >= 0.8


async def test_waiting_uses_no_cpu_time(backend: Backend) -> None:
    outcome = await run(backend, command("sleep", "0.5", cpu_s=0.3, wall_s=20))
    assert outcome.ok and outcome.usage.wall_s >= 0.5 and outcome.usage.cpu_s < 0.3


async def test_a_busy_loop_meets_the_cpu_limit_long_before_the_wall(backend: Backend, guest_python: str) -> None:
    outcome = await run_python(backend, guest_python, BURN.format(100), cpu_s=0.5, wall_s=60)
    assert (outcome.ending, outcome.blame) == (Ending.cpu_exceeded, Blame.limit)
    assert 0.4 <= outcome.usage.cpu_s < 10 and outcome.message == "the cpu time limit was reached"


async def test_many_processes_share_one_cpu_limit(backend: Backend, guest_python: str) -> None:
    needs(backend, Layer.cpu)
    each = f"import os\nfor n in range(5): os.fork()\n{BURN.format(0.5)}"
    outcome = await run_python(backend, guest_python, each, cpu_s=1, wall_s=100)
    assert outcome.ending is Ending.cpu_exceeded and outcome.usage.cpu_s < 10


async def test_processes_that_come_and_go_share_one_cpu_limit(backend: Backend) -> None:
    needs(backend, Layer.cpu)
    script = "while true; do bash -c 'for n in {1..20000}; do :; done'; done"
    outcome = await run(backend, shell(script, cpu_s=0.5, wall_s=60))
    assert outcome.ending is Ending.cpu_exceeded and outcome.usage.cpu_s < 10


async def test_cpu_time_used_is_read_back(backend: Backend, guest_python: str) -> None:
    outcome = await run_python(backend, guest_python, BURN.format(0.4), wall_s=60)
    assert outcome.ok and 0.35 <= outcome.usage.cpu_s < 5
    assert outcome.usage.cpu_user_s > outcome.usage.cpu_system_s


async def test_cpu_time_of_children_is_read_back(backend: Backend, guest_python: str) -> None:
    source = f"import os, sys\nif os.fork() == 0:\n    exec({BURN.format(0.3)!r})\n    os._exit(0)\nos.wait()"
    outcome = await run_python(backend, guest_python, source, wall_s=60)
    assert outcome.ok and outcome.usage.cpu_s >= 0.28


async def test_too_much_memory_is_told_as_such(backend: Backend, guest_python: str) -> None:
    needs(backend, Layer.memory)
    outcome = await run_python(backend, guest_python, "print('begun', flush=True)\n" + TOUCH.format(300), memory_bytes=64 * MIB)
    assert (outcome.ending, outcome.blame, outcome.stdout.text) == (Ending.out_of_memory, Blame.limit, "begun\n")
    assert outcome.message == "the memory limit was reached"


async def test_too_much_memory_in_a_child_is_told_when_the_program_fails_of_it(backend: Backend, guest_python: str) -> None:
    needs(backend, Layer.memory)
    source = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {TOUCH.format(300)!r}], check=True)"
    outcome = await run_python(backend, guest_python, source, memory_bytes=96 * MIB)
    assert outcome.ending is Ending.out_of_memory and "CalledProcessError" in outcome.stderr.text


async def test_a_program_that_lives_with_the_death_of_its_child_has_simply_exited(backend: Backend, guest_python: str) -> None:
    needs(backend, Layer.memory)
    source = f"import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', {TOUCH.format(300)!r}]).returncode)"
    outcome = await run_python(backend, guest_python, source, memory_bytes=96 * MIB)
    assert (outcome.ending, outcome.exit_code, outcome.stdout.text) == (Ending.exited, 0, "-9\n")


async def test_many_small_processes_share_one_memory_limit(backend: Backend, guest_python: str) -> None:
    needs(backend, Layer.memory)
    child = f"if os.fork() == 0:\n        exec({TOUCH.format(20)!r})\n        time.sleep(300)"
    source = f"import os, time\nfor n in range(10):\n    {child}\nos.wait()\nos.abort()"
    outcome = await run_python(backend, guest_python, source, memory_bytes=96 * MIB, wall_s=60)
    assert outcome.ending is Ending.out_of_memory


async def test_an_allocation_that_never_fits_is_refused_or_killed_but_not_blamed_on_us(
    backend: Backend, guest_python: str
) -> None:
    outcome = await run_python(backend, guest_python, "x = bytearray(1 << 45)", memory_bytes=256 * MIB)
    assert outcome.blame in (Blame.program, Blame.limit) and "MemoryError" in outcome.stderr.text


async def test_without_control_groups_each_process_has_the_memory_limit(backend: Backend, guest_python: str) -> None:
    skip_where_held(backend, Layer.memory)
    outcome = await run_python(backend, guest_python, TOUCH.format(300), memory_bytes=64 * MIB)
    assert (outcome.ending, outcome.blame) == (Ending.exited, Blame.program) and "MemoryError" in outcome.stderr.text


async def test_without_control_groups_the_user_has_the_process_limit(backend: Backend, guest_python: str) -> None:
    skip_where_held(backend, Layer.processes)
    outcome = await run_python(backend, guest_python, MANY, processes=20)
    assert (outcome.exit_code, outcome.stdout.text) == (1, "11\n")


async def test_files_in_memory_count_as_memory(backend: Backend) -> None:
    needs(backend, Layer.memory, Layer.mount)
    outcome = await run(backend, shell("head -c 200M /dev/zero > big; exit $?", memory_bytes=64 * MIB))
    assert outcome.ending is Ending.out_of_memory


@pytest.mark.parametrize("touched", [20, 60])
async def test_the_memory_peak_is_at_least_what_was_touched(backend: Backend, guest_python: str, touched: int) -> None:
    outcome = await run_python(backend, guest_python, TOUCH.format(touched))
    assert outcome.ok and outcome.usage.memory_peak_bytes is not None
    assert touched * MIB <= outcome.usage.memory_peak_bytes < (touched + 60) * MIB


async def test_the_memory_peak_of_a_command_is_not_that_of_the_one_before(backend: Backend) -> None:
    needs_many_commands(backend)
    needs(backend, Layer.memory)
    async with open_box(backend) as box:
        first = await box.run(shell("x=$(head -c 40M /dev/zero | tr '\\0' x); echo ${#x}"))
        second = await box.run(command("true"))
    assert (first.usage.memory_peak_bytes or 0) > 40 * MIB > (second.usage.memory_peak_bytes or 0)


async def test_too_many_processes_are_told_as_such(backend: Backend, guest_python: str) -> None:
    needs(backend, Layer.processes)
    outcome = await run_python(backend, guest_python, MANY, processes=20)
    assert (outcome.ending, outcome.blame, outcome.stdout.text) == (Ending.process_limit, Blame.limit, "11\n")
    assert outcome.usage.processes_refused and outcome.usage.processes_peak == 20


async def test_threads_count_as_processes(backend: Backend, guest_python: str) -> None:
    needs(backend, Layer.processes)
    source = "import threading, time\nfor n in range(100): threading.Thread(target=time.sleep, args=(30,), daemon=True).start()"
    outcome = await run_python(backend, guest_python, source, processes=20)
    assert outcome.ending is Ending.process_limit and "can't start new thread" in outcome.stderr.text


async def test_the_most_processes_at_once_are_counted(backend: Backend) -> None:
    needs(backend, Layer.processes)
    outcome = await run(backend, shell("for n in {1..8}; do sleep 0.3 & done; wait"))
    assert outcome.ok and outcome.usage.processes_peak == 9 and outcome.usage.processes_refused == 0


async def test_too_much_output_ends_the_command(backend: Backend) -> None:
    outcome = await run(backend, shell("yes", output_bytes=100_000, wall_s=60))
    assert (outcome.ending, outcome.blame) == (Ending.output_limit, Blame.limit)
    assert outcome.usage.output_bytes > 100_000 and bytes(outcome.stdout).startswith(b"y\ny\n")


async def test_both_streams_share_the_output_limit(backend: Backend) -> None:
    script = "head -c 60000 /dev/zero; head -c 60000 /dev/zero >&2; sleep 300"
    outcome = await run(backend, shell(script, output_bytes=100_000, wall_s=60))
    assert outcome.ending is Ending.output_limit


async def test_output_that_fits_exactly_is_no_limit(backend: Backend) -> None:
    outcome = await run(backend, shell("head -c 100000 /dev/zero", output_bytes=100_000))
    assert outcome.ok and outcome.usage.output_bytes == 100_000


async def test_a_full_disk_is_told_as_such(backend: Backend) -> None:
    needs_many_commands(backend)
    needs(backend, Layer.disk)
    async with open_box(backend, Policy(disk_bytes=MIB, disk_files=1000)) as box:
        outcome = await box.run(shell("head -c 10M /dev/zero > big"))
        assert (outcome.ending, outcome.blame) == (Ending.disk_limit, Blame.limit)
        assert "No space left on device" in outcome.stderr.text and outcome.usage.disk_bytes == MIB
        after = await box.run(shell("rm big; echo room > small; cat small"))
        assert after.ok and after.stdout.text == "room\n"


async def test_every_writable_folder_shares_the_disk_limit(backend: Backend) -> None:
    needs(backend, Layer.disk)
    async with open_box(backend, Policy(disk_bytes=4 * MIB)) as box:
        script = "for folder in . /tmp /dev/shm $HOME /run /mnt /var/tmp; do head -c 1M /dev/zero > $folder/part || exit 1; done"
        assert (await box.run(shell(script))).ending is Ending.disk_limit


async def test_too_many_files_are_told_as_such(backend: Backend) -> None:
    needs(backend, Layer.disk)
    async with open_box(backend, Policy(disk_files=100)) as box:
        outcome = await box.run(shell("for n in {1..200}; do : > file$n || exit 1; done"))
        assert outcome.ending is Ending.disk_limit and outcome.usage.disk_files == 100


async def test_the_disk_in_use_is_read_back(backend: Backend) -> None:
    needs(backend, Layer.disk)
    outcome = await run(backend, shell("head -c 1M /dev/zero > one; touch a b c"))
    assert outcome.usage.disk_bytes is not None and MIB <= outcome.usage.disk_bytes < MIB + 64 * KIB
    assert outcome.usage.disk_files is not None and 4 <= outcome.usage.disk_files < 30


async def test_a_file_that_grows_too_large_is_told_as_such(backend: Backend) -> None:
    outcome = await run(backend, command("head", "-c", "1000000", "/dev/zero", file_bytes=10_000))
    assert outcome.ok  # pipes are no files
    outcome = await run(backend, shell("exec head -c 1000000 /dev/zero > big", file_bytes=10_000))
    assert outcome.ending is Ending.disk_limit


async def test_too_many_open_files_are_refused(backend: Backend, guest_python: str) -> None:
    source = (
        "held = []\ntry:\n    while True: held.append(open('main.py'))\nexcept OSError as error: print(error.errno, len(held))"
    )
    outcome = await run_python(backend, guest_python, source, open_files=32)
    assert outcome.stdout.text == "24 29\n"


async def test_each_command_of_a_box_has_limits_of_its_own(backend: Backend) -> None:
    needs_many_commands(backend)
    async with open_box(backend) as box:
        assert (await box.run(shell("sleep 300", wall_s=0.2))).ending is Ending.timed_out
        assert (await box.run(shell("yes", output_bytes=1000))).ending is Ending.output_limit
        outcome = await box.run(shell("ulimit -n; seq 1 1000", open_files=99))
        assert outcome.ok and outcome.stdout.text.startswith("99\n1\n2\n")


async def test_refused_calls_are_counted_by_name(backend: Backend, guest_python: str) -> None:
    needs(backend, Layer.seccomp)
    source = (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "for n in range(3): print(libc.mount(b'a', b'/tmp', b'tmpfs', 0, None), ctypes.get_errno())\n"
        "print(libc.unshare(0x10000000), ctypes.get_errno())\n"
    )
    outcome = await run_python(backend, guest_python, source)
    assert outcome.ok and outcome.stdout.text == "-1 1\n" * 4
    assert outcome.usage.denied_calls == {"mount": 3, "unshare": 1}


async def test_a_program_that_fails_of_a_refused_call_was_denied(backend: Backend) -> None:
    needs(backend, Layer.seccomp)
    outcome = await run(backend, shell("exec mount -t tmpfs none /tmp"))
    assert (outcome.ending, outcome.blame) == (Ending.denied, Blame.program) and "mount" in str(outcome.usage.denied_calls)


async def test_the_memory_of_a_running_command_can_be_bounded_anew(backend: Backend, guest_python: str) -> None:
    needs(backend, Layer.memory, Layer.processes, Layer.cpu)
    source = "import sys\nsys.stdin.readline()\nheld = bytearray(300 * 1024**2)\nprint(len(held))\n"
    async with open_box(backend) as box:
        put_file(box, "main.py", source.encode())
        ordered = command(guest_python, "main.py", memory_bytes=64 * MIB)
        running = await box.start(ordered, interactive=True)
        assert running.limit(ordered.limits.replace(memory_bytes=600 * MIB))
        running.feed(b"go\n")
        outcome = await running.wait()
    assert outcome.stdout.text == f"{300 * MIB}\n", outcome
