"""Every backend: standard input, output and error of a command."""

from __future__ import annotations

import asyncio
import dataclasses
import signal
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks
from tests.isolation.box_helpers import RecordingSink, command, needs_many_commands, open_box, put_file, run, run_python, shell

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.isolation.backends import NAMES, open_backend
from sandbox_runtime.isolation.options import BackendOptions, Preset
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Ending, Policy

pytestmark = pytest.mark.asyncio(loop_scope="session")

MILLION = 1_000_000


async def test_input_arrives_byte_for_byte_and_ends(backend: Backend) -> None:
    given = bytes(range(256)) * 4 + b"\r\n\0last"
    outcome = await run(backend, command("cat", stdin=given))
    assert bytes(outcome.stdout) == given and outcome.ok


@pytest.mark.parametrize("stdin", [None, b""])
async def test_without_input_a_program_meets_its_end_at_once(backend: Backend, stdin: bytes | None) -> None:
    outcome = await run(backend, command("wc", "-c", stdin=stdin))
    assert outcome.stdout.text == "0\n"


async def test_input_that_is_not_read_is_no_error(backend: Backend) -> None:
    outcome = await run(backend, command("true", stdin=b"x" * MILLION))
    assert outcome.ok


async def test_input_of_which_a_part_is_read_is_no_error(backend: Backend) -> None:
    outcome = await run(backend, command("head", "-c", "10", stdin=b"0123456789" * 200_000))
    assert (outcome.ok, outcome.stdout.text) == (True, "0123456789")


