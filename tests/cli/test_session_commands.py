"""The commands that talk to a server, as processes of their own, against a real one."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import signal
import subprocess
import termios
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.cli.commands import COMMAND, clean_environment, sandbox
from tests.sdk.served import serving_sessions

from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Remote:
    """The commands with their server."""

    def __init__(self, url: str) -> None:
        self.environment = {"SANDBOX_URL": url}

    async def run(self, *words: str, stdin: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
        return await asyncio.to_thread(sandbox, *words, stdin=stdin, cwd=cwd, **self.environment)

    async def said(self, *words: str, stdin: bytes = b"", cwd: Path | None = None) -> str:
        done = await self.run(*words, stdin=stdin, cwd=cwd)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def remote(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Remote]:
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")), pool_size=0, check_languages=False, log_level="error", node_name="here"
    )
    async with serving_sessions(settings) as url:
        yield Remote(url)


@pytest_asyncio.fixture(loop_scope="module")
async def session(remote: Remote) -> AsyncIterator[str]:
    made = (await remote.said("session", "create")).strip()
    yield made
    await remote.run("session", "rm", made)


@pytest.mark.requirement("sdk-2.01")
async def test_a_session_is_made_listed_shown_copied_and_ended(remote: Remote) -> None:
    made = (
        await remote.said("session", "create", "mine", "--env", "COLOUR=blue", "--memory", "256Mi", "--timeout", "20")
    ).strip()
    assert made == "mine" and made in await remote.said("session", "list", "--status", "running")
    shown = json.loads(await remote.said("session", "show", made))
    assert (shown["status"], shown["env_vars"], shown["timeout"]) == ("running", {"COLOUR": "blue"}, 20)
    copies = (await remote.said("session", "fork", made, "-n", "2")).split()
    assert len(set(copies)) == 2
    assert await remote.said("exec", copies[0], "--", "printenv", "COLOUR") == "blue\n"
    await remote.said("session", "rm", made, *copies)
    gone = await remote.run("session", "show", made)
    assert gone.returncode == 66 and b"404" in gone.stderr


async def test_a_session_is_paused_and_resumed_or_told_why_not(remote: Remote) -> None:
    made = (await remote.said("session", "create", "--network", "none")).strip()
    paused = await remote.run("session", "pause", made)
    shown = json.loads(await remote.said("session", "show", made))
    assert shown["network"] == "none"
    if paused.returncode == 0:
        assert shown["status"] == "paused"
        assert b"resume it first" in (await remote.run("exec", made, "--", "true")).stderr
        await remote.said("session", "resume", made)
    else:
        assert shown["status"] == "running" and b"cannot be paused: " in paused.stderr
    assert await remote.said("exec", made, "--", "echo", "on") == "on\n"
    await remote.said("session", "rm", made)


async def test_a_network_that_the_server_does_not_give_is_refused(remote: Remote) -> None:
    refused = await remote.run("session", "create", "--network", "nat")
    assert refused.returncode != 0 and b"allow_network" in refused.stderr


async def test_a_session_can_be_ended_and_remembered(remote: Remote) -> None:
    made = (await remote.said("session", "create")).strip()
    await remote.said("session", "rm", "--keep", made)
    assert json.loads(await remote.said("session", "show", made))["status"] == "terminated"
    await remote.said("session", "rm", made)


@pytest.mark.requirement("sdk-2.02")
async def test_commands_and_programs_run_and_pass_on_their_exit_code(remote: Remote, session: str, tmp_path: Path) -> None:
    assert await remote.said("exec", session, "echo $((6*7))") == "42\n"
    assert await remote.said("exec", session, "--", "printf", "%s|", "a b", "-c") == "a b|-c|"
    failed = await remote.run("exec", session, "-c", "import sys; print('no', file=sys.stderr); sys.exit(5)")
    assert (failed.returncode, failed.stdout, failed.stderr.splitlines()[0]) == (5, b"", b"no")
    (tmp_path / "handler.py").write_text("def handler(event):\n    return event['n'] + 1\n")
    assert await remote.said("exec", session, "--file", str(tmp_path / "handler.py"), "--event", '{"n": 41}') == "42\n"
    assert await remote.said("exec", session, "-i", "-e", "A=b", "cat; echo $A", stdin=b"in ") == "in b\n"
    told = json.loads(await remote.said("exec", session, "--json", "-c", "print(1)"))
    assert told["stdout"] == "1\n" and told["metrics"]["duration_ms"] > 0


async def test_what_takes_too_long_is_told_by_its_exit_code(remote: Remote, session: str) -> None:
    assert (await remote.run("exec", session, "--timeout", "1", "sleep 60")).returncode == 124


@pytest.mark.requirement("sdk-2.03")
async def test_an_interrupted_command_stops_what_it_started(remote: Remote, session: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "exec", session, "--timeout", "100", "echo begun; sleep 90",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(**remote.environment),
    )  # fmt: skip
    assert process.stdout is not None and await asyncio.wait_for(process.stdout.readline(), 60) == b"begun\n"
    process.send_signal(signal.SIGINT)
    await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 130
    assert await remote.said("exec", session, "echo free again") == "free again\n"


@pytest.mark.requirement("sdk-2.05")
async def test_output_can_be_read_later_and_followed(remote: Remote, session: str) -> None:
    execution = (
        await remote.said("exec", "-d", session, "-c", "import time; print('a', flush=True); time.sleep(0.5); exit(3)")
    ).strip()
    followed = await remote.run("logs", "-f", execution)
    assert (followed.stdout, followed.returncode) == (b"a\n", 3)
    assert await remote.said("logs", execution) == "a\n" == await remote.said("logs", session)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["exec", "SESSION"], "give exactly one of"),
        (["exec", "SESSION", "-c", "x", "--", "ls"], "give exactly one of"),
        (["exec", "SESSION", "-c", "x", "--event", "[1]"], "JSON object"),
        (["exec", "SESSION", "-c", "x", "--event", "{"], "not valid JSON"),
        (["exec", "SESSION", "-e", "A", "ls"], "NAME=VALUE"),
        (["exec", "SESSION", "--file", "/nothing"], "cannot read"),
        (["cp", "a", "b"], "SESSION:PATH"),
        (["cp", "SESSION:", "."], "path of the file is missing"),
        (["session", "create", "--memory", "lots"], "memory"),
    ],
)
async def test_a_mistake_is_told_in_a_sentence(remote: Remote, session: str, words: list[str], told: str) -> None:
    done = await remote.run(*(word.replace("SESSION", session) for word in words))
    assert done.returncode == 64 and told in done.stderr.decode() and b"Traceback" not in done.stderr


async def test_a_server_that_is_not_there_is_told() -> None:
    done = await asyncio.to_thread(sandbox, "session", "list", "--url", "http://127.0.0.1:9")
    assert done.returncode == 69 and b"cannot be reached" in done.stderr


@pytest.mark.requirement("sdk-2.04")
async def test_files_are_copied_in_and_out(remote: Remote, session: str, tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "a").write_bytes(b"A")
    (tmp_path / "in" / "deep" / "b").write_bytes(b"B\x00\xff")
    await remote.said("cp", "in/a", f"{session}:data/", cwd=tmp_path)
    assert await remote.said("exec", session, "cat data/a") == "A"
    refused = await remote.run("cp", "in", f"{session}:all", cwd=tmp_path)
    assert refused.returncode == 64 and b"--recursive" in refused.stderr
    await remote.said("cp", "-r", "in", f"{session}:all", cwd=tmp_path)
    await remote.said("cp", f"{session}:all/deep/b", ".", cwd=tmp_path)
    assert (tmp_path / "b").read_bytes() == b"B\x00\xff"
    await remote.said("cp", "-r", f"{session}:all", "back", cwd=tmp_path)
    assert {str(path.relative_to(tmp_path / "back")) for path in (tmp_path / "back").rglob("*") if path.is_file()} == {
        "a",
        "deep/b",
    }
    missing = await remote.run("cp", f"{session}:nothing", ".", cwd=tmp_path)
    assert missing.returncode == 66 and not (tmp_path / "nothing").exists()


class Seat:
    """In front of `sandbox shell`, on a terminal of our own."""

    def __init__(self, *words: str, **environment: str) -> None:
        self._ours, theirs = pty.openpty()
        os.set_blocking(self._ours, False)
        self.process = subprocess.Popen(
            [*COMMAND, "shell", *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=clean_environment(**environment),
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = b""

    def resize(self, rows: int, columns: int) -> None:
        """Where a terminal is in charge of the process the kernel tells it; ours is not."""
        termios.tcsetwinsize(self._ours, (rows, columns))
        self.process.send_signal(signal.SIGWINCH)

    def type(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    async def sees(self, pattern: bytes) -> bytes:
        for _ in range(3000):
            if found := re.search(pattern, self.shown):
                return found[0]
            try:
                self.shown += os.read(self._ours, 65536)
            except BlockingIOError:
                await asyncio.sleep(0.02)
            except OSError:
                break
        raise AssertionError(self.shown)

    async def ended(self) -> int:
        return await asyncio.to_thread(self.process.wait, 60)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


@pytest.mark.requirement("sdk-2.06")
async def test_a_shell_in_a_session_is_a_terminal(remote: Remote, session: str) -> None:
    seat = Seat(session, **remote.environment)
    try:
        await seat.sees(rb"[$#] ")
        seat.type(b"echo kept > note; sh -c 'tty; exec cat'\n")
        await seat.sees(rb"/dev/pts/\d+")
        seat.resize(45, 123)
        seat.type(b"\x03")
        await seat.sees(rb"(?s)\^C.*[$#] ")  # a shell forgets what was typed before it is back
        seat.type(b"until [ \"$(stty size)\" = '45 123' ]; do sleep 0.05; done; echo as $((40+5))\n")
        await seat.sees(rb"as 45")
        seat.type(b"echo after $((40+2)); exit 6\n")
        await seat.sees(rb"after 42")
        assert await seat.ended() == 6
    finally:
        seat.close()
    assert await remote.said("exec", session, "cat note") == "kept\n"


async def test_a_shell_without_a_session_has_one_of_its_own_that_ends_with_it(remote: Remote) -> None:
    before = await remote.said("session", "list")
    done = await remote.run("shell", "-c", "echo only $((40+2))")
    assert done.returncode == 0 and b"only 42" in done.stdout
    piped = await remote.run("shell", stdin=b"echo piped $((40+2))\n")
    assert b"piped 42" in piped.stdout
    assert await remote.said("session", "list") == before
