"""Every backend: what becomes of a command, as seen from outside."""

from __future__ import annotations

import asyncio
import signal

import pytest
from tests.isolation.box_helpers import RecordingSink, command, needs, needs_many_commands, open_box, put_file, run, shell

from sandbox_runtime.errors import Conflict, InvalidRequest
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Blame, Ending, Layer, Policy

pytestmark = pytest.mark.asyncio(loop_scope="session")

OWN_VARIABLES = {"PATH", "HOME", "LANG", "TMPDIR"}


@pytest.mark.parametrize("code", [0, 1, 255])
async def test_the_exit_code_is_the_programs_own(backend: Backend, code: int) -> None:
    outcome = await run(backend, shell(f"exit {code}"))
    assert (outcome.ending, outcome.exit_code, outcome.signal) == (Ending.exited, code, None)
    assert outcome.blame is Blame.program and outcome.ok is (code == 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
async def test_a_program_killed_by_a_signal_has_no_exit_code(backend: Backend, number: int) -> None:
    outcome = await run(backend, shell(f"kill -{int(number)} $$"))
    assert (outcome.ending, outcome.exit_code, outcome.signal) == (Ending.signaled, None, number)
    assert outcome.blame is Blame.program


async def test_an_exit_code_like_that_of_a_shell_after_a_kill_is_no_signal(backend: Backend) -> None:
    outcome = await run(backend, shell("bash -c 'kill -9 $$'; exit $?"))
    assert (outcome.ending, outcome.exit_code, outcome.signal) == (Ending.exited, 137, None)


async def test_the_environment_is_ours_and_the_callers_and_nothing_else(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_SERVER", "hidden")
    outcome = await run(backend, command("/usr/bin/env", "-0", env={"GIVEN": "a\nb=c", "EMPTY": "", "LANG": "C"}))
    found = dict(entry.split("=", 1) for entry in outcome.stdout.text.split("\0") if entry)
    assert set(found) == OWN_VARIABLES | {"GIVEN", "EMPTY"}
    assert (found["GIVEN"], found["EMPTY"], found["LANG"]) == ("a\nb=c", "", "C")


async def test_the_working_folder_is_the_workspace_or_the_one_asked_for(backend: Backend) -> None:
    needs_many_commands(backend)
    async with open_box(backend) as box:
        assert (await box.run(shell("pwd"))).stdout.text == f"{box.workdir}\n"
        assert (await box.run(shell("pwd", cwd="/usr"))).stdout.text == "/usr\n"


async def test_home_and_temporary_folder_can_be_written(backend: Backend) -> None:
    outcome = await run(backend, shell('touch "$HOME/a" "$TMPDIR/b" c && ls "$HOME" "$TMPDIR" .'))
    assert outcome.ok and outcome.stderr.text == ""


@pytest.mark.requirement("fusion-2.12")
@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("no-such-program", "No such file or directory"),
        ("/no/such/program", "No such file or directory"),
        ("/usr", "Permission denied"),
        ("/etc/passwd", "Permission denied"),
        ("./text", "Exec format error"),
        ("./lost", "No such file or directory"),
    ],
)
async def test_what_cannot_be_started_is_told_with_its_name(backend: Backend, program: str, why: str) -> None:
    needs_many_commands(backend)
    async with open_box(backend) as box:
        put_file(box, "text", b"no program\n", 0o755)
        put_file(box, "lost", b"#!/no/such/interpreter\n", 0o755)
        outcome = await box.run(command(program))
        assert (outcome.ending, outcome.exit_code, outcome.signal) == (Ending.not_started, None, None)
        assert outcome.message == f"cannot start {program!r}: {why}" and outcome.blame is Blame.caller
        assert (await box.run(shell("echo next"))).stdout.text == "next\n"


async def test_a_working_folder_that_is_missing_is_told_with_its_name(backend: Backend) -> None:
    outcome = await run(backend, shell("true", cwd="/nowhere"))
    assert outcome.ending is Ending.not_started
    assert outcome.message == "cannot enter the working folder '/nowhere': No such file or directory"