async def test_a_million_bytes_pass_in_and_out_at_once(backend: Backend) -> None:
    given = b"0123456789abcde\n" * (MILLION // 16)
    outcome = await run(backend, command("cat", stdin=given))
    assert bytes(outcome.stdout) == given and outcome.usage.output_bytes == len(given)


async def test_output_that_is_no_text_stays_as_it_is(backend: Backend) -> None:
    outcome = await run(backend, shell(r"printf '\377\0\376'; printf '\200\n' >&2"))
    assert (bytes(outcome.stdout), bytes(outcome.stderr)) == (b"\xff\0\xfe", b"\x80\n")
    assert outcome.stdout.text == "\ufffd\0\ufffd"


async def test_five_million_bytes_are_kept_whole(backend: Backend, guest_python: str) -> None:
    source = "import sys\nfor n in range(500_000): sys.stdout.write('%09d\\n' % n)"
    outcome = await run_python(backend, guest_python, source)
    assert bytes(outcome.stdout) == b"".join(b"%09d\n" % number for number in range(500_000))
    assert outcome.stdout.dropped_bytes == 0


@pytest_asyncio.fixture(loop_scope="session", params=NAMES)
async def forgetful(request: pytest.FixtureRequest, options: BackendOptions) -> AsyncIterator[Backend]:
    """Keeps a thousand bytes of each stream."""
    skip_where_the_host_lacks(request.param)
    few = dataclasses.replace(options, keep_bytes=1000, presets={"bare": Preset()})
    async with open_backend(request.param, few) as backend:
        yield backend


async def test_of_too_much_output_head_and_tail_are_kept_and_the_rest_is_counted(forgetful: Backend) -> None:
    async with open_box(forgetful, Policy(preset="bare")) as box:
        seen = RecordingSink()
        outcome = await box.run(shell("seq 1 1000000; seq 1 300 >&2"), sink=seen)
    whole = b"".join(b"%d\n" % number for number in range(1, MILLION + 1))
    assert (outcome.stdout.head, outcome.stdout.tail) == (whole[:500], whole[-500:])
    assert outcome.stdout.dropped_bytes == len(whole) - 1000 and outcome.stdout.total_bytes == len(whole)
    assert outcome.stderr.dropped_bytes == len("".join(f"{number}\n" for number in range(1, 301))) - 1000
    assert f"[... {len(whole) - 1000} bytes dropped ...]" in outcome.stdout.text
    assert seen.of("stdout") == whole  # who listens misses nothing


async def test_output_is_seen_while_the_program_runs(backend: Backend) -> None:
    seen = RecordingSink()
    async with open_box(backend) as box:
        running = await box.start(shell("echo one; echo two >&2; read line; echo got $line"), sink=seen, interactive=True)
        await seen.until(b"one\n")
        await seen.until(b"two\n", "stderr")
        running.feed(b"three\n")
        outcome = await running.wait()
    assert seen.of("stdout") == bytes(outcome.stdout) == b"one\ngot three\n"
    assert seen.of("stderr") == bytes(outcome.stderr) == b"two\n"


async def test_a_dialogue_goes_back_and_forth_until_its_input_ends(backend: Backend, guest_python: str) -> None:
    seen = RecordingSink()
    async with open_box(backend) as box:
        put_file(box, "main.py", b"import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)\nprint('end')")
        running = await box.start(command(guest_python, "main.py"), sink=seen, interactive=True)
        for word in (b"abc", b"def", b"ghi"):
            running.feed(word + b"\n")
            await seen.until(word[::-1] + b"\n")
        running.end_input()
        outcome = await running.wait()
        with pytest.raises(InvalidRequest, match="closed"):
            running.feed(b"too late")
    assert outcome.stdout.text == "cba\nfed\nihg\nend\n"


async def test_input_given_at_the_start_comes_before_what_is_fed(backend: Backend) -> None:
    async with open_box(backend) as box:
        running = await box.start(command("cat", stdin=b"first "), interactive=True)
        running.feed(b"second ")
        running.feed(b"x" * MILLION)
        running.end_input()
        outcome = await running.wait()
    assert bytes(outcome.stdout) == b"first second " + b"x" * MILLION


async def test_feeding_what_takes_no_input_is_refused(backend: Backend) -> None:
    async with open_box(backend) as box:
        running = await box.start(shell("sleep 300"))
        with pytest.raises(InvalidRequest, match="closed"):
            running.feed(b"x")
        running.cancel()
        await running.wait()


async def test_a_listener_that_fails_does_not_keep_a_command_from_ending(backend: Backend) -> None:
    needs_many_commands(backend)

    def fails(stream: str, piece: bytes) -> None:
        raise RuntimeError("of the listener")

    async with open_box(backend) as box:
        running = await box.start(shell("echo one; echo two"), sink=fails)
        time.sleep(0.2)  # so that output and end arrive together
        outcome = await asyncio.wait_for(running.wait(), 20)
        assert (outcome.ending, outcome.stdout.text) == (Ending.exited, "one\ntwo\n")
        assert (await box.run(shell("echo next"))).stdout.text == "next\n"


async def test_output_written_just_before_a_violent_end_is_not_lost(backend: Backend) -> None:
    outcome = await run(backend, shell("head -c 60000 /dev/zero; echo; echo error >&2; kill -9 $$"))
    assert (len(bytes(outcome.stdout)), outcome.stderr.text) == (60_001, "error\n")
    assert outcome.signal == signal.SIGKILL


async def test_closed_output_is_no_obstacle(backend: Backend) -> None:
    outcome = await run(backend, shell("exec 1>&- 2>&-; sleep 0.05; exit 3"))
    assert (outcome.ending, outcome.exit_code, bytes(outcome.stdout)) == (Ending.exited, 3, b"")


CONVERSATION = """
import os, socket
line = socket.socket(fileno=3)
line.send(line.recv(100).upper())
print([name for name in os.listdir("/proc/self/fd") if int(name) > 3 and os.path.exists(f"/proc/self/fd/{name}")])
"""


@pytest.mark.parametrize("started", ["warm", "cold"])
async def test_a_command_may_have_a_socket_to_its_caller_and_nothing_more(
    backend: Backend, guest_python: str, started: str
) -> None:
    argv = (guest_python, "main.py") if started == "warm" else ("env", guest_python, "main.py")
    async with open_box(backend) as box:
        put_file(box, "main.py", CONVERSATION.encode())
        running = await box.start(command(*argv), control=True)
        assert running.control is not None
        running.control.send(b"hello")
        answer = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(running.control, 100), 30)
        outcome = await running.wait()
    assert answer == b"HELLO"
    assert (outcome.stdout.text, outcome.stderr.text) == ("[]\n", "")
    assert running.control.fileno() == -1


async def test_a_command_without_one_finds_no_such_descriptor(backend: Backend) -> None:
    outcome = await run(backend, shell("test -e /proc/self/fd/3 && echo there || echo none"))
    assert outcome.stdout.text == "none\n"


async def test_streams_can_be_opened_by_their_names(backend: Backend) -> None:
    outcome = await run(backend, shell("cat /dev/stdin; echo out > /dev/stdout; echo err > /dev/stderr", stdin=b"in\n"))
    assert (outcome.stdout.text, outcome.stderr.text) == ("in\nout\n", "err\n")
