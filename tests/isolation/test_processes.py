"""Every backend: a command is over when its first process is, and then nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import signal
import uuid
from collections.abc import Iterator

import pytest
from tests.isolation.box_helpers import RecordingSink, command, needs_many_commands, open_box, put_file, run, run_python, shell

from sandbox_runtime.errors import Conflict
from sandbox_runtime.isolation.port import Backend, Box
from sandbox_runtime.model import Blame, Ending

pytestmark = pytest.mark.asyncio(loop_scope="session")

DOUBLE_FORK = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.setpgid(0, 0)
        time.sleep(300)
    os._exit(0)
print("first ends", flush=True)
"""
FORKS_ON = """
import os, time
end = time.monotonic() + 300
print("begun", flush=True)
while time.monotonic() < end:
    if os.fork():
        os._exit(0)
"""
WAITS_DEAF = "trap '' TERM INT HUP; echo deaf; while true; do sleep 0.05; done"


@pytest.fixture
def mark() -> str:
    return f"mark-{uuid.uuid4().hex}"


def marked(mark: str) -> Iterator[int]:
    """Processes of this machine that carry the mark in their environment, whatever they are called by now."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    found = mark.encode() in file.read()
            except OSError:
                continue
            if found:
                yield int(name)


@pytest.mark.requirement("fusion-2.15", "fusion-5.09")
async def test_background_processes_end_with_the_command(backend: Backend, mark: str) -> None:
    outcome = await run(backend, shell("sleep 300 & (sleep 300; sleep 300) & disown -a; echo done", env={"MARK": mark}))
    assert (outcome.ok, outcome.stdout.text) == (True, "done\n")
    assert list(marked(mark)) == []


async def test_processes_that_hold_the_output_open_do_not_delay_the_end(backend: Backend, mark: str) -> None:
    script = "(trap '' TERM; while true; do echo late; sleep 0.2; done) & echo first; exit 5"
    outcome = await asyncio.wait_for(run(backend, shell(script, env={"MARK": mark}, wall_s=60)), 20)
    assert outcome.exit_code == 5 and "first\n" in outcome.stdout.text
    assert list(marked(mark)) == []


async def test_a_double_fork_into_a_session_of_its_own_is_found_and_ended(backend: Backend, guest_python: str, mark: str) -> None:
    outcome = await run_python(backend, guest_python, DOUBLE_FORK, env={"MARK": mark, "PYTHONUNBUFFERED": "1"})
    assert (outcome.ok, outcome.stdout.text) == (True, "first ends\n")
    assert list(marked(mark)) == []


async def test_a_warm_program_that_forks_twice_leaves_nothing(backend: Backend, guest_python: str) -> None:
    needs_many_commands(backend)
    async with open_box(backend) as box:
        put_file(box, "main.py", DOUBLE_FORK.encode())
        assert (await box.run(command(guest_python, "main.py"))).ok
        seen = await box.run(shell("cat /proc/[0-9]*/cmdline | tr '\\0' ' '"))
        if backend.name != "none":
            assert "main.py" not in seen.stdout.text


async def test_one_that_forks_on_and_on_is_caught(backend: Backend, guest_python: str, mark: str) -> None:
    given = {"MARK": mark, "PYTHONUNBUFFERED": "1"}
    outcome = await run_python(backend, guest_python, FORKS_ON, env=given, wall_s=30)
    assert outcome.ending is Ending.exited  # its first process is gone at once, and all the others with it
    assert list(marked(mark)) == []


async def test_deaf_to_every_polite_signal_it_ends_at_the_wall_limit(backend: Backend, mark: str) -> None:
    outcome = await run(backend, shell(WAITS_DEAF, env={"MARK": mark}, wall_s=4))
    assert (outcome.ending, outcome.blame, outcome.stdout.text) == (Ending.timed_out, Blame.limit, "deaf\n")
    assert list(marked(mark)) == []


async def test_a_stopped_process_ends_too(backend: Backend, mark: str) -> None:
    outcome = await run(backend, shell("kill -STOP $$", env={"MARK": mark}, wall_s=0.8))
    assert outcome.ending is Ending.timed_out and list(marked(mark)) == []


async def test_a_signal_reaches_the_first_process(backend: Backend) -> None:
    seen = RecordingSink()
    async with open_box(backend) as box:
        script = "trap 'echo caught; exit 7' TERM; trap 'echo again' USR1; echo ready; while true; do sleep 0.02; done"
        running = await box.start(shell(script), sink=seen)
        await seen.until(b"ready")
        running.send_signal(signal.SIGUSR1)
        await seen.until(b"again")
        running.send_signal(signal.SIGTERM)
        outcome = await running.wait()
    assert (outcome.ending, outcome.exit_code, outcome.stdout.text) == (Ending.exited, 7, "ready\nagain\ncaught\n")


async def test_an_interrupt_ends_a_warm_program_as_it_would_a_cold_one(backend: Backend, guest_python: str) -> None:
    seen = RecordingSink()
    async with open_box(backend) as box:
        put_file(box, "main.py", b"import time\nprint('ready', flush=True)\ntime.sleep(300)\n")
        running = await box.start(command(guest_python, "main.py"), sink=seen)
        await seen.until(b"ready")
        running.send_signal(signal.SIGINT)
        outcome = await running.wait()
    assert (outcome.ending, outcome.signal) == (Ending.signaled, signal.SIGINT)
    assert outcome.stderr.text.endswith("KeyboardInterrupt\n")


async def test_a_cancelled_command_ends_with_all_its_processes(backend: Backend, mark: str) -> None:
    needs_many_commands(backend)
    seen = RecordingSink()
    async with open_box(backend) as box:
        running = await box.start(shell(f"sleep 300 & {WAITS_DEAF}", env={"MARK": mark}), sink=seen)
        await seen.until(b"deaf")
        running.cancel()
        running.cancel()
        outcome = await running.wait()
        assert (outcome.ending, outcome.blame, outcome.stdout.text) == (Ending.cancelled, Blame.caller, "deaf\n")
        assert list(marked(mark)) == []
        assert await running.wait() is outcome
        running.cancel()
        assert (await box.run(shell("echo next"))).stdout.text == "next\n"


async def cancelled_while_it_ran(box: Box, mark: str) -> None:
    seen = RecordingSink()
    task = asyncio.ensure_future(box.run(shell(WAITS_DEAF, env={"MARK": mark}), sink=seen))
    await seen.until(b"deaf")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancelled_caller_cancels_the_command(backend: Backend, mark: str) -> None:
    async with open_box(backend) as box:
        await cancelled_while_it_ran(box, mark)
        async with asyncio.timeout(60):
            while list(marked(mark)):
                await asyncio.sleep(0.01)


async def test_the_box_of_a_cancelled_caller_can_be_used_again(backend: Backend, mark: str) -> None:
    needs_many_commands(backend)
    async with open_box(backend) as box:
        await cancelled_while_it_ran(box, mark)
        async with asyncio.timeout(60):
            while True:
                try:
                    outcome = await box.run(shell("echo next"))
                    break
                except Conflict:
                    await asyncio.sleep(0.01)
    assert outcome.stdout.text == "next\n"


async def test_many_commands_in_one_box_leave_no_descriptors(backend: Backend) -> None:
    needs_many_commands(backend)
    async with open_box(backend) as box:
        await box.run(shell("true"))
        before = sorted(os.listdir("/proc/self/fd"))
        for _ in range(10):
            await box.run(shell("echo x; sleep 300 &"))
        assert sorted(os.listdir("/proc/self/fd")) == before