async def test_arguments_arrive_as_they_are(backend: Backend) -> None:
    words = ("", "two words", "$HOME", "*", "ünï\n", "'\"\\", "-n")
    outcome = await run(backend, command("/usr/bin/printf", "%s\\0", *words))
    assert tuple(outcome.stdout.text.split("\0")[:-1]) == words


async def test_bytes_that_are_no_text_arrive_in_arguments_and_environment(backend: Backend, guest_python: str) -> None:
    source = "import os, sys\nprint(os.fsencode(sys.argv[1]), os.environb[b'RAW'])"
    async with open_box(backend) as box:
        put_file(box, "main.py", source.encode())
        told = await box.run(command(guest_python, "main.py", "\udcff\udc80", env={"RAW": "\udcfe"}))
    assert told.stdout.text == "b'\\xff\\x80' b'\\xfe'\n"


async def test_commands_of_a_box_share_its_files_and_nothing_else(backend: Backend) -> None:
    needs_many_commands(backend)
    async with open_box(backend) as box:
        await box.run(shell("echo left > note; mkdir -p sub; (sleep 300 & echo $! > pid); export MARK=1; umask 077"))
        outcome = await box.run(shell('cat note; echo "mark=$MARK"; kill -0 $(cat pid) 2>&1 | grep -c "No such process"; umask'))
        assert outcome.stdout.text == "left\nmark=\n1\n0022\n"


async def test_a_box_runs_one_command_at_a_time(backend: Backend) -> None:
    needs_many_commands(backend)
    async with open_box(backend) as box:
        running = await box.start(shell("read line; echo $line"), interactive=True)
        with pytest.raises(Conflict, match="one command at a time"):
            await box.start(shell("true"))
        running.feed(b"still here\n")
        assert (await running.wait()).stdout.text == "still here\n"
        assert (await box.run(shell("echo next"))).stdout.text == "next\n"


async def test_a_closed_box_refuses(backend: Backend) -> None:
    async with open_box(backend) as box:
        pass
    with pytest.raises(Conflict, match="closed"):
        await box.run(shell("true"))


async def test_a_box_can_be_closed_often_and_at_once(backend: Backend) -> None:
    box = await backend.open(Policy())
    await asyncio.gather(*(box.close() for _ in range(5)))
    await box.close()


async def test_closing_a_box_ends_what_runs_in_it(backend: Backend) -> None:
    box = await backend.open(Policy())
    seen = RecordingSink()
    running = await box.start(shell("echo begun; sleep 300"), sink=seen)
    waiting = asyncio.ensure_future(running.wait())
    await seen.until(b"begun")
    await box.close()
    outcome = await asyncio.wait_for(waiting, 60)
    assert outcome.ending is Ending.cancelled and outcome.blame is Blame.caller


async def test_the_outcome_says_which_backend_it_was(backend: Backend) -> None:
    outcome = await run(backend, shell("true"))
    assert outcome.isolation.split(":")[0] == backend.name
    assert ("NO ISOLATION" in outcome.isolation) is (backend.name == "none")


@pytest.mark.requirement("fusion-5.06")
async def test_boxes_side_by_side_do_not_see_each_other(backend: Backend) -> None:
    needs(backend, Layer.pid, Layer.mount)
    async with open_box(backend) as one, open_box(backend) as other:
        assert one.id != other.id
        first = RecordingSink()
        running = await one.start(shell("touch /tmp/the-1st /dev/shm/the-1st the-1st; echo ready; exec sleep 300.25"), sink=first)
        await first.until(b"ready")
        seen = await other.run(shell("ls /tmp /dev/shm .; cat /proc/[0-9]*/cmdline | tr '\\0' ' '; hostname; id -u"))
        assert "the-1st" not in seen.stdout.text and "300.25" not in seen.stdout.text
        running.cancel()
        assert (await running.wait()).ending is Ending.cancelled


async def test_what_is_no_signal_is_refused(backend: Backend) -> None:
    async with open_box(backend) as box:
        running = await box.start(shell("sleep 300"))
        for number in (0, -9, 100):
            with pytest.raises(InvalidRequest, match="not a signal"):
                running.send_signal(number)
        running.cancel()
        await running.wait()
        running.send_signal(signal.SIGTERM)  # to one that has ended: nothing happens
